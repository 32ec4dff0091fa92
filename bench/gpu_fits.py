#!/usr/bin/env python3
"""Default fits of the public data sets on a GPU and on the CPU of the same machine: seconds of the search and of the whole fit, and scores.

    bench/gpu_fits.py [--remede build/cuda/remede] [--sets NAME,...] [--seeds 1] [--threads 2] [--data ../shared/data] [--flags=--starts=512]
                      [--no-cpu] [--at-once N] [--jobs N] [--output cells.jsonl]

Needs a program built with CUDA (the preset cuda), a GPU and numpy. Fits on the GPU run one after the other with threads of their own; those on
the CPU run beside them, each with as many threads, on other cores. With --at-once several fits share the GPU; their times then say little.
Start NVIDIA's MPS for that (nvidia-cuda-mps-control -d): without it the processes take turns on the GPU.
Compiled kernels are kept from fit to fit, as they are for a user; the first fit of a shape compiles them.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from real_names import SETS, names_of, seeds_of  # noqa: E402

PHASE = re.compile(r"left\s+(.*?): update")


def timed_run(command, cores):
    """Seconds of the whole, and of each phase by the lines that --verbose prints; what else it said."""
    began = last = time.perf_counter()
    phases, said = {}, []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores)) as process:
        for line in process.stdout:
            now, found = time.perf_counter(), PHASE.search(line)
            if found:
                phase = "search" if found[1].startswith("stage") else found[1]
                phases[phase] = phases.get(phase, 0) + now - last
                last = now
            else:
                said.append(line.strip())
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {' '.join(said[-2:])}")
    return time.perf_counter() - began, phases, [line for line in said if "GPU" in line or "CPU" in line or line.startswith("validation:")]


def fit(args, data, files, seed, device, cores):
    from real.ours import read_predictions
    folder = args.folder / data.name
    model = folder / f"{device}-{seed}.json"
    given = [] if data.validation is None else ["--validation", files["validation"]]
    seconds, phases, notes = timed_run([args.remede, "train", files["training"], *given, "--seed", str(seed), "--threads", str(args.threads), "--verbose",
                                        "--device", device, "-o", str(model), *args.flags], cores)
    scores = {}
    for name, part in data.tests.items():
        answers = folder / f"{device}-{seed}.predictions.csv"
        subprocess.run([args.remede, "predict", str(model), files[name], "-o", str(answers), "--quiet"], check=True, capture_output=True)
        scores[name] = float(data.score(part.answers(), read_predictions(data, part, answers)))
    return {"set": data.name, "seed": seed, "device": device, "flags": args.flags, "seconds": seconds, "search": phases.get("search", 0.0), "phases": phases,
            "scores": scores, "notes": notes}


def write_files(args, data):
    from real.ours import write_csv
    folder = args.folder / data.name
    parts = {"training": data.training, "validation": data.validation, **data.tests}
    return {name: str(write_csv(data, part, folder / f"{name.replace(' ', '')}.csv")) for name, part in parts.items() if part is not None}


def print_table(cells):
    """A row for each set and seed that both devices have finished, else what there is."""
    print("\n| set, seed | search, s: CPU | GPU | ratio | whole fit, s: CPU | GPU | ratio | score: CPU | GPU |\n|---|---|---|---|---|---|---|---|---|")
    both = {}
    for cell in cells:
        both.setdefault((cell["set"], cell["seed"]), {})[cell["device"]] = cell
    for (name, seed), found in both.items():
        cpu, gpu = found.get("cpu"), found.get("gpu")
        text = lambda cell, what: f"{cell[what]:.1f}" if cell else ""
        ratio = lambda what: f"{cpu[what] / max(gpu[what], 1e-9):.1f}" if cpu and gpu else ""
        score = lambda cell: " ".join(f"{v:.4f}" for v in cell["scores"].values()) if cell else ""
        print(f"| {name}, {seed} | {text(cpu, 'search')} | {text(gpu, 'search')} | {ratio('search')} | {text(cpu, 'seconds')} | {text(gpu, 'seconds')} | "
              f"{ratio('seconds')} | {score(cpu)} | {score(gpu)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--remede", default=str(ROOT / "build/cuda/remede"))
    parser.add_argument("--sets", help="only these data sets")
    parser.add_argument("--seeds", type=seeds_of, default="1", help="how many, a range 2-4, or a list 1,3 (default 1)")
    parser.add_argument("--threads", type=int, default=2, help="of every fit")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "gpu-fits", help="where files are kept")
    parser.add_argument("--flags", type=shlex.split, default=[], help="further options of train, in quotes")
    parser.add_argument("--no-cpu", action="store_true", help="on the GPU alone")
    parser.add_argument("--at-once", type=int, default=1, help="fits on the GPU at the same time")
    parser.add_argument("--jobs", type=int, help="fits on the CPU at the same time (default: as the cores allow)")
    parser.add_argument("--output", type=pathlib.Path, help="a line of JSON for every fit")
    args = parser.parse_args()
    from real.sets import LOADERS
    cores = sorted(os.sched_getaffinity(0))
    groups = [set(cores[i:i + args.threads]) for i in range(0, len(cores) - args.threads + 1, args.threads)]
    own, pairs = groups[:args.at_once], groups[args.at_once:][:args.jobs]
    free, lock, cells = {"gpu": list(own), "cpu": list(pairs)}, threading.Lock(), []

    def run(data, files, seed, device):
        with lock:
            taken = free[device].pop()
        try:
            cell = fit(args, data, files, seed, device, taken)
        finally:
            with lock:
                free[device].append(taken)
        with lock:
            cells.append(cell)
            print(f"{cell['set']:<22}seed {seed} {device}: {cell['seconds']:.1f} s, " + ", ".join(f"{k} {v:.1f}" for k, v in cell["phases"].items()) + "; " +
                  ", ".join(f"{v:.4f}" for v in cell["scores"].values()) + "".join("; " + n for n in cell["notes"]), flush=True)
            if args.output:
                with open(args.output, "a") as file:
                    file.write(json.dumps(cell) + "\n")

    with concurrent.futures.ThreadPoolExecutor(max(1, len(own))) as on_gpu, concurrent.futures.ThreadPoolExecutor(max(1, len(pairs))) as on_cpu:
        waiting = []
        for name in names_of(args.sets, SETS, "sets"):
            data = LOADERS[name](args.data)
            files = write_files(args, data)
            for seed in args.seeds:
                waiting.append(on_gpu.submit(run, data, files, seed, "gpu"))
                if not args.no_cpu and pairs:
                    waiting.append(on_cpu.submit(run, data, files, seed, "cpu"))
        failed = [w.exception() for w in waiting if w.exception()]
    for error in failed:
        print(f"bench/gpu_fits.py: {error}", file=sys.stderr)
    print_table(cells)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
