"""The child that takes a stranger's PDF apart: ``python -m pura.report.check_child``.

Standard input: one line of JSON, then the file. The line holds the trusted certificates and the
time, or the length of another PDF that comes first and that the file should look like. Standard
output: one JSON object, or the list of the pages that look different. The child runs in the sandbox
of the document readers: no files, no sockets, no programs.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import io
import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, NoReturn

from pura.base import linux
from pura.documents import sandbox
from pura.report.check import MAX_FILE_BYTES, AttachmentFacts, FileFacts, SignatureFacts
from pura.report.signing import drive, validation

MAX_PAGES: Final = 2000
MAX_ATTACHMENTS: Final = 100
MAX_RECORD_BYTES: Final = 48 << 20
MAX_SIGNATURES: Final = 20
MAX_OBJECTS: Final = 100_000
_EOF: Final = b"%%EOF"
_SCALE: Final = 1.0  # one pixel a point: enough to reveal a comma that moved
_LARGEST_PAGE: Final = 5000.0  # points; two poster pages would fill the memory
_EXTRAS: Final = {
    "/JavaScript": "scripts",
    "/JS": "scripts",
    "/OpenAction": "scripts",
    "/AA": "scripts",
    "/XFA": "scripts",
    "/OCProperties": "layers",
    "/OC": "layers",
}
# The tree of headings and paragraphs, thousands of objects: nothing in it is run or drawn.
_NOT_RUN: Final = ("/StructTreeRoot", "/Parent", "/Font", "/Metadata")
_NOTES: Final = tuple(
    f"/{kind}"
    for kind in (
        *("Text", "FreeText", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight"),
        *("Underline", "Squiggly", "StrikeOut", "Caret", "Stamp", "Ink", "Popup", "Redact"),
        *("FileAttachment", "Sound", "Movie", "Screen", "RichMedia", "3D"),
    )
)


def dissect(pdf: bytes, trust: Sequence[bytes], moment: datetime) -> FileFacts:
    """Read pages, attachments and signatures.

    Args:
        pdf: The file.
        trust: Trusted certificates, DER.
        moment: The time at which certificates must be valid.
    """
    sha = hashlib.sha256(pdf).hexdigest()
    if not pdf[:1024].lstrip().startswith(b"%PDF-"):
        return FileFacts(size=len(pdf), sha256=sha, problem="not-pdf")
    try:
        pages, metadata, attachments = _open(pdf)
    except MemoryError:
        raise
    except Exception:
        return FileFacts(size=len(pdf), sha256=sha, problem="damaged")
    end = pdf.rfind(_EOF)
    tail = len(pdf[end + len(_EOF) :].strip(b"\r\n")) if end >= 0 else len(pdf)
    return FileFacts(
        size=len(pdf),
        sha256=sha,
        pages=pages,
        metadata=metadata,
        attachments=attachments,
        signatures=_signatures(pdf, trust, moment),
        tail=tail,
        saves=pdf.count(_EOF),
        extras=_extras(pdf),
    )


def differing_pages(first: bytes, second: bytes) -> Iterator[int]:
    """Draw two PDFs with annotations and fields; yield the pages that differ, from 1."""
    import pypdfium2

    documents = [pypdfium2.PdfDocument(data) for data in (first, second)]
    for document in documents:
        document.init_forms()
    counts = [min(len(document), MAX_PAGES) for document in documents]
    for number in range(max(counts)):
        if number >= min(counts) or _drawn(documents[0][number]) != _drawn(documents[1][number]):
            yield number + 1


def _drawn(page: Any) -> tuple[object, ...]:
    """Return the appearance of a page: its size, rotation, every pixel and its text."""
    size = page.get_size()
    if max(size) > _LARGEST_PAGE:
        return (size,)
    picture = page.render(scale=_SCALE, may_draw_forms=True)
    text = page.get_textpage().get_text_range()
    return (size, page.get_rotation(), bytes(picture.buffer), text)


def _extras(pdf: bytes) -> tuple[str, ...]:
    """Return parts that no genuine report has: scripts, annotations, layers, cropped pages."""
    from pyhanko.pdf_utils import generic
    from pyhanko.pdf_utils.reader import PdfFileReader

    extras: set[str] = set()
    try:
        reader = PdfFileReader(io.BytesIO(pdf), strict=False)
        stack: list[Any] = [reader.trailer.raw_get("/Root")]
        visited: set[tuple[int, int]] = set()
        for _ in range(MAX_OBJECTS):
            if not stack:
                break
            node = stack.pop()
            if isinstance(node, generic.IndirectObject):
                if (node.idnum, node.generation) in visited:
                    continue
                visited.add((node.idnum, node.generation))
                node = reader.get_object(node)  # type: ignore[no-untyped-call]
            if isinstance(node, generic.ArrayObject):
                stack += [node.raw_get(i) for i in range(len(node))]
            elif isinstance(node, generic.DictionaryObject):
                extras |= set(_extras_of(node))
                stack += [node.raw_get(name) for name in node if name not in _NOT_RUN]
    except MemoryError:
        raise
    except Exception:  # objects that cannot be walked; the result is judged like a damaged file
        extras.add("unreadable")
    return tuple(sorted(extras))


def _extras_of(node: Any) -> Iterator[str]:
    for name, extra in _EXTRAS.items():
        if name in node:
            yield extra
    if "/Subtype" in node and node.get("/Subtype") in _NOTES:
        yield "annotations"
    if node.get("/S") in ("/JavaScript", "/Launch", "/SubmitForm", "/ImportData", "/GoToR"):
        yield "scripts"
    if "/CropBox" in node and list(node["/CropBox"]) != list(
        node.get("/MediaBox", node["/CropBox"])
    ):
        yield "cropped"


def _open(pdf: bytes) -> tuple[tuple[str, ...], dict[str, str], tuple[AttachmentFacts, ...]]:
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    try:
        count = min(len(document), MAX_PAGES)
        pages = tuple(document[i].get_textpage().get_text_range() for i in range(count))
        metadata = {k: v for k, v in document.get_metadata_dict().items() if v}
        number = min(document.count_attachments(), MAX_ATTACHMENTS)
        attachments = tuple(_attachment(document.get_attachment(i)) for i in range(number))
    finally:
        document.close()
    return pages, metadata, attachments


def _attachment(attachment: Any) -> AttachmentFacts:
    name, file_bytes = str(attachment.get_name()), bytes(attachment.get_data())
    keep = name.lower().endswith(".json") and len(file_bytes) <= MAX_RECORD_BYTES
    return AttachmentFacts(
        name=name,
        sha256=hashlib.sha256(file_bytes).hexdigest(),
        size=len(file_bytes),
        data=file_bytes.decode("latin-1") if keep else "",
    )


def _signatures(pdf: bytes, trust: Sequence[bytes], moment: datetime) -> tuple[SignatureFacts, ...]:
    from pyhanko.pdf_utils.reader import PdfFileReader

    try:
        signatures = list(PdfFileReader(io.BytesIO(pdf), strict=False).embedded_signatures)
    except MemoryError:
        raise
    except Exception as error:
        # Traces of a signature that no reader can find any more are worth reporting.
        if b"/ByteRange" in pdf:
            return (SignatureFacts(name="?", problem=type(error).__name__),)
        return ()
    return tuple(
        _signature(pdf, signature, trust, moment) for signature in signatures[:MAX_SIGNATURES]
    )


def _signature(
    pdf: bytes, embedded: Any, trust: Sequence[bytes], moment: datetime
) -> SignatureFacts:
    from pyhanko.sign.validation import async_validate_pdf_signature

    name = str(embedded.field_name)
    try:
        status = drive(async_validate_pdf_signature(embedded, **validation(trust, moment)))
        end = int(embedded.byte_range[-2]) + int(embedded.byte_range[-1])
    except MemoryError:
        raise
    except Exception as error:
        return SignatureFacts(name=name, problem=type(error).__name__)
    cert = status.signing_cert
    validity = cert["tbs_certificate"]["validity"]
    pages, attachments = _differences(pdf, end) if end < len(pdf) else ((), ())
    stamp = status.timestamp_validity
    return SignatureFacts(
        name=name,
        subject=_name(cert.subject),
        issuer=_name(cert.issuer),
        sha256=cert.sha256.hex(),
        not_before=validity["not_before"].native.isoformat(),
        not_after=validity["not_after"].native.isoformat(),
        signed_at=status.signer_reported_dt.isoformat() if status.signer_reported_dt else "",
        stamped_at=stamp.timestamp.isoformat() if stamp and stamp.valid and stamp.intact else "",
        stamp_trusted=bool(stamp and stamp.trusted),
        intact=bool(status.intact),
        valid=bool(status.valid),
        trusted=bool(status.trusted),
        whole=status.coverage.name == "ENTIRE_FILE",
        end=end,
        padded=_is_padded(pdf, embedded),
        changes=_changes(status, covers_file=status.coverage.name == "ENTIRE_FILE"),
        revision_pages=pages,
        revision_attachments=attachments,
    )


def _is_padded(pdf: bytes, embedded: Any) -> bool:
    """Return whether only zeros follow the signature in the gap that no signature covers."""
    from asn1crypto import parser

    first, length, second = (int(number) for number in list(embedded.byte_range)[:3])
    gap = pdf[first + length : second]
    try:
        der = bytes.fromhex(gap[1:-1].decode("ascii"))
        used = parser.peek(der)
    except ValueError:
        return False
    sound = gap[:1] == b"<" and gap[-1:] == b">"
    return sound and gap[1:-1].isalnum() and not any(der[used:])


def _changes(status: Any, *, covers_file: bool) -> str:
    if covers_file:
        return "none"
    level = status.modification_level
    names = {
        "NONE": "none",
        "LTA_UPDATES": "ltv",
        "FORM_FILLING": "forms",
        "ANNOTATIONS": "annotations",
    }
    return "other" if level is None else names.get(level.name, "other")


def _differences(pdf: bytes, end: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the pages and attachments that differ between signed state and present file."""
    try:
        old_pages, _, old_files = _open(pdf[:end])
        new_pages, _, new_files = _open(pdf)
    except MemoryError:
        raise
    except Exception:
        return (), ()
    page_count = max(len(old_pages), len(new_pages))
    pages = tuple(i + 1 for i in range(page_count) if old_pages[i : i + 1] != new_pages[i : i + 1])
    before = {attachment.name: attachment.sha256 for attachment in old_files}
    after = {attachment.name: attachment.sha256 for attachment in new_files}
    names = sorted(before.keys() | after.keys())
    return pages, tuple(n for n in names if before.get(n) != after.get(n))


def _name(name: Any) -> str:
    plain = name.native
    parts = [plain.get("common_name"), plain.get("organization_name")]
    names = [str(p) for p in parts if p]
    return ", ".join(dict.fromkeys(names)) or str(name.human_friendly)


# Everything that is imported later on: inside the sandbox no module can be loaded.
_PRELOAD: Final = (
    "pypdfium2",
    "asn1crypto.tsp",
    "pyhanko.pdf_utils.reader",
    "pyhanko.sign.validation",
    "pyhanko.sign.diff_analysis",
    "pyhanko_certvalidator",
    "pyhanko_certvalidator.fetchers.requests_fetchers",
    "cryptography.hazmat.backends.openssl.backend",
    "cryptography.hazmat.primitives.asymmetric.ec",
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "cryptography.hazmat.primitives.asymmetric.padding",
    "encodings.latin_1",
    "encodings.utf_8",
    "encodings.utf_16",
    "encodings.utf_16_be",
    "encodings.utf_16_le",
    "encodings.idna",
    "stringprep",
)


def main() -> None:
    """Read the request, enter the sandbox, take the file apart."""
    linux.die_with_parent()
    logging.disable(logging.CRITICAL)  # it would write tracebacks with names into the log
    source = sys.stdin.buffer
    request = json.loads(source.readline(1 << 22))
    for name in _PRELOAD:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # an optional part of a library
    if first_size := request.get("like"):
        _drawn_once()
        sandbox.close()
        pdfs = source.read(first_size + MAX_FILE_BYTES + 1)
        _answer(list(differing_pages(pdfs[:first_size], pdfs[first_size:])))
    moment = datetime.fromisoformat(request["moment"])
    trust = [base64.b64decode(der) for der in request["trust"]]
    _warm(moment)
    sandbox.close()
    facts = dissect(source.read(MAX_FILE_BYTES + 1), trust, moment)
    _answer(asdict(facts))


def _answer(answer: object) -> NoReturn:
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii"))
    sys.stdout.buffer.flush()
    os._exit(0)


def _drawn_once() -> None:
    """Draw an empty page, so that the library loads its resources before the sandbox closes."""
    import pypdfium2

    document = pypdfium2.PdfDocument.new()
    document.init_forms()
    document.new_page(8, 8).render()
    document.close()


def _warm(moment: datetime) -> None:
    """Let the libraries read time zone and tables before the sandbox closes."""
    import tzlocal
    from pyhanko_certvalidator import ValidationContext

    tzlocal.get_localzone()
    moment.astimezone()
    ValidationContext(trust_roots=[], allow_fetching=False, moment=moment)


if __name__ == "__main__":
    main()
