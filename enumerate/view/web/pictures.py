"""Tours as pictures for pages and as files to keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from markupsafe import Markup
from starlette.responses import JSONResponse

from ...model.board import Board
from ...model.errors import BadRequest
from ...model.tour import as_text
from ..png import PNG_SQUARES, tour_png
from ..svg import SVG_SQUARES, tour_svg
from .filters import Found

PLAYER_SQUARES = 10_000  # a browser animates no more
LARGE_SQUARES = 1_000  # a large picture of more has no numbers until the player draws it
NUMBERED_SQUARES = 144  # on small pictures of larger boards nobody could read the numbers
GALLERY_TOURS, GALLERY_SQUARES = 12, 20_000


def page_tours(board: Board) -> int:
    """How many tours a page of the gallery shows."""
    return max(1, min(GALLERY_TOURS, GALLERY_SQUARES // board.squares))


def gallery_item(board: Board, found: Found) -> dict[str, Any]:
    """A tour as the gallery shows it."""
    return {"found": found, "end": board.name(found.squares[-1]), "picture": picture(board, found)}


def picture(board: Board, found: Found, numbers: bool | None = None) -> Markup | None:
    """A picture for a page, or None of a board that is too large for one."""
    if board.squares > SVG_SQUARES:
        return None
    shown = board.squares <= NUMBERED_SQUARES if numbers is None else numbers
    return Markup(tour_svg(board, found.squares, found.variant == "closed", shown))


def player(board: Board, found: Found) -> dict[str, Any]:
    """What the player is given: the board and the tour, if a browser can animate it, and a picture in any case."""
    return {
        "board": {"rows": board.rows, "cols": board.cols, "missing": board.missing},
        "squares": found.squares if board.squares <= PLAYER_SQUARES else None,
        "closed": found.variant == "closed",
        "picture": picture(board, found, numbers=board.squares <= LARGE_SQUARES),
    }


def _svg(board: Board, found: Found) -> str:
    if board.squares > SVG_SQUARES:
        raise BadRequest(f"a picture has at most {SVG_SQUARES:,} squares: {board}; as text every tour can be had")
    return tour_svg(board, found.squares, found.variant == "closed")


def _png(board: Board, found: Found) -> bytes:
    if board.squares > PNG_SQUARES:
        raise BadRequest(f"a PNG picture has at most {PNG_SQUARES:,} squares: {board}; SVG takes more")
    return tour_png(board, found.squares, found.variant == "closed")


def _text(board: Board, found: Found) -> str:
    return as_text(board, np.array(found.squares)) + "\n"


def _json(_board: Board, found: Found) -> bytes:
    return bytes(JSONResponse(asdict(found)).body)


# The files that a tour can be kept as: how each is made, and its media type.
FILES: dict[str, tuple[Callable[[Board, Found], str | bytes], str]] = {
    "svg": (_svg, "image/svg+xml"),
    "png": (_png, "image/png"),
    "txt": (_text, "text/plain"),
    "json": (_json, "application/json"),
}
