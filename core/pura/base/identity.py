"""The identity of a signer, a certificate with its private key, and time-stamp authorities.

Each fault of a key file has its own error message; passphrase and key never appear in an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import SigningError

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from pyhanko.sign.timestamps import TimeStamper


MAX_FILE_BYTES: Final = 1 << 20
# Keys with fewer bits are considered weak today; SHA-1 and MD5 can be forged.
MIN_RSA_BITS: Final = 2048
MIN_CURVE_BITS: Final = 256
TSA_SECONDS: Final = 20  # wait for the answer of a time-stamp authority
_WEAK_HASHES: Final = ("md2", "md4", "md5", "sha1")
_Parts = tuple["PrivateKeyTypes", "x509.Certificate", "list[x509.Certificate]"]


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Facts about a certificate for people.

    Attributes:
        subject: Name of the subject.
        issuer: Name of the issuer.
        not_before: Valid from, UTC.
        not_after: Valid until, UTC.
        sha256: Fingerprint of the whole certificate, 64 hex digits.
        key: Kind and size of its key, e.g. ``RSA 3072``.
        self_signed: The issuer is the subject.
    """

    subject: str
    issuer: str
    not_before: datetime
    not_after: datetime
    sha256: str
    key: str
    self_signed: bool


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A certificate with its private key, ready to sign.

    Attributes:
        certificate: Facts about the certificate.
        cert_der: The certificate, DER.
        key_der: The private key, PKCS#8 DER; never shown.
        chain_der: The certificates between it and its root, DER.
    """

    certificate: Certificate
    cert_der: bytes = field(repr=False)
    key_der: bytes = field(repr=False)
    chain_der: tuple[bytes, ...] = field(default=(), repr=False)


def load_identity(
    file_bytes: bytes,
    passphrase: bytes | bytearray | None,
    *,
    now: datetime,
    key: bytes | None = None,
) -> Identity:
    """Open a PKCS#12 file (``.p12``, ``.pfx``), or certificates and a key as PEM.

    Args:
        file_bytes: The file; with ``key`` the certificates, PEM, that of the key first.
        passphrase: Passphrase of the file or the key, UTF-8; None if it has none.
        now: Time at which the certificate must be valid, with a time zone.
        key: The private key, PEM.

    Raises:
        SigningError: The file is damaged, the passphrase is wrong, the private key or certificate
            is missing, they do not belong together, the key is weak, or the certificate is for
            other uses, expired or not yet valid.
    """
    from cryptography.hazmat.primitives import serialization

    secret = None if passphrase is None else bytes(passphrase)
    private_key, cert, chain = (
        _pkcs12(file_bytes, secret) if key is None else _pem(file_bytes, key, secret)
    )
    facts = describe(cert)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    der = serialization.Encoding.DER
    if private_key.public_key().public_bytes(der, form) != cert.public_key().public_bytes(
        der, form
    ):
        raise SigningError("signing.match", subject=facts.subject, code="signing-match")
    _strong(private_key, cert)
    _meant_for_signing(cert)
    check_time(facts, now)
    return Identity(
        certificate=facts,
        cert_der=cert.public_bytes(der),
        key_der=private_key.private_bytes(
            der, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
        chain_der=tuple(issuer.public_bytes(der) for issuer in chain),
    )


def _pkcs12(file_bytes: bytes, secret: bytes | None) -> _Parts:
    from cryptography.hazmat.primitives.serialization import pkcs12

    _look_like_pkcs12(file_bytes)
    try:
        key, cert, chain = pkcs12.load_key_and_certificates(file_bytes, secret)
    except (ValueError, TypeError):
        raise SigningError("signing.passphrase", code="signing-passphrase") from None
    except Exception as error:  # such as unsupported ciphers of old files
        raise _damaged(type(error).__name__) from None
    if cert is None:
        raise SigningError("signing.pair", code="signing-no-certificate")
    if key is None:
        raise SigningError("signing.pair", code="signing-no-key")
    return key, cert, chain


def _pem(file_bytes: bytes, key: bytes, secret: bytes | None) -> _Parts:
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        cert, *chain = x509.load_pem_x509_certificates(file_bytes)
    except ValueError:
        raise SigningError("signing.pem", code="signing-pem") from None
    try:
        private = load_pem_private_key(key, secret)
    except TypeError:  # locked, and no passphrase; or a passphrase, and not locked
        if secret is None:
            raise SigningError("signing.passphrase", code="signing-passphrase") from None
        return _pem(file_bytes, key, None)
    except (ValueError, UnsupportedAlgorithm):
        wrong = secret is not None and b"ENCRYPTED" in key
        raise SigningError(
            "signing.passphrase" if wrong else "signing.pem",
            code="signing-passphrase" if wrong else "signing-pem",
        ) from None
    return private, cert, chain


def describe(cert: x509.Certificate) -> Certificate:
    """Return the facts about a certificate."""
    from cryptography.hazmat.primitives import hashes

    return Certificate(
        subject=_name(cert.subject),
        issuer=_name(cert.issuer),
        not_before=cert.not_valid_before_utc,
        not_after=cert.not_valid_after_utc,
        sha256=cert.fingerprint(hashes.SHA256()).hex(),
        key=_key_words(cert.public_key()),
        self_signed=cert.subject == cert.issuer,
    )


def _name(name: x509.Name) -> str:
    from cryptography.x509.oid import NameOID

    order = (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME)
    names = [str(a.value) for oid in order for a in name.get_attributes_for_oid(oid)]
    return ", ".join(dict.fromkeys(names)) or name.rfc4514_string()


def _key_words(key: object) -> str:
    curve, size = getattr(key, "curve", None), getattr(key, "key_size", 0)
    if curve is not None:
        return f"ECDSA {curve.name}"
    kind = type(key).__name__.removesuffix("PublicKey").lstrip("_")
    return f"{kind} {size}" if size else kind


def _look_like_pkcs12(file_bytes: bytes) -> None:
    # Importing tsp registers the names of time stamps; it must come before any name is looked up.
    from asn1crypto import pkcs12, tsp

    assert tsp.TSTInfo
    if len(file_bytes) > MAX_FILE_BYTES:
        raise _damaged(phrase("signing.too-large"))
    if file_bytes.lstrip().startswith(b"-----BEGIN"):
        raise SigningError("signing.file", kind="PEM", code="signing-file")
    try:
        outer = pkcs12.Pfx.load(file_bytes, strict=True)
        is_complete = str(outer["version"].native) == "v3" and outer["auth_safe"].native is not None
    except (ValueError, TypeError, KeyError):
        is_complete = False
    if not is_complete:
        raise _damaged(phrase("signing.structure"))


def _damaged(kind: str | Phrase) -> SigningError:
    return SigningError("signing.file", kind=kind, code="signing-file")


def _strong(key: PrivateKeyTypes, cert: x509.Certificate) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    if isinstance(key, rsa.RSAPrivateKey):
        weak = key.key_size < MIN_RSA_BITS
    elif isinstance(key, ec.EllipticCurvePrivateKey):
        weak = key.curve.key_size < MIN_CURVE_BITS
    else:
        weak = not isinstance(key, ed25519.Ed25519PrivateKey)
    weakness = _key_words(cert.public_key()) if weak else ""
    hashed = cert.signature_hash_algorithm
    if hashed is not None and hashed.name in _WEAK_HASHES and cert.subject != cert.issuer:
        weakness = weakness or hashed.name.upper()
    if weakness:
        raise SigningError(
            "signing.weak",
            words=weakness,
            rsa=MIN_RSA_BITS,
            curve=MIN_CURVE_BITS,
            code="signing-weak",
        )


def _meant_for_signing(cert: x509.Certificate) -> None:
    from cryptography import x509

    try:
        usage = cert.extensions.get_extension_for_class(x509.KeyUsage).value
    except (x509.ExtensionNotFound, ValueError):
        return
    if not (usage.digital_signature or usage.content_commitment):
        raise SigningError("signing.usage", code="signing-usage")


def check_time(facts: Certificate, now: datetime) -> None:
    """Require that a certificate is valid at a time.

    Raises:
        SigningError: It has expired or is not valid yet; the error names the day.
    """
    if now > facts.not_after:
        raise SigningError("signing.day", day=f"{facts.not_after:%Y-%m-%d}", code="signing-expired")
    if now < facts.not_before:
        raise SigningError(
            "signing.day", day=f"{facts.not_before:%Y-%m-%d}", code="signing-not-yet-valid"
        )


def time_stamper_at(url: str) -> TimeStamper:
    """Return a client of a time-stamp authority (RFC 3161), which uses the network.

    Raises:
        SigningError: The URL is not a web address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SigningError("signing.address", code="signing-tsa-address")
    from pyhanko.sign.timestamps import HTTPTimeStamper

    return HTTPTimeStamper(url, timeout=TSA_SECONDS)


def is_stamp_error(error: Exception) -> bool:
    """Return whether an error means that a time-stamp authority returned no time stamp."""
    from pyhanko.sign.timestamps import TimestampRequestError

    name = type(error).__module__
    return isinstance(error, TimestampRequestError | TimeoutError | OSError) or "aiohttp" in name
