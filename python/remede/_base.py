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
from typing import Any, Callable, Iterable, NamedTuple, TypeVar

import numpy as np

from . import _native
from ._deploy import Deployable
from ._inputs import LIST_ID, LIST_TIME, Packed, Tables, tables_of
from ._parameters import PARAMETERS, Parameters
from ._progress import progress_bar
from ._targets import Target, align, align_weights
from ._trace import Trace

Callback = Callable[[_native.Progress], Any]
Self = TypeVar("Self", bound="Estimator")
NOT_COLUMNS = ("row", "file", "none")  # what id and time may say beside the name of a column
MOST_TARGETS = 1000  # names of columns; a longer list of texts is classes
EXPECTED_NOTES = ("no id column", "every file is one sequence")


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


class Learnable(NamedTuple):
    """What a fit learns from."""

    raw: _native.Raw
    tables: Tables
    names: list[str]  # of the target columns; empty where y is an array
    roles: list[tuple[str, str]]
    columns: list[str]
    per_sequence: bool


class Estimator(Deployable, Parameters):
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

    def _tables(self, X: Any, names: list[str] | None, index: Iterable[str] = ()) -> Tables:
        wanted = tuple(name for name in (self.id, self.time, *index) if name)
        tables = tables_of(X, axes=self.axes, names=names, index=wanted, estimator=type(self).__name__)
        given = {name: value for name, value in (("id", self.id), ("time", self.time)) if value not in (None, *NOT_COLUMNS)}
        if not tables.named and given:
            name, value = next(iter(given.items()))
            raise ValueError(f"{name}={value!r}: expected a data frame with that column, got an array without names: pass a frame, or a list with an "
                             f"array per sequence and {name}=None")
        return tables

    def _roles(self, tables: Tables, targets: list[str], fitting: bool) -> list[tuple[str, str]]:
        """By the names of the program's flags."""
        roles = [("target", name) for name in targets]
        if not tables.named:
            id = tables.id or self.id or ("row" if fitting else None)
            return roles + ([("id", id)] if id else []) + [("time", "none")]
        id, time = self.id, self.time
        if fitting and tables.panel and id is None and time is None:
            id, time = tables.panel
        elif fitting and tables.names:
            id, time = self._usual(tables, targets)
        roles += [("strict-time", "true")] if self.strict_time else []
        return roles + ([("id", id)] if id else []) + ([("time", time)] if time else [])

    def _usual(self, tables: Tables, targets: list[str]) -> tuple[str, str]:
        """What was not said of a frame to learn from, by the names of its columns."""
        free = [name for name in tables.names or () if name not in (self.id, self.time, *targets, *listed(self.ignore))]
        found = _native.usual_columns("id", free) if self.id is None and self.time is None else []
        if len(found) > 1:
            raise ValueError(f"expected one column that names the sequences, got {found}: say which with id=, or id='row' where every row is one")
        id = self.id or (found[0] if found else "row" if self.time is None else "none")
        times = _native.usual_columns("time", [name for name in free if name != id]) if self.time is None and id != "row" else []
        if len(times) > 1:
            raise ValueError(f"expected one column that orders the steps, got {times}: say which with time=, or time='none' for the order of the rows")
        time = self.time or (times[0] if times else "none")
        if found:
            warnings.warn(f"column {id!r} is taken for the id of the sequences" + (f" and {time!r} for their time" if times else "") +
                          "; id='row' makes every row a sequence of its own", stacklevel=5)
        return id, time

    def _roles_to_learn(self, tables: Tables, targets: list[str]) -> list[tuple[str, str]]:
        roles = self._roles(tables, targets, True)
        taken = {text for name, text in roles} | set(listed(self.ignore))
        categorical = dict.fromkeys([*listed(self.categorical), *(name for name in tables.categories if name not in taken)])
        roles += [("categorical", name) for name in categorical] + [("ignore", name) for name in listed(self.ignore)]
        roles += [("time-gap", "true")] if self.time_gap else []
        if targets:
            roles += [("task", "classification" if self._estimator_type == "classifier" else "regression")]
            roles += [("horizon", str(self.horizon))] if self.horizon else []
            roles += [("target-per", self.target_per)] if self.target_per else []
        elif self.horizon or self.target_per:
            name = "horizon" if self.horizon else "target_per"
            raise ValueError(f"{name}={getattr(self, name)!r}: expected the target as the name of a column of X, got an array")
        return roles

    def _read(self, X: Any, need_target: bool = False, targets: Iterable[str] = ()) -> Packed:
        """X for the fitted model: columns are found by their names, as the program finds them in a file."""
        self._check_fitted()
        model = self.model_
        tables = self._tables(X, self._column_names, (model.id, model.time, *self._column_names))
        if not tables.named:
            if tables.width != self.n_features_in_:
                raise ValueError(f"X has {tables.width} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.")
            if tables.kind == "table" and hasattr(self, "feature_names_in_") and not self._from_file:
                warnings.warn(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names", stacklevel=3)
        data = model.read(tables.tables, self._roles(tables, list(targets), False), need_target)
        warn_of(data)
        return Packed.of(data, tables)

    def _read_scored(self, X: Any, y: Any) -> Packed:
        names = target_names(y)
        return self._read(X, need_target=y is None or names is not None, targets=names or ())

    def _set_target(self, data: Any, target: Target, weights: np.ndarray) -> None:
        raise NotImplementedError

    def _learn_target(self, target: Target) -> None:
        raise NotImplementedError

    def _take_target(self, raw: _native.Raw) -> None:
        raise NotImplementedError

    # Training

    def _learnable(self, X: Any, y: Any, sample_weight: Any) -> Learnable:
        """X, y and weights as data to learn from; what is known of the target is kept in the estimator."""
        names = target_names(y) or []
        tables = self._tables(X, None)
        if names and not tables.named:
            raise ValueError(f"y={y!r}: expected a data frame with that column, got an array without names")
        roles = self._roles_to_learn(tables, names)
        raw = _native.read(tables.tables, roles, bool(names), tables.names == [])
        warn_of(raw)
        if tables.id:
            raw.rename(LIST_ID, LIST_TIME)
        packed, columns = Packed.of(raw, tables), raw.columns
        weight = align_weights(sample_weight, packed)
        if names:
            self._take_target(raw)
            per_sequence = self.target_per == "sequence"
            if weight is not None:
                raw.multiply_weights(weight.astype(np.float32))
        else:
            target = align(y, packed)
            if raw.id == "row" and not target.there.all():
                raise ValueError("Input y contains NaN.")
            self._learn_target(target)
            self._set_target(raw, target, weights_of(target, weight))
            per_sequence = target.per_sequence
        if weight is not None:
            raw = drop_weightless(raw)
        return Learnable(raw, tables, names, roles, columns, per_sequence)

    def fit(self: Self, X: Any, y: Any = None, sample_weight: Any = None, *, validation: Any = None,
            callbacks: Callback | Iterable[Callback] | None = None) -> Self:
        """Learns a tree.

        X: a 2-D array (each row a sequence of one step), a list of 2-D arrays (steps, inputs), a 3-D array (see `axes`), a pandas,
            polars or Arrow frame or a structured array in long format (see `id`, `time`), a list of frames, a pandas frame whose index
            is (instance, time) or whose cells are series, or the path of a file. Tables with names are read as the program reads a
            file: the same types, words, limits and messages.
        y: a target per row or step, in the shape of X, or one per sequence (learned and given at its last step). Of a frame also
            the name of a column, or a list of names. Missing ones (NaN, None) are steps without a target.
        sample_weight: a weight per sequence, or per row or step.
        validation: (X, y) to validate on; otherwise a part of X is held out (validation_fraction).
        callbacks: called with a `Progress` while training runs; one that returns True ends it with the best model so far.

        Ctrl-C ends training with the best model so far (`stopped_` is True then); a second one raises KeyboardInterrupt.
        """
        if validation is not None and self.validation_fraction is not None:
            raise ValueError("validation_fraction: has no effect here: the validation data are given")
        learnable = self._learnable(X, y, sample_weight)
        raw, tables, names, roles, columns, per_sequence = learnable
        training = _native.encode(raw, self._settings(), validation is not None)
        held = self._validation_data(validation, names, training, roles, columns) if validation is not None else None
        self._fit(training, held, callbacks)
        self.n_features_in_ = len(columns)
        self.per_sequence_ = per_sequence
        if tables.named and not all_numbered(X):
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._column_names = columns
        self._from_file = False
        return self

    def _validation_data(self, validation: Any, names: list[str], training: _native.Data, roles: list[tuple[str, str]],
                         columns: list[str]) -> _native.Data:
        X, y = validation if isinstance(validation, tuple) else (validation, None)
        tables = self._tables(X, columns)
        placed = [(name, text) for name, text in roles if name in ("id", "time", "target", "strict-time")] if tables.named else self._roles(tables, [], True)
        data = training.read_like(tables.tables, placed, bool(names))
        warn_of(data)
        if not names:
            target = align(y, Packed.of(data, tables))
            self._set_target(data, target, weights_of(target, None))
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

    def _outputs(self, packed: Packed) -> np.ndarray:
        """(steps, outputs): probabilities or values."""
        return self.model_.predict(packed.data, threads_of(self.n_jobs))[0]

    def _given(self, packed: Packed, steps: np.ndarray) -> Any:
        """In the shape of X; where targets are per sequence, one per sequence."""
        return steps[packed.last] if self.per_sequence_ else packed.shaped(steps)

    def apply(self, X: Any) -> Any:
        """The leaf that each step reaches (of the first tree; several trees: an array with a column per tree), in the shape of X."""
        packed = self._read(X)
        leaves = self.model_.predict(packed.data, threads_of(self.n_jobs))[1]
        return packed.shaped(leaves[0] if len(leaves) == 1 else np.ascontiguousarray(leaves.T))

    def _answers(self) -> tuple[Any, ...]:
        return ()

    def trace(self, X: Any, sequence: int = 0, y: Any = None) -> Trace:
        """What the tree did in one sequence of X, step by step: the path, what was read, what was written, the answer."""
        names = target_names(y)
        packed = self._read(X, need_target=names is not None, targets=names or ())
        if y is not None and names is None:
            target = align(y, packed)
            self._set_target(packed.data, target, weights_of(target, None))
        return Trace(*self.model_.trace(packed.data, range(packed.sequences)[sequence]))

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
        estimator.categorical, estimator.ignore = model.categorical or None, model.ignore or None
        estimator.horizon, estimator.time_gap = model.horizon or None, model.time_gap
        estimator.target_per = "sequence" if model.per_sequence else None
        estimator._column_names = model.columns
        estimator.n_features_in_ = len(estimator._column_names)
        estimator.feature_names_in_ = np.array(estimator._column_names, dtype=object)
        estimator.per_sequence_ = model.per_sequence
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


def listed(names: Any) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def target_names(y: Any) -> list[str] | None:
    """The names of columns that y is, or None where it holds values."""
    if isinstance(y, str):
        return [y]
    return list(y) if isinstance(y, (list, tuple)) and 0 < len(y) <= MOST_TARGETS and all(isinstance(name, str) for name in y) else None


def weights_of(target: Target, weight: np.ndarray | None) -> np.ndarray:
    return target.there.astype(np.float32) if weight is None else np.where(target.there, weight, 0).astype(np.float32)


def drop_weightless(raw: _native.Raw) -> _native.Raw:
    """Sequences without any weight are as good as absent: then they are not held out for validation either."""
    keep = np.add.reduceat(raw.weight, raw.offset[:-1]) > 0
    if not keep.any():
        raise ValueError("expected a weight above zero at some target, got zero everywhere")
    return raw if keep.all() else raw.select(np.flatnonzero(keep).astype(np.uint32))


def warn_of(data: Any) -> None:
    """What reading had to assume, where it may surprise."""
    for note in data.notes:
        if not note.startswith(EXPECTED_NOTES):
            warnings.warn(note, stacklevel=4)


def all_numbered(X: Any) -> bool:
    """A frame whose columns are numbered rather than named is an array to scikit-learn."""
    if type(X).__module__.split(".")[0] != "pandas":
        return False
    columns = list(X.columns)
    kinds = {isinstance(name, str) for name in columns}
    if len(kinds) > 1:
        raise TypeError("Feature names are only supported if all input features have string names, but your input has "
                        f"{sorted({type(n).__name__ for n in columns})} as feature name / column name types. If you want feature names to be stored "
                        "and validated, you must convert them all to strings, by using X.columns = X.columns.astype(str) for example.")
    return kinds == {False}


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
