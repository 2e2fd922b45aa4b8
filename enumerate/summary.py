"""The summary of a run: one row for each start square and a row of totals, from the records alone."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from .config import Config
from .ledger import JobProgress
from .schema import SUMMARY_SCHEMA
from .storage import Storage

PARQUET, CSV = "summary.parquet", "summary.csv"
TOTAL = "total"  # the name in `start` of the row of totals

_SUMS = ("multiplicity", "tours_open", "tours_closed", "structured", "path_180", "closed_180", "closed_90",
         "closed_reflection", "left_out", "given_up", "iterations", "dead_ends", "search_seconds", "write_seconds",
         "parts", "bytes")  # fmt: skip


def start_row(config: Config, progress: JobProgress) -> dict[str, Any]:
    """What is known of one start square."""
    row, column = divmod(progress.job.start, config.board.cols)
    return {
        "start": config.board.name(progress.job.start),
        "row": row,
        "column": column,
        "multiplicity": progress.job.multiplicity,
        "exhausted": progress.exhausted,
        "finished": progress.next_slice(config) is None,
        **asdict(progress.total),
    }


def total_row(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The sums of all rows; the first tour is the one found after the fewest iterations."""
    rows = list(rows)
    total: dict[str, Any] = dict.fromkeys(SUMMARY_SCHEMA.names)
    total["start"] = TOTAL
    for name in ("exhausted", "finished"):
        total[name] = all(row[name] for row in rows)
    for name in _SUMS:
        total[name] = sum(row[name] for row in rows)
    found = [(row["first_iteration"], row["first_seconds"]) for row in rows if row["first_iteration"] is not None]
    if found:
        total["first_iteration"], total["first_seconds"] = min(found)
    return total


def summary_table(config: Config, progress: Iterable[JobProgress]) -> pa.Table:
    rows = [start_row(config, job) for job in progress]
    return pa.Table.from_pylist([*rows, total_row(rows)], schema=SUMMARY_SCHEMA)


def encode_parquet(table: pa.Table) -> bytes:
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, compression="zstd", write_page_checksum=True)
    return bytes(stream.getvalue())


def encode_csv(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pyarrow.csv.write_csv(table, stream, pyarrow.csv.WriteOptions(quoting_style="needed"))
    return stream.getvalue()


FILES = {PARQUET: encode_parquet, CSV: encode_csv}


def write_summary(storage: Storage, table: pa.Table) -> None:
    for name, encode in FILES.items():
        storage.replace(name, encode(table))


def is_current(storage: Storage, table: pa.Table) -> bool:
    """Whether the summary files are there and say what the table says."""
    return all(storage.exists(name) and storage.read(name) == encode(table) for name, encode in FILES.items())


def remove_summary(storage: Storage) -> None:
    """A summary stands only beside the records it was made from."""
    storage.remove(FILES)
