"""What both estimators share: scikit-learn's conventions around the C++ library, without scikit-learn."""
from __future__ import annotations

import copy
import datetime
import inspect
import json
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Iterable, TypeVar

import numpy as np

from . import _native
from ._inputs import Packed, is_frame, pack
from ._parameters import PARAMETERS, Parameters
from ._progress import progress_bar
from ._targets import Target, align, align_weights
from ._trace import Trace

Callback = Callable[[_native.Progress], Any]
Self = TypeVar("Self", bound="Estimator")


PYTHON_NAMES = {"numbers": "max_numbers"}  # hyper-parameters that are called otherwise here
SETTING_NAMES = {python: name for name, python in PYTHON_NAMES.items()}


def setting_text(name: str, value: Any) -> str:
    """A value as the declaration in C++ reads it."""
    if value is None:
        return "auto" if PARAMETERS.get(name, ("", False))[1] else "None"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if name == "recipe":
        return recipe_text(value)
    if isinstance(value, datetime.timedelta):
        return repr(value.total_seconds())
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(setting_text(name, v) for v in value)
    if isinstance(value, (float, np.floating)) and not float(value).is_integer():
        return repr(float(value))
    if isinstance(value, (int, float, np.integer, np.floating)):
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def recipe_text(recipe: Any) -> str:
    """A name, a dictionary of fields, or the path of a JSON file, as the declaration in C++ reads it."""
    if isinstance(recipe, dict):
        return json.dumps(recipe)
    path = os.fspath(recipe) if isinstance(recipe, os.PathLike) else recipe
    if isinstance(path, str) and path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            return file.read()
    return str(path)


def recipe(recipe: Any = "default") -> dict[str, Any]:
    """All fields of a recipe: of `default` or `paper`, a JSON file, or a dictionary of the fields that differ."""
    return json.loads(_native.recipe(recipe_text(recipe)))


def setting_value(name: str, text: str) -> Any:
    """The other way round."""
    kind, optional = PARAMETERS[name]
    if optional and text == "auto":
        return None
    if name == "recipe" and text.startswith("{"):
        return json.loads(text)
    return {"bool": lambda t: t == "yes", "int": int, "float": float,
            "list[float]": lambda t: [float(v) for v in t.split(",")]}.get(kind, str)(text)


# Earlier files record what the recipe decided itself as if it had been given.
EARLIER_DEFAULTS = {"starts": "32", "improve": "yes", "batch": "32", "decay": "0.25", "validation_fraction": "0.2", "rate_index": "0.03",
                    "rate_threshold": "0.006", "rate_output": "0.1", "rate_gate": "0.2", "rate_write": "0.2", "rate_bias": "0.1",
                    "rate_rate": "0.05", "rate_linear": "0.02"}


def given_settings(settings: dict[str, str]) -> dict[str, Any]:
    """The recorded hyper-parameters as arguments of an estimator."""
    decided = {} if "effort" in settings else EARLIER_DEFAULTS
    named = {PYTHON_NAMES.get(name, name): text for name, text in settings.items() if decided.get(name) != text}
    return {name: setting_value(name, text) for name, text in named.items() if name in PARAMETERS}


class Estimator(Parameters):
    """See RecurrentTreeClassifier and RecurrentTreeRegressor."""

    _estimator_type: str = ""

    # scikit-learn's conventions

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

    # Data

    def _pack(self, X: Any, targets: Iterable[str] = (), inputs: list[str] | None = None) -> Packed:
        return pack(X, id=self.id, time=self.time, axes=self.axes, targets=targets, inputs=inputs, estimator=type(self).__name__)

    def _pack_fitted(self, X: Any) -> Packed:
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        packed = self._pack(X, inputs=None if names is None else list(names))
        if packed.names is not None and names is not None and packed.names != list(names):
            raise ValueError(names_message(list(names), packed.names))
        from_file = getattr(self, "_from_file", False)  # a file always has names; who trained it need not have given them
        if packed.names is None and names is not None and packed.kind == "table" and not from_file:
            warnings.warn(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names", stacklevel=3)
        if packed.names is not None and names is None:
            warnings.warn(f"X has feature names, but {type(self).__name__} was fitted without feature names", stacklevel=3)
        if packed.x.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {packed.x.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.")
        return packed

    def _data(self, packed: Packed, target: Target, weight: np.ndarray | None) -> _native.Data:
        names = packed.names or [f"x{k + 1}" for k in range(packed.x.shape[1])]
        data = _native.Data(packed.x, packed.offset, names, packed.id_name, packed.time_name)
        weights = target.there.astype(np.float32) if weight is None else np.where(target.there, weight, 0).astype(np.float32)
        self._set_target(data, target, weights)
        return data

    def _encoded(self, packed: Packed) -> np.ndarray:
        """(steps, inputs): words as what they count as."""
        if self._code is None:
            return packed.x
        data = _native.Data(packed.x, packed.offset, packed.names or list(self._raw_inputs))
        data.encode(word_lists(packed), self._code)
        return data.x

    def _set_target(self, data: _native.Data, target: Target, weights: np.ndarray) -> None:
        raise NotImplementedError

    def _learn_target(self, target: Target) -> None:
        raise NotImplementedError

    # Training

    def fit(self: Self, X: Any, y: Any = None, sample_weight: Any = None, *, validation: Any = None,
            callbacks: Callback | Iterable[Callback] | None = None) -> Self:
        """Learns a tree.

        X: a 2-D array or frame (each row a sequence of one step), a list of 2-D arrays (steps, inputs), a 3-D array (see `axes`), a
            pandas, polars or Arrow frame in long format (see `id`, `time`), or a pandas frame whose index is (instance, time).
        y: a target per row or step, in the shape of X, or one per sequence (learned and given at its last step). Of a frame also
            the name of a column, or a list of names. Missing ones (NaN, None) are steps without a target.
        sample_weight: a weight per sequence, or per row or step.
        validation: (X, y) to validate on; otherwise a part of X is held out (validation_fraction).
        callbacks: called with a `Progress` while training runs; one that returns True ends it with the best model so far.

        Ctrl-C ends training with the best model so far (`stopped_` is True then); a second one raises KeyboardInterrupt.
        """
        if validation is not None and self.validation_fraction is not None:
            raise ValueError("validation_fraction: has no effect here: the validation data are given")
        names = [y] if isinstance(y, str) else y if is_frame(X) and is_list_of_names(y) else None
        packed = self._pack(X, targets=names or ())
        target = align(y, packed, names)
        if packed.kind == "table" and not target.there.all():
            raise ValueError("Input y contains NaN.")
        weight = align_weights(sample_weight, packed)
        if weight is not None:
            packed, target, weight = drop_weightless(packed, target, weight)
        self._learn_target(target)
        training = self._data(packed, target, weight)
        self._raw_inputs = list(training.inputs)
        self._code = training.encode(word_lists(packed), None) if packed.words else None
        held = self._validation_data(validation, names, packed) if validation is not None else None
        self._fit(training, held, callbacks)
        self.n_features_in_ = packed.x.shape[1]
        self.per_sequence_ = target.per_sequence
        if packed.names is not None:
            self.feature_names_in_ = np.array(packed.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._inputs = list(training.inputs)
        self._from_file = False
        return self

    def _validation_data(self, validation: Any, names: list[str] | None, like: Packed) -> _native.Data:
        X, y = validation if isinstance(validation, tuple) else (validation, None)
        packed = self._pack(X, targets=names or (), inputs=like.names)
        data = self._data(packed, align(y, packed, names), None)
        if self._code is not None:
            data.encode(word_lists(packed), self._code)
        return data

    def _settings(self) -> list[tuple[str, str]]:
        settings = [(SETTING_NAMES.get(name, name), setting_text(name, getattr(self, name))) for name in PARAMETERS]
        return [*settings, ("seed", str(seed_of(self.random_state))), ("threads", str(threads_of(self.n_jobs)))]

    def _fit(self, training: _native.Data, held: _native.Data | None, callbacks: Any) -> None:
        calls = [] if callbacks is None else [callbacks] if callable(callbacks) else list(callbacks)
        with progress_bar(self.verbose, calls) as told:
            callback = (lambda progress: any([call(progress) for call in told])) if told else None
            found = _native.fit(training, held, self._settings(), callback)
        raised = found["raised"]
        if "model" not in found:
            raise raised
        self.model_ = found["model"]
        self.validation_score_ = found["score"]
        self.trained_nodes_ = found["trained_nodes"]
        self.stopped_ = found["stopped"]
        self.late_ = found["late"]
        self._points = found["frontier"]
        self.frontier_reason_ = found["frontier_reason"]
        if raised is None:
            return
        if not isinstance(raised, KeyboardInterrupt) or found["interruptions"] > 1:
            raise raised
        warnings.warn("training was interrupted: this is the best model so far", RuntimeWarning, stacklevel=3)

    @property
    def frontier_(self: Self) -> list[Self]:
        """Fitted estimators of all sizes, the smallest first: each does better on validation data than all that are smaller. Their
        `validation_score_` says how well, with its standard error, and which was chosen; `frontier_reason_` says why."""
        self._check_fitted()
        estimators = []
        for model, score in getattr(self, "_points", []):
            estimator = copy.copy(self)
            estimator.model_, estimator.validation_score_, estimator._points = model, score, []
            estimators.append(estimator)
        return estimators

    # Use

    def _columns(self) -> list[int]:
        """Where the model's inputs stand in X: training drops those that nothing reads."""
        place = {name: k for k, name in enumerate(self._inputs)}
        return [place[name] for name in self.model_.inputs]

    def _outputs(self, packed: Packed) -> np.ndarray:
        """(steps, outputs): probabilities or values."""
        return self.model_.predict(self._encoded(packed), packed.offset, self._columns(), threads_of(self.n_jobs))[0]

    def _given(self, packed: Packed, steps: np.ndarray) -> Any:
        """In the shape of X; where targets are per sequence, one per sequence."""
        return steps[packed.last] if self.per_sequence_ else packed.shaped(steps)

    def apply(self, X: Any) -> Any:
        """The leaf that each step reaches (of the first tree; several trees: an array with a column per tree), in the shape of X."""
        packed = self._pack_fitted(X)
        leaves = self.model_.predict(self._encoded(packed), packed.offset, self._columns(), threads_of(self.n_jobs))[1]
        return packed.shaped(leaves[0] if len(leaves) == 1 else np.ascontiguousarray(leaves.T))

    def stream(self) -> _native.Stream:
        """A live sequence: its `step(x)` takes the inputs of one step and answers at once. Many streams can share a model."""
        self._check_fitted()
        if self._code is not None:
            raise ValueError("expected a model of numbers, got one that reads words: streams of words are not there yet")
        return _native.Stream(self.model_, self.n_features_in_, self._columns(), self._answers())

    def _answers(self) -> tuple[Any, ...]:
        return ()

    def trace(self, X: Any, sequence: int = 0, y: Any = None) -> Trace:
        """What the tree did in one sequence of X, step by step: the path, what was read, what was written, the answer."""
        packed = self._pack_fitted(X)
        columns = self._columns()
        data = _native.Data(np.ascontiguousarray(self._encoded(packed)[:, columns]), packed.offset, self.model_.inputs, packed.id_name, packed.time_name)
        if packed.ids is not None:
            data.name_sequences([str(i) for i in packed.ids])
        if packed.times is not None:
            data.name_steps([str(t) for t in packed.times])
        if y is not None:
            target = align(y, packed)
            self._set_target(data, target, target.there.astype(np.float32))
        return Trace(*self.model_.trace(data, range(packed.sequences)[sequence]))

    def _named(self, cell_names: Mapping[str, str] | Sequence[str] | None) -> _native.Model:
        """The model, with other names for its cells where some are given."""
        self._check_fitted()
        if cell_names is None:
            return self.model_
        if isinstance(cell_names, str):
            raise TypeError(f"expected cell_names as a dict or a list of names, got {cell_names!r}")
        if not isinstance(cell_names, Mapping):
            known = [name for tree in self.model_.cell_names for name in tree]
            if len(self.model_.cell_names) != 1 or len(cell_names) != len(known):
                raise ValueError(f"expected {len(known)} cell_names, one per cell of one tree, or a dict, got {len(cell_names)}")
            cell_names = dict(zip(known, cell_names))
        return self.model_.renamed([(str(old), str(new)) for old, new in cell_names.items() if str(old) != str(new)])

    def rename_cells(self: Self, cell_names: Mapping[str, str] | Sequence[str]) -> Self:
        """Gives the memory cells names, used wherever the model is shown: `{"m1": "snow"}`, or a list in the order of the cells. Predictions
        stay the same. Returns the estimator."""
        self.model_ = self._named(cell_names)
        return self

    @property
    def cell_names_(self) -> list[str]:
        """The names of the memory cells, of all trees one after the other."""
        return [name for tree in self.model_.cell_names for name in tree]

    @property
    def n_numbers_(self) -> int:
        """The size of the model: how many numbers a reader has to take in (see the page on real data)."""
        return self.model_.size[0]

    def to_text(self, cell_names: Mapping[str, str] | Sequence[str] | None = None) -> str:
        """The model as text for reading. `cell_names`: other names for the memory cells, as in `rename_cells`."""
        return self._named(cell_names).to_text()

    def to_dot(self, cell_names: Mapping[str, str] | Sequence[str] | None = None) -> str:
        """The tree in the language of Graphviz."""
        return self._named(cell_names).to_dot()

    def to_svg(self, cell_names: Mapping[str, str] | Sequence[str] | None = None) -> str:
        """The model as an SVG picture."""
        return self._named(cell_names).to_svg()

    def _repr_html_(self) -> str | None:
        return self.model_.to_svg() if hasattr(self, "model_") else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, the same that the program `remede` reads and writes."""
        self._check_fitted()
        self.model_.save(os.fspath(path))

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model file. Its inputs are those that the tree reads, in its order; a file holds no code and runs none."""
        return cls._from_model(_native.Model.load(os.fspath(path)))

    @classmethod
    def _from_model(cls: type[Self], model: _native.Model) -> Self:
        kind = "classifier" if model.is_classifier else "regressor"
        if kind != cls._estimator_type:
            raise ValueError(f"expected the model of a {cls._estimator_type}, got that of a {kind}")
        settings = {name: text for name, text in model.settings}
        estimator = cls(**given_settings(settings), **({"random_state": int(settings["seed"])} if "seed" in settings else {}))
        estimator.model_ = model
        estimator._from_file = True
        estimator._inputs = list(model.inputs)
        column = {code[0]: code[1] for code in model.codes}
        estimator._code = (list(model.inputs), model.codes) if column else None
        estimator._raw_inputs = list(dict.fromkeys(column.get(name, name) for name in model.inputs))
        estimator.n_features_in_ = len(estimator._raw_inputs)
        estimator.feature_names_in_ = np.array(estimator._raw_inputs, dtype=object)
        estimator.per_sequence_ = model.per_sequence
        if model.id not in ("", "row"):
            estimator.id, estimator.time = model.id, model.time or None
        estimator._take_schema(model)
        return estimator

    def _take_schema(self, model: _native.Model) -> None:
        raise NotImplementedError

    @property
    def n_nodes_(self) -> int:
        """Inner nodes and leaves, of all trees."""
        return self.model_.node_count

    @property
    def training_curve_(self) -> dict[str, list[float]]:
        """The losses of the start that won, from validation to validation."""
        return {"training_loss": self.model_.training_loss, "validation_loss": self.model_.validation_loss}


def word_lists(packed: Packed) -> list[list[str]]:
    return [packed.words.get(k, []) for k in range(packed.x.shape[1])]


def is_list_of_names(y: Any) -> bool:
    return isinstance(y, (list, tuple)) and len(y) > 0 and all(isinstance(name, str) for name in y)


def drop_weightless(packed: Packed, target: Target, weight: np.ndarray) -> tuple[Packed, Target, np.ndarray]:
    """Sequences without any weight are as good as absent: then they are not held out for validation either."""
    starts = packed.offset[:-1]
    keep = np.add.reduceat(weight * target.there, starts) > 0
    if keep.all():
        return packed, target, weight
    if not keep.any():
        raise ValueError("expected a weight above zero at some target, got zero everywhere")
    lengths = np.diff(packed.offset)
    steps = np.repeat(keep, lengths)
    offset = np.concatenate(([0], np.cumsum(lengths[keep]))).astype(np.int64)
    fewer = Packed(packed.x[steps], offset, packed.kind, packed.names, packed.id_name, packed.time_name, words=packed.words)
    return fewer, Target(target.values[steps], target.there[steps], target.per_sequence, target.names), weight[steps]


def names_message(expected: list[str], got: list[str]) -> str:
    """scikit-learn's words."""
    message = "The feature names should match those that were passed during fit.\n"
    unexpected, missing = sorted(set(got) - set(expected)), sorted(set(expected) - set(got))
    for what, names in (("Feature names unseen at fit time", unexpected), ("Feature names seen at fit time, yet now missing", missing)):
        if names:
            message += f"{what}:\n" + "".join(f"- {n}\n" for n in names[:5]) + ("- ...\n" if len(names) > 5 else "")
    if not unexpected and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def seed_of(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if random_state is None:
        return int(np.random.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**31 - 1))
    return int(random_state)


def threads_of(n_jobs: int | None) -> int:
    """0: all of them."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 in Parallel has no meaning: expected a number of threads, or -1 for all")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
