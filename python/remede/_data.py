"""Tasks that need memory, made by the computer."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._targets import classes_from_text


def tasks() -> list[str]:
    """The names of the tasks."""
    return _native.tasks()


def generate(task: str, sequences: int | None = None, seed: int = 1, **options: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """A data set of a task, as `remede generate` makes it: the inputs (a list of arrays (steps, inputs)) and the class of each step, or the number where
    the task is one of regression. `sequences`: 10000, for runoff 10.

    Options are those of the program with underscores, as far as the task has them: delay, delay_min, delay_max, blocks, block_length,
    noise_mean, noise_sd, length_min, length_max. Where the task has no target at a step it is NaN, or None where classes are words.
    """
    data = _native.generate(task, {**({} if sequences is None else {"sequences": sequences}), "seed": seed, **options})
    if not data.classes:
        return np.split(data.x, data.offset[1:-1]), np.split(data.value[:, 0], data.offset[1:-1])
    classes = classes_from_text(data.classes)
    labels = classes[data.label]
    missing = data.weight == 0
    if missing.any():
        labels = labels.astype(object if labels.dtype.kind in "USO" else np.float64)
        labels[missing] = None if labels.dtype.kind == "O" else np.nan
    return np.split(data.x, data.offset[1:-1]), np.split(labels, data.offset[1:-1])
