"""LSTM, GRU and a state-space layer in PyTorch, one layer each. Inputs and numeric targets are standardised by the training data; the hidden size is chosen on
validation data once per data set, the number of epochs by early stopping in every fit.

Short sequences are shuffled into padded batches. A long stream is laid out as a few tracks beside each other and read in windows, the
state carried from window to window (truncated backpropagation), as one trains on text. Training takes a GPU where there is one.
"""
import copy
import time

import numpy as np
import torch

from real.measure import Fitted, cpu_seconds

HIDDEN = [16, 64]
EPOCHS = 100
RATE = .005
LONG = 600         # a sequence with more steps is a stream
WINDOW = 128       # steps of truncated backpropagation
TRACK = 2000       # about so many steps make a track
PATIENCE = 12      # epochs without a lower validation loss; the rate is halved after a third of them
LEAST_UPDATES = 8  # fewer updates in a pass over the data are made up for by more passes between validations


class StateSpace(torch.nn.Module):
    """A linear recurrence with one complex factor per cell, below 1 in size (S4D, LRU), then a nonlinear mix of the cells and a way around."""

    def __init__(self, inputs, hidden, batch_first):
        super().__init__()
        size = torch.empty(hidden).uniform_(.9, .999)
        self.decay = torch.nn.Parameter(torch.log(-torch.log(size)))
        self.angle = torch.nn.Parameter(torch.empty(hidden).uniform_(0, 3.14 / 10))
        self.read_in = torch.nn.Linear(inputs, 2 * hidden)
        self.mix = torch.nn.Linear(2 * hidden + inputs, hidden)

    def forward(self, x, state=None):
        factor = torch.exp(torch.complex(-torch.exp(self.decay), self.angle))
        into = torch.complex(*self.read_in(x).chunk(2, dim=-1)) * torch.sqrt(1 - factor.abs() ** 2)
        steps = x.shape[1]
        powers = factor[None] ** torch.arange(steps + 1, device=x.device)[:, None]  # (steps + 1, hidden)
        spectrum = torch.fft.fft(into, 2 * steps, dim=1) * torch.fft.fft(powers[:steps], 2 * steps, dim=0)
        h = torch.fft.ifft(spectrum, dim=1)[:, :steps]
        if state is not None:
            h = h + powers[1:] * state[:, None]
        return torch.nn.functional.gelu(self.mix(torch.cat([h.real, h.imag, x], dim=-1))), h[:, -1]


class Network(torch.nn.Module):
    def __init__(self, kind, inputs, hidden, outputs):
        super().__init__()
        self.cells = (StateSpace if kind == "StateSpace" else getattr(torch.nn, kind))(inputs, hidden, batch_first=True)
        self.read = torch.nn.Linear(hidden, outputs)

    def forward(self, x, state=None):
        h, state = self.cells(x, state)
        return self.read(h), state


class Scaled:
    """The units of training: mean 0 and standard deviation 1."""

    def __init__(self, data, training):
        x = np.concatenate(training.x)
        self.mean, self.scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
        y = training.answers()
        self.classes = len(data.classes)
        self.y_mean, self.y_scale = (0.0, 1.0) if self.classes else (y.mean(), y.std())
        self.nothing = -1 if self.classes else float("nan")  # target of a step that has none

    def tensors(self, part, device):
        """Inputs and targets of every sequence."""
        targets = [y.astype(np.int64) if self.classes else ((y - self.y_mean) / self.y_scale).astype(np.float32) for y in part.y]
        return ([torch.from_numpy(((x - self.mean) / self.scale).astype(np.float32)).to(device) for x in part.x],
                [torch.from_numpy(y).to(device) for y in targets])

    def pad(self, x, y):
        """(sequences, longest, features) and (sequences, longest)"""
        together = torch.nn.utils.rnn.pad_sequence
        return together(x, batch_first=True), together(y, batch_first=True, padding_value=self.nothing)

    def loss_sum(self, out, y):
        """Sum over the steps with a target, and how many these are."""
        if self.classes:
            return torch.nn.functional.cross_entropy(out.flatten(0, -2), y.flatten(), ignore_index=-1, reduction="sum"), int((y >= 0).sum())
        known = ~torch.isnan(y)
        return ((out[..., 0][known] - y[known]) ** 2).sum(), int(known.sum())


def sequence_batches(scaled, x, y, random, size):
    """One pass over the sequences; every batch starts from no state. Similar lengths stay together, so that little is padded."""
    order = random.permutation(len(x))
    lengths = np.array([len(x[i]) for i in order])
    groups = np.array_split(order[np.argsort(lengths // 8, kind="stable")], max(1, round(len(order) / size)))
    for g in random.permutation(len(groups)):
        yield (*scaled.pad([x[i] for i in groups[g]], [y[i] for i in groups[g]]), True)


def stream_batches(scaled, x, y, random):
    """One pass over long streams; the first window of a track starts from no state, the others carry it on."""
    x, y = scaled.pad(*([piece for stream in streams for piece in stream.tensor_split(max(1, round(len(stream) / TRACK)))] for streams in (x, y)))
    first = int(random.integers(WINDOW // 2, WINDOW + 1))  # windows begin elsewhere in every pass
    cuts = [0, *range(first, x.shape[1], WINDOW), x.shape[1]]
    for begin, end in zip(cuts, cuts[1:]):
        yield x[:, begin:end], y[:, begin:end], begin == 0


def outputs(net, scaled, x, y):
    """(steps of all sequences, outputs) every sequence whole, from no state."""
    net.eval()
    out = [None] * len(x)
    with torch.no_grad():
        for group in np.array_split(np.argsort([len(s) for s in x]), max(1, len(x) // 256)):
            answers, _ = net(scaled.pad([x[i] for i in group], [y[i] for i in group])[0])
            for i, rows in zip(group, answers):
                out[i] = rows[:len(x[i])]
    return torch.cat(out)


def mean_loss(net, scaled, x, y):
    total, count = scaled.loss_sum(outputs(net, scaled, x, y), torch.cat(y))
    return float(total) / count


def one_pass(net, scaled, optimiser, batches):
    net.train()
    state, updates = None, 0
    for x, y, fresh in batches:
        state = None if fresh else tuple(s.detach() for s in state) if isinstance(state, tuple) else state.detach()
        out, state = net(x, state)
        total, count = scaled.loss_sum(out, y)
        if count == 0:
            continue
        optimiser.zero_grad()
        (total / count).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        updates += 1
    return updates


def train(net, scaled, training, validation, random, epochs):
    """Leaves the network as it was when its validation loss was lowest."""
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    slower = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=.5, patience=PATIENCE // 3)
    long = max(map(len, training[0])) > LONG
    size = 64 if len(training[0]) > 1000 else 8
    best, kept, since = float("inf"), None, 0
    for _ in range(epochs):
        updates = 0
        while updates < LEAST_UPDATES:
            updates += one_pass(net, scaled, optimiser, stream_batches(scaled, *training, random) if long
                                else sequence_batches(scaled, *training, random, size))
        loss = mean_loss(net, scaled, *validation)
        slower.step(loss)
        since += 1
        if loss < best:
            best, kept, since = loss, copy.deepcopy(net.state_dict()), 0
        if since > PATIENCE:
            break
    net.load_state_dict(kept)


class Recurrent:
    def __init__(self, kind):
        self.kind = kind

    def fit(self, data, seed, setting, threads):
        torch.set_num_threads(threads)
        torch.manual_seed(seed)
        training, validation = data.parts(seed)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        began, began_cpu = time.perf_counter(), cpu_seconds()
        scaled = Scaled(data, training)
        net = Network(self.kind, len(data.columns), setting["hidden"], len(data.classes) or 1).to(device)
        train(net, scaled, scaled.tensors(training, device), scaled.tensors(validation, device), np.random.default_rng(seed), setting.get("epochs", EPOCHS))
        seconds, cpu = time.perf_counter() - began, cpu_seconds() - began_cpu
        net.to("cpu")

        def predict(part):
            out = outputs(net, scaled, *scaled.tensors(part, "cpu"))[torch.from_numpy(part.asked())]
            return out.argmax(dim=1).numpy() if data.classes else out[:, 0].numpy().astype(float) * scaled.y_scale + scaled.y_mean
        numbers = sum(p.numel() for p in net.parameters())
        return Fitted(predict, None, numbers, seconds, cpu if device == "cpu" else None, data.score(validation.answers(), predict(validation)))

    def choose(self, data, threads):
        """The hidden size with the best validation score, after a shorter training."""
        best = None
        for hidden in HIDDEN:
            score = self.fit(data, 1, {"hidden": hidden, "epochs": 30}, threads).validation
            if best is None or data.better(score, best[0]):
                best = score, hidden
        return {"hidden": best[1]}
