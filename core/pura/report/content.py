"""The sections of a report, in their order (reports.md), as plain blocks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pura.record.audit import Audit
from pura.record.finding import said
from pura.record.naming import NamedMark, whom_words
from pura.report import annexes, findings, method
from pura.report.blocks import (
    Block,
    Content,
    Labels,
    Section,
    bullets,
    facts,
    heading,
    note,
    paragraph,
    printable,
    table,
)
from pura.report.request import ReportRequest
from pura.scheme.foreign import FOREIGN_NAMES
from pura.words.sentences import Sentence, say

DRAFTS: Final = {"confirmed": "draft.reviewed", "disputed": "draft.disputed"}
_BITS: Final = re.compile(r"\b[01]{12,}\b")
_ON_PAGE_ONE: Final = 5  # of more marks the list runs over, and the sections go on behind it
_UNEXAMINED: Final = ("report", "item", "integrity")
"""Sections of a report on items that could not be examined; the others speak of a measurement."""


@dataclass(frozen=True, kw_only=True)
class Seals:
    """Digests that the section on integrity prints.

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
    about = _about(labels, request, number, issued)
    parts: dict[str, tuple[Block, ...]] = {
        **({"report": tuple(about)} if many else {}),
        "item": _each(audits, labels, lambda a: method.item(a, request, labels)),
        "propositions": _each(audits, labels, lambda a: method.propositions(a, request, labels)),
        "method": (
            *_method(audits, labels),
            *_each(audits, labels, lambda a: method.method(a, request, labels)),
        ),
        "findings": _each(audits, labels, lambda a: findings.findings(a, labels)),
        "evaluation": _evaluation(audits, request, labels),
        "validation": method.validation(audits, labels),
        "integrity": (
            *annexes.integrity(
                audits, labels, seals.name, seals.record, seals.size, seals.annex, request.log
            ),
            *_boxed("standing", request.standing, labels),
        ),
        "annexes": annexes.annexes(audits, request, labels, seals.annex),
    }
    if all(audit.verdict == "not-examinable" for audit in audits):
        parts = {name: parts[name] for name in _UNEXAMINED if name in parts}
    sections = tuple(
        Section(number=place, title=labels(f"section.{name}"), blocks=blocks)
        for place, (name, blocks) in enumerate(parts.items(), start=1)
    )
    year, month, day = (int(part) for part in issued.split("-"))
    marks = max(len(audit.finding.marks) for audit in audits)
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
        alone=marks <= _ON_PAGE_ONE,
        organisation=printable(request.parties.organisation),
        author=printable(request.parties.examiner),
        summary=_summary(audits, request, labels)
        if many
        else (*_page_one(audits[0], request, labels), heading(labels("section.report")), *about),
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
    language, found = request.language, audit.finding
    question = request.parties.question.strip() or labels(
        "question.usual", keys=printable(found.keys)
    )
    blocks = [
        heading(labels("page1")),
        _lead(audit, language),
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
        named = zip(marks, _for_whom(audit, labels), strict=True)
        if len(marks) == 1:
            blocks.append(_facts([(one, words) for _, words in named]))
        else:
            rows = [(str(mark.number), words, _place(mark, audit, labels)) for mark, words in named]
            head = (labels("mark"), one, labels("passages.where"))
            blocks.append(table(head, rows, ("left", "left", "left"), (0.08, 0.5, 0.42)))
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
    return tuple(blocks)


def _for_whom(audit: Audit, labels: Labels) -> list[str]:
    """Return what may be said of each mark's payload, in the order of the text."""
    return [
        whom_words(
            audit.profile, mark.payload, findings.grouped(mark.payload.best), labels.language
        )
        for mark in audit.finding.marks
    ]


def _place(mark: NamedMark, audit: Audit, labels: Labels) -> str:
    """Return where one of several marks begins and ends."""
    places = [audit.finding.place(p, labels.language) for p in mark.passages[:1]]
    return printable("".join(places)) or "–"


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


def _about(labels: Labels, request: ReportRequest, number: str, issued: str) -> tuple[Block, ...]:
    """Return what names the report, who had to do with it, and who looked at it."""
    who = {name: value for name, value in vars(request.parties).items() if name != "question"}
    rows = [
        (labels("number"), number),
        (labels("version"), str(request.version)),
        (labels("issued"), findings.day(issued, labels)),
        (labels("status"), labels("status.final" if request.final else "status.draft")),
        *_given([("case.id", request.case), ("classification", request.classification)], labels),
    ]
    if request.replaces.strip():
        kind = "supplements" if request.supplements else "replaces"
        rows += [(labels(kind), request.replaces), (labels("reason"), labels.given(request.reason))]
    named = {"reviewer": "review.technical", "authoriser": "review.authorised"}
    rows += _given([(named.get(name, name), value) for name, value in who.items()], labels)
    rows.append((labels("review"), request.review.strip() or labels("review.none")))
    return (_facts(rows),)


def _given(rows: Sequence[tuple[str, str]], labels: Labels) -> list[tuple[str, str]]:
    """Return the fields that somebody has filled in, with their names."""
    return [(labels(name), value) for name, value in rows if value.strip()]


def _paragraphs(sentences: Sequence[Sentence], language: str) -> list[Block]:
    """Return sentences of the record, a paragraph each, the bits in them in groups of four."""
    return [
        paragraph(_BITS.sub(lambda found: findings.grouped(found.group()), printable(words)))
        for words in said(sentences, language)
    ]


def _evaluation(
    audits: Sequence[Audit], request: ReportRequest, labels: Labels
) -> tuple[Block, ...]:
    """Return what the findings say, the scale and the rule that the words rest on."""
    several = len(audits) > 1

    def one(audit: Audit) -> list[Block]:
        found = audit.finding
        blocks = [_lead(audit, request.language)] if several else []
        if audit.verdict != "not-examinable":
            rows = [(labels("lr"), findings.ratio(audit, labels)), findings.support(audit, labels)]
            blocks += [_facts(rows), findings.strip(audit, labels)]
        # Of one item page one has said these.
        before = () if several else (*found.answer, *found.beside)
        wording = [sentence for sentence in found.wording if sentence not in before]
        blocks += _paragraphs(wording, request.language)
        if several and found.cautions:
            limits = map(printable, said(found.cautions, request.language))
            blocks += [heading(labels("cautions")), bullets([*limits])]
        return blocks

    blocks = [note(labels("opinion")), *_each(audits, labels, one)]
    blocks += _boxed("remark", request.remark, labels)
    return (*blocks, *method.rule(audits, labels))


def _boxed(name: str, words: str, labels: Labels) -> tuple[Block, ...]:
    """Return free words in a box of their own; nothing where there are none."""
    words = printable(words.strip())
    return (heading(labels(name)), Block(kind="box", text=words)) if words else ()


def _lead(audit: Audit, language: str) -> Block:
    tone = {"mark": "found", "indication": "attention"}.get(audit.verdict, "plain")
    return Block(kind="lead", text=audit.title(language), tone=tone)


def _facts(rows: Sequence[tuple[str, str]]) -> Block:
    return facts([(name, printable(value)) for name, value in rows])
