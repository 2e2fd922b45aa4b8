"""Templates to pages, and errors to pages, or to JSON if the request asks for it."""

from __future__ import annotations

import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from ... import __version__
from ...model.errors import BadRequest, Damaged, EnumerateError

HERE = Path(__file__).parent
STATIC = HERE / "static"
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals["version"] = __version__
TEMPLATES.filters["number"] = lambda value: f"{value:,}"
TEMPLATES.filters["json"] = lambda value: json.dumps(value, separators=(",", ":"))


class NotFound(BadRequest):
    """There is nothing at this address."""


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page; `section` names its link at the top."""
    return HTMLResponse(TEMPLATES.get_template(template).render(**values), status)


def status_of(error: Exception) -> int:
    match error:
        case HTTPException():
            return error.status_code
        case NotFound():
            return 404
        case BadRequest():
            return 400
        case Damaged():
            return 409  # the run cannot be shown; the server is not at fault
        case OSError():
            return 503  # disk or network
    return 500


def error_answer(request: Request, error: Exception) -> Response:
    """One line, as a page or as JSON."""
    status = status_of(error)
    if isinstance(error, EnumerateError | OSError):
        message = str(error)
    elif isinstance(error, HTTPException):
        message = "there is no such page" if status == 404 else error.detail.lower()
    else:
        message = "internal error; see the terminal of the server"
    if wants_json(request):
        return JSONResponse({"error": message}, status)
    title = {400: "Bad request", 404: "Not found", 409: "The run cannot be read"}.get(status, HTTPStatus(status).phrase)
    return page("error.html", status, title=title, message=message, section="")


def wants_json(request: Request) -> bool:
    return request.url.path.endswith(".json") or "application/json" in request.headers.get("accept", "")
