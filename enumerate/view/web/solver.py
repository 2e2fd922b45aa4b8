"""The real search for the pages of the game and of the watcher: short enough for someone who waits for the answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Lock

from ...model.batch import batch_arrays
from ...model.board import Board
from ...model.config import Config
from ...model.jobs import Job
from ...model.theorems import are_near, why_no_tour, why_no_tour_from
from ...search.slice import make_search

FOUND, NONE, GIVEN_UP, UNKNOWN = "found", "none", "given up", "unknown"

FINISH_ITERATIONS = 4_000_000  # in all: below a second
SHUFFLED_ITERATIONS = 100_000
FIRST_ITERATIONS = 20_000_000  # a second or two, once for each search that is watched

_turn = Lock()  # one search at a time: the pages are for one person, and the machine has other work


@dataclass(frozen=True)
class Answer:
    """What a search says. `none` is said only if nothing was left to search, or a theorem says so."""

    state: str
    tour: list[int] | None = None
    closed: bool = False
    iterations: int | None = None  # up to the tour, or to the end; None if it is not known of the search in question
    seconds: float = 0.0
    why: str = ""


def finish(board: Board, path: Sequence[int]) -> Answer:
    """A tour that begins with the path; an empty path may begin anywhere."""
    why = why_no_tour(board)
    if why:
        return Answer(NONE, why=why)
    return _from_path(board, path) if path else _from_anywhere(board)


def _from_anywhere(board: Board) -> Answer:
    """The first square from which a tour is found, of those that differ; corners come first."""
    starts = sorted(board.classes, key=lambda square: len(board.neighbours[square]))
    answers = (_from_path(board, (start,)) for start in starts)
    return next((answer for answer in answers if answer.state == FOUND), Answer(UNKNOWN))


def _from_path(board: Board, path: Sequence[int]) -> Answer:
    why = why_no_tour_from(board, path[0])
    if why:
        return Answer(NONE, why=why)
    iterations, seconds = 0, 0.0
    for config, limit in _attempts(board):
        answer = _search(config, path, limit)
        iterations, seconds = iterations + (answer.iterations or 0), seconds + answer.seconds
        if answer.state != UNKNOWN:
            break
    return replace(answer, iterations=iterations, seconds=seconds)


def _attempts(board: Board) -> Iterator[tuple[Config, int]]:
    """Searches to be made one after the other: half of the work in Warnsdorff's order, half in orders that differ from
    it here and there. On large boards one wrong turn near the beginning would take the first one for ever.
    """
    plain = Config(board=board, variant="both")
    yield plain, FINISH_ITERATIONS // 2
    for seed in range(FINISH_ITERATIONS // 2 // SHUFFLED_ITERATIONS):
        yield replace(plain, h_prob=0.9, seed=seed), SHUFFLED_ITERATIONS


def first_tour(config: Config, start: int) -> Answer:
    """The first tour of a search without pruning from a square, and after how many placements it comes.

    If that takes too long, the search with pruning is asked: it comes to the same tour first, but counts less.
    """
    answer = _search(config, (start,), FIRST_ITERATIONS)
    if answer.state != UNKNOWN or not config.is_depth_first:
        return answer
    pruned = _search(replace(config, prune=True), (start,), FIRST_ITERATIONS)
    return replace(pruned, iterations=None, seconds=answer.seconds + pruned.seconds)


def _search(config: Config, path: Sequence[int], limit: int) -> Answer:
    with _turn:
        search = make_search(config, Job(0, tuple(path)))
        batch = batch_arrays(1, config.board, config.has_times)
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


def warnsdorff_square(board: Board, path: Sequence[int]) -> int | None:
    """Where Warnsdorff's rule goes next: fewest onward moves, ties by square number; None from a dead end."""
    if not path:
        return None
    visited = set(path)
    allowed = [square for square in board.neighbours[path[-1]] if square not in visited]
    return min(allowed, default=None, key=lambda square: len(set(board.neighbours[square]) - visited))
