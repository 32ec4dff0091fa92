"""A tree without memory on Cortex-M0+, exported by remede, emlearn and micromlgen: bytes of flash without soft-float routines.

    python3 -m pip install emlearn micromlgen scikit-learn
    python3 bench/microcontroller_peers.py [--build build]          needs arm-none-eabi-gcc

One tree of scikit-learn on its iris data (150 rows, 4 numbers, 3 classes); remede gets the same tree, node by node.
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import emlearn
import micromlgen
import numpy as np
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

FLAGS = ["-mcpu=cortex-m0plus", "-mthumb", "-Os", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-nostartfiles"]


def as_model(tree, classes, inputs):
    """The model file with scikit-learn's nodes: it goes left where x <= threshold, ours right where x >= threshold."""
    t = tree.tree_
    inner = [i for i in range(t.node_count) if t.children_left[i] >= 0]
    leaves = [i for i in range(t.node_count) if t.children_left[i] < 0]
    number = {n: k for k, n in enumerate(inner + leaves)}
    nodes = [{"number": number[i], "input": inputs[t.feature[i]], "threshold": float(np.nextafter(np.float32(t.threshold[i]), np.float32(np.inf))),
              "missing": "left", "left": number[t.children_left[i]], "right": number[t.children_right[i]]} for i in inner]
    ends = [{"number": number[i], "output": [float(np.log(max(p, 1e-6))) for p in t.value[i][0] / t.value[i][0].sum()], "writes": []} for i in leaves]
    return {"format": "remede model", "version": 1, "task": "classification", "inputs": inputs, "fill": [0] * len(inputs), "targets": ["y"], "classes": classes,
            "id": "row", "time": "", "trees": [{"cells": 0, "write_rule": "add", "write_reads": "inputs", "write_bias": False, "leaf_output": "constant",
                                               "output_order": "zero", "nodes": nodes, "leaves": ends}],
            "training": {"settings": {}, "training_loss": [], "validation_loss": []}}


def flash(folder, compiler, sources, extra=()):
    """Bytes of code and constants that a program that calls the model keeps, less those of libgcc and libc (memcpy, memset)."""
    command = [compiler, *FLAGS, *extra, *map(str, sources), "-Wl,-e,entry", "-Wl,-Map=map", "-lc", "-lgcc", "-o", "out.elf"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr[-2000:])
    total = 0
    for block in re.finditer(r"^ \.(?:text|rodata|data)\S*\s+0x[0-9a-f]+\s+(0x[0-9a-f]+) (\S+)$", (folder / "map").read_text(), re.M):
        if "libgcc" not in block[2] and "libc" not in block[2]:
            total += int(block[1], 16)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    build = parser.parse_args().build.resolve()
    data = load_iris()
    tree = DecisionTreeClassifier(random_state=1).fit(data.data, data.target)
    print(f"iris: {tree.get_n_leaves()} leaves, depth {tree.get_depth()}")
    inputs = [f"x{i + 1}" for i in range(4)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tree.json").write_text(json.dumps(as_model(tree, [str(c) for c in data.target_names], inputs)))
        subprocess.run([str(build / "remede"), "export", "tree.json", "--to", "c", "-o", ".", "-q"], cwd=folder, check=True)
        (folder / "ours.c").write_text('#include "tree.h"\nfloat x[4], y[3]; tree_state s;\nvoid entry(void) { tree_step(&s, x, y); }\n')
        print(f"remede: {flash(folder, 'arm-none-eabi-gcc', ['ours.c', 'tree.c'])} bytes, gives probabilities, missing values handled, float32 as trained")
        for method, dtype in (("inline", "float"), ("loadable", "int16_t")):
            emlearn.convert(tree, method=method, dtype=dtype).save(file=str(folder / "em.h"), name="em")
            (folder / "em.c").write_text(f'#include "em.h"\n{dtype} x[4]; int y;\nvoid entry(void) {{ y = em_predict(x, 4); }}\n')
            print(f"emlearn {emlearn.__version__}, {method}, {dtype}: {flash(folder, 'arm-none-eabi-gcc', ['em.c'], ['-I' + emlearn.includedir])} bytes, gives the class")
        (folder / "mm.cpp").write_text(micromlgen.port(tree).replace("#include <cstdarg>", "").replace("#pragma once", "") +
                                       "\nfloat x[4]; int y; Eloquent::ML::Port::DecisionTree t;\nextern \"C\" void entry() { y = t.predict(x); }\n")
        print(f"micromlgen: {flash(folder, 'arm-none-eabi-gcc', ['mm.cpp'], ['-fno-exceptions', '-fno-rtti'])} bytes, gives the class")


if __name__ == "__main__":
    main()
