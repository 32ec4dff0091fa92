#!/usr/bin/env python3
"""Golden vectors of models whose cells have laws (docs/mathematics.md): laws_NN.json in this folder.

An implementation of its own, in NumPy float64, with gradients derived by hand. Every gradient is checked here by central
differences with the splits frozen (the leaf of every step kept), before a case is written; what then comes through the
splits is a stand-in by definition, and the same for both sides of the comparison.

    python3 laws.py          writes the cases anew
"""
import json
import pathlib

import numpy as np

SLOPE = 4.0  # of the splits' stand-in, 0.5 slope / (1 + |slope z|)^2


def sigmoid(z):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


class Model:
    def __init__(self, shape, p, first, laws, missing_right):
        self.depth, self.n_x, self.cells, self.n_y = shape
        self.p, self.first, self.laws, self.missing_right = p, first, laws, missing_right
        self.nodes = 2 ** self.depth - 1

    def children(self, x, before):
        """(B, nodes) whether each split's test holds."""
        v = np.concatenate([x, before], axis=1)
        right = np.zeros((len(x), self.nodes), bool)
        for i in range(self.nodes):
            f = int(np.argmax(self.p["index"][i]))
            right[:, i] = np.where(np.isnan(v[:, f]), self.missing_right[i], v[:, f] >= self.p["threshold"][i, f])
        return right

    def below(self, right, node):
        """(B) the leaf that each row reaches from a node."""
        at = np.full(len(right), node)
        rows = np.arange(len(right))
        for _ in range(self.depth):
            inner = at < self.nodes
            at = np.where(inner, 2 * at + 1 + right[rows, np.where(inner, at, 0)], at) if self.nodes else at
        return at - self.nodes

    def forward(self, x, leaves=None):
        """x: (B, T, n_x). leaves: (B, T) given instead of walked to."""
        p, batch, steps = self.p, len(x), x.shape[1]
        level = np.zeros((batch, self.cells))
        tape = []
        for t in range(steps):
            s = {"before": level, "raw": x[:, t], "x": np.nan_to_num(x[:, t])}
            s["right"] = self.children(x[:, t], level)
            s["leaf"] = self.below(s["right"], 0) if leaves is None else leaves[:, t]
            q, a, out, new = (np.zeros((batch, self.cells)) for _ in range(4))
            for k in range(self.cells):
                m = level[:, k]
                q[:, k] = sigmoid(p["tap"][k] + s["x"] @ p["tap_input"][k] + p["tap_level"][k] * m + p["tap_leaf"][s["leaf"], k])
                a[:, k] = p["bias"][k] + s["x"] @ p["input"][k] + out[:, :k] @ p["earlier"][k, :k]
                if self.laws[k] == "store":
                    total = m + np.maximum(0, a[:, k])
                    out[:, k] = q[:, k] * total
                    new[:, k] = total - out[:, k]
                else:
                    u = np.maximum(0, a[:, k]) if self.laws[k] == "positive average" else a[:, k]
                    new[:, k] = u if t == 0 and self.first[k] else m + q[:, k] * (u - m)
                    out[:, k] = new[:, k]
            z = np.concatenate([s["x"], out, new], axis=1)
            y = p["output"][s["leaf"]] + z @ p["linear"].T
            if "leaf_linear" in p:
                y = y + np.einsum("boz,bz->bo", p["leaf_linear"][s["leaf"]], z)
            s.update(q=q, a=a, out=out, new=new, z=z, y=y)
            tape.append(s)
            level = new
        return tape

    def loss(self, tape, target, lengths, classes, smoothing):
        """Mean over the steps that count; its derivative by y is left on the tape."""
        count, total = float(np.sum(lengths)), 0.0
        for t, s in enumerate(tape):
            counts = (t < lengths).astype(float)
            if classes:
                top = s["y"] - s["y"].max(axis=1, keepdims=True)
                log_p = top - np.log(np.exp(top).sum(axis=1, keepdims=True))
                wanted = np.full_like(log_p, smoothing / self.n_y)
                wanted[np.arange(len(wanted)), target[:, t]] += 1 - smoothing
                total -= float(np.sum(counts[:, None] * wanted * log_p))
                s["d_y"] = counts[:, None] * (np.exp(log_p) - wanted) / count
            else:
                off = s["y"] - target[:, t]
                total += float(np.sum(counts[:, None] * off ** 2)) / self.n_y
                s["d_y"] = counts[:, None] * 2 * off / self.n_y / count
        return total / count

    def backward(self, tape, through_splits=True):
        p, k_n, n_x = self.p, self.cells, self.n_x
        g = {name: np.zeros_like(value) for name, value in p.items()}
        d_level = np.zeros_like(tape[0]["before"])
        for t in reversed(range(len(tape))):
            s = tape[t]
            d_y, leaf = s["d_y"], s["leaf"]
            np.add.at(g["output"], leaf, d_y)
            g["linear"] += d_y.T @ s["z"]
            d_read = d_y @ p["linear"]
            if "leaf_linear" in p:
                np.add.at(g["leaf_linear"], leaf, d_y[:, :, None] * s["z"][:, None, :])
                d_read = d_read + np.einsum("bo,boz->bz", d_y, p["leaf_linear"][leaf])
            d_out, d_new = d_read[:, n_x:n_x + k_n].copy(), d_level + d_read[:, n_x + k_n:]
            d_before, d_z = np.zeros_like(d_level), np.zeros_like(d_level)
            for k in reversed(range(k_n)):
                q, a, m = s["q"][:, k], s["a"][:, k], s["before"][:, k]
                if self.laws[k] == "store":
                    d_sum = (1 - q) * d_new[:, k] + q * d_out[:, k]
                    d_q = (m + np.maximum(0, a)) * (d_out[:, k] - d_new[:, k])
                    d_a, back = d_sum * (a > 0), d_sum
                else:
                    positive = self.laws[k] == "positive average"
                    u = np.maximum(0, a) if positive else a
                    both = d_new[:, k] + d_out[:, k]
                    if t == 0 and self.first[k]:
                        d_q, d_a, back = np.zeros_like(q), both, np.zeros_like(q)
                    else:
                        d_q, d_a, back = both * (u - m), both * q, both * (1 - q)
                    if positive:
                        d_a = d_a * (a > 0)
                d_z[:, k] = d_q * q * (1 - q)
                g["tap"][k] += d_z[:, k].sum()
                g["tap_input"][k] += d_z[:, k] @ s["x"]
                g["tap_level"][k] += d_z[:, k] @ m
                np.add.at(g["tap_leaf"][:, k], leaf, d_z[:, k])
                g["bias"][k] += d_a.sum()
                g["input"][k] += d_a @ s["x"]
                g["earlier"][k, :k] += d_a @ s["out"][:, :k]
                d_out[:, :k] += d_a[:, None] * p["earlier"][k, :k]
                d_before[:, k] = back + d_z[:, k] * p["tap_level"][k]
            if through_splits and self.nodes:
                self.back_through_splits(s, d_z, d_before, g)
            d_level = d_before
        return g

    def back_through_splits(self, s, d_z, d_before, g):
        """Adds to d_before and g. A leaf's worth is linear in its numbers; what is closed or open for good has no part in it."""
        p = self.p
        worth = d_z @ np.where(np.isfinite(p["tap_leaf"]), p["tap_leaf"], 0).T + s["d_y"] @ p["output"].T
        if "leaf_linear" in p:
            worth = worth + np.einsum("bo,loz,bz->bl", s["d_y"], p["leaf_linear"], s["z"])
        v = np.concatenate([s["x"], s["before"]], axis=1)
        rows = np.arange(len(v))
        at = np.zeros(len(v), int)
        for _ in range(self.depth):
            for i in np.unique(at):
                here = at == i
                f = int(np.argmax(p["index"][i]))
                jump = worth[rows, self.below(s["right"], 2 * i + 2)] - worth[rows, self.below(s["right"], 2 * i + 1)]
                away = v[:, f] - p["threshold"][i, f]
                r = here * jump * 0.5 * SLOPE / (1 + SLOPE * np.abs(away)) ** 2
                g["threshold"][i, f] -= r.sum()
                share = np.exp(p["index"][i] - p["index"][i].max())
                share /= share.sum()
                d = r @ (v - p["threshold"][i])
                g["index"][i] += share * (d - share @ d)
                if f >= self.n_x:
                    d_before[:, f - self.n_x] += r
            at = 2 * at + 1 + s["right"][rows, at]


def draw(number):
    rng = np.random.default_rng(1000 + number)
    classes = number % 2 == 0
    depth, cells = [0, 1, 2, 0, 1, 2, 3, 1][number % 8], [0, 1, 2, 3, 4, 3, 2, 6][(number * 3 + 1) % 8]
    n_x, n_y = int(rng.integers(1, 5)), int(rng.integers(2, 5)) if classes else int(rng.integers(1, 3))
    batch, steps = 5, 12
    laws = [str(rng.choice(["store", "average", "positive average"])) for _ in range(cells)]
    first = [bool(law != "store" and rng.random() < .4) for law in laws]
    leaves, n_v, n_z = 2 ** depth, n_x + cells, n_x + 2 * cells
    normal = lambda *shape, scale=.7: rng.normal(size=shape) * scale
    p = {"index": normal(leaves - 1, n_v), "threshold": normal(leaves - 1, n_v, scale=.4), "bias": normal(cells), "input": normal(cells, n_x),
         "earlier": np.tril(normal(cells, cells), -1), "tap": normal(cells) - 1, "tap_input": normal(cells, n_x, scale=.4),
         "tap_level": normal(cells, scale=.3), "tap_leaf": normal(leaves, cells), "output": normal(leaves, n_y), "linear": normal(n_y, n_z)}
    if number % 3 == 2:
        p["leaf_linear"] = normal(leaves, n_y, n_z, scale=.4)
    if number % 4 == 3 and cells and depth:
        p["tap_leaf"][0, 0], p["tap_leaf"][-1, -1] = -np.inf, np.inf
    x = normal(batch, steps, n_x, scale=1)
    if number % 5 == 4:
        x[rng.random(x.shape) < .15] = np.nan
    x = x.astype(np.float32).astype(float)
    lengths = rng.integers(1, steps + 1, size=batch)
    target = rng.integers(0, n_y, size=(batch, steps)) if classes else normal(batch, steps, n_y, scale=1).astype(np.float32).astype(float)
    missing_right = [bool(v) for v in rng.random(leaves - 1) < .5]
    model = Model((depth, n_x, cells, n_y), p, first, laws, missing_right)
    return model, x, target, lengths, classes, .05 if number % 4 == 0 else 0.0


def worst_difference(model, x, target, lengths, classes, smoothing):
    """Between the gradient with frozen splits and central differences."""
    tape = model.forward(x)
    leaves = np.stack([s["leaf"] for s in tape], axis=1)
    model.loss(tape, target, lengths, classes, smoothing)
    g = model.backward(tape, through_splits=False)
    worst = 0.0
    for name, values in model.p.items():
        if name in ("index", "threshold"):
            continue
        for at in np.ndindex(values.shape):
            if not np.isfinite(values[at]) or (name == "earlier" and at[1] >= at[0]):
                continue
            kept, losses = values[at], []
            for off in (1e-6, -1e-6):
                values[at] = kept + off
                losses.append(model.loss(model.forward(x, leaves), target, lengths, classes, smoothing))
            values[at] = kept
            worst = max(worst, abs((losses[0] - losses[1]) / 2e-6 - g[name][at]))
    return worst


def plain(values):
    return [plain(v) for v in values] if isinstance(values, np.ndarray) and values.ndim else \
        (None if np.isnan(values) else "open" if values == np.inf else "closed" if values == -np.inf else values.item())


def main():
    for number in range(24):
        case = draw(number)
        model, x, target, lengths, classes, smoothing = case
        off = worst_difference(*case)
        assert off < 2e-8, (number, off)
        tape = model.forward(x)
        loss = model.loss(tape, target, lengths, classes, smoothing)
        gradients = model.backward(tape)
        stack = lambda name: plain(np.stack([s[name] for s in tape], axis=1))
        fields = {"depth": model.depth, "n_x": model.n_x, "n_y": model.n_y, "laws": model.laws, "first": model.first, "smoothing": smoothing,
                  "missing_right": model.missing_right, "loss_kind": "cross_entropy" if classes else "squared_error", "slope": SLOPE,
                  "lengths": lengths.tolist(), "x": plain(x), "target": plain(target),
                  "parameters": {n: plain(v) for n, v in model.p.items()}, "gradients": {n: plain(v) for n, v in gradients.items()},
                  "output": stack("y"), "level": stack("new"), "leaf": stack("leaf"), "loss": loss}
        path = pathlib.Path(__file__).parent / f"laws_{number:02d}.json"
        path.write_text(json.dumps(fields) + "\n")
        print(f"{path.name}: {len(model.laws)} cells, depth {model.depth}, largest difference from central differences {off:.1e}")


if __name__ == "__main__":
    main()
