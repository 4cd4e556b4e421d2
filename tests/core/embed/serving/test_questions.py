"""A gateway that keeps questions: what the engine was given, under the mark that was drawn."""

from pathlib import Path
from typing import Any

import pytest
from tests.core.embed.serving.small_engine import (
    PROMPT,
    REQUESTS,
    SmallEngine,
    ask,
    load_policy,
    private,
    rows_in,
)

from pura.base.errors import PuraError
from pura.embed.serving.channel import ChannelClient
from pura.embed.serving.gateway import Gateway, GatewayMiddleware
from pura.embed.serving.requests import unmarked_texts
from pura.questions.store import QuestionStore
from pura.scheme import MarkIdentity, Payload, SecretKey

KEY = "5a" * 32
QUESTIONS = {"store": "kept/questions.sqlite3", "key": "questions.key", "days": 14}
CHAT = {
    "messages": [
        {"role": "system", "content": "You are a gardener."},
        {"role": "user", "content": "How do I prune a plimosa?"},
        {"role": "assistant", "content": "With a grovewa, in autumn."},
        {"role": "user", "content": [{"type": "text", "text": "And a tarnigb?"}]},
    ]
}


def gateway_in(folder: Path, **changes: Any) -> Gateway:
    private(folder / "questions.key", KEY)
    return Gateway(load_policy(folder, **{"questions": QUESTIONS, **changes}))


def store_in(folder: Path) -> QuestionStore:
    return QuestionStore(folder / "kept/questions.sqlite3", SecretKey.from_hex(KEY))


def mark_of(row: dict[str, Any]) -> MarkIdentity:
    payload = Payload(text=row["payload"])
    return MarkIdentity(key=row["key"], epoch=row["epoch"], profile=row["profile"], payload=payload)


@pytest.mark.parametrize("path", REQUESTS)
def test_the_question_of_each_answer_is_kept(tmp_path: Path, path: str) -> None:
    gateway = gateway_in(tmp_path)
    middleware = GatewayMiddleware(SmallEngine(gateway.office), gateway)
    answers = [ask(middleware, {**REQUESTS[path], "stream": False}, path=path) for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 200]
    gateway.close()
    with store_in(tmp_path) as store:
        assert len(store) == 2
        assert store.days == 14
        for row in rows_in(tmp_path):
            (question,), count = store.of_mark(mark_of(row), "")
            assert (question.ids.tolist(), count) == (PROMPT, 1)
        assert store.erase_customer("north") == 2


def test_an_engine_of_another_process_tells_its_gateway(tmp_path: Path) -> None:
    folder = tmp_path / "tickets"
    gateway = gateway_in(tmp_path, tickets=str(folder))
    client = ChannelClient(folder)
    engine = SmallEngine(client)
    assert ask(GatewayMiddleware(engine, gateway), REQUESTS["/v1/completions"]).status == 200
    client.close()
    gateway.close()
    with store_in(tmp_path) as store:
        assert len(store) == 1


def test_no_word_of_an_answer_leads_to_a_question(tmp_path: Path) -> None:
    """Words that a key may have chosen are not in the index; those of people are."""
    assert unmarked_texts(CHAT) == (
        "And a tarnigb?",
        "How do I prune a plimosa?",
        "You are a gardener.",
    )
    gateway = gateway_in(tmp_path)
    middleware = GatewayMiddleware(SmallEngine(gateway.office), gateway)
    body = {**CHAT, "max_tokens": 60}
    assert ask(middleware, body, path="/v1/chat/completions").status == 200
    gateway.close()
    with store_in(tmp_path) as store:
        (row,) = rows_in(tmp_path)
        series = [mark_of(row).series]
        for word in ("plimosa", "tarnigb", "gardener"):
            assert store.likely(word, series), word
        assert store.likely("grovewa autumn", series) == []


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ({"prompt": "a"}, ("a",)),
        ({"prompt": "a", "system": "b"}, ("a", "b")),
        ({"prompt": [1, 2, 3]}, ()),
        ({"messages": [{"role": "tool", "content": "x"}, {"role": "user"}]}, ("x",)),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, ()),
    ],
)
def test_texts_of_people_in_a_request(body: dict[str, Any], texts: tuple[str, ...]) -> None:
    assert unmarked_texts(body) == texts


def test_without_the_policy_nothing_is_kept(tmp_path: Path) -> None:
    gateway = gateway_in(tmp_path, questions=None)
    ticket = gateway.admit("north", "council-7b")
    assert ticket is not None
    (redeemed,) = gateway.office.redeem(
        [ticket.text], SmallEngine(gateway.office).marker._deployments.series()
    )
    assert redeemed is not None
    assert not redeemed.wants_question
    gateway.office.question(redeemed.number, PROMPT)  # an adapter that tells it all the same
    gateway.close()
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    "changes",
    [{"days": 0}, {"days": 367}, {"store": ""}, {"other": 1}, {"key": "missing.key"}],
)
def test_a_policy_that_cannot_be_kept_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(PuraError):
        gateway_in(tmp_path, questions={**QUESTIONS, **changes})
