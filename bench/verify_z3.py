"""Small random models against Z3, which computes with the same floats bit by bit.

Z3 has no tanh and no exp, so the models are those whose writes have a constant argument (add and blend), and cells with laws whose taps are
constant: all other arithmetic of a step (sums, products, tests, missing values) is the model's own, in Z3's theory of IEEE floats. Z3 looks for a
sequence of up to DEPTH steps that breaks a property. It agrees with a proof if there is none, and with a counterexample if there is one of
its length and, where it is said to be the shortest, no shorter one.
"""
import json
import math
import random
import struct

import z3

import remede

DEPTH, SECONDS = 3, 20
F, RNE = z3.Float32(), z3.RNE()


def f32(v):
    return struct.unpack("f", struct.pack("f", v))[0]


def const(v):
    return z3.FPVal(v, F)


def random_number(draw):
    return f32(round(draw.gauss(0, 1), 2))


def nodes_of(draw, inner, n_x, cells):
    """Inner nodes in a chain with leaves on the sides, in a random order."""
    nodes, leaf = [], inner
    for i in range(inner):
        test = {"number": i, **({"input": f"x{draw.randrange(n_x) + 1}"} if cells == 0 or draw.random() < 0.5 else {"cell": draw.randrange(cells)}),
                "threshold": random_number(draw), "missing": draw.choice(["left", "right"])}
        last = i == inner - 1
        sides = [leaf, leaf + 1] if last else draw.sample([leaf, i + 1], 2)
        leaf += 2 if last else 1
        nodes.append({**test, "left": sides[0], "right": sides[1]})
    return nodes


def random_model(draw):
    n_x, cells, inner, classify = draw.randint(1, 2), draw.randint(1, 2), draw.randint(1, 3), draw.random() < 0.5
    n_y, laws = (2 if classify else 1), draw.random() < 0.5
    names = [f"x{i + 1}" for i in range(n_x)]
    weights = lambda keys: [[k, random_number(draw)] for k in keys if draw.random() < 0.6]
    tree = {"output_order": "zero", "nodes": nodes_of(draw, inner, n_x, cells)}
    leaves = [{"number": inner + k, "output": [random_number(draw) for _ in range(n_y)]} for k in range(inner + 1)]
    if laws:
        tree["cells"] = [{"law": draw.choice(["store", "average", "positive average"]), "bias": random_number(draw), "inputs": weights(names),
                          "earlier": weights(range(k)), "tap": random_number(draw), "tap_inputs": [], "tap_level": 0, "first": False} for k in range(cells)]
        empty = {"inputs": [], "outputs": [], "levels": []}
        tree["answer"] = [dict(empty) if classify else {"inputs": [], "outputs": weights(range(cells)), "levels": weights(range(cells))} for _ in range(n_y)]
        for leaf in leaves:
            leaf["taps"] = [[k, draw.choice(["open", "closed"])] for k in range(cells) if draw.random() < 0.3]
    else:
        blend = draw.random() < 0.5
        tree.update({"cells": cells, "write_rule": "blend" if blend else "add", "write_reads": "inputs", "write_bias": True, "leaf_output": "constant"})
        for leaf in leaves:
            leaf["writes"] = [{"cell": k, **({"blend": f32(draw.random())} if blend else {}), "bias": random_number(draw), "weights": [0.0] * n_x}
                              for k in range(cells) if draw.random() < 0.6]
    tree["leaves"] = leaves
    return {"format": "remede model", "version": 3, "task": "classification" if classify else "regression", "inputs": names,
            "fill": [random_number(draw) for _ in names], "targets": ["y"], "classes": ["a", "b"] if classify else [], "id": "", "time": "",
            "trees": [tree], "training": {"settings": {}, "training_loss": [], "validation_loss": []}}


def tanh32(x):  # docs/mathematics.md
    r = f32
    x = r(max(-9.0, min(9.0, x)))
    s = r(x * x)
    p, q = r(1.8256329e-11), r(0.00022810293)
    for c in (-1.2780914e-08, 9.267595e-06, 0.0029207822, 0.12919249, 0.99999994):
        p = r(r(p * s) + r(c))
    for c in (0.023763254, 0.4625253, 1.0):
        q = r(r(q * s) + r(c))
    return max(-1.0, min(1.0, r(r(x * p) / q)))


def sigmoid32(x):
    r = f32
    v = -abs(x)
    n = r(r(r(v * r(1.44269504)) + 12582912.0) - 12582912.0)
    t = r(r(v - r(n * r(0.693359375))) - r(n * r(-2.12194440e-4)))
    p = r(0.0001984127)
    for c in (0.0013888889, 0.0083333333, 0.041666667, 0.16666667, 0.5):
        p = r(r(p * t) + r(c))
    e = r(r(r(r(r(p * t) * t) + t) + 1.0) * 2.0**int(n))
    return r(e / r(1 + e)) if x < 0 else r(1 / r(1 + e))


def select(cases, default):
    """The value of the first condition that is true."""
    for condition, value in reversed(cases):
        default = z3.If(condition, value, default)
    return default


def leaf_conditions(model, x, m):
    tree, found = model["trees"][0], []

    def walk(node, conditions):
        if node >= len(tree["nodes"]):
            found.append((z3.And(*conditions) if conditions else z3.BoolVal(True), tree["leaves"][node - len(tree["nodes"])]))
            return
        test = tree["nodes"][node]
        v = x[model["inputs"].index(test["input"])] if "input" in test else m[test["cell"]]
        right = z3.Or(z3.fpGEQ(v, const(test["threshold"])), z3.And(z3.fpIsNaN(v), z3.BoolVal(test["missing"] == "right")))
        walk(test["left"], conditions + [z3.Not(right)])
        walk(test["right"], conditions + [right])

    walk(0, [])
    return found


def total(s, row, values):
    for k, w in row:
        if f32(w) != 0:
            s = z3.fpAdd(RNE, s, z3.fpMul(RNE, const(f32(w)), values[k]))
    return s


def bounded(v):
    bound = f32(1e30)
    return z3.If(z3.fpGT(v, const(bound)), const(bound), z3.If(z3.fpLT(v, const(-bound)), const(-bound), z3.If(z3.fpIsNaN(v), const(0.0), v)))


def step(model, x, m):
    """The answers (numbers, or the class that is said) and the memory after the step, as functions of inputs and memory."""
    tree, names = model["trees"][0], model["inputs"]
    leaves = leaf_conditions(model, x, m)
    filled = dict(zip(names, [z3.If(z3.fpIsNaN(v), const(f), v) for v, f in zip(x, model["fill"])]))
    if isinstance(tree["cells"], int):
        new = []
        for k in range(tree["cells"]):
            cases = []
            for condition, leaf in leaves:
                for w in leaf["writes"]:
                    if w["cell"] == k:
                        u = const(tanh32(f32(w["bias"])))
                        moved = z3.fpAdd(RNE, m[k], u if tree["write_rule"] == "add" else z3.fpMul(RNE, const(f32(w["blend"])), z3.fpSub(RNE, u, m[k])))
                        cases.append((condition, moved))
            new.append(select(cases, m[k]))
        constant = lambda leaf, o: const(leaf["output"][o])
        answers = [[(c, constant(leaf, o)) for c, leaf in leaves] for o in range(len(leaves[0][1]["output"]))]
        return [select(cases[1:], cases[0][1]) for cases in answers], new
    outs, new = [], []
    for k, c in enumerate(tree["cells"]):
        q = select([(condition, const(1.0 if tap == "open" else 0.0)) for condition, leaf in leaves for kk, tap in leaf["taps"] if kk == k],
                   const(sigmoid32(f32(c["tap"]))))
        a = bounded(total(total(const(f32(c["bias"])), c["inputs"], filled), c["earlier"], outs))
        positive = z3.If(z3.fpGT(a, const(0.0)), a, const(0.0))
        if c["law"] == "store":
            s = z3.fpAdd(RNE, m[k], positive)
            outs.append(z3.fpMul(RNE, q, s))
            new.append(z3.fpSub(RNE, s, outs[-1]))
        else:
            u = a if c["law"] == "average" else positive
            new.append(z3.fpAdd(RNE, m[k], z3.fpMul(RNE, q, z3.fpSub(RNE, u, m[k]))))
            outs.append(new[-1])
    answers = []
    for o, row in enumerate(tree["answer"]):
        base = select([(condition, const(leaf["output"][o])) for condition, leaf in leaves[1:]], const(leaves[0][1]["output"][o]))
        answers.append(total(total(base, row["outputs"], outs), row["levels"], new))
    return answers, new


def random_property(draw, model):
    """Its text, and what it says of a list of steps (inputs, answers, memory) at the last of them."""
    value, x, m = random_number(draw), draw.choice(model["inputs"]), draw.randrange(2)
    cells = model["trees"][0]["cells"]
    m = m % (cells if isinstance(cells, int) else len(cells))
    i = model["inputs"].index(x)
    above = lambda s: z3.fpGEQ(s[0][i], const(value))
    if model["classes"]:
        said = lambda s: z3.fpGT(s[1][1], s[1][0])  # constant answers, clearly apart
        answer, of = "says b", said
    else:
        limit = f32(draw.choice([1, 2, 5, 10]))
        answer, of = f"y >= {limit}", lambda s: z3.fpGEQ(s[1][0], const(limit))
    level = random_number(draw)
    return draw.choice([
        (f"never {answer} unless once {x} >= {value}", lambda s: z3.Or(z3.Not(of(s[-1])), *[above(t) for t in s])),
        (f"{answer} implies m{m + 1} >= {level}", lambda s: z3.Or(z3.Not(of(s[-1])), z3.fpGEQ(s[-1][2][m], const(level)))),
        (f"always m{m + 1} <= {abs(level) + 1}", lambda s: z3.fpLEQ(s[-1][2][m], const(f32(abs(level) + 1)))),
        (f"{x} >= {value} for 2 steps implies {answer}", lambda s: z3.Or(of(s[-1]), *([z3.BoolVal(True)] if len(s) < 2 else [z3.Not(z3.And(above(s[-1]), above(s[-2])))]))),
        (f"previously {x} >= {value} implies not {answer}", lambda s: z3.Or(z3.Not(of(s[-1])), *([z3.BoolVal(True)] if len(s) < 2 else [z3.Not(above(s[-2]))]))),
    ])


def broken_at(model, holds, depth, limit):
    """Is there a sequence of exactly `depth` steps that breaks the property at its last one? None: Z3 did not say in time."""
    solver = z3.SolverFor("QF_FP")
    solver.set("timeout", SECONDS * 1000)
    cells = model["trees"][0]["cells"]
    m, history = [const(0.0)] * (cells if isinstance(cells, int) else len(cells)), []
    for t in range(depth):
        x = [z3.FP(f"x{i}_{t}", F) for i in range(len(model["inputs"]))]
        solver.add(*[z3.And(z3.fpLEQ(v, const(limit)), z3.fpGEQ(v, const(-limit))) for v in x])
        answers, m = step(model, x, m)
        history.append((x, answers, m))
    solver.add(z3.Not(holds(history)))
    found = solver.check()
    return None if found == z3.unknown else found == z3.sat


def compare(seed):
    """True: they agree; False: they do not; None: one of the two did not decide."""
    draw = random.Random(seed)
    model = random_model(draw)
    if model["classes"]:
        for leaf in model["trees"][0]["leaves"]:
            leaf["output"] = draw.choice([[2.0, -1.0], [-1.0, 2.0]])
    text, holds = random_property(draw, model)
    limit = 1000.0
    result = remede.RecurrentTreeClassifier if model["classes"] else remede.RecurrentTreeRegressor
    estimator = result._from_model(remede.Model.from_json(json.dumps(model)))
    one = estimator.verify(text, assume=[f"{x} in -1000..1000" for x in model["inputs"]], effort=0.2)["results"][0]
    if one["verdict"] == "undecided":
        return None, text, one
    depths = range(1, DEPTH + 1) if one["verdict"] == "holds" else range(1, min(one["step"], DEPTH) + 1)
    for depth in depths:
        found = broken_at(model, holds, depth, limit)
        if found is None:
            return None, text, one
        expected = one["verdict"] == "fails" and depth == one["step"]
        if found and not expected and (one["verdict"] == "holds" or one["shortest"]):
            return False, text, one
        if expected and not found:
            return False, text, one
    return True, text, one


def agree(models, seed, most=None):
    """Models on which both decided: how many agree and differ; and on how many others one of the two did not decide."""
    counts, verdicts = {True: 0, False: 0, None: 0}, {}
    for i in range(most or 2 * models):
        if counts[True] + counts[False] == models:
            break
        outcome, text, one = compare(seed * 100000 + i)
        counts[outcome] += 1
        if outcome:
            verdicts[one["verdict"]] = verdicts.get(one["verdict"], 0) + 1
        if outcome is False:
            print("differ:", seed * 100000 + i, text, one)
    print("agreed on", verdicts)
    return counts[True], counts[False], counts[None]


if __name__ == "__main__":
    assert math.isclose(tanh32(0.5), math.tanh(0.5), rel_tol=1e-6)
    print(agree(20, 1))
