"""A bucket: its lease, a store that is out of reach or refuses, and that no error shows a key."""

from __future__ import annotations

import os
import time

import pytest

from enumerate.ledger.layout import LOCK
from enumerate.ledger.storage import Bucket, objects
from enumerate.model.errors import BadRequest, Locked

from ..support.commands import wait_for
from ..support.runs import run_serially, small
from ..support.s3 import free_ports
from ..support.storages import NAME, NEW

pytestmark = pytest.mark.cluster


@pytest.fixture
def storage(s3_place):
    return Bucket(s3_place)


@pytest.fixture
def brisk(s3_place):
    """A storage whose lease is written anew often."""
    return Bucket(s3_place, renew_seconds=0.1)


@pytest.fixture
def never_again(monkeypatch):
    """A request that is repeated fails the test: before it is, there is a pause."""
    monkeypatch.setattr(objects.time, "sleep", lambda _: pytest.fail("a request was repeated"))


def is_lost(storage):
    try:
        storage.check_lock()
    except Locked:
        return True
    return False


def test_a_lease_is_written_anew_while_it_is_held_and_gone_afterwards(brisk):
    with brisk.lock():
        versions = set()
        wait_for(lambda: versions.add(brisk.read(LOCK)) or len(versions) > 3)
        brisk.check_lock()
    assert not brisk.exists(LOCK)


def test_a_coordinator_whose_lease_was_taken_over_is_told_so_and_leaves_the_new_one_alone(brisk):
    with brisk.lock():
        brisk.replace(LOCK, b"of another")
        wait_for(lambda: is_lost(brisk))
        with pytest.raises(Locked, match="another coordinator has taken this run over") as caught:
            brisk.check_lock()
        assert brisk.output in str(caught.value)
    assert brisk.read(LOCK) == b"of another"


def test_a_coordinator_that_was_asleep_removes_and_replaces_nothing_of_another(storage):
    """Its lease was taken over while nobody renewed it, and no thread has told it yet."""
    storage.create(NAME, NEW)
    with storage.lock():
        storage.client.store.put(LOCK, b"of another")
        storage.lease.renewed -= 3 * storage.lease.renew_seconds
        for change in (lambda: storage.remove([NAME]), lambda: storage.replace(NAME, b"other")):
            with pytest.raises(Locked, match="another coordinator has taken this run over"):
                change()
    assert storage.read(NAME) == NEW
    assert storage.read(LOCK) == b"of another"


def test_a_coordinator_whose_lease_was_removed_is_told_so(brisk):
    with brisk.lock():
        brisk.remove([LOCK])
        wait_for(lambda: is_lost(brisk))
    assert not brisk.exists(LOCK)


REQUESTS = {
    "exists": lambda storage: storage.exists(NAME),
    "read": lambda storage: storage.read(NAME),
    "create": lambda storage: storage.create(NAME, NEW),
    "replace": lambda storage: storage.replace(NAME, NEW),
    "remove": lambda storage: storage.remove([NAME]),
    "entries": lambda storage: list(storage.entries(".")),
    "lock": lambda storage: storage.lock().__enter__(),
    "lock_for_reading": lambda storage: storage.lock_for_reading().__enter__(),
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_store_out_of_reach_is_an_error_of_the_disk_when_patience_ends(s3_place, monkeypatch, request_):
    (port,) = free_ports("127.0.0.1", 1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    storage = Bucket(f"{s3_place}/out-of-reach")
    storage.client.patience = 0.5
    began = time.monotonic()
    with pytest.raises(OSError, match="nobody answers") as caught:
        request_(storage)
    assert 0.1 < time.monotonic() - began < objects.PATIENCE_SECONDS
    assert_no_keys(caught.value)


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("key", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_a_refusal_is_an_error_at_once_and_shows_no_key(s3_place, monkeypatch, never_again, request_, key):
    monkeypatch.setenv(key, "KEYWRONG0123456789")
    storage = Bucket(f"{s3_place}/refused")
    with pytest.raises(OSError) as caught:  # noqa: PT011  # its words are the store's
        request_(storage)
    assert "KEYWRONG" not in str(caught.value)
    assert_no_keys(caught.value)


@pytest.mark.parametrize("publish", ["create", "replace"])
def test_a_bucket_that_is_not_there_is_an_error_at_once(s3_place, never_again, publish):
    with pytest.raises(OSError, match="bucket does not exist"):
        REQUESTS[publish](Bucket("s3://no-such-bucket/run"))


@pytest.mark.parametrize("fresh", [False, True])
def test_a_run_in_a_bucket_that_is_not_there_is_a_bad_request(s3_place, fresh):
    with pytest.raises(BadRequest, match=r"cannot write to the output: 's3://no-such-bucket/run' .*does not exist"):
        run_serially(small("s3://no-such-bucket/run"), fresh=fresh)


def assert_no_keys(error):
    shown = f"{error!r} {error.__cause__!r}"
    assert os.environ["AWS_ACCESS_KEY_ID"] not in shown
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in shown
