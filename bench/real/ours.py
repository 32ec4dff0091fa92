"""remede, as a user runs it: a CSV file with one row per step, `remede train`, `remede predict`."""
import csv
import json
import os
import pathlib
import subprocess
import time

import numpy as np

from real.data import Part
from real.measure import Fitted, cpu_seconds


def write_csv(data, part, path):
    """id,time,features,y; a step without a target has an empty y."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    with open(unfinished, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["id", "time", *data.columns, "y"])
        for i, (x, y) in enumerate(zip(part.x, part.y)):
            for t, (values, target) in enumerate(zip(x, y)):
                out.writerow([i, t, *(f"{v:.9g}" for v in values), target_text(data, target)])
    unfinished.rename(path)
    return path


def target_text(data, target):
    if data.classes:
        return data.classes[target] if target >= 0 else ""
    return "" if np.isnan(target) else f"{target:.9g}"


def read_predictions(data, part, path):
    """At the steps with a target."""
    with open(path, newline="") as file:
        texts = [row["prediction"] for row in csv.DictReader(file)]
    values = [data.classes.index(t) for t in texts] if data.classes else [float(t) for t in texts]
    return np.array(values)[part.asked()]


trained = {}  # (set, seed, flags) -> (seconds, CPU seconds) of the fits of this run


class Remede:
    def __init__(self, flags):
        self.flags = flags

    def run(self, *arguments):
        got = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True)
        if got.returncode != 0:
            raise RuntimeError(f"remede {' '.join(map(str, arguments))}: {got.stderr.strip() or got.returncode}")
        return got.stdout

    def fit(self, data, seed, setting, threads):
        self.program, folder = setting["program"], pathlib.Path(setting["folder"]) / data.name
        model = folder / f"remede{''.join(self.flags)}-{seed}.json"
        training = write_csv(data, data.training, folder / "training.csv")
        given = [] if data.validation is None else ["--validation", write_csv(data, data.validation, folder / "validation.csv")]
        key = (data.name, seed, *self.flags)
        if key not in trained:
            began, began_cpu = time.perf_counter(), cpu_seconds()
            self.run("train", training, *given, "--seed", seed, "--threads", threads, "--quiet", "-o", model, *self.flags)
            trained[key] = time.perf_counter() - began, cpu_seconds() - began_cpu
        known = json.loads(model.read_text())
        if (known["task"] == "classification") != bool(data.classes):
            raise RuntimeError(f"{data.name}: expected the other task, got {known['task']}")

        def predict(part: Part, name="validation"):
            file = write_csv(data, part, folder / f"{name.replace(' ', '')}.csv")
            answers = folder / f"{model.stem}.predictions.csv"
            self.run("predict", model, file, "-o", answers, "--quiet")
            return read_predictions(data, part, answers)
        names = {id(part): name for name, part in data.tests.items()}
        predict_test = lambda part: predict(part, "test " + names[id(part)])
        score = None if data.validation is None else data.score(data.validation.answers(), predict(data.validation))
        first = next(iter(data.tests))
        predict_test(data.tests[first])  # the file the benchmark reads
        timed = json.loads(self.run("benchmark", "predict", "--model", model, "--data", folder / f"test{first.replace(' ', '')}.csv",
                                    "--threads", 1, "--seconds", .5, "--json"))
        shown = json.loads(self.run("show", model, "--json"))  # one definition of size, that of remede/model/size.h
        nodes = shown["nodes"]
        return Fitted(predict_test, nodes, shown["numbers"], *trained[key], score, 1e9 / timed["best_steps_per_second"])
