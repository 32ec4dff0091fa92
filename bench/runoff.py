#!/usr/bin/env python3
"""Does the frontier recover how the river was made? `remede generate runoff` draws rain and temperature, a snow store that feeds a soil store, and a
flow with noise of standard deviation 0.15. For each seed a model of at most 25 numbers is trained and judged on fresh recordings: its error must stay
within 5% of the noise, and a store that fills with rain and opens when it is warm must come before a store that fills with what it releases.

    bench/runoff.py [--seeds 10] [--first-seed 1] [--remede build/remede] [--threads 2]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOISE = 0.15  # standard deviation of the flow around what rain and temperature explain
MOST_NUMBERS = 25
FRESH = 100000  # added to the seed of the fresh recordings


def run(*arguments):
    got = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if got.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, arguments))}: {got.stderr.strip()}")
    return got.stdout


def snow_before_soil(model):
    """Whether some store fills with rain, opens as it warms, and a later store fills with what it releases."""
    cells = model["trees"][0].get("cells", [])
    for k, snow in enumerate(cells):
        if snow["law"] != "store" or dict(snow["inputs"]).get("rain", 0) <= 0 or dict(snow["tap_inputs"]).get("temp", 0) <= 0:
            continue
        if any(soil["law"] == "store" and dict(soil["earlier"]).get(k, 0) > 0 for soil in cells[k + 1:]):
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--remede", default=ROOT / "build" / "remede")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    good = 0
    with tempfile.TemporaryDirectory() as folder:
        data, fresh, saved = (pathlib.Path(folder) / name for name in ("river.csv", "fresh.csv", "river.json"))
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            run(args.remede, "generate", "runoff", "--seed", seed, "-o", data)
            run(args.remede, "generate", "runoff", "--seed", seed + FRESH, "-o", fresh)
            run(args.remede, "train", data, "--numbers", MOST_NUMBERS, "--seed", seed, "--threads", args.threads, "--quiet", "-o", saved)
            rmse = json.loads(run(args.remede, "evaluate", "--json", "--quiet", saved, fresh))["rmse"]
            shown = json.loads(run(args.remede, "show", "--json", saved))
            order = snow_before_soil(json.loads(saved.read_text()))
            good += rmse <= 1.05 * NOISE and order
            print(f"seed {seed}: RMSE {rmse:.4f} ({rmse / NOISE:.3f} of the noise), {shown['numbers']} numbers, {shown['cells']} cells, "
                  f"snow before soil: {'yes' if order else 'no'}", flush=True)
    print(f"{good} of {args.seeds}")
    return 0 if good >= 0.9 * args.seeds else 1


if __name__ == "__main__":
    sys.exit(main())
