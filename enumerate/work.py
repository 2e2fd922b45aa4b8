"""`run_slice`: the only function that is sent to workers. Search, write the parts, record; small values come back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from .config import Config
from .errors import Stopped
from .jobs import Slice, SliceResult
from .ledger import commit
from .search import search_slice
from .sink import Sink
from .storage import Storage


def run_slice(config: Config, slice_: Slice) -> SliceResult:
    """Do one slice from its cursor to its commit record."""
    with stopped_by_disk(config):
        storage = Storage(config.folder)
        sink = Sink(storage, config.board, slice_)
        began = time.perf_counter()
        found = search_slice(config, slice_, sink.take)
        parts = sink.publish()
        counts = {part.variant: part.tours for part in parts}
        result = SliceResult(
            job=slice_.job.number,
            slice=slice_.number,
            start=config.board.name(slice_.job.start),
            ended=found.ended,
            cursor=found.cursor,
            iterations_before=slice_.iterations_before,
            tours_before=slice_.tours_before,
            iterations=found.iterations,
            dead_ends=found.dead_ends,
            tours_open=counts.get("open", 0),
            tours_closed=counts.get("closed", 0),
            first_iteration=found.first_iteration,
            first_seconds=found.first_seconds,
            search_seconds=found.seconds,
            write_seconds=time.perf_counter() - began - found.seconds,
            parts=parts,
        )
        return commit(storage, result, slice_.replaces)


@contextmanager
def stopped_by_disk(config: Config) -> Iterator[None]:
    """A disk that is full or fails stops the run; what is finished stays."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise Stopped(
            f"cannot write to {str(config.folder)!r} ({reason});"
            " everything finished is kept, and the same command continues"
        ) from None
