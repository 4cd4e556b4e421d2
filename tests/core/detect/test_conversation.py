"""Three turns, each marked with one key: alone, with the history known, and as one document."""

from dataclasses import dataclass
from typing import Any

import pytest

from pura.detect.options import AuditText, Options
from pura.detect.together import audit_text
from pura.documents import from_text
from pura.embed import generate
from pura.model.tokenise import beginning_ids, tokenise
from pura.record.audit import Audit
from pura.scheme import Payload, Profile, SecretKey, contexts_before

pytestmark = pytest.mark.model
KEY = SecretKey(bytes(range(32)))
PAYLOADS = ("0110010110100111", "1011000101101000", "0001111010011101")
ASKED = (
    "Tell me about a town by the sea.",
    "Who lives there? Quote what you said before.",
    "And what became of them in the end?",
)
TOKENS = 90


@dataclass(frozen=True, kw_only=True)
class Turn:
    history: str
    text: str


@pytest.fixture(scope="module")
def profile(small_model: Any) -> Profile:
    return Profile(
        payload_bits=16,
        code="tbcc",
        vocab_size=small_model.vocab_size,
        chat_template="<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n",
    )


@pytest.fixture(scope="module")
def turns(small_model: Any, profile: Profile) -> list[Turn]:
    """Each answer quotes the one before it, and goes on as a text of its own for the generator."""
    said: list[Turn] = []
    history = ""
    for number, (asked, payload) in enumerate(zip(ASKED, PAYLOADS, strict=True)):
        history += asked
        made = generate(
            small_model,
            beginning_ids(small_model.tokenizer, profile, history),
            Payload(text=payload),
            KEY,
            profile,
            tokens=TOKENS,
            seed=number,
            ignore_eos=True,
        )
        quoted = " ".join(said[-1].text.split(" ")[:12]) if said else ""
        said.append(Turn(history=history, text=quoted + made.text))
        history += f"\n{said[-1].text}\n"
    return said


def audited(model: Any, profile: Profile, text: str, *prompts: str) -> Audit:
    asked = AuditText(document=from_text(text), prompts=prompts)
    options = Options(restore=False)
    return audit_text(asked, model=model, keys=[(KEY, None)], profile=profile, options=options)


def test_each_turn_alone(small_model, profile, turns):
    for turn, payload in zip(turns, PAYLOADS, strict=True):
        audit = audited(small_model, profile, turn.text)
        assert (audit.verdict, audit.payload.bits) == ("mark", payload)


def test_each_turn_with_its_history(small_model, profile, turns):
    """What earlier turns hold is left out, and the turn is found all the same."""
    for number, (turn, payload) in enumerate(zip(turns, PAYLOADS, strict=True)):
        audit = audited(small_model, profile, turn.text, turn.history)
        assert (audit.verdict, audit.payload.bits) == ("mark", payload)
        ids = tokenise(small_model.tokenizer, turn.text).ids
        before = beginning_ids(small_model.tokenizer, profile, turn.history)
        shared = contexts_before([ids], [before], profile)
        width = profile.context_window
        packed = ids.astype("<i4").tobytes()
        contexts = {packed[4 * (t - width) : 4 * t] for t in audit.steps.token.tolist()}
        assert not contexts & shared
        assert shared or not number
        said = [step.words("en") for step in audit.log if step.number == 3]
        assert ("are left out" in said[0]) == bool(shared)


def test_a_turn_that_the_history_holds_says_nothing(small_model, profile, turns):
    """A quotation of what is known to have stood before is no mark of who quotes it."""
    quoted = turns[0].text
    assert audited(small_model, profile, quoted).verdict == "mark"
    told = audited(small_model, profile, quoted, turns[1].history)
    assert told.verdict != "mark"
    assert told.evidence.usable <= 3
    candidates = audited(small_model, profile, quoted, "Hello.", turns[1].history)
    assert candidates.verdict != "mark"


def test_the_conversation_as_one_document(small_model, profile, turns):
    """Contexts that several turns share count once, where they first stand."""
    pasted = "\n\n".join(f"{asked}\n{t.text}" for asked, t in zip(ASKED, turns, strict=True))
    audit = audited(small_model, profile, pasted)
    assert audit.verdict == "mark"
    assert {mark.bits for mark in audit.marks} == set(PAYLOADS)
