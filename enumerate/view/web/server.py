"""The site: its routes, the guard around them, its errors, and the server of one address on this machine.

A part of the site is a module with a function `routes(...)` that returns a list, and an entry in `SECTIONS`, the links
at the top of every page.

The site is closed to other pages, both ways. The policy allows scripts, styles and data only from this server, and
nothing inline. The Host header must be this machine's own name: another name that resolves to it (DNS rebinding) is
refused. A request that changes something must come from one of our own pages.
"""

from __future__ import annotations

import errno
import os
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...model.errors import BadRequest, Damaged, EnumerateError
from ...model.values import in_range
from . import explorer, play
from .live_run import FRESH_SECONDS, Library, NotFound
from .pages import STATIC, page

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
STATUS = {  # the first class that fits
    NotFound: 404,
    BadRequest: 400,
    Damaged: 409,  # the run is in a state that cannot be shown; the server is not at fault
    OSError: 503,  # disk or network
}
TITLES = {409: "The run cannot be read"}


def make_app(output: str | None = None, fresh_seconds: float = FRESH_SECONDS) -> ASGIApp:
    """The site for the run or the folder of runs at `output`, read again after `fresh_seconds`; None: without runs."""
    files = Mount("/static", StaticFiles(directory=STATIC))
    routes: list[BaseRoute] = [*explorer.routes(Library(output, fresh_seconds)), *play.routes(), files]
    handlers = dict.fromkeys((HTTPException, EnumerateError, OSError, Exception), error_answer)
    # The guard is outermost: otherwise the answer to an internal error would lack its headers.
    return guarded(Starlette(routes=routes, exception_handlers=handlers))


def error_answer(request: Request, error: Exception) -> Response:
    """One clear line: as JSON for a client that asks for JSON, else as a page."""
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)
    message = str(error)
    if isinstance(error, HTTPException):
        status = error.status_code
        message = "there is no such page" if status == 404 else error.detail.lower()
    elif not isinstance(error, EnumerateError | OSError):
        message = "internal error; see the terminal of the server"
    if request.url.path.endswith(".json") or "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"error": message}, status)
    title = TITLES.get(status, HTTPStatus(status).phrase.capitalize())
    return page("error.html", "", status, title=title, message=message)


def guarded(app: ASGIApp) -> ASGIApp:
    """The app, with headers on every answer and refusals of bad requests."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = why_refused(scope["method"], Headers(scope=scope)) if scope["type"] == "http" else None
        answer = PlainTextResponse(refusal, status_code=403) if refusal else app
        await answer(scope, receive, send_with_headers)

    return guard


def why_refused(method: str, headers: Headers) -> str | None:
    host = headers.get("host", "")
    if host.rpartition(":")[0] not in NAMES and host not in NAMES:
        return f"this server answers only to {' and '.join(NAMES)}"
    if method not in ("GET", "HEAD") and headers.get("origin") != f"http://{host}":
        return "only pages of this server may change something"
    return None


def serve(app: ASGIApp, port: int, path: str, open_browser: bool, show: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. `path` is the page to open; `show` gets the line with its address."""
    with listen(port) as listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}{path}"
        show(f"{address}  (Ctrl-C stops the server)")
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        settings = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1
        )
        with suppress(KeyboardInterrupt):  # uvicorn raises it again after an orderly shutdown
            uvicorn.Server(settings).run(sockets=[listener])


def listen(port: int) -> socket.socket:
    """A socket on this machine's own address, which no other machine can reach; port 0 takes any free one."""
    in_range("port", port, 0, 65_535, "0 takes any free port")
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        number = error.errno or 0
        reason = f"cannot listen on port {port} ({os.strerror(number)})"  # the error's own words name the address too
        why = f"port {port} is in use" if number == errno.EADDRINUSE else reason
        raise BadRequest(f"{why}; choose another --port, or 0 for any free port") from None
