"""Estimated numbers of tours against published ones, and what an estimate promises."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import signal
import subprocess
from functools import lru_cache

import numpy as np
import pytest

from enumerate.cli.app import main
from enumerate.executors.events import Finished, Lost, Quarantined
from enumerate.model.errors import BadRequest, EnumerateError
from enumerate.studies import estimate as estimating
from enumerate.studies import sample as sampling
from enumerate.studies.estimate import (
    Estimate,
    Goal,
    as_share,
    estimate,
    estimate_json,
    estimate_lines,
    student_95,
)
from enumerate.studies.sample import BatchTask, Sample, make_sample, prefixes_of

from ..support.commands import arguments, children, command, environment_with, kill_a_worker
from ..support.published import PUBLISHED
from ..support.searches import config_for, search

with (PUBLISHED / "counts.csv").open() as file:
    COUNTS = {(int(row["rows"]), int(row["cols"]), row["what"]): int(row["count"]) for row in csv.DictReader(file)}


def directed(size, variant):
    """The published number of tours as an estimate counts them: each in both directions."""
    paths, cycles = COUNTS.get((*size, "paths"), 0), COUNTS.get((*size, "cycles"), 0)
    return {"both": paths, "closed": 2 * cycles, "open": paths - 2 * size[0] * size[1] * cycles}[variant]


def made(batches, prefixes=((0,),), descents=100, goal=estimating.DEFAULT_GOAL):
    """An estimate of such batches, given as pairs of tours and the largest contribution."""
    ones = np.ones(len(prefixes), dtype=np.int64)
    found = Estimate(Sample(config_for((8, 8)), prefixes, ones, descents * ones), goal)
    for tours, largest in batches:
        found.add(tours, largest)
    return found


def quickly(config, goal, *hearers, **more):
    """An estimate of small batches, so that there are enough of them after few descents."""
    return estimate(config, goal, *hearers, batch_placements=40_000, **more)


@pytest.mark.parametrize(("size", "variant"), [
    ((5, 5), "both"), ((5, 5), "open"), ((3, 10), "both"), ((3, 10), "open"), ((3, 12), "closed"), ((5, 6), "open"),
    ((5, 6), "closed"), ((5, 6), "both"), ((6, 6), "open"), ((6, 6), "closed"), ((6, 6), "both"), ((5, 8), "closed"),
])  # fmt: skip
def test_the_mean_of_the_batches_is_the_published_number(size, variant):
    found = quickly(config_for(size, variant=variant), Goal(descents=300_000))
    truth = directed(size, variant)
    assert abs(found.tours - truth) <= 2 * found.half_width
    assert found.error < 0.03
    assert found.doubt is None


@pytest.mark.parametrize(("size", "variant", "descents", "error"), [
    ((6, 7), "both", 400_000, 0.02), ((6, 8), "closed", 400_000, 0.03), ((7, 7), "both", 400_000, 0.03),
    ((7, 8), "closed", 400_000, 0.06), ((8, 8), "both", 600_000, 0.03), ((8, 8), "closed", 600_000, 0.03),
])  # fmt: skip
@pytest.mark.slow
def test_large_numbers_are_met_too(size, variant, descents, error):
    found = estimate(config_for(size, variant=variant), Goal(descents=descents))
    assert abs(found.tours - directed(size, variant)) <= 2 * found.half_width
    assert found.error < error


@lru_cache
def misses(size, variant, descents):
    """How far the estimates of forty seeds are off, each by half of its interval."""
    found = [quickly(config_for(size, variant=variant, seed=seed), Goal(descents=descents)) for seed in range(40)]
    return [(one.tours - directed(size, variant)) / one.half_width for one in found]


# Of 40 intervals that are right with probability 0.95, fewer than 34 are with probability 0.003.
@pytest.mark.parametrize(("size", "variant", "descents"), [
    ((6, 6), "both", 40_000), ((6, 6), "closed", 40_000),
    pytest.param((5, 6), "open", 100_000, marks=pytest.mark.slow),
    pytest.param((6, 7), "both", 100_000, marks=pytest.mark.slow),
    pytest.param((6, 8), "closed", 100_000, marks=pytest.mark.slow),
])  # fmt: skip
def test_of_forty_intervals_nearly_all_hold_the_truth(size, variant, descents):
    assert sum(abs(miss) <= 1 for miss in misses(size, variant, descents)) >= 34


def test_intervals_are_not_wider_than_they_need_be():
    assert 0.35 < np.std(misses((6, 6), "both", 40_000)) < 0.7  # 0.51 if each is 1.96 standard errors wide


def test_the_same_number_of_descents_gives_the_same_estimate_with_any_workers():
    goal = Goal(descents=60_000)
    found = [
        quickly(config_for((6, 6), variant="both", executor=executor, workers=workers), goal)
        for executor, workers in (("serial", 1), ("processes", 3))
    ]
    assert len({(one.tours, one.half_width, one.largest, one.descents) for one in found}) == 1
    assert found[0].tours != quickly(config_for((6, 6), variant="both", seed=1), goal).tours


def test_a_worker_that_is_killed_costs_one_batch_and_the_estimate_is_the_same():
    told, killed, goal = [], [], Goal(descents=60_000)

    def kill_one(_):
        if not told and children(os.getpid()):  # one between two batches costs none: then another
            killed.append(kill_a_worker())

    found = quickly(config_for((6, 6), executor="processes", workers=2), goal, kill_one, told.append)
    undisturbed = quickly(config_for((6, 6), executor="serial"), goal)
    assert 1 <= len(told) <= len(killed)
    assert {re.sub(r"\d+", "N", line) for line in told} == {
        "batch N will be tried again: worker N ended with exit code -N"
    }
    assert (found.tours, found.deviations, found.batches) == (
        undisturbed.tours, undisturbed.deviations, undisturbed.batches,
    )  # fmt: skip


def test_an_error_that_is_asked_for_is_reached_at_the_same_batch_with_any_workers():
    found = [
        quickly(config_for((6, 6), executor=executor, workers=2), Goal(error=0.02))
        for executor in ("serial", "processes")
    ]
    assert found[0].error <= 0.02
    assert found[0].batches == found[1].batches > estimating.LEAST_BATCHES
    assert found[0].tours == found[1].tours


def test_batches_count_in_the_order_of_their_numbers():
    found = made([], goal=Goal(descents=300))
    assert found.most_batches == 3
    for number_, batches in ((1, 0), (2, 0), (0, 3)):
        estimating.take(found, Finished(0, "", BatchTask(number_), (number_, 0.0)), print)
        assert found.batches == batches
        assert found.is_reached == (batches == 3)
    assert found.tours == 1


def test_a_lost_worker_is_told_of_and_a_batch_that_cannot_be_made_is_an_error():
    told, found = [], made([])
    estimating.take(found, Lost(0, BatchTask(0), "killed"), told.append)
    assert told == ["batch 0 will be tried again: killed"]
    with pytest.raises(EnumerateError, match="batch 7 failed repeatedly: killed"):
        estimating.take(found, Quarantined(BatchTask(7), "killed"), told.append)


def test_a_time_limit_waits_for_an_interval():
    found = quickly(config_for((5, 5)), Goal(seconds=1e-6))
    assert estimating.LEAST_BATCHES <= found.batches < 2 * estimating.LEAST_BATCHES
    assert not found.interrupted


def test_what_is_known_when_it_is_stopped_is_kept():
    batches = []
    found = quickly(config_for((6, 6)), Goal(seconds=1000), batches.append, stopping=lambda: len(batches) >= 5)
    assert found.interrupted
    assert found.batches == 5
    assert "only 5 batches" in estimate_lines(found)[-1]


def test_tours_from_chosen_squares_are_those_of_the_search():
    tours, *_ = search(config_for((5, 6)), 0)
    found = quickly(config_for((5, 6), start="a1"), Goal(descents=100_000))
    assert found.tours == pytest.approx(len(tours), abs=2 * found.half_width)
    assert estimate_lines(found)[0] == "open tours that start on a1 on 5x6"
    assert not any(line.startswith("undirected") for line in estimate_lines(found))


@pytest.mark.parametrize(("size", "start", "doubt"), [
    ((3, 4), "b1", None), ((3, 7), "d2", "no descent has found a tour"),
])  # fmt: skip
def test_no_tour_is_certain_only_where_no_descent_can_begin(size, start, doubt):
    config = config_for(size, start=start)
    tours, *_ = search(config, config.board.square(start))
    assert len(tours) == 0
    found = quickly(config, Goal(seconds=0.1))
    assert (found.tours, found.doubt) == (0, doubt)
    assert (found.error == 0) == (doubt is None)


@pytest.mark.parametrize(("size", "variant"), [((5, 5), "open"), ((6, 6), "both"), ((3, 7), "open"), ((8, 8), "open")])
def test_prefixes_stand_for_every_path_of_their_length(size, variant):
    config = config_for(size, variant=variant)
    board, found = config.board, prefixes_of(config)
    paths = [(start,) for start in range(board.squares)]
    for _ in range(len(next(iter(found))) - 1):
        paths = [(*path, other) for path in paths for other in board.neighbours[path[-1]] if other not in path]
    images = {tuple(symmetry[square] for square in path) for path in found for symmetry in board.symmetries}
    infeasible = {path for path in paths if path[0] not in {image[0] for image in images}}
    assert images == set(paths) - infeasible
    assert sum(found.values()) == len(images)


@pytest.mark.parametrize("variant", ["open", "closed"])
def test_one_square_of_each_class_is_the_whole_board(variant):
    classes, every = (quickly(config_for((6, 6), variant=variant, start=start), Goal(descents=1))
                      for start in ("classes", "all"))  # fmt: skip
    assert estimate_lines(classes)[:3] == estimate_lines(every)[:3]


def test_closed_tours_begin_in_a_corner_one_way_and_count_twice():
    found = prefixes_of(config_for((6, 8), variant="closed"))
    assert {path[:2] for path in found} == {(0, 10)}
    assert len(next(iter(found))) > 2
    assert set(found.values()) == {2}


def test_every_prefix_has_descents_and_those_that_scatter_have_more():
    sample = make_sample(config_for((8, 8)))
    assert sample.counts.min() >= 4
    assert sample.counts.max() > 10 * sample.counts.min()
    assert sample.descents * 64 == pytest.approx(sampling.BATCH_PLACEMENTS, rel=0.1)


def test_the_pilot_has_descents_of_its_own(monkeypatch):
    seeds, sums = [], sampling._sums
    monkeypatch.setattr(sampling, "_sums", lambda *words: seeds.append(words[3]) or sums(*words))
    make_sample(config_for((5, 5), seed=3)).run(BatchTask(0))
    assert seeds[1] == 3
    assert seeds[0] > 10**18  # the largest seed that can be asked for


def test_numbers_kept_small_are_the_same_numbers():
    plain, shrunk = (Estimate(make_sample(config_for((6, 6)), 40_000, large)) for large in (36, 35))
    for found in (plain, shrunk):
        for number_ in range(36):
            found.add(*found.sample.run(BatchTask(number_)))
    assert plain.bits == 0
    assert shrunk.bits == 36 - len(shrunk.sample.prefixes[0])
    assert math.ldexp(shrunk.tours, shrunk.bits) == plain.tours
    assert shrunk.error == plain.error


def test_numbers_beyond_doubles_are_shown_by_their_logarithm():
    found = made([(1.5, 0.01)] * 40)
    found.sample = Sample(config_for((20, 20)), ((0,),), found.sample.multiplicities, found.sample.counts, True)
    assert found.bits == 399
    assert json.loads(json.dumps(estimate_json(found)))["directed"]["log10"] == pytest.approx(
        math.log10(1.5) + 399 * math.log10(2)
    )


def test_an_estimate_that_rests_on_one_descent_is_doubted():
    assert made([(10, 0.1)] * 40).doubt is None
    assert "a single descent makes up 25% of the estimate" in made([(10, 100)] + [(10, 0.1)] * 39).doubt
    assert "only 31 batches" in made([(10, 0.1)] * 31).doubt
    assert made([(0, 0)] * 40).doubt == "no descent has found a tour"
    assert "± unknown" in estimate_lines(made([(0, 0)] * 40))[1]


def test_the_interval_is_that_of_student():
    values = np.random.default_rng(1).normal(100, 5, size=20)
    found = made([(value, 0) for value in values])
    assert found.tours == pytest.approx(values.mean())
    assert found.half_width == pytest.approx(2.0930 * values.std(ddof=1) / math.sqrt(20), rel=1e-4)  # t for 19
    for freedom, quantile in ((4, 2.7764), (10, 2.2281), (31, 2.0395), (120, 1.9799)):  # from any table
        assert student_95(freedom) == pytest.approx(quantile, rel=1e-3)


def test_shares_are_read_with_and_without_percent():
    assert as_share("1%") == as_share(" 0.01 ") == 0.01
    with pytest.raises(BadRequest, match="expected a share such as 1% or"):
        as_share("one")


@pytest.mark.parametrize(("words", "line"), [
    (("--size", "21"), "the board of an estimate must have at most 400 squares (20x20), got 21x21"),
    (("--size", "4"), "has a tour only if the other side is 3 or at least 5: 4x4"),
    (("--size", "5", "--variant", "closed"), "no closed tour visits an odd number of squares: 5x5"),
    (("--seconds", "0"), "seconds must be a number above 0, got 0.0"),
    (("--seconds", "nan"), "seconds must be a number above 0, got nan"),
    (("--error", "0%"), "error must be between 0 and 100 %, such as 1%, got 0"),
    (("--error", "5"), "error must be between 0 and 100 %, such as 1%, got 5"),
    (("--error", "x"), "expected a share such as 1% or 0.01, got 'x'"),
    (("--descents", "0"), "descents must be a whole number from 1 to 1,000,000,000,000, got 0"),
    (("--descents", "1e15"), "descents must be a whole number from 1 to 1,000,000,000,000, got 1000000000000000"),
    (("--descents", "1.5"), "expected a whole number"),
    (("--variant", "opne"), "variant must be open, closed or both, got 'opne'; did you mean 'open'?"),
    (("--start", "z9"), "no such square on the 8x8 board"),
    (("--seed", "-1"), "seed must be a whole number from 0"),
    (("--workers", "-1"), "workers must be a whole number from 0"),
    (("--address", "x y"), "x y"),
])  # fmt: skip
def test_a_bad_request_costs_one_line(words, line, capsys):
    assert main(["estimate", *words]) == 2
    output = capsys.readouterr()
    assert line in output.err
    assert output.err.count("\n") == 1
    assert output.out == ""


def test_the_command_prints_the_estimate(capsys):
    assert main(["estimate", "--size", "5", "--variant", "both", "--error", "2%", "--workers", "1", "--quiet"]) == 0
    output = capsys.readouterr()
    lines = output.out.splitlines()
    assert lines[0] == "tours, closed ones cut at each of their moves, on 5x5"
    assert [line.split()[0] for line in lines[1:]] == ["undirected", "directed", "from", "published"]
    assert lines[-1].endswith("864 undirected (OEIS A165134)")
    assert output.err == ""


def test_the_command_prints_json(capsys):
    assert main(["estimate", "--size", "5x6", "--variant", "closed", "--error", "5%", "--workers", "1", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["undirected"]["low"] <= COUNTS[5, 6, "cycles"] <= printed["undirected"]["high"]
    assert printed["directed"]["tours"] == pytest.approx(2 * 30 * printed["undirected"]["tours"])
    assert printed["descents"] > printed["batches"] >= estimating.LEAST_BATCHES


@pytest.mark.slow
def test_ctrl_c_prints_what_is_known_so_far(tmp_path):
    process = subprocess.Popen(
        arguments("estimate", "--seconds", "1000", "--workers", "1"),
        cwd=tmp_path, env=environment_with(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert "open tours on 8x8" in process.stderr.readline()  # the first line of progress
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output.splitlines()[1].startswith("undirected")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.cluster
def test_a_cluster_gives_the_same_estimate_and_needs_no_output(tmp_path):
    words = ("estimate", "--size", "5x6", "--descents", "200000", "--json", "--quiet")
    here, there = (command(*words, *more, cwd=tmp_path) for more in ((), ("--address", "local", "--workers", "2")))
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    timeless = [{**json.loads(done.stdout), "seconds": None} for done in (here, there)]
    assert timeless[0] == timeless[1]
    assert list(tmp_path.iterdir()) == []
