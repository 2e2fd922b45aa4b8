"""The summary of a run: a row for each start square, and the totals, from the records alone.

A job without a start square has a row of its own. The totals are a file of their own, so that the rows add up to them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from ..model.config import FORMAT_VERSION, Config
from ..model.jobs import Cursor, Totals
from .layout import SUMMARY_CSV, SUMMARY_JSON, SUMMARY_PARQUET
from .parts import COUNTED, SYMMETRY_COLUMNS, described, schema_of
from .records import JobProgress
from .storage import Storage

Row = dict[str, Any]

_SPREAD = (*COUNTED, "parts")
_SUMMED = [each.name for each in fields(Totals) if each.name not in ("first_iteration", "first_seconds")]
_EFFORTS = {*_SUMMED} - {*_SPREAD}


def summary_table(config: Config, progress: Iterable[JobProgress]) -> pa.Table:
    """What is known of each start square, in the order of the plan."""
    groups: dict[Cursor, list[JobProgress]] = {}
    for job in progress:
        groups.setdefault(job.job.group, []).append(job)
    rows = [_row(config, jobs) for jobs in groups.values()]
    if config.expand:
        rows = sorted(
            (image for row in rows for image in _images(config, row)), key=lambda row: (row["row"], row["column"])
        )
    return pa.Table.from_pylist(rows, schema=summary_schema(config))


def _row(config: Config, jobs: list[JobProgress]) -> Row:
    job = jobs[0].job
    rows = [
        {**asdict(each.total), "exhausted": each.exhausted, "finished": each.next_slice(config) is None}
        for each in jobs
    ]
    named = _named(config, job.start) if job.prefix else {"job": job.number}
    return {**named, "multiplicity": job.multiplicity, **_together(rows)}


def _named(config: Config, square: int) -> Row:
    row, column = divmod(square, config.board.cols)
    return {"start": config.board.name(square), "row": row, "column": column}


def _together(rows: Sequence[Row]) -> Row:
    """Rows added up. The first tour is the one found after the fewest iterations."""
    found = [(row["first_iteration"], row["first_seconds"]) for row in rows if row["first_iteration"] is not None]
    iteration, seconds = min(found, default=(None, None))
    return {
        **{name: sum(row[name] for row in rows) for name in _SUMMED},
        **{name: all(row[name] for row in rows) for name in ("exhausted", "finished")},
        "first_iteration": iteration,
        "first_seconds": seconds,
    }


def _images(config: Config, row: Row) -> Iterator[Row]:
    """The rows of all squares of a symmetry class: the tours are spread evenly, the search was made from one."""
    square = row["row"] * config.board.cols + row["column"]
    for image in config.board.images_of(square):
        shared = {name: row[name] // row["multiplicity"] for name in _SPREAD}
        effort = {} if image == square else dict.fromkeys(_EFFORTS, 0)
        yield {**row, **_named(config, image), **shared, **effort, "multiplicity": 1}


def totals_of(summary: pa.Table) -> Row:
    """The sums of the rows, by the names of the columns."""
    rows = summary.to_pylist()
    return {"rows": len(rows), "multiplicity": sum(row["multiplicity"] for row in rows), **_together(rows)}


def encode_parquet(table: pa.Table) -> bytes:
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, compression="zstd", write_page_checksum=True)
    return bytes(stream.getvalue())


def encode_csv(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pyarrow.csv.write_csv(table, stream, pyarrow.csv.WriteOptions(quoting_style="needed"))
    return stream.getvalue()


def encode_totals(table: pa.Table) -> bytes:
    return (json.dumps({"format": FORMAT_VERSION, **totals_of(table)}, indent=2) + "\n").encode()


FILES: dict[str, Callable[[pa.Table], bytes]] = {
    SUMMARY_PARQUET: encode_parquet, SUMMARY_CSV: encode_csv, SUMMARY_JSON: encode_totals,
}  # fmt: skip


def write_summary(storage: Storage, table: pa.Table) -> None:
    for name, encode in FILES.items():
        storage.replace(name, encode(table))


def is_current(storage: Storage, table: pa.Table) -> bool:
    return all(storage.exists(name) and storage.read(name) == encode(table) for name, encode in FILES.items())


def remove_summary(storage: Storage) -> None:
    """A summary stands only beside the records it was made from."""
    storage.remove(FILES)


_INT, _SECONDS = pa.int64(), pa.float64()

_COLUMNS = [
    described("start", pa.string(), "Start square; null if the row is of a job without one.", nullable=True),
    described("row", pa.int32(), "Row of the start square, from 0.", nullable=True),
    described("column", pa.int32(), "Column of the start square, from 0.", nullable=True),
    described("job", _INT, "Number of the job, if it has no start square.", nullable=True),
    described("multiplicity", _INT, "Squares that the start square stands for."),
    described("tours_open", _INT, "Open tours found."),
    described("tours_closed", _INT, "Closed tours found."),
    described("structured", _INT, "Of them, structured: with the two moves next to each corner."),
    *(described(column, _INT, f"Of them, with the symmetry {name}.") for name, column in SYMMETRY_COLUMNS.items()),
    described("left_out", _INT, "Tours found that --only left out."),
    described("given_up", _INT, "Tours begun and not found, by greedy."),
    described("iterations", _INT, "Placements of the knight."),
    described("dead_ends", _INT, "Dead ends met."),
    described("exhausted", pa.bool_(), "Whether every tour is found, whatever the budget."),
    described("finished", pa.bool_(), "Whether the budget is spent, or every tour is found."),
    described("first_iteration", _INT, "Iteration of the first tour of its job; null without one.", nullable=True),
    described("first_seconds", _SECONDS, "Seconds of search until that tour.", nullable=True),
    described("search_seconds", _SECONDS, "Seconds of search, all workers together."),
    described("write_seconds", _SECONDS, "Seconds of writing, all workers together."),
    described("parts", _INT, "Parquet files."),
    described("bytes", _INT, "Bytes of these files."),
]


@lru_cache(maxsize=16)
def summary_schema(config: Config) -> pa.Schema:
    return schema_of(config, "a row for each start square", _COLUMNS, config.variant)
