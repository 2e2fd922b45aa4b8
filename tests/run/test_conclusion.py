"""A run knows how much it had when it was concluded: a listing that shows less is not believed, and nothing goes."""

from __future__ import annotations

import json

import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.ledger.layout import COMMITS
from enumerate.ledger.manifest import seal, unseal
from enumerate.ledger.storage import open_storage
from enumerate.model.errors import Damaged
from enumerate.run import tidying
from enumerate.run.coordinator import run

from ..support.commands import called
from ..support.runs import Silent, part_sums, run_files, run_serially, small


@pytest.fixture
def made(place):
    run_serially(small(place))
    return place


def records_of(place):
    return sorted(name for name, _ in open_storage(str(place)).entries(COMMITS))


def move_away(place, names):
    open_storage(str(place)).remove(names)


def test_run_json_of_a_concluded_run_counts_its_records_and_parts(made):
    concluded = json.loads(open_storage(made).read("_run/run.json"))["concluded"]
    verdict = verify(Run(made))
    assert concluded == {"records": verdict.records, "parts": verdict.parts, "bytes": verdict.bytes}
    assert concluded["records"] == len(records_of(made)) > 3


@pytest.mark.parametrize("which", ["all", "the last", "the first of a job"])
def test_a_listing_that_shows_fewer_records_is_refused_and_nothing_is_removed(made, which):
    names = records_of(made)
    missing = {"all": names, "the last": names[-1:], "the first of a job": names[:1]}[which]
    move_away(made, missing)
    before = run_files(made)
    for config in (small(made), small(made, max=6_000)):
        with pytest.raises(Damaged, match="missing, ") as refusal:
            run(config, Silent())
        assert refusal.value.exit_code == 4
        assert run_files(made) == before
    assert verify(Run(made)).damage != []


def test_repair_searches_the_missing_slices_again_to_the_same_bytes(made):
    before = part_sums(made)
    move_away(made, records_of(made)[-2:])
    run(small(made), Silent(), repair=True)
    assert part_sums(made) == before
    assert verify(Run(made)).damage == []


def test_repair_of_a_run_from_which_all_records_are_gone_makes_it_anew(made):
    before = part_sums(made)
    move_away(made, records_of(made))
    run(small(made), Silent(), repair=True)
    assert part_sums(made) == before


def test_what_the_coordinator_has_seen_recorded_must_be_in_its_last_listing(place, monkeypatch):
    """The listing at the end of a call may be old, too: then no part goes, and the next call concludes the run."""
    real = tidying.record_lists
    calls = []

    def at_the_end_an_old_listing(storage, plan):
        calls.append(None)
        found = real(storage, plan)
        return {job: type(listed)() for job, listed in found.items()} if len(calls) > 1 else found

    monkeypatch.setattr(tidying, "record_lists", at_the_end_an_old_listing)
    with pytest.raises(Damaged, match="missing, found 0 records"):
        run_serially(small(place))
    monkeypatch.undo()
    kept = part_sums(place)
    assert len(kept) > 3
    run_serially(small(place))
    assert part_sums(place) == kept
    assert verify(Run(place)).damage == []


def test_the_refusal_is_one_line_with_exit_code_4(tmp_path):
    words = ("--size", "5", "--start", "a1", "--max", "5000", "--executor", "serial", "--output", str(tmp_path / "run"))
    assert called(*words, cwd=tmp_path).returncode == 0
    move_away(tmp_path / "run", records_of(tmp_path / "run"))
    refused = called(*words, cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (4, 1)
    assert "--repair searches the missing slices again" in refused.stderr
    assert called(*words, "--repair", cwd=tmp_path).returncode == 0


def test_parts_are_removed_only_of_slices_that_were_worked_on(made):
    """A part far beyond the last record was published by nobody who was at work on it."""
    storage = open_storage(made)
    name = next(name for name, _ in storage.entries("tours") if "-0000.parquet" in name)
    beyond = name.replace("-0000.parquet", "-0099.parquet")
    storage.create(beyond, storage.read(name))
    with pytest.raises(Damaged, match="missing, the record of a slice whose part is there"):
        run(small(made, max=6_000), Silent())
    assert storage.exists(beyond)
    run(small(made, max=6_000), Silent(), repair=True)
    assert not storage.exists(beyond)


def test_a_run_of_an_earlier_format_is_refused_in_one_line(made):
    storage = open_storage(made)
    document = unseal(storage.read("_run/run.json"), "run.json")
    document["identity"]["format"] = 4
    storage.replace("_run/run.json", seal(document))
    before = run_files(made)
    for look in (lambda: Run(made).plan, lambda: run(small(made), Silent())):
        with pytest.raises(Exception, match="was made by an earlier version; search again") as refusal:
            look()
        assert refusal.value.exit_code == 2
    assert run_files(made) == before
    run(small(made), Silent(), fresh=True)
    assert verify(Run(made)).damage == []


def test_records_that_cannot_be_listed_are_not_missing_and_no_part_is_removed(tmp_path):
    """Of a run that was killed, so that no number of records is known: a file stands where their folder was."""
    words = ("--size", "6", "--start", "a1,b1", "--max", "50k", "--slice-iterations", "20k", "--executor", "serial")
    assert called(*words, "--output", "run", cwd=tmp_path).returncode == 0
    place = tmp_path / "run"
    document = unseal((place / "_run/run.json").read_bytes(), "run.json")
    document |= {"epoch": "0123", "concluded": {"records": 0, "parts": 0, "bytes": 0}}
    (place / "_run/run.json").write_bytes(seal(document))
    (place / COMMITS).rename(place / "_run/elsewhere")
    (place / COMMITS).write_text("in the way", encoding="utf-8")
    parts = part_sums(place)
    assert len(parts) > 2
    for command in ((*words, "--output", "run"), ("verify", "run"), ("status", "run")):
        done = called(*command, cwd=tmp_path)
        assert done.returncode != 0
        assert done.stderr.count("\n") == 1
    assert part_sums(place) == parts


def test_status_sees_that_records_are_missing(made, tmp_path):
    move_away(made, records_of(made)[-1:])
    done = called("status", made, cwd=tmp_path)
    assert done.returncode == 4
    assert "missing, found " in done.stderr


def test_a_run_that_is_extended_while_it_is_looked_at_is_read_again(place):
    run_serially(small(place, max=2_500))  # the last slice is cut short, and its record superseded
    looking = Run(place)
    assert looking.record_lists
    run(small(place, max=6_000), Silent())
    assert sum(job.total.iterations for job in looking.progress) == Run(place).totals()["iterations"]
