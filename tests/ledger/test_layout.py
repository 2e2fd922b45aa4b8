"""Names of files and what they say are exact inverses: no two things have one name, and no name says two things."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumerate.ledger.layout import (
    PartName,
    distinct_name,
    parse_part_name,
    parse_record_name,
    part_name,
    record_name,
    staged_name,
    staged_pattern,
    start_of,
)
from enumerate.model.board import Board

NAMES = {parse_record_name: record_name, parse_part_name: part_name}

numbers = st.integers(0, 10**8)
cuts = st.none() | st.integers(1, 10**15)
starts = st.builds(lambda square: Board(40, 800).name(square), st.integers(0, 40 * 800 - 1))
seals = st.text("0123456789abcdef", min_size=16, max_size=16)
records = st.tuples(numbers, numbers, cuts)
parts = st.one_of(
    st.builds(PartName, st.sampled_from(["open", "closed"]), starts, numbers, numbers, cuts, st.just("")),
    st.builds(PartName, st.just("times"), starts, numbers, numbers, cuts, seals),
)
distinct = st.tuples(st.sampled_from(["open", "closed"]), numbers)
names = st.one_of(
    distinct.map(lambda part: distinct_name(*part)),
    records.map(lambda record: record_name(*record)),
    parts.map(lambda part: part_name(*part)),
)


@given(records)
def test_a_record_is_known_by_its_name(record):
    assert parse_record_name(record_name(*record)) == record


@given(parts)
def test_a_part_is_known_by_its_name(part):
    assert parse_part_name(part_name(*part)) == part
    assert start_of(part_name(*part)) == part.start


@given(names)
def test_what_is_on_its_way_is_known_by_its_name_and_is_nothing_else(name):
    staged = staged_name(name)
    assert fnmatch(staged, staged_pattern(name))
    assert not fnmatch(name, staged_pattern(name))
    assert staged != staged_name(name)
    assert [parse(staged) for parse in NAMES] == [None] * len(NAMES)


@given(names)
def test_a_name_is_of_one_kind(name):
    assert sum(parse(name) is not None for parse in NAMES) == (not name.startswith("distinct/"))


@given(names, st.data())
def test_what_a_changed_name_says_has_just_that_name(name, data):
    """One character put in, taken out or replaced: nobody's name, or the whole name of something else."""
    at = data.draw(st.integers(0, len(name)))
    other = data.draw(st.sampled_from(["", *"0179az-_=/. ²\n"]))
    changed = name[:at] + other + name[at + data.draw(st.integers(0, 1)) :]
    for parse, make in NAMES.items():
        said = parse(changed)
        assert said is None or make(*said) == changed


@pytest.mark.parametrize("parse", NAMES, ids=lambda parse: parse.__name__)
@given(text=st.text())
def test_any_text_is_parsed_without_an_error(parse, text):
    assert parse(text) is None
