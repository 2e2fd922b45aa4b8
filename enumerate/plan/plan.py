"""Config to jobs, purely: which start squares are searched, in which prefixes, and which of them are hopeless."""

from __future__ import annotations

from ..model.board import Board
from ..model.config import SEARCH_SQUARES, Config
from ..model.errors import BadRequest
from ..model.jobs import Cursor, Job
from ..model.theorems import why_no_closed_tour, why_no_tour, why_no_tour_from
from .starts import choose_beginnings


def make_plan(config: Config) -> tuple[Job, ...]:
    """All jobs of a run, one for each start square or prefix, in the order of their squares.

    Refuses boards without tours.
    """
    config = config.settled
    refuse_impossible(config.board, config.variant)
    refuse_unsuitable(config)
    beginnings = list(choose_beginnings(config).items())
    hopeless = [why_no_tour_from(config.board, prefix[0], config.variant) for prefix, _ in beginnings]
    prefixes = split_hopeful(config, [prefix for prefix, _ in beginnings], hopeless)
    jobs = (
        (prefix, multiplicity, reason, nth, len(group))
        for (_, multiplicity), reason, group in zip(beginnings, hopeless, prefixes, strict=True)
        for nth, prefix in enumerate(group)
    )
    return tuple(Job(number, *values) for number, values in enumerate(jobs))


def split_hopeful(config: Config, prefixes: list[Cursor], hopeless: list[str | None]) -> list[list[Cursor]]:
    """The prefixes of each job that a beginning is split into; those without a tour are left as they are."""
    groups = [[prefix] for prefix in prefixes]
    chosen = [i for i, reason in enumerate(hopeless) if reason is None and len(prefixes[i]) < config.board.length - 1]
    if config.split != 1 and config.is_depth_first and chosen:
        from .splitting import split  # noqa: PLC0415  # numba is slow to import, and a plan is often needed at once

        for i, group in zip(chosen, split(config, [prefixes[i] for i in chosen]), strict=True):
            groups[i] = group
    return groups


def refuse_impossible(board: Board, variant: str) -> None:
    reason = why_no_tour(board)
    if reason:
        other = "a larger board, such as 5x5" if board.missing is None else "another board, such as 7x7"
        raise BadRequest(f"{reason}: {board}; use {other}")
    reason = why_no_closed_tour(board) if variant == "closed" else None
    if reason:
        even = "" if board.squares % 2 == 0 else " or an even board"
        raise BadRequest(f"{reason}: {board}; use --variant open{even}")


def refuse_unsuitable(config: Config) -> None:
    """What the strategy cannot do, though others can."""
    board, strategy = config.board, config.strategy
    if strategy == "divide":
        if min(board.rows, board.cols) < 5:
            raise BadRequest(f"divide needs both sides to be at least 5: {board}; use --strategy warnsdorff")
        if board.missing is not None and config.variant != "closed":
            raise BadRequest("divide makes closed tours of a board without a corner; use --variant closed")
        tours = 2 if config.variant == "both" and board.length % 2 == 0 else 1
        if 0 < config.max < tours * board.length:
            needed = f"{tours * board.length:,} squares"
            raise BadRequest(f"divide places all {needed}: --max {config.max} is too few; leave it out")
    elif board.squares > SEARCH_SQUARES:
        raise BadRequest(
            f"{strategy} takes boards of at most {SEARCH_SQUARES:,} squares (512x512): {board}; use --strategy divide"
        )
    if 0 < config.max < config.split:
        raise BadRequest(f"--max {config.max} cannot be divided among --split {config.split} prefixes; ask for more")
    if config.draws and not config.max and (not config.tours or config.only):
        limit = "--max" if config.only else "--max or --tours"
        raise BadRequest(f"greedy with random ties never ends by itself: give {limit}")
    if strategy == "greedy" and config.ties != "random" and config.failures != 5:
        raise BadRequest(f"--ties {config.ties} knows one way only: --failures is for --ties random")
    if strategy == "greedy" and config.ties == "squirrel" and board.rows != board.cols:
        raise BadRequest(f"the orderings of --ties squirrel are for square boards: {board}; use --ties roth")
