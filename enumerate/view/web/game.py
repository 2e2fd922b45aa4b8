"""The game: its page, its help, and the real search that hints and finishes."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from .pages import page
from .params import LARGEST, SMALLEST, board_of, path_of, single
from .solver import finish, warnsdorff_square

SIZE = "8x8"


def routes() -> list[BaseRoute]:
    return [Route("/play", play_page), Route("/play/help", help_page), Route("/play/answer.json", answer_json)]


def play_page(request: Request) -> Response:
    asked = single(request.query_params, ("size",))
    board = board_of(asked.get("size", SIZE))
    return page(
        "play.html",
        section="play",
        board={"rows": board.rows, "cols": board.cols, "missing": None},
        smallest=SMALLEST,
        largest=LARGEST,
        size_given="size" in asked,
    )


def help_page(request: Request) -> Response:
    single(request.query_params, ())
    return page("play_help.html", section="play")


def answer_json(request: Request) -> Response:
    """How a path goes on: by Warnsdorff's rule, and by a whole tour if one is found soon."""
    asked = single(request.query_params, ("size", "path"))
    board = board_of(asked.get("size", SIZE))
    path = path_of(board, asked.get("path", ""))
    answer = finish(board, path)
    following = answer.tour[len(path)] if answer.tour and len(path) < board.length else warnsdorff_square(board, path)
    return JSONResponse({**asdict(answer), "hint": following})
