"""A detector with the small model: the application in this process, asked without a network."""

from __future__ import annotations

import importlib.util
import io
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from typing import Any

import httpx2 as httpx
import pytest

from pura.base.paths import user_paths
from pura.keys import KeyRef
from pura.scheme import Profile, SecretKey
from pura.usecases.audits import Prepared, Setup
from pura.usecases.environment import Environment

if importlib.util.find_spec("fastapi") is None:
    raise RuntimeError("not installed: the extra serve; run make install")

from fastapi import FastAPI
from starlette.testclient import TestClient

from pura.record.answers import Role
from pura.report.statement import StatementKey
from pura.serve.app import Listen, OrderlyServer, create_app, server
from pura.serve.grants import Grant
from pura.serve.manifests import Manifests
from pura.serve.reader import Reader
from pura.serve.service import Log
from pura.serve.settings import Limits, Places, Protection, Settings, TokenFile

OPEN = Settings(
    name="House",
    anyone=True,
    hosts=("testserver", "x"),
    protection=Protection(least_tokens=50, margin=0.0),
    limits=Limits(at_once_s=60.0),
)
"""Short texts are answered, at once, and as an audit would."""
Start = Callable[..., TestClient]
Token = Callable[..., dict[str, str]]


OTHER_PROFILE = "0123456789abcdef"
"""Fingerprint of a profile that the detector does not read with."""


def whole_grant(profile: str, bits: int) -> Grant:
    """Return the grant of all payloads of a width under a profile."""
    return Grant(profile=profile, bits=bits, first=0, last=(1 << bits) - 1)


def ask(client: Any, text: str, headers: dict[str, str] | None = None, **more: Any) -> Any:
    """Ask about a text, as a program does."""
    return client.post("/v1/checks", json={"text": text, **more}, headers=headers or {})


def lines(said: io.StringIO, event: str = "check") -> list[dict[str, Any]]:
    """Return what the service logged of one kind."""
    told = [json.loads(one) for one in said.getvalue().splitlines()]
    return [one for one in told if one["event"] == event]


@pytest.fixture
def at(small_model: Any, sample_key: SecretKey) -> Environment:
    """An environment of this test alone, with the small model and the sample's key."""
    paths = user_paths()
    return Environment(
        paths=paths,
        device="cpu",
        lent_model=small_model,
        lent_keys={sample_key.fingerprint: sample_key},
    )


@pytest.fixture
def setup(small_samples: dict[str, Any], sample_key: SecretKey) -> Setup:
    """The sample's key and profile."""
    return Setup(
        keys=(KeyRef(fingerprint=sample_key.fingerprint),),
        profile=Profile.from_dict(small_samples["marked-tbcc"]["profile"]),
    )


@pytest.fixture
def marked(small_samples: dict[str, Any]) -> list[str]:
    """Marked texts."""
    return [one["text"] for one in small_samples["marked-tbcc"]["texts"]]


@pytest.fixture
def plain(small_samples: dict[str, Any]) -> str:
    """A text without a mark."""
    return str(small_samples["plain"]["texts"][0]["text"])


@pytest.fixture
def said() -> io.StringIO:
    """What the service logs."""
    return io.StringIO()


@pytest.fixture
def token(at: Environment, setup: Setup) -> Callable[..., dict[str, str]]:
    """Make a token and return the header that carries it.

    A publisher may bind all payloads of the detector's profile, and of one other, where no grants
    are passed.
    """

    def make(
        role: Role, name: str = "", per_day: int = 1000, grants: Sequence[Grant] | None = None
    ) -> dict[str, str]:
        if grants is None:
            profiles = (setup.profile.fingerprint, OTHER_PROFILE)
            grants = [whole_grant(one, bits) for one in profiles for bits in (1, 4, 12, 36)]
        kept = TokenFile(Places.of(at.paths).tokens)
        granted = grants if role is Role.PUBLISHER else ()
        made = kept.new(name or role.value, role, per_day=per_day, grants=granted)
        return {"Authorization": f"Bearer {made}"}

    return make


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Nothing is read before it is opened."""
    opened, read = threading.Event(), Prepared.audit_many

    def held(self: Prepared, items: Any, *, checkpoint: Callable[[], None], **more: Any) -> Any:
        while not opened.wait(0.01):
            checkpoint()
        return read(self, items, checkpoint=checkpoint, **more)

    monkeypatch.setattr(Prepared, "audit_many", held)
    yield opened
    opened.set()


Make = Callable[..., tuple[FastAPI, Limits]]


@pytest.fixture
def made(at: Environment, setup: Setup, said: io.StringIO) -> Iterator[Make]:
    """Make the application: ``made(limits={...}, protection={...}, anyone=False)``."""
    with ExitStack() as held:

        def make(
            limits: dict[str, Any] | None = None,
            protection: dict[str, Any] | None = None,
            key: StatementKey | None = None,
            manifests: Manifests | None = None,
            **settings: Any,
        ) -> tuple[FastAPI, Limits]:
            used = replace(
                OPEN,
                limits=replace(OPEN.limits, **(limits or {})),
                protection=replace(OPEN.protection, **(protection or {})),
                **settings,
            )
            bounds = used.limits
            reader = Reader(at, setup, text_s=bounds.text_s, long_characters=bounds.long_characters)
            held.enter_context(reader)
            app = create_app(at, reader, used, log=Log(said), key=key, manifests=manifests)
            return app, bounds

        yield make


@pytest.fixture
def detector(made: Make) -> Iterator[Callable[..., TestClient]]:
    """Start the application, to be asked without a network; as ``made``."""
    with ExitStack() as held:

        def start(**settings: Any) -> TestClient:
            app, _ = made(**settings)
            client = TestClient(app, raise_server_exceptions=False, client=("192.0.2.7", 1))
            return held.enter_context(client)

        yield start


@dataclass(frozen=True)
class Wire:
    """A service that listens.

    Attributes:
        port: Where, on this machine.
        server: What listens.
        client: Asks it.
        ended: Waits until it has ended.
    """

    port: int
    server: OrderlyServer
    client: httpx.Client
    ended: Callable[[], None]

    def raw(self, data: bytes) -> bytes:
        """Send bytes and return all that comes back before the other end closes."""
        with closing(socket.create_connection(("127.0.0.1", self.port), 60)) as there:
            told = b""
            with suppress(ConnectionError):  # it may be cut off while it still speaks
                there.sendall(data)
                while piece := there.recv(65_536):
                    told += piece
            return told


@pytest.fixture
def wire(made: Make) -> Iterator[Callable[..., Wire]]:
    """Start a service: ``wire(limits={...}, listen={...}, around=...)``."""
    with ExitStack() as held:

        def start(
            listen: dict[str, Any] | None = None,
            around: Callable[[FastAPI], None] = lambda _: None,
            **settings: Any,
        ) -> Wire:
            app, limits = made(**settings)
            around(app)
            with closing(socket.create_server(("127.0.0.1", 0))) as free:
                port = free.getsockname()[1]
            running = server(app, Listen(port=port, **(listen or {})), limits)
            thread = threading.Thread(target=running.run)
            thread.start()

            def ended() -> None:
                thread.join(60)
                assert not thread.is_alive()

            def stop() -> None:
                running.should_exit = True
                ended()

            held.callback(stop)
            while not running.started:
                assert thread.is_alive()
            client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False)
            return Wire(port, running, held.enter_context(client), ended)

        yield start
