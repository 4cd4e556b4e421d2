"""Signed heads: a certificate vouches that the log had this many entries, ending so, at that time.

A chain by itself cannot show that its end was cut off. A signed head can, and so can one that was
printed in a report.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pura.base.canonical import canonical
from pura.base.errors import CaseLogError
from pura.caselog.entries import Draft, Entry
from pura.caselog.log import CaseLog, Head, Person
from pura.report.check.dissect import drive
from pura.report.sign.identity import Identity


@dataclass(frozen=True, kw_only=True)
class SignedHead:
    """What a signature says.

    Attributes:
        intact: The signature is of this head.
        trusted: A trusted certificate vouches for the signer.
        subject: Whom the certificate names.
    """

    intact: bool
    trusted: bool
    subject: str


def statement(head: Head) -> bytes:
    """Return the bytes that are signed."""
    return canonical({"log": head.log, "seq": head.seq, "hash": head.hash})


def parse_head(text: str, log: str) -> Head:
    """Read a head as reports print it: number, colon, hash.

    Raises:
        CaseLogError: It is not such a thing.
    """
    # Copied from a PDF, a long number carries blanks and marks of where it may be broken.
    seq, _, digest = re.sub(r"[\s\u00ad\u200b\u2060\ufffe]", "", text).lower().partition(":")
    if not seq.isdecimal() or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise CaseLogError("caselog.head", code="case-log-head")
    return Head(log=log, seq=int(seq), hash=digest)


def sign_head(
    log: CaseLog, identity: Identity, actor: Person, *, role: str = "authoriser"
) -> Entry:
    """Sign the log's head with the organisation's certificate; an entry of its own says so.

    Raises:
        CaseLogError: The log cannot be written.
    """
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
    with log.writing() as writer:
        head = log.head()
        digest = "sha512" if identity.certificate.key == "Ed25519" else "sha256"
        cms = asyncio.run(signer.async_sign_general_data(statement(head), digest)).dump()
        mark = hashlib.sha256(cms).hexdigest()
        writer.sign(mark, cms)
        return writer.append(
            Draft(
                action="head-signed",
                actor=actor.id,
                role=role,
                signature=mark,
                facts={
                    "seq": head.seq,
                    "hash": head.hash,
                    "certificate": identity.certificate.sha256,
                },
            )
        )


def check_signature(cms: bytes, head: Head, trust: Sequence[bytes], moment: datetime) -> SignedHead:
    """Check the signature of a head.

    Args:
        cms: The signature, DER.
        head: What it should be of.
        trust: Trusted certificates, DER.
        moment: The time to hold certificates against.
    """
    from asn1crypto import cms as forms
    from asn1crypto import x509
    from pyhanko.sign.validation.generic_cms import async_validate_detached_cms
    from pyhanko.sign.validation.settings import KeyUsageConstraints
    from pyhanko_certvalidator import ValidationContext

    context = ValidationContext(
        trust_roots=[x509.Certificate.load(der) for der in trust],
        allow_fetching=False,
        moment=moment,
    )
    usage = KeyUsageConstraints(
        key_usage={"digital_signature", "non_repudiation"}, match_all_key_usages=False
    )
    try:
        signed = forms.ContentInfo.load(cms)["content"]
        status = drive(
            async_validate_detached_cms(
                statement(head),
                signed,
                signer_validation_context=context,
                key_usage_settings=usage,
            )
        )
        subject = status.signing_cert.subject.native.get("common_name", "")
    except Exception:  # a signature that cannot even be read is not one
        return SignedHead(intact=False, trusted=False, subject="")
    return SignedHead(
        intact=bool(status.intact and status.valid),
        trusted=bool(status.trusted),
        subject=str(subject),
    )
