"""The library's front door: what other programs, scripts and notebooks import.

>>> from enumerate.api import Run, search
>>> run = search(size="5x6", variant="closed", start="a1", max=0, progress=False)
>>> run
Run('output/closed-5x6-a1'): 16 closed tours on 5x6
>>> for batch in run:
...     print(batch.squares.shape, batch.iteration[:3])
(16, 30) [734 744 914]

The package has the name of a builtin: import from its modules, as here. `import enumerate` would hide the builtin.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from operator import index
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .catalog.reader import Run as _Run
from .catalog.verify import Verdict
from .catalog.verify import verify as _verify
from .ledger.layout import start_of
from .ledger.parts import tours_schema
from .model.board import Board
from .model.errors import BadRequest, Damaged
from .model.jobs import Part
from .model.numbers import counted, short
from .model.tour import SYMMETRIES, Tours, are_closed
from .model.values import one_of, parse_bytes
from .run.coordinator import run as _run
from .search.strategy import resolve
from .view.picture import shade_of, tour_png, tour_svg
from .view.progress import observer

_MAP_COLUMNS = 20
_SHOWN_NAMES = 8
_Squares = NDArray[np.integer]


class TourBatch(NamedTuple):
    """Some tours of one variant: a row of `squares` for each tour, a column for each move."""

    variant: str
    squares: Tours
    iteration: NDArray[np.int64]
    structured: NDArray[np.bool_]
    symmetry: NDArray[np.str_]


class Tour:
    """One tour, with a picture in a notebook.

    >>> tour = search(size="5x6", variant="closed", start="a1", max=0, progress=False)[0]
    >>> tour
    Tour('a1 c2 e1 f3 e5 d3 f4 d5 …'), closed, on 5x6
    >>> tour.squares[:4].tolist(), tour.names[:4]
    ([0, 8, 4, 17], ['a1', 'c2', 'e1', 'f3'])
    >>> tour.svg()[:4], tour.png()[1:4]
    ('<svg', b'PNG')
    """

    def __init__(self, board: Board, squares: Tours) -> None:
        self.board, self.squares = board, squares

    @property
    def names(self) -> list[str]:
        """The names of its squares, in the order of the visit."""
        return list(map(self.board.name, self.squares.tolist()))

    @property
    def is_closed(self) -> bool:
        """Whether its last square is a knight's move from its first."""
        return bool(are_closed(self.board, self.squares[None, :])[0])

    def svg(self) -> str:
        """Its picture as an SVG document."""
        return tour_svg(self.board, self.squares.tolist(), self.is_closed)

    def png(self) -> bytes:
        """The same as a PNG."""
        return tour_png(self.board, self.squares.tolist(), self.is_closed)

    def __len__(self) -> int:
        return len(self.squares)

    def __repr__(self) -> str:
        rest = " …" if len(self) > _SHOWN_NAMES else ""
        kind = "closed" if self.is_closed else "open"
        return f"Tour({' '.join(self.names[:_SHOWN_NAMES]) + rest!r}), {kind}, on {self.board}"

    def _repr_svg_(self) -> str:
        return self.svg()


class Run(_Run):
    """A run in its folder or object store, finished or not.

    >>> run = search(size="5x6", variant="closed", start="a1,b1", max=0, progress=False)
    >>> len(run)
    32
    >>> run[0]
    Tour('a1 c2 e1 f3 e5 d3 f4 d5 …'), closed, on 5x6
    >>> run.totals()["iterations"]
    14456
    """

    def __len__(self) -> int:
        """The tours that it has found so far."""
        totals = self.totals()
        return int(totals["tours_open"] + totals["tours_closed"])

    @overload
    def __getitem__(self, number: int) -> Tour: ...
    @overload
    def __getitem__(self, number: slice) -> list[Tour]: ...
    def __getitem__(self, number: int | slice) -> Tour | list[Tour]:
        """A tour, counted from 0, or a list of some."""
        count = len(self)
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(count))]
        number = index(number)
        if not -count <= number < count:
            raise IndexError(f"this run has {counted(count, 'tour')}, got {number}")
        return self.tour(number % count + 1)

    def tour(self, number: int, start: str | None = None, variant: str | None = None) -> Tour:
        """A tour, counted from 1 as `show --number` does, of all tours or of those from a square or of a variant.

        >>> run = search(size="5x6", variant="closed", start="a1,b1", max=0, progress=False)
        >>> run.tour(1, start="b1")
        Tour('b1 a3 b5 d4 f5 e3 f1 d2 …'), closed, on 5x6
        """
        return Tour(self.board, self.squares(index(number), start, variant))

    def __iter__(self) -> Iterator[TourBatch]:
        """All tours, batch by batch: memory holds only one."""
        for part in self.parts():
            for batch in self.read_part(part):
                names = np.array(SYMMETRIES)[batch.symmetry]
                yield TourBatch(part.holds, batch.tours, batch.iterations, batch.structured, names)

    def to_arrow(
        self,
        filter: pc.Expression | None = None,  # noqa: A002  # as pyarrow calls it
        start: str | None = None,
        variant: str | None = None,
    ) -> pa.Table:
        """The tours as an Arrow table, with `variant` and `start` as columns; Polars, pandas and DuckDB take it.

        Parts are read and filtered one after the other, so memory holds one part and what is left.

        >>> import pyarrow.compute as pc
        >>> run = search(size="5x6", variant="closed", start="a1,b1", max=0, progress=False)
        >>> table = run.to_arrow(filter=pc.field("iteration") < 800)
        >>> table.column_names
        ['tour', 'iteration', 'structured', 'symmetry', 'variant', 'start']
        >>> table.group_by("start").aggregate([([], "count_all")]).to_pylist()
        [{'start': 'a1', 'count_all': 2}, {'start': 'b1', 'count_all': 4}]
        """
        parts = [*self.parts(start, variant)]
        tables = (self._table(part) for part in parts) if parts else [self._no_tours()]
        found = pa.concat_tables(table if filter is None else table.filter(filter) for table in tables)
        return found.unify_dictionaries()

    def algebraic(self, squares: _Squares | Sequence[int]) -> NDArray[np.str_]:
        """The names of squares, in an array of the same shape.

        >>> run = search(size="5x6", variant="closed", start="a1", max=0, progress=False)
        >>> [run.algebraic(batch.squares)[0, :4].tolist() for batch in run]
        [['a1', 'c2', 'e1', 'f3']]
        """
        names = np.array(list(map(self.board.name, range(self.board.squares))))
        return np.asarray(names[np.asarray(squares)])

    def __repr__(self) -> str:
        return f"Run({self.storage.output!r}): {self._title()}"

    def _title(self) -> str:
        kind = "" if len(self.config.variants) > 1 else f"{self.config.variant} "
        rest = "" if self.is_complete else ", unfinished"
        return f"{counted(len(self), f'{kind}tour')} on {self.board}{rest}"

    def _repr_html_(self) -> str:
        totals = self.totals()
        rows = "".join(
            f'<tr><td style="text-align:left">{name}</td><td>{value:,}</td></tr>'
            for name, value in (
                ("open tours", totals["tours_open"]),
                ("closed tours", totals["tours_closed"]),
                ("structured", totals["structured"]),
                ("iterations", totals["iterations"]),
                ("bytes", totals["bytes"]),
            )
            if value
        )
        head = f"<p><b>{escape(self._title())}</b> in <code>{escape(self.storage.output)}</code></p>"
        return f"{head}<table>{rows}</table>{self._map()}"

    def _map(self) -> str:
        """The tours for each start square as a table, on boards where it can be read."""
        rows = {row["start"]: row["tours_open"] + row["tours_closed"] for row in self.summary().to_pylist()}
        if self.board.cols > _MAP_COLUMNS or None in rows:
            return ""
        found = [count for count in rows.values() if count]
        ends = max(found, default=0), min(found, default=0)
        lines = []
        for row in reversed(range(self.board.rows)):
            names = [self.board.name(row * self.board.cols + col) for col in range(self.board.cols)]
            lines.append("".join(_cell(name, rows.get(name), *ends) for name in names))
        return f"<p>Tours for each start square</p><table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"

    def _table(self, part: Part) -> pa.Table:
        """A part with the columns that stand in its path."""
        with self._opened(part) as file:
            return _with_path(file.read(), part.holds, start_of(part.name))

    def _no_tours(self) -> pa.Table:
        variant = "closed" if self.config.variant == "closed" else "open"
        return _with_path(tours_schema(self.config, variant).empty_table(), variant, "a1")


def _cell(name: str, count: int | None, most: int, least: int) -> str:
    shade = f"background:{shade_of(count, most, least)};color:#000" if count else ""
    return f'<td title="{name}" style="{shade}">{"" if count is None else short(count)}</td>'


def _with_path(table: pa.Table, variant: str, start: str) -> pa.Table:
    """A table of tours with columns for what stands in the path of its part."""
    for name, value in (("variant", variant), ("start", start)):
        if name not in table.column_names:
            column = pa.DictionaryArray.from_arrays(np.zeros(len(table), dtype=np.int32), pa.array([value]))
            table = table.append_column(name, column)
    return table.replace_schema_metadata(None)  # it speaks of one part


def search(
    *,
    output: str | Path = "",
    progress: bool = True,
    fresh: bool = False,
    yes: bool = False,
    check: str = "",
    repair: bool = False,
    **settings: object,
) -> Run:
    """Search for tours and write them, or continue the run that is there; returns the run.

    `settings` are the flags of the command line, with `_` for `-`: `size`, `variant`, `max`, `tours`, `start`,
    `workers`, `address`, … (`knights-tours --help` lists them, and what `fresh`, `yes`, `check` and `repair` do).
    Interrupted or killed, the same call continues.

    >>> run = search(size=5, max=0, start="a1", progress=False)
    >>> len(run), run.is_complete
    (304, True)
    """
    for name, flag in {"progress": progress, "fresh": fresh, "yes": yes, "repair": repair}.items():
        if not isinstance(flag, bool):
            raise BadRequest(f"{name} must be True or False, got {flag!r}")
    config = resolve(_values({**settings, **({"output": output} if output else {})}))
    report = _run(config, observer(not progress), fresh=fresh, yes=yes, check=check, repair=repair)
    for comparison in report.comparisons:
        if not comparison.agrees:
            raise Damaged(f"does not agree with the literature: {comparison.line}; please report this")
    if not report.complete:
        warnings.warn("unfinished; the same call continues the run", stacklevel=2)
    return Run(config.output)


def _values(settings: Mapping[str, object]) -> dict[str, object]:
    """Settings as the command line has them; numbers of numpy and paths are plain ones."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}
    return {name.replace("_", "-"): str(value) if isinstance(value, Path) else value for name, value in plain.items()}


def verify(run: Run | str) -> Verdict:
    """Check a whole run: every file, record and tour. What is wrong stands in `damage`.

    >>> verdict = verify(search(size=5, max=0, start="a1", progress=False))
    >>> verdict.tours, verdict.damage, verdict.complete
    (304, [], True)
    """
    return _verify(run if isinstance(run, Run) else Run(run))


def count(
    *, size: str | int = 8, variant: str = "closed", start: str = "", missing_corner: bool = False, memory: str = ""
) -> dict[str, Any]:
    """Count all tours of a board exactly, without listing them: what `count --json` prints.

    >>> count(size=6)["figures"]
    [{'what': 'closed tours', 'unit': 'undirected cycles', 'count': 9862, 'published': 'OEIS A001230'}]
    """
    from .studies.count.census import census_json, chosen_starts, take_census
    from .studies.count.counting import Effort, memory_limit

    config = resolve({"size": size, "variant": variant, "missing-corner": missing_corner})
    effort = Effort(memory_limit(parse_bytes(memory) if memory else None))
    return census_json(take_census(config.board, variant, chosen_starts(config.board, start), effort))


def estimate(
    *, seconds: float | None = None, error: float | None = None, descents: int | None = None, **settings: object
) -> dict[str, Any]:
    """Estimate how many tours there are, until one of the three is reached: what `estimate --json` prints.

    `settings` are `size`, `variant`, `start`, `seed`, `workers` and `address`.

    >>> found = estimate(size=6, variant="closed", descents=1_000_000, workers=1)
    >>> found["undirected"]["low"] < 9_862 < found["undirected"]["high"]
    True
    """
    from .studies.estimate import Goal, estimate_json
    from .studies.estimate import estimate as _estimate

    values = _values(settings)
    for name in values:
        one_of("a setting of estimate", name, ("size", "variant", "start", "seed", "workers", "address"))
    return estimate_json(_estimate(resolve(values), Goal(seconds, error, descents)))
