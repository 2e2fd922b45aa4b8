"""How much the tours of a search differ: a depth-first search finds long runs of tours that begin alike.

Counted are the beginnings: how often the first squares of a tour are not those of the tour found before it. A
depth-first search never comes back to a beginning, so these are the different ones. And neighbours, two tours found
one after the other, are looked at in a sample: with how many squares do they begin alike?
"""

from __future__ import annotations

import numpy as np

from ..model.jobs import Cursor
from ..model.tour import Tours

BEGINNING = 32  # squares
STRIDE = 64  # tours
SAMPLE = 1_000  # neighbours in each batch: to look at all would take a tenth of the time of the search


class Diversity:
    """The diversity of the tours of one slice, batch by batch; `last` is the beginning of the last tour before it."""

    def __init__(self, last: Cursor, depth_first: bool = True) -> None:
        self.last, self.depth_first = last, depth_first
        self.beginnings = self.shared_squares = self.neighbours = 0

    def add(self, tours: Tours) -> None:
        if not len(tours):
            return
        begins = tours[:, :BEGINNING]
        changes = _changes_among_sorted(begins) if self.depth_first else _changes(begins)
        self.beginnings += changes + (tuple(begins[0].tolist()) != self.last)
        self.last = tuple(begins[-1].tolist())
        sample = tours[: SAMPLE + 1]
        self.neighbours += len(sample) - 1
        self.shared_squares += int((sample[1:] != sample[:-1]).argmax(axis=1).sum())


def _changes(rows: Tours) -> int:
    """How often a row differs from the one before it."""
    return int(np.count_nonzero((rows[1:] != rows[:-1]).any(axis=1)))


def _changes_among_sorted(rows: Tours) -> int:
    """The same, quicker, where equal rows stand together: between two of them all are equal."""
    ends = np.append(np.arange(0, len(rows) - 1, STRIDE), len(rows) - 1)
    differing = np.flatnonzero((rows[ends[1:]] != rows[ends[:-1]]).any(axis=1))
    pairs = np.concatenate([np.arange(ends[i], ends[i + 1]) for i in differing] or [ends[:0]])
    return int(np.count_nonzero((rows[pairs + 1] != rows[pairs]).any(axis=1)))
