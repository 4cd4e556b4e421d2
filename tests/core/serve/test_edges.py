"""What stands around the questions: a full disk, its names, other sites, and the log."""

from __future__ import annotations

import io
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.core.serve.conftest import Start, Token, ask, lines

from pura.base.errors import ServeError
from pura.caselog import CaseLog
from pura.record.answers import Role
from pura.serve import routes
from pura.serve.app import Listen
from pura.serve.service import Log
from pura.serve.settings import Store
from pura.serve.shapes import MEDIA
from pura.usecases.cases import open_log

FOREIGN = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
    {"Origin": "https://evil.example"},
    {"Origin": "https://testserver.evil.example"},
    {"Origin": "https://testserver@evil.example"},
    {"Origin": "http://[::1"},
    {"Origin": "http://testserver:8443"},
    {"Origin": "https://testserver:80"},
    {"Origin": "http://testserver:99999"},
    {"Origin": "null"},
    {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
)
OWN: tuple[dict[str, str], ...] = (
    {},
    {"Origin": "https://testserver"},
    {"Origin": "http://testserver:80"},
    {"Origin": "http://testserver:8443", "Sec-Fetch-Site": "same-origin"},
    {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
)


def addresses(client: Any) -> Iterator[tuple[str, str]]:
    """Yield method and path of everything that can be asked: pages, and what the schema lists."""
    for route in routes.pages.routes:
        yield from ((method, route.path) for method in sorted(route.methods))  # type: ignore[attr-defined]
    for path, methods in client.get("/v1/openapi.json").json()["paths"].items():
        yield from ((method.upper(), path) for method in methods)


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> Callable[[Store], None]:
    """Have SQLite refuse all that a store would write, as on a full disk."""

    def fill(store: Store) -> None:
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        large = "INSERT INTO buckets VALUES (zeroblob(1000000), 1e12)"
        monkeypatch.setattr(Store, "_move", lambda self, *_: self._db.execute(large))

    return fill


def test_a_full_disk_is_507_and_no_check_waits_for_ever(
    detector: Start,
    token: Token,
    plain: str,
    gate: threading.Event,
    no_room: Callable[[Store], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = detector(limits={"at_once_s": 0.0})
    store, trusted = client.app.state.service._store, token(Role.TRUSTED)
    first, second = (ask(client, f"{plain} {n}", trusted).json()["id"] for n in range(2))
    assert client.get("/readyz").text == "ready"
    move = Store._move
    client.portal.call(no_room, store)
    for headers in (trusted, {}):
        refused = ask(client, plain, headers)
        assert (refused.status_code, refused.json()["code"]) == (507, "disk-full")
    ready = client.get("/readyz")
    assert (ready.status_code, ready.text) == (503, "disk")
    assert client.get("/healthz").status_code == 200  # starting it again would not help
    # What was begun goes on, and what is paid back cannot be written down.
    assert client.delete(f"/v1/checks/{second}", headers=trusted).status_code == 204

    async def held() -> list[str]:
        return [*client.app.state.service._checks]

    assert second not in client.portal.call(held)
    gate.set()
    place, state = f"/v1/checks/{first}", "waiting"
    while state == "waiting":
        state = client.get(place, headers=trusted).json()["status"]
    assert state == "done"
    monkeypatch.setattr(Store, "_move", move)

    async def room() -> None:
        store._db.execute("PRAGMA max_page_count = 1000000")

    client.portal.call(room)
    assert client.get("/readyz").text == "ready"
    assert ask(client, plain, trusted).status_code < 300


def test_where_a_case_finds_no_room_the_check_fails(
    detector: Start, token: Token, plain: str, at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_log(at, create=True) as log:
        pages = log.db.execute("PRAGMA page_count").fetchone()[0]
    begin = CaseLog.__init__

    def small(self: CaseLog, *args: Any, **more: Any) -> None:
        begin(self, *args, **more)
        self.db.execute(f"PRAGMA max_page_count = {pages}")

    monkeypatch.setattr(CaseLog, "__init__", small)
    told = ask(detector(), plain, token(Role.INTERNAL), case="Thesis").json()
    assert told["status"] == "failed"
    assert (told["problem"]["code"], told["problem"]["status"]) == ("disk-full", 507)


def test_with_little_room_left_it_is_not_ready(
    detector: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        free: int

    client = detector()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free=1 << 20))
    assert client.get("/readyz").status_code == 503


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_log_on_a_full_disk_costs_nobody_an_answer() -> None:
    stream = Path("/dev/full").open("w", encoding="utf-8")  # noqa: SIM115
    stream.write("x")
    with pytest.raises(OSError, match="space"):
        stream.flush()
    Log(stream)("check", token="City paper")
    with pytest.raises(OSError, match="space"):
        stream.close()


def test_it_answers_under_its_names_only(detector: Start) -> None:
    """Walks all addresses."""
    client = detector(hosts=("detector.example.org", "192.0.2.1"))
    own = ("detector.example.org", "Detector.Example.ORG:443", "detector.example.org.", "192.0.2.1")
    for host in (*own, "localhost:8080", "127.0.0.1", "[::1]:8080"):
        assert client.get("/healthz", headers={"Host": host}).status_code == 200, host
    client.base_url = "http://localhost"
    found = [*addresses(client)]
    assert len(found) > 12
    others = (
        "evil.example",
        "detector.example.org.evil.example",
        "x@detector.example.org",
        "detector.example.org/",
        "192.0.2.2",
        "0.0.0.0",
        "",
    )
    for method, path in found:
        for host in others:
            told = client.request(method, path, headers={"Host": host})
            assert (told.status_code, told.json()["code"]) == (421, "serve-host"), (path, host)


def test_what_a_page_of_another_site_sends_is_refused(
    detector: Start, plain: str, said: io.StringIO
) -> None:
    """Walks all addresses that change something."""
    client = detector()
    changing = [(method, path) for method, path in addresses(client) if method != "GET"]
    assert {("POST", "/"), ("DELETE", "/v1/checks/{identifier}")} < {*changing}
    for method, path in changing:
        for headers in FOREIGN:
            told = client.request(method, path, headers=headers)
            assert (told.status_code, told.json()["code"]) == (403, "serve-elsewhere"), headers
        for headers in OWN:
            told = client.request(method, path, headers=headers)
            assert "serve-elsewhere" not in told.text, headers
    assert client.get("/", headers=FOREIGN[0]).status_code == 200  # somebody follows a link
    for headers in FOREIGN:
        assert ask(client, plain, headers).status_code == 403
    assert lines(said) == []
    assert {ask(client, plain, headers).status_code for headers in OWN} == {200}
    # Else its own form would come from nowhere.
    assert client.get("/").headers["referrer-policy"] == "same-origin"


def test_refusals_are_logged_by_role_reason_and_block_and_counted(
    detector: Start, token: Token, plain: str, said: io.StringIO
) -> None:
    client = detector(limits={"body_bytes": 20_000})
    for _ in range(50):
        client.get("/metrics", headers={"Authorization": "Bearer wrong-and-secret"})
    ask(client, plain * 100, token(Role.TRUSTED, "City paper"))
    ask(client, "", {"Sec-Fetch-Site": "cross-site"})
    client.post("/", data={"text": plain})  # the page's own refusals too
    service = client.app.state.service

    async def flush() -> None:
        service._refusals.flush()

    assert [one["count"] for one in lines(said, "refused")] == [1, 1, 1, 1]
    client.portal.call(flush)
    told = [(r["role"], r["reason"], r["block"], r["count"]) for r in lines(said, "refused")]
    assert told == [
        ("", "serve-auth", "192.0.2.0/24", 1),
        ("trusted", "serve-large", "192.0.2.0/24", 1),
        ("public", "serve-elsewhere", "192.0.2.0/24", 1),
        ("public", "serve-media", "192.0.2.0/24", 1),
        ("", "serve-auth", "192.0.2.0/24", 49),
    ]
    for secret in ("192.0.2.7", "wrong-and-secret", plain[:20], "City paper"):
        assert secret not in said.getvalue()


def test_refusals_from_very_many_places_are_counted_together(
    detector: Start, said: io.StringIO
) -> None:
    client = detector()
    service = client.app.state.service

    async def flood() -> None:
        for one in range(3000):
            service.turned_away("serve-busy", f"2001:db8:{one:x}::1")
        service.turned_away("serve-busy", "::ffff:198.51.100.9")
        service.turned_away("serve-busy", "")
        service._refusals.flush()

    client.portal.call(flood)
    told = lines(said, "refused")
    assert len(told) < 1010
    assert sum(one["count"] for one in told) == 3002
    assert told[0]["block"] == "2001:db8::/48"


def test_where_nobody_could_ask_it_does_not_listen() -> None:
    for where, more in (("0.0.0.0:1", {"plain": True}), ("127.0.0.1:1", {"proxies": ("::1",)})):
        with pytest.raises(ServeError, match="No name is set"):
            Listen.parsed(where, **more).refuse()
        named = Listen.parsed(where, hosts=("Detector.Example.org.",), **more)
        named.refuse()
        assert named.names[0] == "detector.example.org"
        assert "0.0.0.0" not in named.names
    for wrong in ("https://x", "x:80", "x/y", "", "a b", "*.example.org"):
        with pytest.raises(ServeError, match="not a valid address or name"):
            Listen.parsed("127.0.0.1:1", hosts=(wrong,))
    assert Listen.parsed("192.0.2.1:1").names == ("192.0.2.1",)


def test_every_address_answers_nonsense_with_what_it_declares(
    detector: Start, token: Token
) -> None:
    client = detector()
    declared = client.get("/v1/openapi.json").json()["paths"]
    found = [*addresses(client)]
    askers = ({}, {"Authorization": "Bearer wrong"}, token(Role.TRUSTED), token(Role.INTERNAL))
    for method, path in found:
        for headers in askers:
            for body in (b"", b"{", b'{"text": 1}', b"\xff" * 50):
                kind = {"Content-Type": "application/json"} if body else {}
                told = client.request(method, path, content=body, headers=headers | kind)
                where = (method, path, headers, body, told.status_code, told.text[:300])
                said = declared.get(path, {}).get(method.lower(), {}).get("responses")
                assert told.status_code < 500, where
                if said is not None:
                    assert str(told.status_code) in said, where
                if told.status_code >= 400 and said is not None:
                    assert told.headers["content-type"] == MEDIA, where
                    assert told.json()["code"], where
    assert len(found) > len(declared)
