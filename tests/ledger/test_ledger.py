"""Records: what they say of a run, what takes the place of what, and that nobody late can spoil it."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace

import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.ledger.layout import COMMITS, parse_part_name, part_name
from enumerate.ledger.layout import MANIFEST as NAME
from enumerate.ledger.manifest import read_manifest, replace_manifest, seal, unseal
from enumerate.ledger.parts import Sink
from enumerate.ledger.records import name_of, records
from enumerate.ledger.storage import is_url, open_storage
from enumerate.model.errors import BadRequest, Damaged, Stopped
from enumerate.model.jobs import BUDGET, Totals
from enumerate.run import tidying
from enumerate.run import worker as work
from enumerate.run.worker import run_slice

from ..support.runs import part_sums, run_files, run_serially, small


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Names of records, and the parts, of the run given its whole budget at once."""
    folder = tmp_path_factory.mktemp("expected") / "run"
    run_serially(small(folder))
    return record_names(folder), part_sums(folder)


@pytest.fixture
def run_place(place):
    """A finished run, with a budget that ends within a slice of every start square."""
    run_serially(small(f"{place}/run", max=1_500))
    return f"{place}/run"


def record_names(place):
    return sorted(name for name, _ in open_storage(str(place)).entries(COMMITS))


def results(place):
    """The records of each job, in order."""
    run = Run(place)
    return [list(records(run.storage, job)) for job in run.progress]


def damage(place):
    return verify(Run(place)).damage


# ---------------------------------------------------------------------------------------------------------------------
# What records say.


def test_each_record_carries_the_sums_of_those_before_it(run_place):
    for job in results(run_place):
        total = Totals()
        assert len(job) > 1
        for result in job:
            assert result.before == total
            total = result.total
            assert total.iterations - result.before.iterations == result.iterations
            assert total.tours - result.before.tours == result.tours == sum(part.rows for part in result.parts)
            assert total.bytes - result.before.bytes == sum(part.bytes for part in result.parts)
            assert total.parts - result.before.parts == len(result.parts)
        assert total.iterations == 1_500


def test_each_record_begins_where_the_one_before_it_ended(run_place):
    for job, progress in zip(results(run_place), Run(run_place).progress, strict=True):
        assert job[0].began == progress.job.prefix
        assert [result.began for result in job[1:]] == [result.cursor for result in job[:-1]]


def test_the_last_record_of_each_start_square_is_all_that_the_summary_needs(run_place, monkeypatch):
    whole = [sum(result.iterations for result in job) for job in results(run_place)]
    read = what_is_read(run_place, monkeypatch)
    assert Run(run_place).summary()["iterations"].to_pylist() == whole
    lasts = {name for name in record_names(run_place) if "-to-" in name}
    assert set(read) == {NAME, *lasts}
    assert len(lasts) == 3


def what_is_read(place, monkeypatch):
    """The names of all files that are read from now on, as a list that grows."""
    kind, read = type(open_storage(place)), []
    original = kind.read

    def recording(self, name):
        read.append(name)
        return original(self, name)

    monkeypatch.setattr(kind, "read", recording)
    return read


# ---------------------------------------------------------------------------------------------------------------------
# Short slices.


def test_a_slice_that_the_budget_cut_short_says_in_its_names_where(run_place):
    for job in results(run_place):
        assert [result.ended == BUDGET for result in job] == [False] * (len(job) - 1) + [True]
        assert [result.cut for result in job] == [None] * (len(job) - 1) + [job[-1].iterations]
        for result in job:
            short = "" if result.cut is None else f"-to-{result.iterations}"
            assert name_of(result) == f"_run/commits/{result.job:06d}-{result.slice:04d}{short}.json"
            for part in result.parts:
                assert part.name.endswith(f"/part-{result.job:06d}-{result.slice:04d}{short}.parquet")
                named = (part.holds, result.start, result.job, result.slice, result.cut, "")
                assert parse_part_name(part.name) == named
                assert part_name(*named) == part.name
    named = {part.name for job in results(run_place) for result in job for part in result.parts}
    assert {f"tours/{name}" for name in part_sums(run_place)} == named


@pytest.mark.parametrize(
    "name",
    ["part-000001-0001-to-.parquet", "part-000001-0001-to-07.parquet", "part-1-0001.parquet",
     "part-0000001-0001.parquet", "part-000001-00001.parquet", "part-000001-0001.parquet.tmp",
     "part-000001-0001-to-x.parquet",
     "part-000001-0001-to-5-to-6.parquet", "part-٠٠٠٠٠١-0001.parquet"],
)  # fmt: skip
def test_a_name_that_no_part_is_given_is_not_taken_for_one(name):
    assert parse_part_name("tours/variant=open/start=a1/part-000001-0001.parquet")
    assert parse_part_name(f"tours/variant=open/start=a1/{name}") is None


def test_a_larger_budget_supersedes_short_slices_and_nothing_of_them_is_left(run_place, expected):
    before = run_files(run_place)
    run_serially(small(run_place))
    after = run_files(run_place)
    assert (record_names(run_place), part_sums(run_place)) == expected
    short = {name for name in before if "-to-" in name}
    assert short
    assert short.isdisjoint(after)
    whole = {name for name in before if name.startswith(("tours/", COMMITS)) and name not in short}
    assert whole
    assert {name: after[name] for name in whole} == {name: before[name] for name in whole}
    assert damage(run_place) == []


def test_a_run_extended_in_many_steps_has_at_each_of_them_the_files_of_a_run_at_once(place):
    for limit in (1, 2, 400, 900, 1_000, 1_001, 1_700, 3_000):
        run_serially(small(f"{place}/steps", max=limit))
        run_serially(small(f"{place}/{limit}", max=limit))
        assert part_sums(f"{place}/steps") == part_sums(f"{place}/{limit}")
        assert record_names(f"{place}/steps") == record_names(f"{place}/{limit}")
        assert without_times(f"{place}/steps") == without_times(f"{place}/{limit}")


def without_times(place):
    """All that records say, except how long it took."""

    def strip(value):
        if isinstance(value, dict):
            return {key: strip(each) for key, each in value.items() if "seconds" not in key and key != "checksum"}
        return value

    storage = open_storage(place)
    return {name: strip(unseal(storage.read(name), name)) for name in record_names(place)}


def test_of_two_short_records_of_a_slice_the_longer_one_counts(run_place):
    short = {name: data for name, data in run_files(run_place).items() if "-to-" in name}
    run_serially(small(run_place, max=1_600))
    storage = open_storage(run_place)
    for name, data in short.items():
        assert storage.create(name, data)
    assert Run(run_place).totals()["iterations"] == 3 * 1_600
    assert [job[-1].total.iterations for job in results(run_place)] == [1_600] * 3


# ---------------------------------------------------------------------------------------------------------------------
# Late workers. A worker knows the epoch it works for; its coordinator may be gone, or have gone on without it.


def next_slice(place, config, job=0):
    return Run(place).progress[job].next_slice(config)


def set_epoch(place, config, epoch):
    storage = open_storage(place)
    replace_manifest(storage, replace(read_manifest(storage).of_call(config), epoch=epoch))


def begin_epoch(place, config) -> str:
    """What a coordinator does before it hires workers."""
    epoch = read_manifest(open_storage(place)).of_call(config).epoch
    set_epoch(place, config, epoch)
    return epoch


def test_a_worker_of_the_epoch_at_work_writes(run_place):
    config = small(run_place)
    epoch = begin_epoch(run_place, config)
    slice_ = next_slice(run_place, config)
    result = run_slice(config, epoch, slice_)
    assert (result.slice, result.cut) == (slice_.number, None)
    assert not [name for name in run_files(run_place) if "000000" in name and "-to-" in name]


@pytest.mark.parametrize("epoch", ["", "concluding", "another one"], ids=["ended", "concluding", "continued"])
def test_a_worker_of_an_earlier_epoch_writes_nothing_after_the_run_was_concluded_or_continued(run_place, epoch):
    config = small(run_place)
    set_epoch(run_place, config, epoch)
    slice_, before = next_slice(run_place, config), run_files(run_place)
    with pytest.raises(Stopped, match="stopped or continued by another coordinator"):
        run_slice(config, "an earlier one", slice_)
    assert run_files(run_place) == before


def test_a_worker_of_a_run_that_was_taken_away_writes_nothing(run_place):
    config = small(run_place)
    slice_ = next_slice(run_place, config)
    storage = open_storage(run_place)
    storage.remove([name for name, _ in storage.entries(".") if name.startswith(("tours/", "_run/"))])
    before = run_files(run_place)
    with pytest.raises(Stopped, match="this run was removed"):
        run_slice(config, "an earlier one", slice_)
    assert run_files(run_place) == before


def test_a_worker_of_a_run_that_was_started_over_writes_nothing(run_place):
    config = small(run_place)
    slice_ = next_slice(run_place, config)
    run_serially(small(run_place, seed=1, start="h8"), fresh=True)
    before = run_files(run_place)
    with pytest.raises(Stopped, match="stopped or continued by another coordinator"):
        run_slice(config, "an earlier one", slice_)
    assert run_files(run_place) == before


def after_publishing(monkeypatch, happens):
    """Let something happen between the parts of the next slice and its record."""
    publish = Sink.publish

    def publish_then(self, cut):
        parts = publish(self, cut)
        assert parts
        monkeypatch.setattr(Sink, "publish", publish)
        happens()
        return parts

    monkeypatch.setattr(Sink, "publish", publish_then)


@pytest.mark.parametrize("limit", [1_600, 3_000], ids=["short slice", "whole slice"])
def test_a_worker_overtaken_between_parts_and_record_does_not_record(run_place, expected, monkeypatch, limit):
    """Its coordinator is lost; another one clears its parts away and does the slice itself."""
    config = small(run_place, max=limit)
    epoch = begin_epoch(run_place, config)
    slice_ = next_slice(run_place, config)
    after_publishing(monkeypatch, lambda: run_serially(small(run_place)))
    with pytest.raises(Stopped, match="stopped or continued by another coordinator"):
        run_slice(config, epoch, slice_)
    assert (record_names(run_place), part_sums(run_place)) == expected
    assert damage(run_place) == []


def test_a_worker_does_not_record_parts_that_a_refused_call_has_cleared_away(run_place, expected, monkeypatch):
    """The coordinator is lost. The next call asks for too little, and is refused: but it has tidied up."""
    config = small(run_place)
    epoch = begin_epoch(run_place, config)
    slice_ = next_slice(run_place, config)

    def refused_call():
        with pytest.raises(BadRequest, match="unfinished and was started with --max 3000"):
            run_serially(small(run_place, max=2_000))

    after_publishing(monkeypatch, refused_call)
    with pytest.raises(Stopped, match="stopped or continued by another coordinator"):
        run_slice(config, epoch, slice_)
    assert damage(run_place) == []
    assert run_serially(config).complete
    assert (record_names(run_place), part_sums(run_place)) == expected


def before_the_record(monkeypatch, happens):
    """Let something happen between the last look at the epoch and the record: its put may be repeated for a while."""
    commit = work.commit

    def commit_late(storage, result):
        monkeypatch.setattr(work, "commit", commit)
        happens()
        return commit(storage, result)

    monkeypatch.setattr(work, "commit", commit_late)


def test_a_record_in_flight_while_the_run_is_stopped_finds_its_parts_again(run_place, expected, monkeypatch):
    config = small(run_place)
    epoch = begin_epoch(run_place, config)
    slice_ = next_slice(run_place, config)
    before_the_record(monkeypatch, lambda: run_serially(config, stopping=lambda: True))
    assert run_slice(config, epoch, slice_).slice == slice_.number
    assert damage(run_place) == []
    assert run_serially(config).complete
    assert (record_names(run_place), part_sums(run_place)) == expected


def test_a_record_that_comes_while_the_run_is_tidied_up_goes_with_its_parts(run_place, expected, monkeypatch):
    """The records are listed, then comes the late one, then the parts are listed."""
    config = small(run_place)
    epoch = begin_epoch(run_place, config)
    slice_, listed = next_slice(run_place, config), tidying.record_lists

    def listed_and_then(storage, plan):
        found = listed(storage, plan)
        monkeypatch.setattr(tidying, "record_lists", listed)
        late.set()
        worker.join()
        return found

    late = threading.Event()
    before_the_record(monkeypatch, late.wait)
    worker = threading.Thread(target=run_slice, args=(config, epoch, slice_))
    worker.start()
    time.sleep(0.5)  # it waits at its record now
    monkeypatch.setattr(tidying, "record_lists", listed_and_then)
    run_serially(config, stopping=lambda: True)
    assert damage(run_place) == []
    assert run_serially(config).complete
    assert (record_names(run_place), part_sums(run_place)) == expected


def test_a_record_in_flight_while_the_run_is_started_over_is_taken_back(run_place, monkeypatch):
    config, other = small(run_place), small(run_place, seed=1, h_prob=0.5, max=1_000)
    epoch = begin_epoch(run_place, config)
    slice_ = next_slice(run_place, config)
    after = []

    def start_over():
        run_serially(other, fresh=True)
        after.append(run_files(run_place))

    before_the_record(monkeypatch, start_over)
    with pytest.raises(Stopped, match="another run was started here"):
        run_slice(config, epoch, slice_)
    assert run_files(run_place) == after[0]
    assert damage(run_place) == []


def test_a_short_slice_that_comes_after_the_whole_one_is_taken_back(run_place, expected, monkeypatch):
    config = small(run_place, max=1_600)
    epoch = begin_epoch(run_place, config)
    slice_ = next_slice(run_place, config)
    before_the_record(monkeypatch, lambda: run_serially(small(run_place)))
    run_slice(config, epoch, slice_)
    assert damage(run_place) == []
    assert (record_names(run_place), part_sums(run_place)) == expected


def test_a_coordinator_that_was_asleep_does_not_end_what_another_has_begun(run_place, monkeypatch):
    """As if its lock were worth nothing: it wakes up after another has continued the run, and is told so."""
    config, stolen = small(run_place), []

    def take_over():
        if not stolen:
            stolen.append(begin_epoch(run_place, small(run_place, max=9_000)))
        return True

    with pytest.raises(Stopped, match="stopped or continued by another coordinator"):
        run_serially(config, stopping=take_over)
    manifest = read_manifest(open_storage(run_place))
    assert (manifest.epoch, manifest.budget["max"]) == (stolen[0], 9_000)


def test_two_workers_on_one_slice_leave_one_record_and_the_second_is_told_of_it(run_place):
    config = small(run_place)
    epoch = begin_epoch(run_place, config)
    slice_ = next_slice(run_place, config)
    first = run_slice(config, epoch, slice_)
    before = run_files(run_place)
    assert run_slice(config, epoch, slice_) == first
    assert run_files(run_place) == before


def test_a_slice_that_was_committed_with_other_tours_is_damage(run_place):
    config = small(run_place)
    epoch = begin_epoch(run_place, config)
    slice_ = next_slice(run_place, config)
    first = run_slice(config, epoch, slice_)
    storage = open_storage(run_place)
    record = unseal(storage.read(name_of(first)), "record")
    storage.replace(name_of(first), seal({**record, "cursor": record["cursor"][:-1]}))
    with pytest.raises(Damaged, match=f"committed twice with different tours: {name_of(first)}"):
        run_slice(config, epoch, slice_)
    storage.replace(first.parts[0].name, b"other tours")
    with pytest.raises(Damaged, match=f"written twice with different tours: {first.parts[0].name}"):
        run_slice(config, epoch, slice_)


def test_what_a_late_worker_wrote_all_the_same_is_named_by_verify_and_removed_by_the_next_call(run_place, expected):
    short = {name: data for name, data in run_files(run_place).items() if "-to-" in name}
    run_serially(small(run_place))
    storage, sound = open_storage(run_place), run_files(run_place)
    for name, data in short.items():
        assert storage.create(name, data)
    stale_records = [name for name in short if name.startswith(COMMITS)]
    assert len(stale_records) == 3
    verdict = verify(Run(run_place))
    assert verdict.complete
    assert sorted(verdict.damage) == sorted(
        [f"left by a late worker, the command of the run removes it: {name}" for name in stale_records]
        + [f"not a file of this run: {name}" for name in short if name not in stale_records]
    )
    assert part_sums(run_place) != expected[1]
    assert not run_serially(small(run_place)).worked
    assert run_files(run_place) == sound
    assert (record_names(run_place), part_sums(run_place)) == expected
    assert damage(run_place) == []


def test_a_stale_record_alone_without_its_parts_is_removed_too(run_place, expected):
    short = {name: data for name, data in run_files(run_place).items() if "-to-" in name and name.startswith(COMMITS)}
    run_serially(small(run_place))
    storage = open_storage(run_place)
    for name, data in short.items():
        storage.create(name, data)
    assert run_serially(small(run_place, max=3_001)).worked
    assert record_names(run_place) == record_names_at_once(run_place, 3_001)
    assert damage(run_place) == []


def record_names_at_once(place, limit):
    run_serially(small(f"{place}-at-once", max=limit))
    return record_names(f"{place}-at-once")


def test_a_run_whose_coordinator_was_killed_is_unfinished_until_it_is_concluded(run_place):
    sound = run_files(run_place)
    for epoch in ("lost", "concluding"):
        set_epoch(run_place, small(run_place, max=1_500), epoch)
        verdict = verify(Run(run_place))
        assert (verdict.damage, verdict.complete) == ([], False)
        assert not run_serially(small(run_place, max=1_500)).worked
        assert verify(Run(run_place)).complete
        assert run_files(run_place) == sound
        assert json.loads(sound[NAME])["epoch"] == ""


# ---------------------------------------------------------------------------------------------------------------------
# Damage.


@pytest.mark.parametrize(("job", "slice_"), [(0, 0), (1, 1), (2, -1)], ids=["first", "middle", "last"])
@pytest.mark.parametrize("harm", ["missing", "shortened"])
def test_a_look_at_the_sizes_finds_and_names_a_part_that_is_missing_or_shortened(place, harm, job, slice_):
    run_serially(small(f"{place}/run"))
    storage = open_storage(f"{place}/run")
    part = results(f"{place}/run")[job][slice_].parts[0]
    if harm == "missing":
        storage.remove([part.name])
        words = f"missing, though a record names it: {part.name}"
    else:
        storage.replace(part.name, storage.read(part.name)[:-1])
        words = f"damaged, {part.bytes - 1:,} bytes instead of {part.bytes:,}: {part.name}"
    before = run_files(f"{place}/run")
    with pytest.raises(Damaged) as caught:
        run_serially(small(f"{place}/run"), check="sizes")
    assert str(caught.value) == words
    assert words in damage(f"{place}/run")
    assert run_files(f"{place}/run") == before


def test_a_look_at_the_sizes_reads_the_last_record_of_each_start_square_and_no_part(place, monkeypatch):
    config = small(f"{place}/run", slice_iterations=400)
    run_serially(config)
    lasts = {name_of(job[-1]) for job in results(f"{place}/run")}
    assert len(record_names(f"{place}/run")) > 5 * len(lasts)
    read = what_is_read(f"{place}/run", monkeypatch)
    assert not run_serially(config, check="sizes").worked
    assert set(read) == {NAME, "summary.parquet", "summary.csv", "summary.json", *lasts}


def test_a_look_at_the_sizes_reads_the_parts_of_a_harmed_start_square_alone(place, monkeypatch):
    run_serially(small(f"{place}/run"))
    of_job = results(f"{place}/run")[1]
    open_storage(f"{place}/run").remove([of_job[-1].parts[-1].name])
    read = what_is_read(f"{place}/run", monkeypatch)
    with pytest.raises(Damaged, match="missing, though a record names it"):
        run_serially(small(f"{place}/run"), check="sizes")
    assert {name for name in read if name.startswith("tours/")} <= {p.name for result in of_job for p in result.parts}
    assert not [name for name in read if name.startswith(f"{COMMITS}/000000-0000")]


def test_a_changed_byte_is_found_by_checksums_on_a_file_system_and_on_request_elsewhere(run_place):
    storage = open_storage(run_place)
    part = results(run_place)[1][0].parts[0]
    harmed = bytearray(storage.read(part.name))
    harmed[len(harmed) // 2] ^= 1
    storage.replace(part.name, harmed)
    words = f"damaged, its checksum does not match its record: {part.name}"
    with pytest.raises(Damaged, match=words):
        run_serially(small(run_place, max=1_500), check="sums")
    assert not run_serially(small(run_place, max=1_500), check="sizes").worked
    if is_url(run_place):  # reading everything back is not for nothing there: sizes are what is looked at
        assert not run_serially(small(run_place, max=1_500)).worked
    else:
        with pytest.raises(Damaged, match=words):
            run_serially(small(run_place, max=1_500))
    assert words in damage(run_place)


@pytest.mark.parametrize("check", ["sizes", "sums"])
@pytest.mark.parametrize("missing", [0, 1, -2], ids=["first", "second", "last but one"])
@pytest.mark.parametrize("limit", [2_400, 2_300], ids=["of whole ones", "before a short one"])
def test_a_gap_in_the_records_is_found_and_named(place, limit, missing, check):
    config = small(f"{place}/run", max=limit, slice_iterations=400)
    run_serially(config)
    storage = open_storage(f"{place}/run")
    of_job = results(f"{place}/run")[1]
    name = name_of(of_job[missing])
    assert len(of_job) == 6
    assert (of_job[-1].cut is None) is (limit == 2_400)
    storage.remove([name])
    before = run_files(f"{place}/run")
    words = f"missing, though a later slice of its job has a record: {name}"
    assert damage(f"{place}/run") == [words]
    with pytest.raises(Damaged) as caught:
        run_serially(config, check=check)
    assert str(caught.value) == words
    assert run_files(f"{place}/run") == before


@pytest.mark.parametrize(
    "name",
    ["000001-00001.json", "0000001-0001.json", "1-1.json", "000001-1.json", "000001-0001-to-07.json",
     "000001-0001-to-.json", "000001-0001-to--5.json", "000001-0001-to-5-to-6.json", "000001-0001.json.bak",
     "notes.txt", "deep/000001-0001.json", "٠٠٠٠٠١-0001.json", "000001--001.json"],
)  # fmt: skip
def test_a_file_among_the_records_whose_name_is_not_that_of_one_is_damage(run_place, name):
    storage = open_storage(run_place)
    storage.create(f"{COMMITS}/{name}", storage.read(record_names(run_place)[-1]))
    before = run_files(run_place)
    words = f"damaged, not a commit record: {COMMITS}/{name}"
    assert damage(run_place) == [words]
    with pytest.raises(Damaged) as caught:
        run_serially(small(run_place))
    assert str(caught.value) == words
    assert run_files(run_place) == before


def test_a_record_of_a_job_that_the_run_does_not_have_is_damage(run_place):
    storage = open_storage(run_place)
    storage.create(f"{COMMITS}/000003-0000.json", storage.read(record_names(run_place)[0]))
    assert damage(run_place) == [f"not a job of this run: {COMMITS}/000003-0000.json"]
    with pytest.raises(Damaged, match="not a job of this run"):
        run_serially(small(run_place))


def test_a_record_under_the_name_of_another_is_damage(run_place):
    storage = open_storage(run_place)
    last = name_of(results(run_place)[1][-1])
    for other in (f"{COMMITS}/000001-0001.json", last.replace("-to-", "-to-9")):
        storage.replace(other, storage.read(last))
        words = f"damaged, a record under the name of another: {other}"
        assert words in damage(run_place)
        with pytest.raises(Damaged, match=words):
            run_serially(small(run_place))
        storage.remove([other])


@pytest.mark.parametrize(
    "change",
    [
        lambda record: {**record, "before": {**record["before"], "bytes": record["before"]["bytes"] + 1}},
        lambda record: {**record, "before": {**record["before"], "dead_ends": 0}},
        lambda record: {**record, "began": record["began"][:-1]},
    ],
    ids=["other size before it", "other count before it", "other beginning"],
)
def test_a_record_that_does_not_continue_the_one_before_it_is_damage(run_place, change):
    storage = open_storage(run_place)
    last = name_of(results(run_place)[1][-1])
    storage.replace(last, seal(change(unseal(storage.read(last), last))))
    words = f"damaged, does not continue the slice before it: {last}"
    assert damage(run_place) == [words]
    with pytest.raises(Damaged, match=words):
        run_serially(small(run_place), check="sums")


@pytest.mark.parametrize("lacking", ["before", "began", "cursor", "parts", "write_seconds"])
def test_a_sealed_record_that_lacks_something_is_damage(run_place, lacking):
    storage = open_storage(run_place)
    last = name_of(results(run_place)[1][-1])
    record = unseal(storage.read(last), last)
    del record[lacking]
    storage.replace(last, seal(record))
    with pytest.raises(Damaged, match=f"not a commit record of this version: {last}"):
        run_serially(small(run_place))
