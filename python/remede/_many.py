"""One model per group."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from ._estimators import RecurrentTreeClassifier, RecurrentTreeRegressor
from ._frames import library_of
from ._settings import threads_of

TASKS_PER_HAND = 8  # so that all end at about the same time
MOST_GROUPS_IN_TASK = 64


def fit_many(frame: Any, y: Any = "y", *, by: str, estimator: Any = None, client: Any = None, n_jobs: int | None = None,
             on_error: str = "raise", **arguments: Any) -> dict[Any, Any]:
    """Trains one model for every value of a column: a dictionary of fitted estimators by value.

    frame: a pandas, polars, Arrow or Dask frame in long format. Column `by` names the group of a row; the models do not read it.
    y: the name of the target column, or a list of names.
    estimator: what is fitted to every group, each time on one thread; by default a regressor where the target is a floating-point column,
        else a classifier. Where every group is one series say so: `RecurrentTreeRegressor(id="none", time="day")`.
    client: of Dask; the groups are then tasks of its cluster. n_jobs: without a client, how many groups at a time (-1: one per processor).
    on_error: "raise", or "keep" to have the exception of a group in the place of its model.
    arguments: as those of `fit`.

    The models do not depend on client and n_jobs.
    """
    if on_error not in ("raise", "keep"):
        raise ValueError(f"on_error: expected 'raise' or 'keep', got {on_error!r}")
    if client is not None:
        from .dask import collected

        frame = collected(frame, client)
    if library_of(frame) == "pyarrow":
        frame = frame.to_pandas()
    estimator = alone(estimator if estimator is not None else usual_estimator(frame, y))
    groups = list(groups_of(frame, by))
    if client is not None:
        found = fit_on_cluster(client, estimator, groups, y, arguments)
    else:
        with ThreadPoolExecutor(max(1, threads_of(1 if n_jobs is None else n_jobs) or threads_of(-2) + 1)) as pool:
            found = list(pool.map(lambda group: fit_group(estimator, group[1], y, arguments), groups))
    models = {key: model for (key, _), model in zip(groups, found)}
    if on_error == "raise":
        for key, model in models.items():
            if isinstance(model, Exception):
                raise ValueError(f"{by}={key!r}: {model}") from model
    return models


def alone(estimator: Any) -> Any:
    """A copy that trains on one thread."""
    return type(estimator)(**{**estimator.get_params(), "n_jobs": 1, "verbose": 0})


def usual_estimator(frame: Any, y: Any) -> Any:
    name = y if isinstance(y, str) else y[0]
    if name not in list(frame.columns):
        raise ValueError(f"y: expected the name of a column, got {name!r}")
    kind = str(frame[name].dtype).lower()
    return RecurrentTreeRegressor() if kind.startswith("float") else RecurrentTreeClassifier()


def groups_of(frame: Any, by: str) -> Iterator[tuple[Any, Any]]:
    """Values of the column in ascending order, each with its rows in their order, without the column."""
    if by not in list(frame.columns):
        raise ValueError(f"by: expected the name of a column, got {by!r}")
    if library_of(frame) == "polars":
        parts = frame.partition_by(by, as_dict=True, include_key=False, maintain_order=True)
        for key in sorted(parts):
            yield key[0], parts[key]
        return
    rest = [name for name in frame.columns if name != by]
    for key, part in frame.groupby(by, sort=True, observed=True):
        yield key, part[rest].reset_index(drop=True)


def fit_group(estimator: Any, part: Any, y: Any, arguments: dict[str, Any]) -> Any:
    try:
        return type(estimator)(**estimator.get_params()).fit(part, y, **arguments)
    except Exception as error:  # noqa: BLE001: told with the name of its group
        return error


def fit_groups(estimator: Any, parts: Iterable[Any], y: Any, arguments: dict[str, Any]) -> list[Any]:
    return [fit_group(estimator, part, y, arguments) for part in parts]


def fit_on_cluster(client: Any, estimator: Any, groups: list[tuple[Any, Any]], y: Any, arguments: dict[str, Any]) -> list[Any]:
    """Some groups per task. The data travel with their task, so that a lost worker loses nothing; only a few tasks are on their way at a time."""
    from distributed import as_completed

    hands = max(1, sum(client.nthreads().values()))
    size = min(MOST_GROUPS_IN_TASK, max(1, math.ceil(len(groups) / (hands * TASKS_PER_HAND))))
    waiting = iter(range(0, len(groups), size))
    models: list[Any] = [None] * len(groups)
    begins: dict[str, int] = {}

    def send(begin: int) -> Any:
        parts = [part for _, part in groups[begin:begin + size]]
        future = client.submit(fit_groups, estimator, parts, y, arguments, pure=False)
        begins[future.key] = begin
        return future

    flow = as_completed([send(begin) for begin in islice(waiting, 2 * hands)])
    for future in flow:
        begin = begins.pop(future.key)
        some = future.result()
        models[begin:begin + len(some)] = some
        later = next(waiting, None)
        if later is not None:
            flow.add(send(later))
    return models
