"""What is to be predicted, per step or per sequence, as arrays over the steps of packed sequences."""
from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._frames import is_frame, library_of
from ._inputs import Packed


WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")
NUMBER = re.compile(r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
READ_AS_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")  # by the program: 01 as well


@dataclass
class Target:
    """One row per step. Where the target is per sequence it stands at the last step."""

    values: np.ndarray  # (steps,) or (steps, outputs), in the order of the steps
    there: np.ndarray  # (steps) bool: the step has a target
    per_sequence: bool
    names: list[str]  # of the targets


def align(y: Any, packed: Packed) -> Target:
    """y for these sequences: a value per row, per step or per sequence."""
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None")
    found = names_of(y)
    rowwise = packed.kind in ("table", "frame", "frames")
    if packed.kind in ("list", "frames") and is_list_of_arrays(y):
        values = joined(y, packed, "target")
        values = packed.to_steps(values) if rowwise else values
        return Target(values, present(values), False, default_names(found, values))
    values = as_values(y)
    flat = packed.flat(values)
    if flat is not None:
        values = flat
        return Target(values, present(values), False, default_names(found, values))
    if packed.kind == "table" or (rowwise and packed.steps == packed.sequences) or (len(values) == packed.steps and packed.steps != packed.sequences):
        if len(values) != packed.steps:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {[packed.steps, len(values)]}")
        values = rows_to_steps(y, values, packed) if rowwise else values
        return Target(values, present(values), False, default_names(found, values))
    if len(values) != packed.sequences:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: expected a target per sequence ({packed.sequences}) or "
                         f"per step ({packed.steps}), got {len(values)}")
    values = by_id(y, values, packed)
    spread = np.empty((packed.steps,) + values.shape[1:], values.dtype)
    spread[:] = values[0]
    spread[packed.last] = values
    there = np.zeros(packed.steps, bool)
    there[packed.last] = present(values)
    return Target(spread, there, True, default_names(found, values))


def joined(parts: Any, packed: Packed, what: str) -> np.ndarray:
    """The values of a list that has an array per sequence or frame."""
    lengths, expected = [len(part) for part in parts], packed.rows or np.diff(packed.offset).tolist()
    if len(lengths) != len(expected):
        raise ValueError(f"expected a {what} for each step of {len(expected)} sequences, got {len(lengths)} lists")
    for k, (got, wanted) in enumerate(zip(lengths, expected)):
        if got != wanted:
            raise ValueError(f"expected a {what} for each step of {len(expected)} sequences, got {got} of {wanted} in number {k}")
    return np.concatenate([as_values(part) for part in parts])


def keep_last(target: Target, packed: Packed) -> Target:
    """One target per sequence, at its last step: the last one that is there, as the program takes it for a model with such targets."""
    step = np.where(target.there, np.arange(packed.steps), -1)
    chosen = np.maximum.reduceat(step, packed.offset[:-1])
    values, there = target.values.copy(), np.zeros(packed.steps, bool)
    values[packed.last], there[packed.last] = target.values[chosen], chosen >= 0
    return Target(values, there, True, target.names)


def column_array(column: Any) -> np.ndarray:
    """A column of pandas, polars or pyarrow as an array; missing values are NaN, NaT or None."""
    library = library_of(column)
    if library == "pandas" and getattr(column.dtype, "na_value", None) is not None and column.dtype.kind in "iufb":
        return column.to_numpy(dtype=np.float64, na_value=np.nan) if column.hasnans else column.to_numpy()
    if library == "pyarrow":
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.asarray(column.to_numpy())


def as_values(y: Any) -> np.ndarray:
    """Any y as an array; missing values are NaN, NaT, NA or None."""
    if hasattr(y, "columns") and is_frame(y):
        values = frame_values(y)
    elif library_of(y) in ("pandas", "polars", "pyarrow") and hasattr(y, "to_numpy"):
        values = column_array(y)
    elif isinstance(y, np.ma.MaskedArray):
        values = without_mask(y) if np.ma.is_masked(y) else y.data
    else:
        values = np.asarray(y)
        if values.dtype.kind == "U" and values.ndim == 1 and isinstance(y, (list, tuple)):
            values = words_with_gaps(y, values)
    if values.ndim == 0:
        raise ValueError(f"Expected 1D array, got scalar array instead: y should be a 1d array, got {y!r}")
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported: expected real numbers")
    return values


def without_mask(y: np.ma.MaskedArray) -> np.ndarray:
    numeric = y.dtype.kind in "iuf"
    return np.where(np.ma.getmaskarray(y), np.nan if numeric else None, y.data if numeric else y.data.astype(object))


def frame_values(y: Any) -> np.ndarray:
    """(rows, columns) of pandas, polars or pyarrow."""
    if library_of(y) == "pyarrow":
        columns = [column_array(column) for column in y.columns]
    elif hasattr(y, "iloc") and y.shape[1] > 0 and all(kind.kind in "iufb" for kind in y.dtypes):
        columns = [column_array(y.iloc[:, k]) for k in range(y.shape[1])]
    else:
        return np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    return np.stack(columns, axis=1)


def words_with_gaps(y: Any, values: np.ndarray) -> np.ndarray:
    """A list of words, of which some are missing: NumPy makes words of these as well."""
    if all(isinstance(cell, str) for cell in y):
        return values
    gaps = ~present(np.array(y, dtype=object))
    return np.where(gaps, None, values.astype(object)) if gaps.any() else values


def is_list_of_arrays(y: Any) -> bool:
    return isinstance(y, (list, tuple)) and len(y) > 0 and all(hasattr(part, "__len__") and not isinstance(part, str) for part in y)


def by_id(y: Any, values: np.ndarray, packed: Packed) -> np.ndarray:
    """A pandas Series over the ids, as sktime's panels have it, is matched by them."""
    index = getattr(y, "index", None)
    if not packed.ids or index is None or callable(index) or len(index) != len(packed.ids):
        return values
    place = {text: k for k, key in enumerate(index) for text in (str(key), id_text(key))}
    if all(key in place for key in packed.ids):
        return values[[place[key] for key in packed.ids]]
    if type(index).__name__ != "RangeIndex":
        warnings.warn("the index of a Series with a value per sequence does not hold the ids of the sequences: the values are taken in the order "
                      "in which the sequences begin in X", stacklevel=5)
    return values


def rows_to_steps(y: Any, values: np.ndarray, packed: Packed) -> np.ndarray:
    """A value per row. Where every row is a sequence with an id, a Series over the ids is matched by them, unless its index is that of the rows."""
    index = getattr(y, "index", None)
    if packed.steps == packed.sequences and packed.data.id != "row" and index is not None and not callable(index):
        own = index.equals(packed.index) if packed.index is not None else type(index).__name__ == "RangeIndex"
        if not own and {id_text(key) for key in index} == set(packed.ids):
            return by_id(y, values, packed)
    return packed.to_steps(values)


def id_text(key: Any) -> str:
    """A key of an index as the reader sees it in a column: a date without a time of day, a whole number without decimals."""
    text = str(key)
    return text.removesuffix(" 00:00:00") if hasattr(key, "isoformat") else class_text(key)


def names_of(y: Any) -> list[str] | None:
    columns = getattr(y, "columns", None)
    if columns is not None and not callable(columns):
        return [str(c) for c in columns]
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) and name else None


def default_names(found: list[str] | None, values: np.ndarray) -> list[str]:
    outputs = 1 if values.ndim == 1 else values.shape[1]
    if found is not None and len(found) == outputs:
        return found
    return ["y"] if outputs == 1 else [f"y{k + 1}" for k in range(outputs)]


def present(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype.kind == "O":
        missing = np.array([v is None or type(v).__name__ == "NAType" or v != v for v in values.ravel()], bool).reshape(values.shape)
    else:
        missing = np.zeros(values.shape, bool)
    return ~(missing.any(axis=1) if missing.ndim > 1 else missing)


def one_column(values: np.ndarray, warn: bool = True) -> np.ndarray:
    """For classifiers: a column vector counts, with scikit-learn's warning."""
    if values.ndim == 2 and values.shape[1] == 1:
        if warn:
            warn_conversion()
        return values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {values.shape} instead.")
    return values


def warn_conversion() -> None:
    category: type[Warning] = UserWarning
    if "sklearn" in sys.modules:
        from sklearn.exceptions import DataConversionWarning as category
    warnings.warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for example using "
                  "ravel().", category, stacklevel=4)


def find_classes(values: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The classes in their order, as in the program: by value where all are numbers or texts of numbers (equal ones are one class), else by the
    bytes of their text."""
    known = values[there]
    if known.dtype.kind == "O":
        kinds = {str if isinstance(v, str) else float for v in known}
        if len(kinds) > 1:
            raise TypeError("expected classes of one kind, got text and numbers mixed (Unknown label type: unknown)")
        known = known.astype(str).astype(object) if kinds == {str} else np.array(known.tolist())
    if known.dtype.kind == "f":
        if np.isinf(known).any():
            raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
        if (known != np.floor(known)).any():
            raise ValueError("Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes on a "
                             "regression target with continuous values.")
    classes = np.unique(known)
    if classes.dtype.kind not in "UO":
        return classes
    numbers = [number_of(label) for label in classes.tolist()]
    return classes if None in numbers else classes[np.unique(np.array(numbers, np.float64), return_index=True)[1]]


def number_of(label: Any) -> float | None:
    """Of a text, as the program reads it in a file; None where it is no number."""
    text = class_text(label).strip()
    return float(text) if READ_AS_NUMBER.fullmatch(text) else None


def class_text(label: Any) -> str:
    """As a file would hold it: 1 for 1.0, since whole numbers become float only to make room for missing ones."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def classes_from_text(texts: list[str]) -> np.ndarray:
    """The classes of a model file as an array of numbers where all are plain numbers: 01 and 1_0 are texts."""
    if texts in (["False", "True"], ["false", "true"]):
        return np.array([False, True])
    for kind, plain in ((int, WHOLE), (float, NUMBER)):
        if all(plain.fullmatch(t) for t in texts):
            return np.array([kind(t) for t in texts])
    return np.array(texts)


def label_numbers(values: np.ndarray, there: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The number of each step's class; 0 where there is none, -1 where training has not seen it."""
    label = np.zeros(len(values), np.int32)
    known = values[there].tolist()
    place = {c: k for k, c in enumerate(classes.tolist())}
    if any(v not in place for v in known):
        place |= places_by_text(set(known) - set(place), classes)
    label[there] = [place.get(v, -1) for v in known]
    return label


def places_by_text(labels: set[Any], classes: np.ndarray) -> dict[Any, int]:
    """The class of labels of another type, as the program finds it: by its text, else by its number, else as true or false in any case."""
    texts = {class_text(c): k for k, c in enumerate(classes.tolist())}
    numbers = {number_of(text): k for text, k in texts.items()}
    truths = {text.lower(): k for text, k in texts.items() if text.lower() in ("true", "false")}
    found = {}
    for label in labels:
        text = class_text(label)
        by_number = numbers.get(number_of(text)) if None not in numbers else None
        place = texts.get(text, by_number if by_number is not None else truths.get(text.lower()))
        if place is not None:
            found[label] = place
    return found


def regression_values(target: Target) -> np.ndarray:
    """(steps, outputs) float32; 0 where there is no target."""
    values = target.values
    if values.dtype.kind in "SU":
        values = values.astype(np.float64)  # raises for text that is no number
    if values.dtype.kind == "O":
        values = np.array([np.nan if v is None or type(v).__name__ == "NAType" else v for v in values.ravel()], np.float64).reshape(values.shape)
    values = values.reshape(len(values), -1)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.where(target.there[:, None], values, 0).astype(np.float32)
    if not np.isfinite(rounded).all():
        raise ValueError("Input y contains infinity or a value too large for dtype('float32').")
    return np.ascontiguousarray(rounded)


def align_weights(weight: Any, packed: Packed) -> np.ndarray | None:
    """(steps): a weight per row, per step or per sequence."""
    if weight is None:
        return None
    if packed.kind in ("list", "frames") and is_list_of_arrays(weight):
        weight = joined(weight, packed, "weight")
    given, weight = weight, np.asarray(weight, np.float64)
    flat = packed.flat(weight) if weight.ndim == 2 else None
    weight = weight if flat is None else flat
    if weight.ndim == 0:
        weight = np.full(packed.sequences, float(weight))
    if weight.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("Input sample_weight: expected finite weights that are not negative, got others (NaN or infinity or below 0)")
    if len(weight) == packed.steps and (packed.steps != packed.sequences or packed.kind in ("table", "frame", "frames")):
        return weight if packed.kind in ("list", "cube") else rows_to_steps(given, weight, packed)
    if len(weight) == packed.sequences:
        return np.repeat(by_id(given, weight, packed), np.diff(packed.offset))
    raise ValueError(f"sample_weight.shape == {weight.shape}, expected ({packed.sequences},)" if packed.steps == packed.sequences else
                     f"expected a weight per sequence ({packed.sequences}) or per step ({packed.steps}), got {len(weight)}")
