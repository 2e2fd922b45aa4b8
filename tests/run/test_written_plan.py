"""A plan that took estimates is made once, when a run is begun. Whoever looks at the run, or continues it, reads it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from enumerate.catalog.distinct import count_distinct
from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.ledger.layout import PLAN
from enumerate.ledger.manifest import read_plan, write_plan
from enumerate.ledger.storage import Folder, open_storage
from enumerate.model.errors import Damaged
from enumerate.plan import sizes
from enumerate.plan.plan import make_plan
from enumerate.view.web.live_run import LiveRun

from ..support.commands import called, environment_with
from ..support.runs import damage, run_files, run_serially, small
from ..support.searches import config_for

KINDS = ["split", "exhaustive"]


def config_of(kind, folder, **values):
    if kind == "split":
        return small(folder, start="a1", split=3, **values)
    return config_for((5, 5), output=str(folder), start="a1,c3", **values)


@pytest.fixture(scope="module", params=KINDS)
def whole(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_serially(config_of(request.param, folder))
    return request.param, folder


def refused(*_):
    raise AssertionError("planned again")


def test_it_is_written_down_as_it_was_made(whole):
    kind, folder = whole
    assert read_plan(Folder(folder)) == Run(folder).plan == make_plan(config_of(kind, folder))
    assert damage(folder) == []


def test_a_plan_that_follows_from_the_config_is_not_written(tmp_path):
    run_serially(small(tmp_path))
    assert not (tmp_path / PLAN).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_who_looks_at_a_run_or_continues_it_plans_again(tmp_path, monkeypatch, kind):
    run_serially(config_of(kind, tmp_path, **({"max": 1_000} if kind == "split" else {})))
    monkeypatch.setattr(sizes, "split", refused)
    monkeypatch.setattr("enumerate.catalog.reader.make_plan", refused)
    assert run_serially(config_of(kind, tmp_path)).complete
    assert verify(Run(tmp_path)).damage == []
    tours = Run(tmp_path).totals()["tours_open"] + Run(tmp_path).totals()["tours_closed"]
    assert count_distinct(tmp_path).tours == LiveRun(str(tmp_path)).look(lambda now: now.tours) == tours > 0


LOOKING = """
import sys
from enumerate.cli.app import main

for words in (["--help"], *([name, sys.argv[1]] for name in ("show", "export", "verify", "report"))):
    assert main(words) == 0
    assert not {"numba", "llvmlite"} & set(sys.modules), words
"""


def test_no_command_that_looks_at_a_run_imports_numba_and_so_none_loads_a_kernel(whole, tmp_path):
    words = [sys.executable, "-c", LOOKING, whole[1]]
    done = subprocess.run(words, cwd=tmp_path, env=environment_with(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_without_its_plan_is_read_as_before_and_the_same_command_writes_it(place, kind):
    run_serially(config_of(kind, place))
    before, storage = run_files(place), open_storage(place)
    storage.remove([PLAN])
    assert damage(place) == []
    assert not storage.exists(PLAN)
    run_serially(config_of(kind, place))
    assert run_files(place) == before


def test_a_damaged_plan_is_named_by_every_command_and_mended_as_the_message_says(tmp_path):
    words = (
        "--size",
        6,
        "--start",
        "a1",
        "--split",
        4,
        "--max",
        9_000,
        "--executor",
        "serial",
        "--quiet",
        "--output",
        "run",
    )
    assert called(*words, cwd=tmp_path).returncode == 0
    plan = tmp_path / "run" / PLAN
    whole = plan.read_bytes()
    plan.write_bytes(whole[:-100])
    for each in (words, ("show", "run"), ("verify", "run")):
        done = called(*each, cwd=tmp_path)
        assert done.returncode == 4, done.stderr
        assert (
            "damaged, its checksum does not match: run/_run/plan; remove it, and the command of the run" in done.stderr
        )
    plan.unlink()
    assert called(*words, cwd=tmp_path).returncode == 0
    assert plan.read_bytes() == whole
    assert called("verify", "run", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("values", [{}, {"split": 5}], ids=["not split", "split otherwise"])
def test_a_plan_that_a_killed_call_has_left_is_of_no_run(place, values):
    with open_storage(place).lock():
        write_plan(open_storage(place), make_plan(config_of("split", place)))
    run_serially(small(place, **values))
    assert Run(place).plan == make_plan(small(place, **values))
    assert damage(place) == []


def test_a_run_that_is_not_split_has_no_plan_beside_it(tmp_path):
    run_serially(small(tmp_path))
    write_plan(Folder(tmp_path), Run(tmp_path).plan)
    assert damage(tmp_path) == [f"not a file of this run: {PLAN}"]


def test_a_fresh_start_takes_the_plan_along_even_if_it_is_damaged(tmp_path):
    run_serially(config_of("split", tmp_path))
    (tmp_path / PLAN).write_bytes(b"no plan")
    with pytest.raises(Damaged, match="remove it"):
        run_serially(config_of("split", tmp_path))
    run_serially(small(tmp_path), fresh=True)
    assert not (tmp_path / PLAN).exists()
    run_serially(config_of("split", tmp_path), fresh=True)
    assert read_plan(Folder(tmp_path)) == make_plan(config_of("split", tmp_path))
    assert damage(tmp_path) == []
