"""Training and prediction on a Dask cluster. Needs `pip install remede[dask]`.

The models are those that the same calls give without a cluster, byte for byte, whatever the number of workers, and also when workers are lost on the way.
"""
from __future__ import annotations

import threading
import time
import uuid
from typing import Any

import numpy as np

from . import _native
from ._helping import SharedFit, do_job

__all__ = ["fit", "predict", "predict_proba", "score"]

MOST_TRIES = 5  # of a job whose worker was lost
SECONDS_BETWEEN_LOOKS = 2.0  # at how many workers there are


def fit(estimator: Any, X: Any, y: Any = None, *, client: Any = None, **arguments: Any) -> Any:
    """`estimator.fit(X, y, client=client)`: the starts of the search and the other long parts are tasks of the cluster.

    X, y: Dask collections (a DataFrame, whose sequences may lie in several partitions; a bag of arrays, one per sequence; an array), or what
        `fit` takes otherwise. They are collected here and sent to every worker once: all must have room for them.
    client: of `distributed`; the current one if None. arguments: as those of `fit`.
    """
    return estimator.fit(X, y, client=client or current_client(), **arguments)


def predict(estimator: Any, X: Any) -> Any:
    """The predictions for a Dask collection, partition by partition, as a collection of the same kind. Every sequence must lie in one partition:
    `frame.shuffle("id")` or `set_index` see to that."""
    dtype = np.float64 if estimator._estimator_type == "regressor" else estimator.classes_.dtype
    return partition_wise(estimator, X, "predict", lambda part, answers: named_series(part, answers, dtype))


def predict_proba(estimator: Any, X: Any) -> Any:
    """The same for the probability of each class."""
    return partition_wise(estimator, X, "predict_proba", lambda part, answers: named_columns(part, answers, estimator.classes_))


def score(estimator: Any, X: Any, y: Any = None, *, client: Any = None) -> float:
    """`estimator.score(X, y)` of a Dask collection, partition by partition; only sums are collected."""
    import dask

    truths = y.to_delayed() if is_collection(y) else None
    parts = partitions(X)
    if truths is not None and len(truths) != len(parts):
        raise ValueError(f"y: expected {len(parts)} partitions as X has, got {len(truths)}")
    sums = [dask.delayed(sums_of)(estimator, part, y if truths is None else truths[i]) for i, part in enumerate(parts)]
    found = (client or current_client()).gather((client or current_client()).compute(sums))
    return float(estimator._score_of([some for some in found if some is not None]))


def sums_of(estimator: Any, X: Any, y: Any) -> Any:
    X, y = as_data(X), as_data(y)
    return estimator._sums(X, y) if len(X) else None


def as_data(part: Any) -> Any:
    """A partition as an estimator reads it: that of a bag is an iterator."""
    return part if part is None or isinstance(part, str) or hasattr(part, "shape") else list(part)


def is_collection(x: Any) -> bool:
    return type(x).__module__.split(".")[0] in ("dask", "dask_expr")


def partitions(X: Any) -> list[Any]:
    if not is_collection(X):
        raise TypeError(f"X: expected a Dask collection, got {type(X).__name__}")
    return list(np.asarray(X.to_delayed(), dtype=object).ravel())


def partition_wise(estimator: Any, X: Any, method: str, framed: Any) -> Any:
    partitions(X)
    if hasattr(X, "columns"):
        if estimator.per_sequence_:
            raise ValueError("expected a model with a target per step for a DataFrame, got one with a target per sequence: use a bag of sequences")
        empty = X._meta.iloc[:0]
        answers = np.zeros((0, len(estimator.classes_))) if method == "predict_proba" else np.zeros(0)
        return X.map_partitions(lambda part: framed(part, getattr(estimator, method)(part) if len(part) else answers), meta=framed(empty, answers))
    if type(X).__name__ == "Bag":
        return X.map_partitions(lambda part: predicted_list(getattr(estimator, method), list(part)))
    raise TypeError(f"X: expected a Dask DataFrame or bag, got {type(X).__name__}")


def predicted_list(method: Any, sequences: list[Any]) -> list[Any]:
    return list(method(sequences)) if sequences else []


def named_series(part: Any, answers: Any, dtype: Any) -> Any:
    import pandas as pd

    return pd.Series(np.asarray(answers, dtype=dtype), index=part.index, name="prediction")


def named_columns(part: Any, answers: Any, classes: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(np.asarray(answers, dtype=np.float64), index=part.index, columns=[f"p_{name}" for name in classes])


def current_client() -> Any:
    from distributed import default_client

    return default_client()


def collected(x: Any, client: Any) -> Any:
    """A Dask collection as what it is a collection of; all else as it is."""
    if not is_collection(x):
        return x
    found = client.compute(x).result()
    return list(found) if type(x).__name__ == "Bag" else found


class Cluster:
    """A fit on its way through a cluster: `peers` is what the library sends jobs through. Dask runs the tasks of a lost worker again; where it
    has lost the data as well, they are sent anew."""

    def __init__(self, client: Any, training: _native.Data, held: _native.Data | None, settings: list[tuple[str, str]]) -> None:
        self.client = client
        key = uuid.uuid4().hex
        self.shared = SharedFit(key, _native.data_bytes(training), None if held is None else _native.data_bytes(held), settings)
        self.lock = threading.Lock()
        self.pending: dict[int, tuple[Any, bytes, int]] = {}  # future, job and how often it was tried, by number
        self.closed = False
        self.data = self.scatter()
        self.looked = time.monotonic()
        self.peers = _native.Peers(self.submit, self.hands())

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: Any) -> None:
        with self.lock:
            self.closed = True
            left = [future for future, _, _ in self.pending.values()]
            self.pending.clear()
            self.peers.close()
        if left:
            self.client.cancel(left, force=True)

    def scatter(self) -> Any:
        return self.client.scatter(self.shared, broadcast=True, hash=False)

    def hands(self) -> int:
        return max(1, sum(self.client.nthreads().values()))

    def submit(self, number: int, job: bytes, tries: int = 1) -> None:
        if time.monotonic() - self.looked > SECONDS_BETWEEN_LOOKS:
            self.looked = time.monotonic()
            self.peers.set_hands(self.hands())
        future = self.client.submit(do_job, self.data, job, key=f"remede-{self.shared.key}-{number}-{tries}", pure=False)
        with self.lock:
            if self.closed:
                return
            self.pending[number] = (future, job, tries)
        future.add_done_callback(lambda done: self.done(number, done))

    def done(self, number: int, future: Any) -> None:
        with self.lock:
            if self.closed or number not in self.pending:
                return
            _, job, tries = self.pending.pop(number)
        try:
            self.peers.answer(number, future.result())
        except Exception as error:  # noqa: BLE001: whatever a cluster may come up with
            self.failed(number, job, tries, error)

    def failed(self, number: int, job: bytes, tries: int, error: Exception) -> None:
        """A job that went wrong by itself would go wrong again; one whose worker or data were lost is tried again."""
        if isinstance(error, _native.Error) or tries >= MOST_TRIES:
            self.peers.fail(f"a job on the cluster failed: {error}")
            return
        try:
            self.data = self.scatter()
            self.submit(number, job, tries + 1)
        except Exception as again:  # noqa: BLE001
            self.peers.fail(f"a job could not be sent to the cluster: {again}")
