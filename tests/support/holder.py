"""The first process of a pretended host: it keeps the host's namespaces and, at its end, ends all that run in them.

It lives until its standard input says something or closes. So a host is gone even if the test that made it was
killed: the pipe closes then, too. Only the standard library, because it runs as a plain script (see hosts.py).
"""

import contextlib
import os
import signal
import sys
import time

PATIENCE = 20.0  # seconds in which every killed process must be gone


def network_of(pid) -> str | None:
    """The network namespace of a process; None if it is gone, or a zombie."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def members(network: str) -> list[int]:
    """All processes in that network namespace."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and network_of(name) == network]


def end_others() -> None:
    """Kill whatever else runs in this namespace, again and again: a process may have forked in between."""
    mine, deadline = network_of("self"), time.monotonic() + PATIENCE
    while (others := [pid for pid in members(mine) if pid != os.getpid()]) and time.monotonic() < deadline:
        for pid in others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which then let go of the pipe
    print("ready", flush=True)
    sys.stdin.readline()
    end_others()
