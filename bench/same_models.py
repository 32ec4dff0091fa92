#!/usr/bin/env python3
"""Do two builds of the program train the same models? For changes that must not change results.

    bench/same_models.py OLD NEW [--tasks NAME,...] [--seeds 3] [--first-seed 1] [--sequences 4000]
                         [--data ../shared/data] [--sets NAME,...] [--rows N] [--flags '--starts 8'] [--threads 2]

OLD and NEW are two programs (build/remede of two worktrees). Both train the five tasks, with each seed, and the real data sets that
lie under --data, with one seed. The models must be the same apart from what they record of their settings and from the version of
the file: every node, every number, both loss curves. Prints one line per model and ends with 1 where one differs. Data sets that
are not there are skipped, and said so. `--flags` are passed to both programs.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

TASKS = ["fixed-delay", "fixed-delay-2", "variable-delay", "variable-delay-2", "sign-memory"]
SETS = {  # file, rows that are used (whole files take minutes), flags
    "vowels": ("uea_JapaneseVowels/JapaneseVowels_TRAIN.ts", 120, ["--starts", "2"]),
    "tanks": ("cascaded_tanks/dataBenchmark.csv", 500, ["--starts", "2", "--target", "yEst", "--ignore", "uVal,yVal,Ts"]),
    "room": ("occupancy_detection/datatest.txt", 1200, ["--starts", "1", "--names", "row,date,Temperature,Humidity,Light,CO2,HumidityRatio,Occupancy",
                                                        "--skip", "1", "--target", "Occupancy", "--ignore", "row,date"]),
}
NOT_COMPARED = ("version", "settings", "notes", "test", "recipe")  # what is recorded about a fit, not learned by it


def learned(path):
    """What the model file holds beyond its record of settings."""
    model = json.loads(path.read_text())
    training = {key: value for key, value in model.pop("training").items() if key not in NOT_COMPARED}
    return {**{key: value for key, value in model.items() if key not in NOT_COMPARED}, "training": training}


def train(program, data, flags, seed, threads, output):
    """The model, the seconds it took, and what was said where it failed."""
    began = time.perf_counter()
    done = subprocess.run([program, "train", data, "-o", output, "--quiet", "--seed", str(seed), "--threads", str(threads), *flags],
                          capture_output=True, text=True)
    said = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
    return (learned(output) if done.returncode == 0 else None), time.perf_counter() - began, said


def cut(source, rows, target):
    """The first rows of a CSV or .ts file (every so many of a .ts file, whose classes stand one after the other), with its header."""
    lines = source.read_text().splitlines(keepends=True)
    header = next((i + 1 for i, line in enumerate(lines) if line.strip().lower() == "@data"), 1)
    body = lines[header:]
    body = body[::max(1, len(body) // rows)] if source.suffix == ".ts" else body
    target.write_text("".join(lines[:header] + body[:rows]))
    return target


def first_difference(a, b, path=""):
    """Where two values differ: trees.0.nodes.3.threshold."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            if key not in a or key not in b:
                return f"{path}{key} is in one only"
            if a[key] != b[key]:
                return first_difference(a[key], b[key], f"{path}{key}.")
    if isinstance(a, list) and isinstance(b, list):
        for i, (one, other) in enumerate(zip(a, b)):
            if one != other:
                return first_difference(one, other, f"{path}{i}.")
        if len(a) != len(b):
            return f"{path.rstrip('.')}: {len(a)} and {len(b)} values"
    return f"{path.rstrip('.')}: {str(a)[:60]} and {str(b)[:60]}"


def compare(name, data, flags, seed, args, folder):
    """True where both programs learn the same."""
    found = []
    for which, program in (("old", args.old), ("new", args.new)):
        model, seconds, said = train(program, data, flags, seed, args.threads, folder / f"{which}.json")
        if model is None:
            print(f"{name:<28} FAILED in the {which} program: {said}", flush=True)
            return False
        found.append((model, seconds))
    (old, old_seconds), (new, new_seconds) = found
    same = old == new
    print(f"{name:<28} {'same' if same else 'DIFFERENT: ' + first_difference(old, new)}   ({old_seconds:.1f} s, {new_seconds:.1f} s)", flush=True)
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--sequences", type=int, default=4000)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "shared/data")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--rows", type=int, help="rows of each real data set that are used")
    parser.add_argument("--flags", default="")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    flags, different, compared = shlex.split(args.flags), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for task in filter(None, args.tasks.split(",")):
            for seed in range(args.first_seed, args.first_seed + args.seeds):
                data = folder / "data.csv"
                subprocess.run([args.old, "generate", task, "--seed", str(seed), "--sequences", str(args.sequences), "--quiet", "-o", data], check=True)
                compared += 1
                different += not compare(f"{task} seed {seed}", data, flags, seed, args, folder)
        for name in filter(None, args.sets.split(",")):
            file, rows, own = SETS[name]
            if not (args.data / file).exists():
                print(f"{name:<28} skipped: {args.data / file} is not there")
                continue
            compared += 1
            different += not compare(f"{name} seed {args.first_seed}", cut(args.data / file, args.rows or rows, folder / pathlib.Path(file).name), own + flags, args.first_seed, args, folder)
    print(f"{compared - different} of {compared} models are the same")
    sys.exit(1 if different or not compared else 0)


if __name__ == "__main__":
    main()
