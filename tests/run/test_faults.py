"""Killed, interrupted, starved and contended: nothing is lost, nothing is repeated, and the same bytes come out."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.executors.events import Finished, Lost, Quarantined
from enumerate.ledger.layout import PLAN
from enumerate.ledger.manifest import Extent, replace_manifest
from enumerate.ledger.storage import Folder
from enumerate.run.coordinator import run
from enumerate.run.worker import run_slice

from ..support.commands import (
    arguments,
    busiest_worker,
    called,
    children,
    command,
    environment_with,
    kill_a_worker,
    seconds_of,
    started,
    wait_for,
)
from ..support.runs import Silent, commits, part_sums, run_serially, small
from ..support.searches import config_for

CALLS = ("link", "replace", "fsync", "unlink", "mkdir", "rename")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected") / "run"
    run_serially(small(folder))
    return part_sums(folder)


def die_at(number, before):
    """Make this process kill itself at its N-th call that changes the file system, before or after the call."""
    calls = [0]

    def deadly(call):
        def counted(*args, **kwargs):
            calls[0] += 1
            if before and calls[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return call(*args, **kwargs)
            finally:
                if calls[0] >= number:
                    os.kill(os.getpid(), signal.SIGKILL)

        return counted

    for name in CALLS:
        setattr(os, name, deadly(getattr(os, name)))


def run_and_die(config, number, before, **options):
    """Run in a forked process that dies on the way; False if it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            die_at(number, before)
            run_serially(config, **options)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def assert_sound(folder):
    """Killed at whatever moment: what is there is sound, or it is no run at all."""
    if (folder / "_run" / "run.json").exists():
        assert verify(Run(folder)).damage == []


@pytest.mark.parametrize("stride", [8, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("steps", [(3_000,), (1_500, 3_000)], ids=["new", "extended"])
def test_a_run_killed_at_any_change_of_a_file_is_continued_to_the_same_bytes(tmp_path, expected, steps, before, stride):
    number, killed = 1, 0
    while True:
        folder = tmp_path / str(number)
        for limit in steps[:-1]:
            run_serially(small(folder, max=limit))
        died = run_and_die(small(folder, max=steps[-1]), number, before)
        assert_sound(folder)
        run_serially(small(folder, max=steps[-1]))
        assert part_sums(folder) == expected, f"killed at call {number}"
        assert verify(Run(folder)).damage == []
        if not died:
            break
        killed += 1
        number += stride
    assert killed * stride > 60


def test_a_run_killed_at_each_change_that_supersedes_a_short_slice_keeps_the_whole_one_alone(tmp_path):
    """One start square, one slice, one part: every state on the way from the short slice to the whole one is met."""
    options = {"start": "a1", "variant": "open", "slice_tours": 10_000}
    run_serially(small(tmp_path / "at once", max=1_000, **options))
    at_once = part_sums(tmp_path / "at once")
    number, died, states = 1, True, set()
    while died:
        folder = tmp_path / str(number)
        run_serially(small(folder, max=500, **options))
        died = run_and_die(small(folder, max=1_000, **options), number, before=True)
        assert_sound(folder)
        states.add((kinds(part_sums(folder)), kinds(path.name for path in commits(folder))))
        run_serially(small(folder, max=1_000, **options))
        assert part_sums(folder) == at_once
        assert [path.name for path in commits(folder)] == ["000000-0000.json"]
        assert verify(Run(folder)).damage == []
        number += 1
    assert states == {
        ("short", "short"),
        ("short whole", "short"),
        ("short whole", "short whole"),
        ("short whole", "whole"),
        ("whole", "whole"),
    }


def kinds(names):
    return " ".join(sorted("short" if "-to-500" in name else "whole" for name in names))


def test_a_run_killed_again_and_again_comes_to_its_end(tmp_path, expected):
    folder = tmp_path / "run"
    deaths = 0
    while run_and_die(small(folder), 31, before=deaths % 2 == 0):
        deaths += 1
        assert deaths < 50
    assert deaths > 3
    assert part_sums(folder) == expected


def work_and_die(config, slice_, number):
    """One worker's slice in a forked process that dies on the way; False if it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            die_at(number, before=True)
            run_slice(config, "an epoch", slice_)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_a_worker_killed_while_it_supersedes_a_slice_and_another_one_after_it_do_no_harm(tmp_path, expected):
    """Two workers die one after the other on the same slice that supersedes a shorter one."""
    number, died = 1, True
    while died:
        folder = tmp_path / str(number)
        run_serially(small(folder, max=1_500))
        config = small(folder)
        slice_ = Run(folder).progress[0].next_slice(config)
        assert slice_.supersedes
        replace_manifest(Folder(folder), replace(Run(folder).manifest.of_call(config), epoch="an epoch"))
        died = work_and_die(config, slice_, number)
        assert_sound(folder)
        work_and_die(config, slice_, max(1, number - 4))
        assert_sound(folder)
        run_serially(config)
        assert part_sums(folder) == expected
        assert verify(Run(folder)).damage == []
        number += 1
    assert number > 9  # part and record were synced and linked, and the short ones removed


def test_a_split_run_killed_at_any_change_of_a_file_while_it_begins_has_its_plan_in_the_end(tmp_path):
    config = small(tmp_path / "at once", start="a1", split=3)
    run_serially(config)
    plan, number, states = (tmp_path / "at once" / PLAN).read_bytes(), 1, set()
    while (True, True) not in states:
        folder = tmp_path / str(number)
        assert run_and_die(replace(config, output=str(folder)), number, before=False)
        assert_sound(folder)
        states.add(((folder / PLAN).exists(), (folder / "_run" / "run.json").exists()))
        run_serially(replace(config, output=str(folder)))
        assert part_sums(folder) == part_sums(tmp_path / "at once")
        assert (folder / PLAN).read_bytes() == plan
        assert verify(Run(folder)).damage == []
        number += 1
    assert states == {(False, False), (True, False), (True, True)}  # a run never stands there without its plan


@pytest.mark.parametrize(
    "other",
    [{}, {"seed": 5, "start": "h8"}, pytest.param({"split": 3}, marks=pytest.mark.slow)],
    ids=["the same run", "another run", "a split run"],
)
def test_a_fresh_start_killed_at_any_change_of_a_file_leaves_a_run_that_is_sound_in_the_end(tmp_path, other):
    number, died, states = 1, True, set()
    run_serially(small(tmp_path / "expected", start="a1"))
    expected = part_sums(tmp_path / "expected")
    while died:
        folder = tmp_path / str(number)
        run_serially(small(folder, max=1_500, **{"start": "a1", **other}))
        died = run_and_die(small(folder, start="a1"), number, before=True, fresh=True)
        assert_sound(folder)
        mark, known = ((folder / "_run" / name).exists() for name in ("discarding", "run.json"))
        states.add((mark, known))
        # The same command again; without --fresh it does as well, unless another run still stands there.
        is_other = known and all(getattr(Run(folder).config, name) == value for name, value in other.items())
        run_serially(small(folder, start="a1"), fresh=bool(other) and is_other)
        assert part_sums(folder) == expected
        assert verify(Run(folder)).damage == []
        assert not (folder / "_run" / "discarding").exists()
        assert not (folder / PLAN).exists()
        number += 1 if mark else 3
    assert {(True, True), (True, False), (False, True)} == states


# The plain search finds few tours: long work in small files. Seconds, and for ever.
LONG = ("--size", 8, "--no-prune", "--start", "a1,b1,c1,d1", "--workers", 2, "--slice-iterations", 4_000_000,
        "--max", 40_000_000)  # fmt: skip
ENDLESS = (*LONG[:-1], 10**12)


@pytest.fixture(scope="module")
def long_expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    continue_serially(folder)
    return part_sums(folder / "run")


def continue_serially(folder):
    done = called(*LONG, "--executor", "serial", "--quiet", "--output", "run", cwd=folder)
    assert done.returncode == 0, done.stderr


class Meddler(Silent):
    """Does something to the workers of this process when so many slices are finished."""

    def __init__(self, deeds):
        super().__init__()
        self.deeds = deeds

    def event(self, event):
        super().event(event)
        if isinstance(event, Finished):
            self.deeds.get(sum(isinstance(one, Finished) for one in self.events), lambda: None)()


def run_with(folder, deeds):
    """A run by two worker processes, and what was lost on the way."""
    observer, end = Meddler(deeds), time.monotonic() + 60
    config = small(folder, executor="processes", workers=2)
    report = run(config, observer, stopping=lambda: time.monotonic() > end)
    assert report.complete
    return [event for event in observer.events if isinstance(event, Lost)]


def test_a_killed_worker_is_replaced_and_costs_one_slice(tmp_path, expected):
    lost = run_with(tmp_path / "run", {1: kill_a_worker, 4: kill_a_worker})
    assert ["ended with exit code -9" in event.reason for event in lost] == [True, True]
    assert part_sums(tmp_path / "run") == expected


def test_a_worker_that_is_stopped_for_a_while_delays_only_its_own_slice(tmp_path, expected):
    stopped = []

    def stop():
        stopped.append(busiest_worker())
        os.kill(stopped[0], signal.SIGSTOP)

    assert run_with(tmp_path / "run", {1: stop, 3: lambda: os.kill(stopped[0], signal.SIGCONT)}) == []
    assert part_sums(tmp_path / "run") == expected


def test_a_killed_coordinator_takes_its_workers_along_and_the_run_continues(tmp_path, long_expected):
    with started(*LONG, "--output", "run", cwd=tmp_path) as process:
        wait_for(lambda: len(commits(tmp_path / "run")) > 3)
        workers = children(process.pid)
        process.kill()
        process.wait()
        wait_for(lambda: not any(Path(f"/proc/{pid}/cmdline").exists() for pid in workers))
    assert workers
    continue_serially(tmp_path)
    assert part_sums(tmp_path / "run") == long_expected
    assert called("verify", "run", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 3, marks=pytest.mark.slow)]
)
def test_ctrl_c_stops_soon_keeps_everything_and_says_how_to_continue(tmp_path, long_expected, number, code):
    with started(*LONG, "--output", "run", cwd=tmp_path) as process:
        wait_for(lambda: commits(tmp_path / "run"))
        for pid in (process.pid, *children(process.pid)):  # a terminal sends Ctrl-C to all of them
            os.kill(pid, number) if number == signal.SIGINT or pid == process.pid else None
        _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "continue: python -m enumerate --variant" in err
    assert "Traceback" not in err
    assert 0 < len(part_sums(tmp_path / "run")) < len(long_expected)
    assert (tmp_path / "run" / "summary.csv").exists()
    assert called("verify", "run", cwd=tmp_path).returncode == 3  # sound, and can be continued
    continue_serially(tmp_path)
    assert part_sums(tmp_path / "run") == long_expected


def test_the_second_coordinator_is_refused_with_exit_code_5(tmp_path):
    with started(*ENDLESS, "--output", "run", cwd=tmp_path):
        wait_for(lambda: commits(tmp_path / "run"))
        second = called(*ENDLESS, "--output", "run", cwd=tmp_path)
        reader = called("verify", "run", cwd=tmp_path)
        other = called("--size", 6, "--output", "run", cwd=tmp_path)
    assert second.returncode == reader.returncode == 5
    assert other.returncode == 2
    assert "another run is in" in other.stderr
    assert second.stderr.count("\n") == 1
    assert "another process is working on this run" in second.stderr


def deadly_slice(config, epoch, slice_):
    """Kills whoever works on c2."""
    if slice_.job.start == 10:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_slice(config, epoch, slice_)


def test_a_slice_that_kills_three_workers_is_quarantined_and_all_else_goes_on(tmp_path, expected, monkeypatch):
    monkeypatch.setattr("enumerate.run.coordinator.run_slice", deadly_slice)
    observer = Silent()
    report = run(small(tmp_path / "run", executor="processes", workers=1), observer)
    assert [event.task.job.start for event in report.quarantined] == [10]
    assert sum(isinstance(event, Lost) for event in observer.events) == 2
    assert sum(isinstance(event, Quarantined) for event in observer.events) == 1
    assert not report.complete
    written = part_sums(tmp_path / "run")
    assert written == {name: expected[name] for name in expected if "start=c2" not in name}
    monkeypatch.undo()
    assert run_serially(small(tmp_path / "run")).complete
    assert part_sums(tmp_path / "run") == expected


def test_quarantined_slices_give_exit_code_3_and_are_reported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import enumerate.run.worker as work, os\n"
        "real = work.run_slice\n"
        "def run_slice(config, epoch, slice_):\n"
        "    if slice_.job.start == 1: raise ValueError('no luck on b1')\n"
        "    return real(config, epoch, slice_)\n"
        "run_slice.__module__, run_slice.__qualname__ = 'enumerate.run.worker', 'run_slice'\n"
        "work.run_slice = run_slice\n"
    )
    environment = {"PYTHONPATH": f"{tmp_path}:{environment_with()['PYTHONPATH']}"}
    words = ("--size", 6, "--start", "a1,b1,c1", "--max", 5000, "--workers", 1, "--output", "run")
    done = command(*words, cwd=tmp_path, environment=environment)
    assert done.returncode == 3, done.stderr
    assert "quarantined after repeated failures: slice 0 of b1 (ValueError: no luck on b1)" in done.stderr
    assert called(*words, "--executor", "serial", cwd=tmp_path).returncode == 0
    assert called("verify", "run", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_disk_that_fills_stops_the_run_with_everything_kept(tmp_path, small_disk, executor):
    words = (*LONG, "--output", small_disk / "run", "--executor", executor)
    done = called(*words, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("error:")]) == 1
    kept = part_sums(small_disk / "run")
    assert kept
    verdict = verify(Run(small_disk / "run"))
    assert verdict.damage == []
    assert verdict.tours > 0


def test_a_disk_that_fills_while_a_run_is_extended_or_concluded_is_told_and_nothing_is_lost(tmp_path, small_disk):
    words = (
        "--size",
        6,
        "--start",
        "a1,b2",
        "--variant",
        "both",
        "--output",
        small_disk / "run",
        "--executor",
        "serial",
    )
    assert called(*words, "--max", 20_000, "--quiet", cwd=tmp_path).returncode == 0
    before = part_sums(small_disk / "run")
    with open(small_disk / "filler", "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    done = called(*words, "--max", 0, "--yes", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "No space left on device" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert part_sums(small_disk / "run") == before
    (small_disk / "filler").unlink()
    assert called(*words, "--max", 20_000, "--quiet", cwd=tmp_path).returncode == 0
    assert called("verify", small_disk / "run", cwd=tmp_path).returncode == 0


def test_a_full_disk_before_the_start_is_a_bad_request_and_leaves_nothing(tmp_path, small_disk):
    with open(small_disk / "filler", "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    done = called("--size", 5, "--output", small_disk / "deep" / "run", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in small_disk.iterdir()) == ["filler"]


def test_workers_that_cannot_start_end_the_run_with_a_reason(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, os\nif 'spawn_main' in ' '.join(sys.orig_argv): os._exit(7)\n"
    )
    environment = {"PYTHONPATH": f"{tmp_path}:{environment_with()['PYTHONPATH']}"}
    done = command("--size", 5, "--output", "run", cwd=tmp_path, environment=environment)
    assert done.returncode == 1
    assert "workers die while they start: worker" in done.stderr
    assert "exit code 7" in done.stderr


def test_a_config_for_another_board_is_not_disturbed_by_an_unrelated_lock(tmp_path):
    with started(*ENDLESS, "--output", "run", cwd=tmp_path):
        wait_for(lambda: commits(tmp_path / "run"))
        assert run_serially(config_for((5, 5), max=100, output=str(tmp_path / "other"))).complete


# ---------------------------------------------------------------------------------------------------------------------
# Contention, streams and surroundings.


@pytest.mark.parametrize("attempt", ["first", pytest.param("second", marks=pytest.mark.slow)])
def test_of_several_coordinators_on_a_new_folder_one_makes_the_run_and_the_others_are_refused(tmp_path, attempt):
    folder, sizes = tmp_path / "run", ("5x6", "5x7", "5x8")
    words = ("--max", 3000, "--start", "a1", "--executor", "serial", "--output", folder, "--quiet")
    processes = [
        subprocess.Popen(
            arguments("--size", size, *words), env=environment_with(), stderr=subprocess.PIPE, text=True
        )
        for size in sizes
    ]  # fmt: skip
    errors = [process.communicate(timeout=60)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert codes.count(0) == 1, errors
    assert set(codes) <= {0, 2, 5}, errors
    assert verify(Run(folder)).damage == []
    assert str(Run(folder).board) == sizes[codes.index(0)]


def test_a_worker_killed_right_after_its_record_leaves_a_sound_run(tmp_path, monkeypatch):
    few = {"start": "a1", "slice_tours": 10_000}
    run_serially(small(tmp_path / "expected", **few))
    monkeypatch.setattr("enumerate.run.coordinator.run_slice", slice_that_dies_once_after_its_commit)
    report = run(small(tmp_path / "run", executor="processes", workers=1, **few), Silent())
    assert report.complete
    assert len(list(tmp_path.glob("died-*"))) == len(commits(tmp_path / "run")) > 2
    assert verify(Run(tmp_path / "run")).damage == []
    assert part_sums(tmp_path / "run") == part_sums(tmp_path / "expected")


def slice_that_dies_once_after_its_commit(config, epoch, slice_):
    result = run_slice(config, epoch, slice_)
    flag = Path(config.output).parent / f"died-{slice_.job.number}-{slice_.number}"
    if not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return result


def test_after_a_kill_between_part_and_record_verify_says_unfinished_not_damaged(tmp_path):
    config = small(tmp_path / "run")
    run_serially(small(tmp_path / "run"))
    last = sorted((tmp_path / "run" / "_run" / "commits").glob("000001-*.json"))[-1]
    last.unlink()
    for name in ("summary.csv", "summary.parquet", "summary.json"):
        (tmp_path / "run" / name).unlink()
    never_concluded = replace(Run(tmp_path / "run").manifest, epoch="lost", concluded=Extent())
    replace_manifest(Folder(tmp_path / "run"), never_concluded)
    verdict = verify(Run(tmp_path / "run"))
    assert (verdict.damage, verdict.complete) == ([], False)
    assert run_serially(config).complete


def test_a_run_whose_folder_is_taken_away_stops_and_does_not_rise_again(tmp_path):
    with started(*ENDLESS, "--output", "run", cwd=tmp_path) as process:
        wait_for(lambda: commits(tmp_path / "run"))
        (tmp_path / "run").rename(tmp_path / "away")
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()
    assert verify(Run(tmp_path / "away")).damage == []


def test_a_log_that_nobody_reads_any_more_does_not_end_the_run(tmp_path, expected):
    config = small(tmp_path / "run")
    words = ("--size", 8, "--variant", "both", "--start", config.start, "--max", 3000, "--slice-iterations", 1000,
             "--slice-tours", 150, "--workers", 1, "--output", "run")  # fmt: skip
    process = subprocess.Popen(
        arguments(*words), cwd=tmp_path, env=environment_with(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert part_sums(tmp_path / "run") == expected


@pytest.mark.parametrize(
    ("shell", "code"),
    [
        ("PYTHONIOENCODING=ascii {} --executor serial", 0),
        ("{} --executor serial > /dev/full", 0),
        ("{} --executor serial --json > /dev/full", 0),
        ("{} --workers 1 2>&-", 0),
        ("{} --workers 1 --json 2>&- | python3 -c 'import json, sys; json.load(sys.stdin)'", 0),
        pytest.param("env -u HOME -u XDG_CACHE_HOME {}", 0, marks=pytest.mark.slow),  # compiles for itself alone
        pytest.param("ulimit -n 40; {} --workers 50", 0, marks=pytest.mark.slow),
    ],
)
def test_odd_surroundings_change_neither_tours_nor_exit_code(tmp_path, shell, code):
    line = shell.format(" ".join(arguments("--size", 6, "--max", 2000, "--start", "a1,b1,c1", "--output", "'a [/b]'")))
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=tmp_path,
        env=environment_with(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["a ["]
    assert verify(Run(tmp_path / "a [" / "b]")).damage == []


@pytest.mark.slow
def test_ctrl_c_while_many_workers_start_is_heard(tmp_path):
    with started(
        "--size", 8, "--max", 0, "--tours", 10**9, "--workers", 24, "--output", "run", cwd=tmp_path
    ) as process:
        wait_for(lambda: len(children(process.pid)) >= 2)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "continue: python -m enumerate --variant" in err
    assert "Traceback" not in err


def test_ctrl_c_ends_a_serial_run_in_the_middle_of_a_slice(tmp_path):
    words = ("--size", 60, "--variant", "closed", "--start", "c3", "--max", 0, "--yes", "--slice-iterations", 10**15)
    with started(*words, "--executor", "serial", "--output", "run", cwd=tmp_path) as process:
        wait_for((tmp_path / "run" / "_run" / "run.json").exists)
        before = seconds_of(process.pid)
        wait_for(lambda: seconds_of(process.pid) > before + 1.5)
        os.kill(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "the same command continues the run" in err
