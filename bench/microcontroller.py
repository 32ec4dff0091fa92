"""The exported model of the paper's first task on small processors: bytes, instructions, and the same bits.

    python3 bench/microcontroller.py [--models 100] [--steps 10000] [--build build]

Needs from Debian: gcc-arm-none-eabi qemu-system-arm gcc-avr avr-libc simavr gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user.
1. Trains on fixed-delay, exports to C, compiles it for Cortex-M0+ and ATmega328P (-Os), and runs it under qemu-system-arm and simavr on the
   sequences below; the answers are compared bit for bit with those of the C interface.
2. Random models of all forms, compiled for ARM with hardware floating point (-O0 and -O3) and run under qemu-arm, against the same
   programs on this machine, which the tests compare with the library.
"""
import argparse
import ctypes
import pathlib
import random
import re
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr[-2000:]}")
    return done.stdout


def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def library_answers(build, model, sequences):
    """The bits of every answer, by the C interface."""
    api = ctypes.CDLL(str(build / "libremede_c.so"))
    api.remede_model_outputs.restype = ctypes.c_size_t
    handle, stream = ctypes.c_void_p(), ctypes.c_void_p()
    assert api.remede_model_load(str(model).encode(), ctypes.byref(handle)) == 0
    assert api.remede_stream_new(handle, ctypes.byref(stream)) == 0
    outputs = api.remede_model_outputs(handle)
    y = (ctypes.c_float * outputs)()
    answers = []
    for sequence in sequences:
        api.remede_stream_reset(stream)
        for value in sequence:
            assert api.remede_stream_step(stream, (ctypes.c_float * 1)(value), y) == 0
            answers.append([bits(v) for v in y])
    return answers


def sequences_to_try():
    draw = random.Random(4)
    return [[draw.uniform(-0.5, 0.5) if draw.random() < 0.9 else float("nan") for _ in range(6)] + [1.0] for _ in range(12)]


def data_header(sequences):
    rows = ",\n".join("{" + ", ".join(f"0x{bits(v):08x}u" for v in s) + "}" for s in sequences)
    return f"#include <stdint.h>\n#define SEQUENCES {len(sequences)}\n#define STEPS {len(sequences[0])}\nstatic const uint32_t data[SEQUENCES][STEPS] = {{\n{rows}}};\n"


def symbol_sizes(nm, path):
    return {m[2]: int(m[1], 16) for m in re.finditer(r"^[0-9a-f]+ ([0-9a-f]+) \w (\w+)$", run(nm, "-S", path), re.M)}


def split_sizes(compiler, nm, flags, folder):
    """Bytes of code, of constants and of tanh, which is kept apart here."""
    source = (folder / "pump.c").read_text().replace("static float pump_tanh(", "static __attribute__((noinline)) float pump_tanh(")
    (folder / "sizes.c").write_text(source)
    run(compiler, *flags, "-c", "sizes.c", "-o", "sizes.o", cwd=folder)
    sizes = symbol_sizes(nm, folder / "sizes.o")
    tanh = sizes.pop("pump_tanh", 0)
    code = sum(v for k, v in sizes.items() if k in ("pump_init", "pump_step", "pump_find", "pump_sum", "pump_write", "pump_raw", "pump_known"))
    return code, sum(sizes.values()) - code, tanh


def cortex(folder, expected):
    flags = ["-mcpu=cortex-m0plus", "-mthumb", "-Os", "-std=c99", "-ffunction-sections", "-fdata-sections"]
    code, constants, tanh = split_sizes("arm-none-eabi-gcc", "arm-none-eabi-nm", flags, folder)
    for name in ("start.c", "microbit.ld"):
        (folder / name).write_text((HERE / "microcontroller" / name).read_text())
    run("arm-none-eabi-gcc", *flags, "-nostartfiles", "-T", "microbit.ld", "start.c", "pump.c", "-o", "arm.elf", "-lgcc", "-Wl,--gc-sections", cwd=folder)
    qemu = ["qemu-system-arm", "-M", "microbit", "-nographic", "-semihosting-config", "enable=on,target=native", "-kernel", "arm.elf"]
    out = subprocess.run(qemu, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, timeout=60).stdout
    assert [[int(v, 16) for v in line.split()] for line in out.splitlines()] == expected, "Cortex-M0+: expected the library's bits"
    # Every instruction between the two calls is traced; the empty program is the difference.
    run("arm-none-eabi-gcc", *flags, "-DQUIET", "-nostartfiles", "-T", "microbit.ld", "start.c", "pump.c", "-o", "quiet.elf", "-lgcc", "-Wl,--gc-sections", cwd=folder)
    run("arm-none-eabi-gcc", *flags, "-DQUIET", "-DNO_STEP", "-nostartfiles", "-T", "microbit.ld", "start.c", "pump.c", "-o", "empty.elf", "-lgcc", "-Wl,--gc-sections", cwd=folder)
    counts = []
    for elf in ("quiet.elf", "empty.elf"):
        run(*qemu[:-1], elf, "-singlestep", "-d", "exec,nochain", "-D", "trace", cwd=folder)
        counts.append(sum(line.startswith("Trace") for line in open(folder / "trace")))
    print(f"Cortex-M0+: {code} bytes of code and {constants} of constants without tanh ({tanh}) and soft-float; "
          f"{(counts[0] - counts[1]) / len(expected):,.0f} instructions per step on average; same bits")


def avr(folder, expected):
    flags = ["-mmcu=atmega328p", "-Os", "-std=gnu99", "-ffunction-sections", "-fdata-sections"]
    code, constants, tanh = split_sizes("avr-gcc", "avr-nm", flags, folder)
    (folder / "avr.c").write_text((HERE / "microcontroller" / "avr.c").read_text())
    run("avr-gcc", *flags, "avr.c", "pump.c", "-o", "avr.elf", "-lm", "-Wl,--gc-sections", cwd=folder)
    out = subprocess.run(["simavr", "-m", "atmega328p", "-f", "16000000", "avr.elf"], capture_output=True, text=True, cwd=folder, timeout=300)
    lines = re.findall(r"=((?: [0-9a-f]{8})+) (\d+)", re.sub(r"\x1b\[[0-9;]*m", "", out.stdout + out.stderr))
    got = [[int(v, 16) for v in values.split()] for values, _ in lines]
    same = sum(a == b for a, b in zip(got, expected))
    cycles = [int(c) for _, c in lines]
    print(f"ATmega328P: {code} bytes of code and {constants} of constants without tanh ({tanh}) and soft-float; "
          f"{sum(cycles) / max(1, len(cycles)):,.0f} cycles per step on average, at most {max(cycles, default=0):,}; "
          f"{same} of {len(expected)} steps have the same bits")


def arm_linux(folder, build, models, steps):
    run(build / "bench" / "random_models", folder, models)
    driver = (HERE / "microcontroller" / "driver.c").read_text()
    (folder / "driver.c").write_text(driver)
    lines = []
    for i in range(models):
        run(build / "remede", "export", folder / f"m{i}.json", "--to", "c", "-o", folder, "-q")
        lines.append(f'#include "m{i}.c"\nTRY(m{i}, M{i})\n')
    (folder / "models.h").write_text("".join(lines) + "static void try_all(void)\n{\n" + "".join(f"    try_m{i}();\n" for i in range(models)) + "}\n")
    hashes = []
    for command, level in ((["gcc"], "-O1"), (["arm-linux-gnueabihf-gcc", "-static"], "-O0"), (["arm-linux-gnueabihf-gcc", "-static"], "-O3")):
        run(*command, "-std=c99", level, f"-DSTEPS={steps}", "driver.c", "-o", "driver", cwd=folder)
        hashes.append(run(*([] if command == ["gcc"] else ["qemu-arm"]), folder / "driver"))
    assert len(hashes[0].splitlines()) == models
    wrong = [i for i, three in enumerate(zip(*(h.splitlines() for h in hashes))) if len(set(three)) > 1]
    print(f"ARM with hardware floating point under qemu-arm, -O0 and -O3: {models} random models, {models * steps:,} steps: {len(wrong)} models differ")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--steps", type=int, default=10000)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    remede = build / "remede"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(remede, "generate", "fixed-delay", "--sequences", "4000", "-o", folder / "train.csv", "-q")
        run(remede, "train", folder / "train.csv", "-o", folder / "model.json", "-q")
        print(run(remede, "show", folder / "model.json").splitlines()[0])
        run(remede, "export", folder / "model.json", "--to", "c", "-o", folder, "--name", "pump", "-q")
        print(re.search(r"Tables: .*", (folder / "pump.c").read_text())[0])
        sequences = sequences_to_try()
        (folder / "data.h").write_text(data_header(sequences))
        expected = library_answers(build, folder / "model.json", sequences)
        cortex(folder, expected)
        avr(folder, expected)
        return 0 if arm_linux(folder, build, arguments.models, arguments.steps) else 1


if __name__ == "__main__":
    raise SystemExit(main())
