"""One sequence, step by step."""
from __future__ import annotations

import json
from typing import Any


class Trace:
    """What a tree did in one sequence. It is printed as a table and shown in a notebook as a picture; `steps` holds the data."""

    def __init__(self, as_json: str, table: str, svg: str) -> None:
        self._json = json.loads(as_json)
        self._table = table
        self._svg = svg

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Per step: name, x, trees (leaf, path, memory before and after, reads), output, answer, target."""
        return self._json["steps"]

    @property
    def sequence(self) -> str:
        """The id of the sequence, or its number from 1 if it has none."""
        return self._json["sequence"]

    @property
    def inputs(self) -> list[str]:
        return self._json["inputs"]

    @property
    def classes(self) -> list[str]:
        return self._json["classes"]

    @property
    def cells(self) -> list[list[str]]:
        """The names of the memory cells, of each tree."""
        return self._json["cells"]

    def to_svg(self) -> str:
        """The picture: inputs, paths, cells and answers over the steps."""
        return self._svg

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        return self._table

    def _repr_html_(self) -> str:
        return self._svg
