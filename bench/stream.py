"""remede stream: rows per second through a pipe, and predictions after being killed.

    python3 bench/stream.py [--rows 2000000] [--kills 100] [--remede build/remede]

Rows of 1,000 interleaved sequences go through a pipe. Then the program is killed (SIGKILL) at random moments and started again from its
state file, until it has been killed often enough and has read everything: what the runs wrote, each from the row on at which its state
began, must be what one run writes.
"""
import argparse
import json
import pathlib
import random
import signal
import subprocess
import tempfile
import time

SEQUENCES = 1000


def write_rows(path, rows, seed):
    draw = random.Random(seed)
    with open(path, "w") as out:
        out.write("sequence,step,x1\n")
        for step in range(rows // SEQUENCES):
            out.write("".join(f"{s},{step},{draw.uniform(-1, 1):.6f}\n" for s in range(SEQUENCES)))


def throughput(remede, model, data, rows):
    best = 0.0
    for _ in range(3):
        began = time.monotonic()
        with subprocess.Popen(["cat", data], stdout=subprocess.PIPE) as source:
            subprocess.run([remede, "stream", model, "-q"], stdin=source.stdout, stdout=subprocess.DEVNULL, check=True)
        best = max(best, rows / (time.monotonic() - began))
    return best


def run_until(remede, model, data, state, out, seconds):
    """One run from the state on; killed after so many seconds. Whether it came to the end."""
    with open(data) as rows, open(out, "w") as written:
        process = subprocess.Popen([remede, "stream", model, "-q", "--state", state, "--save-every", "0.01", "--rewind"], stdin=rows, stdout=written)
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return False


def kills(remede, model, data, folder, wanted):
    whole = subprocess.run([remede, "stream", model, "-q"], stdin=open(data), capture_output=True, check=True).stdout
    lines = whole.splitlines(keepends=True)
    state, out = str(folder / "state"), str(folder / "out")
    draw = random.Random(2)
    killed = differences = 0
    while killed < wanted:
        pathlib.Path(state).unlink(missing_ok=True)
        joined = []
        done = False
        while not done:
            status = json.loads(subprocess.run([remede, "stream", model, "--state", state, "--status"], capture_output=True, check=True).stdout)
            vouched = status["rows"] + 1 if status["bytes"] else 0
            assert vouched <= len(joined), "the state claims rows that were not written"
            del joined[vouched:]
            done = run_until(remede, model, data, state, out, draw.uniform(0.002, 0.25))
            killed += not done
            joined += [line for line in open(out, "rb").read().splitlines(keepends=True) if line.endswith(b"\n")]
        differences += joined != lines
    return killed, differences, len(lines) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--remede", default="build/remede")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model, data = str(folder / "model.json"), str(folder / "rows.csv")
        subprocess.run([arguments.remede, "generate", "fixed-delay", "--sequences", "2000", "-o", str(folder / "train.csv"), "-q"], check=True)
        subprocess.run([arguments.remede, "train", str(folder / "train.csv"), "-o", model, "-q"], check=True, stdout=subprocess.DEVNULL)
        write_rows(data, arguments.rows, 1)
        speed = throughput(arguments.remede, model, data, arguments.rows)
        print(f"{arguments.rows:,} rows of {SEQUENCES:,} interleaved sequences through a pipe: {speed:,.0f} rows/s")
        killed, differences, rows = kills(arguments.remede, model, data, folder, arguments.kills)
        print(f"killed {killed} times over runs of {rows:,} rows: {differences} runs with predictions that differ")
        return 1 if differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
