"""True and false where training saw 0 and 1, and the reverse: a column is read as it was in training, whatever its type is now."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._frames import column_name, library_of

NUMBERS = (bool, int, float, np.bool_, np.number)


@dataclass
class Trained:
    """The columns that training saw as true and false, and those that it saw as numbers."""

    booleans: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, columns: Iterable[str], words: Iterable[tuple[str, list[str]]], targets: Iterable[str], classes: Iterable[str]) -> Trained:
        """columns: that are read. words: of each column that has some. targets: columns whose words are the classes."""
        trained = cls(numbers={*columns, *targets})
        for name, known in [*words, *((name, list(classes)) for name in targets)]:
            some = {word.lower() for word in known} & {"true", "false"}
            if some:
                trained.numbers.discard(name)
            if some and len(some) == len(set(known)):
                trained.booleans.add(name)
        return trained

    def change(self, name: str) -> str | None:
        """What the cells of a column become where they are of the other kind: bool, number, or nothing."""
        return "bool" if name in self.booleans else "number" if name in self.numbers else None


def as_trained(x: Any, trained: Trained | None) -> Any:
    """The frame with its columns as training saw them; without changes the same object."""
    if trained is None:
        return x
    if isinstance(x, np.ndarray):
        return structured_as_trained(x, trained)
    change = {"pandas": pandas_as_trained, "polars": polars_as_trained, "pyarrow": arrow_as_trained}.get(library_of(x))
    return x if change is None else change(x, trained)


def array_as_trained(array: np.ndarray, to: str | None) -> np.ndarray:
    """A column of NumPy; without changes the same object. to: as Trained.change says."""
    kind = array.dtype.kind
    if to == "number" and kind == "b":
        return array.astype(np.uint8)
    if to == "bool" and kind in "iuf":
        if np.ma.filled((array == 0) | (array == 1), True).all():
            return array.astype(bool)
        return objects_as_trained(array.astype(object), to)
    return objects_as_trained(array, to) if to is not None and kind == "O" else array


def objects_as_trained(array: np.ndarray, to: str) -> np.ndarray:
    changed = np.empty(len(array), object)
    for k, cell in enumerate(np.ma.getdata(array).tolist()):
        changed[k] = cell_as_trained(cell, to)
    return np.ma.array(changed, mask=np.ma.getmaskarray(array)) if isinstance(array, np.ma.MaskedArray) else changed


def cell_as_trained(cell: Any, to: str) -> Any:
    if to == "number":
        return int(cell) if isinstance(cell, (bool, np.bool_)) else cell
    return bool(cell) if isinstance(cell, NUMBERS) and cell in (0, 1) else cell


def structured_as_trained(x: np.ndarray, trained: Trained) -> np.ndarray:
    columns = {name: array_as_trained(np.ma.getdata(x[name]), trained.change(name)) for name in x.dtype.names}
    changed = np.empty(x.shape, [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        changed[name] = column
    return changed if changed.dtype != x.dtype else x


def pandas_as_trained(table: Any, trained: Trained) -> Any:
    changed = {}
    for k, name in enumerate(table.columns):
        column, to = table.iloc[:, k], trained.change(column_name(name))
        kind = str(column.dtype).lower()
        if isinstance(column.dtype, np.dtype):
            now = column.to_numpy()
            new = array_as_trained(now, to)
            if new is not now:
                changed[k] = new
        elif to is not None and kind.startswith("sparse"):
            changed[k] = array_as_trained(np.asarray(column), to)
        elif to == "number" and kind in ("boolean", "bool[pyarrow]"):
            changed[k] = column.astype("UInt8")
        elif to == "bool" and kind.startswith(("int", "uint", "float", "double")):
            changed[k] = array_as_trained(column.astype(object).to_numpy(), to)
    if not changed:
        return table
    table = table.copy(deep=False)
    for k, values in changed.items():
        table.isetitem(k, values)
    return table


def polars_as_trained(table: Any, trained: Trained) -> Any:
    import polars

    table = table.collect() if isinstance(table, polars.LazyFrame) else table
    changed = []
    for column in table.get_columns():
        to = trained.change(column.name)
        if to == "number" and column.dtype == polars.Boolean:
            changed.append(column.cast(polars.UInt8))
        elif to == "bool" and column.dtype.is_numeric() and column.drop_nulls().is_in([0, 1]).all():
            changed.append(column.cast(polars.Boolean))
    return table.with_columns(changed) if changed else table


def arrow_as_trained(table: Any, trained: Trained) -> Any:
    import pyarrow
    from pyarrow import compute

    for k, name in enumerate(table.schema.names):
        kind, to = table.schema.field(k).type, trained.change(name)
        column = table.column(k)
        if to == "number" and pyarrow.types.is_boolean(kind):
            table = table.set_column(k, name, column.cast(pyarrow.uint8()))
        elif to == "bool" and (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
            both = compute.or_(compute.equal(column, 0), compute.equal(column, 1))
            if compute.all(both).as_py():
                table = table.set_column(k, name, column.cast(pyarrow.bool_()))
    return table
