"""remede.cross_validate gives the scores of `remede cross-validate`."""
import json

import numpy as np
import pytest

import remede


def small(**more):
    return remede.RecurrentTreeClassifier(recipe="paper", depth=2, memory=1, updates=60, random_state=1, n_jobs=1, **more)


def test_same_scores_as_the_program(program, tmp_path):
    data = tmp_path / "data.csv"
    program("generate", "fixed-delay", "--sequences", "60", "-o", data, "--quiet")
    flags = ["--recipe", "paper", "--depth", "2", "--memory", "1", "--updates", "60", "--seed", "1", "--threads", "1"]
    told = json.loads(program("cross-validate", data, "--folds", "3", "--json", "--quiet", *flags).stdout)
    X, y = remede.generate("fixed-delay", sequences=60)
    found = remede.cross_validate(small(), X, y, folds=3)
    assert list(found.scores["accuracy"]) == [fold["accuracy"] for fold in told["folds"]]
    assert list(found.nodes) == [fold["nodes"] for fold in told["folds"]]
    assert found.mean["log_loss"] == told["mean"]["log_loss"]
    assert "accuracy" in str(found)


def test_regression_and_an_estimator_left_as_it_was():
    random = np.random.default_rng(1)
    X = [random.normal(size=(8, 2)) for _ in range(20)]
    y = [x[:, 0] for x in X]
    estimator = remede.RecurrentTreeRegressor(recipe="paper", depth=1, memory=0, updates=30, random_state=1, n_jobs=1)
    found = remede.cross_validate(estimator, X, y, folds=4)
    assert set(found.scores) >= {"rmse", "mae", "r2"} and found.scores["rmse"].shape == (4,)
    assert not hasattr(estimator, "model_")


def test_groups_stay_together_and_forward_goes_in_time():
    X, y = remede.generate("fixed-delay", sequences=12)
    grouped = remede.cross_validate(small(), X, y, folds=2, groups=[k % 2 for k in range(12)])
    assert len(grouped.nodes) == 2
    with pytest.raises(remede.Error, match="groups"):
        remede.cross_validate(small(), X, y, folds=5, groups=[k % 2 for k in range(12)])
    assert len(remede.cross_validate(small(), X, y, folds=2, forward=True).nodes) == 2


def test_what_makes_no_sense_is_refused():
    X, y = remede.generate("fixed-delay", sequences=12)
    with pytest.raises(ValueError, match="folds: expected at least 2"):
        remede.cross_validate(small(), X, y, folds=1)
    with pytest.raises(ValueError, match="one value per sequence"):
        remede.cross_validate(small(), X, y, groups=[1, 2])
    with pytest.raises(ValueError, match="got both"):
        remede.cross_validate(small(), X, y, groups=[1] * 12, forward=True)


def test_a_callback_ends_it():
    X, y = remede.generate("fixed-delay", sequences=30)
    assert remede.cross_validate(small(), X, y, folds=3, callbacks=lambda progress: True).stopped
