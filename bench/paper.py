#!/usr/bin/env python3
"""The paper's protocol: learning rates tuned by Optuna, 60 trials per task, depth 6, memory 5, then five trials of each with fresh seeds; and
under the same budget an LSTM (32 and 16 units, dropout), a plain Elman network, XGBoost and CatBoost on lag windows shorter and longer than the
delay. Beside them our default recipe, untuned. Prints the paper's Tables 1 and 2 with ours.

    .venv/bin/python bench/paper.py [--tasks A,B] [--methods A,B] [--minutes 60] [--folder build/paper]      the full setting, in parts
    .venv/bin/python bench/paper.py --short                                                                  a minute, for the tests

Everything is kept in Optuna's storage (FOLDER/paper.db, or --storage): a run that is stopped, by --minutes or Ctrl-C, goes on where it was, and
several may run side by side. A peer whose library is not installed is named as skipped. Tuning and the trials see different data. The sequences
are kept in FOLDER/data: with them and Optuna, `--methods lstm,elman` runs on a machine that has no remede (networks take a GPU where there is one),
and `--fetch THEIR.db` then copies what was found there into this storage.
"""
import argparse
import os
import pathlib
import statistics
import sys
import time

import numpy as np
import optuna

import paper_peers

try:
    import remede
except ImportError:  # networks need only the sequences
    remede = None

TASKS = ["fixed-delay", "fixed-delay-2", "variable-delay", "variable-delay-2", "sign-memory"]
# What the paper reports, by task: means and standard deviations (it gives none for sizes).
PAPER_ACCURACY = {"ReMeDe": ((1.000, 1.000, 1.000, 1.000, 1.000), (0.000, 0.000, 0.000, 0.000, 0.000)),
                  "LSTM": ((1.000, 1.000, 1.000, 1.000, 1.000), (0.000, 0.000, 0.000, 0.000, 0.000)),
                  "random": ((0.334, 0.333, 0.332, 0.333, 0.333), (0.001, 0.001, 0.002, 0.001, 0.001)),
                  "naive": ((0.930, 0.930, 0.889, 0.889, 0.877), (0.002, 0.002, 0.001, 0.002, 0.003))}
PAPER_NODES = {"ReMeDe": ((22.2, 20.2, 21.0, 23.0, 43.8), None)}
BATCH = 32
TUNING_SEED = 1000  # data that rates are tuned on; trials have seeds 1, 2, ...


class Parts:
    """60 / 20 / 20 of the sequences of a task, for training, validation and test."""

    def __init__(self, args, task, seed):
        sequences = args.sequences
        X, y = generated(args.folder / "data", task, sequences, seed)
        a, b = sequences * 6 // 10, sequences * 8 // 10
        self.training, self.validation, self.test = ((X[i:j], y[i:j]) for i, j in ((0, a), (a, b), (b, sequences)))

    def scores(self, said):
        """Accuracy over all steps, and recall: on the steps whose target is not 0."""
        truth, said = np.concatenate(self.test[1]), np.concatenate(said)
        return {"accuracy": float((said == truth).mean()), "recall": float((said == truth)[truth != 0].mean())}


def generated(folder, task, sequences, seed):
    """Inputs (sequences, steps, channels) and targets (sequences, steps), kept in the folder."""
    file = folder / f"{task}-{sequences}-{seed}.npz"
    if not file.exists():
        if remede is None:
            sys.exit(f"{file}: expected the sequences of a run that has remede, found no such file")
        X, y = remede.generate(task, sequences=sequences, seed=seed)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(unfinished, X=np.stack(X), y=np.stack(y))
        unfinished.rename(file)
    with np.load(file) as kept:
        return list(kept["X"]), list(kept["y"])


class Paper:
    """The paper's own: one start of the paper's leaf, five rates tuned."""

    def estimator(self, args, seed, **rates):
        return remede.RecurrentTreeClassifier(recipe="paper", depth=6, memory=5, updates=args.updates, batch=BATCH, random_state=seed, n_jobs=args.threads,
                                              **rates)

    def tune(self, args, parts, study, trials, timeout):
        remede.tune(self.estimator(args, 1), *parts.training, validation=parts.validation, n_trials=trials, timeout=timeout, storage=args.storage,
                    study_name=study.study_name, refit=False, sampler=study.sampler, pruner=study.pruner)

    def run(self, args, parts, seed, best):
        model = self.estimator(args, seed, **best).fit(*parts.training, validation=parts.validation)
        return {**parts.scores(model.predict(parts.test[0])), "nodes": model.n_nodes_}


class Default:
    """Our default recipe: nothing is tuned."""

    tune = None

    def run(self, args, parts, seed, best):
        model = remede.RecurrentTreeClassifier(random_state=seed, n_jobs=args.threads).fit(*parts.training, validation=parts.validation)
        return {**parts.scores(model.predict(parts.test[0])), "nodes": model.n_nodes_}


class Random:
    tune = None

    def run(self, args, parts, seed, best):
        random = np.random.default_rng(seed)
        return parts.scores([random.integers(-1, 2, len(v)) for v in parts.test[1]])


class Naive:
    """The commonest training target of each position."""

    tune = None

    def run(self, args, parts, seed, best):
        modes = [statistics.mode(column.tolist()) for column in np.stack(parts.training[1]).T]
        return parts.scores([np.array(modes)] * len(parts.test[1]))


class Peer:
    """Another library's learner: paper_peers has `fit(parts, args, seed, params, report)`."""

    def __init__(self, make):
        self.make = make

    def tune(self, args, parts, study, trials, timeout):
        def objective(trial):
            steps = 0

            def report(loss):
                nonlocal steps
                steps += 1
                trial.report(loss, steps)
                if trial.should_prune():
                    raise optuna.TrialPruned()
            learner = self.make()
            return learner.fit(parts, args, 1, learner.suggest(trial), report)
        left = trials - len(study.get_trials(deepcopy=False, states=FINISHED))
        if left > 0:
            study.optimize(objective, n_trials=left, timeout=timeout)

    def run(self, args, parts, seed, best):
        learner = self.make()
        learner.fit(parts, args, seed, best, lambda loss: None)
        return parts.scores(learner.predict(parts.test[0]))


FINISHED = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
METHODS = {"default": Default(), "paper": Paper(), "lstm": Peer(lambda: paper_peers.Network("LSTM", (32, 16))),
           "elman": Peer(lambda: paper_peers.Network("RNN", (32,))), "xgboost-4": Peer(lambda: paper_peers.XGBoost(4)),
           "xgboost-16": Peer(lambda: paper_peers.XGBoost(16)), "catboost-4": Peer(lambda: paper_peers.CatBoost(4)),
           "catboost-16": Peer(lambda: paper_peers.CatBoost(16)), "random": Random(), "naive": Naive()}


def study_of(args, task, method):
    """One study per task and method; what its trials gave stands in its attributes."""
    budget = f"{args.updates} updates" if method == "paper" else f"{args.epochs} epochs"
    name = f"{task} / {method} / {args.sequences} sequences / {budget}"
    return optuna.create_study(study_name=name, storage=args.storage, load_if_exists=True, sampler=optuna.samplers.TPESampler(seed=1),
                               pruner=optuna.pruners.MedianPruner(n_startup_trials=10, n_warmup_steps=5))


def work_on(args, task, method, end):
    """Tunes and runs what is missing of one cell of the tables. Returns its trials."""
    learner, study = METHODS[method], study_of(args, task, method)
    left = lambda: None if end is None else end - time.monotonic()
    best = {}
    if learner.tune is not None:
        done = len(study.get_trials(deepcopy=False, states=FINISHED))
        if done < args.trials and (end is None or left() > 0):
            print(f"{task}, {method}: tuning, {done} of {args.trials} trials done", file=sys.stderr, flush=True)
            learner.tune(args, Parts(args, task, TUNING_SEED), study, args.trials, left())
        if len(study.get_trials(deepcopy=False, states=FINISHED)) < args.trials:
            return []
        best = study.best_params
    trials = []
    for seed in range(1, args.repeats + 1):
        key = f"trial {seed}"
        if key not in study.user_attrs:
            if end is not None and left() <= 0:
                break
            print(f"{task}, {method}: {key} of {args.repeats}", file=sys.stderr, flush=True)
            parts, begin = Parts(args, task, seed), time.perf_counter()
            found = learner.run(args, parts, seed, best)
            study.set_user_attr(key, {**found, "seconds": time.perf_counter() - begin})
        trials.append(study.user_attrs[key])
    return trials


def fetch(args):
    """Copies the finished studies of another storage that this one lacks."""
    theirs, here = f"sqlite:///{args.fetch}", {s.study_name: len(s.user_attrs) for s in optuna.get_all_study_summaries(args.storage)}
    for study in optuna.get_all_study_summaries(theirs):
        name, finished = study.study_name, len(study.user_attrs)
        if finished < args.repeats or here.get(name, 0) >= finished:
            continue
        if name in here:
            optuna.delete_study(study_name=name, storage=args.storage)
        optuna.copy_study(from_study_name=name, from_storage=theirs, to_storage=args.storage)
        print(f"{name}: {study.n_trials} trials of tuning, {finished} with the best")


def cell(values, digits):
    if not values:
        return "-"
    spread = statistics.pstdev(values)
    return f"{statistics.mean(values):.{digits}f} ±{spread:.{digits}f}"


def row_of(name, cells, means, digits):
    """The last cell is the mean over the tasks."""
    mean = f"{statistics.mean(means):.{digits}f}" if len(means) == len(cells) else "-"
    return f"| {name} | " + " | ".join([*cells, mean]) + " |"


def table(title, args, results, skipped, key, digits, paper):
    lines = ["", title, "", "| method | " + " | ".join([*args.tasks, "mean"]) + " |", "|---|" + "---|" * (len(args.tasks) + 1)]
    for method in args.methods:
        if method in skipped:
            lines.append(f"| {method} | " + " | ".join(["skipped"] * (len(args.tasks) + 1)) + " |")
            continue
        values = [[t[key] for t in results[task, method] if key in t] for task in args.tasks]
        if any(values):
            lines.append(row_of(method, [cell(v, digits) for v in values], [statistics.mean(v) for v in values if v], digits))
    for name, (means, spreads) in paper.items():
        places = min(digits, 3)  # the paper's
        of = [TASKS.index(task) for task in args.tasks]
        cells = [f"{means[i]:.{places}f}" + (f" ±{spreads[i]:.{places}f}" if spreads else "") for i in of]
        lines.append(row_of(f"the paper's {name}", cells, [means[i] for i in of], places))
    print("\n".join(lines))


def report(args, results, skipped):
    print(f"{args.sequences} sequences a task, 60 / 20 / 20; {args.trials} trials of tuning, at most {args.epochs} epochs each (paper: {args.updates} "
          f"updates); mean ± standard deviation of {args.repeats} trials")
    for method, why in skipped.items():
        print(f"{method}: skipped, {why}")
    table("Table 1: accuracy over all steps", args, results, skipped, "accuracy", 4, PAPER_ACCURACY)
    table("Recall: accuracy on the steps whose target needs memory", args, results, skipped, "recall", 4, {})
    table("Table 2: size in nodes, inner and leaves", args, results, {}, "nodes", 1, PAPER_NODES)
    table("Seconds of one trial, without tuning", args, results, skipped, "seconds", 2, {})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default=",".join(TASKS), help="which of the five")
    parser.add_argument("--methods", default=",".join(METHODS), help="which of " + ", ".join(METHODS))
    parser.add_argument("--sequences", type=int, default=10000)
    parser.add_argument("--trials", type=int, default=60, help="of tuning")
    parser.add_argument("--repeats", type=int, default=5, help="trials with the best rates")
    parser.add_argument("--epochs", type=int, default=60, help="most of one trial")
    parser.add_argument("--updates", type=int, default=20000, help="most of one trial of the paper's form, whose splits need more than the others")
    parser.add_argument("--minutes", type=float, help="stop after about so long; the next run goes on")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/paper"))
    parser.add_argument("--storage", help="any of Optuna's (default: a file in FOLDER)")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--fetch", metavar="THEIR.db", help="copy the finished cells of a run elsewhere into the storage")
    parser.add_argument("--report", action="store_true", help="only print what is there")
    parser.add_argument("--short", action="store_true", help="two tasks, few sequences, two trials")
    args = parser.parse_args()
    args.tasks, args.methods = args.tasks.split(","), args.methods.split(",")
    for word, known in [(t, TASKS) for t in args.tasks] + [(m, list(METHODS)) for m in args.methods]:
        if word not in known:
            parser.error(f"expected one of {', '.join(known)}, got '{word}'")
    if args.short:
        args.tasks, args.sequences, args.trials, args.repeats, args.epochs, args.updates = [TASKS[0], TASKS[4]], 300, 2, 2, 3, 20
    args.folder.mkdir(parents=True, exist_ok=True)
    args.storage = args.storage or f"sqlite:///{args.folder}/paper.db"
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if args.fetch:
        fetch(args)
        return
    skipped = {m: f"{why} is not installed" for m in args.methods if (why := paper_peers.missing(m)) and not args.report}
    end = time.monotonic() if args.report else None if args.minutes is None else time.monotonic() + 60 * args.minutes
    results = {}
    for method in args.methods:  # method by method: what is cheap and what is ours comes first
        for task in args.tasks:
            results[task, method] = [] if method in skipped else work_on(args, task, method, end)
    report(args, results, skipped)


if __name__ == "__main__":
    main()
