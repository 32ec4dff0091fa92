"""True and false where training saw 0 and 1, and the reverse."""
import numpy as np
import pytest

from remede import RecurrentTreeClassifier

pandas = pytest.importorskip("pandas")

B = np.random.default_rng(9).random((300, 2)) > 0.5
Y = (B[:, 0] ^ B[:, 1]).astype(int)
FRAME = pandas.DataFrame(B, columns=["a", "b"])


def fitted(X, y=Y):
    return RecurrentTreeClassifier(starts=2, updates=100, n_jobs=1, random_state=1).fit(X, y)


def polars_frame(x):
    return pytest.importorskip("polars").DataFrame(dict(x))


def arrow_table(x):
    return pytest.importorskip("pyarrow").table({name: x[name].to_numpy() for name in x})


KINDS = [lambda x: x, lambda x: x.astype(object), lambda x: x.astype("boolean" if x.a.dtype == bool else "Int64"), polars_frame, arrow_table,
         lambda x: x.to_records(index=False), lambda x: x.assign(b=x.b.astype(object))]


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_booleans_and_of_0_and_1_are_the_same(kind):
    of_booleans, of_numbers = fitted(FRAME), fitted(FRAME.astype(int))
    for frame in (FRAME, FRAME.astype(int)):
        assert of_booleans.score(kind(frame), Y) == 1.0
        assert of_numbers.score(kind(frame), Y) == 1.0


def test_a_column_that_is_filled_up_with_0_counts_as_false():
    model = fitted(FRAME)
    new = FRAME[["a"]].reindex(columns=["a", "b"], fill_value=0)
    assert (model.predict(new) == model.predict(FRAME.assign(b=False))).all()
    odd = FRAME.assign(b=[None if k % 2 else 1.0 for k in range(300)])  # missing values stay missing
    assert (model.predict(odd) == model.predict(FRAME.assign(b=[None if k % 2 else True for k in range(300)]))).all()


def test_arrays_of_booleans_are_arrays_of_numbers():
    model = fitted(B)
    assert model.score(B, Y) == model.score(B.astype(int), Y) == model.score(B.astype(object), Y) == 1.0
    assert model.model_.to_json() == fitted(B.astype(int)).model_.to_json()
    masked = np.ma.array(B, mask=np.zeros_like(B))
    assert model.score(masked, Y) == 1.0


@pytest.mark.parametrize("of", [FRAME, FRAME.astype(int), B])
def test_streams_take_booleans_of_numpy_and_numbers(of):
    model = fitted(of)
    for rows in (B, B.astype(int), B.astype(float), B.tolist(), B.astype(object)):
        assert np.mean([model.stream().step(row) for row in rows] == Y) == 1.0
    pool = model.stream_pool()
    assert np.mean([pool.step(k, row) for k, row in enumerate(B)] == Y) == 1.0
    assert model.stream().step(dict(zip(model._column_names, B[0]))) == Y[0]


def test_validation_data_and_targets():
    held = RecurrentTreeClassifier(starts=2, updates=100, random_state=1).fit(FRAME, Y, validation=(FRAME.astype(int), Y))
    assert held.validation_score_["accuracy"] == 1.0
    model = fitted(FRAME.assign(y=Y == 1), "y")
    assert model.score(FRAME.assign(y=Y), "y") == 1.0
    assert model.score(FRAME, Y) == 1.0
