#!/usr/bin/env python3
"""Ordinary tables: one static tree of remede beside scikit-learn's decision tree (CART) tuned by cross-validation.

    build/real-venv/bin/python bench/tables.py [--folds 5] [--tables iris,wine] [--recipes default,gradtree] [--accurate] [--remede build/remede] [--data ../shared/data]

Every table is cut into folds; each fold is the test part once. remede gets the other rows and default settings with --memory 0, or
another recipe (--recipe gradtree: constant leaves, gradient descent alone): every row is a sequence of one step. CART gets the same rows and chooses the number of its leaves (2 to 128, or no limit) and the minimum rows of a leaf (1, 5, 20) by five-fold
cross-validation within them. Score: accuracy, or R2. Every recipe has its columns: score, numbers, difference from CART. `level`: the mean of the paired differences is within their
standard error.
Tables of more than 4,000 rows are thinned to a random 4,000. Needs numpy and scikit-learn. The last three tables come from --data; they are skipped where their files are missing.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_ROWS = 4000


def loaded(name):
    import sklearn.datasets
    bunch = getattr(sklearn.datasets, f"load_{name}")()
    return bunch.data, bunch.target, name != "diabetes"


def friedman(number):
    import sklearn.datasets
    x, y = getattr(sklearn.datasets, f"make_friedman{number}")(n_samples=1000, noise=1.0 if number == 1 else 0.0, random_state=number)
    return x, y, False


def moons():
    import sklearn.datasets
    x, y = sklearn.datasets.make_moons(n_samples=1000, noise=.3, random_state=3)
    return x, y, True


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def robot(data):
    rows = rows_of(data / "robot_wall_following" / "sensor_readings_24.data")[1:]
    names = sorted({r[-1] for r in rows})
    return np.array([r[:-1] for r in rows], float), np.array([names.index(r[-1]) for r in rows]), True


def occupancy(data):
    rows = rows_of(data / "occupancy_detection" / "datatraining.txt")[1:]  # number, date, 5 inputs, class
    return np.array([r[2:7] for r in rows], float), np.array([int(r[7]) for r in rows]), True


def bikes(data):
    header, *rows = rows_of(data / "bike_sharing" / "hour.csv")
    inputs = [header.index(n) for n in ("season", "yr", "mnth", "hr", "holiday", "weekday", "workingday", "weathersit", "temp", "atemp", "hum", "windspeed")]
    return np.array([[r[i] for i in inputs] for r in rows], float), np.log1p(np.array([float(r[-1]) for r in rows])), False


TABLES = {name: lambda data, name=name: loaded(name) for name in ("iris", "wine", "breast_cancer", "digits", "diabetes")}
TABLES |= {f"friedman{k}": lambda data, k=k: friedman(k) for k in (1, 2, 3)}
TABLES |= {"moons": lambda data: moons(), "robot": robot, "occupancy": occupancy, "bikes": bikes}


def thinned(x, y):
    kept = np.random.default_rng(5).permutation(len(y))[:MOST_ROWS]
    return x[kept], y[kept]


def write(path, x, y, classes):
    with open(path, "w") as file:
        file.write(",".join(f"x{i + 1}" for i in range(x.shape[1])) + ",y\n")
        for row, target in zip(x, y):
            file.write(",".join(repr(float(v)) for v in row) + "," + (f"c{target}" if classes else repr(float(target))) + "\n")


def r2(truth, said):
    return 1 - float(np.mean((truth - said) ** 2) / np.var(truth))


def of_remede(args, recipe, x, y, x_test, y_test, classes, fold):
    """(score, numbers)"""
    with tempfile.TemporaryDirectory() as folder:
        training, test, model, answers = (os.path.join(folder, n) for n in ("training.csv", "test.csv", "model.json", "answers.csv"))
        write(training, x, y, classes)
        write(test, x_test, y_test, classes)
        subprocess.run([args.remede, "train", training, "--id", "row", "--target", "y", "--memory", "0", "--seed", str(fold), "--threads", "1", "-q", "-o", model,
                        "--recipe", recipe, *(["--accurate"] if args.accurate and recipe not in ("paper", "gradtree") else [])], check=True)
        said = json.loads(subprocess.run([args.remede, "evaluate", model, test, "--json", "-q"], check=True, capture_output=True, text=True).stdout)
        size = json.loads(subprocess.run([args.remede, "show", model, "--json"], check=True, capture_output=True, text=True).stdout)
    score = said["accuracy"] if classes else 1 - said["rmse"] ** 2 / float(np.var(y_test))
    return score, size["numbers"]


def of_cart(x, y, x_test, y_test, classes, fold):
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    tree = (DecisionTreeClassifier if classes else DecisionTreeRegressor)(random_state=fold)
    grid = {"max_leaf_nodes": [2, 4, 8, 16, 32, 64, 128, None], "min_samples_leaf": [1, 5, 20]}
    best = GridSearchCV(tree, grid, cv=5).fit(x, y).best_estimator_
    leaves = best.get_n_leaves()
    return (float(np.mean(best.predict(x_test) == y_test)) if classes else r2(y_test, best.predict(x_test))), 2 * (leaves - 1) + leaves


def trial(args, name, fold):
    x, y, classes = TABLES[name](args.data)
    x, y = thinned(np.asarray(x, float), np.asarray(y))
    part = np.random.default_rng(9).permutation(len(y)) % args.folds
    rest, test = part != fold, part == fold
    cut = (x[rest], y[rest], x[test], y[test], classes, fold)
    return of_cart(*cut), *(of_remede(args, recipe, *cut) for recipe in args.recipes)


def means(results):
    return f"{statistics.mean(score for score, _ in results):.3f} | {statistics.mean(numbers for _, numbers in results):.0f}"


def compared(results, cart):
    """The mean of the paired differences with its standard error, and what follows."""
    differences = [a - b for (a, _), (b, _) in zip(results, cart)]
    mean, error = statistics.mean(differences), statistics.stdev(differences) / len(differences) ** .5
    return f"{mean:+.3f} ± {error:.3f}", "better" if mean > error else "level" if mean >= -error else "worse"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=lambda t: t.split(","), default=[*TABLES])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--recipes", type=lambda t: t.split(","), default=["default"], help="recipes of remede, names or files")
    parser.add_argument("--accurate", action="store_true", help="the most accurate model instead of the default choice; not for paper and gradtree, which leave no choice")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fits at a time")
    parser.add_argument("--remede", default=str(ROOT / "build" / "remede"))
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    args = parser.parse_args()
    unknown = [t for t in args.tables if t not in TABLES]
    if unknown:
        parser.error(f"expected tables among {', '.join(TABLES)}, got {unknown[0]}")
    print("| table | score | CART, tuned | numbers |" + "".join(f" remede, {r} | numbers | difference | |" for r in args.recipes) + "\n|---|---|---|---|" +
          "---|---|---|---|" * len(args.recipes), flush=True)
    good, tried = dict.fromkeys(args.recipes, 0), 0
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for name in args.tables:
            try:
                classes = TABLES[name](args.data)[2]
            except FileNotFoundError:
                print(f"| {name} | skipped: no data |", flush=True)
                continue
            cart, *ours = zip(*pool.map(trial, [args] * args.folds, [name] * args.folds, range(args.folds)))
            tried += 1
            print(f"| {name} | {'accuracy' if classes else 'R2'} | {means(cart)} |", end="")
            for recipe, results in zip(args.recipes, ours):
                text, verdict = compared(results, cart)
                good[recipe] += verdict != "worse"
                print(f" {means(results)} | {text} | {verdict} |", end="")
            print(flush=True)
    for recipe in args.recipes:
        print(f"{recipe}: level or better on {good[recipe]} of {tried}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
