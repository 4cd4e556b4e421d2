"""The child that takes a stranger's PDF apart: ``python -m pura.report.check_child``.

Standard input: one line of JSON, then the file. The line says the trusted certificates and the
time, or how long another PDF is that stands first and that the file should look like. Standard
output: one JSON object, or the list of the pages that look different. It shares the sandbox with
the readers of documents: no file, no socket, no program.
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
_SCALE: Final = 1.0  # 72 points an inch: a comma that moved is seen
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


def dissect(data: bytes, trust: Sequence[bytes], moment: datetime) -> FileFacts:
    """Read pages, attachments and signatures.

    Args:
        data: The file.
        trust: Trusted certificates, DER.
        moment: The time to hold certificates against.
    """
    sha = hashlib.sha256(data).hexdigest()
    if not data[:1024].lstrip().startswith(b"%PDF-"):
        return FileFacts(size=len(data), sha256=sha, problem="not-pdf")
    try:
        pages, metadata, attachments = _open(data)
    except MemoryError:
        raise
    except Exception:
        return FileFacts(size=len(data), sha256=sha, problem="damaged")
    end = data.rfind(_EOF)
    tail = len(data[end + len(_EOF) :].strip(b"\r\n")) if end >= 0 else len(data)
    return FileFacts(
        size=len(data),
        sha256=sha,
        pages=pages,
        metadata=metadata,
        attachments=attachments,
        signatures=_signatures(data, trust, moment),
        tail=tail,
        saves=data.count(_EOF),
        extras=_extras(data),
    )


def differing_pages(one: bytes, other: bytes) -> Iterator[int]:
    """Draw two PDFs page by page, annotations and fields included; yield what differs, from 1."""
    import pypdfium2

    documents = [pypdfium2.PdfDocument(data) for data in (one, other)]
    for document in documents:
        document.init_forms()
    counts = [min(len(document), MAX_PAGES) for document in documents]
    for number in range(max(counts)):
        if number >= min(counts) or _drawn(documents[0][number]) != _drawn(documents[1][number]):
            yield number + 1


def _drawn(page: Any) -> tuple[object, ...]:
    """Return what a page shows: its frame, its turn, every point and its words."""
    size = page.get_size()
    if max(size) > _LARGEST_PAGE:
        return (size,)
    picture = page.render(scale=_SCALE, may_draw_forms=True)
    words = page.get_textpage().get_text_range()
    return (size, page.get_rotation(), bytes(picture.buffer), words)


def _extras(data: bytes) -> tuple[str, ...]:
    """Name what a report of ours never has: scripts, actions, notes, hidden layers, cut pages."""
    from pyhanko.pdf_utils import generic
    from pyhanko.pdf_utils.reader import PdfFileReader

    found: set[str] = set()
    try:
        reader = PdfFileReader(io.BytesIO(data), strict=False)
        stack: list[Any] = [reader.trailer.raw_get("/Root")]
        seen: set[tuple[int, int]] = set()
        for _ in range(MAX_OBJECTS):
            if not stack:
                break
            at = stack.pop()
            if isinstance(at, generic.IndirectObject):
                if (at.idnum, at.generation) in seen:
                    continue
                seen.add((at.idnum, at.generation))
                at = reader.get_object(at)  # type: ignore[no-untyped-call]
            if isinstance(at, generic.ArrayObject):
                stack += [at.raw_get(i) for i in range(len(at))]
            elif isinstance(at, generic.DictionaryObject):
                found |= set(_named(at))
                stack += [at.raw_get(name) for name in at if name not in _NOT_RUN]
    except MemoryError:
        raise
    except Exception:  # a file whose objects cannot be walked was told as damaged, or is judged so
        found.add("unreadable")
    return tuple(sorted(found))


def _named(at: Any) -> Iterator[str]:
    for name, what in _EXTRAS.items():
        if name in at:
            yield what
    if "/Subtype" in at and at.get("/Subtype") in _NOTES:
        yield "annotations"
    if at.get("/S") in ("/JavaScript", "/Launch", "/SubmitForm", "/ImportData", "/GoToR"):
        yield "scripts"
    if "/CropBox" in at and list(at["/CropBox"]) != list(at.get("/MediaBox", at["/CropBox"])):
        yield "cropped"


def _open(data: bytes) -> tuple[tuple[str, ...], dict[str, str], tuple[AttachmentFacts, ...]]:
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    try:
        count = min(len(document), MAX_PAGES)
        pages = tuple(document[i].get_textpage().get_text_range() for i in range(count))
        metadata = {k: v for k, v in document.get_metadata_dict().items() if v}
        number = min(document.count_attachments(), MAX_ATTACHMENTS)
        attachments = tuple(_attachment(document.get_attachment(i)) for i in range(number))
    finally:
        document.close()
    return pages, metadata, attachments


def _attachment(found: Any) -> AttachmentFacts:
    name, data = str(found.get_name()), bytes(found.get_data())
    keep = name.lower().endswith(".json") and len(data) <= MAX_RECORD_BYTES
    return AttachmentFacts(
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        data=data.decode("latin-1") if keep else "",
    )


def _signatures(
    data: bytes, trust: Sequence[bytes], moment: datetime
) -> tuple[SignatureFacts, ...]:
    from pyhanko.pdf_utils.reader import PdfFileReader

    try:
        found = list(PdfFileReader(io.BytesIO(data), strict=False).embedded_signatures)
    except MemoryError:
        raise
    except Exception as error:
        # Marks of a signature that no reader can find any more are worth naming.
        if b"/ByteRange" in data:
            return (SignatureFacts(name="?", problem=type(error).__name__),)
        return ()
    return tuple(_signature(data, one, trust, moment) for one in found[:MAX_SIGNATURES])


def _signature(
    data: bytes, embedded: Any, trust: Sequence[bytes], moment: datetime
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
    pages, attachments = _differences(data, end) if end < len(data) else ((), ())
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
        padded=_is_padded(data, embedded),
        changes=_changes(status, whole=status.coverage.name == "ENTIRE_FILE"),
        revision_pages=pages,
        revision_attachments=attachments,
    )


def _is_padded(data: bytes, embedded: Any) -> bool:
    """Whether only zeros follow the signature in its place, which no signature covers."""
    from asn1crypto import parser

    first, length, second = (int(number) for number in list(embedded.byte_range)[:3])
    place = data[first + length : second]
    try:
        content = bytes.fromhex(place[1:-1].decode("ascii"))
        used = parser.peek(content)
    except ValueError:
        return False
    sound = place[:1] == b"<" and place[-1:] == b">"
    return sound and place[1:-1].isalnum() and not any(content[used:])


def _changes(status: Any, *, whole: bool) -> str:
    if whole:
        return "none"
    level = status.modification_level
    names = {
        "NONE": "none",
        "LTA_UPDATES": "ltv",
        "FORM_FILLING": "forms",
        "ANNOTATIONS": "annotations",
    }
    return "other" if level is None else names.get(level.name, "other")


def _differences(data: bytes, end: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Compare what was signed with what the file shows now."""
    try:
        old_pages, _, old_files = _open(data[:end])
        new_pages, _, new_files = _open(data)
    except MemoryError:
        raise
    except Exception:
        return (), ()
    most = max(len(old_pages), len(new_pages))
    pages = tuple(i + 1 for i in range(most) if old_pages[i : i + 1] != new_pages[i : i + 1])
    before = {one.name: one.sha256 for one in old_files}
    after = {one.name: one.sha256 for one in new_files}
    names = sorted(before.keys() | after.keys())
    return pages, tuple(n for n in names if before.get(n) != after.get(n))


def _name(name: Any) -> str:
    plain = name.native
    parts = [plain.get("common_name"), plain.get("organization_name")]
    words = [str(p) for p in parts if p]
    return ", ".join(dict.fromkeys(words)) or str(name.human_friendly)


# Everything that is imported on the way, since the sandbox lets nothing in later.
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
    if before := request.get("like"):
        _drawn_once()
        sandbox.close()
        data = source.read(before + MAX_FILE_BYTES + 1)
        _answer(list(differing_pages(data[:before], data[before:])))
    moment = datetime.fromisoformat(request["moment"])
    trust = [base64.b64decode(one) for one in request["trust"]]
    _warm(moment)
    sandbox.close()
    facts = dissect(source.read(MAX_FILE_BYTES + 1), trust, moment)
    _answer(asdict(facts))


def _answer(found: object) -> NoReturn:
    sys.stdout.buffer.write(json.dumps(found).encode("ascii"))
    sys.stdout.buffer.flush()
    os._exit(0)


def _drawn_once() -> None:
    """Let the library that draws load what it loads once."""
    import pypdfium2

    document = pypdfium2.PdfDocument.new()
    document.init_forms()
    document.new_page(8, 8).render()
    document.close()


def _warm(moment: datetime) -> None:
    """Let the libraries read what they read once: the time zone, their own tables."""
    import tzlocal
    from pyhanko_certvalidator import ValidationContext

    tzlocal.get_localzone()
    moment.astimezone()
    ValidationContext(trust_roots=[], allow_fetching=False, moment=moment)


if __name__ == "__main__":
    main()
