"""Targets and weights beside X: which step they belong to, which class they are, and where there is none."""
import numpy as np
import pytest

import remede
from remede import RecurrentTreeClassifier, RecurrentTreeRegressor

FAST = dict(starts=2, updates=100, n_jobs=1, random_state=1)
random = np.random.default_rng(9)
X = [random.normal(size=(random.integers(3, 6), 2)) for _ in range(40)]
ROWS = np.random.default_rng(2).normal(size=(300, 1))
CLASS = (ROWS[:, 0] > 0).astype(int)


def classifier(**arguments):
    return RecurrentTreeClassifier(**FAST, **arguments)


# Classes


@pytest.mark.parametrize("words", [("9", "10"), ("01", "2"), ("0.5", "1.0"), ("False", "True"), ("1_0", "2_0")])
def test_classes_that_are_texts_of_numbers(words, tmp_path):
    pandas = pytest.importorskip("pandas")
    y = np.array(words)[CLASS]
    model = classifier().fit(ROWS, y)
    assert model.classes_.tolist() == list(words) and model.score(ROWS, y) == 1.0  # in the order of their values
    model.save(tmp_path / "m.json")
    loaded = remede.load(tmp_path / "m.json")
    assert loaded.score(ROWS, y) == loaded.evaluate(ROWS, y)["accuracy"] == 1.0
    frame = pandas.DataFrame(ROWS, columns=["a"]).assign(y=y)
    by_name = classifier(id="row").fit(frame, "y")
    assert by_name.score(frame) == by_name.score(frame, frame.y) == by_name.score(frame, y.astype(object)) == 1.0
    assert by_name.model_.classes == model.model_.classes == list(words)


def test_labels_of_another_type_are_the_same_classes():
    model = classifier().fit(ROWS, CLASS)
    assert model.score(ROWS, CLASS.astype(str)) == model.score(ROWS, CLASS.astype(float)) == model.score(ROWS, CLASS == 1) == 1.0
    with pytest.warns(UserWarning, match="not seen in training .'2'."):
        assert model.score(ROWS, np.where(CLASS == 1, "1", "2")) < 0.6
    assert classifier().fit(ROWS, np.array(["1", "1.0", "2"])[CLASS * (1 + (ROWS[:, 0] > 1))]).model_.classes == ["1", "2"]


def test_a_model_with_a_target_per_sequence_is_scored_once_per_sequence():
    pandas = pytest.importorskip("pandas")
    frame = pandas.concat([pandas.DataFrame(x, columns=["a", "b"]).assign(id=k, y=int(x[:, 0].sum() > 0)) for k, x in enumerate(X)])
    frame.iloc[-1, -1] = 1 - frame.iloc[-1, -1]
    for make, y in ((RecurrentTreeClassifier, frame.y), (RecurrentTreeRegressor, frame.a)):
        model = make(**FAST, id="id", target_per="sequence").fit(frame.assign(y=y), "y")
        assert model.score(frame, y) == model.score(frame.assign(y=y), "y")
        assert str(model.evaluate(frame, y)) == str(model.evaluate(frame.assign(y=y), "y"))
        gaps = y.astype(float).where(frame.groupby("id").cumcount() < 2)  # the last target that is there counts
        assert model.score(frame, gaps) == model.score(frame.assign(y=gaps), "y")


# A fit that fails


def test_a_fit_that_fails_leaves_the_estimator_as_it_was():
    model = classifier().fit(ROWS, CLASS)
    said, before = model.predict(ROWS), dict(vars(model))
    for X_, y, arguments in [(ROWS, np.array(["a", "b"])[CLASS], dict(sample_weight=np.zeros(300))), (ROWS, np.zeros(300), {}), (ROWS, CLASS, dict(start_from=3)),
                             (ROWS, np.array(["a", "b"])[CLASS], dict(validation=(ROWS[:3], None)))]:
        with pytest.raises((ValueError, TypeError)):
            model.fit(X_, y, **arguments)
        assert vars(model) == before and (model.predict(ROWS) == said).all()
    several = RecurrentTreeRegressor(**FAST).fit(ROWS, ROWS[:, 0])
    with pytest.raises(ValueError, match="infinity"):
        several.fit(ROWS, np.full((300, 2), np.inf))
    assert several.predict(ROWS).shape == (300,)


# Weights


def test_weights_in_a_list_belong_to_their_sequences():
    pandas = pytest.importorskip("pandas")
    Y = [(x[:, 0] > 0).astype(int) for x in X]
    W = [np.full(len(x), 1.0 + k % 3) for k, x in enumerate(X)]
    for some in (W[::-1], W[:-1], [np.ones(2), np.ones(2)]):
        with pytest.raises(ValueError, match="expected a weight for each step of 40 sequences, got"):
            classifier().fit(X, Y, some)
    expected = classifier().fit(X, Y, W).model_.to_json()
    assert classifier().fit(X, Y, np.concatenate(W)).model_.to_json() == expected
    frames = [pandas.DataFrame(x, columns=["x1", "x2"]) for x in X]
    model = classifier().fit(frames, Y, W)
    assert all(np.array_equal(p, q) for p, q in zip(model.predict_proba(frames), classifier().fit(X, Y, W).predict_proba(X)))
    assert model.score(frames, Y, [pandas.Series(w) for w in W]) == model.score(frames, Y, np.concatenate(W))


# Missing targets


def missing_targets():
    pandas = pytest.importorskip("pandas")
    words, numbers = np.array(["d", "u"], object)[CLASS], CLASS.astype(float)
    gaps = np.arange(300) % 5 == 0
    yield [float("nan") if gap else str(word) for gap, word in zip(gaps, words)]
    yield [None if gap else str(word) for gap, word in zip(gaps, words)]
    yield [pandas.NA if gap else int(number) for gap, number in zip(gaps, numbers)]
    yield pandas.Series(words, dtype="string").mask(gaps)
    for kind in ("Float64", "Int64", "boolean"):
        yield pandas.Series(CLASS == 1).astype(kind).mask(gaps)
        yield pandas.DataFrame({"y": pandas.Series(CLASS == 1).astype(kind).mask(gaps)})
    for values in (words, CLASS, numbers, CLASS == 1):
        yield np.ma.array(values, mask=gaps)
    arrow = pytest.importorskip("pyarrow")
    for values in (words, CLASS, CLASS == 1):
        column = arrow.array(values, mask=gaps)
        yield column
        yield arrow.chunked_array([column])
        yield arrow.table({"y": column})


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("y", list(missing_targets()), ids=lambda y: type(y).__name__)
def test_missing_targets(y):
    steps = [ROWS[k:k + 5] for k in range(0, 300, 5)]  # the first step of each has no target
    model = classifier().fit(steps, y)
    assert len(model.classes_) == 2
    assert model.model_.classes in (["d", "u"], ["0", "1"], ["False", "True"])
    assert model.validation_score_["targets"] % 4 == 0 and model.score(steps, y) == 1.0


def test_missing_numbers():
    y = np.ma.array(ROWS[:, 0], mask=np.arange(300) % 5 == 0)
    steps = [ROWS[k:k + 5] for k in range(0, 300, 5)]
    model = RecurrentTreeRegressor(**FAST).fit(steps, y)
    assert model.model_.to_json() == RecurrentTreeRegressor(**FAST).fit(steps, y.filled(np.nan)).model_.to_json()


# Which step a target belongs to


def test_a_series_over_ids_is_matched_where_every_sequence_has_one_row():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=["a"]).assign(id=[f"s{k}" for k in range(300)])
    y = pandas.Series(CLASS, index=frame.id)
    weight = pandas.Series(1.0 + np.arange(300) % 3, index=frame.id)
    expected = classifier(id="id").fit(frame, y.to_numpy(), weight.to_numpy())
    order = np.random.default_rng(3).permutation(300)
    assert classifier(id="id").fit(frame, y.iloc[order], weight.iloc[order[::-1]]).model_.to_json() == expected.model_.to_json()
    assert expected.score(frame, y.iloc[order]) == 1.0
    shuffled = frame.assign(id=order)  # its index is that of the rows, though it holds the ids as well
    assert classifier(id="id").fit(shuffled, pandas.Series(CLASS)).score(shuffled, CLASS) == 1.0
    assert classifier(id="row").fit(frame[["a"]], pandas.Series(CLASS, index=order)).score(frame[["a"]], CLASS) == 1.0


def test_groups_by_id():
    pandas = pytest.importorskip("pandas")
    frame = pandas.concat([pandas.DataFrame(x, columns=["a", "b"]).assign(id=f"s{k}", y=(x[:, 0] > 0).astype(int)) for k, x in enumerate(X)])
    groups = pandas.Series(np.arange(40) % 7, index=[f"s{k}" for k in range(40)])
    same = [remede.cross_validate(classifier(id="id"), frame, "y", folds=3, groups=some) for some in (groups, groups.iloc[::-1], groups.to_numpy())]
    assert str(same[0]) == str(same[1]) == str(same[2])


@pytest.mark.parametrize("axes, order", [("time, instance, channel", (1, 0, 2)), ("time, channel, instance", (1, 2, 0))])
@pytest.mark.parametrize("length", [5, 12])
def test_targets_in_the_shape_of_a_cube_with_time_first(axes, order, length):
    cube = np.random.default_rng(4).normal(size=(12, length, 2))
    y, weight = (cube[:, :, 0] > 0).astype(int), 1.0 + (cube[:, :, 1] > 0)
    expected = classifier(axes="instance, time, channel").fit(cube, y, weight)
    model = classifier(axes=axes).fit(cube.transpose(order), y.T, weight.T)
    assert model.model_.to_json() == expected.model_.to_json()
    assert model.score(cube.transpose(order), y.T) == expected.score(cube, y)
    assert str(remede.describe(cube.transpose(order), y.T, axes=axes)) == str(remede.describe(cube, y, axes="instance, time, channel"))
    if length != 12:
        assert model.score(cube.transpose(order), y) == expected.score(cube, y)  # in the shape of the predictions
