"""Running the application: where it listens, its certificate, and how it ends."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from pura.base.errors import ServeError
from pura.serve.guard import named
from pura.serve.log import Log, OthersHandler
from pura.serve.service import Service
from pura.serve.settings import Limits

_BEAT_S: Final = 0.05
_KEEP_ALIVE_S: Final = 5
_MOST_PORT: Final = 65_535


@dataclass(frozen=True, kw_only=True)
class Listen:
    """Where the service listens.

    Attributes:
        host: Address or name.
        port: 0 takes one that is free.
        certificate: PEM file of the certificate and those above it; None: no TLS.
        key: PEM file of its key.
        plain: Listen on other than loopback without TLS.
        proxies: Addresses and networks whose forwarded headers are believed.
        hosts: Names under which it is asked, beside this machine's own.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    certificate: Path | None = None
    key: Path | None = None
    plain: bool = False
    proxies: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @classmethod
    def parsed(cls, where: str, **others: Any) -> Listen:
        """Read ``host:port``.

        Raises:
            ServeError: It is none, a proxy is no address, or a name none.
        """
        host, _, port = where.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not host or not port.isdecimal() or int(port) > _MOST_PORT:
            raise ServeError("serve.address", name=where, code="usage")
        for proxy in others.get("proxies", ()):
            try:
                ipaddress.ip_network(proxy)
            except ValueError:
                raise ServeError("serve.address", name=proxy, code="usage") from None
        others["hosts"] = tuple(named(one) for one in others.get("hosts", ()))
        return cls(host=host, port=int(port), **others)

    @property
    def names(self) -> tuple[str, ...]:
        """Names under which it is asked, with that under which it listens."""
        return self.hosts if self._anywhere else (*self.hosts, self.host.lower())

    @property
    def _anywhere(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_unspecified
        except ValueError:
            return False

    def refuse(self) -> None:
        """Refuse to listen where others could listen in.

        Raises:
            ServeError: It is not loopback, and neither TLS nor the explicit word was given;
                certificate and key do not come together; or nobody can know under which name it is
                asked.
        """
        if (self.certificate is None) != (self.key is None):
            raise ServeError("serve.tls-pair", code="usage")
        try:
            here = ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            here = self.host == "localhost"
        if not (here or self.plain or self.certificate):
            raise ServeError("serve.tls", code="usage")
        if (self._anywhere or self.proxies) and not self.hosts:
            raise ServeError("serve.host-none", code="usage")


class HurriedProtocol(H11Protocol):
    """A connection that has to bring each request soon, and makes room where there is none.

    Where too many are open, the one that has owed a whole request for longest is cut off, so that
    whoever only holds connections keeps nobody else out. The bounds of bodies are those of
    :class:`~pura.serve.guard.Body`; one that is sent with a good token is not cut off here.
    """

    header_s = Limits().header_s
    most = Limits().connections
    owing: OrderedDict[HurriedProtocol, None]
    service: Callable[[], Service]

    def connection_made(self, transport: Any) -> None:
        """Take a connection."""
        super().connection_made(transport)
        if len(self.connections) >= self.most and self.owing:
            longest, _ = self.owing.popitem(last=False)
            longest.turned_away("serve-slow")
            self.connections.discard(longest)
            longest.transport.abort()
        self.owing[self] = None
        self._look(object())

    def connection_lost(self, exc: Exception | None) -> None:
        """Let a connection go."""
        self.owing.pop(self, None)
        self._late.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a request for which there is no room is turned away (503)."""
        full, before = len(self.connections) >= self.most, self.cycle
        self.limit_concurrency = 0 if full else None
        super().data_received(data)
        if full and self.cycle is not before:
            self.turned_away("serve-busy")
        self._sort()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._sort()

    def turned_away(self, reason: str) -> None:
        """Have it logged that it is cut off, or gets no answer."""
        self.service().turned_away(reason, self.client[0] if self.client else "")

    def _sort(self) -> None:
        now: Any = self.cycle
        if self.transport.is_closing():
            return
        if now is None or now.response_complete or (now.more_body and not self._reserved()):
            self.owing.setdefault(self)
        else:
            self.owing.pop(self, None)

    def _reserved(self) -> bool:
        """Whether what is being received comes from somebody for whom places are reserved."""
        scope: Any = self.cycle.scope
        asker = self.service().known(Request(scope))
        return asker is not None and asker.reserved

    def _look(self, before: object) -> None:
        """Close where no request has begun since the last look, and none is being answered."""
        now: Any = self.cycle
        idle = now is None or now.response_complete
        if idle and now is before:
            self.transport.close()
            return
        self._late = self.loop.call_later(self.header_s, self._look, now if idle else object())


class OrderlyServer(uvicorn.Server):
    """Ends in order: takes nothing new, lets what runs end, and says so meanwhile.

    Attributes:
        handshake_s: Seconds within which TLS has to stand.
    """

    handshake_s = Limits().header_s
    _ending: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; the second time, end."""
        if self._ending is not None or sig == signal.SIGINT:
            super().handle_exit(sig, frame)
            return
        self._loop.call_soon_threadsafe(self._begin)

    async def serve(self, sockets: list[Any] | None = None) -> None:
        """Serve until something asks for the end."""
        self._loop = loop = asyncio.get_running_loop()
        if self.config.ssl_certfile:
            # Else whoever begins no handshake stays for a minute, and is not counted meanwhile.
            hurried = partial(loop.create_server, ssl_handshake_timeout=self.handshake_s)
            loop.create_server = hurried  # type: ignore[method-assign]
        await super().serve(sockets)

    def _begin(self) -> None:
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._drain())

    async def _drain(self) -> None:
        app: Any = self.config.app
        service: Service = app.state.service
        service.draining = True
        service.log("draining", pending=service.pending)
        until = time.monotonic() + service.settings.limits.drain_s
        while service.pending and time.monotonic() < until:
            await asyncio.sleep(_BEAT_S)
        service.log("ends", pending=service.pending)
        self.should_exit = True


def server(app: FastAPI, listen: Listen, limits: Limits) -> OrderlyServer:
    """Return the server of an application.

    Raises:
        ServeError: It would listen where others could listen in.
    """
    listen.refuse()
    own = {
        "header_s": limits.header_s,
        "most": limits.connections,
        "owing": OrderedDict(),
        "service": staticmethod(lambda: app.state.service),
    }
    protocol = type("Hurried", (HurriedProtocol,), own)
    made = OrderlyServer(
        uvicorn.Config(
            app,
            host=listen.host,
            port=listen.port,
            ssl_certfile=listen.certificate,
            ssl_keyfile=listen.key,
            proxy_headers=bool(listen.proxies),
            forwarded_allow_ips=list(listen.proxies),
            http=protocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            backlog=max(limits.connections // 2, 1),  # so many are taken before others go
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_KEEP_ALIVE_S,
        )
    )
    made.handshake_s = limits.header_s
    return made


@contextmanager
def logged(log: Log) -> Iterator[None]:
    """Have what libraries log written in lines of ours, without their words."""
    handler, root = OthersHandler(log), logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
