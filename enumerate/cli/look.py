"""The commands that show tours: on the terminal, in files, and in the browser."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from ..model.errors import BadRequest
from ..model.numbers import counted
from .request import BOARD, MUCH, PRINTED, WHERE, Force, Json, Output, Quiet, Whole, as_it_is
from .speech import save, tell

Start = Annotated[str | None, Parameter(help="Only tours from this square. [default: any]", group=BOARD)]
Only = Annotated[
    Literal["open", "closed"] | None,
    Parameter(name="--variant", help="Only open or closed tours. [default: any]", converter=as_it_is, group=BOARD),
]
Port = Annotated[Whole, Parameter(help="Port of the pages, on this machine only; 0 takes any free port.")]
Browser = Annotated[bool, Parameter(name="--open", negative="--no-open", show_default=False)]


def show(
    run: Output,
    *,
    start: Start = None,
    variant: Only = None,
    number: Annotated[Whole, Parameter(group=BOARD)] = 1,
    svg: Annotated[str | None, Parameter(group=WHERE)] = None,
    png: Annotated[str | None, Parameter(group=WHERE)] = None,
    force: Force = False,
) -> None:
    """Print one tour of a run as a board, or draw it.

    Args:
        number: Which tour, counted from 1.
        svg: Write an SVG picture to this file instead.
        png: Write a PNG picture to this file instead.
    """
    from ..catalog.reader import Run
    from ..model.tour import are_closed, as_text
    from ..view.picture import PNG_SQUARES, SVG_SQUARES, tour_png, tour_svg

    source = Run(run)
    for flag, path, most in (("--svg", svg, SVG_SQUARES), ("--png", png, PNG_SQUARES)):
        if path is not None and source.board.squares > most:
            raise BadRequest(f"a picture has at most {most:,} squares: {source.board}; without {flag} it is printed")
    tour = source.squares(number, start, variant)
    closed = bool(are_closed(source.board, tour[None, :])[0])
    if svg is not None:
        save(svg, tour_svg(source.board, tour.tolist(), closed).encode(), force)
    if png is not None:
        save(png, tour_png(source.board, tour.tolist(), closed), force)
    if svg is None and png is None:
        tell(as_text(source.board, tour))


def export(
    run: Output,
    *,
    format_: Annotated[
        Literal["txt", "csv", "jsonl", "svg"], Parameter(name="--format", converter=as_it_is, group=PRINTED)
    ] = "txt",
    output: Annotated[str | None, Parameter(group=WHERE)] = None,
    start: Start = None,
    variant: Only = None,
    limit: Annotated[Whole, Parameter(group=MUCH)] = 0,
    files_by: Annotated[
        Literal["start", "kind"] | None, Parameter(name="--files-by", converter=as_it_is, group=WHERE)
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    json_: Annotated[Json, Parameter(help="Say what was written as one JSON document.")] = False,
) -> None:
    """Write many tours of a run as text, CSV, JSON lines or pictures.

    Args:
        format_: txt has boards with numbers, csv and jsonl a line for each tour, svg a picture for each tour.
        output: A file; for svg and with --files-by a new folder. [default: standard output]
        limit: At most so many tours; 0 means all.
        files_by:
            start: a file for each start square, and counts.csv; kind: open and closed, structured and unstructured tours
            apart, with counts.csv and, of a greedy run, times.csv. [default: one file]
        quiet: No progress; only errors.
    """  # noqa: E501
    from ..catalog.reader import Run
    from ..view.export import Choice
    from ..view.export import export as export_tours
    from ..view.progress import shares

    if json_ and output is None:
        raise BadRequest("--json says what was written where; give --output")
    choice = Choice(format_, start, variant, limit, files_by or "", force)
    try:
        with shares("exporting", quiet or output is None) as advance:
            count, files = export_tours(Run(run), choice, output, sys.stdout, advance)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read it has enough
        return
    except OSError as error:
        if output is None:
            raise
        raise BadRequest(f"cannot write: {output!r} ({error.strerror or error})") from None
    if files and json_:
        tell(json.dumps({"run": run, "output": output, "tours": count, "files": list(map(str, files))}, indent=2))
    elif files and not quiet:
        tell(f"wrote {counted(count, 'tour')} to {output}" + (f" ({len(files):,} files)" if len(files) > 1 else ""))


def report(run: Output, *, output: Annotated[str | None, Parameter(group=WHERE)] = None, force: Force = False) -> None:
    """Write a run as one HTML file to share: summary, heat map, tours over iterations, a gallery, a player.

    Args:
        output: The file; it opens from disk, without a network. [default: the name of the run and .html]
    """
    from ..view.web.report import report_of

    name, page = report_of(run)
    save(output or f"{name}.html", page.encode(), force)


def view(run: str = "output", *, port: Port = 8642, open_: Browser = True) -> None:
    """Explore a run in the browser: a heat map, all its tours, a player. The run may still be at work.

    Args:
        run: The folder of the run, its address, or a folder with several runs.
        open_: Open the page in the browser; --no-open only prints its address.
    """
    from ..view.web.server import make_app, serve

    serve(make_app(run), port, "/", open_, tell)


def play(*, size: str | None = None, port: Port = 8642, open_: Browser = True) -> None:
    """Make a tour yourself, in the browser: with hints, undo and a search that finishes it for you.

    Args:
        size:
            The board, of 3 to 20 rows and columns: 8 is 8x8, 5x6 has 5 rows and 6 columns. Without it the board of the last
            game, or 8x8.
        open_: Open the page in the browser; --no-open only prints its address.
    """  # noqa: E501
    from ..view.web.pages import board_of
    from ..view.web.server import make_app, serve

    path = f"/play?size={board_of(size)}" if size else "/play"
    serve(make_app(), port, path, open_, tell)
