"""The pages of runs: the list, one run, its tours, one tour, and the same as JSON and downloads."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ...model.board import Board
from ...model.errors import BadRequest, EnumerateError
from ...model.tour import as_text
from ..png import PNG_SQUARES, tour_png
from ..svg import SVG_SQUARES, tour_svg
from .filters import Found, Selection
from .live_run import Library, LiveRun, Snapshot, path_of
from .overview import overview
from .pages import page
from .params import CHOICES, Query, parse_query

PLAYER_SQUARES = 10_000  # a browser cannot animate more
LARGE_SQUARES = 1_000  # a large picture of a larger board has no numbers until the player draws it
NUMBERED_SQUARES = 144  # on small pictures of larger boards the numbers would be too small to read
GALLERY_TOURS, GALLERY_SQUARES = 12, 20_000

View = Callable[[Snapshot, Query], Response]


def routes(library: Library) -> list[BaseRoute]:
    def view(make: View) -> Callable[[Request], Response]:
        """A handler for the run in the address."""

        def handler(request: Request) -> Response:
            run = library.run(request.path_params["name"])
            return run.look(lambda now: make(now, parse_query(request.query_params, now.run.board)))

        return handler

    def home(_: Request) -> Response:
        if library.is_run:
            return RedirectResponse(path_of(library.names()[0]))
        return page("runs.html", section="runs", runs=[_summary(library.run(name)) for name in library.names()])

    pages: dict[str, View] = {
        "": overview_page,
        "/overview": overview_fragment,
        "/status.json": status_json,
        "/tours": tours_page,
        "/tours.json": tours_json,
        "/tour": tour_page,
        **{f"/tour.{ending}": file_view(ending) for ending in FILES},
    }
    return [Route("/", home), *(Route(f"/runs/{{name}}{end}", view(make)) for end, make in pages.items())]


def _summary(run: LiveRun) -> dict[str, Any]:
    """A line in the list of runs; for a run that cannot be read, with the error."""
    line = {"name": run.name, "path": path_of(run.name), "snapshot": None, "error": ""}
    try:
        return {**line, "snapshot": run.look(lambda now: now)}
    except (EnumerateError, OSError) as error:
        return {**line, "error": str(error)}


def overview_page(now: Snapshot, query: Query) -> Response:
    return page("run.html", section="runs", **overview(now, query))


def overview_fragment(now: Snapshot, query: Query) -> Response:
    """The part of the page that changes while a run grows."""
    return page("_overview.html", **overview(now, query))


def status_json(now: Snapshot, _query: Query) -> Response:
    return JSONResponse({"stamp": now.stamp, "state": now.state, "tours": now.tours, "totals": now.totals})


def tours_page(now: Snapshot, query: Query) -> Response:
    selection, found, pages = page_of(now, query)
    return selection_page(
        "tours.html",
        now,
        query,
        selection,
        pages=pages,
        choices=choices(now),
        items=[gallery_item(now.run.board, one) for one in found],
        written=now.run.config.write,
        stamp=now.stamp,
    )


def tours_json(now: Snapshot, query: Query) -> Response:
    selection, found, pages = page_of(now, query)
    return JSONResponse({"count": len(selection), "pages": pages, "tours": [asdict(one) for one in found]})


def page_of(now: Snapshot, query: Query) -> tuple[Selection, list[Found], int]:
    """The selected tours, a page of them, and the number of pages."""
    selection, size = Selection(now, query.wanted), page_tours(now.run.board)
    pages = max(1, -(-len(selection) // size))
    if query.page > pages:
        raise BadRequest(f"page must be from 1 to {pages:,}, got {query.page}")
    return selection, selection.page((query.page - 1) * size, size, query.sort), pages


def selection_page(template: str, now: Snapshot, query: Query, selection: Selection, **values: Any) -> Response:
    """A page about selected tours of a run, or one of them, with a link to one at random."""
    values |= {"name": now.name, "path": now.path, "query": query, "count": len(selection)}
    return page(template, section="runs", any_number=random.randint(1, max(1, len(selection))), **values)


def choices(now: Snapshot) -> dict[str, list[str]]:
    """The filters that make sense for this run."""
    variants = ["", "open", "closed"] if now.run.config.variant == "both" else []
    symmetries = [name for name in CHOICES["symmetry"] if now.totals.get(name.replace("-", "_"), True)]
    return {"variant": variants, "structured": list(CHOICES["structured"]), "symmetry": symmetries}


def tour_page(now: Snapshot, query: Query) -> Response:
    selection = Selection(now, query.wanted)
    found = selection.one(query.number, query.sort)
    size = page_tours(now.run.board)
    return selection_page(
        "tour.html",
        now,
        query,
        selection,
        found=found,
        back=query.to(f"{now.path}/tours", page=(query.number - 1) // size + 1, number=1),
        here=Query(start=found.start, variant=found.variant, number=found.position).to(f"{now.path}/tour"),
        player=player(now.run.board, found),
        files=list(FILES),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Tours as downloads.


def _svg(board: Board, found: Found) -> str:
    if board.squares > SVG_SQUARES:
        raise BadRequest(
            f"a picture has at most {SVG_SQUARES:,} squares, got {board}; download the tour as text instead"
        )
    return tour_svg(board, found.squares, found.variant == "closed")


def _png(board: Board, found: Found) -> bytes:
    if board.squares > PNG_SQUARES:
        raise BadRequest(f"a PNG picture has at most {PNG_SQUARES:,} squares, got {board}; download SVG instead")
    return tour_png(board, found.squares, found.variant == "closed")


def _text(board: Board, found: Found) -> str:
    return as_text(board, np.array(found.squares)) + "\n"


def _json(_board: Board, found: Found) -> bytes:
    return bytes(JSONResponse(asdict(found)).body)


# The formats of a download: how to make each, and its media type.
FILES: dict[str, tuple[Callable[[Board, Found], str | bytes], str]] = {
    "svg": (_svg, "image/svg+xml"),
    "png": (_png, "image/png"),
    "txt": (_text, "text/plain"),
    "json": (_json, "application/json"),
}


def file_view(ending: str) -> View:
    """A tour as a download."""
    make, media_type = FILES[ending]

    def view(now: Snapshot, query: Query) -> Response:
        found = Selection(now, query.wanted).one(query.number, query.sort)
        disposition = f'attachment; filename="{file_name(now.name, found)}.{ending}"'
        return Response(make(now.run.board, found), media_type=media_type, headers={"content-disposition": disposition})

    return view


def file_name(run: str, found: Found) -> str:
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", run).strip("-.") or "run"
    return f"{name}-{found.start}-{found.variant}-{found.position}"


# ---------------------------------------------------------------------------------------------------------------------
# Tours as pictures on pages.


def page_tours(board: Board) -> int:
    """How many tours a page of the gallery shows."""
    return max(1, min(GALLERY_TOURS, GALLERY_SQUARES // board.squares))


def gallery_item(board: Board, found: Found) -> dict[str, Any]:
    """A tour as the gallery shows it."""
    return {"found": found, "end": board.name(found.squares[-1]), "picture": picture(board, found, NUMBERED_SQUARES)}


def picture(board: Board, found: Found, numbered: int) -> Markup | None:
    """A picture for a page, with numbers on boards of at most `numbered` squares; None if the board is too large."""
    if board.squares > SVG_SQUARES:
        return None
    return Markup(tour_svg(board, found.squares, found.variant == "closed", board.squares <= numbered))


def player(board: Board, found: Found) -> dict[str, Any]:
    """The data of the player: the board, the tour if a browser can animate it, and a picture."""
    return {
        "board": {"rows": board.rows, "cols": board.cols, "missing": board.missing},
        "squares": found.squares if board.squares <= PLAYER_SQUARES else None,
        "closed": found.variant == "closed",
        "picture": picture(board, found, LARGE_SQUARES),
    }
