"""`_run/plan`: the jobs of a run whose plan took estimates, so that who looks at the run need not make them again.

Lines of JSON, for there may be millions of jobs: how many there are, then each in its order, and at last the checksum
of all that stands before it.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..model.errors import Damaged
from ..model.jobs import Job
from .layout import PLAN
from .storage import Storage


def write_plan(storage: Storage, plan: Sequence[Job]) -> None:
    stream = io.BytesIO()
    stream.writelines(_lines(plan))
    stream.write(_seal(stream.getbuffer()))
    storage.replace(PLAN, stream.getbuffer())


def _lines(plan: Sequence[Job]) -> Iterator[bytes]:
    yield _line({"jobs": len(plan)})
    for job in plan:
        yield _line([job.prefix, job.multiplicity, job.infeasible, job.nth, job.of])


def read_plan(storage: Storage) -> tuple[Job, ...]:
    data = storage.read(PLAN)
    end = max(0, len(data) - _SEAL_BYTES)
    if _seal(memoryview(data)[:end]) != data[end:]:
        raise _damaged(storage, "its checksum does not match")
    lines = map(json.loads, io.BytesIO(data[:end]))
    try:
        count = next(lines)["jobs"]
        plan = tuple(Job(number, tuple(prefix), *values) for number, (prefix, *values) in enumerate(lines))
    except (StopIteration, ValueError, TypeError, KeyError):
        raise _damaged(storage, "not a plan of this version") from None
    if len(plan) != count:
        raise _damaged(storage, f"{len(plan):,} jobs instead of {count:,}")
    return plan


def _damaged(storage: Storage, why: str) -> Damaged:
    return Damaged(f"damaged, {why}: {storage.where(PLAN)}; remove it, and the command of the run makes it again")


def _line(value: Any) -> bytes:
    return (json.dumps(value, separators=(",", ":")) + "\n").encode()


def _seal(body: bytes | memoryview) -> bytes:
    return _line({"sha256": hashlib.sha256(body).hexdigest()})


_SEAL_BYTES = len(_seal(b""))
