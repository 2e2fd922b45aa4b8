"""The study: real runs, tables that other readers read, figures that must come out, and a call that is continued."""

from __future__ import annotations

import csv
import io
import os
import re
import signal
import subprocess
from contextlib import chdir, redirect_stdout
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.cli.app import main
from enumerate.model.config import Config
from enumerate.studies.comparison import published
from enumerate.studies.comparison.experiments import experiments, wilson
from enumerate.studies.comparison.study import NAMES
from enumerate.studies.comparison.study import study as make_study

from ..support.commands import arguments, environment_with, kill_a_worker, wait_for

QUICK = ("first-tours", "tours", "corners", "success", "scaling", "growth")


WORDS = ("study", "--experiments", ",".join(QUICK), "--largest", "8", "--workers", "1")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study of the smallest boards, made once, and what it printed."""
    folder = tmp_path_factory.mktemp("study")
    with chdir(folder), redirect_stdout(io.StringIO()) as printed:
        assert main(list(WORDS)) == 0
    return folder / "output" / "study", printed.getvalue()


@pytest.fixture(scope="module")
def study(made):
    return made[0]


def rows(folder, name):
    with open(Path(folder) / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_table_is_there_as_csv_and_parquet_with_the_same_rows_and_every_chart_is_svg(study):
    for name in ("first-tours", "tours", "tours-totals", "corners", "comparison"):
        count = duckdb.sql(f"select count(*) from '{study}/{name}.parquet'").fetchall()[0][0]
        assert count == len(rows(study, name)) > 0
    for name in QUICK:
        assert ElementTree.parse(study / f"{name}.svg").getroot().tag.endswith("svg")
        assert f"({name}.svg)" in (study / "study.md").read_text(encoding="utf-8")
    assert not [path.name for path in study.iterdir() if path.name.startswith(".")]


def test_the_first_tour_of_backtracking_takes_as_many_placements_and_steps_as_published(study):
    ours = {row["strategy"]: row for row in rows(study, "tours-totals")}["backtrack"]
    assert int(ours["placements"]) == published.BACKTRACK_PLACEMENTS == 3_242_064
    assert int(ours["steps"]) == published.BACKTRACK_STEPS == 6_484_066


def test_there_are_900_tours_one_by_one_and_their_totals(study):
    tours, totals = rows(study, "tours"), rows(study, "tours-totals")
    greedy = next(row for row in totals if row["strategy"] == "greedy")
    assert len(tours) == int(greedy["tours"]) == 900
    assert sum(int(row["placements"]) for row in tours) == int(greedy["placements"])
    assert sum(float(row["seconds"]) for row in tours) == pytest.approx(float(greedy["seconds"]))
    assert {row["variant"] for row in tours} == {"open", "closed"}


def test_first_tours_of_each_strategy_are_found_on_each_board(study):
    found = {(row["strategy"], int(row["size"])): int(row["iterations"]) for row in rows(study, "first-tours")}
    assert set(found) == {
        (strategy, size) for strategy in ("warnsdorff", "greedy", "divide", "backtrack") for size in (5, 6, 7, 8)
    }
    for size in (5, 6, 7, 8):
        assert found["warnsdorff", size] == found["divide", size] == size * size
    assert found["backtrack", 8] == 8_250_733


def test_the_runs_of_a_study_are_sound(study):
    places = sorted((study / "runs").glob("*/*"))
    assert len(places) == sum(len(experiment.trials) for experiment in experiments(8) if experiment.name in QUICK)
    for place in places[::7]:
        assert verify(Run(place)).damage == []


def test_the_same_call_makes_no_run_again(made, capsys):
    folder, printed = made
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("commits/*.json")}
    with chdir(folder.parents[1]):
        assert main(list(WORDS)) == 0
    assert capsys.readouterr().out == printed
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("commits/*.json")} == before


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_study_that_was_killed_is_continued(tmp_path, how):
    words = ("study", "--experiments", "corners", "--largest", "24", "--workers", "1", "--output", str(tmp_path / "it"))

    def done():
        return len(list(tmp_path.glob("it/runs/corners/*/summary.csv")))

    with subprocess.Popen(arguments(*words), env=environment_with(), text=True, stderr=-1) as process:
        wait_for(lambda: done() >= 5 or process.poll() is not None)
        os.kill(process.pid, how)
        _, said = process.communicate(timeout=60)
    assert process.returncode == (130 if how == signal.SIGINT else -signal.SIGKILL)
    assert how == signal.SIGKILL or "every finished run is kept, and the same command continues" in said
    assert 5 <= done() < 40
    assert main([*words]) == 0
    corners = rows(tmp_path / "it", "corners")
    assert [row["found"] for row in corners] == ["true"] * 40  # rules that know one way only find it from the corner
    assert {(row["ties"], int(row["size"])) for row in corners} == {
        (ties, size) for ties in ("roth", "squirrel") for size in range(5, 25)
    }


def test_a_worker_that_is_killed_costs_one_run_and_the_tables_are_the_same(tmp_path, study):
    done, told = [], []

    def advance(name):
        done.append(name)
        if len(done) == 1:
            kill_a_worker()

    corners = next(each for each in experiments(8) if each.name == "corners")
    make_study(str(tmp_path), [corners], Config(workers=2), advance, told.append)
    (line,) = told
    assert re.fullmatch(r"corners/\w+-\d+ will be tried again: worker \d+ ended with exit code -9", line)
    assert len(set(done)) == len(done) == len(corners.trials)
    assert rows(tmp_path, "corners") == rows(study, "corners")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ("--experiments", "sucess"),
            "tours, scaling, growth, success, corners, got 'sucess'",
        ),
        (("--largest", "7"), "largest must be a whole number from 8 to 512, got 7"),
        (("--workers", "-1"), "workers must be a whole number from 0 to 1,024 (0 means one for each core), got -1"),
        (("--address", "nowhere"), "address must be auto, local or host:port, got 'nowhere'"),
        (("--output", "file"), "cannot write to the output: 'file'"),
    ],
)
def test_a_bad_request_gets_one_line(tmp_path, monkeypatch, capsys, words, line):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert main(["study", *words]) == 2
    complaint = capsys.readouterr().err
    assert line in complaint
    assert complaint.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_names_of_experiments_are_those_of_the_help(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["study", "--help"]) == 0
    assert ", ".join(NAMES) in " ".join(capsys.readouterr().out.split())


# Published: Wilson's interval for 0 and 5 of 10, and 50 of 100 (Newcombe 1998 has more).
@pytest.mark.parametrize(
    ("successes", "attempts", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962)],
)
def test_wilsons_interval(successes, attempts, low, high):
    assert wilson(successes, attempts) == pytest.approx((low, high), abs=1e-4)


def test_every_rate_lies_within_its_interval(study):
    for row in rows(study, "success"):
        assert float(row["low"]) <= float(row["rate"]) <= float(row["high"])


@pytest.mark.slow
def test_success_with_random_ties_is_what_others_have_seen(tmp_path):
    """From the corner: 97 to 99 % on 8x8, about 75 % on 7x7, about 81 % on 50x50, about 35 % on 100x100."""
    success = next(each for each in experiments(100) if each.name == "success")
    trials = {name: config for name, config in success.trials.items() if config.board.rows in (7, 8, 50, 100)}
    make_study(str(tmp_path), [replace(success, trials=trials)], Config(workers=1), lambda _: None)
    rates = {int(row["size"]): float(row["rate"]) for row in rows(tmp_path, "success")
             if row["ties"] == "random" and row["starts"] == "a1"}  # fmt: skip
    assert 0.97 <= rates[8] <= 0.99
    assert 0.70 <= rates[7] <= 0.80
    assert 0.76 <= rates[50] <= 0.86
    assert 0.30 <= rates[100] <= 0.42
    test_every_rate_lies_within_its_interval(tmp_path)
