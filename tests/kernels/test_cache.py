"""Machine code is kept under a hash of the sources that it was made of, and nodes compare theirs by such a hash.
What is kept may be harmed or missing: that is no more than a delay.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from enumerate.kernels.cache import cache_folder, hash_of

from ..support.commands import ROOT, command, environment_with

HASHES = """
from pathlib import Path
from enumerate.kernels import cache

def show():
    cache.search_hash.cache_clear()
    print(cache.cache_folder().name, cache.search_hash())

show()
for room in ("kernels", "search"):
    path = Path(cache.__file__).parents[1] / room / "depth_first.py"
    path.write_text(path.read_text() + "# changed")
    show()
"""


def test_a_changed_kernel_changes_both_hashes_and_a_changed_search_that_of_the_searches(tmp_path):
    shutil.copytree(ROOT / "enumerate", tmp_path / "enumerate")
    environment = environment_with({"PYTHONPATH": str(tmp_path)})
    done = subprocess.run(
        [sys.executable, "-c", HASHES], cwd=tmp_path, env=environment, text=True, capture_output=True, check=True
    )
    before, other_kernel, other_search = (line.split() for line in done.stdout.splitlines())
    assert before[0] != other_kernel[0] == other_search[0]
    assert len({before[1], other_kernel[1], other_search[1]}) == 3


def test_a_folder_without_sources_is_an_error_and_not_a_hash(tmp_path):
    with pytest.raises(FileNotFoundError, match="no sources to hash"):
        hash_of(tmp_path)
    with pytest.raises(FileNotFoundError, match="no sources to hash"):
        hash_of(ROOT / "enumerate" / "kernels", tmp_path / "moved away")


# ---------------------------------------------------------------------------------------------------------------------
# What is kept, harmed. One small function shows it; whole kernels, which take seconds to compile, are slow tests.

LOAD = """
import numpy as np
from enumerate.kernels.cache import load_kernel

def first_moves(kernel):
    tour = np.empty(3, dtype="<u4")
    kernel.walk(np.ones(16, dtype=np.uint8), np.array([2, 1] + 6 * [0], dtype=np.uint64), 0, tour)
    return tour

print(*first_moves(load_kernel("divide", ("walk",), 4, first_moves)))
"""


def loaded(base):
    """What a new process prints that keeps its machine code below `base`."""
    environment = environment_with({"XDG_CACHE_HOME": str(base)})
    done = subprocess.run([sys.executable, "-c", LOAD], env=environment, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def kept(base):
    return {path: path.read_bytes() for path in base.rglob("*") if path.suffix in (".nbi", ".nbc")}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    base = tmp_path_factory.mktemp("compiled")
    return base, loaded(base)


@pytest.fixture
def copied(compiled, tmp_path):
    """Machine code to do harm to, and what it prints."""
    shutil.copytree(compiled[0], tmp_path / "cache")
    return tmp_path / "cache", compiled[1]


def test_what_is_kept_is_used_and_not_made_again(copied):
    base, printed = copied
    before = kept(base)
    assert before
    assert loaded(base) == printed
    assert kept(base) == before


@pytest.mark.parametrize("harm", [lambda data: data[:100], lambda data: b"garbage" * 50], ids=["truncated", "garbage"])
def test_harmed_machine_code_is_made_again(copied, harm):
    base, printed = copied
    before = kept(base)
    for path, data in before.items():
        path.write_bytes(harm(data))
    assert loaded(base) == printed
    assert {path: len(data) for path, data in kept(base).items()} == {path: len(data) for path, data in before.items()}


def test_with_a_file_in_the_place_of_its_folder_the_kernel_still_runs(copied):
    base, printed = copied
    folder = next(base.rglob(cache_folder().name))
    shutil.rmtree(folder)
    folder.write_text("in the way")
    assert loaded(base) == printed


def test_without_a_writable_folder_the_kernel_still_runs(compiled, tmp_path):
    (tmp_path / "no folder").write_text("")
    assert loaded(tmp_path / "no folder") == compiled[1]


WORDS = ("--executor", "serial", "--quiet", "--fresh", "--start", "a1", "--max", 500, "--size")
KERNELS = ((5,), (5, "--h-prob", 0.5), (5, "--strategy", "backtrack"), (9,), (17, "--strategy", "greedy"))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_what_one_command_has_compiled_the_next_one_finds(tmp_path, kernel):
    """A kernel that numba does not know again, such as one that closes over another, is compiled at every start."""
    compiled = []
    for _ in range(2):
        done = command(*WORDS, *kernel, cwd=tmp_path, environment={"XDG_CACHE_HOME": str(tmp_path / "cache")})
        assert (done.returncode, done.stderr) == (0, "")
        compiled.append(kept(tmp_path / "cache"))
    assert compiled[0]
    assert compiled[1] == compiled[0]


@pytest.mark.slow
def test_a_command_whose_machine_code_is_harmed_takes_longer_and_says_nothing(tmp_path):
    for _ in range(2):
        done = command(*WORDS, 5, cwd=tmp_path, environment={"XDG_CACHE_HOME": str(tmp_path / "cache")})
        assert (done.returncode, done.stderr) == (0, "")
        for path, data in kept(tmp_path / "cache").items():
            path.write_bytes(data[:100])
