"""The board as an SVG picture: with the path and the numbers of a tour, or as a heat map with a number in each square.

A picture carries its colours, so it can be used anywhere. In a page its classes let the style sheet replace them by the
reader's palette. `web/static/board.js` draws the same picture for animation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ..model.board import Board, column_name

CELL = 40
MARGIN = 22
SVG_SQUARES = 40_000  # a browser cannot show more

# Colours of the picture, by the class for the style sheet: the default palette in light mode.
COLOURS = {
    "card-ground": "#fbfaf7",
    "light": "#f3ecdf",
    "dark": "#d9cdb8",
    "labels": "#6b6357",
    "path": "#1f4e79",
    "disc": "#fbfaf7",
    "number": "#222222",
    "first": "#2e7d32",
    "on-first": "#ffffff",
    "last": "#b3261e",
    "on-last": "#ffffff",
}

# Of a heat map, from few to many: readable under black text, and colour-blind safe.
SHADES = ("#fff7bc", "#fee391", "#fec44f", "#fe9929", "#ec7014", "#cc4c02")


def tour_svg(board: Board, tour: Sequence[int], closed: bool, numbers: bool = True) -> str:
    """The picture as one self-contained SVG document, row 1 at the bottom; without numbers it has half the size."""
    return "\n".join(
        [
            *board_lines(board, title_of(board, tour, closed)),
            *_path(board, tour, closed),
            *(_numbers(board, tour) if numbers else _ends(board, tour)),
            "</svg>\n",
        ]
    )


def title_of(board: Board, tour: Sequence[int], closed: bool) -> str:
    kind = "Closed" if closed else "Open"
    return f"{kind} knight's tour of the {board} board from {board.name(tour[0])}"


def board_lines(board: Board, title: str) -> list[str]:
    """The first lines of a picture: its frame, the empty board and the names of rows and columns."""
    width, height = size_of(board)
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img" font-family="sans-serif">',
        f"<title>{title}</title>",
        f'<rect class="card-ground" width="{width}" height="{height}" rx="8" fill="{COLOURS["card-ground"]}"/>',
        *_squares(board),
        *_labels(board),
    ]


def size_of(board: Board) -> tuple[int, int]:
    """Width and height of the picture."""
    return board.cols * CELL + 2 * MARGIN, board.rows * CELL + 2 * MARGIN


def centre(board: Board, square: int) -> tuple[int, int]:
    """The centre of a square in the picture."""
    row, col = divmod(square, board.cols)
    return MARGIN + col * CELL + CELL // 2, MARGIN + (board.rows - 1 - row) * CELL + CELL // 2


def _squares(board: Board) -> list[str]:
    """A light ground, and all dark squares as one path, which is most of the picture of a large board."""
    dark = (square for square in range(board.squares) if board.is_dark(square) and square != board.missing)
    ground = f'x="{MARGIN}" y="{MARGIN}" width="{board.cols * CELL}" height="{board.rows * CELL}"'
    lines = [
        f'<rect class="light" {ground} fill="{COLOURS["light"]}"/>',
        f'<path class="dark" fill="{COLOURS["dark"]}" d="{_boxes(board, dark)}"/>',
    ]
    if board.missing is not None:
        hole = _boxes(board, [board.missing])
        lines.append(f'<path class="card-ground" fill="{COLOURS["card-ground"]}" d="{hole}"/>')
    return lines


def _boxes(board: Board, squares: Iterable[int]) -> str:
    corners = (centre(board, square) for square in squares)
    return "".join(f"M{x - CELL // 2},{y - CELL // 2}h{CELL}v{CELL}h-{CELL}z" for x, y in corners)


def _labels(board: Board) -> list[str]:
    below = board.rows * CELL + MARGIN + MARGIN // 2 + 4
    columns = [f'<text x="{centre(board, col)[0]}" y="{below}">{column_name(col)}</text>' for col in range(board.cols)]
    rows = [
        f'<text x="{MARGIN // 2}" y="{centre(board, row * board.cols)[1] + 4}">{row + 1}</text>'
        for row in range(board.rows)
    ]
    style = f'class="labels" font-size="11" fill="{COLOURS["labels"]}" text-anchor="middle" aria-hidden="true"'
    return [f"<g {style}>", *columns, *rows, "</g>"]


def _path(board: Board, tour: Sequence[int], closed: bool) -> list[str]:
    points = " ".join("{},{}".format(*centre(board, square)) for square in tour)
    shape = "polygon" if closed else "polyline"
    style = f'class="path" fill="none" stroke="{COLOURS["path"]}" stroke-width="2" stroke-linejoin="round"'
    return [f'<{shape} points="{points}" {style}/>']


def _numbers(board: Board, tour: Sequence[int]) -> list[str]:
    """Each square's number on a disc: green where the tour starts, red where it ends."""
    size = 11 if board.squares < 1000 else 8
    lines = [f'<g font-size="{size}" text-anchor="middle">']
    for move, square in enumerate(tour):
        kind, ink = stop_kind(move, len(tour))
        x, y = centre(board, square)
        lines.append(_disc(x, y, kind, 10))
        lines.append(f'<text class="{ink}" x="{x}" y="{y + 4}" fill="{COLOURS[ink]}">{move + 1}</text>')
    return [*lines, "</g>"]


def _ends(board: Board, tour: Sequence[int]) -> list[str]:
    return [_disc(*centre(board, tour[0]), "first", 8), _disc(*centre(board, tour[-1]), "last", 8)]


def _disc(x: int, y: int, kind: str, radius: int) -> str:
    classes = kind if kind == "disc" else f"disc {kind}"
    colours = f'fill="{COLOURS[kind]}" stroke="{COLOURS["path"]}"'
    return f'<circle class="{classes}" cx="{x}" cy="{y}" r="{radius}" {colours}/>'


def stop_kind(move: int, length: int) -> tuple[str, str]:
    """The classes of a stop's disc and of its number."""
    if move == 0:
        return "first", "on-first"
    return ("last", "on-last") if move == length - 1 else ("disc", "number")


# ---------------------------------------------------------------------------------------------------------------------
# A heat map: one number for each start square.


@dataclass(frozen=True)
class Heat:
    """One square of the map."""

    value: float
    text: str  # short enough for a square
    label: str  # for the pointer and for screen readers
    link: str = ""
    current: bool = False


def heat_svg(board: Board, squares: Mapping[int, Heat], title: str) -> str:
    """The map as one SVG document; squares without a number show the board."""
    values = [heat.value for heat in squares.values() if heat.value]
    least, most = min(values, default=0.0), max(values, default=0.0)
    cells = [_cell(board, square, heat, _shade(heat.value, least, most)) for square, heat in sorted(squares.items())]
    top = board_lines(board, escape(title))
    top[0] = top[0].replace('class="board"', 'class="board heat"').replace('role="img"', 'role="group"')
    return "\n".join([*top, '<g font-size="10" text-anchor="middle" fill="#000000">', *cells, "</g>", "</svg>\n"])


def shade_of(value: float, most: float) -> int:
    """The index of a value in SHADES."""
    return max(0, min(len(SHADES) - 1, int(value * len(SHADES) / most))) if most > 0 else 0


def _shade(value: float, least: float, most: float) -> str:
    """The shade between the least and the greatest value; one in between if all are equal."""
    return SHADES[shade_of(value - least, most - least) if most > least else len(SHADES) // 3]


def _cell(board: Board, square: int, heat: Heat, shade: str) -> str:
    x, y = centre(board, square)
    half = CELL // 2
    fill = f' fill="{shade}"' if heat.value else ' class="none" fill="#ffffff"'
    mark = ' class="chosen"' if heat.current else ""
    drawn = (
        f"<g{mark}><title>{escape(heat.label)}</title>"
        f'<rect x="{x - half}" y="{y - half}" width="{CELL}" height="{CELL}"{fill} stroke="#00000022"/>'
        f'<text x="{x}" y="{y + 4}">{escape(heat.text)}</text></g>'
    )
    return f'<a href="{escape(heat.link)}" aria-label="{escape(heat.label)}">{drawn}</a>' if heat.link else drawn
