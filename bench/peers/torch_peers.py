"""The peers in PyTorch, in training: the dense form, and recurrent networks of 32 and 16 units with a linear head. Adam after
every gradient, as everywhere here."""
import json

import numpy as np
import torch

from peers import tables

RATE = 1e-6  # as `remede benchmark`


def hard(soft, value):
    """`value` forward, the derivative of `soft` backward."""
    return soft + (value.to(soft.dtype) - soft).detach()


class Dense(torch.nn.Module):
    """Every node and every leaf at every step; the paper's form, or any other with mix = parameters."""

    def __init__(self, parameters, form):
        super().__init__()
        self.form = form
        self.p = torch.nn.ParameterDict({k: torch.nn.Parameter(v) for k, v in parameters.items()})
        self.leaves, self.n_m = parameters["gate"].shape
        self.depth = self.leaves.bit_length() - 1

    def reach(self, z):
        a = self.form["slope"] * z
        soft = torch.sigmoid(a) if self.form["split_gradient"] == "sigmoid" else 0.5 * (1 + a / (1 + a.abs()))
        s = hard(soft, z >= 0)
        reach = torch.ones_like(s[:, :1])
        for level in range(self.depth):
            at = s[:, 2 ** level - 1:2 ** (level + 1) - 1]
            reach = torch.stack([reach * (1 - at), reach * at], -1).flatten(1)
        return reach

    def step(self, x, m, one_hot, limit):
        v = torch.cat([x, m], -1)
        reach = self.reach(v @ one_hot.T - limit)
        leaf = {k: (reach @ w.flatten(1)).unflatten(1, w.shape[1:]) for k, w in self.p.items() if k not in ("index", "threshold")}
        y = leaf["output"]
        if "linear" in leaf:
            y = y + (leaf["linear"] * v[:, None]).sum(-1)
        a = (leaf["write"] * v[:, None, :leaf["write"].shape[-1]]).sum(-1)
        u = torch.tanh(a + leaf["bias"] if "bias" in leaf else a)
        gate = hard(torch.sigmoid(leaf["gate"]), leaf["gate"] >= 0)
        return y, m + gate * (torch.sigmoid(leaf["rate"]) * (u - m) if "rate" in leaf else u)

    def forward(self, x):
        index = self.p["index"]
        soft = torch.softmax(index, -1) if self.form["index_gradient"] == "softmax" else index
        one_hot = hard(soft, torch.nn.functional.one_hot(index.argmax(-1), index.shape[-1]))
        limit = (one_hot * self.p["threshold"]).sum(-1)
        m, answers = x.new_zeros(x.shape[0], self.n_m), []
        for t in range(x.shape[1]):
            y, m = self.step(x[:, t], m, one_hot, limit)
            answers.append(y)
        return torch.stack(answers, 1)


class Recurrent(torch.nn.Module):
    def __init__(self, kind, n_x, n_y):
        super().__init__()
        layer = dict(LSTM=torch.nn.LSTM, GRU=torch.nn.GRU)[kind]
        self.first, self.second, self.head = layer(n_x, 32, batch_first=True), layer(32, 16, batch_first=True), torch.nn.Linear(16, n_y)

    def forward(self, x):
        return self.head(self.second(self.first(x)[0])[0])


class Training:
    """One update over and over on one batch. run() does `steps` steps."""

    def __init__(self, model, batch, n_x=1, n_y=3, length=16):
        rng = np.random.default_rng(1)
        self.steps, self.model = batch * length, model
        self.x = torch.from_numpy(rng.standard_normal((batch, length, n_x)).astype(np.float32))
        self.label = torch.from_numpy(rng.integers(0, n_y, batch * length))
        self.adam = torch.optim.Adam(model.parameters(), lr=RATE, foreach=True)

    def run(self):
        self.adam.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(self.model(self.x).flatten(0, 1), self.label).backward()
        self.adam.step()


def dense(depth, n_x, batch, form, n_m=5, n_y=3):
    p = tables.random_parameters(np.random.default_rng(1), depth, n_x, n_m, n_y, form)
    return Training(Dense({k: torch.from_numpy(v) for k, v in p.items()}, form), batch, n_x, n_y)


def recurrent(kind, n_x, batch, n_y=3):
    return Training(Recurrent(kind, n_x, n_y), batch, n_x, n_y)


def check(path):
    """Largest relative error of loss and gradients against a golden case, in float64."""
    case = json.load(open(path))
    model = Dense({k: torch.tensor(v, dtype=torch.float64) for k, v in case["parameters"].items()}, {k: case[k] for k in tables.PAPER})
    x, label = torch.tensor(case["x"], dtype=torch.float64), torch.tensor(case["target"])
    counts = torch.arange(x.shape[1])[None] < torch.tensor(case["lengths"])[:, None]
    value = torch.nn.functional.cross_entropy(model(x)[counts], label[counts])
    value.backward()
    worst = abs(value.item() - case["loss"])
    for k, want in case["gradients"].items():
        want = torch.tensor(want, dtype=torch.float64)
        worst = max(worst, ((model.p[k].grad - want).abs().max() / (want.abs().max() + 1e-12)).item())
    return worst
