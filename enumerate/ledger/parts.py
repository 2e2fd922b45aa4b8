"""Parts: the columns of each kind of Parquet file, the sink that makes them of batches, and how they are read back.

Measured on 8x8 tours, one thread: fixed-size binary, PLAIN, zstd 3 takes 4.9 bytes a tour and 11 million tours a
second with the iteration column delta-packed and statistics kept for it alone.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from ..model.batch import Batch
from ..model.board import Board
from ..model.config import Config
from ..model.errors import Damaged
from ..model.jobs import TIMES, Cursor, Part, Slice, SliceResult
from ..model.tour import SYMMETRIES, Tours, square_dtype
from ..search.strategy import strategy_of
from .layout import part_name
from .storage import Storage


def fields(kind: pa.DataType, *names: str, nullable: bool = False) -> list[pa.Field]:
    return [pa.field(name, kind, nullable) for name in names]


# What is counted of tours, by its name in `Counts`.
COUNTED = ("tours_open", "tours_closed", "structured", *(name.replace("-", "_") for name in SYMMETRIES[1:]))

_KINDS = [*fields(pa.bool_(), "structured"), *fields(pa.dictionary(pa.int8(), pa.string()), "symmetry")]


def tours_schema(board: Board) -> pa.Schema:
    """A part of tours: `tour` holds the squares in the order of the visit, `iteration` counts placements until it was
    found, and the rest tells of which kind it is.
    """
    return _schema(board, fields(pa.int64(), "iteration"))


def distinct_schema(board: Board) -> pa.Schema:
    """Distinct tours: the canonical tour of a class, how many undirected tours the class has, how many tours of the run
    belong to it, where and when the first of them was found (least start square, then iteration), and of which kind
    they are.
    """
    start = fields(pa.dictionary(pa.int32(), pa.string()), "start")
    counts = [*fields(pa.int32(), "multiplicity"), *fields(pa.int64(), "found")]
    return _schema(board, [*counts, *start, *fields(pa.int64(), "iteration")])


def _schema(board: Board, between: Iterable[pa.Field]) -> pa.Schema:
    width = square_dtype(board).itemsize
    sizes = {"rows": str(board.rows), "cols": str(board.cols), "bytes_per_square": str(width)}
    return pa.schema([*fields(pa.binary(board.length * width), "tour"), *between, *_KINDS], metadata=sizes)


# What each tour took, its failed attempts included, for strategies that make one tour after the other. `iteration` is
# that of the tour. It is a part of its own because it is never the same twice.
TIMES_SCHEMA = pa.schema(
    [
        *fields(pa.int64(), "iteration", "placements", "attempts"),
        *fields(pa.float64(), "seconds", nullable=True),  # not known of a tour that was begun in another slice
    ]
)

BEGINNING = 32  # squares at the beginning of a tour that are compared with the tour before it
_STRIDE = 64  # tours; of a depth-first search only
_SAMPLE = 1_000  # neighbours in each batch: to look at all would take a tenth of the time of the search

_ENCODINGS = {"iteration": "DELTA_BINARY_PACKED", "placements": "DELTA_BINARY_PACKED"}
_SYMMETRY_NAMES = pa.array(SYMMETRIES)


class PartWriter:
    """A part in the making: one row group for each batch. The same batches always give the same bytes."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.stream = pa.BufferOutputStream()
        self.rows = 0
        names = schema.names
        named = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        self.writer = pq.ParquetWriter(
            self.stream,
            schema,
            compression="zstd",
            compression_level=3,
            use_dictionary=named,
            column_encoding={name: _ENCODINGS.get(name, "PLAIN") for name in names if name not in named},
            write_statistics=[name for name in names if name != "tour"],
            write_page_checksum=True,
        )

    def write(self, columns: Sequence[pa.Array]) -> None:
        self.writer.write_table(pa.table(columns, schema=self.schema))
        self.rows += len(columns[0])

    def close(self) -> memoryview:
        self.writer.close()
        return memoryview(self.stream.getvalue()).cast("B")  # as signed bytes, it would not equal what is read back


def tours_columns(batch: Batch, board: Board) -> list[pa.Array]:
    return [
        tour_column(batch.tours, board),
        pa.array(batch.iterations),
        pa.array(batch.structured),
        symmetry_column(batch.symmetry),
    ]


def tour_column(tours: Tours, board: Board) -> pa.Array:
    squares = pa.py_buffer(np.ascontiguousarray(tours))
    return pa.FixedSizeBinaryArray.from_buffers(tours_schema(board).field("tour").type, len(tours), [None, squares])


def symmetry_column(codes: NDArray[np.uint8]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.view(np.int8)), _SYMMETRY_NAMES)


def times_columns(batch: Batch) -> list[pa.Array]:
    assert batch.efforts is not None
    placements, attempts, nanoseconds = batch.efforts.T
    seconds = pa.array(nanoseconds / 1e9, mask=nanoseconds < 0)
    return [pa.array(batch.iterations), pa.array(placements), pa.array(attempts), seconds]


class Sink:
    """Takes the tours of one slice and publishes them as one part for each variant that has any.

    There may be one more part for what each tour took. To expand is to write a part for each image of the start square
    under the symmetries of the board. Without writing, tours are counted and gone.
    """

    def __init__(self, storage: Storage, config: Config, slice_: Slice) -> None:
        self.storage, self.board, self.slice = storage, config.board, slice_
        self.write, self.times = config.write, strategy_of(config).has_times
        self.images = image_tables(config, slice_.job.start)
        self.diversity = Diversity(slice_.before.last_beginning, strategy_of(config).is_complete)
        self.writers: dict[tuple[str, int], PartWriter] = {}
        self.published: dict[str, memoryview] = {}
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """By their names in `Counts`."""
        times, diversity = len(self.images), self.diversity
        numbers = {name: self._counts[name] * times for name in COUNTED}
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
        """`cut`: after how many iterations the budget ended the slice, if it did."""
        ordered = sorted(self.writers.items(), key=lambda item: item[0])
        return tuple(self._publish(kind, start, writer, cut) for (kind, start), writer in ordered)

    def publish_again(self, recorded: SliceResult) -> None:
        """Restore parts that were tidied away before the record came."""
        for part in recorded.parts:
            if part.name in self.published and not self.storage.exists(part.name):
                self.storage.create(part.name, self.published[part.name])

    def take_back(self, recorded: SliceResult) -> None:
        """Remove what the record does not name: another worker was first, and its times count."""
        self.storage.remove(self.published.keys() - {part.name for part in recorded.parts})

    def _publish(self, kind: str, square: int, writer: PartWriter, cut: int | None) -> Part:
        data = writer.close()
        checksum = hashlib.sha256(data).hexdigest()
        name = part_name(kind, self.board.name(square), self.slice.job.number, self.slice.number, cut, checksum)
        if not self.storage.create(name, data) and self.storage.read(name) != data:
            raise Damaged(f"a slice was written twice with different tours: {name}")
        self.published[name] = data
        return Part(kind, name, writer.rows, len(data), checksum)


class Diversity:
    """How much the tours of a slice differ: a depth-first search finds long runs of tours that begin alike.

    It counts how often the first squares of a tour differ from those of the tour found before it. A depth-first search
    never comes back to a prefix, so these are the different ones. Of neighbours, two tours found one after the other,
    a sample shows with how many squares they begin alike.
    """

    def __init__(self, last: Cursor, depth_first: bool = True) -> None:
        self.last, self.depth_first = last, depth_first
        self.beginnings = self.shared_squares = self.neighbours = 0

    def add(self, tours: Tours) -> None:
        if not len(tours):
            return
        begins = tours[:, :BEGINNING]
        changes = _changes(begins, _STRIDE if self.depth_first else 1)
        self.beginnings += changes + (tuple(begins[0].tolist()) != self.last)
        self.last = tuple(begins[-1].tolist())
        sample = tours[: _SAMPLE + 1]
        self.neighbours += len(sample) - 1
        self.shared_squares += int((sample[1:] != sample[:-1]).argmax(axis=1).sum())


def _changes(rows: Tours, stride: int) -> int:
    """How often a row differs from the one before it. Equal rows less than `stride` apart have only equals between."""
    ends = np.append(np.arange(0, len(rows) - 1, stride), len(rows) - 1)
    differing = np.flatnonzero((rows[ends[1:]] != rows[ends[:-1]]).any(axis=1))
    pairs = np.concatenate([np.arange(ends[i], ends[i + 1]) for i in differing] or [ends[:0]])
    return int(np.count_nonzero((rows[pairs + 1] != rows[pairs]).any(axis=1)))


def image_tables(config: Config, start: int) -> dict[int, Tours | None]:
    """The start squares of what is written, each with the table of where its symmetry takes every square."""
    if not config.expand:
        return {start: None}
    board, dtype = config.board, square_dtype(config.board)
    return {
        image: np.array([board.image(each, square) for square in range(board.squares)], dtype=dtype)
        for image, each in board.images_of(start).items()
    }


def counts_of(batch: Batch) -> dict[str, int]:
    closed = int(np.count_nonzero(batch.closed))
    kinds = np.bincount(batch.symmetry, minlength=len(SYMMETRIES))[1:].tolist()
    numbers = (len(batch.closed) - closed, closed, int(np.count_nonzero(batch.structured)), *kinds)
    return dict(zip(COUNTED, numbers, strict=True))


def _by_variant(batch: Batch) -> Iterator[tuple[str, Batch]]:
    """The tours of a batch, open and closed apart; nothing for a variant without tours."""
    closed = int(np.count_nonzero(batch.closed))
    if closed in (0, len(batch.closed)):  # the usual case, without a copy
        if len(batch.closed):
            yield "closed" if closed else "open", batch
        return
    yield "open", batch[~batch.closed]
    yield "closed", batch[batch.closed]


@contextmanager
def open_part(data: bytes, schema: pa.Schema, name: str) -> Iterator[pq.ParquetFile]:
    """Opens a part and verifies its page checksums; whatever is wrong with it is damage."""
    try:
        with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
            if not file.schema_arrow.equals(schema, check_metadata=True):
                raise Damaged(f"damaged, its columns are not those of a part of this run: {name}")
            yield file
    except (OSError, pa.ArrowException, KeyError) as error:
        raise Damaged(f"damaged, cannot be read: {name} ({error})") from None


def decode_tours(rows: pa.RecordBatch, board: Board, closed: bool, name: str) -> Batch:
    """Rows of `tours_schema` as a batch, without what each tour took."""
    return Batch(
        decode_squares(rows.column("tour"), board),
        rows.column("iteration").to_numpy(),
        np.full(len(rows), closed),
        rows.column("structured").to_numpy(zero_copy_only=False),
        decode_symmetries(rows.column("symmetry"), name),
    )


def decode_squares(column: pa.FixedSizeBinaryArray, board: Board) -> Tours:
    """A column of tours as an array, without a copy."""
    values = np.frombuffer(column.buffers()[1], dtype=square_dtype(board))
    first = column.offset * board.length
    tours: Tours = values[first : first + len(column) * board.length].reshape(len(column), board.length)
    return tours


def decode_symmetries(column: pa.DictionaryArray, name: str) -> NDArray[np.uint8]:
    """Indices into SYMMETRIES, whatever dictionary the column was written with."""
    names = column.dictionary.to_pylist()
    if not set(names) <= set(SYMMETRIES):
        raise Damaged(f"damaged, an unknown symmetry: {name}")
    codes = np.array([SYMMETRIES.index(each) for each in names], dtype=np.uint8)
    return np.asarray(codes[column.indices.to_numpy()])
