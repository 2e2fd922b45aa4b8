"""The first run of a search says that it compiles; one process does, before the clocks run."""

from __future__ import annotations

import time

import pytest

from enumerate.catalog.reader import Run
from enumerate.run import worker

from ..support.commands import command
from ..support.runs import run_serially, small

WORDS = ("--size", "5", "--max", "2000", "--workers", "2", "--json", "--fresh")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["warnsdorff", "greedy", "divide"])
def test_the_first_run_says_that_it_compiles_and_its_seconds_do_not_contain_it(tmp_path, strategy):
    words = (*WORDS, "--strategy", strategy) if strategy != "divide" else ("--strategy", strategy, "--json", "--fresh")
    first, second = (command(*words, cwd=tmp_path, environment={"XDG_CACHE_HOME": str(tmp_path)}) for _ in range(2))
    assert first.returncode == second.returncode == 0, first.stderr
    assert first.stderr.count("compiling the search, once, about") == 1
    assert "compiling" not in second.stderr
    if strategy != "divide":  # which ends before it could show its progress
        assert first.stderr.index("compiling") < first.stderr.index("2 workers")


def test_the_seconds_of_a_slice_begin_when_its_search_is_ready(tmp_path, monkeypatch):
    made = worker.make_search
    monkeypatch.setattr(worker, "make_search", lambda *words: time.sleep(2.0) or made(*words))
    run_serially(small(tmp_path / "run", start="a1", max=100))
    total = Run(tmp_path / "run").totals()
    assert total["search_seconds"] + total["write_seconds"] < 2.0
