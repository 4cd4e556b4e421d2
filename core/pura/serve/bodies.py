"""The body of a request: paid for before it is read, and bounded in size, time and rate."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from pura.serve import budgets
from pura.serve.problems import RefusalError
from pura.serve.roles import Asker
from pura.serve.service import Service
from pura.serve.settings import Limits

_AGAIN_S = 5.0


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
            self._service.spend(self._asker, budgets.of_body(self._announced))
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
            self._service.refund(self._asker, budgets.of_body(self._paid - self._size))

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
