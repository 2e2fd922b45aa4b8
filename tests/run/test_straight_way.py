"""The way of one run is straight: one look at run.json, one config that is checked, one summary."""

from __future__ import annotations

from collections import Counter

import pytest

from enumerate.ledger.layout import MANIFEST
from enumerate.ledger.storage import Folder
from enumerate.model.config import Config
from enumerate.run import coordinator
from enumerate.search.strategy import resolve

from ..support.runs import run_serially

IN_SLICE = 3  # looks of a worker at run.json: before it publishes, before it records, and after


@pytest.fixture
def counts(monkeypatch):
    """How often each of these happens: they happen as before, and are counted."""
    found: Counter[str] = Counter()

    def count(owner, name, what, is_meant=lambda *_: True):
        before = getattr(owner, name)

        def counted(*args, **values):
            found[what] += is_meant(*args)
            return before(*args, **values)

        monkeypatch.setattr(owner, name, counted)

    def is_of_manifest(_, name, *__):
        return name == MANIFEST

    count(Folder, "read", "reads", is_of_manifest)
    count(Folder, "create", "writes", is_of_manifest)
    count(Folder, "replace", "writes", is_of_manifest)
    count(Config, "checked", "checked configs")
    count(coordinator, "summary_table", "summaries")
    return found


def small(folder, limit=1_000):
    return resolve({"size": 5, "start": "a1", "max": limit, "executor": "serial", "output": str(folder)})


def test_the_shortest_run(tmp_path, counts):
    """It is begun, concluded and ended; the one look of its coordinator is whether it still is the one."""
    run_serially(small(tmp_path / "run"))
    assert counts == Counter({"reads": 1 + IN_SLICE, "writes": 3, "checked configs": 1, "summaries": 1})


def test_a_run_that_is_extended_is_looked_at_once_more(tmp_path, counts):
    run_serially(small(tmp_path / "run"))
    counts.clear()
    run_serially(small(tmp_path / "run", limit=2_000))
    assert counts == Counter({"reads": 2 + IN_SLICE, "writes": 3, "checked configs": 2, "summaries": 1})


def test_a_run_that_is_complete_is_only_looked_at(tmp_path, counts):
    run_serially(small(tmp_path / "run"))
    counts.clear()
    run_serially(small(tmp_path / "run"))
    assert counts == Counter({"reads": 1, "writes": 0, "checked configs": 2, "summaries": 1})
