"""Library, C interface, Python stream, exported C and C++ give the same bits: a small version of bench/agreement.py."""
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


@pytest.mark.skipif(not (BUILD / "libremede_c.so").exists() or not (BUILD / "bench" / "random_models").exists() or shutil.which("gcc") is None,
                    reason="needs the release build and gcc")
def test_agreement():
    run = subprocess.run([sys.executable, ROOT / "bench" / "agreement.py", "--models", "10", "--steps", "300", "--quick", "--build", BUILD],
                         capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("the same bits") == 4 and "2 with words" in run.stdout
