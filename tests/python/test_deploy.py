"""Taking a model elsewhere: streams by name, states as bytes, pools, and exported programs."""
import copy
import ctypes
import pathlib
import pickle
import shutil
import subprocess

import numpy as np
import pytest

import remede

FILES = pathlib.Path(__file__).resolve().parents[1] / "model" / "files"
MODELS = sorted(path for path in FILES.glob("v*.json") if path.name != "v1_expected.json")


def test_steps_by_name(model):
    named, listed = model.stream(), model.stream()
    for value in [0.4, None, 0, 0, 1]:
        assert named.step_proba({"x1": value, "another": 7}) == listed.step_proba([value])
    with pytest.raises(ValueError, match="expected the key 'x1'"):
        named.step({"x": 1})


@pytest.fixture(scope="module")
def words():
    """A model that reads words, yes and no, and the time since the step before."""
    pandas = pytest.importorskip("pandas")
    draw = np.random.default_rng(1)
    rows = []
    for s in range(60):
        time, wind = 0.0, "N"
        for _ in range(12):
            time += float(draw.integers(1, 9))
            wind = str(draw.choice(["N", "E", "S", "W"]))
            on = bool(draw.random() < 0.5)
            rows.append((s, time, wind, "yes" if on else "no", draw.normal(), "a" if (wind == "S") == on else "b"))
    frame = pandas.DataFrame(rows, columns=["id", "time", "wind", "on", "x", "y"])
    model = remede.RecurrentTreeClassifier(id="id", time="time", time_gap=True, starts=4, random_state=1, simplify=False).fit(frame, "y")
    return model, frame


def test_words_and_gaps(words):
    model, frame = words
    expected = model.predict_proba(frame)
    for s in range(3):
        stream = model.stream()
        rows = frame[frame["id"] == s]
        for at, row in zip(rows.index, rows.to_dict("records")):
            assert np.array_equal(np.array(stream.step_proba(row), np.float32), np.asarray(expected)[at])
    assert stream.step_proba({"time": 999, "wind": "never seen", "on": None, "x": None})
    with pytest.raises(ValueError, match="times in order"):
        stream.step({"time": 1, "wind": "N", "on": "yes", "x": 0})
    with pytest.raises(ValueError, match="expected a dict with the time 'time'"):
        stream.step(["N", "yes", 0.0])
    with pytest.raises(ValueError, match="expected a number, got 'much'"):
        stream.step({"time": 1000, "wind": "N", "on": "yes", "x": "much"})


def test_a_state_is_bytes(words, model):
    tree, frame = words
    rows = frame[frame["id"] == 0].to_dict("records")
    for make, steps in ((tree.stream, rows), (model.stream, [[0.4], [0.1], [1.0]])):
        stream = make()
        for row in steps[:2]:
            stream.step(row)
        data = stream.save()
        assert isinstance(data, bytes) and len(data) < 100
        other = make()
        other.restore(data)
        copies = [other, stream.fork(), pickle.loads(pickle.dumps(stream)), copy.copy(stream)]
        answer = stream.step_proba(steps[2])
        assert all(c.step_proba(steps[2]) == answer for c in copies)
    with pytest.raises(ValueError, match="another model"):
        model.stream().restore(tree.stream().save()[:-8])
    with pytest.raises(ValueError, match="expected the bytes of a saved stream"):
        model.stream().restore(b"nothing")


def test_a_pool_of_sequences(model, task):
    pool = model.stream_pool(most=20)
    sequences = task[0][:20]
    said = {s: [] for s in range(20)}
    for t in range(max(map(len, sequences))):
        if t == 3:
            pool = pickle.loads(pickle.dumps(pool))
        for s, x in enumerate(sequences):
            if t < len(x):
                said[s].append(pool.step(s, x[t]))
    assert [said[s] for s in range(20)] == [p.tolist() for p in model.predict(sequences)]
    assert len(pool) == 20 and "3" in pool and 3 in pool and pool.evicted == 0
    pool.step("new", [0.0])
    assert 0 not in pool and pool.evicted == 1 and pool.ids[-1] == "new"
    assert pool.forget("new") and not pool.forget("new")
    with pytest.raises(ValueError):
        pool.step("bad", [1.0, 2.0])
    assert "bad" not in pool
    other = model.stream_pool()
    other.restore(pool.save())
    assert other.ids == pool.ids
    with pytest.raises(ValueError):
        other.restore(b"RMP")
    with pytest.raises(ValueError, match="at least one"):
        model.stream_pool(0)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no compiler")
def test_exported_c(model, task, tmp_path):
    assert model.export(tmp_path / "new", name="pump") == [str(tmp_path / "new" / "pump.h"), str(tmp_path / "new" / "pump.c")]
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", tmp_path / "pump.so", tmp_path / "new" / "pump.c"], check=True)
    pump = ctypes.CDLL(str(tmp_path / "pump.so"))
    for x, expected in zip(task[0][:20], model.predict_proba(task[0][:20])):
        state, y = (ctypes.c_float * 64)(), (ctypes.c_float * 3)()
        pump.pump_init(state)
        for row, answer in zip(x, expected):
            pump.pump_step(state, (ctypes.c_float * 1)(*row), y)
            assert np.array_equal(np.array(y, np.float32), answer)
    with pytest.raises(ValueError, match="expected an export to c, cpp, onnx, c-q15, c-q31, got 'fortran'"):
        model.export(tmp_path, to="fortran")
    with pytest.raises(ValueError, match="expected a name"):
        model.export(tmp_path, name="a b")


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_onnx_gives_the_bits_of_the_library(path, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = remede.load(path)
    model.export(tmp_path, to="onnx")
    draw = np.random.default_rng(1)
    names = remede.Model.load(str(path)).inputs
    x = draw.normal(size=(60, len(names))).astype(np.float32)
    x[draw.random(x.shape) < 0.1] = np.nan
    if not model.model_.reads_words:
        stream = model.stream()
        expected = np.array([stream.step_proba(row) for row in x], np.float32)
    for level in (onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level, options.intra_op_num_threads, options.log_severity_level = level, 1, 3
        whole = onnxruntime.InferenceSession(str(tmp_path / "model_sequence.onnx"), options, providers=["CPUExecutionProvider"])
        step = onnxruntime.InferenceSession(str(tmp_path / "model.onnx"), options, providers=["CPUExecutionProvider"])
        state = np.zeros(whole.get_inputs()[1].shape, np.float32)
        y, last = whole.run(["y", "m_next"], {"x": x, "m": state})
        for t in range(len(x)):
            row, state = step.run(["y", "m_next"], {"x": x[t], "m": state})
            assert np.array_equal(row, y[t])
        assert np.array_equal(state, last)
        if not model.model_.reads_words:
            assert np.array_equal(y, expected)


def test_fixed_point(task, program, tmp_path):
    """The program and the package write the same files; without data there are no ranges."""
    pd = pytest.importorskip("pandas")
    X, y = task
    frame = pd.DataFrame({"sequence": np.repeat(np.arange(len(X)), [len(x) for x in X]), "step": np.concatenate([np.arange(len(x)) for x in X]),
                          "x1": np.concatenate([x[:, 0] for x in X]), "y": np.concatenate(y)})
    fitted = remede.RecurrentTreeClassifier(starts=4, leaf_output="constant", id="sequence", time="step").fit(frame, "y")
    fitted.save(tmp_path / "model.json")
    frame.to_csv(tmp_path / "data.csv", index=False)
    fitted.export(tmp_path / "python", to="c-q15", X=frame, steps=7)
    program("export", tmp_path / "model.json", "--to", "c-q15", "--data", tmp_path / "data.csv", "--steps", 7, "-o", tmp_path / "program", "--name", "model")
    for name in ("model.h", "model.c"):
        assert (tmp_path / "python" / name).read_text() == (tmp_path / "program" / name).read_text()
    assert "in the first 7 steps of a sequence" in (tmp_path / "python" / "model.h").read_text()
    with pytest.raises(remede.Error, match="expected data"):
        fitted.export(tmp_path, to="c-q31")
    with pytest.raises(ValueError, match="no effect"):
        fitted.export(tmp_path, to="c", X=frame)
