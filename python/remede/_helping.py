"""The other side of a shared fit: what a worker of a cluster does with a job."""
from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from . import _native

MOST_HELPERS = 4  # fits that a worker keeps the prepared data of


@dataclass
class SharedFit:
    """The data and settings of a fit, sent to every worker once."""

    key: str
    training: bytes
    validation: bytes | None
    settings: list[tuple[str, str]]


_helpers: OrderedDict[str, Any] = OrderedDict()
_lock = threading.Lock()


def helper_of(fit: SharedFit) -> Any:
    with _lock:  # the first job prepares the data, the others wait for it
        if fit.key not in _helpers:
            _helpers[fit.key] = _native.Helper(fit.training, fit.validation, fit.settings)
            while len(_helpers) > MOST_HELPERS:
                _helpers.popitem(last=False)
        _helpers.move_to_end(fit.key)
        return _helpers[fit.key]


def do_job(fit: SharedFit, job: bytes) -> bytes:
    """What a job answers depends on its bytes and on the fit alone, so it may be done anywhere, and again."""
    return helper_of(fit).run(job)
