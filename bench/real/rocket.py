"""MiniRocket with ridge regression (Dempster, Schmidt, Webb 2021) for sequences: 84 fixed kernels of length 9 at several dilations, each followed by
the share of the last `window` steps at which its output is above a bias. Ridge regression reads these shares and the step itself. Nothing
looks ahead, so that every step can be asked. The window and the ridge are chosen on validation data.
"""
import itertools
import time

import numpy as np

from real.measure import Fitted, cpu_seconds

LENGTH = 9                   # of a kernel
DILATIONS = [1, 2, 4, 8, 16]
BIASES = 3                   # quantiles of the outputs, per kernel and dilation
MOST_CHANNELS = 9            # that one kernel adds up
MOST_ROWS = 15000            # of training, drawn at random
WINDOWS = [16, 64, 256]
RIDGES = np.logspace(-3, 3, 7)
TRIPLES = list(itertools.combinations(range(LENGTH), 3))


class Features:
    def __init__(self, training, window, random):
        x = np.concatenate(training.x)
        self.mean, self.scale, self.window = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6), window
        longest = max(map(len, training.x))
        channels = x.shape[1]
        self.parts = []
        for dilation in [d for d in DILATIONS if d == 1 or (LENGTH - 1) * d < min(window, longest)]:
            for triple in TRIPLES:
                count = int(2 ** random.uniform(0, np.log2(min(channels, MOST_CHANNELS) + 1)))
                self.parts.append([dilation, triple, random.choice(channels, count, replace=False), None])
        sample = [self.scaled(training.x[i]) for i in random.choice(len(training.x), min(20, len(training.x)), replace=False)]
        for part in self.parts:
            outputs = np.concatenate([self.convolved(s, part) for s in sample])
            part[3] = np.quantile(outputs, random.uniform(.1, .9, BIASES)).astype(np.float32)

    def scaled(self, x):
        return ((x - self.mean) / self.scale).astype(np.float32)

    def convolved(self, x, part):
        """(steps) weights -1, and 2 at three places; steps before the beginning are zero."""
        dilation, triple, channels, _ = part
        signal = np.concatenate([np.zeros((LENGTH - 1) * dilation, np.float32), x[:, channels].sum(axis=1)])
        shifted = [signal[k * dilation:k * dilation + len(x)] for k in range(LENGTH)]
        return 3 * sum(shifted[k] for k in triple) - sum(shifted)

    def rows(self, part, keep=None):
        """(asked steps, features); `keep`: only these of the asked steps."""
        asked = np.flatnonzero(part.asked()) if keep is None else np.flatnonzero(part.asked())[keep]
        table = np.empty((len(asked), len(self.parts) * BIASES + part.x[0].shape[1] + 1), np.float32)
        ends = np.cumsum([len(x) for x in part.x])
        for x, end in zip(part.x, ends):
            begin = end - len(x)
            low, high = np.searchsorted(asked, [begin, end])
            if low == high:
                continue
            steps, scaled = asked[low:high] - begin, self.scaled(x)
            reach = np.minimum(steps + 1, self.window)
            for p, kernel in enumerate(self.parts):
                above = self.convolved(scaled, kernel)[:, None] > kernel[3]
                sums = np.concatenate([np.zeros((1, BIASES)), np.cumsum(above, axis=0)])
                table[low:high, p * BIASES:(p + 1) * BIASES] = (sums[steps + 1] - sums[steps + 1 - reach]) / reach[:, None]
            table[low:high, len(self.parts) * BIASES:-1] = scaled[steps]
        table[:, -1] = 1
        return table


class MiniRocket:
    def fit(self, data, seed, setting, threads):
        training, validation = data.parts(seed)
        random = np.random.default_rng(seed)
        began, began_cpu = time.perf_counter(), cpu_seconds()
        features = Features(training, setting["window"], random)
        answers = training.answers()
        keep = np.sort(random.permutation(len(answers))[:MOST_ROWS])
        answers = answers[keep]
        targets = 2.0 * (answers[:, None] == np.arange(len(data.classes))) - 1 if data.classes else answers[:, None].astype(float)
        shift = targets.mean(axis=0)
        table = features.rows(training, keep).astype(float)
        products, sums = table.T @ table, table.T @ (targets - shift)
        held, best = features.rows(validation), None

        def said(rows, weights):
            out = rows @ weights + shift
            return out.argmax(axis=1) if data.classes else out[:, 0]
        for ridge in RIDGES:
            weights = np.linalg.solve(products + ridge * len(table) / 100 * np.eye(len(products)), sums)
            score = data.score(validation.answers(), said(held, weights))
            if best is None or data.better(score, best[0]):
                best = score, weights
        seconds, cpu = time.perf_counter() - began, cpu_seconds() - began_cpu
        return Fitted(lambda part: said(features.rows(part), best[1]), None, best[1].size + BIASES * len(features.parts), seconds, cpu, best[0])

    def choose(self, data, threads):
        scores = [(self.fit(data, 1, {"window": window}, threads).validation, window) for window in WINDOWS]
        best = scores[0]
        for candidate in scores[1:]:
            if data.better(candidate[0], best[0]):
                best = candidate
        return {"window": best[1]}
