"""Signing reports: a PAdES signature with a visible seal; and other bytes, detached."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from pura.base.errors import SigningError
from pura.base.identity import (
    Certificate,
    Identity,
    describe,
    is_stamp_error,
    time_stamper_at,
)
from pura.report.blocks import Labels

if TYPE_CHECKING:
    from pyhanko.sign.timestamps import TimeStamper

_log = logging.getLogger(__name__)


USAGES: Final = frozenset({"digital_signature", "non_repudiation"})
WIDTH: Final = 220
HEIGHT: Final = 62
"""Points."""
_MARGIN: Final = 12
_STEP: Final = 4
_WHITE: Final = 250
_TEMPLATE: Final = """
#let d = json(bytes(sys.inputs.data))
#set document(title: d.head, date: none)
#set page(width: WIDTHpt, height: HEIGHTpt, margin: 0pt)
#set text(size: 7.5pt, fill: rgb("#1f2937"))
#rect(width: 100%, height: 100%, inset: 7pt, radius: 3pt, stroke: 0.7pt + rgb("#1d4ed8"))[
  #set par(leading: 0.6em)
  #text(size: 8.5pt, weight: "bold", fill: rgb("#1d4ed8"), d.head) \\
  #text(weight: "bold", d.who) \\
  #d.when \\
  #text(size: 6pt, fill: rgb("#4b5563"), d.finger) \\
  #text(size: 6pt, fill: rgb("#4b5563"), d.note)
]
"""


def draw_seal(certificate: Certificate, language: str, now: datetime) -> bytes:
    """Draw the seal as a PDF of one small page; names go in as data, never as markup."""
    import typst

    words = Labels(language)
    mark = certificate.sha256[:32]
    data = {
        "head": words("seal.head"),
        "who": _short(certificate.subject),
        "when": f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        "finger": "SHA-256 " + " ".join(mark[i : i + 4] for i in range(0, len(mark), 4)) + " …",
        "note": words("seal.note"),
    }
    source = _TEMPLATE.replace("WIDTH", str(WIDTH)).replace("HEIGHT", str(HEIGHT))
    made = typst.compile(source.encode(), sys_inputs={"data": json.dumps(data)})
    assert isinstance(made, bytes)  # one page, no path was given
    return made


def free_place(pdf: bytes) -> tuple[int, tuple[int, int, int, int]] | None:
    """Find an empty place for the seal, from the end of the last page upwards.

    Args:
        pdf: The report.

    Returns:
        Index of the page and the box (left, bottom, right, top) in points; None when the last
        three pages are full: then the signature stays invisible rather than cover anything.
    """
    import numpy as np
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    try:
        for index in range(len(document) - 1, max(-1, len(document) - 4), -1):
            # One pixel a point: hairlines are lighter then, but never white.
            page = np.asarray(document[index].render(scale=1, grayscale=True).to_numpy())
            inked = page.reshape(page.shape[0], page.shape[1]) < _WHITE
            if (box := _free_box(inked)) is not None:
                return index, box
    finally:
        document.close()
    return None


def _free_box(inked: object) -> tuple[int, int, int, int] | None:
    import numpy as np

    ink = np.asarray(inked)
    height, width = ink.shape
    used = np.flatnonzero(ink.any(axis=0))
    right = int(used[-1]) + 1 if used.size else width - 4 * _MARGIN
    left = max(right - WIDTH, _MARGIN)
    column = ink[:, max(left - _MARGIN, 0) : right + _MARGIN]
    lines = np.concatenate([[0], np.cumsum(column.any(axis=1))])
    needed = HEIGHT + 2 * _MARGIN
    best = None
    for top in range(4 * _MARGIN, height - needed - 4 * _MARGIN, _STEP):
        if lines[top + needed] == lines[top]:
            best = top if best is None else best
        elif best is not None:
            break
    if best is None:
        return None
    return left, height - best - _MARGIN - HEIGHT, left + WIDTH, height - best - _MARGIN


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"


FIELD: Final = "PURA-Signature"


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

    stamper = time_stamper or (time_stamper_at(options.tsa_url) if options.tsa_url else None)
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
        raise SigningError("signing.unsound", code="signing-pdf") from None
    except Exception as error:
        if stamper is not None and is_stamp_error(error):
            kind = type(error).__name__
            raise SigningError("signing.no-time", kind=kind, code="signing-tsa") from None
        raise
    _log.info("a report was signed; time stamp: %s", stamper is not None)
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
    from pyhanko.sign import fields, signers

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
            md_algorithm=_digest(identity),
            reason=options.reason or None,
            location=options.location or None,
            name=identity.certificate.subject,
            subfilter=fields.SigSeedSubFilter.PADES,
            certify=True,
            docmdp_permissions=fields.MDPPerm.NO_CHANGES,
        ),
        signer=_simple_signer(identity),
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


@dataclass(frozen=True, kw_only=True)
class SignatureWord:
    """What a signature says.

    Attributes:
        intact: The signature is of these bytes.
        trusted: A trusted certificate vouches for the signer.
        subject: Whom the certificate names.
    """

    intact: bool
    trusted: bool
    subject: str


def _simple_signer(identity: Identity) -> Any:
    from asn1crypto import keys, x509
    from pyhanko.sign import signers
    from pyhanko_certvalidator.registry import SimpleCertificateStore

    store: Any = SimpleCertificateStore()  # type: ignore[no-untyped-call]
    store.register_multiple([x509.Certificate.load(der) for der in identity.chain_der])
    certificate = x509.Certificate.load(identity.cert_der)
    return signers.SimpleSigner(
        signing_cert=certificate,
        signing_key=keys.PrivateKeyInfo.load(identity.key_der),
        cert_registry=store,
        signature_mechanism=_pss_mechanism(certificate, _digest(identity)),
    )


def _pss_mechanism(certificate: Any, digest: str) -> Any:
    """Return RSA-PSS for a certificate whose key is for that alone; None lets pyHanko choose.

    pyHanko derives the mechanism from the key's algorithm, and knows plain RSA keys only.
    """
    from asn1crypto import algos
    from pyhanko.sign.general import optimal_pss_params

    key = certificate.public_key
    if key.algorithm != "rsassa_pss":
        return None
    # A restricted key is checked with its own parameters and no others.
    own = key["algorithm"]["parameters"]
    parameters = own if own.native is not None else optimal_pss_params(certificate, digest)
    return algos.SignedDigestAlgorithm({"algorithm": "rsassa_pss", "parameters": parameters})


def _digest(identity: Identity) -> str:
    """Return the hash that an identity signs with."""
    from asn1crypto import x509

    key = x509.Certificate.load(identity.cert_der).public_key
    if key.algorithm == "ed25519":
        return "sha512"  # it hashes with it by itself, and RFC 8419 asks for the same one here
    parameters = key["algorithm"]["parameters"].native
    if key.algorithm == "rsassa_pss" and parameters is not None:
        return str(parameters["hash_algorithm"]["algorithm"])  # it may be used with no other
    return "sha256"


def sign_detached(data: bytes, identity: Identity) -> bytes:
    """Sign bytes; returns the signature, CMS as DER, with the certificates but not the bytes."""
    signer = _simple_signer(identity)
    made: bytes = asyncio.run(signer.async_sign_general_data(data, _digest(identity))).dump()
    return made


def validation(trust: Sequence[bytes], moment: datetime) -> dict[str, Any]:
    """Return how a signature is held against trusted certificates, DER; nothing is fetched."""
    from asn1crypto import x509
    from pyhanko.sign.validation.settings import KeyUsageConstraints
    from pyhanko_certvalidator import ValidationContext

    roots = [x509.Certificate.load(der) for der in trust]
    return {
        "signer_validation_context": ValidationContext(
            trust_roots=roots, allow_fetching=False, moment=moment
        ),
        "key_usage_settings": KeyUsageConstraints(
            key_usage=set(USAGES), match_all_key_usages=False
        ),
    }


def check_detached(
    signature: bytes, data: bytes, trust: Sequence[bytes], moment: datetime
) -> SignatureWord:
    """Check a signature.

    Args:
        signature: CMS, DER.
        data: What it should be of.
        trust: Trusted certificates, DER.
        moment: The time to hold certificates against.
    """
    from asn1crypto import cms as forms
    from cryptography.x509 import load_der_x509_certificate
    from pyhanko.sign.validation.generic_cms import async_validate_detached_cms

    # It writes its stack for every certificate that nobody vouches for; here that is an answer.
    logging.getLogger("pyhanko").setLevel(logging.CRITICAL)
    try:
        signed = forms.ContentInfo.load(signature)["content"]
        status = drive(async_validate_detached_cms(data, signed, **validation(trust, moment)))
        subject = describe(load_der_x509_certificate(status.signing_cert.dump())).subject
    except Exception:  # a signature that cannot even be read is not one
        return SignatureWord(intact=False, trusted=False, subject="")
    return SignatureWord(
        intact=bool(status.intact and status.valid),
        trusted=bool(status.trusted),
        subject=subject,
    )


def drive(work: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that waits for nothing outside; an event loop would open a socket."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    work.close()
    raise asyncio.InvalidStateError("the check waits for something outside")
