"""Certificates: some that sign themselves, and one with which C2PA lets manifests be signed."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)
CLAIM_SIGNING = "1.3.6.1.4.1.62558.2.1"  # the purpose by which C2PA knows who signs claims
EMAIL = "1.3.6.1.5.5.7.3.4"


def self_signed(
    name: str,
    key: Any = None,
    *extensions: x509.ExtensionType,
    organisation: str = "",
    now: datetime | None = None,
    since: timedelta = -DAY,
    until: timedelta = 30 * DAY,
    critical: bool = True,
    by: tuple[Any, x509.Certificate] | None = None,
) -> tuple[Any, x509.Certificate]:
    """Return a key, of an elliptic curve unless one is given, and its certificate.

    It signs itself, unless another's key and certificate are given.
    """
    key = key or ec.generate_private_key(ec.SECP256R1())
    now = now or datetime.now(UTC)
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    if organisation:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(parts))
        .issuer_name(by[1].subject if by else x509.Name(parts))
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now + since)
        .not_valid_after(now + until)
    )
    for extension in extensions:
        named = isinstance(extension, x509.AuthorityKeyIdentifier | x509.SubjectKeyIdentifier)
        builder = builder.add_extension(extension, critical=critical and not named)
    signer = by[0] if by else key
    hashed = None if isinstance(signer, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return key, builder.sign(signer, hashed)


def authority(name: str = "Test Root") -> tuple[Any, x509.Certificate]:
    """Return a certificate authority."""
    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    basic = x509.BasicConstraints(ca=True, path_length=None)
    return self_signed(name, None, basic, usage, organisation="Test", until=3650 * DAY)


def manifest_signer(
    by: tuple[Any, x509.Certificate],
    key: Any = None,
    *,
    purposes: Sequence[str] = (CLAIM_SIGNING, EMAIL),
    **more: Any,
) -> tuple[Any, x509.Certificate]:
    """Return a key and its certificate for signing manifests."""
    usage = x509.KeyUsage(True, False, False, False, False, False, False, False, False)
    named: list[x509.ExtensionType] = [x509.BasicConstraints(ca=False, path_length=None), usage]
    named.append(x509.AuthorityKeyIdentifier.from_issuer_public_key(by[0].public_key()))
    if purposes:
        named.append(x509.ExtendedKeyUsage([x509.ObjectIdentifier(one) for one in purposes]))
    return self_signed("Press Desk", key, *named, organisation="Test", by=by, **more)


def pem(*certificates: x509.Certificate) -> bytes:
    """Return certificates as PEM."""
    return b"".join(one.public_bytes(serialization.Encoding.PEM) for one in certificates)


def key_pem(key: Any, passphrase: bytes | None = None) -> bytes:
    """Return a private key as PEM."""
    form = serialization.PrivateFormat.PKCS8
    made: bytes = key.private_bytes(serialization.Encoding.PEM, form, _lock(passphrase))
    return made


def packed(key: Any, certificate: x509.Certificate, passphrase: bytes | None = None) -> bytes:
    """Return both as a PKCS#12 file."""
    return pkcs12.serialize_key_and_certificates(b"x", key, certificate, None, _lock(passphrase))


def _lock(passphrase: bytes | None) -> serialization.KeySerializationEncryption:
    if passphrase:
        return serialization.BestAvailableEncryption(passphrase)
    return serialization.NoEncryption()
