"""Every kind of finding through every output: each says what the finding says, and no more."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.app.records import LAYOUT, candidate, issued, laid_out
from typer.testing import CliRunner

import pura
from pura.base.catalogue import Template, catalogue
from pura.base.errors import InputError
from pura.batch import results
from pura.batch.results import (
    columns,
    finding_in,
    finding_of,
    json_schema,
    read_row,
    row_line,
    row_of,
    write_rows,
)
from pura.caselog import CaseLog, open_case, read_case, save_audit
from pura.cli.__main__ import app
from pura.cli.verify import audit_lines
from pura.provenance.binding import binding_value, stated
from pura.record import answers, json_io
from pura.record.answers import Answer, Role
from pura.record.audit import Audit
from pura.record.evidence import MarkFacts, PayloadFacts
from pura.record.finding import (
    _QUALIFYING,
    AUDIT,
    BATCH,
    SUMMARY,
    VALUES,
    AnswerValue,
    Finding,
    ShownValue,
    rendered,
)
from pura.record.left_out import LeftOut, LeftOutKind
from pura.record.naming import NamedField, Passage, value_words
from pura.record.provenance import MARK_ONLY, ManifestFacts
from pura.record.surroundings import KeyFacts
from pura.record.transforms import Transform
from pura.record.warnings import WARNINGS, warned
from pura.report.annexes import Seals
from pura.report.blocks import Labels
from pura.report.build import content_of
from pura.report.request import Parties, ReportRequest, refuse_unreviewed
from pura.report.statement import SCHEMA, Statement, StatementKey, check_statement
from pura.scheme import SecretKey
from pura.usecases.batch import summary_of
from pura.words.sentences import Sentence, sentence, title
from pura_audit.jobs.queue import JobContext
from pura_audit.platform import i18n
from pura_audit.session.export import csv_text, exported_table
from pura_audit.session.queue_model import Item, ItemState, listed, verdict_words
from pura_audit.session.results import ResultRow, kind_words
from pura_audit.workbench.answer import measured_words
from pura_audit.workbench.details import wording
from pura_audit.workbench.queue_view import _OUTCOMES as TONES

LANGUAGES = ("en", "de")
CORE = Path(pura.__file__).parents[1]
PLACE = {"input": 1, "item": 1, "piece": 1, "path": "memo.txt", "part": ""}


def passage(first: int, last: int, **more: Any) -> Passage:
    return Passage(first_token=first, last_token=last, start=first * 5, end=last * 5 + 5, **more)


OTHER_KEY = KeyFacts(fingerprint="c" * 16, label="Contoso assistant")
PUBLIC_KEY = KeyFacts(fingerprint=SecretKey(bytes(range(32))).fingerprint, label="Sample")
THIRD_KEY = KeyFacts(fingerprint="d" * 16)
LIMITED = passage(2, 9, start_from=4, start_to=15, end_from=40, end_to=55)


def marks(audit: Audit, *weights: float, own: float | None = 7.25) -> tuple[MarkFacts, ...]:
    size = audit.tokens.ids.size // len(weights)
    return tuple(
        MarkFacts(
            key=audit.key.fingerprint,
            bits=candidate(100 + n, 1.0).bits,
            fields=candidate(100 + n, 1.0).fields,
            passages=(passage(n * size, n * size + size - 2),),
            share=0.25,
            candidates=(candidate(100 + n, w), candidate(200 + n, 1 - w)) if w else (),
            own_log10_e=own,
        )
        for n, w in enumerate(weights)
    )


def evidence(audit: Audit, **values: Any) -> Audit:
    return replace(audit, evidence=replace(audit.evidence, **values))


def source(audit: Audit, **values: Any) -> Audit:
    return replace(audit, input=replace(audit.input, **values))


def manifest(audit: Audit, values: tuple[str, ...] = (), **more: Any) -> Audit:
    """Return a record of a text that came with a signed manifest."""
    signed = {"signer": "Example Press", "signed_at": "2026-11-26T09:30:00+00:00"} | more
    return stated(
        audit, [ManifestFacts(**{"form": "a8", "state": "valid", "values": values} | signed)]
    )


def own_value(audit: Audit) -> str:
    return binding_value(audit.decoded.bits, audit.profile.fingerprint)


def other_payload(audit: Audit) -> Any:
    return replace(audit.decoded, bits=audit.decoded.bits[::-1])


LEFT_OUT = (
    LeftOut(kind=LeftOutKind.COMMENT, words=210, letters=1100, part="comments"),
    LeftOut(kind=LeftOutKind.PICTURE, words=0, location="logo.png"),
    LeftOut(kind=LeftOutKind.ATTACHMENT, words=33, location="a\nb.docx", part="attachment b"),
)


def marks_of_two_keys(audit: Audit) -> Audit:
    """Return a record with two marks of two keys; a third key was tried without a result."""
    first, second = marks(audit, 0.999, 0.999)
    second = replace(second, key=OTHER_KEY.fingerprint)
    return replace(audit, keys=(*audit.keys, OTHER_KEY, THIRD_KEY), marks=(first, second))


def withheld(audit: Audit, *reasons: str) -> Audit:
    """Return a record of marks whose payloads are withheld, each for a reason; empty: it is not."""
    held = tuple(
        replace(mark, bits="", fields=(), candidates=(), withheld=why) if why else mark
        for mark, why in zip(marks(audit, *(0.999 for _ in reasons)), reasons, strict=True)
    )
    nothing = PayloadFacts(bits="", posterior=np.zeros(0), repaired=0)
    return replace(audit, marks=held, decoded=nothing, candidates=(), bits=())


def outside(audit: Audit, *others: MarkFacts) -> Audit:
    """Return a record whose payload has a customer beyond the limits of its profile."""
    limited = (replace(LAYOUT[0], limits=("..400",)), *LAYOUT[1:])
    laid = laid_out(audit, candidate(417, 0.999))
    warning = () if others else (sentence("payload.outside", fields="customer"),)
    return replace(
        laid,
        profile=laid.profile.with_(fields=limited),
        sentences=(*laid.sentences, *warning),
        marks=others,
    )


LOOKS: dict[str, Callable[[Audit], Audit]] = {
    "plain": lambda a: a,
    "negative": lambda a: evidence(a, log10_e=-1.5, lr_capped=0.03, capped=False),
    "no-redraw": lambda a: evidence(a, p_redraw=None, draws=0),
    "uncapped": lambda a: evidence(a, log10_e=4.25, lr_capped=17_782.8, capped=False),
    "hidden": lambda a: source(a, transforms=(Transform(name="c2pa-manifest", count=1),)),
    "manifest": manifest,
    "manifest-guessed": lambda a: manifest(a, (own_value(a),), state="untrusted"),
    "manifest-elsewhere": lambda a: manifest(a, form="pdf", fingerprint_distance=99),
    "manifest-unchecked": lambda a: stated(
        a, [ManifestFacts(form="a9", state="not-checked", why="extra")] * 2
    ),
    "left-out": lambda a: source(a, left_out=LEFT_OUT, examined_words=400),
    "left-out-uncounted": lambda a: source(
        a, left_out=(*LEFT_OUT, LeftOut(kind=LeftOutKind.ENCRYPTED, words=None))
    ),
    "reading-notes": lambda a: source(a, notes=(sentence("left-out.pdf"),)),
    "several-keys": lambda a: replace(a, keys=(*a.keys, OTHER_KEY)),
    "public-key": lambda a: replace(a, keys=(*a.keys, PUBLIC_KEY)),
    "three-keys": lambda a: replace(a, keys=(*a.keys, OTHER_KEY, THIRD_KEY)),
}
"""What any outcome may look like."""
MARKED: dict[str, Callable[[Audit], Audit]] = {
    "unweighed": lambda a: replace(a, candidates=()),
    "paper": lambda a: replace(a, decoder="paper", candidates=()),
    "in-question": lambda a: laid_out(a, candidate(417, 0.6), candidate(418, 0.4)),
    "field-identified": lambda a: laid_out(
        a, candidate(417, 0.6), candidate(417, 0.4, day="2026-11-22")
    ),
    "fields": lambda a: laid_out(a, candidate(417, 0.999)),
    "outside": outside,
    "two-outside": lambda a: outside(a, *marks(a, 0.999, 0.999)),
    "manifest-agrees": lambda a: manifest(a, (own_value(a),)),
    "manifest-differs": lambda a: manifest(a, (own_value(replace(a, decoded=other_payload(a))),)),
    "mark-only": lambda a: stated(a, ()),
    "edited": lambda a: replace(
        a, sentences=(*a.sentences, sentence("text.gap", k=1, places="40–55"))
    ),
    "two": lambda a: replace(laid_out(a, candidate(100, 1.0)), marks=marks(a, 0.999, 0.6)),
    "two-old": lambda a: replace(a, marks=marks(a, 0.0, 0.0, own=None)),
    "two-keys": marks_of_two_keys,
    "at-least": lambda a: replace(a, marks=marks(a, 0.999, 0.999, 0.999), more_marks=True),
    "intervals": lambda a: replace(a, passages=(LIMITED,)),
    "uncounted": lambda a: replace(a, passages=(replace(LIMITED, start_uncounted=True),)),
    "passages": lambda a: replace(a, passages=(passage(0, 3), passage(6, 9))),
    "pages": lambda a: source(a, pages=(0, 40, 80)),
    "textless": json_io.without_text,
    "others": lambda a: replace(
        a, decoded=replace(a.decoded, bits="", fields=()), candidates=(), passages=()
    ),
    "withheld": lambda a: withheld(a, "unfit"),
    "withheld-pieces": lambda a: withheld(a, "pieces"),
    "two-withheld": lambda a: withheld(a, "unfit", ""),
    "entry": lambda a: issued(a, a.decoded.bits),
    "no-entry": lambda a: issued(a, ""),
    "entry-in-question": lambda a: issued(
        laid_out(a, candidate(417, 0.6), candidate(418, 0.4)), candidate(417, 1.0).bits
    ),
}
OUTCOMES: dict[str, tuple[str, Sentence | None]] = {
    "mark": ("mark", None),
    "indication": ("indication", sentence("outcome.indication")),
    "no-mark": ("no-mark", sentence("outcome.no-mark-in-a-row", k=1, power=0.97, n=5)),
    "in-part": (
        "insufficient",
        sentence("outcome.insufficient-in-part", k=1, power=0.97, n=5, words=400, left_out=243),
    ),
    "insufficient": ("insufficient", sentence("outcome.insufficient", n=5, nmin=40)),
    "not-measured": ("insufficient", sentence("outcome.insufficient-not-measured", n=2000)),
    "handled": ("insufficient", sentence("outcome.insufficient-handled", n=2000)),
    "not-examinable": (
        "not-examinable",
        sentence("outcome.not-examinable", reason="reason.damaged"),
    ),
}
"""What findings may say first: the verdict, and the sentence; a mark's is that of the record."""
KINDS = {f"{o} {name}": (o, look) for o in OUTCOMES for name, look in LOOKS.items()} | {
    f"mark {name}": ("mark", look) for name, look in MARKED.items()
}


def made(audit: Audit, kind: str) -> Audit:
    outcome, look = KINDS[kind]
    verdict, first = OUTCOMES[outcome]
    if first is not None:
        audit = replace(audit, sentences=(first, *audit.sentences[1:]), passages=())
    return look(replace(audit, verdict=verdict))


def value_words_line(field: NamedField, language: str) -> str:
    """Return the line of a field that is identified."""
    key = "field.outside" if field.outside else "field.identified"
    values = {"name": field.name, "value": field.text}
    return rendered([Sentence(key=key, values=values)], language)[0]


SEALS = Seals(name="record.json", record="e" * 64, size=1)
PAYLOAD = re.compile(r"(?<![0-9a-f])[01]{4}(?: ?[01]{4})+(?![0-9a-f])")


@pytest.fixture
def base(audit) -> Audit:
    """A record in which nothing but payloads looks like one."""
    return source(replace(audit, id="ab" * 16), sha256="cd" * 32)


def texts(audit: Audit, language: str) -> dict[str, str]:
    """What people read, by output."""
    content = content_of([audit], ReportRequest(language=language), SEALS)
    blocks = (*content.summary, *(block for part in content.sections for block in part.blocks))
    report = [
        words for b in blocks for words in (b.text, *(cell for row in b.rows for cell in row))
    ]
    return {
        "command": "\n".join(line for line, _ in audit_lines(audit, language)),
        "in short": "\n".join(line for line, _ in audit_lines(audit, language, explain=False)),
        "html": unescape(re.sub(r"<[^>]+>", "\n", audit.finding.to_html(language))),
        "report": "\n".join(report),
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_say_of_every_finding_what_it_says(base, language):  # noqa: C901
    for kind in KINDS:
        audit = made(base, kind)
        found = audit.finding
        known = {c.bits for mark in found.marks for c in mark.candidates}
        known |= {mark.payload.best for mark in found.marks}
        entries = [mark.entry.who for mark in found.marks if mark.entry is not None]
        told = texts(audit, language)
        for output, words in told.items():
            where = (kind, output)
            if found.verdict == "not-examinable" and output == "report":
                continue  # says that nothing could be read
            named = {one.replace(" ", "") for one in PAYLOAD.findall(words)}
            assert named <= known, where
            assert ("Ada" in words) <= bool(entries), where
            assert output == "report" or ("Ada" in words) == bool(entries), where
            for mark in found.marks:
                by_fields = mark.payload.fields and all(
                    f"{one.name} {value_words(audit.profile, one.value, language)}" in words
                    for one in mark.payload.fields
                )
                assert not mark.payload.identified or by_fields or mark.payload.best in named, where
                stated = (f"Payload: {mark.payload.best}", f"Nutzlast: {mark.payload.best}")
                if mark.payload.withheld:
                    assert (
                        "nobody is named" in words.lower()
                        or "niemand wird genannt" in words.lower()
                    ), where
                    continue
                assert mark.payload.identified or not any(one in words for one in stated), where
                for field in mark.payload.fields:
                    if output in ("command", "in short", "html"):
                        line = value_words_line(field, language)
                        said_so = line in words.splitlines()
                        said_so |= f"  {line}" in words.splitlines()
                        assert said_so == field.identified, where
            # What was not measured says what measures it.
            assert ("pura power measure" in words) == kind.startswith("not-measured"), where
            # Each place that was left out is listed, with its words and the part that takes it.
            listed = [one.line(language) for one in found.left_out if one.matters]
            listed += rendered(found.reading_notes, language)
            assert [one for one in listed if one not in words] == [], where
            beside = rendered(found.qualifications, language)
            assert [one for one in beside if one not in words] == [], where
        for output in told:
            if output == "in short" and found.layers == MARK_ONLY:
                continue  # no manifest came with the text, as with most
            if output != "report" or found.verdict != "not-examinable":
                conditions = rendered(found.conditions, language)
                assert [one for one in conditions if one not in told[output]] == [], (kind, output)
        for output in ("command", "in short", "html"):
            assert found.title(language) in told[output], (kind, output)
            short = output == "in short"
            cautions = found.further_cautions if short else found.cautions
            conditions = () if short and found.layers == MARK_ONLY else found.conditions
            hidden = rendered((*cautions, *conditions), language)
            assert [one for one in hidden if one not in told[output]] == [], (kind, output)
        assert [
            one for one in rendered(found.wording, language) if one not in told["command"]
        ] == []
        for _, one in found.passages:
            assert found.place(one, language) in told["command"], kind
        evidence = f"{found.log10_e:.1f}"
        assert evidence in told["command"], kind


def shown_in_window(audit: Audit) -> dict[str, str]:
    """What the window writes of a finding, by the view that writes it."""
    found, tongue = audit.finding, i18n.language()
    answer = (*found.answer, *found.qualifications, *found.basis)
    return {
        "answer": "\n".join(rendered(answer, tongue)),
        "details": wording(audit),
        "measured": measured_words(audit),
    }


@pytest.mark.parametrize("spoken", LANGUAGES)
@pytest.mark.parametrize("kind", ["mark several-keys", "mark three-keys", "mark two-keys"])
def test_a_found_mark_is_named_by_its_key_and_profile_in_every_output(base, kind, spoken):
    audit = made(base, kind)
    found, profile = audit.finding, audit.profile
    config = f"{profile.name} ({profile.fingerprint})" if profile.name else profile.fingerprint
    marking = [f"Test ({audit.key.fingerprint})"]
    if kind == "mark two-keys":
        marking.append(f"Contoso assistant ({OTHER_KEY.fingerprint})")
    assert list(found.marking_keys) == marking
    for sentence_ in (*found.compared[:1], *found.answer[:1]):
        (words,) = rendered([sentence_], spoken)
        assert ", ".join(marking) in words
        assert config in words
        tried_only = {key.title for key in audit.keys} - {*marking}
        assert [title_ for title_ in tried_only if title_ in words] == []
    (basis,) = rendered(found.basis, spoken)
    assert [key.title for key in audit.keys if key.title not in basis] == []
    told = texts(audit, spoken)
    for output, words in told.items():
        assert [title_ for title_ in marking if title_ not in words] == [], output
        assert config in words, output
        assert [key.title for key in audit.keys if key.title not in words] == [], output
        # No line about a mark names a key by half of its title.
        for key in audit.keys:
            whole = words.replace(key.title, "")
            assert key.label is None or key.label == "Test" or key.label not in whole, output


@pytest.mark.parametrize("kind", ["mark several-keys", "mark three-keys", "mark two-keys"])
@pytest.mark.usefixtures("qapp")
def test_the_window_names_the_keys_of_the_marks_and_says_below_which_were_tried(base, kind):
    audit = made(base, kind)
    views = shown_in_window(audit)
    assert [title_ for title_ in audit.finding.marking_keys if title_ not in views["answer"]] == []
    for view in ("details", "measured"):
        assert [key.title for key in audit.keys if key.title not in views[view]] == [], view


@pytest.mark.parametrize("spoken", LANGUAGES)
@pytest.mark.parametrize("look", ["several-keys", "three-keys"])
@pytest.mark.parametrize("outcome", ["no-mark", "insufficient", "not-measured", "handled"])
def test_without_a_mark_every_output_says_which_keys_were_tried(base, outcome, look, spoken):
    audit = made(base, f"{outcome} {look}")
    for output, words in texts(audit, spoken).items():
        assert [key.title for key in audit.keys if key.title not in words] == [], output


def test_of_two_marks_each_output_says_which_key_each_carries(base):
    audit = made(base, "mark two-keys")
    first, second = audit.finding.mark_lines("en")
    assert f"Test ({audit.key.fingerprint})" in "\n".join(first)
    assert OTHER_KEY.title in "\n".join(second)
    assert OTHER_KEY.title not in "\n".join(first)
    row = finding_of(audit.finding)
    assert row["marks_keys"] == [audit.key.fingerprint, OTHER_KEY.fingerprint]
    assert row["keys_tried"] == [key.fingerprint for key in audit.keys]
    content = content_of([audit], ReportRequest(), SEALS)
    rows = [row for block in content.summary for row in block.rows]
    assert [row[0] for row in rows if any(OTHER_KEY.title in cell for cell in row[:2])][-1] == "2"


@pytest.mark.parametrize("spoken", LANGUAGES)
@pytest.mark.parametrize("outcome", [name for name in OUTCOMES if name != "not-examinable"])
def test_a_finding_with_a_public_key_is_a_draft_in_every_output(base, outcome, spoken):
    audit = made(base, f"{outcome} public-key")
    found = audit.finding
    assert found.draft
    assert found.public_keys == (PUBLIC_KEY.title,)
    (draft,) = (one for one in found.wording if one.key == "public.key")
    (words,) = rendered([draft], spoken)
    assert PUBLIC_KEY.title in words
    assert [name for name, text in texts(audit, spoken).items() if words not in text] == []
    assert audit.to_row()["draft"] is True
    assert finding_of(found)["draft"] is True
    assert json_io.summary(audit)["draft"] is True
    content = content_of([audit], ReportRequest(language=spoken), SEALS)
    assert content.draft == Labels(spoken)("draft.public-key")
    for role in (Role.TRUSTED, Role.INTERNAL):
        policy = {"name": "house", "version": 1, "sha256": "ab" * 32}
        told = Answer(role=role, verdict=found.verdict, finding=found, policy=policy).told(spoken)
        expected = words if role is Role.INTERNAL else answers.say("answer.draft", spoken)
        assert told["meaning"].startswith(expected)


def test_every_warning_says_how_askers_read_it():
    sentences = [key for key in catalogue("findings") if key.startswith("caution.")]
    sentences += [one.key for one in _warnings_of_sources()]
    for key in sentences:
        assert key in WARNINGS or key.partition(".")[0] in WARNINGS, key
        row = warned(key)
        assert not row.plain or row.plain in catalogue("serve"), key
        # As it is told to those who may not hear numbers that follow from the key.
        kinds = {} if row.plain else catalogue("findings")[key].blanks
        assert row.subject == "register" or {*kinds} <= {"k", "tokens", "reference", "name"}, key
    known = (*catalogue("findings"), "way-out.", "register.")
    assert [one for one in WARNINGS if not any(key.startswith(one) for key in known)] == []


def _warnings_of_sources() -> list[Sentence]:
    """Return the qualifying sentences that the sources of findings name."""
    named = {
        key
        for path in (CORE / "pura").rglob("*.py")
        if path.parent.name in ("verdict", "record", "detect")
        for key in re.findall(r'key="([a-z]+\.[a-z-]+)"', path.read_text(encoding="utf-8"))
    }
    return [Sentence(key=key) for key in sorted(named) if key.startswith(_QUALIFYING)]


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_each_warning_reaches_every_output_that_shows_its_subject(base, spoken):
    policy = {"name": "house", "version": 1, "sha256": "ab" * 32}
    for kind in KINDS:
        audit = made(base, kind)
        found = audit.finding
        if found.verdict == "not-examinable":
            continue
        weak = rendered((*found.qualifications, *found.further_cautions), spoken)
        beyond = {name for mark in found.marks for name in mark.payload.outside}
        outputs = texts(audit, spoken)
        for output, words in outputs.items():
            assert [one for one in weak if one not in words] == [], (kind, output)
            for name in beyond:
                assert "limits" in words or "Grenzen" in words, (kind, output, name)

        def told(role: Role, *release: str, found: Finding = found) -> list[str]:
            answer = Answer(
                role=role, verdict=found.verdict, finding=found, policy=policy, release=release
            )
            return answer.told(spoken)["warnings"]

        internal = told(Role.INTERNAL)
        assert [one for one in weak if one not in internal] == [], kind
        limits = answers.say("warning.outside", spoken, fields="customer")
        assert (limits in internal) == bool(beyond), kind
        assert (limits in told(Role.TRUSTED, "customer")) == bool(beyond), kind
        # Whoever is not told the field does not hear of it either.
        assert limits not in told(Role.TRUSTED), kind
        withheld_words = answers.say("warning.withheld", spoken)
        held = any(mark.payload.withheld for mark in found.marks)
        assert (withheld_words in told(Role.TRUSTED, "customer")) == held, kind
        assert withheld_words not in told(Role.TRUSTED), kind
        parts = sum(one.key.startswith("caution.") for one in found.cautions)
        assert bool(told(Role.TRUSTED)) >= bool(parts), kind
        for draft in (True, False):
            public = Answer(role=Role.PUBLIC, verdict="marked", draft=draft).told(spoken)
            assert public["meaning"].startswith(answers.say("answer.draft", spoken)) == draft


def test_a_report_on_a_finding_with_a_public_key_is_never_final(base):
    audit = made(base, "mark public-key")
    request = ReportRequest(final=True, parties=Parties(authoriser="C. Third"))
    with pytest.raises(InputError, check=lambda error: error.code == "report-public-key"):
        refuse_unreviewed([audit], request, ())


def test_many_keys_are_counted_where_a_sentence_would_not_end(base):
    keys = tuple(KeyFacts(fingerprint=f"{n:016x}", label=f"Key {n}") for n in range(400))
    audit = replace(made(base, "mark plain"), keys=(*base.keys, *keys))
    assert len(audit.finding.keys_tried) == 401
    (basis,) = rendered(audit.finding.basis, "en")
    assert "(401)" in basis
    assert len(basis) < 1000


def test_rows_lists_and_files_hold_every_finding(base, tmp_path):
    nothing, lines = JobContext(lambda _: None, lambda _: None), []
    with CaseLog(tmp_path / "log.sqlite3", create=True) as log:
        who = log.person("A. Example")
        case = open_case(log, "Case", who).id
        for place, kind in enumerate(KINDS):
            audit = replace(made(base, kind), id=f"{place:032x}")
            found, row, batch = audit.finding, audit.to_row(), finding_of(audit.finding)
            shown = found.verdict != "not-examinable"
            for name, column in VALUES.items():
                value = column.of(found)
                flat = ", ".join(value) if name in row and isinstance(value, list) else value
                assert name not in row or row[name] == flat, (kind, name)
                assert BATCH not in column.files or batch[name] == value, (kind, name)
            line = json.loads(row_line(row_of(PLACE, batch)))
            assert read_row(line) == line, kind
            lines.append(line)
            again = finding_in(line)
            assert (again.verdict, again.log10_e) == (found.verdict, found.log10_e), kind
            assert (again.headline, again.outcome) == (found.headline, found.outcome), kind
            assert [m.payload.bits for m in again.marks] == [m.payload.bits for m in found.marks]
            summary = json_io.summary(audit)
            assert (summary["id"], summary["verdict"]) == (found.id, found.verdict)
            assert summary["evidence"]["log10_e"] == found.log10_e
            assert summary["passages"] == [json_io.encode(one) for _, one in found.passages]
            for told, mark in zip(summary["marks"], found.marks, strict=True):
                assert told["payload"] == mark.payload.bits, kind
            assert Finding.from_json(json.loads(json.dumps(found.to_json()))) == found, kind
            entry = listed(audit)
            assert replace(entry, language=found.language) == found.brief(), kind
            save_audit(log, case, audit, who)
            item = Item(number=place, name=found.name, finding=entry, state=ItemState.DONE)
            item.audit = audit
            head, (cells,) = exported_table(None, [ResultRow(name=found.name, item=item)], nothing)  # type: ignore[arg-type]
            cell = dict(zip(head, cells, strict=True))
            assert cell["Number of the audit"] == found.id
            opened = ResultRow(name=found.name, finding=again)
            labels = {verdict_words(item), cell["Outcome"], opened.cell("outcome")}
            assert labels == {found.title("en")}, kind
            group = ResultRow(name=found.name, item=item).kind
            assert (opened.kind, row["outcome"], summary["outcome"]) == (group,) * 3, kind
            assert kind_words(group) == found.title("en") or len(audit.marks) > 1, kind
            assert TONES[group] == TONES[found.verdict], kind
            evidence = round(found.log10_e, 2) if shown else None
            assert [one for one in cells if isinstance(one, float)][:1] in ([evidence], []), kind
            assert found.tokens in cells, kind
        kept = {item.id: item for item in read_case(log, case).items}
    rows = str(tmp_path / "rows.jsonl")
    write_rows(rows, lines, "jsonl")
    counts = Counter(made(base, kind).finding.outcome for kind in KINDS)
    assert summary_of(rows).outcomes == counts
    for language in LANGUAGES:
        words = ["batch", "summary", rows, "--language", language]
        told = CliRunner().invoke(app, words).stdout
        for outcome, count in counts.items():
            assert f"  {count}  {title(outcome, language)}\n" in told, outcome
    for place, kind in enumerate(KINDS):
        audit = replace(made(base, kind), id=f"{place:032x}")
        item_finding = kept[audit.id].finding
        assert item_finding == audit.finding.brief(), kind
        for language in LANGUAGES:
            assert kept[audit.id].headline(language) == audit.finding.title(language), kind


def test_answers_are_the_mask_of_the_role_and_statements_hold_exactly_them(base):
    policy = {"name": "house", "version": 1, "sha256": "ab" * 32}
    more = {"policy": policy, "release": ("customer",)}
    for kind in KINDS:
        found = made(base, kind).finding
        public = Answer(role=Role.PUBLIC, verdict=answers.NO_STATEMENT).told("en")
        assert [*public] == ["verdict", "headline", "meaning"]
        for role in (Role.TRUSTED, Role.INTERNAL):
            told = Answer(role=role, verdict=found.verdict, finding=found, **more).told("en")
            assert (told["verdict"], told["sha256"]) == (found.verdict, found.sha256), kind
            assert (told["headline"], told["supports"]) == (found.title("en"), found.supports)
            assert told["strength"] == found.strength, kind
            assert len(told["marks"]) == len(found.marks)
            for shown, mark in zip(told["marks"], found.marks, strict=True):
                assert shown["places"] == [{"start": p.start, "end": p.end} for p in mark.passages]
                identified = {one.name: one.text for one in mark.payload.fields if one.identified}
                if role is Role.TRUSTED:
                    identified = {n: v for n, v in identified.items() if n == "customer"}
                assert shown["fields"] == identified, kind
            assert [one["state"] for one in told["manifests"]] == [
                one.state for one in found.provenance
            ]
            if role is Role.INTERNAL:
                assert told["layers"] == " ".join(rendered(found.conditions, "en")), kind
            elif not any(one.state == "valid" for one in found.provenance):
                # Whoever may not hear a payload can not have a guess of it confirmed either.
                bindings = {one["soft_binding"] for one in told["manifests"]}
                assert bindings <= {"absent"}, kind
                assert not re.search("agree|differ|byBinding|alone", told["layers"]), kind
            numbers = re.findall(r"\d", json.dumps([told["meaning"], told["headline"]]))
            assert role is Role.INTERNAL or len(found.marks) > 1 or not numbers, kind
            check = {"id": "x", "status": "done", "answer": told}
            about = {"detector": "House", "version": "1", "role": role.value, "language": "en"}
            signed = Statement.of({"schema": SCHEMA, **about, "check": check})
            assert signed.answer == told, kind
            assert {"headline": found.title("en"), "marks": told["marks"]}.items() <= {
                **signed.plain()
            }.items()


@pytest.fixture
def no_columns_kept():
    """Columns of rows are put together once; here they change."""
    kept = (columns, results._shape)
    for one in kept:
        one.cache_clear()
    yield
    for one in kept:
        one.cache_clear()


@pytest.mark.usefixtures("no_columns_kept")
def test_a_new_value_shows_everywhere_by_a_row_of_the_table_and_its_words(
    base, monkeypatch, tmp_path
):
    """The value is how many characters lie in passages."""

    def count(found: Finding) -> int:
        return sum(p.end - p.start for p in found.places)

    row = ShownValue(
        int,
        count,
        "characters in passages",
        files=(AUDIT, BATCH, SUMMARY),
        told=AnswerValue((int, "Characters in passages.")),
        words=lambda found, language: [f"{count(found)} Zeichen {language}"],
    )
    monkeypatch.setitem(VALUES, "marked", row)
    label = Template(key="", texts={"en": "Marked", "de": "Markiert"}, hint="", blanks={})
    monkeypatch.setitem(catalogue("findings")._texts, "value.marked", label)
    audit = made(base, "mark passages")
    found, length = audit.finding, count(audit.finding)
    assert length == 40
    assert audit.to_row()["marked"] == length
    line = json.loads(row_line(row_of(PLACE, finding_of(found))))
    assert line["marked"] == length
    assert json_schema()["properties"]["marked"]["type"] == ["integer", "null"]
    summary = json_io.summary(audit)
    assert summary["marked"] == length
    assert "marked" in json_io.finding_schema()["required"]
    for language in LANGUAGES:
        for output, words in texts(audit, language).items():
            assert f"{length} Zeichen {language}" in words, output
    item = Item(number=1, name=found.name, finding=listed(audit), state=ItemState.DONE)
    item.audit = audit
    nothing = JobContext(lambda _: None, lambda _: None)
    rows = [ResultRow(name=found.name, item=item)]
    head, *cells = csv_text(*exported_table(None, rows, nothing)).splitlines()  # type: ignore[arg-type]
    assert head.endswith(",Manifests,Marked")
    assert cells[0].endswith(f",{length} Zeichen en")
    key = StatementKey.of(tmp_path / "key")
    for role in (Role.TRUSTED, Role.INTERNAL):
        policy = {"name": "house", "version": 1, "sha256": "ab" * 32}
        answer = Answer(role=role, verdict="mark", finding=found, policy=policy).told("de")
        assert answer["marked"] == length
        about = {"detector": "House", "version": "1", "role": role.value, "language": "de"}
        check = {"id": "x", "status": "done", "answer": answer}
        signed = key.sign({"schema": SCHEMA, **about, "check": check})
        checked = check_statement((signed, None, False), moment=datetime.now(UTC))
        assert ("Markiert", str(length)) in checked.statement.lines("de")
