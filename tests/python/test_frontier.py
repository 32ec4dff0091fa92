"""Models of all sizes: max_numbers, accurate, frontier_, plot_frontier, increasing and decreasing."""
import numpy as np
import pytest

import remede

SHORT = {"starts": 2, "updates": 100, "random_state": 1}


@pytest.fixture(scope="module")
def fitted():
    X, y = remede.generate("runoff", sequences=5, seed=2)
    return X, y, remede.RecurrentTreeRegressor(max_numbers=25, **SHORT).fit(X, y)


def test_max_numbers_is_kept(fitted):
    assert fitted[2].n_numbers_ <= 25


def test_frontier_is_a_list_of_fitted_models(fitted):
    X, y, model = fitted
    sizes = [m.n_numbers_ for m in model.frontier_]
    assert sizes == sorted(sizes) and len(sizes) >= 2
    assert sum(m.validation_score_["chosen"] for m in model.frontier_) == 1
    assert model.frontier_reason_
    for m in model.frontier_:
        assert np.isfinite(m.score(X, y))
    chosen = next(m for m in model.frontier_ if m.validation_score_["chosen"])
    assert all(np.array_equal(a, b) for a, b in zip(chosen.predict(X), model.predict(X)))


def test_plot_frontier(fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = remede.plot_frontier(fitted[2])
    assert axes.get_xscale() == "log"


def test_parameters_survive_saving(fitted, tmp_path):
    fitted[2].save(tmp_path / "model.json")
    assert remede.load(tmp_path / "model.json").max_numbers == 25


def test_trends(fitted):
    X, y, _ = fitted
    model = remede.RecurrentTreeRegressor(increasing=["x1"], **SHORT).fit(X, y)
    wetter = [x.copy() for x in X]
    for x in wetter:
        x[100:103, 0] += 20
    for more, less in zip(model.predict(wetter), model.predict(X)):
        assert (np.asarray(more) >= np.asarray(less) - 1e-3).all()


def test_what_contradicts_is_refused():
    X, y = remede.generate("runoff", sequences=2, seed=2)
    with pytest.raises((ValueError, remede.Error), match="several trees"):
        remede.RecurrentTreeRegressor(max_numbers=25, trees=2, **SHORT).fit(X, y)
    with pytest.raises((ValueError, remede.Error), match="no.such"):
        remede.RecurrentTreeRegressor(increasing="no.such", **SHORT).fit(X, y)
