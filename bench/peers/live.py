"""Live steps of our own package, from Python."""
import csv

import remede


class Steps:
    """One sequence of the file, step by step: an answer for every call."""

    def __init__(self, model, data):
        self.stream = remede.load(model).stream()
        with open(data, newline="") as file:
            rows = list(csv.DictReader(file))
        self.xs = [[float(v) for name, v in row.items() if name.startswith("x")] for row in rows if row["sequence"] == rows[0]["sequence"]]
        self.steps = len(self.xs)

    def run(self):
        self.stream.reset()
        step = self.stream.step
        for x in self.xs:
            step(x)
