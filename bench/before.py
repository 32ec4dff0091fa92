#!/usr/bin/env python3
"""remede beside an older build of itself: the rows of bench/peers.py that are ours, as ratios new / old from one run on one machine.

    bench/before.py OLD [--remede build/remede] [--threads 2] [--seconds 2] [--rounds 5] [--least 0.97] [--only NAME]...

The two programs take turns; the best turn of each counts, and the ratio of the median turns stands beside it. Exits with 1 when a ratio is
below --least. Close other programs first.
"""
import argparse
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from peers import measure  # noqa: E402

SIGNAL = ["--form", "richest", "--inputs", 15, "--memory", 16, "--length", 200, "--threads", 1]  # what the second stage trains
TRAINING = {
    "train depth 6": [],
    "train depth 10": ["--depth", 10],
    "train depth 12": ["--depth", 12],
    "train depth 6, sigmoid'": ["--split-gradient", "sigmoid", "--slope", 1],
    "train depth 6, trained tree": ["--trained", 3000],
    "train depth 6, richest form": ["--form", "richest"],
    "train depth 6, 20 inputs": ["--inputs", 20],
    "train depth 6, batch 32": ["--batch", 32],
    "signal, depth 0": [*SIGNAL, "--depth", 0, "--batch", 16],
    "signal, depth 2": [*SIGNAL, "--depth", 2, "--batch", 16],
    "signal, depth 2, one recording": [*SIGNAL, "--depth", 2, "--batch", 1],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="the older program")
    parser.add_argument("--remede", default=str(ROOT / "build" / "remede"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a turn")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each program")
    parser.add_argument("--least", type=float, default=0.97, help="smallest ratio that passes")
    parser.add_argument("--only", action="append", metavar="NAME", help="only the rows whose names contain this")
    args = parser.parse_args()
    if os.getloadavg()[0] > 0.5:
        print(f"other programs are running (load {os.getloadavg()[0]:.1f}): figures will be off", file=sys.stderr)
    short = 0
    with tempfile.TemporaryDirectory() as folder:
        data, model = measure.task_model(args.old, folder)  # both programs read the file of the old one
        known = ["--model", model, "--data", data]
        rows = {name: ("train", [*([] if "--threads" in flags else ["--threads", args.threads]), *flags, *([] if "--batch" in flags else ["--batch", 512])]) for name, flags in TRAINING.items()}
        rows["predict task 1"] = ("predict", [*known, "--threads", args.threads])
        rows["one step of task 1"] = ("stream", known)
        rows = {name: row for name, row in rows.items() if not args.only or any(part in name for part in args.only)}
        print(f"{'':<32}{'new, M/s':>12}{'old, M/s':>12}{'ratio':>9}{'median':>9}", flush=True)
        for name, (what, flags) in rows.items():
            new, old = (measure.Ours(program, what, flags, args.seconds) for program in (args.remede, args.old))
            measure.take_turns([new, old], args.rounds)
            ratio = new.best / old.best
            short += ratio < args.least
            print(f"{name:<32}{new.best / 1e6:>12.4g}{old.best / 1e6:>12.4g}{ratio:>9.3f}{new.median / old.median:>9.3f}{'  SHORT' if ratio < args.least else ''}", flush=True)
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
