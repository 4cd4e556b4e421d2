"""Building a report from its audits: first the sections in order (reports.md), then the files."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pura.base.catalogue import phrase, quoted
from pura.base.errors import InputError, RecordError, unusable
from pura.base.json_text import json_text, read_json
from pura.record import json_io
from pura.record.audit import SCHEMA as RECORD_SCHEMA
from pura.record.audit import Audit
from pura.record.finding import rendered
from pura.record.naming import NamedMark, whom_words
from pura.report import annexes, findings, method
from pura.report import request as request_file
from pura.report.annexes import Seals, names, public_audits, public_pages
from pura.report.blocks import (
    Block,
    Content,
    Labels,
    Section,
    Typeset,
    bullets,
    compile_pdf,
    heading,
    note,
    paragraph,
    printable,
    stated,
    table,
    typeset,
)
from pura.report.request import (
    OMITTED,
    Confirmation,
    ReportRequest,
    check_request,
    refuse_unreviewed,
)
from pura.scheme.foreign import FOREIGN_NAMES
from pura.words.sentences import Sentence, forbidden, say

_log = logging.getLogger(__name__)

DRAFTS: Final = {"confirmed": "draft.reviewed", "disputed": "draft.disputed"}
_BITS: Final = re.compile(r"\b[01]{12,}\b")
_FIRST_DETAIL_SECTION: Final = "conditioning"  # the first section after answer and evidence
_UNEXAMINED: Final = ("report", "item", "integrity")
"""Sections of a report on items that could not be examined; the others describe a measurement."""


def report_number(audits: Sequence[Audit], request: ReportRequest) -> str:
    """Return the identifier of a report; by default it is derived from those of the audits."""
    if request.number.strip():
        return request.number.strip()
    joined = hashlib.sha256("".join(audit.id for audit in audits).encode()).hexdigest()
    return f"R-{audits[0].created[:10].replace('-', '')}-{joined[:8].upper()}"


def content_of(audits: Sequence[Audit], request: ReportRequest, seals: Seals) -> Content:
    """Return the content of a report.

    Args:
        audits: Records without hidden parts (:func:`pura.report.annexes.public_audit`).
        request: Choices and free text for the report.
        seals: Digests of the record and the annex.
    """
    labels = Labels(request.language)
    number = report_number(audits, request)
    issued = (request.issued or max(audit.created for audit in audits))[:10]
    several = len(audits) > 1
    head = " · ".join(
        part
        for part in (
            f"{labels('report')} {number} · {labels('version')} {request.version}",
            f"{labels('case')} {request.case}" if request.case.strip() else "",
            request.classification.strip(),
        )
        if part
    )
    report_facts = _report_facts(labels, request, number, issued, several=several)
    # First what a reader without the method needs; the rest begins on a page of its own.
    details = _per_audit(audits, labels, lambda a: findings.details(a, labels))
    parts: dict[str, tuple[Block, ...]] = {
        **({"report": report_facts} if several else {}),
        "item": _per_audit(audits, labels, lambda a: method.item(a, request, labels)),
        "findings": _per_audit(audits, labels, lambda a: findings.findings(a, labels)),
        "evaluation": _evaluation(audits, request, labels),
        "conditioning": _per_audit(
            audits, labels, lambda a: method.conditioning(a, request, labels)
        ),
        "method": (
            *_method(audits, labels),
            *_per_audit(audits, labels, lambda a: method.method(a, request, labels)),
        ),
        **({"details": details} if details else {}),
        "scale": method.rule(audits, labels),
        "validation": method.validation(audits, labels),
        "integrity": (
            *annexes.integrity(audits, labels, seals, request.log),
            *_boxed("standing", request.standing, labels),
        ),
        "annexes": annexes.annexes(audits, request, labels, seals.annex),
    }
    if all(audit.verdict == "not-examinable" for audit in audits):
        parts = {name: parts[name] for name in _UNEXAMINED if name in parts}
    sections = tuple(
        Section(
            number=number,
            title=labels(f"section.{name}"),
            blocks=blocks,
            apart=name == _FIRST_DETAIL_SECTION,
        )
        for number, (name, blocks) in enumerate(parts.items(), start=1)
    )
    year, month, day = (int(part) for part in issued.split("-"))
    parties = request.parties
    letterhead = (parties.organisation, parties.address)
    return Content(
        title=_title(audits, labels),
        language=request.language,
        paper=request.paper,
        head=printable(head),
        foot=f"SHA-256 {seals.record[:16]}…",
        page=labels("page", n="{n}", of="{of}"),
        draft="" if request.final else labels(_draft(audits, request)),
        date=(year, month, day),
        sections=sections,
        end=labels("end"),
        organisation=printable(", ".join(filter(str.strip, letterhead))),
        author=printable(parties.examiner),
        summary=_summary(audits, request, labels)
        if several
        else (
            *_page_one(audits[0], request, labels),
            heading(labels("section.report")),
            *report_facts,
        ),
    )


def _draft(audits: Sequence[Audit], request: ReportRequest) -> str:
    """Return the label that says on every page why the report is a draft."""
    if any(audit.finding.draft for audit in audits):
        return "draft.public-key"
    return DRAFTS.get(request.reviewed, "draft")


def _title(audits: Sequence[Audit], labels: Labels) -> str:
    if len(audits) > 1:
        return labels("title.many", n=len(audits))
    return labels("title" if audits[0].profile.foreign is None else "title.foreign")


def _method(audits: Sequence[Audit], labels: Labels) -> list[Block]:
    """Return how each scheme is read that was looked for."""
    schemes = dict.fromkeys(
        (profile.scheme, weighed)
        for audit in audits
        for profile, weighed in (
            [(facts.profile, facts.weighed) for facts in audit.schemes] or [(audit.profile, False)]
        )
    )
    blocks = []
    for scheme, weighed in schemes:
        if scheme not in FOREIGN_NAMES:
            blocks.append(paragraph(labels("method.text")))
            continue
        description = labels("method.foreign", name=FOREIGN_NAMES[scheme])
        model = labels("method.foreign-weighed" if weighed else "method.foreign-unread")
        blocks.append(paragraph(f"{description} {model}"))
    return blocks


def _per_audit(
    audits: Sequence[Audit], labels: Labels, make: Callable[[Audit], Sequence[Block]]
) -> tuple[Block, ...]:
    """Return the blocks of all audits, each under its own heading if there are several."""
    blocks: list[Block] = []
    for number, audit in enumerate(audits, start=1):
        if len(audits) > 1:
            name = printable(audit.input.name)
            blocks.append(heading(labels("item.n", n=number, name=name)))
        blocks += make(audit)
    return tuple(blocks)


def _page_one(audit: Audit, request: ReportRequest, labels: Labels) -> tuple[Block, ...]:
    """Return page one: question, answer, reason and limits, for readers without the method."""
    language, finding = request.language, audit.finding
    question = request.parties.question.strip() or labels(
        "question.usual", n=len(finding.keys_tried), keys=printable(finding.keys)
    )
    answer = " ".join(rendered(finding.answer, language))
    blocks = [
        heading(labels("page1")),
        _lead(audit, language),
        labels.facts(
            ("question", question), ("page1.item", audit.input.name), ("page1.answer", answer)
        ),
    ]
    if finding.caveat:
        blocks.append(findings.strip(audit, labels))
    blocks += [note(text) for text in rendered(finding.caveat, language)]
    if marks := finding.marks:
        # Bits name nobody: only the fields of a profile tell the recipient and the date.
        label_key = "page1.payload" if marks[0].payload.fields else "payload"
        mark_texts = zip(marks, _for_whom(audit, labels), strict=True)
        if len(marks) == 1:
            blocks.append(labels.facts(*((label_key, text) for _, text in mark_texts)))
        else:
            # If one text carries marks of several keys, each row names the key.
            keys = len(finding.marking_keys) > 1
            rows = [
                (
                    str(mark.number),
                    f"{text} · {printable(mark.key_title)}" if keys else text,
                    _location(mark, audit, labels),
                )
                for mark, text in mark_texts
            ]
            head = (labels("mark.number"), labels(label_key), labels("passages.where"))
            blocks.append(table(head, rows, ("left", "left", "left"), (0.05, 0.46, 0.49)))
    blocks += [note(block.text) for block in _paragraphs(finding.qualifications, language)]
    limits = map(printable, rendered(finding.cautions, language))
    blocks += [heading(labels("page1.limits")), bullets([*limits, labels("limits.decision")])]
    return tuple(blocks)


def _for_whom(audit: Audit, labels: Labels) -> list[str]:
    """Return a description of each mark's payload, in the order of the text."""
    return [
        whom_words(
            audit.profile, mark.payload, findings.grouped(mark.payload.best), labels.language
        )
        for mark in audit.finding.marks
    ]


def _location(mark: NamedMark, audit: Audit, labels: Labels) -> str:
    """Return the location of a mark in the text; a dash if it has no passage."""
    texts = [audit.finding.place(p, labels.language) for p in mark.passages[:1]]
    return printable("".join(texts)) or "–"


def _summary(audits: Sequence[Audit], request: ReportRequest, labels: Labels) -> tuple[Block, ...]:
    rows = [
        (
            str(number),
            printable(audit.input.name),
            audit.title(request.language),
            findings.ratio(audit, labels),
            "; ".join(_for_whom(audit, labels)) or "–",
        )
        for number, audit in enumerate(audits, start=1)
    ]
    head = ("mark.number", "summary.item", "summary.outcome", "summary.lr", "summary.payload")
    sides = ("right", "left", "left", "right", "left")
    return (
        heading(labels("summary")),
        table([*map(labels, head)], rows, sides, (0.06, 0.28, 0.2, 0.22, 0.25)),
        note(say("note.n1", request.language)),
    )


def _report_facts(
    labels: Labels, request: ReportRequest, number: str, issued: str, *, several: bool
) -> tuple[Block, ...]:
    """Return number, status and case of the report, the people involved, and the review."""
    kind = "supplements" if request.supplements else "replaces"
    replaced = stated(request.replaces)
    above = ("organisation", "address", *(() if several else ("question",)))
    parties = [
        (name, value)
        for name, value in vars(request.parties).items()
        if name not in above and value.strip()
    ]
    return (
        labels.facts(
            ("number", f"{number} · {labels('version')} {request.version}"),
            ("issued", findings.day(issued, labels)),
            ("status", labels("status.final" if request.final else "status.draft")),
            ("case.id", stated(request.case)),
            ("classification", stated(request.classification)),
            (kind, replaced),
            ("reason", (request.reason.strip() or labels("not-given")) if replaced else None),
            *parties,
            ("review", request.review.strip() or labels("review.none")),
        ),
    )


def _paragraphs(sentences: Sequence[Sentence], language: str) -> list[Block]:
    """Return each sentence of the record as a paragraph, with bits in groups of four."""
    return [
        paragraph(_BITS.sub(lambda match: findings.grouped(match.group()), printable(text)))
        for text in rendered(sentences, language)
    ]


def _evaluation(
    audits: Sequence[Audit], request: ReportRequest, labels: Labels
) -> tuple[Block, ...]:
    """Return what the findings mean: evidence, wording and, for several items, the limits."""
    several = len(audits) > 1

    def evaluation_of(audit: Audit) -> list[Block]:
        finding = audit.finding
        blocks = [_lead(audit, request.language)] if several else []
        if audit.verdict != "not-examinable":
            rows = (("lr", findings.ratio(audit, labels)), findings.support(audit, labels))
            blocks += [*_paragraphs(finding.compared, request.language), labels.facts(*rows)]
            blocks += [findings.strip(audit, labels)] if several or not finding.caveat else []
        # With a single item, page one holds these sentences already.
        before = () if several else (*finding.answer, *finding.qualifications)
        wording = [sentence for sentence in finding.wording if sentence not in before]
        blocks += _paragraphs(wording, request.language)
        if several and finding.cautions:
            limits = map(printable, rendered(finding.cautions, request.language))
            blocks += [heading(labels("cautions")), bullets([*limits])]
        return blocks

    blocks = [note(labels("opinion")), *_per_audit(audits, labels, evaluation_of)]
    return (*blocks, *_boxed("remark", request.remark, labels))


def _boxed(name: str, text: str, labels: Labels) -> tuple[Block, ...]:
    """Return free text in a titled box; nothing if it is blank."""
    text = printable(text.strip())
    return (heading(labels(name)), Block(kind="box", text=text)) if text else ()


def _lead(audit: Audit, language: str) -> Block:
    tone = {"mark": "found", "indication": "attention"}.get(audit.verdict, "plain")
    return Block(kind="lead", text=audit.title(language), tone=tone)


SCHEMA: Final = "pura-report/1"
RECORD: Final = "record.json"
MAX_AUDITS: Final = 50
_MAX_LISTED: Final = 1000


@dataclass(frozen=True, kw_only=True)
class Report:
    """The files of a report.

    Attributes:
        number: Identifier of the report.
        pdf: The report as PDF.
        json: The record embedded in the PDF.
        digest: SHA-256 of ``json``, which the report prints.
        content: Content of the report, for other output formats.
        annex: PDF of the sealed annex with the names; None if there are no names.
    """

    number: str
    pdf: bytes
    json: bytes
    digest: str
    content: Content
    annex: bytes | None


def build_report(
    audits: Sequence[Audit],
    request: ReportRequest,
    *,
    confirmed: Sequence[Confirmation] = (),
    typeset: Typeset = typeset,
) -> Report:
    """Make a report.

    Args:
        audits: One, or several that go into one report with a summary.
        request: Choices and free text for the report.
        confirmed: Confirmations from the case log; a final report needs one for each audit.
        typeset: Makes the PDF, in this process or in a child process.

    Returns:
        The report; its bytes are the same for the same audits and request.

    Raises:
        InputError: There is no audit or too many, a choice is invalid, a final report was not
            reviewed and authorised, or a remark contains words that are not allowed.
        ReportError: The PDF could not be made.
    """
    check_request(request)
    if not 1 <= len(audits) <= MAX_AUDITS:
        raise InputError("report.audits", most=MAX_AUDITS, count=len(audits), code="report-audits")
    # Not part of `check_request`: earlier versions made such reports, and `remake` accepts them.
    if request.final:
        refuse_unreviewed(audits, request, confirmed)
    _lint(request)
    public_records = public_audits(audits, request)
    request = replace(request, pages=public_pages(public_records, request))
    record = record_json(public_records)
    annex = _annex(audits, request, typeset)
    seals = Seals(
        name=RECORD,
        record=hashlib.sha256(record).hexdigest(),
        size=len(record),
        annex=hashlib.sha256(annex).hexdigest() if annex else "",
    )
    content = content_of(public_records, request, seals)
    pdf = _compile(content, record, request, seals.annex, typeset=typeset)
    _log.info("a report of %d findings was built: %d bytes", len(audits), len(pdf))
    return Report(
        number=report_number(audits, request),
        pdf=pdf,
        json=record,
        digest=seals.record,
        content=content,
        annex=annex,
    )


def remake(record: bytes, particulars: bytes) -> bytes:
    """Make a report again from the two files inside it.

    Args:
        record: The attached record, JSON.
        particulars: The attached particulars, JSON.

    Returns:
        The bytes of the original PDF, if neither the two files nor the versions of the programs
        have changed.

    Raises:
        ValueError: The particulars are damaged.
        PuraError: The record is damaged, or no report can be made of it.
    """
    fields = request_file.read(particulars)
    request, annex = fields["request"], fields["annex"]
    check_request(request)
    audits = [json_io.from_dict(part) for part in audits_in(read_json(record))]
    seals = Seals(
        name=RECORD, record=hashlib.sha256(record).hexdigest(), size=len(record), annex=annex
    )
    return _compile(content_of(audits, request, seals), record, request, annex, particulars)


def audits_in(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the audit records in the JSON of a report: the document itself, or its ``audits``.

    Raises:
        RecordError: An entry of the list is not an object.
    """
    if not isinstance(document, dict):
        return
    if document.get("schema") == RECORD_SCHEMA:
        yield document
        return
    listed = document.get("audits", [])
    if isinstance(listed, list):
        for part in listed[:_MAX_LISTED]:
            inner = part.get("record", part) if isinstance(part, dict) else part
            if not isinstance(inner, dict):
                raise unusable(RecordError, "record", phrase("what.object"))
            yield inner


def _compile(
    content: Content,
    record: bytes,
    request: ReportRequest,
    annex: str,
    particulars: bytes = b"",
    typeset: Typeset = typeset,
) -> bytes:
    return compile_pdf(
        content,
        attached={
            RECORD: record,
            request_file.NAME: particulars or request_file.write(request, annex),
        },
        logo=request.logo,
        logo_words=Labels(request.language)("alt.logo"),
        typeset=typeset,
    )


def record_json(audits: Sequence[Audit]) -> bytes:
    """Return the embedded record as JSON: a single audit, or a list of several."""
    if len(audits) == 1:
        return json_io.to_json(audits[0]).encode()
    document = {"schema": SCHEMA, "audits": [audit.to_dict() for audit in audits]}
    return json_text(document).encode()


def _lint(request: ReportRequest) -> None:
    """Refuse free text that claims more than evidence can show (reports.md)."""
    for name, text in (
        ("remark", request.remark),
        ("standing", request.standing),
        ("deviations", request.deviations),
        ("external", request.external),
        ("review", request.review),
    ):
        matches = forbidden(text, request.language)
        if matches:
            listed = quoted([phrase for *_, phrase in matches[:5]])
            raise InputError(
                "report.field-words",
                name=name,
                listed=listed,
                code="report-words" if name == "remark" else f"report-words-{name}",
            )


def _annex(audits: Sequence[Audit], request: ReportRequest, typeset: Typeset) -> bytes | None:
    """Return the sealed annex, a PDF with the recipients of the payloads; None without names."""
    rows = [row for row in names(audits) if row[2].strip()]
    if not rows:
        return None
    labels = Labels(request.language)
    number = report_number(audits, request)
    blocks = [
        labels.facts(
            ("file", item),
            ("entry", str(entry)),
            ("sealed.who", recipient),
            ("sealed.when", issued or labels("not-given")),
        )
        for item, entry, recipient, issued in rows
    ]
    blocks.append(note(labels("sealed.note")))
    report_content = content_of(
        public_audits(audits, replace(request, text=OMITTED)),
        request,
        Seals(name=RECORD, record="0" * 64, size=0),
    )
    title = labels("sealed.title", number=number)
    section = Section(number=1, title=labels("register"), blocks=tuple(blocks))
    annex_content = replace(report_content, title=title, sections=(section,), summary=(), foot="")
    return compile_pdf(annex_content, typeset=typeset)
