"""Tuning with Optuna."""
import pytest

import remede

optuna = pytest.importorskip("optuna")
optuna.logging.set_verbosity(optuna.logging.WARNING)


def test_tune_searches_and_refits(task):
    X, y = task
    base = remede.RecurrentTreeClassifier(recipe="paper", updates=200, validate_every=50)
    tuned = remede.tune(base, X[:300], y[:300], what=["rates", "depth"], n_trials=4)
    assert set(tuned.best_params) == {"rate_index", "rate_threshold", "rate_output", "rate_gate", "rate_write", "depth"}
    assert tuned.estimator.depth == tuned.best_params["depth"]
    assert tuned.estimator.validation_score_["log_loss"] == tuned.best_score
    assert base.depth is None and not hasattr(base, "model_")


def test_a_static_tree_has_three_rates(waves):
    X, y = waves
    base = remede.RecurrentTreeRegressor(recipe="gradtree", updates=60, validate_every=30)
    tuned = remede.tune(base, X[:40], y[:40], n_trials=2, refit=False)
    assert set(tuned.best_params) == {"rate_index", "rate_threshold", "rate_output"}


def test_a_study_is_continued(task, tmp_path):
    X, y = task
    base = remede.RecurrentTreeClassifier(recipe="paper", updates=100, validate_every=50)
    arguments = dict(what=["rate_write", "memory"], storage=f"sqlite:///{tmp_path}/study.db", study_name="one", refit=False)
    remede.tune(base, X[:200], y[:200], n_trials=2, **arguments)
    tuned = remede.tune(base, X[:200], y[:200], n_trials=5, n_jobs=2, **arguments)
    assert len(tuned.study.trials) == 5 and tuned.estimator is None


def test_bad_trials_are_pruned(task):
    X, y = task
    base = remede.RecurrentTreeClassifier(recipe="paper", updates=300, validate_every=30)
    worst = optuna.pruners.ThresholdPruner(upper=0.0)  # nothing is good enough
    with pytest.raises(ValueError):  # no trial is complete
        remede.tune(base, X[:200], y[:200], n_trials=2, pruner=worst, refit=False)


def test_a_trial_once_pruned_stays_pruned_and_the_others_go_on(task):
    X, y = task

    class AtTheSecondReport(optuna.pruners.BasePruner):
        def prune(self, study, trial):
            return trial.number % 2 == 1 and trial.last_step == 2  # and no longer at the report with which the fit ends

    base = remede.RecurrentTreeClassifier(recipe="paper", updates=300, validate_every=30)
    tuned = remede.tune(base, X[:200], y[:200], n_trials=4, pruner=AtTheSecondReport(), refit=False)
    assert [t.state.name for t in tuned.study.trials] == ["COMPLETE", "PRUNED", "COMPLETE", "PRUNED"]


def test_rates_of_memory_are_left_out_where_the_search_tries_no_memory(task):
    X, y = task
    base = remede.RecurrentTreeClassifier(recipe="paper", updates=20, validate_every=10)
    without = optuna.samplers.PartialFixedSampler({"memory": 0}, optuna.samplers.RandomSampler(seed=1))
    tuned = remede.tune(base, X[:100], y[:100], what=["rate_write", "memory"], n_trials=2, sampler=without)
    assert tuned.best_params["memory"] == 0 and tuned.estimator.rate_write is None


def test_what_cannot_be_searched(task):
    with pytest.raises(ValueError, match="expected rates, depth, memory"):
        remede.tune(remede.RecurrentTreeClassifier(), *task, what=["width"], n_trials=1)
