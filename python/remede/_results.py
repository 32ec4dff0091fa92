"""What the program prints and draws, as objects: text for reading, data for programs, a picture in a notebook."""
from __future__ import annotations

import html
import json
import os
from typing import Any, Iterator


STYLE = "font-family: monospace; white-space: {}; line-height: 1.3; overflow-x: auto"  # columns stay below one another


class Result:
    """The output of a verb of the program. It is printed as the text of the program; `data`, and indexing, give what the program prints with --json."""

    _space = "pre"  # in a notebook

    def __init__(self, text: str, as_json: str) -> None:
        self.text = text
        self.data: Any = json.loads(as_json)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def __getitem__(self, key: Any) -> Any:
        return self.data[key]

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data)

    def _repr_html_(self) -> str:
        return f'<pre style="{STYLE.format(self._space)}">{html.escape(self.text)}</pre>'


class Description(Result):
    """How data are interpreted: sequences, columns, types, missing values, classes."""


class Scores(Result):
    """How good a model is on data with targets."""


class Importance(Result):
    """The importance of each input and memory cell, and how far back the model looks."""


class Rules(Result):
    """Each leaf as one sentence."""

    _space = "pre-wrap"


class Simplification(Result):
    """What was removed from a model, and why."""


class Verification(Result):
    """What was proved and disproved; `data["results"]` has an entry for each property. `certificate` is the text for
    tools/check_certificate.py, empty if nothing was proved."""

    def __init__(self, text: str, as_json: str, certificate: str) -> None:
        super().__init__(text, as_json)
        self.certificate = certificate

    @property
    def verdicts(self) -> list[str]:
        """holds, fails or undecided, in the order of the properties."""
        return [one["verdict"] for one in self.data["results"]]

    @property
    def holds(self) -> bool:
        """Whether every property holds."""
        return all(verdict == "holds" for verdict in self.verdicts)

    @property
    def counterexamples(self) -> list[list[dict[str, Any]] | None]:
        """For each property the rows of a sequence that breaks it, by the names of the columns, with None for a missing value; or None for a
        property that does not fail."""
        return [one.get("counterexample") for one in self.data["results"]]


class Machine(Result):
    """The state machine that the memory implements. A notebook shows it as a picture."""

    def __init__(self, text: str, as_json: str, svg: str, dot: str) -> None:
        super().__init__(text, as_json)
        self._svg, self._dot = svg, dot

    def to_svg(self) -> str:
        """The machine as an SVG picture."""
        return self._svg

    def to_dot(self) -> str:
        """The machine in the language of Graphviz."""
        return self._dot

    def _repr_html_(self) -> str:
        return self._svg


class Page:
    """An HTML page without external resources. In a notebook it is shown in a frame; `save` writes it to a file."""

    def __init__(self, html: str, height: int) -> None:
        self.html = html
        self.height = height  # pixels of the frame in a notebook

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page. Opened in a browser, it needs nothing else."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def __repr__(self) -> str:
        return f"<HTML page of {len(self.html):,} characters: save(path) writes it>"

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: {self.height}px; border: 1px solid #ccc" '
                'sandbox="allow-scripts allow-downloads"></iframe>')
