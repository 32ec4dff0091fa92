"""What estimators learn from and predict on, read by the library as the program reads a file."""
from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, Iterable, NamedTuple

import numpy as np

from . import _native
from ._booleans import Trained
from ._conventions import Conventions
from ._frames import is_frame, library_of
from ._inputs import LIST_ID, LIST_TIME, Packed, Tables, is_matrix, tables_of
from ._targets import Target, align, align_weights, keep_last

NOT_COLUMNS = ("row", "file", "none")  # what id and time may say beside the name of a column
MOST_TARGETS = 1000  # names of columns; a longer list of texts is classes
EXPECTED_NOTES = ("no id column", "every file is one sequence")


class Learnable(NamedTuple):
    """What a fit learns from."""

    raw: _native.Raw
    tables: Tables
    names: list[str]  # of the target columns; empty where y is an array
    roles: list[tuple[str, str]]
    columns: list[str]
    per_sequence: bool


class Reading(Conventions):
    """Roles of columns, targets and weights: from what users pass to data of the library."""

    _column_names: list[str]  # the columns that inputs are made from
    _from_file: bool

    def _tables(self, X: Any, names: list[str] | None, index: Iterable[str] = (), trained: Trained | None = None) -> Tables:
        wanted = tuple(name for name in (self.id, self.time, *index) if name)
        tables = tables_of(X, axes=self.axes, names=names, index=wanted, estimator=type(self).__name__, trained=trained)
        given = {name: value for name, value in (("id", self.id), ("time", self.time)) if value not in (None, *NOT_COLUMNS)}
        if not tables.named and given:
            name, value = next(iter(given.items()))
            raise ValueError(f"{name}={value!r}: expected a data frame with that column, got an array without names: pass a frame, or a list with an "
                             f"array per sequence and {name}=None")
        return tables

    def _roles(self, tables: Tables, targets: list[str], fitting: bool) -> list[tuple[str, str]]:
        """By the names of the program's flags."""
        roles = [("target", name) for name in targets] + self._limit()
        if not tables.named:
            id = tables.id or self.id or ("row" if fitting else None)
            return roles + ([("id", id)] if id else []) + [("time", "none")]
        id, time = self.id, self.time
        if not fitting and tables.kind == "frames" and id is None and self.model_.id not in ("", "row", *(tables.names or ())):
            id = "file"  # each frame is a sequence, without the id column of the model
        if fitting and tables.panel and id is None and time is None:
            id, time = tables.panel
        elif fitting and tables.names:
            id, time = self._usual(tables, targets)
        roles += [("strict-time", "true")] if self.strict_time else []
        return roles + ([("id", id)] if id else []) + ([("time", time)] if time else [])

    def _limit(self) -> list[tuple[str, str]]:
        return [] if self.memory_limit is None else [("memory-limit", str(self.memory_limit))]

    def _usual(self, tables: Tables, targets: list[str]) -> tuple[str, str]:
        """What was not said of a frame to learn from, by the names of its columns."""
        free = [name for name in tables.names or () if name not in (self.id, self.time, *targets, *listed(self.ignore))]
        found = _native.usual_columns("id", free) if self.id is None else []
        if len(found) > 1:
            raise ValueError(f"expected one column that names the sequences, got {found}: choose one with id=, or use id='row' if every row is a sequence")
        alone = "file" if tables.kind == "frames" else "row" if self.time is None else "none"
        id = self.id or (found[0] if found else alone)
        times = _native.usual_columns("time", [name for name in free if name != id]) if self.time is None and id != "row" else []
        if len(times) > 1:
            raise ValueError(f"expected one column that orders the steps, got {times}: choose one with time=, or use time='none' for the order of the rows")
        time = self.time or (times[0] if times else "none")
        if self.horizon and targets and id == "row" and self.id is None:
            raise ValueError(f"horizon={self.horizon}: expected sequences, got a frame without an id column, of which every row is a sequence of its own: "
                             "id='none' makes the rows one sequence, and time= says what orders them")
        if found:
            warnings.warn(f"column {id!r} is taken for the id of the sequences" + (f" and {time!r} for their time" if times else "") +
                          "; id='row' makes every row a sequence of its own", stacklevel=6)
        elif id == "row" and self.id is None:
            warn_of_times(_native.usual_columns("time", free), tables.dated)
        return id, time

    def _roles_to_learn(self, tables: Tables, targets: list[str], group: str | None) -> list[tuple[str, str]]:
        roles = self._roles(tables, targets, True) + ([("group", group)] if group else [])
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
        trained = Trained.of(model.columns, model.words, model.targets, model.classes)
        tables = self._tables(X, self._column_names, (model.id, model.time, *self._column_names), trained)
        if not tables.named:
            if tables.width != self.n_features_in_:
                raise ValueError(f"X has {tables.width} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.")
            if tables.kind == "table" and hasattr(self, "feature_names_in_") and not self._from_file:
                warnings.warn(f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names", stacklevel=3)
        data = model.read(tables.tables, self._roles(tables, list(targets), False), need_target)
        warn_of(data)
        return Packed.of(data, tables)

    def _read_scored(self, X: Any, y: Any) -> Packed:
        self._check_fitted()
        names = target_names(y, X)
        if y is not None and names is None and self.model_.horizon:
            raise ValueError(f"y: expected the name of a column of X, since the model has horizon={self.model_.horizon}, got an array")
        return self._read(X, need_target=y is None or names is not None, targets=names or ())

    def _align(self, y: Any, packed: Packed) -> Target:
        """y for the fitted model, which may want one target per sequence."""
        target = align(y, packed)
        return keep_last(target, packed) if self.per_sequence_ and not target.per_sequence else target

    def _set_target(self, data: Any, target: Target, weights: np.ndarray) -> None:
        raise NotImplementedError

    def _learn_target(self, target: Target) -> None:
        raise NotImplementedError

    def _take_target(self, raw: _native.Raw) -> None:
        raise NotImplementedError

    def _learnable(self, X: Any, y: Any, sample_weight: Any, group: str | None = None) -> Learnable:
        """X, y and weights as data to learn from; what is known of the target is kept in the estimator. group: the column by which they will
        be split."""
        names = target_names(y, X) or []
        tables = self._tables(X, None)
        if names and not tables.named:
            raise ValueError(f"y={y!r}: expected a data frame with that column, got an array without names")
        if group and not tables.named:
            raise ValueError(f"split={group!r}: expected sequence, time, or a column of a data frame, got an array without names")
        roles = self._roles_to_learn(tables, names, group)
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
            target.names = [free_name(name, {*columns, raw.id, raw.time}) for name in target.names]
            if raw.id == "row" and not target.there.all():
                raise ValueError("Input y contains NaN.")
            self._learn_target(target)
            self._set_target(raw, target, weights_of(target, weight))
            per_sequence = target.per_sequence
        if weight is not None:
            raw = drop_weightless(raw)
        return Learnable(raw, tables, names, roles, columns, per_sequence)

    def _held_out_data(self, what: str, given: Any, names: list[str], training: _native.Data, roles: list[tuple[str, str]],
                       columns: list[str]) -> _native.Data:
        """Data for validation or for a test: (X, y), or X alone where y is the name of a column."""
        X, y = pair_of(given, what)
        if not names and y is None:
            raise ValueError(f"{what}: expected (X, y), got no y")
        if names and y is not None and target_names(y, X) != names:
            raise ValueError(f"validation and test data: expected X alone, or with y={names if len(names) > 1 else names[0]!r} as in fit, got another y")
        tables = self._tables(X, columns, trained=Trained.of(columns, training.words, training.targets, training.classes))
        placed = [(name, text) for name, text in roles if name in ("id", "time", "target", "strict-time", "memory-limit")] if tables.named else self._roles(tables, [], True)
        data = training.read_like(tables.tables, placed, bool(names))
        warn_of(data)
        if not names:
            target = align(y, Packed.of(data, tables))
            self._set_target(data, target, weights_of(target, None))
        return data

    def _weigh_classes(self, data: Any) -> bool:
        """Multiplies the weights by class of `class_weight` into those of the steps; whether there are any. Not for data of a test: they would
        count in its score."""
        if isinstance(self.class_weight, Mapping):
            raise ValueError(f"class_weight={self.class_weight!r}: has no effect here: regression has no classes")
        return False


def free_name(name: str, taken: set[str]) -> str:
    """A target that stands beside X may be called like a column of X; in the model file it needs a name of its own."""
    while name in taken:
        name += "_"
    return name


def listed(names: Any) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def target_names(y: Any, X: Any) -> list[str] | None:
    """The names of columns of X that y is, or None where it holds values. A list of texts beside an array holds classes."""
    if isinstance(y, str):
        return [y]
    named = isinstance(X, (str, os.PathLike)) or is_frame(X) or (isinstance(X, (list, tuple)) and len(X) > 0 and all(is_frame(s) for s in X))
    listed_names = isinstance(y, (list, tuple)) and 0 < len(y) <= MOST_TARGETS and all(isinstance(name, str) for name in y)
    return list(y) if named and listed_names and not are_labels(list(y), X) else None


def are_labels(texts: list[str], X: Any) -> bool:
    """Whether a list of texts beside a table cannot be names of its columns, but can be one label per row or sequence."""
    if isinstance(X, (str, os.PathLike)):
        return len(set(texts)) < len(texts)
    tables = list(X) if isinstance(X, (list, tuple)) else [X]
    columns = [str(name) for name in columns_of(tables[0])]
    if not columns or set(texts) <= set(columns):
        return False
    rows = sum(len(table) for table in tables if hasattr(table, "__len__"))
    return len(set(texts)) < len(texts) or len(texts) > len(columns) or len(texts) in (rows, len(tables) if len(tables) > 1 else rows)


def columns_of(table: Any) -> list[Any]:
    if isinstance(table, np.ndarray):
        return list(table.dtype.names)
    return list(table.schema.names if hasattr(table, "schema") and hasattr(table.schema, "names") and library_of(table) == "pyarrow" else
                getattr(table, "columns", []))


def pair_of(given: Any, what: str = "validation") -> tuple[Any, Any]:
    """(X, y), or X alone."""
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ValueError(f"{what}: expected (X, y), got a tuple of {len(given)}")
        return given[0], given[1]
    if isinstance(given, (bool, int, float, np.number)):
        raise ValueError(f"{what}: expected (X, y), got {given!r}; a share of X is held out with validation_fraction")
    if isinstance(given, list) and given:
        pairs = any(isinstance(part, tuple) and part and not np.isscalar(part[0]) for part in given)
        tables = [is_frame(part) or is_matrix(part) for part in given]
        if pairs or any(tables) != all(tables):
            raise ValueError(f"{what}: expected (X, y) as a tuple, got a list")
    return given, None


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


def warn_of_times(columns: list[str], dated: bool) -> None:
    """A frame without an id is a table, each row by itself; with times it is more likely a recording."""
    if columns or dated:
        wanted = f"time={columns[0]!r}" if columns else "id='none'"
        warnings.warn(f"{f'column {columns[0]!r} is an input' if columns else 'the index of times is not used'}, and every row is a sequence of its own: "
                      f"{wanted} makes the rows one sequence, id='row' keeps them apart without this warning", stacklevel=7)


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
