"""A record that was edited in one place does not agree with the rest of itself.

That honest ones of every kind do is watched in every test that audits (``honest_records_agree``).
"""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pura.base.errors import RecordError
from pura.caselog import CaseLog, list_cases, load_audit
from pura.detect.verdict.agreement import check_agreement, disagreements
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.evidence import MarkFacts
from pura.report.build import audits_in
from pura.words.sentences import Sentence

OLD = Path(__file__).parents[3] / "data" / "v0.1.0"
Data = dict[str, Any]


def read(name: str) -> Data:
    return json.loads((OLD / name).read_text(encoding="utf-8"))


@pytest.fixture
def audit() -> Audit:
    return json_io.from_dict(read("record.json"))


def keys(audit: Audit) -> set[str]:
    return {one.key for one in disagreements(audit)}


@pytest.mark.parametrize("name", ["record.json", "record-paper.json", "report.json"])
def test_records_of_an_earlier_version_agree(name):
    for part in audits_in(read(name)):
        assert disagreements(json_io.from_dict(part)) == ()


def test_saved_records_of_an_earlier_version_agree(tmp_path):
    path = tmp_path / "cases.sqlite3"
    path.write_bytes((OLD / "home" / "data" / "cases.sqlite3").read_bytes())
    with CaseLog(path) as log:
        items = [item for case in list_cases(log) for item in case.items if item.record]
        assert len(items) == 4
        for item in items:
            assert disagreements(load_audit(log, item)) == ()


def put(*path: Any, to: Any) -> Callable[[Data], None]:
    """Return what writes a value, or what a function makes of the present one, to a place."""

    def act(data: Data) -> None:
        *way, last = path
        for step in way:
            data = data[step]
        data[last] = to(data[last]) if callable(to) else to

    return act


def sentence(key: str, name: str, to: Any) -> Callable[[Data], None]:
    def act(data: Data) -> None:
        found = [s for s in data["sentences"] + data["cautions"] if s["key"] == key]
        found[0]["values"][name] = to

    return act


def flipped(bits: str) -> str:
    return bits[:-1] + "10"[int(bits[-1])]


# What is done, and what is told of it.
TAMPERING: dict[str, tuple[Callable[[Data], None], str]] = {
    "another payload": (put("payload", "bits", to=flipped), "differs.bits"),
    "a payload of another length": (put("payload", "bits", to="01"), "differs.bits"),
    "a payload that is none": (put("payload", "bits", to="x" * 36), "differs.bits"),
    "another field": (put("payload", "fields", 0, "text", to="418"), "differs.fields"),
    "another field of a candidate": (
        put("candidates", 1, "fields", 0, "raw", to=1),
        "differs.fields",
    ),
    "more repaired": (put("payload", "repaired", to=0), "differs.repaired"),
    "a bit turned": (put("bits", 5, "bit", to=lambda bit: 1 - bit), "differs.bits"),
    "a bit more": (put("bits", to=lambda bits: [*bits, bits[-1]]), "differs.sums"),
    "a bit marked as repaired": (put("bits", 2, "repaired", to=True), "differs.bits"),
    "a bit marked as strong": (put("bits", 0, "weak", to=False), "differs.bits"),
    "a bit read more often": (put("bits", 2, "readings", to=2), "differs.bits"),
    "the sign of a bit": (put("bits", 2, "llr", to=lambda llr: -llr), "differs.sums"),
    "the sign of a step": (put("steps", "llr_nats", 0, 0, to=lambda llr: -llr), "differs.sums"),
    "a step less": (put("steps", "token", to=lambda old: old[1:]), "differs.tokens"),
    "a column of tokens": (put("tokens", "marked", to=lambda old: old[1:]), "differs.tokens"),
    "another number of tokens": (put("input", "tokens", to=81), "differs.tokens"),
    "another number of positions": (put("evidence", "usable", to=200), "differs.tokens"),
    "a surer payload": (put("candidates", 0, "posterior", to=1.0), "differs.candidates"),
    "a surer bit": (put("payload", "posterior", 0, to=1.5), "differs.candidates"),
    "doubt in a bit": (put("payload", "posterior", 0, to=0.2), "differs.candidates"),
    "another first candidate": (
        put("candidates", to=lambda old: [old[1], old[0], *old[2:]]),
        "differs.candidates",
    ),
    "no first candidate": (put("candidates", to=lambda old: old[1:]), "differs.candidates"),
    "more evidence": (put("evidence", "log10_e", to=40.0), "differs.readings"),
    "a reading that says more": (put("variants", 0, "log10_e", to=40.0), "differs.readings"),
    "another outcome": (put("verdict", to="indication"), "differs.verdict"),
    "a policy that finds sooner": (put("policy", "t_found", to=9.0), "differs.sentence"),
    "a policy that finds later": (put("policy", "min_usable", to=100), "differs.verdict"),
    "no policy of this program": (put("policy", "t_found", to="high"), "differs.verdict"),
    "a larger ratio": (put("evidence", "lr_capped", to=1e9), "differs.evidence"),
    "a smaller bound": (put("evidence", "p_bound", to=1e-30), "differs.evidence"),
    "a stronger word": (put("evidence", "scale_word", to="weak"), "differs.evidence"),
    "no cap": (put("evidence", "capped", to=False), "differs.evidence"),
    "a p-value beyond 1": (put("evidence", "p_redraw", to=1.5), "differs.evidence"),
    "fewer keys": (put("evidence", "keys_tried", to=0), "differs.keys"),
    "another key": (put("key", "fingerprint", to="ab" * 8), "differs.keys"),
    "a passage elsewhere": (put("passages", 0, "start", to=5), "differs.passages"),
    "a passage beyond the text": (put("passages", 0, "last_token", to=900), "differs.passages"),
    "a register that is surer than sure": (
        put("register", "none_weight", to=0.5),
        "differs.register",
    ),
    "another headline": (put("sentences", 0, "key", to="outcome.indication"), "differs.sentence"),
    "another ratio in words": (sentence("outcome.mark", "lr", 10.0), "differs.sentence"),
    "another word in words": (sentence("outcome.mark", "word", "weak"), "differs.sentence"),
    "another rule in words": (sentence("outcome.mark", "rule", "desk/4"), "differs.sentence"),
    "another bound in words": (sentence("note.bound", "p", 1e-9), "differs.sentence"),
    "another p-value in words": (sentence("note.n2", "p", 0.001), "differs.sentence"),
    "fewer repaired in words": (sentence("caution.repaired", "k", 1), "differs.sentence"),
    "fewer erased in words": (sentence("caution.erasures", "k", 1), "differs.sentence"),
    "more positions in words": (sentence("caution.few-usable", "n", 79), "differs.sentence"),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_each_change_is_told(name):
    data = read("record.json")
    act, told = TAMPERING[name]
    act(data)
    found = json_io.from_dict(data)
    assert told in keys(found)
    with pytest.raises(RecordError) as caught:
        check_agreement(found)
    english, german = caught.value.words("en"), caught.value.words("de")
    assert all(english)
    assert all(german)
    assert english[0] != german[0]


def test_a_payload_that_was_exchanged_with_care_is_told(audit):
    """Payload, fields, candidate and passages fit one another; the codeword does not."""
    from pura.scheme import Payload, unpack

    bits = flipped(audit.decoded.bits)
    fields = unpack(audit.profile.fields, Payload(text=bits))
    first = replace(audit.candidates[0], bits=bits, fields=fields)
    forged = replace(
        audit,
        decoded=replace(audit.decoded, bits=bits, fields=fields),
        candidates=(first, *audit.candidates[1:]),
    )
    assert keys(forged) == {"differs.bits", "differs.repaired"}


def mark(audit: Audit, **changes: Any) -> MarkFacts:
    own = MarkFacts(
        key=audit.key.fingerprint,
        bits=audit.decoded.bits,
        fields=audit.decoded.fields,
        passages=audit.passages,
        share=1.0,
        own_log10_e=audit.evidence.log10_e,
    )
    return replace(own, **changes)


def test_marks_are_held_against_key_payload_and_passages(audit):
    assert disagreements(replace(audit, marks=(mark(audit),))) == ()
    half = replace(audit.passages[0], last_token=9, end=int(audit.tokens.spans[9, 1]))
    for changes, told in (
        ({"key": "ab" * 8}, "differs.marks"),
        ({"bits": "0" * 36}, "differs.marks"),
        ({"share": 0.2}, "differs.marks"),
        ({"passages": ()}, "differs.marks"),
        ({"passages": (half,)}, "differs.marks"),
        ({"passages": (replace(half, end=300),)}, "differs.passages"),
    ):
        assert told in keys(replace(audit, marks=(mark(audit, **changes),))), changes
    assert "differs.marks" in keys(replace(audit, marks=(mark(audit), mark(audit))))
    counted = (*audit.sentences, Sentence(key="marks.several", values={"k": 3}))
    assert "differs.sentence" in keys(replace(audit, marks=(mark(audit),), sentences=counted))


def test_what_no_audit_writes_is_told_and_breaks_nothing(audit):
    nan = np.full(audit.tokens.marked.shape, math.nan)
    for changed in (
        replace(audit, steps=replace(audit.steps, index=audit.steps.index * -1)),
        replace(audit, steps=replace(audit.steps, llr_nats=audit.steps.llr_nats * math.nan)),
        replace(audit, tokens=replace(audit.tokens, ids=nan[:0].astype(np.int64))),
        replace(audit, evidence=replace(audit.evidence, log10_e=math.inf)),
        replace(audit, evidence=replace(audit.evidence, power=7.0)),
        replace(audit, policy={}),
        replace(audit, policy={"schema": "pura-policy/1", "surprise": 1}),
    ):
        assert disagreements(changed)
