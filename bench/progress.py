#!/usr/bin/env python3
"""How good the remaining time is that `remede train` shows: whole fits in a terminal of their own, every line that the progress
display draws, and the truth afterwards. Prints the worst factor between the two from a fifth of the run on, and whether the bar sat at its
end; with --interrupt also how long Ctrl-C takes in every phase that was seen.

    python3 bench/progress.py [--remede build/remede] [--interrupt] [TASK...]
"""
import argparse
import collections
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

TASKS = {  # name: (arguments of generate, arguments of train)
    "event": (["variable-delay-2", "--sequences", "300", "--noise-sd", "0.5"], []),
    "signal": (["runoff", "--sequences", "4"], []),
    "trees": (["fixed-delay", "--sequences", "300", "--noise-sd", "0.6"], ["--trees", "5"]),
}
FROM = 0.2  # of the run: what is shown before counts as a guess
ROUNDING = 0.5  # seconds: what is shown is whole seconds
LEAST = 3.0  # seconds left below which a factor says nothing
LINE = re.compile(rb"(\d+)%  ((?:at most |<)?\d+(?::\d\d)?:\d\d|\?:\?\?) left  ([^:\r\x1b]*)")


def seconds_of(text):
    """(seconds, whether fewer are right as well)"""
    if b"?" in text:
        return None, False
    digits = text.removeprefix(b"at most ").removeprefix(b"<")
    total = 0
    for part in digits.split(b":"):
        total = total * 60 + int(part)
    return total, digits != text


def watch(command, at=None):
    """Runs a fit in a terminal. `at`: (phase, seconds into it) at which it is interrupted. Returns the shown lines as (time, percent, left,
    whether that is a bound, phase), the length of the run, and the seconds from the interruption to the end."""
    leader, follower = pty.openpty()
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    shown, entered, interrupted, rest = [], {}, None, b""
    while True:
        ready, _, _ = select.select([leader], [], [], 0.05)
        now = time.monotonic() - began
        if ready:
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            rest = (rest + piece)[-4096:]
            for found in LINE.finditer(rest):
                phase = found[3].decode(errors="replace").split(",")[0]
                entered.setdefault(phase, now)
                shown.append((now, int(found[1]), *seconds_of(found[2]), phase))
            rest = rest[rest.rfind(b"\r"):] if b"\r" in rest else rest
            shown = list(dict.fromkeys(shown))
        if at is not None and interrupted is None and at[0] in entered and now - entered[at[0]] >= at[1]:
            process.send_signal(signal.SIGINT)
            interrupted = now
    process.wait()
    os.close(leader)
    length = time.monotonic() - began
    return shown, length, None if interrupted is None else length - interrupted


def factor(left, bound, truth):
    """Of the shown seconds and the true ones, rounding aside. A bound is wrong only where more time is left."""
    if left is None:
        return float("inf")
    low, high = 0.0 if bound else max(left - ROUNDING, 0.0), left + ROUNDING
    if low <= truth <= high:
        return 1.0
    near = low if truth < low else high
    return max(near, truth) / max(min(near, truth), 1e-9)


def judge(name, shown, length):
    worst = (1.0, None)
    by_phase = collections.defaultdict(lambda: 1.0)
    for at, percent, left, bound, phase in shown:
        truth = length - at
        if at < FROM * length or max(truth, left or 0) < LEAST:
            continue
        value = factor(left, bound, truth)
        by_phase[phase] = max(by_phase[phase], value)
        if value > worst[0]:
            worst = (value, f"{at:.1f} s of {length:.1f} s, in '{phase}': {left} s shown, {truth:.1f} s left")
    full = sum(1 for _, percent, _, _, _ in shown if percent >= 100)
    print(f"{name:8} {length:6.1f} s  worst factor {worst[0]:.2f}" + (f" ({worst[1]})" if worst[1] else "") +
          f"; {len(shown)} lines, {full} at 100%")
    print("         " + ", ".join(f"{phase} {value:.2f}" for phase, value in by_phase.items()))
    return worst[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"of {', '.join(TASKS)}; default: all")
    parser.add_argument("--remede", default=str(pathlib.Path(__file__).resolve().parent.parent / "build" / "remede"))
    parser.add_argument("--interrupt", action="store_true", help="also press Ctrl-C in every phase")
    parser.add_argument("--threads", default="0")
    parser.add_argument("--effort", default="default", help="quick for a short look")
    args = parser.parse_args()
    for name in args.tasks:
        if name not in TASKS:
            parser.error(f"expected tasks among {', '.join(TASKS)}, got {name}")
    worst, slowest = 1.0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name in args.tasks or TASKS:
            generate, train = TASKS[name]
            data, model = os.path.join(folder, "data.csv"), os.path.join(folder, "model.json")
            subprocess.run([args.remede, "generate", *generate, "--quiet", "-o", data], check=True)
            command = [args.remede, "train", data, "-o", model, "--threads", args.threads, "--effort", args.effort, *train]
            shown, length, _ = watch(command)
            worst = max(worst, judge(name, shown, length))
            if not args.interrupt:
                continue
            for phase in dict.fromkeys(phase for _, _, _, _, phase in shown):
                _, _, took = watch(command, (phase, 0.3))
                if took is not None:
                    slowest = max(slowest, took)
                    print(f"         Ctrl-C in '{phase}': {took:.1f} s")
    print(f"worst factor {worst:.2f}" + (f", slowest Ctrl-C {slowest:.1f} s" if args.interrupt else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
