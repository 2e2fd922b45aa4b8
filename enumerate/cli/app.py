"""Words to config to exit code. Errors are caught once, here, and printed as one line.

Heavy imports (numba, pyarrow) wait until a command needs them, so that `--help` answers at once.
"""

from __future__ import annotations

import io
import sys

from cyclopts import App, CycloptsError
from cyclopts.exceptions import UnusedCliTokensError

from .. import __version__
from ..model.errors import DONE, INTERRUPTED, BadRequest, EnumerateError
from ..model.values import hint
from .look import export, play, report, show, view
from .measure import count, estimate, study
from .request import with_settings
from .search import distinct, plan, search, verify
from .speech import say

HELP = """Enumerate knight's tours: one job for each start square, many workers, tours into Parquet.

A run lives in one folder. The same command continues it, a larger --max extends it, and it may be killed at any time.

Exit codes: 0 done, 1 internal error, 2 bad request, 3 stopped and can be continued, 4 damage found,
5 locked by another run, 130 interrupted."""


def make_app(arguments: list[str]) -> App:
    """The commands, with the flags of the strategy that these arguments name."""
    app = App(
        name="python -m enumerate",
        help=HELP,
        version=__version__,
        help_format="plaintext",
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    app.default(with_settings(search, arguments))
    app.command(with_settings(plan, arguments))
    for command in (verify, distinct, show, export, report, view, play, study, estimate, count):
        app.command(command)
    return app


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an ASCII terminal gets question marks, not an error
    try:
        app = make_app(arguments)
        return int(app(arguments or ["--help"], exit_on_error=False, print_error=False) or DONE)
    except CycloptsError as error:
        say(f"error: {_one_line(app, error)}")
        return BadRequest.exit_code
    except EnumerateError as error:
        say(f"error: {error}")
        return error.exit_code
    except OSError as error:
        say(f"error: {error if error.errno else error.strerror}")
        return BadRequest.exit_code
    except KeyboardInterrupt:
        say("stopped: everything finished is kept; the same command continues a run")
        return INTERRUPTED


def _one_line(app: App, error: CycloptsError) -> str:
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        word = error.unused_tokens[0]
        commands = tuple(name for name in app if not name.startswith("-"))
        if word in commands:
            return f"a command is the first word: {word!r}"
        known = hint(word, commands) or f"; commands are {', '.join(sorted(commands))}"
        return f"unexpected word: {word!r}{known}"
    text = " ".join(str(error).split())
    return text[0].lower() + text[1:]
