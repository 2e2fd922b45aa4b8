"""What every storage promises: files appear whole, under one name once, and a run has one coordinator at a time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from enumerate.ledger.layout import LOCK
from enumerate.ledger.storage import Bucket, Folder, is_url, open_storage
from enumerate.model.errors import Damaged, Locked

from ..support.commands import environment_with
from ..support.storages import NAME, NEW, OLD, names

HOLDER = """
import sys
from enumerate.model.errors import Locked
from enumerate.ledger.storage import open_storage

try:
    with open_storage(sys.argv[1]).lock():
        print("held", flush=True)
        sys.stdin.read()
except Locked as error:
    print("refused:", error)
"""


def holding(storage):
    """The words of another process that holds a run until its input ends."""
    return [sys.executable, "-c", HOLDER, storage.output]


@pytest.fixture
def storage(place):
    """The storage of a run that has been opened once."""
    storage = open_storage(f"{place}/run")
    with storage.lock():
        pass
    storage.remove([LOCK])
    return storage


def by_chunks(storage, chunk):
    """The same storage; one that lists and removes many files in a request takes so many at a time."""
    return Bucket(storage.output, chunk=chunk) if isinstance(storage, Bucket) else storage


@pytest.fixture
def holder(storage):
    """Another process that holds the lock until its input ends."""
    with subprocess.Popen(
        holding(storage), env=environment_with(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_path_is_a_folder_and_an_address_is_a_bucket(place):
    storage = open_storage(place)
    assert isinstance(storage, Bucket if is_url(place) else Folder)
    assert storage.output == place
    assert storage.where(NAME) == f"{place}/{NAME}"


# Create, replace and remove


def test_a_folder_is_replaced_as_a_whole_after_all_its_files_were_taken(storage):
    storage.create("many/a/1", OLD)
    storage.create("many/2", OLD)
    storage.create("other/2", OLD)

    def files():
        yield "a/1", memoryview(NEW)
        assert names(storage, "many") == ["many/2", "many/a/1"]
        yield "b/3", b""
        assert storage.read("many/a/1") == OLD

    storage.replace_folder("many", files())
    assert {name: storage.read(name) for name in names(storage)} == {"many/a/1": NEW, "many/b/3": b"", "other/2": OLD}
    storage.replace_folder("many", [])
    assert names(storage) == ["other/2"]
    storage.replace_folder("made", [("x", NEW)])
    assert storage.read("made/x") == NEW


def test_a_folder_stays_as_it_is_if_its_new_files_cannot_be_made(storage):
    storage.create("many/1", OLD)

    def files():
        yield "2", NEW
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        storage.replace_folder("many", files())
    assert names(storage) == ["many/1"]


def test_what_is_created_is_read_back(storage):
    assert not storage.exists(NAME)
    assert storage.create(NAME, NEW) is True
    assert storage.exists(NAME)
    assert storage.read(NAME) == NEW
    assert list(storage.entries(".")) == [(NAME, len(NEW))]


@pytest.mark.parametrize("publish", ["create", "replace"])
@pytest.mark.parametrize(
    "data", [b"", bytes(range(256)), memoryview(bytes(range(256)))[3:77], bytes(12_000_000)], ids=len
)
def test_every_byte_is_kept(storage, publish, data):
    getattr(storage, publish)(NAME, data)
    assert storage.read(NAME) == bytes(data)
    assert list(storage.entries("tours")) == [(NAME, len(data))]


def test_a_file_that_is_not_there_is_damage_to_whoever_reads_it(storage):
    with pytest.raises(Damaged, match=f"cannot be read .*: {NAME}"):
        storage.read(NAME)


def test_a_folder_of_files_is_no_file(storage):
    storage.create(NAME, NEW)
    with pytest.raises(Damaged, match="cannot be read"):
        storage.read("tours")


def test_a_second_create_changes_nothing_and_says_so(storage):
    storage.create(NAME, OLD)
    assert storage.create(NAME, NEW) is False
    assert storage.read(NAME) == OLD


def test_replace_publishes_over_whatever_stands_there(storage):
    storage.replace(NAME, OLD)
    assert storage.read(NAME) == OLD
    storage.replace(NAME, NEW)
    assert storage.read(NAME) == NEW


def test_no_staging_file_is_left_over(storage):
    storage.create(NAME, OLD)
    storage.create(NAME, NEW)
    storage.replace(NAME, NEW)
    assert names(storage) == [NAME]


def test_many_writers_of_one_name_have_one_winner_and_its_content(storage):
    contents = [bytes([writer]) * 100_000 for writer in range(16)]
    with ThreadPoolExecutor(16) as pool:
        won = list(pool.map(lambda content: storage.create(NAME, content), contents))
    assert sum(won) == 1
    assert storage.read(NAME) == contents[won.index(True)]
    assert names(storage) == [NAME]


def test_a_reader_sees_the_old_file_or_the_new_one_and_nothing_between(storage):
    contents = [bytes([writer]) * 300_000 for writer in range(8)]
    storage.replace(NAME, contents[0])
    with ThreadPoolExecutor(2) as pool:
        written = [pool.submit(storage.replace, NAME, content) for content in contents]
        while not all(future.done() for future in written):
            assert storage.read(NAME) in contents
    assert [future.exception() for future in written] == [None] * len(written)


def test_a_removed_file_is_gone_and_may_be_removed_again(storage):
    storage.create(NAME, OLD)
    storage.remove([NAME])
    storage.remove([NAME])
    assert not storage.exists(NAME)
    assert names(storage) == []
    assert storage.create(NAME, NEW)
    assert storage.read(NAME) == NEW


def test_many_files_are_removed_at_once_whether_they_are_there_or_not_and_no_others(storage):
    storage = by_chunks(storage, 4)
    for number in range(11):
        storage.create(f"a/{number}", b"")
    storage.remove(f"a/{number}" for number in range(2, 20) if number != 5)
    assert names(storage) == ["a/0", "a/1", "a/5"]
    storage.remove([])
    assert names(storage) == ["a/0", "a/1", "a/5"]


# Listing


def test_entries_are_all_files_below_a_folder_with_their_sizes_and_relative_to_the_run(storage):
    sizes = {"b/2": 2, "b/10": 10, "a/x/y": 0, "a/w": 1, "ab/v": 3, "c": 4}
    for name, size in sizes.items():
        storage.create(name, bytes(size))
    for whole in ("", "."):
        assert dict(storage.entries(whole)) == sizes
    assert sorted(storage.entries("a")) == [("a/w", 1), ("a/x/y", 0)]
    assert list(storage.entries("a/x")) == [("a/x/y", 0)]
    assert list(storage.entries("none")) == []


def test_entries_come_one_after_the_other(storage):
    storage.create("a/b", b"")
    assert isinstance(storage.entries("."), types.GeneratorType)
    assert next(iter(storage.entries("."))) == ("a/b", 0)


@pytest.mark.parametrize("page", [1, 2, 3, 5, 100])
def test_every_file_is_listed_once_however_many_come_at_a_time(storage, page):
    storage = by_chunks(storage, page)
    made = ["start=a1-b/z", "start=a1/x", "start=a1/x-to-5", "start=a1/x.json", "start=a10/y", "start=b/1/2/3"]
    for name in made:
        storage.create(f"tours/{name}", b"")
    assert names(storage, "tours") == sorted(f"tours/{name}" for name in made)


def test_more_files_than_a_store_lists_or_removes_in_one_request(storage):
    made = {f"_run/commits/{number:06d}-0000.json": number % 7 for number in range(2_150)}
    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(lambda name: storage.create(name, bytes(made[name])), made))
    listed = list(storage.entries("_run/commits"))
    assert len(listed) == len(made)
    assert dict(listed) == made
    storage.remove(made)
    assert list(storage.entries(".")) == []


def test_files_may_go_while_they_are_listed(storage):
    for number in range(20):
        storage.create(f"{number % 4}/{number}", b"")
    seen = []
    for name, _ in storage.entries("."):
        seen.append(name)
        storage.remove([f"{number % 4}/{number}" for number in range(20)])
    assert len(seen) == len(set(seen))
    assert list(storage.entries(".")) == []


def test_runs_side_by_side_do_not_see_each_other(place):
    one, other = open_storage(f"{place}/run"), open_storage(f"{place}/run2")
    for storage, content in ((one, OLD), (other, NEW)):
        with storage.lock():
            storage.create(NAME, content)
    assert (one.read(NAME), other.read(NAME)) == (OLD, NEW)
    one.remove([name for name, _ in one.entries(".")])
    assert other.read(NAME) == NEW


# The lock


def test_a_second_process_is_refused_and_told_which_run(storage, holder):
    with pytest.raises(Locked, match="another process is working on this run") as caught, storage.lock():
        pass
    assert storage.output in str(caught.value)
    second = subprocess.run(
        holding(storage), env=environment_with(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert second.stdout.startswith("refused: another process")


def test_the_lock_is_free_after_its_holder_was_killed(storage, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with storage.lock():
        storage.check_lock()


def test_a_run_whose_holder_was_killed_can_be_read(storage, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with storage.lock_for_reading():
        pass


def test_the_lock_is_free_after_its_holder_has_ended(storage, holder):
    holder.communicate("")
    with storage.lock():
        storage.check_lock()


def test_a_lock_ends_with_an_error_inside_it(storage):
    with pytest.raises(ZeroDivisionError), storage.lock():
        raise ZeroDivisionError
    with storage.lock():
        pass


def test_a_held_lock_is_held_against_this_process_too(storage):
    with storage.lock():
        with pytest.raises(Locked), storage.lock():
            pass
        storage.check_lock()  # and whoever tried has not taken it away


def test_other_runs_are_not_locked(storage, holder, place):
    with open_storage(f"{place}/other").lock():
        pass


def test_a_reader_is_refused_while_a_coordinator_works(storage, holder):
    with pytest.raises(Locked), storage.lock_for_reading():
        pass


def test_readers_share_a_run(storage):
    with storage.lock():
        pass
    with storage.lock_for_reading(), storage.lock_for_reading():
        pass


def test_a_run_is_locked_and_read_again_and_again(storage):
    for _ in range(3):
        with storage.lock():
            storage.check_lock()
        with storage.lock_for_reading():
            pass


def test_of_many_who_want_the_lock_at_once_at_most_one_has_it(storage):
    processes = [
        subprocess.Popen(
            holding(storage), env=environment_with(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    answers = [process.stdout.readline() for process in processes]
    for process in processes:
        process.communicate("")
    assert answers.count("held\n") == 1, answers
    assert sum(answer.startswith("refused: ") for answer in answers) == 3, answers


def test_reading_a_run_that_was_never_locked_writes_nothing(storage):
    storage.create(NAME, OLD)
    with storage.lock_for_reading():
        pass
    assert names(storage) == [NAME]
