"""What a data set is to the benchmark, and its scores."""
import dataclasses

import numpy as np


@dataclasses.dataclass
class Part:
    """Sequences of one part of the data, whole and in order."""
    x: list  # of (steps, features) float32 arrays; finite
    y: list  # of (steps) arrays: class number with -1 for no target, or float64 with NaN for no target

    def steps(self):
        return sum(len(x) for x in self.x)

    def asked(self):
        """(steps of all sequences) whether a step has a target."""
        y = np.concatenate(self.y)
        return ~np.isnan(y) if y.dtype.kind == "f" else y >= 0

    def answers(self):
        """The targets of the steps that have one."""
        return np.concatenate(self.y)[self.asked()]

    def select(self, numbers):
        return Part([self.x[i] for i in numbers], [self.y[i] for i in numbers])


@dataclasses.dataclass
class DataSet:
    name: str
    columns: list      # names of the features
    classes: list      # names of the classes, in the order of their numbers; empty in regression
    training: Part
    validation: Part   # None: a fifth of the training sequences, drawn by the seed; remede draws its own
    tests: dict        # name of the score -> Part
    about: str         # the protocol in a few words, for the page

    def metric(self):
        return "accuracy" if self.classes else "RMSE"

    def score(self, answers, predictions):
        """Both of the same steps; predictions are class numbers or values. Accuracy or root mean square error."""
        if self.classes:
            return float(np.mean(answers == predictions))
        return float(np.sqrt(np.mean((answers - predictions) ** 2)))

    def better(self, a, b):
        return a > b if self.classes else a < b

    def parts(self, seed):
        """Training and validation of a seed."""
        if self.validation is not None:
            return self.training, self.validation
        held = held_out(self.training, seed)
        return self.training.select(np.flatnonzero(~held)), self.training.select(np.flatnonzero(held))


def held_out(part, seed):
    """(sequences) whether a sequence is in the validation fifth: the same share of every class."""
    label = np.array([y[-1] for y in part.y])
    random = np.random.default_rng(seed)
    held = np.zeros(len(label), bool)
    for value in np.unique(label):
        members = random.permutation(np.flatnonzero(label == value))
        held[members[:round(len(members) / 5)]] = True
    return held


def cut_by_time(x, y, shares):
    """One stream as consecutive parts of these shares, each a sequence that starts from empty memory."""
    ends = [round(len(x) * sum(shares[:i + 1])) for i in range(len(shares))]
    return [Part([x[a:b]], [y[a:b]]) for a, b in zip([0, *ends], ends)]


def at_last_step(labels, lengths):
    """A label per sequence as targets: only the last step is asked."""
    targets = [np.full(n, -1) for n in lengths]
    for target, label in zip(targets, labels):
        target[-1] = label
    return targets
