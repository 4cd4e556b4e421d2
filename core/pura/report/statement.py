"""Statements of a detector: what it answered, signed, so that it can be shown to others.

A statement is a JSON Web Signature (RFC 7515, compact) over canonical JSON. Signed is with the
detector's own Ed25519 key, which the header names (``jwk``), or with the organisation's certificate
(``x5c``). Either shows only that nothing changed since: whose key it is has to be known from
elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pura.base.canonical import canonical
from pura.base.catalogue import catalogue
from pura.base.decoder import DecodeError, Decoder
from pura.base.errors import RecordError, ReportFileError, ServeError
from pura.base.files import read_bounded, write_atomic
from pura.base.strict import read_json
from pura.report.check.dissect import drive
from pura.report.check.judge import BAD, GOOD, NOTICE, OPEN, CheckedPoint
from pura.report.sign.identity import Identity, describe
from pura.words.sentence import Sentence
from pura.words.sentences import fill, findings

if TYPE_CHECKING:
    from cryptography import x509

SCHEMA: Final = "pura-statement/1"
MEDIA: Final = "pura-statement+jws"
MAX_BYTES: Final = 64 << 10
MAX_FILE_BYTES: Final = 64 << 20
_OWN: Final = "Ed25519"  # RFC 9864; the older name EdDSA left the curve open
_ALGORITHMS: Final = (_OWN, "ES256", "ES384", "ES512", "PS256")
_MOST_CERTIFICATES: Final = 10
_MAX_KEY_BYTES: Final = 1 << 14
_ROLES: Final = ("trusted", "internal")
_USAGES: Final = {"digital_signature", "non_repudiation"}
_DECODER: Final = Decoder()


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a detector states.

    Attributes:
        schema: :data:`SCHEMA`.
        detector: What the detector calls itself.
        version: Of the program.
        role: Of whoever asked.
        created: When the text was read, ISO 8601.
        sha256: Of the bytes that were asked about.
        verdict: The outcome.
        headline: The outcome in a few words.
        strength: The word of the verbal scale, English; empty where nothing was read.
        supports: What it supports: ``mark`` or ``no-mark``; empty where the strength is.
        policy: SHA-256 of the canonical JSON of the decision rule.
        policy_name: Its name and version.
    """

    schema: str = SCHEMA
    detector: str
    version: str
    role: str
    created: str
    sha256: str
    verdict: str
    headline: Sentence
    strength: str
    supports: str
    policy: str
    policy_name: str

    def words(self, language: str = "en") -> str:
        """Return the outcome in words; where this program has none for it, by its name."""
        try:
            return fill(self.headline, language)
        except RecordError:
            return self.verdict

    def lines(self, language: str = "en") -> list[tuple[str, str]]:
        """Return what it says, each with its name, as people read it."""
        values = {
            "verdict": self.words(language),
            "strength": self._strength(language),
            "sha": self.sha256,
            "created": self.created,
            "detector": f"{self.detector} ({self.version})",
            "policy": f"{self.policy_name}, SHA-256 {self.policy}",
            "role": catalogue("report-check").fill(f"statement.role-{self.role}", language, {})
            if self.role in _ROLES
            else self.role,
        }
        words = catalogue("report-check")
        named = [
            (words.fill(f"statement.{name}", language, {}), said) for name, said in values.items()
        ]
        return [(name, said) for name, said in named if said]

    def _strength(self, language: str) -> str:
        try:
            word = findings().retold("scale", self.strength, language)
            side = f"statement.for-{self.supports}"
            return catalogue("report-check").fill(side, language, {"word": word})
        except (KeyError, ValueError):
            return self.strength

    def plain(self, language: str = "en") -> dict[str, Any]:
        """Return it as JSON, with the outcome in words."""
        return {**asdict(self), "headline": self.words(language)}


@dataclass(frozen=True, kw_only=True)
class StatementKey:
    """What signs statements.

    Attributes:
        header: What the header of a statement says of it.
        private: The key, PKCS#8 DER; never shown.
    """

    header: dict[str, Any]
    private: bytes = field(repr=False)

    @classmethod
    def of(cls, path: Path) -> StatementKey:
        """Read the detector's own key; make it where there is none.

        Raises:
            ServeError: The file is damaged.
            OSError: It cannot be read or written.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_der_private_key
        from joserfc.jwk import OKPKey

        if not path.exists():
            write_atomic(path, _der(Ed25519PrivateKey.generate()), private=True)
        data = read_bounded(path, _MAX_KEY_BYTES, ServeError)
        try:
            key = load_der_private_key(data, None)
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise ServeError("statement.key", name=path.name)
        public = OKPKey.import_key(data).as_dict(private=False)
        return cls(header={"alg": _OWN, "jwk": public}, private=data)

    @classmethod
    def of_identity(cls, identity: Identity) -> StatementKey:
        """Take the key of a certificate."""
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519
        from cryptography.hazmat.primitives.serialization import load_der_private_key

        key = load_der_private_key(identity.key_der, None)
        if isinstance(key, ed25519.Ed25519PrivateKey):
            algorithm = _OWN
        elif isinstance(key, ec.EllipticCurvePrivateKey):
            algorithm = {256: "ES256", 384: "ES384", 521: "ES512"}.get(key.curve.key_size, "")
        else:
            algorithm = "PS256"
        if not algorithm or getattr(getattr(key, "curve", None), "name", "secp")[:4] != "secp":
            raise ServeError("statement.curve", name=identity.certificate.key)
        chain = [base64.b64encode(d).decode() for d in (identity.cert_der, *identity.chain_der)]
        return cls(header={"alg": algorithm, "x5c": chain}, private=identity.key_der)

    def public_pem(self) -> str:
        """Return the public key, PEM: what is published."""
        from cryptography.hazmat.primitives import serialization

        key = serialization.load_der_private_key(self.private, None).public_key()
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return key.public_bytes(serialization.Encoding.PEM, form).decode()

    def sign(self, statement: Statement) -> str:
        """Return a signed statement."""
        from joserfc import jws

        header = {"typ": MEDIA, **self.header}
        data = canonical(asdict(statement))
        key = _joserfc(self.private, str(header["alg"]))
        made: str = jws.serialize_compact(header, data, key, algorithms=list(_ALGORITHMS))
        return made


@dataclass(frozen=True, kw_only=True)
class Trust:
    """Whom somebody trusts.

    Attributes:
        certificates: DER.
        keys: Public keys, SubjectPublicKeyInfo DER.
    """

    certificates: tuple[bytes, ...] = ()
    keys: tuple[bytes, ...] = ()

    @classmethod
    def read(cls, data: bytes) -> Trust:
        """Read a file: certificates, PEM or DER, or one public key, PEM.

        Raises:
            ReportFileError: It holds neither.
        """
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        from pura.report.check import load_trust

        if b"-----BEGIN PUBLIC KEY" not in data:
            return cls(certificates=load_trust(data))
        try:
            return cls(keys=(_public_der(load_pem_public_key(data)),))
        except (ValueError, TypeError):
            raise ReportFileError("report.certificate", code="trust-file") from None

    def __add__(self, other: Trust) -> Trust:
        return Trust(
            certificates=self.certificates + other.certificates, keys=self.keys + other.keys
        )

    def __bool__(self) -> bool:
        return bool(self.certificates or self.keys)


@dataclass(frozen=True, kw_only=True)
class StatementCheck:
    """All checks of one statement.

    Attributes:
        checks: In the order in which they are read.
        statement: What it says; None where nobody signed that.
        fingerprint: SHA-256 of the key or certificate that signed, hexadecimal; empty for none.
    """

    checks: tuple[CheckedPoint, ...]
    statement: Statement | None = None
    fingerprint: str = ""

    @property
    def standing(self) -> str:
        """What all of it comes to: ``amiss``, ``signed`` (by whom: not examined), ``trusted``."""
        if any(one.state == BAD for one in self.checks):
            return "amiss"
        known = any(one.name == "trust" and one.state == GOOD for one in self.checks)
        return "trusted" if known else "signed"

    def headline(self, language: str = "en") -> str:
        """What all of it comes to, in a sentence."""
        return catalogue("report-check").fill(f"statement.{self.standing}", language, {})


def find_statement(data: bytes) -> str:
    """Return the statement in a file: by itself, or in an answer of the service.

    Raises:
        ReportFileError: There is none.
    """
    try:
        found = read_json(data) if data.lstrip()[:1] == b"{" else data.decode("ascii").strip()
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        answer = found.get("answer", found)
        found = answer.get("statement") if isinstance(answer, dict) else None
    if not isinstance(found, str) or found.count(".") != 2 or len(found) > MAX_BYTES:
        raise ReportFileError("statement.none", code="statement-file")
    return found


def check_statement(
    statement: str, *, moment: datetime, trust: Trust | None = None, sha256: str = ""
) -> StatementCheck:
    """Check a statement; nothing is asked of anybody.

    Args:
        statement: The signed statement.
        moment: Now, with a zone.
        trust: Who is trusted; None: who signed is not examined.
        sha256: Of the bytes that it should be about; empty: that is not examined.
    """
    trust = trust or Trust()
    try:
        header, public, certificates = _signer(statement)
        said = _said(statement, str(header["alg"]), public)
    except Exception:  # libraries have many ways of not understanding what a stranger sends
        broken = CheckedPoint(name="integrity", state=BAD, key="statement.broken")
        return StatementCheck(checks=(broken,))
    checks = [CheckedPoint(name="integrity", state=GOOD, key="statement.intact")]
    if certificates:
        facts = describe(certificates[0])
        checks.append(
            CheckedPoint(
                name="signer",
                state=NOTICE if facts.self_signed else GOOD,
                key="statement.certificate",
                values={"subject": facts.subject, "issuer": facts.issuer, "sha": facts.sha256},
            )
        )
        fingerprint, until = facts.sha256, facts.not_after
    else:
        fingerprint, until = hashlib.sha256(public).hexdigest(), None
        checks.append(
            CheckedPoint(
                name="signer", state=GOOD, key="statement.signer-key", values={"sha": fingerprint}
            )
        )
    checks.append(_trusted(trust, public, certificates, moment, until))
    if not sha256:
        checks.append(CheckedPoint(name="text", state=OPEN, key="statement.no-text"))
    else:
        same = sha256 == said.sha256
        key = "statement.text-same" if same else "statement.text-other"
        checks.append(CheckedPoint(name="text", state=GOOD if same else BAD, key=key))
    return StatementCheck(checks=tuple(checks), statement=said, fingerprint=fingerprint)


def _signer(statement: str) -> tuple[dict[str, Any], bytes, list[x509.Certificate]]:
    """Return header, public key (DER) and certificates, none of them believed yet."""
    from cryptography import x509
    from joserfc.jwk import OKPKey

    head = statement.partition(".")[0]
    header = read_json(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    if set(header) not in ({"alg", "typ", "jwk"}, {"alg", "typ", "x5c"}) or header["typ"] != MEDIA:
        raise ValueError("header")
    if "x5c" in header:
        chain = header["x5c"][:_MOST_CERTIFICATES]
        certificates = [x509.load_der_x509_certificate(base64.b64decode(one)) for one in chain]
        return header, _public_der(certificates[0].public_key()), certificates
    if header["alg"] != _OWN or set(header["jwk"]) - {"kty", "crv", "x", "kid"}:
        raise ValueError("key")
    return header, _public_der(OKPKey.import_key(header["jwk"]).public_key), []


def _said(statement: str, algorithm: str, public: bytes) -> Statement:
    from joserfc import jws

    if algorithm not in _ALGORITHMS:
        raise ValueError("algorithm")
    registry = jws.JWSRegistry(algorithms=list(_ALGORITHMS))
    registry.max_header_length = MAX_BYTES  # a header with certificates is longer than they allow
    found = jws.deserialize_compact(statement, _joserfc(public, algorithm), registry=registry)
    try:
        said = _DECODER.decode(Statement, read_json(found.payload))
    except (DecodeError, binascii.Error, json.JSONDecodeError):
        raise ValueError("content") from None
    if said.schema != SCHEMA:
        raise ValueError("schema")
    return said


def _joserfc(der: bytes, algorithm: str) -> Any:
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    kinds: dict[str, Any] = {_OWN: OKPKey, "PS256": RSAKey}
    return kinds.get(algorithm, ECKey).import_key(der)


def _trusted(
    trust: Trust,
    public: bytes,
    certificates: Sequence[x509.Certificate],
    moment: datetime,
    until: datetime | None,
) -> CheckedPoint:
    if not trust:
        return CheckedPoint(name="trust", state=OPEN, key="statement.trust-none")
    if until is not None and moment > until:
        values = {"when": until.astimezone(UTC).date().isoformat()}
        return CheckedPoint(name="trust", state=BAD, key="trust.expired", values=values)
    if public in trust.keys or _vouched(trust, certificates, moment):
        return CheckedPoint(name="trust", state=GOOD, key="statement.trust-good")
    return CheckedPoint(name="trust", state=BAD, key="statement.trust-other")


def _vouched(trust: Trust, certificates: Sequence[x509.Certificate], moment: datetime) -> bool:
    """Say whether a trusted certificate vouches for the first of these."""
    if not certificates or not trust.certificates:
        return False
    from asn1crypto import x509 as forms
    from cryptography.hazmat.primitives.serialization import Encoding
    from pyhanko_certvalidator import CertificateValidator, ValidationContext

    first, *others = (
        forms.Certificate.load(one.public_bytes(Encoding.DER)) for one in certificates
    )
    context = ValidationContext(
        trust_roots=[forms.Certificate.load(der) for der in trust.certificates],
        allow_fetching=False,
        moment=moment,
    )
    validator = CertificateValidator(first, list(others), validation_context=context)
    try:
        drive(validator.async_validate_path())
    except Exception:  # whatever keeps it from being vouched for
        return False
    usage = first.key_usage_value
    return usage is None or bool(usage.native & _USAGES)


def _der(key: Any) -> bytes:
    from cryptography.hazmat.primitives import serialization

    none = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    made: bytes = key.private_bytes(serialization.Encoding.DER, form, none)
    return made


def _public_der(key: Any) -> bytes:
    from cryptography.hazmat.primitives import serialization

    form = serialization.PublicFormat.SubjectPublicKeyInfo
    made: bytes = key.public_bytes(serialization.Encoding.DER, form)
    return made
