"""No parameter without effect: each one of an estimator changes the model, is refused with the reason, or changes something else that is
checked here. A parameter that nobody entered here fails the test."""
import json
import time

import numpy as np
import pytest

import remede

# After so few updates a model of patterns, which takes none, would be the best whatever the settings of the search.
NO_PATTERNS = {"pattern_sequences": 10**9}
SMALL = {"updates": 80, "starts": 2, "simplify": False, "random_state": 1, "recipe": NO_PATTERNS}
PAPER = {"recipe": "paper", "updates": 40, "simplify": False, "random_state": 1}
NO_MEMORY, FLAT, RICH = {**SMALL, "memory": 0}, {**SMALL, "depth": 0}, {**SMALL, "form": "rich"}
LEAF = {**SMALL, "form": "paper"}
LONG = {"starts": 2, "simplify": False, "random_state": 1, "recipe": NO_PATTERNS}
WRITES, SPLITS, OF_PAPER = "has no writes", "has no splits", "belongs to recipe paper"

# name: cases (settings of both fits, changed settings, None or a part of the refusal)
CASES = {
    "recipe": [({"updates": 40, "simplify": False}, {"recipe": "paper"}, None), (SMALL, {"recipe": {**NO_PATTERNS, "event_cells": 2}}, None),
               (SMALL, {"recipe": {"stars": 3}}, "expected a field of a recipe"), (SMALL, {"recipe": "quick"}, "called default, paper or gradtree"),
               ({"updates": 40, "simplify": False}, {"recipe": "gradtree"}, None), ({"recipe": "gradtree", "updates": 40}, {"memory": 2}, "quantiles")],
    "starts": [(SMALL, {"starts": 3}, None), (PAPER, {"starts": 3}, "one start")],
    "effort": [({**LONG, "form": "paper"}, {"effort": "quick"}, None), (PAPER, {"effort": "quick"}, "updates or epochs fix")],
    "simplify": [(SMALL, {"simplify": True}, None)],
    "improve": [({"updates": 100, "starts": 4, "random_state": 1, "recipe": NO_PATTERNS}, {"improve": False}, None), (SMALL, {"improve": True}, "simplified tree")],
    "trees": [({**RICH, "starts": 4, "recipe": {**NO_PATTERNS, "forest_errors": 100}}, {"trees": 3}, None), (PAPER, {"trees": 2}, "one tree"), (SMALL, {"trees": 5}, "at most as many as starts")],
    "executor": [(SMALL, {"executor": "plain"}, None)],
    "device": [(SMALL, {"device": "gpu"}, "expected a GPU")],
    "depth": [(SMALL, {"depth": 2}, None)],
    "memory": [(SMALL, {"memory": 1}, None)],
    "form": [(SMALL, {"form": "paper"}, None), (SMALL, {"form": "rich"}, None)],
    "write_rule": [(SMALL, {"write_rule": "blend"}, None), (NO_MEMORY, {"write_rule": "add"}, WRITES)],
    "write_reads": [(SMALL, {"write_reads": "inputs-and-memory"}, None), (NO_MEMORY, {"write_reads": "inputs"}, WRITES)],
    "write_bias": [(SMALL, {"write_bias": False}, None), (NO_MEMORY, {"write_bias": True}, WRITES)],
    "leaf_output": [(SMALL, {"leaf_output": "linear"}, None)],
    "output_order": [(SMALL, {"output_order": "first"}, None)],
    "updates": [(LONG, {"updates": 30}, None), (SMALL, {"epochs": 3}, "got both")],
    "epochs": [(LONG, {"epochs": 3}, None)],
    "batch": [(SMALL, {"batch": 8}, None), (PAPER, {"batch": 8}, None)],
    "patience": [({**PAPER, "updates": 400, "depth": 2, "validate_every": 10}, {"patience": 20}, None), (SMALL, {"patience": 20}, OF_PAPER)],
    "validate_every": [(PAPER, {"validate_every": 7}, None), (SMALL, {"validate_every": 7}, OF_PAPER)],
    "decay": [(PAPER, {"decay": 0.7}, None), (SMALL, {"decay": 0.7}, OF_PAPER)],
    "validation_fraction": [(SMALL, {"validation_fraction": 0.4}, None)],
    "class_weight": [(SMALL, {"class_weight": "balanced"}, None)],
    "standardise": [(SMALL, {"standardise": True}, None)],
    "split_gradient": [(SMALL, {"split_gradient": "sigmoid"}, None), (FLAT, {"split_gradient": "sigmoid"}, SPLITS)],
    "slope": [(SMALL, {"slope": 2}, None), (FLAT, {"slope": 2}, SPLITS)],
    "index_gradient": [(SMALL, {"index_gradient": "identity"}, None), (FLAT, {"index_gradient": "identity"}, SPLITS)],
    "mix": [(SMALL, {"mix": "effects"}, None), (FLAT, {"mix": "effects"}, SPLITS)],
    "clip": [(SMALL, {"clip": 0.01}, None)],
    "rate_index": [(SMALL, {"rate_index": 3}, None), (FLAT, {"rate_index": 3}, SPLITS)],
    "rate_threshold": [(SMALL, {"rate_threshold": 1}, None), (FLAT, {"rate_threshold": 1}, SPLITS)],
    "rate_output": [(SMALL, {"rate_output": 0.01}, None)],
    "rate_gate": [(SMALL, {"rate_gate": 2}, None), (NO_MEMORY, {"rate_gate": 2}, WRITES)],
    "rate_write": [(SMALL, {"rate_write": 2}, None), (NO_MEMORY, {"rate_write": 2}, WRITES)],
    "rate_bias": [(SMALL, {"rate_bias": 2}, None), (LEAF, {"rate_bias": 2}, "no bias")],
    "rate_rate": [({**SMALL, "write_rule": "blend"}, {"rate_rate": 2}, None), (LEAF, {"rate_rate": 2}, "do not blend")],
    "rate_linear": [(RICH, {"rate_linear": 1}, None), (LEAF, {"rate_linear": 1}, "constant outputs")],
    "random_state": [(SMALL, {"random_state": 2}, None)],
}
OTHER = {"objective", "quantiles", "n_jobs", "verbose", "time_limit", "id", "time", "axes",  # tests below
         "memory_limit",  # test_held_out.py
         "accurate", "max_numbers", "increasing", "decreasing",  # test_frontier.py
         "categorical", "ignore", "horizon", "time_gap", "target_per", "strict_time"}  # test_load.py and test_inputs.py


@pytest.fixture(scope="module")
def few():
    return remede.generate("fixed-delay", sequences=120, seed=7)


@pytest.fixture(scope="module")
def learned(few, tmp_path_factory):
    """What a fit learns, its record of settings left out; every setting once."""
    known, path = {}, tmp_path_factory.mktemp("options") / "model.json"

    def fit(settings):
        key = json.dumps(settings, sort_keys=True)
        if key not in known:
            remede.RecurrentTreeClassifier(**settings).fit(*few).save(path)
            model = json.loads(path.read_text())
            del model["training"]["settings"]
            known[key] = model
        return known[key]

    return fit


def test_every_parameter_is_covered():
    assert set(remede.RecurrentTreeClassifier().get_params()) == set(CASES) | OTHER
    assert set(remede.RecurrentTreeRegressor().get_params()) == set(CASES) | OTHER


@pytest.mark.parametrize("name", CASES)
def test_changes_the_model_or_is_refused(name, learned, few):
    for base, changed, refusal in CASES[name]:
        if refusal is None:
            assert learned({**base, **changed}) != learned(base), (base, changed)
        else:
            with pytest.raises(ValueError, match=refusal):
                remede.RecurrentTreeClassifier(**{**base, **changed}).fit(*few)


def test_parameters_that_the_data_leave_without_effect(few):
    X, y = few
    with pytest.raises(ValueError, match="regression has no classes"):
        remede.RecurrentTreeRegressor(class_weight="balanced").fit(X, [np.arange(len(x)) * 0.5 for x in X])
    numbers = [np.arange(len(x)) ** 1.5 for x in X]
    said = lambda **more: [p.tolist() for p in remede.RecurrentTreeRegressor(**SMALL, **more).fit(X, numbers).predict(X)]
    assert said(objective="huber") != said()
    assert said(objective="quantile", quantiles=[0.2, 0.8]) != said(objective="quantile")
    with pytest.raises(ValueError, match="objective"):
        remede.RecurrentTreeClassifier(objective="huber").fit(X, y)
    with pytest.raises(ValueError, match="quantiles: expected objective quantile"):
        remede.RecurrentTreeRegressor(quantiles=[0.5]).fit(X, numbers)
    with pytest.raises(ValueError, match="validation data are given"):
        remede.RecurrentTreeClassifier(validation_fraction=0.3).fit(X, y, validation=(X, y))
    with pytest.raises(ValueError, match="one input and no memory"):
        remede.RecurrentTreeClassifier(memory=0, rate_index=1).fit(X, y)


def test_threads_and_progress_change_no_byte(few, capsys):
    fit = lambda **more: remede.RecurrentTreeClassifier(**SMALL, **more).fit(*few)
    one = fit(n_jobs=1)
    assert [p.tolist() for p in fit(n_jobs=2).predict_proba(few[0])] == [p.tolist() for p in one.predict_proba(few[0])]
    capsys.readouterr()
    fit(verbose=1)
    assert capsys.readouterr().err


def test_recipes_are_values(few, tmp_path):
    assert remede.recipe()["starts"] == 32 and not remede.recipe()["single_start"] and remede.recipe("paper")["single_start"]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({**remede.recipe(), "event_cells": 2}))
    by_file = remede.RecurrentTreeClassifier(**{**SMALL, "recipe": path}).fit(*few)
    by_value = remede.RecurrentTreeClassifier(**{**SMALL, "recipe": {"event_cells": 2}}).fit(*few)
    by_file.save(tmp_path / "file.json")
    by_value.save(tmp_path / "value.json")
    assert (tmp_path / "file.json").read_bytes() == (tmp_path / "value.json").read_bytes()
    assert remede.load(tmp_path / "file.json").recipe == {"base": "default", "event_cells": 2}


def test_time_limit_ends_in_time():
    X, y = remede.generate("sign-memory", sequences=4000, seed=1)
    began = time.monotonic()
    model = remede.RecurrentTreeClassifier(starts=512, time_limit="2s", random_state=1).fit(X, y)
    assert time.monotonic() - began < 2 * 1.1 + 1.5
    assert model.late_ and not model.stopped_
    assert remede.RecurrentTreeClassifier(**SMALL, time_limit=3600).fit(X[:100], y[:100]).late_ is False
    with pytest.raises(ValueError, match="time_limit: expected a duration such as 30s"):
        remede.RecurrentTreeClassifier(time_limit="soon").fit(X, y)
