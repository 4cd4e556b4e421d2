"""What stands before every address: how much comes in, how slowly, and which headers go out."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pura.serve.problems import RefusalError, problem
from pura.serve.settings import Limits

_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
"""Of every answer; a page says for itself what it may load."""

_AGAIN_S: Final = 5.0


class Guard:
    """Bounds what a request may bring, and adds headers to what is answered.

    Args:
        app: What is behind.
        limits: See there.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits
        self._held = 0  # bytes of all requests that are under way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        loop = asyncio.get_running_loop()
        until = loop.time() + self._limits.body_s
        size, whole = 0, False

        async def bounded() -> Message:
            nonlocal size, whole
            if whole:  # what comes now is that the asker has gone
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise RefusalError("serve.slow", code="serve-slow") from None
            came = len(message.get("body", b""))
            size += came
            self._held += came
            if self._held > self._limits.held_bytes:
                raise RefusalError("serve.busy", code="serve-busy", again_s=_AGAIN_S)
            if size > self._limits.body_bytes:
                await self._let_out(receive, message, until)
                raise RefusalError(
                    "serve.large", most=self._limits.body_bytes >> 20, code="serve-large"
                )
            whole = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        names = [name for name, _ in scope["headers"]]
        if b"transfer-encoding" in names and b"content-length" in names:
            # A proxy and we could disagree where this request ends and the next begins.
            refusal = problem(Request(scope), RefusalError("serve.form", code="serve-request"))
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, with_headers)
            return
        try:
            await self._app(scope, bounded, with_headers)
        finally:
            self._held -= size

    async def _let_out(self, receive: Receive, message: Message, until: float) -> None:
        """Let a body that is too large come to its end, where that is near.

        Nothing of it is kept. Whoever still writes when we close, a proxy above all, does not read
        why.
        """
        left = self._limits.body_bytes
        while message.get("more_body", False) and left > 0:
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                return
            left -= len(message.get("body", b""))
