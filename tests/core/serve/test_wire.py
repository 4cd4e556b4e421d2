"""The service on a real socket of this machine: hostile bytes, files, drain, proxies, TLS."""

from __future__ import annotations

import io
import ipaddress
import json
import signal
import socket
import ssl
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psutil
import pytest
from cryptography import x509
from tests.core.certificates import key_pem, pem, self_signed
from tests.core.documents.test_hostile_corpus import ENTITIES, packed, pdf
from tests.core.serve.conftest import Token, Wire

from pura.base.errors import ServeError
from pura.base.paths import user_paths
from pura.record.answers import Role
from pura.scheme import SecretKey
from pura.serve.app import Listen
from pura.usecases.audits import Prepared
from pura.usecases.cases import open_log


def test_hostile_bytes_are_bounded_and_the_service_goes_on(wire: Callable[..., Wire]) -> None:
    there = wire(limits={"body_bytes": 100_000})
    post = b"POST /v1/checks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    close = b"Connection: close\r\n"
    chunk = b"8000\r\n" + b"a" * 0x8000 + b"\r\n"
    for data, status in (
        (post + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 99, b""),
        (post + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}", b"400"),
        (post + b"Content-Length: -4\r\n\r\n{}", b"400"),
        (post + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        (b"GET /v1/checks/" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n" + close + b"\r\n", b"200"),
        (b"GET http://else.example/healthz HTTP/1.1\r\nHost: x\r\n" + close + b"\r\n", b"404"),
        (b"\x16\x03\x01\x02\x00\x01\x00", b""),
    ):
        told = there.raw(data)
        assert told.split(b" ")[1:2] == ([status] if status else told.split(b" ")[1:2]), data[:90]
        assert b"Traceback" not in told
    assert there.client.get("/healthz").text == "ok"
    # What does not come is not waited for: the rest of a body, the rest of a head.
    late = wire(limits={"body_s": 0.2}).raw(post + b"Content-Length: 1000\r\n\r\n{")
    assert late.split(b" ")[1] == b"408"
    assert wire(limits={"header_s": 0.2}).raw(b"GET /healthz HTTP/1.1\r\nX: ") == b""


def test_requests_that_are_too_much_together_are_turned_away(wire: Callable[..., Wire]) -> None:
    there = wire(limits={"held_bytes": 200_000})
    head = b"POST /v1/checks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

    def small() -> httpx.Response:
        kind = {"Content-Type": "application/json"}
        return there.client.post("/v1/checks", content=b"[" * 50_000, headers=kind)

    with closing(socket.create_connection(("127.0.0.1", there.port), 60)) as other:
        other.sendall(head + b"Content-Length: 90000\r\n\r\n" + b" " * 80_000)
        while (told := small()).status_code == 400:
            pass  # until what the other sent has come
    assert (told.status_code, told.json()["code"]) == (429, "serve-busy")
    while small().status_code == 429:
        pass  # until the service has seen that the other is gone


def test_who_holds_connections_keeps_nobody_out(
    wire: Callable[..., Wire], said: io.StringIO
) -> None:
    there = wire(limits={"connections": 20})
    slow = b"POST /v1/checks HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"
    begun = (b"", b"GET /healthz HTTP/1.1\r\nX: ", slow)
    with ExitStack() as held:
        for number in range(90):
            other = socket.create_connection(("127.0.0.1", there.port), 60)
            held.enter_context(closing(other)).sendall(begun[number % 3])
        assert there.client.get("/healthz", headers={"Connection": "close"}).text == "ok"
    assert '"reason": "serve-slow", "block": "127.0.0.0/24"' in said.getvalue()


def test_more_requests_than_there_is_room_for_are_turned_away(
    wire: Callable[..., Wire], token: Token, gate: threading.Event, said: io.StringIO
) -> None:
    there = wire(limits={"connections": 4})
    ask = b"POST /v1/checks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    ask += b"Authorization: %s\r\n" % token(Role.TRUSTED)["Authorization"].encode()
    text = b'{"text": "Some words."}'
    ask += b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
    with ExitStack() as held:
        for _ in range(3):
            other = socket.create_connection(("127.0.0.1", there.port), 60)
            held.enter_context(closing(other)).sendall(ask)
        while len(there.server.config.app.state.service._checks) < 3:
            pass  # until all three have come whole
        assert there.client.get("/healthz", headers={"Connection": "close"}).status_code == 503
        assert '"reason": "serve-busy"' in said.getvalue()
        gate.set()
    while there.client.get("/healthz", headers={"Connection": "close"}).status_code != 200:
        pass  # until they are answered


@pytest.mark.weekly
def test_ten_thousand_connections(wire: Callable[..., Wire]) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count, spare = 10_000, 2_000
    if soft < count + spare:
        if hard != resource.RLIM_INFINITY and hard < count + spare:
            pytest.skip("this account may not open so many files")
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + spare, hard))
    there = wire()
    before = psutil.Process().memory_info().rss
    with ExitStack() as held:
        for number in range(count):
            other = socket.create_connection(("127.0.0.1", there.port), 60)
            held.enter_context(closing(other))
            with suppress(ConnectionError):
                other.sendall((b"", b"GET /", b"POST /v1/checks HTTP/1.1\r\nX: ")[number % 3])
            if number % 500 == 0:
                asked = there.client.get("/healthz", headers={"Connection": "close"})
                assert asked.text == "ok", number
        assert psutil.Process().memory_info().rss - before < 64 << 20
        assert len(there.server.server_state.connections) <= 512


def test_files_come_through_the_sandbox_and_never_touch_the_disk(
    wire: Callable[..., Wire],
    token: Token,
    marked: list[str],
    said: io.StringIO,
    sample_key: SecretKey,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there, header = wire(), token(Role.INTERNAL)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")

    def send(data: bytes, name: str, **fields: str) -> Any:
        return there.client.post(
            "/v1/checks", files={"file": (name, data)}, data=fields, headers=header
        )

    canary = "Canaries of this very test sing at noon"
    page = f"<p>{marked[0]}</p><!--{canary}{'x' * 2_000_000}-->".encode()
    told = send(page, f"{canary}.html").json()["answer"]
    assert told["verdict"] == "mark"
    assert told["record"]["input"]["format"] == "html"
    assert send(f"{canary}. {marked[0]}".encode(), "a.txt").json()["status"] == "done"
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * (65 << 20))
    two = b"id,text\r\n1,one text\r\n2,another text\r\n"
    for data, name, code in (
        (bomb.getvalue(), "bomb.docx", "input-limit"),
        (b"%PDF-1.7 nothing of the kind", "a.pdf", "input-damaged"),
        (b"\x00\x01\x02", "../../x.txt", ""),
        (b"", "empty.txt", "input-empty"),
        (two, "a.csv", ""),
        (packed(ENTITIES[1]), "outside.docx", "input-outside"),
        (pdf(pages=100_000), "long.pdf", "input-limit"),
        (b"[" * 100_000 + b"]" * 100_000, "deep.json", "input-limit"),
        (b"\x7fELF\x02\x01\x01", "a.html", "input-format"),
    ):
        refused = send(data, name)
        assert refused.status_code in (413, 422), name
        assert code in ("", refused.json()["code"]), (name, refused.json())
        assert refused.json()["detail"], name
    assert send(page, "a.html", part="nothing").json()["code"] == "input-part"
    kept = b"".join(
        path.read_bytes() for path in user_paths().data.parent.rglob("*") if path.is_file()
    )
    log = said.getvalue()
    for secret in (canary, marked[0][:60], header["Authorization"].partition(" ")[2]):
        assert secret.encode() not in kept
        assert secret not in log
    assert sample_key.to_hex() not in json.dumps(told)


def test_what_is_answered_to_a_case_is_in_it_and_ends_are_orderly(
    wire: Callable[..., Wire],
    token: Token,
    at: Any,
    marked: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there, header = wire(limits={"at_once_s": 0.0}), token(Role.INTERNAL, "Desk")
    opened, read = threading.Event(), Prepared.audit_many

    def held(self: Prepared, items: Any, **more: Any) -> Any:
        assert opened.wait(60)
        return read(self, items, **more)

    monkeypatch.setattr(Prepared, "audit_many", held)
    asked = {"text": marked[0], "case": "2026-017"}
    place = there.client.post("/v1/checks", json=asked, headers=header).headers["location"]
    there.server.handle_exit(signal.SIGTERM, None)
    while there.client.get("/readyz").text != "draining":
        pass
    late = there.client.post("/v1/checks", json=asked, headers=header)
    assert (late.status_code, late.json()["code"]) == (503, "serve-draining")
    assert late.headers["retry-after"]
    opened.set()
    while (told := there.client.get(place, headers=header).json())["status"] == "waiting":
        pass
    assert told["answer"]["verdict"] == "mark"
    there.ended()  # what was asked has its answer, so nothing is left to wait for
    with open_log(at, read_only=True) as log:
        [entry] = log.acts("examination-finished")
        kept = zlib.decompress(log.kept_bytes(entry, "record") or b"")
    assert json.loads(kept)["id"] == told["answer"]["record"]["id"]


def test_forwarded_addresses_are_believed_of_named_proxies_only(
    wire: Callable[..., Wire],
) -> None:
    protection = {"per_day_block": 1}
    told = []
    for listen in ({}, {"proxies": ("127.0.0.0/8",), "hosts": ("x",)}):
        there = wire(listen=listen, protection=protection)
        for address in ("198.51.100.1", "203.0.113.1"):
            asked = there.client.post(
                "/v1/checks", json={"text": "word " * 300}, headers={"X-Forwarded-For": address}
            )
            told.append(asked.status_code)
    assert told == [200, 429, 200, 200]


def test_others_cannot_listen_in_unless_somebody_says_so(
    wire: Callable[..., Wire], tls: tuple[Path, Path]
) -> None:
    with pytest.raises(ServeError, match="could listen in"):
        Listen.parsed("0.0.0.0:80").refuse()
    for where in ("127.0.0.1:80", "[::1]:80", "localhost:0"):
        Listen.parsed(where).refuse()
    Listen.parsed("0.0.0.0:80", plain=True, hosts=("x",)).refuse()
    for wrong in ("8080", ":8080", "127.0.0.1:", "127.0.0.1:99999"):
        with pytest.raises(ServeError, match="not a valid address"):
            Listen.parsed(wrong)
    with pytest.raises(ServeError, match="not a valid address"):
        Listen.parsed("127.0.0.1:80", proxies=("proxy.example",))
    certificate, key = tls
    with pytest.raises(ServeError, match="given together"):
        Listen.parsed("127.0.0.1:80", certificate=certificate).refuse()
    there = wire(listen={"certificate": certificate, "key": key})
    trust = ssl.create_default_context(cafile=certificate)
    with httpx.Client(verify=trust, trust_env=False) as client:
        assert client.get(f"https://127.0.0.1:{there.port}/healthz").text == "ok"
    # Who begins no handshake is not waited for.
    there = wire(listen={"certificate": certificate, "key": key}, limits={"header_s": 0.2})
    with socket.create_connection(("127.0.0.1", there.port), 30) as silent:
        assert silent.recv(1) == b""


@pytest.fixture
def tls(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 and its key."""
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    key, cert = self_signed("127.0.0.1", None, here, critical=False)
    paths = tmp_path / "tls.pem", tmp_path / "tls.key"
    paths[0].write_bytes(pem(cert))
    paths[1].write_bytes(key_pem(key))
    return paths
