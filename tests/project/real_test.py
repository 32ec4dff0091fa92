"""See real.sh. The table and the cells need the standard library only; without numpy the rest is skipped, and said so."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from real import table  # noqa: E402
from real.cells import Cells  # noqa: E402


def cell(method, seed, score, numbers, metric="RMSE"):
    return {"set": "s", "method": method, "seed": seed, "metric": metric, "scores": {"s": score}, "nodes": 3, "numbers": numbers, "cpu": 1.5,
            "seconds": 2.0, "step_ns": 120.0}


def test_cells(folder):
    cells = Cells(folder / "cells.jsonl")
    cells.add(cell("gru", 1, 2.0, 10))
    with open(cells.path, "a") as file:
        file.write('{"set": "s", "meth\n')  # a crash in the middle of a line
    cells.add(cell("gru", 1, 3.0, 10))
    assert [c["scores"]["s"] for c in cells.read().values()] == [3.0], "expected the later line"


def test_table():
    cells = [cell("remede", 1, 1.9, 10), cell("remede", 2, 2.3, 10), cell("gru", 1, 2.0, 500), cell("gru", 2, 2.0, 500),
             cell("majority", 1, 9.0, 1), cell("last-value", 1, .1, 1)]
    text = table.text({(c["set"], c["method"], c["seed"]): c for c in cells})
    assert "| s | gru | 2.00 ± 0.00 | best |" in text, text
    assert "| s | remede | 2.10 ± 0.20 | level |" in text, text
    assert "| s | last-value | 0.100 ± 0.000 | sees the last target |" in text, text
    assert "on 1 of 1 (s); on 1 of these with at most a tenth of its numbers (s)" in text, text
    page = f"a\n{table.BEGIN}\nold\n{table.END}\nb\n"
    assert table.put_into(page, "new") == page.replace("old", "new")
    try:
        table.put_into("no lines", "new")
        raise AssertionError("expected an error where the page has no place for the table")
    except ValueError:
        pass


def test_windows():
    import numpy as np
    from real import windows
    from real.data import Part, at_last_step
    x = np.array([[1.0], [2.0], [4.0]], np.float32)
    assert np.array_equal(windows.with_lags(x, 1), [[1, np.nan], [2, 1], [4, 2]], equal_nan=True)
    assert np.array_equal(windows.with_averages(x, [.5]), [[1, 1], [2, 1.5], [4, 2.75]])
    part = Part([x, x[:2]], at_last_step([1, 0], [3, 2]))
    assert np.array_equal(windows.rows(part, "lags", 1), [[4, 2], [2, 1]]) and list(part.answers()) == [1, 0]


def write_set(folder):
    """The class is the sign of the first of four values, under the name of a data set of the archive."""
    import numpy as np
    random = np.random.default_rng(1)
    (folder / "uea_PenDigits").mkdir()
    for part, count in (("TRAIN", 200), ("TEST", 60)):
        x = random.uniform(-1, 1, (count, 4, 2)).round(3)
        lines = [":".join(",".join(map(str, series)) for series in sequence.T) + f":{int(sequence[0, 0] > 0)}" for sequence in x]
        (folder / f"uea_PenDigits/PenDigits_{part}.ts").write_text("@problemName tiny\n@data\n" + "\n".join(lines) + "\n")


def test_runner(folder):
    program = ROOT / "build" / "remede"
    methods = ["majority"] + ["tree-lags"] * (importlib.util.find_spec("sklearn") is not None) + ["remede"] * program.exists()
    write_set(folder)
    page = folder / "page.md"
    page.write_text(f"{table.BEGIN}\n{table.END}\n")

    def run(*arguments):
        return subprocess.run([sys.executable, ROOT / "bench/real.py", "--sets", "uea_PenDigits", "--methods", ",".join(methods), "--seeds", "1", "--data",
                               folder, "--folder", folder, "--environment", sys.prefix, "--remede", program, *arguments], check=True, capture_output=True, text=True).stdout
    run()
    cells = [json.loads(line) for line in (folder / "cells.jsonl").read_text().splitlines()]
    assert [c["method"] for c in cells] == methods
    for c in cells:
        score = c["scores"]["uea_PenDigits"]
        assert score < .75 if c["method"] == "majority" else score > .85, c
    assert run() == "", "expected nothing left to run"
    run("--table", "--page", page)
    assert page.read_text().count("| uea_PenDigits | ") == len(methods)


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_cells(pathlib.Path(folder))
    test_table()
    if "--without-numpy" in sys.argv:
        print("skipped: numpy is not installed, so bench/real.py was not run")
        return
    test_windows()
    with tempfile.TemporaryDirectory() as folder:
        test_runner(pathlib.Path(folder))


main()
