#!/usr/bin/env python3
"""Short labelled series: remede beside MiniRocket on the data sets that the Python packages aeon and sktime contain.

    bench/series.py [--sets NAME,...] [--methods NAME,...] [--seeds 3] [--remede build/remede] [--threads 2] [--page docs/training.md]

The packages are installed into build/series-venv. Every set has the training and test part of its publisher, and one class or value per
series. MiniRocket is aeon's, with ridge regression (10,000 features); series of different lengths are filled up with zeros for it. Nothing is
chosen by a test score. Finished cells are kept in build/series/cells.jsonl. --page replaces the table in that page.
"""
import argparse
import collections
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import environment  # noqa: E402
from real_names import names_of, seeds_of  # noqa: E402

SETS = {"ArrowHead": "aeon", "BasicMotions": "aeon", "GunPoint": "aeon", "ItalyPowerDemand": "aeon", "OSULeaf": "aeon", "ACSF1": "aeon",
        "PickupGestureWiimoteZ": "aeon", "PLAID": "sktime", "Tecator": "sktime", "Covid3Month": "aeon"}
METHODS = ["remede", "remede --accurate", "remede --trees 4", "minirocket"]
BEGIN, END = "<!-- table of bench/series.py -->\n", "<!-- end of the table of bench/series.py -->\n"


def files_of(name):
    """The .ts files of training and test, as the package holds them."""
    package = pathlib.Path(importlib.util.find_spec(SETS[name]).origin).parent
    folder = package / "datasets" / "data" / name
    return [folder / f"{name}_{part}.ts" for part in ("TRAIN", "TEST")]


def read_ts(path):
    """(series, each a list of dimensions; targets) of a .ts file without timestamps."""
    series, targets = [], []
    for line in path.read_text().splitlines():
        if line.strip() and line[0] not in "#@%":
            *dimensions, target = line.split(":")
            series.append([[float(v) if v != "?" else 0.0 for v in d.split(",")] for d in dimensions])
            targets.append(target.strip())
    return series, targets


def is_regression(path):
    return "@targetlabel true" in path.read_text().lower()


def run_minirocket(name, seed, args):
    import numpy as np
    training, test = files_of(name)
    (x, y), (x_test, y_test) = read_ts(training), read_ts(test)
    longest = max(len(d) for s in x + x_test for d in s)
    table = lambda all_series: np.array([[d + [0.0] * (longest - len(d)) for d in s] for s in all_series])
    began = time.perf_counter()
    if is_regression(training):
        from aeon.regression.convolution_based import MiniRocketRegressor
        model = MiniRocketRegressor(random_state=seed, n_jobs=args.threads).fit(table(x), np.array(y, float))
        seconds = time.perf_counter() - began
        return float(np.sqrt(np.mean((model.predict(table(x_test)) - np.array(y_test, float)) ** 2))), None, seconds
    from aeon.classification.convolution_based import MiniRocketClassifier
    model = MiniRocketClassifier(random_state=seed, n_jobs=args.threads).fit(table(x), np.array(y))
    seconds = time.perf_counter() - began
    return float(np.mean(model.predict(table(x_test)) == np.array(y_test))), None, seconds


def run_remede(name, flags, seed, args):
    def call(*words):
        return subprocess.run([args.remede, *map(str, words)], capture_output=True, text=True, check=True).stdout
    training, test = files_of(name)
    model = args.folder / f"{name}{''.join(flags)}-{seed}.json"
    began = time.perf_counter()
    call("train", training, "--seed", seed, "--threads", args.threads, "--quiet", "-o", model, *flags)
    seconds = time.perf_counter() - began
    score = json.loads(call("evaluate", model, test, "--json"))
    return score.get("accuracy", score.get("rmse")), json.loads(call("show", model, "--json"))["numbers"], seconds


def run(args):
    path = args.folder / "cells.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {tuple(c["key"]) for c in map(json.loads, path.read_text().splitlines())} if path.exists() else set()
    for name in args.sets:
        for method in args.methods:
            for seed in args.seeds:
                if (name, method, seed) in known:
                    continue
                found = run_minirocket(name, seed, args) if method == "minirocket" else run_remede(name, method.split()[1:], seed, args)
                with open(path, "a") as file:
                    file.write(json.dumps({"key": [name, method, seed], "score": found[0], "numbers": found[1], "seconds": found[2]}) + "\n")
                print(f"{name:<24}{method:<20}seed {seed}  {found[0]:.4f}  {found[1] or ''} numbers  {found[2]:.1f} s", flush=True)


def table(args):
    cells = collections.defaultdict(list)
    for c in map(json.loads, (args.folder / "cells.jsonl").read_text().splitlines()):
        name, method, seed = c["key"]
        if name in args.sets and method in args.methods and seed in args.seeds:
            cells[name, method].append(c)
    mean = lambda got, field: statistics.mean(c[field] for c in got)
    error = lambda got: statistics.stdev(c["score"] for c in got) / len(got) ** .5 if len(got) > 1 else 0.0
    lines = ["| set | training, test, length | " + " | ".join(f"{m} | numbers, s" if m != "minirocket" else f"{m} | s" for m in args.methods) + " |",
             "|---" * (2 + 2 * len(args.methods)) + "|"]
    for name in args.sets:
        (x, _), (x_test, _) = map(read_ts, files_of(name))
        lengths = sorted(len(s[0]) for s in x)
        length = f"{lengths[0]}" if lengths[0] == lengths[-1] else f"{lengths[0]} to {lengths[-1]}"
        row = [f"{name}, {'RMSE' if is_regression(files_of(name)[0]) else 'accuracy'}", f"{len(x)}, {len(x_test)}, {length}"]
        for method in args.methods:
            got = cells.get((name, method))
            if not got:
                row += ["-", "-"]
                continue
            digits = 3 if mean(got, "score") < 10 else 2
            row.append(f"{mean(got, 'score'):.{digits}f} ± {error(got):.{digits}f}")
            row.append(f"{mean(got, 'numbers'):.0f}, {mean(got, 'seconds'):.0f}" if method != "minirocket" else f"{mean(got, 'seconds'):.0f}")
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="only these data sets")
    parser.add_argument("--methods", help="only these methods")
    parser.add_argument("--seeds", type=seeds_of, default="3", help="how many, a range 2-4, or a list 1,3 (default 3)")
    parser.add_argument("--remede", default=str(ROOT / "build" / "remede"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "series")
    parser.add_argument("--environment", type=pathlib.Path, default=ROOT / "build" / "series-venv")
    parser.add_argument("--page", help="the page that holds the table")
    args = parser.parse_args()
    args.sets = names_of(args.sets, SETS, "sets")
    args.methods = names_of(args.methods, METHODS, "methods")
    args.remede = str(pathlib.Path(args.remede).absolute())
    if pathlib.Path(sys.prefix).resolve() != args.environment.absolute().resolve():
        environment.enter(args.environment.absolute(), ["aeon", "sktime"])
    run(args)
    text = table(args)
    print("\n" + text)
    if args.page:
        page = pathlib.Path(args.page)
        before, rest = page.read_text().split(BEGIN)
        page.write_text(before + BEGIN + text + rest[rest.index(END):])
    return 0


if __name__ == "__main__":
    sys.exit(main())
