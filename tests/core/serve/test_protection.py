"""What an answer depends on, what keeps the detector from being an oracle, and what is spent."""

from __future__ import annotations

import io
import sqlite3
import threading
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.programs import for_owner_alone
from tests.core.serve.conftest import Start, Token, ask, lines

from pura.base.errors import ServeError
from pura.detect.verdict.policy import default_policy
from pura.record.answers import Role
from pura.serve.settings import (
    DAY_S,
    Budget,
    Protection,
    Store,
    TokenFile,
    most_answered,
    secret_of,
)

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


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


def test_the_threshold_of_the_public_lies_above(detector: Start) -> None:
    service = detector(protection={"margin": Protection().margin}).app.state.service
    assert service.threshold == default_policy().t_found + 1.0


def test_the_salt_is_the_installations_own(tmp_path: Path) -> None:
    salt = secret_of(tmp_path / "salt")
    assert salt == secret_of(tmp_path / "salt") != secret_of(tmp_path / "other")
    (tmp_path / "salt").write_bytes(b"short")
    with pytest.raises(ServeError, match="the expected secret"):
        secret_of(tmp_path / "salt")


def test_sketches_of_texts_that_an_older_version_kept_are_gone(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    with Store(path):
        pass
    with closing(sqlite3.connect(path)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    assert not tables & {"texts", "bands"}


def test_budgets_of_token_block_and_all_hold_across_a_restart(
    detector: Start, token: Token, plain: str
) -> None:
    """A bucket of a quarter of a check pays for one text of about half a check, then for none."""
    protection = {"per_day_block": 1, "per_day_public": 2}
    client = detector(protection=protection)
    assert [ask(client, f"{plain} {n}").status_code for n in range(2)] == [200, 429]
    client = detector(protection=protection)
    refused = ask(client, plain)
    assert refused.json()["code"] == "serve-budget"
    assert 0 < int(refused.headers["retry-after"]) <= 86_400
    assert refused.headers["content-type"] == "application/problem+json"
    # A public token pays from its block as well; others do not.
    assert ask(client, plain, token(Role.PUBLIC)).status_code == 429
    assert ask(client, plain, token(Role.TRUSTED, per_day=1)).status_code == 200
    assert client.get("/v1/detector").status_code == 200


def test_a_bucket_refills_all_the_time_and_is_paid_from_or_not_at_all(tmp_path: Path) -> None:
    """Forty checks a day: ten when full, and one every 36 minutes."""
    blocks = [Budget(who=b"block%d" % n, per_day=400) for n in range(2)]
    everyone, minute = Budget(who=b"all", per_day=40), 60.0
    midnight = datetime(2026, 11, 24, tzinfo=UTC).timestamp()
    now = midnight - minute
    with Store(tmp_path / "s.sqlite3") as store:
        assert [store.spend((blocks[0], everyone), 1.0, now=now) for _ in range(10)] == [0.0] * 10
        wait = store.spend((blocks[1], everyone), 1.0, now=now)
        assert wait == pytest.approx(36 * minute)
        assert store.left(blocks[1], now=now) == blocks[1].holds  # refused by one, paid by none
        # Midnight is a minute like any other.
        assert store.spend((everyone,), 1.0, now=midnight + minute) == pytest.approx(34 * minute)
        assert store.spend((everyone,), 1.0, now=now + wait) == 0.0
    with Store(tmp_path / "s.sqlite3") as store:  # also after a restart
        assert store.left(everyone, now=now + wait) == pytest.approx(0.0, abs=1e-6)
        store.refund((everyone,), 1.0, now=now + wait)
        assert store.left(everyone, now=now + wait) == pytest.approx(1.0)
        store.refund((everyone,), 99.0, now=now + wait)
        assert store.left(everyone, now=now + wait) == everyone.holds  # full is full
        # What costs more than it holds needs half of it, and is paid off before anything else.
        assert store.spend((everyone,), 30.0, now=now + wait) == 0.0
        assert store.left(everyone, now=now + wait) == pytest.approx(-20.0)
        later = now + wait + 20 * 36 * minute
        assert store.spend((everyone,), 0.5, now=later) == pytest.approx(18 * minute)


@given(
    asks=st.lists(
        st.tuples(st.floats(0.0, 20_000.0), st.floats(0.4, 30.0)), min_size=1, max_size=200
    )
)
def test_within_a_day_no_more_is_answered_than_the_bound_says(
    asks: list[tuple[float, float]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whenever texts of at least 200 tokens are asked about, and whatever more some cost."""
    budget, now, paid = Budget(who=b"all", per_day=40), 1_000_000.0, []
    with Store(tmp_path_factory.mktemp("budget") / "s.sqlite3") as store:
        for gap, checks in asks:
            now += gap
            if store.spend((budget,), checks, now=now) == 0.0:
                paid.append(now)
    most = most_answered(budget.per_day, 200)
    for first in paid:
        assert sum(first <= one <= first + DAY_S for one in paid) <= most + 1e-6


def test_a_question_costs_by_its_tokens_and_what_is_not_read_is_paid_back(
    detector: Start,
    token: Token,
    plain: str,
    gate: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = detector(limits={"at_once_s": 0.0})
    service, header = client.app.state.service, token(Role.TRUSTED, per_day=4000)
    begun = time.time()
    monkeypatch.setattr(service, "_now", lambda: begun)  # else it refills meanwhile
    asker = service.asker(header["Authorization"], "192.0.2.7")
    [budget] = asker.budgets

    def spent() -> float:
        return float(budget.holds - client.portal.call(left))

    async def left() -> float:
        return float(service._store.left(budget, now=begun))

    for n in range(20):
        ask(client, str(n % 10), header)
    assert spent() < 0.1  # a question of one character
    before = spent()
    place = ask(client, plain, header).headers["location"]
    tokens = service._reader.tokens(plain)
    assert spent() - before == pytest.approx(tokens / 500, abs=0.03)
    assert client.delete(place, headers=header).status_code == 204  # it waits behind others
    assert spent() - before == pytest.approx(0.0, abs=0.03)
    whole = b"{" * (1 << 20)
    assert client.post("/v1/checks", content=whole, headers=header).status_code == 415
    assert spent() - before == pytest.approx(0.0, abs=0.03)  # nothing of it was read
    as_json = header | {"Content-Type": "application/json"}
    assert client.post("/v1/checks", content=whole, headers=as_json).status_code == 400
    assert spent() - before == pytest.approx(1.0, abs=0.03)
    before = spent()
    files = {"file": ("a.txt", b"One word. " * 100)}
    assert client.post("/v1/checks", files=files, headers=header).status_code == 202
    assert spent() - before > 1.0
    gate.set()


def test_tokens_are_kept_as_hashes_and_end_when_they_should(tmp_path: Path) -> None:
    clock = [NOW]
    path = tmp_path / "tokens.json"
    tokens = TokenFile(path, now=lambda: clock[0])
    running = TokenFile(path, now=lambda: clock[0])
    made = tokens.new("City paper", Role.TRUSTED, per_day=7, expires="2026-11-24")
    other = tokens.new("Desk", Role.INTERNAL, per_day=9)
    assert made.encode() not in path.read_bytes()
    assert for_owner_alone(path)
    asker = running.asker(made)
    assert (asker.name, asker.role) == ("City paper", Role.TRUSTED)
    assert [one.per_day for one in asker.budgets] == [7]
    assert running.asker(made[:-1]) is None
    assert running.asker("\udcff") is None
    with pytest.raises(ServeError, match="is taken"):
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
