"""What stands before every address: names, pages, budgets, and bodies bounded in size and time."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pura.base.errors import ServeError
from pura.serve import store
from pura.serve.service import Service
from pura.serve.settings import Limits, Settings
from pura.serve.shapes import RefusalError, problem
from pura.serve.tokens import Asker

_AGAIN_S: Final = 5.0


class Held:
    """Bytes of all requests that are under way; the public holds its share of them at most.

    Args:
        limits: See there.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._public = self._others = 0

    def add(self, size: int, *, public: bool) -> None:
        """Hold bytes; a negative number lets them go."""
        if public:
            self._public += size
        else:
            self._others += size

    def full(self, *, public: bool) -> bool:
        """Return whether there is no room for what was added last."""
        most = self._limits.held_bytes
        return self._public + self._others > most or (
            public and self._public > most * self._limits.public_share
        )


class Body:
    """The body of one request, as the application receives it.

    Args:
        receive: Where it comes from.
        headers: Of the request.
        asker: Who asks; None: nobody whose body would be read.
        service: Is paid.
        held: Bytes of all requests.
    """

    def __init__(
        self, receive: Receive, headers: Headers, asker: Asker | None, service: Service, held: Held
    ) -> None:
        self._receive, self._asker, self._service, self._held = receive, asker, service, held
        self._limits = service.settings.limits
        self._begun = asyncio.get_running_loop().time()
        self._announced = _announced(headers, self._limits.body_bytes)
        self._size = self._paid = 0
        self._whole = False

    @property
    def announced(self) -> int:
        """Bytes that the request announces."""
        return self._announced

    @property
    def _public(self) -> bool:
        return self._asker is None or not self._asker.reserved

    async def __call__(self) -> Message:
        """Return what comes next.

        Raises:
            RefusalError: A budget cannot pay; it is too large, or too slow; there is no room.
        """
        if self._whole:  # what comes now is that the asker has gone
            return await self._receive()
        if self._asker is not None and not self._paid:
            self._service.spend(self._asker, store.of_body(self._announced))
            self._paid = self._announced
        message = await self._next()
        came = len(message.get("body", b""))
        self._size += came
        self._held.add(came, public=self._public)
        if self._held.full(public=self._public):
            raise RefusalError("serve.busy", code="serve-busy", again_s=_AGAIN_S)
        if self._size > self._limits.body_bytes:
            await self._let_out(message)
            most = self._limits.body_bytes >> 20
            raise RefusalError("serve.large", most=most, code="serve-large")
        self._whole = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    def close(self) -> None:
        """Let its bytes go, and pay back those that never came."""
        self._held.add(-self._size, public=self._public)
        if self._asker is not None and self._paid > self._size:
            self._service.refund(self._asker, store.of_body(self._paid - self._size))

    async def _next(self) -> Message:
        limits = self._limits
        slowest = limits.grace_s + self._size / limits.least_rate
        try:
            async with asyncio.timeout_at(self._begun + min(limits.body_s, slowest)):
                return await self._receive()
        except TimeoutError:
            raise RefusalError("serve.slow", code="serve-slow") from None

    async def _let_out(self, message: Message) -> None:
        """Let a body that is too large come to its end, where that is near.

        Nothing of it is kept. Whoever still writes when we close, a proxy above all, does not read
        why.
        """
        left = self._limits.body_bytes
        while message.get("more_body", False) and left > 0:
            try:
                message = await self._next()
            except RefusalError:
                return
            left -= len(message.get("body", b""))


def _announced(headers: Headers, most: int) -> int:
    """Return the bytes that a request announces; the most where it says no number."""
    length = headers.get("content-length", "")
    if length.isdecimal():
        return min(int(length), most)
    return most if "transfer-encoding" in headers else 0


_SAFE: Final = ("GET", "HEAD", "OPTIONS")
_OWN: Final = ("none", "same-origin")
_LABEL: Final = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST: Final = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:/@?#\s]+)(?::\d*)?")
_NAME: Final = re.compile(rf"{_LABEL}(\.{_LABEL})*")


def named(host: str) -> str:
    """Return a name of the service as it is compared.

    Raises:
        ServeError: It is neither a name nor an address.
    """
    name = host.strip().lower().rstrip(".").removeprefix("[").removesuffix("]")
    if _address(name) is None and not _NAME.fullmatch(name):
        raise ServeError("serve.address", name=host[:100], code="usage")
    return name


def origin_refusal(request: Request, names: Sequence[str]) -> RefusalError | None:
    """Return why a request is not taken: it is for somebody else, or another site sends it.

    Args:
        request: Its headers are looked at.
        names: Under which the service is asked, beside this machine's own.
    """
    hosts = request.headers.getlist("host")
    name = _host(hosts[0]) if len(hosts) == 1 else ""
    if not (name in names or _is_here(name)):
        return RefusalError("serve.host", code="serve-host")
    if request.method in _SAFE:
        return None
    site, origin = (request.headers.get(one, "") for one in ("sec-fetch-site", "origin"))
    elsewhere = RefusalError("serve.elsewhere", code="serve-elsewhere")
    if site and site not in _OWN:
        return elsewhere
    # A browser that was told to say nothing of where it comes from says “null”, to us too.
    if not origin or (origin == "null" and site == "same-origin"):
        return None
    try:
        same = (urlsplit(origin).hostname or "").rstrip(".") == name
    except ValueError:
        same = False
    return None if same else elsewhere


def _host(header: str) -> str:
    """Return the name in a header ``Host``; empty where it is none."""
    found = _HOST.fullmatch(header.strip().lower())
    return "" if found is None else found[1].strip("[]").rstrip(".")


def _is_here(name: str) -> bool:
    address = _address(name)
    return name == "localhost" if address is None else address.is_loopback


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
"""Of every answer; a page says for itself what it may load."""


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
        if (refusal := origin_refusal(request, self._hosts)) is not None:
            return refusal
        names = request.headers
        if "transfer-encoding" in names and "content-length" in names:
            # A proxy and we could disagree where this request ends and the next begins.
            return RefusalError("serve.form", code="serve-request")
        if public and self._public > self._most_public:
            return RefusalError("serve.busy", code="serve-busy", again_s=_AGAIN_S)
        return None
