import dataclasses
import json
import math
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.core.records import RECORD

from pura.base.errors import RecordError
from pura.base.paths import resource
from pura.record import audit as record
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.finding import Finding
from pura.record.naming import Passage, RegisterMatch, placed
from pura.scheme import Field, FieldValue, Profile
from pura.words.sentences import sentence

failed = RecordError("record.schema", schema="x")


def make_audit(llr: np.ndarray | None = None, entropy: np.ndarray | None = None) -> Audit:
    """A record of few tokens and steps in which every field is set to something of its own."""
    entropy = np.array([0.1, 7.25]) if entropy is None else entropy
    llr = np.array([[0.5, -1 / 3, np.nan]]) if llr is None else llr
    size, steps = entropy.size, len(llr)
    layout = (Field(name="who", bits=12, kind="integer"),)
    key = record.KeyFacts(fingerprint="ab" * 8, label="Newsroom “2026”")
    register = {"version": "v", "date": "2026-01-01", "entries": 2}
    entry = {"entry": 1, "payload": "0" * 12, "who": "w", "when": "x", "model": "m"}
    half = {"readings": 3, "bit": 1, "repaired": True, "parity": False, "weak": True}
    return replace(
        RECORD,
        id="0" * 32,
        input=replace(RECORD.input, name="a\u202eb.txt", sha256="1" * 64, tokens=size),
        text="Grüße 🙂",
        prompt=record.PromptFacts(known=True, sha256="2" * 64, tokens=3),
        key=key,
        keys=(key, record.KeyFacts(fingerprint="cd" * 8)),
        profile=Profile(payload_bits=12, blocks=3, vocab_size=100, fields=layout),
        device=replace(RECORD.device, reason=(sentence("device.asked-cpu"),)),
        tokens=record.TokenEvidence(
            ids=np.arange(size, dtype=np.int64),
            spans=np.zeros((size, 2), dtype=np.int64),
            entropy_bits=entropy,
            lo=np.zeros(size),
            hi=np.full(size, 0.1 + 0.2),
            gate=np.zeros(size, dtype=np.uint8),
            log10_evidence=np.full(size, -1e-17),
            marked=np.ones(size),
        ),
        steps=record.StepEvidence(
            token=np.zeros(steps, dtype=np.int64),
            arity=np.ones(steps, dtype=np.int64),
            phase=np.full(steps, math.pi / 4),
            index=np.zeros(steps, dtype=np.int64),
            llr_nats=llr,
        ),
        bits=(record.BitEvidence(position=0, llr_nats=-2.5, **half),),
        decoded=record.PayloadFacts(
            bits="010101010101",
            posterior=np.full(12, 0.75),
            repaired=1,
            fields=(FieldValue(name="who", raw=417, text="417"),),
        ),
        candidates=(record.CandidateFacts(bits="010101010101", posterior=1e-300),),
        evidence=replace(RECORD.evidence, log10_e=-0.25, seed=2**52 - 1, keys_tried=2),
        power=record.PowerFacts(table="6" * 64, name="Ours", own=True, texts=64, date="2026-11-22"),
        verdict="insufficient",
        sentences=(record.Sentence(key="outcome.mark", values={"lr": 1.5, "n": 3, "w": "x"}),),
        cautions=(record.Sentence(key="caution.unmeasured"),),
        passages=(record.Passage(first_token=0, last_token=1, start=0, end=7),),
        marks=(),
        prior=record.PriorFacts(
            **register, digest="5" * 64, weight=0.5, log10_alike=-1 / 3, log10_issued=0.25
        ),
        register=record.RegisterFacts(
            **register,
            none_weight=0.5,
            prior_none=0.1,
            chance=1e-9,
            matches=(RegisterMatch(**entry, posterior=0.4),),
        ),
        log=(
            replace(RECORD.log[0], note=(sentence("log.passages", n=2),)),
            record.StepReport(number=2, name="text", done=False, note="old", error=failed.packed()),
        ),
    )


def same(a: Any, b: Any) -> bool:
    if dataclasses.is_dataclass(a) and not isinstance(a, type):
        return type(a) is type(b) and all(
            same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a)
        )
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b) and type(a) is type(b)


@given(
    hnp.arrays(np.float64, 5, elements=st.floats(allow_nan=False, allow_infinity=False)),
    st.integers(0, 4),
)
def test_out_and_in_again_without_loss(entropy, steps):
    audit = make_audit(np.full((steps, 3), np.nan), entropy)
    assert same(json_io.from_json(json_io.to_json(audit)), audit)


def test_an_empty_text_comes_back_with_its_shapes():
    audit = make_audit(np.zeros((0, 3)), np.zeros(0))
    back = json_io.from_json(json_io.to_json(audit))
    assert back.tokens.spans.shape == (0, 2)
    assert back.steps.llr_nats.shape == (0, 3)


def test_a_place_names_the_page_or_slide_where_the_file_has_them():
    text = "One.\n\nTwo. Three.\n\nFour."
    audit = replace(make_audit(), text=text)
    passage = Passage(first_token=0, last_token=1, start=text.index(" Three"), end=len(text))

    def place(pages: tuple[int, ...], kind: str, language: str, **more: Any) -> str:
        found = replace(audit, input=replace(audit.input, format=kind, pages=pages), **more)
        assert json_io.from_json(json_io.to_json(found)).input.pages == pages
        [here] = placed([passage], found.text, pages)
        return found.finding.place(here, language)

    assert place((), "pdf", "en") == "paragraph 2, lines 3 to 5, characters 11 to 24"
    assert place((), "pdf", "de") == "Absatz 2, Zeilen 3 bis 5, Zeichen 11 bis 24"
    three = replace(audit, text="One.\nTwo.\nThree.").finding
    [whole] = placed(
        [Passage(first_token=0, last_token=1, start=0, end=16)], "One.\nTwo.\nThree.", ()
    )
    assert three.place(whole, "en") == "lines 1 to 3, characters 1 to 16"
    assert three.place(whole, "de") == "Zeilen 1 bis 3, Zeichen 1 bis 16"
    assert "pages" not in json_io.to_json(audit)  # as records of earlier versions
    pages = (0, 6, text.index("Three"))
    assert place(pages, "pdf", "en") == "page 3, paragraph 1, characters 11 to 24"
    assert place(pages, "pptx", "de") == "Folie 3, Absatz 1, Zeichen 11 bis 24"
    assert place(pages, "pdf", "de", text=None) == "Seite 3, Zeichen 11 bis 24"


def test_the_schema_that_ships_is_the_record():
    shipped = json.loads(resource("audit.schema.json").read_text(encoding="utf-8"))
    assert shipped == json_io.json_schema()
    jsonschema.Draft202012Validator.check_schema(shipped)
    data = json.loads(json_io.to_json(make_audit()))
    jsonschema.validate(data, shipped)
    data["bits"][0]["extra"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, shipped)


def test_the_summary_is_part_of_the_record():
    audit = make_audit()
    whole, part = audit.to_dict(), json_io.summary(audit)
    shipped = json.loads(resource("finding.schema.json").read_text(encoding="utf-8"))
    assert shipped == json_io.finding_schema()
    # A row adds the path, and what could not be done.
    row = part | {"error": {"code": "a", "message": "b", "hint": ""}}
    row["input"] = part["input"] | {"path": "a/b.txt"}
    for fits in (part, row):
        jsonschema.validate(json.loads(json.dumps(fits)), shipped)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(whole, shipped)
    assert part.pop("schema") != whole["schema"]
    named = {"payload", "payload_best", "payload_posterior", "payloads_in_question", "marks"}
    named |= {"fields", "fields_best", "fields_posterior", "fields_outside", "undone"}
    named |= {"handling", "readings", "outcome", "keys_tried", "draft"}
    named |= {"payload_withheld", "layers"}
    named |= {"left_out", "examined_words"}  # of the input, which holds them in the record
    named.add("passages")  # of every mark, and only where one was found
    assert {k: part[k] for k in part.keys() - named} == {k: whole[k] for k in part.keys() - named}
    assert part["bits"][0]["llr"] == -2.5


def damage(change: Any) -> str:
    data = json.loads(json_io.to_json(make_audit()))
    change(data)
    with pytest.raises(RecordError) as caught:
        json_io.from_dict(data)
    return caught.value.message


def test_damage_is_named():
    assert "record.verdict" in damage(lambda d: d.pop("verdict"))
    assert "surprise" in damage(lambda d: d.update(surprise=1))
    assert "tokens" in damage(lambda d: d["input"].update(tokens="3"))
    assert "spans" in damage(lambda d: d["tokens"].update(spans=[1, 2]))
    assert "ids" in damage(lambda d: d["tokens"].update(ids=["a"]))
    assert "schema" in damage(lambda d: d.update(schema="pura-audit/999"))
    assert "temperature" in damage(lambda d: d["profile"].update(temperature=0))


@pytest.mark.parametrize(
    "text",
    ["", "[", "[" * 100_000, "null", '{"schema": 3}', b"\xff"],
    ids=lambda text: repr(text)[:20],
)
def test_what_is_no_record_is_refused(text):
    with pytest.raises(RecordError):
        json_io.from_json(text)


def test_a_finding_goes_out_as_json_and_in_again():
    found = replace(make_audit(), verdict="mark").finding
    assert Finding.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert found.brief().payload is not None
    assert found.brief().wording == ()
    with pytest.raises(RecordError):
        Finding.from_json({"verdict": "mark"})


@pytest.mark.parametrize("marks", [0, 1, 2])
def test_what_case_logs_of_earlier_versions_kept_is_read(marks):
    kept: dict[str, Any] = {"name": "a.txt", "sha256": "ab" * 32, "log10_e": 7.125, "seed": 1}
    if marks:  # versions up to 0.2.0 did not count them
        kept |= {"marks": marks, "more_marks": marks > 1, "identified": "0101"}
    found = Finding.from_json(kept, audit="1" * 32, created="2026", verdict="mark")
    assert (found.name, found.log10_e, found.counted) == ("a.txt", 7.125, max(1, marks))
    bits = {0: [None], 1: ["0101"], 2: [None, None]}  # of several it named the first by its rule
    assert [mark.payload.bits for mark in found.marks] == bits[marks]
    plain = found.to_json()
    assert Finding.from_json(plain, verdict="no-mark") == found
    with pytest.raises(RecordError):
        Finding.from_json(plain | {"form": 99})


@pytest.mark.parametrize("old", ["0.3.0", "0.2.0"])
def test_what_lists_of_earlier_versions_kept_is_read(old):
    payload = {"fields": [["who", "417"]], "bits": "0101", "in_question": False}
    kept: dict[str, Any] = {
        "audit": "1" * 32,
        "created": "2026-11-21T04:00:00+00:00",
        "verdict": "mark",
        "marks": 1,
        "log10_e": 7.5,
        "places": [[0.5, 1.0, 0]],
        "share": 0.5,
        "tokens": 200,
        "language": "English",
    }
    if old == "0.3.0":
        kept |= {"payloads": [payload], "at_least": False}
    else:
        kept |= {"fields": payload["fields"], "payload": "0101", "candidates": False}
    found = Finding.from_json(kept)
    assert (found.id, found.log10_e, found.share, found.counted) == ("1" * 32, 7.5, 0.5, 1)
    assert (found.payload.bits, found.payload.fields[0].text) == ("0101", "417")
    ((_, passage),) = found.passages
    assert (passage.first_token, passage.last_token) == (100, 199)
    assert found.title("en") == "A mark was found"
