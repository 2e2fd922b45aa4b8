"""A strategy whose jobs have no start square: it numbers all open tours of a board and deals them to jobs in turn.

Its tours have a column of their own, their number.
"""

from functools import lru_cache
from itertools import count

import numpy as np

from enumerate.model.batch import Column
from enumerate.model.settings import Setting
from enumerate.model.theorems import are_near
from enumerate.model.tour import are_structured, symmetries
from enumerate.search.strategy import Strategy


@lru_cache
def open_tours(board):
    """All of them, in the order of their squares."""
    return list(_open_tours(board))


def _open_tours(board):
    paths = [(square,) for square in reversed(range(board.squares))]
    while paths:
        path = paths.pop()
        if len(path) == board.length and not are_near(path[0], path[-1], board.cols):
            yield path
        paths += [(*path, square) for square in reversed(board.neighbours[path[-1]]) if square not in path]


class Dealing:
    """The cursor is the number of the next tour; at first there is none. A tour takes one iteration."""

    dead_ends = left_out = given_up = 0

    def __init__(self, config, job):
        jobs = dict(config.own)["jobs"]
        self.board, self.first, self.jobs = config.board, job.number, jobs
        self.tours = dict(list(enumerate(open_tours(config.board)))[job.number :: jobs])

    def resume(self, cursor, iterations):
        self.next, self.iterations = cursor[0] if cursor else self.first, iterations

    @property
    def exhausted(self):
        return self.next not in self.tours

    @property
    def cursor(self):
        return () if self.exhausted else (self.next,)

    def fill(self, batch, found, limit):
        for at in count(found):
            if self.exhausted or at == len(batch.tours) or self.iterations >= limit:
                break
            self.iterations += 1
            batch.tours[at], batch.iterations[at], batch.more[0][at] = self.tours[self.next], self.iterations, self.next
            self.next += self.jobs
        rows = slice(found, at)
        batch.closed[rows] = np.zeros(at - found, dtype=bool)
        batch.structured[rows] = are_structured(self.board, batch.tours[rows])
        batch.symmetry[rows] = symmetries(self.board, batch.tours[rows])
        return at


class Dealt(Strategy):
    summary = "all open tours, dealt to jobs in turn"
    settings = (
        Setting("jobs", 3, "How many jobs.", low=1, high=1_000),
        Setting("tint", 0, "Came later, and changes nothing.", low=0, high=9, is_recent=True),
    )
    columns = (Column("number", "int64", "Number of the tour among all open ones."),)
    is_complete = True

    def count_jobs(self, config):
        return dict(config.own)["jobs"]

    def search(self, config, job):
        return Dealing(config, job)


DEALT = Dealt()
