"""Classify sensor streams: which machine is failing? A fault is a short shock followed, much later, by heat; either alone is normal."""
import numpy as np

import remede

random = np.random.default_rng(1)


def run(fails):
    """One run of a machine: vibration and temperature over 30 to 50 steps. Runs differ in length; some values are missing."""
    steps = random.integers(30, 50)
    readings = np.column_stack([random.normal(0, 0.3, steps), random.normal(20, 1, steps)])
    shock, heat = (True, True) if fails else [(True, False), (False, True), (False, False)][random.integers(3)]
    if shock:
        readings[random.integers(2, 12), 0] = 4
    if heat:
        readings[random.integers(20, steps):, 1] += 15
    readings[random.random(readings.shape) < 0.02] = np.nan
    return readings


labels = np.array(["fine", "faulty"])[random.integers(2, size=500)]
X = [run(label == "faulty") for label in labels]

model = remede.RecurrentTreeClassifier(starts=6).fit(X[:350], labels[:350])  # one label per sequence
print(model.to_text())
print(f"accuracy on new runs: {model.score(X[350:], labels[350:]):.3f}")
print(model.trace(X[350:], int(np.argmax(labels[350:] == "faulty"))))
