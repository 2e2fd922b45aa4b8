"""Reach a Ray cluster, or start one on this machine, and say in one line why it cannot be done."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any

from ..model.errors import BadRequest
from ..model.values import AUTO, LOCAL

KNOCK_SECONDS = 5.0
HEAD_SECONDS = 2.0
PACKAGE = Path(__file__).parents[1]

# Ray reads these when it is imported. A node that is cut off is noticed within seconds instead of minutes.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else Ray warns about a change to come
    "RAY_BACKEND_LOG_LEVEL": "fatal",  # the supervisor reports what goes wrong
    "RAY_grpc_client_keepalive_time_ms": "3000",
    "RAY_grpc_client_keepalive_timeout_ms": "3000",
    "RAY_core_worker_rpc_server_reconnect_timeout_base_s": "1",
    "RAY_core_worker_rpc_server_reconnect_timeout_max_s": "5",
    "RAY_raylet_rpc_server_reconnect_timeout_base_s": "1",
    "RAY_raylet_rpc_server_reconnect_timeout_max_s": "5",
}


class Connection:
    """A connected Ray; `close` disconnects, and ends a Ray that was started here."""

    def __init__(self, held: ExitStack) -> None:
        import ray

        self.head, self.held = ray.get_runtime_context().gcs_address, held
        # Ray prints messages of its nodes to standard output, where the summary or one JSON document belongs.
        nowhere = held.enter_context(open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # closed by `held`
        held.enter_context(redirect_stdout(nowhere))
        held.callback(ray.shutdown)

    def head_answers(self) -> bool:
        try:
            return _speaks_http2(self.head, HEAD_SECONDS)
        except OSError:
            return False

    def close(self) -> None:
        self.held.close()


def connect(address: str, workers: int) -> Connection:
    """Connect to the cluster at `address` (auto, host:port), or start one here (local)."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if address == LOCAL:
        _use_own_token()
        os.environ.setdefault("RAY_worker_niceness", "0")  # else 15, and anything else on the machine comes first
    else:
        os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "8")  # seconds until what does not answer is given up
    try:
        import ray
    except ImportError:
        raise BadRequest(
            "--address needs Ray, and it is not installed: ./run.sh installs it when it sees the flag;"
            " else pip install 'knights-tour-enumerator[cluster]'"
        ) from None
    held = ExitStack()
    folder = tempfile.mkdtemp(prefix="ray-") if address == LOCAL else None
    if folder:
        held.callback(shutil.rmtree, folder, ignore_errors=True)
    quietly: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    try:
        with _signals_kept(), _stderr_held():
            if folder:
                ray.init(LOCAL, num_cpus=workers, include_dashboard=False, object_store_memory=80_000_000,
                         _temp_dir=folder, **quietly)  # fmt: skip
            else:
                found = _found(address)
                _knock(found)
                ray.init(found, runtime_env={"py_modules": [str(PACKAGE)]}, **quietly)
    except BaseException as error:  # Ray raises what it likes: a version that differs, no token, a timeout
        with suppress(Exception):
            ray.shutdown()
        held.close()
        if isinstance(error, BadRequest) or not isinstance(error, Exception):
            raise
        raise BadRequest(f"cannot use the Ray cluster: {address!r} ({' '.join(str(error).split())[:300]})") from None
    return Connection(held)


def _found(address: str) -> str:
    """The host:port of `auto`: what RAY_ADDRESS says, or the cluster that `ray start` made this machine a part of."""
    if address != AUTO:
        return address
    mark = Path(os.environ.get("RAY_TMPDIR", tempfile.gettempdir())) / "ray" / "ray_current_cluster"
    source, known = "RAY_ADDRESS", os.environ.get("RAY_ADDRESS", "")
    if not known and mark.is_file():
        source, known = str(mark), mark.read_text(errors="replace").strip()
    if not known:
        raise BadRequest(
            "no Ray cluster found: this machine is not part of one, and RAY_ADDRESS is not set;"
            " start one with `ray start --head`, or use --address local"
        )
    if known in (AUTO, LOCAL) or not re.fullmatch(r"[^\s/]+:[0-9]{1,5}", known):
        raise BadRequest(f"{source} is not the host:port of a Ray cluster: {known!r}")
    return known


def _knock(address: str) -> None:
    """Whether somebody at the address speaks Ray's protocol (HTTP/2); Ray itself would try for two minutes."""
    try:
        speaks = _speaks_http2(address, KNOCK_SECONDS)
    except OSError as error:
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise BadRequest(f"no Ray cluster at {address!r} ({reason}); see `ray status` on its head") from None
    if not speaks:
        raise BadRequest(f"what answers at {address!r} is not a Ray cluster; give the port of its head, often 6379")


def _speaks_http2(address: str, seconds: float) -> bool:
    """Whether the first answer to an empty settings frame is the server's settings. A frozen server gives none."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=seconds) as line:
        line.settimeout(seconds)
        line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        frame = line.recv(9)
    return len(frame) >= 4 and frame[3] == 4


def _use_own_token() -> None:
    """A Ray of our own needs no token in the user's home folder, which later clusters would then demand."""
    if not any(name in os.environ for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")):
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray takes SIGTERM for itself; those who handled the signals before keep them."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(ValueError):  # not the main thread: then Ray has not taken them either
                signal.signal(number, handler)


@contextmanager
def _stderr_held() -> Iterator[None]:
    """Ray's C++ writes warnings of its own while it connects; what matters comes as an error."""
    try:
        before = os.dup(2)
    except OSError:  # there is no standard error
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)
