"""Tuning with Optuna: which learning rates, depth and number of cells validate best."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable

import numpy as np

from ._native import Progress, default_rates

RATES = ("rate_index", "rate_threshold", "rate_output", "rate_gate", "rate_write", "rate_bias", "rate_rate", "rate_linear")
PAPER_RATES = RATES[:5]  # those of the paper's leaf
STATIC_RATES = RATES[:3]  # those of a tree without memory
RATES_OF_MEMORY = ("rate_gate", "rate_write", "rate_bias", "rate_rate")  # a tree without memory has none, and refuses them
REACH = 30.0  # a rate is searched from its value / REACH to its value * REACH


@dataclass
class Tuning:
    """What `tune` found."""

    study: Any  # Optuna's
    best_params: dict[str, Any]  # of the estimator
    best_score: float  # validation loss of the best trial: log loss, or RMSE
    estimator: Any  # fitted with them, or None without refit


def copy_of(estimator: Any, **changes: Any) -> Any:
    params = {**estimator.get_params(), **changes}
    if params["memory"] == 0:  # what the search suggested beside it has no effect
        params.update((name, None) for name in RATES_OF_MEMORY if name in changes)
    return type(estimator)(**params)


def suggest(trial: Any, estimator: Any, what: Iterable[str]) -> dict[str, Any]:
    """A point of the space: `rates`, `depth`, `memory`, or the name of one rate."""
    params: dict[str, Any] = {}
    for word in what:
        if word == "depth":
            params[word] = trial.suggest_int(word, 2, 8)
        elif word == "memory":
            params[word] = trial.suggest_int(word, 0, 12)
        elif word == "rates" or word in RATES:
            paper = estimator.recipe == "paper" or estimator.form == "paper"
            rates = STATIC_RATES if estimator.recipe == "gradtree" else PAPER_RATES if paper else RATES
            for name in rates if word == "rates" else (word,):
                given = getattr(estimator, name)
                middle = default_rates()[name] if given is None else given
                params[name] = trial.suggest_float(name, middle / REACH, middle * REACH, log=True)
        else:
            raise ValueError(f"expected rates, depth, memory or the name of a rate, got {word!r}")
    return params


def tune(estimator: Any, X: Any, y: Any, *, what: Iterable[str] = ("rates",), n_trials: int = 60, validation: Any = None, sample_weight: Any = None,
         timeout: float | None = None, storage: Any = None, study_name: str | None = None, n_jobs: int = 1, sampler: Any = None,
         pruner: Any = None, refit: bool = True, callbacks: Iterable[Callable[..., Any]] = (), client: Any = None) -> Tuning:
    """Searches settings of an estimator with Optuna and fits it with the best.

    what: of `rates`, `depth`, `memory` and the names of single rates, those to search.
    n_trials: in all; a study that is continued (storage and study_name, any that Optuna takes) runs what is left of them.
    validation: (X, y) to judge by; otherwise each fit holds out the same part of X.
    n_jobs: trials side by side, in threads; each then trains on one thread unless the estimator says otherwise.
    pruner: of Optuna; the default stops trials that are worse than the median of those before. sampler: TPE, seeded by the
        estimator's random_state.
    client: of a Dask cluster, which then does the long parts of every fit; with n_jobs several trials share it.
    """
    import optuna

    if client is not None:  # once, not for every trial
        from .dask import collected

        X, y = collected(X, client), collected(y, client)
    if sampler is None:
        seed = estimator.random_state
        sampler = optuna.samplers.TPESampler(seed=int(seed) if isinstance(seed, (int, np.integer)) else None)
    study = optuna.create_study(study_name=study_name, storage=storage, load_if_exists=True, direction="minimize", sampler=sampler,
                                pruner=pruner or optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=2))
    threads = estimator.n_jobs if estimator.n_jobs is not None or n_jobs == 1 else 1

    def objective(trial: Any) -> float:
        params = suggest(trial, estimator, what)
        model, reports, pruned = copy_of(estimator, n_jobs=threads, verbose=0, **params), 0, False

        def report(progress: Progress) -> bool:
            nonlocal reports, pruned
            reports += 1
            trial.report(progress.best_loss, reports)
            pruned = pruned or trial.should_prune()  # what was once said stays: a fit that stops reports once more
            return pruned

        model.fit(X, y, sample_weight, validation=validation, callbacks=report, client=client)
        if pruned:
            raise optuna.TrialPruned()
        if model.stopped_:
            trial.study.stop()
        score = model.validation_score_
        return next(score[name] for name in ("log_loss", "loss", "rmse") if name in score)

    finished = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    left = n_trials - len(study.get_trials(deepcopy=False, states=finished))
    if left > 0:
        study.optimize(objective, n_trials=left, timeout=timeout, n_jobs=n_jobs, callbacks=list(callbacks))
    best = dict(study.best_params)
    fitted = copy_of(estimator, **best).fit(X, y, sample_weight, validation=validation, client=client) if refit else None
    return Tuning(study, best, study.best_value, fitted)
