"""scikit-learn's own checks, and its tools around our estimators."""
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from remede import RecurrentTreeClassifier, RecurrentTreeRegressor

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": "a row of weight 2 is drawn into batches and into the validation split once, two rows of weight "
    "1 are drawn twice: the loss is the same, the random path of training is not",
}


# Inheriting from scikit-learn's base class would import scikit-learn with the package: what it stands for is checked here instead.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*does not inherit from")
    all_checks = parametrize_with_checks([RecurrentTreeClassifier(effort="quick", starts=2), RecurrentTreeRegressor(effort="quick", starts=2)],
                                         expected_failed_checks=lambda e: EXPECTED_FAILURES)
    all_default_checks = parametrize_with_checks([RecurrentTreeClassifier(), RecurrentTreeRegressor()],
                                                 expected_failed_checks=lambda e: EXPECTED_FAILURES)


@all_checks
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.long
@all_default_checks
def test_checks_of_the_defaults(estimator, check):
    check(estimator)


def test_kinds():
    assert is_classifier(RecurrentTreeClassifier()) and not is_regressor(RecurrentTreeClassifier())
    assert is_regressor(RecurrentTreeRegressor())


def test_clone_and_params(model):
    copy = clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "model_")
    assert repr(copy) == "RecurrentTreeClassifier(random_state=3, starts=8)"
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        copy.set_params(width=3)


def test_pipeline_and_cross_validation():
    X, y = make_classification(200, 5, random_state=0)
    pipeline = make_pipeline(StandardScaler(), RecurrentTreeClassifier(starts=2))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8
    pipeline.fit(X, y, recurrenttreeclassifier__sample_weight=np.ones(200))


def test_cross_validation_of_sequences(task):
    """Sequences are what is split; each stays whole."""
    X, y = task
    scores = cross_val_score(RecurrentTreeClassifier(starts=4), X[:300], y[:300], cv=KFold(3))
    assert scores.mean() > 0.9


def test_grid_search(task):
    X, y = task
    last = [int(v[-1]) for v in y]  # one label per sequence
    search = GridSearchCV(RecurrentTreeClassifier(starts=4), {"depth": [1, 4], "memory": [0, 3]}, cv=2).fit(X[:200], last[:200])
    assert search.best_params_["memory"] == 3 and search.best_score_ > 0.9
    assert search.predict(X[:5]).shape == (5,)


def test_numbers_of_threads_and_jobs(task):
    X, y = task
    scores = cross_val_score(RecurrentTreeClassifier(starts=2, n_jobs=1), X[:100], y[:100], cv=KFold(2), n_jobs=2)
    assert len(scores) == 2


def test_inspection_of_tables():
    """permutation_importance and partial dependence of rows; of sequences importance(X, y) does it (docs/python.md)."""
    from sklearn.inspection import partial_dependence, permutation_importance

    X, y = make_classification(200, 4, n_informative=2, n_redundant=0, random_state=0)
    fitted = RecurrentTreeClassifier(effort="quick", starts=2).fit(X, y)
    found = permutation_importance(fitted, X, y, n_repeats=3, random_state=0)
    assert found.importances_mean.argmax() == fitted.feature_importances_.argmax()
    curve = partial_dependence(fitted, X, [int(found.importances_mean.argmax())], kind="average")["average"][0]
    assert np.ptp(curve) > 0.1


def test_inspection_of_frames_of_sequences():
    """The columns of a frame in long format: each step keeps its id and time, one column at a time is exchanged."""
    pd = pytest.importorskip("pandas")
    from sklearn.inspection import partial_dependence, permutation_importance

    random = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.repeat(np.arange(20), 10), "time": np.tile(np.arange(10), 20), "a": random.normal(size=200), "b": random.normal(size=200)})
    y = frame.groupby("id")["a"].cumsum()
    fitted = RecurrentTreeRegressor(effort="quick", starts=2, id="id", time="time").fit(frame, y)
    lost = dict(zip(frame, permutation_importance(fitted, frame, y, n_repeats=2, random_state=0).importances_mean))
    assert lost["a"] > 10 * max(lost["b"], 0.0) and lost["a"] > 0.1
    assert partial_dependence(fitted, frame, ["a"], kind="average", grid_resolution=5)["average"].shape == (1, 5)


def test_inspection_of_lists_is_refused(task, model):
    """scikit-learn wants one array."""
    from sklearn.inspection import permutation_importance

    X, y = task
    with pytest.raises(ValueError):
        permutation_importance(model, X, y)
    assert model.importance(X, y)["features"][0]["shuffled"] > 0.1
