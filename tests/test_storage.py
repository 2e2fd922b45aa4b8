"""A file stands under its final name only when it is complete, whenever the writer is killed."""

import errno
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from enumerate.errors import Locked
from enumerate.storage import STAGING, Folder

from .tools import ROOT

NAME = "tours/variant=open/start=a1/part-000000-0000.parquet"
OLD, NEW = b"old" * 1000, b"new" * 1000

# Stops itself with SIGKILL just before its nth change of the file system.
MORTAL = """
import os, signal, sys
from pathlib import Path
from enumerate.storage import Folder

left = int(sys.argv[1])

def mortal(change):
    def changed(*arguments, **options):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return change(*arguments, **options)
    return changed

for name in ("mkdir", "fsync", "link", "replace", "unlink"):
    setattr(os, name, mortal(getattr(os, name)))

getattr(Folder(Path(sys.argv[2])), sys.argv[3])(sys.argv[4], b"new" * 1000)
"""

HOLDER = """
import sys, time
from pathlib import Path
from enumerate.errors import Locked
from enumerate.storage import Folder

try:
    with Folder(Path(sys.argv[1])).lock():
        print("held", flush=True)
        sys.stdin.read()
except Locked as error:
    print("refused:", error)
"""


def python(script, *words):
    return [sys.executable, "-c", script, *map(str, words)]


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def storage(tmp_path):
    """The storage of a run that has been opened once."""
    (tmp_path / "run" / "_run").mkdir(parents=True)
    return Folder(tmp_path / "run")


@pytest.fixture
def holder(storage):
    """Another process that holds the lock until its input ends."""
    words = python(HOLDER, storage.root)
    with subprocess.Popen(
        words, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


# Create and replace


def test_what_is_created_is_read_back(storage):
    assert not storage.exists(NAME)
    assert storage.create(NAME, NEW) is True
    assert storage.exists(NAME)
    assert storage.read(NAME) == NEW
    assert storage.size(NAME) == len(NEW)


def test_a_second_create_changes_nothing_and_says_so(storage):
    storage.create(NAME, OLD)
    before = storage.path(NAME).stat()
    assert storage.create(NAME, NEW) is False
    assert storage.read(NAME) == OLD
    assert storage.path(NAME).stat().st_ino == before.st_ino
    assert storage.path(NAME).stat().st_mtime_ns == before.st_mtime_ns


def test_replace_publishes_over_whatever_stands_there(storage):
    storage.replace(NAME, OLD)
    assert storage.read(NAME) == OLD
    storage.replace(NAME, NEW)
    assert storage.read(NAME) == NEW


def test_no_staging_file_is_left_over(storage):
    storage.create(NAME, OLD)
    storage.create(NAME, NEW)
    storage.replace(NAME, NEW)
    assert storage.names("") == [NAME]


def test_many_writers_of_one_name_have_one_winner_and_its_content(storage):
    contents = [bytes([writer]) * 100_000 for writer in range(16)]
    with ThreadPoolExecutor(16) as pool:
        won = list(pool.map(lambda content: storage.create(NAME, content), contents))
    assert sum(won) == 1
    assert storage.read(NAME) == contents[won.index(True)]
    assert storage.names("") == [NAME]


def test_names_are_all_files_below_a_folder_sorted_and_relative_to_the_run(storage):
    for name in ("b/2", "b/10", "a/x/y", "a/w", "c"):
        storage.create(name, b"")
    assert storage.names("") == ["a/w", "a/x/y", "b/10", "b/2", "c"]
    assert storage.names("a") == ["a/w", "a/x/y"]
    assert storage.names("none") == []


def test_a_removed_file_is_gone_and_may_be_removed_again(storage):
    storage.create(NAME, OLD)
    storage.remove(NAME)
    storage.remove(NAME)
    assert not storage.exists(NAME)
    assert storage.create(NAME, NEW)


def test_a_staged_file_waits_until_it_is_published(storage):
    storage.replace(next_name(NAME), NEW)
    assert storage.names("") == [next_name(NAME)]
    storage.publish(next_name(NAME), NAME)
    assert storage.names("") == [NAME]
    assert storage.read(NAME) == NEW


def test_what_waits_is_in_the_staging_folder_and_looks_like_no_part(storage):
    staged = next_name(NAME)
    assert staged.startswith(f"{STAGING}/")
    assert "/" not in staged.removeprefix(f"{STAGING}/")
    assert not staged.endswith(".parquet")


def test_names_that_wait_for_different_parts_differ():
    other = NAME.replace("start=a1", "start=b1")
    assert next_name(other) != next_name(NAME)


# File systems that fail


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK])
def test_create_is_still_create_only_without_hard_links(storage, monkeypatch, number):
    def link(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    assert storage.create(NAME, OLD) is True
    assert storage.create(NAME, NEW) is False
    assert storage.read(NAME) == OLD
    assert storage.names("") == [NAME]


@pytest.mark.parametrize(
    ("publish", "step"), [("create", "fsync"), ("create", "link"), ("replace", "fsync"), ("replace", "replace")]
)
def test_a_failing_disk_is_told_and_leaves_no_final_file(storage, monkeypatch, publish, step):
    storage.create("other", b"")  # the folders exist: what fails is the file itself

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        getattr(storage, publish)("some.json", NEW)
    assert not storage.exists("some.json")


def test_a_file_that_could_not_be_written_leaves_no_staging_file(storage, monkeypatch):
    storage.create("other", b"")

    def fail(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        storage.create(NAME, NEW)
    assert storage.names("") == ["other"]


@pytest.mark.parametrize(("publish", "step"), [("create", "link"), ("replace", "replace")])
def test_a_file_is_synced_before_it_gets_its_name_and_its_folder_afterwards(storage, monkeypatch, publish, step):
    getattr(storage, publish)("folder/other", b"")  # makes the folders
    happened = []
    sync, move = os.fsync, getattr(os, step)

    def recording_sync(handle):
        name = os.path.basename(os.readlink(f"/proc/self/fd/{handle}")).split(".")[0]
        assert name == "folder" or os.fstat(handle).st_size == len(NEW)
        happened.append(("synced", name))
        sync(handle)

    def recording_move(source, target):
        happened.append(("named", os.path.basename(target)))
        move(source, target)

    monkeypatch.setattr(os, "fsync", recording_sync)
    monkeypatch.setattr(os, step, recording_move)
    getattr(storage, publish)("folder/file", NEW)
    assert happened == [("synced", "file"), ("named", "file"), ("synced", "folder")]


def test_each_new_folder_is_made_durable_in_the_one_above(storage, monkeypatch):
    synced = []
    sync = os.fsync

    def recording_sync(handle):
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))
        sync(handle)

    monkeypatch.setattr(os, "fsync", recording_sync)
    storage = Folder(storage.root / "new")
    with storage.lock():
        storage.create("a/b/file", NEW)
    top = str(storage.root)
    assert {os.path.dirname(top), top, f"{top}/_run", f"{top}/a", f"{top}/a/b"} <= set(synced)


# Killed writers


def killed_at_each_step(storage, publish, prepare):
    """The final content after the writer was killed before its first, second, ... change; then undisturbed."""
    for steps in range(100):
        place = Folder(storage.root / str(steps))
        (place.root / "_run").mkdir(parents=True)
        prepare(place)
        code = subprocess.run(
            python(MORTAL, steps, place.root, publish, NAME), env=environment(), check=False
        ).returncode
        yield place.read(NAME) if place.exists(NAME) else None, code, place
        if code == 0:
            return


def test_a_killed_creator_leaves_no_file_or_the_whole_file(storage):
    ends = list(killed_at_each_step(storage, "create", lambda place: None))
    contents, codes, places = zip(*ends, strict=True)
    assert codes == (-signal.SIGKILL,) * (len(codes) - 1) + (0,)
    first = contents.index(NEW)
    assert contents == (None,) * first + (NEW,) * (len(contents) - first)
    assert 3 <= first < len(contents) - 1  # killed before and after it had its name
    for content, place in zip(contents, places, strict=True):
        assert all(name == NAME or name.startswith(f"{STAGING}/") for name in place.names(""))
        assert place.create(NAME, OLD) is (content is None)


def test_a_killed_replacer_leaves_the_old_file_or_the_new_one(storage):
    ends = list(killed_at_each_step(storage, "replace", lambda place: place.create(NAME, OLD)))
    contents = [content for content, _, _ in ends]
    first = contents.index(NEW)
    assert contents == [OLD] * first + [NEW] * (len(contents) - first)
    assert 2 <= first < len(contents) - 1


# The lock


def test_a_second_process_is_refused_and_told_which_run(storage, holder):
    with pytest.raises(Locked, match="another process is working on this run") as caught, storage.lock():
        pass
    assert str(storage.root) in str(caught.value)
    second = subprocess.run(
        python(HOLDER, storage.root), env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert second.stdout.startswith("refused: another process")


def test_the_lock_is_free_after_its_holder_was_killed(storage, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with storage.lock():
        pass


def test_the_lock_is_free_after_its_holder_has_ended(storage, holder):
    holder.communicate("")
    with storage.lock():
        pass


def test_a_lock_ends_with_an_error_inside_it(storage):
    with pytest.raises(ZeroDivisionError), storage.lock():
        raise ZeroDivisionError
    with storage.lock():
        pass


def test_a_held_lock_is_held_against_this_process_too(storage):
    with storage.lock(), pytest.raises(Locked), storage.lock():
        pass


def test_other_runs_are_not_locked(storage, holder, tmp_path):
    with Folder(tmp_path / "other").lock():
        pass


def test_a_reader_is_refused_while_a_coordinator_works(storage, holder):
    with pytest.raises(Locked), storage.lock_for_reading():
        pass


def test_readers_share_a_run_and_keep_coordinators_away(storage):
    with storage.lock():
        pass
    with storage.lock_for_reading(), storage.lock_for_reading(), pytest.raises(Locked), storage.lock():
        pass


def test_reading_a_run_that_was_never_locked_writes_nothing(storage):
    storage.create(NAME, OLD)
    with storage.lock_for_reading():
        pass
    assert storage.names("") == [NAME]
