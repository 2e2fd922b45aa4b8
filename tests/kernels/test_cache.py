"""Machine code is kept under a hash of the sources that it was made of, and nodes compare theirs by such a hash."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from enumerate.kernels.cache import hash_of

from ..support.commands import ROOT, environment_with

HASHES = """
from pathlib import Path
from enumerate.kernels import cache

def show():
    cache.kernel_hash.cache_clear()
    cache.search_hash.cache_clear()
    print(cache.kernel_hash(), cache.search_hash())

show()
for room in ("kernels", "search"):
    path = Path(cache.__file__).parents[1] / room / "depth_first.py"
    path.write_text(path.read_text() + "# changed")
    show()
"""


def test_a_changed_kernel_changes_both_hashes_and_a_changed_search_that_of_the_searches(tmp_path):
    shutil.copytree(ROOT / "enumerate", tmp_path / "enumerate")
    environment = environment_with({"PYTHONPATH": str(tmp_path)})
    done = subprocess.run(
        [sys.executable, "-c", HASHES], cwd=tmp_path, env=environment, text=True, capture_output=True, check=True
    )
    before, other_kernel, other_search = (line.split() for line in done.stdout.splitlines())
    assert before[0] != other_kernel[0] == other_search[0]
    assert len({before[1], other_kernel[1], other_search[1]}) == 3


def test_a_folder_without_sources_is_an_error_and_not_a_hash(tmp_path):
    with pytest.raises(FileNotFoundError, match="no sources to tell versions apart by"):
        hash_of(tmp_path)
    with pytest.raises(FileNotFoundError, match="no sources to tell versions apart by"):
        hash_of(ROOT / "enumerate" / "kernels", tmp_path / "moved away")
