"""What keeps the detector from being an oracle: resembling texts, budgets, its threshold."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pura.base.errors import ServeError
from pura.serve import answers
from pura.serve.roles import Role
from pura.serve.settings import Protection
from pura.serve.sketches import Salt, Sketch
from pura.serve.store import Remembered, Store
from pura.serve.tokens import TokenFile
from pura.verdict.policy import default_policy

Start = Callable[..., Any]
Token = Callable[..., dict[str, str]]
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def ask(client: Any, text: str, headers: dict[str, str] | None = None) -> Any:
    return client.post("/v1/checks", json={"text": text}, headers=headers or {})


def lines(said: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(one) for one in said.getvalue().splitlines()]


def swapped(text: str, every: int) -> str:
    """Return a text of which each so-manieth word is another one."""
    words = text.split(" ")
    words[::every] = [f"other{at}" for at in range(len(words[::every]))]
    return " ".join(words)


def test_a_text_that_resembles_an_earlier_one_gets_its_answer_also_after_a_restart(
    detector: Start, token: Token, marked: list[str], said: io.StringIO
) -> None:
    first = detector()
    assert ask(first, marked[0]).json()["answer"]["verdict"] == "marked"
    near = swapped(marked[0], 25)
    for client in (first, detector()):
        assert ask(client, near).json()["answer"]["verdict"] == "marked"
    assert [line["tokens"] > 0 for line in lines(said)] == [True, False, False]
    # Auditors get a reading of their own, and what is another text as well.
    trusted = token(Role.TRUSTED)
    assert ask(first, near, trusted).json()["answer"]["verdict"] in ("mark", "insufficient")
    ask(first, swapped(marked[0], 2))
    assert [line["tokens"] > 0 for line in lines(said)[3:]] == [True, True]


def test_budgets_of_token_block_and_all_hold_across_a_restart(
    detector: Start, token: Token
) -> None:
    protection = {"per_day_block": 2, "per_day_public": 3, "memory_days": 0}
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


def test_what_is_remembered_is_under_the_salt_and_passes(tmp_path: Path) -> None:
    (tmp_path / "salt").write_bytes(bytes(range(32)))
    salt = Salt.of(tmp_path / "salt")
    text = " ".join(f"word{n}" for n in range(300))
    sketch = salt.sketch(text)
    assert np.array_equal(sketch.hashes, Salt.of(tmp_path / "salt").sketch(text.upper()).hashes)
    assert sketch.resemblance(Salt.of(tmp_path / "other").sketch(text)) < 0.1
    assert np.array_equal(Sketch.unpacked(sketch.packed()).hashes, sketch.hashes)
    near = salt.sketch(swapped(text, 20))
    assert abs(near.resemblance(sketch) - 0.82) < 0.1  # 30 of 314 shingles are gone, 30 are new
    with Store(tmp_path / "s.sqlite3") as store:
        store.remember(sketch, Remembered(marked=True, seconds=1.0), days=2, now=NOW)
        for later, expected in ((0, True), (1, True), (3, False)):
            known = store.recall(near, resemblance=0.5, same=0.9, now=NOW + timedelta(days=later))
            assert (known is not None) is expected
        assert (
            store.recall(salt.sketch(swapped(text, 2)), resemblance=0.5, same=0.9, now=NOW) is None
        )
        # Nothing was said of what is left of it, which must not be said of the text as well.
        store.forget(now=NOW + timedelta(days=3))
        store.remember(near, Remembered(marked=False, seconds=1.0), days=2, now=NOW)
        assert store.recall(sketch, resemblance=0.5, same=0.9, now=NOW) is None
        assert store.recall(near, resemblance=0.5, same=0.9, now=NOW) is not None
        store.remember(sketch, Remembered(marked=True, seconds=1.0), days=2, now=NOW)
        known = store.recall(near, resemblance=0.5, same=0.9, now=NOW)
        assert known is not None
        assert known.marked
        store.forget(now=NOW + timedelta(days=3))
        assert store.recall(sketch, resemblance=0.5, same=0.9, now=NOW) is None
    assert b"word7" not in (tmp_path / "s.sqlite3").read_bytes()
    (tmp_path / "salt").write_bytes(b"short")
    with pytest.raises(ServeError, match="does not hold a salt"):
        Salt.of(tmp_path / "salt")


def test_the_threshold_of_the_public_lies_above_and_wobbles_with_the_text(tmp_path: Path) -> None:
    (tmp_path / "salt").write_bytes(bytes(range(32)))  # of a salt by chance, a few reach less high
    salt, policy, protection = Salt.of(tmp_path / "salt"), default_policy(), Protection()
    sketches = [salt.sketch(f"One text is number {n} and has its own words.") for n in range(200)]
    found = [answers.threshold(policy, protection, salt, sketch) for sketch in sketches]
    lowest = policy.t_found + protection.margin
    assert lowest <= min(found) < lowest + 0.1
    assert lowest + 0.9 < max(found) <= lowest + protection.wobble
    assert found == [answers.threshold(policy, protection, salt, sketch) for sketch in sketches]


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
