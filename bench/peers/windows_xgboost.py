"""XGBoost (depth 6) on lag windows; a round is one tree per class. Row t holds the inputs of the last `lags` steps of its sequence, NaN before its
first. Building the windows is timed apart."""
import csv
import time

import numpy as np
import xgboost


def read(path):
    """Columns sequence, step, x1 ..., y of `remede generate`: inputs, labels and sequence numbers."""
    with open(path) as file:
        rows = list(csv.reader(file))
    names, rows = rows[0], rows[1:]
    inputs = [i for i, name in enumerate(names) if name.startswith("x")]
    x = np.array([[float(row[i]) for i in inputs] for row in rows], np.float32)
    labels = sorted({row[-1] for row in rows})
    return x, np.array([labels.index(row[-1]) for row in rows]), np.array([row[0] for row in rows])


def windows(x, sequence, lags):
    new = np.r_[True, sequence[1:] != sequence[:-1]]
    step = np.arange(len(x)) - np.maximum.accumulate(np.where(new, np.arange(len(x)), 0))
    out = np.full((len(x), lags, x.shape[1]), np.nan, np.float32)
    for lag in range(lags):
        there = np.flatnonzero(step >= lag)
        out[there, lag] = x[there - lag]
    return out.reshape(len(x), -1)


class Prediction:
    def __init__(self, path, threads, rounds, lags=10):
        x, y, sequence = read(path)
        begin = time.perf_counter()
        self.rows = windows(x, sequence, lags)
        self.building = len(x) / (time.perf_counter() - begin)  # steps per second
        self.steps = len(x)
        matrix = xgboost.DMatrix(self.rows, y)
        self.booster = xgboost.train(dict(max_depth=6, objective="multi:softprob", num_class=int(y.max()) + 1, nthread=threads,
                                          tree_method="hist"), matrix, num_boost_round=rounds)
        self.trees = rounds * (int(y.max()) + 1)
        self.accuracy = float((self.booster.inplace_predict(self.rows).argmax(1) == y).mean())

    def run(self):
        self.booster.inplace_predict(self.rows)
