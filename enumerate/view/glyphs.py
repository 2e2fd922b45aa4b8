"""Digits and small letters as strokes, for pictures that are made of points: no font is needed, and none is missing.

A glyph is drawn on a grid from 0,0 to 4,6 (letters such as g reach down to 8). Each word lists the points of one stroke
as pairs of digits, column and row.
"""

from __future__ import annotations

from itertools import pairwise

WIDTH, HEIGHT, DEPTH = 4, 6, 8  # of the grid; how deep letters reach

_STROKES = {
    "0": "10-30-41-45-36-16-05-01-10",
    "1": "11-20-26 16-36",
    "2": "01-10-30-41-42-06-46",
    "3": "01-10-30-41-42-33-13 33-44-45-36-16-05",
    "4": "36-30-04-44",
    "5": "40-00-02-32-43-45-36-16-05",
    "6": "41-30-10-01-05-16-36-45-44-33-13-04",
    "7": "00-40-16",
    "8": "13-02-01-10-30-41-42-33-13-04-05-16-36-45-44-33",
    "9": "42-33-13-02-01-10-30-41-45-36-16-05",
    "a": "42-46 43-32-12-03-05-16-36-45",
    "b": "00-06 03-12-32-43-45-36-16-05",
    "c": "43-32-12-03-05-16-36-45",
    "d": "40-46 43-32-12-03-05-16-36-45",
    "e": "04-44-43-32-12-03-05-16-36-45",
    "f": "16-11-20-30 02-32",
    "g": "42-47-38-18-07 43-32-12-03-05-16-36-45",
    "h": "00-06 03-12-32-43-46",
    "i": "22-26 20-20",
    "j": "32-37-28-18 30-30",
    "k": "00-06 42-04 13-46",
    "l": "20-25-36",
    "m": "02-06 03-12-23-26 23-32-43-46",
    "n": "02-06 03-12-32-43-46",
    "o": "12-32-43-45-36-16-05-03-12",
    "p": "02-08 03-12-32-43-45-36-16-05",
    "q": "42-48 43-32-12-03-05-16-36-45",
    "r": "02-06 04-12-32",
    "s": "43-32-12-03-14-34-45-36-16-05",
    "t": "10-15-26-36 02-32",
    "u": "02-05-16-36-45 42-46",
    "v": "02-26-42",
    "w": "02-16-23-36-42",
    "x": "02-46 42-06",
    "y": "02-26 42-08",
    "z": "02-42-06-46",
}

Segment = tuple[tuple[int, int], tuple[int, int]]


def segments(char: str) -> list[Segment]:
    """The strokes of a glyph, cut into straight lines."""
    found: list[Segment] = []
    for stroke in _STROKES[char].split():
        points = [(int(pair[0]), int(pair[1])) for pair in stroke.split("-")]
        found += pairwise(points)
    return found
