"""What Ctrl-C and SIGTERM mean to a command."""

from __future__ import annotations

import signal
from types import FrameType

from ..model.errors import INTERRUPTED, Stopped


class StopSignals:
    """The first Ctrl-C or SIGTERM asks the run to stop, the second ends it at once. Nothing finished is lost.

    With `at_once` the first one does: work in this very process cannot be asked.
    """

    def __init__(self, at_once: bool) -> None:
        self.name = ""
        self.at_once = at_once
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._hear)

    def heard(self) -> bool:
        return bool(self.name)

    def check(self) -> None:
        """For work that cannot be continued: end it."""
        if self.name == "Ctrl-C":
            raise KeyboardInterrupt
        if self.name:
            raise Stopped(f"stopped ({self.name}): everything finished is kept")

    @property
    def exit_code(self) -> int:
        return INTERRUPTED if self.name == "Ctrl-C" else Stopped.exit_code

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self.name or self.at_once:
            raise KeyboardInterrupt
        self.name = "Ctrl-C" if number == signal.SIGINT else "SIGTERM"
