"""A tour as a PNG picture, the same as the SVG one, drawn by Pillow.

Pillow smooths the edges of text, but not of lines and discs. So each shape of these is drawn once, larger, then reduced
and stamped; a knight's move has only eight shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from itertools import pairwise

from PIL import Image, ImageDraw, ImageFont

from ..model.board import Board, column_name
from .svg import CELL, COLOURS, MARGIN, centre, size_of, stop_kind

PNG_SQUARES = 10_000
LARGE_SQUARES = 400  # boards up to this size get two points for each unit of the SVG picture
FINER = 8  # how many times larger a shape is drawn
LABEL, NUMBER, SMALL_NUMBER = 11, 11, 8  # sizes of text

Point = tuple[float, float]


def tour_png(board: Board, tour: Sequence[int], closed: bool) -> bytes:
    """The picture as a PNG file, row 1 at the bottom."""
    canvas = Canvas(*size_of(board), scale=2 if board.squares <= LARGE_SQUARES else 1)
    _draw_board(canvas, board)
    for before, after in pairwise([*tour, tour[0]] if closed else tour):
        canvas.line(centre(board, before), centre(board, after), COLOURS["path"])
    size = NUMBER if board.squares < 1000 else SMALL_NUMBER
    for move, square in enumerate(tour):
        kind, ink = stop_kind(move, len(tour))
        canvas.disc(centre(board, square), 10.5, COLOURS["path"])
        canvas.disc(centre(board, square), 9.5, COLOURS[kind])
        canvas.text(centre(board, square), str(move + 1), size, COLOURS[ink])
    return canvas.png()


def _draw_board(canvas: Canvas, board: Board) -> None:
    for square in range(board.squares):
        if square != board.missing:
            canvas.box(centre(board, square), COLOURS["dark" if board.is_dark(square) else "light"])
    for col in range(board.cols):
        below = (centre(board, col)[0], board.rows * CELL + 1.5 * MARGIN)
        canvas.text(below, column_name(col), LABEL, COLOURS["labels"])
    for row in range(board.rows):
        beside = (MARGIN / 2, centre(board, row * board.cols)[1])
        canvas.text(beside, str(row + 1), LABEL, COLOURS["labels"])


class Canvas:
    """A picture to draw on, in the units of the SVG one."""

    def __init__(self, width: int, height: int, scale: int) -> None:
        self.scale = scale
        self.image = Image.new("RGB", (width * scale, height * scale), COLOURS["card-ground"])
        self.draw = ImageDraw.Draw(self.image)

    def box(self, middle: Point, colour: str) -> None:
        left, top = ((value - CELL / 2) * self.scale for value in middle)
        self.draw.rectangle((left, top, left + CELL * self.scale - 1, top + CELL * self.scale - 1), fill=colour)

    def line(self, start: Point, end: Point, colour: str) -> None:
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        self._stamp(middle, _line(int(end[0] - start[0]), int(end[1] - start[1]), self.scale), colour)

    def disc(self, middle: Point, radius: float, colour: str) -> None:
        self._stamp(middle, _disc(radius, self.scale), colour)

    def text(self, middle: Point, text: str, size: int, colour: str) -> None:
        point = (middle[0] * self.scale, middle[1] * self.scale)
        self.draw.text(point, text, fill=colour, font=_font(size * self.scale), anchor="mm")

    def png(self) -> bytes:
        output = BytesIO()
        self.image.save(output, "PNG")
        return output.getvalue()

    def _stamp(self, middle: Point, shape: Image.Image, colour: str) -> None:
        left = round(middle[0] * self.scale - shape.width / 2)
        top = round(middle[1] * self.scale - shape.height / 2)
        self.image.paste(colour, (left, top, left + shape.width, top + shape.height), shape)


@lru_cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font of Pillow itself, which is always there."""
    return ImageFont.load_default(size)


@lru_cache
def _disc(radius: float, scale: int) -> Image.Image:
    side = 2 * (int(radius * scale) + 2)
    shape = Image.new("L", (side * FINER, side * FINER))
    ImageDraw.Draw(shape).circle((side * FINER / 2, side * FINER / 2), radius * scale * FINER, fill=255)
    return shape.resize((side, side), Image.Resampling.BOX)


@lru_cache
def _line(right: int, down: int, scale: int) -> Image.Image:
    width = 2 * scale  # of the line; there is as much room around it
    size = (abs(right) * scale + 2 * width, abs(down) * scale + 2 * width)
    shape = Image.new("L", (size[0] * FINER, size[1] * FINER))
    falls = (right > 0) == (down > 0)
    x = (width * FINER, (size[0] - width) * FINER)
    y = (width * FINER, (size[1] - width) * FINER) if falls else ((size[1] - width) * FINER, width * FINER)
    ImageDraw.Draw(shape).line((x[0], y[0], x[1], y[1]), fill=255, width=width * FINER)
    return shape.resize(size, Image.Resampling.BOX)
