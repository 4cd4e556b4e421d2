"""Who signs: a certificate with its private key, read from a file; and who stamps the time.

Each thing that can be wrong with a key file is said for what it is; passphrase and key never reach
an error.
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
MIN_RSA_BITS: Final = 2048
MIN_CURVE_BITS: Final = 256
TSA_SECONDS: Final = 20
_WEAK_HASHES: Final = ("md2", "md4", "md5", "sha1")
_Parts = tuple["PrivateKeyTypes", "x509.Certificate", "list[x509.Certificate]"]


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What people need to know of a certificate.

    Attributes:
        subject: Whom it names.
        issuer: Who vouches for it.
        not_before: Valid from, UTC.
        not_after: Valid until, UTC.
        sha256: Fingerprint of the whole certificate, 64 hex digits.
        key: Kind and size of its key, e.g. ``RSA 3072``.
        self_signed: It vouches for itself.
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
        certificate: What it says.
        cert_der: The certificate, DER.
        key_der: The private key, PKCS#8 DER; never shown.
        chain_der: The certificates between it and its root, DER.
    """

    certificate: Certificate
    cert_der: bytes = field(repr=False)
    key_der: bytes = field(repr=False)
    chain_der: tuple[bytes, ...] = field(default=(), repr=False)


def load_identity(
    data: bytes,
    passphrase: bytes | bytearray | None,
    *,
    now: datetime,
    key: bytes | None = None,
) -> Identity:
    """Open a PKCS#12 file (``.p12``, ``.pfx``), or certificates and a key as PEM.

    Args:
        data: The file; with ``key`` the certificates, PEM, that of the key first.
        passphrase: Its passphrase, or that of the key, UTF-8; None when it has none.
        now: The time to hold the validity against, with a zone.
        key: The private key, PEM.

    Raises:
        SigningError: Damaged, wrong passphrase, no private key or certificate, a key of another
            certificate, a weak key, a certificate for other uses, expired or not yet valid.
    """
    from cryptography.hazmat.primitives import serialization

    secret = None if passphrase is None else bytes(passphrase)
    found, cert, others = _pkcs12(data, secret) if key is None else _pem(data, key, secret)
    facts = describe(cert)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    der = serialization.Encoding.DER
    if found.public_key().public_bytes(der, form) != cert.public_key().public_bytes(der, form):
        raise SigningError("signing.match", subject=facts.subject, code="signing-match")
    _strong(found, cert)
    _meant_for_signing(cert)
    check_time(facts, now)
    return Identity(
        certificate=facts,
        cert_der=cert.public_bytes(der),
        key_der=found.private_bytes(
            der, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
        chain_der=tuple(other.public_bytes(der) for other in others),
    )


def _pkcs12(data: bytes, secret: bytes | None) -> _Parts:
    from cryptography.hazmat.primitives.serialization import pkcs12

    _look_like_pkcs12(data)
    try:
        key, cert, others = pkcs12.load_key_and_certificates(data, secret)
    except (ValueError, TypeError):
        raise SigningError("signing.passphrase", code="signing-passphrase") from None
    except Exception as error:  # unsupported ciphers of old files; its words are not ours
        raise _damaged(type(error).__name__) from None
    if cert is None:
        raise SigningError("signing.pair", code="signing-no-certificate")
    if key is None:
        raise SigningError("signing.pair", code="signing-no-key")
    return key, cert, others


def _pem(data: bytes, key: bytes, secret: bytes | None) -> _Parts:
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        cert, *others = x509.load_pem_x509_certificates(data)
    except ValueError:
        raise SigningError("signing.pem", code="signing-pem") from None
    try:
        private = load_pem_private_key(key, secret)
    except TypeError:  # locked, and no passphrase; or a passphrase, and not locked
        if secret is None:
            raise SigningError("signing.passphrase", code="signing-passphrase") from None
        return _pem(data, key, None)
    except (ValueError, UnsupportedAlgorithm):
        wrong = secret is not None and b"ENCRYPTED" in key
        raise SigningError(
            "signing.passphrase" if wrong else "signing.pem",
            code="signing-passphrase" if wrong else "signing-pem",
        ) from None
    return private, cert, others


def describe(cert: x509.Certificate) -> Certificate:
    """Say what a certificate says."""
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
    found = [str(a.value) for oid in order for a in name.get_attributes_for_oid(oid)]
    return ", ".join(dict.fromkeys(found)) or name.rfc4514_string()


def _key_words(key: object) -> str:
    curve, size = getattr(key, "curve", None), getattr(key, "key_size", 0)
    if curve is not None:
        return f"ECDSA {curve.name}"
    kind = type(key).__name__.removesuffix("PublicKey").lstrip("_")
    return f"{kind} {size}" if size else kind


def _look_like_pkcs12(data: bytes) -> None:
    # The names of time stamps are learnt with tsp, and only before any name is looked up.
    from asn1crypto import pkcs12, tsp

    assert tsp.TSTInfo
    if len(data) > MAX_FILE_BYTES:
        raise _damaged(phrase("signing.too-large"))
    if data.lstrip().startswith(b"-----BEGIN"):
        raise SigningError("signing.file", kind="PEM", code="signing-file")
    try:
        outer = pkcs12.Pfx.load(data, strict=True)
        whole = str(outer["version"].native) == "v3" and outer["auth_safe"].native is not None
    except (ValueError, TypeError, KeyError):
        whole = False
    if not whole:
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
    words = _key_words(cert.public_key()) if weak else ""
    hashed = cert.signature_hash_algorithm
    if hashed is not None and hashed.name in _WEAK_HASHES and cert.subject != cert.issuer:
        words = words or hashed.name.upper()
    if words:
        raise SigningError(
            "signing.weak", words=words, rsa=MIN_RSA_BITS, curve=MIN_CURVE_BITS, code="signing-weak"
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
    """Refuse a certificate that is not valid yet, or not any more.

    Raises:
        SigningError: Names the day.
    """
    if now > facts.not_after:
        raise SigningError("signing.day", day=f"{facts.not_after:%Y-%m-%d}", code="signing-expired")
    if now < facts.not_before:
        raise SigningError(
            "signing.day", day=f"{facts.not_before:%Y-%m-%d}", code="signing-not-yet-valid"
        )


def time_stamper_at(url: str) -> TimeStamper:
    """Return a time-stamp authority (RFC 3161); it is asked over the network.

    Raises:
        SigningError: It is no address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SigningError("signing.address", code="signing-tsa-address")
    from pyhanko.sign.timestamps import HTTPTimeStamper

    return HTTPTimeStamper(url, timeout=TSA_SECONDS)


def is_stamp_error(error: Exception) -> bool:
    """Whether a time-stamp authority did not answer, or not with a time stamp."""
    from pyhanko.sign.timestamps import TimestampRequestError

    name = type(error).__module__
    return isinstance(error, TimestampRequestError | TimeoutError | OSError) or "aiohttp" in name
