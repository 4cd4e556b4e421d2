"""What an answer depends on, what keeps the detector from being an oracle, and what is spent."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pura.base.errors import ServeError
from pura.serve import answers
from pura.serve.roles import Role
from pura.serve.salt import Salt
from pura.serve.settings import Protection
from pura.serve.store import Store
from pura.serve.tokens import TokenFile
from pura.verdict.policy import default_policy

Start = Callable[..., Any]
Token = Callable[..., dict[str, str]]
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def ask(client: Any, text: str, headers: dict[str, str] | None = None) -> Any:
    return client.post("/v1/checks", json={"text": text}, headers=headers or {})


def lines(said: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(one) for one in said.getvalue().splitlines()]


def test_nothing_that_was_asked_before_makes_a_text_marked(
    detector: Start, marked: list[str], plain: str
) -> None:
    """The question holds a human's text, and a shorter one that is marked."""
    human = plain + "".join(f" Sentence {n} tells of house {n} at noon." for n in range(30))
    client = detector()
    assert ask(client, f"{human} {marked[0]}").json()["answer"]["verdict"] == "marked"
    assert ask(client, human).json()["answer"]["verdict"] == "no-statement"


def test_nothing_that_was_asked_before_silences_a_marked_text(
    detector: Start, marked: list[str], said: io.StringIO
) -> None:
    """The question holds the same words in the same order, between signs that are tokens too."""
    client = detector()
    signs = marked[0].replace(" ", " , ").upper()
    assert ask(client, signs).json()["answer"]["verdict"] == "no-statement"
    assert ask(client, marked[0]).json()["answer"]["verdict"] == "marked"
    soft = " ".join(f"{word[:1]}\u00ad{word[1:]}" for word in marked[0].split(" "))
    assert ask(client, soft).json()["answer"]["verdict"] == "marked"
    assert all(line["tokens"] for line in lines(said))  # each was read


def test_only_the_same_text_of_the_same_asker_is_not_read_again(
    detector: Start, token: Token, marked: list[str], said: io.StringIO
) -> None:
    client = detector(protection={"margin": 2.0})
    one, other = token(Role.PUBLIC, "one"), token(Role.PUBLIC, "other")
    trusted = token(Role.TRUSTED)
    asked = [
        (marked[0], one, True),
        (marked[0], one, False),
        (marked[0] + " ", one, True),
        (marked[0], other, True),
        (marked[0], trusted, True),
        (marked[0], trusted, True),
        (marked[0], one, False),
    ]
    told = [ask(client, text, headers).json()["answer"] for text, headers, _ in asked]
    assert [line["tokens"] > 0 for line in lines(said)] == [read for _, _, read in asked]
    assert told[0] == told[1] == told[3] == told[6]
    assert told[0]["verdict"] == "marked"


def test_an_answer_is_kept_no_longer_than_it_may_be_fetched(
    detector: Start, plain: str, said: io.StringIO
) -> None:
    client = detector(limits={"kept_s": 0.0})
    for _ in range(2):
        ask(client, plain)
    assert all(line["tokens"] for line in lines(said))


def test_the_threshold_of_the_public_lies_above() -> None:
    policy = default_policy()
    assert answers.threshold(policy, Protection()) == policy.t_found + 1.0


def test_the_salt_is_the_installations_own(tmp_path: Path) -> None:
    salt = Salt.of(tmp_path / "salt")
    assert salt.digest(b"a", b"b") == Salt.of(tmp_path / "salt").digest(b"a", b"b")
    assert salt.digest(b"a", b"b") != Salt.of(tmp_path / "other").digest(b"a", b"b")
    (tmp_path / "salt").write_bytes(b"short")
    with pytest.raises(ServeError, match="does not hold a salt"):
        Salt.of(tmp_path / "salt")


def test_sketches_of_texts_that_an_older_version_kept_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    with Store(path):
        pass
    with closing(sqlite3.connect(path)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    assert not tables & {"texts", "bands"}


def test_budgets_of_token_block_and_all_hold_across_a_restart(
    detector: Start, token: Token
) -> None:
    protection = {"per_day_block": 2, "per_day_public": 3}
    client = detector(protection=protection)
    assert [ask(client, f"Short {n}.").status_code for n in range(3)] == [200, 200, 429]
    client = detector(protection=protection)
    refused = ask(client, "Short.")
    assert refused.json()["code"] == "serve-budget"
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert refused.headers["content-type"] == "application/problem+json"
    # A public token pays from its block as well; others do not.
    assert ask(client, "Short.", token(Role.PUBLIC)).status_code == 429
    assert ask(client, "Short.", token(Role.TRUSTED, per_day=1)).status_code == 200
    assert client.get("/v1/detector").status_code == 200


def test_a_budget_in_all_is_shared_by_every_block(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite3") as store:
        each = [[(f"block{n}".encode(), 5), (b"all", 3)] for n in range(4)]
        refused = [store.spend(whose, now=NOW) for whose in each]
        assert refused == [None, None, None, b"all"]
        assert store.spent(b"block3", now=NOW) == 0
        store.forget(now=NOW + timedelta(days=1))
        assert store.spent(b"all", now=NOW) == 0
        assert store.spend(each[3], now=NOW + timedelta(days=1)) is None


def test_tokens_are_kept_as_hashes_and_end_when_they_should(tmp_path: Path) -> None:
    clock = [NOW]
    path = tmp_path / "tokens.json"
    tokens = TokenFile(path, now=lambda: clock[0])
    running = TokenFile(path, now=lambda: clock[0])
    made = tokens.new("City paper", Role.TRUSTED, per_day=7, expires="2026-11-24")
    other = tokens.new("Desk", Role.INTERNAL, per_day=9)
    assert made.encode() not in path.read_bytes()
    assert path.stat().st_mode & 0o077 == 0
    asker = running.asker(made)
    assert asker is not None
    assert (asker.name, asker.role, asker.per_day) == ("City paper", Role.TRUSTED, 7)
    assert running.asker(made[:-1]) is None
    assert running.asker("\udcff") is None
    with pytest.raises(ServeError, match="has the name"):
        tokens.new("Desk", Role.PUBLIC, per_day=1)
    clock[0] = NOW + timedelta(days=2)
    assert running.asker(made) is None
    assert running.asker(other) is not None
    tokens.revoke("Desk")
    assert running.asker(other) is None  # a service that runs sees it at once
    with pytest.raises(ServeError, match="No token in use"):
        tokens.revoke("Desk")
    path.write_text("{}")
    with pytest.raises(ServeError, match="damaged"):
        running.list()
    path.unlink()
    path.mkdir()  # as good as one that belongs to somebody else
    with pytest.raises(ServeError, match="cannot be read"):
        running.list()
