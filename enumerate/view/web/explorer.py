"""The pages of runs: a list of them, one of them, its tours, one tour, and the same as JSON and as files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ...model.board import Board
from ...model.errors import BadRequest, EnumerateError
from ...model.numbers import plain, short, short_time
from ...model.tour import as_text
from ...model.values import in_range
from ...search.strategy import identity_of, strategy_of
from ..picture import CELL, PNG_SQUARES, SVG_SQUARES, board_svg, centre, shade_of, tour_png, tour_svg
from .filters import Found, Selection
from .live_run import Library, LiveRun, Snapshot, path_of
from .pages import CHOICES, MEASURES, TEMPLATES, Query, page, parse_query

PLAYER_SQUARES = 10_000  # a browser cannot animate more
LARGE_SQUARES = 1_000  # a large picture of a larger board has no numbers until the player draws it
NUMBERED_SQUARES = 144  # on small pictures of larger boards the numbers would be too small to read
MAP_SQUARES = 2_500  # more links than this are too many for a page
TABLE_ROWS = 400
GALLERY_TOURS, GALLERY_SQUARES = 12, 20_000

FILES = {"svg": "image/svg+xml", "png": "image/png", "txt": "text/plain", "json": "application/json"}
STATES = {
    "exhausted": "exhausted: every tour is found",
    "finished": "finished: the strategy makes no other tours",
    "complete": "complete: every start square has spent its budget",
    "at work": "unfinished: a search is running",
    "killed": "unfinished: its search was killed, and the same command continues it",
    "unclear": "unfinished: a search is running, or was killed",
    "stopped": "unfinished: the same command continues it",
}

View = Callable[[Snapshot, Query], Response]


def routes(library: Library) -> list[BaseRoute]:
    def answer(make: View, request: Request) -> Response:
        """What `make` makes of the run in the address."""
        run = library.run(request.path_params["name"])
        return run.look(lambda now: make(now, parse_query(request.query_params, now.run.board)))

    def home(_: Request) -> Response:
        if library.is_run:
            return RedirectResponse(path_of(library.runs()[0].name))
        return page("runs.html", "runs", runs=[_summary(run) for run in library.runs()])

    pages: dict[str, View] = {
        "": partial(overview, "run.html"),
        "/overview": partial(overview, "_overview.html"),  # what changes while a run continues
        "/status.json": status_json,
        "/tours": tours_page,
        "/tours.json": tours_json,
        "/tour": tour_page,
        **{f"/tour.{ending}": partial(tour_file, ending) for ending in FILES},
    }
    return [Route("/", home), *(Route(f"/runs/{{name}}{end}", partial(answer, make)) for end, make in pages.items())]


def _summary(run: LiveRun) -> dict[str, Any]:
    """A row of the list of runs. One that cannot be read shows why, and the others are listed all the same."""
    try:
        return {"name": run.name, "path": path_of(run.name), "snapshot": run.look(lambda now: now), "error": ""}
    except (EnumerateError, OSError) as error:
        return {"name": run.name, "path": path_of(run.name), "error": str(error)}


# ---------------------------------------------------------------------------------------------------------------------
# One run: its config, its totals, and the heat map of its start squares.


def overview(template: str, now: Snapshot, query: Query) -> Response:
    picture, extent = heat_map(now, query, f"{now.path}/tours"), _extent(now, query)
    values = described(now, TABLE_ROWS)
    return page(template, "runs", **values, query=query, measures=MEASURES, heat_map=picture, extent=extent)


def status_json(now: Snapshot, _query: Query) -> Response:
    return JSONResponse({"stamp": now.stamp, "state": now.state, "tours": now.tours, "totals": now.totals})


def described(now: Snapshot, most_rows: int) -> dict[str, Any]:
    """What the overview and the report share, with a table of at most `most_rows` start squares."""
    config, manifest = now.run.config, now.run.manifest
    is_finished = now.state == "exhausted" and not strategy_of(config).is_complete
    settings = {**identity_of(config), "max": config.max, "tours": config.tours, "created": manifest.created}
    settings |= {f"version of {name}": version for name, version in manifest.versions.items()}
    return {
        "snapshot": now,
        "state": STATES["finished" if is_finished else now.state],
        "settings": {name: plain(value) for name, value in settings.items() if value != ""},
        "rows": now.rows[:most_rows],
        "more_rows": max(0, len(now.rows) - most_rows),
    }


def heat_map(now: Snapshot, query: Query, tours: str = "") -> Markup | None:
    """The map, with links if there is an address of tours; None if the board is too large for a map."""
    board = now.run.board
    if board.squares > MAP_SQUARES or not now.has_starts:
        return None
    measured = {board.square(row["start"]): (row, *_measured(row, query.by)) for row in now.rows}
    values = [value for _, value, _ in measured.values() if value]
    ends = max(values, default=0.0), min(values, default=0.0)
    cells = [
        {"middle": centre(board, square), "row": row, "text": text, "shade": shade_of(value, *ends) if value else ""}
        for square, (row, value, text) in sorted(measured.items())
    ]
    drawn = TEMPLATES.get_template("_heat.html").render(cells=cells, side=CELL, query=query, tours=tours)
    return Markup(board_svg(board, f"Start squares by {MEASURES[query.by]}", [drawn], "board heat", "group"))


def _extent(now: Snapshot, query: Query) -> tuple[str, str] | None:
    """The least and the most of the map, as text, if they differ."""
    measured = sorted(pair for row in now.rows if (pair := _measured(row, query.by))[0])
    return (measured[0][1], measured[-1][1]) if measured and measured[0] != measured[-1] else None


def _measured(row: dict[str, Any], by: str) -> tuple[float, str]:
    """What the map shows of a start square, as a number and as text."""
    if by == "first":
        first = row["first_seconds"]
        return (0.0, "–") if first is None else (first, short_time(first))
    count = row["iterations"] if by == "iterations" else row["tours_open"] + row["tours_closed"]
    return count, short(count)


# ---------------------------------------------------------------------------------------------------------------------
# Its tours.


def tours_page(now: Snapshot, query: Query) -> Response:
    count, found, pages = page_of(now, query)
    items = [gallery_item(now.run.board, one) for one in found]
    values: dict[str, Any] = {"count": count, "pages": pages, "choices": choices(now), "items": items}
    return page("tours.html", "runs", snapshot=now, query=query, **values)


def tours_json(now: Snapshot, query: Query) -> Response:
    count, found, pages = page_of(now, query)
    return JSONResponse({"count": count, "pages": pages, "tours": [asdict(one) for one in found]})


def page_of(now: Snapshot, query: Query) -> tuple[int, list[Found], int]:
    """How many tours are wanted, a page of them, and how many pages there are."""
    selection, size = Selection(now, query), page_tours(now.run.board)
    pages = max(1, -(-len(selection) // size))
    in_range("page", query.page, 1, pages)
    return len(selection), selection.page((query.page - 1) * size, size), pages


def page_tours(board: Board) -> int:
    """How many tours a page of the gallery shows."""
    return max(1, min(GALLERY_TOURS, GALLERY_SQUARES // board.squares))


def choices(now: Snapshot) -> dict[str, tuple[str, ...]]:
    """The filters that make sense for this run."""
    symmetries = (name for name in CHOICES["symmetry"] if now.totals.get(name.replace("-", "_"), True))
    variants = CHOICES["variant"] if now.run.config.variant == "both" else ()
    return {"variant": variants, "structured": CHOICES["structured"], "symmetry": tuple(symmetries)}


def tour_page(now: Snapshot, query: Query) -> Response:
    selection = Selection(now, query)
    found = selection.one()
    number_of_page = (query.number - 1) // page_tours(now.run.board) + 1
    return page(
        "tour.html",
        "runs",
        snapshot=now,
        query=query,
        count=len(selection),
        found=found,
        back=query.to(f"{now.path}/tours", page=number_of_page, number=1),
        here=Query(start=found.start if now.has_starts else "", variant=found.variant, number=found.position).to(
            f"{now.path}/tour"
        ),
        player=player(now.run.board, found),
        files=FILES,
    )


def tour_file(ending: str, now: Snapshot, query: Query) -> Response:
    found = Selection(now, query).one()
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", now.name).strip("-.") or "run"
    disposition = f'attachment; filename="{name}-{found.start}-{found.variant}-{found.position}.{ending}"'
    content = _content(ending, now.run.board, found)
    return Response(content, media_type=FILES[ending], headers={"content-disposition": disposition})


def _content(ending: str, board: Board, found: Found) -> str | bytes:
    most = {"svg": SVG_SQUARES, "png": PNG_SQUARES}.get(ending, board.squares)
    if board.squares > most:
        other = "download SVG instead" if board.squares <= SVG_SQUARES else "download the tour as text instead"
        raise BadRequest(f"a {ending.upper()} picture has at most {most:,} squares, got {board}; {other}")
    match ending:
        case "svg":
            return tour_svg(board, found.squares, found.is_closed)
        case "png":
            return tour_png(board, found.squares, found.is_closed)
        case "txt":
            return as_text(board, np.array(found.squares)) + "\n"
    return bytes(JSONResponse(asdict(found)).body)


# ---------------------------------------------------------------------------------------------------------------------
# Tours as pictures on pages.


def gallery_item(board: Board, found: Found) -> dict[str, Any]:
    return {"found": found, "end": board.name(found.squares[-1]), "picture": _picture(board, found, NUMBERED_SQUARES)}


def player(board: Board, found: Found) -> dict[str, Any]:
    """The values of the player: the board and the tour, if a browser can animate it, and a picture in any case."""
    return {
        "board": {"rows": board.rows, "cols": board.cols, "missing": board.missing},
        "squares": found.squares if board.squares <= PLAYER_SQUARES else None,
        "closed": found.is_closed,
        "picture": _picture(board, found, LARGE_SQUARES),
    }


def _picture(board: Board, found: Found, numbered: int) -> Markup | None:
    """A picture for a page, with numbers on boards of at most `numbered` squares; None if the board is too large."""
    if board.squares > SVG_SQUARES:
        return None
    return Markup(tour_svg(board, found.squares, found.is_closed, board.squares <= numbered))
