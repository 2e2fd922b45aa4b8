"""A changed search cannot land unseen: small runs of every kind find what they always found, in the same bytes."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from ..support.commands import ROOT
from .signatures import BYTES, CONFIGS, FILE, signature_of

EXPECTED = json.loads(FILE.read_text(encoding="utf-8"))


def test_every_config_has_a_signature_and_no_other_has():
    assert list(EXPECTED) == list(CONFIGS)


@pytest.fixture(scope="module", params=CONFIGS)
def outcome(request, tmp_path_factory):
    return request.param, signature_of(request.param, tmp_path_factory.mktemp("golden") / "run")


@pytest.mark.parametrize("what", ["identity", "tours", "records", "columns", "summary"])
def test_the_content_is_what_it_was(outcome, what):
    name, signature = outcome
    assert signature[what] == EXPECTED[name][what]


def test_the_bytes_are_what_they_were(outcome):
    name, signature = outcome
    written_by = EXPECTED[name]["pyarrow"]
    if written_by != pa.__version__:
        pytest.skip(f"the bytes were signed with pyarrow {written_by}, and this is {pa.__version__}")
    assert signature[BYTES] == EXPECTED[name][BYTES]


@pytest.mark.parametrize(("name", "tours"), [("open", 2_730_414), ("closed", 1_747_155)])
def test_the_main_job_finds_as_many_tours_as_readme_says(name, tours):
    assert sum(EXPECTED[name]["tours"].values()) == tours
    assert f"{tours:,}" in (ROOT / "README.md").read_text(encoding="utf-8")
