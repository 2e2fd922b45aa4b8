"""Every setting of a run, once: its type, default and range, what `--help` says of it, and what it decides.

A setting is a field of `Settings`. Its flag, its key in a config file, its line in `--help`, its refusals and its part
in the identity of a run follow from the entry here. A strategy from outside has entries of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from .board import MOVES, Board, parse_size, size_of
from .errors import BadRequest
from .values import in_range, one_of, parse_whole, refuse_strange_address, refuse_strange_output, shown

VARIANTS = ("open", "closed", "both")
KINDS = ("structured", "symmetric")  # of tours that --only keeps
TIES = ("random", "lowest", "pohl", "roth", "squirrel")
EXECUTORS = ("processes", "serial")
MOVE_ORDER = "2,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1"
LARGEST = 10**18  # iteration counts stay well inside 64 bits
MAX_WORKERS = 1024
MAX_FAILURES = 1_000_000
MAX_SPLIT = 100_000

# Values of `split` beside a number of prefixes for each start square.
SPLIT_AUTO = 0  # not decided yet: as the run in the folder has it, or by size if there is no limit, or not at all
BY_SIZE = -1  # split until no job is too large
_SPLITS = {"auto": SPLIT_AUTO, "by-size": BY_SIZE}

# The groups of --help, in their order.
GROUPS = BOARD, HOW, MUCH, WHERE, WHO = "Board and tours", "How to search", "How much", "Where", "Who works"

_EXPECTED = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}


@dataclass(frozen=True)
class Setting:
    """One setting. `low` and `high` are the ends of its range, and `meaning` explains them in errors."""

    name: str  # of the flag without its dashes, and of the key in a config file
    default: Any
    help: str
    group: str = HOW
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    meaning: str = ""
    is_shared: bool = True  # by all strategies; the others belong to those that take them
    is_identity: bool = True  # decides which tours a run finds, in which order and in which parts
    is_recent: bool = False  # named only where it differs from its default: runs without it keep their bytes
    has_dashes: bool = False  # its value may begin with one
    parse: Callable[[object], Any] | None = None  # for what files and flags write in another way
    show: Callable[[Any], str] | None = None  # the inverse of `parse`
    check: Callable[[str], object] | None = None  # refuses what cannot be one
    default_text: str | None = None

    @property
    def field(self) -> str:
        return "board" if self.name == "size" else self.name.replace("-", "_")

    def read(self, value: object) -> Any:
        """The value of a flag or a file as what it means."""
        if self.parse:
            return self.parse(value)
        expected = type(self.default)
        if expected is int and type(value) is str:
            return parse_whole(value, self.name)
        if expected is float and type(value) is int:
            return float(value) if abs(value) < LARGEST else float("inf")
        if type(value) is not expected:
            raise BadRequest(f"{self.name} must be {_EXPECTED[expected]}, got {shown(value)}")
        return value

    def words(self, value: Any) -> list[str]:
        """The flag that asks for a value."""
        if isinstance(value, bool):
            return [f"--{self.name}" if value else f"--no-{self.name}"]
        text = self.show(value) if self.show else str(value)
        return [f"--{self.name}={text}"] if text.startswith("-") else [f"--{self.name}", text]

    def refuse_bad(self, value: Any) -> None:
        if self.choices and (value or self.default):
            one_of(self.name, value, self.choices)
        if self.low is not None and self.high is not None:
            in_range(self.name, value, self.low, self.high, self.meaning)
        if self.check and value:
            self.check(value)


def _parse_board(value: object) -> Board:
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return parse_size(value if isinstance(value, str) else shown(value))
    raise BadRequest(f"size must be a size such as 8 or '5x6', got {shown(value)}")


def _parse_address(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise BadRequest(f"address must be auto, local or host:port, got {shown(value)}; leave it out for this machine")
    return value


def _parse_split(value: object) -> int:
    """A number of prefixes, as a number or a flag's text, or a word."""
    number = int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,18}", value) else value
    if isinstance(number, str) and number in _SPLITS:
        return _SPLITS[number]
    if type(number) is not int or not 1 <= number <= MAX_SPLIT:
        words = ", ".join(_SPLITS)
        raise BadRequest(f"split must be {words} or a number of prefixes from 1 to {MAX_SPLIT:,}, got {shown(value)}")
    return number


def _split_text(split: int) -> str:
    return next((word for word, value in _SPLITS.items() if value == split), str(split))


def parse_moves(text: str) -> tuple[tuple[int, int], ...]:
    """The eight moves of a knight as row,column, in the order they are listed."""
    words = [re.fullmatch(r"(-?[12]),(-?[12])", word) for word in text.split()]
    moves = tuple((int(word[1]), int(word[2])) for word in words if word)
    if len(moves) != len(words) or sorted(moves) != sorted(MOVES):
        raise BadRequest(f"move-order must list the eight moves, such as {MOVE_ORDER!r}, got {text!r}")
    return moves


def _setting(default: Any, help_: str, **more: Any) -> Any:
    """An entry of the table: a field that carries what a `Setting` says beside its name."""
    return field(default=default, metadata={"help": help_, **more})


@dataclass(frozen=True)
class Settings:
    """The table, in the order of `--help`."""

    variant: str = _setting("open", "Which tours to find.", choices=VARIANTS, group=BOARD)
    board: Board = _setting(
        Board(8, 8), "The board: 8 is 8x8, 5x6 has 5 rows and 6 columns.", name="size", parse=_parse_board,
        show=size_of, default_text="8", group=BOARD,
    )  # fmt: skip
    strategy: str = _setting("", "How to search")  # the strategies say the rest
    max: int = _setting(
        500_000, "Iterations (placements of the knight) for each start square; 0 means no limit.", low=0, high=LARGEST,
        is_identity=False, meaning="iterations for each start square; 0 means no limit", group=MUCH,
    )  # fmt: skip
    tours: int = _setting(
        0, "Tours for each start square; 0 means no limit. --max still applies.", low=0, high=LARGEST,
        is_identity=False, meaning="tours for each start square; 0 means no limit", group=MUCH,
    )  # fmt: skip
    only: str = _setting(
        "", "Keep only tours of this kind; structured ones have the two moves next to each corner.",
        choices=KINDS, default_text="all", group=BOARD,
    )  # fmt: skip
    write: bool = _setting(True, "Write the tours, or only count them.", group=BOARD)
    start: str = _setting(
        "all", "Start squares: all, classes (one for each symmetry class), once (closed tours: from one corner in one"
        " direction, each tour once), random:N, or names such as a1,d4.", group=BOARD,
    )  # fmt: skip
    missing_corner: bool = _setting(
        False, "The board lacks its last corner: odd boards have closed tours then.", group=BOARD
    )
    prune: bool = _setting(
        True, "Skip paths that cannot become a tour: more tours in the same iterations, and none lost.", is_shared=False
    )
    h_prob: float = _setting(
        1.0, "Probability of the strategy's order at each square; otherwise the order is shuffled.", low=0.0, high=1.0,
        is_shared=False, default_text="1",
    )  # fmt: skip
    move_order: str = _setting(
        MOVE_ORDER, "The eight moves as row,column, in the order to try them.", check=parse_moves, is_shared=False,
        has_dashes=True,
    )  # fmt: skip
    ties: str = _setting(
        "random", "How to choose among squares with equally few onward moves: lowest is the square number, pohl the"
        " second-level degree, roth the distance from the centre, squirrel the orderings of Squirrel and Cull.",
        choices=TIES, is_shared=False,
    )  # fmt: skip
    failures: int = _setting(
        5, "Dead ends before a tour is given up; it counts as one of --tours.", low=1, high=MAX_FAILURES,
        is_shared=False, meaning="attempts at a tour before it is given up",
    )  # fmt: skip
    split: int = _setting(
        SPLIT_AUTO, "Jobs for each start square, each with a prefix of its own: a number, or auto: without a limit,"
        " split until no job is too large; else one job. The jobs share the budget and find tours that differ more.",
        parse=_parse_split, show=_split_text, is_shared=False, low=BY_SIZE, high=MAX_SPLIT,
        meaning="prefixes for each start square", default_text="auto",
    )  # fmt: skip
    expand: bool = _setting(
        False, "With --start classes: also write the images of each tour under the symmetries of the board, so that"
        " no tour is missing.", group=BOARD,
    )  # fmt: skip
    seed: int = _setting(0, "Seed of shuffled orders, random ties and random start squares.", low=0, high=LARGEST)
    output: str = _setting(
        "", "Folder of the run, or an address: s3://bucket/run.", check=refuse_strange_output, is_identity=False,
        default_text="output/ and a name made from the settings", group=WHERE,
    )  # fmt: skip
    address: str = _setting(
        "", "Work on a Ray cluster: auto (the one this machine is part of), host:port, or local (a new one, here).",
        parse=_parse_address, check=refuse_strange_address, is_identity=False, group=WHO,
    )  # fmt: skip
    workers: int = _setting(
        0, "Workers; 0 means one for each core of the machine or the cluster.", low=0, high=MAX_WORKERS,
        is_identity=False, meaning="0 means one for each core", group=WHO,
    )  # fmt: skip
    executor: str = _setting(
        "processes", "serial does everything in this process, for debugging.", choices=EXECUTORS,
        is_identity=False, group=WHO,
    )  # fmt: skip
    slice_iterations: int = _setting(
        10_000_000,
        "Iterations in a slice, the unit of work that is written and recorded.",
        low=1,
        high=LARGEST,
        group=MUCH,
    )
    slice_tours: int = _setting(0, "Tours in a slice.", default_text="524288, fewer on large boards", group=MUCH)


SETTINGS = tuple(
    Setting(**{"name": each.name.replace("_", "-"), "default": each.default, **each.metadata})
    for each in fields(Settings)
)
