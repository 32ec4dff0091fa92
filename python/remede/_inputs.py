"""Which tables the reader gets for what users have, and how predictions come back in the shape of it.

Arrays, lists of arrays and nested frames become tables as well: their columns are called x1, x2, ... or as the model calls them, and
their sequences get an id.
"""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _native
from ._booleans import Trained, array_as_trained, as_trained
from ._frames import add_array, category_columns, column_name, frame_of, index_names, is_frame, library_of

AXES = {"instance,time,channel": (0, 1, 2), "instance,channel,time": (0, 2, 1), "time,instance,channel": (1, 0, 2),
        "time,channel,instance": (2, 0, 1), "channel,instance,time": (1, 2, 0), "channel,time,instance": (2, 1, 0)}
LIST_ID, LIST_TIME = "sequence", "step"  # what a model file calls the ids and times of a list


@dataclass
class Tables:
    """What the reader gets."""

    tables: list[Any]  # of _native.Frame, or paths of files
    kind: str  # table, list, cube, frame or frames
    width: int = 0  # columns of an array
    names: list[str] | None = None  # of the columns, where they have names
    id: str | None = None  # of a list: the column that was added
    categories: list[str] = field(default_factory=list)  # columns that their type says are categories
    lengths: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # of the sequences of a list or a 3-D array
    panel: tuple[str, ...] | None = None  # of a pandas index with two levels: what they are called
    dated: bool = False  # the index of a pandas frame holds times
    index: Any = None  # of a pandas frame
    time_first: bool = False  # in a 3-D array the axis of time stands before that of instances

    @property
    def named(self) -> bool:
        return self.names is not None


@dataclass
class Packed:
    """Sequences one after the other, as the reader made them of tables."""

    data: Any  # _native.Data or _native.Raw
    kind: str
    offset: np.ndarray  # (sequences + 1) int64: the first step of each
    row: np.ndarray  # (steps) the row of each step
    ids: list[str]  # (sequences) where there is an id
    rows: list[int]  # of each table
    index: Any = None  # of a pandas frame
    time_first: bool = False  # in a 3-D array

    @classmethod
    def of(cls, data: Any, tables: Tables) -> Packed:
        rows = [t.rows for t in tables.tables] if tables.kind == "frames" else []
        ids = data.ids if tables.kind in ("frame", "frames") else []
        return cls(data, tables.kind, data.offset, data.row, ids, rows, tables.index, tables.time_first)

    @property
    def sequences(self) -> int:
        return len(self.offset) - 1

    @property
    def steps(self) -> int:
        return int(self.offset[-1])

    @property
    def last(self) -> np.ndarray:
        """The last step of each sequence."""
        return self.offset[1:] - 1

    def to_steps(self, rows: np.ndarray) -> np.ndarray:
        """From the order of the rows to that of the steps."""
        return rows[self.row]

    def flat(self, values: np.ndarray) -> np.ndarray | None:
        """(steps, ...) of what has the shape of a 3-D array, (instance, time, ...) as predictions or in the order of its axes; None: it has not."""
        sizes = (self.sequences, self.steps // self.sequences)
        if self.kind == "cube" and self.time_first and values.shape[:2] == sizes[::-1]:
            values = values.swapaxes(0, 1)
        return values.reshape((self.steps,) + values.shape[2:]) if self.kind == "cube" and values.shape[:2] == sizes else None

    def shaped(self, steps: np.ndarray) -> Any:
        """Something per step in the shape of the data: an array for tables and frames, (instance, time) for 3-D arrays, a list
        of arrays for a list."""
        if self.kind == "list":
            return np.split(steps, self.offset[1:-1])
        if self.kind == "cube":
            return steps.reshape((self.sequences, -1) + steps.shape[1:])
        rows = np.empty_like(steps)
        rows[self.row] = steps
        return np.split(rows, np.cumsum(self.rows)[:-1]) if self.kind == "frames" else rows


def tables_of(x: Any, *, axes: str | None, names: list[str] | None, index: tuple[str, ...], estimator: str,
              trained: Trained | None = None) -> Tables:
    """names: of the columns of an array, where a model has them. index: names of levels of a pandas index that are wanted as columns. trained: what
    training saw in the columns."""
    if is_sparse(x):
        raise TypeError("Sparse data was passed, but dense data is required: use X.toarray(), sparse input is not supported.")
    if type(x).__name__ == "LazyFrame" and library_of(x) == "polars":
        raise TypeError("expected a DataFrame, got a LazyFrame of polars: use X.collect()")
    if isinstance(x, (str, os.PathLike)):
        return Tables([os.fspath(x)], "frame", names=[])
    if is_frame(x):
        return tables_of_frame(as_trained(x, trained), names, index, trained)
    if isinstance(x, (list, tuple)) and len(x) > 0 and all(is_frame(s) for s in x):
        for s in x:
            refuse_levels(s, index, 1)
        frames = [frame_of(as_trained(s, trained), index, called=f"frame {k}") for k, s in enumerate(x)]
        return Tables(frames, "frames", names=frames[0].names, categories=category_columns(x[0]))
    if isinstance(x, (list, tuple)) and len(x) > 0 and all(is_matrix(s) for s in x):
        return tables_of_list(x, names, trained)
    array = as_array(x)
    if array.ndim == 3:
        return tables_of_cube(array, axes, names, trained)
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {'scalar' if array.ndim == 0 else f'{array.ndim}D'} array instead. Reshape your data either using "
                         "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it contains a single sample: "
                         "a table has a row per sample; several sequences are a list of 2-D arrays or a 3-D array.")
    expect_some(array.shape, estimator)
    return Tables([table_of_array(array, names, trained)], "table", array.shape[1])


def expect_some(shape: tuple[int, ...], estimator: str = "the estimator") -> None:
    """scikit-learn's words."""
    for what, size in (("sample", shape[0]), ("feature", shape[1])):
        if size == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape={tuple(shape)}) while a minimum of 1 is required by {estimator}.")


def is_sparse(x: Any) -> bool:
    return type(x).__module__.startswith("scipy.sparse")


def is_matrix(s: Any) -> bool:
    return getattr(s, "ndim", 0) == 2 or (not hasattr(s, "ndim") and isinstance(s, (list, tuple)) and len(s) > 0
                                          and isinstance(s[0], (list, tuple, np.ndarray)))


def as_array(x: Any) -> np.ndarray:
    try:
        array = np.asanyarray(x)
    except ValueError:
        raise ValueError("expected a 2-D array, or a list of 2-D arrays (steps, inputs), got parts of other shapes; sequences of one input are "
                         "columns: x.reshape(-1, 1)") from None
    if array.dtype.kind == "O" and array.ndim == 1 and len(array) > 0 and all(is_matrix(s) for s in array):
        raise ValueError("expected the sequences in a list, got an array of objects: pass list(X)")
    return array


def tables_of_frame(x: Any, names: list[str] | None, index: tuple[str, ...], trained: Trained | None = None) -> Tables:
    if is_nested(x):
        return tables_of_nested(x, names, trained)
    refuse_levels(x, index, 2)
    panel = library_of(x) == "pandas" and x.index.nlevels == 2
    frame = frame_of(x, index, panel)
    if frame.rows == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape=(0, {len(frame.names)})) while a minimum of 1 is required.")
    return Tables([frame], "frame", names=frame.names, categories=category_columns(x), panel=tuple(index_names(x)) if panel else None,
                  dated=library_of(x) == "pandas" and getattr(x.index.dtype, "kind", "O") in "Mm" or
                  library_of(x) == "pandas" and str(x.index.dtype).startswith("period"), index=x.index if library_of(x) == "pandas" else None)


def refuse_levels(x: Any, index: tuple[str, ...], most: int) -> None:
    """Levels of an index that no role names would be lost."""
    if library_of(x) == "pandas" and x.index.nlevels > most and not set(index) & set(index_names(x)):
        raise ValueError(f"expected {'an index of at most two levels (instance, time)' if most > 1 else 'frames without a MultiIndex in a list'}, got "
                         f"{x.index.nlevels} levels: name the id and the time with id= and time=, or use reset_index()")


def is_nested(x: Any) -> bool:
    """sktime's nested frame: a row per instance, a channel per column, a whole series in every cell."""
    if library_of(x) != "pandas" or x.shape[0] == 0 or x.shape[1] == 0 or any(getattr(kind, "kind", "O") != "O" for kind in x.dtypes):
        return False
    return all(is_series(first_cell(x.iloc[:, k])) for k in range(x.shape[1]))


def is_series(cell: Any) -> bool:
    return (hasattr(cell, "__array__") or isinstance(cell, (list, tuple))) and np.ndim(cell) == 1


def first_cell(column: Any) -> Any:
    """The first that is not missing."""
    return next((cell for cell in column if cell is not None and type(cell).__name__ != "NAType" and not isinstance(cell, float)), None)


def tables_of_nested(x: Any, names: list[str] | None, trained: Trained | None = None) -> Tables:
    columns = [column_name(name) for name in x.columns]
    if names and not (names == default_names(len(names)) and len(columns) == len(names) and not set(names) & set(columns)):
        missing = [name for name in names if name not in columns]  # those of arrays have no names, and fit by their place
        if missing:
            raise ValueError(f"expected the input columns {quoted(names)}, got the columns {quoted(columns)}: missing {quoted(missing)}")
        x, columns = x.iloc[:, [columns.index(name) for name in names]], names
    for name, column in zip(columns, (x.iloc[:, k] for k in range(len(columns)))):
        for k, cell in enumerate(column):
            if not is_series(cell):
                raise ValueError(f"expected a series in every cell, got {cell!r} in row {k}, column {name!r}")
    channels = [[np.asarray(cell) for cell in x.iloc[:, k]] for k in range(x.shape[1])]
    for k, instance in enumerate(zip(*channels)):
        if len({len(series) for series in instance}) > 1:
            raise ValueError(f"expected series of one length in a row, got {[len(series) for series in instance]} in row {k}")
    sequences = [np.stack(instance, axis=1) for instance in zip(*channels)]
    return tables_of_list(sequences, names or columns, trained)


def quoted(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def default_names(width: int) -> list[str]:
    return [f"x{k + 1}" for k in range(width)]


def table_of_array(array: np.ndarray, names: list[str] | None, trained: Trained | None = None,
                   ids: tuple[str, np.ndarray] | None = None) -> _native.Frame:
    """The columns of a 2-D array; names that do not fit in number are not used. True and false are 1 and 0, as in scikit-learn."""
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: expected real numbers")
    if array.dtype.kind in "Mm":
        raise ValueError(f"expected numbers, got an array of {array.dtype}")
    if array.dtype.kind == "O":
        for cell in array.ravel()[:1000]:
            if isinstance(cell, (dict, list, set, tuple)):
                raise TypeError(f"argument must be a string or a number, got {type(cell).__name__}")
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    frame = _native.Frame()
    width = array.shape[1]
    for k, name in enumerate(names if names is not None and len(names) == width else default_names(width)):
        add_array(frame, name, array_as_trained(array[:, k], trained.change(name) if trained else "number"))
    if ids is not None:
        frame.add_numbers(ids[0], ids[1])
    return frame


def tables_of_list(x: Any, names: list[str] | None, trained: Trained | None = None) -> Tables:
    parts = [np.asanyarray(s) for s in x]
    widths = {p.shape[1] if p.ndim == 2 else -1 for p in parts}
    if len(widths) > 1:
        raise ValueError(f"expected sequences with the same number of inputs, got {sorted(widths)}")
    empty = [k for k, p in enumerate(parts) if len(p) == 0]
    if empty:
        raise ValueError(f"expected sequences of at least one step, got an empty one at {empty[0]}")
    masked = any(isinstance(p, np.ma.MaskedArray) for p in parts)
    joined = np.ma.concatenate(parts) if masked else np.concatenate(parts)
    return tables_of_sequences(joined, np.array([len(p) for p in parts]), "list", names, trained)


def tables_of_cube(array: np.ndarray, axes: str | None, names: list[str] | None, trained: Trained | None = None) -> Tables:
    key = ",".join((axes or "").replace(",", " ").split())
    if key not in AXES:
        raise ValueError(f"Found array with dim 3, while dim <= 2 is required unless the order of its axes is named: "
                         f"axes='instance, time, channel' or axes='instance, channel, time' (got {axes!r})")
    time_first = AXES[key][1] < AXES[key][0]
    array = array.transpose(AXES[key])
    instances, length, channels = array.shape
    if array.size == 0:
        raise ValueError(f"expected at least one instance, time and channel, got shape {array.shape}")
    tables = tables_of_sequences(array.reshape(-1, channels), np.full(instances, length), "cube", names, trained)
    tables.time_first = time_first
    return tables


def tables_of_sequences(joined: np.ndarray, lengths: np.ndarray, kind: str, names: list[str] | None, trained: Trained | None) -> Tables:
    """Sequences one after the other, with a column of ids beside them."""
    width = joined.shape[1]
    used = names if names is not None and len(names) == width else default_names(width)
    id = LIST_ID
    while id in used:
        id += "_"
    numbers = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    return Tables([table_of_array(joined, names, trained, (id, numbers))], kind, width, id=id, lengths=lengths)
