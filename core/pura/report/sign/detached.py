"""Signatures that stand beside what they are of: CMS over bytes, with the same certificates.

Heads of the case log and power tables are signed like this; reports carry theirs inside the PDF.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pura.report.check.dissect import drive
from pura.report.sign.identity import Identity


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


def sign_detached(data: bytes, identity: Identity) -> bytes:
    """Sign bytes; returns the signature, CMS as DER, with the certificates but not the bytes."""
    from asn1crypto import keys, x509
    from pyhanko.sign import signers
    from pyhanko_certvalidator.registry import SimpleCertificateStore

    store = SimpleCertificateStore()  # type: ignore[no-untyped-call]
    store.register_multiple([x509.Certificate.load(der) for der in identity.chain_der])
    signer = signers.SimpleSigner(
        signing_cert=x509.Certificate.load(identity.cert_der),
        signing_key=keys.PrivateKeyInfo.load(identity.key_der),
        cert_registry=store,
    )
    digest = "sha512" if identity.certificate.key == "Ed25519" else "sha256"
    made: bytes = asyncio.run(signer.async_sign_general_data(data, digest)).dump()
    return made


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
    from asn1crypto import x509
    from pyhanko.sign.validation.generic_cms import async_validate_detached_cms
    from pyhanko.sign.validation.settings import KeyUsageConstraints
    from pyhanko_certvalidator import ValidationContext

    # It writes its stack for every certificate that nobody vouches for; here that is an answer.
    logging.getLogger("pyhanko").setLevel(logging.CRITICAL)
    context = ValidationContext(
        trust_roots=[x509.Certificate.load(der) for der in trust],
        allow_fetching=False,
        moment=moment,
    )
    usage = KeyUsageConstraints(
        key_usage={"digital_signature", "non_repudiation"}, match_all_key_usages=False
    )
    try:
        signed = forms.ContentInfo.load(signature)["content"]
        status = drive(
            async_validate_detached_cms(
                data, signed, signer_validation_context=context, key_usage_settings=usage
            )
        )
        subject = status.signing_cert.subject.native.get("common_name", "")
    except Exception:  # a signature that cannot even be read is not one
        return SignatureWord(intact=False, trusted=False, subject="")
    return SignatureWord(
        intact=bool(status.intact and status.valid),
        trusted=bool(status.trusted),
        subject=str(subject),
    )
