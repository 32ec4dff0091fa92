#!/usr/bin/env python3
"""remede beside its peers, as ratios from one run on one machine: dense JAX, dense PyTorch, PyTorch LSTM and GRU in training;
ONNX Runtime LSTM and XGBoost on lag windows in prediction.

    bench/peers.py [--quick] [--only NAME]... [--list] [--remede build/remede] [--threads 2] [--seconds 2] [--rounds 3] [--json FILE]

Makes a Python environment of its own under build/peers-venv and installs the peers there; one that cannot be installed is
left out, and said so. Before anything is timed the dense peers are held to golden vectors. Every peer runs at its best of several
batch sizes, and so do we; contenders take turns, the best turn counts (and the ratio of the median turns stands beside it).
Exits with 1 when a ratio is short of what is needed. Close other programs first: on two cores they cost both sides, unequally.
"""
import argparse
import importlib
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import environment

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ["numpy", "jax", "torch", "onnx", "onnxruntime", "xgboost"]
GOLDEN = ["case_00.json", "case_02.json", "case_58.json", "case_66.json"]  # cross-entropy, mix = parameters; the last is the richest form


def peer(name):
    """A module of bench/peers, or None where its libraries are missing."""
    try:
        return importlib.import_module(f"peers.{name}")
    except ImportError as error:
        print(f"{name}: left out ({error})", file=sys.stderr)
        return None


class Table:
    """One line per comparison, printed as soon as it is measured."""

    def __init__(self):
        self.rows = []
        print(f"{'':<58}{'ours':>12}{'':<12}{'theirs':>12}{'':<12}{'ratio':>9}{'median':>9}   needed", flush=True)

    def add(self, name, ours, theirs, needed=None, aim=None, unit="M/s"):
        """Speeds in steps per second, both sides."""
        ratio, median = ours.best / theirs.best, ours.median / theirs.median
        verdict = "" if needed is None else f"{needed:g} {'pass' if ratio >= needed else 'SHORT'}"
        if aim is not None:
            verdict += f" (aim {aim:g}{', reached' if ratio >= aim else ''})"
        show = (lambda s: f"{1e9 / s:.1f} ns") if unit == "ns" else (lambda s: f"{s / 1e6:.4g} M/s")
        print(f"{name:<58}{show(ours.best):>12}{' ' + ours.note:<12}{show(theirs.best):>12}{' ' + theirs.note:<12}{ratio:>9.3g}{median:>9.3g}   {verdict}",
              flush=True)
        self.rows.append(dict(name=name, ours=ours.best, theirs=theirs.best, ours_note=ours.note, theirs_note=theirs.note, ratio=ratio,
                              median_ratio=median, needed=needed, aim=aim, passed=needed is None or ratio >= needed))


class Comparison:
    """Everything that is compared; a method per family of rows. `--only` names them."""

    def __init__(self, args):
        from peers import measure, tables
        self.args, self.m, self.tables, self.table = args, measure, tables, Table()
        self.quick, self.threads, self.seconds, self.rounds = args.quick, args.threads, args.seconds, args.rounds
        self.batches = [512] if args.quick else [128, 512, 2048]

    def ours(self, *flags, batches=None):
        flags = ["--threads", self.threads, *flags] if "--threads" not in flags else list(flags)
        return self.m.best_of_ours(self.args.remede, flags, batches or self.batches, self.seconds)

    def row(self, name, ours, theirs, needed=None, aim=None):
        self.m.take_turns([ours, theirs], self.rounds)
        self.table.add(name, ours, theirs, needed, aim)

    def dense_batches(self, depth):
        if depth <= 6:
            return [256] if self.quick else [64, 256, 1024]
        return [32] if self.quick else [8, 32, 128]

    def jax_row(self, what, flags, depth, n_x, form, needed=None, aim=None):
        jax = peer("dense_jax")
        if jax is None:
            return
        for reach in ("paths", "levels"):
            theirs = self.m.best_of(lambda b: jax.Training(depth, n_x, b, form, reach), self.dense_batches(depth), self.seconds)
            wanted = (needed, aim) if reach == "paths" else (None, None)
            self.row(f"train {what} / dense JAX by {reach}", self.ours("--depth", depth, *flags), theirs, *wanted)

    def jax(self):
        needed = {6: (130, 200), 10: (1000, 2000), 12: (3000, None)}
        for depth in [6] if self.quick else [6, 10, 12]:
            self.jax_row(f"depth {depth}", [], depth, 1, self.tables.DEFAULT, *needed[depth])

    def forms(self):
        t = self.tables
        self.jax_row("depth 6, sigmoid'", ["--split-gradient", "sigmoid", "--slope", 1], 6, 1, t.PAPER)
        self.jax_row("depth 6, trained tree", ["--trained", 3000], 6, 1, t.DEFAULT)  # what the dense form costs does not depend on the tree
        self.jax_row("depth 6, richest form", ["--form", "richest"], 6, 1, t.RICHEST)
        self.jax_row("depth 6, 20 inputs", ["--inputs", 20], 6, 20, t.DEFAULT)

    def torch(self):
        torch = peer("torch_peers")
        if torch is None:
            return
        torch.torch.set_num_threads(self.threads)
        for depth in [6] if self.quick else [6, 10]:
            theirs = self.m.best_of(lambda b: torch.dense(depth, 1, b, self.tables.DEFAULT), self.dense_batches(depth), self.seconds)
            self.row(f"train depth {depth} / dense PyTorch by levels", self.ours("--depth", depth), theirs)

    def recurrent(self):
        torch = peer("torch_peers")
        if torch is None:
            return
        torch.torch.set_num_threads(self.threads)
        for kind, needed in (("LSTM", 40), ("GRU", None)):
            theirs = self.m.best_of(lambda b: torch.recurrent(kind, 1, b), [512] if self.quick else [128, 512, 2048, 8192], self.seconds)
            self.row(f"train depth 6 / PyTorch {kind} (32, 16)", self.ours(), theirs, needed)

    def threads_scaling(self):
        self.row("train depth 6: 2 threads / 1 thread", self.ours("--threads", 2), self.ours("--threads", 1), 1.8)

    def small_batches(self):
        small = self.ours("--threads", 1, batches=[32])
        self.row("train depth 6, 1 thread: batch 32 / best batch", small, self.ours("--threads", 1, batches=[32, 64, 128, 512, 2048]), 0.6)

    def stream(self):
        onnx = peer("onnx_lstm")
        if onnx is None:
            return
        data, model = self.m.task_model(self.args.remede, self.folder)
        ours = self.m.Ours(self.args.remede, "stream", ["--model", model, "--data", data], self.seconds)
        lstm, identity = onnx.Step(onnx.lstm_graph()), onnx.Step(onnx.identity_graph())
        live = peer("live")
        python = live.Steps(model, data) if live else None
        ours_ns, python_ns, net, whole = [], [], [], []
        for _ in range(self.rounds):
            ours.turn()
            ours_ns.append(ours.last["latency_ns"])
            if python:
                python_ns.append(latency(python, self.seconds / 2) / python.steps)
            a, b = latency(lstm, self.seconds / 2), latency(identity, self.seconds / 2)
            net.append(a - b)
            whole.append(a)
        self.table.add("one step, task-1 model / ONNX Runtime LSTM less identity", as_turns(self.m, ours_ns), as_turns(self.m, net), 100, unit="ns")
        if python:
            self.table.add("the same, ours through Python", as_turns(self.m, python_ns), as_turns(self.m, net), 100, unit="ns")
        self.table.add("one step, task-1 model / the same, whole call", as_turns(self.m, ours_ns), as_turns(self.m, whole), unit="ns")

    def windows(self):
        xgboost = peer("windows_xgboost")
        if xgboost is None:
            return
        data, model = self.m.task_model(self.args.remede, self.folder)
        for rounds, needed in ((33, 30), (100, None)):
            work = xgboost.Prediction(data, self.threads, rounds)
            theirs = self.m.Peer(work, self.seconds)
            ours = self.m.Ours(self.args.remede, "predict", ["--model", model, "--data", data, "--threads", self.threads], self.seconds)
            self.row(f"predict task 1 / XGBoost {work.trees} trees, depth 6, 10 lags", ours, theirs, needed)
            print(f"{'':<8}its accuracy on its own training data {work.accuracy:.4f}; windows built at {work.building / 1e6:.3g} M steps/s, not counted")

    NAMES = ["jax", "recurrent", "torch", "forms", "threads_scaling", "small_batches", "stream", "windows"]
    QUICK = ["jax", "recurrent", "threads_scaling", "small_batches", "stream"]

    def run(self, names):
        with tempfile.TemporaryDirectory() as self.folder:
            for name in names:
                getattr(self, name)()


def latency(step, seconds):
    """Median nanoseconds of one run, a hundred per reading of the clock."""
    readings, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(readings) < 3:
        begin = time.perf_counter()
        for _ in range(100):
            step.run()
        readings.append((time.perf_counter() - begin) / 100 * 1e9)
    return statistics.median(readings)


def as_turns(measure, nanoseconds):
    turns = measure.Turns()
    turns.speeds, turns.note = [1e9 / ns for ns in nanoseconds], ""
    return turns


def check_dense_peers():
    """A peer that computes something else would be no peer."""
    for name in ("dense_jax", "torch_peers"):
        module = peer(name)
        for case in GOLDEN if module else []:
            error = module.check(ROOT / "tests" / "golden" / case)
            if not error < 1e-6:
                sys.exit(f"{name}: expected the gradients of {case}, got an error of {error:.2g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows, one batch size, short turns")
    parser.add_argument("--only", action="append", choices=Comparison.NAMES, help="only these rows")
    parser.add_argument("--list", action="store_true", help="what --only takes")
    parser.add_argument("--remede", default=str(ROOT / "build" / "remede"))
    parser.add_argument("--environment", default=str(ROOT / "build" / "peers-venv"), help="folder of the peers' Python environment")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, help="of a turn (default 2; quick .5)")
    parser.add_argument("--rounds", type=int, help="turns of each contender (default 3; quick 2)")
    parser.add_argument("--json", help="also write the rows to this file")
    args = parser.parse_args()
    if args.list:
        print("\n".join(Comparison.NAMES))
        return 0
    folder = pathlib.Path(args.environment).absolute()
    if pathlib.Path(sys.prefix).resolve() != folder.resolve():
        environment.enter(folder, PACKAGES, ROOT)
    args.seconds = args.seconds or (0.5 if args.quick else 2.0)
    args.rounds = args.rounds or (2 if args.quick else 3)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:args.threads])  # before any library counts cores
    sys.path.insert(0, str(ROOT / "bench"))
    check_dense_peers()
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"other programs are running (load {load:.1f}): figures will be off", file=sys.stderr)
    comparison = Comparison(args)
    comparison.run(args.only or (Comparison.QUICK if args.quick else Comparison.NAMES))
    if args.json:
        with open(args.json, "w") as file:
            json.dump(comparison.table.rows, file, indent=1)
    return 0 if all(row["passed"] for row in comparison.table.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
