"""Audits with stored questions: a real model, a real store, and what the record says of it."""

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pura.base.catalogue import catalogue
from pura.base.numerals import LANGUAGES
from pura.detect.options import AuditText, Options
from pura.detect.question_readings import MOST, rank_shares
from pura.detect.together import audit_documents, audit_text
from pura.documents import from_text
from pura.embed.generate import Generated, generate
from pura.model.tokenise import beginning_ids, decode
from pura.questions.store import AnsweredQuestion, QuestionStore
from pura.record.audit import Audit
from pura.record.json_io import from_json, to_json
from pura.scheme import Payload, PayloadSeries, Profile, SecretKey
from pura.words.sentences import say

pytestmark = pytest.mark.model
KEY = SecretKey(bytes(range(32)))
STORE_KEY = SecretKey(bytes(range(1, 33)))
TOPICS = ("lighthouse keepers", "sourdough bread", "alpine marmots", "harbour cranes", "old maps")
TOKENS = 60
SHORT = 11
"""Tokens of an answer in which 36 bits cannot be read, and one payload can be held against none."""

Audited = Callable[..., Audit]


def asked(topic: str) -> str:
    return f"Please write about {topic} for our paper."


def payload(number: int) -> Payload:
    return Payload.from_int(0x1A2B3C4D5 + 7 * number, 36)


@pytest.fixture(scope="module")
def profile(small_model: Any) -> Profile:
    return Profile(
        payload_bits=36,
        code="tbcc",
        vocab_size=small_model.vocab_size,
        temperature=0.7,
        chat_template="<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n",
    )


@pytest.fixture(scope="module")
def answers(small_model: Any, profile: Profile) -> list[Generated]:
    """One for each topic, which it names, as an answer would."""
    return [
        generate(
            small_model,
            asked(topic),
            payload(number),
            KEY,
            profile,
            tokens=TOKENS,
            seed=number,
            ignore_eos=True,
        )
        for number, topic in enumerate(TOPICS)
    ]


def row(
    model: Any,
    profile: Profile,
    number: int,
    *,
    topic: str | None = None,
    carries: int | None = None,
) -> AnsweredQuestion:
    text = asked(TOPICS[number] if topic is None else topic)
    mark = PayloadSeries.of(KEY, profile).mark(payload(number if carries is None else carries))
    ids = np.array(beginning_ids(model.tokenizer, profile, text), dtype=np.int64)
    return AnsweredQuestion(mark=mark, ids=ids, texts=(text,), recipient=f"customer {number}")


@pytest.fixture
def store(tmp_path: Path, small_model: Any, profile: Profile) -> Iterator[QuestionStore]:
    with QuestionStore(tmp_path / "q.sqlite3", STORE_KEY, create=True) as opened:
        opened.keep_many([row(small_model, profile, n) for n in range(len(TOPICS))])
        yield opened


@pytest.fixture
def audited(small_model: Any, profile: Profile) -> Audited:
    def audit(text: str, questions: QuestionStore | None, **more: Any) -> Audit:
        return audit_text(
            AuditText(document=from_text(text)),
            model=small_model,
            keys=more.pop("keys", [(KEY, None)]),
            profile=profile,
            options=Options(restore=False, questions=questions, **more),
        )

    return audit


def said(audit: Audit) -> set[str]:
    return {one.key for one in (*audit.sentences, *audit.cautions)}


def test_the_question_of_an_identified_payload_is_read(audited, answers, store):
    """By number: the text fits its question, and the evidence grows."""
    for number, answer in enumerate(answers[:2]):
        plain = audited(answer.text, None)
        audit = audited(answer.text, store)
        facts = audit.questions
        assert (audit.verdict, audit.payload.bits) == ("mark", payload(number).text)
        assert [one.by for one in facts.tried] == ["number"]
        assert facts.tried[0].number == number + 1
        assert (facts.stored, facts.same_payload, facts.fits) == (len(TOPICS), 1, "yes")
        assert facts.log10_without == pytest.approx(plain.evidence.log10_e, abs=1e-3)
        assert audit.evidence.log10_e > plain.evidence.log10_e - 0.31
        assert "question.fits" in said(audit) or "question.fits-number" in said(audit)
        assert "note.questions" in said(audit)


def test_rare_words_lead_to_the_question_of_a_short_answer(
    audited, answers, store, small_model, profile
):
    """Too short by itself: the payload of the stored row is held against none at all."""
    reached = 0
    for number, answer in enumerate(answers):
        short = decode(small_model.tokenizer, answer.ids[:SHORT].tolist())
        # The small model writes words at random; the topic is put behind its words.
        text = f"{short}. So much for {TOPICS[number]}."
        assert audited(text, None).verdict != "mark"
        audit = audited(text, store)
        first = audit.questions.tried[0]
        assert (first.by, first.number) == ("words", number + 1)
        if audit.verdict == "mark":
            reached += 1
            assert audit.payload.bits == payload(number).text
            assert audit.questions.carried == audit.questions.shown == number + 1
            assert "caution.message-unknown" not in said(audit)
            assert audit.questions.fits == "yes"
    assert reached >= 3


def test_what_nobody_marked_stays_unmarked(audited, store):
    """Words of every stored question in a text by a person: half of the weight is lost at most."""
    text = (
        "Lighthouse keepers bake sourdough bread while alpine marmots look at harbour cranes, and "
        "somebody draws old maps of all that for the paper that nobody reads on a rainy Sunday."
    )
    plain, audit = audited(text, None), audited(text, store)
    assert audit.verdict != "mark"
    assert len(audit.questions.tried) == len(TOPICS)
    assert audit.evidence.log10_e < plain.evidence.log10_e + 1
    assert audit.evidence.log10_e >= plain.evidence.log10_e - 0.302
    assert audit.questions.fits == ""


def test_a_question_that_stands_in_another_row_does_not_fit(
    audited, answers, small_model, profile, tmp_path
):
    """Rows exchanged by whoever wrote them: the name stays, and the caution stands beside it."""
    with QuestionStore(tmp_path / "other.sqlite3", STORE_KEY, create=True) as other:
        for number in range(2):
            other.keep(
                row(small_model, profile, 1 - number, topic="unrelated " * 30, carries=number)
            )
        for number in range(2):
            audit = audited(answers[number].text, other)
            assert audit.payload.bits == payload(number).text
            assert audit.questions.same_payload == 1
            assert audit.questions.fits != "yes"
            assert "question.fits" not in said(audit)
            if audit.questions.fits == "no":
                assert "caution.question-unlike" in said(audit)


def test_the_beginning_of_a_longer_text_decides_about_further_questions(
    audited, answers, store, small_model
):
    """Two rare words of another question, one of its own: it comes second, and is read in full."""
    begun = decode(small_model.tokenizer, answers[0].ids[:24].tolist())
    text = f"{begun}. The lighthouse stands here. " + "We like sourdough bread on rainy days. " * 12
    audit = audited(text, store)
    tried = {one.number: one for one in audit.questions.tried}
    assert audit.questions.tried[0].number == 2
    assert tried[1].counted
    said_of_reading = " ".join(step.words("en") for step in audit.log if step.number == 8)
    assert "its beginning read after one further stored question" in said_of_reading


def test_rows_of_other_keys_and_profiles_are_not_read(
    audited, answers, small_model, profile, tmp_path
):
    with QuestionStore(tmp_path / "foreign.sqlite3", STORE_KEY, create=True) as foreign:
        question = row(small_model, profile, 0)
        for series in (
            PayloadSeries(key="f" * 16, profile=profile.fingerprint),
            PayloadSeries(key=KEY.fingerprint, profile="f" * 16),
        ):
            foreign.keep(dataclasses.replace(question, mark=series.mark(payload(0))))
        text = decode(small_model.tokenizer, answers[0].ids[:SHORT].tolist())
        audit = audited(f"{text} {TOPICS[0]}", foreign)
        assert audit.questions.tried == ()
        assert audit.questions.stored == 2


def test_a_row_brings_its_key_and_costs_nothing_for_the_others(audited, answers, store):
    """Of five keys only the row's is tried after its question, with the whole weight."""
    keys = [(KEY, None), *((SecretKey(bytes([n] * 31 + [n + 9])), None) for n in range(4))]
    one = audited(answers[0].text, store)
    five = audited(answers[0].text, store, keys=keys)
    first, second = one.questions.tried[0], five.questions.tried[0]
    assert first.weight == second.weight
    assert first.log10_e == pytest.approx(second.log10_e, abs=1e-3)


def test_texts_together_and_one_after_the_other_agree(
    audited, answers, store, small_model, profile
):
    texts = [answer.text for answer in answers[:3]]
    together = audit_documents(
        [AuditText(document=from_text(text)) for text in texts],
        model=small_model,
        keys=[(KEY, None)],
        profile=profile,
        options=Options(restore=False, questions=store),
    )
    for text, found in zip(texts, together, strict=True):
        alone = audited(text, store)
        assert found.evidence.log10_e == pytest.approx(alone.evidence.log10_e, abs=1e-3)
        assert [q.number for q in found.questions.tried] == [
            q.number for q in alone.questions.tried
        ]


def test_a_history_with_a_marked_answer(audited, answers, small_model, profile, tmp_path):
    """The second answer of a chat is found after the first; the first says nothing of itself."""
    first = answers[0]
    before = beginning_ids(small_model.tokenizer, profile, asked(TOPICS[0]))
    second = beginning_ids(small_model.tokenizer, profile, asked(TOPICS[1]))
    history = [*before, *first.ids.tolist(), *second]
    made = generate(
        small_model, history, payload(1), KEY, profile, tokens=TOKENS, seed=9, ignore_eos=True
    )
    mark = PayloadSeries.of(KEY, profile).mark(payload(1))
    texts = (asked(TOPICS[1]), asked(TOPICS[0]))
    with QuestionStore(tmp_path / "chat.sqlite3", STORE_KEY, create=True) as chat:
        chat.keep(AnsweredQuestion(mark=mark, ids=np.array(history), texts=texts))
        audit = audited(made.text, chat)
        assert (audit.payload.bits, audit.questions.fits) == (payload(1).text, "yes")
        assert audit.questions.tried[0].tokens == len(history)
        # The first answer, quoted: after the history all of its contexts are known.
        quoted = audited(f"{first.text} {TOPICS[1]}", chat)
        assert quoted.payload.bits == payload(0).text
        assert not any(one.counted for one in quoted.questions.tried)


def test_a_long_history_loses_its_beginning(audited, answers, small_model, profile, tmp_path):
    long = [5, 300, 7] * (small_model.context_length // 3)
    ids = [*long, *beginning_ids(small_model.tokenizer, profile, asked(TOPICS[0]))]
    mark = PayloadSeries.of(KEY, profile).mark(payload(0))
    with QuestionStore(tmp_path / "long.sqlite3", STORE_KEY, create=True) as chat:
        chat.keep(AnsweredQuestion(mark=mark, ids=np.array(ids), texts=(asked(TOPICS[0]),)))
        audit = audited(answers[0].text, chat)
        assert audit.payload.bits == payload(0).text
        assert audit.questions.tried[0].tokens == len(ids)


def test_equal_questions_are_read_once(audited, answers, small_model, profile, tmp_path):
    """The same question asked by many: one reading, and each answer's own payload."""
    with QuestionStore(tmp_path / "same.sqlite3", STORE_KEY, create=True) as same:
        for number in range(20):
            same.keep(row(small_model, profile, number, topic=TOPICS[0]))
        for number in (0, 3):
            audit = audited(f"{answers[number].text} {TOPICS[0]}", same)
            assert audit.payload.bits == payload(number).text
        short = decode(small_model.tokenizer, answers[0].ids[:SHORT].tolist())
        (tried,) = audited(f"{short} {TOPICS[0]}", same).questions.tried
        assert tried.same == 20


def test_at_most_eight_questions_are_read(audited, small_model, profile, tmp_path):
    with QuestionStore(tmp_path / "many.sqlite3", STORE_KEY, create=True) as many:
        for number in range(30):
            many.keep(row(small_model, profile, number, topic=f"marmots {number}"))
        audit = audited("Marmots whistle when an eagle is near, and then hide.", many)
        assert len(audit.questions.tried) == MOST
        weights = [one.weight for one in audit.questions.tried]
        assert weights == sorted(weights, reverse=True)
        assert sum(weights) < 0.45


def test_the_weights_of_the_ranks_add_up_to_one():
    for count in (1, 8, 64):
        assert sum(rank_shares(count)) == pytest.approx(1.0)


def test_the_record_goes_through_json_and_names_no_question(audited, answers, store):
    audit = audited(answers[2].text, store)
    text = to_json(audit)
    again = from_json(text)
    assert again.questions == audit.questions
    for word in ("marmots", "customer 2", "our paper"):
        assert word not in text
    # Without a store the record has no such part.
    assert "questions" not in json.loads(to_json(audited(answers[2].text, None)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sentences_are_there_in_every_language(audited, answers, store, language):
    audit = audited(answers[0].text, store)
    words = [
        say(one.key, language, **one.values) for one in audit.sentences if "question" in one.key
    ]
    assert len(words) == 2
    for key in ("caution.question-unlike", "question.fits"):
        assert catalogue("findings").fill(key, language, {})
