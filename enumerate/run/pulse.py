"""What a coordinator writes of its work every few seconds, so that `status` in another process can tell of it.

Nothing depends on it: where it cannot be written, the work goes on.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import suppress
from datetime import UTC, datetime

from ..executors.events import Finished, Lost, Quarantined
from ..ledger.layout import PULSE
from ..ledger.records import JobProgress
from ..ledger.storage import Storage
from ..model.config import Config
from ..model.errors import EnumerateError
from .report import SliceEvent
from .tally import Tally

SECONDS = 5.0


class Pulse:
    """An observer that writes. Runs that take less than the first interval have none."""

    def __init__(self, storage: Storage, epoch: str, seconds: float = SECONDS) -> None:
        self.storage, self.epoch, self.seconds = storage, epoch, seconds
        self.lost, self.slots = 0, 0
        self.quarantined: list[str] = []
        self.ended = threading.Event()
        self.writer = threading.Thread(target=self._write, daemon=True)

    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None:
        self.tally, self.slots = Tally(config, progress), slots
        self.writer.start()

    def event(self, event: SliceEvent) -> None:
        if isinstance(event, Finished):
            self.tally.add(event)
        elif isinstance(event, Lost):
            self.lost += 1
        elif isinstance(event, Quarantined):
            self.quarantined.append(event.task.label)

    def end(self) -> None:
        self.ended.set()
        self.writer.join()
        with suppress(OSError, EnumerateError):
            self.storage.remove([PULSE])

    def _write(self) -> None:
        while not self.ended.wait(self.seconds):
            with suppress(OSError, EnumerateError):
                self.storage.replace(PULSE, json.dumps(self.document, indent=1).encode())

    @property
    def document(self) -> dict[str, object]:
        return {
            "epoch": self.epoch,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "workers": self.slots,
            "lost": self.lost,
            "quarantined": self.quarantined,
            **self.tally.document,
        }
