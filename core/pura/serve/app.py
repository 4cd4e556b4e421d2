"""The application: what stands before every address, where it listens, how it ends."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import re
import signal
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from pathlib import Path
from types import FrameType
from typing import Any, Final
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from pura.base.decoder import schema_of
from pura.base.errors import PuraError, ServeError
from pura.base.files import write_atomic
from pura.record.answers import Role
from pura.report.statement import SCHEMA, StatementKey
from pura.serve import routes, settings, shapes, softbinding
from pura.serve.manifests import Manifests, Repository
from pura.serve.reader import Reader
from pura.serve.service import Log, OthersHandler, Service, Sign
from pura.serve.settings import Asker, Limits, Places, Settings, Store, TokenFile, secret_of
from pura.serve.shapes import RefusalError, problem
from pura.usecases.choices import trusted
from pura.usecases.environment import Environment
from pura.version import __version__

_AGAIN_S: Final = 5.0


class RequestBytes:
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
        self,
        receive: Receive,
        headers: Headers,
        asker: Asker | None,
        service: Service,
        held: RequestBytes,
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
        if self._asker is not None and self._paid < self._announced:
            self._service.spend(self._asker, settings.of_body(self._announced))
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
            self._service.refund(self._asker, settings.of_body(self._paid - self._size))

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
_USUAL_PORTS: Final = {"http": 80, "https": 443}
"""Ports that addresses do not name."""
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
        sender = urlsplit(origin)
        same = (sender.hostname or "").rstrip(".") == name
        # A browser that tells no site is old: then the port has to be the one that was asked for.
        # With a site it is the browser that compared, also where a proxy drops the port.
        usual = _USUAL_PORTS.get(sender.scheme)
        same &= bool(site) or (_port(hosts[0]) or usual) == (sender.port or usual)
    except ValueError:
        same = False
    return None if same else elsewhere


def _host(header: str) -> str:
    """Return the name in a header ``Host``; empty where it is none."""
    found = _HOST.fullmatch(header.strip().lower())
    return "" if found is None else found[1].strip("[]").rstrip(".")


def _port(header: str) -> int | None:
    """Return the port in a header ``Host``; None where it names none."""
    digits = header.strip().rpartition("]")[2].rpartition(":")[2] if ":" in header else ""
    return int(digits) if digits.isdecimal() else None


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
        self._held = RequestBytes(limits)
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


def signer(key: StatementKey, settings: Settings) -> Sign:
    """Return what makes the statements of a service.

    Args:
        key: What signs them.
        settings: The name of the detector.
    """

    def sign(check: dict[str, Any], role: Role, language: str) -> str:
        return key.sign(
            {
                "schema": SCHEMA,
                "detector": settings.name or "PURA",
                "version": __version__,
                "role": role.value,
                "language": language,
                "check": check,
            }
        )

    return sign


def create_app(
    environment: Environment,
    reader: Reader,
    settings: Settings,
    *,
    log: Log | None = None,
    key: StatementKey | None = None,
    manifests: Manifests | None = None,
) -> FastAPI:
    """Return the application.

    Args:
        environment: Where cases are saved.
        reader: Reads texts; it is open.
        settings: How the service is run.
        log: Gets the lines about what was done.
        key: Signs the statements of answers to trusted and internal askers; None: none are made.
        manifests: Where manifests are, by payload, beside those that are published; None: nowhere.

    Raises:
        ServeError: The index of manifests is for another soft binding.
    """
    places = Places.of(environment.paths)
    log = log or Log()
    if manifests is not None:
        settings = replace(settings, soft_binding=settings.soft_binding or manifests.alg)
        if manifests.alg != settings.soft_binding:
            raise ServeError("serve.manifests", name=manifests.schema, where="alg", code="usage")

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        store, tokens = Store(places.store), TokenFile(places.tokens)
        service = Service(
            reader=reader,
            settings=settings,
            tokens=tokens,
            store=store,
            secret=secret_of(places.salt),
            log=log,
            sign=None if key is None else signer(key, settings),
        )
        app.state.service, app.state.environment = service, environment
        app.state.public_key = "" if key is None else key.public_pem()
        app.state.repository = None
        app.state.tokens, app.state.trust = tokens, trusted(environment.paths)
        with ExitStack() as held:
            held.callback(service.close)
            if settings.soft_binding:
                repository = held.enter_context(Repository(places.manifests, tokens.grants_of))
                repository.load(manifests, service.setup.profile.fingerprint)
                app.state.repository = repository
            # The duties of whoever runs the detector are held against what it says of itself.
            said = routes.described(service, "en", app.state.public_key)
            write_atomic(environment.paths.detector, json.dumps(said).encode(), private=True)
            yield

    app = FastAPI(
        title="PURA",
        version=__version__,
        lifespan=life,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.include_router(routes.router)
    app.include_router(softbinding.discovery)
    for base in softbinding.BASES:
        shown = base == softbinding.BASES[0]
        app.include_router(softbinding.router, prefix=base, include_in_schema=shown)
    app.include_router(routes.pages)
    app.add_exception_handler(PuraError, _refused)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(Exception, _refused)
    app.add_middleware(Guard, settings=settings)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # as FastAPI says
    return app


def _openapi(app: FastAPI) -> dict[str, object]:
    """Describe the interface, with what is read by hand."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        components = schema["components"]["schemas"]
        components["Question"] = shapes.question_schema()
        components |= {name: schema_of(shape) for name, shape in shapes.SHAPES.items()}
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"token": []}, {}]
        app.openapi_schema = schema
    return app.openapi_schema


def _methods(request: Request) -> set[str]:
    """Return the methods that an address takes."""
    asked = {name: request.scope[name] for name in ("type", "path", "method", "headers")}
    bases = {"": routes.router, **dict.fromkeys(softbinding.BASES, softbinding.router)}
    return {
        method
        for base, router in bases.items()
        for route in router.routes
        if isinstance(route, APIRoute)
        and asked["path"].startswith(base)
        and route.matches(asked | {"path": asked["path"].removeprefix(base)})[0] is not Match.NONE
        for method in route.methods or ()
    }


async def _refused(request: Request, error: Exception) -> Response:
    """Answer an error as a problem."""
    headers: dict[str, str] = {}
    if isinstance(error, HTTPException):
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(sorted(_methods(request)))
            error = RefusalError("serve.method", code="serve-method")
        elif error.status_code == HTTPStatus.NOT_FOUND:
            error = RefusalError("serve.unknown", code="serve-unknown")
        else:
            error = RefusalError("serve.form", code="serve-request")
    elif isinstance(error, RequestValidationError):
        error = RefusalError("serve.form", code="serve-request")
    elif not isinstance(error, PuraError):
        error = RefusalError("serve.fault", kind=type(error).__name__, code="serve-fault")
    service: Service | None = getattr(request.app.state, "service", None)
    if service is not None:
        service.refused(request, error)
    told = problem(request, error)
    told.headers.update(headers)
    return told


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
    :class:`~pura.serve.app.Body`; one that is sent with a good token is not cut off here.
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
