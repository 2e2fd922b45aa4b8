"""The kernels, compiled, with a cache on disk that may fail without harm.

numba's cache saves seconds at every start, but it is a source of faults: a truncated file, a full disk or a read-only
home raise errors of many types. So the cache has a folder for each version of the kernels and of numba. On any error it
is wiped and tried once more; then the kernel is compiled without it. numba does not notice a change in any file but the
function's own, so the folder's name is a hash of all of them. numba is slow to import, and needed only to run a kernel.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

_log = logging.getLogger(__name__)
_KERNELS = Path(__file__).parent


@lru_cache
def search_hash() -> str:
    """A hash that distinguishes versions of the searches: these files alone decide what a slice finds."""
    return hash_of(_KERNELS, _KERNELS.with_name("search"))


def hash_of(*folders: Path) -> str:
    """A hash of all sources in these folders. Without sources, all versions would look the same."""
    digest = hashlib.sha256()
    for folder in folders:
        files = sorted(folder.glob("*.py"))
        if not files:
            raise FileNotFoundError(f"no sources to hash: {folder}")
        for path in files:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path | None:
    """The folder of the machine code, if this user has a home. numba finds code only by the path of its source."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):
        return None
    place = hashlib.sha256(os.fsencode(_KERNELS)).hexdigest()[:8]
    return Path(base) / "knights-tour-enumerator" / f"numba-{version('numba')}-{hash_of(_KERNELS)}-{place}"


def is_compiled(entry: str, width: int) -> bool:
    """Whether there is machine code of a function; or no cache for it, so that each process has to compile."""
    folder = cache_folder()
    return folder is None or any((folder / f"{entry}-{width}").rglob("*.nbc"))


def load_kernel(name: str, entries: tuple[str, ...], width: int, warm_up: Callable[[Any], object]) -> Any:
    """A kernel module with these functions ready to run, for squares of `width` bytes.

    `warm_up` makes the calls that compile them. Each has a folder of its own: two processes that save different machine
    code under one name at the same time could corrupt it.
    """
    import numba

    kernel = importlib.import_module(f"enumerate.kernels.{name}")
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # filled in at import
        return kernel
    base = cache_folder()
    folder = base and base / f"{entries[0]}-{width}"
    for attempt in ("as found", "wiped"):
        if folder is None:
            break
        try:
            _enable_cache(kernel, entries, folder)
            with interrupts_delayed():
                warm_up(kernel)
            return kernel
        except Exception as error:  # the cache fails in too many ways to list; a real error occurs again without it
            _log.debug("kernel cache %s failed (%s): %r", folder, attempt, error)
            shutil.rmtree(folder, ignore_errors=True)
            kernel = importlib.reload(kernel)  # nothing compiled, no cache
    with interrupts_delayed():
        warm_up(kernel)
    return kernel


@contextmanager
def interrupts_delayed() -> Iterator[None]:
    """Ctrl-C takes effect when this ends: while numba compiles, it could get lost in a callback of the compiler."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: heard.append(number)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        if heard:
            signal.raise_signal(heard[0])


def _enable_cache(kernel: Any, entries: tuple[str, ...], folder: Path) -> None:
    import numba

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass  # if the folder is read-only, this fails here, and not after seconds of compiling
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]  # filled in at import
    for entry in entries:
        getattr(kernel, entry).enable_caching()
