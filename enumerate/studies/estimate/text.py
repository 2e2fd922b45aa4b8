"""An estimate as a line of progress, as text for people and as one JSON document for machines."""

from __future__ import annotations

import math
from typing import Any

from ...model.literature import published, published_tours
from ...model.numbers import estimated
from .estimate import Estimate


def progress_line(found: Estimate) -> str:
    name, share = _counts(found)[0]
    return (
        f"{found.config.variant} tours on {found.config.board}, {name}: {estimated(found.tours * share, found.bits)}"
        f" {plus_minus(found)}, {found.descents:,} descents, {found.seconds:.0f} s"
    )


def plus_minus(found: Estimate) -> str:
    return f"± {found.error:.2%}" if math.isfinite(found.error) else "± unknown"


def estimate_lines(found: Estimate) -> list[str]:
    """What the end of an estimate prints."""
    if not found.batches:
        return ["stopped before the first batch of descents was done: nothing is known yet"]
    lines = [f"{_what(found)} on {found.config.board}"]
    lines += [f"{name:<11}{estimated(found.tours * share, found.bits)} {_interval(found, share)}"
              for name, share in _counts(found)]  # fmt: skip
    lines.append(f"{'':<11}from {found.descents:,} random descents in {found.seconds:.1f} s, seed {found.config.seed}")
    lines += _published(found)
    if found.doubt:
        lines.append(f"unreliable: {found.doubt}")
    return lines


def _published(found: Estimate) -> list[str]:
    """What is known exactly, where it is."""
    board, variant = found.config.board, found.config.variant
    known = published(board, "cycles") if variant == "closed" else published_tours(board, variant)
    if not known or found.config.start != "all":
        return []
    undirected = known.count if variant == "closed" else known.count // 2
    return [f"{'published':<11}{undirected:,} undirected ({known.source})"]


def _interval(found: Estimate, share: float) -> str:
    if not math.isfinite(found.error):
        return plus_minus(found)
    low, high = (estimated((found.tours + side) * share, found.bits) for side in (-found.half_width, found.half_width))
    return f"{plus_minus(found)}, with 95 % confidence from {low} to {high}"


def _what(found: Estimate) -> str:
    """Which tours are counted."""
    kinds = {"open": "open tours", "closed": "closed tours", "both": "tours, closed ones cut at each of their moves,"}
    from_ = "" if found.config.start == "all" else f" that start on {found.config.start}"
    return kinds[found.config.variant] + from_


def _counts(found: Estimate) -> list[tuple[str, float]]:
    """The numbers to show, as shares of the directed tours: each of all tours of a board is counted both ways."""
    if found.config.start != "all":
        return [("directed", 1)]
    return [("undirected", 0.5), ("directed", 1)]


def estimate_json(found: Estimate) -> dict[str, Any]:
    """The same as one document. Numbers that no double holds are null, but their logarithms are there."""
    config = found.config
    known, width = found.tours if found.batches else math.nan, found.half_width
    counts = {
        name: {
            "tours": _plain(known * share, found.bits),
            "low": _plain(max(0.0, known - width) * share, found.bits),
            "high": _plain((known + width) * share, found.bits),
            "log10": math.log10(known * share) + found.bits * math.log10(2) if known > 0 else None,
        }
        for name, share in _counts(found)
    }
    return {
        "size": str(config.board),
        "variant": config.variant,
        "start": config.start,
        "seed": config.seed,
        **counts,
        "error": found.error if math.isfinite(found.error) else None,
        "doubt": found.doubt,
        "largest_share": found.largest_share if found.batches else None,
        "batches": found.batches,
        "descents": found.descents,
        "seconds": found.seconds,
        "interrupted": found.interrupted,
    }


def _plain(value: float, bits: int) -> float | None:
    """A double, if there is one."""
    try:
        value = math.ldexp(value, bits)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None
