"""The commands that show tours: on the terminal, in files, and in the browser."""

from __future__ import annotations

import os
import sys
from typing import Annotated

from cyclopts import Parameter

from ..model.errors import BadRequest
from .request import Output, Whole
from .speech import save, tell

Start = Annotated[str | None, Parameter(help="Only tours from this square. [default: any]")]
Variant = Annotated[str | None, Parameter(help="Only open or closed tours. [default: any]")]
Port = Annotated[Whole, Parameter(help="Port of the pages, on this machine only; 0 takes any free port.")]
Browser = Annotated[bool, Parameter(name="--open", negative="--no-open", show_default=False)]


def show(
    run: Output,
    *,
    start: Start = None,
    variant: Variant = None,
    number: Whole = 1,
    svg: str | None = None,
    png: str | None = None,
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
        save(svg, tour_svg(source.board, tour.tolist(), closed).encode())
    if png is not None:
        save(png, tour_png(source.board, tour.tolist(), closed))
    if svg is None and png is None:
        tell(as_text(source.board, tour))


def export(
    run: Output,
    *,
    format_: Annotated[str, Parameter(name="--format")] = "txt",
    output: str | None = None,
    start: Start = None,
    variant: Variant = None,
    max_: Annotated[Whole, Parameter(name="--max")] = 0,
    split: str = "",
) -> None:
    """Write many tours of a run as text, CSV, JSON lines or pictures.

    Args:
        format_: txt (boards with numbers), csv or jsonl (a line for each tour), or svg (a picture for each tour).
        output: A file; for svg and with --split a new folder. [default: standard output]
        max_: At most so many tours; 0 means all.
        split:
            start: a file for each start square, and counts.csv; kind: open and closed, structured and unstructured tours
            apart, with counts.csv and, of a greedy run, times.csv. [default: one file]
    """  # noqa: E501
    from ..catalog.reader import Run
    from ..view.export import Choice
    from ..view.export import export as export_tours

    choice = Choice(format_, start, variant, max_, split)
    try:
        count, files = export_tours(Run(run), choice, output, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read it has enough
        return
    except OSError as error:
        if output is None:
            raise
        raise BadRequest(f"cannot write: {output!r} ({error.strerror or error})") from None
    if files:
        tell(f"wrote {count:,} tours to {output}" + (f" ({len(files):,} files)" if len(files) > 1 else ""))


def report(run: Output, *, output: str | None = None) -> None:
    """Write a run as one HTML file to share: summary, heat map, tours over iterations, a gallery, a player.

    Args:
        output: The file; it opens from disk, without a network. [default: the name of the run and .html]
    """
    from ..view.web.report import report_of

    name, page = report_of(run)
    save(output or f"{name}.html", page.encode())


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
