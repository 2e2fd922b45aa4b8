"""docs/notebook.ipynb shows what happens: its cells are run, and what they print and show is compared."""

from __future__ import annotations

import nbformat
import pytest

from ..support.notebook import NOTEBOOK, executed, shown


@pytest.mark.slow  # with the pinned packages: others print tables in another way
def test_the_notebook_comes_out_as_it_is(tmp_path):
    assert shown(executed(tmp_path)) == shown(nbformat.read(NOTEBOOK, as_version=4))
    assert (tmp_path / "output/closed-6x6/README.md").exists()
