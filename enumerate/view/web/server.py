"""The site: its routes, the guard around them, and the server of one address on this machine.

A part of the site is a module with a function `routes(...)` that returns a list, and a line in `SECTIONS`, the links at
the head of every page.

No other page can reach in or be reached. The policy allows scripts, styles and data from this server alone, and nothing
inline. The name in the Host header must be this machine's own: a foreign name that was made to point here (DNS
rebinding) is refused. A request that changes something must come from one of our own pages.
"""

from __future__ import annotations

import errno
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...model.errors import BadRequest, EnumerateError
from . import explorer, play
from .live_run import FRESH_SECONDS, Library
from .pages import STATIC, TEMPLATES, error_answer

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
SECTIONS = [("runs", "/", "Runs"), ("watch", "/watch", "Watch"), ("play", "/play", "Play")]
TEMPLATES.globals["sections"] = SECTIONS
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


def make_app(place: str | None = None, fresh_seconds: float = FRESH_SECONDS) -> ASGIApp:
    """The site for the run or the folder of runs at `place`, looked at anew after so long; None: for no runs at all."""
    files = Mount("/static", StaticFiles(directory=STATIC))
    routes: list[BaseRoute] = [*explorer.routes(Library(place, fresh_seconds)), *play.routes(), files]
    handlers = dict.fromkeys((HTTPException, EnumerateError, OSError, Exception), error_answer)
    # The guard stands outside of everything, or an internal error would be answered without its headers.
    return guarded(Starlette(routes=routes, exception_handlers=handlers))


def guarded(app: ASGIApp) -> ASGIApp:
    """The app with the headers on every answer, and without the requests that are refused."""

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
        return f"this server answers to {' and '.join(NAMES)} only"
    if method not in ("GET", "HEAD") and headers.get("origin") != f"http://{host}":
        return "only the pages of this server may change something"
    return None


def serve(app: ASGIApp, port: int, path: str, open_browser: bool, tell: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. `path` is the page to begin with; `tell` gets the line with its address."""
    with listen(port) as listener:
        address = f"http://{HOST}:{listener.getsockname()[1]}{path}"
        tell(f"{address}  (Ctrl-C ends it)")
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        settings = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1
        )
        with suppress(KeyboardInterrupt):  # uvicorn hands it on when it has ended in order
            uvicorn.Server(settings).run(sockets=[listener])


def listen(port: int) -> socket.socket:
    """A socket on this machine's own address: nobody else can reach it. 0 takes any free port."""
    if not 0 <= port <= 65_535:
        raise BadRequest(f"port is a whole number from 0 (any that is free) to 65535: {port}")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise BadRequest(f"the port is in use: {port}; choose another --port, or 0 for any that is free") from None
        raise BadRequest(f"cannot listen on port {port} ({error.strerror}); choose another --port") from None
    return listener
