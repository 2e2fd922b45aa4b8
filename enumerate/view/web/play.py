"""The pages on which a knight moves, the game and the watched search, and the real search that answers both, limited so
that nobody has to wait.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from threading import Lock
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ...model.batch import batch_arrays
from ...model.board import Board
from ...model.config import Config
from ...model.jobs import Job
from ...model.settings import MOVE_ORDER, parse_moves
from ...model.theorems import are_near, why_no_tour, why_no_tour_from
from ...model.values import one_of
from ...search.strategy import make_search, strategy_of
from .pages import LARGEST, SMALLEST, board_of, page, parameters, parse_path

SIZE = "8x8"  # of a new game
STRATEGIES = {
    "warnsdorff": "Warnsdorff's order, with backtracking",
    "backtrack": "backtracking in a fixed order",
    "greedy": "Warnsdorff's rule without retreats",
}
VARIANTS = {"both": "any tour", "open": "an open tour", "closed": "a closed tour"}
FOUND, NONE, GIVEN_UP, UNKNOWN = "found", "none", "given up", "unknown"

FINISH_ITERATIONS = 4_000_000  # in all: less than a second
SHUFFLED_ITERATIONS = 100_000
FIRST_ITERATIONS = 20_000_000  # a second or two, once for each watched search

_turn = Lock()  # one search at a time: one person uses the pages, and the machine has other work


def routes() -> list[BaseRoute]:
    return [
        Route("/play", play_page),
        Route("/play/help", help_page),
        Route("/play/answer.json", play_json),
        Route("/watch", watch_page),
        Route("/watch/answer.json", watch_json),
    ]


def play_page(request: Request) -> Response:
    asked = parameters(request.query_params, ("size",))
    return _board_page("play", board_of(asked.get("size", SIZE)), size_given="size" in asked)


def help_page(request: Request) -> Response:
    parameters(request.query_params, ())
    return page("play_help.html", "play")


def play_json(request: Request) -> Response:
    """How a path continues: to a whole tour if a short search finds one, and by which next square."""
    asked = parameters(request.query_params, ("size", "path"))
    board = board_of(asked.get("size", SIZE))
    path = parse_path(board, asked.get("path", ""))
    answer = finish(board, path)
    return JSONResponse({**asdict(answer), "hint": next_square(board, path, answer.tour)})


def watch_page(request: Request) -> Response:
    wanted = watched(request.query_params)
    choices = {"strategies": STRATEGIES, "variants": VARIANTS, "moves": parse_moves(MOVE_ORDER)}
    return _board_page("watch", wanted.board, wanted=wanted, **choices)


def watch_json(request: Request) -> Response:
    return JSONResponse(asdict(first_tour(watched(request.query_params))))


def watched(params: QueryParams) -> Config:
    """The search to watch, without pruning: the display shows every step."""
    asked = parameters(params, ("size", "strategy", "variant", "start"))
    board = board_of(asked.get("size", "6x6"))
    strategy, variant = asked.get("strategy", "warnsdorff"), asked.get("variant", "both")
    one_of("strategy", strategy, tuple(STRATEGIES))
    one_of("variant", variant, tuple(VARIANTS))
    start = board.name(board.square(asked.get("start", "a1")))
    return Config(board=board, strategy=strategy, variant=variant, start=start, prune=False)


def _board_page(section: str, board: Board, **values: Any) -> Response:
    """A page with a board and fields to choose another."""
    shape = {"rows": board.rows, "cols": board.cols, "missing": None}
    return page(f"{section}.html", section, board=shape, smallest=SMALLEST, largest=LARGEST, **values)


# ---------------------------------------------------------------------------------------------------------------------
# The real search.


@dataclass(frozen=True)
class Answer:
    """The result of a search. The state is `none` only if the search was exhausted, or a theorem excludes a tour."""

    state: str
    tour: list[int] | None = None
    closed: bool = False
    iterations: int | None = None  # up to the tour, or to the end; None if only another search counted them
    seconds: float = 0.0
    why: str = ""


def finish(
    board: Board, path: Sequence[int], most: int = FINISH_ITERATIONS, most_shuffled: int = SHUFFLED_ITERATIONS
) -> Answer:
    """A tour that begins with the path; an empty path may start anywhere.

    `most` limits the iterations; about half of them go into searches of `most_shuffled` each.
    """
    why = why_no_tour(board)
    if why:
        return Answer(NONE, why=why)
    attempts = list(_attempts(board, most // 2, most_shuffled))
    if path:
        return _from_path(board, path, attempts)
    # The first square that leads to a tour, one of each class of squares; corners come first.
    starts = sorted(board.classes, key=lambda square: len(board.neighbours[square]))
    answers = (_from_path(board, (start,), attempts) for start in starts)
    return next((answer for answer in answers if answer.state == FOUND), Answer(UNKNOWN))


def _attempts(board: Board, most: int, most_shuffled: int) -> Iterator[tuple[Config, int]]:
    """Searches and their limits, one after the other: half of the work in Warnsdorff's order, half in orders that
    differ here and there. On large boards one wrong turn near the start would keep the first search busy for ever.
    """
    plain = Config(board=board, variant="both")
    yield plain, most
    for seed in range(most // most_shuffled):
        yield replace(plain, h_prob=0.9, seed=seed), most_shuffled


def _from_path(board: Board, path: Sequence[int], attempts: Sequence[tuple[Config, int]]) -> Answer:
    why = why_no_tour_from(board, path[0])
    if why:
        return Answer(NONE, why=why)
    iterations, seconds = 0, 0.0
    for config, limit in attempts:
        answer = _search(config, path, limit)
        iterations, seconds = iterations + (answer.iterations or 0), seconds + answer.seconds
        if answer.state != UNKNOWN:
            break
    return replace(answer, iterations=iterations, seconds=seconds)


def first_tour(config: Config, most: int = FIRST_ITERATIONS) -> Answer:
    """The first tour of a search without pruning from a square, and after how many placements it is found.

    If that takes more than `most`, a search with pruning is made: it finds the same tour first, with fewer placements.
    """
    path = (config.board.square(config.start),)
    answer = _search(config, path, most)
    if answer.state != UNKNOWN or not strategy_of(config).is_complete:
        return answer
    pruned = _search(replace(config, prune=True), path, most)
    return replace(pruned, iterations=None, seconds=answer.seconds + pruned.seconds)


def _search(config: Config, path: Sequence[int], limit: int) -> Answer:
    with _turn:
        search = make_search(config, Job(0, tuple(path)))
        batch = batch_arrays(1, config.board, strategy_of(config).has_times)
        search.resume(tuple(path), 0)
        began = time.perf_counter()
        found = 0 if search.exhausted else search.fill(batch, 0, limit)
        seconds = time.perf_counter() - began
    if found:
        tour = batch.tours[0].tolist()
        closed = are_near(tour[0], tour[-1], config.board.cols)
        return Answer(FOUND, tour, closed, int(batch.iterations[0]), seconds)
    state = GIVEN_UP if search.given_up else NONE if search.exhausted else UNKNOWN
    return Answer(state, iterations=search.iterations, seconds=seconds)


def next_square(board: Board, path: Sequence[int], tour: Sequence[int] | None) -> int | None:
    """The next square of a tour that was found, else that of Warnsdorff's rule (fewest onward moves, ties by square
    number); None at a dead end.
    """
    if tour and len(path) < board.length:
        return tour[len(path)]
    if not path:
        return None
    visited = set(path)
    allowed = [square for square in board.neighbours[path[-1]] if square not in visited]
    return min(allowed, default=None, key=lambda square: len(set(board.neighbours[square]) - visited))
