"""scikit-learn's conventions, without scikit-learn."""
from __future__ import annotations

import inspect
import sys
from typing import Any, TypeVar

import numpy as np

from . import _native
from ._parameters import Parameters
from ._results import Simplification

Self = TypeVar("Self", bound="Conventions")


class Conventions(Parameters):
    """Parameters by name, tags, and whether it is fitted."""

    _estimator_type: str = ""

    model_: _native.Model  # the trees, as the model file holds them
    n_features_in_: int
    feature_names_in_: np.ndarray  # where X had names
    validation_score_: dict[str, Any]  # by name, of the data that the model was chosen by
    test_score_: dict[str, Any] | None  # of data that played no part
    trained_nodes_: int  # before the tree was simplified
    stopped_: bool  # by a callback or Ctrl-C, before its end
    late_: bool  # cut short by the time limit
    frontier_reason_: str  # why this model was chosen among those of all sizes
    per_sequence_: bool  # one target per sequence
    simplification_: Simplification  # what `simplified` removed
    _points: list[tuple[_native.Model, dict[str, Any]]]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Sets arguments of the constructor by name."""
        names = self._get_param_names()
        for name, value in params.items():
            if name not in names:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {names!r}.")
            setattr(self, name, value)
        return self

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def __repr__(self) -> str:
        defaults = {name: p.default for name, p in inspect.signature(type(self).__init__).parameters.items()}
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        classifies = self._estimator_type == "classifier"
        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=True, multi_output=not classifies),
            classifier_tags=ClassifierTags() if classifies else None,
            regressor_tags=None if classifies else RegressorTags(),
            input_tags=InputTags(allow_nan=True, three_d_array=self.axes is not None),
        )

    def _check_fitted(self) -> None:
        if hasattr(self, "model_"):
            return
        message = f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
        if "sklearn" in sys.modules:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(message)
        raise AttributeError(message)
