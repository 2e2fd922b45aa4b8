"""The command line as a user runs it: to its end, in the background, as a server of pages; and in this process."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

from enumerate.cli.app import main

ROOT = Path(__file__).parents[2]


def command(*words, cwd, environment=None, timeout=120) -> subprocess.CompletedProcess[str]:
    """`python -m enumerate ...` as a user calls it."""
    return subprocess.run(
        arguments(*words),
        cwd=cwd,
        env=environment_with(environment),
        text=True,
        capture_output=True,
        timeout=timeout,
        check=False,
    )


def called(*words, cwd, environment=None) -> subprocess.CompletedProcess[str]:
    """The same in this process, where numba is imported already: for facts that are not about the process."""
    out, err = io.StringIO(), io.StringIO()
    surroundings = patch.dict(os.environ, environment_with(environment))
    with chdir(cwd), surroundings, signals_put_back(), redirect_stdout(out), redirect_stderr(err):
        code = main([str(word) for word in words])
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


@contextmanager
def signals_put_back():
    """A command takes Ctrl-C and SIGTERM for itself, and its process ends with it."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def arguments(*words) -> list[str]:
    return [sys.executable, "-m", "enumerate", *map(str, words)]


def environment_with(extra=None) -> dict[str, str]:
    """This environment, with the package on the path and a plain terminal."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1", **(extra or {})}


@contextmanager
def started(*words, cwd):
    process = subprocess.Popen(
        arguments(*words), cwd=cwd, env=environment_with(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition, seconds=60.0):
    """Wait for something; so long that only a failure takes as much, be the machine as busy as it may."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def on_a_terminal(columns, *words, cwd, environment=None) -> str:
    """All that a command writes to a terminal of so many columns, which is its input and output."""
    shown, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **(environment or {})}
    for name in ("COLUMNS", "NO_COLOR"):
        surroundings.pop(name, None)
    process = subprocess.Popen(
        arguments(*words), cwd=cwd, env=surroundings, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    written = b""
    try:
        with suppress(OSError):  # so it ends on Linux: nobody has the terminal any more
            while more := os.read(shown, 65536):
                written += more
        assert process.wait(60) == 0, written.decode()
    finally:
        process.kill()
        process.wait()
        os.close(shown)
    return written.decode().replace("\r\n", "\n")


def children(pid):
    """The worker processes of a coordinator (not multiprocessing's resource tracker)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                words = (entry / "cmdline").read_text()
            except OSError:
                continue
            if parent == pid and "spawn_main" in words:
                found.append(int(entry.name))
    return found


def busiest_worker():
    """The worker process of this process that has worked most: one that is ready."""
    return max(children(os.getpid()), key=seconds_of)


def kill_a_worker():
    os.kill(busiest_worker(), signal.SIGKILL)


def seconds_of(pid) -> float:
    """The processor time that a process has used, which says how far it is on a busy machine too."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(*words, cwd="."):
    """`python -m enumerate ... --port 0 --no-open`; yields the address without a slash at its end."""
    process = subprocess.Popen(
        arguments(*words, "--port", "0", "--no-open"),
        cwd=cwd,
        env=environment_with(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("http://127.0.0.1:"), line + process.stderr.read()
        yield "/".join(line.split()[0].split("/")[:3])
    finally:
        process.terminate()
        process.communicate(timeout=20)
