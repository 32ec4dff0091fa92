#!/usr/bin/env python3
"""remede beside its peers on the public data sets of ../shared/data: score, size, training time and time per step.

    bench/real.py [--sets NAME,...] [--methods NAME,...] [--seeds 5] [--remede build/remede] [--threads 1] [--again]
    bench/real.py --table [--page docs/real-data.md]       print the tables and write them into the page
    bench/real.py --list
    bench/real.py --intervals [--cut] [--sets NAME,...] [--seeds 3]   forecasts with intervals: pinball loss and coverage; --cut: on held-out
                                                                     parts of the training data

A cell is a data set, a method and a seed. Finished cells are kept in build/real/cells.jsonl and not run again, unless --again says so
(run our own again whenever training has changed). The peers are installed into build/real-venv; one that cannot be is left out, and
said so. What a peer may choose (lags, averaging speeds, depth, hidden size) it chooses on validation data, once per data set;
build/real/chosen.jsonl keeps that. Exits with 1 when a cell failed.
"""
import argparse
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import environment  # noqa: E402
from real_names import GENERATED, SETS, names_of, seeds_of  # noqa: E402
from real import methods, table  # noqa: E402: the standard library only; what needs packages is imported later
from real.cells import Cells  # noqa: E402


def chosen_setting(method, name, data, args):
    """What the method chose on validation data of this set, now or earlier."""
    if methods.is_ours(name):
        return {"program": str(pathlib.Path(args.remede).absolute()), "folder": str(args.folder), "method": name}
    if not hasattr(method, "choose"):
        return {}
    kept = Cells(args.folder / "chosen.jsonl")
    found = kept.read().get((data.name, name, "chosen"))
    if found is None:
        began = time.perf_counter()
        found = {"set": data.name, "method": name, "seed": "chosen", "setting": method.choose(data, args.threads)}
        kept.add(found)
        print(f"{data.name:<22}{name:<22}chose {found['setting']} in {time.perf_counter() - began:.0f} s", flush=True)
    return found["setting"]


def run_cell(name, data, seed, args):
    from real import measure
    method = methods.make(name)
    setting = chosen_setting(method, name, data, args)
    fitted = method.fit(data, seed, setting, args.threads)
    scores = {test: data.score(part.answers(), fitted.predict(part)) for test, part in data.tests.items()}
    step_ns = fitted.step_ns or measure.time_per_step(fitted.predict, next(iter(data.tests.values())))
    if methods.is_ours(name):
        setting = {"version": subprocess.run([setting["program"], "--version"], capture_output=True, text=True).stdout.strip()}
    return {"set": data.name, "method": name, "seed": seed, "metric": data.metric(), "scores": scores, "validation": fitted.validation,
            "nodes": fitted.nodes, "numbers": fitted.numbers, "seconds": fitted.seconds, "cpu": fitted.cpu, "step_ns": step_ns,
            "setting": setting}


def run(args):
    """Every missing cell; how many failed."""
    from real.sets import LOADERS
    cells = Cells(args.folder / "cells.jsonl")
    failed = 0
    for name in args.sets:
        missing = [(m, s) for m in args.methods for s in args.seeds if args.again or (name, m, s) not in cells.read()]
        data = LOADERS[name](args.data) if missing else None
        for method, seed in missing:
            try:
                cell = run_cell(method, data, seed, args)
            except Exception as error:  # one that fails must not cost the others
                print(f"{name:<22}{method:<22}seed {seed}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                failed += 1
                continue
            cells.add(cell)
            scores = ", ".join(f"{v:.4f}" for v in cell["scores"].values())
            print(f"{name:<22}{method:<22}seed {seed}: {scores}  (validation {cell['validation'] or float('nan'):.4f}, {cell['numbers']} numbers, "
                  f"{cell['seconds']:.1f} s, {'on a GPU' if cell['cpu'] is None else format(cell['cpu'], '.1f') + ' CPU s'})", flush=True)
    return failed


def write_table(args):
    cells = Cells(args.folder / "cells.jsonl").read()
    if not cells:
        sys.exit(f"{args.folder / 'cells.jsonl'}: expected finished cells, got none")
    order = {name: i for i, name in enumerate([*SETS, *GENERATED])}
    chosen = {key: cells[key] for key in sorted(cells, key=lambda k: (order.get(k[0], len(order)), k[0])) if key[0] in args.sets and key[1] in args.methods}
    text = table.text(chosen)
    print(text)
    if args.page:
        page = pathlib.Path(args.page)
        unfinished = page.with_suffix(".part")
        unfinished.write_text(table.put_into(page.read_text(), text))
        unfinished.rename(page)


def run_intervals(args):
    names = names_of(args.sets, ["beijing_pm25", "bike_sharing"], "sets")
    chosen = names_of(args.methods, ["remede", "lightgbm-lags"], "methods")
    if pathlib.Path(sys.prefix).resolve() != args.environment.absolute().resolve():
        environment.enter(args.environment.absolute(), ["numpy", *(["lightgbm", "scikit-learn"] if "lightgbm-lags" in chosen else [])])
    from real import intervals
    setting = {"program": str(pathlib.Path(args.remede).absolute()), "folder": str(args.folder)}
    intervals.run(names, chosen, args.seeds, setting, args.threads, args.cut, args.data, args.flags)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="only these data sets; generated: those made from formulas (default: the public ones)")
    parser.add_argument("--methods", help="only these methods")
    parser.add_argument("--seeds", type=seeds_of, default="5", help="how many, a range 2-4, or a list 1,3 (default 5)")
    parser.add_argument("--remede", default=str(ROOT / "build" / "remede"))
    parser.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data", help="folder that holds the data sets")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "real", help="where cells and files are kept")
    parser.add_argument("--environment", type=pathlib.Path, default=ROOT / "build" / "real-venv", help="the peers' Python environment")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="also the cells that are finished")
    parser.add_argument("--table", action="store_true", help="print the tables of the finished cells, and write them into --page")
    parser.add_argument("--page", default=str(ROOT / "docs" / "real-data.md"), help="'' writes none")
    parser.add_argument("--intervals", action="store_true", help="quantiles beside quantile boosting on lags")
    parser.add_argument("--cut", action="store_true", help="with --intervals: cut the training part, and leave the test part alone")
    parser.add_argument("--flags", type=shlex.split, default=[], help="with --intervals: further flags of remede train, '--effort quick'")
    parser.add_argument("--list", action="store_true", help="the sets and methods there are")
    args = parser.parse_args()
    if args.intervals:
        return run_intervals(args)
    args.sets = GENERATED if args.sets == "generated" else names_of(args.sets or ",".join(SETS), [*SETS, *GENERATED], "sets")
    args.methods = names_of(args.methods, methods.METHODS, "methods")
    if args.list:
        print("\n".join([*SETS, "", *GENERATED, "", *methods.METHODS]))
        return 0
    if args.table:
        write_table(args)
        return 0
    if pathlib.Path(sys.prefix).resolve() != args.environment.absolute().resolve():
        environment.enter(args.environment.absolute(), [*methods.packages_of(args.methods), *(["scikit-learn"] if set(args.sets) & set(GENERATED) else [])])
    return 1 if run(args) else 0


if __name__ == "__main__":
    sys.exit(main())
