"""The server of the pages as a user starts it, in a process of its own."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager

from .tools import arguments, environment_with


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
