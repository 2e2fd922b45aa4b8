"""Several Ray hosts on one machine, with links that can be cut and healed.

Each host has a network namespace, a mount namespace (/tmp/ray and /dev/shm of its own) and a host name. The
namespaces have no names outside: they live as long as their processes, and holder.py ends those. The hosts hang on
a bridge in the head's namespace, one cable each, so nothing of it is seen in the machine's own network and several
test processes can do the same at the same time.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from . import holder

ROOT = Path(__file__).parents[2]
RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
JOBS = "http://127.0.0.1:8265"  # on the head host
STORE = 80_000_000  # bytes of Ray's object store; the smallest that it takes is 75 MB
UP_WITHIN = 40.0  # seconds until a new node must be alive
NO_ACTOR = tuple(
    f"ray::{name}" for name in ("IDLE", "DashboardAgent", "RuntimeEnvAgent", "SpillWorker", "RestoreWorker")
)
ALIVE = """
import ray
ray.init("{address}", log_to_driver=False, logging_level="error")
print(*(node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]))
"""


def why_not() -> str | None:
    """Why this machine cannot have such hosts; None if it can."""
    if os.geteuid() != 0:
        return "not root"
    for tool in ("ip", "unshare", "nsenter", "mount", "hostname"):
        if not shutil.which(tool):
            return f"no {tool!r} on the path"
    trial = "ip link add try1 type veth peer name try2 && ip link add try3 type bridge && mount -t tmpfs try /dev/shm"
    words = ["unshare", "--net", "--mount", "--uts", "sh", "-c", trial]
    tried = subprocess.run(words, text=True, capture_output=True, check=False, timeout=20)
    return f"no namespaces here: {tried.stderr.strip()}" if tried.returncode else None


class Driver(subprocess.Popen):
    """A program that runs on the head host, in a process group of its own; its pid is the program's own."""

    def __init__(self, words: Sequence[str], log: Path, **options):
        # Files, not pipes: a process that outlives the program would keep a pipe open, and a full one stops it.
        self.logs = log.with_suffix(".out"), log.with_suffix(".err")
        with self.logs[0].open("wb") as out, self.logs[1].open("wb") as err:
            super().__init__(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, process_group=0, **options)

    @property
    def out(self) -> str:
        return self.logs[0].read_text(errors="replace")

    @property
    def err(self) -> str:
        return self.logs[1].read_text(errors="replace")

    def finish(self, timeout: float) -> subprocess.CompletedProcess[str]:
        """Wait for it; after the timeout it is killed, and TimeoutExpired carries what it had printed."""
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired as late:
            os.killpg(self.pid, signal.SIGKILL)
            self.wait(10)
            raise subprocess.TimeoutExpired(self.args, timeout, self.out, self.err) from late
        return subprocess.CompletedProcess(self.args, self.returncode, self.out, self.err)


class Host:
    """One pretended host. `enter` are the words that, put before a command, run it there."""

    def __init__(self, name: str, ip: str, folder: Path):
        self.name, self.ip, self.log = name, ip, folder / f"{name}.log"
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "--uts", sys.executable, "-S", "-E", holder.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
        )
        if self.holder.stdout.readline() != b"ready\n":  # ends at once with an empty line if unshare failed
            raise RuntimeError(f"host {name} has no namespaces; exit code {self.holder.wait(10)}")
        self.enter = ["nsenter", "-t", str(self.holder.pid), "--net", "--mount", "--uts"]
        self.network = holder.network_of(self.holder.pid)
        self.plug: tuple[Host, str] | None = None  # the head, and its end of the cable
        self.ray: subprocess.Popen[bytes] | None = None
        try:
            self.prepare()
        except BaseException:
            self.end()
            raise

    def prepare(self) -> None:
        self.do("hostname", self.name)
        self.do("ip", "link", "set", "lo", "up")
        Path("/tmp/ray").mkdir(exist_ok=True)  # a place to mount on
        for path in ("/tmp/ray", "/dev/shm"):
            self.mount("mode=1777", Path(path))

    def do(self, *words: object) -> str:
        """A short command on this host; it must succeed."""
        done = subprocess.run([*self.enter, *map(str, words)], text=True, capture_output=True, check=False, timeout=20)
        if done.returncode:
            raise RuntimeError(f"{words} failed on {self.name}: {done.stderr.strip()}")
        return done.stdout

    def mount(self, options: str, path: Path) -> None:
        """An empty file system over that path, on this host alone."""
        self.do("mount", "-t", "tmpfs", "-o", options or "defaults", "tmpfs", path)

    def connect(self, head: Host) -> None:
        """A cable from this host to the head's bridge."""
        self.plug = head, f"to-{self.name}"
        head.do("ip", "link", "add", self.plug[1], "type", "veth", "peer", "name", "eth0", "netns", self.holder.pid)
        head.do("ip", "link", "set", self.plug[1], "master", "bridge")
        self.do("ip", "address", "add", f"{self.ip}/24", "dev", "eth0")
        self.do("ip", "link", "set", "eth0", "up")
        self.heal()

    def ray_start(self, *words: str, environment: Mapping[str, str] | None = None, python: Path | None = None) -> None:
        """`ray start`, which stays in the background as the parent of raylet and its company."""
        ray = Path(python or sys.executable).with_name("ray")
        variables = {**os.environ, "PYTHONPATH": str(ROOT), **RAY}
        if python:
            del variables["PYTHONPATH"]  # the point of another interpreter is that it lacks the package
        with self.log.open("ab") as log:
            options = ("--node-ip-address", self.ip, "--object-store-memory", str(STORE), "--disable-usage-stats")
            self.ray = subprocess.Popen(
                [*self.enter, str(ray), "start", *options, *words, "--block"],
                env={**variables, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )

    def cut(self) -> None:
        """Pull the cable: nothing passes in either direction, and nobody is told."""
        head, plug = self.plug
        head.do("ip", "link", "set", plug, "down")

    def heal(self) -> None:
        head, plug = self.plug
        head.do("ip", "link", "set", plug, "up")

    def processes(self) -> list[int]:
        """All processes on this host, as this machine numbers them, except the one that holds the namespaces."""
        return [pid for pid in holder.members(self.network) if pid != self.holder.pid]

    def raylet(self) -> int | None:
        named = (pid for pid in self.processes() if os.path.basename(title(pid).split("\0")[0]) == "raylet")
        return next(named, None)

    def workers(self) -> list[int]:
        """Ray's worker processes that hold an actor (or run a task): their title says so."""
        titles = {pid: title(pid) for pid in self.processes()}
        return [pid for pid, text in titles.items() if text.startswith("ray::") and not text.startswith(NO_ACTOR)]

    def kill_raylet(self) -> None:
        os.kill(self.raylet(), signal.SIGKILL)

    def kill_worker(self) -> int:
        """SIGKILL to one worker that holds an actor; its pid."""
        pid = self.workers()[0]
        os.kill(pid, signal.SIGKILL)
        return pid

    def end(self) -> None:
        """Power off: all of its processes at once, then its namespaces and its cable."""
        if self.holder.poll() is None:
            self.holder.communicate(b"end\n", timeout=holder.PATIENCE + 10)
        if left := holder.members(self.network):
            raise RuntimeError(f"still alive on {self.name}: {left}")
        if self.ray:
            self.ray.wait(10)


class Hosts:
    """A Ray cluster of a head without CPUs and some nodes; all of it is gone at exit.

    `environment` is for `ray start` on the head and these nodes, such as how soon the head gives a silent node up.
    `jobs`: whether the head takes submitted jobs, at JOBS.
    """

    def __init__(
        self,
        folder: Path,
        cpus: Sequence[int] = (1, 1),
        environment: Mapping[str, str] | None = None,
        jobs: bool = False,
    ):
        self.folder, self.cpus, self.environment, self.jobs = Path(folder), cpus, environment, jobs
        self.nodes: list[Host] = []
        self.drivers: list[Driver] = []

    def __enter__(self) -> Hosts:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.head = Host("head", "10.99.0.1", self.folder)
        self.address = f"{self.head.ip}:6379"
        try:
            self.begin()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.end()

    def begin(self) -> None:
        self.head.do("ip", "link", "add", "bridge", "type", "bridge")
        self.head.do("ip", "address", "add", f"{self.head.ip}/24", "dev", "bridge")
        self.head.do("ip", "link", "set", "bridge", "up")
        options = ("--head", "--port", "6379", "--num-cpus", "0", f"--include-dashboard={self.jobs}")
        self.head.ray_start(*options, environment=self.environment)
        wait_until(self.head.raylet, UP_WITHIN, self.head)
        for cpus in self.cpus:
            self.begin_node(cpus, environment=self.environment)
        self.wait_alive(self.nodes)

    def end(self) -> None:
        """The nodes first: they hang on the head's bridge. One that does not end must not save the others."""
        failures = []
        for host in [*self.nodes, self.head]:
            try:
                host.end()
            except Exception as failure:
                failures.append(failure)
        for driver in self.drivers:
            driver.wait(10)  # they were on the head, so they are dead
        if failures:
            raise failures[0]

    def add(
        self,
        cpus: int = 1,
        mounts: Sequence[tuple[str, Path]] = (),
        environment: Mapping[str, str] | None = None,
        python: Path | None = None,
    ) -> Host:
        """Another node, alive when this returns.

        `mounts` are (options such as "size=64k", path): an empty file system over that path on this host alone, a
        folder that is not shared or a disk that fills. `environment` is for `ray start`. `python` is another
        interpreter, whose `ray` stands beside it.
        """
        node = self.begin_node(cpus, mounts, environment, python)
        self.wait_alive([node])
        return node

    def begin_node(self, cpus: int, mounts=(), environment=None, python=None) -> Host:
        number = len(self.nodes) + 2  # ended ones stay in the list: an address is never given twice
        node = Host(f"node{number}", f"10.99.0.{number}", self.folder)
        self.nodes.append(node)
        node.connect(self.head)
        for options, path in mounts:
            node.mount(options, path)
        node.ray_start("--address", self.address, "--num-cpus", str(cpus), environment=environment, python=python)
        return node

    def wait_alive(self, nodes: Sequence[Host]) -> None:
        missing = {node.ip: node for node in nodes}
        deadline = time.monotonic() + UP_WITHIN
        while missing:
            for ip in self.alive() & missing.keys():
                del missing[ip]
            if missing and time.monotonic() > deadline:
                raise TimeoutError(
                    "\n".join(f"{node.name} is not alive: {tail(node.log)}" for node in missing.values())
                )

    def alive(self) -> set[str]:
        """The addresses of the hosts that the head takes for alive."""
        return set(self.python(ALIVE.format(address=self.address)).split())

    def run(self, *words, cwd: Path, timeout: float = 300, environment=None) -> subprocess.CompletedProcess[str]:
        """`python -m enumerate ...` on the head host."""
        return self.start(*words, cwd=cwd, environment=environment).finish(timeout)

    def start(self, *words, cwd: Path, environment: Mapping[str, str] | None = None) -> Driver:
        """The same in the background."""
        return self.launch([sys.executable, "-m", "enumerate", *map(str, words)], cwd, environment)

    def ray_job(self, *words: str) -> Driver:
        """`ray job ...` on the head host, in the background."""
        command, *more = words
        ray = Path(sys.executable).with_name("ray")
        return self.launch([str(ray), "job", command, "--address", JOBS, *map(str, more)], self.folder, None)

    def python(self, code: str, timeout: float = 60, environment: Mapping[str, str] | None = None) -> str:
        """What a bit of Python, run on the head host, prints."""
        done = self.launch_python(code, environment).finish(timeout)
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-3000:]}")
        return done.stdout

    def launch_python(self, code: str, environment: Mapping[str, str] | None = None) -> Driver:
        """The same in the background."""
        return self.launch([sys.executable, "-c", code], self.folder, environment)

    def launch(self, words: Sequence[str], cwd: Path, environment: Mapping[str, str] | None) -> Driver:
        # As in commands.py, which is not used: this harness must work while the package does not.
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1", **RAY}
        log = self.folder / f"driver{len(self.drivers) + 1}"
        self.drivers.append(Driver([*self.head.enter, *words], log, cwd=cwd, env={**variables, **(environment or {})}))
        return self.drivers[-1]


def wait_until(happened: Callable[[], object], seconds: float, host: Host) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{host.name} is not up after {seconds} s: {tail(host.log)}")
        time.sleep(0.1)


def title(pid: int) -> str:
    """The command line of a process, which it may have rewritten; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def tail(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:] if log.exists() else "no log"
