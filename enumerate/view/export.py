"""Tours as text, CSV, JSON lines or pictures: in one file, or in a folder with a file for each start square or kind."""

from __future__ import annotations

import io
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from ..catalog.reader import Run
from ..model.batch import Batch
from ..model.board import Board
from ..model.errors import BadRequest
from ..model.tour import SYMMETRIES, as_text
from ..model.values import in_range, one_of
from ..search.strategy import strategy_of
from .picture import SVG_SQUARES, tour_svg

FILES_BY = ("start", "kind")
BATCH_TOURS = 4_096
COUNTS, TIMES = "counts.csv", "times.csv"  # beside the tours in a folder


# ---------------------------------------------------------------------------------------------------------------------
# One tour in each format.


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A tour and all that a run holds of it."""

    number: int  # in this export, from 1
    start: str
    variant: str
    structured: bool
    symmetry: str
    iteration: int
    squares: list[int]
    columns: dict[str, Any]  # of the strategy

    @property
    def is_closed(self) -> bool:
        return self.variant == "closed"

    def file(self, files_by: str) -> str:
        """The name of its file in a folder; one of its own if it is a picture."""
        kind = "structured" if self.structured else "unstructured"
        names = {"start": self.start, "kind": f"{self.variant}-{kind}"}
        return names.get(files_by, f"{self.number:06d}-{self.start}-{self.variant}")


def facts(run: Run, batch: Batch, row: int) -> dict[str, Any]:
    """What is exported of one tour of a batch, beside its number."""
    squares = batch.tours[row].tolist()
    return {
        "start": run.board.name(squares[0]),
        "variant": "closed" if batch.closed[row] else "open",
        "structured": bool(batch.structured[row]),
        "symmetry": SYMMETRIES[batch.symmetry[row]],
        "iteration": int(batch.iterations[row]),
        "squares": squares,
        "columns": run.more_of(batch, row),
    }


def _txt(board: Board, tour: Exported) -> str:
    """A line about the tour, the board with its numbers, and an empty line."""
    words = [tour.variant, *(["structured"] if tour.structured else [])]
    words += [tour.symmetry] if tour.symmetry != SYMMETRIES[0] else []
    end = board.name(tour.squares[-1])
    about = f"{tour.number}: {', '.join(words)}, from {tour.start} to {end}, found after {tour.iteration} iterations"
    return f"{about}\n{as_text(board, np.array(tour.squares))}\n\n"


COLUMNS = ("number", "start", "variant", "structured", "symmetry", "iteration")


def _csv(board: Board, tour: Exported) -> str:
    """The squares of the tour are one field, with spaces between their names."""
    word = "true" if tour.structured else "false"
    more = tour.columns.values()
    values = (tour.number, tour.start, tour.variant, word, tour.symmetry, tour.iteration, *more)
    return _csv_text([(*values, " ".join(_path(board, tour)))])


def _jsonl(board: Board, tour: Exported) -> str:
    values = {name: getattr(tour, name) for name in COLUMNS}
    more = {"columns": tour.columns} if tour.columns else {}
    return json.dumps({**values, **more, "tour": _path(board, tour)}) + "\n"


def _svg(board: Board, tour: Exported) -> str:
    return tour_svg(board, tour.squares, tour.is_closed)


FORMATS: dict[str, Callable[[Board, Exported], str]] = {"txt": _txt, "csv": _csv, "jsonl": _jsonl, "svg": _svg}


@lru_cache(maxsize=1)
def _names(board: Board) -> Sequence[str]:
    """The names of all squares, made once and not for each of a million tours."""
    return [board.name(square) for square in range(board.squares)]


def _path(board: Board, tour: Exported) -> list[str]:
    names = _names(board)
    return [names[square] for square in tour.squares]


# ---------------------------------------------------------------------------------------------------------------------
# Many tours.


@dataclass(frozen=True)
class Choice:
    """Which tours are exported, and how."""

    format: str = "txt"
    start: str | None = None
    variant: str | None = None
    limit: int = 0  # 0: all
    files_by: str = ""  # one file, or one for each of these
    force: bool = False
    max_pictures: int = 10_000

    def __post_init__(self) -> None:
        one_of("format", self.format, tuple(FORMATS))
        if self.files_by:
            one_of("files-by", self.files_by, FILES_BY)
        if self.files_by and self.format == "svg":
            raise BadRequest("--files-by does not apply to svg, which writes a file for each tour")
        in_range("limit", self.limit, 0, 2**63 - 1, "0: all tours")


Advance = Callable[[float], object]


def export(
    run: Run, choice: Choice, output: str | None, stdout: TextIO, advance: Advance = lambda _: None
) -> tuple[int, list[Path]]:
    """Write the chosen tours to a file, a folder or standard output; returns their number and the files.

    `advance` is called with each share of the tours that is written.
    """
    if output == "":
        raise BadRequest("output must be a file or a folder, got ''")
    if output is None and (choice.files_by or choice.format == "svg"):
        raise BadRequest("several files need a folder; give --output")
    run.refuse_counted()
    tours = chosen_tours(run, choice, advance)
    if output is None:
        return _write(run, choice, tours, stdout), []
    if choice.format == "svg":
        _refuse_pictures(run, choice)
    if choice.files_by or choice.format == "svg":
        return _export_folder(run, choice, tours, _new_folder(output, choice.force))
    if os.path.isdir(output):
        raise BadRequest(f"output must be a file, and this is a folder: {output!r}")
    refuse_existing(output, choice.force)
    return _export_file(run, choice, tours, Path(output))


def chosen_tours(run: Run, choice: Choice, advance: Advance = lambda _: None) -> Iterator[Exported]:
    """The tours one after the other, in the order of the run."""
    tours = (facts(run, batch, row) for batch in _batches(run, choice, advance) for row in range(len(batch.tours)))
    return (Exported(number=number, **tour) for number, tour in enumerate(islice(tours, choice.limit or None), 1))


def _batches(run: Run, choice: Choice, advance: Advance) -> Iterator[Batch]:
    wanted = choice.limit or sum(part.rows for part in run.parts(choice.start, choice.variant))
    for part in run.parts(choice.start, choice.variant):
        for batch in run.read_part(part, BATCH_TOURS):
            yield batch
            advance(len(batch.tours) / max(1, wanted))


def _write(run: Run, choice: Choice, tours: Iterable[Exported], stream: TextIO, header: bool = True) -> int:
    form = FORMATS[choice.format]
    if header:
        stream.write(_header(run, choice))
    written = 0
    for tour in tours:
        stream.write(form(run.board, tour))
        written += 1
    return written


# ---------------------------------------------------------------------------------------------------------------------
# Files and folders.


def _header(run: Run, choice: Choice) -> str:
    more = (f"columns.{column.name}" for column in strategy_of(run.config).columns)
    return _csv_text([(*COLUMNS, *more, "tour")]) if choice.format == "csv" else ""


def _export_file(run: Run, choice: Choice, tours: Iterable[Exported], path: Path) -> tuple[int, list[Path]]:
    with complete_file(path) as binary:
        stream = io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
        written = _write(run, choice, tours, stream)
        stream.detach()
    return written, [path]


@contextmanager
def complete_file(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when it is complete, so that what was there is not lost; a pipe is written to."""
    if path.exists() and not path.is_file():  # a pipe, or /dev/stdout; a folder is refused
        with open(path, "wb") as stream:
            yield stream
        return
    path = Path(os.path.realpath(path))  # a link stays one
    staged = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(staged, "xb") as stream:
            yield stream
        os.replace(staged, path)
    finally:
        staged.unlink(missing_ok=True)


def _export_folder(run: Run, choice: Choice, tours: Iterable[Exported], folder: Path) -> tuple[int, list[Path]]:
    """A file for each picture, start square or kind; of these also a table of counts, and of kinds one of times."""
    counts: dict[str, int] = {}
    try:
        for name, group in groupby(tours, lambda tour: tour.file(choice.files_by)):
            path = folder / f"{name}.{choice.format}"
            is_new = name not in counts
            if is_new:
                path.unlink(missing_ok=True)
                counts[name] = 0
            with open(path, "a", encoding="utf-8", newline="\n") as stream:
                counts[name] += _write(run, choice, group, stream, header=is_new)
    except BaseException:  # the same command must not find the half of it
        for name in counts:
            (folder / f"{name}.{choice.format}").unlink(missing_ok=True)
        raise
    tables = {}
    if choice.files_by:
        tables[COUNTS] = _csv_text([(choice.files_by, "tours"), *counts.items(), ("total", sum(counts.values()))])
    if strategy_of(run.config).has_times and choice.files_by == "kind":
        tables[TIMES] = times_csv(run, choice)
    for name, text in tables.items():
        (folder / name).write_text(text, encoding="utf-8")
    files = [*(f"{name}.{choice.format}" for name in counts), *tables]
    return sum(counts.values()), [folder / name for name in files]


def times_csv(run: Run, choice: Choice) -> str:
    """The effort for each tour of a start square, of any variant, then the total and the average."""
    names = ["seconds", "placements", "attempts"]
    columns = run.times(choice.start).slice(0, choice.limit or None).select(names).to_pydict()
    rows = [(str(number), *row) for number, row in enumerate(zip(*columns.values(), strict=True), 1)]
    sums = [sum(filter(None, column)) for column in columns.values()]
    totals = [("total", *sums), ("average", *(value / max(1, len(rows)) for value in sums))]
    return _csv_text([("tour", *names), *((name, *map(_number, values)) for name, *values in rows + totals)])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.9f}".rstrip("0").rstrip(".")


def _csv_text(rows: Iterable[Iterable[object]]) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def _refuse_pictures(run: Run, choice: Choice) -> None:
    if run.board.squares > SVG_SQUARES:
        raise BadRequest(
            f"a picture has at most {SVG_SQUARES:,} squares, got {run.board}; the other formats take any board"
        )
    there = sum(part.rows for part in run.parts(choice.start, choice.variant))
    asked = min(there, choice.limit or there)
    if asked > choice.max_pictures:
        most = f"export writes at most {choice.max_pictures:,} pictures"
        raise BadRequest(f"{most}, got {asked:,}; give --limit or --start")


def _new_folder(output: str, force: bool) -> Path:
    """An empty folder: this export must not mix with another."""
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not force:
        raise BadRequest(f"the folder is not empty: {output!r}; choose another --output, or --force")
    return folder


def refuse_existing(path: str, force: bool) -> None:
    """Nothing is overwritten unasked."""
    if os.path.isfile(path) and not force:  # and not a pipe, or /dev/stdout
        raise BadRequest(f"the file exists: {path!r}; choose another one, or --force")
