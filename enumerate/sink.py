"""Batches to parts: tours encoded as Parquet as they come, and published as one file for each variant of a slice.

Measured on 8x8 tours, one thread: fixed-size binary, PLAIN, zstd 3 takes 4.9 bytes a tour and 11 million tours a
second with the iteration column delta-packed and statistics kept for it alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .board import Board
from .errors import Damaged
from .jobs import Part, Slice
from .schema import part_schema
from .storage import Storage
from .tour import Batch


def part_name(variant: str, start: str, job: int, slice_: int, cut: int | None) -> str:
    """A slice that the budget cut short says where: under a larger budget it has other tours and another name."""
    short = "" if cut is None else f"-to-{cut}"
    return f"tours/variant={variant}/start={start}/part-{job:06d}-{slice_:04d}{short}.parquet"


class PartName(NamedTuple):
    variant: str
    start: str
    job: int
    slice: int
    cut: int | None


_PART = re.compile(r"tours/variant=(\w+)/start=(\w+)/part-(\d+)-(\d+)(?:-to-(\d+))?\.parquet")


def parse_part_name(name: str) -> PartName | None:
    """What a part's name says, or None if it is not the name of a part."""
    match = _PART.fullmatch(name)
    if not match:
        return None
    part = PartName(match[1], match[2], int(match[3]), int(match[4]), int(match[5]) if match[5] else None)
    return part if part_name(*part) == name else None


class Sink:
    """Takes the tours of one slice and publishes them as one part for each variant that has any."""

    def __init__(self, storage: Storage, board: Board, slice_: Slice) -> None:
        self.storage, self.board, self.slice = storage, board, slice_
        self.writers: dict[str, PartWriter] = {}
        self.published: dict[str, memoryview] = {}

    def take(self, batch: Batch) -> None:
        """Encode a batch; its memory may be used again afterwards."""
        for variant, tours, iterations in _by_variant(batch):
            self.writers.setdefault(variant, PartWriter(self.board)).write(tours, iterations)

    def publish(self, cut: int | None) -> tuple[Part, ...]:
        """Put the parts in place. `cut`: after how many iterations the budget ended the slice, if it did."""
        return tuple(self._publish(variant, writer, cut) for variant, writer in sorted(self.writers.items()))

    def publish_again(self) -> None:
        """Bring back what was cleared away as unrecorded before the record came: the record counts."""
        for name, data in self.published.items():
            if not self.storage.exists(name):
                self.storage.create(name, data)

    def _publish(self, variant: str, writer: PartWriter, cut: int | None) -> Part:
        data = writer.close()
        start = self.board.name(self.slice.job.start)
        name = part_name(variant, start, self.slice.job.number, self.slice.number, cut)
        if not self.storage.create(name, data) and self.storage.read(name) != data:
            raise Damaged(f"a slice was written twice with different tours: {name}")
        self.published[name] = data
        return Part(variant, name, writer.tours, len(data), hashlib.sha256(data).hexdigest())


class PartWriter:
    """A part in the making: one row group for each batch. The same batches always give the same bytes."""

    def __init__(self, board: Board) -> None:
        self.schema = part_schema(board)
        self.stream = pa.BufferOutputStream()
        self.tours = 0
        self.writer = pq.ParquetWriter(
            self.stream,
            self.schema,
            compression="zstd",
            compression_level=3,
            use_dictionary=False,
            column_encoding={"tour": "PLAIN", "iteration": "DELTA_BINARY_PACKED"},
            write_statistics=["iteration"],
            write_page_checksum=True,
        )

    def write(self, tours: np.ndarray, iterations: np.ndarray) -> None:
        squares = pa.py_buffer(np.ascontiguousarray(tours))
        column = pa.FixedSizeBinaryArray.from_buffers(self.schema.field("tour").type, len(tours), [None, squares])
        self.writer.write_table(pa.table([column, pa.array(iterations)], schema=self.schema))
        self.tours += len(tours)

    def close(self) -> memoryview:
        """The bytes of the part."""
        self.writer.close()
        return memoryview(self.stream.getvalue()).cast("B")  # as signed bytes, it would not equal what is read back


def _by_variant(batch: Batch) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The tours of a batch, open and closed apart; nothing for a variant without tours."""
    closed = int(np.count_nonzero(batch.closed))
    if closed in (0, len(batch.closed)):  # the usual case, without a copy
        if len(batch.closed):
            yield "closed" if closed else "open", batch.tours, batch.iterations
        return
    for variant, chosen in (("open", ~batch.closed), ("closed", batch.closed)):
        yield variant, batch.tours[chosen], batch.iterations[chosen]
