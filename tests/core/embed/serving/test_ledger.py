"""The rows of a gateway: on disk before a token is drawn, wherever a process is killed."""

import datetime as dt
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.core.embed.serving.small_engine import (
    DEPLOYMENTS,
    load_policy,
    outcomes_in,
    private,
    rows_in,
)
from tests.core.embed.serving.test_policy import FIELDS

from pura.base.errors import PuraError, RegisterError
from pura.embed.serving.answers import Outcome
from pura.embed.serving.ledger import Ledger, Order
from pura.embed.serving.policy import Customer
from pura.embed.serving.tickets import AssignedMark
from pura.register.issue_log import import_log
from pura.register.store import Register
from pura.scheme import Payload, PayloadSeries, Profile, unpack

ROOT = Path(__file__).parents[4]
SERIES = DEPLOYMENTS.series()


def order(who: str = "north", number: int | None = None) -> Order:
    return Order(customer=Customer(who=who, number=number), model="council-7b")


def drawn(ledger: Ledger, series: dict[str, PayloadSeries] = SERIES) -> str:
    (mark,) = ledger.issue([order()], series)
    assert isinstance(mark, AssignedMark), mark
    return mark.payload.text


def test_numbers_are_drawn_at_random(tmp_path: Path) -> None:
    """Of 36 bits each is one in half of the draws; 200 draws, six standard deviations."""
    ledger = Ledger(load_policy(tmp_path))
    orders = [order() for _ in range(200)]
    marks = ledger.issue(orders, SERIES)
    texts = [mark.payload.text for mark in marks if isinstance(mark, AssignedMark)]
    assert len(set(texts)) == 200
    for place in range(36):
        assert 58 < sum(text[place] == "1" for text in texts) < 142
    assert [row["payload"] for row in rows_in(tmp_path)] == texts
    ledger.close()


def small_policy(folder: Path) -> dict[str, PayloadSeries]:
    """Write a policy with a payload of nine bits; returns what an engine marks with."""
    profile = Profile(payload_bits=9, vocab_size=300, code="tbcc")
    load_policy(folder)
    private(folder / "house.json", profile.to_json())
    return {"house": PayloadSeries(key="0" * 16, profile=profile.fingerprint)}


def test_no_number_is_given_twice_by_threads_and_other_processes(tmp_path: Path) -> None:
    from pura.embed.serving.policy import Policy

    series = small_policy(tmp_path)
    ledgers = [Ledger(Policy.load(tmp_path / "gateway.json")) for _ in range(3)]
    with ThreadPoolExecutor(8) as threads:
        payloads = list(threads.map(lambda turn: drawn(ledgers[turn % 3], series), range(300)))
    assert len(set(payloads)) == 300
    late = Ledger(Policy.load(tmp_path / "gateway.json"))
    while isinstance(last := late.issue([order()], series)[0], AssignedMark):
        pass
    counts = Counter(row["payload"] for row in rows_in(tmp_path))
    assert (len(counts), set(counts.values())) == (512, {1})
    assert last.key == "register.used-up"
    for ledger in (*ledgers, late):
        ledger.close()


def test_a_row_names_the_key_and_profile_that_the_engine_marks_with(tmp_path: Path) -> None:
    ledger = Ledger(load_policy(tmp_path))
    epoch = replace(SERIES["house"], epoch="2026-11-28")
    for series in (SERIES, {"house": epoch}):
        drawn(ledger, series)
    ledger.close()
    (row, of_epoch) = rows_in(tmp_path)
    assert (row["key"], row["epoch"], row["profile"], row["drawn"]) == (
        SERIES["house"].key,
        "",
        SERIES["house"].profile,
        "random",
    )
    assert of_epoch["epoch"] == "2026-11-28"


def test_the_register_takes_the_rows_under_their_own_key(tmp_path: Path) -> None:
    ledger = Ledger(load_policy(tmp_path))
    orders = [order(who) for who in ("north", "south", "north")]
    marks = ledger.issue(orders, SERIES)
    ledger.finish(orders[0], Outcome.ABORTED, 3)
    ledger.close()
    with Register(tmp_path / "register.sqlite3", create=True) as register:
        assert import_log(register, tmp_path / "issued") == 3
        for one, mark in zip(orders, marks, strict=True):
            assert isinstance(mark, AssignedMark)
            entry = register.find(SERIES["house"].mark(mark.payload))
            assert entry is not None
            assert entry.issue == one.issue
            other = replace(SERIES["house"], key="1" * 16).mark(mark.payload)
            assert register.find(other) is None
        assert import_log(register, tmp_path / "issued") == 0


def test_a_number_of_another_key_is_free(tmp_path: Path) -> None:
    """And one of a row that does not say its key is not, as of versions before 0.5."""
    from pura.embed.serving.policy import Policy

    series = small_policy(tmp_path)
    (tmp_path / "issued").mkdir(mode=0o700)
    head = '{"schema": "pura-issued/1"}\n'
    former = [{"payload": f"{number:09b}", "who": "south", "when": ""} for number in range(256)]
    rows = "".join(json.dumps({**row, "model": ""}) + "\n" for row in former)
    private(tmp_path / "issued" / "a.issued.jsonl", head + rows)
    ledger = Ledger(Policy.load(tmp_path / "gateway.json"))
    for key in ("0" * 16, "1" * 16):
        own = {"house": replace(series["house"], key=key)}
        numbers = {int(drawn(ledger, own), 2) for _ in range(256)}
        assert numbers == set(range(256, 512))
    ledger.close()


def test_the_fields_of_a_payload(tmp_path: Path) -> None:
    private(tmp_path / "fields.json", FIELDS.to_json())
    ledger = Ledger(
        load_policy(
            tmp_path,
            profile="fields.json",
            payload={"customer": "@customer", "number": "@number"},
            customers={"north": 417},
        )
    )
    series = {"house": PayloadSeries(key="0" * 16, profile=FIELDS.fingerprint)}
    marks = ledger.issue([order(number=417), order(number=5000)], series)
    assert isinstance(marks[0], AssignedMark)
    assert unpack(FIELDS.fields, marks[0].payload)[0].text == "417"
    assert isinstance(marks[1], PuraError)  # does not fit into ten bits
    assert len(rows_in(tmp_path)) == 1
    ledger.close()


@pytest.mark.parametrize("processes", [1, 2])
def test_the_same_payload_for_every_answer_of_a_customer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    """A policy without @number gives each customer one mark, which has one row on all days."""
    policy = load_policy(tmp_path, payload={"bits": 5})
    ledgers = [Ledger(policy) for _ in range(processes)]
    ledgers[0].issue([replace(order(), manifest=f"urn:{number}") for number in range(2)], SERIES)
    texts = {drawn(ledger) for ledger in ledgers * 2}
    late = SimpleNamespace(now=lambda _: dt.datetime(2099, 1, 2, tzinfo=dt.UTC))
    clock = SimpleNamespace(UTC=dt.UTC, datetime=late)
    monkeypatch.setattr("pura.embed.serving.ledger.dt", clock)
    texts |= {drawn(ledger) for ledger in [*ledgers, Ledger(policy)]}
    assert texts == {Payload.from_int(5, 36).text}
    (row,) = rows_in(tmp_path)
    assert row["when"] < "2099"
    with Register(tmp_path / "register.sqlite3", create=True) as register:
        assert import_log(register, tmp_path / "issued") == 1


def test_one_payload_for_two_customers_is_told_at_the_import(tmp_path: Path) -> None:
    """The policy gives it to both, so the mark names neither."""
    ledger = Ledger(load_policy(tmp_path, payload={"bits": 5}))
    ledger.issue([order("north"), order("south")], SERIES)
    ledger.close()
    assert [row["who"] for row in rows_in(tmp_path)] == ["north", "south"]
    with (
        Register(tmp_path / "register.sqlite3", create=True) as register,
        pytest.raises(RegisterError),
    ):
        import_log(register, tmp_path / "issued")


def test_how_an_answer_ended_is_noted(tmp_path: Path) -> None:
    ledger = Ledger(load_policy(tmp_path))
    orders = [order() for _ in Outcome]
    ledger.issue(orders, SERIES)
    for one, outcome in zip(orders, Outcome, strict=True):
        ledger.finish(one, outcome, 7)
    ledger.finish(order(), Outcome.ABORTED, 0)  # nothing was drawn for it
    assert [outcome for outcome, _ in outcomes_in(tmp_path).values()] == list(Outcome)
    lines = (tmp_path / "issued" / "outcomes.jsonl").read_text().splitlines()
    own = {"key": SERIES["house"].key, "epoch": "", "profile": SERIES["house"].profile}
    assert all(json.loads(line).items() >= own.items() for line in lines)
    ledger.close()


# --- kill -9 ------------------------------------------------------------------------------------

# A program that answers requests and kills itself at a step; what leaves, it prints first.
SERVER = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, os.getcwd())
from tests.core.embed.serving import small_engine as small
from pura.embed.serving import ledger as ledgers
from pura.embed.serving.gateway import Gateway, GatewayMiddleware
from pura.embed.serving.ledger import Ledger
from pura.embed.serving.policy import Policy
from pura.embed.serving.tickets import TicketOffice
from pura.register.issue_log import IssueLog

step, at = sys.argv[2], int(sys.argv[3])
counted = 0

def killing(owner, name, before):
    method = getattr(owner, name)
    def wrapped(*arguments, **named):
        global counted
        counted += 1
        if before and counted == at:
            os.kill(os.getpid(), signal.SIGKILL)
        result = method(*arguments, **named)
        if not before and counted == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    setattr(owner, name, wrapped)

gateway = Gateway(Policy.load(Path(sys.argv[1])))
engine = small.SmallEngine(gateway.office)
middleware = GatewayMiddleware(engine, gateway)
STEPS = {
    "before the request is admitted": (Gateway, "admit", True),
    "after the request was admitted": (Gateway, "admit", False),
    "before the number is drawn": (Ledger, "_draw", True),
    "after the number was drawn": (Ledger, "_draw", False),
    "before the row is written": (IssueLog, "add_many", True),
    "after the row was written": (IssueLog, "add_many", False),
    "after the row was brought to disk": (IssueLog, "sync", False),
    "after the ticket was redeemed": (TicketOffice, "redeem", False),
    "after a token was drawn": (engine.marker, "mark", False),
    "after a token was reported": (TicketOffice, "report", False),
    "before the end is noted": (Ledger, "finish", True),
    "after the end was noted": (Ledger, "finish", False),
}
killing(*STEPS[step])

async def answer():
    body = {"prompt": "a", "stream": True}
    sent = []
    async def receive():
        return {"type": "http.request", "body": __import__("json").dumps(body).encode()}
    async def send(message):
        print(message.get("body", b"").decode(), end="", flush=True)
    scope = {"type": "http", "method": "POST", "path": "/v1/completions", "query_string": b"",
             "headers": [small.CUSTOMER, small.TOKEN], "client": (small.PROXY, 1)}
    await middleware(scope, receive, send)
    print("=", flush=True)

while True:
    asyncio.run(answer())
"""
STEPS = [
    ("before the request is admitted", 2),
    ("after the request was admitted", 2),
    ("before the number is drawn", 2),
    ("after the number was drawn", 2),
    ("before the row is written", 2),
    ("after the row was written", 2),
    ("after the row was brought to disk", 2),
    ("after the ticket was redeemed", 2),
    ("after a token was drawn", 65),
    ("after a token was reported", 95),
    ("before the end is noted", 2),
    ("after the end was noted", 2),
]


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX")
@pytest.mark.slow
@pytest.mark.parametrize(("step", "turn"), STEPS, ids=[step for step, _ in STEPS])
def test_killed_at_any_step_no_answer_lacks_its_row(tmp_path: Path, step: str, turn: int) -> None:
    from tests.core.embed.serving.small_engine import misplaced, tokens_of

    load_policy(tmp_path)
    command = [sys.executable, "-c", SERVER, str(tmp_path / "gateway.json"), step, str(turn)]
    killed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
    rows, outcomes = rows_in(tmp_path), outcomes_in(tmp_path)
    answers = [_text(part) for part in killed.stdout.split("=\n")]
    texts = [text for text in answers if text]
    assert len(texts) >= 1
    # Each text that left, whole or in part, has its row; each row has one text at most.
    by_text: dict[str, list[str]] = {text: [] for text in texts}
    for text in texts:
        for row in rows:
            if misplaced(tokens_of(text), Payload(text=row["payload"])) == []:
                by_text[text].append(row["payload"])
    whole = [text for text in texts if len(text) == 60]
    assert all(len(by_text[text]) == 1 for text in whole)
    # Too short a beginning carries too little to tell rows apart; there is a row for it anyway.
    assert len(rows) >= len(texts)
    assert len({row["payload"] for row in rows}) == len(rows)
    # A row whose answer is not known to have left says nothing of an end.
    for payload, (outcome, left) in outcomes.items():
        assert (outcome, left) == ("delivered", 60)
        assert [payload] in by_text.values()
    # The next process goes on: no number is given twice.
    after = Ledger(load_policy(tmp_path))
    drawn(after)
    after.close()
    assert len({row["payload"] for row in rows_in(tmp_path)}) == len(rows) + 1


def _text(stream: str) -> str:
    text = ""
    for line in stream.splitlines():
        content = line.removeprefix("data: ")
        if content.startswith("{") and content.endswith("}"):
            pieces: Any = json.loads(content)
            text += "".join(choice["text"] for choice in pieces.get("choices", ()))
    return text
