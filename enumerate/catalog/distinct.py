"""One tour for each class: of tours that the board's symmetries, reversal and another start turn into one another.

The tours of a run, in any number and in any order, become canonical, are grouped, and are written in their order, as
Parquet beside the run's own. The same tours always give the same bytes, however much memory there is.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..kernels.grouping import FOUND, ITERATION, START
from ..ledger.layout import DISTINCT, DISTINCT_RECORD, RUN_FILES, distinct_name, patterns
from ..ledger.manifest import Classes, Distinct, fingerprint, record_distinct
from ..ledger.parts import PartWriter, distinct_schema, start_column, symmetry_column, tour_column
from ..ledger.storage import Folder, stopped_by_storage
from ..model.config import usable_cores
from ..model.errors import BadRequest
from ..model.jobs import Part
from .grouping import MULTIPLICITY, SPILLS_AT_ONCE, STRUCTURED, SYMMETRY, Grouping, Packing, Rows, capacity_of
from .reader import Run

MEMORY = 2**30
LEAST_MEMORY = 2**16

_BATCH_BYTES = 2**20  # of tours that are packed at a time: they fit into a core's cache
_READING = 0.7  # the share of reading in the whole, roughly; the rest is sorting and writing

Advance = Callable[[float], object]
Blocks = Iterator[Rows]


@dataclass(frozen=True)
class Report:
    """What was found, and whether the run was finished."""

    variants: tuple[Classes, ...]
    complete: bool
    seconds: float
    output: str = ""  # of the run, if the distinct tours were written

    @property
    def tours(self) -> int:
        return sum(each.found for each in self.variants)

    @property
    def lines(self) -> list[str]:
        """For the terminal."""
        lines = [
            f"{each.classes:,} distinct {each.variant} tours among {each.found:,};"
            f" with their images under the board's symmetries, {each.multiplicity:,} undirected ones"
            for each in self.variants
        ]
        lines.append(f"{self.tours:,} tours compared in {self.seconds:.2f} s")
        return lines + ([f"distinct {patterns(self.output)[DISTINCT]}"] if self.output else [])

    @property
    def document(self) -> dict[str, Any]:
        """For --json."""
        counts = {
            each.variant: {"classes": each.classes, "multiplicity": each.multiplicity, "found": each.found}
            for each in self.variants
        }
        return {"tours": self.tours, **counts, "complete": self.complete, "seconds": self.seconds,
                "written": f"{self.output}/{DISTINCT}" if self.output else None}  # fmt: skip


def write_distinct(
    output: str | Path,
    memory: int = MEMORY,
    advance: Advance = lambda _: None,
    group_bytes: int = 2**22,
    groups: int = 16,
) -> Report:
    """Write the distinct tours of a run beside it, in place of those that are there.

    The run is locked meanwhile. `memory` is for tours, beside what the program itself takes. `advance` is called with
    the share of each step. A part has at most `groups` row groups, each with `group_bytes` of tours.
    """
    began, run = time.perf_counter(), Run(output)
    storage = run.storage
    with storage.lock(), stopped_by_storage(run.config.output):
        source = Source(run, memory, advance, writing=True)
        storage.replace_folder(DISTINCT, _files(source, group_bytes, groups))
        record_distinct(storage, Distinct(fingerprint(chain(*source.parts.values())), source.variants))
    return Report(source.variants, run.is_complete, time.perf_counter() - began, storage.output)


def count_distinct(output: str | Path, memory: int = MEMORY, advance: Advance = lambda _: None) -> Report:
    began, run = time.perf_counter(), Run(output)
    with run.storage.lock_for_reading(), stopped_by_storage(run.config.output):
        source = Source(run, memory, advance, writing=False)
        for classes in source.variants:
            for _ in source.blocks(classes):
                pass
    return Report(source.variants, run.is_complete, time.perf_counter() - began)


# ---------------------------------------------------------------------------------------------------------------------
# From the tours of a run to rows, sorted and grouped.


class Source:
    def __init__(self, run: Run, memory: int, advance: Advance, writing: bool) -> None:
        if memory < LEAST_MEMORY:
            raise BadRequest(f"memory must be at least {LEAST_MEMORY:,} bytes, got {memory:,}")
        run.refuse_counted()
        self.run, self.memory, self.advance, self.packing = run, memory, advance, Packing(run.board)
        # Spills go to the disk of the run, if it has one and may be written to.
        is_beside = writing and isinstance(run.storage, Folder)
        self.scratch = run.storage.where(RUN_FILES) if is_beside else tempfile.gettempdir()
        parts = list(run.parts())
        self.parts = {variant: [part for part in parts if part.holds == variant] for variant in run.config.variants}
        self.counts = {variant: sum(part.rows for part in parts) for variant, parts in self.parts.items()}
        self.variants = tuple(map(Classes, self.parts))
        self._refuse_small_disk(writing)

    def _refuse_small_disk(self, writing: bool) -> None:
        """Refuse if the tours may fit neither into memory nor on the disk."""
        most, fitting = max(self.counts.values()), capacity_of(self.packing.words, self.memory)
        copies = (most > fitting) + (most > fitting * SPILLS_AT_ONCE)  # so many spills are merged to new ones
        needed = copies * most * 8 * self.packing.words
        if writing:  # at most about what the parts of the run take, and before the old ones are gone
            needed += sum(part.bytes for part in chain(*self.parts.values()))
        free = shutil.disk_usage(self.scratch).free
        if needed > free:
            raise BadRequest(
                f"distinct tours may need {needed:,} bytes of disk, and {free:,} are free: {self.scratch!r};"
                " make room, or allow more --memory"
            )

    def blocks(self, classes: Classes) -> Blocks:
        """The classes of a variant, sorted, block by block, and counted; each block is good until the next one."""
        count, tours = self.counts[classes.variant], max(1, sum(self.counts.values()))
        with closing(Grouping(self.packing.words, count, self.memory, self.scratch)) as grouping:
            for rows in self._rows(classes.variant):
                grouping.add(rows)
                self.advance(_READING * len(rows) / tours)
            share = (1 - _READING) * count / tours / max(1, grouping.rows)
            for block in grouping.blocks():
                classes.classes += len(block)
                classes.multiplicity += int(self.packing.kind(block, MULTIPLICITY).sum(dtype=np.int64))
                classes.found += int(self.packing.value(block, FOUND).sum())
                yield block
                self.advance(share * len(block))

    def _rows(self, variant: str) -> Blocks:
        """The tours of a variant as rows, packed by several threads; a few batches are under way at a time."""
        batch_tours = max(1, min(_BATCH_BYTES, self.memory // 16) // self.run.config.tour_bytes)
        batches = (batch for part in self.parts[variant] for batch in self.run.checked_part(part, batch_tours))
        waiting: deque[Future[Rows]] = deque()
        with ThreadPoolExecutor(usable_cores()) as pool:
            for batch in batches:
                waiting.append(pool.submit(self.packing.rows, batch, variant == "closed"))
                if len(waiting) > usable_cores():
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()


# ---------------------------------------------------------------------------------------------------------------------
# From rows to parts.


def _files(source: Source, group_bytes: int, groups: int) -> Iterator[tuple[str, memoryview]]:
    """The parts of all variants, by their names in the folder."""
    for classes in source.variants:
        variant, schema = classes.variant, distinct_schema(source.run.config, classes.variant)
        for data, rows in _parts(source.packing, schema, source.blocks(classes), group_bytes, groups):
            name, checksum = distinct_name(variant, len(classes.parts)), hashlib.sha256(data).hexdigest()
            classes.parts += (Part(variant, name, rows, len(data), checksum),)
            yield name.removeprefix(f"{DISTINCT}/"), data
    source.run.storage.remove([DISTINCT_RECORD])  # all is staged, and the parts that it names go now


def _parts(
    packing: Packing, schema: pa.Schema, blocks: Blocks, group_bytes: int, groups: int
) -> Iterator[tuple[memoryview, int]]:
    regular = regrouped(blocks, max(1, group_bytes // (8 * packing.key)))
    for first in regular:
        writer = PartWriter(schema)
        for group in chain([first], islice(regular, groups - 1)):
            writer.write(_columns(packing, schema, group))
        yield writer.close(), writer.rows


def regrouped(blocks: Iterable[Rows], size: int) -> Blocks:
    """The same rows in blocks of one size, but the last."""
    waiting, count = list[Rows](), 0
    for block in blocks:
        first = 0
        while first < len(block):
            some = block[first : first + size - count].copy()
            waiting.append(some)
            first, count = first + len(some), count + len(some)
            if count == size:
                yield np.concatenate(waiting)
                waiting, count = [], 0
    if waiting:
        yield np.concatenate(waiting)


def _columns(packing: Packing, schema: pa.Schema, rows: Rows) -> list[pa.Array]:
    return [
        tour_column(packing.tours(rows), schema.field("tour").type),
        pa.array(packing.kind(rows, MULTIPLICITY).astype(np.int32)),
        pa.array(packing.value(rows, FOUND).astype(np.int64)),
        start_column(packing.value(rows, START), packing.board),
        pa.array(packing.value(rows, ITERATION).astype(np.int64)),
        pa.array(packing.kind(rows, STRUCTURED).astype(np.bool_)),
        symmetry_column(packing.kind(rows, SYMMETRY)),
    ]
