"""remede: decision trees that remember.

One small, readable tree for sequences: at every step it walks from the root to a leaf, gives that leaf's answer, and may write to a
few memory cells that later steps can test. The estimators follow scikit-learn's conventions.
"""
from __future__ import annotations

import os
from typing import Any

from ._settings import recipe
from ._data import generate, tasks
from ._estimators import RecurrentTreeClassifier, RecurrentTreeRegressor
from ._native import Error, Model, Progress, Stream, StreamPool, __version__
from ._trace import Trace
from ._validation import CrossValidation, cross_validate

__all__ = ["CrossValidation", "Error", "Model", "Progress", "RecurrentTreeClassifier", "RecurrentTreeRegressor", "Stream", "StreamPool", "Trace", "cross_validate", "generate", "load",
           "plot_frontier", "plot_trace", "plot_training", "plot_tree", "recipe", "tasks", "tune", "__version__"]

_LATER = {"plot_frontier": "_plots", "plot_tree": "_plots", "plot_trace": "_plots", "plot_training": "_plots", "tune": "_tuning", "Tuning": "_tuning"}


def load(path: str | os.PathLike[str]) -> RecurrentTreeClassifier | RecurrentTreeRegressor:
    """Reads a model file and gives the estimator that it is."""
    model = Model.load(os.fspath(path))
    return (RecurrentTreeClassifier if model.is_classifier else RecurrentTreeRegressor)._from_model(model)


def __getattr__(name: str) -> Any:
    """Plots and tuning are imported when they are used."""
    if name not in _LATER:
        raise AttributeError(f"module 'remede' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
