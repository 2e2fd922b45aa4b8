"""Words to config to exit code. Errors are caught once, here, and printed as one line.

Heavy imports (numba, pyarrow) wait until a command needs them, so that `--help` answers at once.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from typing import Literal

from cyclopts import App, CycloptsError
from cyclopts.exceptions import UnusedCliTokensError

from .. import __version__
from ..model.errors import DONE, INTERRUPTED, TERMINATED, BadRequest, EnumerateError, shortened
from ..model.program import COMMAND, program
from ..model.values import hint, refuse_no_text
from .look import export, play, report, show, view
from .measure import count, estimate, study
from .request import read_once, with_settings
from .runs import list_, status
from .search import distinct, plan, search, verify
from .speech import say, speak_json

HELP = """Enumerate knight's tours: jobs for each start square, many workers, tours into Parquet.

A run lives in one folder or object store. The same command continues it, a larger --max extends it, and it may be killed at any time.

Exit codes: 0 done, 1 internal error, 2 bad request, 3 stopped and can be continued, 4 damage found, 5 locked by another process, 130 interrupted, 143 terminated."""  # noqa: E501

EXAMPLES = """Examples:
  {0} --variant closed --size 8 --max 500000
  {0} --size 6 --variant both --max 0 --start classes --expand
  {0} --size 40 --strategy greedy --ties roth
  {0} verify output/closed-8x8
  {0} view output/closed-8x8"""


_SEARCH_INTERRUPTED = "stopped: everything finished is kept; the same command continues the run"
_INTERRUPTED = {
    "verify": "stopped: nothing was changed, and not everything was checked",
    "distinct": "stopped: nothing was written; the same command begins again",
    "export": "stopped: what was not complete is not kept; the same command begins again",
    "count": "stopped: a count cannot be continued, start it again",
    "study": "stopped: finished runs are kept; the same command continues",
    **dict.fromkeys(("estimate", "plan", "status", "list", "show"), "stopped: there is nothing to continue"),
    **dict.fromkeys(("report", "view", "play", "completion"), "stopped"),
}


def make_app(arguments: list[str]) -> App:
    """The commands, with the flags of the strategy that these arguments name."""
    app = App(
        name=program(),
        help=HELP,
        help_epilogue=EXAMPLES.format(program()),
        version=f"{COMMAND} {__version__}",
        help_format="plaintext",
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    app.default(with_settings(search, arguments))
    app.command(with_settings(plan, arguments), help_epilogue="")
    app.command(list_, name="list", help_epilogue="")
    for command in (verify, status, distinct, show, export, report, view, play, study, estimate, count):
        app.command(command, help_epilogue="")

    @app.command(help_epilogue="")
    def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
        """Print the completion of knights-tours for a shell.

        In ~/.bashrc: eval "$(knights-tours completion bash)". In ~/.zshrc: eval "$(knights-tours completion zsh)". In
        ~/.config/fish/config.fish: knights-tours completion fish | source
        """
        script = app.generate_completion(prog_name=COMMAND, shell=shell)
        print(script.replace("complete -F", "complete -o default -F"))  # what is none of our words may be a file

    return app


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if sys.stdout is None:  # closed by whoever started us
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # until the end
    speak_json("--log-json" in arguments)
    read_once.cache_clear()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminated)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an ASCII terminal gets question marks, not an error
    try:
        for word in arguments:
            refuse_no_text(word)
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
    except KeyboardInterrupt as interrupt:
        say(_INTERRUPTED.get(arguments[0] if arguments else "", _SEARCH_INTERRUPTED))
        return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does; a search has handlers of its own."""


def _terminated(_number: int, _frame: object) -> None:
    raise Terminated


def _one_line(app: App, error: CycloptsError) -> str:
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        word = error.unused_tokens[0]
        commands = tuple(name for name in app if not name.startswith("-"))
        if word in commands:
            return f"a command is the first word: {word!r}"
        known = hint(word, commands) or f"; commands are {', '.join(sorted(commands))}"
        return shortened(f"unexpected word: {word!r}{known}")
    text = shortened(" ".join(str(error).split()))
    return text[0].lower() + text[1:]
