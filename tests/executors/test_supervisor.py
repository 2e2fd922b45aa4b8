"""The loop behind all executors, over a pool whose nodes and workers do what a script says."""

from __future__ import annotations

import time
from collections import Counter, deque
from dataclasses import dataclass

import pytest

from enumerate.executors.events import Finished, LeftOut, Lost, Quarantined, Waiting
from enumerate.executors.supervisor import MAX_LOSSES, PATIENCE, Died, Done, Failed, Patience, Ready, Supervisor, Unfit
from enumerate.model.errors import BadRequest, Damaged, Stopped


@dataclass(frozen=True)
class Toy:
    """A task that has nothing to do with tours."""

    key: int

    @property
    def label(self):
        return f"toy {self.key}"


class ScriptedWorker:
    """Says Ready when hired, and for each task what its node's script has next."""

    def __init__(self, pool, node):
        self.pool, self.node, self.ended, self.given = pool, node, False, []
        self.says = [pool.on_hire(node)]

    def give(self, task):
        assert not self.ended
        self.given.append(task)
        self.says.append(self.pool.on_task(self, task))

    def end(self):
        self.ended = True


class ScriptedPool:
    """Nodes with so many slots each. `on_hire` and `on_task` are the script; an outcome of None is silence."""

    def __init__(self, nodes, on_task, on_hire=lambda node: Ready()):
        self.nodes, self.on_task, self.on_hire = dict(nodes), on_task, on_hire
        self.hired, self.left_out = [], []
        self.slots = sum(self.nodes.values())

    def hire(self, work, hired):
        taken = Counter(worker.node for worker in hired)
        for node, slots in self.nodes.items():
            if taken[node] < slots:
                self.hired.append(ScriptedWorker(self, node))
                return self.hired[-1]
        return None

    def wait(self, workers, seconds):
        heard = [(worker, worker.says.pop(0)) for worker in workers if worker.says]
        if not heard:
            time.sleep(0.001)  # as a real pool waits, or a test of patience would keep a core busy
        return [(worker, outcome) for worker, outcome in heard if outcome is not None]

    def leave_out(self, node, for_good):
        self.left_out.append((node, for_good))
        self.nodes.pop(node, None)
        return bool(self.nodes)

    def close(self): ...


def toys(count):
    return deque(map(Toy, range(count)))


def run(pool, queue, patience=PATIENCE):
    return list(Supervisor(pool, patience).run(lambda task: None, queue, lambda: False))


def done(worker, task):
    return Done(("result of", task.key))


def finished(events):
    return sorted(event.task.key for event in events if isinstance(event, Finished))


def test_every_task_is_done_once_and_says_where():
    events = run(ScriptedPool({"a": 2, "b": 1}, done), toys(10))
    assert finished(events) == list(range(10))
    assert {event.node for event in events if isinstance(event, Finished)} <= {"a", "b"}


def test_a_task_that_kills_three_workers_is_quarantined():
    def deadly(worker, task):
        return Died("its process ended") if task.key == 1 else done(worker, task)

    events = run(ScriptedPool({"a": 2}, deadly), toys(3))
    assert [type(event) for event in events if isinstance(event, Lost | Quarantined)] == [Lost, Lost, Quarantined]
    assert finished(events) == [0, 2]


def test_idle_workers_of_a_lost_node_get_no_task_and_the_task_is_not_blamed():
    """The last task is at work on node a, beside idle workers; the node is lost, and node b has just joined."""
    pool = ScriptedPool({"a": 4}, done)

    def lose_the_last(worker, task):
        if worker.node == "a" and task.key == 9:
            pool.nodes = {"b": 1}
            return Died("out of reach", with_node=True)
        return done(worker, task)

    pool.on_task = lose_the_last
    queue, last = toys(4), [Toy(9)]
    events = []
    for event in Supervisor(pool).run(lambda task: None, queue, lambda: False):
        events.append(event)
        if len(finished(events)) == 4 and last:
            queue.append(last.pop())
    assert 9 in finished(events)
    assert not [event for event in events if isinstance(event, Quarantined)]
    assert [event.node for event in events if isinstance(event, Finished) and event.task.key == 9] == ["b"]
    assert all(worker.ended for worker in pool.hired)


def test_a_task_that_is_lost_with_ten_nodes_is_quarantined_in_the_end():
    events = run(ScriptedPool({"a": 1}, lambda worker, task: Died("out of reach", with_node=True)), toys(1))
    assert len([event for event in events if isinstance(event, Lost)]) == MAX_LOSSES - 1
    assert isinstance(events[-1], Quarantined)


def test_a_node_that_is_unfit_is_left_out_for_good_and_the_only_one_ends_the_run():
    def on_hire(node):
        return Unfit(BadRequest(f"node {node} lacks all")) if node == "a" else Ready()

    pool = ScriptedPool({"a": 2, "b": 1}, done, on_hire)
    events = run(pool, toys(5))
    assert [event for event in events if isinstance(event, LeftOut)] == [LeftOut("a", "node a lacks all")]
    assert pool.left_out == [("a", True)]
    assert finished(events) == list(range(5))
    with pytest.raises(BadRequest, match="node a lacks all"):
        run(ScriptedPool({"a": 2}, done, on_hire), toys(5))


def test_a_node_that_cannot_write_is_left_out_for_a_while_and_its_tasks_are_not_blamed():
    def full_disk(worker, task):
        return Failed("full", fatal=Stopped("disk full")) if worker.node == "a" else done(worker, task)

    pool = ScriptedPool({"a": 2, "b": 1}, full_disk)
    events = run(pool, toys(6))
    assert pool.left_out == [("a", False)]
    assert finished(events) == list(range(6))
    with pytest.raises(Stopped, match="disk full"):
        run(ScriptedPool({"a": 2}, full_disk), toys(6))


def test_damage_ends_the_run_wherever_it_is_found():
    with pytest.raises(Damaged, match="written twice"):
        run(ScriptedPool({"a": 1, "b": 1}, lambda *_: Failed("x", fatal=Damaged("written twice"))), toys(2))


def test_workers_that_die_while_they_start_leave_their_node_out():
    def on_hire(node):
        return Died("no such module") if node == "a" else Ready()

    pool = ScriptedPool({"a": 1, "b": 1}, done, on_hire)
    events = run(pool, toys(20))
    assert finished(events) == list(range(20))
    assert all(node == "a" for node, _ in pool.left_out)


def test_waiting_for_a_worker_is_said_and_ends():
    pool = ScriptedPool({"a": 1}, done, on_hire=lambda node: None)  # its actor is never scheduled
    patience = Patience(start=0.05, alone=0.5, report=0.05)
    events = Supervisor(pool, patience).run(lambda task: None, toys(1), lambda: False)
    assert isinstance(next(events), Waiting)
    with pytest.raises(Stopped, match="no node has a free CPU"):
        list(events)


def test_a_slow_starter_is_not_counted_on():
    """A slot whose worker never gets ready does not keep the last task from a free slot elsewhere."""
    pool = ScriptedPool({"a": 1, "b": 1}, done, on_hire=lambda node: None if node == "a" else Ready())
    assert finished(run(pool, toys(1), Patience(start=0.05))) == [0]
