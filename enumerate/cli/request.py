"""The flags that make a config, all from the table of settings; and the kinds of parameters that commands share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypedDict, get_type_hints

from cyclopts import Group, Parameter, Token

from ..model.config import Config
from ..model.errors import BadRequest
from ..model.numbers import plain
from ..model.settings import GROUPS, SETTINGS, Setting
from ..model.values import parse_whole, read_toml
from ..search.strategy import (
    DEFAULT,
    STRATEGIES,
    Strategy,
    is_outside,
    refuse_wrong_types,
    resolve,
    strategy_named,
    taking,
)


def _whole(_type: object, tokens: Sequence[Token]) -> int:
    """A whole number; cyclopts alone would round 0.4 to 0, which means no limit."""
    try:
        return parse_whole(tokens[0].value)
    except BadRequest as error:
        raise ValueError(str(error)) from None  # cyclopts says of which flag


def as_it_is(_type: object, tokens: Sequence[Token]) -> str:
    """For choices: cyclopts shows and completes them, and our own refusal says what is meant."""
    return tokens[0].value


# The groups of --help, in their order.
_GROUPS = {name: Group(name, sort_key=number) for number, name in enumerate([*GROUPS, "What is printed"])}
BOARD, _, MUCH, WHERE, WHO, PRINTED = _GROUPS.values()

Whole = Annotated[int, Parameter(converter=_whole)]
MaybeWhole = Annotated[int | None, Parameter(converter=_whole)]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
Text = Annotated[str, Parameter(show_default=False)]
Json = Annotated[Flag, Parameter(name="--json", help="Print one JSON document instead.", group=PRINTED)]
Quiet = Annotated[Flag, Parameter(group=PRINTED)]
Force = Annotated[Flag, Parameter(help="Overwrite what is there.", group=WHERE)]
Address = Annotated[
    str | None, Parameter(help=next(each.help for each in SETTINGS if each.name == "address"), group=WHO)
]
Workers = Annotated[
    int,
    Parameter(help="Workers; 0 means one for each core of the machine or the cluster.", group=WHO, converter=_whole),
]
Size = Annotated[str, Parameter(help="The board: 8 is 8x8, 5x6 has 5 rows and 6 columns.", group=BOARD)]
Output = Annotated[str, Parameter(help="The folder of the run, or its address.", group=WHERE)]
Variant = Annotated[Literal["open", "closed", "both"], Parameter(converter=as_it_is, group=BOARD)]

Request = Mapping[str, object]  # the flags that were given, without their dashes
NO_FLAGS: Request = MappingProxyType({})

_CONFIG = "config"
_OF_A_CALL = ("fresh", "check", "yes", "repair", "distinct", "quiet", "json", "log-json")


def config_file(path: str) -> dict[str, object]:
    """Its keys. A pipe can be read only once."""
    return read_toml(path) if os.path.isfile(path) else read_once(path)


@functools.cache
def read_once(path: str) -> dict[str, object]:
    return read_toml(path)


def config_of(request: Request) -> Config:
    """File and flags as one checked config."""
    path = request.get(_CONFIG)
    given = {key: value for key, value in request.items() if key != _CONFIG}
    if path is None:
        return resolve(given)
    table = config_file(str(path))
    for key in table:
        if key in _OF_A_CALL:
            raise BadRequest(f"{key} is not a setting of a run, but of one call: give --{key} with the command")
    refuse_wrong_types(table, given)
    return resolve({**table, **given})


def with_settings(command: Callable[..., Any], words: Sequence[str]) -> Callable[..., Any]:
    """The command with a flag for each setting, those of a strategy from outside too if these words name one."""
    own = _strategy_in(words).settings
    flags = {setting.name: _flag(setting, setting in own) for setting in (*SETTINGS, *own)}
    about = "A TOML file whose keys are these flags, but those of one call; flags beat it."
    flags[_CONFIG] = Annotated[str, Parameter(help=about, group=WHERE)]
    kind = TypedDict("Settings", flags, total=False)  # type: ignore[misc]  # the table decides what is in it

    @functools.wraps(command)
    def call(**parameters: Any) -> Any:
        return command(**parameters)

    call.__annotations__ = get_type_hints(command, include_extras=True) | {
        "request": Annotated[kind, Parameter(name="*", negative_bool=())]
    }
    return call


def _strategy_in(words: Sequence[str]) -> Strategy:
    """The strategy that the command line names, in a flag or in its config file."""
    flags = {"--strategy": "", "--config": ""}
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        name, equals, value = word.partition("=")
        if name in flags:
            flags[name] = value if equals else following
    named = flags["--strategy"] or (flags["--config"] and config_file(flags["--config"]).get("strategy"))
    return strategy_named(named if isinstance(named, str) and is_outside(named) else "")


def _flag(setting: Setting, is_own: bool) -> Any:
    """The type of a setting's flag, with what --help says of it."""
    kind: Any = str if setting.parse else type(setting.default)
    choices, text = setting.choices, f"{setting.help} {_default(setting, is_own)}".strip()
    if setting.name == "strategy":
        names = [f"{name} ({strategy_named(name).summary})" for name in STRATEGIES]
        choices = tuple(STRATEGIES)
        text = f"{setting.help}: {', '.join(names)}, or MODULE:OBJECT, one of your own. [default: {DEFAULT}]"
    more: dict[str, Any] = {"converter": _whole} if kind is int else {}
    if choices:
        kind, more = Literal[choices], {"converter": as_it_is, "show_choices": setting.name != "strategy"}
    if kind is bool and setting.default:
        more = {"negative": f"--no-{setting.name}"}
    group = _GROUPS[setting.group]
    return Annotated[kind, Parameter(help=text, group=group, allow_leading_hyphen=setting.has_dashes, **more)]


def _default(setting: Setting, is_own: bool) -> str:
    """Which strategies take a setting, and its default: that of the table, and those of strategies that differ."""
    names = [] if is_own else taking(setting)
    values = {name: strategy_named(name).defaults.get(setting.name, setting.default) for name in names}
    said = [] if is_own or setting.is_shared else [f"{', '.join(names)} only"]
    usual = values.get(names[0], setting.default) if names else setting.default
    shown = setting.default_text if setting.default_text is not None else _shown(setting, usual)
    said += [f"default: {shown}"] if shown else []
    said += [f"{name}: {_shown(setting, value)}" for name, value in values.items() if value != usual]
    return f"[{'; '.join(said)}]" if said else ""


def _shown(setting: Setting, value: object) -> str:
    if isinstance(value, bool):
        return f"--{setting.name}" if value else f"--no-{setting.name}" if setting.default else ""
    return repr(value) if isinstance(value, str) and " " in value else plain(value)
