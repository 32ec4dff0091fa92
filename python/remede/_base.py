"""What both estimators share: fitting, predicting, showing, saving."""
from __future__ import annotations

import contextlib
import copy
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Iterable, Iterator, TypeVar

import numpy as np

from . import _native
from ._deploy import Deployable
from ._explain import Explainable
from ._inputs import Packed
from ._parameters import PARAMETERS
from ._progress import progress_bar
from ._reading import Learnable, all_numbered, drop_weightless, pair_of
from ._settings import SETTING_NAMES, given_settings, seed_of, setting_text, threads_of
from ._targets import align_weights
from ._trace import Trace

Callback = Callable[[_native.Progress], Any]
Self = TypeVar("Self", bound="Estimator")


class Estimator(Deployable, Explainable):
    """See RecurrentTreeClassifier and RecurrentTreeRegressor."""

    # Training

    def fit(self: Self, X: Any, y: Any = None, sample_weight: Any = None, *, validation: Any = None,
            test: Any = None, split: str | None = None, callbacks: Callback | Iterable[Callback] | None = None, start_from: Any = None, client: Any = None) -> Self:
        """Learns a tree.

        X: a 2-D array (each row a sequence of one step), a list of 2-D arrays (steps, inputs), a 3-D array (see `axes`), a pandas,
            polars or Arrow frame or a structured array in long format (see `id`, `time`), a list of frames, a pandas frame whose index
            is (instance, time) or whose cells are series, or the path of a file. Tables with names are read as the program reads a
            file: the same types, words, limits and messages.
        y: a target per row or step, in the shape of X, or one per sequence (predicted at its last step). For a frame it may also be
            the name of a column, or a list of names. NaN and None mark steps without a target.
        sample_weight: a weight per sequence, or per row or step.
        validation: (X, y) to validate on; otherwise a part of X is held out (validation_fraction).
        split: what is held out: "sequence" (whole sequences), "time" (the end of each), or a column of X whose values are training,
            validation and test, or groups, of which whole ones are held out.
        test: data for a score at the end, `test_score_`, which are not used for training or selection: (X, y), or a share of X (whole
            sequences, or the end of a single sequence).
        callbacks: called with a `Progress` while training runs; one that returns True ends it with the best model so far.

        start_from: a fitted estimator, or the path of a model file. Its structure is kept (splits, cells, terms), and its numbers are adapted to
            these data; where nothing does better on the validation data, the model stays as it is. X and y are read as that model reads
            them. The arguments of the estimator that decide the structure must be left as they are.

        client: of a Dask cluster (`distributed.Client`), which then does the long parts of the work. The model is the same. X and y may be Dask
            collections (see `remede.dask.fit`).

        Ctrl-C ends training with the best model so far (`stopped_` is True then); a second one raises KeyboardInterrupt.
        """
        with kept_if_failed(self):
            if validation is not None and self.validation_fraction is not None:
                raise ValueError("validation_fraction: has no effect here: the validation data are given")
            if split is not None and (validation is not None or start_from is not None or share_of(test) is not None):
                other = "validation" if validation is not None else "start_from" if start_from is not None else "a share for the test"
                raise ValueError(f"expected split or {other}, got both")
            if client is not None:
                from .dask import collected

                X, y, sample_weight, validation, test = (tuple(collected(v, client) for v in some) if isinstance(some, tuple) else collected(some, client)
                                                         for some in (X, y, sample_weight, validation, test))
            if start_from is not None:
                found = self._adapt(start_from, X, y, sample_weight, validation, test, callbacks)
            else:
                learnable = self._learnable(X, y, sample_weight, None if split in ("sequence", "time") else split)
                found = self._learn(learnable, validation, test, split, callbacks, client)
                if learnable.tables.named and not all_numbered(X):
                    self.feature_names_in_ = np.array(learnable.columns, dtype=object)
                elif hasattr(self, "feature_names_in_"):
                    del self.feature_names_in_
        raise_or_warn(found)
        return self

    def _learn(self, learnable: Learnable, validation: Any, test: Any, split: str | None, callbacks: Any, client: Any) -> dict[str, Any]:
        """A fit from the beginning."""
        raw, _, names, roles, columns, per_sequence = learnable
        settings = self._settings()
        share = share_of(test)
        raw, part = _native.hold_out_test(raw, share, settings) if share is not None else (raw, None)
        if self._weigh_classes(raw):
            raw = drop_weightless(raw)
        if split is not None:
            training, held, by_share = _native.split(raw, split, settings)
            if self.validation_fraction is not None and not by_share:
                raise ValueError(f"validation_fraction: has no effect here: column {split!r} says which rows are for validation")
        else:
            training, held = _native.encode(raw, settings, validation is not None), None
        if validation is not None:
            held = self._held_out_data("validation", validation, names, training, roles, columns)
            self._weigh_classes(held)
        tested = None
        if part is not None:
            tested = training.encode_like(part)
        elif test is not None:
            tested = self._held_out_data("test", test, names, training, roles, columns)
        found = self._fit(training, held, settings, callbacks, tested, client=client)
        self.n_features_in_ = len(columns)
        self.per_sequence_ = per_sequence
        self._column_names = columns
        self._from_file = False
        return found

    def _adapt(self: Self, start_from: Any, X: Any, y: Any, sample_weight: Any, validation: Any, test: Any, callbacks: Any) -> dict[str, Any]:
        if share_of(test) is not None:
            raise ValueError("test: expected data with start_from, got a share")
        start = type(self).load(start_from) if isinstance(start_from, (str, os.PathLike)) else start_from
        if not isinstance(start, type(self)):
            raise TypeError(f"start_from: expected a fitted {type(self).__name__} or the path of a model file, got {type(start).__name__}")
        packed = start._read_with_target(X, y, needed=True)
        weight = align_weights(sample_weight, packed)
        if weight is not None:
            packed.data.multiply_weights(weight.astype(np.float32))
        given = [None if some is None else start._read_with_target(*pair_of(some, what), needed=True).data
                 for what, some in (("validation", validation), ("test", test))]
        for name in ("classes_", "n_outputs_", "_one_dimensional", "n_features_in_", "feature_names_in_", "per_sequence_", "_column_names", "_from_file"):
            if hasattr(start, name):
                setattr(self, name, getattr(start, name))
            elif hasattr(self, name):
                delattr(self, name)
        for data in (packed.data, given[0]):
            if data is not None:
                self._weigh_classes(data)
        return self._fit(packed.data, given[0], self._settings(), callbacks, given[1], start.model_)

    def _settings(self) -> list[tuple[str, str]]:
        settings = [(SETTING_NAMES.get(name, name), setting_text(name, getattr(self, name))) for name in PARAMETERS]
        return [*settings, ("seed", str(seed_of(self.random_state))), ("threads", str(threads_of(self.n_jobs)))]

    def _fit(self, training: _native.Data, held: _native.Data | None, settings: list[tuple[str, str]], callbacks: Any,
             test: _native.Data | None, start: _native.Model | None = None, client: Any = None) -> dict[str, Any]:
        """What the library found; where there is a model it is this estimator's, even if a callback raised meanwhile."""
        calls = [] if callbacks is None else [callbacks] if callable(callbacks) else list(callbacks)
        with progress_bar(self.verbose, calls) as told:
            callback = (lambda progress: any([call(progress) for call in told])) if told else None
            if client is None:
                found = _native.fit(training, held, settings, callback, test, start)
            else:
                from .dask import Cluster

                with Cluster(client, training, held, settings) as cluster:
                    found = _native.fit(training, held, settings, callback, test, start, cluster.peers)
        if "model" not in found:
            raise found["raised"]
        self.model_ = found["model"]
        self.validation_score_ = found["score"]
        self.test_score_ = found.get("test_score")
        self.trained_nodes_ = found["trained_nodes"]
        self.stopped_ = found["stopped"]
        self.late_ = found["late"]
        self._importances = found["importances"]
        self._points = found["frontier"]
        self.frontier_reason_ = found["frontier_reason"]
        return found

    @property
    def frontier_(self: Self) -> list[Self]:
        """Fitted estimators of all sizes, the smallest first: each is better on validation data than all smaller ones. Their
        `validation_score_` holds the score, its standard error and which one was chosen; `frontier_reason_` gives the reason."""
        self._check_fitted()
        estimators = []
        for model, score in getattr(self, "_points", []):
            estimator = copy.copy(self)
            estimator.model_, estimator.validation_score_, estimator._points = model, score, []
            if not score["chosen"]:
                vars(estimator).pop("_importances", None)  # of another model
            estimators.append(estimator)
        return estimators

    # Use

    def _outputs(self, packed: Packed) -> np.ndarray:
        """(steps, outputs): probabilities or values."""
        return self.model_.predict(packed.data, threads_of(self.n_jobs))[0]

    def _given(self, packed: Packed, steps: np.ndarray) -> Any:
        """In the shape of X; where targets are per sequence, one per sequence."""
        return steps[packed.last] if self.per_sequence_ else packed.shaped(steps)

    def apply(self, X: Any) -> Any:
        """The number of the leaf that each step reaches, in the shape of X. A forest gives an array with a column per tree."""
        packed = self._read(X)
        leaves = self.model_.predict(packed.data, threads_of(self.n_jobs))[1]
        return packed.shaped(leaves[0] if len(leaves) == 1 else np.ascontiguousarray(leaves.T))

    def _answers(self) -> tuple[Any, ...]:
        return ()

    def trace(self, X: Any, sequence: int | str | None = 0, y: Any = None) -> Trace:
        """What the tree did in one sequence of X, step by step: the path, what was read, what was written, the prediction. sequence: its number
        from 0, its id as a string, or None for the one with the largest loss. The same as `remede explain`."""
        packed = self._read_with_target(X, y)
        return Trace(*self.model_.trace(packed.data, self._sequence_number(packed.data, sequence, packed.sequences)))

    def _named(self, cell_names: Mapping[str, str] | Sequence[str] | None) -> _native.Model:
        """The model, with other names for its cells where some are given."""
        self._check_fitted()
        if cell_names is None:
            return self.model_
        if isinstance(cell_names, str):
            raise TypeError(f"expected cell_names as a dict or a list of names, got {cell_names!r}")
        if not isinstance(cell_names, Mapping):
            known = [name for tree in self.model_.cell_names for name in tree]
            if len(self.model_.cell_names) != 1 or len(cell_names) != len(known):
                raise ValueError(f"expected {len(known)} cell_names, one per cell of one tree, or a dict, got {len(cell_names)}")
            cell_names = dict(zip(known, cell_names))
        return self.model_.renamed([(str(old), str(new)) for old, new in cell_names.items() if str(old) != str(new)])

    def rename_cells(self: Self, cell_names: Mapping[str, str] | Sequence[str]) -> Self:
        """Names the memory cells: `{"m1": "snow"}`, or a list in the order of the cells. The names are used wherever the model is shown; predictions
        stay the same. Returns the estimator."""
        self.model_ = self._named(cell_names)
        return self

    @property
    def cell_names_(self) -> list[str]:
        """The names of the memory cells, of all trees one after the other."""
        return [name for tree in self.model_.cell_names for name in tree]

    @property
    def n_numbers_(self) -> int:
        """The size of the model: how many numbers a reader has to take in (see the page on real data)."""
        return self.model_.size[0]

    def to_text(self, cell_names: Mapping[str, str] | Sequence[str] | None = None, X: Any = None, y: Any = None) -> str:
        """The model as text. cell_names: other names for the memory cells, as in `rename_cells`. X, y: data, to show
        how many steps reach each leaf and how accurate it is."""
        return _native.show(self._named(cell_names), "text", self._data(X, y))

    def to_dot(self, cell_names: Mapping[str, str] | Sequence[str] | None = None, X: Any = None, y: Any = None) -> str:
        """The tree in the language of Graphviz."""
        return _native.show(self._named(cell_names), "dot", self._data(X, y))

    def to_svg(self, cell_names: Mapping[str, str] | Sequence[str] | None = None, X: Any = None, y: Any = None) -> str:
        """The model as an SVG picture."""
        return _native.show(self._named(cell_names), "svg", self._data(X, y))

    def _repr_html_(self) -> str | None:
        return self.model_.to_svg() if hasattr(self, "model_") else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, the same that the program `remede` reads and writes."""
        self._check_fitted()
        self.model_.save(os.fspath(path))

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model file. The inputs are those that the tree reads, in the order of the file. A model file contains no code."""
        return cls._from_model(_native.Model.load(os.fspath(path)))

    @classmethod
    def _from_model(cls: type[Self], model: _native.Model) -> Self:
        kind = "classifier" if model.is_classifier else "regressor"
        if kind != cls._estimator_type:
            raise ValueError(f"expected the model of a {cls._estimator_type}, got that of a {kind}")
        settings = {name: text for name, text in model.settings}
        estimator = cls(**given_settings(settings), **({"random_state": int(settings["seed"])} if "seed" in settings else {}))
        estimator.model_ = model
        estimator._from_file = True
        estimator.categorical, estimator.ignore = model.categorical or None, model.ignore or None
        estimator.horizon, estimator.time_gap = model.horizon or None, model.time_gap
        estimator.target_per = "sequence" if model.per_sequence else None
        estimator._column_names = model.columns
        estimator.n_features_in_ = len(estimator._column_names)
        estimator.feature_names_in_ = np.array(estimator._column_names, dtype=object)
        estimator.per_sequence_ = model.per_sequence
        estimator._take_schema(model)
        return estimator

    def _take_schema(self, model: _native.Model) -> None:
        raise NotImplementedError

    @property
    def feature_importances_(self) -> np.ndarray:
        """(features) The importance of each column of X: its share of the score that is lost when its values are exchanged with those of other steps,
        on at most 10,000 steps of the training data. The shares sum to 1, or are all 0. `importance(X, y)` gives details, for any data."""
        self._check_fitted()
        if not hasattr(self, "_importances"):
            raise AttributeError("feature_importances_: measured on the data of a fit, which this model does not have: use importance(X, y)")
        lost = np.zeros(self.n_features_in_)
        place = {name: k for k, name in enumerate(self._column_names)}
        for name, value in self._importances:
            if name in place:
                lost[place[name]] += value
        return lost / lost.sum() if lost.sum() > 0 else lost

    @property
    def n_nodes_(self) -> int:
        """The number of inner nodes and leaves of all trees."""
        return self.model_.node_count

    @property
    def training_curve_(self) -> dict[str, list[float]]:
        """The losses of the chosen start at every validation."""
        return {"training_loss": self.model_.training_loss, "validation_loss": self.model_.validation_loss}


def raise_or_warn(found: dict[str, Any]) -> None:
    """What happened during a training that gave a model nonetheless."""
    raised = found["raised"]
    if raised is None:
        return
    if not isinstance(raised, KeyboardInterrupt) or found["interruptions"] > 1:
        raise raised
    warnings.warn("training was interrupted: this is the best model so far", RuntimeWarning, stacklevel=3)


@contextlib.contextmanager
def kept_if_failed(estimator: Estimator) -> Iterator[None]:
    """A fit that fails leaves the estimator as it was: the model of another fit goes with its own classes and columns."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def share_of(test: Any) -> float | None:
    """The share of the data that is to be held out for a test; None where the test data are given, or none are asked for."""
    if not isinstance(test, (int, float, np.integer, np.floating)) or isinstance(test, bool):
        return None
    if not 0 < test < 1:
        raise ValueError(f"test: expected data or a share between 0 and 1, got {test!r}")
    return float(test)
