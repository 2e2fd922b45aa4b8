"""The library's front door: what other programs import.

>>> from enumerate.api import Run
>>> for tours in Run("output/closed-8x8").tours(start="a1", variant="closed"):
...     print(tours.shape)
"""

from __future__ import annotations

from .catalog.reader import Run as _Run
from .model.tour import are_closed
from .view.picture import tour_png, tour_svg


class Run(_Run):
    """A run in its folder or object store, finished or not, with pictures of its tours."""

    def svg(self, number: int, start: str | None = None, variant: str | None = None) -> str:
        """One tour, counted from 1 in the order of `tours`, as an SVG document."""
        tour = self.tour(number, start, variant)
        return tour_svg(self.board, tour.tolist(), bool(are_closed(self.board, tour[None, :])[0]))

    def png(self, number: int, start: str | None = None, variant: str | None = None) -> bytes:
        """The same as a PNG."""
        tour = self.tour(number, start, variant)
        return tour_png(self.board, tour.tolist(), bool(are_closed(self.board, tour[None, :])[0]))
