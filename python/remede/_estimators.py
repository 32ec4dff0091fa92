"""The two estimators."""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _native
from ._base import Estimator
from ._inputs import Packed
from ._parameters import Parameters
from ._reading import target_names
from ._targets import Target, align_weights, class_text, classes_from_text, find_classes, label_numbers, one_column, regression_values


class RecurrentTreeClassifier(Estimator):
    """A decision tree with memory that predicts a class at every step of a sequence, or once at its end."""

    _estimator_type = "classifier"
    classes_: np.ndarray  # in the order of the columns of predict_proba

    def _learn_target(self, target: Target) -> None:
        target.values = one_column(target.values)
        self.classes_ = find_classes(target.values, target.there)
        if len(self.classes_) < 2:
            raise ValueError(f"expected at least two classes, got {len(self.classes_)} class: {list(self.classes_)}")

    def _take_target(self, raw: _native.Raw) -> None:
        self.classes_ = classes_from_text(raw.classes)

    def _set_target(self, data: Any, target: Target, weights: np.ndarray) -> None:
        label = label_numbers(one_column(target.values, warn=False), target.there, self.classes_)
        unknown = (label < 0) & (weights > 0)
        data.set_labels(np.maximum(label, 0), np.where(unknown, 0, weights).astype(np.float32), target.names[0],
                        [class_text(c) for c in self.classes_], target.per_sequence)
        if unknown.any():
            data.add_unknown(int(unknown.sum()), float(weights[unknown].sum()))
            self._warn_unknown(int(unknown.sum()), one_column(target.values, warn=False)[unknown])

    def _weigh_classes(self, data: Any) -> bool:
        if not isinstance(self.class_weight, Mapping):
            return False
        weights = np.ones(len(self.classes_), np.float32)
        place = {class_text(c): k for k, c in enumerate(self.classes_)}
        for name, weight in self.class_weight.items():
            if class_text(name) not in place:
                raise ValueError(f"class_weight: expected classes of {list(place)}, got {name!r}")
            if not (np.isfinite(weight) and weight >= 0):
                raise ValueError(f"class_weight: expected weights of at least 0, got {weight!r} for {name!r}")
            weights[place[class_text(name)]] = weight
        data.multiply_weights(weights[data.label])
        return True

    @staticmethod
    def _warn_unknown(count: int, labels: np.ndarray) -> None:
        names = ", ".join(repr(str(label)) for label in dict.fromkeys(labels.tolist()))
        warnings.warn(f"{count} target{' is' if count == 1 else 's are'} of a class that was not seen in training ({names}): "
                      f"{'it counts' if count == 1 else 'they count'} as wrong", stacklevel=4)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class at every step, in the shape of X, or per sequence if targets are per sequence."""
        packed = self._read(X)
        return self._given(packed, self._outputs(packed))

    def predict(self, X: Any) -> Any:
        """The class at every step, in the shape of X, or per sequence if targets are per sequence."""
        packed = self._read(X)
        return self._given(packed, self.classes_[self._labels(packed)])

    def _labels(self, packed: Packed) -> np.ndarray:
        return self._outputs(packed).argmax(axis=1)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of the targets that are predicted correctly (accuracy). y: as in fit; by default the target column of the model in X. A class
        that did not occur in training counts as wrong."""
        return self._score_of([self._sums(X, y, sample_weight)])

    def _sums(self, X: Any, y: Any = None, sample_weight: Any = None) -> tuple[float, float]:
        """What a score is made of: the weight of the right answers, and of all."""
        packed = self._read_scored(X, y)
        weight = align_weights(sample_weight, packed)
        if y is not None and target_names(y, X) is None:
            target = self._align(y, packed)
            label = label_numbers(one_column(target.values, warn=False), target.there, self.classes_)
            weights, unknown = target.there.astype(np.float64), 0.0
            if (label < 0).any():
                self._warn_unknown(int((label < 0).sum()), one_column(target.values, warn=False)[label < 0])
        else:
            label, weights, unknown = packed.data.label, packed.data.weight.astype(np.float64), packed.data.unknown_weight
        weights = weights if weight is None else weights * weight
        return float((weights * (self._labels(packed) == label)).sum()), float(weights.sum() + unknown)

    @staticmethod
    def _score_of(sums: list[tuple[float, float]]) -> float:
        return float(np.float64(sum(right for right, _ in sums)) / sum(total for _, total in sums))

    def _answers(self) -> tuple[Any, ...]:
        return tuple(c.item() if hasattr(c, "item") else c for c in self.classes_)

    def _take_schema(self, model: _native.Model) -> None:
        self.classes_ = classes_from_text(model.classes)


class RecurrentTreeRegressor(Estimator):
    """A decision tree with memory that predicts one or several numbers at every step of a sequence, or once at its end."""

    _estimator_type = "regressor"
    n_outputs_: int

    def _learn_target(self, target: Target) -> None:
        self.n_outputs_ = 1 if target.values.ndim == 1 else target.values.shape[1]
        self._one_dimensional = target.values.ndim == 1

    def _take_target(self, raw: _native.Raw) -> None:
        self.n_outputs_ = len(raw.targets)
        self._one_dimensional = self.n_outputs_ == 1

    def _set_target(self, data: Any, target: Target, weights: np.ndarray) -> None:
        data.set_values(regression_values(target), weights, target.names, target.per_sequence)

    def predict(self, X: Any) -> Any:
        """The value at every step, in the shape of X, or per sequence if targets are per sequence. With
        objective="quantile" there is a column per quantile."""
        packed = self._read(X)
        return self._given(packed, self._values(packed))

    def _values(self, packed: Packed) -> np.ndarray:
        values = self._outputs(packed).astype(np.float64)
        return values[:, 0] if self._one_dimensional and values.shape[1] == 1 else values

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The coefficient of determination R2, averaged over the outputs. y: as in fit; by default the target column of the model
        in X."""
        return self._score_of([self._sums(X, y, sample_weight)])

    def _sums(self, X: Any, y: Any = None, sample_weight: Any = None) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """What a score is made of: the weight, and per output the mean, the squared distances from it, and the squared errors."""
        packed = self._read_scored(X, y)
        weight = align_weights(sample_weight, packed)
        if y is not None and target_names(y, X) is None:
            target = self._align(y, packed)
            truth, weights = regression_values(target).astype(np.float64), target.there.astype(np.float64)
        else:
            truth, weights = packed.data.value.astype(np.float64), packed.data.weight.astype(np.float64)
        weights = (weights if weight is None else weights * weight)[:, None]
        error = ((truth - self._outputs(packed)[:, self.model_.points]) ** 2 * weights).sum(axis=0)
        mean = (truth * weights).sum(axis=0) / weights.sum()
        spread = ((truth - mean) ** 2 * weights).sum(axis=0)
        return float(weights.sum()), mean, spread, error

    @staticmethod
    def _score_of(sums: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]]) -> float:
        total, mean, spread, error = sums[0]
        for weight, other, more, wrong in sums[1:]:  # the spread around the mean of both
            if weight == 0:
                continue
            off, both = other - mean, total + weight
            spread = spread + more + off**2 * total * weight / both
            mean = mean + off * weight / both
            total, error = both, error + wrong
        return float(np.mean([1 - e / s if s > 0 else float(e == 0) for e, s in zip(error, spread)]))

    def _take_schema(self, model: _native.Model) -> None:
        self.n_outputs_ = len(model.targets)
        self._one_dimensional = self.n_outputs_ == 1


for _estimator in (RecurrentTreeClassifier, RecurrentTreeRegressor):
    _estimator.__doc__ = f"{_estimator.__doc__}\n\n    {(Parameters.__doc__ or '').strip()}\n    "
