"""What stands before every address: for whom, from where and how much comes in; headers out."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pura.serve.bodies import Body, Held
from pura.serve.origins import refusal as elsewhere
from pura.serve.problems import RefusalError, problem
from pura.serve.service import Service
from pura.serve.settings import Settings

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
    """Bounds what requests may bring, and adds headers to what is answered.

    Args:
        app: What is behind.
        settings: How the service is run.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        limits = settings.limits
        self._app, self._hosts = app, settings.hosts
        self._held = Held(limits)
        self._most_public = max(1, int(limits.connections * limits.public_share))
        self._public = 0  # requests of the public with a body that are under way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope)
        service: Service = scope["app"].state.service
        asker = service.known(request)
        body = Body(receive, request.headers, asker, service, self._held)
        # What brings nothing is answered at once, and keeps nobody's place.
        public = body.announced > 0 and (asker is None or not asker.reserved)
        self._public += public
        try:
            if (refusal := self._refusal(request, public=public)) is None:
                await self._app(scope, body, with_headers)
            else:
                refused = problem(request, refusal)
                refused.headers["Connection"] = "close"
                service.refused(request, refusal, asker)
                await refused(scope, receive, with_headers)
        finally:
            self._public -= public
            body.close()

    def _refusal(self, request: Request, *, public: bool) -> RefusalError | None:
        """Return why nothing of a request is read."""
        if (refusal := elsewhere(request, self._hosts)) is not None:
            return refusal
        names = request.headers
        if "transfer-encoding" in names and "content-length" in names:
            # A proxy and we could disagree where this request ends and the next begins.
            return RefusalError("serve.form", code="serve-request")
        if public and self._public > self._most_public:
            return RefusalError("serve.busy", code="serve-busy", again_s=_AGAIN_S)
        return None
