"""What a model tells of itself is what the program prints, character for character."""
import html
import json
import pickle

import numpy as np
import pytest

import remede

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def files(program, tmp_path_factory):
    """A data file of a classification and one of a regression with words and missing values, and a model of each."""
    folder = tmp_path_factory.mktemp("explain")
    program("generate", "fixed-delay", "--sequences", 200, "-o", folder / "steps.csv")
    random = np.random.default_rng(1)
    n = 240
    frame = pd.DataFrame({"pump": np.repeat([f"p{k}" for k in range(12)], 20), "minute": np.tile(np.arange(20), 12),
                          "flow": random.normal(size=n).round(3), "mode": random.choice(["auto", "manual", "off"], n)})
    frame["level"] = (frame.groupby("pump")["flow"].cumsum() + (frame["mode"] == "auto")).round(3)
    frame.loc[::17, "flow"] = np.nan
    frame.to_csv(folder / "pumps.csv", index=False)
    program("train", folder / "steps.csv", "-o", folder / "steps.json", "--starts", 4, "--effort", "quick", "--quiet")
    program("train", folder / "pumps.csv", "-o", folder / "pumps.json", "--starts", 2, "--effort", "quick", "--quiet", "--id", "pump", "--time",
            "minute", "--target", "level", "--form", "paper")  # leaves that write: a machine without data needs them
    return folder


VIEWS = {"evaluate": ("evaluate", True, []), "importance": ("explain", True, ["--importance"]), "machine": ("explain", False, ["--machine"]),
         "rules": ("explain", False, ["--rules"])}


@pytest.mark.parametrize("name", ["steps", "pumps"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_the_program_s(files, program, name, view):
    verb, needs_data, flags = VIEWS[view]
    model, data = remede.load(files / f"{name}.json"), files / f"{name}.csv"
    frame = pd.read_csv(data)
    for given in [[data], [frame]] + ([] if needs_data else [[]]):
        words = [verb, files / f"{name}.json", *([data] if given else []), *flags, "--quiet"]
        found = getattr(model, view)(*given)
        assert str(found) == program(*words).stdout.decode()
        assert found.data == json.loads(program(*words, "--json").stdout)
    assert len(found) and (found._repr_html_() == found.to_svg() if view == "machine" else f">{html.escape(str(found))}</pre>" in found._repr_html_())


@pytest.mark.parametrize("name", ["steps", "pumps"])
def test_pages_are_the_program_s(files, program, name, tmp_path):
    model, data = remede.load(files / f"{name}.json"), files / f"{name}.csv"
    program("explain", files / f"{name}.json", data, "--html", tmp_path / "program.html", "--sequences", 7, "--seed", 3)
    page = model.explorer(data, sequences=7, seed=3)
    page.save(tmp_path / "python.html")
    assert (tmp_path / "python.html").read_bytes() == (tmp_path / "program.html").read_bytes()
    assert "<iframe srcdoc=" in page._repr_html_() and "&lt;script" in page._repr_html_()
    program("report", files / f"{name}.json", data, "-o", tmp_path / "report.html")
    assert model.report(data).html == (tmp_path / "report.html").read_text().replace(f"<p>Model {files}/{name}.json, data ", "<p>data ")
    with pytest.raises(ValueError, match="sequences: expected at least 1"):
        model.explorer(data, sequences=0)


@pytest.mark.parametrize("name", ["steps", "pumps"])
def test_describe_is_the_program_s(files, program, name):
    data = files / f"{name}.csv"
    flags = {"steps": {}, "pumps": {"id": "pump", "time": "minute", "y": "level"}}[name]
    words = [w for key, text in flags.items() for w in ("--target" if key == "y" else f"--{key}", text)]
    for X in (data, pd.read_csv(data)):
        found = remede.describe(X, **flags)
        assert str(found) == program("describe", data, *words).stdout.decode()
        assert found.data == json.loads(program("describe", data, *words, "--json").stdout)


def test_describe_of_arrays_and_of_bad_data(files):
    X, y = remede.generate("fixed-delay", sequences=20)
    assert remede.describe(X, y)["sequences"] == 20 and remede.describe(X, y)["steps_with_target"] == 140
    once = remede.describe(X, [str(v[-1]) for v in y])
    assert once["steps_with_target"] == 20 and "one per sequence, at its last step" in str(once)
    cube = remede.describe(np.stack(X), np.stack(y), axes="instance, time, channel")
    assert cube["length"]["longest"] == 7 and cube["steps_with_target"] == 140
    assert remede.describe(np.zeros((4, 2)), [1.5, 2.25, 1, 0])["task"] == "regression"
    with pytest.raises(ValueError, match="expected a target for each of 140 steps"):
        remede.describe(X, [1, 2, 3])
    with pytest.raises(remede.Error, match="expected one of the columns.*got 'nope'") as raised:
        remede.describe(files / "steps.csv", "nope")
    assert [c["name"] for c in raised.value.description["columns"]] == ["sequence", "step", "x1", "y"]
    with pytest.raises(remede.Error, match="none.csv: cannot open"):
        remede.describe(files / "none.csv")


def test_targets_beside_the_data(model, task):
    X, y = task
    assert model.evaluate(X, y)["accuracy"] == pytest.approx(model.score(X, y), abs=1e-12)
    assert model.importance(X, y)["score_name"] == "accuracy" and "agreement" in model.importance(X)["score_name"]
    with pytest.raises(ValueError, match="y alone"):
        model.rules(y=y)
    assert "% right" in model.to_text(X=X, y=y) and "right" not in model.to_text(X=X)
    assert "right" in model.to_svg(X=X, y=y) and "right" in model.to_dot(X=X, y=y)


def test_which_sequence_is_traced(files, program):
    model, data = remede.load(files / "pumps.json"), files / "pumps.csv"
    assert str(model.trace(data, None)) == program("explain", files / "pumps.json", data, "--quiet").stdout.decode()
    assert model.trace(data, "p3").sequence == "p3" == model.trace(data, 3).sequence
    assert model.trace(data, -1).sequence == "p11"
    with pytest.raises(IndexError, match="expected a number below 12, got 12"):
        model.trace(data, 12)
    with pytest.raises(remede.Error, match="p77"):
        model.trace(data, "p77")


def test_simplified(files, program, tmp_path):
    model, data = remede.load(files / "pumps.json"), files / "pumps.csv"
    said = program("simplify", files / "pumps.json", data, "-o", tmp_path / "small.json", "--round", 2, "--drop-small").stdout.decode()
    smaller = model.simplified(data, round=2, drop_small=True)
    smaller.save(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "small.json").read_bytes()
    assert str(smaller.simplification_) == said and not hasattr(model, "simplification_")
    same = model.simplified(exact=True)
    assert np.array_equal(same.predict(data), model.predict(data))
    for wrong, message in (({"round": 2}, "round: expected data"), ({"X": data, "round": 10}, "expected 1 to 9"), ({"validation": data}, "validation: expected data")):
        with pytest.raises(ValueError, match=message):
            model.simplified(**wrong)


def test_feature_importances(files):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    fitted = remede.RecurrentTreeClassifier(effort="quick", starts=2).fit(X, (X[:, 2] > 0.3).astype(int))
    assert fitted.feature_importances_.argmax() == 2 and fitted.feature_importances_.sum() == pytest.approx(1)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).feature_importances_, fitted.feature_importances_)
    frame = pd.read_csv(files / "pumps.csv")
    words = remede.RecurrentTreeRegressor(effort="quick", starts=2, id="pump", time="minute").fit(frame, "level")
    assert words.feature_importances_.shape == words.feature_names_in_.shape and dict(zip(words.feature_names_in_, words.feature_importances_))["flow"] > 0
    with pytest.raises(AttributeError, match="use importance"):
        fitted.simplified(exact=True).feature_importances_
    with pytest.raises(AttributeError, match="use importance"):
        remede.load(files / "pumps.json").feature_importances_


def test_class_weight(tmp_path):
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 1))
    y = np.where(x[:, 0] + random.normal(size=400) > 1.2, "yes", "no")
    said = {}
    for name, weight in {"none": None, "balanced": "balanced", "dict": {"yes": 20}, "never": {"yes": 0}}.items():
        fitted = remede.RecurrentTreeClassifier(effort="quick", starts=2, class_weight=weight).fit(x, y)
        said[name] = (fitted.predict(x) == "yes").mean()
        fitted.save(tmp_path / "model.json")
        assert remede.load(tmp_path / "model.json").class_weight == ("balanced" if weight == "balanced" else None)
    assert said["never"] == 0 < said["none"] < said["balanced"] < said["dict"]
    by_hand = remede.RecurrentTreeClassifier(effort="quick", starts=2).fit(x, y, np.where(y == "yes", 20.0, 1.0))
    assert (by_hand.predict(x) == "yes").mean() == said["dict"]
    weighed = remede.RecurrentTreeClassifier(effort="quick", starts=2, class_weight={"yes": 20}).fit(x, y, test=(x, y))
    assert weighed.test_score_["accuracy"] == pytest.approx(weighed.score(x, y), abs=1e-6), "a test score is not weighted"
    with pytest.raises(ValueError, match="would count in the scores"):
        remede.cross_validate(weighed, x, y)
    for wrong, message in (({"maybe": 2}, "expected classes of .*got 'maybe'"), ({"yes": -1}, "at least 0"), ("heavy", "class_weight.*balanced")):
        with pytest.raises(ValueError, match=message):
            remede.RecurrentTreeClassifier(effort="quick", starts=2, class_weight=wrong).fit(x, y)
    with pytest.raises(ValueError, match="no classes"):
        remede.RecurrentTreeRegressor(class_weight={"yes": 2}).fit(x, x[:, 0])
