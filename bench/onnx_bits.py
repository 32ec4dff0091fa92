"""ONNX exports against the library, bit for bit: random models of all forms in ONNX Runtime, with optimisations off and on.

    python3 -m pip install onnxruntime numpy
    python3 bench/onnx_bits.py [--models 100] [--steps 2000] [--build build] [FOLDER_OF_MODELS]

The library answers by its C interface. Where an answer is not a number, which NaN it is depends on the processor; all count as one.
"""
import argparse
import ctypes
import pathlib
import subprocess
import tempfile

import numpy as np
import onnxruntime


class Library:
    def __init__(self, build, model):
        self.api = ctypes.CDLL(str(build / "libremede_c.so"))
        for name in ("inputs", "outputs"):
            getattr(self.api, "remede_model_" + name).restype = ctypes.c_size_t
        self.handle = ctypes.c_void_p()
        assert self.api.remede_model_load(str(model).encode(), ctypes.byref(self.handle)) == 0
        self.inputs, self.outputs = self.api.remede_model_inputs(self.handle), self.api.remede_model_outputs(self.handle)

    def predict(self, x):
        y = np.empty((len(x), self.outputs), np.float32)
        at = lambda a: a.ctypes.data_as(ctypes.c_void_p)
        assert self.api.remede_predict(self.handle, at(x), ctypes.c_size_t(len(x)), at(y)) == 0
        return y


def session(path, optimised):
    options = onnxruntime.SessionOptions()
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else level.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs(draw, steps, n):
    x = draw.normal(size=(steps, n)).astype(np.float32)
    x[draw.random(x.shape) < 0.1] = np.nan
    x[draw.random(x.shape) < 0.01] = np.inf
    x[draw.random(x.shape) < 0.01] = -np.inf
    return x


def same(a, b):
    return a.shape == b.shape and bool(((a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))).all())


def compare(build, model, folder, steps, seed):
    """What differs: names of the graph and the optimisation."""
    library = Library(build, model)
    subprocess.run([str(build / "remede"), "export", str(model), "--to", "onnx", "-o", str(folder), "--name", "model", "-q"], check=True)
    x = inputs(np.random.default_rng(seed), steps, library.inputs)
    expected = library.predict(x)
    wrong = []
    for optimised in (False, True):
        whole, step = (session(folder / name, optimised) for name in ("model_sequence.onnx", "model.onnx"))
        state = np.zeros(whole.get_inputs()[1].shape, np.float32)
        y, last = whole.run(["y", "m_next"], {"x": x, "m": state})
        if not same(y, expected):
            wrong.append(f"sequence, optimised {optimised}")
        few = min(steps, 200)
        rows = []
        for t in range(few):
            row, state = step.run(["y", "m_next"], {"x": x[t], "m": state})
            rows.append(row)
        if not same(np.array(rows).reshape(few, -1), expected[:few]):
            wrong.append(f"step, optimised {optimised}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="models to compare instead of random ones")
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if arguments.folder is None:
            subprocess.run([str(build / "bench" / "random_models"), name, str(arguments.models)], check=True)
        models = sorted((arguments.folder or folder).glob("*.json"))
        models = [m for m in models if '"remede model"' in m.read_text()[:200]]
        wrong = 0
        for i, model in enumerate(models):
            for what in compare(build, model, folder, arguments.steps, i):
                print(f"{model.name}: differs: {what}")
                wrong += 1
    print(f"{len(models)} models, {len(models) * arguments.steps:,} steps, ONNX Runtime {onnxruntime.__version__}, optimisations off and on: {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
