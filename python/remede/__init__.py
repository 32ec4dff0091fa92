"""remede: decision trees that remember.

One small, readable tree for sequences: at every step it walks from the root to a leaf, gives that leaf's answer, and may write to a
few memory cells that later steps can test. The estimators follow scikit-learn's conventions.
"""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ._gpu import take_extension

take_extension()  # before anything else asks for remede._native

from . import _native
from ._data import generate, tasks
from ._estimators import RecurrentTreeClassifier, RecurrentTreeRegressor
from ._explain import describe
from ._native import Error, Model, Progress, Stream, StreamPool
from ._results import Description, Importance, Machine, Page, Result, Rules, Scores, Simplification, Verification
from ._settings import recipe
from ._trace import Trace
from ._validation import CrossValidation, cross_validate

if TYPE_CHECKING:
    from ._many import fit_many
    from ._plots import plot_frontier, plot_trace, plot_training, plot_tree
    from ._tuning import Tuning, tune

__all__ = ["CrossValidation", "Description", "Error", "Importance", "Machine", "Model", "Page", "Progress", "RecurrentTreeClassifier", "RecurrentTreeRegressor",
           "Result", "Rules", "Scores", "Simplification", "Stream", "StreamPool", "Trace", "Tuning", "Verification", "__version__", "cross_validate", "describe", "fit_many", "generate",
           "load", "plot_frontier", "plot_trace", "plot_training", "plot_tree", "recipe", "tasks", "tune"]

__version__: str = getattr(_native, "__version__")

_LATER = {"plot_frontier": "_plots", "plot_tree": "_plots", "plot_trace": "_plots", "plot_training": "_plots", "tune": "_tuning", "Tuning": "_tuning", "fit_many": "_many"}


def load(path: str | os.PathLike[str]) -> RecurrentTreeClassifier | RecurrentTreeRegressor:
    """Reads a model file and returns a fitted classifier or regressor."""
    model = Model.load(os.fspath(path))
    return (RecurrentTreeClassifier if model.is_classifier else RecurrentTreeRegressor)._from_model(model)


def __dir__() -> list[str]:
    return list(__all__)


def __getattr__(name: str) -> Any:
    """Plots and tuning are imported when they are used."""
    if name not in _LATER:
        raise AttributeError(f"module 'remede' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
