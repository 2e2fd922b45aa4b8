"""Numbers as short words."""

from __future__ import annotations


def short(number: float) -> str:
    """A number in at most five characters: 950, 42.7k, 1.3M."""
    for unit in ("", "k", "M", "G", "T"):
        if number < 999.5:
            return f"{number:.0f}" if not unit else f"{number:.1f}{unit}" if number < 99.95 else f"{number:.0f}{unit}"
        number /= 1000
    return f"{number:.0f}P"


def short_time(seconds: float) -> str:
    """A time in at most six characters: 12 µs, 3.4 ms, 1.2 s, 5 min, 3 h."""
    for unit, size in (("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)):
        amount = seconds / size
        if amount < 99.5 or (amount < 999.5 and unit != "s"):
            return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:.0f} {unit}"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.0f} h"
