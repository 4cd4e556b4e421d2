"""Certificates that sign themselves."""

from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


def self_signed(
    name: str,
    key: Any = None,
    *extensions: x509.ExtensionType,
    organisation: str = "",
    now: datetime | None = None,
    since: timedelta = -DAY,
    until: timedelta = 30 * DAY,
    critical: bool = True,
) -> tuple[Any, x509.Certificate]:
    """Return a key, of an elliptic curve unless one is given, and its certificate."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    now = now or datetime.now(UTC)
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    if organisation:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(parts))
        .issuer_name(x509.Name(parts))
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now + since)
        .not_valid_after(now + until)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=critical)
    hashed = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return key, builder.sign(key, hashed)


def packed(key: Any, certificate: x509.Certificate, passphrase: bytes | None = None) -> bytes:
    """Return both as a PKCS#12 file."""
    lock = (
        serialization.BestAvailableEncryption(passphrase)
        if passphrase
        else serialization.NoEncryption()
    )
    return pkcs12.serialize_key_and_certificates(b"x", key, certificate, None, lock)
