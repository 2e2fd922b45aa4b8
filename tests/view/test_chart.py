"""Checks of the charts: the SVG is read back, and its places are compared with what the data say."""

import re
from itertools import pairwise
from math import inf, nan
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enumerate.view.chart import Axis, Line, Scale, chart_svg, family_svg, tick_labels, ticks

LINEAR, LOG, RATE = Axis("plain"), Axis("decades", log=True), Axis("rate", percent=True)
SIZES = [5, 6, 8, 12, 20, 50, 100, 400]


def drawn(*lines, x=LINEAR, y=LINEAR, title="A chart"):
    return ElementTree.fromstring(chart_svg(title, lines, x, y))


def found(picture, tag):
    return list(picture.iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


def texts(picture):
    return [text.text for text in found(picture, "text")]


def places(shape):
    return [tuple(map(float, place.split(","))) for place in shape.get("points").split()]


def curves(picture):
    return [places(shape) for shape in found(picture, "polyline")]


def frame(picture):
    """Left, top, right and bottom of the plot: the one rectangle that is not the card."""
    (left, top, width, height) = (float(found(picture, "rect")[1].get(key)) for key in ("x", "y", "width", "height"))
    return left, top, left + width, top + height


def all_places(picture):
    """Each pair of coordinates in the picture, whatever the shape; a path ends with a move along one axis."""
    for shape in [*found(picture, "polyline"), *found(picture, "polygon")]:
        yield from places(shape)
    for shape in [*found(picture, "text"), *found(picture, "rect"), *found(picture, "circle")]:
        yield tuple(float(shape.get(key) or shape.get(f"c{key}") or 0) for key in "xy")
    for shape in found(picture, "path"):
        x, y, way, end = re.fullmatch(r"M([\d.]+),([\d.]+)([VHh])([\d.]+)", shape.get("d")).groups()
        yield float(x), float(y)
        yield {"V": (float(x), float(end)), "H": (float(end), float(y)), "h": (float(x) + float(end), float(y))}[way]


def test_the_chart_is_one_titled_picture_with_its_own_background():
    picture = drawn(Line("a", [(1, 2), (3, 4)]), title="Tours")
    assert picture.get("role") == "img"
    assert found(picture, "title")[0].text == "Tours"
    assert picture.get("viewBox").split()[2:] == [found(picture, "rect")[0].get(key) for key in ("width", "height")]
    assert {"Tours", "plain", "a"} <= set(texts(picture))


@pytest.mark.parametrize("y", [LINEAR, LOG])
@pytest.mark.parametrize("x", [LINEAR, LOG])
def test_a_rising_line_goes_right_and_up_inside_the_frame(x, y):
    picture = drawn(Line("a", [(size, size**2 / 1e6) for size in SIZES]), x=x, y=y)
    left, top, right, bottom = frame(picture)
    (points,) = curves(picture)
    assert len(points) == len(SIZES)
    assert all(before[0] < after[0] and before[1] >= after[1] for before, after in pairwise(points))
    assert left <= points[0][0] < points[-1][0] <= right
    assert top <= points[-1][1] < points[0][1] <= bottom


def test_points_lie_where_the_scale_says():
    picture = drawn(Line("", [(0, 1), (5, 10), (10, 1000)]), y=LOG)
    left, top, right, bottom = frame(picture)
    expected = [(left, bottom), ((left + right) / 2, bottom - (bottom - top) / 3), (right, top)]
    assert curves(picture)[0] == [pytest.approx(place, abs=0.11) for place in expected]


def test_a_grid_line_stands_at_its_number():
    scale = Scale(LOG, ticks(LOG, [1, 100]), 0, 100)
    assert [round(scale.at(tick)) for tick in scale.ticks] == [0, 15, 35, 50, 65, 85, 100]
    assert scale.at(10.0) == pytest.approx(50)


@pytest.mark.parametrize(
    ("axis", "values", "labels"),
    [
        (LINEAR, [0, 9.7], ["0", "2", "4", "6", "8", "10"]),
        (LINEAR, [-0.3, 0.4], ["−0.3", "−0.2", "−0.1", "0", "0.1", "0.2", "0.3", "0.4"]),
        (LINEAR, [0, 61_000], ["0", "10,000", "20,000", "30,000", "40,000", "50,000", "60,000", "70,000"]),
        (LINEAR, [0, 2_500_000], ["0", "0.5 M", "1.0 M", "1.5 M", "2.0 M", "2.5 M"]),
        (LINEAR, [0, 4e-6], ["0", "1×10⁻⁶", "2×10⁻⁶", "3×10⁻⁶", "4×10⁻⁶"]),
        (LINEAR, [8, 8], ["6", "7", "8", "9", "10"]),
        (LINEAR, [0, 0], ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (RATE, [0, 1.0000000000000002], ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]),
        (RATE, [1, 1], ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]),
        (RATE, [0.991, 0.999], ["99.0 %", "99.2 %", "99.4 %", "99.6 %", "99.8 %", "100.0 %"]),
        (LOG, SIZES, ["5", "10", "20", "50", "100", "200", "500"]),
        (LOG, [1, 5000], ["1", "10", "100", "1,000", "10,000"]),
        (LOG, [1e-6, 1e3], ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹", "10²", "10³"]),
        (LOG, [2e-5, 1e-4], ["2×10⁻⁵", "5×10⁻⁵", "10⁻⁴"]),
        (LOG, [100, 140], ["100", "110", "120", "130", "140"]),
        (LOG, [1, 2e12], ["10⁰", "10²", "10⁴", "10⁶", "10⁸", "10¹⁰", "10¹²", "10¹⁴"]),
        (Axis("", log=True, percent=True), [0.01, 0.1], ["1 %", "2 %", "5 %", "10 %"]),
    ],
)  # fmt: skip
def test_ticks_are_round_numbers_in_one_form(axis, values, labels):
    assert tick_labels(axis, ticks(axis, values)) == labels


numbers = st.floats(-1e300, 1e300)
positive = st.floats(1e-300, 1e300)


@given(st.lists(positive, min_size=1) | st.lists(st.floats(3, 11), min_size=1), st.booleans())
def test_ticks_on_decades_cover_the_data_in_order_with_distinct_labels(values, percent):
    check_ticks(Axis("", log=True, percent=percent), values)


@given(st.lists(numbers, min_size=1) | st.lists(st.floats(-3, 11), min_size=1), st.booleans())
def test_linear_ticks_cover_the_data_in_order_with_distinct_labels(values, percent):
    check_ticks(Axis("", percent=percent), values)


def check_ticks(axis, values):
    marked = ticks(axis, values)
    labels = tick_labels(axis, marked)
    assert 3 <= len(marked) == len(set(labels)) <= 12
    assert all(before < after for before, after in pairwise(marked))
    scale = Scale(axis, marked, 0, 1)
    assert all(-1e-5 <= scale.at(value) <= 1 + 1e-5 for value in values)


def test_a_band_is_a_polygon_around_its_line():
    points = [(size, 0.5) for size in SIZES]
    picture = drawn(Line("a", points, band=[(0.4, 0.6)] * len(points)), x=LOG, y=RATE)
    (area,) = [places(shape) for shape in found(picture, "polygon")]
    (line,) = curves(picture)
    assert len(area) == 2 * len(points)
    for (x, y), above, below in zip(line, area, reversed(area), strict=False):
        assert (above[0], below[0]) == (x, x)
        assert above[1] < y < below[1]


def test_a_band_that_does_not_fit_its_points_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        drawn(Line("a", [(1, 1), (2, 2)], band=[(0, 1)]))


@pytest.mark.parametrize("gap", [0, -1, nan, inf, -inf])
def test_a_value_that_cannot_be_shown_leaves_a_gap(gap):
    picture = drawn(Line("a", [(1, 1), (2, 2), (3, gap), (4, 4), (5, 5), (6, 6)]), y=LOG)
    assert [len(points) for points in curves(picture)] == [2, 3]


def test_zero_is_a_value_like_any_other_on_a_linear_axis():
    assert [len(points) for points in curves(drawn(Line("a", [(-1, 0), (0, -1), (1, 0)])))] == [3]


def test_a_point_without_neighbours_is_a_dot():
    picture = drawn(Line("", [(1, 1), (2, nan), (3, 3), (4, 4)]))
    assert len(found(picture, "circle")) == 1


def test_marks_are_dots_on_the_points_and_in_the_legend():
    picture = drawn(Line("a", [(1, 1), (2, 2), (3, 3)], marks=True))
    dots = [(float(dot.get("cx")), float(dot.get("cy"))) for dot in found(picture, "circle")]
    assert dots[:3] == curves(picture)[0]
    assert len(dots) == 4


@pytest.mark.parametrize("lines", [[], [Line("a", [])], [Line("a", [(1, nan), (inf, 1)]), Line("", [(0, 1)])]])
def test_without_data_the_frame_says_so(lines):
    picture = drawn(*lines, x=LOG)
    left, top, right, bottom = frame(picture)
    assert "no data" in texts(picture)
    assert right - left > 400
    assert bottom - top > 200
    assert curves(picture) == []


@pytest.mark.parametrize("y", [LINEAR, LOG, RATE])
@pytest.mark.parametrize("points", [[(8, 0.5)], [(8, 0.5), (8, 0.5)], [(5, 0.5), (6, 0.5), (7, 0.5)]])
def test_one_point_and_equal_values_lie_inside_the_frame(points, y):
    picture = drawn(Line("a", points), x=LOG, y=y)
    left, top, right, bottom = frame(picture)
    assert all(left <= x <= right and top < at < bottom for x, at in curves(picture)[0])


def test_text_is_escaped():
    picture = drawn(Line("<&>\"'", [(1, 1)]), title="a < b & c\x00", x=Axis("x > 0"))
    assert {"<&>\"'", "a < b & c ", "x > 0"} <= set(texts(picture))


def test_named_lines_differ_in_colour_and_in_dashes():
    shapes = found(drawn(*(Line(name, [(0, 1), (1, 2)]) for name in "abcdefgh")), "polyline")
    assert len({shape.get("stroke") for shape in shapes}) == 8
    assert len({shape.get("stroke-dasharray") for shape in shapes}) == 8


def test_the_curves_of_a_family_look_alike_and_are_one_entry_of_the_legend():
    rows = [[0, end] for end in range(64)]
    picture = ElementTree.fromstring(family_svg("A family", [0, 1], rows, "one start", "mean", LINEAR, LINEAR))
    colours = [shape.get("stroke") for shape in found(picture, "polyline")]
    assert len(colours) == 65
    assert len(set(colours[:64])) == 1
    assert colours[64] != colours[0]
    assert [text for text in texts(picture) if text in {"", "one start", "mean"}] == ["one start", "mean"]


@pytest.mark.parametrize("length", [1, 12, 40, 200])
def test_the_legend_is_below_the_plot_and_its_entries_do_not_overlap(length):
    names = [letter * length for letter in "abcdefgh"]
    picture = drawn(*(Line(name, [(0, 1), (1, 2)]) for name in names))
    entries = [text for text in found(picture, "text") if text.text in names]
    boxes = [(float(e.get("y")), float(e.get("x")), float(e.get("font-size")) * 0.6 * length) for e in entries]
    bottom = max(float(text.get("y")) for text in found(picture, "text") if text.text == "plain")
    assert len(boxes) == 8
    assert all(y > bottom and x + width <= 720 for y, x, width in boxes)
    assert all(y < other_y or x + width < other_x for (y, x, width), (other_y, other_x, _) in pairwise(boxes))


def x_labels(picture):
    """Middle and about the width of the labels below the plot."""
    row = frame(picture)[3] + 17
    below = [text for text in found(picture, "text") if float(text.get("y")) == row]
    return [(float(text.get("x")), 7 * len(text.text)) for text in below]


anything = st.floats() | st.floats(-10, 10) | st.sampled_from([0.0, 5e-324, -1e300, 1e300, 1e308, 1.0, 1.0 + 1e-9])
rows = st.tuples(st.tuples(anything, anything), st.tuples(anything, anything))
axes = st.builds(Axis, st.text(max_size=30), st.booleans(), st.booleans())


@st.composite
def lines(draw):
    both = draw(st.lists(rows, max_size=8))
    band = [ends for _, ends in both] if draw(st.booleans()) else []
    return Line(
        draw(st.text(max_size=30)), [point for point, _ in both], band, draw(st.booleans()), draw(st.booleans())
    )


@given(st.text(max_size=100), st.lists(lines(), max_size=8), axes, axes)
def test_any_data_gives_a_picture_with_everything_inside(title, several, x, y):
    picture = drawn(*several, x=x, y=y, title=title)
    left, top, right, bottom = frame(picture)
    width, height = map(float, picture.get("viewBox").split()[2:])
    assert all(0 <= at <= width and 0 <= down <= height for at, down in all_places(picture))
    for shape in [*found(picture, "polyline"), *found(picture, "polygon")]:
        assert all(left - 0.2 <= at <= right + 0.2 and top - 0.2 <= down <= bottom + 0.2 for at, down in places(shape))
    labels = x_labels(picture)
    assert all(before + (wide + wider) / 2 <= at for (before, wide), (at, wider) in pairwise(labels))
    assert all(wide / 2 <= at <= width - wide / 2 for at, wide in labels)


def test_an_axis_of_whole_numbers_has_no_ticks_between_them():
    assert ticks(Axis("size", whole=True), [5, 8]) == [5, 6, 7, 8]
    assert len(ticks(Axis("size"), [5, 8])) > 4
