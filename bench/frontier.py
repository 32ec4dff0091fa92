#!/usr/bin/env python3
"""Score at 15, 30, 60, 120 and 250 numbers on the public data sets: the frontier of `remede train` beside plain trees (on lags, on averages),
sparse linear models on averages and boosting with few trees. What has a size to choose chooses by validation data, never by a test score.

    bench/frontier.py [--sets NAME,...] [--methods NAME,...] [--seeds 5] [--remede build/remede] [--threads 2]
    bench/frontier.py --methods laws ...       the search for small models alone: a quarter of the time
    bench/frontier.py --seconds                what the frontier adds to the time of a fit; run it on an idle machine
    bench/frontier.py --table [--page docs/readable.md]       print the table of the finished runs, write it into the page, and draw it

Finished runs are kept in build/frontier/cells.jsonl. The peers are installed into build/real-venv.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import environment  # noqa: E402
import frontier_picture  # noqa: E402
from real_names import SETS, names_of, seeds_of  # noqa: E402

METHODS = ["remede", "laws", "tree-lags", "tree-averages", "sparse-linear", "few-trees"]
SEEDLESS = ["tree-lags", "tree-averages", "sparse-linear", "few-trees"]  # nothing in these is drawn (CART: the order of equal splits)
SIZES = [15, 30, 60, 120, 250, "any"]


def read(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return {(c["set"], c["method"], c["seed"]): c for c in map(json.loads, lines)}


def run(args):
    from real import sizes
    from real.sets import LOADERS
    cells = args.folder / "cells.jsonl"
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in args.sets:
        data = LOADERS[name](args.data)
        for method in args.methods:
            for seed in args.seeds:
                known = read(cells)
                if (name, method, seed) in known:
                    continue
                same = [c for (n, m, _), c in known.items() if (n, m) == (name, method)]
                if same and data.validation is not None and method in SEEDLESS:  # the seed only draws the validation data
                    with open(cells, "a") as file:
                        file.write(json.dumps({**same[0], "seed": seed}) + "\n")
                    continue
                began = time.perf_counter()
                extra = [str(pathlib.Path(args.remede).absolute()), args.folder, args.threads] if method in ("remede", "laws") else []
                models, saved = sizes.METHODS[method](data, seed, *extra)
                best = sizes.at_sizes(data, models)
                cell = {"set": name, "method": method, "seed": seed, "metric": data.metric(), "at": {str(k): v for k, v in best.items()},
                        "saved": saved, "seconds": time.perf_counter() - began}
                with open(cells, "a") as file:
                    file.write(json.dumps(cell) + "\n")
                print(f"{name:<22}{method:<16}{seed}  " + "  ".join(f"{k}: {next(iter(v[2].values())):.4g}" for k, v in best.items()), flush=True)


def time_fits(args):
    from real import sizes
    from real.sets import LOADERS
    for name in args.sets:
        for seed in args.seeds:
            whole, small = sizes.seconds_of_small_models(LOADERS[name](args.data), seed, str(pathlib.Path(args.remede).absolute()), args.folder, args.threads)
            print(f"{name:<22}seed {seed}: {whole} s, of these {small} s for small models", flush=True)


def lines_of(cells):
    """A table per score."""
    lines = []
    tests = list(dict.fromkeys((c["set"], test) for c in cells.values() for at in c["at"].values() for test in at[2]))
    for name, test in tests:
        mine = [c for c in cells.values() if c["set"] == name]
        lines += ["", f"**{test}**, {mine[0]['metric']}, means of the seeds run", "", "| method | " + " | ".join(map(str, SIZES)) + " | saved | seeds |",
                  "|---" * (len(SIZES) + 3) + "|"]
        for method in METHODS:
            runs = [c for c in mine if c["method"] == method]
            if not runs:
                continue
            row = []
            for size in SIZES:
                got = [c["at"][str(size)][2][test] for c in runs if str(size) in c["at"]]
                row.append(f"{statistics.mean(got):.4g}" if len(got) == len(runs) else "-")
            saved = [c["saved"] for c in runs if c["saved"]]
            row.append(f"{statistics.mean(s[2][test] for s in saved):.4g} ({statistics.mean(s[0] for s in saved):.0f})" if saved else "")
            lines.append(f"| {method} | " + " | ".join(row) + f" | {len(runs)} |")
    return lines


def write_table(args):
    text = "\n".join(lines_of(read(args.folder / "cells.jsonl"))) + "\n"
    print(text)
    if args.picture:
        cells = read(args.folder / "cells.jsonl")
        shown = [m for m in METHODS if m != "laws" or not any(c["method"] == "remede" for c in cells.values())]
        pathlib.Path(args.picture).write_text(frontier_picture.draw(cells.values(), shown, SIZES))
    if args.page:
        page = pathlib.Path(args.page)
        begin, end = "<!-- table of bench/frontier.py -->\n", "<!-- end of the table -->\n"
        before, rest = page.read_text().split(begin)
        page.write_text(before + begin + text + rest[rest.index(end):] if end in rest else before + begin + text + end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="only these data sets")
    parser.add_argument("--methods", help="only these methods")
    parser.add_argument("--seeds", type=seeds_of, default="5", help="how many, a range 2-4, or a list 1,3 (default 5)")
    parser.add_argument("--remede", default=str(ROOT / "build" / "remede"))
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "frontier")
    parser.add_argument("--environment", type=pathlib.Path, default=ROOT / "build" / "real-venv")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--page", default=str(ROOT / "docs" / "readable.md"), help="'' writes none")
    parser.add_argument("--picture", default=str(ROOT / "docs" / "images" / "frontier.svg"), help="'' draws none")
    args = parser.parse_args()
    args.sets = names_of(args.sets, SETS, "sets")
    args.methods = names_of(args.methods, METHODS, "methods")
    if args.table:
        write_table(args)
        return 0
    if pathlib.Path(sys.prefix).resolve() != args.environment.absolute().resolve():
        environment.enter(args.environment.absolute(), ["numpy", "scikit-learn", "xgboost", "pandas"])
    time_fits(args) if args.seconds else run(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
