#!/usr/bin/env python3
"""Trains on a CSV file larger than the memory it is given, and prints the peak of resident memory beside the size of the file.

    bench/large_file.py [--megabytes 2048] [--limit 768] [--most 1024] [--remede build/remede] [--folder FOLDER]

The file is written first (and removed in the end): sequences of 50 steps of six numbers; the class is whether the moving average of the first is
above zero. Training is short (one start a stage, 100 updates): the point is what is held in memory, not what is learned. Exits with 1 when the peak is above
--most, in megabytes (2^20 bytes).
"""
import argparse
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

STEPS, INPUTS, SEQUENCES = 50, 6, 400  # of a block, which is written again and again under new ids


def block():
    """The rows of some sequences, without their ids."""
    draw = random.Random(1)
    rows = []
    for s in range(SEQUENCES):
        average = 0.0
        for t in range(STEPS):
            x = [draw.gauss(0, 1) for _ in range(INPUTS)]
            average += 0.2 * (x[0] - average)
            rows.append((s, f",{t},{','.join(f'{v:.6f}' for v in x)},{'high' if average > 0 else 'low'}\n"))
    return rows


def write(path, size):
    rows = block()
    with open(path, "w") as file:
        file.write("id,time," + ",".join(f"x{i + 1}" for i in range(INPUTS)) + ",y\n")
        number = 0
        while file.tell() < size:
            file.write("".join(f"{number + s}{rest}" for s, rest in rows))
            number += SEQUENCES


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=2048, help="size of the file")
    parser.add_argument("--limit", type=int, default=768, help="megabytes for --memory-limit: what the data may take")
    parser.add_argument("--most", type=int, default=1024, help="megabytes of resident memory in all")
    parser.add_argument("--remede", default="build/remede")
    parser.add_argument("--folder", help="where the file and the program's temporary files go (default: the system's)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        data, model = pathlib.Path(folder, "large.csv"), pathlib.Path(folder, "model.json")
        write(data, args.megabytes << 20)
        began = time.perf_counter()
        command = [args.remede, "train", data, "--memory-limit", f"{args.limit}M", "--starts", "1", "--updates", "100", "-o", model, "--quiet"]
        subprocess.run(command, check=True, env={**os.environ, "TMPDIR": folder})
        seconds = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # kilobytes on Linux
        size = data.stat().st_size / (1 << 20)
        print(f"{size:.0f} MB of CSV, trained in {seconds:.0f} s; peak of resident memory {peak:.0f} MB, {peak / size:.2f} of the file (at most {args.most})")
    return 1 if peak > args.most else 0


if __name__ == "__main__":
    sys.exit(main())
