"""Which boards can have a tour at all, and which squares can start one: what is known without a search."""

from __future__ import annotations

from .board import Board


def why_no_tour(board: Board) -> str | None:
    """Why no tour of any kind exists on the board, or None.

    Cull and De Curtins (1978): every board with both sides at least 5 has a tour. Narrower boards are known one by
    one: 3 rows need 4 or at least 7 columns, 4 rows at least 5 (or 3), and 1 or 2 rows allow none but 1x1.
    """
    short, long = sorted((board.rows, board.cols))
    if board.missing is not None and (short < 5 or board.squares % 2 == 0):
        return "a corner may be missing where both sides are odd and at least 5"
    if short >= 5 or (short, long) == (1, 1):
        return None
    if short <= 2:
        return "a knight cannot visit all squares of a board only one or two squares wide"
    if short == 3 and long != 4 and long < 7:
        return "a board with 3 rows or columns has a tour only if the other side is 4 or at least 7"
    if (short, long) == (4, 4):
        return "a board with 4 rows or columns has a tour only if the other side is 3 or at least 5"
    return None


def why_no_closed_tour(board: Board) -> str | None:
    """Why no closed tour exists on the board, or None: Schwenk's theorem (1991)."""
    short, long = sorted((board.rows, board.cols))
    if board.length % 2:
        return "no closed tour visits an odd number of squares"
    if short in (1, 2, 4):
        return f"no closed tour exists on a board {short} squares wide (Schwenk 1991)"
    if short == 3 and long in (4, 6, 8):
        return "a board with 3 rows or columns has a closed tour only if the other side is even and at least 10 " \
            "(Schwenk 1991)"  # fmt: skip
    return None


def why_no_tour_from(board: Board, square: int, variant: str = "both") -> str | None:
    """Why no tour starts on this square of a board that has tours, or None.

    The colours alternate along a tour, so on an odd board it starts and ends on the colour that has one square more.

    A corner has two neighbours, and a tour that does not come through both ends there. On a board three or five squares
    wide some squares are next to two corners: from there, one of them is the second square and the other is the last.
    """
    if square == board.missing:
        return "this corner is missing"
    if board.length % 2 and not board.is_dark(square):
        return "a tour of a board with an odd number of squares starts on the colour of its corners"
    corners = {0, board.cols - 1, board.squares - board.cols, board.squares - 1} - {board.missing}
    if variant == "open" and sum(are_near(square, corner, board.cols) for corner in corners) > 1:
        return "every tour from a square next to two corners is closed"
    return None


def are_near(square: int, other: int, cols: int) -> bool:
    """Whether two squares are a knight's move apart."""
    return abs(square // cols - other // cols) * abs(square % cols - other % cols) == 2
