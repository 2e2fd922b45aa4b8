"""A heat map of the board as SVG: one number for each start square, the more the darker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from ..model.board import Board
from .svg import CELL, board_lines, centre

# From few to many: readable as backgrounds of black text, and for colour-blind people.
SHADES = ("#fff7bc", "#fee391", "#fec44f", "#fe9929", "#ec7014", "#cc4c02")


@dataclass(frozen=True)
class Heat:
    """One square of the map."""

    value: float
    text: str  # as short as fits into a square
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
    """The place of a value in SHADES; nothing has the first one."""
    return max(0, min(len(SHADES) - 1, int(value * len(SHADES) / most))) if most > 0 else 0


def _shade(value: float, least: float, most: float) -> str:
    """From the least to the most: the differences are what the map is for. Where all are equal, a shade between."""
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
