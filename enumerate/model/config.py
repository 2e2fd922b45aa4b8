"""A run's settings as one frozen value: checked once, then trusted. See `search.strategy` for what follows from it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

from .errors import BadRequest
from .settings import SETTINGS, Settings, parse_moves
from .tour import square_dtype
from .values import in_range

SEARCH_SQUARES = 262_144  # 512x512: a cursor is a path, and is written down for each slice
SIZED_SQUARES = 400  # whatever the shape of a larger board, its search is beyond measure
SLICE_BYTES = 32 * 2**20  # of tours in one slice, unless --slice-tours says otherwise
MAX_SLICE_BYTES = 2 * SLICE_BYTES
BATCH_BYTES = 8 * 2**20

# Two runs of one identity find the same tours. Raise these when a change of the program would break that.
FORMAT_VERSION = 5
SEARCH_VERSION = 2


@dataclass(frozen=True)
class Config(Settings):
    """One run."""

    own: tuple[tuple[str, Any], ...] = ()  # settings of a strategy from outside, by name

    @classmethod
    def checked(cls, **values: Any) -> Config:
        """A config of these fields, written in one way and checked; whoever has one trusts it."""
        config = _normalised(cls(**values))
        for setting in SETTINGS:
            setting.refuse_bad(getattr(config, setting.field))
        _refuse_contradictions(config)
        most = max(1, MAX_SLICE_BYTES // config.tour_bytes)
        in_range("slice-tours", config.slice_tours, 0, most, "0 chooses; more would not fit into memory")
        return config

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that are searched for; both are found in one search."""
        return ("open", "closed") if self.variant == "both" else (self.variant,)

    @property
    def tours_on_board(self) -> str:
        """What a run finds, in words: open and closed tours on 8x8."""
        return f"{' and '.join(self.variants)} tours on {self.board}"

    @property
    def tour_bytes(self) -> int:
        return max(1, self.board.length * square_dtype(self.board).itemsize)

    @property
    def tours_in_slice(self) -> int:
        return self.slice_tours or max(1, min(524_288, SLICE_BYTES // self.tour_bytes))

    @property
    def tours_in_batch(self) -> int:
        """Tours that are searched before they are written, one row group: small enough to stay in a core's cache."""
        return max(1, min(131_072, BATCH_BYTES // self.tour_bytes))


def _normalised(config: Config) -> Config:
    """What can be written in several ways, in one: it is part of the identity."""
    return replace(
        config,
        start=",".join(sorted("".join(config.start.lower().split()).split(","))),
        h_prob=config.h_prob + 0.0,  # no -0.0: it would have a name of its own
        move_order=" ".join(f"{down},{right}" for down, right in parse_moves(config.move_order)),
        board=replace(config.board, missing=config.board.squares - 1) if config.missing_corner else config.board,
    )


def _refuse_contradictions(config: Config) -> None:
    if config.address and config.executor == "serial":
        raise BadRequest("--address and --executor serial exclude each other: Ray's workers are not this process")
    if config.expand and config.start != "classes":
        raise BadRequest(f"--expand needs --start classes, got {config.start!r}")
    if config.start == "once" and config.variant != "closed":
        raise BadRequest(f"--start once needs --variant closed, got {config.variant!r}; or use --start all")


def usable_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
