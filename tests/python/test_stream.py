"""Live use: the same answers as all at once, whatever an input is given as."""
import numpy as np
import pytest

import remede


def test_steps_are_the_predictions(model, task):
    X, _ = task
    for x, said, likely in zip(X[:50], model.predict(X[:50]), model.predict_proba(X[:50])):
        stream = model.stream()
        assert [stream.step(row) for row in x] == said.tolist()
        stream.reset()
        assert (np.array([stream.step_proba(row) for row in x], np.float32) == likely).all()


@pytest.mark.parametrize("give", [list, tuple, lambda v: np.array(v, np.float32), lambda v: np.array(v, np.float64), lambda v: v[0], np.float32,
                                  lambda v: memoryview(np.array(v, np.float64)), lambda v: np.array(v, np.float32)[::-1]])
def test_ways_to_give_a_step(model, give):
    values = [0.4, 0, 0, 0, 0, 0, 1]
    stream = model.stream()
    assert [stream.step(give([np.float32(v).item()])) for v in values][-1] == 1


def test_missing_values(model):
    a, b = model.stream(), model.stream()
    assert a.step_proba([None]) == b.step_proba([float("nan")])


def test_state_is_data(model, task):
    x = task[0][0]
    stream = model.stream()
    for row in x[:4]:
        stream.step(row)
    fork = model.stream()
    fork.state = stream.state
    assert [fork.step_proba(row) for row in x[4:]] == [stream.step_proba(row) for row in x[4:]]
    assert stream.state.dtype == np.float32 and len(stream.leaves) == 1
    with pytest.raises(ValueError, match="expected a state of"):
        fork.state = np.zeros(99, np.float32)


@pytest.mark.parametrize("wrong", [[], [1.0, 2.0], np.zeros(2), ["a"], "ab", [float("inf")], object()])
def test_what_is_no_step(model, wrong):
    with pytest.raises((ValueError, TypeError)):
        model.stream().step(wrong)


def test_a_stream_keeps_its_model_alive(task):
    stream = remede.RecurrentTreeClassifier(starts=2).fit(*task).stream()
    import gc
    gc.collect()
    assert stream.step([0.1]) in (-1, 0, 1)


def test_regression(waves):
    X, y = waves
    model = remede.RecurrentTreeRegressor(starts=2).fit(X, y)
    stream = model.stream()
    assert [stream.step(row) for row in X[0]] == model.predict(X[:1])[0].tolist()
