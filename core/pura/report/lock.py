"""A PDF under a passphrase: the sealed annex, which any viewer opens that asks for it."""

from __future__ import annotations

import io
from typing import Final

from pura.base.errors import ReportError
from pura.keys.sealed import check_passphrase

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
