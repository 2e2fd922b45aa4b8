"""Every tour there is: by symmetry or without, once and completely, beside the published counts, told beforehand."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from itertools import pairwise

import duckdb
import numpy as np
import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.cli.app import main
from enumerate.executors.events import Finished
from enumerate.ledger.manifest import seal, unseal
from enumerate.ledger.records import JobProgress
from enumerate.model.board import Board
from enumerate.model.config import Config
from enumerate.model.errors import BadRequest
from enumerate.model.literature import Published
from enumerate.model.settings import BY_SIZE
from enumerate.plan.plan import BYTES_A_SQUARE, forecast_of, make_plan, refuse_endless
from enumerate.run import report as reporting
from enumerate.run.coordinator import run
from enumerate.run.tally import Tally

from ..support.commands import ROOT, called, environment_with, started, wait_for
from ..support.published import per_square
from ..support.reference import edges
from ..support.runs import Silent, commits, part_sums, rows_of, run_serially
from ..support.searches import config_for


def in_folder(folder, size, **values):
    return config_for(size, output=str(folder), **{"variant": "both", **values})


# Budgets and no budget


def test_a_budgeted_run_continued_without_a_limit_has_every_tour_once(tmp_path):
    for limit in (100, 2_000, 0):
        report = run_serially(in_folder(tmp_path / "run", (5, 5), max=limit))
        assert report.config.split == 1  # as it was begun
    rows = rows_of(tmp_path / "run")
    assert len(rows) == len(set(rows)) == 1_728
    assert report.comparisons[0].line == "1,728 directed tours = OEIS A165134"


def test_an_exhaustive_run_takes_a_budget_as_less_than_it_has(tmp_path):
    run_serially(in_folder(tmp_path / "run", (5, 5)))
    before = part_sums(tmp_path / "run")
    for limit in (0, 7):
        again = run_serially(in_folder(tmp_path / "run", (5, 5), max=limit))
        assert (again.worked, again.complete, again.config.split) == (False, True, BY_SIZE)
        assert [each.agrees for each in again.comparisons] == [True, True]
    assert part_sums(tmp_path / "run") == before


def test_a_split_budget_finds_tours_that_differ_more(tmp_path):
    halves = []
    for split in (1, 32):
        config = in_folder(tmp_path / str(split), (8, 8), split=split, start="a1,d4", max=10_000)
        assert run_serially(config).totals["iterations"] == 20_000
        halves.append(len({(start, tour[:32]) for _, start, tour in rows_of(tmp_path / str(split))}))
    assert halves[1] > 5 * halves[0]


# Symmetry

BOARDS = {
    "5x5": {"size": (5, 5)},
    "5x6": {"size": (5, 6)},
    "3x10 closed": {"size": (3, 10), "variant": "closed"},
    "without a corner": {"size": (5, 5), "variant": "closed", "missing_corner": True},
    "split": {"size": (5, 5), "split": 3, "slice_tours": 60},
}
COUNTED = ("tours_open", "tours_closed", "structured", "path_180", "closed_180", "closed_90", "closed_reflection")


@pytest.fixture(scope="module", params=BOARDS)
def both_ways(request, tmp_path_factory):
    """The same tours, searched from all squares, and from one of each class and expanded."""
    return made_both_ways(tmp_path_factory.mktemp("both"), **BOARDS[request.param])


def made_both_ways(folder, **values):
    reports = [
        run_serially(in_folder(folder / "all", **values)),
        run_serially(in_folder(folder / "expanded", start="classes", expand=True, **values)),
    ]
    return folder / "all", folder / "expanded", *reports


def test_expanded_classes_are_exactly_the_tours_from_all_squares(both_ways):
    every, expanded, *_ = both_ways
    rows = rows_of(expanded)
    assert rows == rows_of(every)
    assert len(rows) == len(set(rows)) > 0
    verdict = verify(Run(expanded))
    assert (verdict.damage, verdict.tours, verdict.complete) == ([], len(rows), True)


def test_expanded_classes_have_the_summary_of_all_squares(both_ways):
    every, expanded = ({row["start"]: row for row in report.summary.to_pylist()} for report in both_ways[2:])
    assert list(every) == list(expanded)
    for start, row in every.items():
        for name in (*COUNTED, "multiplicity", "row", "column", "exhausted", "finished"):
            assert expanded[start][name] == row[name], (start, name)
    totals, of_expanded = (report.totals for report in both_ways[2:])
    assert of_expanded["parts"] == len(list(both_ways[1].glob("tours/**/*.parquet")))
    assert of_expanded["iterations"] < totals["iterations"]
    assert [each.line for each in both_ways[3].comparisons] == [each.line for each in both_ways[2].comparisons]


def test_the_tours_of_any_square_can_be_asked_of_an_expanded_run(both_ways):
    board, places = Run(both_ways[0]).board, both_ways[:2]
    for name in {board.name(square) for square in (0, 2, board.cols - 1, board.squares // 2)}:
        found = [sorted(bytes(tour) for batch in Run(place).tours(start=name) for tour in batch) for place in places]
        assert found[0] == found[1]


def test_one_square_of_each_class_counts_for_all(tmp_path):
    report = run_serially(in_folder(tmp_path / "run", (5, 6), start="classes"))
    rows, total = report.summary.to_pylist(), report.totals
    assert sum(row["multiplicity"] * (row["tours_open"] + row["tours_closed"]) for row in rows) == 37_568
    assert total["multiplicity"] == 30
    assert len(rows_of(tmp_path / "run")) < 37_568 / 3


@pytest.mark.slow
def test_expanded_classes_of_6x6_are_exactly_the_closed_tours_from_all_squares(tmp_path):
    every, expanded, *_ = made_both_ways(tmp_path, size=(6, 6), variant="closed")
    rows = rows_of(expanded)
    assert rows == rows_of(every)
    assert len(rows) == 2 * 36 * 9_862


@pytest.fixture
def expanded_folder(tmp_path):
    run_serially(in_folder(tmp_path / "run", (5, 5), start="classes", expand=True, split=5))
    return tmp_path / "run"


def test_an_expanded_part_that_is_harmed_or_missing_is_named(expanded_folder):
    part = sorted((expanded_folder / "tours").rglob("start=e5/*.parquet"))[0]
    whole = part.read_bytes()
    part.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    assert any(part.name in line and "start=e5" in line for line in verify(Run(expanded_folder)).damage)
    part.unlink()
    assert any(part.name in line and "missing" in line for line in verify(Run(expanded_folder)).damage)


def test_expanded_tours_in_the_part_of_another_prefix_are_found_even_if_every_checksum_fits(expanded_folder):
    """Two parts of e5, images of parts of two jobs of a1, change places, and their records know it."""
    first, second = sorted((expanded_folder / "tours").rglob("start=e5/*.parquet"))[:2]
    records = [expanded_folder / "_run" / "commits" / f"{part.name[5:16]}.json" for part in (first, second)]
    documents = [unseal(path.read_bytes(), "record") for path in records]
    values = [next(part for part in document["parts"] if "start=e5" in part["name"]) for document in documents]
    for name in ("rows", "bytes", "sha256"):
        values[0][name], values[1][name] = values[1][name], values[0][name]
    for path, document in zip(records, documents, strict=True):
        path.write_bytes(seal(document))
    first.rename(first.with_suffix(".other"))
    second.rename(first)
    first.with_suffix(".other").rename(second)
    damage = verify(Run(expanded_folder)).damage
    assert len([line for line in damage if "a tour does not begin with the path of its job" in line]) == 2


def test_an_expanded_run_goes_on_after_a_stop(tmp_path):
    stops = iter([False] * 4)
    config = in_folder(tmp_path / "run", (5, 5), start="classes", expand=True, slice_tours=20)
    assert not run_serially(config, stopping=lambda: next(stops, True)).complete
    assert verify(Run(tmp_path / "run")).damage == []
    assert run_serially(config).complete
    assert len(set(rows_of(tmp_path / "run"))) == 1_728


# Closed tours, each once


@pytest.mark.parametrize(
    ("size", "cycles"), [((5, 6), 8), ((6, 5), 8), ((6, 6), 9_862), ((3, 10), 16), ((10, 3), 16), ((3, 12), 176)]
)
def test_from_one_corner_in_one_direction_each_cycle_is_found_once(tmp_path, size, cycles):
    report = run_serially(in_folder(tmp_path / "run", size, variant="closed", start="once"))
    tours = [list(tour) for *_, tour in rows_of(tmp_path / "run")]
    assert len(tours) == cycles
    assert len({frozenset(edges(*size, tour)) for tour in tours}) == cycles  # a cycle is its set of moves
    assert [each.agrees for each in report.comparisons] == [True]


def test_each_cycle_of_a_board_without_a_corner_is_found_once(tmp_path):
    options = {"size": (5, 5), "variant": "closed", "missing_corner": True}
    run_serially(in_folder(tmp_path / "once", start="once", **options))
    run_serially(in_folder(tmp_path / "all", **options))
    cycles = {frozenset(edges(5, 5, list(tour))) for *_, tour in rows_of(tmp_path / "all")}
    once = [frozenset(edges(5, 5, list(tour))) for *_, tour in rows_of(tmp_path / "once")]
    assert len(once) == len(cycles) > 0
    assert set(once) == cycles


@pytest.mark.slow
def test_all_closed_tours_of_6x7_are_found_once(tmp_path):
    config = in_folder(tmp_path / "run", (6, 7), variant="closed", start="once", executor="processes", workers=2)
    report = run_serially(config)
    assert [each.line for each in report.comparisons] == ["1,067,638 undirected closed tours = OEIS A175881"]
    count = duckdb.sql(f"select count(distinct tour) from '{tmp_path}/run/tours/**/*.parquet'").fetchall()
    assert count == [(1_067_638,)]


def test_open_tours_have_no_once():
    for variant in ("open", "both"):
        with pytest.raises(BadRequest, match=f"--start once needs --variant closed, got '{variant}'"):
            Config.checked(start="once", variant=variant)


@pytest.mark.parametrize("start", ["all", "once", "a1", "random:3"])
def test_only_classes_are_expanded(start):
    with pytest.raises(BadRequest, match="--expand needs --start classes"):
        Config.checked(start=start, variant="closed", expand=True)


# The literature

LINES = [
    ("3x4", {}, ["16 directed tours = OEIS A169696"]),
    ("3x7", {}, ["104 directed tours = OEIS A169696"]),
    ("9x3", {"start": "classes"}, ["1,120 directed tours = OEIS A169696"]),
    ("3x10", {}, ["6,096 directed tours = OEIS A169696", "16 undirected closed tours = OEIS A070030"]),
    ("4x5", {}, ["164 directed tours = OEIS A079137"]),
    ("5x5", {}, ["1,728 directed tours = OEIS A165134", "0 undirected closed tours = odd number of squares"]),
    ("5x5", {"variant": "open"}, ["1,728 directed open tours = OEIS A165134"]),
    ("5x5", {"start": "c1,b2", "split": 3},
     ["56 directed tours from c1 = OEIS A165134", "0 undirected closed tours = odd number of squares",
      "56 directed tours from b2 = OEIS A165134"]),
    ("6x5", {}, ["37,568 directed tours = OEIS A083386", "8 undirected closed tours = OEIS A175855"]),
    ("5x6", {"variant": "open", "start": "classes"},
     ["37,088 directed open tours = OEIS A083386 without the closed ones of OEIS A175855"]),
    ("5x6", {"variant": "closed", "strategy": "backtrack", "prune": True},
     ["8 undirected closed tours = OEIS A175855"]),
    ("5x6", {"variant": "closed", "start": "c2"}, ["8 undirected closed tours = OEIS A175855"]),
    ("5x6", {"variant": "closed", "h_prob": 0.4}, ["8 undirected closed tours = OEIS A175855"]),
    ("6x6", {"start": "c3"},
     ["52,662 directed tours from c3 = OEIS A165134", "9,862 undirected closed tours = OEIS A001230"]),
]  # fmt: skip
SILENT = [
    ("5x5", {"max": 100}),
    ("5x5", {"tours": 3}),
    ("5x5", {"only": "structured"}),
    ("5x5", {"missing_corner": True, "variant": "closed"}),
    ("5x6", {"start": "a1", "variant": "open"}),
    ("3x8", {"start": "random:3", "variant": "open"}),
    ("5x6", {"strategy": "greedy", "ties": "pohl"}),
    ("6x6", {"strategy": "divide", "start": "a1"}),
]


def comparisons(folder, size, **values):
    rows, cols = map(int, size.split("x"))
    return run_serially(in_folder(folder, (rows, cols), write=False, **values)).comparisons


@pytest.mark.parametrize(("size", "values", "lines"), LINES, ids=str)
def test_a_finished_run_stands_beside_the_published_counts(tmp_path, size, values, lines):
    assert [each.line for each in comparisons(tmp_path / "run", size, **values)] == lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "values", "lines"),
    [("5x7", {"start": "classes"}, ["1,245,736 directed tours = OEIS A083386"]),
     ("5x8", {"variant": "closed", "start": "once"}, ["44,202 undirected closed tours = OEIS A175855"]),
     ("6x6", {"start": "all"},
      ["6,637,920 directed tours = OEIS A165134", "9,862 undirected closed tours = OEIS A001230"])],
    ids=str,
)  # fmt: skip
def test_a_longer_run_stands_beside_the_published_counts(tmp_path, size, values, lines):
    assert [each.line for each in comparisons(tmp_path / "run", size, **values)] == lines


@pytest.mark.parametrize(("size", "values"), SILENT, ids=str)
def test_a_run_that_cannot_be_compared_says_nothing(tmp_path, size, values):
    assert comparisons(tmp_path / "run", size, **values) == []


def test_an_unfinished_exhaustive_run_says_nothing(tmp_path):
    stops = iter([False] * 3)
    report = run_serially(in_folder(tmp_path / "run", (5, 5)), stopping=lambda: next(stops, True))
    assert report.interrupted
    assert report.comparisons == []


def test_every_start_square_alone_has_its_published_number(tmp_path):
    board, table = Board(5, 5), per_square("per_start_5x5.csv").reshape(-1).tolist()
    names = [board.name(square) for square in range(25) if table[square]]
    found = comparisons(tmp_path / "run", "5x5", start=",".join(names))
    directed = {each.what: each.counted for each in found if each.what.startswith("directed tours from")}
    assert directed == {f"directed tours from {board.name(square)}": table[square] for square in range(25)
                        if table[square]}  # fmt: skip


@pytest.fixture
def signals_kept():
    """The command line hears Ctrl-C in its own way: afterwards it is pytest's again."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals_kept")
def test_a_count_that_is_not_the_published_one_is_a_loud_error(tmp_path, monkeypatch, capsys):
    words = ["--size", "5", "--variant", "both", "--max", "0", "--executor", "serial", "--output", str(tmp_path / "r")]
    assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(reporting, "published_tours", lambda board, variant: Published(1_729, "A Table"))
    monkeypatch.setattr(reporting, "published", lambda board, what: None)
    for quiet in (["--quiet"], [], ["--json"]):
        assert main([*words, *quiet]) == 4
        out, err = capsys.readouterr()
        assert err.splitlines()[-1] == (
            "error: does not agree with the literature: 1,728 directed tours, but A Table has 1,729; please report this"
        )
        assert ("1,728 directed tours, but A Table has 1,729" in out) == (quiet == [])
        if quiet == ["--json"]:
            assert json.loads(out)["published"] == [
                {"what": "directed tours", "counted": 1_728, "published": 1_729, "source": "A Table", "agrees": False}
            ]


def test_an_odd_number_of_directed_closed_tours_is_not_rounded(monkeypatch):
    """17 closed tours from one square cannot be cycles in two directions: they are shown as they are."""
    monkeypatch.setattr(reporting, "published", lambda board, what: Published(8, "A Table"))
    found = list(reporting._cycles(Board(5, 6), 17, 2))
    assert [(each.line, each.agrees) for each in found] == [("17 directed closed tours, but A Table has 16", False)]


# What is told before


def test_all_tours_of_8x8_are_refused_with_their_number_bytes_and_time(tmp_path):
    done = called("--size", 8, "--max", 0, "--output", "a/b/run", "--workers", 2, cwd=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    for words in ("error: ", "17,893,605,526,431,808 tours (OEIS A165134", " PB, ", " years with 2 workers", "--yes"):
        assert words in line
    assert list(tmp_path.iterdir()) == []


def test_whoever_is_sure_begins_and_continues_without_being_asked_again(tmp_path):
    words = ("--size", 8, "--start", "a1", "--max", 0, "--slice-tours", 2_000, "--executor", "serial", "--output", "r")
    for more in (["--yes"], []):
        before = len(commits(tmp_path / "r"))
        with started(*words, *more, cwd=tmp_path) as process:
            wait_for(lambda seen=before: len(commits(tmp_path / "r")) > seen + 1)
            assert process.poll() is None
    assert verify(Run(tmp_path / "r")).damage == []


def endless(folder, **values):
    return config_for((8, 8), start="a1", output=str(folder), **values)


def test_all_tours_are_asked_about_also_where_a_budgeted_run_is_or_one_is_begun_afresh(tmp_path):
    run_serially(endless(tmp_path / "run", max=100))
    before = part_sums(tmp_path / "run")
    for fresh in (False, True):
        with pytest.raises(BadRequest, match=r"tours.* PB, .*years.*--yes"):
            run_serially(endless(tmp_path / "run"), fresh=fresh, stopping=lambda: True)
    assert part_sums(tmp_path / "run") == before
    stops = iter([False] * 2)
    stopped = run_serially(endless(tmp_path / "run", slice_iterations=10_000_000),
                           yes=True, stopping=lambda: next(stops, True))  # fmt: skip
    assert stopped.interrupted
    with pytest.raises(BadRequest, match=r"tours.* PB, .*years.*--yes"):
        run_serially(endless(tmp_path / "run"), fresh=True, stopping=lambda: True)


def test_a_disk_too_small_is_said_before(tmp_path, small_disk):
    config = in_folder(small_disk / "a" / "run", (6, 6))
    with pytest.raises(BadRequest, match=r"the disk has 3.\d MB free, and this run needs more: .* tours"):
        run_serially(config)
    assert list(small_disk.iterdir()) == []
    counted = in_folder(small_disk / "run", (6, 6), write=False)
    refuse_endless(forecast_of(counted, make_plan(counted), 2), 2, free=0.0)


@pytest.mark.parametrize(
    ("size", "values", "tours", "share"),
    [((6, 6), {}, 6_637_920, 0.3), ((6, 6), {"start": "classes"}, 1_205_015, 0.3),
     ((6, 6), {"start": "classes", "expand": True}, 6_637_920, 0.3), ((5, 6), {}, 37_568, 0.3),
     ((6, 6), {"variant": "closed", "start": "once"}, 9_862, 0.3)],
    ids=str,
)  # fmt: skip
def test_the_forecast_is_near_the_truth(size, values, tours, share):
    if values == {"start": "classes"}:
        table = per_square("per_start_6x6.csv")
        assert tours == sum(int(table[square]) for square in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    config = config_for(size, **{"variant": "both", **values})
    seen = forecast_of(config, make_plan(config), 1)
    assert abs(seen.tours / tours - 1) < share
    assert seen.bytes == pytest.approx(seen.tours * size[0] * size[1] * BYTES_A_SQUARE)


def test_a_board_beyond_any_estimate_is_refused_at_once(tmp_path):
    with pytest.raises(BadRequest, match=r"more tours than can be estimated with 1 workers"):
        run_serially(config_for((40, 40), output=str(tmp_path / "run")))
    with pytest.raises(BadRequest, match=r"would not end soon: more tours than can be estimated"):
        run_serially(config_for((40, 40), write=False, output=str(tmp_path / "run")))
    assert list(tmp_path.iterdir()) == []


# Progress


class Watching(Silent):
    """Keeps the share that a person is shown, and the true one."""

    def begin(self, config, progress, slots):
        self.tally, self.shares, self.iterations = Tally(config, progress), [], [0]
        self.shares.append(self.tally.share)

    def event(self, event):
        if isinstance(event, Finished):
            self.tally.add(event)
            self.shares.append(self.tally.share)
            self.iterations.append(self.tally.iterations)


@pytest.mark.parametrize("split", [1, 12])
def test_progress_is_the_share_of_the_search_space_and_never_goes_back(tmp_path, split):
    watching = Watching()
    config = in_folder(tmp_path / "run", (5, 6), split=split, slice_iterations=2_000, start="a1,b1,b2,c3", write=False)
    run(config, watching)
    shares, iterations = np.array(watching.shares), np.array(watching.iterations)
    assert shares[0] == 0
    assert shares[-1] == pytest.approx(1)
    assert all(before <= after + 1e-12 for before, after in pairwise(shares))
    assert len(shares) > 40
    assert abs(shares - iterations / iterations[-1]).max() < 0.2
    assert watching.tally.of == "of the search space"


def test_a_continued_run_begins_where_it_stood(tmp_path):
    config = in_folder(tmp_path / "run", (5, 6), slice_iterations=2_000, start="a1,b2", write=False)
    stops, first, second = iter([False] * 15), Watching(), Watching()
    run(config, first, stopping=lambda: next(stops, True))
    run(config, second)
    assert 0 < first.shares[-1] < 1
    assert second.shares[0] == pytest.approx(first.shares[-1])
    assert second.shares[-1] == pytest.approx(1)


@pytest.mark.parametrize("size", [(20, 20), (21, 21), (24, 24)], ids=str)
def test_progress_beyond_any_estimate_is_a_number(size):
    config = config_for(size, start="a1,c3", split=4)
    jobs = [JobProgress(job) for job in make_plan(config)]
    for job, weight in zip(jobs, forecast_of(config, make_plan(config), 1).weights, strict=True):
        job.weight = weight
    assert Tally(config, jobs).share == 0


# Machine code

STATS = """
from enumerate.kernels import bits
from tests.support.searches import config_for, search
search(config_for((5, 5)), 0)
for name in ("search_bits", "resume_bits"):
    stats = getattr(bits, name).stats
    print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def cache_use(environment=None):
    done = subprocess.run([sys.executable, "-c", STATS], cwd=ROOT, env=environment_with(environment), text=True,
                          capture_output=True, check=True)  # fmt: skip
    return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_the_second_process_finds_the_kernel_compiled():
    cache_use()
    assert cache_use() == [(1, 0), (1, 0)]


@pytest.mark.slow
def test_a_new_cache_is_filled_once(tmp_path):
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    assert cache_use(environment) == [(0, 1), (0, 1)]
    files = sorted(tmp_path.rglob("*.nbc"))
    assert cache_use(environment) == [(1, 0), (1, 0)]
    assert sorted(tmp_path.rglob("*.nbc")) == files
    shutil.rmtree(tmp_path / "knights-tour-enumerator")
    assert cache_use(environment) == [(0, 1), (0, 1)]
