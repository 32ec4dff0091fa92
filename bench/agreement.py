"""Every way to run a model, against the library, bit for bit: random models of all forms, with missing values and words.

    .venv/bin/python bench/agreement.py [--models 100] [--steps 10000] [--build build] [--quick]

The library (`predict` of the Python package) answers first. Then the same steps go through the C interface, the Python stream (words as texts), the
exported C (gcc and clang, -O0 and -O3; under qemu-arm where gcc-arm-linux-gnueabihf, libc6-dev-armhf-cross and qemu-user are installed) and the C++
header (g++ and clang++, -O0 and -O3). A sequence ends after a random number of steps, about 100. Where an answer is not a number, which NaN it is depends
on the processor; all count as one. --quick: one compiler each.
"""
import argparse
import ctypes
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

import remede

WORDS = ["one", "two", "three", "never seen", None]
DRIVER = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef void step_function(float *, const float *, float *);
typedef struct { int inputs, outputs, state; step_function *step; } entry;
%(models)s
static const entry all[] = {%(entries)s};
int main(void) {  /* standard input: of every model the number of steps, and of every step whether it is a first one, and its inputs */
  static float state[100000], x[100000], y[100000];
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); ++i) {
    int32_t steps, first;
    if (fread(&steps, 4, 1, stdin) != 1) return 1;
    for (int32_t t = 0; t < steps; ++t) {
      if (fread(&first, 4, 1, stdin) != 1) return 1;
      if (fread(x, 4, (size_t)all[i].inputs, stdin) != (size_t)all[i].inputs) return 1;
      if (first) memset(state, 0, sizeof(float) * (size_t)(all[i].state + 1));
      all[i].step(state, x, y);
      fwrite(y, 4, (size_t)all[i].outputs, stdout);
    }
  }
  return 0;
}
"""
CPP_STEP = """
static void {n}_raw(float *s, const float *x, float *y) {{
  {n}::State state;
  for (int i = 0; i < {n}::kState; ++i) state.m[i] = s[i];
  std::array<float, {n}::kInputs> in = {{}};
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = x[i];
  const auto out = {n}::step(state, in);
  for (std::size_t i = 0; i < out.size(); ++i) y[i] = out[i];
  for (int i = 0; i < {n}::kState; ++i) s[i] = state.m[i];
}}
"""


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.decode()[-2000:]}")
    return done.stdout


class Interface:
    """The C interface, by ctypes."""

    def __init__(self, build, path):
        self.api = ctypes.CDLL(str(build / "libremede_c.so"))
        for name in ("inputs", "outputs"):
            getattr(self.api, "remede_model_" + name).restype = ctypes.c_size_t
        self.model = ctypes.c_void_p()
        assert self.api.remede_model_load(str(path).encode(), ctypes.byref(self.model)) == 0
        self.inputs, self.outputs = self.api.remede_model_inputs(self.model), self.api.remede_model_outputs(self.model)

    def word(self, text):
        value = ctypes.c_float()
        assert self.api.remede_model_word(self.model, ctypes.c_size_t(0), (text or "").encode(), ctypes.byref(value)) == 0
        return value.value

    def answers(self, x, first):
        stream = ctypes.c_void_p()
        assert self.api.remede_stream_new(self.model, ctypes.byref(stream)) == 0
        y = np.empty((len(x), self.outputs), np.float32)
        step, rows, answers = self.api.remede_stream_step, x.ctypes.data, y.ctypes.data
        for t in range(len(x)):
            if first[t]:
                self.api.remede_stream_reset(stream)
            step(stream, ctypes.c_void_p(rows + t * x.strides[0]), ctypes.c_void_p(answers + t * y.strides[0]))
        self.api.remede_stream_free(stream)
        return y


def python_stream(estimator, x, first, words):
    stream, rows = estimator.stream(), x.tolist()
    said = []
    for t, row in enumerate(rows):
        if first[t]:
            stream.reset()
        if words is not None:
            row[0] = words[t]
        said.append(stream.step_proba(row))
    return np.array(said, np.float64).astype(np.float32).reshape(len(rows), -1)


def library(estimator, x, first):
    """By whole sequences."""
    starts = np.flatnonzero(first)
    sequences = np.split(x, starts[1:])
    said = estimator.predict_proba(sequences) if hasattr(estimator, "predict_proba") else [np.asarray(p) for p in estimator.predict(sequences)]
    return np.concatenate([np.asarray(s).reshape(len(s), -1) for s in said]).astype(np.float32)


def same(a, b):
    return a.shape == b.shape and bool(((a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))).all())


def compilers(quick):
    c = [["gcc", "-O3"]] if quick else [[name, level] for name in ("gcc", "clang") for level in ("-O0", "-O3")]
    cpp = [["g++", "-O0"]] if quick else [[name, level] for name in ("g++", "clang++") for level in ("-O0", "-O3")]
    arm = [] if quick else [["arm-linux-gnueabihf-gcc", level, "-static"] for level in ("-O0", "-O3")]
    return [w for w in c + arm + cpp if shutil.which(w[0]) and (not w[0].startswith("arm") or shutil.which("qemu-arm"))]


def exported(folder, names, sizes, steps, given, words):
    """What a program of all exported models answers, compiled by these words."""
    cpp = words[0].endswith("++")
    extension, kind = (".cpp", "hpp") if cpp else (".c", "c")
    models = "".join(f'#include "{n}.{kind}"\n' + (CPP_STEP.format(n=n) if cpp else "") for n in names)
    call = (lambda n: f"{n}_raw") if cpp else (lambda n: f"(step_function *){n}_step")
    entries = ", ".join(f"{{{i}, {o}, {s}, {call(n)}}}" for n, (i, o, s) in zip(names, sizes))
    source, program = folder / ("driver" + extension), folder / "driver"
    source.write_text(DRIVER % {"models": models, "entries": entries})
    run(*words, "-std=c++20" if cpp else "-std=c99", "-w", source, "-o", program, cwd=folder)
    out = np.frombuffer(run(*(["qemu-arm"] if words[0].startswith("arm") else []), program, input=given), np.float32)
    ends = np.cumsum([0] + [steps * o for _, o, _ in sizes])
    return [out[a:b].reshape(-1, o) for a, b, (_, o, _) in zip(ends[:-1], ends[1:], sizes)]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(arguments)
    build, draw = options.build.resolve(), np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(build / "bench" / "random_models", folder, options.models)
        names, sizes, expected, given, wrong, worded = [], [], [], b"", {}, 0
        for k in range(options.models):
            path = folder / f"m{k}.json"
            estimator, interface = remede.load(path), Interface(build, path)
            x = draw.normal(size=(options.steps, interface.inputs)).astype(np.float32)
            x[draw.random(x.shape) < 0.1] = np.nan
            first = draw.random(options.steps) < 0.01
            first[0] = True
            words = None
            if estimator.model_.reads_words:
                words = [WORDS[w] for w in draw.integers(0, len(WORDS), options.steps)]
                x[:, 0] = [interface.word(w) for w in words]
                worded += 1
            run(build / "remede", "export", path, "--to", "c", "-o", folder, "--name", f"m{k}", "-q")
            run(build / "remede", "export", path, "--to", "cpp", "-o", folder, "--name", f"m{k}", "-q")
            answers = interface.answers(x, first)
            ways = {"the Python stream": python_stream(estimator, x, first, words)}
            if words is None:
                ways["whole sequences"] = library(estimator, x, first)
            for way, said in ways.items():
                wrong.setdefault(way, []).extend([] if same(said, answers) else [k])
            names.append(f"m{k}")
            sizes.append((interface.inputs, interface.outputs, len(estimator.stream().state)))
            expected.append(answers)
            rows = np.concatenate([first.astype(np.int32).view(np.float32)[:, None], x], axis=1)
            given += np.int32(options.steps).tobytes() + np.ascontiguousarray(rows).tobytes()
        for way in compilers(options.quick):
            found = exported(folder, names, sizes, options.steps, given, way)
            wrong[" ".join(way)] = [k for k, (a, b) in enumerate(zip(found, expected)) if not same(a, b)]
    print(f"{options.models} random models ({worded} with words), {options.models * options.steps:,} steps, against the C interface:")
    for way, models in wrong.items():
        print(f"  {way}: {'the same bits' if not models else f'{len(models)} models differ: {models[:10]}'}")
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    raise SystemExit(main())
