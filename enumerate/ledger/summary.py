"""The summary of a run: one row for each start square and a row of totals, from the records alone."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from ..model.config import Config
from .layout import SUMMARY_CSV, SUMMARY_PARQUET
from .parts import fields
from .records import JobProgress
from .storage import Storage

_SPREAD = ("tours_open", "tours_closed", "structured", "path_180", "closed_180", "closed_90", "closed_reflection",
           "beginnings", "parts")  # fmt: skip
_EFFORTS = ("left_out", "given_up", "iterations", "dead_ends", "shared_squares", "neighbours", "search_seconds",
            "write_seconds", "bytes")  # fmt: skip
_COUNTED = (*_SPREAD, *_EFFORTS)


def start_rows(config: Config, progress: Iterable[JobProgress]) -> list[dict[str, Any]]:
    """What is known of each start square, in the order of the plan."""
    by_start: dict[int, list[JobProgress]] = {}
    for job in progress:
        by_start.setdefault(job.job.start, []).append(job)
    rows = [_row(config, square, jobs) for square, jobs in by_start.items()]
    if config.expand:
        rows = sorted(image for row in rows for image in _images(config, row))
    return [row for _, row in rows]


def _row(config: Config, square: int, jobs: list[JobProgress]) -> tuple[int, dict[str, Any]]:
    totals = [asdict(job.total) for job in jobs]
    return square, {
        **_named(config, square),
        "multiplicity": jobs[0].job.multiplicity,
        "exhausted": all(job.exhausted for job in jobs),
        "finished": all(job.next_slice(config) is None for job in jobs),
        **{name: sum(total[name] for total in totals) for name in _COUNTED},
        **_first(totals),
    }


def _named(config: Config, square: int) -> dict[str, Any]:
    row, column = divmod(square, config.board.cols)
    return {"start": config.board.name(square), "row": row, "column": column}


def _first(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The first tour is the one found after the fewest iterations."""
    found = [(row["first_iteration"], row["first_seconds"]) for row in rows if row["first_iteration"] is not None]
    return dict(zip(("first_iteration", "first_seconds"), min(found) if found else (None, None), strict=True))


def _images(config: Config, row: tuple[int, dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of all squares of a symmetry class: the tours are spread evenly, the search was made from one."""
    square, values = row
    for image in config.board.images_of(square):
        shared = {name: values[name] // values["multiplicity"] for name in _SPREAD}
        effort = {} if image == square else dict.fromkeys(_EFFORTS, 0)
        yield image, {**values, **_named(config, image), **shared, **effort, "multiplicity": 1}


def total_row(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "start": "total",
        **{name: all(row[name] for row in rows) for name in ("exhausted", "finished")},
        **{name: sum(row[name] for row in rows) for name in ("multiplicity", *_COUNTED)},
        **_first(rows),
    }


def summary_table(config: Config, progress: Iterable[JobProgress]) -> pa.Table:
    rows = start_rows(config, progress)
    return pa.Table.from_pylist([*rows, total_row(rows)], schema=SUMMARY_SCHEMA)


def encode_parquet(table: pa.Table) -> bytes:
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, compression="zstd", write_page_checksum=True)
    return bytes(stream.getvalue())


def encode_csv(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pyarrow.csv.write_csv(table, stream, pyarrow.csv.WriteOptions(quoting_style="needed"))
    return stream.getvalue()


FILES = {SUMMARY_PARQUET: encode_parquet, SUMMARY_CSV: encode_csv}


def write_summary(storage: Storage, table: pa.Table) -> None:
    for name, encode in FILES.items():
        storage.replace(name, encode(table))


def is_current(storage: Storage, table: pa.Table) -> bool:
    return all(storage.exists(name) and storage.read(name) == encode(table) for name, encode in FILES.items())


def remove_summary(storage: Storage) -> None:
    """A summary stands only beside the records it was made from."""
    storage.remove(FILES)


SUMMARY_SCHEMA = pa.schema(
    [
        *fields(pa.string(), "start"),
        *fields(pa.int32(), "row", "column", nullable=True),
        *fields(pa.int64(), "multiplicity", "tours_open", "tours_closed", "structured"),
        *fields(pa.int64(), "path_180", "closed_180", "closed_90", "closed_reflection", "left_out", "given_up"),
        *fields(pa.int64(), "beginnings", "shared_squares", "neighbours", "iterations", "dead_ends"),
        *fields(pa.bool_(), "exhausted", "finished"),
        *fields(pa.int64(), "first_iteration", nullable=True),
        *fields(pa.float64(), "first_seconds", nullable=True),
        *fields(pa.float64(), "search_seconds", "write_seconds"),
        *fields(pa.int64(), "parts", "bytes"),
    ]
)
