"""Runs in `before/` were begun by the version before the package had its folders: they are continued and read by this
one. They leave with the format that they are in.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.search.strategy import resolve

from ..support.runs import part_sums, rows_of, run_serially

BEFORE = Path(__file__).with_name("before")
BOTH = {"variant": "both", "executor": "serial"}
RUNS = {
    "search": {"size": 5, "start": "a1,c3", "max": 6_000, "slice-iterations": 2_000, "slice-tours": 100},
    "greedy": {"size": 6, "start": "a1", "strategy": "greedy", "tours": 12, "seed": 2},
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_begun_before_is_continued_to_what_a_new_one_finds(tmp_path, name):
    old, new = tmp_path / "old", tmp_path / "new"
    shutil.copytree(BEFORE / name, old)
    verdict = verify(Run(old))
    assert (verdict.damage, verdict.complete) == ([], True)
    for folder in (old, new):
        assert run_serially(resolve({**BOTH, **RUNS[name], "output": str(folder)})).worked
    assert verify(Run(old)).damage == []
    assert rows_of(old) == rows_of(new)
    assert part_sums(old).keys() == part_sums(new).keys()
    assert Run(old).manifest.identity == Run(new).manifest.identity
