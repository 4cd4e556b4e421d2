"""The fourteen sections of a report, in their order (docs/report.md), as plain blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pura.record.audit import Audit
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
from pura.words.sentences import fill, say

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
                paragraph(labels("method.text")),
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
        title=labels("title.many", n=len(audits)) if many else labels("title"),
        language=request.language,
        paper=request.paper,
        head=printable(head),
        foot=f"SHA-256 {seals.record[:16]}…",
        page=labels("page", n="{n}", of="{of}"),
        draft="" if request.final else labels("draft"),
        date=(year, month, day),
        sections=sections,
        end=labels("end"),
        organisation=printable(request.parties.organisation),
        author=printable(request.parties.examiner),
        summary=_summary(audits, request, labels) if many else (),
    )


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


def _summary(audits: Sequence[Audit], request: ReportRequest, labels: Labels) -> tuple[Block, ...]:
    rows = [
        (
            str(place),
            printable(audit.input.name),
            audit.title(request.language),
            findings.ratio(audit, labels),
            audit.payload.bits if audit.verdict == "mark" else "–",
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
        (labels("case.id"), labels.given(request.case)),
        (labels("classification"), labels.given(request.classification)),
        (labels("status"), labels("status.final" if request.final else "status.draft")),
    ]
    if request.replaces.strip():
        kind = "supplements" if request.supplements else "replaces"
        rows += [(labels(kind), request.replaces), (labels("reason"), labels.given(request.reason))]
    return (_facts(rows),)


def _parties(labels: Labels, request: ReportRequest) -> tuple[Block, ...]:
    rows = [(labels(name), labels.given(value)) for name, value in vars(request.parties).items()]
    return (_facts(rows),)


def _result(audit: Audit, request: ReportRequest, labels: Labels) -> list[Block]:
    tone = {"mark": "found", "indication": "attention"}.get(audit.verdict, "plain")
    blocks = [Block(kind="lead", text=audit.title(request.language), tone=tone)]
    headline = fill(audit.sentences[0], request.language) if audit.sentences else ""
    blocks.append(paragraph(printable(headline)))
    if audit.verdict == "not-examinable":
        return [*blocks, *_unexamined(audit, request, labels)]
    rows = [(labels("lr"), findings.ratio(audit, labels)), findings.support(audit, labels)]
    if audit.verdict == "mark":
        rows.append((labels("payload"), findings.grouped(audit.payload.bits)))
        rows += [(printable(f.name), printable(f.text)) for f in audit.payload.fields]
    blocks += [_facts(rows), note(say("note.n1", request.language))]
    for sentence in audit.sentences:
        if sentence.key.startswith(
            ("stopped.", "marks.", "register.", "candidates.", "text.edited", "verifier.")
        ):
            blocks.append(paragraph(printable(fill(sentence, request.language))))
    cautions = [printable(fill(s, request.language)) for s in audit.cautions]
    blocks.append(heading(labels("cautions")))
    blocks.append(bullets(cautions) if cautions else paragraph(labels("cautions.none")))
    return blocks


def _unexamined(audit: Audit, request: ReportRequest, labels: Labels) -> list[Block]:
    """Return what would help, with what the item was to be examined, and how far that went."""
    ways = [s for s in audit.sentences if s.key.startswith("way-out.")]
    means = [
        (labels("worked"), f"{findings.day(audit.created, labels)} ({audit.created})"),
        (labels("keys"), ", ".join(key.fingerprint for key in audit.keys)),
        (labels("profile"), f"{audit.profile.name or ''} {audit.profile.fingerprint}".strip()),
        (labels("model"), f"{audit.model.name} {audit.model.fingerprint}"),
        (labels("program"), f"PURA Audit {audit.versions.get('pura', '')}"),
    ]
    left = next((step for step in audit.log if not step.done), None)
    if left is not None:
        means.append((labels("unexamined.step"), f"{left.number} {left.name}: {left.note}"))
    return [
        *(paragraph(printable(fill(s, request.language))) for s in ways),
        _facts(means),
    ]


def _evaluation(
    audits: Sequence[Audit], request: ReportRequest, labels: Labels
) -> tuple[Block, ...]:
    def sentences(audit: Audit) -> list[Block]:
        return [paragraph(printable(fill(s, request.language))) for s in audit.sentences]

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
                (labels("review.technical"), labels.given(who.reviewer)),
                (labels("s12"), request.review.strip() or labels("review.none")),
                (labels("review.authorised"), labels.given(who.authoriser)),
                (labels("status"), labels("status.final" if request.final else "status.draft")),
            ]
        ),
    )


def _facts(rows: Sequence[tuple[str, str]]) -> Block:
    return facts([(name, printable(value)) for name, value in rows])
