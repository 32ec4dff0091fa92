#!/usr/bin/env python3
"""Renews the reference in docs/python.md from the docstrings of the installed package.

    .venv/bin/python tools/python_reference.py
"""
import inspect
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "python.md"
MARK = "<!-- Below: written by tools/python_reference.py from the docstrings; do not edit. -->\n"
CLASSES = ["RecurrentTreeClassifier", "RecurrentTreeRegressor", "Stream", "StreamPool", "Trace", "Result", "Description", "Scores", "Importance", "Machine", "Rules",
           "Simplification", "Verification", "Page", "CrossValidation", "Progress", "Tuning"]
FUNCTIONS = ["load", "describe", "cross_validate", "fit_many", "tune", "plot_tree", "plot_trace", "plot_training", "plot_frontier", "recipe", "generate", "tasks"]


def signature(name, thing):
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):  # of the extension: nanobind writes it into the first line of the docstring
        first = (thing.__doc__ or "").strip().splitlines()[:1]
        text = re.sub(rf"^{name}", "", first[0]) if first and first[0].startswith(name) else "()"
    text = re.sub(r"\((self|cls)(: '?[\w.\[\]]+'?)?(, /)?(, )?", "(", text)
    text = re.sub(r"(remede\.)?_(native|trace|tuning|estimators|results|validation|many)\.", "", text)
    return f"{name}{text.replace(chr(39), '')}"


def words(thing):
    """The docstring without a signature on its first line; indented parts stay as they are."""
    text = inspect.cleandoc(thing.__doc__ or "")
    lines = text.splitlines()
    if lines and re.match(r"\w*\(.*\)( ->.*)?$", lines[0]):
        text = "\n".join(lines[1:]).strip()
    return text


def marked(text):
    """Paragraphs as text, `name: what` lists as they are."""
    blocks = []
    for block in text.split("\n\n"):
        listed = bool(re.search(r"^ +\S", block, re.M)) or bool(re.match(r"\w+( \(.*?\))?:", block))
        blocks.append("```text\n" + block + "\n```" if listed else block)
    return "\n\n".join(blocks)


def members(cls):
    for name, thing in sorted(vars(cls).items()):
        if name.startswith("_"):
            continue
        yield name, thing


def all_members(cls):
    found = {}
    for base in reversed(cls.__mro__[:-1]):
        found.update(members(base))
    return sorted(found.items())


def class_entry(remede, name, seen):
    cls = getattr(remede, name)
    summary = words(cls).split("\n\nThe hyper-parameters of training.")[0]
    lines = [f"### {name}", "", marked(summary), ""]
    for member, thing in all_members(cls):
        is_property = isinstance(thing, property) or type(thing).__name__ in ("nb_static_property", "getset_descriptor")
        target = thing.__func__ if isinstance(thing, (classmethod, staticmethod)) else thing
        if not (is_property or callable(target)) or (member, str(words(target))) in seen:
            continue
        seen.add((member, str(words(target))))
        head = f"`{member}`" if is_property else f"`{signature(member, target)}`"
        text = words(target)
        lines += [f"**{head}**", ""] + ([marked(text), ""] if text else [])
    return lines


def reference():
    import remede
    lines = ["## Reference", ""]
    seen = set()
    for name in CLASSES:
        lines += class_entry(remede, name, seen)
    lines += ["### Functions", ""]
    for name in FUNCTIONS:
        function = getattr(remede, name)
        lines += [f"**`{signature(name, function)}`**", "", marked(words(function)), ""]
    return "\n".join(lines).rstrip() + "\n"


def renewed(page):
    head = page.split(MARK)[0]
    return head + MARK + "\n" + reference()


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
