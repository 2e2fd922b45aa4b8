"""Watching a search: the page, and the real search that is done long before the display."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ...model.board import Board
from ...model.config import MOVE_ORDER, Config, parse_moves
from .pages import page
from .params import LARGEST, SMALLEST, board_of, one_of, single
from .solver import first_tour

STRATEGIES = {
    "warnsdorff": "Warnsdorff's order, with retreats",
    "backtrack": "backtracking in a fixed order",
    "greedy": "Warnsdorff's rule alone, never back",
}
VARIANTS = {"both": "any tour", "open": "an open tour", "closed": "a closed tour"}


@dataclass(frozen=True)
class Wanted:
    """A search to be watched."""

    board: Board
    strategy: str
    variant: str
    start: int

    @property
    def config(self) -> Config:
        """Without pruning: the display shows every step."""
        return Config(board=self.board, strategy=self.strategy, variant=self.variant, prune=False)


def routes() -> list[BaseRoute]:
    return [Route("/watch", watch_page), Route("/watch/answer.json", answer_json)]


def parse_wanted(params: QueryParams) -> Wanted:
    asked = single(params, ("size", "strategy", "variant", "start"))
    board = board_of(asked.get("size", "6x6"))
    return Wanted(
        board,
        one_of("strategy", asked.get("strategy", "warnsdorff"), tuple(STRATEGIES)),
        one_of("variant", asked.get("variant", "both"), tuple(VARIANTS)),
        board.square(asked.get("start", "a1")),
    )


def watch_page(request: Request) -> Response:
    wanted = parse_wanted(request.query_params)
    board = wanted.board
    return page(
        "watch.html",
        section="watch",
        board={"rows": board.rows, "cols": board.cols, "missing": None},
        wanted=wanted,
        start=board.name(wanted.start),
        strategies=STRATEGIES,
        variants=VARIANTS,
        moves=parse_moves(MOVE_ORDER),
        smallest=SMALLEST,
        largest=LARGEST,
    )


def answer_json(request: Request) -> Response:
    wanted = parse_wanted(request.query_params)
    return JSONResponse(asdict(first_tour(wanted.config, wanted.start)))
