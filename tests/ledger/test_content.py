"""A part says what it holds, in its columns and in its facts; and the same tours in other bytes are the same."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from enumerate.catalog.distinct import write_distinct
from enumerate.catalog.reader import Run
from enumerate.ledger.layout import record_name
from enumerate.ledger.manifest import seal, unseal
from enumerate.ledger.parts import Content, content_of
from enumerate.ledger.records import records
from enumerate.ledger.storage import open_storage
from enumerate.model.errors import Damaged
from enumerate.run.coordinator import run
from enumerate.search.strategy import identity_of, resolve

from ..support.runs import Silent, damage, rows_of, run_serially, small


@pytest.fixture
def folder(tmp_path):
    run_serially(small(tmp_path / "run"))
    return tmp_path / "run"


def parts_of(folder):
    return [
        part for job in Run(folder).progress for result in records(Run(folder).storage, job) for part in result.parts
    ]


# What a file says


def test_every_column_of_every_part_is_described_and_every_part_names_its_board_and_settings(folder):
    for part in parts_of(folder):
        schema = pq.read_schema(folder / part.name)
        assert all(field.metadata[b"description"].endswith(b".") for field in schema)
        facts = {key.decode(): value.decode() for key, value in schema.metadata.items()}
        assert facts["variant"] == part.holds
        assert facts["board"] == "8 rows, 8 columns"
        assert facts["content"] == f"{part.holds} tours of the 8x8 board"
        assert json.loads(facts["settings"]) == identity_of(Run(folder).config)


def test_another_reader_finds_the_same_facts(folder):
    part = parts_of(folder)[0]
    found = duckdb.sql(f"select decode(key), decode(value) from parquet_kv_metadata('{folder / part.name}')").fetchall()
    facts = {key: value for key, value in found if key != "ARROW:schema"}
    assert facts == {key.decode(): value.decode() for key, value in pq.read_schema(folder / part.name).metadata.items()}
    assert facts["column iteration"] == "Placements that the job had made when it found the tour."


def test_nothing_in_a_part_tells_when_or_by_which_release_it_was_written(folder):
    versions = json.loads((folder / "_run" / "run.json").read_bytes())["versions"]
    metadata = pq.read_metadata(folder / parts_of(folder)[0].name)
    said = b" ".join(value for key, value in metadata.metadata.items() if key != b"ARROW:schema").decode()
    assert not any(version in said for version in versions.values())
    assert versions.keys() == {"knights-tour-enumerator", "python", "numba", "numpy", "pyarrow"}


def test_every_kind_of_file_describes_its_columns_and_names_its_board_and_settings(tmp_path):
    greedy = {"strategy": "greedy", "tours": 3, "start": "a1", "executor": "serial", "output": str(tmp_path / "run")}
    config = resolve(greedy)
    run_serially(config)
    write_distinct(tmp_path / "run")
    paths = [*(tmp_path / "run").rglob("*.parquet")]
    assert {path.relative_to(tmp_path / "run").parts[0] for path in paths} == {
        "tours", "times", "distinct", "summary.parquet",
    }  # fmt: skip
    for path in paths:
        schema = pq.read_schema(path)
        assert all(b"description" in field.metadata for field in schema), path
        assert {field.name for field in schema} == {
            key.decode().removeprefix("column ") for key in schema.metadata if key.startswith(b"column ")
        }
        assert (schema.metadata[b"board"], schema.metadata[b"strategy"]) == (b"8 rows, 8 columns", b"greedy")
        assert json.loads(schema.metadata[b"settings"]) == identity_of(config)
        assert schema.metadata[b"squares"] == b"1 byte each: row * 8 + column, from a1 = 0"


# Its content


def test_the_checksum_of_the_content_is_that_of_the_values_however_they_are_cut(folder):
    run_, part = Run(folder), parts_of(folder)[0]
    for rows in (1, 7, 1_000):
        content = Content()
        for batch in run_.read_part(part, rows):
            content.add(batch)
        assert content.digest == part.content
    assert len({part.content for part in parts_of(folder)}) == len(parts_of(folder))


@pytest.mark.parametrize("column", ["tours", "iterations", "closed", "structured", "symmetry"])
def test_every_value_counts(folder, column):
    batch = next(Run(folder).read_part(parts_of(folder)[0]))
    values = np.array(getattr(batch, column))
    values[-1] = ~values[-1] if values.dtype == np.bool_ else values[-1] + 1
    content = Content()
    content.add(type(batch)(**{**vars(batch), column: values}))
    assert content.digest != parts_of(folder)[0].content


def in_other_bytes(path):
    """The same part as another version of pyarrow might write it."""
    table, before = pq.read_table(pa.BufferReader(path.read_bytes())), path.read_bytes()
    pq.write_table(table, path, compression="zstd", compression_level=9, row_group_size=10, write_page_checksum=True)
    assert path.read_bytes() != before


def lose_the_record(folder):
    """As a worker killed after its part and before its record leaves a run: the last slice of the last job."""
    result = Run(folder).progress[-1].last
    (folder / record_name(result.job, result.slice, result.cut)).unlink()
    document = unseal((folder / "_run" / "run.json").read_bytes(), "run.json")
    return result, document


def test_a_run_continued_with_another_pyarrow_keeps_a_part_that_has_the_same_tours(folder, monkeypatch):
    whole = rows_of(folder)
    result, _ = lose_the_record(folder)
    for part in result.parts:
        in_other_bytes(folder / part.name)
    # The part must still be there when the slice is searched again: another process may publish it in between.
    monkeypatch.setattr("enumerate.run.tidying._is_recorded", lambda *_: True)
    run(small(folder), Silent(), repair=True)
    monkeypatch.undo()
    again = Run(folder).progress[-1].last
    assert again.content == result.content
    assert {part.sha256 for part in again.parts} != {part.sha256 for part in result.parts}
    assert rows_of(folder) == whole
    assert damage(folder) == []


def test_a_part_with_other_tours_under_the_same_name_is_damage(folder, monkeypatch):
    result, _ = lose_the_record(folder)
    path = folder / result.parts[0].name
    table = pq.read_table(pa.BufferReader(path.read_bytes()))
    pq.write_table(table.slice(1), path, write_page_checksum=True)
    monkeypatch.setattr("enumerate.run.tidying._is_recorded", lambda *_: True)
    with pytest.raises(Damaged, match="a slice was written twice with different tours"):
        run(small(folder), Silent(), repair=True)


def test_verify_names_a_part_whose_content_is_not_that_of_its_record(folder):
    part = parts_of(folder)[0]
    data = open_storage(str(folder)).read(part.name)
    assert content_of(data, Run(folder).config, part.holds, part.name) == part.content
    for path in (folder / "_run" / "commits").glob("*.json"):
        path.write_bytes(resealed(path.read_bytes(), part.content, "0" * 32))
    assert damage(folder) == [f"damaged, its tours are not those its record counts: {part.name}"]


def resealed(data, old, new):
    return seal(json.loads(json.dumps(unseal(data, "record")).replace(old, new)))
