"""The gateway in front of an engine: each answer carries the mark of its row, or there is none."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.core.embed.serving.small_engine import (
    CUSTOMER,
    DEPLOYMENTS,
    LENGTH,
    PROXY,
    REQUESTS,
    TOKEN,
    Answer,
    Fault,
    SmallEngine,
    ask,
    load_policy,
    misplaced,
    outcomes_in,
    rows_in,
    tokens_of,
)

from pura.base.errors import RegisterError
from pura.embed.serving.deployments import Deployments
from pura.embed.serving.gateway import Gateway, GatewayMiddleware
from pura.embed.serving.policy import receipt
from pura.embed.serving.requests import RequestRefusedError
from pura.embed.serving.tickets import TICKET
from pura.scheme import Payload

SECRET = TOKEN[1].removeprefix(b"Bearer ")
Start = Callable[..., tuple[GatewayMiddleware, SmallEngine]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start a gateway with an engine behind it, by changes of its policy."""

    def started(
        fault: Fault | None = None, **changes: Any
    ) -> tuple[GatewayMiddleware, SmallEngine]:
        policy = load_policy(tmp_path, **changes)
        gateway = Gateway(policy)
        engine = SmallEngine(gateway.office, policy.engine.name, fault or Fault())
        return GatewayMiddleware(engine, gateway), engine

    return started


def carries(answer: Answer, row: dict[str, Any]) -> bool:
    """Whether the text of an answer carries the payload of a row."""
    return misplaced(tokens_of(answer.text), Payload(text=row["payload"])) == []


# --- answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", REQUESTS)
def test_an_answer_carries_the_payload_of_its_row(
    start: Start, tmp_path: Path, path: str, *, stream: bool
) -> None:
    middleware, _ = start()
    answers = [ask(middleware, {**REQUESTS[path], "stream": stream}, path=path) for _ in range(2)]
    rows = rows_in(tmp_path)
    assert [answer.status for answer in answers] == [200, 200]
    assert [row["who"] for row in rows] == ["north", "north"]
    assert rows[0]["payload"] != rows[1]["payload"]
    for answer, row in zip(answers, rows, strict=True):
        assert len(answer.text) == LENGTH
        assert carries(answer, row)
        assert outcomes_in(tmp_path)[row["payload"]] == ("delivered", LENGTH)
    assert not carries(answers[0], rows[1])


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp", "sglang"])
def test_an_engine_gets_known_fields_and_a_ticket(start: Start, engine: str) -> None:
    middleware, behind = start(engine=engine)
    body = {"prompt": "The council met", "max_tokens": 20, "temperature": 0.2, "user": "me"}
    assert ask(middleware, body).status == 200
    (got,) = behind.requests
    policy = middleware._gateway.policy
    (carrier,) = policy.engine.ticket("ticket")
    assert set(got[carrier]) == {TICKET}
    own = {"prompt": "The council met", "max_tokens": 20, "model": "council-7b"}
    assert {k: v for k, v in got.items() if k != carrier} == {**own, **policy.engine.fixed}


def test_nothing_else_of_a_request_reaches_the_engine(start: Start) -> None:
    middleware, behind = start()
    more = [(b"x-other", b"1"), (b"cookie", b"a=b"), (b"accept-encoding", b"gzip")]
    ask(middleware, REQUESTS["/v1/completions"], headers=[CUSTOMER, TOKEN, *more], query=b"n=4")
    (scope,) = behind.scopes
    assert scope["query_string"] == b""
    assert {name for name, _ in scope["headers"]} <= {
        b"authorization",
        b"content-type",
        b"content-length",
    }


def test_an_answer_holds_known_fields_only(start: Start) -> None:
    middleware, _ = start()
    for path, body in REQUESTS.items():
        answer = ask(middleware, {**body, "stream": False}, path=path)
        assert b"secret" not in answer.body
        assert b"token_ids" not in answer.body


# --- tickets ------------------------------------------------------------------------------------


def test_a_ticket_is_redeemed_once_and_ends_with_its_request(start: Start, tmp_path: Path) -> None:
    middleware, behind = start()
    ask(middleware, REQUESTS["/v1/completions"])
    ticket = behind.requests[0]["pura"][TICKET]
    office, series = middleware._gateway.office, DEPLOYMENTS.series()
    assert office.redeem([ticket], series) == [None]
    waiting = middleware._gateway.admit("north", "council-7b")
    assert waiting is not None
    office.end(waiting)
    assert office.redeem([waiting.text], series) == [None]
    assert len(rows_in(tmp_path)) == 1


def test_a_ticket_that_waited_too_long_is_refused(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    middleware, _ = start()
    monkeypatch.setattr("pura.embed.serving.tickets.LIFETIME_S", -1.0)
    answer = ask(middleware, REQUESTS["/v1/completions"])
    assert answer.status == 502
    assert rows_in(tmp_path) == []


@pytest.mark.parametrize("deployments", [Deployments(named={}), None])
def test_an_engine_with_another_profile_gets_no_mark(
    start: Start, tmp_path: Path, deployments: Deployments | None
) -> None:
    middleware, _ = start()
    gateway = middleware._gateway
    ticket = gateway.admit("north", "council-7b")
    assert ticket is not None
    series = {} if deployments else {"house": _other_profile(DEPLOYMENTS.series()["house"])}
    assert gateway.office.redeem([ticket.text], series) == [None]
    assert ticket.refusal is not None
    assert ticket.refusal.key == "gateway.deployment"
    assert rows_in(tmp_path) == []


def _other_profile(series: Any) -> Any:
    from dataclasses import replace

    return replace(series, profile="0" * 16)


# --- what the marker did not draw does not leave ------------------------------------------------

FAULTS = {
    "a token was replaced": Fault(replaces=frozenset({7})),
    "the last token was replaced": Fault(replaces=frozenset({LENGTH - 1})),
    "the adapter was not asked for a token": Fault(unreported=frozenset({9})),
    "the adapter was not asked for the first token": Fault(unreported=frozenset({0})),
    "the adapter was never asked": Fault(redeems=False),
    "the ids of the tokens are missing": Fault(unnamed=True),
    "several texts": Fault(texts=2),
    "a page instead of an answer": Fault(media_type="text/html"),
}


# Each piece of a stream holds one text, so several texts exist in whole answers only.
FAULTY_ANSWERS = [
    pytest.param(fault, stream, id=f"{name}-{'streamed' if stream else 'whole'}")
    for name, fault in FAULTS.items()
    for stream in (False, True)
    if not (stream and fault.texts > 1)
]


@pytest.mark.parametrize(("fault", "stream"), FAULTY_ANSWERS)
def test_an_answer_with_a_token_that_was_not_drawn_is_withheld(
    start: Start,
    tmp_path: Path,
    fault: Fault,
    stream: bool,  # a parameter of the test
) -> None:
    """In whole answers nothing leaves; of a stream at most what was drawn before the token."""
    middleware, _ = start(fault)
    answer = ask(middleware, {**REQUESTS["/v1/completions"], "stream": stream})
    text = "".join(answer.text) if answer.status == 200 else ""
    assert answer.error["code"] in ("not-drawn", "request-refused")
    assert not stream or len(text) < LENGTH
    assert stream or (answer.status, text) == (502, "")
    for row in rows_in(tmp_path):
        assert outcomes_in(tmp_path)[row["payload"]] == ("withheld", len(text))
        if text:
            assert misplaced(tokens_of(text), Payload(text=row["payload"])) in ([], None)


@pytest.mark.parametrize("words", ["prefix", "tail"])
@pytest.mark.parametrize("path", REQUESTS)
def test_words_that_have_no_drawn_tokens_do_not_leave(start: Start, path: str, words: str) -> None:
    """As an echo of the prompt, or what an engine puts behind the end."""
    middleware, _ = start(Fault(**{words: "the client's own words"}))
    answer = ask(middleware, {**REQUESTS[path], "stream": True}, path=path)
    assert "own words" not in answer.text
    undrawn = str(RequestRefusedError("gateway.undrawn"))
    assert answer.error["message"] == undrawn


def test_an_engine_that_fails_leaves_a_row_that_says_so(start: Start, tmp_path: Path) -> None:
    middleware, _ = start(Fault(fails_at=20))
    with pytest.raises(RuntimeError):
        ask(middleware, {**REQUESTS["/v1/completions"], "stream": True})
    (row,) = rows_in(tmp_path)
    outcome, left = outcomes_in(tmp_path)[row["payload"]]
    assert (outcome, left < 20) == ("aborted", True)


def test_a_client_that_leaves_is_noted_in_its_row(start: Start, tmp_path: Path) -> None:
    middleware, _ = start()
    ask(middleware, {**REQUESTS["/v1/completions"], "stream": True}, leaves_after=5)
    (row,) = rows_in(tmp_path)
    outcome, left = outcomes_in(tmp_path)[row["payload"]]
    assert outcome == "aborted"
    assert 0 < left < LENGTH


# --- order --------------------------------------------------------------------------------------


def test_a_request_that_the_engine_refuses_spends_no_number(start: Start, tmp_path: Path) -> None:
    middleware, _ = start(Fault(refuses=400))
    answers = [ask(middleware, REQUESTS["/v1/completions"]) for _ in range(30)]
    assert {answer.status for answer in answers} == {400}
    assert rows_in(tmp_path) == []


def test_a_request_that_the_gateway_refuses_spends_no_number(start: Start, tmp_path: Path) -> None:
    middleware, behind = start()
    answers = [
        ask(middleware, {"prompt": "a", "n": 2}),
        ask(middleware, {"prompt": "a"}, headers=[]),
        ask(middleware, b"no JSON"),
    ]
    assert [answer.status for answer in answers] == [400, 403, 400]
    assert behind.requests == []
    assert rows_in(tmp_path) == []


def test_the_row_is_on_disk_before_the_first_token_is_drawn(start: Start, tmp_path: Path) -> None:
    middleware, behind = start()
    seen: list[int] = []
    mark = behind.marker.mark

    def watched(*arguments: Any) -> Any:
        seen.append(len(rows_in(tmp_path)))
        return mark(*arguments)

    behind.marker.mark = watched  # type: ignore[method-assign]
    ask(middleware, REQUESTS["/v1/completions"])
    assert seen == [1] * LENGTH


def test_without_a_row_there_is_no_answer(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    middleware, _ = start()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    answer = ask(middleware, REQUESTS["/v1/completions"])
    assert (answer.status, answer.error["code"]) == (500, "register")


def test_numbers_that_are_used_up_are_an_error(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def used_up(bits: int, *_: object, **__: object) -> int:
        raise RegisterError("register.used-up", bits=bits, code="register-used-up")

    middleware, _ = start()
    monkeypatch.setattr("pura.embed.serving.ledger.draw_number", used_up)
    answer = ask(middleware, REQUESTS["/v1/completions"])
    assert (answer.status, answer.error["code"]) == (500, "register-used-up")


# --- who asks -----------------------------------------------------------------------------------

NOBODY = {
    "nobody": [TOKEN],
    "no token of the proxy": [CUSTOMER],
    "a wrong token": [CUSTOMER, (b"authorization", b"Bearer guessed")],
    "an unknown name": [(b"x-pura-customer", b"east"), TOKEN],
    "an empty name": [(b"x-pura-customer", b""), TOKEN],
}


@pytest.mark.parametrize("headers", NOBODY.values(), ids=NOBODY)
def test_who_is_no_customer_gets_no_answer(
    start: Start, tmp_path: Path, headers: list[tuple[bytes, bytes]]
) -> None:
    middleware, behind = start()
    answer = ask(middleware, REQUESTS["/v1/completions"], headers=headers)
    assert (answer.status, answer.error["code"]) == (403, "unknown-customer")
    assert behind.requests == []
    assert rows_in(tmp_path) == []


@pytest.mark.parametrize("client", [("192.0.2.9", 40_000), None, ("not an address", 1)])
def test_a_header_counts_only_from_the_trusted_proxy(start: Start, client: Any) -> None:
    middleware, _ = start()
    answer = ask(middleware, REQUESTS["/v1/completions"], client=client)
    assert answer.status == 403


@pytest.mark.parametrize("client", [(PROXY, 1), ("::ffff:10.0.0.7", 1)])
def test_the_trusted_proxy_is_known_by_its_address(start: Start, client: Any) -> None:
    middleware, _ = start()
    assert ask(middleware, REQUESTS["/v1/completions"], client=client).status == 200


def test_a_proxy_on_a_unix_socket_has_no_address(start: Start) -> None:
    middleware, _ = start(proxy={"addresses": ["unix"]})
    headers = [CUSTOMER]
    body = REQUESTS["/v1/completions"]
    assert ask(middleware, body, client=None, headers=headers).status == 200
    assert ask(middleware, body, client=(PROXY, 1), headers=headers).status == 403


TWICE = [CUSTOMER, TOKEN, (b"content-type", b"application/json")]


@pytest.mark.parametrize("header", TWICE, ids=lambda pair: pair[0].decode())
@pytest.mark.parametrize("spelled", [bytes.lower, bytes.upper], ids=["same", "in capitals"])
def test_a_header_that_is_there_twice_is_refused(
    start: Start, header: tuple[bytes, bytes], spelled: Callable[[bytes], bytes]
) -> None:
    middleware, behind = start()
    headers = [*TWICE, (spelled(header[0]), header[1])]
    answer = ask(middleware, REQUESTS["/v1/completions"], headers=headers)
    assert (answer.status, answer.error["code"]) == (400, "header-twice")
    assert behind.requests == []


def test_where_marks_are_not_required_others_get_an_unmarked_answer(
    start: Start, tmp_path: Path
) -> None:
    middleware, behind = start(required=False)
    answer = ask(middleware, REQUESTS["/v1/completions"], headers=[])
    assert answer.status == 200
    assert "pura" not in behind.requests[0]
    assert rows_in(tmp_path) == []


def test_an_answer_bears_a_receipt_that_its_proxy_knows(start: Start) -> None:
    middleware, _ = start()
    nonce = (b"x-pura-nonce", b"5eed")
    for stream in (False, True):
        answer = ask(
            middleware,
            {**REQUESTS["/v1/completions"], "stream": stream},
            headers=[CUSTOMER, TOKEN, nonce],
        )
        assert {piece["id"] for piece in answer.pieces} == {receipt(SECRET, "5eed")}


@pytest.mark.parametrize("path", REQUESTS)
def test_a_refusal_has_the_form_of_its_interface(start: Start, path: str) -> None:
    """Ollama's clients take a text, OpenAI's an object with it."""
    middleware, _ = start()
    answer = ask(middleware, {**REQUESTS[path], "n_of_nothing": 1}, path=path)
    error = json.loads(answer.body)["error"]
    assert answer.status == 400
    assert "n_of_nothing" in (error if path.startswith("/api/") else error["message"])


# --- routes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/v1/completions"),
        ("POST", "/v1/score"),
        ("POST", "/anything/score"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/completions/"),
        ("POST", "//v1/completions"),
        ("GET", "/v1/completions"),
        ("POST", "/inference/v1/generate"),
    ],
)
def test_what_is_in_no_table_does_not_reach_the_engine(
    start: Start, method: str, path: str
) -> None:
    middleware, behind = start(engine="vllm")
    answer = ask(middleware, REQUESTS["/v1/completions"], method=method, path=path)
    assert (answer.status, answer.error["code"]) == (404, "unknown-route")
    assert behind.requests == []


def test_a_route_without_a_body_is_passed_on_without_one(start: Start) -> None:
    middleware, behind = start()
    answer = ask(middleware, b'{"prompt": "a"}', method="GET", path="/health")
    assert (answer.status, json.loads(answer.body)) == (200, {"status": "ok"})
    assert behind.requests == []


@pytest.mark.parametrize("kind", ["websocket"])
def test_a_connection_that_is_no_request_is_closed(start: Start, kind: str) -> None:
    import asyncio

    middleware, behind = start()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(middleware({"type": kind, "path": "/v1/realtime"}, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close"}]
    assert behind.requests == []
