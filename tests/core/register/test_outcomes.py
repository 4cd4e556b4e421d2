"""How answers ended becomes a remark on the entries of those that did not leave whole."""

import json
from pathlib import Path

import pytest

from pura.embed.serving.answers import Outcome
from pura.register.outcomes import DELIVERED, OUTCOMES, note_outcomes
from pura.register.rows import Issue, Recipient
from pura.register.store import Register
from pura.register.verification import verify
from pura.scheme import MarkIdentity, Payload, PayloadSeries

SERIES = PayloadSeries(key="a" * 16, profile="b" * 16)


def mark(number: int, series: PayloadSeries = SERIES) -> MarkIdentity:
    return series.mark(Payload.from_int(number, 36))


def line(of: MarkIdentity, outcome: str, tokens: object = 7) -> str:
    return json.dumps(
        {
            "key": of.key,
            "epoch": of.epoch,
            "profile": of.profile,
            "payload": of.payload.text,
            "outcome": outcome,
            "tokens": tokens,
        }
    )


@pytest.fixture
def register(tmp_path: Path):
    with Register(tmp_path / "register", create=True) as register:
        for number in range(5):
            register.add(Issue.of(mark(number), Recipient(who=f"customer {number}")))
        yield register


def remarks(register: Register) -> list[str]:
    return [entry.remark for entry in register.entries()]


def test_the_gateway_and_the_register_name_outcomes_alike():
    assert Outcome.DELIVERED.value == DELIVERED


def test_what_did_not_leave_whole_is_remarked_once(register, tmp_path):
    other = PayloadSeries(key="c" * 16, profile="b" * 16)
    lines = [
        line(mark(0), "delivered", 120),
        line(mark(1), "aborted"),
        line(mark(2), "withheld", 0),
        line(mark(3, other), "aborted"),  # the same payload of another key is another mark
        line(mark(4), "aborted"),  # one payload of several answers: the entry stands for all
        line(mark(4), "delivered"),
    ]
    (tmp_path / OUTCOMES).write_text("\n".join([*lines, ""]), encoding="utf-8")
    assert note_outcomes(register, tmp_path) == 2
    said = ["", "aborted after 7 tokens", "withheld after 0 tokens", "", ""]
    assert remarks(register) == said
    before = register.version()
    assert note_outcomes(register, tmp_path) == 0
    assert (remarks(register), register.version()) == (said, before)
    assert verify(register).sound
    assert [e.issue.who for e in register.entries()] == [f"customer {n}" for n in range(5)]


def test_revoked_entries_get_no_remark(register, tmp_path):
    register.revoke(2, "by mistake")
    (tmp_path / OUTCOMES).write_text(line(mark(1), "aborted") + "\n", encoding="utf-8")
    assert note_outcomes(register, tmp_path) == 0


def test_lines_that_are_none_are_passed_over_and_a_missing_file_is_none(register, tmp_path):
    assert note_outcomes(register, tmp_path) == 0
    torn = ["{", "[]", line(mark(0), "aborted", "many"), "null", line(mark(1), "aborted")]
    (tmp_path / OUTCOMES).write_text("\n".join(torn), encoding="utf-8")
    assert note_outcomes(register, tmp_path) == 1
    assert remarks(register)[1] == "aborted after 7 tokens"
