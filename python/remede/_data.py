"""Tasks that need memory, made by the computer."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._targets import classes_from_text


def tasks() -> list[str]:
    """The names of the tasks."""
    return _native.tasks()

WHOLE_OPTIONS = ("sequences", "seed", "delay", "delay_min", "delay_max", "blocks", "block_length", "length_min", "length_max")


def checked(name: str, value: Any) -> Any:
    """An option that the program would take."""
    if name in ("noise_mean", "noise_sd"):
        if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
            return float(value)
        raise ValueError(f"{name}: expected a number, got {value!r}")
    if name not in WHOLE_OPTIONS:
        return value  # the program says which there are
    most = 2**64 if name == "seed" else 2**31
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not (0 if name == "seed" else -most) <= value < most:
        raise ValueError(f"{name}: expected a whole number{' of at least 0' if name == 'seed' else ''}, got {value!r}")
    return int(value)


def generate(task: str, sequences: int | None = None, seed: int = 1, **options: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Generates the data of a task, as `remede generate` does: the inputs (a list of arrays (steps, inputs)) and the targets of each step, which are
    classes or, in regression, numbers. `sequences`: by default 10000, for runoff 10.

    The options are those of the program with underscores, if the task has them: delay, delay_min, delay_max, blocks, block_length,
    noise_mean, noise_sd, length_min, length_max. A step without a target has NaN, or None if classes are words.
    """
    given = {**({} if sequences is None else {"sequences": sequences}), "seed": seed, **options}
    data = _native.generate(task, {name: checked(name, value) for name, value in given.items()})
    if not data.classes:
        return np.split(data.x, data.offset[1:-1]), np.split(data.value[:, 0], data.offset[1:-1])
    classes = classes_from_text(data.classes)
    labels = classes[data.label]
    missing = data.weight == 0
    if missing.any():
        labels = labels.astype(object if labels.dtype.kind in "USO" else np.float64)
        labels[missing] = None if labels.dtype.kind == "O" else np.nan
    return np.split(data.x, data.offset[1:-1]), np.split(labels, data.offset[1:-1])
