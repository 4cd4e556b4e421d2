"""How much of the examined text a report shows, and the last sections of a report.

These are the digests and how to check them, the text, the glossary, bits and tokens as CSV, and the
annex that is sealed with a passphrase.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from pura.base.errors import ReportError
from pura.keys.sealed import check_passphrase
from pura.record.audit import Audit
from pura.record.json_io import NO_ID, findings_digest, without_text
from pura.record.marks import bits_of
from pura.report.blocks import Block, Labels, heading, note, paragraph, printable
from pura.report.figures import page_picture
from pura.report.request import EXCERPT, FULL, OMITTED, REDACTED, PagePicture, ReportRequest

BLOCK: Final = "█"
CONTEXT: Final = 200  # characters around a passage that an excerpt shows
BEGINNING: Final = 600  # characters that an excerpt without passages shows


def shown_mask(audit: Audit, request: ReportRequest) -> npt.NDArray[np.bool_] | None:
    """Return which characters are shown, bool [C]; None if the report shows no text at all."""
    if audit.text is None or request.text == OMITTED:
        return None
    mask = np.ones(len(audit.text), dtype=bool)
    if request.text == EXCERPT:
        mask[:] = False
        for _, passage in audit.finding.passages:
            mask[max(0, passage.start - CONTEXT) : passage.end + CONTEXT] = True
        if not audit.finding.passages:
            mask[:BEGINNING] = True
    elif request.text == REDACTED:
        for start, end in request.redactions:
            mask[max(0, start) : max(0, end)] = False
    return mask


def public_audit(audit: Audit, request: ReportRequest) -> Audit:
    """Return the record without names and without hidden text, as the report may carry it."""
    if (register := audit.register) is not None:
        nameless = tuple(replace(match, who="", note="") for match in register.matches)
        audit = replace(audit, register=replace(register, matches=nameless))
    if request.text == FULL:
        return audit
    mask = shown_mask(audit, request)
    if mask is None or audit.text is None:
        return without_text(audit)
    variants = tuple(replace(variant, text=None) for variant in audit.variants)
    pairs = zip(audit.text, mask.tolist(), strict=True)
    text = "".join(char if keep or char == "\n" else BLOCK for char, keep in pairs)
    ids = _hidden_ids(audit, mask)
    return replace(audit, text=text, variants=variants, tokens=replace(audit.tokens, ids=ids))


def public_audits(audits: Sequence[Audit], request: ReportRequest) -> list[Audit]:
    """Return all records of a report without names, each with its own ranges hidden."""
    # Ranges of characters are of one text each.
    ranges = (request.redactions, *request.further)
    return [
        public_audit(
            audit, replace(request, redactions=ranges[i] if i < len(ranges) else (), further=())
        )
        for i, audit in enumerate(audits)
    ]


def public_pages(
    audits: Sequence[Audit], request: ReportRequest
) -> tuple[tuple[PagePicture, ...], ...]:
    """Return the page pictures of the texts that the report shows in full."""
    if request.text != FULL:
        return ()
    pairs = zip(audits, request.pages, strict=False)
    return tuple(pages if audit.text is not None else () for audit, pages in pairs)


def lacks_pages(audit: Audit, pages: Sequence[PagePicture]) -> bool:
    """Return whether a shown text has passages on PDF pages but no picture of these pages."""
    printed = audit.input.format == "pdf" and audit.text is not None
    return printed and bool(audit.finding.passages) and not pages


def _hidden_ids(audit: Audit, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    ids = audit.tokens.ids.copy()
    hidden = np.concatenate(([0], np.cumsum(~mask)))
    first, last = audit.tokens.spans[:, 0], audit.tokens.spans[:, 1]
    ids[(hidden[last] - hidden[first]) > 0] = NO_ID
    return ids


def names(audits: Sequence[Audit]) -> list[tuple[str, int, str, str]]:
    """Return item, number of the register entry, recipient and date, for the sealed annex."""
    return [
        (audit.input.name, mark.entry.entry, mark.entry.who, mark.entry.when)
        for audit in audits
        for mark in audit.finding.marks
        if mark.entry is not None
    ]


ATTACHED: Final = "annex.pdf"
MAX_BYTES: Final = 127
"""Longest passphrase that PDF allows, in bytes of UTF-8."""


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
        ReportError: The passphrase is longer than PDF allows.
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
    embedded = EmbeddedFileObject.from_file_data(writer, pdf, mime_type="application/pdf")
    embed_file(writer, FileSpec(ATTACHED, embedded_data=embedded, file_name=ATTACHED))
    password = passphrase.decode()
    writer.encrypt(owner_pass=password, user_pass=password)  # type: ignore[no-untyped-call]
    out = io.BytesIO()
    writer.write(out)  # type: ignore[no-untyped-call]
    return out.getvalue()


# log10 evidence from which a token has the next darker shade, as in the window.
_STEPS = (0.02, 0.15, 0.4, 0.8)
HIDDEN = 9  # shade of a hidden stretch, above all shades of evidence
MAX_RUNS = 20_000  # a longer text is printed without shades


@dataclass(frozen=True, kw_only=True)
class Seals:
    """Digests that the section on integrity prints.

    Attributes:
        name: File name of the embedded record.
        record: SHA-256 of the record.
        size: Length of the record in bytes.
        annex: SHA-256 of the sealed annex; empty if there is none.
    """

    name: str
    record: str
    size: int
    annex: str = ""


def integrity(audits: Sequence[Audit], labels: Labels, seals: Seals, log: str) -> tuple[Block, ...]:
    """Return the digests, and how to check them without this program."""
    examined = any(audit.verdict != "not-examinable" for audit in audits)
    digests = []
    for audit in audits:
        digests.append(("integrity.audit", audit.id))
        digests.append(("integrity.findings", findings_digest(audit)))
    return (
        labels.facts(
            ("integrity.record", seals.record),
            ("integrity.size", labels("bytes", n=seals.size)),
            *digests,
            ("integrity.annex", seals.annex or None),
            ("integrity.log", log or labels("integrity.log.none")),
            ("integrity.signature", labels("integrity.signature.text")),
            ("integrity.time", labels("integrity.time.text")),
        ),
        paragraph(labels("integrity.check", name=seals.name)),
        *([paragraph(labels("integrity.repeat"))] if examined else []),
    )


def annexes(
    audits: Sequence[Audit], request: ReportRequest, labels: Labels, annex: str
) -> tuple[Block, ...]:
    """Return the visible part of the text, the glossary, and a pointer to the sealed annex."""
    blocks = [heading(labels("annex.text"))]
    for position, audit in enumerate(audits, start=1):
        if len(audits) > 1:
            name = printable(audit.input.name)
            blocks.append(paragraph(labels("item.n", n=position, name=name)))
        if audit.text is None:
            blocks.append(note(labels("annex.text.omitted")))
            continue
        shaded = audit.verdict == "mark" and audit.tokens.ids.size <= MAX_RUNS
        plain = request.text == FULL and not shaded
        mode = request.text if request.text != OMITTED else FULL
        blocks.append(note(labels("annex.text.plain" if plain else f"annex.text.{mode}")))
        blocks.append(Block(kind="text", runs=_runs(audit, shaded=shaded)))
        pages = [*itertools.chain(*request.pages[position - 1 : position])]
        if request.text == FULL and lacks_pages(audit, pages):
            blocks.append(note(labels("annex.no-pages")))
        for number, png in pages:
            alt = labels("alt.page", n=number, name=printable(audit.input.name))
            caption = labels("annex.page", n=number)
            blocks.append(Block(kind="figure", svg=page_picture(png), text=caption, alt=alt))
    blocks += [heading(labels("annex.glossary")), note(labels("glossary"))]
    if annex:
        blocks.append(heading(labels("annex.sealed")))
        blocks.append(paragraph(labels("annex.sealed.text", sha=annex)))
    return tuple(blocks)


def shades(audit: Audit) -> npt.NDArray[np.int8]:
    """Return the shade of every token: -4 … -1 against, 0 none, 1 … 4 for the mark; int8 [L]."""
    evidence = audit.tokens.log10_evidence
    levels = np.searchsorted(_STEPS, np.abs(evidence), side="right")
    return np.where(evidence < 0, -levels, levels).astype(np.int8)


def _runs(audit: Audit, *, shaded: bool) -> tuple[tuple[str, int], ...]:
    """Return runs of text of one shade: positive supports the mark, negative speaks against it."""
    text = audit.text or ""
    shade = np.zeros(len(text), dtype=np.int8)
    if shaded:
        levels = shades(audit).tolist()
        for (start, end), level in zip(audit.tokens.spans.tolist(), levels, strict=True):
            shade[start:end] = level
    shade[[i for i, char in enumerate(text) if char == BLOCK]] = HIDDEN
    edges = np.flatnonzero(np.diff(shade)) + 1
    bounds = [0, *edges.tolist(), len(text)]
    return tuple(
        (text[a:b] if shade[a] == HIDDEN else printable(text[a:b]), int(shade[a]))
        for a, b in itertools.pairwise(bounds)
        if b > a
    )


_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_RESERVED: Final = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
MAX_STEM: Final = 80  # characters; leaves room for endings below the 255 bytes of file systems


def table_files(audits: Sequence[Audit], request: ReportRequest) -> list[tuple[str, bytes]]:
    """Return name and content of each CSV table; they hide what the report hides."""
    files = []
    for audit in public_audits(audits, request):
        stem = f"{safe_name(audit.input.name)}-{audit.id[:8]}"
        files.append((f"{stem}-bits.csv", bits_csv(audit).encode("utf-8-sig")))
        files.append((f"{stem}-tokens.csv", tokens_csv(audit).encode("utf-8-sig")))
    return files


def bits_csv(audit: Audit) -> str:
    """Return a CSV table with one row for each codeword position."""
    rows = [
        (
            b.position + 1,
            b.bit,
            repr(b.llr_nats),
            b.readings,
            int(b.repaired),
            int(b.weak),
            int(b.parity),
        )
        for b in bits_of(audit, None)
    ]
    return _table("position bit llr_nats readings repaired weak parity", rows)


def tokens_csv(audit: Audit) -> str:
    """Return a CSV table with one row for each token, safe to open in a spreadsheet."""
    tokens = audit.tokens
    rows = []
    for t in range(tokens.ids.size):
        start, end = (int(x) for x in tokens.spans[t])
        text = audit.text[start:end] if audit.text is not None else ""
        hidden = int(tokens.ids[t]) == NO_ID
        rows.append(
            (
                t + 1,
                "" if hidden else int(tokens.ids[t]),
                start,
                end,
                harmless(text),
                _digits(tokens.entropy_bits[t]),
                _digits(tokens.lo[t]),
                _digits(tokens.hi[t]),
                int(tokens.gate[t]),
                repr(float(tokens.log10_evidence[t])),
                repr(float(tokens.marked[t])),
            )
        )
    head = "token id start end text entropy_bits lo hi gate log10_evidence marked"
    return _table(head, rows)


def harmless(cell: str) -> str:
    """Prefix a cell with an apostrophe if a spreadsheet would run it as a formula."""
    return f"'{cell}" if cell.lstrip(" ").startswith(_FORMULA) or cell.startswith("'") else cell


def safe_name(name: str, ending: str = "") -> str:
    """Return a file name that is valid on every system."""
    stem = "".join(c if c.isalnum() or c in "-_. " else "-" for c in name)
    stem = re.sub(r"[-\s]{2,}", "-", stem).strip(" .-")[:MAX_STEM].rstrip(" .-")
    if not stem or _RESERVED.match(stem):
        stem = f"report-{stem}".rstrip("-")
    return f"{stem}{ending}"


def _digits(value: float) -> str:
    """Return a number with all its digits; an empty cell for NaN."""
    return "" if math.isnan(value) else repr(float(value))


def _table(head: str, rows: Sequence[Sequence[object]]) -> str:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\r\n")
    writer.writerow(head.split())
    writer.writerows(rows)
    return sink.getvalue()
