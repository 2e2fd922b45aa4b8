"""Whole runs: the same tours and the same bytes whoever works on them, and in whatever steps."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.model.errors import BadRequest
from enumerate.model.tour import are_complete

from ..support.commands import called, command
from ..support.published import PUBLISHED, per_square
from ..support.runs import part_sums, run_serially, small
from ..support.searches import config_for


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a complete run, to be read only."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_serially(small(folder))
    return folder


@pytest.fixture(scope="module")
def undisturbed(whole):
    return part_sums(whole)


@pytest.fixture
def copied(whole, tmp_path):
    """The same run, to be changed."""
    return shutil.copytree(whole, tmp_path / "run")


def rows_in_order(folder):
    """Every tour of a run as another program reads it."""
    return duckdb.sql(
        f"select variant, start, iteration, tour from '{folder}/tours/**/*.parquet' order by variant, start, iteration"
    ).fetchall()


@pytest.mark.parametrize(("executor", "workers"), [("serial", 0), ("processes", 2)])
def test_every_executor_and_number_of_workers_writes_the_same_bytes(tmp_path, undisturbed, executor, workers):
    run_serially(small(tmp_path / "run", executor=executor, workers=workers))
    assert part_sums(tmp_path / "run") == undisturbed
    assert len(undisturbed) > 12


@pytest.mark.parametrize("steps", [(1, 3_000), (999, 1_000, 1_001, 3_000), (500, 2_999, 3_000)])
def test_a_run_extended_from_a_smaller_limit_has_the_same_bytes(tmp_path, undisturbed, steps):
    for limit in steps:
        report = run_serially(small(tmp_path / "run", max=limit))
        assert report.totals["iterations"] == 3 * limit
        assert verify(Run(tmp_path / "run")).damage == []
    assert part_sums(tmp_path / "run") == undisturbed


def test_a_run_extended_from_a_smaller_number_of_tours_has_the_same_bytes(tmp_path):
    for folder, steps in (("at once", (400,)), ("in steps", (1, 149, 150, 151, 400))):
        for tours in steps:
            report = run_serially(small(tmp_path / folder, max=0, tours=tours))
            total = report.totals
            assert total["tours_open"] + total["tours_closed"] == 3 * tours
    assert part_sums(tmp_path / "at once") == part_sums(tmp_path / "in steps")


def test_other_slice_sizes_give_the_same_tours_in_the_same_order(tmp_path, whole, undisturbed):
    run_serially(small(tmp_path / "other", slice_iterations=777, slice_tours=31))
    assert rows_in_order(whole) == rows_in_order(tmp_path / "other")
    assert undisturbed != part_sums(tmp_path / "other")


def test_the_same_command_again_says_already_complete_and_changes_nothing(tmp_path):
    first = run_serially(small(tmp_path / "run"))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    again = run_serially(small(tmp_path / "run"))
    assert (first.worked, again.worked) == (True, False)
    assert again.summary.equals(first.summary)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}


def test_a_smaller_limit_is_already_complete(copied):
    assert not run_serially(small(copied, max=100)).worked


def test_a_smaller_limit_on_an_unfinished_run_is_refused(tmp_path):
    stops = iter([False, False, False, True, True])
    stopped = run_serially(small(tmp_path / "run"), stopping=lambda: next(stops))
    assert not stopped.complete
    with pytest.raises(BadRequest, match="unfinished and was started with --max 3000"):
        run_serially(small(tmp_path / "run", max=600))
    assert run_serially(small(tmp_path / "run", max=3_001)).complete


def test_an_interrupted_run_says_which_start_squares_are_unfinished(tmp_path):
    stops = iter([False, True, True, True])
    stopped = run_serially(small(tmp_path / "run"), stopping=lambda: next(stops, True))
    rows = {row["start"]: row for row in stopped.summary.to_pylist()}
    assert stopped.interrupted
    assert not any(rows[name]["finished"] for name in ("a1", "c2", "d4"))
    assert rows["a1"]["iterations"] > 0 == rows["d4"]["iterations"]


def test_another_identity_in_the_same_folder_is_refused_and_the_keys_are_named(copied):
    with pytest.raises(BadRequest, match=r"\nsetting +there +asked for\nvariant +both +open\nseed +0 +3$"):
        run_serially(small(copied, variant="open", seed=3))
    assert verify(Run(copied)).damage == []


def test_fresh_starts_over_even_with_another_identity(tmp_path, undisturbed):
    run_serially(small(tmp_path / "run", variant="closed", start="h8"))
    run_serially(small(tmp_path / "run"), fresh=True)
    assert part_sums(tmp_path / "run") == undisturbed
    assert verify(Run(tmp_path / "run")).damage == []


def test_a_folder_with_other_files_is_refused_also_with_fresh(tmp_path):
    (tmp_path / "thesis.txt").write_text("precious")
    for fresh in (False, True):
        with pytest.raises(BadRequest, match="not empty and not a run"):
            run_serially(small(tmp_path), fresh=fresh)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("size", [(5, 5), (6, 6)], ids=str)
def test_an_exhaustive_run_writes_every_published_tour_once(tmp_path, size):
    start = "all" if size == (5, 5) else "classes"
    report = run_serially(config_for(size, variant="both", start=start, output=str(tmp_path / "run")))
    assert report.totals["exhausted"]
    distinct = duckdb.sql(
        f"select start, count(distinct tour) from '{tmp_path}/run/tours/**/*.parquet' group by start"
    ).fetchall()
    expected = per_square(f"per_start_{size[0]}x{size[1]}.csv")
    for name, tours in distinct:
        assert tours == expected[int(name[1:]) - 1, "abcdef".index(name[0])]
    assert len(distinct) == (13 if size == (5, 5) else 6)
    assert {row["start"]: row["multiplicity"] for row in report.summary.to_pylist()}["a1"] == (
        1 if start == "all" else 4
    )
    assert verify(Run(tmp_path / "run")).damage == []


def test_the_headline_command_without_pruning_finds_the_known_tours(tmp_path):
    words = ("--no-prune", "--size", 8, "--max", 500_000, "--variant", "closed", "--json", "--executor", "serial")
    done = called(*words, cwd=tmp_path)
    document = json.loads(done.stdout)
    with open(PUBLISHED / "plain_8x8_500000.csv", encoding="utf-8") as file:
        expected = {row["start"]: int(row["closed"]) for row in csv.DictReader(file)}
    assert {row["start"]: row["tours_closed"] for row in document["starts"]} == expected
    assert document["total"]["tours_closed"] == 37_246
    assert done.returncode == 0


def test_the_end_of_a_run_prints_table_heat_map_rates_and_places(tmp_path):
    words = ("--size", "5x6", "--start", "classes", "--variant", "both", "--max", 0, "--executor", "serial")
    done = called(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for expected in (
        "Tours for each start square",
        "exhausted",
        "With multiplicity, 37,568 directed tours from all squares",
        "tours/s",
        "iterations/s",
        "bytes a tour",
        "output/both-5x6-classes/summary.parquet",
    ):
        assert expected in done.stdout
    again = called(*words, cwd=tmp_path)
    assert "already complete" in again.stdout


def test_quiet_prints_nothing(tmp_path):
    done = command("--size", 5, "--max", 1000, "--quiet", "--executor", "serial", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "output" / "open-5x5" / "summary.csv").exists()


def test_summary_files_agree_with_the_parts_and_with_each_other(whole):
    table = pq.read_table(whole / "summary.parquet").to_pylist()
    counted = duckdb.sql(
        f"select start, variant, count(*), min(iteration) from '{whole}/tours/**/*.parquet' group by all"
    ).fetchall()
    for row in table:
        of_start = {variant: (count, first) for start, variant, count, first in counted if start == row["start"]}
        assert row["tours_open"] == of_start.get("open", (0,))[0]
        assert row["tours_closed"] == of_start.get("closed", (0,))[0]
        assert row["first_iteration"] == min(first for _, first in of_start.values())
        assert row["bytes"] == sum(
            path.stat().st_size for path in (whole / "tours").rglob(f"start={row['start']}/*.parquet")
        )
    totals = json.loads((whole / "summary.json").read_bytes())
    for name in ("tours_open", "tours_closed", "iterations", "parts", "bytes", "multiplicity"):
        [(added_up,)] = duckdb.sql(f"select sum({name}) from '{whole}/summary.parquet'").fetchall()
        assert totals[name] == added_up
    assert totals["first_iteration"] == min(row["first_iteration"] for row in table)
    assert (totals["rows"], totals["finished"], totals["exhausted"]) == (len(table), True, False)
    with open(whole / "summary.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["tours_closed"] for row in rows] == [str(row["tours_closed"]) for row in table]
    assert rows[0]["start"] == "a1"


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "configs").glob("*.toml")), ids=lambda path: path.stem
)
def test_every_config_file_can_be_planned(tmp_path, path):
    done = called("plan", "--config", path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_run_on_a_large_board_is_verified(tmp_path):
    config = config_for((60, 61), start="a1,c3", tours=5, output=str(tmp_path / "run"))
    run_serially(config)
    run = Run(tmp_path / "run")
    tours = [tour for batch in run.tours(start="c3") for tour in batch]
    assert len(tours) == 5
    assert are_complete(config.board, tours[0][None, :]).all()
    assert tours[0].dtype.itemsize == 2
    assert verify(run).damage == []
