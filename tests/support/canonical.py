"""Canonical tours by numpy, from the definition: the judge of the kernel."""

from __future__ import annotations

import numpy as np

from enumerate.model.board import Board
from enumerate.model.tour import Tours, are_closed


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
