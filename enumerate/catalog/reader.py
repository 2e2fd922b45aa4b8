"""The read side: a run as numpy arrays and Arrow tables.

>>> from enumerate.api import Run
>>> for tours in Run("output/closed-8x8").tours(start="a1", variant="closed"):
...     print(tours.shape)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..ledger import parts
from ..ledger.layout import MANIFEST, PLAN, start_of
from ..ledger.manifest import Manifest, find_distinct, read_manifest, read_plan
from ..ledger.records import (
    JobProgress,
    ReadRecord,
    RecordList,
    check_part,
    progress_of,
    read_record,
    record_lists,
    records,
)
from ..ledger.storage import Storage, open_storage
from ..ledger.summary import summary_table, totals_of
from ..model.batch import Batch
from ..model.board import Board
from ..model.config import Config
from ..model.errors import BadRequest, Damaged
from ..model.jobs import TIMES, Job, Part, SliceResult
from ..model.tour import Tours
from ..plan.plan import make_plan, needs_estimates
from ..search.strategy import strategy_of

BATCH_TOURS = 65_536


def plan_of(storage: Storage, config: Config) -> tuple[Job, ...]:
    """As it was written down; else made again, which is quick unless the run is from before plans were written."""
    return read_plan(storage) if needs_estimates(config) and storage.exists(PLAN) else make_plan(config)


class DistinctTours(NamedTuple):
    """Some classes of tours: for each its canonical tour, its size, and what the run has of it."""

    tours: Tours
    multiplicity: NDArray[np.int32]  # undirected tours in the class
    found: NDArray[np.int64]  # tours of the run in the class
    start: NDArray[np.int64]  # square and iteration of the first of them
    iteration: NDArray[np.int64]
    structured: NDArray[np.bool_]
    symmetry: NDArray[np.uint8]  # an index into SYMMETRIES


class Run:
    """A run in its folder or object store, finished or not. Only what its records name is part of it.

    A caller that looks at a run repeatedly can pass in readers of records and of the plan that cache them.
    """

    def __init__(
        self,
        output: str | Path,
        read: ReadRecord = read_record,
        plan_of: Callable[[Storage, Config], tuple[Job, ...]] = plan_of,
    ) -> None:
        self._read_record, self._plan_of = read, plan_of
        self.storage = open_storage(str(output))
        try:
            known = self.storage.exists(MANIFEST)
        except OSError as error:
            raise BadRequest(f"cannot be read: {self.storage.output!r} ({error.strerror or error})") from None
        if not known:
            raise BadRequest(f"not the folder of a run, it has no {MANIFEST}: {self.storage.output!r}")

    @cached_property
    def manifest(self) -> Manifest:
        return read_manifest(self.storage)

    @cached_property
    def config(self) -> Config:
        return self.manifest.config(self.storage.output)

    @property
    def board(self) -> Board:
        return self.config.board

    @cached_property
    def plan(self) -> tuple[Job, ...]:
        return self._plan_of(self.storage, self.config)

    @cached_property
    def record_lists(self) -> dict[int, RecordList]:
        """The names of the records of each job, as they are now."""
        return record_lists(self.storage, self.plan)

    @cached_property
    def progress(self) -> list[JobProgress]:
        """The jobs of the run and where each stands by these records."""
        return progress_of(self.storage, self.plan, self.record_lists, self._read_record)

    def records(self, job: JobProgress) -> Iterator[SliceResult]:
        return records(self.storage, job, self._read_record)

    @property
    def is_complete(self) -> bool:
        """Whether every start square is exhausted or at the end of its budget."""
        return all(job.next_slice(self.config) is None for job in self.progress)

    def parts(self, start: str | None = None, variant: str | None = None) -> Iterator[Part]:
        """The parts of the run, or of one start square or variant, in the order their tours were found."""
        return self._parts(start, _kinds(variant))

    def _parts(self, start: str | None, kinds: Sequence[str]) -> Iterator[Part]:
        if start is not None:
            start = self.board.name(self.board.square(start))
            if not all(job.prefix for job in self.plan):
                raise BadRequest(f"the parts of this run mix start squares, see their column `start`: {start!r}")
        return (
            part
            for job in self.progress
            if start is None or self.config.expand or start == job.job.start_name(self.board)
            for result in self.records(job)
            for part in result.parts
            if part.holds in kinds and (start is None or start_of(part.name) == start)
        )

    def tours(
        self, start: str | None = None, variant: str | None = None, batch_tours: int = BATCH_TOURS
    ) -> Iterator[Tours]:
        """Tours batch by batch, each an array with one row a tour and one column a move."""
        for part in self.parts(start, variant):
            for batch in self.read_part(part, batch_tours):
                yield batch.tours

    def squares(self, number: int, start: str | None = None, variant: str | None = None) -> Tours:
        """One tour, counted from 1 in the order of `tours`."""
        left = number
        for part in self.parts(start, variant):
            if 1 <= left <= part.rows:
                for batch in self.read_part(part):
                    if left <= len(batch.tours):
                        tour: Tours = batch.tours[left - 1]
                        return tour
                    left -= len(batch.tours)
            left -= part.rows
        count = number - left  # all parts were passed
        if not count:
            raise BadRequest(f"the run has no such tours: {start or 'any start'}, {variant or 'any variant'}")
        raise BadRequest(f"number must be from 1 to {count:,}, the number of tours, got {number}")

    def read_part(self, part: Part, batch_tours: int = BATCH_TOURS, data: bytes | None = None) -> Iterator[Batch]:
        """The tours of one part, batch by batch, with page checksums verified; without what each of them took.

        `data` is its content if it was read before; it is never larger than a slice.
        """
        for rows in self._read(part, self._tours_schema(part), batch_tours, data):
            yield parts.decode_tours(rows, self.config, part.holds, part.name)

    def checked_part(self, part: Part, batch_tours: int) -> Iterator[Batch]:
        """The same, compared with the record: size, checksum and number of tours, and none leaves the board."""
        count = 0
        for batch in self.read_part(part, batch_tours, check_part(self.storage, part)):
            if batch.tours.max() >= self.board.squares:
                raise Damaged(f"damaged, a tour leaves the board: {part.name}")
            count += len(batch.tours)
            yield batch
        if count != part.rows:
            raise Damaged(f"damaged, its tours are not those its record counts: {part.name}")

    def pick(self, part: Part, rows: Sequence[int]) -> Batch:
        """Some tours of one part, by their numbers from 0, ascending; row groups without any are skipped."""
        with self._opened(part, self._tours_schema(part), None) as file:
            first, tables = 0, []
            for group in range(file.num_row_groups):
                after = first + file.metadata.row_group(group).num_rows
                here = [row - first for row in rows if first <= row < after]
                if here:
                    tables.append(file.read_row_group(group, use_threads=False).take(here))
                first = after
        (batch,) = pa.concat_tables(tables).unify_dictionaries().combine_chunks().to_batches()
        return parts.decode_tours(batch, self.config, part.holds, part.name)

    def more_of(self, batch: Batch, row: int) -> dict[str, Any]:
        """What the columns of the strategy say of one tour."""
        columns = strategy_of(self.config).columns
        return {each.name: values[row].item() for each, values in zip(columns, batch.more, strict=True)}

    def structured(self, part: Part) -> NDArray[np.bool_]:
        return np.asarray(self._column(part, "structured").to_numpy())

    def symmetries(self, part: Part) -> NDArray[np.uint8]:
        """Indices into SYMMETRIES."""
        column = self._column(part, "symmetry").unify_dictionaries().combine_chunks()
        return parts.decode_symmetries(column, part.name)

    def iterations(self, part: Part) -> NDArray[np.int64]:
        return np.asarray(self._column(part, "iteration").to_numpy())

    def _column(self, part: Part, name: str) -> pa.ChunkedArray:
        """One column of a part; the tours are not decoded. Threads would cost more than they save."""
        with self._opened(part, self._tours_schema(part), None) as file:
            return file.read(columns=[name], use_threads=False).column(name)

    def distinct(self, variant: str | None = None, batch_tours: int = BATCH_TOURS) -> Iterator[DistinctTours]:
        """One tour for each class, batch by batch, in order; `write_distinct` has made them."""
        kinds = _kinds(variant)
        record = find_distinct(self.storage)
        if record is None:
            raise BadRequest(f"this run has no distinct tours, `distinct` makes them: {self.storage.output!r}")
        for part in record.parts:
            if part.holds in kinds:
                for rows in self._read(part, parts.distinct_schema(self.config, part.holds), batch_tours, None):
                    yield self._distinct(rows, part)

    def _distinct(self, rows: pa.RecordBatch, part: Part) -> DistinctTours:
        start = rows.column("start")
        squares = np.array([self.board.square(name) for name in start.dictionary.to_pylist()], dtype=np.int64)
        plain = ("multiplicity", "found", "iteration", "structured")
        return DistinctTours(
            tours=parts.decode_squares(rows.column("tour"), self.board),
            start=squares[start.indices.to_numpy()],
            symmetry=parts.decode_symmetries(rows.column("symmetry"), part.name),
            **{name: rows.column(name).to_numpy(zero_copy_only=False) for name in plain},
        )

    def times(self, start: str | None = None) -> pa.Table:
        """What each tour took, where the strategy makes one tour after the other."""
        rows = (rows for part in self._parts(start, (TIMES,)) for rows in self.read_times(part))
        return pa.Table.from_batches(rows, schema=parts.times_schema(self.config))

    def read_times(self, part: Part, data: bytes | None = None) -> Iterator[pa.RecordBatch]:
        return self._read(part, parts.times_schema(self.config), BATCH_TOURS, data)

    def _tours_schema(self, part: Part) -> pa.Schema:
        return parts.tours_schema(self.config, part.holds)

    def _read(self, part: Part, schema: pa.Schema, batch_rows: int, data: bytes | None) -> Iterator[pa.RecordBatch]:
        with self._opened(part, schema, data) as file:
            yield from file.iter_batches(batch_rows)

    def _opened(self, part: Part, schema: pa.Schema, data: bytes | None) -> AbstractContextManager[pq.ParquetFile]:
        return parts.open_part(self.storage.read(part.name) if data is None else data, schema, part.name)

    def summary(self) -> pa.Table:
        """One row for each start square, or for each job without one, from the records as they are now."""
        return summary_table(self.config, self.progress)

    def totals(self) -> dict[str, Any]:
        """The sums of the summary, by column name."""
        return totals_of(self.summary())


def _kinds(variant: str | None) -> tuple[str, ...]:
    if variant not in (None, "open", "closed"):
        raise BadRequest(f"variant must be open or closed, got {variant!r}")
    return ("open", "closed") if variant is None else (variant,)
