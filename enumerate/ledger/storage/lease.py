"""A lease: how a coordinator locks a run on an object store, which has no locks that end with their owner.

The lease is an object that its owner rewrites every few seconds, each time on the condition that nobody else has. If it
has not changed for three such times, its owner is gone and it may be taken over, again on that condition. No clocks are
compared. A lease keeps two coordinators from working side by side; that nothing is written twice does not depend on it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from obstore.exceptions import AlreadyExistsError, PreconditionError

from ...model.errors import Locked

T = TypeVar("T")
Ask = Callable[[Callable[[], Any]], Any]

_log = logging.getLogger(__name__)
RENEW_SECONDS = 3.0
_POLL_SECONDS = 0.5


class Lease:
    def __init__(self, store: Any, name: str, output: str, ask: Ask, renew_seconds: float) -> None:
        self.store, self.name, self.output, self.ask, self.renew_seconds = store, name, output, ask, renew_seconds
        self.owner = {"host": socket.gethostname(), "pid": str(os.getpid()), "id": uuid.uuid4().hex}
        self.version: dict[str, str] = {}  # that we wrote last
        self.renewed = float("-inf")
        self.writing = threading.Lock()
        self.ended = threading.Event()
        self.lost = False
        self.renewer = threading.Thread(target=self._renew, daemon=True)

    def check(self) -> None:
        if self.lost:
            raise Locked(f"another coordinator has taken this run over: {self.output!r}")

    def confirm(self) -> None:
        """Before something is removed or replaced: a coordinator that was suspended may not hold the run any more."""
        is_late = time.monotonic() - self.renewed > 2 * self.renew_seconds
        if is_late and not self.lost and not self._write(self.version):
            self.lost = True
        self.check()

    def __enter__(self) -> Lease:
        if not self._write("create") and not self._write(self.refuse_if_held() or "create"):
            raise Locked(f"another process has just locked this run: {self.output!r}")
        self.renewer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.renewer.join(self.renew_seconds)
        with contextlib.suppress(OSError):  # then the next coordinator finds it abandoned
            if not self.lost and self._write(self.version):  # still ours, also after a suspension
                self.ask(lambda: found(self.store.delete, self.name))

    def refuse_if_held(self) -> dict[str, str]:
        """Locked if the owner of the lease is at work; else its version, or none if it was given back."""
        seen, give_up = self._found(), time.monotonic() + 3 * self.renew_seconds
        while seen and time.monotonic() < give_up:
            time.sleep(_POLL_SECONDS)
            now = self._found()
            if now and now != seen:
                raise Locked(f"another process is working on this run: {self.output!r}")
            seen = now
        return seen

    def _write(self, condition: Any) -> bool:
        """Write the lease if the condition holds, and remember its version. Each version has content of its own."""
        data = json.dumps({**self.owner, "written": uuid.uuid4().hex}).encode()

        def put() -> bool:
            try:
                self.version = _version(self.store.put(self.name, data, mode=condition, use_multipart=False))
                self.renewed = time.monotonic()
            except (AlreadyExistsError, PreconditionError, FileNotFoundError):
                return self._is_mine()
            return True

        with self.writing:
            return bool(self.ask(put))

    def _is_mine(self) -> bool:
        """Whether what is there is ours: a put whose answer was lost, or an older one after a crash of the store."""
        with contextlib.suppress(FileNotFoundError):
            got = self.store.get(self.name)
            if self.owner["id"].encode() in bytes(got.bytes()):
                self.version = _version(got.meta)
                return True
        return False

    def _renew(self) -> None:
        while not self.ended.wait(self.renew_seconds):
            try:
                if not self._write(self.version):
                    self.lost = True
                    return
            except Exception as error:  # out of reach: a later attempt shows whether another has taken the run over
                _log.debug("the lease of %s could not be renewed: %r", self.output, error)

    def _found(self) -> dict[str, str]:
        answer = self.ask(lambda: found(self.store.head, self.name))
        return _version(answer) if answer else {}


def found(request: Callable[[Any], T], key: Any) -> T | None:
    """The answer of a store, or None if it has no such object."""
    try:
        return request(key)
    except FileNotFoundError:
        return None


def _version(answer: Any) -> dict[str, str]:
    """What a condition names: S3 goes by the tag, others by the version or by both."""
    return {key: answer[key] for key in ("e_tag", "version") if answer.get(key)}
