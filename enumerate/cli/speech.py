"""What a command says: results to standard output, words about them to standard error, pictures to files."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ..model.errors import BadRequest

if TYPE_CHECKING:
    from rich.console import RenderableType


def tell(what: RenderableType) -> None:
    """Print to standard output. If nobody reads it, or it cannot be written, the work and its exit code still stand."""
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


def say(line: str) -> None:
    """Print a line to standard error, if there is one."""
    if sys.stderr:
        with suppress(OSError):
            print(line, file=sys.stderr, flush=True)


def save(path: str, content: bytes) -> None:
    """Write a file and say so."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise BadRequest(f"cannot write the file: {path!r} ({error.strerror})") from None
    tell(f"wrote {path}")
