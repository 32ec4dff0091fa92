#!/usr/bin/env python3
"""check_certificate.py MODEL CERTIFICATE: checks the proofs that `remede verify --certificate` wrote (docs/verify.md). Exit code 0: right.

Shares no code with remede. A proof is a list of boxes: ranges of the numbers that the model carries from step to step, and the counters of the
property. It is right if the start lies in a box and every step from every box makes the property true and ends in a box. Sums and products
are float32 operations, exactly rounded, at the ends of ranges (rounding never turns an order around); everything else is bounded in double
with room for the errors. `cuts`, `input_cuts` and `halvings` of a file are hints on where to split, which cannot make a wrong proof pass.
"""
import ctypes, itertools, json, math, sys
from functools import reduce

r = lambda v: ctypes.c_float(v).value  # rounded to float32
INF, MAX = math.inf, 3.4028234663852886e38
MISSING = (INF, -INF, True)  # a range is (low, high, may be missing or not a number); low above high: no number
EPS, TINY, BOUND = 1.05 * 2.0**-23, 8e-45, r(1e30)  # a relative and an absolute bound on rounding; the bound of model/cells.h
some = lambda a: a[0] <= a[1]
point = lambda v: (r(v), r(v), False)
odd = lambda v: v[2] or not some(v) or INF in (-v[0], v[1])
join = lambda a, b: (min(a[0], b[0]), max(a[1], b[1]), a[2] or b[2])
inside = lambda a, b: (not a[2] or b[2]) and (not some(a) or (a[0] >= b[0] and a[1] <= b[1]))

def meet(a, b):
    lo, hi = max(a[0], b[0]), min(a[1], b[1])
    return (lo, hi, a[2] and b[2]) if lo <= hi else (INF, -INF, a[2] and b[2])
def times(w, v):
    if not some(v) or w == 0: return (0.0, 0.0, odd(v)) if some(v) else MISSING
    return min(r(w * v[0]), r(w * v[1])), max(r(w * v[0]), r(w * v[1])), v[2]
def plus(a, b):
    if not (some(a) and some(b)): return MISSING
    lo, hi = r(a[0] + b[0]), r(a[1] + b[1])
    clash = (a[0] == -INF and b[1] == INF) or (a[1] == INF and b[0] == -INF)
    return -INF if lo != lo else lo, INF if hi != hi else hi, a[2] or b[2] or clash
def total(s, row, values):  # s + the products of a row of (number, weight)
    return reduce(lambda a, b: plus(a, times(b[1], values[b[0]])), row, s)
horner = lambda s, cs: reduce(lambda p, c: r(r(p * s) + r(c)), cs[1:], r(cs[0]))
def tanh32(x):
    x = min(max(x, -9.0), 9.0)
    p = horner(r(x * x), (1.8256329e-11, -1.2780914e-08, 9.267595e-06, 0.0029207822, 0.12919249, 0.99999994))
    return min(max(r(r(x * p) / horner(r(x * x), (0.00022810293, 0.023763254, 0.4625253, 1.0))), -1.0), 1.0)
def exp32(x):
    x, zero = min(x, 88.0), x < -87
    n = r(r(r(x * r(1.44269504)) + 12582912.0) - 12582912.0)
    t = r(r(x - r(n * r(0.693359375))) - r(n * r(-2.12194440e-4)))
    p = horner(t, (0.0001984127, 0.0013888889, 0.0083333333, 0.041666667, 0.16666667, 0.5))
    return 0.0 if zero else r(r(r(r(r(p * t) * t) + t) + 1.0) * 2.0**int(n))
sigmoid32 = lambda x: r((exp32(x) if x < 0 else 1.0) / r(1 + exp32(-abs(x))))
def rising(f, v, slack, least):  # f rises to 1, but for a relative defect that was measured over all floats
    if not some(v) or v[0] == v[1]: return (f(v[0]), f(v[0]), v[2]) if some(v) else v
    return max(least, f(v[0]) - abs(f(v[0])) * slack), min(1.0, f(v[1]) + abs(f(v[1])) * slack), v[2]
def tanh(v):
    lo, hi, nan = rising(tanh32, v, 6e-7, -1.0)
    return (1.0 if v[0] >= 9 and some(v) else lo), (-1.0 if v[1] <= -9 and some(v) else hi), nan
def moved(m, u, a):  # m + a (u - m): never away from u, and past it by rounding only
    far, lo, hi = max(abs(u[1] - m[0]), abs(m[1] - u[0])), (1 - a) * m[0] + a * u[0], (1 - a) * m[1] + a * u[1]
    err, past = EPS * (a * far + max(abs(lo), abs(hi))) + TINY, lambda v: EPS * (far + abs(v)) + TINY
    return max(lo - err, min(m[0], u[0] - past(u[0]))), min(hi + err, max(m[1], u[1] + past(u[1])))
def blend(m, u, share):  # share: (low, high)
    if not (some(m) and some(u)) or share == (0.0, 0.0): return (m[0], m[1], m[2] or u[2]) if some(m) and some(u) else MISSING
    ends = [r(s * v) for s in share for v in (r(u[0] - m[1]), r(u[1] - m[0]))]
    lows, highs = zip(*[moved(m, u, s) for s in share])
    return max(r(m[0] + min(ends)), min(lows)), min(r(m[1] + max(ends)), max(highs)), m[2] or u[2]
def bounded(v):
    lo, hi = (max(-BOUND, min(BOUND, v[0])), max(-BOUND, min(BOUND, v[1]))) if some(v) else (0.0, 0.0)
    return (min(lo, 0.0), max(hi, 0.0), False) if v[2] else (lo, hi, False)

class Model:
    def __init__(self, d):
        self.inputs, self.classes, self.fill, self.trees = d["inputs"], d["classes"], [r(v) for v in d["fill"]], d["trees"]
        self.objective = d.get("objective") or {"name": "cross-entropy" if d["task"] == "classification" else "squared-error"}
        self.n_y, codes, self.columns = len(self.trees[0]["leaves"][0]["output"]), {c["input"]: c for c in d.get("codes", [])}, []
        for i, name in enumerate(self.inputs):  # (name, inputs, options: (word, ranges)); a number has ranges only
            code = codes.get(name)
            known = [c for c in self.columns if code and not code.get("gap") and c[0] == code["column"] and c[2]]
            number = code is None or bool(code.get("gap"))
            if known: known[0][1].append(i)
            else: self.columns.append((name if number else code["column"], [i], not number, [("", [(0.0 if code else -MAX, MAX, True)])] if number else []))
        for _, ids, words, options in self.columns:
            cs = [codes[self.inputs[i]] for i in ids] if words else []
            known = list(dict.fromkeys(w for c in cs for w in c["words"]))
            spare = next(w for w in itertools.chain(["other"], (f"other{i}" for i in itertools.count(1))) if w not in known)
            for word in known + [spare, ""] if words else []:
                values = [dict(zip(c["words"], c["values"])).get(word, c.get("other")) if word else None for c in cs]
                options.append((word, [MISSING if v is None else point(v) for v in values]))
        self.first = [0]  # where the numbers of each tree begin: cells, a flag, running outputs
        for t in self.trees:
            t["laws"] = not isinstance(t["cells"], int)
            t["n"] = len(t["cells"]) if t["laws"] else t["cells"]
            t["flag"] = t["laws"] and any(c["first"] for c in t["cells"])
            self.first.append(self.first[-1] + t["n"] + t["flag"] + (self.n_y if t["output_order"] == "first" else 0))
    def row(self, pairs, named=False):  # weights of cells with laws; those of 0 are no terms
        return [(self.inputs.index(k) if named else k, r(w)) for k, w in pairs if r(w) != 0]
    def laws(self, tree, leaf, x, m):
        outs, levels, first, taps = [], [], m[tree["n"]] if tree["flag"] else point(1), dict(map(tuple, leaf["taps"]))
        for k, c in enumerate(tree["cells"]):
            tap = taps.get(k, 0.0)
            q = (1.0, 1.0) if tap == "open" else (0.0, 0.0)
            if not isinstance(tap, str):
                s = total(total(point(c["tap"]), self.row(c["tap_inputs"], True), x), self.row([(k, c["tap_level"])]), m)
                q = rising(sigmoid32, bounded(plus(s, point(tap)) if r(tap) != 0 else s), 2e-7, 0.0)[:2]
            a = bounded(total(total(point(c["bias"]), self.row(c["inputs"], True), x), self.row(c["earlier"]), outs))
            if c["law"] == "store":
                lo, hi = r(m[k][0] + max(a[0], 0.0)), min(r(m[k][1] + max(a[1], 0.0)), 2.0**25 * BOUND)
                out, err = (r(q[0] * lo), r(q[1] * hi), False), EPS * hi + TINY
                new = (max(0.0, (1 - q[1]) * lo - err), min(hi, (1 - q[0]) * hi + err), False)
                new = point(lo - out[0]) if (lo, q[0]) == (hi, q[1]) else (lo, hi, False) if q == (0.0, 0.0) else new
            else:
                u = a if c["law"] == "average" else (max(a[0], 0.0), max(a[1], 0.0), False)
                out = new = u if c["first"] and first[1] == 0 else join(blend(m[k], u, q), u) if c["first"] and first[0] == 0 else blend(m[k], u, q)
            outs.append(out), levels.append(new)
        y = []
        for o in range(self.n_y):
            s = point(leaf["output"][o])
            for part in [tree["answer"][o]] + ([leaf["answer"][o]] if leaf.get("answer") else []):
                s = total(total(total(s, self.row(part["inputs"], True), x), self.row(part["outputs"]), outs), self.row(part["levels"]), levels)
            y.append(s)
        return y, levels + [point(1)] * tree["flag"]
    def writes(self, tree, leaf, x, m):
        v, new, row = x + m[:tree["n"]], list(m[:tree["n"]]), lambda ws: [(i, r(w)) for i, w in enumerate(ws)]
        y = [total(point(c), row(leaf["linear"][o]) if tree["leaf_output"] == "linear" else [], v) for o, c in enumerate(leaf["output"])]
        for w in leaf["writes"]:
            old, u = m[w["cell"]], tanh(total(point(w["bias"] if tree["write_bias"] else 0.0), row(w["weights"]), v))
            new[w["cell"]] = plus(old, u) if tree["write_rule"] == "add" else blend(old, u, (r(w["blend"]),) * 2)
        return y, new
    def answer(self, raw):
        name, n = self.objective["name"], len(raw)
        link = lambda v: (exp32(min(max(v[0], -80.0), 80.0)), exp32(min(max(v[1], -80.0), 80.0)), v[2]) if some(v) else v
        if name == "cross-entropy" and any(map(odd, raw)): return [(0.0, 1.0, True)] * n
        if name == "cross-entropy" and all(v[0] == v[1] for v in raw):
            e = [exp32(r(v[0] - max(w[0] for w in raw))) for v in raw]
            s = reduce(lambda a, b: r(a + b), e)
            return [point(r(v / s)) for v in e]
        if name == "cross-entropy":  # the rounding of exp and of its argument, which is at least -87, of n sums and a division
            out, slack, e = [], 1.2e-5 + 2e-7 * n, lambda d: math.exp(min(d, 80))
            for k, v in enumerate(raw):
                rest = raw[:k] + raw[k + 1:]
                most, least = sum(e(w[1] - v[0]) for w in rest), sum(e(w[0] - v[1]) for w in rest)
                low = 0.0 if most > 1e34 else (1 - slack) / (1 + most) - 1e-38
                out.append((max(0.0, low), min(1.0, (1 + slack) / (1 + least) + 1e-38), False))
            return out
        if name != "quantile": return [link(v) for v in raw] if name == "poisson" else raw
        mid, y = min(range(n), key=lambda k: abs(r(r(self.objective["quantiles"][k]) - 0.5))), list(raw)
        for k in range(mid + 1, n): y[k] = plus(y[k - 1], link(raw[k]))
        for k in range(mid - 1, -1, -1): y[k] = plus(y[k + 1], times(-1.0, link(raw[k])))
        return y
    def step(self, leaves, x, m):  # ranges of the answers, the classes that may be said, and the numbers after the step
        x = [join((v[0], v[1], False), point(f)) if v[2] else v for v, f in zip(x, self.fill)]
        new, answers, raws = [], [], []
        for tree, leaf, at in zip(self.trees, leaves, self.first):
            y, after = (self.laws if tree["laws"] else self.writes)(tree, leaf, x, m[at:])
            first = tree["output_order"] == "first"
            y = [plus(old, v) for old, v in zip(m[at + tree["n"] + tree["flag"]:], y)] if first else y
            new, raws, answers = new + after + y * first, raws + [y], answers + [self.answer(y)]
        y = reduce(lambda a, b: [plus(v, w) for v, w in zip(a, b)], answers)
        y = [(r(v[0] / len(answers)), r(v[1] / len(answers)), v[2]) if len(answers) > 1 else v for v in y]
        raw = raws[0] if len(raws) == 1 and not any(map(odd, raws[0])) else None
        beats = lambda j, k: (y[j][0] >= y[k][1] if j < k else y[j][0] > y[k][1]) or (
            raw and (raw[j][0] >= raw[k][1] if j < k else raw[j][0] - raw[k][1] > 1e-4))  # clearly larger: no rounding makes them equal
        sure = not any(v[2] for v in y)
        return y, [k for k in range(len(y)) if not (sure and any(beats(j, k) for j in range(len(y)) if j != k))], new

def below(v):  # the next float32 below
    n = ctypes.c_int32.from_buffer(ctypes.c_float(v)).value
    return ctypes.c_float.from_buffer(ctypes.c_int32(n - 1 if v > 0 else n + 1 if v < 0 else -2147483647)).value
def regions(cuts, v):  # the parts of a range between the cuts, and the missing value
    ends = [-INF] + sorted(set(cuts)) + [INF]
    parts = [meet((v[0], v[1], False), (a, b if b == INF else below(b), False)) for a, b in zip(ends, ends[1:])]
    return [p for p in parts if some(p)] + [MISSING] * v[2]
COMPARE = {">=": lambda v, c: v >= c, ">": lambda v, c: v > c, "<=": lambda v, c: v <= c, "<": lambda v, c: v < c,
           "=": lambda v, c: v == c, "!=": lambda v, c: v != c}

class Checker:
    def __init__(self, model, d):
        self.m, self.d, self.atoms, self.previous, self.states = model, d, d["atoms"], dict(map(tuple, d["previous"])), {}
        for s in d["states"]:
            box = [MISSING if a is None else (float(a), float(b), bool(nan)) for a, b, nan in s["slots"]]
            assert len(box) == model.first[-1] + len(self.previous) and len(s["monitor"]) == d["counters"], "a box of another size"
            self.states.setdefault(tuple(s["monitor"]), []).append(box)
        self.needs = [self.atoms_below(d["nodes"][a]) for a in d["assumptions"]]  # the atoms that decide each assumption
    def atoms_below(self, n):
        return {n["atom"]} if n["op"] == "atom" else set().union(*(self.atoms_below(self.d["nodes"][k]) for k in n.get("of", [])))
    def evaluate(self, truth, old):  # the truth of every node, and the counters after the step
        value, new = [], list(old)
        if self.d["last_step"]: new[-1] = min(old[-1] + 1, self.d["last_step"])
        for n in self.d["nodes"]:
            v, op, c, at = [value[k] for k in n.get("of", [])], n["op"], n.get("count", 0), n.get("counter", -1)
            was = old[at] if at >= 0 else 0
            a = self.atoms[n.get("atom", 0)] if self.atoms else {}
            now = {"atom": lambda: COMPARE[a["compare"]](new[-1], r(a["value"])) if a["kind"] == "step" else truth.get(n["atom"], False),
                   "true": lambda: 1, "not": lambda: not v[0], "and": lambda: v[0] and v[1], "or": lambda: v[0] or v[1], "previously": lambda: v[0],
                   "once": lambda: was or v[0], "always": lambda: was or not v[0], "since": lambda: v[1] or (was and v[0]),
                   "within": lambda: c + 1 if v[0] else max(was - 1, 0), "for": lambda: min(was + 1, c) if v[0] else 0,
                   "deadline": lambda: 0 if v[1] else min(was + 1, c + 1) if was else int(v[0])}[op]()
            if at >= 0: new[at] = int(now)
            value.append(bool(was) if op == "previously" else not now if op == "always" else now >= c if op == "for" else
                         now <= c if op == "deadline" else bool(now))
        return value, tuple(new)
    def text(self, i):  # what was checked, as the file has it
        n = self.d["nodes"][i]
        if n["op"] == "atom": return " ".join(str(v) for v in self.atoms[n["atom"]].values())
        return f"{n['op']}({', '.join([self.text(k) for k in n.get('of', [])] + [str(n.get('count'))] * ('count' in n))})"
    def run(self):
        start = [point(0)] * self.m.first[-1] + [MISSING] * len(self.previous)
        if not any(all(map(inside, start, box)) for box in self.states.get((0,) * self.d["counters"], [])): return "the start lies in no box"
        for self.monitor, boxes in self.states.items():
            for box in boxes:
                if not self.columns(0, [MISSING] * len(self.m.inputs), {}, box):
                    return f"a step from this box leaves the boxes or breaks the property: counters {list(self.monitor)}, {box}"
        return None
    def columns(self, c, x, truth, box):  # every part of the inputs that the atoms tell apart and the assumptions allow
        value = self.evaluate(truth, self.monitor)[0]
        if any(need <= truth.keys() and not value[a] for need, a in zip(self.needs, self.d["assumptions"])): return True
        if c == len(self.m.columns): return self.walk(0, [], x, truth, box)
        name, ids, words, options = self.m.columns[c]
        about = [(i, a) for i, a in enumerate(self.atoms) if a["kind"] in ("input", "missing") and a["index"] in ids]
        changes = [(i, a) for i, a in enumerate(self.atoms) if a["kind"] == "change" and a["index"] in ids]
        cuts = [v for _, a in about if a["kind"] == "input" for v in (r(a["value"]), -below(-r(a["value"])))]
        cuts += [] if words else map(r, self.d["input_cuts"][ids[0]])
        for word, ranges in options:
            for part in [ranges] if words else [[p] for p in (regions(cuts, ranges[0]) if about or cuts else ranges)]:
                now = {**truth, **{i: a["word"] == word for i, a in enumerate(self.atoms) if a["kind"] == "word" and a["index"] == c}}
                for i, a in about:
                    v = part[ids.index(a["index"])]
                    now[i] = not some(v) if a["kind"] == "missing" else some(v) and COMPARE[a["compare"]](v[0], r(a["value"]))
                ways = [(now, [part[ids.index(i)] if i in ids else v for i, v in enumerate(x)])]
                for i, a in changes:  # previous - d <= x <= previous + d; nothing is said of missing values
                    was, by, more = box[self.previous[a["index"]]], r(a["value"]), []
                    for truths, v in ways:
                        u = v[a["index"]]
                        near = u if was[2] or not some(was) else meet(u, (r(was[0] - by), r(was[1] + by), True))
                        more += [({**truths, i: True}, [near if k == a["index"] else w for k, w in enumerate(v)])] if some(near) or near[2] else []
                        if some(was) and some(u) and not (u[1] <= r(was[0] + by) and u[0] >= r(was[1] - by)):
                            more.append(({**truths, i: False}, v))
                    ways = more
                if not all(self.columns(c + 1, v, truths, box) for truths, v in ways): return False
        return True
    def walk(self, node, leaves, x, truth, box):
        tree, at = self.m.trees[len(leaves)], self.m.first[len(leaves)]
        if node >= len(tree["nodes"]):
            leaves = leaves + [tree["leaves"][node - len(tree["nodes"])]]
            return self.walk(0, leaves, x, truth, box) if len(leaves) < len(self.m.trees) else self.arrive(leaves, x, truth, box, self.d["halvings"])
        test = tree["nodes"][node]
        is_input, limit = "input" in test, r(test["threshold"])
        i = self.m.inputs.index(test["input"]) if is_input else at + test["cell"]
        for side, part in (("left", (-INF, below(limit))), ("right", (limit, INF))):
            v = meet((x if is_input else box)[i], part + (test["missing"] == side,))
            put = lambda values: values[:i] + [v] + values[i + 1:]
            if (some(v) or v[2]) and not self.walk(test[side], leaves, put(x) if is_input else x, truth, box if is_input else put(box)):
                return False
        return True
    def arrive(self, leaves, x, truth, box, halvings):  # all leaves are known
        y, says, new = self.m.step(leaves, x, box)
        new = new + [x[i] for i, _ in sorted(self.previous.items(), key=lambda p: p[1])]
        if self.covered(y, says, new, truth): return True
        best = (INF, None)
        for of, values in enumerate((x, box) if halvings else ()):
            for i, v in enumerate(values):
                if some(v) and (v[0] < v[1] or v[2]):
                    mid = middle(v[0], v[1]) if v[0] < v[1] else v[0]
                    halves = [MISSING, (v[0], v[1], False)] if v[2] else [(v[0], below(mid), False), (mid, v[1], False)]
                    pairs = [(values[:i] + [h] + values[i + 1:], box) if of == 0 else (x, values[:i] + [h] + values[i + 1:]) for h in halves]
                    best = min(best, (sum(min(1e30, w[1] - w[0]) for p in pairs for w in self.m.step(leaves, *p)[0]), pairs), key=lambda b: b[0])
        return best[1] is not None and all(self.arrive(leaves, a, truth, b, halvings - 1) for a, b in best[1])
    def ways(self, kinds, values):  # of each quantity: the truths that the atoms about it can have together
        atoms = [(i, a, r(a["value"])) for i, a in enumerate(self.atoms) if a["kind"] in kinds]
        for k in {a["index"] for _, a, _ in atoms}:
            cuts = [v for _, a, c in atoms if a["index"] == k for v in (c, -below(-c))]
            yield [{i: some(p) and COMPARE[a["compare"]](p[0], c) for i, a, c in atoms if a["index"] == k} for p in regions(cuts, values[k])]
    def covered(self, y, says, new, truth):
        for piece in itertools.product(*[regions(map(float, cuts), v) if cuts else [v] for cuts, v in zip(self.d["cuts"], new)]):
            for k in says:  # the class that is said has exp(0) = 1 in the sum of terms that are at most 1, another at most half of it; not a number: the first
                limit = lambda j: (-INF, INF, True) if self.m.first[2:] or not self.m.classes else (r(1 / len(y)) if j == k else 0.0, 1.0 if j == k else 0.5, k == 0)
                seen = [meet(v, limit(j)) for j, v in enumerate(y)]
                said = {i: a["index"] == k for i, a in enumerate(self.atoms) if a["kind"] == "says"}
                for ways in itertools.product(*self.ways(("probability", "answer"), seen), *self.ways(("cell",), piece)):
                    value, monitor = self.evaluate(reduce(lambda a, b: {**a, **b}, ways, {**truth, **said}), self.monitor)
                    right = value[self.d["root"]] and any(all(map(inside, piece, b)) for b in self.states.get(monitor, []))
                    if not right and all(value[a] for a in self.d["assumptions"]): return False
        return True

def middle(low, high):
    if low <= 0 <= high and low < high: return 0.0 if low < 0 else 1.0 if high > 4 else r(high / 2) or high
    far = (low > 0 and high / low > 4) or (high < 0 and low / high > 4)
    mid = r(math.copysign(math.sqrt(abs(low)) * math.sqrt(abs(high)), low) if far else low / 2 + high / 2)
    return mid if low < mid <= high else high

def main():
    model, certificate = Model(json.load(open(sys.argv[1]))), json.load(open(sys.argv[2]))
    assert certificate["format"] == "remede certificate" and certificate["version"] == 1, "expected a certificate of version 1"
    wrong = not certificate["properties"]
    for checker in (Checker(model, d) for d in certificate["properties"]):
        problem, d = checker.run(), checker.d
        wrong = wrong or problem is not None
        print("wrong:" if problem else "right:", d["property"], "=", checker.text(d["root"]), problem or "")
    return 1 if wrong else 0

if __name__ == "__main__":
    try:
        sys.exit(main())
    except (AssertionError, KeyError, IndexError, TypeError, ValueError, AttributeError, OSError) as error:
        sys.exit(f"wrong: not a certificate for this model: {error!r}")
