"""Behind a real nginx and a real Caddy, as serving-a-detector.md sets them up.

TLS aside: both end it before anything that is tested here.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from tests.core.serve.conftest import Wire
from tests.test_pages import ROOT

from pura.record.answers import Role

pytestmark = pytest.mark.weekly

SPOOFED = "203.0.113.9"
POST = b"POST /v1/checks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
HIDDEN = f"GET /hidden HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {SPOOFED}\r\nX: ".encode()
MIB = 1 << 20
PATIENCE = 5
LONG = "word " * 300
JSON = {"Content-Type": "application/json"}


def documented(first: str) -> str:
    """Return the block of the page that begins with a line."""
    page = (ROOT / "docs" / "how-to" / "serving-a-detector.md").read_text("utf-8")
    blocks = re.findall(r"(?:^ {4}.*\n|^\n)+", page, re.MULTILINE)
    [found] = [one for one in blocks if one.lstrip().startswith(first)]
    return re.sub("^ {4}", "", found, flags=re.MULTILINE)


class Proxied:
    """A service behind a proxy.

    Attributes:
        wire: The service.
        port: Where the proxy listens.
        seen: Addresses and paths of requests as the service was told of them.
        folder: What the proxy writes.
    """

    def __init__(self, wire: Wire, port: int, seen: list[tuple[str, str]], folder: Path) -> None:
        self.wire, self.port, self.seen, self.folder = wire, port, seen, folder

    def raw(self, data: bytes) -> bytes:
        """Send bytes to the proxy and return what comes back before the other end is silent."""
        with closing(socket.create_connection(("127.0.0.1", self.port), 60)) as there:
            told = b""
            with suppress(ConnectionError, TimeoutError):
                there.sendall(data)
                there.settimeout(2)
                while piece := there.recv(65_536):
                    told += piece
            return told


def nginx(folder: Path, port: int, behind: int) -> list[str]:
    server = documented("limit_conn_zone")
    for old, new in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port};"),
        ("ssl_certificate /etc/ssl/detector.pem;", ""),
        ("ssl_certificate_key /etc/ssl/detector.key;", ""),
        ("http://127.0.0.1:8080", f"http://127.0.0.1:{behind}"),
    ):
        assert server.count(old) == 1, old
        server = server.replace(old, new)
    temp = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log info;\n"
        f"events {{ worker_connections 2048; }}\nhttp {{\n{temp}{server}}}\n"
    )
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, port: int, behind: int) -> list[str]:
    server = documented("detector.example.org")
    for old, new in (
        ("detector.example.org {", f"http://127.0.0.1:{port}, http://x:{port} {{"),
        ("127.0.0.1:8080", f"127.0.0.1:{behind}"),
    ):
        assert server.count(old) == 1, old
        server = server.replace(old, new)
    (folder / "Caddyfile").write_text(f"{{\n admin off\n}}\n{server}")
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


class Seen:
    """Writes down who asked for what."""

    def __init__(self, app: Any, seen: list[tuple[str, str]]) -> None:
        self._app, self._seen = app, seen

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            self._seen.append((scope["client"][0], scope["path"]))
        await self._app(scope, receive, send)


@pytest.fixture(params=[nginx, caddy], ids=["nginx", "caddy"])
def proxied(
    request: pytest.FixtureRequest,
    wire: Callable[..., Wire],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., Proxied]]:
    """Start a service behind a proxy; as ``wire``."""
    set_up = request.param
    if shutil.which(set_up.__name__) is None:
        pytest.skip(f"{set_up.__name__} is not installed")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with ExitStack() as held:

        def start(**settings: Any) -> Proxied:
            seen: list[tuple[str, str]] = []
            there = wire(
                listen={"proxies": ("127.0.0.1",), "hosts": ("x",)},
                around=lambda app: app.add_middleware(Seen, seen=seen),
                **settings,
            )
            said = tmp_path / "said.log"
            for _ in range(PATIENCE):  # somebody else may take the port before the proxy does
                with closing(socket.create_server(("127.0.0.1", 0))) as free:
                    port = free.getsockname()[1]
                with said.open("w") as out:
                    command = set_up(tmp_path, port, there.port)
                    process = held.enter_context(
                        subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
                    )
                held.callback(process.terminate)
                while process.poll() is None:
                    with suppress(httpx.TransportError):
                        where = f"http://127.0.0.1:{port}/healthz"
                        if httpx.get(where, trust_env=False).text == "ok":
                            return Proxied(there, port, seen, tmp_path)
            pytest.fail(said.read_text())

        yield start


def smuggled(form: bytes, body: bytes) -> bytes:
    """Return a request whose end two readers might see in different places, and another in it."""
    return POST + form + b"\r\n" + body


LENGTH = b"Content-Length: %d\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
INSIDE = b"0\r\n\r\n" + HIDDEN
TRICKS = {
    "both, length first": (LENGTH % len(INSIDE) + CHUNKED, INSIDE),
    "both, chunks first": (CHUNKED + LENGTH % len(INSIDE), INSIDE),
    "short length": (CHUNKED + LENGTH % 4, b"%x\r\n%b\r\n0\r\n\r\n" % (len(HIDDEN), HIDDEN)),
    "two lengths": (LENGTH % len(INSIDE) + LENGTH % 5, INSIDE),
    "a list of lengths": (b"Content-Length: 5, %d\r\n" % len(INSIDE), INSIDE),
    "a length with a sign": (b"Content-Length: +5\r\n", INSIDE),
    "chunked in disguise": (LENGTH % len(INSIDE) + b"Transfer-Encoding: xchunked\r\n", INSIDE),
    "chunked twice": (CHUNKED + b"Transfer-Encoding: identity\r\n" + LENGTH % 5, INSIDE),
    "chunked, not last": (b"Transfer-Encoding: chunked, gzip\r\n" + LENGTH % 5, INSIDE),
    "a blank before the colon": (b"Transfer-Encoding : chunked\r\n" + LENGTH % len(INSIDE), INSIDE),
    "a tab": (b"Transfer-Encoding:\x0bchunked\r\n" + LENGTH % len(INSIDE), INSIDE),
    "folded": (b"X: a\r\n Transfer-Encoding: chunked\r\n" + LENGTH % len(INSIDE), INSIDE),
    "bare line feeds": (b"X: a\nTransfer-Encoding: chunked\n" + LENGTH % len(INSIDE), INSIDE),
    "a carriage return": (b"X: a\rTransfer-Encoding: chunked\r\n" + LENGTH % len(INSIDE), INSIDE),
    "no length": (b"", INSIDE),
    "a chunk's size too large": (CHUNKED, b"fffffffffffffffff\r\n" + INSIDE),
    "a chunk's extension": (CHUNKED, b"1;\n\r\nx\r\n" + INSIDE),
}


def test_what_a_proxy_and_the_service_could_read_differently(
    proxied: Callable[..., Proxied],
) -> None:
    there = proxied(protection={"per_day_block": 0})
    for name, (form, body) in TRICKS.items():
        told = there.raw(smuggled(form, body) + b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"Traceback" not in told, name
        # A request that only the service saw would have brought an address of its own.
        assert {address for address, _ in there.seen} <= {"127.0.0.1"}, name
        after = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert there.raw(after).endswith(b"ok"), name


def test_who_says_to_be_somebody_else_is_not_believed(proxied: Callable[..., Proxied]) -> None:
    there = proxied(protection={"per_day_block": 1})
    told = []
    with httpx.Client(base_url=f"http://127.0.0.1:{there.port}", trust_env=False) as client:
        for name in ("X-Forwarded-For", "x-forwarded-for", "Forwarded", "X-Real-IP"):
            asked = client.post(
                "/v1/checks", json={"text": LONG}, headers=[(name, SPOOFED), (name, "::1")]
            )
            told.append(asked.status_code)
    assert told == [200, 429, 429, 429]
    assert {address for address, _ in there.seen} == {"127.0.0.1"}


def test_bodies_that_are_large_or_slow(
    proxied: Callable[..., Proxied], token: Callable[..., dict[str, str]]
) -> None:
    there, header = proxied(), token(Role.INTERNAL)
    with (
        httpx.Client(
            base_url=f"http://127.0.0.1:{there.port}", trust_env=False, timeout=60, headers=header
        ) as client,
        ExitStack() as held,
    ):
        # What the service takes the proxy takes, and not a byte of it is written down.
        most = client.get("/v1/detector").json()["most_bytes"]
        page = b"<p>A few plain words.</p><!--" + b"x" * (most - 2000) + b"-->"
        told = client.post("/v1/checks", files={"file": ("a.html", page)})
        assert told.json()["status"] == "done"
        written = "".join(path.read_text() for path in there.folder.glob("*.log"))
        assert "temporary file" not in written
        endless = (b"x" * MIB for _ in range(40))
        for data, refused in ((b"x" * (most + MIB), {413}), (endless, {413, 502})):
            with suppress(httpx.TransportError):  # it may be cut off while it still speaks
                told = client.post("/v1/checks", content=data, headers=JSON)
                assert told.status_code in refused
        # From other blocks than this one: those who hold connections keep nobody out.
        for number in range(600):
            other = socket.create_connection(
                ("127.0.0.1", there.port), 60, (f"127.0.{number % 250}.2", 0)
            )
            held.enter_context(closing(other))
            with suppress(ConnectionError):
                other.sendall(POST + b"Content-Length: 1000\r\n\r\n{")
        for _ in range(3):
            closes = {"Connection": "close"}
            assert client.get("/healthz", headers=closes).text == "ok"
            assert there.wire.client.get("/healthz", headers=closes).text == "ok"
