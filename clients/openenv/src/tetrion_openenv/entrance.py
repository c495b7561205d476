"""The entrance of the server: what it refuses before OpenEnv's app sees a request.

OpenEnv's app serves any page of any host, takes messages of any size, waits for silent clients for ever, and closes a
WebSocket whose message cannot be repeated in an answer. The host is Starlette's `TrustedHostMiddleware`; the rest is here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Most bytes of a request's body, and of a message on a WebSocket.
MAX_BYTES = 64 << 10
# Close code for a timeout, as registered with IANA.
TIMEOUT = 3008

# The names of this machine, as hosts of requests write them.
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")


class Origins:
    """Refuses requests of foreign pages, which a browser would perform though it hides the answers.

    Pages of this machine, of the request's own host and of the listed origins pass; other programs send no origin.
    """

    def __init__(self, app: ASGIApp, allowed: Sequence[str]) -> None:
        """Wraps an app; `*` allows all pages."""
        self.app, self.allowed = app, allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or answers 403."""
        headers = Headers(scope=scope) if scope["type"] in ("http", "websocket") else Headers()
        foreign = [origin for origin in headers.getlist("origin") if not self._may(origin, headers.get("host", ""))]
        if not foreign or "*" in self.allowed:
            await self.app(scope, receive, send)
            return
        text = f"pages of {foreign[0]!r} may not call this server; TETRION_OPENENV_ALLOW_ORIGIN names those that may\n"
        await PlainTextResponse(text, status_code=403)(scope, receive, send)

    def _may(self, origin: str, host: str) -> bool:
        try:
            page = urlsplit(origin)
            port = page.port or {"http": 80, "https": 443}.get(page.scheme)
            own = urlsplit(f"{page.scheme}://{host}")
            is_own = (page.hostname, port) == (own.hostname, own.port or {"http": 80, "https": 443}.get(page.scheme))
        except ValueError:  # a port that is no number
            return False
        return origin in self.allowed or (page.hostname is not None and (is_own or is_loopback(page.hostname)))


def is_loopback(host: str) -> bool:
    """Whether a machine calls itself by this name or address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Bounds:
    """Bounds on bodies, on silence, and on what a message may hold."""

    def __init__(self, app: ASGIApp, idle_timeout: float) -> None:
        """Wraps an app, whose clients may be silent for so many seconds."""
        self.app, self.idle_timeout = app, idle_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        if scope["type"] == "websocket":
            await self.app(scope, self._messages(receive, send), send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        try:
            async with asyncio.timeout(self.idle_timeout):
                while more and len(body) <= MAX_BYTES:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
        except TimeoutError:
            await _refusal(408, f"the body did not come within {self.idle_timeout:g} s")(scope, receive, send)
            return
        if len(body) > MAX_BYTES:
            await _refusal(413, f"the body has more than {MAX_BYTES} bytes")(scope, receive, send)
            return
        if b"\\u" in body:
            body = repeatable(body.decode(errors="replace")).encode()
        first: list[Message] = [{"type": "http.request", "body": body}]

        async def replay() -> Message:
            return first.pop() if first else await receive()

        await self.app(scope, replay, send)

    def _messages(self, receive: Receive, send: Send) -> Receive:
        async def next_message() -> Message:
            try:
                async with asyncio.timeout(self.idle_timeout):
                    message = await receive()
            except TimeoutError:
                reason = f"no message for {self.idle_timeout:g} s"
                await send({"type": "websocket.close", "code": TIMEOUT, "reason": reason})
                return {"type": "websocket.disconnect", "code": TIMEOUT, "reason": reason}
            if message["type"] != "websocket.receive":
                return message
            return {"type": "websocket.receive", "text": json_object(message.get("text"))}

        return next_message


def _refusal(status: int, detail: str) -> JSONResponse:
    # The rest of the body is not read, so the connection is of no more use.
    return JSONResponse({"detail": detail}, status, headers={"connection": "close"})


def repeatable(text: str) -> str:
    """A JSON text without lone surrogates: no answer could quote them. They become U+FFFD, as in browsers."""
    if "\\ud" not in text.lower():
        return text
    try:
        shown = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def json_object(text: str | None) -> str:
    """A message as an object in JSON; for any other message an empty text, which OpenEnv answers as invalid JSON.

    OpenEnv would close the WebSocket of a message that is a list, a number of 5,000 digits or a thousand brackets.
    """
    try:
        return repeatable(text) if text is not None and isinstance(json.loads(text), dict) else ""
    except (ValueError, RecursionError):
        return ""
