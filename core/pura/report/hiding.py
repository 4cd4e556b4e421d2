"""What of the examined text a report shows, and the sealed annex under a passphrase."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.base.errors import ReportError
from pura.keys.sealed import check_passphrase
from pura.record.audit import Audit
from pura.record.json_io import NO_ID, without_text
from pura.record.naming import RegisterFacts
from pura.report.request import EXCERPT, FULL, OMITTED, REDACTED, ReportRequest

BLOCK: Final = "█"
CONTEXT: Final = 200  # characters around a passage that an excerpt shows
BEGINNING: Final = 600  # characters that an excerpt without passages shows


def shown_mask(audit: Audit, request: ReportRequest) -> npt.NDArray[np.bool_] | None:
    """Return which characters are shown; bool [C], None where no text is shown at all."""
    if audit.text is None or request.text == OMITTED:
        return None
    shown = np.ones(len(audit.text), dtype=bool)
    if request.text == EXCERPT:
        shown[:] = False
        for _, passage in audit.finding.passages:
            shown[max(0, passage.start - CONTEXT) : passage.end + CONTEXT] = True
        if not audit.finding.passages:
            shown[:BEGINNING] = True
    elif request.text == REDACTED:
        for start, end in request.redactions:
            shown[max(0, start) : max(0, end)] = False
    return shown


def public_audit(audit: Audit, request: ReportRequest) -> Audit:
    """Return the record as the report may carry it: without names, without hidden text."""
    register = audit.register
    audit = replace(audit, register=None if register is None else _nameless(register))
    if request.text == FULL:
        return audit
    mask = shown_mask(audit, request)
    if mask is None or audit.text is None:
        return without_text(audit)
    variants = tuple(replace(one, text=None) for one in audit.variants)
    text = _masked(audit.text, mask)
    ids = _hidden_ids(audit, mask)
    return replace(audit, text=text, variants=variants, tokens=replace(audit.tokens, ids=ids))


def public_audits(audits: Sequence[Audit], request: ReportRequest) -> list[Audit]:
    """Return all records of a report as it may carry them, each with its own ranges hidden."""
    # Ranges of characters are of one text each.
    ranges = (request.redactions, *request.further)
    return [
        public_audit(
            audit, replace(request, redactions=ranges[i] if i < len(ranges) else (), further=())
        )
        for i, audit in enumerate(audits)
    ]


def _masked(text: str, shown: npt.NDArray[np.bool_]) -> str:
    return "".join(
        char if keep or char == "\n" else BLOCK
        for char, keep in zip(text, shown.tolist(), strict=True)
    )


def _hidden_ids(audit: Audit, shown: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    ids = audit.tokens.ids.copy()
    hidden = np.concatenate(([0], np.cumsum(~shown)))
    first, last = audit.tokens.spans[:, 0], audit.tokens.spans[:, 1]
    ids[(hidden[last] - hidden[first]) > 0] = NO_ID
    return ids


def _nameless(register: RegisterFacts) -> RegisterFacts:
    return replace(register, matches=tuple(replace(m, who="") for m in register.matches))


def names(audits: Sequence[Audit]) -> list[tuple[str, int, str, str]]:
    """Return item, register entry, to whom and when, for the sealed annex."""
    return [
        (audit.input.name, mark.entry.entry, mark.entry.who, mark.entry.when)
        for audit in audits
        for mark in audit.finding.marks
        if mark.entry is not None
    ]


ATTACHED: Final = "annex.pdf"
MAX_BYTES: Final = 127
"""What PDF takes of a passphrase in UTF-8."""


def lock_pdf(pdf: bytes, passphrase: bytearray) -> bytes:
    """Encrypt a PDF (AES-256, revision 6 of the standard handler).

    The file as it was is attached inside, under the same passphrase, so that its digest can be
    compared with the one that the report prints.

    Args:
        pdf: The file.
        passphrase: UTF-8, from :func:`pura.keys.passphrase_bytes`.

    Returns:
        The encrypted file; its bytes differ from call to call.

    Raises:
        KeyFormatError: The passphrase is too short.
        ReportError: It is longer than PDF takes.
    """
    from pyhanko.pdf_utils.embed import EmbeddedFileObject, FileSpec, embed_file
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.pdf_utils.writer import copy_into_new_writer

    check_passphrase(passphrase)
    if len(passphrase) > MAX_BYTES:
        raise ReportError(
            "report.passphrase", most=MAX_BYTES, count=len(passphrase), code="report-passphrase"
        )
    writer = copy_into_new_writer(PdfFileReader(io.BytesIO(pdf)))
    held = EmbeddedFileObject.from_file_data(writer, pdf, mime_type="application/pdf")
    embed_file(writer, FileSpec(ATTACHED, embedded_data=held, file_name=ATTACHED))
    words = passphrase.decode()
    writer.encrypt(owner_pass=words, user_pass=words)  # type: ignore[no-untyped-call]
    out = io.BytesIO()
    writer.write(out)  # type: ignore[no-untyped-call]
    return out.getvalue()
