"""The flags that make a config, and the kinds of parameters that commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

from cyclopts import Parameter, Token

from ..model.config import Config
from ..model.values import read_toml


def whole(_type: object, tokens: Sequence[Token]) -> int:
    """A whole number; cyclopts alone would round 0.4 to 0, which means no limit."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"expected a whole number, not {tokens[0].value!r}") from None


Whole = Annotated[int, Parameter(converter=whole)]
MaybeWhole = Annotated[int | None, Parameter(converter=whole)]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
Json = Annotated[Flag, Parameter(name="--json")]
Output = Annotated[str, Parameter(help="The folder of the run, or its address.")]


@Parameter(name="*", negative_bool=())
@dataclass(frozen=True)
class Request:
    """The flags that make a config. None means not given: the config file decides, then the default."""

    variant: str | None = None
    "Which tours: open, closed or both. [default: open]"
    size: str | None = None
    "The board: 8 is 8x8, 5x6 has 5 rows and 6 columns. [default: 8]"
    strategy: str | None = None
    "How to search: warnsdorff (backtracking, fewest onward moves first), backtrack (in a fixed order of moves), greedy (Warnsdorff's rule, never back) or divide (joins small tours to a large one). [default: warnsdorff]"  # noqa: E501
    max: MaybeWhole = None
    "Iterations (placements of the knight) for each start square; 0 means no limit. [default: 500000; divide: 0]"
    tours: MaybeWhole = None
    "Tours for each start square; 0 means no limit. --max still holds. [default: 0]"
    only: str | None = None
    "Keep only tours of this kind: structured (with the two moves next to each corner) or symmetric. [default: all]"
    write: Annotated[bool | None, Parameter(negative="--no-write")] = None
    "Write the tours, or only count them. [default: --write]"
    start: str | None = None
    "Start squares: all, classes (one per symmetry class), once (closed tours: from one corner in one direction, each tour once), random:N, or names such as a1,d4. [default: all; divide: a1]"  # noqa: E501
    missing_corner: bool | None = None
    "The board lacks its last corner: odd boards have closed tours then."
    prune: Annotated[bool | None, Parameter(negative="--no-prune")] = None
    "Skip paths that cannot become a tour: more tours in the same iterations, and none lost. [default: --prune; backtrack: --no-prune]"  # noqa: E501
    h_prob: float | None = None
    "Probability of the strategy's order at each square; otherwise the order is shuffled. [default: 1]"
    move_order: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    "backtrack: the eight moves as row,column. [default: '2,1 1,2 -1,2 -2,1 -2,-1 -1,-2 1,-2 2,-1']"
    ties: str | None = None
    "greedy: who is taken of squares with as few onward moves: random, index (lowest square), pohl (second-level degree), roth (farthest from the centre) or squirrel (Squirrel's and Cull's orderings). [default: random]"  # noqa: E501
    failures: MaybeWhole = None
    "greedy: dead ends before a tour is given up; it counts as one of --tours. [default: 5]"
    split: str | None = None
    "Jobs for each start square, each with another beginning: a number, or auto, as many as it takes that none is too large if there is no limit, else one. A budget is divided among them, and finds tours that differ more. [default: auto]"  # noqa: E501
    expand: bool | None = None
    "With --start classes: write the images of each tour under the symmetries of the board too, so that none is missing."  # noqa: E501
    seed: MaybeWhole = None
    "Seed of shuffled orders, random ties and random start squares. [default: 0]"
    output: str | None = None
    "Folder of the run, or an address: s3://bucket/run. [default: output/ and a name that follows from the search]"
    address: str | None = None
    "Work on a Ray cluster: auto (the one this machine is part of), host:port, or local (one of its own, here)."
    workers: MaybeWhole = None
    "Workers; 0 means one for each core of the machine or the cluster. [default: 0]"
    executor: str | None = None
    "processes, or serial: everything in this process, for debugging. [default: processes]"
    slice_iterations: MaybeWhole = None
    "Iterations in a slice, the unit of work that is written and recorded. [default: 10000000]"
    slice_tours: MaybeWhole = None
    "Tours in a slice. [default: 524288, fewer on large boards]"
    config: str | None = None
    "A TOML file with any of these keys; flags beat it."

    def resolve(self) -> Config:
        """File and flags as one checked config."""
        given = {key.replace("_", "-"): value for key, value in asdict(self).items() if value is not None}
        path = given.pop("config", None)
        return Config.from_values({**(read_toml(path) if path else {}), **given})
