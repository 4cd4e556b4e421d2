"""PAdES signatures: one signature over the entire file, after which nothing may change.

PAdES B-B needs no network. With the address of a time-stamp authority it becomes B-T; that is
the one thing in the program that reaches out, and only where the address was given for this very
signature.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pura.base.errors import SigningError
from pura.report.labels import Labels
from pura.report.sign.identity import Identity
from pura.report.sign.seal import draw_seal, free_place

if TYPE_CHECKING:
    from pyhanko.sign.timestamps import TimeStamper

FIELD: Final = "PURA-Signature"
TSA_SECONDS: Final = 20


@dataclass(frozen=True, kw_only=True)
class SignOptions:
    """How to sign.

    Attributes:
        reason: Why, as it stands in the signature; empty for none.
        location: Where; empty for none.
        seal: A visible seal on a free place of the last pages.
        tsa_url: Address of a time-stamp authority (RFC 3161); None signs without the network.
        language: Of the seal: ``en`` or ``de``.
    """

    reason: str = ""
    location: str = ""
    seal: bool = False
    tsa_url: str | None = None
    language: str = "en"


def sign_report(
    pdf: bytes,
    identity: Identity,
    options: SignOptions,
    *,
    now: datetime,
    time_stamper: TimeStamper | None = None,
) -> bytes:
    """Sign a report.

    Args:
        pdf: The whole file, not signed yet.
        identity: Who signs.
        options: How.
        now: Time of signing, with a zone; from this computer's clock.
        time_stamper: Instead of the one at ``options.tsa_url``; for tests.

    Returns:
        The file with the signature appended; its first bytes are ``pdf``.

    Raises:
        SigningError: Already signed, not a sound PDF, or the time-stamp authority did not answer.
    """
    from pyhanko.pdf_utils.misc import PdfError

    stamper = time_stamper or (_stamper(options.tsa_url) if options.tsa_url else None)
    place = free_place(pdf) if options.seal else None
    out = io.BytesIO()
    try:
        writer = _writer(pdf)
        if any(True for _ in writer.prev.embedded_signatures):
            raise SigningError("signing.signed", code="signing-signed")
        pdf_signer = _signer(identity, options, stamper, place, now)
        pdf_signer.sign_pdf(writer, output=out)
    except SigningError:
        raise
    except PdfError:
        raise _not_sound() from None
    except Exception as error:
        if stamper is not None and _is_stamp_error(error):
            raise _no_stamp(type(error).__name__) from None
        raise
    return out.getvalue()


def _writer(pdf: bytes) -> Any:
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

    class _Writer(IncrementalPdfFileWriter):
        def ensure_output_version(self, version: tuple[int, int]) -> None:
            """Leave it at PDF 1.7: PDF/A-2 and A-3 know no other, and the signature needs none."""

    return _Writer(io.BytesIO(pdf), strict=True)


def _signer(
    identity: Identity,
    options: SignOptions,
    stamper: TimeStamper | None,
    place: tuple[int, tuple[int, int, int, int]] | None,
    now: datetime,
) -> Any:
    from asn1crypto import keys, x509
    from pyhanko.sign import fields, signers
    from pyhanko_certvalidator.registry import SimpleCertificateStore

    store: Any = SimpleCertificateStore()  # type: ignore[no-untyped-call]
    store.register_multiple([x509.Certificate.load(der) for der in identity.chain_der])
    signer = signers.SimpleSigner(
        signing_cert=x509.Certificate.load(identity.cert_der),
        signing_key=keys.PrivateKeyInfo.load(identity.key_der),
        cert_registry=store,
    )
    page, box = place if place is not None else (0, None)
    words = Labels(options.language)("seal.field", who=identity.certificate.subject)
    field = fields.SigFieldSpec(
        sig_field_name=FIELD, on_page=page, box=box, readable_field_name=words
    )
    style = None
    if box is not None:
        style = _style(draw_seal(identity.certificate, options.language, now))
    return signers.PdfSigner(
        signers.PdfSignatureMetadata(
            field_name=FIELD,
            # Ed25519 hashes with SHA-512 by itself, and RFC 8419 asks for the same one here.
            md_algorithm="sha512" if identity.certificate.key == "Ed25519" else "sha256",
            reason=options.reason or None,
            location=options.location or None,
            name=identity.certificate.subject,
            subfilter=fields.SigSeedSubFilter.PADES,
            certify=True,
            docmdp_permissions=fields.MDPPerm.NO_CHANGES,
        ),
        signer=signer,
        timestamper=stamper,
        stamp_style=style,
        new_field_spec=field,
    )


def _style(seal: bytes) -> Any:
    """Make a page the look of the signature; the library itself reads it from a path only."""
    from pyhanko.pdf_utils.content import RawContent
    from pyhanko.pdf_utils.layout import BoxConstraints
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.stamp import StaticStampStyle

    class _Seal(RawContent):
        def render(self) -> bytes:
            form = self._ensure_writer.import_page_as_xobject(PdfFileReader(io.BytesIO(seal)))
            self.resources.xobject["/Seal"] = form
            left, low, right, high = form.get_object()["/BBox"]
            self.box = BoxConstraints(width=abs(right - left), height=abs(high - low))
            return b"/Seal Do"

    return StaticStampStyle(border_width=0, background=_Seal(b""))


def _stamper(url: str) -> TimeStamper:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SigningError("signing.address", code="signing-tsa")
    from pyhanko.sign.timestamps import HTTPTimeStamper

    return HTTPTimeStamper(url, timeout=TSA_SECONDS)


def _is_stamp_error(error: Exception) -> bool:
    from pyhanko.sign.timestamps import TimestampRequestError

    name = type(error).__module__
    return isinstance(error, TimestampRequestError | TimeoutError | OSError) or "aiohttp" in name


def _no_stamp(kind: str) -> SigningError:
    return SigningError("signing.no-time", kind=kind, code="signing-tsa")


def _not_sound() -> SigningError:
    return SigningError("signing.unsound", code="signing-pdf")
