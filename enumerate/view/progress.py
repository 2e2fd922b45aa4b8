"""Progress on the terminal: a live display for people, a plain line every ten seconds for logs, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from ..executors.events import Finished, Lost, Started, trouble
from ..ledger.records import JobProgress
from ..model.config import Config
from ..model.jobs import Slice, SliceResult
from ..model.numbers import clock, counted
from ..run.report import SliceEvent
from ..search.strategy import DEFAULT, is_exhaustive

PLAIN_SECONDS = 10.0
SHOWN_WORKERS = 16


class Quiet:
    """Shows nothing."""

    def notice(self, text: str) -> None: ...
    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None: ...
    def event(self, event: SliceEvent) -> None: ...
    def end(self) -> None: ...


class Tally:
    """The progress of a run: iterations of its budget if it has one, else the estimated share of the search space."""

    def __init__(self, config: Config, progress: list[JobProgress]) -> None:
        self.config = config
        self.jobs = {job.job.number: job for job in progress}
        self.weight = sum(job.weight for job in progress) or 1.0
        self.shares = {number: self._share(job) * job.weight for number, job in self.jobs.items()}
        self.sum = sum(self.shares.values())
        self.share_at_start = self.share
        self.began = time.monotonic()
        self.tours = self.iterations = 0

    def add(self, event: Finished[Slice, SliceResult]) -> None:
        self.tours += event.result.tours
        self.iterations += event.result.iterations
        job, before = event.result.job, self.shares[event.result.job]
        self.shares[job] = self._share(self.jobs[job]) * self.jobs[job].weight
        self.sum += self.shares[job] - before

    @property
    def share(self) -> float:
        """The share of the work done, from 0 to 1."""
        return min(1.0, self.sum / self.weight)

    @property
    def of(self) -> str:
        return "of the search space" if is_exhaustive(self.config) else "of the budget"

    @property
    def seconds(self) -> float:
        return max(time.monotonic() - self.began, 1e-6)

    def time_left(self) -> str:
        done = self.share - self.share_at_start
        return f"{clock((1 - self.share) * self.seconds / done)} left" if done > 0 else "time left unknown"

    def rates(self) -> str:
        return (
            f"{self.tours:,} tours, {self.tours / self.seconds / 1e6:.2f} M tours/s, "
            f"{self.iterations / self.seconds / 1e6:.1f} M iterations/s"
        )

    def _share(self, job: JobProgress) -> float:
        if job.next_slice(self.config) is None:
            return 1.0
        spent, most, tours = job.total, job.job.share_of(self.config.max), job.job.share_of(self.config.tours)
        by_iterations = spent.iterations / most if most else 0.0
        by_tours = spent.attempts / tours if tours else 0.0
        by_weight = min(0.99, spent.iterations / job.weight) if is_exhaustive(self.config) and job.weight > 1 else 0.0
        return max(by_iterations, by_tours, by_weight)


class Plain(Quiet):
    """One line every ten seconds, on standard error."""

    def notice(self, text: str) -> None:
        if sys.stderr:
            with suppress(OSError):  # nobody reads it any more, which is no reason to stop
                print(text, file=sys.stderr, flush=True)

    def begin(self, config: Config, progress: list[JobProgress], slots: int) -> None:
        self.tally = Tally(config, progress)
        self.now_and_then = _every_ten_seconds(self.notice)
        by = "" if config.strategy == DEFAULT else f" by {config.strategy}"
        starts = len({job.job.start for job in progress if job.job.prefix})
        jobs = counted(len(progress), "job") if starts < len(progress) else ""
        squares = counted(starts, "start square") if starts else ""
        sizes = ", ".join(filter(None, [squares, jobs, counted(slots, "worker")]))
        self.notice(f"{config.variant} tours on {config.board}{by}, {sizes}")

    def event(self, event: SliceEvent) -> None:
        if isinstance(event, Finished):
            self.tally.add(event)
        elif not isinstance(event, Started):
            self.notice(trouble(event))
        tally = self.tally
        self.now_and_then(f"{tally.share:.1%} {tally.of} done, {tally.rates()}, {tally.time_left()}")


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
            TextColumn(f"{config.variant} {config.board}"), BarColumn(bar_width=None), TaskProgressColumn(),
            TimeElapsedColumn(), TimeRemainingColumn(), console=self.console, expand=True,
        )  # fmt: skip
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
        shown = list(self.workers.items())[:SHOWN_WORKERS]
        states = "   ".join(f"{slot}: {state}" for slot, state in shown)
        more = f"   and {len(self.workers) - len(shown)} more" if len(shown) < len(self.workers) else ""
        return Group(self.bar, Text(self.tally.rates()), Text(f"workers  {states}{more}", style="dim"))


@contextmanager
def steps(total: int, things: str, quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[str], None]]]:
    """Progress by so many equal steps. Two functions: one takes the name of each finished step, one a lasting line."""
    shown = observer(quiet)
    if not isinstance(shown, Fancy):
        done, now_and_then = count(1), _every_ten_seconds(shown.notice)
        yield (lambda name: now_and_then(f"{next(done):,} of {total:,} {things} done, last {name}")), shown.notice
        return
    with Progress(TextColumn(things), BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"),
                  TimeElapsedColumn(), console=shown.console, transient=True) as bar:  # fmt: skip
        task = bar.add_task("", total=total)
        yield (lambda name: bar.update(task, advance=1, description=name)), shown.warn


@contextmanager
def changing_line(quiet: bool) -> Iterator[tuple[Callable[[str], object], Callable[[str], object]]]:
    """Two functions: one shows a line in place of the one before, one a lasting line."""
    shown = observer(quiet)
    if not isinstance(shown, Fancy):
        yield _every_ten_seconds(shown.notice), shown.notice
        return
    with shown.console.status("starting") as status:
        yield (lambda line: status.update(Text(line))), shown.warn


def _every_ten_seconds(notice: Callable[[str], None]) -> Callable[[str], None]:
    """Passes on a line once in ten seconds, the first one after ten."""
    after = time.monotonic() + PLAIN_SECONDS

    def now_and_then(line: str) -> None:
        nonlocal after
        if time.monotonic() >= after:
            after = time.monotonic() + PLAIN_SECONDS
            notice(line)

    return now_and_then


def observer(quiet: bool) -> Quiet:
    """The display that fits what standard error is."""
    if quiet:
        return Quiet()
    console = Console(stderr=True)
    return Fancy(console) if console.is_terminal else Plain()
