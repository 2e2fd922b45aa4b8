"""`--address local`: a Ray of its own on this machine, which is gone afterwards; and addresses that lead nowhere."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ..support.commands import arguments, called, command, environment_with, wait_for
from ..support.runs import commits, part_sums

WORDS = ("--size", 8, "--variant", "closed", "--max", 500_000, "--start", "a1,c2,d4")


def environment(home):
    """A home of its own: a Ray of our own must leave nothing there."""
    plain = {name: value for name, value in environment_with().items() if not name.startswith("RAY_")}
    return {**plain, "HOME": str(home), "TMPDIR": str(home), "XDG_CACHE_HOME": str(Path.home() / ".cache")}


def rays(home) -> list[str]:
    """Command lines of processes whose files are below that home."""
    lines = subprocess.run(["ps", "-eo", "args"], text=True, capture_output=True, check=True).stdout.splitlines()
    return [line for line in lines if str(home) in line]


@pytest.fixture
def home(tmp_path_factory):
    """Short, because Ray's sockets are below it."""
    home = Path("/tmp") / f"ray-test-{os.getpid()}-{time.monotonic_ns() % 10**6}"
    home.mkdir()
    yield home
    subprocess.run(["rm", "-rf", home], check=True)


@pytest.mark.cluster
def test_a_ray_of_its_own_gives_the_bytes_of_processes_and_leaves_nothing_behind(tmp_path, home):
    assert command(*WORDS, "--output", "processes", cwd=tmp_path).returncode == 0
    done = command(
        *WORDS, "--output", "ray", "--address", "local", "--json", cwd=tmp_path, environment=environment(home)
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["this_call"]["slots"] >= 1
    assert part_sums(tmp_path / "ray") == part_sums(tmp_path / "processes")
    assert list(home.iterdir()) == []
    assert rays(home) == []


@pytest.mark.cluster
def test_more_workers_than_slices_do_no_harm(tmp_path, home):
    """Workers that become ready when nothing is left to do are neither given work nor asked again who they are."""
    words = ("--size", 8, "--max", 3_000_000, "--start", "a1,b1,c1,d1,e1,f1,g1,h1", "--workers", 8)
    done = command(*words, "--output", "run", "--address", "local", cwd=tmp_path, environment=environment(home))
    assert done.returncode == 0, done.stderr
    assert called("verify", "run", cwd=tmp_path).returncode == 0


@pytest.mark.cluster
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 3)])
def test_a_signal_to_the_whole_group_stops_it_and_its_ray(tmp_path, home, number, code):
    words = ("--size", 8, "--max", 10**9, "--output", "run", "--address", "local")
    process = subprocess.Popen(
        arguments(*words), cwd=tmp_path, env=environment(home), process_group=0, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_for(lambda: process.poll() is not None or len(commits(tmp_path / "run")) >= 3)
    assert process.poll() is None, process.stderr.read()
    os.killpg(process.pid, number)  # as a terminal does it
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "continue: python -m enumerate --variant" in err
    wait_for(lambda: rays(home) == [])
    assert called("verify", "run", cwd=tmp_path).returncode == 3


class NotRay(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def web_server():
    server = HTTPServer(("127.0.0.1", 0), NotRay)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def silent_server():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def nobody():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("web_server", "is not a Ray cluster"),
        pytest.param("silent_server", "no answer", marks=pytest.mark.slow),
        ("nobody", "Connection refused"),
    ],
)
def test_an_address_without_a_cluster_is_not_waited_for(tmp_path, home, request, capfd, who, words):
    address = request.getfixturevalue(who)
    done = called("--size", 5, "--address", address, cwd=tmp_path, environment=environment(home))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert words in done.stderr
    assert address in done.stderr
    assert capfd.readouterr() == ("", "")  # neither has Ray said anything past Python
    assert list(tmp_path.iterdir()) == []


def test_auto_without_a_cluster_says_how_to_have_one(tmp_path, home):
    done = command("--size", 5, "--address", "auto", cwd=tmp_path, environment=environment(home))
    assert done.returncode == 2
    assert "no Ray cluster found" in done.stderr
    assert "ray start --head" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["auto", "nonsense", "host:port"])
def test_a_strange_ray_address_is_named(tmp_path, home, capfd, value):
    surroundings = {**environment(home), "RAY_ADDRESS": value}
    done = called("--size", 5, "--address", "auto", cwd=tmp_path, environment=surroundings)
    assert done.returncode == 2
    assert done.stderr == f"error: RAY_ADDRESS is not the host:port of a Ray cluster: {value!r}\n"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("ray://127.0.0.1:10001", "give host:port of its head"),
        ("somewhere", "address must be auto, local or host:port"),
        ("host:0", "address must be auto, local or host:port"),
        ("host:²", "address must be auto, local or host:port"),
        ("", "leave it out for this machine"),
        ("host:99999", "address must be auto, local or host:port"),
        ("http://host:80", "address must be auto, local or host:port"),
    ],
)
def test_a_strange_address_is_refused(tmp_path, address, words):
    done = called("--size", 5, "--address", address, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
