"""A real text that holds two marked passages, and one that holds a passage and much else."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pura.base import numerals
from pura.batch.results import finding_of
from pura.cli.verify import audit_lines
from pura.detect.options import AuditText, Options
from pura.detect.together import audit_documents, audit_text
from pura.detect.verdict.agreement import disagreements
from pura.detect.verdict.policy import Policy
from pura.documents import from_text
from pura.embed import generate
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.evidence import encode as as_json
from pura.record.json_io import findings_digest
from pura.record.marks import bits_of, mark_at
from pura.record.naming import limits_words
from pura.register.rows import Issue, Recipient
from pura.register.store import Register
from pura.report.blocks import Labels
from pura.report.findings import findings
from pura.scheme import Gate, Payload, Profile, SecretKey, encode
from pura.words.sentences import fill
from pura_lab.proxy import perturb_weights

pytestmark = pytest.mark.model
Audited = Callable[..., Audit]
DATA = Path(__file__).resolve().parents[2] / "data"


def host(number: int) -> str:
    return (DATA / "human.txt").read_text(encoding="utf-8").split("\n%\n")[number].strip()


@pytest.fixture(scope="module")
def audit(small_audited, small_samples) -> Audit:
    first, second = (one["text"].strip() for one in small_samples["marked-tbcc"]["texts"][:2])
    return small_audited("\n\n".join([host(0)[:500], first, host(1)[:700], second, host(2)[:300]]))


def test_two_marks_of_one_text(audit, small_samples):
    texts = small_samples["marked-tbcc"]["texts"][:2]
    assert audit.verdict == "mark"
    assert {mark.bits for mark in audit.marks} == {t["payload"] for t in texts}
    assert [mark.bits for mark in audit.marks] == [t["payload"] for t in texts]
    (strongest,) = (mark for mark in audit.marks if mark.bits == audit.decoded.bits)
    assert audit.candidates[0].bits == audit.decoded.bits
    assert audit.payload is None  # which of them would it be
    assert [mark.payload.bits for mark in audit.finding.marks] == [t["payload"] for t in texts]
    assert strongest.passages == audit.passages
    for mark in audit.marks:
        (passage,) = mark.passages
        truth = next(t["text"].strip() for t in texts if t["payload"] == mark.bits)
        start = audit.text.index(truth)
        assert abs(passage.start - start) < 150
        assert abs(passage.end - (start + len(truth))) < 150
        assert mark.key == audit.key.fingerprint
        assert mark.own_log10_e is not None
        assert mark.own_log10_e > 6
        assert mark.candidates[0].bits == mark.bits
        assert 0.2 < mark.share < 0.6


def test_the_marks_are_counted_and_each_has_its_lines(audit):
    said = [s for s in audit.sentences if s.key.startswith("marks.")]
    assert [s.key for s in said] == ["marks.counted"]
    assert "2 marks" in fill(said[0], "en")
    for language, least in (("en", "at least 1,000,000 times"), ("de", "mindestens 1.000.000-mal")):
        for mark, lines in zip(
            audit.finding.marks, audit.finding.mark_lines(language), strict=True
        ):
            (passage,) = mark.passages
            words = audit.text[passage.start :].lstrip()  # tokens bring the blanks before them
            line = audit.text[: -len(words)].count("\n") + 1
            assert re.search(rf" {line}(,| (to|bis) )", lines[0])
            assert mark.key in lines[1]
            assert mark.payload.best in lines[2]
            # Beyond the policy's cap nothing is printed, however much there is.
            assert any(least in line for line in lines)


def test_redraws_are_left_out_where_the_bound_decides(audit):
    assert audit.evidence.p_redraw is None
    assert audit.evidence.draws == 0
    assert "bound reaches the threshold" in next(s.words("en") for s in audit.log if s.number == 9)


def test_the_record_keeps_its_marks_and_records_without_them_open(audit):
    assert json_io.from_json(json_io.to_json(audit)).marks == audit.marks
    assert json_io.summary(audit)["marks"][1]["payload"] == audit.marks[1].bits
    assert json_io.summary(audit)["payload"] is None
    # The passages of a row are those of all marks, as in a row of a batch.
    every = [p for mark in audit.finding.marks for p in as_json(mark.passages)]
    assert len(every) > len(audit.passages)
    assert json_io.summary(audit)["passages"] == every
    assert finding_of(audit.finding)["passages"] == [[p["start"], p["end"]] for p in every]
    earlier = audit.to_dict()
    del earlier["marks"]
    opened = json_io.from_dict(earlier)
    assert opened.marks == ()
    assert opened.passages == audit.passages
    assert findings_digest(opened) != findings_digest(audit)


def test_the_bits_of_a_mark_are_read_in_its_own_passages(audit):
    assert [number for number, _ in audit.finding.passages] == [
        mark_at(audit, passage.first_token) for _, passage in audit.finding.passages
    ]
    for number, mark in enumerate(audit.marks):
        bits = bits_of(audit, number)
        word = encode(Payload(text=mark.bits), audit.profile)
        assert [bit.bit for bit in bits] == word.tolist()
        # Over both passages at once, the codewords contradict each other.
        assert sum(bit.repaired for bit in bits) < 0.5 * sum(bit.repaired for bit in audit.bits)
        assert sum(bit.readings for bit in bits) < sum(bit.readings for bit in audit.bits)
    assert bits_of(audit, None) is audit.bits


@pytest.fixture(scope="module")
def two_keys(small_model, small_samples) -> tuple[Audit, list[tuple[str, str]]]:
    """Three passages: of one key, of another, of the first again; with keys and payloads."""
    sample = small_samples["marked-tbcc"]
    profile = Profile.from_dict(sample["profile"])
    first, second = SecretKey.from_hex(sample["key_hex"]), SecretKey(bytes(range(64, 96)))
    other = Payload.from_int(0x5A5A5A5A5, profile.payload_bits)
    made = generate(small_model, "The harbour", other, second, profile, tokens=110, seed=1).text
    texts = sample["texts"]
    parts = [host(0)[:400], texts[0]["text"], made, host(1)[:400], texts[1]["text"]]
    audit = audit_text(
        "\n\n".join(part.strip() for part in parts),
        model=small_model,
        keys=[(second, "second"), (first, "first")],
        profile=profile,
        options=Options(policy=Policy(redraw="undecided")),
    )
    expected = [
        (first.fingerprint, texts[0]["payload"]),
        (second.fingerprint, other.text),
        (first.fingerprint, texts[1]["payload"]),
    ]
    return audit, expected


def test_marks_of_two_keys_are_found_with_the_key_of_each(two_keys):
    audit, expected = two_keys
    assert audit.verdict == "mark"
    assert [(mark.key, mark.bits) for mark in audit.marks] == expected
    # In the order of the text, each passage belongs to the mark that was put there.
    said = [(audit.marks[n].key, audit.marks[n].bits) for n, _ in audit.finding.passages]
    assert said == expected
    for number, passage in audit.finding.passages:
        inside = slice(passage.first_token, passage.last_token + 1)
        # Also the passages of the key that the record's steps are not of.
        assert audit.tokens.marked[inside].mean() > 0.8
        assert audit.tokens.log10_evidence[inside].sum() > 6
        if audit.marks[number].key != audit.key.fingerprint:
            assert bits_of(audit, number) is audit.bits


def test_a_policy_may_ask_for_redraws_all_the_same(small_audited, small_samples):
    options = Options(policy=Policy(redraw="always", draws=99))
    found = small_audited(small_samples["marked-tbcc"]["texts"][0]["text"][:260], options=options)
    assert found.evidence.p_redraw == pytest.approx(0.01)
    assert found.evidence.draws == 99


def test_a_text_without_a_named_generator_is_never_called_unmarked(builtin_model, samples):
    sample = samples["marked-tbcc"]
    profile = Profile.from_dict(sample["profile"])
    plain = host(4)[:1000]

    def verdict(profile: Profile, reader: Any = builtin_model) -> str:
        keys = [(SecretKey(bytes(32)), None)]
        options = Options(policy=Policy(draws=0))
        found = audit_text(plain, model=reader, keys=keys, profile=profile, options=options)
        return found.verdict

    assert profile.model is None
    assert verdict(profile) == "insufficient"
    named = profile.with_(model=builtin_model.fingerprint)
    assert verdict(named) == "no-mark"
    # A proxy reads worse than the table says: whatever it misses, it never says "no mark".
    proxy = perturb_weights(builtin_model, 0.1, np.random.default_rng(1))
    assert verdict(named, proxy) == "insufficient"
    other = replace(proxy, fingerprint="0123456789abcdef")
    assert verdict(profile.with_(model=other.fingerprint), other) == "insufficient"


def issued(tmp_path: Path, audit: Audit, payloads: list[str]) -> Register:
    """Issue payloads under the key and the profile of a record, and under another key."""
    register = Register(tmp_path / "register.sqlite3", create=True)
    for number, bits in enumerate(payloads):
        mark = audit.identity(audit.key.fingerprint, bits)
        other = replace(mark, key="0123456789abcdef")
        register.add(Issue.of(mark, Recipient(who=f"Customer {number}")))
        register.add(Issue.of(other, Recipient(who="Customer of another key")))
    return register


def test_the_register_is_asked_for_each_identified_payload(small_audited, audit, tmp_path):
    with issued(tmp_path, audit, [mark.bits for mark in audit.marks]) as register:
        found = small_audited(audit.text, options=Options(register=register))
    entries = [mark.entry for mark in found.named_marks]
    assert [one.who for one in entries if one is not None] == ["Customer 0", "Customer 1"]
    assert "register.looked-up" in [s.key for s in found.sentences]
    assert all("Customer" in " ".join(lines) for lines in found.finding.mark_lines("en"))


def test_a_payload_in_question_is_not_looked_up(audited, samples, tmp_path):
    sample = samples["marked"]["texts"][0]
    piece = sample["text"][300:560]
    alone = audited(piece, "marked")
    assert alone.verdict == "mark"
    assert alone.payload.bits is None
    assert alone.decoded.bits != sample["payload"]  # and rightly so
    with issued(tmp_path, alone, [alone.decoded.bits]) as register:
        found = audited(piece, "marked", options=Options(register=register))
    assert found.register.matches == ()
    keys_said = [s.key for s in found.sentences]
    assert "register.in-question" in keys_said
    assert "payload.several" in keys_said
    assert not {"register.issued", "register.none", "register.closest"} & set(keys_said)
    assert "Customer" not in json_io.to_json(found)


def test_readings_that_disagree_are_pooled_by_their_evidence(audited, samples):
    """The stronger reading alone names a wrong payload; with the other one it is the right one."""
    sample = samples["marked"]["texts"][1]
    piece = sample["text"][300:560]
    used_once = {"payload_use": "answer"}  # else the payload of a poor fit is withheld
    pooled = audited(piece, "marked", profile=used_once)
    as_found = audited(piece, "marked", profile=used_once, options=Options(restore=False))
    first, second = (one.log10_e for one in pooled.variants if one.read)
    assert first > second
    assert as_found.evidence.log10_e == pytest.approx(first, abs=0.001)
    assert as_found.candidates[0].bits != sample["payload"]
    assert pooled.candidates[0].bits == pooled.decoded.bits == sample["payload"]
    # Each bit is pooled as the payloads are, and none is less probable than the payload.
    assert pooled.candidates[0].posterior <= pooled.decoded.posterior.min() + 1e-6


@pytest.mark.sampled
def test_what_was_put_into_texts_is_named_and_nothing_where_nothing_was(builtin_model, samples):
    """Sixteen texts side by side, as written and with 40 words put into the middle."""
    marked, plain = samples["marked"], samples["plain"]["texts"]
    written = [one["text"].strip() for one in marked["texts"]]
    split, places = [], []
    for number, text in enumerate(written):
        words, other = text.split(" "), plain[number % len(plain)]["text"].split(" ")
        before, put = words[: len(words) // 2], " ".join(other[5:45])
        split.append(" ".join([*before, put, *words[len(before) :]]))
        places.append((len(" ".join(before)), len(" ".join(before)) + len(put)))
    audits = audit_documents(
        [AuditText(document=from_text(text, name="text")) for text in (*written, *split)],
        model=builtin_model,
        keys=[(SecretKey.from_hex(marked["key_hex"]), None)],
        profile=Profile.from_dict(marked["profile"]),
    )
    gaps = [
        [one.values["gaps"] for one in audit.sentences if one.key == "text.gap-between"]
        for audit in audits
    ]
    assert [audit.verdict for audit in audits] == ["mark"] * 32
    assert gaps[:16] == [[]] * 16
    for audit, said, (first, last) in zip(audits[16:], gaps[16:], places, strict=True):
        assert bool(said) == (len(audit.passages) > 1)
        for gap in said:
            after_from, _, _, before_to = map(int, gap.split(" "))
            assert first < before_to
            assert after_from < last
    # Others are bridged, or their halves are read as two marks.
    assert sum(map(bool, gaps)) >= 12


def test_text_between_two_passages_of_a_mark_is_named(small_audited, small_samples):
    first = small_samples["marked-tbcc"]["texts"][0]["text"].strip().split(" ")
    foreign = " ".join(small_samples["plain"]["texts"][0]["text"].split(" ")[:60])
    text = " ".join([*first[:50], foreign, *first[50:]])
    audit = small_audited(text)
    before, after = audit.passages
    (said,) = (one for one in audit.sentences if one.key == "text.gap-between")
    limits = (before.end_from, before.end_to, after.start_from + 1, after.start_to + 1)
    assert said.values["gaps"] == "{} {} {} {}".format(*limits)
    assert before.end_from < before.end_to
    assert after.start_from < after.start_to
    inside = text.index(foreign)
    assert before.end_from <= inside + len(foreign)
    assert after.start_to >= inside + len(foreign) // 2


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_output_says_a_gap_with_the_limits_of_its_neighbours(
    small_audited, small_samples, language
):
    first = small_samples["marked-tbcc"]["texts"][0]["text"].strip().split(" ")
    foreign = " ".join(small_samples["plain"]["texts"][0]["text"].split(" ")[:60])
    audit = small_audited(" ".join([*first[:50], foreign, *first[50:]]))
    before, after = audit.passages
    limits = (
        "–".join(numerals.count(character, language) for character in edge)
        for edge in (
            (before.end_from, before.end_to),
            (after.start_from + 1, after.start_to + 1),
        )
    )
    joint = {"en": " and ", "de": " und "}[language]
    command = "\n".join(line for line, _ in audit_lines(audit, language, explain=False))
    answer = " ".join(fill(one, language) for one in audit.finding.qualifications)
    said = joint.join(limits)
    for shown in (command, answer, audit.to_html(language)):
        assert said in shown


@pytest.fixture(scope="module")
def beside_repeats(builtin_model, samples) -> list[Audit]:
    """A mark between the same text, between tables, and one whose paragraph comes twice.

    Only a real model expects what stood before to come again.
    """
    sample = samples["marked-tbcc"]
    marked = sample["texts"][0]["text"].strip()
    head = (DATA / "boilerplate.txt").read_text(encoding="utf-8")[:700]
    rows = [f"District {i}\t{37 * i % 91}\t{53 * i % 97}\t{i}.{i % 7} %" for i in range(1, 13)]
    table = "\n".join(["Name\t2025\t2026\tChange", *rows])
    texts = [
        f"{head}\n\n{marked}\n\n{head}",
        f"{table}\n\n{marked}\n\n{table}",
        f"{host(0)[:400]}\n\n{marked}\n\n{host(1)[:300]}\n\n{marked}",
    ]
    found = audit_documents(
        [AuditText(document=from_text(text, name="text")) for text in texts],
        model=builtin_model,
        keys=[(SecretKey.from_hex(sample["key_hex"]), None)],
        profile=Profile.from_dict(sample["profile"]),
    )
    return [one for one in found if isinstance(one, Audit)]


def test_a_mark_ends_where_its_evidence_does(beside_repeats, samples):
    """0.3.0 let it reach through text that repeats what stood before it, and into tables."""
    marked = samples["marked-tbcc"]["texts"][0]["text"].strip()
    assert len(beside_repeats) == 3
    for audit in beside_repeats:
        assert audit.verdict == "mark"
        (passage,) = audit.passages
        start = audit.text.index(marked)
        assert passage.limits is not None
        start_from, start_to, end_from, end_to = passage.limits
        assert start_from - 60 <= start <= start_to + 60
        assert end_from - 60 <= start + len(marked) <= end_to + 60
        assert start - 100 <= passage.start
        assert passage.end <= start + len(marked) + 60
        gate = audit.tokens.gate
        assert gate[passage.first_token] == gate[passage.last_token] == Gate.CARRIES
    assert beside_repeats[0].passages[0].end_uncounted


def test_limits_are_the_same_in_every_output(beside_repeats):
    audit = beside_repeats[0]
    (passage,) = audit.passages
    assert passage.limits is not None
    found = json_io.summary(audit)["passages"][0]
    names = ("start_from", "start_to", "end_from", "end_to")
    assert tuple(found[name] for name in names) == passage.limits
    assert found["end_uncounted"] is True
    assert finding_of(audit.finding)["passages_limits"] == [list(passage.limits)]
    for language in ("en", "de"):
        words = limits_words(passage, language)
        assert all(
            f"{n:,}" in words.replace(".", ",") for n in (passage.limits[2], passage.limits[3])
        )
        lines = [line for line, _ in audit_lines(audit, language, explain=True)]
        assert f"  {words}" in lines
        blocks = findings(audit, Labels(language))
        words = limits_words(passage, language, level=False)
        assert any(words in str(cell) for block in blocks for row in block.rows for cell in row)
    damaged = replace(passage, end_to=passage.end - 1)
    (mark,) = audit.marks
    wrong = replace(audit, passages=(damaged,), marks=(replace(mark, passages=(damaged,)),))
    assert [one.key for one in disagreements(wrong)] == ["differs.passages"]


def test_a_paragraph_that_comes_twice_is_said_to(beside_repeats, samples):
    """0.3.0 said nothing: the second copy is not counted."""
    copies = [[s for s in a.sentences if s.key == "text.copy"] for a in beside_repeats]
    assert [len(one) for one in copies] == [0, 0, 1]
    audit = beside_repeats[2]
    assert audit.text is not None
    first, _, last = str(copies[2][0].values["places"]).partition("\N{EN DASH}")
    marked = samples["marked-tbcc"]["texts"][0]["text"].strip()
    begin = audit.text.rindex(marked)
    assert abs(int(first) - begin) <= 60
    assert abs(int(last) - (begin + len(marked))) <= 60
    assert copies[2][0] in audit.finding.qualifications
