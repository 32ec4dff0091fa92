"""What users have, as packed sequences: one float32 array of all steps, and where each sequence begins.

Tables, ragged lists, 3-D arrays, data frames and Arrow tables all become `Packed`; `Packed` gives predictions back in the shape
the data came in. Numbers are copied once here (a C-ordered float32 array of one step per row is not) and once into C++.
"""
from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

AXES = {"instance,time,channel": (0, 1, 2), "instance,channel,time": (0, 2, 1), "time,instance,channel": (1, 0, 2),
        "time,channel,instance": (2, 0, 1), "channel,instance,time": (1, 2, 0), "channel,time,instance": (2, 1, 0)}


@dataclass
class Packed:
    """Sequences one after the other."""

    x: np.ndarray  # (steps, inputs) float32, NaN where missing
    offset: np.ndarray  # (sequences + 1) int64: the first step of each
    kind: str  # table, list, cube or frame
    names: list[str] | None = None  # of the inputs, where they have names
    id_name: str = ""  # what a file calls the sequence: a column, "row", or nothing: the whole is one sequence
    time_name: str = ""
    order: np.ndarray | None = None  # (steps) row of each step, where they were put in order
    ids: Any = None  # (sequences) as they stand in a frame
    times: Any = None  # (steps) likewise
    columns: dict[str, Any] = field(default_factory=dict)  # columns of a frame that are no inputs
    words: dict[int, list[str]] = field(default_factory=dict)  # of inputs that hold numbers of words: the words

    @property
    def sequences(self) -> int:
        return len(self.offset) - 1

    @property
    def steps(self) -> int:
        return len(self.x)

    @property
    def last(self) -> np.ndarray:
        """The last step of each sequence."""
        return self.offset[1:] - 1

    def to_steps(self, rows: np.ndarray) -> np.ndarray:
        """From the order of the rows to that of the steps."""
        return rows if self.order is None else rows[self.order]

    def shaped(self, steps: np.ndarray) -> Any:
        """Something per step in the shape of the data: an array for tables and frames, (instance, time) for 3-D arrays, a list
        of arrays for a list."""
        if self.kind == "list":
            return [steps[a:b] for a, b in zip(self.offset[:-1], self.offset[1:])]
        if self.kind == "cube":
            return steps.reshape((self.sequences, -1) + steps.shape[1:])
        if self.order is None:
            return steps
        rows = np.empty_like(steps)
        rows[self.order] = steps
        return rows


def pack(x: Any, *, id: str | None = None, time: str | None = None, axes: str | None = None, targets: Any = (),
         inputs: list[str] | None = None, estimator: str = "the estimator") -> Packed:
    """Sequences from whatever x is. targets: columns of a frame that are no inputs. inputs: names of those to take from a frame with
    an id, in this order."""
    if is_sparse(x):
        raise TypeError("Sparse data was passed, but dense data is required: use X.toarray(), sparse input is not supported.")
    if is_frame(x):
        return pack_frame(x, id, time, list(targets), inputs)
    if isinstance(x, (list, tuple)) and len(x) > 0 and all(is_matrix(s) for s in x):
        return pack_list(x)
    array = as_array(x)
    if array.ndim == 3:
        return pack_cube(array, axes)
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {'scalar' if array.ndim == 0 else f'{array.ndim}D'} array instead. Reshape your data either using "
                         "array.reshape(-1, 1) if it has a single feature or array.reshape(1, -1) if it contains a single sample: "
                         "a table has a row per sample; several sequences are a list of 2-D arrays or a 3-D array.")
    if len(array) == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required by {estimator}.")
    if array.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required by {estimator}.")
    return Packed(numbers(array), np.arange(len(array) + 1, dtype=np.int64), "table", id_name="row")


def is_sparse(x: Any) -> bool:
    return type(x).__module__.startswith("scipy.sparse")


def is_frame(x: Any) -> bool:
    return hasattr(x, "__arrow_c_stream__") or (hasattr(x, "columns") and hasattr(x, "shape") and not isinstance(x, np.ndarray))


def is_matrix(s: Any) -> bool:
    return getattr(s, "ndim", 0) == 2 or (not hasattr(s, "ndim") and isinstance(s, (list, tuple)) and len(s) > 0
                                          and isinstance(s[0], (list, tuple, np.ndarray)))


def as_array(x: Any) -> np.ndarray:
    array = np.asarray(x)
    if array.dtype.kind == "O" and array.ndim == 1 and len(array) > 0 and all(is_matrix(s) for s in array):
        raise ValueError("expected the sequences in a list, got an array of objects: pass list(X)")
    return array


def numbers(array: np.ndarray) -> np.ndarray:
    """As float32 in C order; NaN is fine, infinity is not."""
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: expected real numbers")
    if array.dtype.kind in "MmSU" and array.dtype.kind != "U":
        raise ValueError(f"expected numbers, got an array of {array.dtype}")
    if array.dtype.kind == "O":
        for cell in array.ravel()[:1000]:
            if isinstance(cell, (dict, list, set, tuple)):
                raise TypeError(f"argument must be a string or a number, got {type(cell).__name__}")
    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        result = np.ascontiguousarray(array, dtype=np.float32)
    if np.isinf(result).any():
        raise ValueError("Input X contains infinity or a value too large for dtype('float32').")
    return result


def pack_list(x: Any) -> Packed:
    parts = [np.asarray(s) for s in x]
    if len({p.dtype for p in parts}) > 1:  # else once for all: thousands of short sequences are not converted one by one
        parts = [numbers(p) for p in parts]
    widths = {p.shape[1] for p in parts}
    if len(widths) > 1:
        raise ValueError(f"expected sequences with the same number of inputs, got {sorted(widths)}")
    empty = [k for k, p in enumerate(parts) if len(p) == 0]
    if empty:
        raise ValueError(f"expected sequences of at least one step, got an empty one at {empty[0]}")
    offset = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(p) for p in parts], out=offset[1:])
    return Packed(numbers(np.concatenate(parts)), offset, "list", id_name="sequence", time_name="step")


def pack_cube(array: np.ndarray, axes: str | None) -> Packed:
    key = ",".join((axes or "").replace(",", " ").split())
    if key not in AXES:
        raise ValueError(f"Found array with dim 3, while dim <= 2 is required unless the order of its axes is named: "
                         f"axes='instance, time, channel' or axes='instance, channel, time' (got {axes!r})")
    array = numbers(array.transpose(AXES[key]))
    instances, length, channels = array.shape
    if array.size == 0:
        raise ValueError(f"expected at least one instance, time and channel, got shape {array.shape}")
    return Packed(array.reshape(-1, channels), np.arange(instances + 1, dtype=np.int64) * length, "cube", id_name="sequence",
                  time_name="step")


def frame_columns(frame: Any) -> dict[Any, Any]:
    """The columns by name, as NumPy arrays where that costs no copy, and a pandas MultiIndex as two more."""
    module = type(frame).__module__.split(".")[0]
    if module == "pandas":
        columns = {name: frame.iloc[:, k] for k, name in enumerate(frame.columns)}
        if len(columns) != frame.shape[1]:
            raise ValueError("expected columns with names that differ, got one twice")
        return columns
    if module == "polars":
        return {name: frame.get_column(name) for name in frame.columns}
    import pyarrow

    table = frame if isinstance(frame, pyarrow.Table) else pyarrow.table(frame)
    return dict(zip(table.column_names, table.columns))


def column_array(column: Any, name: Any) -> np.ndarray:
    """A column as an array; missing values are NaN, NaT or None."""
    if type(column).__module__.split(".")[0] == "pandas" and getattr(column.dtype, "na_value", None) is not None and column.dtype.kind in "iufb":
        return column.to_numpy(dtype=np.float64, na_value=np.nan) if column.hasnans else column.to_numpy()
    return np.asarray(column.to_numpy())


def column_numbers(column: Any, name: Any) -> tuple[np.ndarray, list[str]]:
    """Numbers as they are; words by their numbers, in the order of their first appearance, and the words themselves."""
    array = column_array(column, name)
    if array.dtype.kind == "O" and not any(isinstance(c, (str, bool)) for c in array):
        array = array.astype(np.float64)
    if array.dtype.kind in "iuf":
        return array, []
    if array.dtype.kind not in "OUb" and type(array).__module__ == "numpy":
        raise ValueError(f"column {name!r}: expected numbers or words, got values of type {array.dtype}")
    missing = np.array([c is None or c != c or type(c).__name__ == "NAType" for c in array]) if array.dtype.kind == "O" else np.zeros(len(array), bool)
    texts = np.array([str(c) for c in array[~missing]])
    distinct, number = number_by_appearance(texts)
    result = np.full(len(array), np.nan)
    result[~missing] = number
    return result, distinct.tolist()


def pack_frame(frame: Any, id: str | None, time: str | None, targets: list[str], inputs: list[str] | None) -> Packed:
    columns = frame_columns(frame)
    panel = id is None and time is None and getattr(getattr(frame, "index", None), "nlevels", 1) == 2
    for name in [id, time, *targets]:
        if name is not None and name not in columns:
            raise ValueError(f"expected a column {name!r}, got {list(columns)}")
    taken = {id, time, *targets} - {None}
    rest = [name for name in columns if name not in taken]
    sequences = panel or id is not None or time is not None
    if sequences and inputs is not None:
        missing = [name for name in inputs if name not in columns]
        if missing:
            raise ValueError(f"expected the columns {inputs}, got {list(columns)}: missing {missing}")
        rest = inputs
    rows = len(next(iter(columns.values()))) if columns else 0
    if rows == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape=({rows}, {len(rest)})) while a minimum of 1 is required.")
    if not rest:
        raise ValueError(f"0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required.")
    x = np.empty((rows, len(rest)), np.float32)
    words: dict[int, list[str]] = {}
    with np.errstate(over="ignore", invalid="ignore"):
        for k, name in enumerate(rest):
            x[:, k], known = column_numbers(columns[name], name)
            if known:
                words[k] = known
    if np.isinf(x).any():
        raise ValueError("Input X contains infinity or a value too large for dtype('float32').")
    names = list(rest) if all(isinstance(name, str) for name in rest) else None
    if names is None and any(isinstance(name, str) for name in rest):
        raise TypeError("Feature names are only supported if all input features have string names, but your input has "
                        f"{sorted({type(n).__name__ for n in rest})} as feature name / column name types. If you want feature names to be stored "
                        "and validated, you must convert them all to strings, by using X.columns = X.columns.astype(str) for example.")
    others = {name: columns[name] for name in targets}
    if not sequences:
        return Packed(x, np.arange(rows + 1, dtype=np.int64), "table", names, id_name="row", columns=others, words=words)
    if panel:
        ids, times = (np.asarray(frame.index.get_level_values(level)) for level in (0, 1))
        id_name, time_name = (str(n) if n is not None else d for n, d in zip(frame.index.names, ("sequence", "step")))
    else:
        ids = None if id is None else column_array(columns[id], id)
        times = None if time is None else column_array(columns[time], time)
        id_name, time_name = id or "", time or ""
    packed = in_order(x, ids, times)
    packed.names, packed.id_name, packed.time_name, packed.columns = names, id_name, time_name, others
    packed.words = words
    return packed


def in_order(x: np.ndarray, ids: np.ndarray | None, times: np.ndarray | None) -> Packed:
    """Rows to sequences: these in the order of their first rows, steps in the order of their times."""
    rows = len(x)
    number, distinct = np.zeros(rows, np.int64), None
    if ids is not None:
        distinct, number = number_by_appearance(ids)
    order = np.argsort(number, kind="stable") if times is None else np.lexsort((sortable(times), number))
    number = number[order]
    offset = np.concatenate(([0], np.flatnonzero(np.diff(number)) + 1, [rows])).astype(np.int64)
    if times is not None:
        sorted_times = times[order]
        again = (sorted_times[1:] == sorted_times[:-1]) & (number[1:] == number[:-1])
        if again.any():
            raise ValueError(f"expected each time once in a sequence, got {sorted_times[:-1][again][0]!r} twice")
        times = sorted_times
    if (order == np.arange(rows)).all():
        return Packed(x, offset, "frame", ids=distinct, times=times)
    return Packed(x[order], offset, "frame", order=order, ids=distinct, times=times)


def number_by_appearance(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if ids.dtype.kind == "O":
        if any(i is None or i != i for i in ids):
            raise ValueError("expected an id in every row, got a missing one")
        ids = np.asarray([str(i) for i in ids]) if any(isinstance(i, str) for i in ids) else ids
    elif ids.dtype.kind == "f" and np.isnan(ids).any():
        raise ValueError("expected an id in every row, got a missing one")
    distinct, first, number = np.unique(ids, return_index=True, return_inverse=True)
    by_first = np.argsort(first, kind="stable")
    place = np.empty_like(by_first)
    place[by_first] = np.arange(len(by_first))
    return distinct[by_first], place[number.ravel()]


def sortable(times: np.ndarray) -> np.ndarray:
    missing = np.isnan(times) if times.dtype.kind == "f" else np.isnat(times) if times.dtype.kind in "mM" else np.zeros(len(times), bool)
    if times.dtype.kind == "O":
        missing = np.array([t is None or t != t for t in times])
    if missing.any():
        raise ValueError("expected a time in every row, got a missing one")
    return np.unique(times, return_inverse=True)[1].ravel() if times.dtype.kind == "O" else times
