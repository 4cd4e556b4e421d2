"""C2PA manifests that are hidden in a text: told of, in record, report and words."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pura.cli.verify import audit_lines
from pura.detect.options import AuditText, Options
from pura.detect.record_facts import input_facts
from pura.detect.restore.variants import variants_of
from pura.detect.together import audit_documents, audit_text
from pura.documents import characters, from_text, read_document
from pura.documents.restore import restore
from pura.provenance.reading import encode, wrappers
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.finding import rendered
from pura.scheme import Profile, SecretKey
from pura.words.sentences import fill, forbidden, noted


def manifest(size: int, version: int = 1, cut: int = 0) -> str:
    """As C2PA 2.3, A.7 spells it."""
    body = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8).tobytes()
    data = struct.pack(">8sBI", b"C2PATXT\0", version, size) + body
    # Written out on its own, so that the test does not share a mistake with the program.
    signs = [chr(0xFE00 + b) if b <= 0x0F else chr(0xE0100 + (b - 0x10)) for b in data]
    return "\ufeff" + "".join(signs[: len(signs) - cut])


def test_a_manifest_is_found_where_it_stands() -> None:
    text = "Words." + manifest(300) + " More." + manifest(7)
    assert [(one.first, one.size, one.whole) for one in wrappers(text)] == [
        (7, 300, True),
        (text.rindex("\ufeff") + 1, 7, True),
    ]
    assert restore(text).text == "Words. More.", "the restored reading leaves it out"


@pytest.mark.parametrize(
    "text",
    [
        "x" + manifest(40, cut=1),
        "x" + manifest(40, cut=42),  # the length itself is cut
        "x" + manifest(40, version=2),
        "x" + manifest(0),
    ],
)
def test_what_only_begins_like_one_is_told_apart(text: str) -> None:
    (found,) = wrappers(text)
    assert not found.whole
    (fact,) = characters.facts(text)
    assert fact.name == characters.INCOMPLETE


@pytest.mark.parametrize("text", ["", "plain", "♥\ufe0f", "x\ufeff" + "\ufe01" * 40])
def test_other_hidden_characters_are_none(text: str) -> None:
    assert wrappers(text) == []
    assert characters.facts(text) == ()


@given(st.text(), st.binary(max_size=60), st.text())
def test_no_text_makes_it_stumble(before: str, noise: bytes, after: str) -> None:
    text = before + encode(b"C2PATXT\0" + noise) + after
    assert len(wrappers(text)) >= 1


def test_a_file_that_begins_with_one_is_not_fooled_by_the_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes((manifest(20) + "Then words.").encode())
    document = read_document(path).chosen[0]
    assert document.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    (fact,) = input_facts(document, 3).transforms
    assert (fact.name, fact.count) == (characters.WHOLE, 1)


def armoured(size: int) -> str:
    """As C2PA 2.4, A.9 spells it, on lines of its own."""
    body = base64.b64encode(np.random.default_rng(size).bytes(size)).decode()
    begin, end = "-----BEGIN C2PA MANIFEST-----", "-----END C2PA MANIFEST-----"
    return f"<!-- {begin} data:application/c2pa;base64,{body} {end} -->\n"


@pytest.mark.parametrize("form", ["a8", "a9"])
def test_a_manifest_of_8_kb_costs_no_tokens_and_changes_no_evidence(
    small_model: Any, small_samples: dict[str, Any], sample_key: SecretKey, form: str
) -> None:
    sample = small_samples["marked-tbcc"]
    plain = sample["texts"][0]["text"]
    texts = [plain, plain + manifest(8000) if form == "a8" else armoured(8000) + plain]
    asked: list[int] = []
    bare, found = audit_documents(
        [AuditText(document=from_text(one)) for one in texts],
        model=small_model,
        keys=[(sample_key, None)],
        profile=Profile.from_dict(sample["profile"]),
        progress=lambda stage: asked.append(stage.total or 0),
    )
    assert isinstance(bare, Audit)
    assert isinstance(found, Audit)
    one, other = (sum(v.tokens for v in audit.variants) for audit in (bare, found))
    assert one <= other <= 1.1 * one
    assert max(asked) <= 2.1 * one + 10, "what the model was given to read, of both"
    # Side by side the two are rounded apart, as two copies of one text are.
    assert found.evidence.log10_e == pytest.approx(bare.evidence.log10_e, abs=1e-3)
    assert found.named_marks[0].payload.bits == bare.named_marks[0].payload.bits
    assert [(m.form, m.state, m.why) for m in found.provenance] == [(form, "invalid", "damaged")]
    assert (bare.provenance, bare.bindings) == ((), found.bindings)
    assert [bare.finding.layers, found.finding.layers] == ["mark-only", "not-compared"]
    assert json_io.from_json(json_io.to_json(found)).provenance == found.provenance


@pytest.mark.parametrize("restored", [True, False])
def test_an_audit_reads_the_words_and_none_of_the_manifest(
    small_model: Any, small_samples: dict[str, Any], sample_key: SecretKey, *, restored: bool
) -> None:
    """Eight kilobytes cost nothing, and every place is one of the text as found."""
    sample = small_samples["marked-tbcc"]
    plain = sample["texts"][0]["text"]
    middle = plain.index(" ", len(plain) // 2)
    hidden = manifest(8000)
    text = plain[:middle] + hidden + plain[middle:]
    bare, found = (
        audit_text(
            AuditText(document=from_text(one)),
            model=small_model,
            keys=[(sample_key, None)],
            profile=Profile.from_dict(sample["profile"]),
            options=Options(restore=restored),
        )
        for one in (plain, text)
    )
    assert found.evidence.log10_e == bare.evidence.log10_e
    assert found.input.tokens == bare.input.tokens == found.variants[0].tokens
    assert found.variants[0].characters == len(plain)
    assert [(one.name, one.count) for one in found.variants[0].changes] == [(characters.CUT, 1)]
    assert [s.key for s in found.sentences] == [s.key for s in bare.sentences]
    # What is hashed, counted and shown is the text as found.
    assert (found.text, found.input.characters) == (text, len(text))
    assert found.input.sha256 == hashlib.sha256(text.encode()).hexdigest()
    assert found.input.transforms[0].name == characters.WHOLE
    far = np.where(bare.tokens.spans > middle, len(hidden), 0)
    inside = found.tokens.spans - bare.tokens.spans
    at_the_cut = bare.tokens.spans == middle
    assert np.array_equal(inside[~at_the_cut], far[~at_the_cut])
    assert json_io.from_json(json_io.to_json(found)).variants == found.variants


def test_a_text_of_nothing_else_is_read_as_it_is() -> None:
    text = manifest(40)
    assert next(iter(variants_of(text))).text == text


@pytest.mark.model
def test_record_report_and_words_tell_of_it(
    audited: Any, samples: dict[str, Any], tmp_path: Path
) -> None:
    from pura.report.blocks import Labels
    from pura.report.method import item
    from pura.report.request import ReportRequest

    sample = samples["marked-tbcc"]
    path = tmp_path / "text.txt"
    path.write_text(sample["texts"][0]["text"] + manifest(200), encoding="utf-8")
    audit = audited(AuditText(document=read_document(path).chosen[0]))
    assert audit.verdict == "mark"
    assert json_io.from_json(json_io.to_json(audit)).input == audit.input
    for step in audit.log:
        assert not step.words("en") or step.words("de") != step.words("en"), step.name
    assert "Bytes bei Zeichen" in noted(audit.input.transforms[0].note, "de")
    assert noted(audit.device.reason, "de").startswith("Der Prozessor")
    assert [one.key for one in audit.finding.conditions] == [
        "manifest.invalid-damaged",
        "layers.not-compared",
    ]
    for language, word in (("en", "cut short or damaged"), ("de", "abgeschnitten oder beschädigt")):
        words = rendered(audit.finding.conditions, language)
        assert word in words[0]
        request = ReportRequest(language=language)
        blocks = item(audit, request, Labels(language))
        assert [b.text for b in blocks if b.kind == "note"] == words
        told = [line for line, _ in audit_lines(audit, language)]
        brief = [line for line, _ in audit_lines(audit, language, explain=False)]
        assert set(words) <= set(told) & set(brief)
        # H1 and H2 stand where they are spoken of, and nothing points to what is not printed.
        assert [line[:3] for line in told if line[:3] in ("H1:", "H2:")] == ["H1:", "H2:"]
        assert not re.search("section 4|Abschnitt 4", "".join(told))
        assert not re.search(r"\bH[12]\b|printed below|abgedruckten", "".join(brief))
        assert f": {audit.payload.bits}" in "".join(brief)
        assert forbidden(" ".join(brief), language) == []
        assert len(brief) < len(told)
    # Records of 0.3 only counted them: what they say stays true of what was done then.
    old = replace(audit, provenance=(), bindings=())
    (sentence,) = old.finding.conditions
    assert "neither read nor checked" in fill(sentence, "en")
    without = replace(old, input=replace(audit.input, transforms=()))
    assert without.finding.conditions == ()
