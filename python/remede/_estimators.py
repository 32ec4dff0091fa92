"""The two estimators."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._base import Estimator
from ._inputs import Packed
from ._parameters import Parameters
from ._targets import Target, align, align_weights, class_text, classes_from_text, find_classes, label_numbers, one_column, regression_values


class RecurrentTreeClassifier(Estimator):
    """A decision tree with memory that says a class at every step of a sequence, or one at its end."""

    _estimator_type = "classifier"

    def _learn_target(self, target: Target) -> None:
        target.values = one_column(target.values)
        self.classes_ = find_classes(target.values, target.there)
        if len(self.classes_) < 2:
            raise ValueError(f"expected at least two classes, got {len(self.classes_)} class: {list(self.classes_)}")

    def _set_target(self, data: _native.Data, target: Target, weights: np.ndarray) -> None:
        label = label_numbers(one_column(target.values, warn=False), target.there, self.classes_)
        data.set_labels(label, weights, target.names[0], [class_text(c) for c in self.classes_], target.per_sequence)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, at every step in the shape of X, or per sequence where targets are per sequence."""
        packed = self._pack_fitted(X)
        return self._given(packed, self._outputs(packed))

    def predict(self, X: Any) -> Any:
        """The class at every step, in the shape of X, or per sequence where targets are per sequence."""
        packed = self._pack_fitted(X)
        return self._given(packed, self._labels(packed))

    def _labels(self, packed: Packed) -> np.ndarray:
        return self.classes_[self._outputs(packed).argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the targets that are said right."""
        packed = self._pack_fitted(X)
        target = align(y, packed)
        weight = align_weights(sample_weight, packed)
        right = self._labels(packed) == one_column(target.values, warn=False)
        weights = target.there if weight is None else np.where(target.there, weight, 0)
        return float(np.average(right, weights=weights))

    def _answers(self) -> tuple[Any, ...]:
        return tuple(c.item() if hasattr(c, "item") else c for c in self.classes_)

    def _take_schema(self, model: _native.Model) -> None:
        self.classes_ = classes_from_text(model.classes)


class RecurrentTreeRegressor(Estimator):
    """A decision tree with memory that says one number or several at every step of a sequence, or at its end."""

    _estimator_type = "regressor"

    def _learn_target(self, target: Target) -> None:
        self.n_outputs_ = 1 if target.values.ndim == 1 else target.values.shape[1]
        self._one_dimensional = target.values.ndim == 1

    def _set_target(self, data: _native.Data, target: Target, weights: np.ndarray) -> None:
        data.set_values(regression_values(target), weights, target.names, target.per_sequence)

    def predict(self, X: Any) -> Any:
        """The value at every step, in the shape of X, or per sequence where targets are per sequence. With
        objective="quantile" a column per quantile."""
        packed = self._pack_fitted(X)
        return self._given(packed, self._values(packed))

    def _values(self, packed: Packed) -> np.ndarray:
        values = self._outputs(packed).astype(np.float64)
        return values[:, 0] if self._one_dimensional and values.shape[1] == 1 else values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R2, the mean of the outputs'."""
        packed = self._pack_fitted(X)
        target = align(y, packed)
        weight = align_weights(sample_weight, packed)
        weights = (target.there if weight is None else np.where(target.there, weight, 0)).astype(np.float64)[:, None]
        truth = regression_values(target).astype(np.float64)
        error = ((truth - self._outputs(packed)[:, self.model_.points]) ** 2 * weights).sum(axis=0)
        mean = (truth * weights).sum(axis=0) / weights.sum()
        spread = ((truth - mean) ** 2 * weights).sum(axis=0)
        return float(np.mean([1 - e / s if s > 0 else float(e == 0) for e, s in zip(error, spread)]))

    def _take_schema(self, model: _native.Model) -> None:
        self.n_outputs_ = len(model.targets)
        self._one_dimensional = self.n_outputs_ == 1


for _estimator in (RecurrentTreeClassifier, RecurrentTreeRegressor):
    _estimator.__doc__ = f"{_estimator.__doc__}\n\n    {(Parameters.__doc__ or '').strip()}\n    "
