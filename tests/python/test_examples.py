"""The examples and the program of the README run."""
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_example(script, tmp_path):
    run = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr
    assert run.stdout


def test_readme(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(code.strip().splitlines()) <= 10
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr
    assert "accuracy 1.0" in run.stdout or "accuracy 0.99" in run.stdout
    assert (tmp_path / "model.json").exists()


def test_pages_for_users_of_other_libraries(tmp_path):
    """All programs of the page in one process, each with names of its own."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "coming-from.md").read_text(), re.S)
    assert len(blocks) == 3
    code = "".join(f"def program_{k}():\n" + "".join(f"    {line}\n" for line in block.splitlines()) for k, block in enumerate(blocks))
    code += "".join(f"program_{k}()\n" for k in range(len(blocks)))
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert float(lines[0].split()[0]) > 0.9 and float(lines[1].split()[0]) > 0.8 and lines[2].startswith("True"), run.stdout


def test_api_reference_is_up_to_date():
    sys.path.insert(0, str(ROOT / "tools"))
    import python_reference
    page = (ROOT / "docs" / "python.md").read_text()
    assert python_reference.renewed(page) == page, "run tools/python_reference.py"


def test_paper_bench_in_a_short_setting(tmp_path):
    pytest.importorskip("optuna")
    command = [sys.executable, ROOT / "bench" / "paper.py", "--short", "--folder", tmp_path]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert "Table 1" in run.stdout and "Table 2" in run.stdout and "fixed-delay" in run.stdout
    assert "| the paper's naive | 0.930 ±0.002 | 0.877 ±0.003 | 0.903 |" in run.stdout
    for peer in ("lstm", "xgboost", "catboost"):
        assert re.search(rf"{peer}.*(skipped|\d\.\d)", run.stdout)
    again = subprocess.run(command, capture_output=True, text=True, timeout=300)  # all there: nothing is run again
    assert again.stdout == run.stdout
