"""Tours as arrays: one row a tour, one column a move, each value a square. Checked and classified without the kernel.

Everything here works from the definition of a tour alone, so that it can judge what the search has found.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .board import Board

Tours = NDArray[np.unsignedinteger]

# How a tour can be symmetric. A closed one: its moves, the closing move among them, are mapped onto themselves; an open
# one: turned by 180 degrees, it is its own reversal. There is no other way for an open one.
SYMMETRIES = ("none", "path-180", "closed-180", "closed-90", "closed-reflection")

EFFORTS = ("placements", "attempts", "nanoseconds")  # columns of a batch's efforts; negative nanoseconds are not known


@dataclass(frozen=True)
class Batch:
    """Tours in memory, in the order they were found, and when: after so many iterations; and of which kind they are.

    Efforts tell what each tour took; only strategies that make one tour after the other fill them in.
    """

    tours: Tours
    iterations: NDArray[np.int64]
    closed: NDArray[np.bool_]
    structured: NDArray[np.bool_]
    symmetry: NDArray[np.uint8]  # a place in SYMMETRIES
    efforts: NDArray[np.int64]

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """The arrays that every kernel fills, in their order."""
        return self.tours, self.iterations, self.closed, self.structured, self.symmetry

    def head(self, count: int) -> Batch:
        return self[slice(count)]

    def __getitem__(self, rows: slice | NDArray[np.bool_]) -> Batch:
        tours, iterations, closed, structured, symmetry = (column[rows] for column in self.columns)
        return Batch(tours, iterations, closed, structured, symmetry, self.efforts[rows])


def batch_arrays(capacity: int, board: Board) -> Batch:
    """Room for a batch."""
    return Batch(
        np.empty((capacity, board.length), dtype=square_dtype(board)),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity, dtype=np.bool_),
        np.empty(capacity, dtype=np.bool_),
        np.empty(capacity, dtype=np.uint8),
        np.empty((capacity, len(EFFORTS)), dtype=np.int64),
    )


def square_dtype(board: Board) -> np.dtype[np.unsignedinteger]:
    """The type of one square in memory and on disk: one byte up to 256 squares, then two, then four, little endian."""
    return np.dtype("u1" if board.squares <= 256 else "<u2" if board.squares <= 65_536 else "<u4")


def are_complete(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether it visits every square exactly once."""
    every = np.delete(np.arange(board.squares), [] if board.missing is None else board.missing)
    if board.squares <= 64:
        bits = np.zeros(256, dtype=np.uint64)
        bits[: board.squares] = np.uint64(1) << np.arange(board.squares, dtype=np.uint64)
        result: NDArray[np.bool_] = np.bitwise_or.reduce(bits[tours], axis=1) == np.bitwise_or.reduce(bits[every])
        return result
    return np.asarray((np.sort(tours, axis=1) == every).all(axis=1))


def are_legal(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether every step is a knight's move. Its squares must be on the board."""
    return np.asarray(_are_moves(board, tours[:, :-1], tours[:, 1:]).all(axis=1))


def are_closed(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether its last square is a knight's move from its first."""
    return _are_moves(board, tours[:, -1], tours[:, 0])


def _are_moves(board: Board, before: Tours, after: Tours) -> NDArray[np.bool_]:
    row_of, col_of = (part.astype(np.int32) for part in divmod(np.arange(board.squares), board.cols))
    down = np.abs(row_of[after] - row_of[before])
    right = np.abs(col_of[after] - col_of[before])
    return np.asarray(down * right == 2)


def places(board: Board, tours: Tours) -> NDArray[np.int32]:
    """For each tour the number of the move that reaches each square, from 0; -1 for a square it does not visit."""
    result = np.full((len(tours), board.squares), -1, dtype=np.int32)
    result[np.arange(len(tours))[:, None], tours] = np.arange(tours.shape[1], dtype=np.int32)
    return result


def are_structured(board: Board, tours: Tours) -> NDArray[np.bool_]:
    """For each tour whether it has the two moves next to each corner; the closing move of a closed tour counts."""
    moves, place = board.corner_moves, places(board, tours)
    if not moves:
        return np.zeros(len(tours), dtype=np.bool_)
    one, other = np.array(moves).T
    apart = np.abs(place[:, one] - place[:, other])
    closing = are_closed(board, tours)[:, None] & (apart == tours.shape[1] - 1)
    return np.asarray(((apart == 1) | closing).all(axis=1))


def symmetries(board: Board, tours: Tours) -> NDArray[np.uint8]:
    """For each tour its place in SYMMETRIES."""
    closed, result = are_closed(board, tours), np.zeros(len(tours), dtype=np.uint8)
    turned = board.squares - 1 - tours[:, ::-1].astype(np.int64)  # by 180 degrees, and reversed
    result[~closed & (turned == tours).all(axis=1)] = SYMMETRIES.index("path-180")
    chosen = np.flatnonzero(closed)
    if len(chosen):
        result[chosen] = _cycle_symmetries(board, tours[chosen])
    return result


def _cycle_symmetries(board: Board, tours: Tours) -> NDArray[np.uint8]:
    place, result = places(board, tours), np.zeros(len(tours), dtype=np.uint8)
    for row_step, col_step, swap, name in (
        (1, -1, False, "closed-reflection"), (-1, 1, False, "closed-reflection"), (1, 1, True, "closed-reflection"),
        (-1, -1, True, "closed-reflection"), (-1, -1, False, "closed-180"), (1, -1, True, "closed-90"),
    ):  # fmt: skip
        if not swap or board.rows == board.cols:
            suspects = np.flatnonzero(_begins_mapped(board, tours, place, row_step, col_step, swap))
            mapped = _are_mapped(board, tours[suspects], place[suspects], row_step, col_step, swap)
            result[suspects[mapped]] = SYMMETRIES.index(name)  # a quarter turn comes last: it implies a half turn
    return result


def _image(board: Board, squares: Tours, row_step: int, col_step: int, swap: bool) -> NDArray[np.int64]:
    """The squares after a symmetry of the board: mirrored rows or columns where the step is -1, then swapped."""
    rows, cols = divmod(squares.astype(np.int64), board.cols)
    rows = rows if row_step == 1 else board.rows - 1 - rows
    cols = cols if col_step == 1 else board.cols - 1 - cols
    return np.asarray(cols * board.cols + rows if swap else rows * board.cols + cols)


def _begins_mapped(
    board: Board, tours: Tours, place: NDArray[np.int32], row_step: int, col_step: int, swap: bool
) -> NDArray[np.bool_]:
    """For each closed tour whether the image of its first move is one of its moves: most tours need no closer look."""
    at, following = (place[np.arange(len(tours)), _image(board, tours[:, i], row_step, col_step, swap)] for i in (0, 1))
    apart = np.abs(following - at)
    return np.asarray((at >= 0) & (following >= 0) & ((apart == 1) | (apart == tours.shape[1] - 1)))


def _are_mapped(
    board: Board, tours: Tours, place: NDArray[np.int32], row_step: int, col_step: int, swap: bool
) -> NDArray[np.bool_]:
    """For each closed tour whether the images of all its moves are moves of it."""
    images = np.take_along_axis(place, _image(board, tours, row_step, col_step, swap), axis=1)
    apart = np.abs(images - np.roll(images, 1, axis=1))
    on_board = (images >= 0).all(axis=1)
    return np.asarray(on_board & ((apart == 1) | (apart == tours.shape[1] - 1)).all(axis=1))


def canonical(board: Board, tours: Tours) -> Tours:
    """For each tour the first of its class: tours that the board's symmetries and reversal make of it.

    Closed tours may also start on another square.
    """
    images = [np.asarray(symmetry, dtype=tours.dtype)[tours] for symmetry in board.symmetries]
    closed = are_closed(board, tours)[:, None]
    candidates = []
    for image in images:
        turned = np.where(closed, _from_lowest(image), image)
        back = np.where(closed, np.roll(turned[:, ::-1], 1, axis=1), turned[:, ::-1])
        candidates += [turned, back]
    best = candidates[0].copy()
    for candidate in candidates[1:]:
        differ = candidate != best
        first = differ.argmax(axis=1)
        rows = np.arange(len(tours))
        less = candidate[rows, first] < best[rows, first]
        best[less] = candidate[less]
    return best


def _from_lowest(tours: Tours) -> Tours:
    """Closed tours, each from its lowest square on."""
    length = tours.shape[1]
    shift = (tours.argmin(axis=1)[:, None] + np.arange(length)) % length
    return np.take_along_axis(tours, shift, axis=1)


def hashes(tours: Tours) -> NDArray[np.uint64]:
    """A 64-bit hash of each tour; equal tours have equal hashes."""
    count, width = len(tours), tours.shape[1] * tours.dtype.itemsize
    if width > 4096:  # a column at a time would be slow
        digests = [hashlib.blake2b(tour.tobytes(), digest_size=8).digest() for tour in tours]
        return np.frombuffer(b"".join(digests), dtype="<u8")
    padded = np.zeros((count, -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = np.ascontiguousarray(tours).view(np.uint8).reshape(count, width)
    result = np.zeros(count, dtype=np.uint64)
    for word in padded.view("<u8").T:
        result = (result ^ word) * np.uint64(0x9E3779B97F4A7C15)
        result ^= result >> np.uint64(29)
    return result


def as_text(board: Board, tour: Tours) -> str:
    """One tour as a board: the number of the move that reaches each square, row 1 at the bottom."""
    rows = (places(board, tour[None, :])[0] + 1).reshape(board.rows, board.cols)[::-1].tolist()
    width = len(str(board.squares))
    return "\n".join(" ".join(f"{number or '':>{width}}" for number in row) for row in rows)
