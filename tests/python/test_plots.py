"""Figures and notebook display."""
import xml.etree.ElementTree

import pytest

import remede

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def texts(ax):
    return " ".join(t.get_text() for t in ax.texts)


def test_tree(task, tmp_path):
    splits = remede.RecurrentTreeClassifier(starts=8, random_state=3, leaf_output="constant").fit(*task)  # no leaf does it all
    ax = remede.plot_tree(splits)
    assert len(ax.patches) == splits.n_nodes_
    assert "yes" in texts(ax) and "m1" in texts(ax) and "x1" in texts(ax)
    ax.figure.savefig(tmp_path / "tree.png")
    assert (tmp_path / "tree.png").stat().st_size > 2000


def test_trace(model, task, tmp_path):
    X, y = task
    figure = remede.plot_trace(model.trace(X, 2, y))
    assert [ax.get_ylabel() for ax in figure.axes] == ["inputs", "memory", "answer"]
    figure.savefig(tmp_path / "trace.png")


def test_trace_of_regression(waves):
    X, y = waves
    figure = remede.plot_trace(remede.RecurrentTreeRegressor(starts=2).fit(X, y).trace(X, -1))
    assert figure.axes[-1].get_ylabel() == "answer"


def test_training(model):
    ax = remede.plot_training(model)
    assert [line.get_label() for line in ax.lines] == ["training loss", "validation loss"]
    assert len(ax.lines[1].get_ydata()) == len(model.training_curve_["validation_loss"])


def test_a_fitted_tree_draws_itself(model, task):
    svg = xml.etree.ElementTree.fromstring(model._repr_html_())
    assert svg.tag.endswith("svg")
    assert remede.RecurrentTreeClassifier()._repr_html_() is None
    assert xml.etree.ElementTree.fromstring(model.trace(task[0])._repr_html_()).tag.endswith("svg")


def test_text_dot_and_trace(model, task):
    X, y = task
    assert "m1" in model.to_text() and model.to_dot().startswith("digraph")
    trace = model.trace(X, 3, y)
    assert len(trace) == 7 and [s["answer"] for s in trace.steps] == [str(v) for v in model.predict(X)[3]]
    assert [s["target"] for s in trace.steps] == [str(v) for v in y[3]]
    assert "m1" in str(trace) and trace.sequence == "3"


def test_many_cells_get_a_lane_each(waves, tmp_path):
    X, y = waves
    fitted = remede.RecurrentTreeRegressor(recipe="paper", memory=14, updates=40, simplify=False).fit(X, y)
    trace = fitted.trace(X, 0)
    figure = remede.plot_trace(trace)
    lanes = [ax.get_ylabel() for ax in figure.axes][1:-1]
    assert 4 < len(lanes) <= 12 and set(lanes) <= set(trace.cells[0])
    reads = {name: sum(r["cell"] == name for s in trace.steps for r in s["trees"][0]["reads"]) for name in lanes}
    assert [reads[name] for name in lanes] == sorted(reads.values(), reverse=True)
    figure.savefig(tmp_path / "trace.png")
