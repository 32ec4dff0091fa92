"""Figures with matplotlib: the tree, one sequence through it, and how training went."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._trace import Trace

ASKS_INPUT, ASKS_MEMORY, LEAF, LINE, WRITE = "#e3eefb", "#efe6fa", "#f4f4f0", "#8a8f98", "#7b4bb7"


def plot_tree(estimator: Any, tree: int = 0, ax: Any = None) -> Any:
    """Draws a fitted tree: blue boxes ask an input, violet ones the memory; leaves say an answer and write. The right (or lower) way
    out of a box is "yes". Returns the axes."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyBboxPatch

    estimator._check_fitted()
    boxes = estimator.model_.boxes(tree)
    width = max(b["x"] + b["width"] for b in boxes)
    height = max(b["y"] + b["height"] for b in boxes)
    if ax is None:
        _, ax = plt.subplots(figsize=(max(3.0, width / 90), max(1.5, height / 90)), layout="constrained")
    for box in boxes:
        if box["parent"] >= 0:
            draw_branch(ax, boxes[box["parent"]], box)
    for box in boxes:
        colour = LEAF if box["leaf"] else ASKS_MEMORY if box["asks_memory"] else ASKS_INPUT
        ax.add_patch(FancyBboxPatch((box["x"], box["y"]), box["width"], box["height"], boxstyle="round,pad=0,rounding_size=6", facecolor=colour,
                                    edgecolor=LINE, linewidth=0.8))
        ax.text(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, "\n".join(box["lines"]).replace("$", r"\$"), ha="center", va="center",
                fontsize=8)
    ax.set(xlim=(-10, width + 10), ylim=(height + 10, -10), aspect="equal")
    ax.axis("off")
    return ax


def draw_branch(ax: Any, parent: dict[str, Any], child: dict[str, Any]) -> None:
    down = child["y"] >= parent["y"] + parent["height"]
    if down:
        begin = (parent["x"] + parent["width"] / 2, parent["y"] + parent["height"])
        end = (child["x"] + child["width"] / 2, child["y"])
    else:
        begin = (parent["x"] + parent["width"], parent["y"] + parent["height"] / 2)
        end = (child["x"], child["y"] + child["height"] / 2)
    ax.plot(*zip(begin, end), color=LINE, linewidth=1, zorder=0)
    ax.text((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2, "yes" if child["yes"] else "no", fontsize=7, color=LINE, ha="center", va="center",
            backgroundcolor="white", zorder=1)


def plot_trace(trace: Trace, tree: int = 0, figure: Any = None) -> Any:
    """Draws one sequence: the inputs, the memory cells (a dot where a cell is written) and the answer over the steps. Returns the
    figure."""
    import matplotlib.pyplot as plt

    steps = np.arange(1, len(trace) + 1)
    inputs = np.array([[np.nan if v is None else v for v in s["x"]] for s in trace.steps], float).reshape(len(trace), -1)
    trees = [s["trees"][tree] for s in trace.steps]
    after = np.array([t["after"] for t in trees], float).reshape(len(trace), -1)
    written = np.array([t["written"] for t in trees], bool).reshape(len(trace), -1)
    output = np.array([s["output"] for s in trace.steps], float)
    cells = [k for k in range(after.shape[1]) if after[:, k].any() or written[:, k].any()]
    lanes = ["inputs"] * bool(inputs.shape[1]) + ["memory"] * bool(cells) + ["answer"]
    figure = figure or plt.figure(figsize=(max(5.0, min(14.0, len(trace) / 6)), 1.7 * len(lanes)), layout="constrained")
    axes = dict(zip(lanes, figure.subplots(len(lanes), 1, sharex=True, squeeze=False)[:, 0]))
    for k, name in enumerate(trace.inputs if "inputs" in axes else []):
        axes["inputs"].plot(steps, inputs[:, k], marker=".", label=name)
    for k in cells:  # from the zero before the first step
        (line,) = axes["memory"].step(np.arange(len(trace) + 1), np.append(0, after[:, k]), where="post", label=f"m{k + 1}")
        axes["memory"].plot(steps[written[:, k]], after[written[:, k], k], "o", markersize=4, color=line.get_color())
    if cells:
        axes["memory"].ticklabel_format(axis="y", useOffset=False)
    draw_answers(axes["answer"], trace, steps, output)
    for name, ax in axes.items():
        ax.set_ylabel(name)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=7, frameon=False)
    axes[lanes[-1]].set_xlabel("step")
    figure.suptitle(f"sequence {trace.sequence}", fontsize=10)
    return figure


def draw_answers(ax: Any, trace: Trace, steps: np.ndarray, output: np.ndarray) -> None:
    if not trace.classes:
        ax.plot(steps, output, marker=".")
        return
    ax.step(steps, output.argmax(axis=1), where="mid", color="black", linewidth=1)
    ax.plot(steps, output.argmax(axis=1), ".", color="black")
    targets = [(k, trace.classes.index(s["target"])) for k, s in zip(steps, trace.steps) if s["target"] in trace.classes]
    if targets:
        ax.plot(*zip(*targets), "o", markerfacecolor="none", color="tab:green", label="target")
    ax.set_yticks(range(len(trace.classes)), trace.classes)


def plot_training(estimator: Any, ax: Any = None) -> Any:
    """Draws the losses of the start that won, from validation to validation. Returns the axes."""
    import matplotlib.pyplot as plt

    estimator._check_fitted()
    if ax is None:
        _, ax = plt.subplots(figsize=(6, 3), layout="constrained")
    for name, losses in estimator.training_curve_.items():
        if losses:
            ax.plot(range(1, len(losses) + 1), losses, marker=".", label=name.replace("_", " "))
    losses = [v for curve in estimator.training_curve_.values() for v in curve]
    if losses and min(losses) > 0:
        ax.set_yscale("log")
    ax.set(xlabel="validation", ylabel="loss")
    ax.legend(frameon=False)
    return ax


def plot_frontier(estimator: Any, ax: Any = None) -> Any:
    """Score over size: the best model of every size on validation data, with standard errors; the chosen one is marked. Returns the axes."""
    import matplotlib.pyplot as plt

    models = estimator.frontier_
    if not models:
        raise ValueError("expected an estimator that chose among models of several sizes, got one without frontier_")
    name = "accuracy" if "accuracy" in models[0].validation_score_ else "rmse"
    ax = ax if ax is not None else plt.subplots(figsize=(6.4, 3.6))[1]
    sizes = [max(1, m.n_numbers_) for m in models]
    scores = [m.validation_score_[name] for m in models]
    ax.errorbar(sizes, scores, yerr=[m.validation_score_["standard_error"] for m in models], marker="o", markersize=4, capsize=2)
    for size, score, model in zip(sizes, scores, models):
        if model.validation_score_["chosen"]:
            ax.plot([size], [score], "o", markersize=10, markerfacecolor="none", label="chosen")
    ax.set_xscale("log")
    ax.set_xlabel("numbers in the model")
    ax.set_ylabel(f"{name if name == 'accuracy' else 'RMSE'} on validation data")
    ax.legend()
    return ax
