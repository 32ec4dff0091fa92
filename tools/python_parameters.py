#!/usr/bin/env python3
"""Writes the package's _parameters.py, the keyword arguments of the estimators, from the declaration in C++ (parameters.def) as the extension
knows it. The build runs this (python/CMakeLists.txt).

    python tools/python_parameters.py FOLDER_OF_EXTENSION _parameters.py
"""
import pathlib
import sys
import textwrap

OWN_ARGUMENTS = ("seed", "threads")  # random_state and n_jobs, which take more than the declaration

HEAD = '''"""Generated from remede/train/parameters.def by tools/python_parameters.py; do not edit."""
from __future__ import annotations

from typing import Any

PARAMETERS: dict[str, tuple[str, bool]] = {
%s}
"""Type of each hyper-parameter, and whether None leaves it to the recipe."""

PYTHON_NAMES: dict[str, str] = {%s}
"""Hyper-parameters that are called otherwise here."""


class Parameters:
    """The hyper-parameters of training. None: the recipe decides.

%s
    """

    def __init__(
        self,
        *,
%s    ) -> None:
%s'''

CHANGED = {  # what takes more here than in the declaration
    "class_weight": {"type": "dict[Any, float] | str", "optional": True, "words": "", "range": "None, balanced, or a dict",
                     "help": "Weights of the classes in the loss: None: all the same; balanced: every class counts the same; or a dict from class to "
                             "weight, where classes that are not in it have weight 1"},
}

OWN = [  # what Python has beyond the declaration
    ("random_state", "Any", "{seed}", "Seed of everything random: the same seed gives the same model on every machine. None or a generator of "
     "NumPy draws one."),
    ("n_jobs", "int | None", "None", "Threads; None or -1: all of them, -2: all but one. The result does not depend on it."),
    ("id", "str | None", "None", "Column of a data frame that names the sequence of a row; 'row': every row is a sequence, 'none': the rows are "
     "one, 'file': every frame of a list is one. None: the column whose name says so (id, sequence, case_id, ...), else 'row', or 'none' with "
     "`time`. A fitted model goes by the column it learned from."),
    ("time", "str | None", "None", "Column of a data frame that orders the rows of a sequence; 'none': the order of the rows. None: beside an id "
     "the column whose name says so (time, step, date, ...)."),
    ("categorical", "Any", "None", "Columns of categories, even where they look like numbers: a name or a list. Columns of a categorical type are "
     "categories without it."),
    ("ignore", "Any", "None", "Columns that are no inputs: a name or a list."),
    ("horizon", "int | None", "None", "Predict the target so many steps ahead; its present value becomes an input. The target must be a column of X."),
    ("time_gap", "bool", "False", "The time since the step before becomes an input."),
    ("target_per", "str | None", "None", "'sequence': a target column has one value per sequence, at its last step; None: one per step."),
    ("strict_time", "bool", "False", "Refuse a time that occurs twice in a sequence; otherwise such rows keep their order."),
    ("memory_limit", "str | int | None", "None", "Above it large data are kept in temporary files: '800M', '2G', or bytes (at least 64M). None: half of the "
     "machine's memory. The model is the same."),
    ("axes", "str | None", "None", "Order of the axes of 3-D arrays: 'instance, time, channel' or 'instance, channel, time'."),
    ("verbose", "int", "0", "1: show progress while training (with tqdm where it is installed)."),
]


def value(parameter):
    text = parameter["default"]
    if parameter["optional"]:
        return "None"  # the recipe decides
    if parameter["type"] == "bool":
        return str(text == "yes")
    return repr(text) if parameter["type"].startswith("str") else repr(float(text) if parameter["type"] == "float" else int(text))


def values_text(parameter):
    if parameter["type"] == "bool":
        return ""
    words = parameter["range"].replace(" .. ", " to ")
    return f" ({words})"


def page(parameters):
    renamed = ", ".join(f'"{p["name"]}": "{p["python_name"]}"' for p in parameters if p["name"] != p["python_name"] and p["name"] not in OWN_ARGUMENTS)
    declared = [{**p, "name": p["python_name"]} for p in parameters if p["name"] not in OWN_ARGUMENTS]
    for p in declared:
        p.update(CHANGED.get(p["name"], {}))
    default = {p["name"]: value(p) for p in parameters}
    table = "".join(f'    "{p["name"]}": ("{p["type"]}", {p["optional"]}),\n' for p in declared)
    lines, arguments, fields, group = [], [], [], None
    entries = [(p["name"], p["type"] + (" | None" if p["optional"] else ""), value(p), p["help"] + values_text(p), p["group"]) for p in declared]
    entries += [(name, kind, text.format(**default), help_text, "Python") for name, kind, text, help_text in OWN]
    for name, kind, text, help_text, its_group in entries:
        if its_group != group:
            group = its_group
            lines.append(f"\n    {group}:" if lines else f"    {group}:")
        lines.append(textwrap.fill(f"{name} ({text}): {python_words(help_text)}", 116, initial_indent=" " * 8, subsequent_indent=" " * 12))
        arguments.append(f"        {name}: {kind} = {text},\n")
        fields.append(f"        self.{name} = {name}\n")
    return HEAD % (table, renamed, "\n".join(lines), "".join(arguments), "".join(fields))


def python_words(text):
    """The help says --simplify yes; in Python that is simplify=True."""
    return text.replace("--simplify yes", "simplify=True")


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import _native

    pathlib.Path(sys.argv[2]).write_text(page(_native.parameters()))
