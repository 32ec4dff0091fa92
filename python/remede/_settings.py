"""Hyper-parameters and recipes as the declaration in C++ reads them, and the other way round."""
from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _native
from ._parameters import PARAMETERS, PYTHON_NAMES

MOST_RECIPE = 1 << 20  # bytes of a file
SETTING_NAMES = {python: name for name, python in PYTHON_NAMES.items()}


def setting_text(name: str, value: Any) -> str:
    """A value as the declaration in C++ reads it."""
    if name == "class_weight" and (value is None or isinstance(value, Mapping)):
        return "none"  # weights by class are multiplied into those of the steps
    if value is None:
        return "auto" if PARAMETERS.get(name, ("", False))[1] else "None"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if name == "recipe":
        return recipe_text(value)
    if isinstance(value, datetime.timedelta):
        return repr(value.total_seconds())
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(setting_text(name, v) for v in value)
    if isinstance(value, (float, np.floating)) and not float(value).is_integer():
        return repr(float(value))
    if isinstance(value, (int, float, np.integer, np.floating)):
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


def recipe_text(recipe: Any) -> str:
    """A name, a dictionary of fields, or the path of a JSON file, as the declaration in C++ reads it."""
    if isinstance(recipe, dict):
        return json.dumps(recipe)
    path = os.fspath(recipe) if isinstance(recipe, os.PathLike) else recipe
    if isinstance(path, str) and path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            text = file.read(MOST_RECIPE + 1)
        if len(text) > MOST_RECIPE:
            raise ValueError(f"{path}: expected a recipe of at most {MOST_RECIPE} bytes, got more")
        return text
    return str(path)


def recipe(recipe: Any = "default") -> dict[str, Any]:
    """All fields of a recipe: `default`, `paper` or `gradtree`, the path of a JSON file, or a dictionary of the fields that differ."""
    return json.loads(_native.recipe(recipe_text(recipe)))


def setting_value(name: str, text: str) -> Any:
    """The other way round."""
    kind, optional = PARAMETERS[name]
    if optional and text == ("none" if name == "class_weight" else "auto"):
        return None
    if name == "recipe" and text.startswith("{"):
        return json.loads(text)
    return {"bool": lambda t: t == "yes", "int": int, "float": float,
            "list[float]": lambda t: [float(v) for v in t.split(",")]}.get(kind, str)(text)


# Earlier files record what the recipe decided itself as if it had been given.
EARLIER_DEFAULTS = {"starts": "32", "improve": "yes", "batch": "32", "decay": "0.25", "validation_fraction": "0.2", "rate_index": "0.03",
                    "rate_threshold": "0.006", "rate_output": "0.1", "rate_gate": "0.2", "rate_write": "0.2", "rate_bias": "0.1",
                    "rate_rate": "0.05", "rate_linear": "0.02"}


def given_settings(settings: dict[str, str]) -> dict[str, Any]:
    """The recorded hyper-parameters as arguments of an estimator."""
    decided = {} if "effort" in settings else EARLIER_DEFAULTS
    named = {PYTHON_NAMES.get(name, name): text for name, text in settings.items() if decided.get(name) != text}
    return {name: setting_value(name, text) for name, text in named.items() if name in PARAMETERS}


def seed_of(random_state: Any) -> int:
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    if random_state is None:
        return int(np.random.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**31 - 1))
    return int(random_state)


def threads_of(n_jobs: int | None) -> int:
    """0: all of them."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 in Parallel has no meaning: expected a number of threads, or -1 for all")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
