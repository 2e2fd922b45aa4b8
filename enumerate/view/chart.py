"""Series of numbers as an SVG line chart: a frame, a grid at round numbers, lines, and a legend below."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import cycle, groupby, pairwise
from math import ceil, floor, log10, nan
from xml.sax.saxutils import escape

WIDTH, TOP, FOOT, MARGIN = 720, 46, 334, 24  # of the card, and the top and bottom of the plot's frame
LEGEND_ROW, SWATCH = 20, 34
HUGE, TINY = 1e300, 1e-300  # between them no arithmetic overflows
SAME = 1e-6  # relative difference below which values are shown as equal
NOISE = 1e-6  # of a step, for rounding: a bound of 1.0000000000000002 needs no tick at 120 %
CLOUD = 64  # more lines than these hide one another

# Okabe and Ito, Color Universal Design, 2008; a grey instead of their yellow, which is too pale for a line.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#222222", "#8c8c8c")
DASHES = ("none", "8 4", "2 3", "10 3 2 3", "16 4", "5 3", "10 3 2 3 2 3", "4 2 1 2")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

GAP = (nan, nan)  # between two curves of one line

Run = list[tuple[float, ...]]  # points without a gap: (x, y) of a line or (x, low, high) of a band


@dataclass(frozen=True)
class Line:
    """One curve, which has a gap where an axis cannot show its values. Without a name it is not in the legend."""

    name: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float]] = ()  # (low, high) for each point, such as a confidence interval
    marks: bool = False
    faint: bool = False


@dataclass(frozen=True)
class Axis:
    label: str
    log: bool = False
    percent: bool = False  # 0..1 is shown as 0 %..100 %
    whole: bool = False  # no ticks between whole numbers

    def can_show(self, value: float) -> bool:
        return (TINY if self.log else -HUGE) <= value <= HUGE


@dataclass(frozen=True)
class Scale:
    """An axis between two coordinates of the picture; its first and last tick are its ends."""

    axis: Axis
    ticks: list[Decimal]
    start: float
    end: float

    def at(self, value: float | Decimal) -> float:
        low, high, at = map(self._measure, (self.ticks[0], self.ticks[-1], value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def _measure(self, value: float | Decimal) -> float:
        # A tick above HUGE may be too large for a float; its logarithm is not.
        return float(Decimal(value).log10() if self.axis.log else value)


@dataclass(frozen=True)
class _Series:
    """A line, its style, and the parts of it that the axes can show."""

    line: Line
    colour: str
    dash: str
    curve: list[Run]
    band: list[Run]


def chart_svg(title: str, lines: Sequence[Line], x: Axis, y: Axis) -> str:
    """The chart as one self-contained SVG document."""
    series = list(_series(lines, x, y))
    rows = [row for one in series for run in (*one.curve, *one.band) for row in run]
    across, up = _scales(rows, x, y)
    legend, depth = _legend([one for one in series if one.line.name])
    return "\n".join(
        [
            *_card(title, FOOT + 54 + depth),
            *(_grid(across, up) if rows else [_text((across.start + across.end) / 2, (TOP + FOOT) / 2, "no data", 14)]),
            *_frame(across, up),
            *(_area(one, run, across, up) for one in series for run in one.band),
            *(_curve(one, run, across, up) for one in series for run in one.curve),
            *legend,
            "</svg>\n",
        ]
    )


def family_svg(
    title: str, grid: Sequence[float], rows: Sequence[Sequence[float]], each: str, mean: str, x: Axis, y: Axis
) -> str:
    """A faint curve for each row of values on one grid, unless there are too many, and their mean."""
    lines = []
    if 0 < len(rows) <= CLOUD:
        points = [point for row in rows for point in (*zip(grid, row, strict=True), GAP)]
        lines.append(Line(each, points, faint=True))
    if rows:
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        lines.append(Line(mean, list(zip(grid, means, strict=True))))
    return chart_svg(title, lines, x, y)


def ticks(axis: Axis, values: Iterable[float]) -> list[Decimal]:
    """Round numbers from the largest not above all values to the smallest not below them; none without values."""
    values = list(values)
    if not values:
        return []
    low, high = min(values), max(values)
    # On less than half a decade there are hardly any of 1, 2, 5, 10: there the steps of a linear axis are better.
    if axis.log and high >= 3 * low:
        return _log_ticks(low, high)
    steps = _linear_ticks(*_spread(low, high, full=axis.percent and not axis.log))
    whole = [step for step in steps if step == int(step)]
    return whole if axis.whole and {steps[0], steps[-1]} <= set(whole) else steps


def tick_labels(axis: Axis, numbers: Sequence[Decimal]) -> list[str]:
    """The numbers in one form for the whole axis: 20,000 or 1.5 M or 5×10⁻⁶, with the decimals they need."""
    shown = [number.scaleb(2) if axis.percent else number for number in numbers]
    size = max(map(abs, shown), default=Decimal(0))
    if axis.log and all(len(number.normalize().as_tuple().digits) == 1 for number in shown):
        plain = all(Decimal("0.001") <= number <= 1_000_000 for number in shown)
        labels = [f"{number.normalize():,f}" if plain else _power(number) for number in shown]
    elif Decimal("0.001") <= size <= 1_000_000:
        labels = [f"{number:,f}" for number in shown]
    else:
        exponent = size.adjusted() // 3 * 3
        unit = " M" if exponent == 6 else "×10" + str(exponent).translate(SUPERSCRIPTS)
        labels = [f"{number.scaleb(-exponent):f}{unit}" for number in shown]
    written = (label if number else "0" for number, label in zip(shown, labels, strict=True))
    sign = " %" if axis.percent else ""
    return [label.replace("-", "−") + sign for label in written]


def _power(number: Decimal) -> str:
    exponent = number.adjusted()
    power = "10" + str(exponent).translate(SUPERSCRIPTS)
    digit = number.scaleb(-exponent)
    return power if digit == 1 else f"{digit:.0f}×{power}"


def _spread(low: float, high: float, full: bool) -> tuple[float, float]:
    """The range to show: if all values are equal, with room around them, or for rates from 0 % to 100 %."""
    size = max(abs(low), abs(high))
    if high - low > SAME * max(size, TINY):
        return low, high
    if size < TINY or (full and 0 <= low <= high <= 1 + NOISE):
        return 0.0, 1.0
    return low - size / 4, high + size / 4


def _linear_ticks(low: float, high: float) -> list[Decimal]:
    """Multiples of a step of 1, 2 or 5 times a power of ten, the one that is nearest to a fifth of the range."""
    ideal = log10((high - low) / 5)
    steps = [Decimal(digit).scaleb(exponent) for exponent in (floor(ideal), floor(ideal) + 1) for digit in (1, 2, 5)]
    step = min(steps, key=lambda step: abs(log10(step) - ideal))
    first, last = floor(low / float(step) + NOISE), ceil(high / float(step) - NOISE)
    return [number * step for number in range(first, last + 1)]


def _log_ticks(low: float, high: float) -> list[Decimal]:
    """Powers of ten; below three decades also two and five times them, above ten decades not every one."""
    start, end = log10(low), log10(high)
    digits = (1, 2, 5) if end - start < 3 else (1,)
    stride = ceil((end - start) / 10)
    exponents = range(floor(start / stride) * stride, ceil(end) + stride, stride)
    numbers = [Decimal(digit).scaleb(exponent) for exponent in exponents for digit in digits]
    first = bisect_right(numbers, Decimal(low * (1 + NOISE))) - 1
    return numbers[max(first, 0) : bisect_left(numbers, Decimal(high * (1 - NOISE))) + 1]


def _series(lines: Sequence[Line], x: Axis, y: Axis) -> Iterator[_Series]:
    for line, (colour, dash) in zip(lines, cycle(zip(COLOURS, DASHES, strict=True)), strict=False):
        band = [(at, *ends) for (at, _), ends in zip(line.points, line.band, strict=True)] if line.band else []
        yield _Series(line, colour, "none" if line.faint else dash, _runs(line.points, x, y), _runs(band, x, y))


def _runs(rows: Iterable[tuple[float, ...]], x: Axis, y: Axis) -> list[Run]:
    """The rows that the axes can show, cut wherever one is left out."""

    def is_shown(row: tuple[float, ...]) -> bool:
        return x.can_show(row[0]) and all(map(y.can_show, row[1:]))

    return [[tuple(map(float, row)) for row in run] for shown, run in groupby(rows, is_shown) if shown]


def _scales(rows: Run, x: Axis, y: Axis) -> tuple[Scale, Scale]:
    """Both axes, with room for the labels of the ticks."""
    x_ticks = ticks(x, (row[0] for row in rows))
    y_ticks = ticks(y, (value for row in rows for value in row[1:]))
    left = 46 + max(map(_width, tick_labels(y, y_ticks)), default=0)
    right = WIDTH - max(MARGIN, 6 + max(map(_width, tick_labels(x, x_ticks)), default=0) / 2)
    return Scale(x, x_ticks, left, right), Scale(y, y_ticks, FOOT, TOP)


def _width(text: str, size: float = 11) -> float:
    """About how wide a text is, at most: the viewer's font is not known."""
    return 0.64 * size * len(text)


def _text(x: float, y: float, text: str, size: float = 11, *, room: float = WIDTH, more: str = "") -> str:
    """A text centred at x, smaller if it does not fit."""
    size = min(size, size * room / max(_width(text, size), 1))
    style = more or 'text-anchor="middle"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.3g}" fill="#4a443b" {style}>{_clean(text)}</text>'


def _clean(text: str) -> str:
    """As XML; a control character, which XML forbids, becomes a space."""
    return escape("".join(char if char.isprintable() else " " for char in text))


def _card(title: str, height: float) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        f' role="img" font-family="sans-serif">',
        f"<title>{_clean(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#fbfaf7"/>',
        _text(WIDTH / 2, 27, title, 15, room=WIDTH - 2 * MARGIN),
    ]


def _grid(across: Scale, up: Scale) -> list[str]:
    """The grid lines, and the numbers beside them."""
    columns, rows = [across.at(tick) for tick in across.ticks], [up.at(tick) for tick in up.ticks]
    names = tick_labels(across.axis, across.ticks)
    # If labels are too wide, only every second (third, ...) is written.
    stride = ceil((max(map(_width, names)) + 8) / min(after - before for before, after in pairwise(columns)))
    below = list(zip(columns, names, strict=True))[::stride]
    beside = zip(rows, tick_labels(up.axis, up.ticks), strict=True)
    return [
        '<g stroke="#e6e1d6">',
        *(f'<path d="M{x:.1f},{TOP}V{FOOT}"/>' for x in columns),
        *(f'<path d="M{across.start:.1f},{y:.1f}H{across.end:.1f}"/>' for y in rows),
        "</g>",
        *(_text(x, FOOT + 17, name) for x, name in below),
        *(_text(across.start - 7, y + 4, name, more='text-anchor="end"') for y, name in beside),
    ]


def _frame(across: Scale, up: Scale) -> list[str]:
    width, height, middle = across.end - across.start, FOOT - TOP, (TOP + FOOT) / 2
    turn = f'text-anchor="middle" transform="rotate(-90 18 {middle:.1f})"'
    return [
        f'<rect x="{across.start:.1f}" y="{TOP}" width="{width:.1f}" height="{height}" fill="none" stroke="#b5ab9a"/>',
        _text(across.start + width / 2, FOOT + 38, across.axis.label, 12, room=width),
        _text(18, middle, up.axis.label, 12, room=height, more=turn),
    ]


def _area(one: _Series, run: Run, across: Scale, up: Scale) -> str:
    """The band as one polygon: along the upper ends, and back along the lower."""
    points = [(x, high) for x, _, high in run] + [(x, low) for x, low, _ in reversed(run)]
    # The band of a single point has no area: only its stroke is seen.
    width = 1 if len(run) > 1 else 6
    style = f'fill="{one.colour}" fill-opacity="0.15" stroke="{one.colour}" stroke-opacity="0.3" stroke-width="{width}"'
    return f'<polygon points="{_points(points, across, up)}" {style}/>'


def _curve(one: _Series, run: Run, across: Scale, up: Scale) -> str:
    points = [(x, y) for x, y in run]
    style = 'stroke-width="1" stroke-opacity="0.35"' if one.line.faint else 'stroke-width="2"'
    style += f' stroke="{one.colour}" stroke-dasharray="{one.dash}" stroke-linejoin="round"'
    drawn = [f'<polyline points="{_points(points, across, up)}" fill="none" {style}/>']
    if one.line.marks or len(run) == 1:
        drawn += [_dot(across.at(x), up.at(y), one.colour) for x, y in points]
    return "\n".join(drawn)


def _points(points: Sequence[tuple[float, float]], across: Scale, up: Scale) -> str:
    return " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points)


def _dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'


def _legend(named: Sequence[_Series]) -> tuple[list[str], int]:
    """The names in rows of equal columns, and how much height they take."""
    room = WIDTH - 2 * MARGIN
    column = min(room, max((_width(one.line.name, 12) + SWATCH + 16 for one in named), default=room))
    columns = min(floor(room / column), max(len(named), 1))
    left = (WIDTH - columns * column) / 2
    drawn = [
        _entry(one, left + index % columns * column, FOOT + 62 + index // columns * LEGEND_ROW, column - SWATCH - 16)
        for index, one in enumerate(named)
    ]
    return drawn, ceil(len(named) / columns) * LEGEND_ROW + MARGIN // 4


def _entry(one: _Series, x: float, y: float, room: float) -> str:
    style = f'stroke="{one.colour}" stroke-width="{1 if one.line.faint else 2}" stroke-dasharray="{one.dash}"'
    drawn = [f'<path d="M{x:.1f},{y:.1f}h{SWATCH - 6}" {style}/>']
    if one.line.marks:
        drawn.append(_dot(x + (SWATCH - 6) / 2, y, one.colour))
    return "\n".join([*drawn, _text(x + SWATCH, y + 4, one.line.name, 12, room=room, more='text-anchor="start"')])
