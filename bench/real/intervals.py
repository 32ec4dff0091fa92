"""Forecasts with an interval: remede's quantiles beside quantile boosting on lags, by pinball loss and coverage.

Both are given the same training and validation parts and predict the quantiles .1, .5 and .9 of every step with a target. The interval from
the first to the last should cover 80% of them. `held_out` cuts the training part instead and leaves the test part alone: that is where
choices are made.
"""
import pathlib
import time
import warnings

import numpy as np

from real import windows
from real.data import DataSet, Part
from real.ours import Remede, write_csv

QUANTILES = [.1, .5, .9]
SETS = ["beijing_pm25", "bike_sharing"]
PIECE = 336  # hours
ROUNDS, PATIENCE = 400, 20


def held_out(data):
    """The same set, cut from its training part alone: pieces of two weeks, each a sequence from empty memory; of every five the last tests and
    the one before it validates."""
    x, y = data.training.x[0], data.training.y[0]
    pieces = Part([x[at:at + PIECE] for at in range(0, len(x), PIECE)], [y[at:at + PIECE] for at in range(0, len(y), PIECE)])
    of = lambda *places: pieces.select([i for i in range(len(pieces.x)) if i % 5 in places])
    return DataSet(f"{data.name}-cut", data.columns, [], of(0, 1, 2), of(3), {data.name: of(4)}, data.about)


def pinball(answers, predictions):
    """The mean over the quantiles."""
    above = answers[:, None] - predictions
    q = np.array(QUANTILES)
    return float(np.mean(np.maximum(q * above, (q - 1) * above)))


def figures(answers, predictions):
    low, high = predictions[:, 0], predictions[:, -1]
    return {"pinball": pinball(answers, predictions), "coverage": float(np.mean((answers >= low) & (answers <= high))),
            "width": float(np.mean(high - low)), "crossing": float(np.mean(np.any(np.diff(predictions, axis=1) < 0, axis=1)))}


class Boosting:
    """LightGBM, a model for each quantile. How many lags is chosen by pinball loss on validation data."""

    def train(self, data, lags, seed, threads):
        import lightgbm
        warnings.filterwarnings("ignore", message="The argument 'eval_set'")
        x, valid_x = (windows.rows(part, "lags", lags) for part in (data.training, data.validation))
        models = []
        for q in QUANTILES:
            model = lightgbm.LGBMRegressor(objective="quantile", alpha=q, n_estimators=ROUNDS, learning_rate=.1, random_state=seed, n_jobs=threads,
                                           verbose=-1)
            models.append(model.fit(x, data.training.answers(), eval_set=[(valid_x, data.validation.answers())],
                                    callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)]))
        return lambda part: np.stack([m.predict(windows.rows(part, "lags", lags)) for m in models], axis=1)

    def fit(self, data, seed, setting, threads):
        tried = []
        for lags in windows.settings("lags", data.training):
            predict = self.train(data, lags, seed, threads)
            tried.append((pinball(data.validation.answers(), predict(data.validation)), lags, predict))
        return min(tried, key=lambda t: t[:2])[2]


class Ours(Remede):
    def __init__(self, flags=()):
        super().__init__(["--objective", "quantile", "--quantiles", ",".join(map(str, QUANTILES)), *flags])

    def fit(self, data, seed, setting, threads):
        import csv
        self.program, folder = setting["program"], pathlib.Path(setting["folder"]) / data.name
        model = folder / f"quantiles-{seed}.json"
        files = [write_csv(data, part, folder / f"{name}.csv") for name, part in (("training", data.training), ("validation", data.validation))]
        self.run("train", files[0], "--validation", files[1], "--seed", seed, "--threads", threads, "--quiet", "-o", model, *self.flags)

        def predict(part):
            file = write_csv(data, part, folder / "asked.csv")
            with_answers = folder / "quantiles.csv"
            self.run("predict", model, file, "-o", with_answers, "--quiet")
            with open(with_answers, newline="") as rows:
                said = [[float(row[f"q_{q}"]) for q in QUANTILES] for row in csv.DictReader(rows)]
            return np.array(said)[part.asked()]
        return predict


def run(names, methods, seeds, setting, threads, cut, data_folder, flags=()):
    """Prints a table row for every cell. flags: further ones of remede train."""
    from real.sets import LOADERS
    print(f"{'set':<20}{'method':<16}{'seed':>5}{'pinball':>10}{'coverage':>10}{'width':>10}{'crossing':>10}{'seconds':>9}")
    for name in names:
        data = LOADERS[name](data_folder)
        if cut:
            data = held_out(data)
        for method in methods:
            for seed in seeds:
                began = time.perf_counter()
                predict = (Ours(flags) if method == "remede" else Boosting()).fit(data, seed, setting, threads)
                seconds = time.perf_counter() - began
                test = next(iter(data.tests.values()))
                f = figures(test.answers(), predict(test))
                print(f"{data.name:<20}{method:<16}{seed:>5}{f['pinball']:>10.4f}{f['coverage']:>10.3f}{f['width']:>10.3f}"
                      f"{f['crossing']:>10.3f}{seconds:>9.1f}", flush=True)
