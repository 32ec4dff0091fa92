"""Taking a model elsewhere: live streams, and programs of their own."""
from __future__ import annotations

import os
from typing import Any

from . import _native


class Deployable:
    """What every fitted estimator can do outside of a batch."""

    def stream(self) -> _native.Stream:
        """A live sequence: its `step(x)` takes the inputs of one step, as a dict by the names of the columns or as a list in their order, and
        returns the prediction at once. Categorical columns take strings. Many streams can share a model."""
        self._check_fitted()
        return _native.Stream(self.model_, list(self._column_names), self._answers())

    def stream_pool(self, most: int = 1_000_000) -> _native.StreamPool:
        """Many live sequences by their ids: `step(id, x)`. Beyond `most` sequences, the least recently used one is forgotten."""
        self._check_fitted()
        if most < 1:
            raise ValueError(f"expected a pool of at least one sequence, got {most}")
        return _native.StreamPool(self.model_, list(self._column_names), self._answers(), most)

    def export(self, folder: str | os.PathLike[str], to: str = "c", name: str = "model", X: Any = None, steps: int = 1000) -> list[str]:
        """Writes the model as a standalone program into a folder, which is created if it does not exist. Returns the paths.

        to="c": NAME.h and NAME.c in C99, without heap, recursion or libm. to="cpp": NAME.hpp, a constexpr header for C++20. to="onnx":
        NAME.onnx for a step and NAME_sequence.onnx for a sequence. All give the same answers as `predict`, bit for bit. to="c-q15" or "c-q31": C99 in fixed point; X has the
        values such as the program will receive, and the program states how much its answers may differ in the first `steps` steps."""
        self._check_fitted()
        if not 1 <= steps <= 1_000_000:
            raise ValueError(f"steps: expected 1 to 1000000, got {steps}")
        fixed = to.startswith("c-q")
        if X is not None and not fixed:
            raise ValueError(f"X: has no effect with to={to!r}")
        return _native.write_exported(self.model_, os.fspath(folder), to, name, self._read(X).data if X is not None else None, steps)
