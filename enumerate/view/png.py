"""A tour as a PNG picture: the same as the SVG one, made of points here, so that no other program is needed.

Every shape is a line with a thickness, a disc being one without length: a point is covered by how far it is from it,
and that gives smooth edges.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..model.board import Board, column_name
from .glyphs import DEPTH, HEIGHT, WIDTH, segments
from .svg import CELL, COLOURS, MARGIN, centre, size_of, stop_kind

PNG_SQUARES = 10_000
LARGE_SQUARES = 400  # boards up to this size get two points for each unit of the SVG picture

Cover = NDArray[np.float32]  # from 0, not covered, to 1
Point = tuple[float, float]


def tour_png(board: Board, tour: Sequence[int], closed: bool) -> bytes:
    """The picture as a PNG file, row 1 at the bottom."""
    scale = 2 if board.squares <= LARGE_SQUARES else 1
    canvas = Canvas(*size_of(board), scale)
    _draw_board(canvas, board)
    for before, after in pairwise([*tour, tour[0]] if closed else tour):
        canvas.line(centre(board, before), centre(board, after), 2, COLOURS["path"])
    size = 8.0 if board.squares < 1000 else 6.0
    for move, square in enumerate(tour):
        kind, ink = stop_kind(move, len(tour))
        canvas.disc(centre(board, square), 10.5, COLOURS["path"])
        canvas.disc(centre(board, square), 9.5, COLOURS[kind])
        canvas.text(centre(board, square), str(move + 1), size, COLOURS[ink])
    return encode(canvas.points)


def _draw_board(canvas: Canvas, board: Board) -> None:
    for square in range(board.squares):
        if square != board.missing:
            x, y = centre(board, square)
            shade = "dark" if board.is_dark(square) else "light"
            canvas.box((x - CELL / 2, y - CELL / 2), CELL, COLOURS[shade])
    for col in range(board.cols):
        x, _ = centre(board, col)
        canvas.text((x, board.rows * CELL + 1.5 * MARGIN), column_name(col), 8.0, COLOURS["labels"])
    for row in range(board.rows):
        _, y = centre(board, row * board.cols)
        canvas.text((MARGIN / 2, y), str(row + 1), 8.0, COLOURS["labels"])


class Canvas:
    """Points to draw on, measured in the units of the SVG picture."""

    def __init__(self, width: int, height: int, scale: int) -> None:
        self.scale = scale
        self.points = np.empty((height * scale, width * scale, 3), dtype=np.uint8)
        self.points[:] = _rgb(COLOURS["card-ground"])

    def box(self, corner: Point, side: int, colour: str) -> None:
        left, top = (round(value * self.scale) for value in corner)
        self.points[top : top + side * self.scale, left : left + side * self.scale] = _rgb(colour)

    def line(self, start: Point, end: Point, width: float, colour: str) -> None:
        radius = width / 2 * self.scale
        (x0, y0), (x1, y1) = ((x * self.scale, y * self.scale) for x, y in (start, end))
        left, top = (int(min(pair) - radius - 1) for pair in ((x0, x1), (y0, y1)))
        right, bottom = (int(max(pair) + radius + 2) for pair in ((x0, x1), (y0, y1)))
        shift = ((x0 - left, y0 - top), (x1 - left, y1 - top))
        self._blend(left, top, _cover(right - left, bottom - top, shift, radius), colour)

    def disc(self, middle: Point, radius: float, colour: str) -> None:
        cover = _disc(radius * self.scale)
        left, top = (round(value * self.scale - cover.shape[0] / 2) for value in middle)
        self._blend(left, top, cover, colour)

    def text(self, middle: Point, text: str, height: float, colour: str) -> None:
        """A text with digits of this height, centred."""
        unit = height * self.scale / HEIGHT
        step = unit * (WIDTH + 1.6)
        left = middle[0] * self.scale - (step * len(text) - 1.6 * unit) / 2
        top = middle[1] * self.scale - unit * HEIGHT / 2
        for index, char in enumerate(text):
            pad = _pad(unit)
            self._blend(round(left + index * step - pad), round(top - pad), _glyph(char, unit), colour)

    def _blend(self, left: int, top: int, cover: Cover, colour: str) -> None:
        """Colour points by how far they are covered; what lies beyond the edge is cut off."""
        from_x, from_y = max(-left, 0), max(-top, 0)
        area = self.points[max(top, 0) : top + cover.shape[0], max(left, 0) : left + cover.shape[1]]
        share = cover[from_y : from_y + area.shape[0], from_x : from_x + area.shape[1], None]
        area[:] = np.rint(area + (_rgb(colour) - area.astype(np.float32)) * share).astype(np.uint8)


@lru_cache
def _rgb(colour: str) -> NDArray[np.float32]:
    return np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)], dtype=np.float32)


def _cover(width: int, height: int, line: tuple[Point, Point], radius: float) -> Cover:
    """How far each point of a box is covered by a line with round ends."""
    (x0, y0), (x1, y1) = line
    y, x = np.mgrid[0:height, 0:width].astype(np.float32) + np.float32(0.5)
    length = (x1 - x0) ** 2 + (y1 - y0) ** 2
    along = np.clip(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length, 0, 1) if length else np.zeros_like(x)
    distance = np.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0))
    return np.asarray(np.clip(radius + 0.5 - distance, 0, 1), dtype=np.float32)


@lru_cache
def _disc(radius: float) -> Cover:
    side = 2 * int(radius + 2)
    middle = (side / 2, side / 2)
    return _cover(side, side, (middle, middle), radius)


def _pad(unit: float) -> float:
    """Room around a glyph for the thickness of its strokes."""
    return unit + 1


@lru_cache(maxsize=512)
def _glyph(char: str, unit: float) -> Cover:
    pad = _pad(unit)
    width, height = int(WIDTH * unit + 2 * pad + 1), int(DEPTH * unit + 2 * pad + 1)
    cover = np.zeros((height, width), dtype=np.float32)
    for start, end in segments(char):
        line = tuple((x * unit + pad, y * unit + pad) for x, y in (start, end))
        cover = np.maximum(cover, _cover(width, height, (line[0], line[1]), 0.42 * unit))
    return cover


def encode(points: NDArray[np.uint8]) -> bytes:
    """An array of red, green and blue as a PNG file (W3C, Portable Network Graphics, third edition)."""
    height, width, _ = points.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each row begins with its filter: none
    rows[:, 1:] = points.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
