"""The error tree. Every error a user can meet is one of these, says one line, and has its exit code."""

from __future__ import annotations

DONE = 0
INTERRUPTED = 130


class EnumerateError(Exception):
    """Something this program found wrong; its text is one line for the user."""

    exit_code = 1


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
