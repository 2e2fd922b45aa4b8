"""The error tree. Every error a user can meet is one of these, says one line, and has its exit code."""

from __future__ import annotations

import re

DONE = 0
INTERRUPTED = 130
TERMINATED = 143


_LONG = re.compile(r"'[^']{200,}'|\"[^\"]{200,}\"|\S{200,}")  # paths may be longer than other values
_LONGEST = 1_000  # of a whole text


class EnumerateError(Exception):
    """Something this program found wrong; its text is one line for the user."""

    exit_code = 1

    def __init__(self, text: str) -> None:
        super().__init__(shortened(text))


class BadRequest(EnumerateError):
    """The request cannot be served; nothing was written."""

    exit_code = 2


class Stopped(EnumerateError):
    """The run had to stop; everything finished is kept and the run can be continued."""

    exit_code = 3


class Damaged(EnumerateError):
    """A file of a run is missing, changed or does not belong to it."""

    exit_code = 4


class Locked(EnumerateError):
    """Another coordinator is working on the run."""

    exit_code = 5


def shortened(text: str) -> str:
    """The text with the values in it cut to a length that can be read."""
    text = _LONG.sub(lambda value: value[0][:60] + "…" + value[0][-1:] * (value[0][0] in "'\""), text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
