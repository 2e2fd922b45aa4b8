"""Searches split by their beginnings: no tour in two jobs, none in no job, and the same tours whatever the split."""

from __future__ import annotations

import os
import signal
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.cli.app import main
from enumerate.ledger.records import JobProgress
from enumerate.model.board import Board
from enumerate.model.config import Config
from enumerate.model.errors import BadRequest
from enumerate.model.jobs import Job
from enumerate.model.settings import BY_SIZE, MAX_SPLIT
from enumerate.plan import sizes
from enumerate.plan.plan import choose_prefixes, make_plan
from enumerate.search.strategy import resolve, settled

from ..support import reference
from ..support.commands import children, command, started, wait_for
from ..support.runs import commits, part_sums, rows_of, run_serially
from ..support.searches import config_for, search

SPLITS = (1, 2, 7, 64, 1_000)

# Boards, variants and start squares, and how many tours begin there: published, or 2 for each undirected closed tour.
CASES = {
    "5x5": ({"size": (5, 5), "variant": "both", "start": "a1,c3"}, 304 + 64),
    "5x5 closed without its corner": (
        {"size": (5, 5), "variant": "closed", "start": "a1", "missing_corner": True}, None,
    ),
    "5x6": ({"size": (5, 6), "variant": "both", "start": "a1,b2"}, None),
    "6x6": ({"size": (6, 6), "variant": "both", "start": "c3"}, 52_662),
    "6x6 once": ({"size": (6, 6), "variant": "closed", "start": "once"}, 9_862),
    "3x10": ({"size": (3, 10), "variant": "closed", "start": "a1,e2"}, 2 * 2 * 16),
    "not pruned": ({"size": (5, 5), "variant": "open", "start": "a1,c1", "prune": False}, 304 + 56),
    "shuffled": ({"size": (5, 6), "variant": "closed", "start": "c2", "h_prob": 0.4, "seed": 5}, 2 * 8),
    "backtrack": ({"size": (5, 5), "variant": "both", "start": "a1", "strategy": "backtrack", "prune": True}, 304),
}  # fmt: skip


def split_config(case, **values):
    return config_for(**{**CASES[case][0], **values})


@cache
def prefixes(config):
    return [job.prefix for job in make_plan(config)]


@cache
def every_tour(case):
    """All tours that the jobs of a case are to find, by one search for each start square."""
    config = split_config(case, split=1)
    found = [search(config, job.start, prefix=job.prefix)[0] for job in make_plan(config)]
    return np.concatenate(found)


def how_many_begin(tours, paths):
    """For each tour, how many of the paths it begins with."""
    counts = np.zeros(len(tours), dtype=int)
    for length in {len(path) for path in paths}:
        known = np.array([path for path in paths if len(path) == length])
        counts += np.isin(as_words(tours[:, :length]), as_words(known))
    return counts


def as_words(rows):
    """Each row as one value; no square is 0 then, for numpy's texts do not end with zeros."""
    return np.ascontiguousarray(rows + 1, dtype=np.uint8).view(f"S{rows.shape[1]}")[:, 0]


def beginnings(path):
    return [path[:length] for length in range(1, len(path))]


@pytest.mark.parametrize("case", CASES)
def test_every_tour_begins_with_exactly_one_prefix_however_many_there_are(case):
    tours, expected = every_tour(case), CASES[case][1]
    assert len(np.unique(tours, axis=0)) == len(tours)
    assert expected is None or len(tours) == expected
    for split in SPLITS:
        assert set(how_many_begin(tours, prefixes(split_config(case, split=split)))) == {1}


@pytest.mark.parametrize("case", CASES)
def test_no_prefix_begins_another_and_more_of_them_refine_fewer(case):
    plans = [prefixes(split_config(case, split=split)) for split in SPLITS]
    for paths in plans:
        assert len(set(paths)) == len(paths)
        assert not {begin for path in paths for begin in beginnings(path)} & set(paths)
    for few, more in pairwise(plans):
        assert len(few) <= len(more)
        known = set(few)
        assert all(len({*beginnings(path), path} & known) == 1 for path in more)


@pytest.mark.parametrize("case", CASES)
def test_the_jobs_find_together_what_one_search_finds(case):
    config = split_config(case, split=7)
    found = [search(config, prefix[0], prefix=prefix)[0] for prefix in prefixes(config)]
    assert sorted(map(bytes, np.concatenate(found))) == sorted(map(bytes, every_tour(case)))


def test_split_prefixes_are_those_of_an_obviously_right_search():
    """On 3x4 all 16 tours, by brute force: with as many prefixes as can be, each tour has its own."""
    brute = [tour for start in range(12) for _, tour in reference.tours(3, 4, start)]
    assert len(brute) == 16
    config = config_for((3, 4), variant="both", split=1_000)
    assert set(how_many_begin(np.array(brute), prefixes(config))) == {1}
    assert max(map(len, prefixes(config))) == 11


@pytest.mark.parametrize("split", [2, 7, 64, 1_000])
def test_there_are_as_many_prefixes_as_asked_for_or_a_few_more(split):
    """The last one that is split has eight children at the most."""
    jobs = make_plan(Config(start="a1,d4", split=split, max=10_000))
    for square in (0, 27):
        assert split <= sum(job.start == square for job in jobs) <= split + 6


def test_the_jobs_of_a_start_square_are_numbered_among_themselves():
    jobs = make_plan(Config(board=Board(5, 5), split=4))
    assert [job.number for job in jobs] == list(range(len(jobs)))
    assert [job.prefix for job in jobs] == sorted(job.prefix for job in jobs)
    for start in range(25):
        own = [job for job in jobs if job.start == start]
        assert [job.nth for job in own] == list(range(len(own)))
        assert {job.of for job in own} == {len(own)}
        assert len(own) == 1 if own[0].infeasible else len(own) >= 4


def test_the_same_prefixes_come_out_today_as_ever():
    """A run continues only if it is split alike: a change here needs a new SEARCH_VERSION."""
    board = Board(6, 6)
    jobs = make_plan(Config(board=board, start="b1", split=6, max=100))
    assert [" ".join(map(board.name, job.prefix)) for job in jobs] == [
        "b1 d2", "b1 a3 c2", "b1 a3 c4", "b1 a3 b5 c3", "b1 a3 b5 d4", "b1 a3 b5 d6", "b1 c3",
    ]  # fmt: skip


def test_a_split_does_not_depend_on_the_other_start_squares():
    together = prefixes(Config(start="all", split=5))
    assert [path for path in together if path[0] == 10] == prefixes(Config(start="c2", split=5))


# By size


def split_by_size(config, **limits):
    """The paths that the searches of a config are split into."""
    groups = sizes.split(settled(config), list(choose_prefixes(config)), **limits)
    return [path for group in groups for path in group]


@pytest.mark.parametrize(
    ("limit", "values"),
    [(2_000, {"size": (5, 6), "variant": "both"}), (5_000, {"size": (6, 6), "variant": "closed", "start": "once"}),
     (100_000, {"size": (6, 6), "variant": "both", "start": "c2,c3"})],
    ids=["5x6", "6x6 once", "6x6"],
)  # fmt: skip
def test_by_size_no_job_is_much_larger_than_the_limit_and_none_is_split_in_vain(limit, values):
    """By the iterations that the searches really take: the estimates decide, so there is some room."""
    config = config_for(**values)
    assert settled(config).split == BY_SIZE
    took = [search(config, path[0], prefix=path)[3].iterations for path in split_by_size(config, small=limit)]
    assert max(took) < 2.5 * limit
    assert len(took) < 10 * sum(took) / limit + 30


def test_by_size_a_large_search_is_split_into_some_thousand_jobs_at_most():
    config = config_for((6, 6), variant="both", start="c2,c3")
    paths = split_by_size(config, small=1, jobs=100)
    took = np.array([search(config, path[0], prefix=path)[3].iterations for path in paths])
    assert 100 <= len(took) < 400
    assert took.max() < 4 * took.sum() / 100


def test_by_size_small_searches_are_left_whole():
    assert all(len(job.prefix) == 1 for job in make_plan(config_for((5, 6), variant="both")))


# Large boards


def test_a_board_beyond_any_estimate_is_split_evenly():
    """The two moves from the corner first, then theirs: no prefix is more than a move longer than another."""
    paths = prefixes(Config(board=Board(30, 30), start="a1", split=12))
    assert len(paths) >= 12
    assert {len(path) for path in paths} <= {3, 4}


def test_by_size_a_board_beyond_any_estimate_is_left_whole():
    assert prefixes(config_for((40, 40), start="a1,c3")) == [(0,), (82,)]


# Budgets


@given(st.integers(1, 10**18), st.integers(0, 10**6), st.integers(1, MAX_SPLIT), st.data())
def test_a_larger_budget_never_gives_a_job_less(budget, more, of, data):
    job = Job(0, (0,), nth=data.draw(st.integers(0, of - 1)), of=of)
    assert 0 <= job.share_of(budget) <= job.share_of(budget + more)
    assert budget // of <= job.share_of(budget) <= budget // of + 1


@given(st.integers(0, 10**18), st.integers(1, 300))
def test_the_shares_of_a_budget_add_up_to_it(budget, of):
    assert sum(Job(0, (0,), nth=nth, of=of).share_of(budget) for nth in range(of)) == budget


def test_a_job_whose_share_is_nothing_does_nothing():
    """Nothing is not the same as no limit, though both are 0."""
    job = JobProgress(Job(0, (0,), nth=7, of=8))
    assert job.next_slice(Config(max=7)) is None
    assert job.next_slice(Config(max=0, tours=7)) is None
    assert job.next_slice(Config(max=8)).max_iterations == 1
    assert job.next_slice(Config(max=0)).max_iterations == Config().slice_iterations


def budgeted(folder, **values):
    defaults = {"variant": "both", "start": "a1,d4", "split": 8, "slice_iterations": 300}
    return config_for((8, 8), output=str(folder), **{**defaults, **values})


def test_a_budget_is_spent_to_the_last_iteration_and_extending_it_continues(tmp_path):
    for limit in (9, 1_000, 2_003):
        report = run_serially(budgeted(tmp_path / "in steps", max=limit))
        rows = report.summary.to_pylist()
        assert [row["iterations"] for row in rows] == [limit, limit]
        assert all(row["finished"] and not row["exhausted"] for row in rows)
        assert verify(Run(tmp_path / "in steps")).damage == []
    run_serially(budgeted(tmp_path / "at once", max=2_003))
    assert part_sums(tmp_path / "in steps") == part_sums(tmp_path / "at once")


def test_a_budget_of_tours_is_divided_too(tmp_path):
    for tours in (3, 100):
        report = run_serially(budgeted(tmp_path / "in steps", tours=tours))
        rows = report.summary.to_pylist()
        assert [row["tours_open"] + row["tours_closed"] for row in rows] == [tours, tours]
    run_serially(budgeted(tmp_path / "at once", tours=100))
    assert part_sums(tmp_path / "in steps") == part_sums(tmp_path / "at once")


def test_a_budget_smaller_than_the_split_is_refused(tmp_path):
    with pytest.raises(BadRequest, match="--max 63 cannot be divided among --split 64 prefixes; ask for more"):
        run_serially(budgeted(tmp_path / "run", split=64, max=63))
    assert not (tmp_path / "run").exists()
    assert run_serially(budgeted(tmp_path / "run", split=64, max=64)).complete


# Runs


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All tours of 5x6 from two squares, one job each."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    run_serially(small(folder, split=1))
    rows = rows_of(folder)
    assert len(set(rows)) == len(rows)
    return rows


def small(folder, **values):
    defaults = {"variant": "both", "start": "b2,e3", "slice_tours": 300}
    return config_for((5, 6), output=str(folder), **{**defaults, **values})


@pytest.mark.parametrize("split", [2, 7, 64])
def test_any_split_finds_the_same_tours(tmp_path, whole, split):
    report = run_serially(small(tmp_path / "run", split=split))
    assert rows_of(tmp_path / "run") == whole
    assert report.totals["exhausted"]
    assert verify(Run(tmp_path / "run")).damage == []


@pytest.mark.slow
@pytest.mark.parametrize("split", [300, 1_000])
def test_a_great_many_prefixes_find_the_same_tours(tmp_path, whole, split):
    run_serially(small(tmp_path / "run", split=split))
    assert rows_of(tmp_path / "run") == whole


@pytest.mark.parametrize("workers", [2, *(pytest.param(workers, marks=pytest.mark.slow) for workers in (1, 3))])
def test_any_number_of_workers_writes_the_same_bytes(tmp_path, workers):
    run_serially(small(tmp_path / "serial", split=7))
    run_serially(small(tmp_path / "run", split=7, executor="processes", workers=workers))
    assert part_sums(tmp_path / "run") == part_sums(tmp_path / "serial")


@pytest.mark.slow
@pytest.mark.parametrize("split", [1, 2, 7, 64, 1_000])
def test_all_closed_tours_of_6x6_are_found_once_by_any_split(tmp_path, split):
    config = config_for((6, 6), variant="closed", start="once", split=split, output=str(tmp_path / "run"))
    run_serially(config)
    assert len({tour for *_, tour in rows_of(tmp_path / "run")}) == 9_862


KILLED = ("--size", 6, "--variant", "both", "--start", "c2", "--max", 0, "--split", 20, "--slice-tours", 1_000,
          "--workers", 2, "--output", "run")  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    run_serially(
        config_for((6, 6), variant="both", start="c2", split=20, slice_tours=1_000, output=str(folder))
    )  # fmt: skip
    return part_sums(folder)


@pytest.mark.slow
def test_a_split_run_whose_coordinator_is_killed_continues_to_the_same_bytes(tmp_path, undisturbed):
    with started(*KILLED, cwd=tmp_path) as process:
        wait_for(lambda: len(commits(tmp_path / "run")) > 5)
        process.kill()
        process.wait()
    assert len(commits(tmp_path / "run")) < len(undisturbed)
    done = command(*KILLED, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert part_sums(tmp_path / "run") == undisturbed
    assert verify(Run(tmp_path / "run")).damage == []


@pytest.mark.slow
def test_a_split_run_whose_worker_is_killed_comes_to_the_same_bytes(tmp_path, undisturbed):
    with started(*KILLED, cwd=tmp_path) as process:
        wait_for(lambda: len(commits(tmp_path / "run")) > 2)
        os.kill(children(process.pid)[0], signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "will be tried again: worker" in err
    assert part_sums(tmp_path / "run") == undisturbed


# What is refused, and what is told


@pytest.mark.parametrize("split", ["0", "-3", "x", "1e9", "1000000000", "2.5", "", "by size", 0, -1, True, 3.0, None])
def test_what_is_not_a_number_of_prefixes_is_refused(split):
    with pytest.raises(BadRequest, match=r"split must be auto, by-size or a number of prefixes from 1 to 100,000, got"):
        resolve({"split": split})


def test_strategies_that_do_not_go_back_take_no_split():
    for strategy in ("greedy", "divide"):
        with pytest.raises(BadRequest, match=f"--split does not apply to --strategy {strategy}, only to warns"):
            resolve({"strategy": strategy, "split": 4})


def test_the_plan_of_a_split_search_shows_the_beginnings_and_whose_the_budget_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "--size", "8", "--start", "a1", "--split", "3", "--max", "900"]) == 0
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines() if " search" in line]
    assert lines[0][:4] == ["0", "a1", "1", "c2"]
    assert "jobs, at most 900 iterations for each start square, shared by its jobs" in out
    assert list(tmp_path.iterdir()) == []


def test_another_split_in_the_same_folder_is_refused_by_name(tmp_path):
    run_serially(small(tmp_path / "run"))
    with pytest.raises(BadRequest, match=r"\nsplit +by-size +7$"):
        run_serially(small(tmp_path / "run", split=7))


def test_a_split_run_in_the_folder_of_a_plain_one_is_continued_where_it_is(tmp_path, monkeypatch):
    """The name of a folder that is not given tells the split, but the run that is there decides about it."""
    monkeypatch.chdir(tmp_path)
    run_serially(config_for((5, 5), max=1_000, split=4, output="output/open-5x5"))
    config = resolve({"size": "5x5", "max": 3_000, "executor": "serial"})
    assert run_serially(config).config.split == 4
    assert [path.name for path in (tmp_path / "output").iterdir()] == ["open-5x5"]


def test_a_plan_that_takes_long_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(sizes, "FIRST_NOTICE_SECONDS", -1.0)
    monkeypatch.setattr(sizes, "NOTICE_SECONDS", -1.0)
    said = []
    make_plan(config_for(size=(5, 5), start="a1,c1,c3", split=3), said.append)
    assert said == [f"planning: {number} of 3 start squares" for number in (1, 2, 3)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 3)])
def test_a_signal_while_the_work_is_planned_ends_it_at_once(tmp_path, number, code):
    words = ("--size", 8, "--split", 5_000, "--max", "1M")  # planned for half a minute
    with started(*words, cwd=tmp_path) as process:
        assert "planning: " in process.stderr.readline()
        process.send_signal(number)
        assert process.wait(20) == code
        assert "stopped" in process.stderr.read()
    assert not (tmp_path / "output/open-8x8-split5000/_run/run.json").exists()
