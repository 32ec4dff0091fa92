"""Training from Python: settings, weights, progress, interruption, threads."""
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import remede
from remede import RecurrentTreeClassifier, RecurrentTreeRegressor


@pytest.mark.parametrize("arguments, words", [
    (dict(depth=13), "depth: expected a number in 0 .. 12 or auto, got '13'"),
    (dict(depth=2.5), "depth: expected a number"),
    (dict(form="poor"), "form: expected one of auto, paper, rich, got 'poor'"),
    (dict(rate_index="fast"), "rate_index: expected a number"),
    (dict(updates=5, epochs=5), "expected updates or epochs, got both"),
    (dict(n_jobs=0), "n_jobs"),
])
def test_bad_settings_are_named_in_python_words(task, arguments, words):
    with pytest.raises(ValueError, match=words):
        RecurrentTreeClassifier(**arguments).fit(*task)


def test_settings_are_saved(task):
    model = RecurrentTreeClassifier(starts=2, depth=np.int64(3), memory=2.0, write_bias=True, rate_gate=np.float32(0.5)).fit(*task)
    settings = dict(model.model_.settings)
    assert [settings[n] for n in ("starts", "depth", "memory", "write_bias", "rate_gate")] == ["2", "3", "2", "yes", "0.5"]


def test_callbacks_see_progress_and_can_stop(task):
    seen = []
    whole = RecurrentTreeClassifier(starts=16).fit(*task, callbacks=seen.append)
    assert len(seen) >= 2 and not whole.stopped_
    assert [p.done for p in seen] == sorted(p.done for p in seen) and 0 < seen[-1].done <= 1
    assert seen[0].phase and seen[-1].best_loss <= seen[0].best_loss
    stopped = RecurrentTreeClassifier(starts=16).fit(*task, callbacks=[lambda p: True])
    assert stopped.stopped_ and stopped.predict(task[0])[0].shape == (7,)


def test_an_error_in_a_callback_is_raised_and_the_model_kept(task):
    def fails(progress):
        raise KeyError("callback")
    model = RecurrentTreeClassifier(starts=4)
    with pytest.raises(KeyError, match="callback"):
        model.fit(*task, callbacks=fails)
    assert model.model_.node_count > 0


INTERRUPTED = """
import os, signal, threading, warnings
import remede
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that runs the tests in the background ignores it
X, y = remede.generate("sign-memory", sequences=2000)
begun = []
def interrupt_soon(progress):  # once training is under way, from outside of it
    if not begun:
        begun.append(threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)))
        begun[0].start()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = remede.RecurrentTreeClassifier(starts=64).fit(X, y, callbacks=interrupt_soon)
print(model.stopped_, [str(w.message) for w in caught], len(model.predict(X)))
"""


def test_ctrl_c_keeps_the_best_model():
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=400)
    assert run.stdout == "True ['training was interrupted: this is the best model so far'] 2000\n", run.stderr


def test_other_threads_run_while_training(task):
    """The interpreter's lock is free: another thread counts on."""
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)
    thread = threading.Thread(target=count)
    thread.start()
    begin = time.time()
    RecurrentTreeClassifier(starts=16, n_jobs=1).fit(*task)
    took = time.time() - begin
    done.set()
    thread.join()
    assert counts[0] > 100 * took


def test_weights_per_sequence_and_per_step(task):
    X, y = task
    # Two opinions about the same inputs: the weight decides.
    doubled = X + X
    opinions = y + [-v for v in y]
    first = RecurrentTreeClassifier(starts=8, form="paper").fit(doubled, opinions, sample_weight=[1.0] * 1000 + [0.05] * 1000)
    assert first.score(X, y) > 0.99
    second = RecurrentTreeClassifier(starts=8, form="paper").fit(doubled, opinions, sample_weight=np.repeat([0.05, 1.0], 7000))
    assert second.score(X, [-v for v in y]) > 0.99


def test_weight_zero_is_absence(task):
    X, y = task
    weight = np.ones(1000)
    weight[600:] = 0
    with_all = RecurrentTreeClassifier(starts=4).fit(X, y, sample_weight=weight)
    with_some = RecurrentTreeClassifier(starts=4).fit(X[:600], y[:600])
    assert with_all.model_.to_json() == with_some.model_.to_json()


def test_validation_data(task):
    X, y = task
    model = RecurrentTreeClassifier(starts=4).fit(X[:700], y[:700], validation=(X[700:], y[700:]))
    assert model.validation_score_["sequences"] == 300


def test_random_state(task):
    X, y = task
    fit = lambda state: RecurrentTreeClassifier(starts=2, random_state=state).fit(X, y).model_.to_json()
    assert fit(4) == fit(4) != fit(5)
    assert fit(np.random.RandomState(1)) == fit(np.random.RandomState(1))


def test_pickle(model, task, waves):
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == model.get_params()
    assert all((a == b).all() for a, b in zip(again.predict_proba(task[0]), model.predict_proba(task[0])))
    X, y = waves
    regressor = RecurrentTreeRegressor(starts=2).fit(X, y)
    again = pickle.loads(pickle.dumps(regressor))
    assert all((a == b).all() for a, b in zip(again.predict(X), regressor.predict(X)))


def test_progress_bar(task, capfd):
    RecurrentTreeClassifier(starts=2, verbose=1).fit(*task)
    shown = capfd.readouterr().err
    assert "%" in shown and "loss" in shown


def test_progress_line_without_tqdm(task, capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    RecurrentTreeClassifier(starts=2, verbose=1).fit(*task)
    assert "loss" in capfd.readouterr().err


def test_first_order_regression(waves):
    X, y = waves
    model = RecurrentTreeRegressor(starts=4, output_order="first").fit(X, [np.cumsum(v) for v in y])
    assert all(np.isfinite(p).all() for p in model.predict(X))


def test_several_trees(task):
    model = RecurrentTreeClassifier(starts=4, trees=3).fit(*task)
    assert model.model_.tree_count == 3 and model.apply(task[0])[0].shape == (7, 3)


def test_fit_after_fork(task):
    """Threads do not survive a fork; a child that trains gets its own."""
    X, y = task
    expected = RecurrentTreeClassifier(starts=2, n_jobs=2).fit(X, y).model_.to_json()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            same = RecurrentTreeClassifier(starts=2, n_jobs=2).fit(X, y).model_.to_json() == expected
            os.write(writer, b"same" if same else b"different")
        finally:
            os._exit(0)
    os.close(writer)
    assert os.read(reader, 20) == b"same"
    os.waitpid(child, 0)


def test_classes_as_a_list_of_words(task):
    """Beside arrays a list of texts holds classes; beside a frame it names columns."""
    X, y = task
    words = ["up" if v[-1] == 1 else "down" for v in y[:200]]
    fitted = remede.RecurrentTreeClassifier(effort="quick", starts=2).fit(X[:200], words)
    assert sorted(fitted.classes_) == ["down", "up"] and fitted.score(X[:200], words) > 0.5


def test_a_target_that_is_called_like_an_input(tmp_path):
    """A Series often keeps the name of the column that it was made from."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": np.repeat(np.arange(10), 6), "a": np.random.default_rng(0).normal(size=60)})
    target = frame.groupby("id")["a"].cumsum()
    assert target.name == "a"
    fitted = remede.RecurrentTreeRegressor(effort="quick", starts=2, id="id").fit(frame, target)
    fitted.save(tmp_path / "model.json")
    assert fitted.model_.targets == ["a_"] and np.array_equal(remede.load(tmp_path / "model.json").predict(frame), fitted.predict(frame))


def test_start_from_a_model(program, tmp_path):
    """The program and the package adapt the numbers of a model to the same bytes; its structure stays."""
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(4)
    frame = pd.DataFrame({"id": np.repeat(np.arange(30), 12), "time": np.tile(np.arange(12), 30), "a": random.normal(size=360).round(3)})
    frame["y"] = frame.groupby("id")["a"].cumsum().round(3)
    options = dict(effort="quick", starts=2, id="id", time="time")
    before = RecurrentTreeRegressor(**options).fit(frame, "y")
    drifted = frame.assign(y=(2 * frame["y"] + 1).round(3))
    before.save(tmp_path / "before.json")
    drifted.to_csv(tmp_path / "drifted.csv", index=False)
    after = RecurrentTreeRegressor().fit(drifted, "y", start_from=before)
    assert after.score(drifted, "y") > 0.9 > before.score(drifted, "y") and after.n_nodes_ == before.n_nodes_
    after.save(tmp_path / "python.json")
    program("train", tmp_path / "drifted.csv", "--start-from", tmp_path / "before.json", "-o", tmp_path / "program.json", "-q")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "program.json").read_bytes()
    again = RecurrentTreeRegressor().fit(drifted.drop(columns="y"), drifted["y"], start_from=tmp_path / "before.json")
    assert np.array_equal(again.predict(drifted), after.predict(drifted))
    with pytest.raises(ValueError, match="depth: has no effect here"):
        RecurrentTreeRegressor(depth=3).fit(drifted, "y", start_from=before)
    with pytest.raises(TypeError, match="start_from: expected a fitted RecurrentTreeClassifier"):
        RecurrentTreeClassifier().fit(drifted, "y", start_from=before)
    with pytest.raises(AttributeError, match="not fitted"):
        RecurrentTreeRegressor().fit(drifted, "y", start_from=RecurrentTreeRegressor())


def test_start_from_knows_its_classes(model, task):
    X, y = task
    again = RecurrentTreeClassifier().fit(X[:100], y[:100], np.ones(100), start_from=model)
    assert again.score(X, y) > 0.95 and list(again.classes_) == list(model.classes_)
    with pytest.warns(UserWarning, match="not seen in training"), pytest.raises(ValueError, match="expected the classes that the model to start from knows"):
        RecurrentTreeClassifier().fit(X[:20], [v + 5 for v in y[:20]], start_from=model)
