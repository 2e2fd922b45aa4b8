"""The board as a picture, SVG or PNG, with a tour on it, its path and its numbers; and what a heat map needs.

An SVG picture carries its colours, so that it can be used anywhere. In a page its classes let the style sheet replace
them by those of the reader's palette; `web/static/board.js` draws the same picture and animates it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from html import escape
from io import BytesIO
from itertools import pairwise

from PIL import Image, ImageDraw, ImageFont

from ..model.board import Board, column_name

CELL = 40
MARGIN = 22
LABEL_SIZE = 11  # of the names of rows and columns
SVG_SQUARES = 40_000  # a browser cannot show more
PNG_SQUARES = 10_000
SHARP_SQUARES = 400  # boards up to this size get two pixels for each unit of the SVG picture
FINER = 8  # how much larger a shape of a PNG picture is drawn, to smooth its edges

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

Point = tuple[float, float]


def size_of(board: Board) -> tuple[int, int]:
    """Width and height of the picture."""
    return board.cols * CELL + 2 * MARGIN, board.rows * CELL + 2 * MARGIN


def centre(board: Board, square: int) -> tuple[int, int]:
    """Where the middle of a square is in the picture; row 1 is at the bottom."""
    row, col = divmod(square, board.cols)
    return MARGIN + col * CELL + CELL // 2, MARGIN + (board.rows - 1 - row) * CELL + CELL // 2


def _labels(board: Board) -> Iterator[tuple[Point, str]]:
    """The names of the columns below the board and of the rows beside it, each with its middle."""
    for col in range(board.cols):
        yield (centre(board, col)[0], board.rows * CELL + 1.5 * MARGIN), column_name(col)
    for row in range(board.rows):
        yield (MARGIN / 2, centre(board, row * board.cols)[1]), str(row + 1)


def _number_size(board: Board) -> int:
    return 11 if board.squares < 1000 else 8


def _stop_classes(move: int, length: int) -> tuple[str, str]:
    """The classes of a stop's disc and of its number: green where the tour starts, red where it ends."""
    if move == 0:
        return "first", "on-first"
    return ("last", "on-last") if move == length - 1 else ("disc", "number")


def shade_of(value: float, most: float, least: float = 0.0) -> str:
    """The shade between the least and the greatest value; one in between if all are equal."""
    if most <= least:
        return SHADES[len(SHADES) // 3]
    return SHADES[max(0, min(len(SHADES) - 1, int((value - least) * len(SHADES) / (most - least))))]


# ---------------------------------------------------------------------------------------------------------------------
# As SVG.


def tour_svg(board: Board, tour: Sequence[int], closed: bool, numbers: bool = True) -> str:
    """The picture as one self-contained SVG document; without numbers it is half as long."""
    title = f"{'Closed' if closed else 'Open'} knight's tour of the {board} board from {board.name(tour[0])}"
    stops = _numbers(board, tour) if numbers else _ends(board, tour)
    return board_svg(board, title, [_path(board, tour, closed), *stops])


def board_svg(board: Board, title: str, content: Iterable[str], classes: str = "board", role: str = "img") -> str:
    """A picture of the board with the names of its rows and columns, and of what is on it."""
    width, height = size_of(board)
    label_style = f'font-size="{LABEL_SIZE}" fill="{COLOURS["labels"]}" text-anchor="middle" aria-hidden="true"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{classes}" viewBox="0 0 {width} {height}" width="{width}"'
            f' height="{height}" role="{role}" font-family="sans-serif">',
            f"<title>{escape(title, quote=False)}</title>",
            f'<rect class="card-ground" width="{width}" height="{height}" rx="8" fill="{COLOURS["card-ground"]}"/>',
            *_squares(board),
            f'<g class="labels" {label_style}>',
            *(f'<text x="{x:.0f}" y="{y + 4:.0f}">{name}</text>' for (x, y), name in _labels(board)),
            "</g>",
            *content,
            "</svg>\n",
        ]
    )


def _squares(board: Board) -> list[str]:
    """A light ground, and all dark squares as one path, which is most of the picture of a large board."""
    dark = (square for square in range(board.squares) if board.is_dark(square) and square != board.missing)
    ground = f'x="{MARGIN}" y="{MARGIN}" width="{board.cols * CELL}" height="{board.rows * CELL}"'
    lines = [f'<rect class="light" {ground} fill="{COLOURS["light"]}"/>', _boxes(board, dark, "dark")]
    return lines if board.missing is None else [*lines, _boxes(board, [board.missing], "card-ground")]


def _boxes(board: Board, squares: Iterable[int], name: str) -> str:
    corners = (centre(board, square) for square in squares)
    boxes = "".join(f"M{x - CELL // 2},{y - CELL // 2}h{CELL}v{CELL}h-{CELL}z" for x, y in corners)
    return f'<path class="{name}" fill="{COLOURS[name]}" d="{boxes}"/>'


def _path(board: Board, tour: Sequence[int], closed: bool) -> str:
    points = " ".join("{},{}".format(*centre(board, square)) for square in tour)
    shape = "polygon" if closed else "polyline"
    style = f'class="path" fill="none" stroke="{COLOURS["path"]}" stroke-width="2" stroke-linejoin="round"'
    return f'<{shape} points="{points}" {style}/>'


def _numbers(board: Board, tour: Sequence[int]) -> list[str]:
    """The number of each square, on a disc."""
    lines = [f'<g font-size="{_number_size(board)}" text-anchor="middle">']
    for move, square in enumerate(tour):
        name, ink = _stop_classes(move, len(tour))
        x, y = centre(board, square)
        lines.append(_svg_disc(x, y, name, 10))
        lines.append(f'<text class="{ink}" x="{x}" y="{y + 4}" fill="{COLOURS[ink]}">{move + 1}</text>')
    return [*lines, "</g>"]


def _ends(board: Board, tour: Sequence[int]) -> list[str]:
    return [_svg_disc(*centre(board, tour[0]), "first", 8), _svg_disc(*centre(board, tour[-1]), "last", 8)]


def _svg_disc(x: int, y: int, name: str, radius: int) -> str:
    classes = name if name == "disc" else f"disc {name}"
    colours = f'fill="{COLOURS[name]}" stroke="{COLOURS["path"]}"'
    return f'<circle class="{classes}" cx="{x}" cy="{y}" r="{radius}" {colours}/>'


# ---------------------------------------------------------------------------------------------------------------------
# As PNG.


def tour_png(board: Board, tour: Sequence[int], closed: bool) -> bytes:
    canvas = _Canvas(board)
    middles = [centre(board, square) for square in tour]
    for (x, y), (to_x, to_y) in pairwise([*middles, middles[0]] if closed else middles):
        canvas.stamp(((x + to_x) / 2, (y + to_y) / 2), _line(to_x - x, to_y - y, canvas.scale), "path")
    for move, middle in enumerate(middles):
        name, ink = _stop_classes(move, len(tour))
        canvas.stamp(middle, _disc(10.5, canvas.scale), "path")
        canvas.stamp(middle, _disc(9.5, canvas.scale), name)
        canvas.text(middle, str(move + 1), _number_size(board), ink)
    output = BytesIO()
    canvas.image.save(output, "PNG")
    return output.getvalue()


class _Canvas:
    """An image of the empty board to draw on, measured in the units of the SVG picture.

    Pillow smooths the edges of text, but not those of lines and discs. So each of these shapes is drawn once, larger,
    then reduced and stamped; a knight's move has only eight shapes.
    """

    def __init__(self, board: Board) -> None:
        self.scale = 2 if board.squares <= SHARP_SQUARES else 1
        width, height = size_of(board)
        self.image = Image.new("RGB", (width * self.scale, height * self.scale), COLOURS["card-ground"])
        self.drawing = ImageDraw.Draw(self.image)
        side = CELL * self.scale
        for square in range(board.squares):
            if square != board.missing:
                left, top = ((value - CELL // 2) * self.scale for value in centre(board, square))
                colour = COLOURS["dark" if board.is_dark(square) else "light"]
                self.drawing.rectangle((left, top, left + side - 1, top + side - 1), fill=colour)
        for middle, name in _labels(board):
            self.text(middle, name, LABEL_SIZE, "labels")

    def text(self, middle: Point, text: str, size: int, name: str) -> None:
        at = (middle[0] * self.scale, middle[1] * self.scale)
        self.drawing.text(at, text, fill=COLOURS[name], font=_font(size * self.scale), anchor="mm")

    def stamp(self, middle: Point, shape: Image.Image, name: str) -> None:
        left = round(middle[0] * self.scale - shape.width / 2)
        top = round(middle[1] * self.scale - shape.height / 2)
        self.image.paste(COLOURS[name], (left, top), shape)


_font = lru_cache(ImageFont.load_default)  # Pillow's own, which is never missing


@lru_cache
def _disc(radius: float, scale: int) -> Image.Image:
    side = 2 * (int(radius * scale) + 2)
    shape = Image.new("L", (side * FINER, side * FINER))
    ImageDraw.Draw(shape).circle((side * FINER / 2, side * FINER / 2), radius * scale * FINER, fill=255)
    return shape.reduce(FINER)


@lru_cache
def _line(right: int, down: int, scale: int) -> Image.Image:
    width = 2 * scale * FINER  # of the line; there is as much room around it
    across, along = (abs(length) * scale * FINER for length in (right, down))
    shape = Image.new("L", (across + 2 * width, along + 2 * width))
    ImageDraw.Draw(shape).line((width, width, width + across, width + along), fill=255, width=width)
    falls = (right > 0) == (down > 0)
    return (shape if falls else shape.transpose(Image.Transpose.FLIP_LEFT_RIGHT)).reduce(FINER)
