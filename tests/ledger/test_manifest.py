"""Sealed documents read back exactly, and not at all if anything about them has changed."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enumerate.ledger.manifest import seal, unseal
from enumerate.model.errors import Damaged

RECORD = {"job": 3, "ended": "full", "cursor": [0, 17, 34], "seconds": 0.25, "first": None, "ok": True, "text": "…\n"}

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
documents = st.dictionaries(st.text().filter(lambda key: key != "sha256"), values)


@settings(max_examples=25)
@given(documents)
def test_a_document_comes_back_as_it_was_sealed(document):
    assert unseal(seal(document), "some.json") == document


@settings(max_examples=25)
@given(documents)
def test_a_document_sealed_twice_is_the_same_bytes_whatever_the_order_of_its_keys(document):
    assert seal(dict(reversed(document.items()))) == seal(document)


def test_a_sealed_document_is_json_for_everybody_and_ends_its_line():
    data = seal(RECORD)
    document = json.loads(data)
    assert len(document.pop("sha256")) == 64
    assert document == RECORD
    assert data.count(b"\n") == 1
    assert data.endswith(b"\n")


def test_sealing_leaves_the_document_alone():
    document = dict(RECORD)
    seal(document)
    assert document == RECORD


def test_every_single_flipped_bit_is_noticed():
    data = seal(RECORD)
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(Damaged, match=r"^damaged, .*: some\.json$"):
            unseal(bytes(flipped), "some.json")


def test_every_truncation_is_noticed():
    data = seal(RECORD)
    for length in range(len(data)):
        with pytest.raises(Damaged):
            unseal(data[:length], "some.json")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data + b"\n", id="a line more"),
        pytest.param(lambda data: data + data, id="twice"),
        pytest.param(lambda data: b" " + data, id="a space before"),
        pytest.param(lambda data: data.replace(b",", b", "), id="pretty printed"),
        pytest.param(lambda data: data.replace(b'"job":3', b'"job":4'), id="another value"),
        pytest.param(lambda data: data.replace(b'"job":3', b'"job":3.0'), id="the same number"),
        pytest.param(lambda data: data.replace(b'"job":3', b'"job":3,"job":3'), id="a key twice"),
        pytest.param(lambda data: data.replace(b'"job":3', b'"jab":3'), id="another key"),
        pytest.param(lambda data: data.replace(b'"ok":true,', b""), id="a key less"),
        pytest.param(lambda data: b"\x00" * len(data), id="zeros"),
    ],
)
def test_any_other_bytes_are_noticed(change):
    data = seal(RECORD)
    assert change(data) != data
    with pytest.raises(Damaged, match=r"^damaged, .*: some\.json$"):
        unseal(change(data), "some.json")


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{}", b"[]", b"null", b"3", b'"sha256"', b'["sha256"]', b'{"sha256":null}', b'{"a":NaN}',
             b"\xff\xfe", b"{" * 100_000, b"[" * 100_000, b"9" * 10_000]
)  # fmt: skip
def test_what_was_never_sealed_is_damaged(data):
    with pytest.raises(Damaged, match=r"^damaged, .*: some\.json$"):
        unseal(data, "some.json")


def test_the_seal_of_one_document_does_not_fit_another():
    one, other = json.loads(seal({"job": 3})), json.loads(seal({"job": 4}))
    swapped = json.dumps({**other, "sha256": one["sha256"]}, sort_keys=True, separators=(",", ":")) + "\n"
    with pytest.raises(Damaged):
        unseal(swapped.encode(), "some.json")
