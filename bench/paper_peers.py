"""The peers of bench/paper.py. Each learns from parts.training, watches parts.validation, and keeps its best state:

    suggest(trial)                            what is tuned: as with ours, the learning rate (and the dropout of the networks)
    fit(parts, args, seed, params, report)    returns its validation loss; report(loss) after every epoch
    predict(X)                                the class at each step, a list of arrays
"""
import importlib.util

import numpy as np

LIBRARIES = {"default": "remede", "paper": "remede", "lstm": "torch", "elman": "torch", "xgboost": "xgboost", "catboost": "catboost"}
ROUNDS_PER_EPOCH = 5  # boosting has no epochs: so many rounds count as one
PATIENCE = 15  # epochs without a lower validation loss


def missing(method):
    """The library that a method lacks, or None."""
    library = LIBRARIES.get(method.split("-")[0])
    return library if library and importlib.util.find_spec(library) is None else None


class Network:
    """A recurrent network of PyTorch (paper_network.py)."""

    def __init__(self, kind, units):
        self.kind, self.units = kind, units

    def suggest(self, trial):
        return {"rate": trial.suggest_float("rate", 1e-4, 3e-2, log=True), "dropout": trial.suggest_float("dropout", 0.0, 0.5)}

    def fit(self, parts, args, seed, params, report):
        import torch

        import paper_network

        torch.manual_seed(seed)
        torch.set_num_threads(args.threads)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        as_tensors = lambda X, y: (torch.from_numpy(np.stack(X)).to(device), torch.from_numpy(np.stack(y).astype(np.int64) + 1).to(device))
        training = as_tensors(*parts.training)
        self.net = paper_network.Network(self.kind, self.units, training[0].shape[2], 3, params["dropout"]).to(device)
        best = paper_network.train(self.net, training, as_tensors(*parts.validation), params["rate"], args.epochs, report)
        self.net.to("cpu")
        return best

    def predict(self, X):
        import torch

        with torch.no_grad():
            return list(self.net(torch.from_numpy(np.stack(X))).argmax(2).numpy() - 1)


def windows(X, lags):
    """One row per step: its inputs and those of the lags - 1 steps before; NaN before the first."""
    rows = []
    for x in X:
        padded = np.vstack([np.full((lags - 1, x.shape[1]), np.nan, np.float32), x])
        rows.append(np.hstack([padded[k:k + len(x)] for k in range(lags)]))
    return np.vstack(rows)


class Boosting:
    """Trees on lag windows: where the window ends, so does what they know."""

    def __init__(self, lags):
        self.lags = lags

    def suggest(self, trial):
        return {"rate": trial.suggest_float("rate", 0.01, 1.0, log=True)}

    def fit(self, parts, args, seed, params, report):
        data = [(windows(X, self.lags), np.concatenate(y) + 1) for X, y in (parts.training, parts.validation)]
        return self.boost(data, args, seed, params["rate"], report)

    def predict(self, X):
        said = self.classes(windows(X, self.lags)) - 1
        return np.split(said, np.cumsum([len(x) for x in X])[:-1])


class XGBoost(Boosting):
    def boost(self, data, args, seed, rate, report):
        import xgboost

        class EveryEpoch(xgboost.callback.TrainingCallback):
            def after_iteration(self, model, epoch, evals_log):
                if (epoch + 1) % ROUNDS_PER_EPOCH == 0:
                    report(min(evals_log["held"]["mlogloss"]))
                return False  # go on

        training, held = (xgboost.DMatrix(x, y) for x, y in data)
        settings = dict(max_depth=6, eta=rate, objective="multi:softprob", num_class=3, seed=seed, nthread=args.threads)
        self.booster = xgboost.train(settings, training, ROUNDS_PER_EPOCH * args.epochs, evals=[(held, "held")], callbacks=[EveryEpoch()],
                                     early_stopping_rounds=ROUNDS_PER_EPOCH * PATIENCE, verbose_eval=False)
        return float(self.booster.best_score)

    def classes(self, x):
        return self.booster.inplace_predict(x, iteration_range=(0, self.booster.best_iteration + 1)).argmax(1)


class CatBoost(Boosting):
    def boost(self, data, args, seed, rate, report):
        import catboost

        stopped = []

        class EveryEpoch:
            def after_iteration(self, info):
                """Whether to go on. What report() throws must not pass through the library: it is thrown again afterwards."""
                try:
                    if info.iteration % ROUNDS_PER_EPOCH == 0:
                        report(min(info.metrics["validation"]["MultiClass"]))
                except Exception as stop:
                    stopped.append(stop)
                return not stopped

        self.model = catboost.CatBoostClassifier(iterations=ROUNDS_PER_EPOCH * args.epochs, depth=6, learning_rate=rate, random_seed=seed,
                                                 verbose=False, loss_function="MultiClass", early_stopping_rounds=ROUNDS_PER_EPOCH * PATIENCE,
                                                 allow_writing_files=False, thread_count=args.threads)
        self.model.fit(*data[0], eval_set=data[1], callbacks=[EveryEpoch()])
        if stopped:
            raise stopped[0]
        return float(self.model.get_best_score()["validation"]["MultiClass"])

    def classes(self, x):
        return self.model.predict(x).ravel().astype(int)
