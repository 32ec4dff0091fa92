"""Tables as columns for the reader in C++, which the program uses for files as well. Nothing is judged here: a column is handed over as
it lies in memory, or as the text that the library it comes from would write into a CSV file."""
from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from . import _native


def library_of(x: Any) -> str:
    return type(x).__module__.split(".")[0]


def is_frame(x: Any) -> bool:
    """A table whose columns have names."""
    if isinstance(x, np.ndarray):
        return x.dtype.names is not None
    if hasattr(x, "shape") and hasattr(x, "columns"):
        return True
    one_column = len(getattr(x, "shape", (0, 0))) == 1 or type(x).__name__ == "ChunkedArray"
    return hasattr(x, "__arrow_c_stream__") and not one_column


def frame_of(table: Any, index: tuple[str, ...] = (), panel: bool = False, called: str = "data") -> _native.Frame:
    """The columns of a table with names. index: names of levels of a pandas index that are wanted as columns. panel: the two levels of
    the index are wanted, whatever they are called. called: the name of the table, for messages."""
    if isinstance(table, np.ndarray):
        frame = _native.Frame(called)
        for name in table.dtype.names:
            add_array(frame, str(name), table[name])
        return frame
    library = library_of(table)
    if library == "pandas":
        return pandas_frame(table, index, panel, called)
    if library == "polars":
        return polars_frame(table, called)
    return arrow_frame(table, called)


def category_columns(table: Any) -> list[str]:
    """Columns whose type says that they are categories, whatever these look like."""
    if library_of(table) == "pandas":
        return [column_name(name) for k, name in enumerate(table.columns) if str(table.dtypes.iloc[k]) == "category"]
    if library_of(table) == "polars":
        return [name for name, kind in table.collect_schema().items() if type(kind).__name__ in ("Categorical", "Enum") or
                getattr(kind, "__name__", "") in ("Categorical", "Enum")]
    schema = getattr(table, "schema", None)
    names = getattr(schema, "names", None)
    return [name for name in names or () if str(schema.field(name).type).startswith("dictionary")] if library_of(table) == "pyarrow" else []


def pandas_frame(table: Any, index: tuple[str, ...], panel: bool, called: str) -> _native.Frame:
    frame = _native.Frame(called)
    names = [column_name(name) for name in table.columns]
    levels = dict(zip(index_names(table), range(table.index.nlevels))) if index or panel else {}
    for name, level in levels.items():
        if panel or (name in index and name not in names):
            add_series(frame, name, table.index.get_level_values(level).to_series(index=range(len(table))))
    for k, name in enumerate(names):
        add_series(frame, name, table.iloc[:, k])
    return frame


def index_names(table: Any) -> list[str]:
    """What a file would call the levels of an index."""
    names = list(table.index.names)
    defaults = ["sequence", "step"] if len(names) == 2 else [""] * len(names)
    return [default if name is None else str(name) for name, default in zip(names, defaults)]


def column_name(name: Any) -> str:
    return "" if name is None or name != name else str(name)


def add_series(frame: _native.Frame, name: str, column: Any) -> None:
    """A column of pandas."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return add_array(frame, name, column.to_numpy())
    kind, own = str(dtype), getattr(dtype, "numpy_dtype", None)
    if kind == "category":
        return frame.add_words(name, native(column.cat.codes.to_numpy()), as_csv(column.cat.categories.to_series(index=range(len(column.cat.categories)))))
    if kind.startswith("Sparse"):
        return add_array(frame, name, np.asarray(column))
    if isinstance(own, np.dtype) and own.kind in "iufb" and own.itemsize <= 8 and own != np.float16:  # Int64, boolean, double[pyarrow]
        return frame.add_numbers(name, column.to_numpy(dtype=own, na_value=own.type(0)), marks(column.isna().to_numpy()))
    if kind in ("str", "string") or kind.startswith("string"):
        return frame.add_objects(name, column.tolist())
    frame.add_objects(name, as_csv(column))


def as_csv(column: Any) -> list[str]:
    """The cells of a pandas column as the lines of a file that pandas writes."""
    text = io.StringIO(column.to_csv(index=False, header=False, lineterminator="\n"))
    return [row[0] if row else "" for row in csv.reader(text)]


def add_array(frame: _native.Frame, name: str, array: np.ndarray) -> None:
    """A column of NumPy."""
    mask = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    array = np.ma.getdata(array)
    kind = array.dtype.kind
    if kind in "iufb":
        if array.dtype == np.float16 and mask is None:
            return frame.add_objects(name, [str(v) for v in array])  # as pandas writes them: 0.1, not its nearest half
        return frame.add_numbers(name, native(array), None if mask is None else marks(mask))
    if kind == "M":
        return frame.add_bytes(name, blank_where(times_as_bytes(array), np.isnat(array), mask))
    if kind in "SU":
        texts = array if kind == "S" else np.char.encode(array, "utf-8")
        return frame.add_bytes(name, blank_where(texts, np.zeros(len(array), bool), mask))
    cells = array.tolist() if kind == "O" else [str(cell) for cell in array.astype(object)] if kind == "c" else durations(array)
    if mask is not None:
        cells = [None if gone else cell for cell, gone in zip(cells, mask)]
    frame.add_objects(name, cells)


def durations(array: np.ndarray) -> list[Any]:
    """As pandas writes them where it is there."""
    try:
        import pandas
    except ImportError:
        return array.astype(str).tolist()
    return as_csv(pandas.Series(array))


def native(array: np.ndarray) -> np.ndarray:
    """In the byte order of this machine, not wider than a double, and not at odd places in memory."""
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float64)
    array = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array) if array.strides[0] % array.itemsize else array


def marks(missing: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(missing, dtype=bool).view(np.uint8)


def times_as_bytes(array: np.ndarray) -> np.ndarray:
    """Dates where all are midnight, else with seconds and the digits that some of them need, as pandas writes them."""
    there = array[~np.isnat(array)]
    unit = next(unit for unit in ("D", "s", "ms", "us", "ns") if unit == "ns" or (there.astype(f"M8[{unit}]") == there).all())
    texts = np.datetime_as_string(array.astype(f"M8[{unit}]")).astype("S")
    if unit != "D" and texts.dtype.itemsize > 10:
        texts.view(np.uint8).reshape(len(texts), -1)[:, 10] = ord(" ")
    return texts


def blank_where(texts: np.ndarray, missing: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """(rows, bytes), zeros where a cell is missing."""
    width = max(texts.dtype.itemsize, 1)
    matrix = np.array(texts, dtype=f"S{width}").view(np.uint8).reshape(len(texts), width)
    matrix[missing if mask is None else missing | mask] = 0
    return matrix


def polars_frame(table: Any, called: str) -> _native.Frame:
    """Times, decimals and the like as the text that polars writes; all else in place."""
    import polars

    table = table.collect() if hasattr(table, "collect") else table
    plain = {*(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)), "Float32", "Float64", "Boolean", "String", "Null", "Binary"}
    texts = []
    for column in table.get_columns():
        if str(column.dtype) in plain or column.dtype.is_nested() or column.dtype == polars.Object:
            continue
        if column.dtype in (polars.Categorical, polars.Enum):
            texts.append(column.cast(polars.String))
            continue
        try:
            lines = column.to_frame().write_csv(include_header=False, quote_style="never").split("\n")
        except polars.exceptions.PolarsError:  # it writes none of these
            lines = ["" if cell is None else str(cell) for cell in column.to_list()]
        texts.append(polars.Series(column.name, lines[:len(column)], dtype=polars.String))
    frame = _native.Frame(called, capital_booleans=False)
    frame.add_arrow(table.with_columns(texts) if texts else table)
    return frame


def arrow_frame(table: Any, called: str) -> _native.Frame:
    """With pyarrow times, decimals and the like become the text that it writes; without it only numbers and words can be read."""
    frame = _native.Frame(called, capital_booleans=False)
    try:
        import pyarrow
    except ImportError:
        frame.add_arrow(table)
        return frame
    table = table if isinstance(table, pyarrow.Table) else pyarrow.table(table)
    types = pyarrow.types
    for k, field in enumerate(table.schema):
        kind = field.type
        if types.is_temporal(kind) or types.is_decimal(kind) or types.is_float16(kind) or types.is_run_end_encoded(kind):
            text = table.column(k).cast(pyarrow.float64() if types.is_float16(kind) else pyarrow.string())
            table = table.set_column(k, field.name, text)
    frame.add_arrow(table)
    return frame
