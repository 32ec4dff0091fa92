"""The dense form in JAX: every node and every leaf at every step, differentiated by JAX through the straight-through forms of
docs/mathematics.md. jit over one update: lax.scan over time, value_and_grad, Adam.

Two ways to say which leaf is reached, the same function and the same gradient:
  paths   as the paper writes it: for every leaf the product over the nodes of its path, (batch, leaves, depth) numbers
  levels  level by level, each reach split in two: about 2 x leaves numbers, the strongest dense form we know
"""
import json

import jax
import jax.numpy as jnp
import numpy as np

from peers import tables

RATE = 1e-6  # as `remede benchmark`: every number is updated, and the tree stays what it is


def hard(soft, value):
    """`value` forward, the derivative of `soft` backward."""
    return soft + jax.lax.stop_gradient(value.astype(soft.dtype) - soft)


def split(z, form):
    a = form["slope"] * z
    soft = jax.nn.sigmoid(a) if form["split_gradient"] == "sigmoid" else 0.5 * (1 + a / (1 + jnp.abs(a)))
    return hard(soft, z >= 0)


def chosen(index, form):
    soft = jax.nn.softmax(index, -1) if form["index_gradient"] == "softmax" else index
    return hard(soft, jax.nn.one_hot(index.argmax(-1), index.shape[-1], dtype=index.dtype))


def path_tables(depth):
    """For every leaf the nodes of its path and whether it goes right there: (leaves, depth) each."""
    leaf = np.arange(2 ** depth)
    nodes, right, node = [], [], np.zeros_like(leaf)
    for level in range(depth):
        bit = (leaf >> (depth - 1 - level)) & 1
        nodes.append(node)
        right.append(bit)
        node = 2 * node + 1 + bit
    return np.stack(nodes, -1), np.stack(right, -1)


def reached_by_paths(s, depth):
    nodes, right = path_tables(depth)
    on_path = s[:, nodes]
    return jnp.where(right == 1, on_path, 1 - on_path).prod(-1)


def reached_by_levels(s, depth):
    reach = jnp.ones((s.shape[0], 1), s.dtype)
    for level in range(depth):
        at = s[:, 2 ** level - 1:2 ** (level + 1) - 1]
        reach = jnp.stack([reach * (1 - at), reach * at], -1).reshape(s.shape[0], -1)
    return reach


REACH = dict(paths=reached_by_paths, levels=reached_by_levels)


def act(v, m, leaf, form):
    """What leaf parameters with a leading axis that fits v, m (..., n) say, and what they add to the memory."""
    y = leaf["output"]
    if form["leaf_output"] == "linear":
        y = y + jnp.einsum("...kf,...f->...k", leaf["linear"], v)
    a = jnp.einsum("...kf,...f->...k", leaf["write"], v[..., :leaf["write"].shape[-1]])
    u = jnp.tanh(a + leaf["bias"] if form["write_bias"] else a)
    gate = hard(jax.nn.sigmoid(leaf["gate"]), leaf["gate"] >= 0)
    return y, gate * (jax.nn.sigmoid(leaf["rate"]) * (u - m) if form["write_rule"] == "blend" else u)


def outputs(p, x, form, reach_form):
    """x (batch, steps, n_x) to y (batch, steps, n_y)."""
    leaves, n_m = p["gate"].shape
    depth = leaves.bit_length() - 1
    one_hot = chosen(p["index"], form)
    limit = (one_hot * p["threshold"]).sum(-1)
    leaf_parts = {k: w for k, w in p.items() if k not in ("index", "threshold")}

    def step(m, x_t):
        v = jnp.concatenate([x_t, m], -1)
        s = split(v @ one_hot.T - limit, form)
        reach = REACH[reach_form](s, depth)
        if form["mix"] == "parameters":
            mixed = {k: (reach @ w.reshape(leaves, -1)).reshape(-1, *w.shape[1:]) for k, w in leaf_parts.items()}
            y, change = act(v, m, mixed, form)
        else:
            y, change = act(v[:, None], m[:, None], leaf_parts, form)
            y, change = jnp.einsum("bl,blk->bk", reach, jnp.broadcast_to(y, reach.shape + y.shape[-1:])), jnp.einsum("bl,blk->bk", reach, change)
        return m + change, y

    _, y = jax.lax.scan(step, jnp.zeros((x.shape[0], n_m), x.dtype), x.swapaxes(0, 1))
    return y.swapaxes(0, 1)


def loss(p, x, label, weight, form, reach_form):
    """Mean cross-entropy over the steps of weight 1. label, weight: (batch, steps)."""
    y = jax.nn.log_softmax(outputs(p, x, form, reach_form), -1)
    return -(jnp.take_along_axis(y, label[..., None], -1)[..., 0] * weight).sum() / weight.sum()


def adam(p, state, gradient):
    mean, square, count = state
    count = count + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradient)
    a, b = 1 - 0.9 ** count, 1 - 0.999 ** count
    p = jax.tree.map(lambda w, m, s: w - RATE * (m / a) / (jnp.sqrt(s / b) + 1e-8), p, mean, square)
    return p, (mean, square, count)


class Training:
    """One update over and over on one batch that stays where it is. run() does `steps` steps."""

    def __init__(self, depth, n_x, batch, form, reach_form, n_m=5, n_y=3, length=16):
        rng = np.random.default_rng(1)
        self.steps = batch * length
        p = jax.tree.map(jnp.asarray, tables.random_parameters(rng, depth, n_x, n_m, n_y, form))
        mean, square = (jax.tree.map(lambda w: jnp.zeros_like(w) + 0, p) for _ in range(2))  # buffers of their own: they are donated
        self.state = (p, (mean, square, jnp.float32(0)))
        x = jnp.asarray(rng.standard_normal((batch, length, n_x)).astype(np.float32))
        label = jnp.asarray(rng.integers(0, n_y, (batch, length)))
        weight = jnp.ones((batch, length), jnp.float32)

        def update(p, state):
            value, gradient = jax.value_and_grad(loss)(p, x, label, weight, form, reach_form)
            return adam(p, state, gradient), value

        self.update = jax.jit(update, donate_argnums=(0, 1))
        self.run()  # compiles

    def run(self):
        self.state, value = self.update(*self.state)
        value.block_until_ready()


def check(path):
    """Largest relative error of loss and gradients against a golden case, in float64, over both ways to reach a leaf."""
    case = json.load(open(path))
    form = {k: case[k] for k in tables.PAPER}
    worst = 0.0
    with jax.enable_x64(True):
        p = {k: jnp.asarray(v, jnp.float64) for k, v in case["parameters"].items()}
        x, label = jnp.asarray(case["x"], jnp.float64), jnp.asarray(case["target"])
        weight = jnp.asarray(np.arange(x.shape[1])[None] < np.asarray(case["lengths"])[:, None], jnp.float64)
        for reach_form in REACH:
            value, gradient = jax.value_and_grad(loss)(p, x, label, weight, form, reach_form)
            worst = max(worst, abs(float(value) - case["loss"]))
            for k, want in case["gradients"].items():
                want = np.asarray(want)
                worst = max(worst, float(np.abs(np.asarray(gradient[k]) - want).max() / (np.abs(want).max() + 1e-12)))
    return worst
