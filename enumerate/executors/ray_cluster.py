"""Workers on a Ray cluster: one actor for each CPU of each node.

Actors, not tasks: when a node is cut off, Ray's tasks stall the whole run, and a lost actor is simply heard of. Ray
never retries anything (the supervisor does), and never carries tours: tasks go out, small results come back. Every
wait has a limit. A worker that was cut off may still write; that this does no harm is the ledger's part.
"""

from __future__ import annotations

import pickle
import re
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Generic

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ..model.errors import Stopped
from .events import A, Handshake, Work
from .ray_connection import Connection
from .supervisor import Died, Failed, Outcome, Ready, Unfit, attempt

LOOK_SECONDS = 1.0  # between two looks at which nodes there are
DOUBT_SECONDS = 60.0
ABSENT_SECONDS = 60.0  # that a node which could not write is left out
HEAD_SECONDS = 10.0  # that the head may be silent
PROCESS_ENDED = "its process ended"
GET_SECONDS = 10.0  # for a result that is said to be there


class Actor:
    """What runs on a node."""

    def answer(self, question: bytes) -> Ready:
        return Ready(pickle.loads(question)())

    def work(self, work: bytes, task: Any) -> Outcome:
        return attempt(pickle.loads(work), task)


_actor: Any = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Actor)


class RayWorker:
    """The coordinator's side of an actor; `answer` is what it owes us, if anything."""

    def __init__(self, node: Node, work: bytes, question: bytes) -> None:
        self.at, self.node, self.payload = node, node.name, work
        there = NodeAffinitySchedulingStrategy(node.id, soft=False)
        self.actor = _actor.options(scheduling_strategy=there).remote()
        self.answer: Any = self.actor.answer.remote(question)

    def give(self, task: Any) -> None:
        self.answer = self.actor.work.remote(self.payload, task)

    def end(self) -> None:
        ray.kill(self.actor, no_restart=True)


class Node:
    """A node of the cluster, as Ray describes it."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.id: str = description["NodeID"]
        # Two nodes may be on one machine: a part of the id distinguishes them, as in `ray status`.
        self.name = f"{description['NodeManagerAddress']} ({description['NodeManagerHostname']}, {self.id[:6]})"
        self.slots = int(description["Resources"].get("CPU", 0))


class RayPool(Generic[A]):
    """Slots follow the cluster: nodes that join are used, nodes that leave are done without."""

    def __init__(self, connection: Connection, handshake: Handshake[A], most: int) -> None:
        self.connection, self.handshake, self.most = connection, handshake, most
        self.left_out: dict[str, float] = {}  # until when
        self.head_seen = time.monotonic()
        self.nodes: dict[str, Node] = {}
        # Until when nodes come last that lost a worker: Ray takes a minute to report a lost node.
        self.doubtful: dict[str, float] = {}
        self.looked = float("-inf")

    @property
    def slots(self) -> int:
        self._look()
        return min(self.most, sum(node.slots for node in self.nodes.values()))

    def hire(self, work: Work[Any, Any], hired: Sequence[RayWorker]) -> RayWorker | None:
        self._look()
        now, taken = time.monotonic(), Counter(worker.at.id for worker in hired)
        free = {node.id: node.slots - taken[node.id] for node in self.nodes.values() if node.slots > taken[node.id]}
        if not free or len(hired) >= self.most or not self.connection.head_answers():
            return None  # without its head Ray would wait here for a minute, then end this process
        best = max(free, key=lambda node: (self.doubtful.get(node, now) <= now, free[node]))
        return RayWorker(self.nodes[best], pickle.dumps(work), pickle.dumps(self.handshake.question()))

    def wait(self, workers: Sequence[RayWorker], seconds: float) -> list[tuple[RayWorker, Outcome]]:
        self._look()
        by_answer = {worker.answer: worker for worker in workers if worker.answer is not None}
        if not by_answer:
            time.sleep(seconds)
            return []
        ray.wait(list(by_answer), num_returns=1, timeout=seconds)
        there, _ = ray.wait(list(by_answer), num_returns=len(by_answer), timeout=0)
        return [(by_answer[answer], self._hear(by_answer[answer])) for answer in there]

    def leave_out(self, node: str, for_good: bool) -> bool:
        self.left_out[node] = float("inf") if for_good else time.monotonic() + ABSENT_SECONDS
        self.nodes = {key: value for key, value in self.nodes.items() if value.name != node}
        return any(node.slots for node in self.nodes.values())

    def close(self) -> None:
        self.connection.close()

    def _look(self) -> None:
        """Which nodes there are now. Ray itself would wait a minute for a head that is gone, then end this process."""
        now = time.monotonic()
        if now - self.looked < LOOK_SECONDS:
            return
        self.looked = now
        if not self.connection.head_answers():
            if now - self.head_seen > HEAD_SECONDS:
                raise Stopped("the head of the Ray cluster is gone; everything finished is kept")
            return
        self.head_seen = now
        described = ray.nodes()  # type: ignore[no-untyped-call]
        known = (Node(description) for description in described if description["Alive"])
        self.nodes = {node.id: node for node in known if self.left_out.get(node.name, 0.0) < now}

    def _hear(self, worker: RayWorker) -> Outcome:
        answer, worker.answer = worker.answer, None
        try:
            said = ray.get(answer, timeout=GET_SECONDS)
        except GetTimeoutError:
            return Died(f"node {worker.node} does not hand over a result", with_node=True)
        except RayError as loss:
            self.looked, self.doubtful[worker.at.id] = float("-inf"), time.monotonic() + DOUBT_SECONDS
            why = _why_lost(loss)
            return Died(f"worker on {worker.node} is lost ({why})", with_node=why != PROCESS_ENDED)
        if not isinstance(said, Ready):
            return said if isinstance(said, Outcome) else Failed(f"not an answer: {said!r}")
        error = self.handshake.why_unfit(worker.node, said.answer)
        return Unfit(error) if error else said


def _why_lost(error: RayError) -> str:
    """Ray's many words in few."""
    text = str(error)
    missing = re.search(r"ModuleNotFoundError: (.*)", text)
    if missing:
        return missing[1].strip()
    for words, meaning in _MEANINGS.items():
        if words in text:
            return meaning
    return text.strip().splitlines()[0] if text.strip() else type(error).__name__


_MEANINGS = {
    "temporarily unavailable": "out of reach",
    "its node has died": "its node is gone",
    "The node has died": "its node is gone",
    "worker process has died": PROCESS_ENDED,
}
