"""What the service takes: how much, how long, and what happens to those who wait."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from tests.core.serve.conftest import Start, Token, ask

from pura.base.paths import user_paths
from pura.documents import from_text
from pura.record.answers import Role
from pura.serve.reader import Line, Work
from pura.usecases.audits import Prepared


def test_a_queue_is_bounded_and_who_waits_is_told_how_long(
    detector: Start, token: Token, gate: threading.Event
) -> None:
    client = detector(limits={"at_once_s": 0.0, "waiting": 3, "waiting_each": 2})
    one, other = token(Role.TRUSTED, "one"), token(Role.TRUSTED, "other")
    places = [ask(client, "Text.", one)]
    while client.app.state.service._reader.waiting():
        pass
    places += [ask(client, f"Text {n}.", one) for n in range(3)]
    # The first is being read; one may have two more that wait, and all three.
    assert [place.status_code for place in places] == [202, 202, 202, 429]
    assert int(places[3].headers["retry-after"]) >= 1
    assert ask(client, "Text.", other).status_code == 202
    assert ask(client, "Text.", other).json()["code"] == "serve-busy"
    # One that is asked about no more frees its place.
    place = places[1].headers["location"]
    assert client.get(place, headers=one).json()["status"] == "waiting"
    assert client.delete(place, headers=one).status_code == 204
    assert client.get(place, headers=one).status_code == 404
    assert ask(client, "Text.", other).status_code == 202
    gate.set()
    kept = places[2].headers["location"]
    while client.get(kept, headers=one).json()["status"] == "waiting":
        pass
    assert client.get(kept, headers=one).json()["status"] == "done"


def test_answers_that_were_fetched_give_way_and_others_do_not(
    detector: Start, token: Token, gate: threading.Event
) -> None:
    client = detector(limits={"at_once_s": 0.0, "kept": 4})
    desk = token(Role.TRUSTED)

    def shown(place: str, header: dict[str, str] | None) -> Any:
        return client.get(place, headers=header)

    def asked(text: str, header: dict[str, str] | None) -> str:
        told = ask(client, text, header)
        assert told.status_code == 202, told.json()
        return str(told.headers["location"])

    asks = [("One.", desk), ("Two.", desk), ("Three.", None), ("Four.", None)]
    one, two, three, four = (asked(text, header) for text, header in asks)
    assert ask(client, "Five.", desk).json()["code"] == "serve-busy"
    gate.set()
    for place, header in ((two, desk), (three, None)):
        while shown(place, header).json()["status"] == "waiting":
            pass
    # The public makes room for itself only; what nobody has fetched stays.
    asked("Five.", None)
    assert [shown(place, None).status_code for place in (three, four)] == [404, 200]
    assert shown(two, desk).status_code == 200
    asked("Six.", desk)
    assert [shown(place, desk).status_code for place in (two, one)] == [404, 200]


def test_a_fault_before_or_after_the_reading_is_its_texts_alone(
    detector: Start, token: Token, plain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, header = detector(), token(Role.INTERNAL)

    def keeping(*_: Any) -> Callable[[Any], None]:
        def keep(found: Any) -> None:
            raise RuntimeError(found.audit.text)

        return keep

    def full(*_: Any) -> None:
        raise ValueError(plain)

    with monkeypatch.context() as patch:
        patch.setattr("pura.serve.routes._keeping", keeping)
        kept = ask(client, plain, header, case="Desk").json()
    with monkeypatch.context() as patch:
        patch.setattr("pura.serve.service.policy_facts", full)
        told = ask(client, plain, header).json()
    for shown in (kept, told):
        assert (shown["status"], shown["problem"]["code"]) == ("failed", "internal")
        assert plain[:20] not in json.dumps(shown)
        assert str(user_paths().state) not in json.dumps(shown), "an asker learns no path"
    assert ask(client, plain, header).json()["status"] == "done", "who reads still reads"


def test_texts_that_were_read_alone_are_counted(
    detector: Start,
    token: Token,
    marked: list[str],
    plain: str,
    gate: threading.Event,
    faulty: Callable[..., Any],
) -> None:
    client = detector(limits={"at_once_s": 0.0})
    header = token(Role.INTERNAL)
    places = [ask(client, "First.", header)]  # which is read while the others come
    while client.app.state.service._reader.waiting():
        pass
    places += [ask(client, text, header) for text in (marked[0], plain)]
    faulty(8, plain, RuntimeError(plain))
    gate.set()
    ends = []
    for place in places:
        while (shown := client.get(place.headers["location"], headers=header).json()) and (
            shown["status"] == "waiting"
        ):
            pass
        ends.append(shown["status"])
    assert ends == ["done", "done", "failed"]
    assert "pura_serve_read_alone_total 1.0" in client.get("/metrics", headers=header).text


def test_a_text_that_takes_too_long_and_a_fault_are_answered_and_cost_no_other(
    detector: Start, token: Token, plain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, skipped = Prepared._audit_group, [0.0]
    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + skipped[0])
    monkeypatch.setattr("pura.serve.reader.time", clock)

    def faulty(
        self: Prepared, items: Any, alone: bool, tell: Any, checkpoint: Callable[[], None], day: Any
    ) -> Any:
        for item in items:
            if "endless" in item.document.text:
                skipped[0] += 1000.0
                checkpoint()
            if "broken" in item.document.text:
                raise ValueError(item.document.text)
        return read(self, items, alone, tell, checkpoint, day)

    monkeypatch.setattr(Prepared, "_audit_group", faulty)
    client, header = detector(), token(Role.TRUSTED)
    late = ask(client, "An endless text.", header).json()
    assert (late["status"], late["problem"]["code"]) == ("failed", "serve-time")
    broken = ask(client, "A broken text.", header).json()
    assert broken["problem"]["code"] == "internal"
    assert "ValueError" in broken["problem"]["title"]
    assert "broken" not in json.dumps(broken)
    assert ask(client, "Fine.", header).json()["status"] == "done"


def test_askers_take_turns_and_texts_are_taken_together() -> None:
    line = Line(threading.Condition(), 3, 1000)
    works = [
        Work(
            document=from_text(f"{who} {n}", name="t"),
            asker=who,
            reserved=True,
            done=lambda _: None,
        )
        for who, n in (("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 1))
    ]
    for work in works:
        line.put(work)
    assert [work.document.text for work in line.taken()] == ["a 1", "b 1", "c 1"]
    assert line.drop(works[1])
    assert not line.drop(works[1])
    assert (line.count, line.characters, line.waiting("a")) == (1, 3, 1)
    assert line.taken() == [works[2]]
    assert line.taken() == []


def test_a_long_text_does_not_hold_up_short_ones_and_reads_the_same(
    detector: Start, token: Token, marked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The long one is held until a short one is answered, which took its turn in between."""
    client, header = detector(limits={"long_characters": 500}), token(Role.INTERNAL)
    alone = ask(client, marked[0], header).json()["answer"]["record"]
    answered, begun, read = threading.Event(), threading.Event(), Prepared.audit_many

    def held(self: Prepared, items: Any, **more: Any) -> Any:
        if len(items[0].document.text) > 500:
            begun.set()
            assert answered.wait(60)
        return read(self, items, **more)

    monkeypatch.setattr(Prepared, "audit_many", held)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(ask(client, marked[0], header).json()))
    thread.start()
    assert begun.wait(60)
    assert ask(client, marked[1][:400], header).json()["status"] == "done"
    answered.set()
    thread.join(60)
    assert found[0]["answer"]["record"]["tokens"] == alone["tokens"]


def gone(client: Any, method: str, path: str, header: dict[str, str], body: bytes = b"") -> None:
    """Send a request and go away."""
    messages = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 204

    more = [(name.lower().encode(), value.encode()) for name, value in header.items()]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"host", b"x"), (b"content-type", b"application/json"), *more],
        "client": ("192.0.2.8", 1),
        "server": ("test", 80),
        "http_version": "1.1",
    }
    client.portal.call(client.app, scope, receive, send)


def test_who_goes_away_while_waiting_frees_the_place_and_while_fetching_keeps_it(
    detector: Start, token: Token, gate: threading.Event, said: io.StringIO
) -> None:
    client = detector(limits={"at_once_s": 0.0})
    service = client.app.state.service
    later = replace(service.settings, limits=replace(service.settings.limits, at_once_s=60.0))
    gone(client, "POST", "/v1/checks", {}, b'{"text": "Somebody asked and left."}')
    while service._checks:
        client.portal.call(asyncio.sleep, 0.01)
    [line] = [json.loads(one) for one in said.getvalue().splitlines()]
    assert (line["verdict"], service.pending) == ("serve-cut", 0)
    desk = token(Role.TRUSTED)
    place = ask(client, "Somebody stays.", desk).headers["location"]
    service.settings = later
    gone(client, "GET", place, desk)
    # Who fetches with a token waits a moment for the answer.
    threading.Timer(0.2, gate.set).start()
    assert client.get(place, headers=desk).json()["status"] == "done"


def test_what_is_too_much_is_refused_in_the_words_of_the_tool(
    detector: Start, token: Token
) -> None:
    client = detector(limits={"body_bytes": 200_000, "characters": dict.fromkeys(Role, 1000)})
    german = {"Accept-Language": "de"}
    large = client.post("/v1/checks", json={"text": "a" * 300_000}, headers=german)
    assert large.status_code == 413
    assert large.json()["title"].startswith("Die Anfrage ist größer als")
    assert large.json()["type"] == "urn:pura:problem:serve-large"
    long = ask(client, "a" * 2000, german)
    assert (long.status_code, long.json()["title"]) == (
        413,
        "Der Text ist länger als 1.000 Zeichen.",
    )
    for body, kind, code in (
        (b"{", "application/json", "serve-request"),
        (b'{"text": 7}', "application/json", "serve-request"),
        (b'{"text": "a", "more": 1}', "application/json", "serve-request"),
        (b'{"text": "a", "text": "b"}', "application/json", "serve-request"),
        (b'{"text": "\\ud800"}', "application/json", "serve-request"),
        (b'{"text": "a", "name": "\\udfff"}', "application/json", "serve-request"),
        (b"[" * 200 + b"]" * 200, "application/json", "serve-request"),
        (b"\xff\xfe", "application/json", "serve-request"),
        (b"a=b", "application/x-www-form-urlencoded", "serve-media"),
        (b"", "", "serve-media"),
        (b"--x\r\n\r\n", "multipart/form-data", "serve-request"),
        (b"--x\r\n" * 100, "multipart/form-data; boundary=x", "serve-request"),
    ):
        told = client.post("/v1/checks", content=body, headers={"Content-Type": kind} | german)
        assert (told.status_code // 100, told.json()["code"]) == (4, code), body
        assert told.json()["detail"]
    many = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="a%d"\r\n\r\nb\r\n' % n for n in range(2000)
    )
    told = client.post(
        "/v1/checks",
        content=many + b"--x--\r\n",
        headers={"Content-Type": "multipart/form-data; boundary=x"},
    )
    assert told.json()["code"] == "serve-request"
    assert client.put("/v1/checks/a").headers["allow"] == "DELETE, GET"
    for method, path, status in (
        ("PUT", "/v1/checks", 405),
        ("GET", "/v1/../../etc/passwd", 404),
        ("GET", "/v1/checks/..%2f..%2fsalt", 404),
        ("GET", "/docs", 404),
    ):
        told = client.request(method, path, headers=german)
        assert (told.status_code, told.headers["content-type"]) == (
            status,
            "application/problem+json",
        )
    assert ask(client, "a", {"Authorization": "Bearer x"}).json()["code"] == "serve-auth"
    assert ask(client, "a", token(Role.TRUSTED), case="1").status_code == 403
    crossed = client.options(
        "/v1/checks",
        headers={"Origin": "https://else.example", "Access-Control-Request-Method": "POST"},
    )
    assert not [name for name in crossed.headers if name.startswith("access-control")]
    assert crossed.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in crossed.headers["content-security-policy"]
