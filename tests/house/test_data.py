"""docs/data.md is the dictionary of all columns: it is compared with the schemas."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.status import status_of
from enumerate.ledger.layout import README, SUMMARY_CSV, SUMMARY_JSON, SUMMARY_PARQUET, TOURS_SQL
from enumerate.ledger.parts import distinct_schema, times_schema, tours_schema
from enumerate.ledger.storage import open_storage
from enumerate.ledger.summary import summary_schema, totals_of
from enumerate.run.pulse import Pulse
from enumerate.run.tally import Tally

from ..support.commands import ROOT
from ..support.runs import run_serially
from ..support.searches import config_for

TEXT = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
CONFIG = config_for((8, 8))
SCHEMAS = {
    "tours": tours_schema(CONFIG, "closed"),
    "times": times_schema(CONFIG),
    "distinct": distinct_schema(CONFIG, "closed"),
    "summary": summary_schema(CONFIG),
}


def type_of(field):
    if pa.types.is_dictionary(field.type):
        return f"dictionary of {field.type.value_type}"
    return "fixed_size_binary" if pa.types.is_fixed_size_binary(field.type) else str(field.type)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_column_stands_in_its_table_with_its_type_and_its_description(name):
    table = re.search(rf"<!-- {name} -->\n(.*?)\n\n", TEXT, re.DOTALL)[1]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table.splitlines()[2:]]
    columns = [(f"`{field.name}`", type_of(field), field.metadata[b"description"].decode()) for field in SCHEMAS[name]]
    assert rows == columns


def test_every_key_of_a_file_stands_there_with_what_it_says_on_8x8():
    facts = {key.decode(): value.decode() for key, value in SCHEMAS["tours"].metadata.items()}
    rows = dict(re.findall(r"^\| `(\w+)` \| `(.*)` \|$", TEXT.split("## What a file says of itself")[1], re.MULTILINE))
    assert {key: facts[key] for key in rows} == rows
    assert {key for key in facts if not key.startswith("column ")} == {*rows, "settings"}


def test_every_file_of_a_run_stands_there(tmp_path):
    run_serially(config_for((5, 5), output=str(tmp_path / "run"), start="a1", max=5_000))
    known = {README, TOURS_SQL, SUMMARY_PARQUET, SUMMARY_CSV, SUMMARY_JSON}
    assert {path.name for path in (tmp_path / "run").iterdir()} == {*known, "tours", "_run"}
    assert all(f"| `{name}` |" in TEXT for name in known)


def test_the_totals_are_the_columns_that_add_up():
    named = {*SCHEMAS["summary"].names, "rows"} - {"start", "row", "column", "job"}
    assert totals_of(SCHEMAS["summary"].empty_table()).keys() == named


def keys_of(name):
    table = re.search(rf"<!-- {name} -->\n(.*?)\n\n", TEXT, re.DOTALL)[1]
    return {key for line in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", line.split("|")[1])}


def test_every_key_of_a_status_and_of_a_pulse_stands_there(tmp_path):
    config = config_for((5, 5), output=str(tmp_path / "run"), start="a1", max=5_000)
    run_serially(config)
    assert status_of(config.output).keys() == keys_of("status")
    pulse = Pulse(open_storage(config.output), "epoch")
    pulse.tally = Tally(config, Run(config.output).progress)
    assert pulse.document.keys() == keys_of("pulse")
