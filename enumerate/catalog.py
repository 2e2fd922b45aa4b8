"""The read side: a run as numpy arrays and Arrow tables.

>>> from enumerate.catalog import Run
>>> for tours in Run("output/closed-8x8").tours(start="a1", variant="closed"):
...     print(tours.shape)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .board import Board
from .config import Config
from .errors import BadRequest, Damaged
from .jobs import Job, Part
from .ledger import JobProgress, committed_jobs, records
from .manifest import NAME, Manifest, read_manifest
from .plan import make_plan
from .schema import part_schema
from .storage import open_storage
from .summary import summary_table
from .tour import Tours, square_dtype

BATCH_TOURS = 65_536


class Run:
    """A run in its folder or object store, finished or not. Only what its records name is part of it."""

    def __init__(self, place: str | Path) -> None:
        self.storage = open_storage(str(place))
        try:
            known = self.storage.exists(NAME)
        except OSError as error:
            raise BadRequest(f"cannot be read: {self.storage.place!r} ({error.strerror or error})") from None
        if not known:
            raise BadRequest(f"not the folder of a run, it has no {NAME}: {self.storage.place!r}")

    @cached_property
    def manifest(self) -> Manifest:
        return read_manifest(self.storage)

    @cached_property
    def config(self) -> Config:
        return self.manifest.config(self.storage.place)

    @property
    def board(self) -> Board:
        return self.config.board

    @cached_property
    def plan(self) -> tuple[Job, ...]:
        return make_plan(self.config)

    @cached_property
    def progress(self) -> list[JobProgress]:
        """The jobs of the run and the records that each has, as they are now."""
        return committed_jobs(self.storage, self.plan)

    @property
    def is_complete(self) -> bool:
        """Whether every start square is exhausted or at the end of its budget."""
        return all(job.next_slice(self.config) is None for job in self.progress)

    def parts(self, start: str | None = None, variant: str | None = None) -> Iterator[Part]:
        """The parts of the run, or of one start square or variant, in the order their tours were found."""
        if start is not None:
            start = self.board.name(self.board.square(start))
        if variant not in (None, "open", "closed"):
            raise BadRequest(f"variant is open or closed: {variant!r}")
        return (
            part
            for job in self.progress
            if start in (None, self.board.name(job.job.start))
            for result in records(self.storage, job)
            for part in result.parts
            if variant in (None, part.variant)
        )

    def tours(
        self, start: str | None = None, variant: str | None = None, batch_tours: int = BATCH_TOURS
    ) -> Iterator[Tours]:
        """Tours batch by batch, each an array with one row a tour and one column a move."""
        for part in self.parts(start, variant):
            for tours, _ in self.read_part(part, batch_tours):
                yield tours

    def tour(self, number: int, start: str | None = None, variant: str | None = None) -> Tours:
        """One tour, counted from 1 in the order of `tours`."""
        left = number
        for part in self.parts(start, variant):
            if 1 <= left <= part.tours:
                for tours, _ in self.read_part(part):
                    if left <= len(tours):
                        tour: Tours = tours[left - 1]
                        return tour
                    left -= len(tours)
            left -= part.tours
        count = sum(part.tours for part in self.parts(start, variant))
        if not count:
            raise BadRequest(f"the run has no such tours: {start or 'any start'}, {variant or 'any variant'}")
        raise BadRequest(f"number is from 1 to {count:,}, as many tours as there are: {number}")

    def read_part(
        self, part: Part, batch_tours: int = BATCH_TOURS, data: bytes | None = None
    ) -> Iterator[tuple[Tours, np.ndarray]]:
        """The tours of one part and their iterations, batch by batch, with page checksums verified.

        `data` is its content if it was read before; it is never larger than a slice.
        """
        stream = pa.BufferReader(self.storage.read(part.name) if data is None else data)
        try:
            with pq.ParquetFile(stream, page_checksum_verification=True) as file:
                if not file.schema_arrow.equals(part_schema(self.board), check_metadata=True):
                    raise Damaged(f"damaged, its columns are not those of a part of this run: {part.name}")
                for batch in file.iter_batches(batch_tours):
                    yield _squares(batch.column("tour"), self.board), batch.column("iteration").to_numpy()
        except (OSError, pa.ArrowException, KeyError) as error:
            raise Damaged(f"damaged, cannot be read: {self.storage.where(part.name)} ({error})") from None

    def summary(self) -> pa.Table:
        """One row for each start square, from the records as they are now."""
        return self._summary.slice(0, self._summary.num_rows - 1)

    def totals(self) -> dict[str, Any]:
        """The sums of the summary, by column name."""
        return dict(self._summary.slice(self._summary.num_rows - 1).to_pylist()[0])

    @cached_property
    def _summary(self) -> pa.Table:
        return summary_table(self.config, self.progress)


def _squares(column: pa.FixedSizeBinaryArray, board: Board) -> Tours:
    """A column of tours as an array, without a copy."""
    dtype = square_dtype(board)
    values = np.frombuffer(column.buffers()[1], dtype=dtype)
    first = column.offset * board.squares
    tours: Tours = values[first : first + len(column) * board.squares].reshape(len(column), board.squares)
    return tours
