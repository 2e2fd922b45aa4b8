"""The read side: a run as numpy arrays and Arrow tables.

>>> from enumerate.api import Run
>>> for tours in Run("output/closed-8x8").tours(start="a1", variant="closed"):
...     print(tours.shape)
"""

from __future__ import annotations

import os
import shlex
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
from ..ledger.records import JobProgress, ReadRecord, RecordList, progress_of, read_record, record_lists, records
from ..ledger.storage import Storage, is_url, open_storage
from ..ledger.summary import summary_table, totals_of
from ..model.batch import Batch
from ..model.board import Board
from ..model.config import Config
from ..model.errors import BadRequest, Damaged
from ..model.jobs import TIMES, Job, Part, SliceResult, have_starts
from ..model.program import program
from ..model.tour import Tours
from ..plan.plan import make_plan, needs_estimates
from ..search.strategy import strategy_of

BATCH_TOURS = 65_536


def plan_of(storage: Storage, config: Config) -> tuple[Job, ...]:
    """As it was written down; else made again, which is quick unless a plan that took estimates was removed."""
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
            there = is_url(self.storage.output) or os.path.exists(self.storage.output)
            why = f"not the folder of a run, it has no {MANIFEST}" if there else "there is no such folder"
            raise BadRequest(f"{why}: {self.storage.output!r}")

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
        """The jobs of the run and where each stands by these records. A run at work may replace some while we look."""
        while True:
            listed = self.record_lists
            try:
                return progress_of(self.storage, self.plan, listed, self._read_record)
            except Damaged:
                del self.record_lists
                if self.record_lists == listed:
                    raise

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
            if not have_starts(self.plan):
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

    def refuse_counted(self) -> None:
        if not self.config.write:
            raise BadRequest(f"the tours of this run were counted and not written: {self.storage.output!r}")

    def squares(self, number: int, start: str | None = None, variant: str | None = None) -> Tours:
        """One tour, counted from 1 in the order of `tours`."""
        self.refuse_counted()
        left = number
        for part in self.parts(start, variant):
            if 1 <= left <= part.rows:
                return np.asarray(self.pick(part, [left - 1]).tours[0])
            left -= part.rows
        count = number - left  # all parts were passed
        if not count:
            raise BadRequest(f"the run has no such tours: {start or 'any start'}, {variant or 'any variant'}")
        raise BadRequest(f"number must be from 1 to {count:,}, the number of tours, got {number}")

    def read_part(self, part: Part, batch_tours: int = BATCH_TOURS, data: bytes | None = None) -> Iterator[Batch]:
        """The tours of one part, batch by batch, with page checksums verified; without what each of them took.

        `data` is its content if it was read before; it is never larger than a slice.
        """
        with self._opened(part, data=data) as file:
            for rows in file.iter_batches(batch_tours):
                yield parts.decode_tours(rows, self.config, part.holds, part.name)

    def checked_part(self, part: Part, batch_tours: int) -> Iterator[Batch]:
        """The same, compared with the record: size, checksum and number of tours, and none leaves the board."""
        count = 0
        for batch in self.read_part(part, batch_tours, parts.check_part(self.storage, part)):
            if batch.tours.max() >= self.board.squares:
                raise Damaged(f"damaged, a tour leaves the board: {part.name}")
            count += len(batch.tours)
            yield batch
        if count != part.rows:
            raise Damaged(f"damaged, its tours are not those its record counts: {part.name}")

    def pick(self, part: Part, rows: Sequence[int]) -> Batch:
        """Some tours of one part, by their numbers from 0, ascending; row groups without any are skipped."""
        with self._opened(part) as file:
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

    def column(self, part: Part, name: str) -> np.ndarray:
        """One column of a part, symmetries as indices into SYMMETRIES; the tours are not decoded."""
        with self._opened(part) as file:
            column = file.read(columns=[name], use_threads=False).column(name)  # threads would cost more than they save
        if name == "symmetry":
            return parts.decode_symmetries(column.unify_dictionaries().combine_chunks(), part.name)
        return np.asarray(column.to_numpy())

    def distinct(self, variant: str | None = None, batch_tours: int = BATCH_TOURS) -> Iterator[DistinctTours]:
        """One tour for each class, batch by batch, in order; `write_distinct` has made them."""
        kinds = _kinds(variant)
        record = find_distinct(self.storage)
        if record is None:
            make = f"{program()} distinct {shlex.quote(self.storage.output)}"
            raise BadRequest(f"this run has no distinct tours yet; make them: {make}")
        for part in record.parts:
            if part.holds in kinds:
                with self._opened(part, parts.distinct_schema(self.config, part.holds)) as file:
                    for rows in file.iter_batches(batch_tours):
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
        none = parts.times_schema(self.config).empty_table()
        return pa.concat_tables([none, *map(self.read_times, self._parts(start, (TIMES,)))])

    def read_times(self, part: Part, data: bytes | None = None) -> pa.Table:
        with self._opened(part, parts.times_schema(self.config), data) as file:
            return file.read()

    def _opened(
        self, part: Part, schema: pa.Schema | None = None, data: bytes | None = None
    ) -> AbstractContextManager[pq.ParquetFile]:
        """A part of tours, unless it has the columns of another schema."""
        data = self.storage.read(part.name) if data is None else data
        return parts.open_part(data, schema or parts.tours_schema(self.config, part.holds), part.name)

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
