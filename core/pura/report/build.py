"""A report from its audits: the sections in their order (reports.md), then the files."""

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
_BEHIND: Final = "conditioning"  # the first section behind answer and evidence
_UNEXAMINED: Final = ("report", "item", "integrity")
"""Sections of a report on items that could not be examined; the others speak of a measurement."""


def report_number(audits: Sequence[Audit], request: ReportRequest) -> str:
    """Return the identifier of a report; made of the audits' when none was given."""
    if request.number.strip():
        return request.number.strip()
    joined = hashlib.sha256("".join(audit.id for audit in audits).encode()).hexdigest()
    return f"R-{audits[0].created[:10].replace('-', '')}-{joined[:8].upper()}"


def content_of(audits: Sequence[Audit], request: ReportRequest, seals: Seals) -> Content:
    """Return everything that a report says.

    Args:
        audits: As they may be shown (:func:`pura.report.annexes.public_audit`).
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
    about = _about(labels, request, number, issued, many=many)
    # First what a reader without the method needs; the rest begins on a page of its own.
    details = _each(audits, labels, lambda a: findings.details(a, labels))
    parts: dict[str, tuple[Block, ...]] = {
        **({"report": about} if many else {}),
        "item": _each(audits, labels, lambda a: method.item(a, request, labels)),
        "findings": _each(audits, labels, lambda a: findings.findings(a, labels)),
        "evaluation": _evaluation(audits, request, labels),
        "conditioning": _each(audits, labels, lambda a: method.conditioning(a, request, labels)),
        "method": (
            *_method(audits, labels),
            *_each(audits, labels, lambda a: method.method(a, request, labels)),
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
            number=place,
            title=labels(f"section.{name}"),
            blocks=blocks,
            apart=name == _BEHIND,
        )
        for place, (name, blocks) in enumerate(parts.items(), start=1)
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
        if many
        else (*_page_one(audits[0], request, labels), heading(labels("section.report")), *about),
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
        "question.usual", n=len(found.keys_tried), keys=printable(found.keys)
    )
    answer = " ".join(rendered(found.answer, language))
    blocks = [
        heading(labels("page1")),
        _lead(audit, language),
        labels.facts(
            ("question", question), ("page1.item", audit.input.name), ("page1.answer", answer)
        ),
    ]
    if found.caveat:
        blocks.append(findings.strip(audit, labels))
    blocks += [note(words) for words in rendered(found.caveat, language)]
    if marks := found.marks:
        # Bits name nobody: only the fields of a profile say for whom and when.
        one = "page1.payload" if marks[0].payload.fields else "payload"
        named = zip(marks, _for_whom(audit, labels), strict=True)
        if len(marks) == 1:
            blocks.append(labels.facts(*((one, words) for _, words in named)))
        else:
            # Where marks of several keys stand in one text, each row says whose it is.
            keys = len(found.marking_keys) > 1
            rows = [
                (
                    str(mark.number),
                    f"{words} · {printable(mark.key_title)}" if keys else words,
                    _place(mark, audit, labels),
                )
                for mark, words in named
            ]
            head = (labels("mark.number"), labels(one), labels("passages.where"))
            blocks.append(table(head, rows, ("left", "left", "left"), (0.05, 0.46, 0.49)))
    blocks += [note(one.text) for one in _paragraphs(found.qualifications, language)]
    limits = map(printable, rendered(found.cautions, language))
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
    head = ("mark.number", "summary.item", "summary.outcome", "summary.lr", "summary.payload")
    sides = ("right", "left", "left", "right", "left")
    return (
        heading(labels("summary")),
        table([*map(labels, head)], rows, sides, (0.06, 0.28, 0.2, 0.22, 0.25)),
        note(say("note.n1", request.language)),
    )


def _about(
    labels: Labels, request: ReportRequest, number: str, issued: str, *, many: bool
) -> tuple[Block, ...]:
    """Return what names the report, who had to do with it, and who looked at it."""
    kind = "supplements" if request.supplements else "replaces"
    replaced = stated(request.replaces)
    above = ("organisation", "address", *(() if many else ("question",)))
    who = [
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
            *who,
            ("review", request.review.strip() or labels("review.none")),
        ),
    )


def _paragraphs(sentences: Sequence[Sentence], language: str) -> list[Block]:
    """Return sentences of the record, a paragraph each, the bits in them in groups of four."""
    return [
        paragraph(_BITS.sub(lambda found: findings.grouped(found.group()), printable(words)))
        for words in rendered(sentences, language)
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
            rows = (("lr", findings.ratio(audit, labels)), findings.support(audit, labels))
            blocks += [*_paragraphs(found.compared, request.language), labels.facts(*rows)]
            blocks += [findings.strip(audit, labels)] if several or not found.caveat else []
        # Of one item page one has said these.
        before = () if several else (*found.answer, *found.qualifications)
        wording = [sentence for sentence in found.wording if sentence not in before]
        blocks += _paragraphs(wording, request.language)
        if several and found.cautions:
            limits = map(printable, rendered(found.cautions, request.language))
            blocks += [heading(labels("cautions")), bullets([*limits])]
        return blocks

    blocks = [note(labels("opinion")), *_each(audits, labels, one)]
    return (*blocks, *_boxed("remark", request.remark, labels))


def _boxed(name: str, words: str, labels: Labels) -> tuple[Block, ...]:
    """Return free words in a box of their own; nothing where there are none."""
    words = printable(words.strip())
    return (heading(labels(name)), Block(kind="box", text=words)) if words else ()


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
        number: Its identifier.
        pdf: The report.
        json: The record that is inside it.
        digest: SHA-256 of ``json``, which the report prints.
        content: What it says, for other forms of it.
        annex: PDF of the sealed annex with the names; None when there are none.
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
        request: What it is told beside them.
        confirmed: What a case log holds of them; a final report needs it of each.
        typeset: Makes the PDF, in this process or apart.

    Returns:
        The same bytes for the same audits and request.

    Raises:
        InputError: No audit, too many, a bad choice, a final report of what was not reviewed and
            authorised, or a remark with words that are not allowed.
        ReportError: The PDF could not be made.
    """
    check_request(request)
    if not 1 <= len(audits) <= MAX_AUDITS:
        raise InputError("report.audits", most=MAX_AUDITS, count=len(audits), code="report-audits")
    # Not in the check of the request: earlier versions made such reports, and they are remade.
    if request.final:
        refuse_unreviewed(audits, request, confirmed)
    _lint(request)
    shown = public_audits(audits, request)
    request = replace(request, pages=public_pages(shown, request))
    record = record_json(shown)
    annex = _annex(audits, request, typeset)
    seals = Seals(
        name=RECORD,
        record=hashlib.sha256(record).hexdigest(),
        size=len(record),
        annex=hashlib.sha256(annex).hexdigest() if annex else "",
    )
    content = content_of(shown, request, seals)
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


def remake(record: bytes, told: bytes) -> bytes:
    """Make a report again from the two files inside it.

    Returns:
        The same bytes as then, if record and particulars are what they were and so are the
        versions of the programs.

    Raises:
        ValueError: The particulars are damaged.
        PuraError: The record is damaged, or no report can be made of it.
    """
    found = request_file.read(told)
    request, annex = found["request"], found["annex"]
    check_request(request)
    audits = [json_io.from_dict(part) for part in audits_in(read_json(record))]
    seals = Seals(
        name=RECORD, record=hashlib.sha256(record).hexdigest(), size=len(record), annex=annex
    )
    return _compile(content_of(audits, request, seals), record, request, annex, told)


def audits_in(data: Any) -> Iterator[dict[str, Any]]:
    """Find the audit records in the JSON of a report: itself, or the list ``audits`` in it.

    Raises:
        RecordError: One in the list is no object.
    """
    if not isinstance(data, dict):
        return
    if data.get("schema") == RECORD_SCHEMA:
        yield data
        return
    listed = data.get("audits", [])
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
    told: bytes = b"",
    typeset: Typeset = typeset,
) -> bytes:
    return compile_pdf(
        content,
        attached={RECORD: record, request_file.NAME: told or request_file.write(request, annex)},
        logo=request.logo,
        logo_words=Labels(request.language)("alt.logo"),
        typeset=typeset,
    )


def record_json(audits: Sequence[Audit]) -> bytes:
    """Return the embedded record: one audit as it is, several in a list."""
    if len(audits) == 1:
        return json_io.to_json(audits[0]).encode()
    data = {"schema": SCHEMA, "audits": [audit.to_dict() for audit in audits]}
    return json_text(data).encode()


def _lint(request: ReportRequest) -> None:
    """Refuse free text that says more than evidence can (reports.md)."""
    for name, text in (
        ("remark", request.remark),
        ("standing", request.standing),
        ("deviations", request.deviations),
        ("external", request.external),
        ("review", request.review),
    ):
        found = forbidden(text, request.language)
        if found:
            listed = quoted([phrase for *_, phrase in found[:5]])
            raise InputError(
                "report.field-words",
                name=name,
                listed=listed,
                code="report-words" if name == "remark" else f"report-words-{name}",
            )


def _annex(audits: Sequence[Audit], request: ReportRequest, typeset: Typeset) -> bytes | None:
    """Return the sealed annex: names to whom payloads were issued, in a file of their own."""
    rows = [row for row in names(audits) if row[2].strip()]
    if not rows:
        return None
    labels = Labels(request.language)
    number = report_number(audits, request)
    blocks = [
        labels.facts(
            ("file", item),
            ("entry", str(entry)),
            ("sealed.who", who),
            ("sealed.when", when or labels("not-given")),
        )
        for item, entry, who, when in rows
    ]
    blocks.append(note(labels("sealed.note")))
    whole = content_of(
        public_audits(audits, replace(request, text=OMITTED)),
        request,
        Seals(name=RECORD, record="0" * 64, size=0),
    )
    title = labels("sealed.title", number=number)
    section = Section(number=1, title=labels("register"), blocks=tuple(blocks))
    content = replace(whole, title=title, sections=(section,), summary=(), foot="")
    return compile_pdf(content, typeset=typeset)
