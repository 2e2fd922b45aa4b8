"""`run_slice`: the only function that is sent to workers. Search, write the parts, record; small values come back."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from ..ledger.layout import record_name
from ..ledger.manifest import find_manifest, refuse_other_epoch
from ..ledger.parts import Sink
from ..ledger.records import commit, remove_slice
from ..ledger.storage import Storage, open_storage, stopped_by_storage
from ..model.config import Config
from ..model.errors import Stopped
from ..model.jobs import BUDGET, Slice, SliceResult
from ..search.slice import search_slice
from ..search.strategy import make_search


def run_slice(config: Config, epoch: str, slice_: Slice) -> SliceResult:
    """Do one slice from its cursor to its commit record."""
    with stopped_by_storage(config.output):
        storage = open_storage(config.output)
        sink = Sink(storage, config, slice_)
        search = make_search(config, slice_.job)  # before the clock runs: it may load a kernel
        began = time.perf_counter()
        found = search_slice(config, slice_, search, sink.take)
        refuse_other_epoch(storage, epoch)
        parts = sink.publish(found.iterations if found.ended == BUDGET else None)
        seconds = time.perf_counter() - began - found.search_seconds
        written: dict[str, Any] = {**sink.counts, "write_seconds": seconds, "parts": parts}
        result = replace(found, **written)
        refuse_other_epoch(storage, epoch)
        recorded = commit(storage, result)
        sink.take_back(recorded)
        _look_back(storage, epoch, recorded, sink)
        if slice_.supersedes:
            remove_slice(storage, slice_.supersedes)
        return recorded


def _look_back(storage: Storage, epoch: str, result: SliceResult, sink: Sink) -> None:
    """A worker out of reach may come here long after its epoch: its record must be in its own run, beside its parts."""
    now = find_manifest(storage)
    if now is None or not now.has_begun(epoch):
        remove_slice(storage, result)
        raise Stopped(f"another run was started here: {storage.output!r}")
    if now.epoch != epoch:  # the parts may have been cleared away as unrecorded just before the record came
        sink.publish_again(result)
        if result.cut is not None and storage.exists(record_name(result.job, result.slice)):
            remove_slice(storage, result)  # superseded before it was written
