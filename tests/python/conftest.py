"""What the tests share: a small task, a model of it, and the program that came with the package."""
import os
import pathlib
import shutil
import subprocess
import sysconfig

import numpy as np
import pytest

import remede

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def program():
    """The command that the wheel installed; REMEDE names another."""
    path = os.environ.get("REMEDE") or shutil.which("remede", path=sysconfig.get_path("scripts")) or shutil.which("remede")
    assert path, "expected the command remede beside this Python, got none"
    return lambda *words: subprocess.run([path, *map(str, words)], check=True, capture_output=True)


@pytest.fixture(scope="session")
def task():
    return remede.generate("fixed-delay", sequences=1000, seed=7)


@pytest.fixture(scope="session")
def model(task):
    """Trained once, used by many; nobody changes it."""
    return remede.RecurrentTreeClassifier(starts=8, random_state=3).fit(*task)


@pytest.fixture
def waves():
    """A small regression: the running mean of a noisy input."""
    random = np.random.default_rng(5)
    X = [random.normal(size=(12, 2)).astype(np.float32) for _ in range(60)]
    y = [np.cumsum(x[:, 0]) / np.arange(1, 13) for x in X]
    return X, y
