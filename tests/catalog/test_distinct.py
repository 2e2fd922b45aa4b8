"""Distinct tours: one for each class of tours that are alike, the same whatever the memory and the order."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import signal
import tracemalloc
from collections import Counter
from contextlib import closing
from functools import lru_cache

import duckdb
import numpy as np
import polars
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumerate.catalog import distinct
from enumerate.catalog.distinct import count_distinct, write_distinct
from enumerate.catalog.grouping import (
    MULTIPLICITY,
    SPILLS_AT_ONCE,
    SYMMETRY,
    VALUES,
    Grouping,
    Packing,
    capacity_of,
)
from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.ledger.layout import DISTINCT as FOLDER
from enumerate.ledger.layout import DISTINCT_RECORD as NAME
from enumerate.ledger.layout import STAGING
from enumerate.ledger.manifest import find_distinct
from enumerate.ledger.storage import folder as folders
from enumerate.ledger.storage import open_storage
from enumerate.model.batch import Batch
from enumerate.model.board import Board
from enumerate.model.errors import BadRequest, Damaged, Locked
from enumerate.model.tour import SYMMETRIES, are_closed, are_structured, square_dtype, symmetries
from enumerate.model.values import parse_bytes

from ..support import reference
from ..support.canonical import canonical
from ..support.commands import called
from ..support.published import per_square
from ..support.runs import run_files, run_serially
from ..support.searches import config_for, search

SMALL = 2**16  # the least memory there is: a few hundred tours

# ---------------------------------------------------------------------------------------------------------------------
# The kernel and its judge.

BOARDS = [
    *(((rows, cols), closed, False) for rows, cols in [(5, 6), (6, 5), (6, 6), (8, 8), (3, 10), (10, 10), (16, 17)]
      for closed in (False, True)),
    ((5, 5), False, False), ((3, 4), False, False), ((17, 17), False, False),
    ((5, 5), True, True), ((7, 7), True, True), ((7, 7), False, True), ((5, 7), True, True), ((17, 17), True, True),
]  # fmt: skip


def batch_of(board, tours):
    """Tours as a batch, told of which kind they are by the slow judges."""
    tours = np.asarray(tours, dtype=square_dtype(board)).reshape(len(tours), board.length)
    kinds = are_closed(board, tours), are_structured(board, tours), symmetries(board, tours)
    return Batch(tours, np.arange(1, len(tours) + 1), *kinds)


@lru_cache
def some_tours(size, closed, missing):
    """A board and some of its tours, from several squares."""
    values = {"variant": "closed" if closed else "open", "missing_corner": missing}
    chosen = {"max": 30_000, "h_prob": 0.9} if size[0] * size[1] < 40 else {"max": 300_000, "strategy": "greedy"}
    config = config_for(size, **chosen, **values)
    starts = random.Random(3).sample(range(config.board.length), 9)
    tours = np.concatenate([search(config, start, max_tours=20)[0] for start in starts])
    assert len(tours) > 5
    return config.board, tours


@pytest.mark.parametrize(("size", "closed", "missing"), BOARDS)
def test_the_kernel_agrees_with_its_slow_judge(size, closed, missing):
    board, tours = some_tours(size, closed, missing)
    packing = Packing(board)
    rows = packing.rows(batch_of(board, tours), closed)
    assert packing.tours(rows).tolist() == canonical(board, tours).tolist()
    assert packing.tours(rows).dtype == tours.dtype


@pytest.mark.slow
def test_the_kernel_agrees_with_its_slow_judge_where_a_square_takes_four_bytes():
    config = config_for((258, 258), strategy="divide", variant="closed", start="a1")
    tours = search(config, 0)[0]
    board, packing = config.board, Packing(config.board)
    turned = np.asarray(board.symmetries[-1], dtype=tours.dtype)[np.roll(tours, 12_345, axis=1)[:, ::-1]]
    both = batch_of(board, np.concatenate([tours, turned]))
    assert both.tours.dtype.itemsize == 4
    rows = packing.rows(both, True)
    assert np.array_equal(packing.tours(rows), canonical(board, both.tours))
    assert np.array_equal(rows[0, : packing.key], rows[1, : packing.key])


@settings(max_examples=60)
@given(data=st.data(), case=st.sampled_from(BOARDS))
def test_a_tour_in_disguise_has_the_same_canonical_form_and_multiplicity(data, case):
    board, tours = some_tours(*case)
    tour = tours[data.draw(st.integers(0, len(tours) - 1))].tolist()
    symmetry = data.draw(st.sampled_from(board.symmetries))
    image = [symmetry[square] for square in tour][:: data.draw(st.sampled_from([1, -1]))]
    shift = data.draw(st.integers(0, board.length - 1)) if case[1] else 0
    packing = Packing(board)
    rows = packing.rows(batch_of(board, [tour, image[shift:] + image[:shift]]), case[1])
    assert rows[0, : packing.key].tolist() == rows[1, : packing.key].tolist()
    assert len(set(packing.kind(rows, MULTIPLICITY).tolist())) == 1


@pytest.mark.parametrize(("size", "closed"), [((6, 6), True), ((5, 5), False), ((5, 6), True), ((3, 10), True)])
def test_the_multiplicity_is_the_number_of_different_images(size, closed):
    config = config_for(size, variant="closed" if closed else "open", max=60_000, only="symmetric" if closed else "")
    tours = np.concatenate([search(config, start)[0][:40] for start in (0, 2)])
    packing = Packing(config.board)
    told = packing.kind(packing.rows(batch_of(config.board, tours), closed), MULTIPLICITY).tolist()
    maps = reference.board_maps(*size).values()
    own = [reference.edges(*size, tour) for tour in tours.tolist()]
    assert told == [len({frozenset(reference.mapped(each, edges)) for each in maps}) for edges in own]
    assert len(own) > 10


@pytest.mark.parametrize(("times", "multiplicity"), [(2, 4), (4, 2)])
def test_a_symmetric_tour_has_fewer_images(times, multiplicity):
    turn = reference.board_maps(6, 6)["half turn" if times == 2 else "quarter turn"]
    board = Board(6, 6)
    batch = batch_of(board, [reference.symmetric_cycle(6, 6, turn, times)])
    packing = Packing(board)
    rows = packing.rows(batch, True)
    assert packing.kind(rows, MULTIPLICITY).tolist() == [multiplicity]
    assert SYMMETRIES[packing.kind(rows, SYMMETRY)[0]] == {2: "closed-180", 4: "closed-90"}[times]


# ---------------------------------------------------------------------------------------------------------------------
# Grouping.


def grouped(rows, memory, step, folder):
    with closing(Grouping(rows.shape[1], len(rows), memory, str(folder))) as grouping:
        for first in range(0, len(rows), step):
            grouping.add(rows[first : first + step])
        return np.concatenate([np.empty((0, rows.shape[1]), dtype=np.uint64), *map(np.copy, grouping.blocks())])


def rows_of(keys, words):
    """Rows with these keys, the differences in the last word; each found once, on a start square, at an iteration."""
    rows = np.zeros((len(keys), words + VALUES), dtype=np.uint64)
    rows[:, words - 1], rows[:, words] = keys, 1
    rows[:, words + 1] = [key * 7 % 5 + number % 3 for number, key in enumerate(keys)]
    rows[:, words + 2] = np.arange(len(keys), 0, -1)
    return rows


def grouped_slowly(rows, words):
    found = Counter(int(row[words - 1]) for row in rows)
    first = {}
    for row in rows:
        key, place = int(row[words - 1]), (int(row[words + 1]), int(row[words + 2]))
        first[key] = min(first.get(key, place), place)
    return [[key, found[key], *first[key]] for key in sorted(found)]


@settings(max_examples=60)
@given(
    keys=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 40), max_size=400),
    words=st.integers(1, 3),
    memory=st.integers(1, 3_000),
    step=st.integers(1, 400),
)
def test_grouping_is_counting_and_sorting_whatever_the_memory(tmp_path_factory, keys, words, memory, step):
    rows = rows_of(keys, words)
    result = grouped(rows, memory, step, tmp_path_factory.getbasetemp())
    told = [[int(row[i]) for i in range(words - 1, words + 3)] for row in result]
    assert told == grouped_slowly(rows, words)


def test_a_great_many_spills_are_merged_with_few_open_files(tmp_path):
    keys = random.Random(1).sample(range(10**9), 5_000)
    with closing(Grouping(1 + VALUES, len(keys), 200, str(tmp_path))) as grouping:
        assert 2 * len(keys) > SPILLS_AT_ONCE**2 * grouping.capacity  # three levels of spills
        for row in rows_of(keys, 1):
            grouping.add(row[None, :])
            assert len(grouping._spills) < 3 * SPILLS_AT_ONCE
        assert np.concatenate([block[:, 0].copy() for block in grouping.blocks()]).tolist() == sorted(keys)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("memory", [10**6, 4 * 10**6])
def test_grouping_keeps_within_its_memory(tmp_path, memory):
    chance, count = np.random.default_rng(1), 0
    grouped(rows_of([1, 2], 8), SMALL, 1, tmp_path)  # compiled before anything is measured
    tracemalloc.start()
    try:
        with closing(Grouping(8 + VALUES, 10**6, memory, str(tmp_path))) as grouping:
            for _ in range(100):
                rows = np.zeros((1_000, 8 + VALUES), dtype=np.uint64)
                rows[:, 7] = chance.integers(0, 2**63, 1_000)
                grouping.add(rows)
            count = sum(len(block) for block in grouping.blocks())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 100_000 > capacity_of(8 + VALUES, memory)  # all different
    assert peak < memory + 300_000  # the rows that are added


# ---------------------------------------------------------------------------------------------------------------------
# A whole run.


def dataset(place):
    """The files of the distinct tours of a run, and their record."""
    return {name: data for name, data in run_files(place).items() if name.startswith(FOLDER) or name == NAME}


def numbers(classes):
    return classes.variant, classes.classes, classes.multiplicity, classes.found


@pytest.mark.parametrize(
    ("size", "variant"),
    [((5, 5), "open"), ((3, 4), "open"), ((4, 5), "open"), ((5, 6), "closed"), ((3, 10), "closed"), ((3, 7), "open")],
)
def test_the_classes_are_those_of_the_sets_of_moves(tmp_path, size, variant):
    run_serially(config_for(size, variant=variant, output=str(tmp_path / "run")))
    report = write_distinct(tmp_path / "run")
    run = Run(tmp_path / "run")
    assert report.complete
    for each in report.variants:
        tours = np.concatenate([np.empty((0, run.board.length), dtype=np.uint8), *run.tours(variant=each.variant)])
        found = Counter(str(reference.class_of(*size, tour)) for tour in tours.tolist())
        undirected = {frozenset(reference.edges(*size, tour)) for tour in tours.tolist()}
        assert (each.classes, each.found, each.multiplicity) == (len(found), len(tours), len(undirected))
        for classes in run.distinct(each.variant):
            told = [str(reference.class_of(*size, tour)) for tour in classes.tours.tolist()]
            assert {name: found[name] for name in told} == dict(zip(told, classes.found.tolist(), strict=True))
    assert report.tours > 0


def test_the_classes_of_a_board_without_a_corner_are_those_of_its_two_symmetries(tmp_path):
    run_serially(config_for((5, 5), variant="closed", missing_corner=True, output=str(tmp_path / "run")))
    (classes,) = write_distinct(tmp_path / "run").variants
    tours = np.concatenate(list(Run(tmp_path / "run").tours()))
    cycles = {frozenset(reference.edges(5, 5, tour)) for tour in tours.tolist()}
    transpose = reference.board_maps(5, 5)["transposed"]
    pairs = {frozenset([cycle, frozenset(reference.mapped(transpose, cycle))]) for cycle in cycles}
    assert (classes.classes, classes.multiplicity, classes.found) == (len(pairs), len(cycles), 24 * 2 * len(cycles))


def test_all_closed_tours_of_6x6_from_one_square_are_1245_classes_of_9862(tmp_path):
    run_serially(config_for((6, 6), variant="closed", start="a1", output=str(tmp_path / "run")))
    (classes,) = count_distinct(tmp_path / "run", SMALL).variants
    assert (classes.classes, classes.multiplicity, classes.found) == (1_245, 9_862, 2 * 9_862)


@pytest.mark.slow
def test_all_tours_of_6x6_are_1245_classes_of_closed_and_370491_of_open_ones(tmp_path):
    run_serially(config_for((6, 6), variant="both", output=str(tmp_path / "run")))
    open_, closed = write_distinct(tmp_path / "run", 2**22).variants
    assert (closed.classes, closed.multiplicity, closed.found) == (1_245, 9_862, 36 * 2 * 9_862)
    assert (open_.multiplicity, open_.found) == ((6_637_920 - 36 * 2 * 9_862) // 2, 6_637_920 - 36 * 2 * 9_862)
    assert open_.classes * 8 == open_.multiplicity  # no open tour of an even square board is symmetric
    assert verify(Run(tmp_path / "run")).damage == []


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A finished run with both kinds of tours, and its distinct ones."""
    folder = tmp_path_factory.mktemp("distinct") / "run"
    run_serially(config_for((5, 6), variant="both", max=20_000, output=str(folder)))
    write_distinct(folder)
    return folder


@pytest.fixture
def run_folder(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "run")


def test_little_memory_and_other_slices_give_the_same_tours(sound, tmp_path):
    values = {"variant": "both", "max": 20_000, "output": str(tmp_path / "run")}
    run_serially(config_for((5, 6), slice_tours=400, slice_iterations=7_000, **values))
    write_distinct(tmp_path / "run", SMALL)
    assert Run(tmp_path / "run").totals()["parts"] > 100
    whole, small = (sorted((folder / "distinct").rglob("*.parquet")) for folder in (sound, tmp_path / "run"))
    assert [path.name for path in small] == [path.name for path in whole]
    for one, other in zip(small, whole, strict=True):  # their settings differ, and say so
        assert pq.read_table(one, partitioning=None).equals(pq.read_table(other, partitioning=None))


def test_tours_that_come_in_another_order_give_the_same_bytes(run_folder, monkeypatch):
    before, read = dataset(run_folder), Run.parts
    monkeypatch.setattr(Run, "parts", lambda *words: random.Random(4).sample(found := list(read(*words)), len(found)))
    write_distinct(run_folder)
    assert dataset(run_folder) == before


def test_many_parts_are_cut_at_the_same_rows_whatever_the_memory(sound, tmp_path):
    folders = [shutil.copytree(sound, tmp_path / str(memory)) for memory in (SMALL, 2**30)]
    reports = [write_distinct(folder, int(folder.name), group_bytes=32 * 50, groups=3) for folder in folders]
    assert dataset(folders[0]) == dataset(folders[1])
    rows = [part.rows for part in reports[0].variants[0].parts]
    assert set(rows[:-1]) == {150}
    assert sum(rows) == reports[0].variants[0].classes


def test_the_tours_ascend_and_are_canonical_and_of_the_kind_they_say(sound):
    run = Run(sound)
    for variant in ("open", "closed"):
        batches = list(run.distinct(variant, batch_tours=100))
        tours = np.concatenate([batch.tours for batch in batches])
        assert np.array_equal(canonical(run.board, tours), tours)
        assert list(map(tuple, tours.tolist())) == sorted(set(map(tuple, tours.tolist())))
        assert (are_closed(run.board, tours) == (variant == "closed")).all()
        assert np.array_equal(np.concatenate([b.structured for b in batches]), are_structured(run.board, tours))
        assert np.array_equal(np.concatenate([b.symmetry for b in batches]), symmetries(run.board, tours))


def test_the_first_of_a_class_is_where_it_says(sound):
    run = Run(sound)
    first = {}
    for part in run.parts():
        for batch in run.read_part(part):
            for tour, iteration in zip(canonical(run.board, batch.tours).tolist(), batch.iterations, strict=True):
                place = (int(batch.tours[0, 0]), int(iteration))
                first[tuple(tour)] = min(first.get(tuple(tour), place), place)
    told = {
        tuple(tour): (start, iteration)
        for batch in run.distinct()
        for tour, start, iteration in zip(
            batch.tours.tolist(), batch.start.tolist(), batch.iteration.tolist(), strict=True
        )
    }
    assert told == first


def test_duckdb_and_polars_read_the_distinct_tours(sound):
    expected = {each.variant: numbers(each)[1:] for each in find_distinct(Run(sound).storage).variants}
    sums = "variant, count(distinct tour), sum(multiplicity), sum(found)"
    rows = duckdb.sql(f"select {sums} from '{sound}/{FOLDER}/**/*.parquet' group by variant").fetchall()
    assert {variant: tuple(map(int, sums)) for variant, *sums in rows} == expected
    frame = polars.scan_parquet(f"{sound}/{FOLDER}", hive_partitioning=True).group_by("variant")
    frame = frame.agg(polars.col("tour").n_unique(), polars.col("multiplicity").sum(), polars.col("found").sum())
    assert {variant: tuple(sums) for variant, *sums in frame.collect().rows()} == expected


def test_tours_that_were_drawn_again_are_counted(tmp_path):
    run_serially(config_for((5, 5), strategy="greedy", start="a1,c3", tours=400, output=str(tmp_path / "run")))
    (classes,) = write_distinct(tmp_path / "run").variants
    tours = np.concatenate(list(Run(tmp_path / "run").tours()))
    found = Counter(str(reference.class_of(5, 5, tour)) for tour in tours.tolist())
    told = np.concatenate([batch.found for batch in Run(tmp_path / "run").distinct()])
    assert sorted(told.tolist()) == sorted(found.values())
    assert classes.classes == len(found) < len(np.unique(tours, axis=0)) < len(tours) == classes.found


def test_a_run_without_tours_and_the_smallest_board_have_distinct_tours(tmp_path):
    run_serially(config_for((8, 8), max=10, start="a1", output=str(tmp_path / "none")))
    (classes,) = write_distinct(tmp_path / "none").variants
    assert (classes.classes, classes.multiplicity, classes.found, classes.parts) == (0, 0, 0, ())
    assert list(Run(tmp_path / "none").distinct()) == []
    run_serially(config_for((1, 1), output=str(tmp_path / "one")))
    (classes,) = write_distinct(tmp_path / "one").variants
    assert (classes.classes, classes.multiplicity, classes.found) == (1, 1, 1)


def test_distinct_tours_are_written_anywhere_and_again(place):
    run_serially(config_for((5, 5), start="a1", output=f"{place}/run"))
    write_distinct(f"{place}/run")
    first = dataset(f"{place}/run")
    open_storage(f"{place}/run").create(f"{FOLDER}/variant=open/part-000001.parquet", b"of another time")
    write_distinct(f"{place}/run", SMALL)
    assert dataset(f"{place}/run") == first
    verdict = verify(Run(f"{place}/run"))
    assert (verdict.damage, verdict.notes) == ([], [])


# ---------------------------------------------------------------------------------------------------------------------
# What may go wrong.

MOMENTS = {
    "second part": (folders, "_write_synced", 1),
    "removal": (folders.Folder, "remove", 0),
    "rename": (os, "rename", 0),
    "second rename": (os, "rename", 1),
    "record": (distinct, "record_distinct", 0),
}


def write_and_die(place, module, name, times):
    """Write in a forked process that kills itself when it calls a function for the N-th time."""
    function, calls = getattr(module, name), itertools.count()

    def deadly(*words):
        if next(calls) == times:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*words)

    child = os.fork()
    if child == 0:
        try:
            setattr(module, name, deadly)
            write_distinct(place)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_leaves_the_old_ones_or_none_and_nothing_half_made(run_folder, moment):
    before = dataset(run_folder)
    assert write_and_die(run_folder, *MOMENTS[moment]) == -signal.SIGKILL
    left = dataset(run_folder)
    parts = {name: data for name, data in left.items() if name != NAME}
    assert parts in ({name: data for name, data in before.items() if name != NAME}, {})
    verdict = verify(Run(run_folder))
    assert verdict.damage == []
    if NAME in left:
        assert (left, verdict.notes) == (before, [])
    else:
        assert ["without a record" in note for note in verdict.notes] == [True] * bool(parts)
        with pytest.raises(BadRequest, match="has no distinct tours"):
            list(Run(run_folder).distinct())
    write_distinct(run_folder)
    assert dataset(run_folder) == before
    assert not any((run_folder / STAGING).iterdir())


def test_distinct_tours_of_an_earlier_state_are_noticed_and_not_damage(run_folder):
    run_serially(config_for((5, 6), variant="both", max=21_000, output=str(run_folder)))
    verdict = verify(Run(run_folder))
    assert verdict.damage == []
    assert [note.split(";")[0] for note in verdict.notes] == ["the distinct tours are of an earlier state of this run"]
    done = called("verify", run_folder, cwd=run_folder.parent)
    assert (done.returncode, "earlier state" in done.stderr) == (0, True)
    write_distinct(run_folder)
    assert verify(Run(run_folder)).notes == []


def test_a_fresh_run_has_no_distinct_tours(run_folder):
    run_serially(config_for((5, 6), variant="both", max=20_000, output=str(run_folder)), fresh=True)
    assert dataset(run_folder) == {}
    assert verify(Run(run_folder)).notes == []


@pytest.mark.parametrize("which", ["part", "record"])
def test_damage_to_distinct_tours_is_found_and_its_file_named(run_folder, which):
    path = sorted((run_folder / FOLDER).rglob("*.parquet"))[0] if which == "part" else run_folder / NAME
    whole = path.read_bytes()
    for bit in random.Random(2).sample(range(8 * len(whole)), 10):
        harmed = bytearray(whole)
        harmed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(harmed)
        assert any(path.name in line for line in verify(Run(run_folder)).damage)
    path.unlink()
    verdict = verify(Run(run_folder))
    assert verdict.notes if which == "record" else any(path.name in line for line in verdict.damage)


def test_a_foreign_file_among_distinct_tours_is_found(run_folder):
    (run_folder / FOLDER / "variant=open" / "part-000009.parquet").write_bytes(b"")
    assert [line.split(":")[0] for line in verify(Run(run_folder)).damage] == ["not a file of this run"]


def test_damaged_tours_are_not_made_distinct(run_folder):
    before, part = dataset(run_folder), sorted((run_folder / "tours").rglob("*.parquet"))[3]
    harmed = bytearray(part.read_bytes())
    harmed[len(harmed) // 2] ^= 4
    part.write_bytes(harmed)
    for make in (write_distinct, count_distinct):
        with pytest.raises(Damaged, match=part.name):
            make(run_folder)
    assert dataset(run_folder) == before
    assert not any((run_folder / STAGING).iterdir())


def test_a_run_that_is_worked_on_is_refused(run_folder):
    with open_storage(str(run_folder)).lock():
        for make in (write_distinct, count_distinct):
            with pytest.raises(Locked, match="working on this run"):
                make(run_folder)
        assert called("distinct", run_folder, cwd=run_folder).returncode == 5


def test_a_disk_too_small_is_refused_before_any_work(run_folder, monkeypatch):
    before = run_files(run_folder)
    usage = shutil.disk_usage(run_folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100_000))
    with pytest.raises(BadRequest, match=r"may need 1,[0-9,]+ bytes of disk, and 100,000 are free"):
        write_distinct(run_folder, SMALL)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=0))
    assert count_distinct(run_folder).tours > 0  # fits into memory
    assert run_files(run_folder) == before


def test_counting_writes_nothing_and_says_the_same(sound):
    before = run_files(sound)
    record = find_distinct(Run(sound).storage)
    assert list(map(numbers, count_distinct(sound).variants)) == list(map(numbers, record.variants))
    assert run_files(sound) == before


def test_bad_requests_are_refused_with_a_line(sound, tmp_path):
    run_serially(config_for((5, 5), start="a1", write=False, output=str(tmp_path / "counted")))
    with pytest.raises(BadRequest, match="counted and not written"):
        write_distinct(tmp_path / "counted")
    with pytest.raises(BadRequest, match="memory must be at least 65,536 bytes, got 10"):
        write_distinct(sound, 10)
    with pytest.raises(BadRequest, match="variant must be open or closed, got 'odd'"):
        next(Run(sound).distinct("odd"))
    with pytest.raises(BadRequest, match="there is no such folder"):
        write_distinct(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("text", "size"),
    [("1GiB", 2**30), ("512 mib", 2**29), ("1.5kB", 1_500), ("65536", 65_536), ("7b", 7), ("2TiB", 2**41)],
)
def test_a_size_of_memory_is_understood(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1", "1 XiB", "1e9", "GiB", "1.MiB"])
def test_a_strange_size_of_memory_is_refused(text):
    with pytest.raises(BadRequest, match="expected a size such as"):
        parse_bytes(text)


# ---------------------------------------------------------------------------------------------------------------------
# The command line.


def test_the_command_and_the_flag_of_a_run_do_the_same(tmp_path):
    words = ("--size", "5", "--start", "a1,c3", "--max", "0", "--executor", "serial", "--output", "run")
    done = called(*words, "--distinct", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["distinct"]
    first = dataset(tmp_path / "run")
    again = called("distinct", "run", "--json", "--memory", "64KiB", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    document = json.loads(again.stdout)
    assert document.pop("run") == "run"
    assert document.pop("seconds") > 0 < told.pop("seconds")
    assert document == told
    assert dataset(tmp_path / "run") == first
    assert told["tours"] == told["open"]["found"] == sum(per_square("per_start_5x5.csv").flat[[0, 12]])
    tours = [tour for batch in Run(tmp_path / "run").tours() for tour in batch.tolist()]
    assert told["open"]["classes"] == len({str(reference.class_of(5, 5, tour)) for tour in tours})


def test_the_command_prints_numbers_or_is_quiet_and_says_if_the_run_is_unfinished(run_folder, sound):
    done = called("distinct", run_folder, "--count", cwd=run_folder)
    open_ = find_distinct(Run(sound).storage).variants[0]
    assert f"{open_.classes:,} distinct open tours among {open_.found:,};" in done.stdout
    assert f"{open_.multiplicity:,} undirected ones" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    record = sorted((run_folder / "_run" / "commits").glob("000003-*.json"))[-1]
    record.unlink()
    done = called("distinct", run_folder, "--quiet", cwd=run_folder)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("unfinished: ")


def test_distinct_tours_of_a_run_that_writes_none_are_refused_before_it_begins(tmp_path):
    done = called("--size", "5", "--no-write", "--distinct", cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "--distinct and --no-write exclude each other" in done.stderr
    assert called("distinct", "run", "--memory", "lots", cwd=tmp_path).returncode == 2
