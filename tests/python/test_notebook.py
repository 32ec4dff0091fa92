"""The notebook of the examples runs, and every cell that should show a figure shows one."""
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_figures(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "examples" / "figures.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook is kept without its outputs"
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {cell.source.splitlines()[-1]: " ".join(str(out.get("data", out.get("text", ""))) for out in cell.outputs)
             for cell in notebook.cells if cell.cell_type == "code"}
    for line, sign in {"remede.describe(frame)": "600 sequences", "model": "<svg", "model.evaluate(frame)": "balanced accuracy", "model.trace(frame, 3)": "<svg",
                       "model.machine(frame)": "<svg", "model.rules(frame)": "When x1", "model.importance(frame)": "shuffled", "remede.plot_tree(model);": "image/png",
                       "remede.plot_training(model);": "image/png", "remede.plot_frontier(river);": "image/png", "river": "<svg",
                       "model.explorer(frame, sequences=20)": "<iframe", "model.report(frame)": "<iframe"}.items():
        assert sign in shown[line], line
    assert (tmp_path / "report.html").read_text().lower().startswith("<!doctype html>") and (tmp_path / "explorer.html").stat().st_size > 50000
