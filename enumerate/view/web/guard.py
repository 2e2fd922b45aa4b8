"""What every answer carries and every request must satisfy, so that no other page can reach in or be reached.

The policy allows scripts, styles and data from this server alone, and nothing inline. The name in the Host header must
be this machine's own: a foreign name that was made to point here (DNS rebinding) is refused. A request that changes
something must come from one of our own pages.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
NAMES = ("127.0.0.1", "localhost")


class Guard:
    """ASGI middleware around the whole app."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = why_refused(scope["method"], Headers(scope=scope))
        app = PlainTextResponse(refusal, status_code=403) if refusal else self.app
        await app(scope, receive, guarded)


def why_refused(method: str, headers: Headers) -> str | None:
    host = headers.get("host", "")
    if host.rpartition(":")[0] not in NAMES and host not in NAMES:
        return f"this server answers to {' and '.join(NAMES)} only"
    if method not in ("GET", "HEAD") and headers.get("origin") != f"http://{host}":
        return "only the pages of this server may change something"
    return None
