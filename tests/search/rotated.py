"""A strategy outside the package, in a file of its own: plain backtracking in Python, beginning with any move."""

from enumerate.model.board import MOVES
from enumerate.model.settings import Setting
from enumerate.model.theorems import are_near
from enumerate.model.tour import are_structured, symmetries
from enumerate.search.strategy import Strategy


class Search:
    """The path is the cursor: its last square is placed next."""

    dead_ends = left_out = given_up = 0

    def __init__(self, config, job):
        first = dict(config.own)["first-move"]
        self.board, self.variant, self.prefix = config.board, config.variant, job.prefix
        self.onward = [
            onward(self.board, square, MOVES[first:] + MOVES[:first]) for square in range(config.board.squares)
        ]

    def resume(self, cursor, iterations):
        self.cursor, self.iterations = cursor, iterations

    @property
    def exhausted(self):
        return not self.cursor

    def fill(self, batch, found, limit):
        first = found
        while not self.exhausted and found < len(batch.tours) and self.iterations < limit:
            self.iterations += 1
            if len(self.cursor) == self.board.length:
                closed = are_near(self.cursor[0], self.cursor[-1], self.board.cols)
                if self.variant in ("both", ("open", "closed")[closed]):
                    batch.tours[found], batch.iterations[found], batch.closed[found] = (
                        self.cursor,
                        self.iterations,
                        closed,
                    )
                    found += 1
            self.cursor = self.following(self.cursor)
        tours = batch.tours[first:found]
        batch.structured[first:found] = are_structured(self.board, tours)
        batch.symmetry[first:found] = symmetries(self.board, tours)
        return found

    def following(self, path):
        """The path that is placed after this one: longer by a square, or with another square at its end."""
        tried = 0
        while True:
            for square in self.onward[path[-1]][tried:]:
                if square not in path:
                    return (*path, square)
            if len(path) == len(self.prefix):
                return ()
            path, last = path[:-1], path[-1]
            tried = self.onward[path[-1]].index(last) + 1


def onward(board, square, moves):
    """The squares that these moves lead to, in their order."""
    row, col = divmod(square, board.cols)
    reached = [(row + down, col + right) for down, right in moves]
    return [down * board.cols + right for down, right in reached if 0 <= down < board.rows and 0 <= right < board.cols]


class Rotated(Strategy):
    summary = "backtracking that begins with another move"
    settings = (Setting("first-move", 0, "Which of the eight moves to try first.", low=0, high=7),)
    is_complete = True

    def search(self, config, job):
        return Search(config, job)


ROTATED = Rotated()
