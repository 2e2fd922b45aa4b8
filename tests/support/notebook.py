"""docs/notebook.ipynb: `python -m tests.support.notebook` executes it again and writes it; a test compares."""

from __future__ import annotations

import json
import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from .commands import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def executed(folder):
    """The notebook as it comes out when its cells are run in a folder."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    os.environ["PYTHONPATH"] = str(ROOT)
    NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(folder)}}, kernel_name="python3"
    ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
    notebook.metadata.pop("language_info", None)  # the version of Python
    return notebook


def shown(notebook):
    """What its cells print and show."""
    return [
        (cell.source, [json.dumps(output, sort_keys=True) for output in cell.get("outputs", ())])
        for cell in notebook.cells
    ]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(executed(Path(folder)), NOTEBOOK)
