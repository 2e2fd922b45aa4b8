"""A run as one HTML file that opens from disk: styles, scripts and pictures are inside, and its policy lets it load
nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from ...ledger.layout import is_of_start
from ...ledger.records import JobProgress
from ...model.board import Board
from ..chart import Axis, family_svg
from .explorer import NUMBERED_SQUARES, PLAYER_SQUARES, described, gallery_item, heat_map, player
from .filters import Found, Selection
from .live_run import LiveRun, Snapshot
from .pages import MEASURES, STATIC, SYMMETRIC, TEMPLATES, Query

Item = TypeVar("Item")

GALLERY_TOURS = 12
GALLERY_BYTES = 600_000  # of about two million for the whole page
TWO_MAPS_SQUARES = 400
TABLE_ROWS = 100
CHART_POINTS = 100
READ_TOURS = 30_000_000  # of larger runs the chart shows only the sums in the records


def report_of(output: str) -> tuple[str, str]:
    run = LiveRun(output)
    return run.name, run.look(report_html)


def report_html(now: Snapshot) -> str:
    style, script = (STATIC / "style.css").read_text(encoding="utf-8"), bundle("board.js", "player.js")
    chosen = gallery(now)
    board = now.run.board
    return TEMPLATES.get_template("report.html").render(
        **described(now, TABLE_ROWS),
        policy=policy(style, script),
        style=Markup(style),
        script=Markup(script),
        maps=maps(now),
        growth=Markup(growth_svg(now)),
        items=[gallery_item(board, found) for found in chosen],
        player=player(board, chosen[0]) if chosen else None,
    )


def maps(now: Snapshot) -> list[tuple[str, Markup]]:
    """Heat maps with their titles; large boards have one or none."""
    shown = ("tours", "first") if now.run.board.squares <= TWO_MAPS_SQUARES else ("tours",)
    return [(MEASURES[by], picture) for by in shown if (picture := heat_map(now, Query(by=by)))]


def growth_svg(snapshot: Snapshot) -> str:
    """Tours over iterations: a line for each start square (or job, if they are split), and their mean."""
    jobs = snapshot.jobs
    most = max((job.total.iterations for job in jobs), default=0)
    grid = np.unique(np.linspace(0, max(most, 1), CHART_POINTS + 1).astype(np.int64))
    tours_at = _from_parts if snapshot.run.config.write and snapshot.tours <= READ_TOURS else _from_records
    tours = [tours_at(snapshot, job, grid).tolist() for job in jobs]
    is_each_start = all(job.job.prefix for job in jobs) and len({job.job.start for job in jobs}) == len(jobs)
    thing = "start square" if is_each_start else "job"
    title, x, y = f"Tours of {snapshot.run.board} over iterations", Axis(f"iterations of a {thing}"), Axis("tours")
    return family_svg(title, grid.tolist(), tours, f"each {thing}", f"mean of all {thing}s", x, y)


def _from_parts(snapshot: Snapshot, job: JobProgress, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """The number of tours found from a start square after each number of iterations."""
    start = job.job.start_name(snapshot.run.board)  # and not its images
    parts = (part for result in snapshot.run.records(job) for part in result.tour_parts)
    iterations = (snapshot.run.iterations(part) for part in parts if is_of_start(part.name, start))
    counts = [np.searchsorted(at, grid, side="right") for at in iterations]
    return np.sum(counts, axis=0, dtype=np.float64) if counts else np.zeros(len(grid))


def _from_records(snapshot: Snapshot, job: JobProgress, grid: NDArray[np.int64]) -> NDArray[np.float64]:
    """The same from the sums at the end of each slice, with straight lines between them."""
    totals = [result.total for result in snapshot.run.records(job)]
    squares = job.job.multiplicity if snapshot.run.config.expand else 1
    at = [0, *(total.iterations for total in totals)]
    return np.asarray(np.interp(grid, at, [0, *(total.tours / squares for total in totals)]), dtype=np.float64)


def gallery(now: Snapshot) -> list[Found]:
    """Various tours: symmetric ones, and others from squares all over the board, found early and late."""
    room = gallery_room(now.run.board)
    found = Selection(now, Query(symmetry=SYMMETRIC)).page(0, room // 4)
    with_tours = [row["start"] for row in now.rows if row["tours_open"] + row["tours_closed"]]
    starts = with_tours if now.has_starts else [""]
    picked = spread(starts, room - len(found))
    rounds = -(-(room - len(found)) // max(1, len(picked)))
    for start in picked:
        selection = Selection(now, Query(start))
        for number in spread(range(len(selection)), rounds):
            found += selection.page(number, 1)
    return list({tuple(one.squares): one for one in found[:room]}.values())


def gallery_room(board: Board) -> int:
    """How many pictures fit into the page."""
    if board.squares > PLAYER_SQUARES:
        return 0
    size = board.squares * (190 if board.squares <= NUMBERED_SQUARES else 40)  # bytes of a picture, about
    return max(1, min(GALLERY_TOURS, GALLERY_BYTES // size))


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """At most `count` of the items, evenly spread."""
    count = min(count, len(items))
    return [items[index * len(items) // count] for index in range(count)]


def bundle(*names: str) -> str:
    """Scripts of the site as one, because a page from disk may not import modules."""
    texts = [(STATIC / name).read_text(encoding="utf-8") for name in names]
    return "\n".join(re.sub(r"^import .*?;\n|^export (?=\w)", "", text, flags=re.MULTILINE) for text in texts)


def policy(style: str, script: str) -> str:
    """Nothing but the page's own style and script, by their hashes."""
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    own = "script-src 'sha256-{}'; style-src 'sha256-{}'".format(*digests)
    return f"default-src 'none'; {own}; img-src data:; base-uri 'none'; form-action 'none'"
