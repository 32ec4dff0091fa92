"""A model file knows its columns: `remede.load(model)` applied to the whole frame says, bit for bit, what `remede predict` says of the file."""
import io
import warnings

import numpy as np
import pytest

import remede

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
QUICK = ["--quiet", "--starts", 2, "--simplify", "no"]


def example(seed=3, sequences=30, length=8):
    """Long rows in no order: a number, a word, a switch; a class and a value that depend on what came before."""
    random = np.random.default_rng(seed)
    rows = sequences * length
    frame = pandas.DataFrame({"case": np.repeat([f"c{k}" for k in range(sequences)], length), "minute": np.tile(np.arange(length), sequences) * 5,
                              "level": np.round(random.normal(size=rows), 3), "kind": random.choice(["red", "green", "blue"], rows),
                              "on": random.random(rows) < 0.4, "note": random.choice(["a", "b"], rows)})
    frame["value"] = np.round(frame.groupby("case")["level"].cumsum() + 0.3 * (frame["kind"] == "red"), 3)
    frame["state"] = np.where(frame.groupby("case")["on"].cumsum() % 2 == 0, "even", "odd")
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def predicted(program, model, *words):
    out = pandas.read_csv(io.BytesIO(program("predict", model, *words, "--quiet").stdout), dtype=str)
    numbers = [c for c in out if c.startswith("p_")] or [c for c in out if c.startswith("prediction")]
    return out[numbers[0] if "prediction" not in out else "prediction"].to_numpy(), out[numbers].astype(np.float32).to_numpy()


CASES = {
    "classification": ["--id", "case", "--time", "minute", "--target", "state", "--ignore", "note,value"],
    "regression": ["--id", "case", "--time", "minute", "--target", "value", "--ignore", "note,state"],
    "several targets": ["--id", "case", "--time", "minute", "--target", "value,level", "--ignore", "note,state"],
    "horizon": ["--id", "case", "--time", "minute", "--target", "value", "--horizon", "2", "--ignore", "note"],
    "horizon of classes": ["--id", "case", "--time", "minute", "--target", "state", "--horizon", "1", "--ignore", "note,value"],
    "target per sequence": ["--id", "case", "--time", "minute", "--target", "state", "--target-per", "sequence", "--ignore", "note,value"],
    "no id column": ["--id", "none", "--time", "none", "--target", "value", "--ignore", "case,minute,state"],
    "every row alone": ["--id", "row", "--target", "state", "--ignore", "case,minute,value"],
    "categories and gaps": ["--id", "case", "--time", "minute", "--target", "state", "--categorical", "on,note", "--time-gap", "--ignore", "value"],
}


@pytest.mark.parametrize("flags", [pytest.param(flags, id=name) for name, flags in CASES.items()])
def test_loaded_model_and_whole_frame(program, tmp_path, flags):
    frame, data, model = example(), tmp_path / "data.csv", tmp_path / "model.json"
    frame.to_csv(data, index=False)
    program("train", data, "-o", model, *QUICK, *flags)
    labels, numbers = predicted(program, model, data)
    loaded = remede.load(model)
    last = frame.groupby("case", sort=False)["minute"].idxmax().to_numpy() if "sequence" in flags else slice(None)
    for given in (frame, polars.from_pandas(frame), frame[frame.columns[::-1]], data):
        said = loaded.predict(given)
        if isinstance(loaded, remede.RecurrentTreeClassifier):
            assert np.array_equal(loaded.predict_proba(given), numbers[last])
            assert said.astype(str).tolist() == labels[last].tolist()
        else:
            assert np.array_equal(said.astype(np.float32).reshape(len(frame), -1), numbers)
    targets = [name for name in frame if name not in ("value", "state")]
    if "--horizon" not in flags and "several" not in str(flags) and "level" not in flags[5]:
        without = loaded.predict(frame[targets])
        assert np.array_equal(without, loaded.predict(frame))
    score = loaded.score(frame)
    assert score == loaded.score(frame, flags[flags.index("--target") + 1].split(","))
    if isinstance(loaded, remede.RecurrentTreeClassifier):
        import json

        assert score == pytest.approx(json.loads(program("evaluate", model, data, "--json", "--quiet").stdout)["accuracy"], abs=1e-12)


def test_several_files(program, tmp_path):
    frame, model = example(), tmp_path / "model.json"
    parts = [frame[frame["case"].isin([f"c{k}" for k in range(a, b)])].drop(columns="case") for a, b in ((0, 1), (1, 2), (2, 3))]
    for k, part in enumerate(parts):
        part.sort_values("minute").to_csv(tmp_path / f"part{k}.csv", index=False)
    pattern = f"{tmp_path}/part*.csv"
    program("train", pattern, "-o", model, *QUICK, "--time", "minute", "--target", "value", "--ignore", "note,state")
    _, numbers = predicted(program, model, pattern)
    loaded = remede.load(model)
    said = loaded.predict([part.sort_values("minute") for part in parts])
    assert [len(s) for s in said] == [len(p) for p in parts]
    assert np.array_equal(np.concatenate(said).astype(np.float32), numbers[:, 0])
    assert np.array_equal(loaded.predict(pattern).astype(np.float32), numbers[:, 0])
    again = example()
    again.to_csv(tmp_path / "all.csv", index=False)  # with an id, the same sequence may stand in two files
    again[:100].to_csv(tmp_path / "x1.csv", index=False)
    again[100:].to_csv(tmp_path / "x2.csv", index=False)
    program("train", tmp_path / "all.csv", "-o", model, *QUICK, *CASES["regression"])
    _, whole = predicted(program, model, tmp_path / "all.csv")
    assert np.array_equal(np.concatenate(remede.load(model).predict([again[:100], again[100:]])).astype(np.float32), whole[:, 0])
    assert np.array_equal(predicted(program, model, f"{tmp_path}/x*.csv")[1], whole)


@pytest.fixture(scope="module")
def regression(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("load")
    example().to_csv(folder / "data.csv", index=False)
    program("train", folder / "data.csv", "-o", folder / "model.json", *QUICK, *CASES["regression"])
    return folder / "model.json"


def test_without_the_id_it_must_be_said_what_the_rows_are(regression):
    loaded, frame = remede.load(regression), example().sort_values(["case", "minute"])
    with pytest.raises(ValueError, match="expected the column 'case', which names the sequence.*id='none'.*list with an array or frame per sequence"):
        loaded.predict(frame.drop(columns="case"))
    with pytest.raises(ValueError, match="expected the column 'minute', which orders the steps.*time='none'"):
        loaded.predict(frame.drop(columns="minute"))
    one = frame[frame["case"] == "c4"]
    alone = loaded.predict(one)
    assert np.array_equal(loaded.set_params(id="none").predict(one.drop(columns="case")), alone)
    loaded.set_params(id="none", time="none")
    assert np.array_equal(loaded.predict(one.drop(columns=["case", "minute"])), alone)
    assert np.array_equal(remede.load(regression).set_params(id="who").predict(one.rename(columns={"case": "who"})), alone)


def test_arrays_have_no_ids(regression):
    loaded = remede.load(regression)
    X = np.zeros((8, loaded.n_features_in_))
    with pytest.raises(ValueError, match="expected the column 'case'"):
        loaded.predict(X)
    if not loaded.model_.reads_words:
        assert len(loaded.predict([X])[0]) == 8
    for arguments in (dict(id="case"), dict(time="minute")):
        with pytest.raises(ValueError, match="expected a data frame with that column, got an array without names"):
            loaded.set_params(id=None, time=None).set_params(**arguments).predict(X)
        with pytest.raises(ValueError, match="expected a data frame with that column, got an array without names"):
            remede.RecurrentTreeRegressor(**arguments).fit(X, np.arange(8))


def test_roles_are_in_the_file(program, tmp_path):
    example().to_csv(tmp_path / "data.csv", index=False)
    program("train", tmp_path / "data.csv", "-o", tmp_path / "m.json", *QUICK, *CASES["categories and gaps"])
    loaded = remede.load(tmp_path / "m.json")
    model = loaded.model_
    assert (model.id, model.time, model.targets, model.categorical, model.ignore, model.time_gap) == (
        "case", "minute", ["state"], ["on", "note"], ["value"], True)
    assert (loaded.categorical, loaded.ignore, loaded.time_gap, loaded.horizon) == (["on", "note"], ["value"], True, None)


def test_a_class_that_training_has_not_seen_counts_as_wrong(program, tmp_path):
    frame = example()
    frame.to_csv(tmp_path / "data.csv", index=False)
    flags = CASES["classification"]
    program("train", tmp_path / "data.csv", "-o", tmp_path / "m.json", *QUICK, *flags)
    other = frame.assign(state=np.where(frame["minute"] == 0, "new", frame["state"]))
    other.to_csv(tmp_path / "other.csv", index=False)
    loaded = remede.load(tmp_path / "m.json")
    right = loaded.predict(other) == other["state"]
    note = "30 targets are of a class that was not seen in training \\('new'\\): they count as wrong"
    with pytest.warns(UserWarning, match=note):
        assert loaded.score(other) == pytest.approx(right.mean())
    with pytest.warns(UserWarning, match=note):
        assert loaded.score(other, other["state"]) == pytest.approx(right.mean())
    result = program("evaluate", tmp_path / "m.json", tmp_path / "other.csv", "--json")
    import json

    assert json.loads(result.stdout)["accuracy"] == pytest.approx(right.mean()) and b"not seen in training" in result.stderr
    validated = program("train", tmp_path / "data.csv", "-o", tmp_path / "v.json", "--starts", 2, *flags, "--validation", tmp_path / "other.csv")
    assert b"not seen in training" in validated.stderr
    with pytest.warns(UserWarning, match=note):
        model = remede.RecurrentTreeClassifier(id="case", time="minute", starts=2, ignore=["note", "value"]).fit(frame, "state", validation=other)
    assert model.validation_score_["targets"] == len(frame) and model.validation_score_["accuracy"] <= 210 / 240


def test_duplicate_times_are_noted(tmp_path):
    frame = example().assign(minute=lambda f: f["minute"] // 10)
    with pytest.warns(UserWarning, match="column 'minute': 120 steps have the time of the step before"):
        remede.RecurrentTreeRegressor(id="case", time="minute", starts=1, ignore=["note", "state"]).fit(frame, "value")
    with pytest.raises(ValueError, match="duplicate time .* in sequence"):
        remede.RecurrentTreeRegressor(id="case", time="minute", starts=1, strict_time=True, ignore=["note", "state"]).fit(frame, "value")


def test_nested_frames(tmp_path):
    """sktime's: a row per instance, a series in every cell."""
    random = np.random.default_rng(0)
    X = [random.normal(size=(5 + k % 3, 2)) for k in range(40)]
    y = np.array(["up" if x[0, 0] > 0 else "down" for x in X])
    nested = pandas.DataFrame({"a": [pandas.Series(x[:, 0]) for x in X], "b": [pandas.Series(x[:, 1]) for x in X]})
    model = remede.RecurrentTreeClassifier(starts=2).fit(nested, y)
    same = remede.RecurrentTreeClassifier(starts=2).fit(X, y)
    assert (model.predict(nested) == same.predict(X)).all() and model.predict(nested).shape == (40,)
    assert model.score(nested, y) == same.score(X, y)


def test_a_horizon_needs_no_other_column(program, tmp_path):
    frame = pandas.DataFrame({"t": np.arange(60), "y": np.sin(np.arange(60) / 3)})
    frame.to_csv(tmp_path / "d.csv", index=False)
    program("train", tmp_path / "d.csv", "-o", tmp_path / "m.json", *QUICK, "--target", "y", "--horizon", 1)
    model = remede.RecurrentTreeRegressor(time="t", horizon=1, starts=2, simplify=False).fit(frame, "y")
    model.save(tmp_path / "p.json")
    assert (tmp_path / "p.json").read_bytes() == (tmp_path / "m.json").read_bytes()
    assert np.array_equal(model.predict(frame).astype(np.float32), predicted(program, tmp_path / "m.json", tmp_path / "d.csv")[1][:, 0])
    with pytest.raises(ValueError, match="horizon=1: expected the target as the name of a column"):
        remede.RecurrentTreeRegressor(horizon=1).fit(frame, frame["y"])


def test_ids_are_known_by_their_names():
    frame = example().rename(columns={"case": "CaseID", "minute": "Timestamp"}).drop(columns=["note", "state"])
    with pytest.warns(UserWarning, match="column 'CaseID' is taken for the id of the sequences and 'Timestamp' for their time"):
        model = remede.RecurrentTreeRegressor(starts=1).fit(frame, "value")
    assert (model.model_.id, model.model_.time) == ("CaseID", "Timestamp")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert remede.RecurrentTreeRegressor(starts=1, id="row", time="none", ignore=["CaseID", "Timestamp"]).fit(frame, "value").model_.id == "row"


def test_each_frame_of_a_list_is_a_sequence(program, tmp_path):
    """As each of several files is for the program. The target is the input of the step before: without sequences it cannot be learned."""
    random = np.random.default_rng(1)
    frames = []
    for k in range(20):
        x = random.normal(size=30).round(3)
        frames.append(pandas.DataFrame({"x": x, "y": np.append(0.0, x[:-1])}))
        frames[-1].to_csv(tmp_path / f"d{k:02}.csv", index=False)
    model = remede.RecurrentTreeRegressor(starts=2, updates=300).fit(frames, "y")
    program("train", tmp_path / "d*.csv", "-o", tmp_path / "m.json", "--target", "y", "--starts", 2, "--updates", 300)
    model.save(tmp_path / "p.json")
    assert (tmp_path / "p.json").read_bytes() == (tmp_path / "m.json").read_bytes()
    assert model.score(frames) > 0.9
    assert np.array_equal(model.predict(frames)[3], model.predict(frames[3]))
    inputs = [frame[["x"]] for frame in frames]
    apart = remede.RecurrentTreeRegressor(starts=2, updates=300).fit(inputs, [frame["y"].to_numpy() for frame in frames])
    assert all(np.array_equal(a, b) for a, b in zip(apart.predict(inputs), model.predict(frames)))


def test_rows_with_times_but_no_id_are_warned_of():
    frame = pandas.DataFrame({"time": np.arange(60), "x": np.sin(np.arange(60)), "y": np.arange(60) % 7})
    with pytest.warns(UserWarning, match="column 'time' is an input, and every row is a sequence of its own: time='time' makes the rows one sequence"):
        assert remede.RecurrentTreeRegressor(starts=1).fit(frame, "y").model_.id == "row"
    dated = frame.drop(columns="time").set_index(pandas.date_range("2020-01-01", periods=60))
    with pytest.warns(UserWarning, match="the index of times is not used, and every row is a sequence of its own: id='none' makes"):
        remede.RecurrentTreeRegressor(starts=1).fit(dated, "y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert remede.RecurrentTreeRegressor(starts=1, time="time").fit(frame, "y").model_.id == ""  # one sequence
        assert remede.RecurrentTreeRegressor(starts=1, id="row").fit(frame, "y").model_.id == "row"
        assert remede.RecurrentTreeRegressor(starts=1, id="none").fit(dated, "y").model_.id == ""
        remede.RecurrentTreeRegressor(starts=1).fit(frame[["x", "y"]], "y")
