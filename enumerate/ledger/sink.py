"""Batches to parts: the tours of a slice, counted, encoded as they come, and published as one file for each variant."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..model.batch import Batch
from ..model.config import Config
from ..model.errors import Damaged
from ..model.jobs import TIMES, Part, Slice, SliceResult
from ..model.tour import SYMMETRIES, Tours, square_dtype
from .diversity import Diversity
from .layout import PART_FOLDERS, part_name, seal_of
from .parts import TIMES_SCHEMA, PartWriter, times_columns, tours_columns, tours_schema
from .storage import Storage


def part_entries(storage: Storage) -> Iterator[tuple[str, int]]:
    """Names and sizes of all that lies where parts belong."""
    for folder in PART_FOLDERS:
        yield from storage.entries(folder)


class Sink:
    """Takes the tours of one slice and publishes them as one part for each variant that has any.

    There may be one more part for what each tour took. To expand is to write a part for each image of the start square
    under the symmetries of the board. Without writing, tours are counted and gone.
    """

    def __init__(self, storage: Storage, config: Config, slice_: Slice) -> None:
        self.storage, self.board, self.slice = storage, config.board, slice_
        self.write, self.times = config.write, config.has_times
        self.images = image_tables(config, slice_.job.start)
        self.diversity = Diversity(slice_.before.last_beginning, config.is_depth_first)
        self.writers: dict[tuple[str, int], PartWriter] = {}
        self.published: dict[str, memoryview] = {}
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """By their names in `Counts`."""
        times, diversity = len(self.images), self.diversity
        numbers = {name: self._counts[name] * times for name in counted()}
        sample = {"shared_squares": diversity.shared_squares, "neighbours": diversity.neighbours}
        return {**numbers, "beginnings": diversity.beginnings * times, **sample}

    def take(self, batch: Batch) -> None:
        """Count and encode a batch; its memory may be used again afterwards."""
        self._counts.update(counts_of(batch))
        self.diversity.add(batch.tours)
        if not self.write:
            return
        for variant, tours in _by_variant(batch):
            for start, table in self.images.items():
                image = tours if table is None else replace(tours, tours=table[tours.tours])
                self._writer(variant, start, tours_schema(self.board)).write(tours_columns(image, self.board))
        if self.times:
            self._writer(TIMES, self.slice.job.start, TIMES_SCHEMA).write(times_columns(batch))

    def _writer(self, kind: str, start: int, schema: pa.Schema) -> PartWriter:
        if (kind, start) not in self.writers:
            self.writers[kind, start] = PartWriter(schema)
        return self.writers[kind, start]

    def publish(self, cut: int | None) -> tuple[Part, ...]:
        """Put the parts in place. `cut`: after how many iterations the budget ended the slice, if it did."""
        ordered = sorted(self.writers.items(), key=lambda item: item[0])
        return tuple(self._publish(kind, start, writer, cut) for (kind, start), writer in ordered)

    def publish_again(self, recorded: SliceResult) -> None:
        """Bring back what was cleared away as unrecorded before the record came: the record counts."""
        for part in recorded.parts:
            if part.name in self.published and not self.storage.exists(part.name):
                self.storage.create(part.name, self.published[part.name])

    def take_back(self, recorded: SliceResult) -> None:
        """Remove what the record does not name: another worker was first, and its times count."""
        self.storage.remove(self.published.keys() - {part.name for part in recorded.parts})

    def _publish(self, kind: str, square: int, writer: PartWriter, cut: int | None) -> Part:
        data = writer.close()
        checksum = hashlib.sha256(data).hexdigest()
        start = self.board.name(square)
        seal = seal_of(checksum) if kind == TIMES else ""
        name = part_name(kind, start, self.slice.job.number, self.slice.number, cut, seal)
        if not self.storage.create(name, data) and self.storage.read(name) != data:
            raise Damaged(f"a slice was written twice with different tours: {name}")
        self.published[name] = data
        return Part(kind, name, writer.rows, len(data), checksum)


def image_tables(config: Config, start: int) -> dict[int, Tours | None]:
    """The start squares of what is written, each with the table of where its symmetry takes every square."""
    if not config.expand:
        return {start: None}
    board, dtype = config.board, square_dtype(config.board)
    return {
        image: np.array([board.image(each, square) for square in range(board.squares)], dtype=dtype)
        for image, each in board.images_of(start).items()
    }


def counted() -> tuple[str, ...]:
    """The names in `Counts` of what is counted of tours."""
    return ("tours_open", "tours_closed", "structured", *(name.replace("-", "_") for name in SYMMETRIES[1:]))


def counts_of(batch: Batch) -> dict[str, int]:
    """How many tours of each kind a batch has."""
    closed = int(np.count_nonzero(batch.closed))
    kinds = np.bincount(batch.symmetry, minlength=len(SYMMETRIES))[1:].tolist()
    numbers = (len(batch.closed) - closed, closed, int(np.count_nonzero(batch.structured)), *kinds)
    return dict(zip(counted(), numbers, strict=True))


def _by_variant(batch: Batch) -> Iterator[tuple[str, Batch]]:
    """The tours of a batch, open and closed apart; nothing for a variant without tours."""
    closed = int(np.count_nonzero(batch.closed))
    if closed in (0, len(batch.closed)):  # the usual case, without a copy
        if len(batch.closed):
            yield "closed" if closed else "open", batch
        return
    yield "open", batch[~batch.closed]
    yield "closed", batch[batch.closed]
