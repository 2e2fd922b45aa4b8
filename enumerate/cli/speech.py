"""What a command says (results to standard output, words about them to standard error, pictures to files), and what
Ctrl-C and SIGTERM say to it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from ..model.errors import INTERRUPTED, BadRequest, Stopped

if TYPE_CHECKING:
    from rich.console import RenderableType


def tell(what: RenderableType) -> None:
    """Print to standard output. If it cannot be printed, the work and its exit code still count."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    try:
        with console.capture() as captured:  # rich itself would end the program on a broken pipe
            console.print(what)
        print(captured.get(), end="", flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would complain once more at its end
        if not isinstance(error, BrokenPipeError):
            say(f"cannot print ({error.strerror})")


def terminal_width() -> int:
    """The columns that standard output has room for."""
    from rich.console import Console

    return Console().width if sys.stdout.isatty() or "COLUMNS" in os.environ else 120


_as_json = False


def speak_json(wanted: bool) -> None:
    """From now on each line to standard error is a JSON object."""
    global _as_json  # noqa: PLW0603  # standard error is one for the whole process
    _as_json = wanted


def say(line: str) -> None:
    """Print a line to standard error, if there is one."""
    if _as_json:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({"time": now, "run": None, "event": "message", "text": line})
    if sys.stderr:
        with suppress(OSError):
            print(line, file=sys.stderr, flush=True)


def save(path: str, content: bytes, force: bool) -> None:
    """Write a file; nothing is overwritten unasked."""
    from ..view.export import complete_file, refuse_existing

    refuse_existing(path, force)
    try:
        with complete_file(Path(path)) as stream:
            stream.write(content)
    except OSError as error:
        raise BadRequest(f"cannot write the file: {path!r} ({error.strerror})") from None
    tell(f"wrote {path}")


class StopSignals:
    """The first Ctrl-C or SIGTERM asks the run to stop, the second ends it at once. Nothing finished is lost.

    The first one does so too before the run has begun to listen, and with `at_once`: work in this very process cannot
    be asked.
    """

    def __init__(self, at_once: bool) -> None:
        self.name = ""
        self.at_once = at_once
        self.is_asked = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hear)

    def heard(self) -> bool:
        self.is_asked = True
        return bool(self.name)

    def check(self) -> None:
        """For work that cannot be continued: end it."""
        if self.name == "Ctrl-C":
            raise KeyboardInterrupt
        if self.name:
            raise Stopped(f"stopped ({self.name})")

    @property
    def exit_code(self) -> int:
        return INTERRUPTED if self.name == "Ctrl-C" else Stopped.exit_code

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        again, self.name = bool(self.name), self.name or ("Ctrl-C" if number == signal.SIGINT else "SIGTERM")
        if not self.is_asked and not self.at_once:
            self.check()
        if again or self.at_once:
            raise KeyboardInterrupt  # it is lost if a callback of the interpreter is at work; then the name is left
