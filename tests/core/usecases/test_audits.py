"""Audits at the desk: one, many, again; what cannot be examined, and what is said at once."""

import datetime as dt
import hashlib
import html
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pytest
from tests.core.stops import stop

from pura.base.errors import (
    Cancelled,
    DeviceError,
    InputError,
    KeyFormatError,
    KeyStoreError,
    ModelError,
    PuraError,
    ReportFileError,
)
from pura.base.progress import Stage
from pura.caselog import load_audit
from pura.detect.options import AuditText, Notice
from pura.detect.unexamined import reason_of
from pura.detect.verdict.policy import Policy
from pura.documents import from_text, read_document
from pura.embed.generate import generate
from pura.keys import KeyRef
from pura.keys.epochs import epoch_key
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.finding import Finding
from pura.register.rows import Issue
from pura.register.store import Register
from pura.report.blocks import Labels, html_page
from pura.report.build import build_report
from pura.report.check import BAD, GOOD, OPEN, repeat
from pura.report.findings import ratio
from pura.report.request import ReportRequest
from pura.scheme import Payload, PayloadSeries, Profile, SecretKey
from pura.usecases import audits
from pura.usecases.audits import Setup, audit, audit_again, prepared, resolve_epochs, unread_file
from pura.usecases.cases import SaveTo, open_log, saving_run
from pura.usecases.environment import Environment
from pura.usecases.keys import marking_key
from pura.words.sentences import fill, sentence


@pytest.fixture
def text(small_samples: dict[str, Any]) -> AuditText:
    return of(small_samples["marked-tbcc"]["texts"][0]["text"][:600])


def of(text: str) -> AuditText:
    return AuditText(document=from_text(text, name="memo"))


def test_one_audit_tells_how_far_it_is_and_leaves_the_model_held(quick, setup, text, loads):
    told: list[Stage] = []
    found = audit(quick, setup, text, progress=told.append)
    assert found.audit.verdict == "mark"
    assert found.audit.key.label == "Desk"
    assert found.notices == ()
    assert (told[0].number, told[0].name) == (0, "model")
    assert [n for n in dict.fromkeys(s.number for s in told) if n] == [
        n for n in range(1, 13) if n != 11
    ]
    audit(quick, setup, text)
    assert loads == ["small cpu float32"]


def test_many_audits_open_keys_once_and_wipe_them_at_the_end(quick, setup, text, monkeypatch):
    given: list[SecretKey] = []
    usual = quick.keys.open
    monkeypatch.setattr(quick.keys, "open", lambda entry: given.append(usual(entry)) or given[-1])
    # What was looked up once is not looked up again.
    setup = replace(setup, keys=(quick.stored_key("Desk"),))
    monkeypatch.delattr(type(quick.keys), "list")
    with prepared(quick, setup) as ready:
        first, second = (ready.audit(text).audit for _ in range(2))
    assert first.evidence == second.evidence
    [key] = given
    with pytest.raises(Exception, match="wiped"):
        key.to_hex()


def test_side_by_side_texts_have_the_records_that_each_has_alone(quick, setup, small_samples):
    marked = [str(entry["text"]) for entry in small_samples["marked-tbcc"]["texts"][:2]]
    words = [
        marked[0][:300],
        marked[1][:330].replace(" the ", "\u00a0the "),
        "Two words",
        marked[0],
    ]
    ids_outside = replace(of("Some text"), ids=(1, 10**9))
    texts = [*map(of, words[:2]), ids_outside, *map(of, words[2:])]
    with prepared(quick, setup) as ready:
        together = ready.audit_many(texts)
        for text, beside in zip(texts, together, strict=True):
            if isinstance(beside, PuraError):
                with pytest.raises(type(beside)):
                    ready.audit(text)
                continue
            alone, found = ready.audit(text).audit, beside.audit
            assert (found.verdict, found.decoded.bits) == (alone.verdict, alone.decoded.bits)
            assert found.evidence.log10_e == pytest.approx(alone.evidence.log10_e, abs=1e-3)
            np.testing.assert_allclose(found.tokens.lo, alone.tokens.lo, atol=1e-4)
            assert [v.name for v in found.variants] == [v.name for v in alone.variants]
            assert [(s.number, s.done) for s in found.log] == [
                (s.number, s.done) for s in alone.log
            ]
    assert [getattr(one, "code", "") for one in together] == ["", "", "input-ids-range", "", ""]


@pytest.mark.sampled
@pytest.mark.slow
def test_the_key_of_a_day_is_found_among_those_of_a_range(quick, setup, small_model, monkeypatch):
    (root,) = setup.keys
    profile = Profile(payload_bits=12, blocks=2, vocab_size=small_model.vocab_size)
    with quick.opened_keys([root]) as [(key, _)], epoch_key(key, "2026-11-22") as daily:
        payload = Payload.from_bits([1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0])
        length = {"tokens": 90, "seed": 1, "ignore_eos": True}
        made = generate(small_model, "The harbour was", payload, daily, profile, **length)
        fingerprint = daily.fingerprint
    mine = Setup(keys=(root,), profile=replace(profile, key=root.fingerprint))
    ranged = replace(mine, epochs="2026-11-20..2026-11-24")
    refs = resolve_epochs(quick, ranged, Policy()).keys
    record = audit(quick, ranged, of(made.text)).audit
    assert record.profile.key is None
    assert quick.session_keys.refs() == (), "derived where they are opened, and kept nowhere"
    assert record.epochs == "2026-11-20..2026-11-24"
    assert json_io.from_json(json_io.to_json(record)).epochs == record.epochs
    [said] = [one for one in record.cautions if one.key == "caution.several-epochs"]
    assert said.values == {"k": 5, "first": "2026-11-20", "last": "2026-11-24"}
    assert [key.label for key in record.keys] == [f"Desk 2026-11-2{day}" for day in range(5)]
    assert (record.key.label, record.key.fingerprint) == ("Desk 2026-11-22", fingerprint)
    identity = PayloadSeries(key=root.fingerprint, epoch="2026-11-22", profile=profile.fingerprint)
    assert record.key.series(profile.fingerprint) == identity
    assert [mark.identity for mark in record.named_marks] == [identity.mark(payload)]
    read = json_io.from_json(json_io.to_json(record))
    assert read.named_marks[0].identity == identity.mark(payload)
    finding = Finding.from_json(record.finding.to_json())
    assert finding.marks[0].identity == identity.mark(payload)
    assert record.evidence.keys_tried == 5
    again = audit_again(quick, json_io.from_json(json_io.to_json(record)))
    for name in ("epochs", "evidence", "keys"):
        assert getattr(again, name) == getattr(record, name)
    alone = audit(quick, Setup(keys=refs[2:3], profile=profile), of(made.text)).audit
    lost = alone.evidence.log10_e - record.evidence.log10_e
    assert 0 < lost <= np.log10(5) + 1e-6
    # A profile that says so needs no range: policy and calendar give it. A court gets one key.
    says = replace(mine, profile=replace(mine.profile, key_epochs="day"))
    monkeypatch.setattr(audits, "today", lambda: dt.date(2026, 11, 23))
    policy = Policy(epochs=3)
    fixed = resolve_epochs(quick, says, policy)
    assert (fixed.epochs, fixed.profile.key) == ("2026-11-21..2026-11-23", None)
    assert fixed.keys == refs[1:4]
    assert resolve_epochs(quick, fixed, policy) == fixed
    monkeypatch.setattr(audits, "policy_of", lambda *_: policy)
    found = audit(quick, says, of(made.text)).audit
    assert (found.verdict, found.key.fingerprint) == (record.verdict, fingerprint)
    entry = quick.keys.derive("Desk", "2026-11-22", epoch=True)
    daily = KeyRef(fingerprint=entry.fingerprint, label=entry.name)
    one_day = resolve_epochs(quick, replace(says, keys=(daily,)), policy)
    assert (one_day.keys, one_day.epochs, one_day.profile.key) == ((daily,), "", None)
    only_this_key = audit(quick, one_day, of(made.text)).audit
    assert only_this_key.named_marks[0].identity == identity.mark(payload)
    bare = resolve_epochs(quick, replace(says, epochs="none"), policy)
    assert (bare.keys, bare.epochs, bare.profile.key) == (mine.keys, "", None)
    with pytest.raises(KeyFormatError, match="day"):
        resolve_epochs(quick, replace(says, epochs="2026-10..2026-11"), policy)
    assert marking_key(quick, root, says.profile, "2026-11-22").fingerprint == fingerprint
    assert marking_key(quick, daily, says.profile) == daily
    assert marking_key(quick, root, mine.profile) == root


def test_an_audit_stops_when_it_is_asked_to(quick, setup, text):

    with pytest.raises(Cancelled):
        audit(quick, setup, text, checkpoint=stop)


def test_short_memory_is_told_by_its_name_and_not_by_prose(quick, setup, text, monkeypatch):
    import torch

    from pura.model import window_scheduler
    from pura.model.tiles import Tiling

    real = window_scheduler.row_sums
    sizes: list[int] = []

    def short(head: Any, hidden: Any, *rest: Any) -> Any:
        tiling = next(r for r in rest if isinstance(r, Tiling))
        sizes.append(tiling.rows)
        if tiling.rows == sizes[0]:
            raise torch.OutOfMemoryError("out of memory")
        return real(head, hidden, *rest)

    monkeypatch.setattr(window_scheduler, "row_sums", short)
    found = audit(quick, setup, text)
    assert found.notices == (Notice.SHORT_OF_MEMORY,)
    assert sentence("log.memory") in found.audit.log[4].note, "the record says it too"


def test_what_an_audit_needs_and_is_not_here_is_named(quick, setup, text, tmp_path):
    with pytest.raises(KeyStoreError, match="No key was given"):
        audit(quick, replace(setup, keys=()), text)
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-not-found"):
        audit(quick, replace(setup, keys=(KeyRef(fingerprint="0" * 16),)), text)
    with pytest.raises(ModelError):
        audit(quick, replace(setup, model="none"), text)
    with pytest.raises(Exception, match="register", check=lambda e: e.code == "register-missing"):
        audit(quick, replace(setup, ask_register=True), text)
    with pytest.raises(Exception, match=r"none\.json"):
        audit(quick, replace(setup, policy=tmp_path / "none.json"), text)


def test_a_language_that_the_policy_leaves_out_is_not_examined(quick, setup, tmp_path, text):
    policy = tmp_path / "policy.json"
    policy.write_text(Policy(languages=("de", "fr-CA")).to_json(), encoding="utf-8")
    found = audit(quick, replace(setup, policy=policy), text)
    assert found.error.code == "language-not-validated"
    assert found.audit.verdict == "not-examinable"
    assert found.audit.sentences[0].values == {"reason": "reason.language"}
    assert found.audit.input.sha256 == text.document.sha256
    assert found.audit.text == text.document.text
    # Three steps were done, the fourth failed and says why, the others were left out.
    assert [step.number for step in found.audit.log] == list(range(1, 13))
    assert [step.done for step in found.audit.log] == [True] * 3 + [False] * 9
    assert "validated: de, fr-CA" in found.audit.log[3].words("en")
    german = (
        "Der Rat der Stadt hat am Dienstag über den Plan für die neue Brücke beraten und ihn mit "
        "großer Mehrheit angenommen, auch wenn es noch Fragen zu den Kosten und der Zeit gibt."
    )
    assert audit(quick, replace(setup, policy=policy), of(german)).audit.verdict != "mark"


def test_a_file_that_no_text_comes_out_of_has_a_whole_record(quick, setup, tmp_path, loads):
    path = tmp_path / "scan.pdf"
    path.write_bytes(b"%PDF-1.7 and nothing else")
    with pytest.raises(InputError) as caught:
        read_document(path)
    item = unread_file(path, caught.value)
    assert item is not None
    # A key that is not here: none is opened for it, and no model is loaded.
    setup = replace(setup, keys=(KeyRef(fingerprint="c" * 16, label="Elsewhere"),))
    found = audit(quick, setup, item)
    assert loads == []
    record = found.audit
    assert found.error is caught.value
    assert record.verdict == "not-examinable"
    assert record.input.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert record.input.size_bytes == path.stat().st_size
    assert (record.key.label, record.model.name) == ("Elsewhere", "small")
    assert [step.done for step in record.log] == [True] + [False] * 11
    assert record.evidence.lr_capped == 1
    jsonschema.validate(record.to_dict(), json_io.json_schema())
    assert json_io.from_json(json_io.to_json(record)).to_dict() == record.to_dict()
    with saving_run(quick, SaveTo(case="Doubtful files", auditor="A. Example")) as run:
        saved = run.save(record)
    with open_log(quick) as log:
        opened = load_audit(log, saved)
    assert opened.to_dict() == record.to_dict()
    for language, words in (("en", "Not examinable"), ("de", "Nicht untersuchbar")):
        assert ratio(opened, Labels(language)) == "–", "nothing was weighed"
        report = build_report([opened], ReportRequest(language=language))
        page = html_page(report.content)
        assert words in page
        for one in record.sentences[:2]:
            assert html.escape(fill(one, language)) in page
        titles = [Labels(language)(f"section.{name}") for name in ("item", "integrity")]
        assert [section.title for section in report.content.sections] == titles


@pytest.mark.parametrize(
    ("error", "there", "reason"),
    [
        (InputError("file.read", name="a", why=5), True, "reason.encoding"),
        (InputError("file.read", name="a", why=2), False, None),
        (InputError("input.read", why=13, code="input-unreadable"), True, "reason.unreadable"),
        (ModelError("command.no-model"), True, None),
        (InputError("input.part", shown="x", code="input-part"), True, None),
    ],
)
def test_what_is_an_outcome_and_what_is_not(error, there, reason, tmp_path):
    path = tmp_path / "a.txt"
    if there:
        path.write_bytes(b"\xff\xfe")
    found = unread_file(path, error)
    assert (found is not None) == (reason is not None)
    if there:
        assert reason_of(error) == reason


def test_a_profile_of_another_tokenizer_is_an_outcome_as_well(quick, setup, text):
    profile = setup.profile.with_(tokenizer="0" * 16)
    found = audit(quick, replace(setup, profile=profile), text)
    assert found.audit.verdict == "not-examinable"
    assert found.audit.sentences[0].values == {"reason": "reason.tokenizer"}
    assert found.audit.model.context_length > 0, "the model was loaded"


# Again


@pytest.fixture(scope="module")
def kept() -> list[Audit]:
    return []


@pytest.fixture
def recorded(quick: Environment, setup: Setup, text: AuditText, kept: list[Audit]) -> Audit:
    """An audit by the stored key; made once, for it is the same at every environment."""
    if not kept:
        kept.append(audit(quick, setup, text).audit)
    return kept[0]


def check(at: Environment, record: Audit) -> tuple[str, str]:
    [found] = repeat([record], lambda one: audit_again(at, one))
    return found.state, found.key


def test_a_fresh_audit_reproduces_the_record_with_the_model_that_is_held(quick, setup, text, loads):
    assert check(quick, audit(quick, setup, text).audit) == (GOOD, "repeat.identical")
    assert len(loads) == 1, "no second model beside the one that is held"


def test_a_fresh_audit_computes_on_the_device_and_in_the_format_that_were_chosen(quick, recorded):
    with pytest.raises(DeviceError, match="float16"):
        audit_again(replace(quick, dtype="float16"), recorded)
    with pytest.raises(DeviceError, match="abacus"):
        audit_again(replace(quick, device="abacus"), recorded)


def test_a_reading_that_is_shown_in_place_of_the_text_is_not_mistaken_for_it(
    quick, setup, small_samples
):
    plain = small_samples["marked-tbcc"]["texts"][0]["text"][:500]
    typeset = plain.replace("'", "’").replace(" the ", "\u00a0the ")
    record = audit(quick, setup, of(typeset)).audit
    assert [reading.name for reading in record.variants] == ["found", "restored"]
    assert not record.variants[0].shown
    assert check(quick, record)[0] == GOOD
    untouched = audit(quick, replace(setup, restore=False), of(typeset)).audit
    assert len(untouched.variants) == 1
    assert check(quick, untouched)[0] == GOOD


def test_a_key_or_model_that_is_not_here_is_named(quick, recorded):
    other = replace(recorded, model=replace(recorded.model, fingerprint="0" * 16))
    with pytest.raises(ReportFileError, check=lambda e: e.code == "repeat-model"):
        audit_again(quick, other)
    assert check(quick, other) == (OPEN, "repeat.not-possible")
    quick.keys.delete("Desk")
    with pytest.raises(ReportFileError, check=lambda e: e.code == "repeat-key"):
        audit_again(quick, recorded)


def test_what_the_record_leaves_out_cannot_be_repeated(quick, recorded):
    for changed, code in (
        (replace(recorded, text=None), "repeat-text"),
        (replace(recorded, prompt=replace(recorded.prompt, known=True)), "repeat-prompt"),
        (
            replace(recorded, variants=(replace(recorded.variants[0], name="ids"),)),
            "repeat-ids",
        ),
    ):
        with pytest.raises(ReportFileError, check=lambda e, c=code: e.code == c):
            audit_again(quick, changed)


def test_the_register_as_prior_finds_more_and_is_needed_again(
    quick, setup, small_samples, tmp_path
):
    sample = small_samples["marked-tbcc"]["texts"][0]
    short = of(sample["text"][:150])
    rng = np.random.default_rng(0)
    others = ["".join(row) for row in rng.choice(["0", "1"], (500, 36))]
    path = tmp_path / "policy.json"
    path.write_text(Policy(register_prior=0.5).to_json(), encoding="utf-8")
    with_prior = replace(setup, policy=path)

    alone = audit(quick, setup, short).audit
    unused = audit(quick, with_prior, short).audit
    assert (alone.prior, unused.prior) == (None, None)
    assert unused.evidence.log10_e == alone.evidence.log10_e
    assert "caution.prior-unused" in {c.key for c in unused.cautions}
    assert "no register as prior" in unused.log[7].words("en")

    series = PayloadSeries(key=setup.keys[0].fingerprint, profile=setup.profile.fingerprint)
    with Register(quick.paths.register, create=True) as register:
        issues = [
            Issue(payload=Payload(text=bits), who="w", series=series)
            for bits in [*others, sample["payload"]]
        ]
        register.add_many(enumerate(issues, start=1))
        # What was issued under another key weighs nothing here.
        stranger = replace(series, key="0123456789abcdef")
        register.add_many(enumerate(replace(issue, series=stranger) for issue in issues[:9]))
        version, head = register.version(), register.head()
    found = audit(quick, with_prior, short).audit
    assert (found.prior.version, found.prior.digest) == (version, head)
    assert (found.prior.entries, found.prior.weight) == (501, 0.5)
    assert found.prior.log10_alike == pytest.approx(alone.evidence.log10_e, abs=0.01)
    assert 4 < found.evidence.log10_e - alone.evidence.log10_e < 8
    assert found.payload.bits == sample["payload"]
    assert found.candidates[0].posterior > alone.candidates[0].posterior
    assert "note.prior-keys" in {s.key for s in found.sentences}
    assert found.register.matches[0].payload == sample["payload"]
    assert json_io.from_json(json_io.to_json(found)).prior == found.prior
    assert audit(quick, setup, short).audit.evidence == alone.evidence, "the policy decides"

    assert check(quick, found) == (GOOD, "repeat.identical")
    with Register(quick.paths.register) as register:
        register.add(Issue(payload=Payload(text="01" * 18), who="w", series=series))
    with pytest.raises(ReportFileError, check=lambda e: e.code == "repeat-register"):
        audit_again(quick, found)


def test_another_payload_is_found_out(quick, recorded):
    bits = recorded.decoded.bits
    flipped = replace(recorded.decoded, bits=("1" if bits[0] == "0" else "0") + bits[1:])
    assert check(quick, replace(recorded, decoded=flipped))[0] == BAD
