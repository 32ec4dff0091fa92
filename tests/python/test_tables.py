"""On one table a static tree is at least as good as tuned CART, and missing data are skipped: a small version of bench/tables.py."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "remede"


@pytest.mark.skipif(not PROGRAM.exists(), reason="needs the release build")
def test_tables():
    run = subprocess.run([sys.executable, ROOT / "bench" / "tables.py", "--tables", "friedman1,robot", "--folds", "2", "--recipes", "default,gradtree", "--remede", PROGRAM,
                          "--data", ROOT / "tests"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "default: level or better on 1 of 1" in run.stdout
    assert "gradtree: level or better on " in run.stdout and "| remede, gradtree | numbers |" in run.stdout
    assert "| robot | skipped: no data |" in run.stdout
