#!/usr/bin/env python3
"""Peak memory of every reader beside the size of its input, on inputs made to be bad for it. Exits with 1 above the bounds of docs/data.md.

    bench/reader_memory.py [--megabytes 32] [--remede build/remede]

A peak is that of a process of its own, less that of `remede --version`.
"""
import argparse
import gzip
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

MODEL = ('{"format": "remede model", "version": 1, "task": "regression", "inputs": ["x"], "targets": ["y"], "classes": [], "id": "", "time": "", '
         '"fill": [0], "trees": [], "training": {"settings": {}, "training_loss": [%s], "validation_loss": []}}')

CHECKPOINT_VERSION = 4


# A process begins with the peak of the one it was forked from: a small one in between.
WATCH = """
import os, sys
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print(usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""


def peak(command):
    """Megabytes that a run takes, its exit code and the first line it says."""
    done = subprocess.run([sys.executable, "-S", "-E", "-c", WATCH, *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    kilobytes, code = done.stdout.split()[-2:]
    lines = done.stderr.splitlines()
    return int(kilobytes) / 1024, int(code), lines[0] if lines else ""


def fill(line, size, number=False):
    """The line again and again, up to a size; `number` puts the number of the line in."""
    if not number:
        return line * (size // len(line))
    parts, length, i = [], 0, 0
    while length < size:
        parts.append(line % i)
        length += len(parts[-1])
        i += 1
    return "".join(parts)


def inputs(size):
    """(name, file name, bytes, verb and flags, most megabytes per megabyte of the input, constant megabytes)"""
    yield "CSV, one short column", "a.csv", "x\n" + fill("1\n0\n", size), ["describe"], 20, 40
    yield "CSV, two columns", "b.csv", "x,y\n" + fill("1,0\n2,1\n", size), ["describe"], 12, 40
    yield "CSV, every row an id", "c.csv", "id,x,y\n" + fill("%d,1,0\n", size, True), ["describe", "--task", "regression"], 16, 40
    yield "CSV, times", "d.csv", "time,x,y\n" + fill("%d,1,0\n", size, True), ["describe", "--task", "regression"], 12, 40
    yield "CSV, one long field", "e.csv", 'x,y\n1,"' + "a" * min(size, 60 << 20) + '"\n2,b\n', ["describe"], 8, 40
    yield "CSV, quoted fields", "f.csv", "x,y\n" + fill('"1","0"\n"2","1"\n', size), ["describe"], 8, 40
    yield "CSV, many columns", "g.csv", "y" + "".join(f",c{i}" for i in range(60000)) + "\n" + ("1" + ",0" * 60000 + "\n0" + ",1" * 60000 + "\n") * (size >> 18), ["describe"], 12, 150
    yield "CSV, columns without a name", "h.csv", "x,y" + "," * 130000 + "\n" + ("1,0" + "," * 130000 + "\n2,1" + "," * 130000 + "\n") * (size >> 18), ["describe"], 8, 60
    yield "CSV, blanks", "i.csv", "x y\n" + fill("1     0     \n2     1   \n", size), ["describe", "--separator", "space"], 6, 40
    yield ".ts, short lines", "j.ts", "@classLabel true a b\n@data\n" + fill("1:a\n2:b\n", size), ["describe"], 24, 40
    yield ".ts, one long line", "k.ts", "@data\n" + "1," * (size // 2) + "1\n", ["describe", "--id", "id"], 20, 40
    yield ".ts, many channels", "l.ts", "@classLabel true a b\n@data\n" + fill("1:" * 1000 + "a\n" + "2:" * 1000 + "b\n", size), ["describe"], 12, 40
    yield "model, numbers", "m.json", MODEL % fill("0,", size)[:-1], ["show"], 34, 40
    yield "model, texts", "n.json", '{"a": [' + fill('"",', size)[:-1] + "]}", ["show"], 34, 40
    yield "model, lists", "o.json", '{"a": [' + fill("[],", size)[:-1] + "]}", ["show"], 34, 40
    yield "model, one text", "p.json", '{"a": "' + "a" * size + '"}', ["show"], 8, 40
    yield "roles", "q.json", '{"ignore": [' + fill('"",', 1 << 19)[:-1] + "]}", ["roles"], 64, 10
    yield "recipe", "u.json", '{"base": [' + fill('"",', 1 << 19)[:-1] + "]}", ["recipe"], 64, 10
    yield "checkpoint, damaged", "r.checkpoint", checkpoint(b"\0" * size, right=False), ["resume"], 4, 10
    yield "checkpoint, one long state", "v.checkpoint", checkpoint(b"\0" * 24 + struct.pack("<Q", size) + b"\0" * size), ["resume"], 4, 10
    yield "checkpoint, many settings", "w.checkpoint", checkpoint(struct.pack("<Q", size // 16) + b"\0" * (size // 16 * 16 + 24)), ["resume"], 12, 10


def checkpoint(body, right=True):
    """A checkpoint file with this body; `right`: with its checksum (hash_text of remede/train/checkpoint.cpp)."""
    words = [len(body), *struct.unpack(f"<{len(body) // 8}Q", body[:len(body) // 8 * 8]), int.from_bytes(body[len(body) // 8 * 8:], "little")]
    state = 0
    for word in words if right else ():
        state = ((state ^ word) * 0x9e3779b97f4a7c15) & (2**64 - 1)
        state ^= state >> 29
    return b"remede checkpoint\n" + struct.pack("<IQ", CHECKPOINT_VERSION, state if right else 1) + body


def packed(size):
    """Packed files that swell. The bound is that of what they may unpack to: 16 MB, or 200 times the file."""
    for name, text in (("CSV", b"x\n" + b"1\n0\n" * (size // 2)), (".ts", b"@data\n" + b"1," * size + b"1\n")):
        yield f"gzip, {name} that swells", "s.gz", gzip.compress(text, 9, mtime=0)
        if shutil.which("zstd"):
            yield f"zstd, {name} that swells", "t.zst", subprocess.run(["zstd", "-q", "-19", "-c"], input=text, stdout=subprocess.PIPE, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=32, help="size of an input")
    parser.add_argument("--remede", default="build/remede")
    args = parser.parse_args()
    size = args.megabytes << 20
    base = peak([args.remede, "--version"])[0]
    bad = 0
    print(f"{'input':32} {'MB':>8} {'peak MB':>8} {'per MB':>8}   answer")

    def row(name, path, command, per_input, constant):
        nonlocal bad
        length = path.stat().st_size / (1 << 20) if path.is_file() else 0
        megabytes, code, line = peak(command)
        megabytes -= base
        most = per_input * length + constant
        bad += megabytes > most or code not in (0, 1, 2)
        mark = f"  ABOVE {most:.0f}" if megabytes > most else ""
        print(f"{name:32} {length:8.2f} {megabytes:8.1f} {megabytes / length if length else 0:8.1f}   {code} {line[:60]}{mark}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        small = pathlib.Path(folder, "small.csv")
        small.write_text("x,y\n1,0\n2,1\n")
        for name, file, data, verb, per_input, constant in inputs(size):
            path = pathlib.Path(folder, file)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
            if verb == ["roles"]:
                command = [args.remede, "describe", small, "--roles", path]
            elif verb == ["recipe"]:
                command = [args.remede, "train", small, "--recipe", path, "-o", pathlib.Path(folder, "out.json")]
            elif verb == ["resume"]:
                command = [args.remede, "train", "--resume", path, "-o", pathlib.Path(folder, "out.json")]
            else:
                command = [args.remede, verb[0], path, *verb[1:]]
            row(name, path, command, per_input, constant)
            path.unlink()
        for name, file, data in packed(4 * size):
            path = pathlib.Path(folder, file)
            path.write_bytes(data)
            row(name, path, [args.remede, "describe", path, "--id", "none" if "CSV" in name else "id"], 200 * 20, 16 * 20 + 40)
            path.unlink()
        row("/dev/zero as a model", pathlib.Path("/dev/zero"), [args.remede, "show", "/dev/zero"], 0, 20)
        row("/dev/zero as data", pathlib.Path("/dev/zero"), [args.remede, "describe", "/dev/zero"], 0, 20)
        row("/dev/zero as roles", pathlib.Path("/dev/zero"), [args.remede, "describe", small, "--roles", "/dev/zero"], 0, 20)
        row("/dev/zero as a recipe", pathlib.Path("/dev/zero"), [args.remede, "train", small, "--recipe", "/dev/zero"], 0, 20)
        row("/dev/zero as a checkpoint", pathlib.Path("/dev/zero"), [args.remede, "train", "--resume", "/dev/zero"], 0, 20)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
