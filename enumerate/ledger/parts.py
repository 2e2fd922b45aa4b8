"""Parts: the columns of each kind of Parquet file, the sink that makes them of batches, and how they are read back.

Fixed-size binary, PLAIN, zstd 1, iterations delta-packed and with statistics: `benchmarks/compression.py` measures it
against the alternatives.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import xxhash
from numpy.typing import NDArray

from ..model.batch import Batch
from ..model.board import Board
from ..model.config import FORMAT_VERSION, Config
from ..model.errors import Damaged
from ..model.jobs import TIMES, Job, Part, Slice, SliceResult
from ..model.tour import SYMMETRIES, Tours, square_dtype
from ..search.strategy import DEFAULT, identity_of, strategy_of
from .layout import part_name
from .storage import Storage


def described(name: str, kind: pa.DataType, description: str, nullable: bool = False) -> pa.Field:
    """A column that says what it holds."""
    return pa.field(name, kind, nullable, metadata={"description": description})


SYMMETRY_COLUMNS = {name: name.replace("-", "_") for name in SYMMETRIES[1:]}  # their names in `Counts`
# What is counted of tours, by its name in `Counts`.
COUNTED = ("tours_open", "tours_closed", "structured", *SYMMETRY_COLUMNS.values())

_NAMES = pa.dictionary(pa.int32(), pa.string())
_SYMMETRY_NAMES = pa.array(SYMMETRIES)
_KINDS = [
    described("structured", pa.bool_(), "Whether the tour has the two moves next to each corner."),
    described(
        "symmetry", pa.dictionary(pa.int8(), pa.string()), f"How the tour is symmetric: {', '.join(SYMMETRIES)}."
    ),
]


@lru_cache(maxsize=16)
def tours_schema(config: Config, variant: str) -> pa.Schema:
    """A part of tours. It has a column of start squares if its job has no start square."""
    strategy = strategy_of(config)
    start = [described("start", _NAMES, "Start square.")] if strategy.count_jobs(config) else []
    when = described("iteration", pa.int64(), "Placements that the job had made when it found the tour.")
    more = [described(each.name, pa.from_numpy_dtype(each.dtype), each.description) for each in strategy.columns]
    return schema_of(config, f"{variant} tours", [_tour(config), *start, when, *_KINDS, *more], variant)


@lru_cache(maxsize=16)
def distinct_schema(config: Config, variant: str) -> pa.Schema:
    """Distinct tours, and where the first one of each class was found: least start square, then iteration."""
    first = "the first tour of the class that was found"
    columns = [
        _tour(config),
        described("multiplicity", pa.int32(), "Undirected tours in the class."),
        described("found", pa.int64(), "Tours of the run in the class."),
        described("start", _NAMES, f"Start square of {first}."),
        described("iteration", pa.int64(), f"Placements that the job had made when it found {first}."),
        *_KINDS,
    ]
    return schema_of(config, f"one {variant} tour for each class of tours", columns, variant)


@lru_cache(maxsize=16)
def times_schema(config: Config) -> pa.Schema:
    """What each tour took. It is a part of its own because it is never the same twice."""
    columns = [
        described("iteration", pa.int64(), "The iteration of the tour, by which it is known."),
        described("placements", pa.int64(), "Placements it took, those of failed attempts included."),
        described("attempts", pa.int64(), "Attempts it took, the last one included."),
        described("seconds", pa.float64(), "Seconds it took; null if another slice began it.", nullable=True),
    ]
    return schema_of(config, "what each tour took", columns, "")


def _tour(config: Config) -> pa.Field:
    kind = pa.binary(config.board.length * square_dtype(config.board).itemsize)
    return described("tour", kind, "Squares in the order of the visit; the first is the start square.")


def schema_of(config: Config, content: str, columns: Sequence[pa.Field], variant: str) -> pa.Schema:
    """Columns, and the facts that a file says of itself: the same wherever and by whichever release it was made."""
    board, width = config.board, square_dtype(config.board).itemsize
    missing = "" if board.missing is None else f"; {board.name(board.missing)} is missing"
    facts = {
        "content": f"{content} of the {board} board",
        "format": str(FORMAT_VERSION),
        "board": f"{board.rows} rows, {board.cols} columns{missing}",
        "squares": f"{width} byte{'s, little endian' * (width > 1)} each: row * {board.cols} + column, from a1 = 0",
        "variant": variant,
        "strategy": config.strategy or DEFAULT,
        "settings": json.dumps(identity_of(config), sort_keys=True),
    }
    about = {f"column {each.name}": each.metadata[b"description"] for each in columns}
    return pa.schema(columns, metadata={name: value for name, value in {**facts, **about}.items() if value})


_ENCODINGS = {"iteration": "DELTA_BINARY_PACKED", "placements": "DELTA_BINARY_PACKED"}


class PartWriter:
    """A part in the making: one row group for each batch. The same batches always give the same bytes."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.stream = pa.BufferOutputStream()
        self.rows = 0
        named = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        self.writer = pq.ParquetWriter(
            self.stream,
            schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=named,
            column_encoding={name: _ENCODINGS.get(name, "PLAIN") for name in schema.names if name not in named},
            write_statistics=["iteration"],  # by which readers skip row groups
            write_page_checksum=True,
        )

    def write(self, columns: Sequence[pa.Array]) -> None:
        self.writer.write_table(pa.table(columns, schema=self.schema))
        self.rows += len(columns[0])

    def close(self) -> memoryview:
        self.writer.close()
        return memoryview(self.stream.getvalue()).cast("B")  # as signed bytes, it would not equal what is read back


class TourWriter(PartWriter):
    """A part of tours in the making, and the checksum of its content."""

    def __init__(self, config: Config, variant: str) -> None:
        super().__init__(tours_schema(config, variant))
        self.board, self.content = config.board, Content()

    def add(self, batch: Batch) -> None:
        start = [start_column(batch.tours[:, 0], self.board)] if "start" in self.schema.names else []
        more = map(pa.array, batch.more)
        when, structured = pa.array(batch.iterations), pa.array(batch.structured)
        tours = tour_column(batch.tours, self.schema.field("tour").type)
        self.write([tours, *start, when, structured, symmetry_column(batch.symmetry), *more])
        self.content.add(batch)


class Content:
    """A checksum of tours and of what is said of them, whatever their batches are and whoever writes them.

    It is the XXH3 (128 bits) of those of the columns: squares, iterations as 64-bit words, whether closed and whether
    structured as a byte, symmetries as indices into SYMMETRIES, and the columns of the strategy.
    """

    def __init__(self) -> None:
        self._columns: list[xxhash.xxh3_128] = []

    def add(self, batch: Batch) -> None:
        columns = (*batch.columns, *batch.more)
        self._columns = self._columns or [xxhash.xxh3_128() for _ in columns]
        for checksum, column in zip(self._columns, columns, strict=True):
            checksum.update(np.ascontiguousarray(column).data)

    @property
    def digest(self) -> str:
        return xxhash.xxh3_128(b"".join(checksum.digest() for checksum in self._columns)).hexdigest()


def tour_column(tours: Tours, kind: pa.DataType) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(tours), [None, pa.py_buffer(np.ascontiguousarray(tours))])


def start_column(starts: NDArray[np.integer], board: Board) -> pa.Array:
    squares, codes = np.unique(starts, return_inverse=True)
    names = pa.array([board.name(square) for square in squares.tolist()])
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)


def symmetry_column(codes: NDArray[np.uint8]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.view(np.int8)), _SYMMETRY_NAMES)


def times_columns(batch: Batch) -> list[pa.Array]:
    assert batch.efforts is not None
    placements, attempts, nanoseconds = batch.efforts.T
    seconds = pa.array(nanoseconds / 1e9, mask=nanoseconds < 0)
    return [pa.array(batch.iterations), pa.array(placements), pa.array(attempts), seconds]


class Sink:
    """Takes the tours of one slice and publishes them as one part for each variant that has any.

    There may be one more part for what each tour took. With `expand` there is a part for each image of the start square
    under the symmetries of the board. Without `write`, tours are only counted.
    """

    def __init__(self, storage: Storage, config: Config, slice_: Slice) -> None:
        self.storage, self.config, self.slice = storage, config, slice_
        self.images = image_tables(config, slice_.job)
        self.writers: dict[tuple[str, str], TourWriter] = {}
        self.times = PartWriter(times_schema(config)) if config.write and strategy_of(config).has_times else None
        self.published: dict[str, memoryview] = {}
        self.counts: Counter[str] = Counter()  # by their names in `Counts`

    def take(self, batch: Batch) -> None:
        """Count and encode a batch; its memory may be used again afterwards."""
        self.counts.update({name: count * len(self.images) for name, count in counts_of(batch).items()})
        if not self.config.write:
            return
        for variant, tours in _by_variant(batch):
            for start, table in self.images.items():
                image = tours if table is None else replace(tours, tours=table[tours.tours])
                self._writer(variant, start).add(image)
        if self.times:
            self.times.write(times_columns(batch))

    def _writer(self, variant: str, start: str) -> TourWriter:
        if (variant, start) not in self.writers:
            self.writers[variant, start] = TourWriter(self.config, variant)
        return self.writers[variant, start]

    def publish(self, cut: int | None) -> tuple[Part, ...]:
        """`cut`: after how many iterations the budget ended the slice, if it did."""
        writers = sorted(self.writers.items())
        made = [self._publish(*named, writer, writer.content.digest, cut) for named, writer in writers]
        if self.times and self.times.rows:
            made.append(self._publish(TIMES, self.slice.start, self.times, "", cut))
        return tuple(made)

    def publish_again(self, recorded: SliceResult) -> None:
        """Restore parts that were tidied away before the record came."""
        for part in recorded.parts:
            if part.name in self.published and not self.storage.exists(part.name):
                self.storage.create(part.name, self.published[part.name])

    def take_back(self, recorded: SliceResult) -> None:
        """Remove what the record does not name: another worker was first, and its times count."""
        self.storage.remove(self.published.keys() - {part.name for part in recorded.parts})

    def _publish(self, holds: str, start: str, writer: PartWriter, content: str, cut: int | None) -> Part:
        data = writer.close()
        checksum = hashlib.sha256(data).hexdigest()
        name = part_name(holds, start, self.slice.job.number, self.slice.number, cut, checksum)
        if not self.storage.create(name, data):
            data = self._as_published(name, data, holds, content)
            checksum = hashlib.sha256(data).hexdigest()
        self.published[name] = data
        return Part(holds, name, writer.rows, len(data), checksum, content)

    def _as_published(self, name: str, data: memoryview, holds: str, content: str) -> memoryview:
        """What another worker has published under this name. Another pyarrow writes the same tours in other bytes."""
        there = self.storage.read(name)
        with suppress(Damaged):
            if there == data or content_of(there, self.config, holds, name) == content:
                return memoryview(there)
        raise Damaged(f"a slice was written twice with different tours: {name}")


def image_tables(config: Config, job: Job) -> dict[str, Tours | None]:
    """The start squares of what is written, each with the table of where its symmetry takes every square.

    The name is empty if the job has no start square.
    """
    board, dtype = config.board, square_dtype(config.board)
    if not config.expand:
        return {job.start_name(board): None}
    return {
        board.name(image): np.array([board.image(each, square) for square in range(board.squares)], dtype=dtype)
        for image, each in board.images_of(job.prefix[0]).items()
    }


def counts_of(batch: Batch) -> dict[str, int]:
    closed = int(np.count_nonzero(batch.closed))
    kinds = np.bincount(batch.symmetry, minlength=len(SYMMETRIES))[1:].tolist()
    numbers = (len(batch.closed) - closed, closed, int(np.count_nonzero(batch.structured)), *kinds)
    return dict(zip(COUNTED, numbers, strict=True))


def _by_variant(batch: Batch) -> Iterator[tuple[str, Batch]]:
    """The tours of a batch, open and closed apart; nothing for a variant without tours."""
    for variant, chosen in (("open", ~batch.closed), ("closed", batch.closed)):
        if chosen.any():
            yield variant, batch if chosen.all() else batch[chosen]  # all of them is the usual case, without a copy


def check_part(storage: Storage, part: Part) -> bytes:
    """Read a part and compare its size and checksum with its record; returns its content."""
    try:
        data = storage.read(part.name)
    except Damaged:
        if storage.exists(part.name):
            raise
        raise Damaged(f"missing, though a record names it: {part.name}") from None
    if len(data) != part.bytes:
        raise Damaged(f"damaged, {len(data):,} bytes instead of {part.bytes:,}: {part.name}")
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise Damaged(f"damaged, its checksum does not match its record: {part.name}")
    return data


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


def content_of(data: bytes, config: Config, variant: str, name: str) -> str:
    """The checksum of the content of a part of tours."""
    content = Content()
    with open_part(data, tours_schema(config, variant), name) as file:
        for rows in file.iter_batches():
            content.add(decode_tours(rows, config, variant, name))
    return content.digest


def decode_tours(rows: pa.RecordBatch, config: Config, variant: str, name: str) -> Batch:
    """Rows of `tours_schema` as a batch, without what each tour took."""
    tours = decode_squares(rows.column("tour"), config.board)
    if "start" in rows.schema.names:
        seen = start_column(tours[:, 0], config.board)
        if not rows.column("start").cast(pa.string()).equals(seen.cast(pa.string())):
            raise Damaged(f"damaged, a tour begins on another square than its column says: {name}")
    return Batch(
        tours,
        rows.column("iteration").to_numpy(),
        np.full(len(rows), variant == "closed"),
        rows.column("structured").to_numpy(zero_copy_only=False),
        decode_symmetries(rows.column("symmetry"), name),
        more=tuple(rows.column(each.name).to_numpy(zero_copy_only=False) for each in strategy_of(config).columns),
    )


def decode_squares(column: pa.FixedSizeBinaryArray, board: Board) -> Tours:
    """A column of tours as an array, without a copy."""
    values = np.frombuffer(column.buffers()[1], dtype=square_dtype(board))
    first = column.offset * board.length
    return values[first : first + len(column) * board.length].reshape(len(column), board.length)


def decode_symmetries(column: pa.DictionaryArray, name: str) -> NDArray[np.uint8]:
    """Indices into SYMMETRIES, whatever dictionary the column was written with."""
    names = column.dictionary.to_pylist()
    if not set(names) <= set(SYMMETRIES):
        raise Damaged(f"damaged, an unknown symmetry: {name}")
    codes = np.array([SYMMETRIES.index(each) for each in names], dtype=np.uint8)
    return np.asarray(codes[column.indices.to_numpy()])
