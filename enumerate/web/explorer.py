"""The pages of runs: a list of them, one of them, its tours, one tour."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from .library import Library
from .pages import page


def routes(library: Library) -> list[BaseRoute]:
    def home(_: Request) -> Response:
        if library.is_run:
            return RedirectResponse(f"/runs/{library.names()[0]}")
        return page("runs.html", section="runs", names=library.names())

    def overview(request: Request) -> Response:
        shelf = library.run(request.path_params["name"])
        return page("run.html", section="runs", name=shelf.name, totals=shelf.now().totals())

    return [Route("/", home), Route("/runs/{name}", overview)]
