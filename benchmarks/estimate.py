"""How close estimates of the number of tours come, and how often their intervals hold the truth.

    ./run.sh bench estimate            about eight minutes on two cores
    ./run.sh bench estimate --quick    a tenth of that

Each line shows what is measured, the figure, and the least it should be. Nothing else should run on the machine. The
truth is published: OEIS A165134 (paths), A001230, A175881 and A193054 (closed tours).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.speed import line  # noqa: E402
from enumerate.model.board import parse_size  # noqa: E402
from enumerate.model.config import Config  # noqa: E402
from enumerate.model.jobs import Cursor  # noqa: E402
from enumerate.plan.sizes import sizes_of  # noqa: E402
from enumerate.studies.estimate import Goal, estimate  # noqa: E402

DIRECTED = {
    ("8", "open"): 2 * 8_946_802_763_215_904,
    ("8", "closed"): 2 * 13_267_364_410_532,
    ("8", "both"): 19_591_828_170_979_904,
    ("7x8", "closed"): 2 * 34_524_432_316,
    ("6x8", "closed"): 2 * 55_488_142,
    ("6x7", "both"): 779_938_932,
    ("6", "both"): 6_637_920,
    ("6", "closed"): 2 * 9_862,
}


def config_of(size: str, variant: str, seed: int = 0, executor: str = "processes") -> Config:
    return Config(board=parse_size(size), variant=variant, seed=seed, workers=2, executor=executor)


def precision(size: str, variant: str, seconds: float) -> None:
    """One long estimate: its interval, and where in it the truth is."""
    found = estimate(config_of(size, variant), Goal(seconds=seconds))
    line(f"{variant} tours on {size}, error after {found.seconds:.0f} s", f"{found.error:.3%}", "5 % after 120 s")
    truth = DIRECTED.get((size, variant))
    if truth:
        miss = (found.tours - truth) / found.half_width
        line("  truth is off, in half intervals", f"{miss:+.2f}", "within 1, 19 times of 20")
    line("  largest share of one descent", f"{found.largest_share:.3%}", "below 2 %")
    line("  descents a second", f"{found.descents / found.seconds:,.0f}", "")


def coverage(size: str, variant: str, seeds: int, descents: int) -> None:
    """How many intervals of different seeds hold the truth."""
    truth = DIRECTED[size, variant]
    found = [estimate(config_of(size, variant, seed, "serial"), Goal(descents=descents)) for seed in range(seeds)]
    held = sum(abs(one.tours - truth) <= one.half_width for one in found)
    mean = np.mean([one.tours for one in found]) / truth - 1
    error = np.mean([one.error for one in found])
    line(f"{variant} tours on {size}, intervals that hold the truth", f"{held} of {seeds}", f"{0.85 * seeds:.0f}")
    line(f"  mean of all, and mean interval (±) at {found[0].descents:,} descents", f"{mean:+.3%} ± {error:.2%}", "")


def sizes() -> None:
    """The estimated sizes of many prefixes of 8x8."""
    config = Config()
    prefixes: list[Cursor] = [(start,) for start in range(64)]
    for _ in range(3):
        prefixes = [(*path, other) for path in prefixes for other in config.board.neighbours[path[-1]]
                    if other not in path]  # fmt: skip
    sizes_of(config, prefixes[:1])
    began = time.perf_counter()
    _, tours = sizes_of(config, prefixes)
    seconds = time.perf_counter() - began
    line(f"sizes of {len(prefixes):,} prefixes of 8x8, 32 descents each", f"{seconds:.2f} s", "4 s")
    line("  sum of their tours, as a share of the truth", f"{tours.sum() / DIRECTED['8', 'open']:.3f}", "1")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    share = 0.1 if parser.parse_args().quick else 1.0
    sizes()
    precision("8", "open", 120 * share)
    precision("8", "closed", 120 * share)
    precision("10", "open", 60 * share)
    for size, variant in (("6", "both"), ("6", "closed"), ("6x7", "both"), ("6x8", "closed"), ("8", "closed")):
        coverage(size, variant, 40, round(600_000 * max(share, 0.5)))


if __name__ == "__main__":
    main()
