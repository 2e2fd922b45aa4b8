"""A folder: a file stands under its final name only when it is complete and durable, whenever the writer is killed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import pytest

from enumerate.ledger.layout import LOCK, STAGING
from enumerate.ledger.storage import Folder
from enumerate.model.errors import Locked

from ..support.commands import environment_with
from ..support.storages import NAME, NEW, OLD, names

# Stops itself with SIGKILL just before its nth change of the file system.
MORTAL = """
import os, signal, sys
from pathlib import Path
from enumerate.ledger.storage import Folder

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


@pytest.fixture
def storage(tmp_path):
    """The storage of a run that has been opened once."""
    (tmp_path / "run" / "_run").mkdir(parents=True)
    return Folder(tmp_path / "run")


def test_a_second_create_leaves_the_very_file_that_stands_there(storage):
    storage.create(NAME, OLD)
    before = storage.path(NAME).stat()
    assert storage.create(NAME, NEW) is False
    assert storage.path(NAME).stat().st_ino == before.st_ino
    assert storage.path(NAME).stat().st_mtime_ns == before.st_mtime_ns


def test_a_file_in_the_making_is_in_the_staging_folder_and_looks_like_no_part(storage, monkeypatch):
    seen = []
    link = os.link

    def recording_link(source, target):
        seen.append(os.path.relpath(source, storage.root))
        link(source, target)

    monkeypatch.setattr(os, "link", recording_link)
    for start in ("a1", "b1", "a1"):
        storage.create(NAME.replace("start=a1", f"start={start}"), NEW)
    assert len(set(seen)) == 3  # parts of one name in different folders, and two attempts at one, do not meet there
    for name in seen:
        assert name.startswith(f"{STAGING}/")
        assert "/" not in name.removeprefix(f"{STAGING}/")
        assert not name.endswith(".parquet")


# File systems that fail


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK])
def test_create_is_still_create_only_without_hard_links(storage, monkeypatch, number):
    def link(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    assert storage.create(NAME, OLD) is True
    assert storage.create(NAME, NEW) is False
    assert storage.read(NAME) == OLD
    assert names(storage) == [NAME]


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
    assert names(storage) == ["other"]


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
            [sys.executable, "-c", MORTAL, str(steps), place.output, publish, NAME], env=environment_with(), check=False
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
        assert all(name == NAME or name.startswith(f"{STAGING}/") for name in names(place))
        assert place.create(NAME, OLD) is (content is None)


def test_a_killed_replacer_leaves_the_old_file_or_the_new_one(storage):
    ends = list(killed_at_each_step(storage, "replace", lambda place: place.create(NAME, OLD)))
    contents = [content for content, _, _ in ends]
    first = contents.index(NEW)
    assert contents == [OLD] * first + [NEW] * (len(contents) - first)
    assert 2 <= first < len(contents) - 1


# The lock


def test_readers_keep_coordinators_away(storage):
    with storage.lock():
        pass
    with storage.lock_for_reading(), storage.lock_for_reading(), pytest.raises(Locked), storage.lock():
        pass


def test_a_lock_that_came_to_nothing_leaves_no_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), Folder(tmp_path / "deep" / "run").lock():
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_run_that_has_files_stays_where_it_is(storage):
    storage.create("_run/run.json", b"")
    with pytest.raises(ZeroDivisionError), storage.lock():
        raise ZeroDivisionError
    assert names(storage) == [LOCK, "_run/run.json"]
