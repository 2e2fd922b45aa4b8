"""The library as other programs use it: from a script, with other readers, and in a notebook's cells."""

from __future__ import annotations

import doctest
import os
import signal
import subprocess
import sys
from importlib import import_module

import duckdb
import numpy as np
import polars
import pyarrow.compute as pc
import pytest

from enumerate.api import Run, estimate, search, verify
from enumerate.model.errors import BadRequest

from ..support.commands import ROOT, wait_for
from ..support.runs import part_sums

CLOSED = {"size": "5x6", "variant": "closed", "max": 0, "progress": False}
SCRIPT = """
from enumerate.api import search
print("once")
print(len(search(size=5, start="a1,c3", max=0, workers=2, output="run")))
"""


def script(text, folder, **more):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, *text], cwd=folder, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return search(**CLOSED, start="a1,c3", output=str(tmp_path_factory.mktemp("api") / "run"))


def test_every_example_of_the_library_is_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    api = import_module("enumerate.api")
    public = [each for each in vars(api).values() if getattr(each, "__module__", "") == api.__name__]
    assert all(each.__doc__ for each in public if not each.__name__.startswith("_"))
    results = doctest.testmod(api)
    assert results.attempted > 20
    assert results.failed == 0


def test_a_script_without_a_main_guard_searches_once_with_worker_processes(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    with script(["script.py"], tmp_path) as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (0, f"once\n{304 + 64}\n"), err


def test_an_interrupted_search_is_continued_by_the_same_call(tmp_path):
    same = {"size": 8, "start": "a1,c3,d4", "prune": False, "max": 500_000_000, "slice_iterations": 10_000_000}
    call = f"search(**{same}, output='run')"
    with script(["-c", f"from enumerate.api import search\n{call}"], tmp_path, start_new_session=True) as process:
        wait_for(lambda: len(list(tmp_path.glob("run/_run/commits/*"))) > 1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode != 0
    assert err.rstrip().endswith("KeyboardInterrupt")
    kept = part_sums(tmp_path / "run")
    assert len(kept) > 1
    assert verify(str(tmp_path / "run")).damage == []
    again = search(**same, output=str(tmp_path / "run"), progress=False)
    assert again.is_complete
    assert kept.items() <= part_sums(tmp_path / "run").items()


def test_batches_table_and_tours_are_the_same_tours(run):
    batches = list(run)
    squares = np.concatenate([batch.squares for batch in batches])
    assert len(run) == len(squares) == 32
    assert [tour.tolist() for tour in squares] == [run[number].squares.tolist() for number in range(32)]
    assert run[-1].squares.tolist() == squares[-1].tolist()
    table = run.to_arrow()
    assert [list(tour) for tour in table["tour"].to_pylist()] == squares.tolist()
    assert table["iteration"].to_pylist() == np.concatenate([batch.iteration for batch in batches]).tolist()
    assert run.algebraic(squares)[:, 0].tolist() == table["start"].to_pylist()
    assert {batch.variant for batch in batches} == set(table["variant"].to_pylist()) == {"closed"}


def test_some_tours_are_a_list(run):
    assert list(map(str, run[2:8:3])) == [str(run[2]), str(run[5])]
    assert list(map(str, run[-1:])) == [str(run[len(run) - 1])]


@pytest.mark.parametrize("number", [32, -33])
def test_a_tour_that_is_not_there_is_an_index_error(run, number):
    with pytest.raises(IndexError, match="this run has 32 tours"):
        run[number]


def test_other_readers_take_a_filtered_table(run):
    tours = run.to_arrow(filter=pc.field("start") == "c3")
    assert len(polars.from_arrow(tours)) == len(tours.to_pandas()) == 16
    assert duckdb.sql("select distinct start from tours").fetchall() == [("c3",)]
    assert run.to_arrow(filter=pc.field("iteration") < 0).num_rows == 0
    assert run.to_arrow(start="a1").num_rows == 16


def test_a_run_without_tours_is_an_empty_table(tmp_path):
    empty = search(size=8, variant="closed", start="a1", max=64, output=str(tmp_path / "run"), progress=False)
    assert len(empty) == empty.to_arrow().num_rows == 0
    assert empty.to_arrow().column_names[-2:] == ["variant", "start"]


def test_a_notebook_shows_totals_a_map_and_tours(run):
    page = run._repr_html_()
    assert "32 closed tours on 5x6" in page
    assert page.count("background:#") == 2
    assert page.count("<td title=") == 30
    assert run[0]._repr_svg_().startswith("<svg")
    assert "polygon" in run[0]._repr_svg_()
    assert repr(run) == f"Run({run.storage.output!r}): 32 closed tours on 5x6"


def test_what_the_command_refuses_the_library_refuses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for wrong in ({"size": 4}, {"sise": 8}, {"max": -1}, {"variant": "closed", "size": 5}):
        with pytest.raises(BadRequest):
            search(**wrong)
    with pytest.raises(BadRequest):
        Run("nothing")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_flag_and_no_setting_is_refused(tmp_path):
    with pytest.raises(BadRequest, match="fresh must be True or False, got 'no'"):
        search(size=5, max=0, output=tmp_path / "run", fresh="no")
    with pytest.raises(BadRequest, match=r"a setting of estimate must be .* got 'only'"):
        estimate(only="symmetric", seconds=1)


def test_numbers_of_numpy_and_paths_are_taken(tmp_path):
    found = search(size=np.int64(5), start="a1", max=np.int32(0), write=np.bool_(True), output=tmp_path / "run")
    assert len(found) == 304
    assert str(found[np.uint8(200)]) == str(found[200])
    with pytest.raises(TypeError):
        found[1.5]
