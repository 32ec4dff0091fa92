"""Models whose cells have laws: the answers of an independent implementation in NumPy's float32, names, and sizes."""
import json
import math
import random

import numpy as np
import pytest

import remede
from remede import _native

F = np.float32
BOUND = F(1e30)


def exp(x):
    """As remede/base/arithmetic.h: every operation rounded to float32 once."""
    if x < F(-87):
        return F(0)
    x = min(x, F(88))
    n = F(F(F(x * F(1.44269504)) + F(12582912)) - F(12582912))
    r = F(F(x - F(n * F(0.693359375))) - F(n * F(-2.12194440e-4)))
    p = F(0.0001984127)
    for c in (0.0013888889, 0.0083333333, 0.041666667, 0.16666667, 0.5):
        p = F(F(p * r) + F(c))
    p = F(F(F(F(p * r) * r) + r) + F(1))
    return F(p * F(2.0 ** int(n)))


def sigmoid(x):
    e = exp(x if x < 0 else -x)
    return F(e / F(F(1) + e)) if x < 0 else F(F(1) / F(F(1) + e))


def bounded(a):
    return F(0) if np.isnan(a) else min(max(a, -BOUND), BOUND)


def weigh(total, pairs, values):
    for place, weight in sorted(pairs):
        if F(weight) != 0:
            total = F(total + F(F(weight) * values[place]))
    return total


def reference(model, rows):
    """The outputs of a model of one tree, step by step."""
    tree, names = model["trees"][0], {name: i for i, name in enumerate(model["inputs"])}
    by_name = lambda pairs: [(names[name], weight) for name, weight in pairs]  # noqa: E731
    level, begun, answers = [F(0)] * len(tree["cells"]), False, []
    for row in rows:
        node = 0 if tree["nodes"] else None
        number = 0
        while node is not None and number < len(tree["nodes"]):
            test = tree["nodes"][number]
            value = row[names[test["input"]]] if "input" in test else level[test["cell"]]
            right = test["missing"] == "right" if np.isnan(value) else value >= F(test["threshold"])
            number = test["right" if right else "left"]
        leaf = tree["leaves"][number - len(tree["nodes"])]
        x = [F(fill) if np.isnan(v) else v for v, fill in zip(row, model["fill"])]
        taps, given = dict(map(tuple, leaf["taps"])), []
        for k, cell in enumerate(tree["cells"]):
            shift = taps.get(k, 0)
            if shift in ("closed", "open"):
                q = F(shift == "open")
            else:
                total = weigh(F(cell["tap"]), by_name(cell["tap_inputs"]), x)
                total = weigh(total, [(0, cell["tap_level"])], [level[k]])
                q = sigmoid(bounded(F(total + F(shift)) if shift else total))
            a = bounded(weigh(weigh(F(cell["bias"]), by_name(cell["inputs"]), x), cell["earlier"], given))
            if cell["law"] != "average":
                a = a if a > 0 else F(0)
            if cell["law"] == "store":
                total = F(level[k] + a)
                given.append(F(q * total))
                level[k] = F(total - given[-1])
            else:
                level[k] = a if cell["first"] and not begun else F(level[k] + F(q * F(a - level[k])))
                given.append(level[k])
        begun = True
        y = []
        for o, constant in enumerate(leaf["output"]):
            total = F(constant)
            for part in [tree["answer"], *([leaf["answer"]] if "answer" in leaf else [])]:
                total = weigh(weigh(weigh(total, by_name(part[o]["inputs"]), x), part[o]["outputs"], given), part[o]["levels"], level)
            y.append(total)
        answers.append(y)
    return np.array(answers, F)


def random_model(draw):
    inputs = [f"x{i}" for i in range(draw.randint(1, 4))]
    cells, outputs, splits = draw.randint(0, 4), draw.randint(1, 3), draw.randint(0, 3)
    number = lambda: round(draw.gauss(0, 1), 3)  # noqa: E731
    some = lambda places: [[p, number() or 1] for p in places if draw.random() < .5]  # noqa: E731
    answer = lambda: [{"inputs": some(inputs), "outputs": some(range(cells)), "levels": some(range(cells))} for _ in range(outputs)]  # noqa: E731
    nodes = [{"number": i, **({"cell": draw.randrange(cells)} if cells and draw.random() < .5 else {"input": draw.choice(inputs)}), "threshold": number(),
              "missing": draw.choice(["left", "right"]), "left": i + 1 if i + 1 < splits else 2 * splits, "right": splits + i} for i in range(splits)]
    own = draw.random() < .5
    leaves = [{"number": splits + j, "output": [number() for _ in range(outputs)],
               "taps": [[k, draw.choice(["closed", "open", number() or 1])] for k in range(cells) if draw.random() < .5], **({"answer": answer()} if own else {})}
              for j in range(splits + 1)]
    laws = [draw.choice(["store", "average", "positive average"]) for _ in range(cells)]
    return {"format": "remede model", "version": 3, "task": "regression", "inputs": inputs, "fill": [number() for _ in inputs],
            "targets": [f"y{o}" for o in range(outputs)], "classes": [], "id": "", "time": "",
            "trees": [{"cells": [{"law": law, "bias": number(), "inputs": some(inputs), "earlier": some(range(k)), "tap": number(), "tap_inputs": some(inputs),
                                  "tap_level": draw.choice([0, number()]), "first": law != "store" and draw.random() < .3} for k, law in enumerate(laws)],
                       "answer": answer(), "output_order": "zero", "nodes": nodes, "leaves": leaves}],
            "training": {"settings": {}, "training_loss": [], "validation_loss": []}}


def load(tmp_path, model):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    return remede.load(path)


def test_100_random_models_give_the_reference_s_bits(tmp_path):
    for seed in range(100):
        draw = random.Random(seed)
        model = random_model(draw)
        rows = np.array([[math.nan if draw.random() < .1 else draw.gauss(0, 1) for _ in model["inputs"]] for _ in range(30)], F)
        expected = reference(model, rows)
        estimator = load(tmp_path, model)
        said = np.asarray(estimator.predict([rows])[0], F).reshape(expected.shape)
        assert (said == expected).all(), seed
        stream = estimator.stream()
        live = np.array([np.atleast_1d(stream.step(row)) for row in rows], F)
        assert (live == expected).all(), seed
        assert len(estimator.trace([rows]).steps) == 30


def snow(root):
    return json.loads((root / "tests/model/files/v3_laws.json").read_text())


def test_names_and_size(root, tmp_path):
    model = load(tmp_path, snow(root))
    assert model.n_numbers_ == 14
    assert "m1 (store)" in model.to_text()
    assert "snow (store)" in model.to_text(cell_names={"m1": "snow"}) and "m1 (store)" in model.to_text()
    assert "what snow releases" in model.to_svg(cell_names=["snow", "soil"])
    assert model.rename_cells(["snow", "soil"]) is model and model.cell_names_ == ["snow", "soil"]
    model.save(tmp_path / "named.json")
    assert json.loads((tmp_path / "named.json").read_text())["trees"][0]["cell_names"] == ["snow", "soil"]
    with pytest.raises(ValueError, match="expected the name of a cell"):
        model.rename_cells({"m7": "x"})
    with pytest.raises(ValueError, match="expected 2 cell_names"):
        model.to_text(cell_names=["one"])
    with pytest.raises(TypeError, match="dict or a list"):
        model.to_text(cell_names="snow")
    assert _native.Model.from_json(model.model_.to_json()).cell_names == [["snow", "soil"]]
