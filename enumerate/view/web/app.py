"""The app: the routes of each part of the site, its files, and what happens to errors.

A part of the site is a module with a function `routes(...)` that returns a list, and a line in `SECTIONS`, the links at
the head of every page.
"""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from ...model.errors import EnumerateError
from . import explorer, game, watch
from .guard import Guard
from .library import Library
from .pages import STATIC, TEMPLATES, error_answer

SECTIONS = [
    ("runs", "/", "Runs"),
    ("watch", "/watch", "Watch"),
    ("play", "/play", "Play"),
]
TEMPLATES.globals["sections"] = SECTIONS


def make_app(place: str | None = None) -> ASGIApp:
    """The site for the run or the folder of runs at `place`; None: for no runs at all."""
    routes: list[BaseRoute] = [
        *explorer.routes(Library(place)),
        *watch.routes(),
        *game.routes(),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    handlers = dict.fromkeys((HTTPException, EnumerateError, OSError, Exception), error_answer)
    # The guard stands outside of everything, or an internal error would be answered without its headers.
    return Guard(Starlette(routes=routes, exception_handlers=handlers))
