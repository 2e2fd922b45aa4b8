"""A way to search, as one object: what it takes, what it refuses, and the search that it makes. And what a strategy
makes of a config: its defaults, what a run of it is, and where it goes.

A strategy is an object in a file of its own, named `module:object`; those of this package have short names, too. The
file is imported when the strategy is used, and must be importable without numba: kernels are loaded for a search.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Protocol

from ..model.batch import Batch, Column
from ..model.config import FORMAT_VERSION, SEARCH_SQUARES, SEARCH_VERSION, Config
from ..model.errors import BadRequest
from ..model.jobs import Cursor, Job
from ..model.settings import BY_SIZE, SETTINGS, SPLIT_AUTO, Setting
from ..model.values import hint, one_of

STRATEGIES = {  # the first is the default
    "warnsdorff": "enumerate.search.depth_first:WARNSDORFF",
    "backtrack": "enumerate.search.depth_first:BACKTRACK",
    "greedy": "enumerate.search.greedy:GREEDY",
    "divide": "enumerate.search.divide:DIVIDE",
}
DEFAULT = next(iter(STRATEGIES))


class Searching(Protocol):
    """A search of one job, at a cursor: it can continue from there, and stop anywhere."""

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to find."""

    @property
    def cursor(self) -> Cursor:
        """Where to continue; empty when nothing is left. Its first square is the start square."""

    @property
    def iterations(self) -> int:
        """Placements so far, from the first slice on."""

    @property
    def dead_ends(self) -> int:
        """Since `resume`, like the two below."""

    @property
    def left_out(self) -> int:
        """Tours that were found, but not of the kind that is kept."""

    @property
    def given_up(self) -> int:
        """Tours that were begun and not found."""

    def resume(self, cursor: Cursor, iterations: int) -> None:
        """Stand at the cursor, after so many iterations."""

    def fill(self, batch: Batch, found: int, limit: int) -> int:
        """Search until `limit` iterations in all, or the batch, which holds `found` tours, is full; count its tours.

        Tours given up take room in the batch as if they had been found.
        """


class Strategy(ABC):
    """A way to search. The same config and job must give the same search everywhere."""

    summary: str  # for --help
    takes: tuple[str, ...] = ()  # of the settings that not every strategy has
    defaults: Mapping[str, object] = {}  # where they differ from those of the table
    settings: tuple[Setting, ...] = ()  # of a strategy from outside: its own
    columns: tuple[Column, ...] = ()  # that its tours have beside those of all; see `Batch.more`
    is_complete = False  # it goes on until every tour is found
    has_times = False  # it reports what each tour took: it makes one after the other

    @abstractmethod
    def search(self, config: Config, job: Job) -> Searching:
        """The search of a job, before its first placement or cursor."""

    def count_jobs(self, config: Config) -> int:  # noqa: ARG002
        """How many jobs a run has if they are not bound to start squares: their prefixes and first cursors are empty,
        and each has the whole budget. 0: there are one or more for each start square.
        """
        return 0

    def kernels(self, config: Config) -> Iterable[tuple[str, int]]:  # noqa: ARG002
        """The first function of each kernel that its search loads, and the bytes of a square: see `load_kernel`."""
        return ()

    def picks_at_random(self, config: Config) -> bool:  # noqa: ARG002
        """Whether one tour may come more than once."""
        return False

    def refuse(self, config: Config) -> None:
        """Raise BadRequest for what this strategy cannot do, though others can."""
        if config.board.squares > SEARCH_SQUARES:
            raise BadRequest(
                f"{config.strategy} takes boards of at most {SEARCH_SQUARES:,} squares (512x512), got {config.board};"
                " use --strategy divide"
            )

    def words(self, config: Config) -> Iterable[str]:
        """Its settings, as words in the name of a run."""
        return [f"{name}{value}" for name, value in config.own]


@lru_cache
def strategy_named(name: str) -> Strategy:
    """A strategy of this package by its name, or any one by its module and object."""
    path = STRATEGIES.get(name or DEFAULT, name)
    if ":" not in path:
        one_of("strategy", name, (*STRATEGIES, "module:object"))
    module, _, attribute = path.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # as if it was started by python -m, whatever started it
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # it is somebody else's file
        raise BadRequest(f"cannot load the strategy {name!r} ({' '.join(str(error).split())})") from None
    if not isinstance(found, Strategy):
        raise BadRequest(f"not a strategy but a {type(found).__name__}: {name!r}")
    return found


def is_outside(name: str) -> bool:
    """Whether a strategy is not one of this package."""
    return ":" in name


def strategy_of(config: Config) -> Strategy:
    return strategy_named(config.strategy)


def make_search(config: Config, job: Job) -> Searching:
    return strategy_of(config).search(config, job)


def settings_of(strategy: Strategy) -> list[Setting]:
    taken = (setting for setting in SETTINGS if setting.is_shared or setting.name in strategy.takes)
    return [*taken, *strategy.settings]


def taking(setting: Setting) -> list[str]:
    """The strategies of this package that take a setting."""
    return [name for name in STRATEGIES if setting.is_shared or setting.name in strategy_named(name).takes]


def resolve(values: Mapping[str, object]) -> Config:
    """A config from flags or a TOML table, keyed by the names of the flags without their dashes.

    Its strategy fills in the defaults and refuses what it does not take.
    """
    name = values.get("strategy", DEFAULT)
    if not isinstance(name, str):
        raise BadRequest(f"strategy must be a string, got {name!r}")
    strategy = strategy_named(name)
    taken = {setting.name: setting for setting in settings_of(strategy)}
    for key in values:
        if key not in taken:
            _refuse_key(key, name, list(taken))
    given = {taken[key].field: taken[key].read(value) for key, value in values.items()}
    own = tuple((setting.name, given.pop(setting.field, setting.default)) for setting in strategy.settings)
    for setting, (_, value) in zip(strategy.settings, own, strict=True):
        setting.refuse_bad(value)
    config = Config.checked(**{**strategy.defaults, **given, "strategy": name, "own": own})
    return config if config.output else replace(config, output=output_named_after(config))


def refuse_wrong_types(values: Mapping[str, object], other: Mapping[str, object]) -> None:
    """Refuse a value of a config file that its setting cannot have, also where a flag is used instead of it."""
    name = other.get("strategy", values.get("strategy", DEFAULT))
    settings = settings_of(strategy_named(name)) if isinstance(name, str) else SETTINGS
    for setting in (*SETTINGS, *settings):
        if setting.name in values:
            setting.refuse_bad(setting.read(values[setting.name]))


def _refuse_key(key: str, strategy: str, taken: list[str]) -> None:
    known = {setting.name: setting for setting in SETTINGS}
    if key in known:
        names = " and ".join(taking(known[key]))
        raise BadRequest(f"--{key} does not apply to --strategy {strategy}, only to {names}")
    known_keys = sorted({*taken, *known})
    raise BadRequest(f"unknown key: {key!r}{hint(key, tuple(known_keys)) or '; known are ' + ', '.join(known_keys)}")


def is_exhaustive(config: Config) -> bool:
    """Whether every tour is asked for."""
    return strategy_of(config).is_complete and not config.max and not config.tours


def can_split(config: Config) -> bool:
    """Whether a job can be split into prefixes: the sizes of such searches can be estimated."""
    return "split" in strategy_of(config).takes


def settled(config: Config) -> Config:
    """With `split` decided, for a new run."""
    if config.split != SPLIT_AUTO:
        return config
    return replace(config, split=BY_SIZE if can_split(config) and is_exhaustive(config) else 1)


def identity_of(config: Config) -> dict[str, Any]:
    """What decides which tours a run finds, in which order and in which parts."""
    config, own = settled(config), dict(config.own)
    values: dict[str, Any] = {}
    for setting in settings_of(strategy_of(config)):
        value = own[setting.name] if setting.name in own else getattr(config, setting.field)
        if setting.is_identity and not (setting.is_recent and value == setting.default):
            values[setting.name] = value
    if "split" in values:
        values["split"] = "by-size" if config.split == BY_SIZE else config.split
    fixed = {"size": str(config.board), "strategy": config.strategy or DEFAULT, "slice-tours": config.tours_in_slice}
    return {"format": FORMAT_VERSION, "search": SEARCH_VERSION, **values, **fixed}


_ALWAYS = ("variant", "size", "max")  # are named in a command, also where they have their defaults
_WHERE = ("address", "workers", "executor")  # say who works, and decide nothing else


def command_of(config: Config, workers_too: bool = False) -> list[str]:
    """The flags that ask for this run, without those that only repeat a default, or say who works unless asked for."""
    config = replace(config, strategy=config.strategy or DEFAULT)
    strategy, own = strategy_of(config), dict(config.own)
    chosen = settled(replace(config, split=SPLIT_AUTO, slice_tours=0))
    output = output_named_after(config)
    usual = {"strategy": DEFAULT, "output": output, "split": chosen.split, **strategy.defaults}
    usual["slice_tours"] = config.slice_tours if config.tours_in_slice == chosen.tours_in_slice else 0
    words = []
    for setting in settings_of(strategy):
        value = own[setting.name] if setting.name in own else getattr(config, setting.field)
        is_usual = value == usual.get(setting.field, setting.default)
        left_out = is_usual or (setting.name in _WHERE and not workers_too)
        if setting.name in _ALWAYS or not left_out:
            words += setting.words(value)
    return words


def output_named_after(config: Config) -> str:
    """The default output. Its name follows from the search, so that a call with a larger --max finds the run."""
    strategy = strategy_of(config)
    words = [
        config.variant,
        str(config.board),
        "without-corner" if config.missing_corner else "",
        _file_name(config.start) if config.start != strategy.defaults.get("start", Config.start) else "",
        config.strategy.replace(":", "-").replace(".", "-") if config.strategy not in ("", DEFAULT) else "",
        *strategy.words(config),
        config.only,
        "" if config.write else "counted",
        f"h{config.h_prob!r}".removesuffix(".0") if config.h_prob != 1.0 else "",
        f"seed{config.seed}" if config.seed else "",
        f"split{config.split}" if config.split > 1 else "",
        "expanded" if config.expand else "",
    ]
    return os.path.join("output", "-".join(filter(None, words)))


def _file_name(start: str) -> str:
    """A start specification as part of a folder's name; long lists of squares become a hash."""
    name = start.replace(":", "").replace(",", "+")
    return name if len(name) <= 40 else "starts" + hashlib.sha256(start.encode()).hexdigest()[:8]
