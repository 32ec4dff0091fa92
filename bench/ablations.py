#!/usr/bin/env python3
"""What each part of the recipe is worth: the five tasks with one thing changed at a time.

    bench/ablations.py [--seeds 5] [--first-seed 5000] [--only NAME,...] [--remede build/remede]
    bench/ablations.py --fields [NAME,...]      every field of the default recipe (remede recipe --fields), halved and doubled

Prints, for each variant, on how many of the fits the task is solved (test accuracy at least 0.9995 and recall at least 0.996),
the mean accuracy and recall, the mean size and the mean seconds. Writes nothing.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

TASKS = ["fixed-delay", "fixed-delay-2", "variable-delay", "variable-delay-2", "sign-memory"]
VARIANTS = {
    "default": [],
    "one start": ["--starts", "1"],
    "8 starts": ["--starts", "8"],
    "64 starts": ["--starts", "64"],
    "only writes that add": ["--write-rule", "add"],
    "only writes that blend": ["--write-rule", "blend"],
    "no write bias": ["--write-bias", "no"],
    "sigmoid' with slope 1": ["--split-gradient", "sigmoid", "--slope", "1"],
    "softsign with slope 1": ["--slope", "1"],
    "identity for the feature choice": ["--index-gradient", "identity"],
    "mix of effects": ["--mix", "effects"],
    "no gradient clipping": ["--clip", "0"],
    "depth 6 always": ["--depth", "6"],
    "two cells": ["--memory", "2"],
    "no exact moves": ["--improve", "no"],
    "neither simplified nor improved": ["--simplify", "no"],
    "the paper's leaf": ["--form", "paper"],
    "the paper's recipe": ["--recipe", "paper"],
}


def field_variants(program, names):
    """Each field of the recipe halved and doubled within its limits, a switch turned over: name of the variant, JSON of the recipe."""
    said = subprocess.run([program, "recipe", "--fields"], check=True, capture_output=True, text=True).stdout
    variants = {}
    for field in json.loads(said):
        if (names and field["name"] not in names) or field["name"] == "quantile_transform":  # which trees with memory cannot have
            continue
        if field["type"] == "bool":
            values = [not field["default"]]
        else:
            values = [field["default"] * 0.5, field["default"] * 2] if field["default"] else [min(field["high"], 1)]
            values = [min(max(value, field["low"]), field["high"]) for value in values]
            values = [round(value) if field["type"] == "int" else value for value in values]
        for value in values:
            if value != field["default"]:
                variants[f"{field['name']} {value:g}"] = {field["name"]: value}
    return variants


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--only", default=",".join(VARIANTS))
    parser.add_argument("--fields", nargs="?", const="", help="vary the fields of the recipe, all of them or these")
    parser.add_argument("--remede", default="build/remede")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        variants = {name: VARIANTS[name] for name in args.only.split(",")}
        if args.fields is not None:
            variants = {"default": []}
            for number, (name, recipe) in enumerate(field_variants(args.remede, list(filter(None, args.fields.split(",")))).items()):
                with open(path(f"recipe-{number}.json"), "w") as file:
                    json.dump(recipe, file)
                variants[name] = ["--recipe", file.name]
        for task in TASKS:
            for k in range(args.seeds):
                for part, seed, count in (("train", args.first_seed + k, 8000), ("test", args.first_seed + k + 700000, 2000)):
                    subprocess.run([args.remede, "generate", task, "--seed", str(seed), "--sequences", str(count), "--quiet",
                                    "-o", path(f"{task}-{k}-{part}.csv")], check=True)
        print("| variant | solved | accuracy | recall | nodes | seconds |\n|---|---|---|---|---|---|", flush=True)
        for name, flags in variants.items():
            rows = []
            for task in TASKS:
                for k in range(args.seeds):
                    begin = time.time()
                    subprocess.run([args.remede, "train", path(f"{task}-{k}-train.csv"), "-o", path("model.json"), "--quiet", "--seed",
                                    str(args.first_seed + k), *flags], check=True, stdout=subprocess.DEVNULL)
                    seconds = time.time() - begin
                    said = json.loads(subprocess.run([args.remede, "evaluate", path("model.json"), path(f"{task}-{k}-test.csv"), "--json",
                                                      "--quiet"], check=True, capture_output=True, text=True).stdout)
                    right = [(said["recall"][c] or 0, said["support"][c]) for c in said["classes"] if c != "0"]
                    recall = sum(r * n for r, n in right) / sum(n for _, n in right)
                    tree = json.load(open(path("model.json")))["trees"][0]
                    rows.append((said["accuracy"], recall, 2 * len(tree["nodes"]) + 1, seconds))
            solved = sum(a >= 0.9995 and r >= 0.996 for a, r, _, _ in rows)
            mean = lambda i: statistics.mean(row[i] for row in rows)
            print(f"| {name} | {solved} of {len(rows)} | {mean(0):.5f} | {mean(1):.4f} | {mean(2):.1f} | {mean(3):.2f} |", flush=True)


if __name__ == "__main__":
    main()
