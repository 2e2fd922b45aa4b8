"""Many tours as text, CSV, JSON lines or pictures: into one file, or into a folder with a file for each start square or
for each kind of tours.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import TextIO

from ..catalog.reader import Run
from ..model.errors import BadRequest
from ..model.jobs import Part
from ..model.tour import SYMMETRIES
from .formats import FORMATS, Exported
from .svg import SVG_SQUARES, tour_svg

SPLITS = ("", "start", "kind")
MAX_PICTURES = 10_000
BATCH_TOURS = 4_096
OPEN_FILES = 16
COUNTS, TIMES = "counts.csv", "times.csv"  # beside the tours in a folder


@dataclass(frozen=True)
class Choice:
    """Which tours are exported, and how."""

    format: str = "txt"
    start: str | None = None
    variant: str | None = None
    max: int = 0  # 0: all
    split: str = ""  # one file, or one for each start square or kind

    def __post_init__(self) -> None:
        if self.format not in (*FORMATS, "svg"):
            raise BadRequest(f"format is txt, csv, jsonl or svg: {self.format!r}")
        if self.split not in SPLITS:
            raise BadRequest(f"split is start or kind: {self.split!r}")
        if self.split and self.format == "svg":
            raise BadRequest("--split is for txt, csv and jsonl: every picture is a file of its own")
        if self.max < 0:
            raise BadRequest(f"max is a whole number from 0 (all tours): {self.max}")


def export(run: Run, choice: Choice, output: str | None, stdout: TextIO) -> tuple[int, list[Path]]:
    """Write the chosen tours to a file, a folder or standard output; returns how many they are, and the files."""
    if output is None and (choice.split or choice.format == "svg"):
        raise BadRequest("many files need a folder: give --output")
    tours = chosen_tours(run, choice)
    if output is None:
        return _write(run, choice, tours, stdout), []
    if choice.format == "svg":
        return _export_pictures(run, tours, _new_folder(output, lambda: _refuse_pictures(run, choice)))
    if choice.split:
        return _export_split(run, choice, tours, _new_folder(output))
    return _export_file(run, choice, tours, Path(output))


def chosen_tours(run: Run, choice: Choice) -> Iterator[Exported]:
    """The tours one after the other, in the order of the run."""
    numbers = count(1)
    tours = (tour for part in run.parts(choice.start, choice.variant) for tour in _tours_of(run, part, numbers))
    return islice(tours, choice.max or None)


def _tours_of(run: Run, part: Part, numbers: Iterator[int]) -> Iterator[Exported]:
    for batch in run.read_part(part, BATCH_TOURS):
        columns = (batch.structured.tolist(), batch.symmetry.tolist(), batch.iterations.tolist(), batch.tours)
        for structured, symmetry, iteration, squares in zip(*columns, strict=True):
            start = run.board.name(int(squares[0]))
            yield Exported(next(numbers), start, part.kind, structured, SYMMETRIES[symmetry], iteration, squares)


def _write(run: Run, choice: Choice, tours: Iterable[Exported], stream: TextIO) -> int:
    form, header = FORMATS[choice.format]
    stream.write(header)
    written = 0
    for tour in tours:
        stream.write(form(run.board, tour))
        written += 1
    return written


# ---------------------------------------------------------------------------------------------------------------------
# Files and folders.


def _export_file(run: Run, choice: Choice, tours: Iterable[Exported], path: Path) -> tuple[int, list[Path]]:
    """The file appears under its name when it is complete."""
    staged = path.with_name(path.name + ".part")
    try:
        with open(staged, "w", encoding="utf-8", newline="\n") as stream:
            written = _write(run, choice, tours, stream)
        os.replace(staged, path)
    finally:
        staged.unlink(missing_ok=True)
    return written, [path]


def _export_split(run: Run, choice: Choice, tours: Iterable[Exported], folder: Path) -> tuple[int, list[Path]]:
    """A file for each start square or kind and a table of counts; with kinds also one of times, if there are any."""
    form, header = FORMATS[choice.format]
    counts: dict[str, int] = {}
    with Streams(folder, choice.format, header) as streams:
        for tour in tours:
            name = tour.start if choice.split == "start" else tour.kind
            streams.get(name).write(form(run.board, tour))
            counts[name] = counts.get(name, 0) + 1
    tables = {COUNTS: counts_csv(choice.split, counts)}
    if run.config.has_times and choice.split == "kind":
        tables[TIMES] = times_csv(run, choice)
    for name, text in tables.items():
        (folder / name).write_text(text, encoding="utf-8")
    files = [*(f"{name}.{choice.format}" for name in counts), *tables]
    return sum(counts.values()), [folder / name for name in files]


class Streams:
    """Files of a folder by name; only so many are open at a time, for start squares may be thousands."""

    def __init__(self, folder: Path, ending: str, header: str) -> None:
        self.folder, self.ending, self.header = folder, ending, header
        self._open: dict[str, TextIO] = {}

    def get(self, name: str) -> TextIO:
        if name not in self._open:
            if len(self._open) >= OPEN_FILES:
                self.close()
            path = self.folder / f"{name}.{self.ending}"
            head = "" if path.exists() else self.header
            self._open[name] = open(path, "a", encoding="utf-8", newline="\n")  # noqa: SIM115  # closed by `close`
            self._open[name].write(head)
        return self._open[name]

    def close(self) -> None:
        for stream in self._open.values():
            stream.close()
        self._open.clear()

    def __enter__(self) -> Streams:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def counts_csv(split: str, counts: dict[str, int]) -> str:
    """How many tours each file has, and all together."""
    rows = [(split, "tours"), *counts.items(), ("total", sum(counts.values()))]
    return "".join(f"{name},{tours}\n" for name, tours in rows)


def times_csv(run: Run, choice: Choice) -> str:
    """What each tour of a start square took, whatever its variant, then the total and the average."""
    table = run.times(choice.start).slice(0, choice.max or None)
    rows = table.select(["seconds", "placements", "attempts"]).to_pylist()
    stream = io.StringIO()
    out = csv.writer(stream, lineterminator="\n")
    out.writerow(["tour", "seconds", "placements", "attempts"])
    for number, row in enumerate(rows, 1):
        out.writerow([number, _number(row["seconds"]), row["placements"], row["attempts"]])
    for name, share in (("total", 1), ("average", max(1, len(rows)))):
        sums = [sum(row[column] or 0 for row in rows) / share for column in ("seconds", "placements", "attempts")]
        out.writerow([name, *map(_number, sums)])
    return stream.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.9f}".rstrip("0").rstrip(".")


def _export_pictures(run: Run, tours: Iterable[Exported], folder: Path) -> tuple[int, list[Path]]:
    files = []
    for tour in tours:
        path = folder / f"{tour.number:06d}-{tour.start}-{tour.variant}.svg"
        path.write_text(tour_svg(run.board, tour.squares.tolist(), tour.variant == "closed"), encoding="utf-8")
        files.append(path)
    return len(files), files


def _refuse_pictures(run: Run, choice: Choice) -> None:
    if run.board.squares > SVG_SQUARES:
        raise BadRequest(
            f"a picture has at most {SVG_SQUARES:,} squares: {run.board}; the other formats take any board"
        )
    there = sum(part.rows for part in run.parts(choice.start, choice.variant))
    asked = min(there, choice.max or there)
    if asked > MAX_PICTURES:
        raise BadRequest(f"at most {MAX_PICTURES:,} pictures, each a file, and not {asked:,}: give --max or --start")


def _new_folder(output: str, check: Callable[[], None] = lambda: None) -> Path:
    """A folder with nothing in it: files of another export would mix with those of this one."""
    check()
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise BadRequest(f"the folder is not empty: {output!r}; choose another --output")
    return folder
