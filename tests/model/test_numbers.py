"""Numbers as words."""

from __future__ import annotations

import pytest

from enumerate.model.numbers import (
    clock,
    counted,
    estimated,
    long_time,
    measured_time,
    mebibytes,
    memory,
    plain,
    rough,
    short,
    short_time,
)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "less than a second"), (119, "119 seconds"), (120, "2 minutes"), (7_200, "2 hours"), (200_000, "2 days"),
     (8e9, "254 years"), (8e19, "2.54e+12 years"), (float("inf"), "countless years")],
)  # fmt: skip
def test_times_are_told_as_people_say_them(seconds, words):
    assert long_time(seconds) == words


def test_a_time_may_be_told_to_the_last_digit():
    assert long_time(8e15, "{:,.0f}".format) == "253,504,703 years"


def test_a_number_beyond_doubles_is_shown_by_its_logarithm():
    assert estimated(1.5, 2000) == "1.7222e602"


@pytest.mark.parametrize(
    ("make", "value", "words"),
    [
        (estimated, 0, "0"), (estimated, 999_999, "999,999"), (estimated, 1_234_567, "1.2346e6"),
        (estimated, 8.946802763e15, "8.9468e15"), (plain, True, "yes"), (plain, 1_234, "1,234"), (plain, 0.5, "0.5"),
        (plain, "open", "open"), (rough, 123_456.7, "123,457"), (rough, 1e6, "1e+06"),
        (rough, float("inf"), "countless"), (short, 950, "950"),
        (short, 42_710, "42.7k"), (short, 1_300_000, "1.3M"), (short, 5e18, "5000P"),
        (short_time, 12e-6, "12 µs"), (short_time, 0.0034, "3.4 ms"), (short_time, 1.2, "1.2 s"),
        (short_time, 300, "5 min"), (short_time, 10_800, "3 h"), (measured_time, 42.1e-6, "42.1 µs"),
        (measured_time, 0.0021, "2.1 ms"), (measured_time, 1.3, "1.3 s"), (measured_time, 0, "0 µs"),
        (clock, 125.4, "0:02:05"), (clock, 360_000, "100:00:00"), (mebibytes, 2**31, "2,048.0 MiB"),
        (memory, 13 * 2**19, "6.5 MiB"), (memory, 2**30, "1.0 GiB"),
    ],
)  # fmt: skip
def test_a_number_is_shown_in_as_many_digits_as_are_of_use(make, value, words):
    assert make(value) == words


def test_things_are_counted_in_the_singular_and_the_plural():
    assert [counted(number, "slice") for number in (0, 1, 2_000)] == ["0 slices", "1 slice", "2,000 slices"]
