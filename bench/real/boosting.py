"""Peers that see a table: XGBoost, CatBoost and a plain decision tree on lags or on moving averages.

Lags, averaging speeds and the tree's depth are chosen on validation data, once per data set (`choose`); how many rounds boosting
takes by early stopping, in every fit.
"""
import time

import numpy as np

from real import windows
from real.measure import Fitted, cpu_seconds

DEPTHS = [4, 6, 8, 12]
PATIENCE = 20  # rounds without a better validation score


class XGBoost:
    def __init__(self, data, seed, threads, rounds):
        import xgboost
        kind = xgboost.XGBClassifier if data.classes else xgboost.XGBRegressor
        self.model = kind(n_estimators=rounds, learning_rate=.1, max_depth=6, subsample=.8, colsample_bytree=.5, tree_method="hist",
                          max_bin=128, early_stopping_rounds=PATIENCE, random_state=seed, n_jobs=threads)
        self.classes = bool(data.classes)

    def fit(self, x, y, valid_x, valid_y):
        if self.classes:  # XGBoost wants the classes of the training data, numbered from 0; validation rows of others are left out
            self.known, y = np.unique(y, return_inverse=True)
            seen = np.isin(valid_y, self.known)
            valid_x, valid_y = valid_x[seen], np.searchsorted(self.known, valid_y[seen])
        self.model.fit(x, y, eval_set=[(valid_x, valid_y)], verbose=False)
        self.best = self.model.best_score

    def predict(self, x):
        return self.known[self.model.predict(x)] if self.classes else self.model.predict(x)

    def size(self):
        """Nodes, and numbers: feature and threshold of a split, answer of a leaf."""
        trees = self.model.get_booster()[:self.model.best_iteration + 1].trees_to_dataframe()
        leaves = int((trees["Feature"] == "Leaf").sum())
        return len(trees), 2 * (len(trees) - leaves) + leaves


class CatBoost:
    def __init__(self, data, seed, threads, rounds):
        import catboost
        kind = catboost.CatBoostClassifier if data.classes else catboost.CatBoostRegressor
        self.model = kind(iterations=rounds, learning_rate=.1, depth=6, rsm=.5, border_count=64, early_stopping_rounds=PATIENCE, random_seed=seed,
                          thread_count=threads, verbose=False, allow_writing_files=False)
        self.outputs = len(data.classes) if len(data.classes) > 2 else 1

    def fit(self, x, y, valid_x, valid_y):
        self.model.fit(x, y, eval_set=(valid_x, valid_y))
        self.best = next(iter(self.model.get_best_score()["validation"].values()))

    def predict(self, x):
        return np.ravel(self.model.predict(x))

    def size(self):
        """All nodes of a level make one test: two numbers a level, and the leaves."""
        leaves = np.array(self.model.get_tree_leaf_counts())
        levels = np.log2(leaves).round().astype(int)
        return int((2 * leaves - 1).sum()), int((2 * levels + leaves * self.outputs).sum())


class PlainTree:
    def __init__(self, data, seed, depth):
        import sklearn.tree
        kind = sklearn.tree.DecisionTreeClassifier if data.classes else sklearn.tree.DecisionTreeRegressor
        self.model = kind(max_depth=depth, min_samples_leaf=5, random_state=seed)

    def fit(self, x, y, *_):
        self.model.fit(x, y)

    def predict(self, x):
        return self.model.predict(x)

    def size(self):
        tree = self.model.tree_
        leaves = tree.n_leaves
        return tree.node_count, int(2 * (tree.node_count - leaves) + leaves)


class Table:
    """One of the models above on one kind of columns."""
    ROUNDS = {XGBoost: 400, CatBoost: 400}

    def __init__(self, model, kind):
        self.model, self.kind = model, kind

    def make(self, data, seed, threads, setting):
        if self.model is PlainTree:
            return PlainTree(data, seed, setting["depth"])
        return self.model(data, seed, threads, setting.get("rounds", self.ROUNDS[self.model]))

    def fit(self, data, seed, setting, threads):
        training, validation = data.parts(seed)
        began, began_cpu = time.perf_counter(), cpu_seconds()
        x, valid_x = (windows.rows(part, self.kind, setting[self.kind]) for part in (training, validation))
        y, valid_y = training.answers(), validation.answers()
        model = self.make(data, seed, threads, setting)
        model.fit(x, y, valid_x, valid_y)
        seconds, cpu = time.perf_counter() - began, cpu_seconds() - began_cpu
        score = data.score(valid_y, model.predict(valid_x))
        predict = lambda part: model.predict(windows.rows(part, self.kind, setting[self.kind]))
        return Fitted(predict, *model.size(), seconds, cpu, score)

    def choose(self, data, threads):
        """The setting with the best validation score; fewer rounds are enough to compare."""
        best = None
        for value in windows.settings(self.kind, data.training):
            extra = [{"depth": d} for d in DEPTHS] if self.model is PlainTree else [{"rounds": 60}]
            for more in extra:
                setting = {self.kind: value, **more}
                score = self.fit(data, 1, setting, threads).validation
                if best is None or data.better(score, best[0]):
                    best = score, setting
        best[1].pop("rounds", None)
        return best[1]
