"""The whole way from audits to the files of a report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pura.base.catalogue import phrase, quoted
from pura.base.errors import InputError, RecordError, unusable
from pura.base.json_text import json_text, read_json
from pura.record import json_io
from pura.record.audit import SCHEMA as RECORD_SCHEMA
from pura.record.audit import Audit
from pura.report import request as request_file
from pura.report.blocks import Content, Labels, Section, facts, note, printable
from pura.report.content import Seals, content_of, report_number
from pura.report.hiding import names, public_audits
from pura.report.pages import Typeset, compile_pdf, typeset
from pura.report.request import (
    OMITTED,
    Confirmation,
    ReportRequest,
    check_request,
    refuse_unreviewed,
)
from pura.words.linter import forbidden

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
    record = record_json(shown)
    annex = _annex(audits, request, typeset)
    seals = Seals(
        name=RECORD,
        record=hashlib.sha256(record).hexdigest(),
        size=len(record),
        annex=hashlib.sha256(annex).hexdigest() if annex else "",
    )
    content = content_of(shown, request, seals)
    return Report(
        number=report_number(audits, request),
        pdf=_compile(content, record, request, seals.annex, typeset=typeset),
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
    request, annex = (found := request_file.read(told)).request, found.annex
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
            listed = quoted([one.phrase for one in found[:5]])
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
    blocks = []
    for item, entry, who, when in rows:
        blocks.append(
            facts(
                [
                    (labels("file"), printable(item)),
                    (labels("entry"), str(entry)),
                    (labels("sealed.who"), printable(who)),
                    (labels("sealed.when"), printable(when) or labels("not-given")),
                ]
            )
        )
    blocks.append(note(labels("sealed.note")))
    whole = content_of(
        public_audits(audits, replace(request, text=OMITTED)),
        request,
        Seals(name=RECORD, record="0" * 64, size=0),
    )
    title = labels("sealed.title", number=number)
    section = Section(number=1, title=labels("annex.sealed"), blocks=tuple(blocks))
    content = replace(whole, title=title, sections=(section,), summary=(), foot="")
    return compile_pdf(content, typeset=typeset)
