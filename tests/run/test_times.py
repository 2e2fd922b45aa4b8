"""Times of tours are never the same twice: late and lost workers leave other ones, and the record says which count."""

from __future__ import annotations

import shutil

import pytest

from enumerate.catalog.reader import Run
from enumerate.catalog.verify import verify
from enumerate.model.config import Config
from enumerate.plan.plan import make_plan
from enumerate.run import worker as work
from enumerate.run.opening import held, opened
from enumerate.run.worker import run_slice
from enumerate.search.strategy import resolve

from ..support.runs import run_serially


def greedy(place, **values) -> Config:
    return resolve(
        {"size": 8, "strategy": "greedy", "variant": "both", "start": "a1", "tours": 50, "executor": "serial",
         "output": str(place), **values}
    )  # fmt: skip


def times_of(place):
    return sorted(place.glob("times/*/*.parquet"))


def first_slice(config):
    """The first slice of a run whose coordinator is then lost, and its epoch."""
    with held(config, fresh=False) as held_:
        run_ = opened(held_, make_plan(config), fresh=False, check="sums", notice=print)
        return run_.progress[0].next_slice(config), run_.begin_epoch(config)


def test_a_record_that_comes_late_counts_and_the_times_of_the_other_worker_are_removed(tmp_path, monkeypatch):
    """A worker is held up before its record, and another coordinator goes on; then both records come, its own first."""
    config = greedy(tmp_path / "run")
    slice_, epoch = first_slice(config)
    commit, late = work.commit, []

    def held_up(storage, result):
        def after_the_late_one(other_storage, other_result):
            late.append(commit(storage, result))
            return commit(other_storage, other_result)

        monkeypatch.setattr(work, "commit", after_the_late_one)
        run_serially(config)
        return late[0]

    monkeypatch.setattr(work, "commit", held_up)
    run_slice(config, epoch, slice_)
    monkeypatch.setattr(work, "commit", commit)
    assert run_serially(config).complete
    assert [path.name for path in times_of(tmp_path / "run")] == [late[0].parts[-1].name.rsplit("/")[-1]]
    assert verify(Run(tmp_path / "run")).damage == []


def test_times_that_a_lost_worker_left_behind_are_removed_when_the_run_is_continued(tmp_path):
    place = tmp_path / "run"
    run_serially(greedy(place, **{"slice-tours": 10}))
    before = times_of(place)
    for path in (before[0], before[-1]):
        shutil.copy(path, path.with_name(f"{path.stem[:-16]}{'0' * 16}.parquet"))
    assert len(verify(Run(place)).damage) == 2
    run_serially(greedy(place, **{"slice-tours": 10, "tours": 60}))
    assert set(before[:-1]) < set(times_of(place))
    assert not list(place.glob("times/*/*-0000000000000000.parquet"))
    assert verify(Run(place)).damage == []


@pytest.mark.parametrize("how", ["removed", "harmed", "exchanged"])
def test_damage_to_times_is_found(tmp_path, how):
    place = tmp_path / "run"
    run_serially(greedy(place, **{"slice-tours": 10}))
    one, other = times_of(place)[:2]
    if how == "removed":
        one.unlink()
    elif how == "harmed":
        data = bytearray(one.read_bytes())
        data[40] ^= 1
        one.write_bytes(data)
    else:
        one.write_bytes(other.read_bytes())
    damage = verify(Run(place)).damage
    assert damage
    assert all(one.name in line for line in damage)
