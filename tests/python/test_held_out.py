"""`test=` of fit and `memory_limit=`, as `--test` and `--memory-limit` of the program."""
import json
import resource

import numpy as np
import pandas as pd
import pytest

import remede

SMALL = {"updates": 30, "starts": 2, "simplify": False, "random_state": 3}
FLAGS = ["--updates", 30, "--starts", 2, "--simplify", "no", "--seed", 3, "--quiet"]


def cities(sequences):
    """Twelve words, so that what they count as is learned from the target."""
    rng = np.random.default_rng(5)
    rows = sequences * 4
    city = rng.integers(0, 12, rows)
    return pd.DataFrame({"id": np.repeat(np.arange(sequences), 4), "time": np.tile(np.arange(4), sequences), "city": [f"c{c}" for c in city],
                         "x": rng.normal(size=rows).round(3), "y": np.where((city * 7 % 12 + rng.normal(size=rows)) > 6, "yes", "no")})


def test_a_share_is_held_out_as_the_program_does(program, tmp_path):
    frame = cities(120)
    frame.to_csv(tmp_path / "data.csv", index=False)
    program("train", tmp_path / "data.csv", "-o", tmp_path / "program.json", "--test", 0.25, *FLAGS)
    model = remede.RecurrentTreeClassifier(id="id", time="time", **SMALL).fit(frame, "y", test=0.25)
    model.save(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "program.json").read_bytes()
    recorded = json.loads((tmp_path / "program.json").read_text())["training"]["test"]
    assert model.test_score_ == recorded and recorded["sequences"] == 30 and recorded["targets"] == 120
    assert model.validation_score_["sequences"] == 18
    without = remede.RecurrentTreeClassifier(id="id", time="time", **SMALL).fit(frame, "y")
    assert without.test_score_ is None and without.validation_score_["sequences"] == 24


def test_data_for_a_test_are_only_scored(program, tmp_path):
    frame, other = cities(60), cities(20)
    other.loc[other.index[:4], "y"] = "perhaps"  # a class that training has not seen counts as wrong
    frame.to_csv(tmp_path / "data.csv", index=False)
    other.to_csv(tmp_path / "other.csv", index=False)
    program("train", tmp_path / "data.csv", "-o", tmp_path / "program.json", "--test", tmp_path / "other.csv", *FLAGS)
    plain = remede.RecurrentTreeClassifier(id="id", time="time", **SMALL).fit(frame, "y")
    with pytest.warns(UserWarning, match="4 targets are of a class that was not seen in training \\('perhaps'\\)"):
        model = remede.RecurrentTreeClassifier(id="id", time="time", **SMALL).fit(frame, "y", test=other)
    model.save(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "program.json").read_bytes()
    assert (model.predict_proba(other) == plain.predict_proba(other)).all()
    with pytest.warns(UserWarning):
        assert model.test_score_["accuracy"] == pytest.approx(model.score(other))
    assert model.test_score_["targets"] == 80


def test_arrays_for_a_test():
    X, y = remede.generate("fixed-delay", sequences=60, seed=7)
    model = remede.RecurrentTreeClassifier(**SMALL).fit(X[:40], y[:40], test=(X[40:], y[40:]))
    assert model.test_score_["accuracy"] == pytest.approx(model.score(X[40:], y[40:]))
    with pytest.raises(ValueError, match="test: expected data or a share between 0 and 1, got 1.5"):
        remede.RecurrentTreeClassifier(**SMALL).fit(X, y, test=1.5)
    with pytest.raises(ValueError, match="^test: expected at least 3 targets"):
        remede.RecurrentTreeClassifier(**SMALL).fit([X[0][:2]], [np.array(["a", "b"])], test=0.5)


def test_a_generator_draws_one_seed_for_a_fit():
    X, y = remede.generate("fixed-delay", sequences=40, seed=7)
    generator, other = np.random.RandomState(1), np.random.RandomState(1)
    remede.RecurrentTreeClassifier(**{**SMALL, "random_state": generator}).fit(X, y)
    other.randint(0, 2**31 - 1)
    assert generator.randint(0, 2**31 - 1) == other.randint(0, 2**31 - 1)


def test_memory_limit(monkeypatch, tmp_path):
    X, y = np.linspace(-1, 1, 200)[:, None], (np.arange(200) > 90).astype(int)
    small = {**SMALL, "memory": 0, "depth": 1}
    model = remede.RecurrentTreeClassifier(**small).fit(X, y)
    limited = remede.RecurrentTreeClassifier(**small, memory_limit="64M").fit(X, y)
    model.save(tmp_path / "a.json")
    limited.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    for bad in ("lots", "1M", 10):
        with pytest.raises(ValueError, match="memory_limit: expected"):
            remede.RecurrentTreeClassifier(**small, memory_limit=bad).fit(X, y)
    many = np.tile(X, (15_000, 1))  # 3 million sequences of one step: 60 MB; a third of the limit stays in memory
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    there = limited.predict(many)
    assert (there == model.predict(many)).all()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))  # as a full disk
    try:
        with pytest.raises(ValueError, match="of data beyond the memory limit in temporary files: File too large"):
            limited.predict(many)
        assert (model.set_params(memory_limit=2**31).predict(many) == there).all()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("by", ["sequence", "time", "part", "site"])
def test_split_is_the_program_s(program, tmp_path, by):
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"id": np.repeat(np.arange(20), 8), "time": np.tile(np.arange(8), 20), "a": random.normal(size=160).round(3)})
    frame["part"] = np.where(frame["id"] < 12, "training", np.where(frame["id"] < 17, "validation", "test"))
    frame["site"] = "s" + (frame["id"] * 7 % 5).astype(str)
    frame["y"] = frame.groupby("id")["a"].cumsum().round(3)
    frame = frame.drop(columns={"part": "site", "site": "part"}.get(by, ["part", "site"]))
    frame.to_csv(tmp_path / "data.csv", index=False)
    program("train", tmp_path / "data.csv", "--split", by, "--starts", 2, "--effort", "quick", "-o", tmp_path / "program.json", "-q")
    fitted = remede.RecurrentTreeRegressor(starts=2, effort="quick", id="id", time="time").fit(frame, "y", split=by)
    fitted.save(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "program.json").read_bytes()
    assert "part" not in fitted.feature_names_in_ and "site" not in fitted.feature_names_in_


def test_split_beside_other_ways(task):
    X, y = task
    fit = lambda **more: remede.RecurrentTreeClassifier(starts=2, effort="quick").fit(X[:50], y[:50], **more)
    assert fit(split="time").validation_score_["targets"] < 350
    for wrong, message in (({"validation": (X, y)}, "split or validation"), ({"test": 0.2}, "split or a share"), ({"start_from": "m.json"}, "split or start_from")):
        with pytest.raises(ValueError, match=message):
            fit(split="time", **wrong)
    with pytest.raises(ValueError, match="expected sequence, time, or a column"):
        fit(split="site")
