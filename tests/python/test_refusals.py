"""What cannot be is said in one clear line; what is nearly right is read as it was meant."""

import numpy as np
import pytest

import remede
from remede import RecurrentTreeClassifier, RecurrentTreeRegressor

pandas = pytest.importorskip("pandas")

FAST = dict(starts=2, updates=100, n_jobs=1, random_state=1)
FRAME = pandas.DataFrame(np.random.default_rng(9).normal(size=(300, 2)), columns=["a", "b"])
Y = (FRAME.a > 0).astype(int).rename("y")
NESTED = pandas.DataFrame({name: [FRAME[name].to_numpy()[k:k + 5] for k in range(0, 300, 5)] for name in ("a", "b")})
STEPS = [Y.to_numpy()[k:k + 5] for k in range(0, 300, 5)]


def classifier(**arguments):
    return RecurrentTreeClassifier(**FAST, **arguments)


def test_nested_frames_are_read_by_the_names_of_their_columns():
    model = classifier().fit(NESTED, STEPS)
    with pytest.raises(ValueError, match="expected the input columns 'a', 'b', got the columns 'b', 'c': missing 'a'"):
        model.predict(NESTED.rename(columns={"a": "c"})[["b", "c"]])
    more = NESTED.assign(c=NESTED.b)[["c", "b", "a"]]
    expected = np.concatenate(model.predict_proba(NESTED))
    assert np.array_equal(np.concatenate(model.predict_proba(more)), expected)
    assert np.array_equal(np.concatenate(model.predict_proba(NESTED.map(lambda cell: cell.tolist()))), expected)
    of_arrays = classifier().fit([np.stack(row, axis=1) for row in NESTED.itertuples(index=False)], STEPS)  # has no names
    assert np.array_equal(np.concatenate(of_arrays.predict_proba(NESTED)), expected)
    numbered = classifier().fit(NESTED.set_axis([0, 1], axis=1), STEPS)
    assert np.array_equal(np.concatenate(numbered.predict_proba(NESTED.set_axis([0, 1], axis=1)[[1, 0]])), expected)


@pytest.mark.parametrize("row", [0, 3])
@pytest.mark.parametrize("cell", [None, float("nan")])
def test_cells_of_nested_frames_that_are_no_series(row, cell):
    nested = NESTED.copy()
    nested["b"] = [cell if k == row else series for k, series in enumerate(nested.b)]
    with pytest.raises(ValueError, match=f"expected a series in every cell, got {cell} in row {row}, column 'b'"):
        classifier().fit(nested, STEPS)


@pytest.mark.parametrize("what", ["validation", "test"])
@pytest.mark.parametrize("given, words", [
    ([(FRAME, Y)], "expected .X, y. as a tuple, got a list"),
    ([FRAME, Y], "expected .X, y. as a tuple, got a list"),
    ([FRAME.to_numpy(), Y.to_numpy()], "expected .X, y. as a tuple, got a list"),
    ((FRAME, Y, Y), "expected .X, y., got a tuple of 3"),
    (FRAME, "expected .X, y., got no y"),
])
def test_data_that_are_held_out(what, given, words):
    with pytest.raises(ValueError, match=f"{what}: {words}"):
        classifier().fit(FRAME, Y, **{what: given})


def test_a_share_for_validation():
    with pytest.raises(ValueError, match="validation: expected .X, y., got 0.2; a share of X is held out with validation_fraction"):
        classifier().fit(FRAME, Y, validation=0.2)


@pytest.mark.parametrize("call, words", [
    (lambda: classifier().fit([np.zeros(3), np.zeros(2)], [0, 1]), "expected a 2-D array, or a list of 2-D arrays"),
    (lambda: classifier().fit(FRAME.a, Y), "Expected 2D array, got 1D array instead"),
    (lambda: remede.cross_validate(classifier(), FRAME, Y, folds=2.5), "folds: expected at least 2 as a whole number, got 2.5"),
    (lambda: remede.generate("fixed-delay", sequences=3.0), "sequences: expected a whole number, got 3.0"),
    (lambda: remede.generate("fixed-delay", seed=-1), "seed: expected a whole number of at least 0, got -1"),
    (lambda: remede.generate("fixed-delay", delay="2"), "delay: expected a whole number, got '2'"),
    (lambda: remede.generate("fixed-delay", colour=2), "expected an option of a task, got 'colour'"),
])
def test_one_clear_line(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_lazy_frames_are_refused():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="expected a DataFrame, got a LazyFrame of polars"):
        classifier().fit(polars.DataFrame({"a": FRAME.a.to_numpy()}).lazy(), Y)


@pytest.mark.parametrize("kind", [RecurrentTreeClassifier, RecurrentTreeRegressor])
def test_an_estimator_that_is_not_fitted_says_so(kind):
    exceptions = pytest.importorskip("sklearn.exceptions")
    for call in (lambda: kind().score(FRAME, Y), lambda: kind().evaluate(FRAME, Y), lambda: kind().predict(FRAME)):
        with pytest.raises(exceptions.NotFittedError, match="is not fitted yet"):
            call()


def frames():
    yield FRAME
    yield [FRAME[:100], FRAME[100:200], FRAME[200:]]
    yield FRAME.to_records(index=False)
    for library, make in (("polars", "DataFrame"), ("pyarrow", "table")):
        yield getattr(pytest.importorskip(library), make)({name: FRAME[name].to_numpy() for name in FRAME})


@pytest.mark.parametrize("X", list(frames()), ids=lambda X: type(X).__name__)
def test_a_list_of_words_beside_a_table_holds_labels_unless_it_names_columns(X):
    words = np.array(["down", "up"])[Y]
    assert classifier().fit(X, words.tolist()).classes_.tolist() == ["down", "up"]
    with pytest.raises(ValueError, match="'c'"):
        RecurrentTreeRegressor(**FAST).fit(X, ["a", "c"])
    assert RecurrentTreeRegressor(**FAST).fit(X, ["a"]).n_outputs_ == 1


def test_an_index_of_periods_is_one_of_times():
    with pytest.warns(UserWarning, match="the index of times is not used"):
        classifier().fit(FRAME.set_index(pandas.period_range("2020-01", periods=300, freq="h")), Y.to_numpy())


def test_a_horizon_needs_sequences():
    with pytest.raises(ValueError, match="horizon=3: expected sequences, got a frame without an id column.*id='none' makes the rows one sequence"):
        RecurrentTreeRegressor(**FAST, horizon=3).fit(FRAME, "a")
    RecurrentTreeRegressor(**FAST, horizon=3, id="none").fit(FRAME, "a")


def test_describe_takes_the_rows_of_a_frame_as_fit_does():
    assert remede.describe(FRAME, Y)["sequences"] == 300
    assert remede.describe(FRAME, Y, id="none")["sequences"] == 1
    assert remede.describe(FRAME.assign(id=[k // 10 for k in range(300)]), Y)["sequences"] == 30
