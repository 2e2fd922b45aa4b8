"""What a run is asked to do, as one frozen value: read from flags and TOML files, checked once, then trusted."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from .board import MOVES, Board, parse_size
from .errors import BadRequest
from .tour import square_dtype
from .values import OBJECT_STORES, hint, in_range, one_of, refuse_strange_address, refuse_strange_url, shown

VARIANTS = ("open", "closed", "both")
STRATEGIES = ("warnsdorff", "backtrack", "greedy", "divide")
TIES = ("random", "index", "pohl", "roth", "squirrel")
KINDS = ("structured", "symmetric")  # of tours that --only keeps
MOVE_ORDER = "2,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1"
EXECUTORS = ("processes", "serial")
LARGEST = 10**18  # iteration counts stay well inside 64 bits
MAX_WORKERS = 1024
STANDARD = Board(8, 8)
SLICE_BYTES = 32 * 2**20  # of tours in one slice, unless --slice-tours says otherwise
BATCH_BYTES = 8 * 2**20

MAX_SLICE_BYTES = 2 * SLICE_BYTES
BITS_SQUARES = 64
SEARCH_SQUARES = 262_144  # 512x512: a cursor is a path, and is written down for each slice
SIZED_SQUARES = 400  # whatever the shape of a larger board, its search is beyond measure
MAX_FAILURES = 1_000_000
MAX_SPLIT = 100_000

# Kinds of `split` beside a number of prefixes for each start square.
SPLIT_AUTO = 0  # not decided yet: as the run in the folder has it, or by size if there is no limit, or not at all
BY_SIZE = -1  # as many prefixes as it takes that none is too large

_SPLITS = {"auto": SPLIT_AUTO, "by-size": BY_SIZE}

# Two runs of one identity find the same tours. Raise these when a change of the program would break that.
FORMAT_VERSION = 4
SEARCH_VERSION = 2

# Which strategies know a setting; the others refuse it.
_DEPTH_FIRST = ("warnsdorff", "backtrack")
_KNOWN_TO = {
    "prune": _DEPTH_FIRST,
    "split": _DEPTH_FIRST,
    "h-prob": _DEPTH_FIRST,
    "move-order": ("backtrack",),
    "ties": ("greedy",),
    "failures": ("greedy",),
}

# What a setting is if nothing is said, where that depends on the strategy. Plain backtracking is there to be compared;
# divide makes one tour of any number of squares from one square.
_DEFAULTS: dict[str, dict[str, object]] = {
    "backtrack": {"prune": False},
    "divide": {"start": "a1", "max": 0},
}


@dataclass(frozen=True)
class Config:
    """One run. Everything up to `slice_tours` is its identity; the rest may change from call to call."""

    board: Board = STANDARD
    missing_corner: bool = False
    variant: str = "open"
    strategy: str = "warnsdorff"
    start: str = "all"
    only: str = ""  # a kind of tours: all others are left out
    write: bool = True
    move_order: str = MOVE_ORDER
    ties: str = "random"
    failures: int = 5
    prune: bool = True
    h_prob: float = 1.0
    seed: int = 0
    split: int = SPLIT_AUTO
    expand: bool = False  # write the images of each tour under the symmetries of the board too
    slice_iterations: int = 10_000_000
    slice_tours: int = 0  # 0: as many as fit into SLICE_BYTES, at most 524,288
    max: int = 500_000
    tours: int = 0
    output: str = ""
    executor: str = "processes"
    address: str = ""  # of a Ray cluster; empty: this machine without Ray
    workers: int = 0  # 0: all cores, or all slots of the cluster

    @classmethod
    def checked(cls, **values: Any) -> Config:
        """A config of these fields, written in one way and checked; whoever has one trusts it."""
        config = cls(**_normalised(values))
        _refuse_output(config.output)
        one_of("variant", config.variant, VARIANTS)
        one_of("strategy", config.strategy, STRATEGIES)
        one_of("ties", config.ties, TIES)
        one_of("executor", config.executor, EXECUTORS)
        if config.only:
            one_of("only", config.only, KINDS)
        if config.address:
            refuse_strange_address(config.address)
        _refuse_contradictions(config)
        _refuse_out_of_range(config)
        return config

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

    @property
    def kernel(self) -> str:
        """Which kernel searches the board: the faster one takes at most 64 squares."""
        return "bits" if self.board.squares <= BITS_SQUARES else "array"

    @property
    def has_times(self) -> bool:
        """Whether it is told what each tour took: the strategy makes one after the other."""
        return self.strategy == "greedy"

    @property
    def is_depth_first(self) -> bool:
        """Whether the search goes on until every tour is found."""
        return self.strategy in _DEPTH_FIRST

    @property
    def is_exhaustive(self) -> bool:
        """Whether every tour is asked for."""
        return self.is_depth_first and not self.max and not self.tours

    @property
    def settled(self) -> Config:
        """With `split` decided, for a new run."""
        if self.split != SPLIT_AUTO:
            return self
        return replace(self, split=BY_SIZE if self.is_exhaustive else 1)

    @property
    def draws(self) -> bool:
        """Whether tours are drawn by lot, so that one may come more than once."""
        return self.strategy == "greedy" and self.ties == "random"

    @property
    def identity(self) -> dict[str, str | int | float | bool]:
        """What decides which tours a run finds, in which order and in which parts."""
        names = [field.name for field in fields(self)]
        values: dict[str, str | int | float | bool] = {
            "format": FORMAT_VERSION,
            "search": SEARCH_VERSION,
            "size": str(self.board),
            **{name.replace("_", "-"): getattr(self, name) for name in names[1 : names.index("max")]},
            "split": "by-size" if self.settled.split == BY_SIZE else self.settled.split,
            "slice-tours": self.tours_in_slice,
        }
        return {key: value for key, value in values.items() if self.strategy in _KNOWN_TO.get(key, STRATEGIES)}

    @property
    def place(self) -> str:
        """Where the run lives. Without `output` the name follows from the search, so that a larger --max meets it."""
        if self.output:
            return self.output
        words = [
            self.variant,
            str(self.board),
            "without-corner" if self.missing_corner else "",
            _file_name(self.start) if self.start != _default(self.strategy, "start") else "",
            *self._strategy_words,
            self.only,
            "" if self.write else "counted",
            f"h{self.h_prob!r}".removesuffix(".0") if self.h_prob != 1.0 else "",
            f"seed{self.seed}" if self.seed else "",
            f"split{self.split}" if self.split > 1 else "",
            "expanded" if self.expand else "",
        ]
        return os.path.join("output", "-".join(filter(None, words)))

    @property
    def _strategy_words(self) -> list[str]:
        """What tells this strategy from the default, for the name of the run."""
        words = [] if self.strategy == "warnsdorff" else [self.strategy]
        if self.is_depth_first and self.prune != _default(self.strategy, "prune"):
            words.append("pruned" if self.prune else "plain")
        if self.strategy == "backtrack" and self.move_order != MOVE_ORDER:
            words.append("order" + hashlib.sha256(self.move_order.encode()).hexdigest()[:8])
        if self.strategy == "greedy":
            words.append(self.ties)
            words += [f"failures{self.failures}"] if self.failures != 5 else []
        return words

    @classmethod
    def from_values(cls, values: Mapping[str, object]) -> Config:
        """A config from flags or a TOML table, keyed by the names of the flags without their dashes."""
        known = {**{field.name.replace("_", "-"): field.name for field in fields(cls)}, "size": "board"}
        del known["board"]
        checked: dict[str, object] = {}
        for key, value in values.items():
            if key not in known:
                raise BadRequest(f"unknown key: {key!r}{hint(key, known) or '; known are ' + ', '.join(sorted(known))}")
            checked[known[key]] = _convert(key, known[key], value)
        strategy = str(checked.get("strategy", "warnsdorff"))
        one_of("strategy", strategy, STRATEGIES)
        _refuse_unknown_to(strategy, values)
        checked = {**_DEFAULTS.get(strategy, {}), **checked}
        if checked.get("address") == "":
            raise BadRequest("address is empty: give auto, local or host:port, or leave it out for this machine alone")
        return cls.checked(**checked)


def _normalised(values: dict[str, Any]) -> dict[str, Any]:
    """What can be written in several ways, in one: it is part of the identity."""
    values = {name: getattr(Config, name) for name in ("board", "start", "h_prob", "move_order")} | values
    values["start"] = ",".join(sorted("".join(values["start"].lower().split()).split(",")))
    values["h_prob"] += 0.0  # no -0.0: it would have a name of its own
    values["move_order"] = " ".join(f"{down},{right}" for down, right in parse_moves(values["move_order"]))
    if values.get("missing_corner"):
        values["board"] = replace(values["board"], missing=values["board"].last_corner)
    return values


def _refuse_output(output: str) -> None:
    if "\0" in output:
        raise BadRequest(f"output is a path, and no path has a zero byte: {output!r}")
    if re.match(rf"({'|'.join(OBJECT_STORES)}):(?!//)", output):
        raise BadRequest(f"an address has two slashes after its colon: {output!r}; a folder is ./{output}")
    if "://" in output:
        refuse_strange_url(output)


def _refuse_contradictions(config: Config) -> None:
    if config.address and config.executor == "serial":
        raise BadRequest("--address and --executor serial exclude each other: Ray's workers are not this process")
    if config.expand and config.start != "classes":
        raise BadRequest(f"--expand is for --start classes: {config.start!r}; others are searched as they are")
    if config.start == "once" and config.variant != "closed":
        raise BadRequest(f"--start once finds closed tours: {config.variant!r}; use --variant closed or --start all")


def _refuse_out_of_range(config: Config) -> None:
    if not 0.0 <= config.h_prob <= 1.0:
        raise BadRequest(f"h-prob is a probability from 0 to 1: {config.h_prob}")
    in_range("max", config.max, 0, LARGEST, "iterations for each start square; 0 means no limit")
    in_range("tours", config.tours, 0, LARGEST, "tours for each start square; 0 means no limit")
    in_range("seed", config.seed, 0, LARGEST)
    in_range("split", config.split, BY_SIZE, MAX_SPLIT, "prefixes for each start square")
    in_range("failures", config.failures, 1, MAX_FAILURES, "attempts at a tour before it is given up")
    in_range("workers", config.workers, 0, MAX_WORKERS, "0 means one for each core")
    in_range("slice-iterations", config.slice_iterations, 1, LARGEST)
    most = max(1, MAX_SLICE_BYTES // config.tour_bytes)
    in_range("slice-tours", config.slice_tours, 0, most, "0 chooses; more would not fit into memory")


def parse_moves(text: str) -> tuple[tuple[int, int], ...]:
    """The eight moves of a knight as row,column, in the order they are listed."""
    words = [re.fullmatch(r"(-?[12]),(-?[12])", word) for word in text.split()]
    moves = tuple((int(word[1]), int(word[2])) for word in words if word)
    if len(moves) != len(words) or sorted(moves) != sorted(MOVES):
        raise BadRequest(f"move-order lists the eight moves, such as {MOVE_ORDER!r}: {text!r}")
    return moves


def _default(strategy: str, name: str) -> object:
    """What a field is for a strategy if nothing is said."""
    return _DEFAULTS.get(strategy, {}).get(name, Config.__dataclass_fields__[name].default)


def _refuse_unknown_to(strategy: str, keys: Iterable[str]) -> None:
    for key in keys:
        knowing = _KNOWN_TO.get(key, STRATEGIES)
        if strategy not in knowing:
            raise BadRequest(
                f"--strategy {strategy} knows no {key}: {' and '.join(knowing)} {'does' if len(knowing) == 1 else 'do'}"
            )


def usable_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _convert(key: str, name: str, value: object) -> object:
    """A flag's or file's value as the type of its field."""
    if key == "split":
        return _parse_split(value)
    field_type = type(getattr(Config, name))
    if field_type is Board and isinstance(value, (str, int)) and not isinstance(value, bool):
        return parse_size(value if isinstance(value, str) else shown(value))
    if field_type is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) < LARGEST else float("inf")
    if type(value) is not field_type:
        expected = {Board: "a size such as 8 or '5x6'", bool: "true or false", int: "a whole number",
                    float: "a number", str: "a text"}[field_type]  # fmt: skip
        raise BadRequest(f"{key} is {expected}: {shown(value)}")
    return value


def _parse_split(value: object) -> int:
    """A number of prefixes, as a number or a flag's text, or a word."""
    number = int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,18}", value) else value
    if isinstance(number, str) and number in _SPLITS:
        return _SPLITS[number]
    if type(number) is not int or not 1 <= number <= MAX_SPLIT:
        words = " or ".join(_SPLITS)
        raise BadRequest(f"split is {words}, or a number of prefixes from 1 to {MAX_SPLIT:,}: {shown(value)}")
    return number


def _file_name(start: str) -> str:
    """A start specification as part of a folder's name; long lists of squares become a hash."""
    name = start.replace(":", "").replace(",", "+")
    return name if len(name) <= 40 else "starts" + hashlib.sha256(start.encode()).hexdigest()[:8]
