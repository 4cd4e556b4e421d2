"""Whoever has a token is served in order, whatever the public does; on a socket of this machine.

How long it takes is measured by ``bench/serve.py``; here, who comes first and who holds how much.
"""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any

import pytest
from tests.core.documents.test_c2pa import manifest
from tests.core.serve.conftest import Token, Wire, ask, lines

from pura.documents import read_data
from pura.record.answers import Role
from pura.usecases.audits import Prepared

Start = Callable[..., Wire]
POST = b"POST /v1/checks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
PROXY = {"proxies": ("127.0.0.0/8",), "hosts": ("x",)}
PATIENCE_S = 60


def from_block(number: int) -> dict[str, str]:
    """Return the header of somebody from an address block of their own, behind a proxy."""
    return {"X-Forwarded-For": f"198.18.{number}.1"}


def test_slow_bodies_hold_no_more_than_the_share_of_the_public(wire: Start, token: Token) -> None:
    """Eight bodies of 100 kB that stop short of their end, where there is room for eight."""
    most = 100_000
    there, header = wire(limits={"body_bytes": most, "held_bytes": 8 * most}), token(Role.TRUSTED)
    with ExitStack() as held:
        for _ in range(8):
            other = socket.create_connection(("127.0.0.1", there.port), PATIENCE_S)
            held.enter_context(closing(other))
            other.sendall(POST + b"Content-Length: %d\r\n\r\n" % most + b" " * (most - 100))
        text = json.dumps({"text": "Some words." + " " * (most // 2)}).encode()
        as_json = header | {"Content-Type": "application/json"}
        for _ in range(8):  # whatever of the bodies has come by then
            assert there.client.post("/v1/checks", content=text, headers=as_json).status_code == 200


def test_a_body_that_comes_too_slowly_is_not_waited_for(wire: Start) -> None:
    there = wire(limits={"body_s": 600.0, "grace_s": 0.2, "least_rate": 1 << 20})
    told = there.raw(POST + b"Content-Length: 90000\r\n\r\n" + b" " * 50_000)
    assert told.split(b" ")[1] == b"408"


def test_texts_of_the_public_wait_in_a_line_of_their_own_and_give_way(
    wire: Start, token: Token, plain: str, gate: threading.Event, said: io.StringIO
) -> None:
    """Forty texts with a manifest of 8 kB each, and then one of somebody with a token."""
    there = wire(listen=PROXY, limits={"at_once_s": 0.0, "waiting": 60})
    header, hidden = token(Role.TRUSTED), manifest(8000)
    asked = [ask(there.client, plain + hidden, from_block(number)) for number in range(40)]
    found = Counter(one.status_code for one in asked)
    assert found[202] >= 30  # half of the places, and those that are being read
    assert set(found) <= {202, 429}
    places = [ask(there.client, plain, header) for _ in range(3)]
    assert [one.status_code for one in places] == [202] * 3
    gate.set()
    while len(lines(said)) < found[202] + 3:
        time.sleep(0.01)
    order = [line["role"] for line in lines(said)]
    assert order[:3] == ["trusted"] * 3
    assert len({line["tokens"] for line in lines(said)}) == 1  # no token of a manifest was read


def test_what_gives_way_goes_on_all_the_same(
    wire: Start, token: Token, plain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's text is read for ever, and the public is answered beside it."""
    monkeypatch.setattr("pura.serve.reader._PAUSE_S", 0.01)
    opened, read = threading.Event(), Prepared.audit_many

    def held(self: Prepared, items: Any, *, checkpoint: Callable[[], None], **more: Any) -> Any:
        while "endless" in items[0].document.text and not opened.wait(0.01):
            checkpoint()
        return read(self, items, checkpoint=checkpoint, **more)

    monkeypatch.setattr(Prepared, "audit_many", held)
    there, header = wire(limits={"at_once_s": 0.0}), token(Role.TRUSTED)
    ask(there.client, "An endless text.", header)
    place = ask(there.client, plain).headers["location"]
    while there.client.get(place).json()["status"] == "waiting":
        time.sleep(0.01)
    opened.set()


def test_files_of_the_public_have_a_parser_and_no_more(
    wire: Start, token: Token, marked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four files that no parser comes to an end with."""
    opened, running, most = threading.Event(), Counter[str](), Counter[str]()

    def slow(data: bytes, *, name: str, heartbeat: Callable[[], None], **rest: Any) -> Any:
        running[name] += 1
        most[name] = max(most[name], running[name])
        while name == "hostile.pdf" and not opened.wait(0.01):
            heartbeat()
        running[name] -= 1
        return read_data(data, name=name, heartbeat=heartbeat, **rest)

    monkeypatch.setattr("pura.serve.routes.read_data", slow)
    there, header = wire(), token(Role.TRUSTED)
    hostile = {"file": ("hostile.pdf", b"%PDF-1.7 endless")}
    letter = {"file": ("letter.txt", marked[0].encode())}
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(there.client.post, "/v1/checks", files=hostile) for _ in range(4)]
        while not running["hostile.pdf"]:
            time.sleep(0.01)
        for _ in range(3):
            told = there.client.post("/v1/checks", files=letter, headers=header)
            assert told.json()["answer"]["verdict"] == "mark"
        opened.set()
        assert [one.result().status_code for one in asked] == [422] * 4
    assert most["hostile.pdf"] == 1
    # A parser has the time that the role has.
    opened.clear()
    limits = {"parser_s": dict.fromkeys(Role, 60.0) | {Role.PUBLIC: 0.1}}
    refused = wire(limits=limits).client.post("/v1/checks", files=hostile)
    assert (refused.status_code, refused.json()["code"]) == (413, "input-limit")


def test_questions_of_one_character_cost_next_to_nothing_and_are_in_nobodys_way(
    wire: Start, token: Token, plain: str, gate: threading.Event, said: io.StringIO
) -> None:
    there = wire(limits={"at_once_s": 0.0, "waiting_each": 256})
    header = token(Role.TRUSTED)
    asked = [ask(there.client, chr(0x4E00 + number)).status_code for number in range(150)]
    assert set(asked[:100]) == {202}  # of two hundred checks a day
    assert ask(there.client, plain, header).status_code == 202
    gate.set()
    while not (found := lines(said)):
        time.sleep(0.01)
    assert found[0]["role"] == "trusted"


def test_connections_of_strangers_cut_off_nobody_with_a_token(wire: Start, token: Token) -> None:
    """Two hundred connections, where there is room for forty, while somebody sends a body."""
    there, header = wire(limits={"connections": 40}), token(Role.TRUSTED)["Authorization"]
    body = json.dumps({"text": "Some plain words."}).encode()
    slow = POST + b"Content-Length: 9\r\n\r\n{"
    begun = (b"", b"GET /healthz HTTP/1.1\r\nX: ", slow)
    with ExitStack() as held:

        def connected() -> socket.socket:
            other = socket.create_connection(("127.0.0.1", there.port), PATIENCE_S)
            return held.enter_context(closing(other))

        mine = connected()
        mine.sendall(POST + b"Authorization: %s\r\n" % header.encode())
        mine.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body[:5])
        closes = {"Connection": "close"}
        for number in range(200):
            connected().sendall(begun[number % 3])
            if number % 20 == 0:
                assert there.client.get("/healthz", headers=closes).text == "ok"
        mine.sendall(body[5:])
        assert mine.recv(12) == b"HTTP/1.1 200"


def test_the_public_answers_wait_on_no_more_than_their_share_of_connections(
    wire: Start, token: Token, gate: threading.Event
) -> None:
    there, header = wire(listen=PROXY, limits={"connections": 12}), token(Role.TRUSTED)
    closes = {"Connection": "close"}
    with ThreadPoolExecutor(10) as pool:
        asked = [
            pool.submit(ask, there.client, f"Words {number}.", from_block(number) | closes)
            for number in range(10)
        ]
        while sum(one.done() for one in asked) < 4:
            time.sleep(0.01)  # six wait for their answer: half of twelve
        assert {one.result().status_code for one in asked if one.done()} == {429}
        waiting = [one for one in asked if not one.done()]
        assert there.client.get("/healthz", headers=closes).text == "ok"
        place = pool.submit(ask, there.client, "Mine.", header | closes)
        gate.set()
        assert place.result().status_code == 200
        assert {one.result().status_code for one in waiting} == {200}
