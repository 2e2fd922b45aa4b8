"""The plan that is written down reads back as it was, and not at all if anything about it has changed."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumerate.ledger.layout import PLAN
from enumerate.ledger.manifest import read_plan, write_plan
from enumerate.ledger.storage import Folder, open_storage
from enumerate.model.errors import Damaged
from enumerate.model.jobs import Job

JOBS = (Job(0, (0, 11), 4, None, 0, 2), Job(1, (0, 17), 4, None, 1, 2), Job(2, (1,), 8, "a reason that is one …"))

prefixes = st.lists(st.integers(0, 2**26), min_size=1).map(tuple)
values = st.tuples(prefixes, st.integers(1, 8), st.none() | st.text(), st.integers(0), st.integers(1))
plans = st.lists(values).map(lambda jobs: tuple(Job(number, *job) for number, job in enumerate(jobs)))


@pytest.fixture
def storage(place):
    storage = open_storage(f"{place}/run")
    with storage.lock():
        write_plan(storage, JOBS)
    return storage


def test_a_plan_is_read_back_from_every_storage_and_the_last_one_counts(storage):
    assert read_plan(storage) == JOBS
    write_plan(storage, JOBS[:1])
    assert read_plan(storage) == JOBS[:1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    (folder / PLAN).parent.mkdir()
    return Folder(folder)


@given(plans)
def test_any_plan_is_read_back(folder, plan):
    write_plan(folder, plan)
    assert read_plan(folder) == plan


def changed(folder, data):
    """What is said of a plan with these bytes."""
    folder.path(PLAN).write_bytes(data)
    with pytest.raises(Damaged) as error:
        read_plan(folder)
    return str(error.value)


def test_every_flipped_bit_and_every_truncation_is_noticed_and_the_message_says_what_to_do(folder):
    write_plan(folder, JOBS)
    data = folder.read(PLAN)
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        said = changed(folder, flipped)
        assert said.startswith(f"damaged, its checksum does not match: {folder.path(PLAN)}; remove it")
    for length in range(len(data)):
        assert str(folder.path(PLAN)) in changed(folder, data[:length])


@pytest.mark.parametrize("line", [0, 1, 3])
def test_a_line_that_is_missing_is_noticed_even_if_the_checksum_fits(folder, line):
    write_plan(folder, JOBS)
    lines = folder.read(PLAN).splitlines(keepends=True)[:-1]
    body = b"".join(lines[:line] + lines[line + 1 :])
    said = changed(folder, body + b'{"sha256":"%s"}\n' % hashlib.sha256(body).hexdigest().encode())
    assert ("2 jobs instead of 3" if line else "not a plan of this version") in said


def test_a_plan_that_is_missing_is_damage_to_who_reads_it(folder):
    folder.remove([PLAN])
    with pytest.raises(Damaged, match="cannot be read"):
        read_plan(folder)
