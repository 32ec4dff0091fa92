"""What the verbs describe, explain, evaluate, report and simplify do, on what users have in Python."""
from __future__ import annotations

import copy
import json
import os
from typing import Any, TypeVar

import numpy as np

from . import _native
from ._frames import add_array
from ._inputs import Packed, Tables, tables_of
from ._reading import Reading, listed, pair_of, target_names, warn_of, weights_of
from ._results import Description, Importance, Machine, Page, Rules, Scores, Simplification, Verification
from ._settings import threads_of
from ._targets import as_values, is_list_of_arrays

Self = TypeVar("Self", bound="Explainable")
EXPLORER_HEIGHT, REPORT_HEIGHT = 900, 700  # pixels


class Explainable(Reading):
    """What a fitted estimator can tell of itself."""

    def _read_with_target(self, X: Any, y: Any, needed: bool = False) -> Packed:
        """X for the fitted model, with the targets that y gives or names; without y those that X has."""
        names = target_names(y, X)
        packed = self._read(X, need_target=names is not None or (needed and y is None), targets=names or ())
        if y is not None and names is None:
            target = self._align(y, packed)
            self._set_target(packed.data, target, weights_of(target, None))
        return packed

    def _data(self, X: Any, y: Any) -> _native.Data | None:
        self._check_fitted()
        if X is None and y is not None:
            raise ValueError("expected X as well, got y alone")
        return None if X is None else self._read_with_target(X, y).data

    def evaluate(self, X: Any, y: Any = None) -> Scores:
        """All scores on data with targets, as `remede evaluate` gives them: accuracy, balanced accuracy, log loss, macro F1, AUC, per class and
        the confusion; or RMSE, MAE and R2, and what the objective measures. y: as in `score`."""
        packed = self._read_with_target(X, y, needed=True)
        return Scores(*_native.evaluate(self.model_, packed.data, threads_of(self.n_jobs)))

    def importance(self, X: Any, y: Any = None, *, seed: int = 1) -> Importance:
        """The importance of each input and memory cell on these data: the score that is lost when its values are exchanged with those of other
        steps, or when a cell stays at zero; and how far back the model looks. Without targets, the agreement with the unchanged model is
        measured. The same as `remede explain --importance`."""
        return Importance(*_native.importance(self.model_, self._read_with_target(X, y).data, seed, threads_of(self.n_jobs)))

    def machine(self, X: Any = None, y: Any = None) -> Machine:
        """The state machine that the memory implements: what the data visit, or without data all transitions that are possible. As
        `remede explain --machine`."""
        return Machine(*_native.machine(self.model_, self._data(X, y)))

    def rules(self, X: Any = None, y: Any = None) -> Rules:
        """Each leaf as one sentence; with data the most frequently reached first, with counts. As `remede explain --rules`."""
        return Rules(*_native.rules(self.model_, self._data(X, y)))

    def explorer(self, X: Any, y: Any = None, *, sequences: int = 200, seed: int = 1) -> Page:
        """The interactive page of `remede explain --html`: the model at work on some sequences, half of them those with the largest loss. A
        notebook shows it; `explorer(X).save("page.html")` saves it. sequences: their maximum number."""
        if sequences < 1:
            raise ValueError(f"sequences: expected at least 1, got {sequences}")
        data = self._read_with_target(X, y).data
        return Page(_native.explorer(self.model_, data, sequences, seed, name_of(X), threads_of(self.n_jobs)), EXPLORER_HEIGHT)

    def report(self, X: Any, y: Any = None) -> Page:
        """The page of `remede report`: data, scores, learning curves, tree, state machine, importance, settings. A notebook shows it;
        `report(X, y).save("report.html")` saves it."""
        data = self._read_with_target(X, y).data
        return Page(_native.report(self.model_, data, "", name_of(X), threads_of(self.n_jobs)), REPORT_HEIGHT)

    def simplified(self: Self, X: Any = None, y: Any = None, *, validation: Any = None, exact: bool = False, round: int | None = None,
                 drop_small: bool = False, keep_inputs: bool = False) -> Self:
        """A fitted estimator with a smaller model that is as good on these data; `simplification_` says what was removed and why. The same as
        `remede simplify`. Training already ends with this step (the setting `simplify`), so it is useful for models of other origin, or with
        `round`.

        X, y: data with targets on which the accuracy must not fall and the loss may rise by at most 0.01 nats or 1%. Without them, only
            steps are taken that keep every prediction bit for bit.
        validation: (X, y): additional data with the same limits.
        exact: only steps that keep every prediction.
        round: round numbers to this many significant digits (1 to 9), or to as few more as the limits require.
        drop_small: set small weights to 0 within the limits. keep_inputs: keep inputs that nothing reads.
        """
        self._check_fitted()
        if X is None and (validation is not None or round is not None or drop_small):
            given = "validation" if validation is not None else "round" if round is not None else "drop_small"
            raise ValueError(f"{given}: expected data to check the model on, got none")
        if round is not None and not 1 <= round <= 9:
            raise ValueError(f"round: expected 1 to 9 digits, got {round}")
        data = None if X is None else self._read_with_target(X, y, needed=True).data
        held = None if validation is None else self._read_with_target(*pair_of(validation), needed=True).data
        model, text, as_json = _native.simplify(self.model_, data, held, exact, round or 0, drop_small, keep_inputs)
        smaller = copy.copy(self)
        smaller.model_, smaller._points = model, []
        vars(smaller).pop("_importances", None)  # of another model
        smaller.simplification_ = Simplification(text, as_json)
        return smaller

    def verify(self, properties: Any = (), *, assume: Any = (), equals: Explainable | None = None,
               automaton: str | os.PathLike[str] | dict[str, Any] | None = None, within: Any = None, robust: Any = None,
               effort: float = 1.0) -> Verification:
        """Proves or disproves properties of the model, for sequences of every length. The same as `remede verify`; docs/verify.md describes the language.

        properties: a string or several, such as "never says 1 unless once x1 >= 0.2". Without any, and without equals, automaton and robust: bounds
            of answers and cells, leaves and answers that never occur, and whether answers rise or fall with each input.
        assume: assumptions about the inputs at every step, such as "temp in -20..60"; a string or several.
        within: data; assume that every number stays within the range that it has there.
        equals: another fitted estimator; prove or disprove that both give the same answers.
        automaton: a finite automaton, as a dict or the path of a JSON file; prove or disprove that the model accepts the same strings.
        robust: data; find how far every number in them may move before an answer changes.
        effort: factor of the work that is spent before a property is reported as undecided.
        """
        self._check_fitted()
        texts = [[given] if isinstance(given, str) else [str(one) for one in given] for given in (properties, assume)]
        if not effort > 0:
            raise ValueError(f"effort: expected a number above 0, got {effort}")
        if equals is not None:
            equals._check_fitted()
        language = ""
        if isinstance(automaton, dict):
            language = json.dumps(automaton)
        elif automaton is not None:
            with open(automaton, encoding="utf-8") as file:
                language = file.read()
        data, ranges = (None if given is None else self._read_with_target(given, None).data for given in (robust, within))
        return Verification(*_native.verify(self.model_, *texts, float(effort), None if equals is None else equals.model_, language, data,
                                            ranges))

    def _sequence_number(self, data: _native.Data, sequence: int | str | None, sequences: int) -> int:
        """Of the one that is asked for: a number from 0 (or from the end), an id, or None for the one with the largest loss."""
        if sequence is None:
            return _native.worst_sequence(self.model_, data, threads_of(self.n_jobs))
        if isinstance(sequence, str):
            return _native.find_sequence(data, sequence)
        if not -sequences <= sequence < sequences:
            raise IndexError(f"sequence: expected a number below {sequences}, got {sequence}")
        return range(sequences)[sequence]


def name_of(X: Any) -> str:
    """Where the data came from, for the head of a page."""
    return os.fspath(X) if isinstance(X, (str, os.PathLike)) else ""


def describe(X: Any, y: Any = None, *, id: str | None = None, time: str | None = None, categorical: Any = None, ignore: Any = None,
             weight: str | None = None, task: str | None = None, target_per: str | None = None, horizon: int | None = None, time_gap: bool = False,
             strict_time: bool = False, axes: str | None = None) -> Description:
    """How data are interpreted, before anything is learned from them: sequences, columns, types, missing values, classes, suggestions. As
    `remede describe`, which takes the same options.

    X: as for `fit`. y: the name of the target column or columns, or the targets; without it a column called y or target.
    task: classification or regression, to override what follows from the target column.

    Data that cannot be read as requested raise `Error`. The attribute `description` of the exception then holds what is known about the
    columns.
    """
    tables = tables_of(X, axes=axes, names=None, index=tuple(name for name in (id, time) if name), estimator="describe")
    names = target_names(y, X) or []
    if y is not None and not names:
        names = [add_targets(y, X, tables)]
    if not tables.named:
        id, time = tables.id or id or "row", "none"
    elif tables.panel and id is None and time is None:
        id, time = tables.panel
    elif tables.kind == "frame" and tables.names and id is None and time is None:
        taken = {*names, *listed(ignore), weight}
        id = None if _native.usual_columns("id", [name for name in tables.names if name not in taken]) else "row"  # as fit takes it
    texts = {"id": id, "time": time, "weight": weight, "task": task, "target-per": target_per, "horizon": horizon,
             "time-gap": "true" if time_gap else None, "strict-time": "true" if strict_time else None}
    roles = [(name, str(text)) for name, text in texts.items() if text is not None] + [("target", name) for name in names]
    roles += [("categorical", name) for name in dict.fromkeys([*listed(categorical), *tables.categories])] + [("ignore", name) for name in listed(ignore)]
    text, as_json, notes, complaint = _native.describe(tables.tables, roles, True)
    found = Description(text, as_json) if as_json else None
    if complaint:
        error = _native.Error(complaint)
        error.description = found
        if found is not None and hasattr(error, "add_note"):
            error.add_note(str(found))
        raise error
    assert found is not None
    warn_of(_Notes(notes))
    return found


class _Notes:
    """What reading had to assume."""

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes


def add_targets(y: Any, X: Any, tables: Tables) -> str:
    """Targets that stand beside X as a column of its table; gives the name of the column."""
    if tables.kind == "frames" or tables.names == []:
        raise ValueError("y: expected the name of a column of X if X is a list of frames or a file, got values")
    parts = y if is_list_of_arrays(y) and tables.kind == "list" else None
    values = np.concatenate([np.asarray(part) for part in parts]) if parts is not None else as_values(y)
    if tables.kind == "cube" and values.ndim > 1:
        sizes = (int(tables.lengths[0]), tables.lengths.size)
        values = (values.T if tables.time_first and values.shape == sizes else values).reshape(-1)
    (frame,) = tables.tables
    if tables.kind in ("list", "cube") and len(values) == tables.lengths.size != frame.rows:
        last = np.full(frame.rows, None, dtype=object)  # one per sequence, at its last step
        last[np.cumsum(tables.lengths) - 1] = values
        values = last
    if values.ndim != 1 or len(values) != frame.rows:
        raise ValueError(f"y: expected a target for each of {frame.rows} steps, or one per sequence, got an array of shape {values.shape}")
    name = str(getattr(y, "name", None) or "y")
    while name in frame.names:
        name += "_"
    add_array(frame, name, values)
    return name
