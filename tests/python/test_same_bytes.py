"""The program and the package give the same models and the same predictions, byte for byte."""
import csv

import numpy as np
import pytest

import remede


def read_rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def packed(rows, columns, target):
    """Sequences and targets as lists of arrays, from the rows of a file whose rows are in order."""
    X, y, last = [], [], None
    for row in rows:
        if row["sequence"] != last:
            last = row["sequence"]
            X.append([])
            y.append([])
        X[-1].append([float(row[c]) for c in columns])
        y[-1].append(target(row["y"]))
    return [np.array(x) for x in X], [np.array(v) for v in y]


@pytest.mark.parametrize("task, columns, flags, arguments", [
    ("variable-delay-2", ["x1", "x2"], ["--starts", 8, "--seed", 5], dict(starts=8, random_state=5)),
    ("sign-memory", ["x1"], ["--recipe", "paper", "--updates", 300, "--rate-index", 0.01, "--depth", 4, "--simplify", "no"],
     dict(recipe="paper", updates=300, rate_index=0.01, depth=4, simplify=False)),
])
def test_model_and_predictions(program, tmp_path, task, columns, flags, arguments):
    data, by_program, by_python = tmp_path / "data.csv", tmp_path / "program.json", tmp_path / "python.json"
    program("generate", task, "--sequences", 400, "--seed", 3, "-o", data)
    program("train", data, "-o", by_program, "--quiet", *flags)
    rows = read_rows(data)
    X, y = packed(rows, columns, int)
    model = remede.RecurrentTreeClassifier(**arguments).fit(X, y)
    model.save(by_python)
    assert by_python.read_bytes() == by_program.read_bytes()

    out = tmp_path / "out.csv"
    program("predict", by_program, data, "-o", out)
    said = read_rows(out)
    probabilities = np.concatenate(model.predict_proba(X))
    for k, name in enumerate(["p_-1", "p_0", "p_1"]):
        assert (probabilities[:, k] == np.array([np.float32(row[name]) for row in said])).all()
    assert [int(row["prediction"]) for row in said] == np.concatenate(model.predict(X)).tolist()


def test_generated_data_are_the_same(program, tmp_path):
    data = tmp_path / "data.csv"
    program("generate", "temporal-order", "--sequences", 50, "-o", data)
    rows = read_rows(data)
    X, y = remede.generate("temporal-order", sequences=50)
    columns = [c for c in rows[0] if c.startswith("x")]
    assert (np.concatenate(X) == np.array([[np.float32(row[c]) for c in columns] for row in rows])).all()
    assert [v or "" for v in np.concatenate(y)] == [row["y"] for row in rows]


def test_regression_from_a_frame(program, tmp_path):
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(2)
    frame = pandas.DataFrame({"series": np.repeat(np.arange(40), 10), "t": np.tile(np.arange(10), 40), "level": random.normal(size=400),
                              "slope": random.normal(size=400)})
    frame["out"] = frame.groupby("series")["level"].cumsum() + 0.5
    data, by_program, by_python = tmp_path / "data.csv", tmp_path / "program.json", tmp_path / "python.json"
    frame.to_csv(data, index=False)
    program("train", data, "--target", "out", "-o", by_program, "--quiet", "--starts", 4)
    frame = frame.sample(frac=1, random_state=1).sort_values("series", kind="stable")
    model = remede.RecurrentTreeRegressor(id="series", time="t", starts=4).fit(frame, "out")
    model.save(by_python)
    assert by_python.read_bytes() == by_program.read_bytes()
    program("predict", by_program, data, "-o", tmp_path / "out.csv")
    said = {(row["series"], row["t"]): np.float32(row["prediction"]) for row in read_rows(tmp_path / "out.csv")}
    predicted = model.predict(frame).astype(np.float32)
    assert all(said[str(s), str(t)] == p for s, t, p in zip(frame["series"], frame["t"], predicted))


def test_threads_change_nothing(task):
    X, y = task
    texts = {remede.RecurrentTreeClassifier(starts=4, n_jobs=n).fit(X, y).model_.to_json() for n in (1, 2, 3)}
    assert len(texts) == 1


def test_files_go_both_ways(program, tmp_path, model, task):
    model.save(tmp_path / "model.json")
    assert program("show", tmp_path / "model.json").stdout.decode() == model.to_text()
    again = remede.load(tmp_path / "model.json")
    assert isinstance(again, remede.RecurrentTreeClassifier)
    assert again.get_params()["starts"] == 8 and again.random_state == 3
    assert (again.classes_ == model.classes_).all()
    X, _ = task
    assert all((a == b).all() for a, b in zip(again.predict(X), model.predict(X)))
    with pytest.raises(ValueError, match="expected the model of a regressor"):
        remede.RecurrentTreeRegressor.load(tmp_path / "model.json")
    with pytest.raises(remede.Error):
        (tmp_path / "bad.json").write_text("{}")
        remede.load(tmp_path / "bad.json")


def test_words_and_targets_per_sequence(program, tmp_path):
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(6)
    frame = pandas.DataFrame({"id": np.repeat(np.arange(80), 5), "step": np.tile(np.arange(5), 80), "kind": random.choice(["red", "green", "blue"], 400),
                              "on": random.random(400) < 0.3, "x": random.normal(size=400)})
    frame["y"] = frame.groupby("id")["on"].transform("max").map({True: "some", False: "none"})
    data, by_program, by_python = tmp_path / "data.csv", tmp_path / "program.json", tmp_path / "python.json"
    frame.to_csv(data, index=False)
    program("train", data, "--target-per", "sequence", "-o", by_program, "--quiet", "--starts", 4)
    last = frame.groupby("id")["y"].last()
    model = remede.RecurrentTreeClassifier(id="id", time="step", starts=4).fit(frame.drop(columns="y"), last)
    model.save(by_python)
    assert by_python.read_bytes() == by_program.read_bytes()
    again = remede.load(by_program)
    assert again.per_sequence_ and (again.predict(frame) == model.predict(frame)).all()
