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
