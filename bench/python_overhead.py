#!/usr/bin/env python3
"""What training from Python costs over the program: the same data, settings and seed, fit time only, runs taking turns.

    .venv/bin/python bench/python_overhead.py [--runs 10] [--task sign-memory] [--sequences 10000] [--remede PATH]

The program's fit time is its run less the same run with one update, which reads the same file and writes a model too. Exits with 1 when
the median of Python's fit times is above 1.05 times the program's, or the models differ.
"""
import argparse
import csv
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

import numpy as np

import remede

NEEDED = 1.05


def read(path):
    """The file as lists of arrays; not part of what is timed."""
    X, y, last = [], [], None
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["sequence"] != last:
                last = row["sequence"]
                X.append([])
                y.append([])
            X[-1].append([float(v) for name, v in row.items() if name.startswith("x")])
            y[-1].append(int(row["y"]))
    return [np.array(x, np.float32) for x in X], [np.array(v) for v in y]


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--task", default="sign-memory")
    parser.add_argument("--sequences", type=int, default=10000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--remede", default=shutil.which("remede", path=sysconfig.get_path("scripts")) or "build/remede")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data, model = f"{folder}/data.csv", f"{folder}/model.json"
        subprocess.run([args.remede, "generate", args.task, "--sequences", str(args.sequences), "-o", data], check=True, capture_output=True)
        X, y = read(data)
        train = [args.remede, "train", data, "-o", model, "--quiet", "--threads", str(args.threads)]
        nothing = [*train[:-2], "--threads", "1", "--recipe", "paper", "--updates", "1", "--simplify", "no", "--depth", "1"]
        run = lambda command: subprocess.run(command, check=True, capture_output=True)
        estimator = remede.RecurrentTreeClassifier(n_jobs=args.threads)
        program, python, ratios = [], [], []
        for turn in range(args.runs + 1):
            idle = seconds(lambda: run(nothing))
            ours = seconds(lambda: run(train)) - idle
            theirs = seconds(lambda: estimator.fit(X, y))
            if turn == 0:
                if estimator.model_.to_json() != pathlib.Path(model).read_text():
                    sys.exit("expected the same model from both, got different ones")
                continue  # warm
            program.append(ours)
            python.append(theirs)
            ratios.append(theirs / ours)
    ratio = statistics.median(python) / statistics.median(program)
    print(f"{args.task}, {args.sequences} sequences, {args.runs} runs each, load {os.getloadavg()[0]:.1f}")
    print(f"program: median {statistics.median(program):.3f} s ({min(program):.3f} to {max(program):.3f})")
    print(f"Python:  median {statistics.median(python):.3f} s ({min(python):.3f} to {max(python):.3f})")
    print(f"Python / program: {ratio:.3f} (median of the turns' ratios {statistics.median(ratios):.3f}), needed at most {NEEDED}")
    return 0 if ratio <= NEEDED else 1


if __name__ == "__main__":
    sys.exit(main())
