"""The study: real runs, tables that other readers read, figures that must come out, and a call that is continued."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.studies.comparison import published
from enumerate.studies.comparison.experiments import experiments, wilson
from enumerate.studies.comparison.study import NAMES

from ..support.commands import arguments, command, environment_with

QUICK = ("first-tours", "tours", "corners", "success", "scaling", "growth")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study of small boards, and what it printed."""
    folder = tmp_path_factory.mktemp("study")
    done = command("study", "--experiments", ",".join(QUICK), "--largest", 12, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "output" / "study", done.stdout


def rows(folder, name):
    with open(Path(folder) / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_table_is_there_as_csv_and_parquet_with_the_same_rows_and_every_chart_is_svg(study):
    folder, _ = study
    for name in ("first-tours", "tours", "tours-totals", "corners", "comparison"):
        count = duckdb.sql(f"select count(*) from '{folder}/{name}.parquet'").fetchall()[0][0]
        assert count == len(rows(folder, name)) > 0
    for name in QUICK:
        assert ElementTree.parse(folder / f"{name}.svg").getroot().tag.endswith("svg")
        assert f"({name}.svg)" in (folder / "study.md").read_text(encoding="utf-8")
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_the_first_tour_of_backtracking_takes_as_many_placements_and_steps_as_published(study):
    ours = {row["strategy"]: row for row in rows(study[0], "tours-totals")}["backtrack"]
    assert int(ours["placements"]) == published.BACKTRACK_PLACEMENTS == 3_242_064
    assert int(ours["steps"]) == published.BACKTRACK_STEPS == 6_484_066


def test_there_are_900_tours_one_by_one_and_their_totals(study):
    tours, totals = rows(study[0], "tours"), rows(study[0], "tours-totals")
    greedy = next(row for row in totals if row["strategy"] == "greedy")
    assert len(tours) == int(greedy["tours"]) == 900
    assert sum(int(row["placements"]) for row in tours) == int(greedy["placements"])
    assert sum(float(row["seconds"]) for row in tours) == pytest.approx(float(greedy["seconds"]))
    assert {row["variant"] for row in tours} == {"open", "closed"}


def test_first_tours_of_each_strategy_are_found_on_each_board(study):
    found = {(row["strategy"], int(row["size"])): int(row["iterations"]) for row in rows(study[0], "first-tours")}
    assert set(found) == {
        (strategy, size) for strategy in ("warnsdorff", "greedy", "divide", "backtrack") for size in (5, 6, 7, 8)
    }
    for size in (5, 6, 7, 8):
        assert found["warnsdorff", size] == found["divide", size] == size * size
    assert found["backtrack", 8] == 8_250_733


def test_rules_that_know_one_way_only_find_it_from_the_corner_of_small_boards(study):
    corners = rows(study[0], "corners")
    assert {(row["ties"], int(row["size"])) for row in corners if row["found"] == "true"} == {
        (ties, size) for ties in ("roth", "squirrel") for size in range(5, 13)
    }


def test_the_runs_of_a_study_are_sound(study):
    places = sorted((study[0] / "runs").glob("*/*"))
    assert len(places) == sum(len(experiment.trials) for experiment in experiments(12) if experiment.name in QUICK)
    for place in places[::7]:
        assert verify(Run(place)).damage == []


def test_the_same_call_makes_no_run_again(study):
    folder, printed = study
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("commits/*.json")}
    done = command("study", "--experiments", ",".join(QUICK), "--largest", 12, cwd=folder.parents[1])
    assert done.returncode == 0
    assert done.stdout == printed
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("commits/*.json")} == before


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_study_that_was_killed_is_continued(tmp_path, how):
    words = ("study", "--experiments", "corners", "--largest", 60, "--output", "it")
    with subprocess.Popen(arguments(*words), cwd=tmp_path, env=environment_with(), text=True, stderr=-1) as process:
        while len(list(tmp_path.glob("it/runs/corners/*/summary.csv"))) < 5:
            assert process.poll() is None
        os.kill(process.pid, how)
        _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    assert how == signal.SIGKILL or "run the same command again to continue" in said
    assert len(list(tmp_path.glob("it/runs/corners/*/summary.csv"))) < 112
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [row["found"] for row in rows(tmp_path / "it", "corners")] == ["true"] * 112


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ("--experiments", "sucess"),
            "tours, scaling, growth, success, corners: 'sucess'",
        ),
        (("--largest", "7"), "largest is a whole number from 8 to 512: 7"),
        (("--workers", "-1"), "workers is a whole number from 0 to 1,024: -1"),
        (("--output", "file"), "cannot write to the output: 'file'"),
    ],
)
def test_a_bad_request_gets_one_line(tmp_path, words, line):
    (tmp_path / "file").write_text("")
    done = command("study", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_names_of_experiments_are_those_of_the_help(tmp_path):
    assert ", ".join(NAMES) in " ".join(command("study", "--help", cwd=tmp_path).stdout.split())


# Published: Wilson's interval for 0 and 5 of 10, and 50 of 100 (Newcombe 1998 has more).
@pytest.mark.parametrize(
    ("successes", "attempts", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962)],
)
def test_wilsons_interval(successes, attempts, low, high):
    assert wilson(successes, attempts) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.slow
def test_success_with_random_ties_is_what_others_have_seen(tmp_path):
    """From the corner: 97 to 99 % on 8x8, about 75 % on 7x7, about 81 % on 50x50, about 35 % on 100x100."""
    done = command("study", "--experiments", "success", "--largest", 100, "--output", "it", cwd=tmp_path, timeout=600)
    assert done.returncode == 0, done.stderr
    rates = {int(row["size"]): float(row["rate"]) for row in rows(tmp_path / "it", "success")
             if row["ties"] == "random" and row["starts"] == "a1"}  # fmt: skip
    assert 0.97 <= rates[8] <= 0.99
    assert 0.70 <= rates[7] <= 0.80
    assert 0.76 <= rates[50] <= 0.86
    assert 0.30 <= rates[100] <= 0.42
    for row in rows(tmp_path / "it", "success"):
        assert float(row["low"]) <= float(row["rate"]) <= float(row["high"])
