"""A tour as an SVG picture: the board, the path, and the number of each square."""

from __future__ import annotations

from collections.abc import Sequence

from ..board import Board, column_name

CELL = 40
MARGIN = 22


def tour_svg(board: Board, tour: Sequence[int], closed: bool) -> str:
    """The picture as one self-contained SVG document, row 1 at the bottom."""
    width, height = board.cols * CELL + 2 * MARGIN, board.rows * CELL + 2 * MARGIN
    kind = "Closed" if closed else "Open"
    title = f"{kind} knight's tour of the {board} board from {board.name(tour[0])}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            f' role="img" font-family="sans-serif">',
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#fbfaf7"/>',
            *_squares(board),
            *_labels(board),
            *_path(board, tour, closed),
            *_numbers(board, tour),
            "</svg>\n",
        ]
    )


def centre(board: Board, square: int) -> tuple[int, int]:
    """Where the middle of a square is in the picture."""
    row, col = divmod(square, board.cols)
    return MARGIN + col * CELL + CELL // 2, MARGIN + (board.rows - 1 - row) * CELL + CELL // 2


def _squares(board: Board) -> list[str]:
    half = CELL // 2
    corners = ((square, *centre(board, square)) for square in range(board.squares))
    return [
        f'<rect x="{x - half}" y="{y - half}" width="{CELL}" height="{CELL}"'
        f' fill="{"#d9cdb8" if board.is_dark(square) else "#f3ecdf"}"/>'
        for square, x, y in corners
    ]


def _labels(board: Board) -> list[str]:
    style = 'font-size="11" fill="#6b6357" text-anchor="middle"'
    below = board.rows * CELL + MARGIN + MARGIN // 2 + 4
    columns = [
        f'<text x="{centre(board, col)[0]}" y="{below}" {style}>{column_name(col)}</text>' for col in range(board.cols)
    ]
    rows = [
        f'<text x="{MARGIN // 2}" y="{centre(board, row * board.cols)[1] + 4}" {style}>{row + 1}</text>'
        for row in range(board.rows)
    ]
    return columns + rows


def _path(board: Board, tour: Sequence[int], closed: bool) -> list[str]:
    points = " ".join("{},{}".format(*centre(board, square)) for square in tour)
    shape = "polygon" if closed else "polyline"
    return [f'<{shape} points="{points}" fill="none" stroke="#1f4e79" stroke-width="2" stroke-linejoin="round"/>']


def _numbers(board: Board, tour: Sequence[int]) -> list[str]:
    """Each square's number on a disc of its own: green where the tour starts, red where it ends."""
    colours = dict.fromkeys(range(len(tour)), ("#fbfaf7", "#222222"))
    colours |= {len(tour) - 1: ("#b3261e", "#ffffff"), 0: ("#2e7d32", "#ffffff")}
    size = 11 if len(tour) < 1000 else 8
    lines = [f'<g font-size="{size}" text-anchor="middle" stroke="#1f4e79">']
    for move, square in enumerate(tour):
        x, y = centre(board, square)
        disc, ink = colours[move]
        lines.append(f'<circle cx="{x}" cy="{y}" r="10" fill="{disc}"/>')
        lines.append(f'<text x="{x}" y="{y + 4}" fill="{ink}" stroke="none">{move + 1}</text>')
    return [*lines, "</g>"]
