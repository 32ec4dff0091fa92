"""The package as it is installed: its parts, its dependencies, its import, its command."""
import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import remede
from remede import _native


def test_parts():
    folder = pathlib.Path(remede.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_native.pyi").exists()
    assert "class Stream" in (folder / "_native.pyi").read_text()


def test_every_declared_parameter_is_an_argument():
    signature = inspect.signature(remede.RecurrentTreeRegressor).parameters
    for p in _native.parameters():
        name = p["python_name"]
        assert name in signature
        assert f"{name} (" in remede.RecurrentTreeRegressor.__doc__
    assert signature["depth"].default is None and signature["starts"].default is None and signature["clip"].default == 1


def test_import_is_quick_and_light():
    """Under 0.1 s over NumPy's own import. Time of the processor, so that other programs do not count; nothing is waited for."""
    code = ("import time, sys, numpy; begin = time.process_time(); import remede; print(time.process_time() - begin); "
            "heavy = {'sklearn', 'pandas', 'polars', 'pyarrow', 'matplotlib', 'optuna', 'tqdm'} & set(sys.modules); assert not heavy, heavy")
    times = [float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) for _ in range(5)]
    assert min(times) < 0.1


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF files")
def test_nothing_of_debian_is_needed(program):
    """Only the C library and its parts, so that a wheel runs where Debian's packages are absent."""
    command = program.__closure__[0].cell_contents
    for path in (_native.__file__, command):
        with open(path, "rb") as file:
            names = set(re.findall(rb"\0(lib[\w+.-]+\.so[.\d]*|ld-linux[\w.-]+)(?=\0)", file.read()))
        allowed = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
        assert {n.decode() for n in names} <= allowed | {pathlib.Path(path).name}, path


def test_the_command_comes_along(program):
    assert program("--version").stdout.decode().strip() == f"remede {remede.__version__}"


def test_dir_is_the_public_interface():
    assert dir(remede) == sorted(remede.__all__)
    for name in remede.__all__:
        assert getattr(remede, name) is not None


def test_everything_public_has_types():
    """Every function and method of the package says what it takes and gives."""
    for name in remede.__all__:
        thing = getattr(remede, name)
        if getattr(thing, "__module__", "").startswith("remede._native") or not callable(thing):
            continue  # its types are in _native.pyi
        functions = [thing] if inspect.isfunction(thing) else [f for n, f in inspect.getmembers(thing, inspect.isfunction) if not n.startswith("__")]
        functions = [f for f in functions if f.__module__.startswith("remede.") and f.__module__ != "remede._parameters"]
        for function in functions:
            signature = inspect.signature(function)
            assert signature.return_annotation is not inspect.Signature.empty, function
            untyped = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")]
            assert not untyped, (function, untyped)


def test_stub_is_complete():
    """Every name of the extension has its types."""
    stub = (pathlib.Path(remede.__file__).parent / "_native.pyi").read_text()
    for name in dir(_native):
        if not name.startswith("_"):
            assert re.search(rf"(class|def) {name}\b", stub), name
