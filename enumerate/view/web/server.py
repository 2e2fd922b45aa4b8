"""The server of the pages: one address on this machine, and nothing beyond it."""

from __future__ import annotations

import errno
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from ...model.errors import BadRequest

HOST = "127.0.0.1"
PORT = 8642


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
