"""Progress on the terminal: a live display for people, a line every ten seconds for logs or programs, or nothing."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from itertools import count
from typing import Any, TypeVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..executors.events import Finished, Lost, Started, trouble
from ..ledger.records import JobProgress
from ..ledger.storage import free_bytes, is_url
from ..model.config import Config
from ..model.numbers import clock, counted, ends_at, short, size
from ..run.report import SliceEvent
from ..run.tally import Tally
from ..search.strategy import DEFAULT

PLAIN_SECONDS = 10.0
FIGURE_LINES = 2

T = TypeVar("T")


class Quiet:
    """Shows nothing."""

    def notice(self, text: str) -> None: ...
    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None: ...
    def event(self, event: SliceEvent) -> None: ...
    def end(self) -> None: ...


def figures(tally: Tally) -> list[str]:
    """What is known of a run at work, the most important first."""
    done, rows, row = tally.rows
    recent, mean, left = tally.recent, tally.mean, tally.seconds_left
    free = None if is_url(tally.config.output) else free_bytes(tally.config.output)
    return [
        f"{tally.share:.1%} {tally.of}",
        f"{counted(tally.run_tours, 'tour')}",
        f"left {clock(left)}" if left is not None else "left unknown",
        f"{done:,}/{counted(rows, row)}",
        f"{short(recent.tours)} tours/s now, {short(mean.tours)} mean",
        f"elapsed {clock(tally.seconds)}",
        *([f"ends at {ends_at(left)}"] if left is not None else []),
        f"{short(recent.iterations)} iterations/s",
        *([f"{size(tally.run_bytes)} written"] if tally.config.write else []),
        *([f"{size(free)} free"] if free is not None else []),
    ]


class Plain(Quiet):
    """One line every ten seconds, on standard error: for logs."""

    def notice(self, text: str) -> None:
        if sys.stderr:
            with suppress(OSError):  # nobody reads it any more, which is no reason to stop
                print(text, file=sys.stderr, flush=True)

    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None:
        self.tally = Tally(config, progress)
        self.name = os.path.basename(config.output.rstrip("/"))
        self.now_and_then = _every_ten_seconds(self.line)
        self.line(first_line(config, progress, slots))

    def event(self, event: SliceEvent) -> None:
        if isinstance(event, Finished):
            self.tally.add(event)
        elif not isinstance(event, Started):
            self.line(trouble(event))
        self.now_and_then(lambda: ", ".join(figures(self.tally)))

    def line(self, text: str) -> None:
        self.notice(f"{datetime.now():%H:%M:%S} {self.name}: {text}")


def first_line(config: Config, progress: list[JobProgress], slots: int) -> str:
    by = "" if config.strategy == DEFAULT else f" by {config.strategy}"
    starts = len({job.job.start for job in progress if job.job.prefix})
    jobs = counted(len(progress), "job") if starts < len(progress) else ""
    squares = counted(starts, "start square") if starts else ""
    return ", ".join(filter(None, [f"{config.tours_on_board}{by}", squares, jobs, counted(slots, "worker")]))


class JsonLines(Quiet):
    """One JSON object a line, on standard error: for programs that collect logs."""

    output: str | None = None  # until the run is known

    def notice(self, text: str) -> None:
        self.line({"event": "notice", "text": text})

    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None:
        self.tally, self.output = Tally(config, progress), config.output
        self.now_and_then = _every_ten_seconds(self.line)
        self.line({"event": "begin", "text": first_line(config, progress, slots), "workers": slots})

    def event(self, event: SliceEvent) -> None:
        if isinstance(event, Finished):
            self.tally.add(event)
        elif not isinstance(event, Started):
            self.line({"event": type(event).__name__.lower(), "text": trouble(event)})
        self.now_and_then(lambda: {"event": "progress", **self.tally.document})

    def end(self) -> None:
        self.line({"event": "end", **self.tally.document})

    def line(self, values: dict[str, Any]) -> None:
        if sys.stderr:
            with suppress(OSError):
                about = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "run": self.output}
                print(json.dumps({**about, **values}), file=sys.stderr, flush=True)


class Fancy(Quiet):
    """A live display on a terminal: the whole run, its rates, and what each worker does."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live: Live | None = None
        self.workers: dict[int, str] = {}

    def notice(self, text: str) -> None:
        self.console.print(Text(text, style="dim"))

    def warn(self, text: str) -> None:
        self.console.print(Text(text, style="yellow"))

    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None:
        self.tally = Tally(config, progress)
        self.workers = dict.fromkeys(range(slots), "starting")
        self.bar = Progress(
            TextColumn(config.tours_on_board), BarColumn(bar_width=None), console=self.console, expand=True
        )
        self.task = self.bar.add_task("", total=1.0)
        self.bar.update(self.task, completed=self.tally.share)
        self.live = Live(get_renderable=self._render, console=self.console, refresh_per_second=8, transient=True)
        self.live.start()

    def event(self, event: SliceEvent) -> None:
        if isinstance(event, Started):
            self.workers[event.slot] = event.task.label
        elif isinstance(event, Finished):
            self.workers[event.slot] = "idle"
            self.tally.add(event)
            self.bar.update(self.task, completed=self.tally.share)
        else:
            if isinstance(event, Lost):
                self.workers[event.slot] = "replaced"
            self.warn(trouble(event))

    def end(self) -> None:
        if self.live:
            self.live.stop()

    def _render(self) -> RenderableType:
        width = self.console.width
        states = [f"{slot}: {state}" for slot, state in self.workers.items()]
        lines = [*in_lines(figures(self.tally), width, FIGURE_LINES), *in_lines(["workers", *states], width, 1)]
        return Group(self.bar, *(Text(line, no_wrap=True) for line in lines))


def in_lines(words: Sequence[str], width: int, most: int) -> list[str]:
    """Words in at most so many lines of a width; what does not fit is left out, and no word is cut."""
    lines = [""]
    for word in words:
        longer = f"{lines[-1]}   {word}" if lines[-1] else word
        if len(longer) <= width:
            lines[-1] = longer
        elif len(lines) < most and len(word) <= width:
            lines.append(word)
    return lines


@contextmanager
def steps(total: int, things: str, quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[str], None]]]:
    """Progress by so many equal steps. Two functions: one takes the name of each finished step, one a lasting line."""
    shown = observer(quiet)
    if not isinstance(shown, Fancy):
        done, now_and_then = count(1), _every_ten_seconds(shown.notice)

        def advance(name: str) -> None:
            finished = next(done)
            now_and_then(lambda: f"{finished:,} of {total:,} {things} done, last {name}")

        yield advance, shown.notice
        return
    with Progress(TextColumn(things), BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"),
                  TimeElapsedColumn(), console=shown.console, transient=True) as bar:  # fmt: skip
        task = bar.add_task("", total=total)
        yield (lambda name: bar.update(task, advance=1, description=name)), shown.warn


@contextmanager
def shares(title: str, quiet: bool, check: Callable[[], None] = lambda: None) -> Iterator[Callable[[float], None]]:
    """Progress by shares of a whole: a function that takes each one when it is done. `check` may end it by raising."""
    shown = observer(quiet)
    with Progress(console=shown.console, transient=True) if isinstance(shown, Fancy) else nullcontext() as bar:
        task = bar.add_task(title, total=1.0) if bar else None
        now_and_then, done, lock = _every_ten_seconds(shown.notice), 0.0, threading.Lock()

        def advance(share: float) -> None:  # threads may call it
            nonlocal done
            check()
            with lock:
                done += share
            if bar and task is not None:
                bar.update(task, completed=done)
            else:
                now_and_then(lambda: f"{title}: {done:.0%}")

        yield advance


@contextmanager
def changing_line(quiet: bool) -> Iterator[tuple[Callable[[str], object], Callable[[str], object]]]:
    """Two functions: one shows a line in place of the one before, one a lasting line."""
    shown = observer(quiet)
    if not isinstance(shown, Fancy):
        now_and_then = _every_ten_seconds(shown.notice)
        yield (lambda line: now_and_then(lambda: line)), shown.notice
        return
    with shown.console.status("starting") as status:
        yield (lambda line: status.update(Text(line))), shown.warn


def _every_ten_seconds(notice: Callable[[T], None]) -> Callable[[Callable[[], T]], None]:
    """Passes on what is asked for once in ten seconds, the first time after ten."""
    after = time.monotonic() + PLAIN_SECONDS

    def now_and_then(ask: Callable[[], T]) -> None:
        nonlocal after
        if time.monotonic() >= after:
            after = time.monotonic() + PLAIN_SECONDS
            notice(ask())

    return now_and_then


def observer(quiet: bool, log_json: bool = False) -> Quiet:
    """The display that fits what standard error is, or what was asked for."""
    if log_json:
        return JsonLines()
    if quiet:
        return Quiet()
    console = Console(stderr=True)
    return Fancy(console) if console.is_terminal else Plain()
