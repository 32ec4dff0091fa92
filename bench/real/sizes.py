"""Every method at given numbers of numbers: the best by validation data among its models that are small enough. `curve(data, seed, ...)` gives a
list of (numbers, validation score, {test: score}). One count for all: two per split, one per leaf (the class it names, or its value), every
weight and constant that is not zero."""
import json
import pathlib
import re
import subprocess

import numpy as np

from real import windows
from real.ours import read_predictions, write_csv

SIZES = [15, 30, 60, 120, 250]


def at_sizes(data, models):
    """{size: (numbers, validation, tests)} of the best by validation with at most so many numbers, and of any size; sizes without a model are left out."""
    chosen = {}
    for size in [*SIZES, "any"]:
        for model in sorted(models, key=lambda m: m[0]):
            if (size == "any" or model[0] <= size) and (size not in chosen or data.better(model[1], chosen[size][1])):
                chosen[size] = model
    return chosen


def order_score(data, number):
    """Of a frontier every model does better than all smaller ones by what the program judges by: the larger number wins."""
    return number if data.better(1, 0) else -number


def files_of(data, folder):
    """Writes what `remede train` reads; returns it as arguments."""
    training = write_csv(data, data.training, folder / "training.csv")
    return [training] if data.validation is None else [training, "--validation", write_csv(data, data.validation, folder / "validation.csv")]


def seconds_of_small_models(data, seed, program, folder, threads):
    """The seconds of a whole fit and of its search for small models, read from the lines of --verbose."""
    folder = pathlib.Path(folder) / data.name
    words = ["train", *files_of(data, folder), "--seed", seed, "--threads", threads, "--verbose", "-o", folder / "timed.json"]
    lines = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True).stderr
    at = {}  # when a phase began
    for minutes, seconds, phase in re.findall(r"^ *(\d+):(\d\d) .* left  (.*?): ", lines, re.MULTILINE):
        at.setdefault(phase, 60 * int(minutes) + int(seconds))
    after = min([s for phase, s in at.items() if s >= at["small models"] and phase in ("polish", "done")])
    return at["done"], after - at["small models"]


def ours(data, seed, program, folder, threads, kind="frontier", flags=()):
    """All models of --frontier; also which of them is saved."""
    folder = pathlib.Path(folder) / data.name
    out = folder / f"{kind}-{seed}"

    def run(*arguments):
        got = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        if got.returncode != 0:
            raise RuntimeError(f"remede {arguments[0]}: {got.stderr.strip() or got.returncode}")

    if not (out / "frontier.json").exists():
        run("train", *files_of(data, folder), "--seed", seed, "--threads", threads, "--quiet", "-o", folder / f"{kind}-{seed}.json", "--frontier", out, *flags)
    models, saved = [], None
    for point in json.loads((out / "frontier.json").read_text())["models"]:
        tests = {}
        for number, (name, part) in enumerate(data.tests.items()):
            file, answers = folder / f"test{number}.csv", folder / "answers.csv"
            if not file.exists():
                write_csv(data, part, file)
            run("predict", out / point["file"], file, "-o", answers, "--quiet")
            tests[name] = data.score(part.answers(), read_predictions(data, part, answers))
        models.append((point["numbers"], order_score(data, len(models)), tests))
        if point["saved"]:
            saved = models[-1]
    return models, saved


def tables(data, seed, kind):
    """(setting, training rows, validation rows, test rows) of every setting of lags or averages."""
    training, validation = data.parts(seed)
    for setting in windows.settings(kind, training):
        yield (setting, windows.rows(training, kind, setting), training.answers(), windows.rows(validation, kind, setting), validation.answers(),
               {name: windows.rows(part, kind, setting) for name, part in data.tests.items()})


def judged(data, predict, x_valid, y_valid, tests):
    scores = {name: data.score(data.tests[name].answers(), predict(x)) for name, x in tests.items()}
    return float(data.score(y_valid, predict(x_valid))), {name: float(score) for name, score in scores.items()}


def cart(data, seed, kind):
    import sklearn.tree
    make = sklearn.tree.DecisionTreeClassifier if data.classes else sklearn.tree.DecisionTreeRegressor
    models = []
    for _, x, y, x_valid, y_valid, tests in tables(data, seed, kind):
        fill = lambda a: np.nan_to_num(a, nan=-1e9)
        for leaves in sorted({max(2, (size + 2) // 3) for size in SIZES} | {6, 16, 1000}):
            model = make(max_leaf_nodes=leaves, random_state=seed).fit(fill(x), y)
            splits = int(model.get_n_leaves()) - 1
            models.append((3 * splits + 1, *judged(data, lambda a: model.predict(fill(a)), x_valid, y_valid, tests)))
    return models, None


def lasso_penalty():
    """How this scikit-learn is asked for L1 in a logistic regression."""
    import sklearn
    return {"l1_ratio": 1} if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8) else {"penalty": "l1"}


def sparse_linear(data, seed, kind="averages"):
    """L1: a lasso, or one logistic regression per class, on the step and its averages."""
    import sklearn.linear_model
    models = []
    for _, x, y, x_valid, y_valid, tests in tables(data, seed, kind):
        mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-9
        on_scale = lambda a: (a - mean) / scale
        for strength in np.geomspace(.3, .0003, 10):
            if data.classes:
                base = sklearn.linear_model.LogisticRegression(**lasso_penalty(), solver="liblinear", C=1 / (strength * len(y)), max_iter=300)
                model = base if len(data.classes) == 2 else __import__("sklearn.multiclass").multiclass.OneVsRestClassifier(base)
            else:
                model = sklearn.linear_model.Lasso(alpha=strength * y.std(), max_iter=3000)
            model.fit(on_scale(x), y)
            parts = [e for e in getattr(model, "estimators_", [model])]
            numbers = sum(int((e.coef_ != 0).sum()) + 1 for e in parts)
            models.append((numbers, *judged(data, lambda a: model.predict(on_scale(a)), x_valid, y_valid, tests)))
    return models, None


def few_trees(data, seed, kind="averages"):
    import xgboost
    make = xgboost.XGBClassifier if data.classes else xgboost.XGBRegressor
    models = []
    for _, x, y, x_valid, y_valid, tests in tables(data, seed, kind):
        for depth in (1, 2, 3):
            for rounds in (1, 2, 4, 8, 16, 32):
                model = make(n_estimators=rounds, max_depth=depth, learning_rate=.5 if rounds < 16 else .3, tree_method="hist", random_state=seed, n_jobs=1)
                model.fit(x, y)
                frame = model.get_booster().trees_to_dataframe()
                leaves = int((frame["Feature"] == "Leaf").sum())
                numbers = 2 * (len(frame) - leaves) + leaves
                if numbers <= SIZES[-1]:
                    models.append((numbers, *judged(data, model.predict, x_valid, y_valid, tests)))
    return models, None


LAWS = ["--numbers", "60"]  # then only models whose cells have laws are searched for, and those of all sizes are saved

METHODS = {"remede": ours, "laws": lambda *a: ours(*a, kind="laws", flags=LAWS), "tree-lags": lambda d, s: cart(d, s, "lags"), "tree-averages": lambda d, s: cart(d, s, "averages"),
           "sparse-linear": sparse_linear, "few-trees": few_trees}
PACKAGES = ["numpy", "scikit-learn", "xgboost", "pandas"]
