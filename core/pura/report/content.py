"""The fourteen sections of a report, in their order (docs/reports.md), as plain blocks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pura.record.audit import Audit
from pura.record.naming import NamedMark
from pura.record.presented import said
from pura.record.spoken import place_words, whom_words
from pura.report import annexes, findings, item, method
from pura.report.blocks import (
    Block,
    Content,
    Section,
    bullets,
    facts,
    heading,
    note,
    paragraph,
    table,
)
from pura.report.glyphs import printable
from pura.report.labels import Labels
from pura.report.request import ReportRequest
from pura.scheme.foreign import FOREIGN_NAMES
from pura.words.sentence import Sentence
from pura.words.sentences import fill, say, step_name

DRAFTS: Final = {"confirmed": "draft.reviewed", "disputed": "draft.disputed"}
_BITS: Final = re.compile(r"\b[01]{12,}\b")
_UNEXAMINED: Final = (1, 3, 4, 13)
"""Sections of a report on items that could not be examined; the others speak of a measurement."""


@dataclass(frozen=True, kw_only=True)
class Seals:
    """Digests that section 13 prints.

    Attributes:
        name: Of the embedded record.
        record: Its SHA-256.
        size: Its bytes.
        annex: SHA-256 of the sealed annex; empty when there is none.
    """

    name: str
    record: str
    size: int
    annex: str = ""


def report_number(audits: Sequence[Audit], request: ReportRequest) -> str:
    """Return the identifier of a report; made of the audits' when none was given."""
    if request.number.strip():
        return request.number.strip()
    joined = hashlib.sha256("".join(audit.id for audit in audits).encode()).hexdigest()
    return f"R-{audits[0].created[:10].replace('-', '')}-{joined[:8].upper()}"


def content_of(audits: Sequence[Audit], request: ReportRequest, seals: Seals) -> Content:
    """Return everything that a report says.

    Args:
        audits: As they may be shown (:func:`pura.report.hiding.public_audit`).
        request: What the report is told.
        seals: Digests of what goes with it.
    """
    labels = Labels(request.language)
    number = report_number(audits, request)
    issued = (request.issued or max(audit.created for audit in audits))[:10]
    many = len(audits) > 1
    head = " · ".join(
        part
        for part in (
            f"{labels('report')} {number} · {labels('version')} {request.version}",
            f"{labels('case')} {request.case}" if request.case.strip() else "",
            request.classification.strip(),
        )
        if part
    )
    sections: tuple[Section, ...] = (
        Section(number=1, title=labels("s1"), blocks=_header(labels, request, number, issued)),
        Section(number=2, title=labels("s2"), blocks=_parties(labels, request)),
        Section(
            number=3,
            title=labels("s3"),
            blocks=_each(audits, labels, lambda a: _result(a, request, labels)),
        ),
        Section(
            number=4,
            title=labels("s4"),
            blocks=_each(audits, labels, lambda a: item.item(a, request, labels)),
        ),
        Section(
            number=5,
            title=labels("s5"),
            blocks=_each(audits, labels, lambda a: item.propositions(a, request, labels)),
        ),
        Section(
            number=6,
            title=labels("s6"),
            blocks=(
                *_method(audits, labels),
                *_each(audits, labels, lambda a: method.method(a, request, labels)),
            ),
        ),
        Section(
            number=7,
            title=labels("s7"),
            blocks=_each(audits, labels, lambda a: findings.findings(a, labels)),
        ),
        Section(number=8, title=labels("s8"), blocks=_evaluation(audits, request, labels)),
        Section(number=9, title=labels("s9"), blocks=method.rule(audits, labels)),
        Section(number=10, title=labels("s10"), blocks=method.validation(audits, labels)),
        Section(number=11, title=labels("s11"), blocks=_limits(labels, request.language)),
        Section(number=12, title=labels("s12"), blocks=_review(labels, request)),
        Section(
            number=13,
            title=labels("s13"),
            blocks=annexes.integrity(
                audits, labels, seals.name, seals.record, seals.size, seals.annex, request.log
            ),
        ),
        Section(
            number=14,
            title=labels("s14"),
            blocks=annexes.annexes(audits, request, labels, seals.annex),
        ),
    )
    if all(audit.verdict == "not-examinable" for audit in audits):
        named = (2,) if any(vars(request.parties).values()) else ()
        sections = tuple(one for one in sections if one.number in (*_UNEXAMINED, *named))
    year, month, day = (int(part) for part in issued.split("-"))
    return Content(
        title=_title(audits, labels),
        language=request.language,
        paper=request.paper,
        head=printable(head),
        foot=f"SHA-256 {seals.record[:16]}…",
        page=labels("page", n="{n}", of="{of}"),
        draft="" if request.final else labels(DRAFTS.get(request.reviewed, "draft")),
        date=(year, month, day),
        sections=sections,
        end=labels("end"),
        organisation=printable(request.parties.organisation),
        author=printable(request.parties.examiner),
        summary=_summary(audits, request, labels)
        if many
        else _page_one(audits[0], request, labels),
    )


def _title(audits: Sequence[Audit], labels: Labels) -> str:
    if len(audits) > 1:
        return labels("title.many", n=len(audits))
    return labels("title" if audits[0].profile.foreign is None else "title.foreign")


def _method(audits: Sequence[Audit], labels: Labels) -> list[Block]:
    """Return how each scheme that was looked for is read."""
    ways = dict.fromkeys(
        (profile.scheme, weighed)
        for audit in audits
        for profile, weighed in (
            [(one.profile, one.weighed) for one in audit.schemes] or [(audit.profile, False)]
        )
    )
    found = []
    for scheme, weighed in ways:
        if scheme not in FOREIGN_NAMES:
            found.append(paragraph(labels("method.text")))
            continue
        words = labels("method.foreign", name=FOREIGN_NAMES[scheme])
        model = labels("method.foreign-weighed" if weighed else "method.foreign-unread")
        found.append(paragraph(f"{words} {model}"))
    return found


def _each(
    audits: Sequence[Audit], labels: Labels, make: Callable[[Audit], Sequence[Block]]
) -> tuple[Block, ...]:
    """Join the blocks of every audit, each under its own heading where there are several."""
    found: list[Block] = []
    for place, audit in enumerate(audits, start=1):
        if len(audits) > 1:
            name = printable(audit.input.name)
            found.append(heading(labels("item.n", n=place, name=name)))
        found += make(audit)
    return tuple(found)


def _page_one(audit: Audit, request: ReportRequest, labels: Labels) -> tuple[Block, ...]:
    """Return what a reader without the method needs: question, answer, ground, limits, review."""
    language, found = request.language, audit.presented
    tone = {"mark": "found", "indication": "attention"}.get(audit.verdict, "plain")
    question = request.parties.question.strip() or labels(
        "question.usual", keys=printable(found.keys)
    )
    blocks = [
        heading(labels("page1")),
        Block(kind="lead", text=audit.title(language), tone=tone),
        _facts(
            [
                (labels("question"), question),
                (labels("page1.answer"), " ".join(said(found.answer, language))),
            ]
        ),
    ]
    blocks += [note(words) for words in said(found.caveat, language)]
    if marks := found.marks:
        # Bits name nobody: only the fields of a profile say for whom and when.
        one = labels("page1.payload" if marks[0].payload.fields else "payload")
        rows = [
            (one, words)
            if len(marks) == 1
            else (labels("mark.n", n=mark.number), _placed(mark, words, audit, labels))
            for mark, words in zip(marks, _for_whom(audit, labels), strict=True)
        ]
        blocks.append(_facts(rows))
    blocks += [note(one.text) for one in _paragraphs(found.beside, language)]
    blocks += [
        heading(labels("page1.rests")),
        _facts(
            [
                (labels("page1.item"), f"{audit.input.name}, SHA-256 {audit.input.sha256 or '–'}"),
                (labels("page1.key"), found.keys),
                (labels("profile"), found.profile),
                (labels("model"), audit.model.name),
                (labels("page1.date"), findings.day(audit.created, labels)),
            ]
        ),
    ]
    limits = map(printable, said(found.cautions, language))
    blocks += [heading(labels("page1.limits")), bullets([*limits, labels("limits.decision")])]
    state = request.review.strip() or labels("review.none")
    blocks += [heading(labels("page1.review")), paragraph(printable(state))]
    return tuple(blocks)


def _for_whom(audit: Audit, labels: Labels) -> list[str]:
    """Return what may be said of each mark's payload, in the order of the text."""
    return [
        whom_words(
            audit.profile, mark.payload, findings.grouped(mark.payload.best), labels.language
        )
        for mark in audit.named_marks
    ]


def _placed(mark: NamedMark, words: str, audit: Audit, labels: Labels) -> str:
    """Return what may be said of one of several marks, and where it begins and ends."""
    places = [place_words(p, audit.text, labels.language) for p in mark.passages[:1]]
    return " · ".join([words, *places])


def _summary(audits: Sequence[Audit], request: ReportRequest, labels: Labels) -> tuple[Block, ...]:
    rows = [
        (
            str(place),
            printable(audit.input.name),
            audit.title(request.language),
            findings.ratio(audit, labels),
            "; ".join(_for_whom(audit, labels)) or "–",
        )
        for place, audit in enumerate(audits, start=1)
    ]
    head = (
        "",
        labels("summary.item"),
        labels("summary.outcome"),
        labels("summary.lr"),
        labels("summary.payload"),
    )
    return (
        heading(labels("summary")),
        table(
            head, rows, ("right", "left", "left", "right", "left"), (0.05, 0.3, 0.22, 0.18, 0.25)
        ),
        note(say("note.n1", request.language)),
    )


def _header(labels: Labels, request: ReportRequest, number: str, issued: str) -> tuple[Block, ...]:
    rows = [
        (labels("number"), number),
        (labels("version"), str(request.version)),
        (labels("issued"), findings.day(issued, labels)),
        *_given([("case.id", request.case), ("classification", request.classification)], labels),
        (labels("status"), labels("status.final" if request.final else "status.draft")),
    ]
    if request.replaces.strip():
        kind = "supplements" if request.supplements else "replaces"
        rows += [(labels(kind), request.replaces), (labels("reason"), labels.given(request.reason))]
    return (_facts(rows),)


def _parties(labels: Labels, request: ReportRequest) -> tuple[Block, ...]:
    rows = _given(list(vars(request.parties).items()), labels)
    return (_facts(rows) if rows else paragraph(labels("not-given")),)


def _given(rows: Sequence[tuple[str, str]], labels: Labels) -> list[tuple[str, str]]:
    """Return the fields that somebody has filled in, with their names."""
    return [(labels(name), value) for name, value in rows if value.strip()]


def _result(audit: Audit, request: ReportRequest, labels: Labels) -> list[Block]:
    tone = {"mark": "found", "indication": "attention"}.get(audit.verdict, "plain")
    blocks = [Block(kind="lead", text=audit.title(request.language), tone=tone)]
    headline = fill(audit.sentences[0], request.language) if audit.sentences else ""
    blocks.append(paragraph(printable(headline)))
    beside = _paragraphs(audit.presented.beside, request.language)
    if audit.verdict == "not-examinable":
        return [*blocks, *beside, _unexamined(audit, labels)]
    rows = [(labels("lr"), findings.ratio(audit, labels)), findings.support(audit, labels)]
    if (payload := audit.payload) is not None:
        rows.append((labels("payload"), "; ".join(_for_whom(audit, labels))))
        if payload.fields and payload.bits is not None:
            rows.append((labels("payload.bits"), findings.grouped(payload.bits)))
    blocks += [_facts(rows), note(say("note.n1", request.language))]
    blocks += beside
    cautions = [*map(printable, said(audit.cautions, request.language))]
    blocks.append(heading(labels("cautions")))
    blocks.append(bullets(cautions) if cautions else paragraph(labels("cautions.none")))
    return blocks


def _paragraphs(sentences: Sequence[Sentence], language: str) -> list[Block]:
    """Return sentences of the record, a paragraph each, the bits in them in groups of four."""
    return [
        paragraph(_BITS.sub(lambda found: findings.grouped(found.group()), printable(words)))
        for words in said(sentences, language)
    ]


def _unexamined(audit: Audit, labels: Labels) -> Block:
    """Return with what the item was to be examined, and how far that went."""
    means = [
        (labels("worked"), f"{findings.day(audit.created, labels)} ({audit.created})"),
        (labels("keys"), ", ".join(key.fingerprint for key in audit.keys)),
        (labels("profile"), f"{audit.profile.name or ''} {audit.profile.fingerprint}".strip()),
        (labels("model"), f"{audit.model.name} {audit.model.fingerprint}"),
        (labels("program"), f"PURA Audit {audit.versions.get('pura', '')}"),
    ]
    left = next((step for step in audit.log if not step.done), None)
    if left is not None:
        name = f"{left.number} {step_name(left.name, labels.language)}"
        means.append((labels("unexamined.step"), f"{name}: {left.words(labels.language)}"))
    return _facts(means)


def _evaluation(
    audits: Sequence[Audit], request: ReportRequest, labels: Labels
) -> tuple[Block, ...]:
    def sentences(audit: Audit) -> list[Block]:
        return _paragraphs(audit.presented.wording, request.language)

    blocks = [note(labels("opinion")), *_each(audits, labels, sentences)]
    if request.remark.strip():
        blocks += [
            heading(labels("remark")),
            Block(kind="box", text=printable(request.remark.strip())),
        ]
    return tuple(blocks)


def _limits(labels: Labels, language: str) -> tuple[Block, ...]:
    return (
        paragraph(say("scope", language)),
        bullets([labels("limits.copy"), labels("limits.decision"), labels("limits.privacy")]),
    )


def _review(labels: Labels, request: ReportRequest) -> tuple[Block, ...]:
    who = request.parties
    return (
        _facts(
            [
                *_given([("review.technical", who.reviewer)], labels),
                (labels("s12"), request.review.strip() or labels("review.none")),
                *_given([("review.authorised", who.authoriser)], labels),
                (labels("status"), labels("status.final" if request.final else "status.draft")),
            ]
        ),
    )


def _facts(rows: Sequence[tuple[str, str]]) -> Block:
    return facts([(name, printable(value)) for name, value in rows])
