"""The notebook of the documentation runs from top to bottom, and was saved with what it shows."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


@pytest.fixture
def notebook():
    """As it is saved."""
    return nbformat.read(NOTEBOOK, as_version=4)


def kinds(notebook) -> list[list[str]]:
    """What each cell of code shows: pictures, tables, lines of text; how many lines come at a time is chance."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [sorted({output.output_type for output in cell.outputs}) for cell in cells]


@pytest.mark.statistics
def test_the_notebook_runs_as_it_was_saved(notebook, tmp_path, monkeypatch) -> None:
    """In a kernel of its own; no cell fails or warns, and each shows the same kinds of things as in the file."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    saved = kinds(notebook)
    with (tmp_path / "kernel.log").open("wb") as log:
        NotebookClient(notebook, timeout=300, kernel_name="python3").execute(stdout=log, stderr=log, cwd=str(tmp_path))
    assert kinds(notebook) == saved
    streams = [
        output for cell in notebook.cells for output in cell.get("outputs", ()) if output.output_type == "stream"
    ]
    assert {stream.name for stream in streams} == {"stdout"}


def test_the_notebook_is_saved_with_pictures_and_tables(notebook) -> None:
    """Whoever reads it where nothing runs sees what comes out; nothing of the machine that made it is in it."""
    shown = [kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", ())]
    assert shown.count("image/png") == 2
    assert shown.count("text/html") >= 6
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert "/tmp/" not in text  # noqa: S108 - no path of a temporary folder
    assert "Traceback" not in text


def test_links_of_the_notebook_lead_somewhere(notebook) -> None:
    """Pages beside it."""
    words = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", words)
    assert targets
    assert [target for target in targets if not (NOTEBOOK.parent / target).exists()] == []
