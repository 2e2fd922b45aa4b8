"""Numbers, times and sizes as words: how they are printed is decided here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta

_PERIODS = ((365.25 * 86_400, "years"), (86_400, "days"), (3_600, "hours"), (60, "minutes"))


def counted(number: int, thing: str, things: str = "") -> str:
    """A number of things: 1 slice, 2,000 slices."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def plain(value: object) -> str:
    """A setting or a count as it is: yes, 1,234, warnsdorff."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def short(number: float) -> str:
    """A number in at most five characters: 950, 42.7k, 1.3M."""
    for unit in ("", "k", "M", "G", "T"):
        if number < 999.5:
            return f"{number:.0f}" if not unit else f"{number:.1f}{unit}" if number < 99.95 else f"{number:.0f}{unit}"
        number /= 1000
    return f"{number:.0f}P"


def rough(number: float) -> str:
    """A number that is known by its size only: 1,234, 2.54e+12, countless."""
    if number == math.inf:
        return "countless"
    return f"{number:,.0f}" if number < 1e6 else f"{number:.3g}"


_LARGE = ("million", "billion", "trillion", "quadrillion", "quintillion", "sextillion", "septillion", "octillion")


def in_words(number: float) -> str:
    """A number that is known roughly: 1,234, 2.54 trillion, 3.1e+42, countless."""
    if not 1e6 <= number < 1e30:
        return rough(number)
    power = min(int(math.log10(number)) // 3, len(_LARGE) + 1)
    return f"{number / 1000**power:.3g} {_LARGE[power - 2]}"


def estimated(value: float, bits: int = 0) -> str:
    """A number, times two to the power `bits`, with as many digits as an estimate can bear."""
    if value <= 0:
        return "0"
    if bits == 0 and value < 1e6:  # shown to the last digit
        return f"{value:,.0f}"
    exponent = math.log10(value) + bits * math.log10(2)
    whole = math.floor(exponent + 5e-5 / math.log(10) / 10)  # 9.99999e5 is 1.0000e6
    return f"{10 ** (exponent - whole):.4f}e{whole}"


def short_time(seconds: float) -> str:
    """A time in at most six characters: 12 µs, 3.4 ms, 1.2 s, 5 min, 3 h."""
    for unit, size in (("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)):
        amount = seconds / size
        if amount < 99.5 or (amount < 999.5 and unit != "s"):
            return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:.0f} {unit}"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.0f} h"


def measured_time(seconds: float) -> str:
    """A time in three digits, with its unit: 42.1 µs, 2.1 ms, 1.3 s."""
    size, unit = (1.0, "s") if seconds >= 1 else (1e-3, "ms") if seconds >= 1e-3 else (1e-6, "µs")
    return f"{seconds / size:.3g} {unit}"


def long_time(seconds: float, amount: Callable[[float], str] = rough) -> str:
    """A time as people say it: less than a second, 119 seconds, 2 minutes, 254 years."""
    for size, unit in _PERIODS:
        if seconds >= 2 * size:
            return f"{amount(seconds / size)} {unit}"
    return f"{seconds:.0f} seconds" if seconds >= 0.5 else "less than a second"


def clock(seconds: float) -> str:
    """A time as a clock shows it: 0:02:05; beyond 1,000 hours in words."""
    if seconds >= 3_600_000:
        return long_time(seconds, in_words)
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def ends_at(seconds: float) -> str:
    """The time of day in so many seconds, with the day if it is another one."""
    now = datetime.now()
    end = now + timedelta(seconds=min(seconds, 1e10))
    return f"{end:%H:%M}" if end.date() == now.date() else f"{end:%Y-%m-%d %H:%M}"


def size(count: float) -> str:
    """Bytes on a disk: 512 bytes, 46.4 MB, 79.8 GB."""
    for unit, unit_bytes in (("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= unit_bytes:
            return f"{count / unit_bytes:,.1f} {unit}"
    return f"{count:.0f} bytes"


def mebibytes(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB"


def memory(count: int) -> str:
    """Bytes of memory: 12.5 MiB, 1.2 GiB."""
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 / 10 else mebibytes(count)
