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
                     "help": "Weights of the classes in the loss. None: every step has weight 1; balanced: every class has the same total weight; or a "
                             "dict from class to weight, in which missing classes have weight 1"},
}

OWN = [  # what Python has beyond the declaration
    ("random_state", "Any", "{seed}", "Random seed; the same seed gives the same model on every machine. None, or a generator of NumPy: a seed is "
     "drawn."),
    ("n_jobs", "int | None", "None", "Threads; None or -1: all of them, -2: all but one. The result does not depend on it."),
    ("id", "str | None", "None", "Column of a data frame that identifies the sequence; 'row': every row is a sequence; 'none': all rows are "
     "one sequence; 'file': every frame of a list is one. None: a column with a recognised name (id, sequence, case_id, ...), otherwise 'row', or "
     "'none' with `time`. A fitted model uses the column that it was trained with."),
    ("time", "str | None", "None", "Column of a data frame that orders the steps of a sequence; 'none': the order of the rows. None: if there is an "
     "id, a column with a recognised name (time, step, date, ...)."),
    ("categorical", "Any", "None", "Columns to treat as categorical even if they hold numbers: a name or a list. Columns of a categorical type always "
     "are."),
    ("ignore", "Any", "None", "Columns to ignore: a name or a list."),
    ("horizon", "int | None", "None", "Predict the target this many steps ahead; its current value becomes an input. The target must be a column of X."),
    ("time_gap", "bool", "False", "Add the time since the previous step as an input."),
    ("target_per", "str | None", "None", "'sequence': a target column has one value per sequence, at its last step; None: one per step."),
    ("strict_time", "bool", "False", "Reject a time that occurs twice in a sequence; otherwise such rows keep their order."),
    ("memory_limit", "str | int | None", "None", "Memory for data: '800M', '2G', or a number of bytes (at least 64M); larger data use temporary files. None: half "
     "of the machine's memory. The model does not depend on it."),
    ("axes", "str | None", "None", "Order of the axes of 3-D arrays: 'instance, time, channel' or 'instance, channel, time'."),
    ("verbose", "int", "0", "1: show progress during training (with tqdm if it is installed)."),
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
    entries = [(p["name"], p["type"] + (" | None" if p["optional"] else ""), value(p), help_text(p) + values_text(p), p["group"]) for p in declared]
    entries += [(name, kind, text.format(**default), meaning, "Python") for name, kind, text, meaning in OWN]
    for name, kind, text, meaning, its_group in entries:
        if its_group != group:
            group = its_group
            lines.append(f"\n    {group}:" if lines else f"    {group}:")
        lines.append(textwrap.fill(f"{name} ({text}): {python_words(meaning)}", 116, initial_indent=" " * 8, subsequent_indent=" " * 12))
        arguments.append(f"        {name}: {kind} = {text},\n")
        fields.append(f"        self.{name} = {name}\n")
    return HEAD % (table, renamed, "\n".join(lines), "".join(arguments), "".join(fields))


def python_words(text):
    """The help says --simplify yes; in Python that is simplify=True."""
    for words, ours in (("--simplify yes", "simplify=True"), ("--objective quantile", "objective='quantile'"), ("--updates", "updates")):
        text = text.replace(words, ours)
    return text


def help_text(parameter):
    """The help says what auto means; in Python that is None."""
    return parameter["help"].replace("; auto: ", "; None: ") if parameter["optional"] else parameter["help"]


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import _native

    pathlib.Path(sys.argv[2]).write_text(page(_native.parameters()))
