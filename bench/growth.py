#!/usr/bin/env python3
"""How the cost of a training step grows with depth, memory, inputs, length and threads: `remede benchmark train` over one
number after the other, as curves in docs/images/growth-NAME.svg and as a table. No package needed.

    bench/growth.py [--remede build/remede] [--seconds 1] [--only NAME]... [--folder docs/images]
"""
import argparse
import json
import math
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Name: flag, its values, the axis, and the curves by name: flags of each.
FORMS = {"paper's leaf": [], "richest leaf": ["--form", "richest"]}
GRIDS = {
    "depth": ("--depth", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], "depth of the tree", FORMS),
    "memory": ("--memory", [0, 1, 2, 4, 8, 16, 32], "memory cells", FORMS),
    "inputs": ("--inputs", [1, 2, 4, 8, 16, 32, 64], "inputs", FORMS),
    "length": ("--length", [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024], "steps of a sequence", FORMS),
    "batch": ("--batch", [8, 16, 32, 64, 128, 256, 512, 1024, 2048], "sequences of a batch", {"1 thread": ["--threads", 1], "2 threads": ["--threads", 2]}),
    "threads": ("--threads", [n for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1)], "threads", {"depth 6": [], "depth 10": ["--depth", 10]}),
}
COLOURS = ["#1f6f8b", "#c8553d"]
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 320, 64, 48, 36, 130


def nanoseconds(program, seconds, flags):
    command = [program, "benchmark", "train", "--json", "--seconds", str(seconds)] + [str(f) for f in flags]
    return 1e9 / json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["best_steps_per_second"]


def ticks(low, high):
    """1, 2, 5, 10, ... between them, one beyond on each side."""
    steps = [m * 10.0 ** e for e in range(-2, 7) for m in (1, 2, 5)]
    first = max(s for s in steps if s <= low)
    last = min(s for s in steps if s >= high)
    return [s for s in steps if first <= s <= last]


def svg(title, axis, xs, curves):
    """Nanoseconds of one step over xs, both axes logarithmic (xs evenly spaced in their order)."""
    marks = ticks(min(min(c) for c in curves.values()), max(max(c) for c in curves.values()))
    low, high = math.log(marks[0]), math.log(marks[-1])
    x_of = lambda i: LEFT + (WIDTH - LEFT - RIGHT) * (i / max(1, len(xs) - 1))
    y_of = lambda v: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * ((math.log(v) - low) / max(1e-9, high - low))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="#333">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', f'<text x="{LEFT}" y="20" font-size="14">{title}</text>']
    for mark in marks:
        y = y_of(mark)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:g} ns</text>')
    for i, x in enumerate(xs):
        out.append(f'<text x="{x_of(i):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{axis}</text>')
    for (name, values), colour in zip(curves.items(), COLOURS):
        points = " ".join(f"{x_of(i):.1f},{y_of(v):.1f}" for i, v in enumerate(values))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x_of(i):.1f}" cy="{y_of(v):.1f}" r="3" fill="{colour}"/>' for i, v in enumerate(values)]
        out.append(f'<text x="{WIDTH - RIGHT + 8}" y="{y_of(values[-1]) + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join(out + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--remede", default=str(ROOT / "build" / "remede"))
    parser.add_argument("--seconds", type=float, default=1.0, help="of one point")
    parser.add_argument("--only", action="append", choices=list(GRIDS))
    parser.add_argument("--folder", default=str(ROOT / "docs" / "images"))
    args = parser.parse_args()
    folder = pathlib.Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in args.only or GRIDS:
        flag, xs, axis, kinds = GRIDS[name]
        curves = {kind: [nanoseconds(args.remede, args.seconds, [*flags, flag, x]) for x in xs] for kind, flags in kinds.items()}
        (folder / f"growth-{name}.svg").write_text(svg("One training step", axis, xs, curves))
        print(f"| {axis} | " + " | ".join(str(x) for x in xs) + " |\n|---" * 1 + "|---" * len(xs) + "|")
        for kind, values in curves.items():
            print(f"| {kind}, ns | " + " | ".join(f"{v:.3g}" for v in values) + " |")
        print(flush=True)


if __name__ == "__main__":
    main()
