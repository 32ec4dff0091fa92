"""Figures with matplotlib: the tree, one sequence through it, and how training went."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._trace import Trace

ASKS_INPUT, ASKS_MEMORY, LEAF, LINE, WRITE = "#e3eefb", "#efe6fa", "#f4f4f0", "#8a8f98", "#7b4bb7"

MOST_CELLS_IN_A_LANE, MOST_LANES = 4, 12


def plot_tree(estimator: Any, tree: int = 0, ax: Any = None) -> Any:
    """Draws a fitted tree: blue boxes test an input, violet ones the memory; leaves show the prediction and the writes. The right (or lower)
    branch of a box is "yes". Returns the axes."""
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
    """Draws one sequence: the inputs, the memory cells (a dot marks a write) and the predictions over the steps. If there are more than four
    cells, each has its own row, the most frequently read first, and at most twelve are shown. Returns the figure."""
    import matplotlib.pyplot as plt

    steps = np.arange(1, len(trace) + 1)
    inputs = np.array([[np.nan if v is None else v for v in s["x"]] for s in trace.steps], float).reshape(len(trace), -1)
    cells = cells_in_use(trace, tree)
    several = len(cells) > MOST_CELLS_IN_A_LANE
    shown = cells[:MOST_LANES] if several else cells
    groups = [[k] for k in shown] if several else [shown] if shown else []
    heights = [1.0] * bool(inputs.shape[1]) + [0.5 if several else 1.0] * len(groups) + [1.0]
    figure = figure or plt.figure(figsize=(max(5.0, min(14.0, len(trace) / 6)), 1.7 * sum(heights)), layout="constrained")
    axes = list(figure.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0])
    names, lanes = trace.cells[tree], list(axes)
    if inputs.shape[1]:
        ax = lanes.pop(0)
        ax.set_ylabel("inputs")
        for k, name in enumerate(trace.inputs):
            ax.plot(steps, inputs[:, k], marker=".", label=name)
    for group in groups:
        ax = lanes.pop(0)
        ax.set_ylabel(names[group[0]] if several else "memory", rotation=0 if several else 90, ha="right" if several else "center")
        draw_cells(ax, trace, tree, group, steps, labelled=not several)
    draw_answers(lanes[0], trace, steps, np.array([s["output"] for s in trace.steps], float))
    lanes[0].set_ylabel("answer")
    for ax in axes:
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=7, frameon=False)
    axes[-1].set_xlabel("step")
    left_out = f" ({len(shown)} of {len(cells)} cells)" if len(shown) < len(cells) else ""
    figure.suptitle(f"sequence {trace.sequence}{left_out}", fontsize=10)
    return figure


def cells_in_use(trace: Trace, tree: int) -> list[int]:
    """Cells that hold something in this sequence: of few in their order, of many those that are read most often first."""
    reads: dict[str, int] = {}
    held = np.zeros(len(trace.cells[tree]), bool)
    for step in trace.steps:
        part = step["trees"][tree]
        held |= np.array(part["after"][:len(held)], float) != 0
        held |= np.array(part["written"][:len(held)], bool)
        for read in part["reads"]:
            reads[read["cell"]] = reads.get(read["cell"], 0) + 1
    cells = np.flatnonzero(held).tolist()
    if len(cells) <= MOST_CELLS_IN_A_LANE:
        return cells
    return sorted(cells, key=lambda k: -reads.get(trace.cells[tree][k], 0))


def draw_cells(ax: Any, trace: Trace, tree: int, cells: list[int], steps: np.ndarray, labelled: bool) -> None:
    """From the zero before the first step."""
    for k in cells:
        after = np.array([s["trees"][tree]["after"][k] for s in trace.steps], float)
        written = np.array([s["trees"][tree]["written"][k] for s in trace.steps], bool)
        label = trace.cells[tree][k] if labelled else None
        (line,) = ax.step(np.arange(len(trace) + 1), np.append(0, after), where="post", label=label)
        ax.plot(steps[written], after[written], "o", markersize=4, color=line.get_color())
    ax.ticklabel_format(axis="y", useOffset=False)


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
    """Draws the losses of the chosen start at every validation. Returns the axes."""
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
    """Draws the score over the size: the best model of every size on validation data, with standard errors; the chosen one is marked. Returns the axes."""
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
