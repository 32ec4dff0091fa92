"""Every kind of input gives the same answers as the plain list of arrays, and comes back in its own shape."""
import numpy as np
import pytest

import remede
from remede import RecurrentTreeClassifier, RecurrentTreeRegressor


@pytest.fixture(scope="module")
def data():
    return remede.generate("variable-delay-2", sequences=300, seed=2)


@pytest.fixture(scope="module")
def fitted(data):
    return RecurrentTreeClassifier(starts=4).fit(*data)


def long_columns(X, y, shuffled=True):
    n = [len(x) for x in X]
    columns = {"id": np.repeat([f"s{k}" for k in range(len(X))], n), "time": np.concatenate([np.arange(k) for k in n]),
               "x1": np.concatenate(X)[:, 0], "x2": np.concatenate(X)[:, 1], "y": np.concatenate(y)}
    order = np.random.default_rng(1).permutation(len(columns["id"])) if shuffled else slice(None)
    return {name: values[order] for name, values in columns.items()}


def pandas_frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def arrow_table(columns):
    return pytest.importorskip("pyarrow").table(columns)


def arrow_stream(columns):
    class Stream:  # nothing but the interface
        def __arrow_c_stream__(self, requested_schema=None):
            return arrow_table(columns).__arrow_c_stream__(requested_schema)
    return Stream()


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table, arrow_stream])
def test_long_frames(make, data, fitted):
    X, y = data
    columns = long_columns(X, y)
    frame = make(columns)
    model = RecurrentTreeClassifier(starts=4, id="id", time="time").fit(frame, "y")
    assert model.feature_names_in_.tolist() == ["x1", "x2"]
    expected = {(f"s{k}", t): p for k, said in enumerate(model_of_same_order(columns, data).predict(X)) for t, p in enumerate(said)}
    got = model.predict(frame)
    assert got.shape == (len(columns["id"]),)
    assert all(expected[i, t] == p for i, t, p in zip(columns["id"], columns["time"], got))
    assert model.score(frame, columns["y"]) > 0.9


def model_of_same_order(columns, data):
    """The model of the plain list whose sequences stand in the order of the frame's first rows."""
    X, y = data
    order = [int(i[1:]) for i in dict.fromkeys(columns["id"])]
    return RecurrentTreeClassifier(starts=4).fit([X[k] for k in order], [y[k] for k in order])


def test_sktime_panel(data, fitted):
    pandas = pytest.importorskip("pandas")
    X, y = data
    columns = long_columns(X, y, shuffled=False)
    index = pandas.MultiIndex.from_arrays([columns["id"], columns["time"]], names=["instance", "time"])
    panel = pandas.DataFrame({"x1": columns["x1"], "x2": columns["x2"]}, index=index)
    model = RecurrentTreeClassifier(starts=4).fit(panel, columns["y"])
    assert (model.predict(panel) == np.concatenate(fitted.predict(X))).all()
    last = pandas.Series({f"s{k}": int(v.sum()) for k, v in reversed(list(enumerate(y)))})  # by id, in another order
    per_sequence = RecurrentTreeClassifier(starts=4).fit(panel, last)
    same = RecurrentTreeClassifier(starts=4).fit(X, [int(v.sum()) for v in y])
    assert (per_sequence.predict(panel) == same.predict(X)).all()
    assert per_sequence.predict(panel).shape == (len(X),)


@pytest.mark.parametrize("axes, order", [("instance, time, channel", (0, 1, 2)), ("instance channel time", (0, 2, 1))])
def test_cubes(data, fitted, axes, order):
    X, y = data
    cube = np.stack(X).transpose(order)
    model = RecurrentTreeClassifier(starts=4, axes=axes).fit(cube, np.stack(y))
    assert (model.predict(cube) == np.stack(fitted.predict(X))).all()
    assert model.predict_proba(cube).shape == np.stack(y).shape + (3,)
    with pytest.raises(ValueError, match="axes='instance, time, channel'"):
        RecurrentTreeClassifier().fit(cube, np.stack(y))


def test_ragged_lists(fitted, data):
    X, y = data
    ragged = [x[:3 + k % 7] for k, x in enumerate(X)]
    said = fitted.predict(ragged)
    assert [len(s) for s in said] == [len(x) for x in ragged]
    whole = fitted.predict(X)
    assert all((s == w[:len(s)]).all() for s, w in zip(said, whole))
    nested = [x.tolist() for x in ragged]  # lists of lists are fine
    assert all((a == b).all() for a, b in zip(said, fitted.predict(nested)))


def test_flat_targets_and_targets_per_sequence(data, fitted):
    X, y = data
    assert RecurrentTreeClassifier(starts=4).fit(X, np.concatenate(y)).model_.to_json() == fitted.model_.to_json()
    model = RecurrentTreeClassifier(starts=4).fit(X, [int(v.sum()) for v in y])
    assert model.predict(X).shape == (300,) and model.predict_proba(X).shape == (300, len(model.classes_))


def test_missing_targets_are_steps_without_one(data):
    X, y = data
    some = [np.where(np.arange(len(v)) < 2, np.nan, v) for v in y]
    model = RecurrentTreeClassifier(starts=4).fit(X, some)
    assert model.validation_score_["targets"] == 60 * 7
    assert model.model_.classes == ["-1", "0", "1"]  # room for NaN makes numbers float; the classes are whole


def test_text_classes_and_missing_inputs():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = np.where(X[:, 1] > 0, "yes", "no")
    X[random.random(X.shape) < 0.1] = np.nan
    model = RecurrentTreeClassifier(starts=4).fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"] and model.score(X, y) > 0.85
    assert set(model.predict(X)) <= {"no", "yes"}


def test_unread_inputs_are_dropped_in_the_file_not_in_python(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5))
    model = RecurrentTreeClassifier(starts=4, leaf_output="constant").fit(X, X[:, 3] > 0)
    assert model.n_features_in_ == 5 and model.model_.inputs == ["x4"]
    assert model.score(X, X[:, 3] > 0) > 0.95
    model.save(tmp_path / "m.json")
    again = remede.load(tmp_path / "m.json")
    assert again.n_features_in_ == 1 and again.classes_.tolist() == [False, True]
    assert (again.stream().step([2.0]), model.stream().step([0, 0, 0, 2.0, 0])) == (True, True)


def test_several_outputs(waves):
    X, y = waves
    both = [np.stack([v, -2 * v], axis=1) for v in y]
    model = RecurrentTreeRegressor(starts=4).fit(X, both)
    assert model.predict(X)[0].shape == (12, 2) and model.n_outputs_ == 2
    assert len(model.stream().step([0.5, 0.1])) == 2
    assert model.score(X, both) > 0.5


@pytest.mark.parametrize("X, y, words", [
    ([[1.0, 2.0]], None, "y is None"),
    ([np.zeros((2, 1)), np.zeros((2, 2))], [0, 1], "same number of inputs"),
    ([np.zeros((2, 1)), np.zeros((0, 1))], [0, 1], "at least one step"),
    ([np.zeros((2, 1)), np.ones((3, 1))], [0, 1, 0], "per sequence .2. or per step .5., got 3"),
    ([np.zeros((2, 1)), np.ones((3, 1))], [[0, 1], [0, 1]], "for each step"),
    (np.array([[np.inf], [1.0]]), [0, 1], "expected a finite number that fits a float, got inf"),
    (np.array([["1.5"], ["b"]]), [0, 1], "row 1, column 'x1': expected a number, got 'b'"),
    (np.zeros((3, 1)), [0.5, 1.5, 2.5], "Unknown label type"),
])
def test_what_cannot_be_is_said(X, y, words):
    with pytest.raises(ValueError, match=words):
        RecurrentTreeClassifier().fit(X, y)


def test_frames_that_cannot_be():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 1, 2], "t": [0, 0, 1], "x": [1.0, 2.0, 3.0], "day": pandas.to_datetime(["2024-01-01"] * 3), "y": [0, 1, 0]})
    for columns, arguments, words in [(["id", "t", "x", "y"], dict(id="id", time="t", strict_time=True), "duplicate time '0' in sequence '1'"),
                                      (["id", "x", "y"], dict(id="who"), "--id: expected one of the columns 'id', 'x', 'y', got 'who'"),
                                      (["id", "x", "day", "y"], dict(id="id"), "column 'day': expected a number, got '2024-01-01'; a column of dates")]:
        with pytest.raises(ValueError, match=words):
            RecurrentTreeClassifier(**arguments).fit(frame[columns], "y")


@pytest.mark.parametrize("make", [pandas_frame, polars_frame, arrow_table])
def test_words(make, tmp_path):
    random = np.random.default_rng(4)
    columns = {"wind": random.choice(["N", "E", "S", "W"], 400).tolist(), "open": (random.random(400) < 0.5).tolist(), "x": random.normal(size=400)}
    columns["wind"][7] = None
    y = np.array([w in ("N", "S") and o for w, o in zip(columns["wind"], columns["open"])])
    frame = make(columns)
    model = RecurrentTreeClassifier(starts=8).fit(frame, y)
    assert model.n_features_in_ == 3 and model.score(frame, y) > 0.98
    assert "wind" in model.to_text()
    new = make({"wind": ["N", "never seen"], "open": [True, True], "x": [0.0, 0.0]})
    assert model.predict(new)[0] == True  # noqa: E712
    model.save(tmp_path / "m.json")
    again = remede.load(tmp_path / "m.json")
    assert (again.predict(frame_of(make, columns, again.feature_names_in_)) == model.predict(frame)).all()
    import pickle
    assert (pickle.loads(pickle.dumps(model)).predict(frame) == model.predict(frame)).all()


def frame_of(make, columns, names):
    return make({name: columns[name] for name in names})
