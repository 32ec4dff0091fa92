"""Cross-validation, by the same code as `remede cross-validate`."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Iterable

import numpy as np

from . import _native
from ._inputs import Packed
from ._targets import as_values, by_id


@dataclass
class CrossValidation:
    """The scores of `cross_validate`. A score that is undefined in a fold is NaN there and does not count in the mean."""

    scores: dict[str, np.ndarray]  # by name (accuracy, log_loss, ...; rmse, mae, r2): one value per fold
    mean: dict[str, float]
    sd: dict[str, float]  # sample standard deviation over the folds
    nodes: np.ndarray  # (folds) size of each model
    stopped: bool = False  # by a callback; then only the folds that were finished

    def __str__(self) -> str:
        width = max(len(name) for name in self.scores)
        return "\n".join(f"{name:<{width}}  {self.mean[name]:.4f} ± {self.sd[name]:.4f}" for name in self.scores)


def cross_validate(estimator: Any, X: Any, y: Any = None, *, folds: int = 5, groups: Any = None, forward: bool = False,
                   sample_weight: Any = None, callbacks: Callable[..., Any] | Iterable[Callable[..., Any]] | None = None) -> CrossValidation:
    """Trains and scores an estimator on folds of the data. The estimator itself is not changed.

    X, y, sample_weight: as for `fit`.
    folds: the number of folds. Every sequence is in the test part of one of them; if there are fewer sequences than folds, they are cut
        into pieces.
    groups: one value per sequence, or the name of a column of X that is constant within a sequence. Sequences of a group are always in
        the same fold.
    forward: cuts every sequence in time instead; each fold trains on the past and is tested on what follows.
    callbacks: as for `fit`; one that returns True ends the cross-validation.

    The codes of categorical columns are learned from the training part of each fold. The seed is the estimator's `random_state`.
    """
    if groups is not None and forward:
        raise ValueError("expected groups or forward, got both")
    if not isinstance(folds, (int, np.integer)) or folds < 2:
        raise ValueError(f"folds: expected at least 2 as a whole number, got {folds!r}")
    estimator = type(estimator)(**estimator.get_params())
    if isinstance(estimator.class_weight, Mapping):
        raise ValueError("class_weight: expected None or 'balanced' here, got a dict, whose weights would count in the scores")
    by_column = isinstance(groups, str)
    if by_column:
        estimator.ignore = [*([estimator.ignore] if isinstance(estimator.ignore, str) else estimator.ignore or []), groups]
    learnable = estimator._learnable(X, y, sample_weight)
    raw = learnable.raw
    if groups is not None:
        values = np.asarray(X[groups])[raw.row] if by_column else per_step(groups, Packed.of(raw, learnable.tables))
        names, codes = np.unique(values.astype(str), return_inverse=True)
        raw.set_groups(codes.reshape(-1).astype(np.int32), [str(name) for name in names])
    calls = [] if callbacks is None else [callbacks] if callable(callbacks) else list(callbacks)
    callback = (lambda progress: any([call(progress) for call in calls])) if calls else None
    found = _native.cross_validate(raw, int(folds), forward, estimator._settings(), callback)
    return CrossValidation({name: np.array(values) for name, values in found["scores"].items()}, found["mean"], found["sd"],
                           np.array(found["nodes"]), found["stopped"])


def per_step(groups: Any, packed: Packed) -> np.ndarray:
    """A value per sequence, repeated for its steps."""
    values = as_values(groups)
    if values.shape != (packed.sequences,):
        raise ValueError(f"groups: expected one value per sequence ({packed.sequences}), got an array of shape {values.shape}")
    return np.repeat(by_id(groups, values, packed), np.diff(packed.offset))
