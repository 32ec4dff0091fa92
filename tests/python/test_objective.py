"""objective= and quantiles=, from Python."""
import numpy as np
import pytest
import remede

QUICK = dict(starts=2, memory=2, random_state=1)


def counts(seed=0, sequences=30, steps=20):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(steps, 1)) for _ in range(sequences)]
    return X, [random.poisson(np.exp(0.5 + 0.5 * x[:, 0])).astype(float) for x in X]


def test_quantiles_are_columns_that_never_cross():
    X, y = counts()
    model = remede.RecurrentTreeRegressor(objective="quantile", quantiles=[0.1, 0.5, 0.9], **QUICK).fit(X, y)
    said = np.concatenate(model.predict(X))
    assert said.shape == (600, 3)
    assert (np.diff(said, axis=1) >= 0).all()
    covered = np.mean((np.concatenate(y) >= said[:, 0]) & (np.concatenate(y) <= said[:, 2]))
    assert 0.6 < covered <= 1
    assert np.isfinite(model.score(X, y))
    assert model.validation_score_["loss"] > 0


def test_a_saved_model_of_quantiles_comes_back(tmp_path):
    X, y = counts()
    model = remede.RecurrentTreeRegressor(objective="quantile", quantiles=(0.25, 0.75), **QUICK).fit(X, y)
    model.save(tmp_path / "m.json")
    again = remede.load(tmp_path / "m.json")
    assert again.get_params()["quantiles"] == [0.25, 0.75]
    np.testing.assert_array_equal(np.concatenate(model.predict(X)), np.concatenate(again.predict(X)))
    stream = again.stream()
    np.testing.assert_allclose([stream.step(x) for x in X[0]], again.predict(X)[0], rtol=1e-6)


def test_counts_are_positive():
    X, y = counts()
    model = remede.RecurrentTreeRegressor(objective="poisson", **QUICK).fit(X, y)
    assert (np.concatenate(model.predict(X)) > 0).all()


@pytest.mark.parametrize("arguments, words", [
    (dict(objective="cross-entropy"), "expected an objective of numbers"),
    (dict(quantiles=[0.1]), "expected objective quantile"),
    (dict(objective="quantile", quantiles=[0.9, 0.1]), "ascending"),
    (dict(objective="poisson", output_order="first"), "output_order"),
    (dict(objective="nothing"), "objective: expected one of"),
])
def test_what_makes_no_sense_is_refused(arguments, words):
    X, y = counts()
    with pytest.raises(ValueError, match=words):
        remede.RecurrentTreeRegressor(**QUICK, **arguments).fit(X, y)


def test_negative_counts_are_refused():
    X, y = counts()
    y[0][3] = -1
    with pytest.raises(ValueError, match="at least 0"):
        remede.RecurrentTreeRegressor(objective="poisson", **QUICK).fit(X, y)
