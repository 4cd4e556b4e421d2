"""Statements of a detector: signed answers that can be shown to third parties.

A statement is a JSON Web Signature (RFC 7515, compact) over the canonical JSON (RFC 8785) of the
complete answer: every value that was returned and, because the record may be long, the SHA-256 of
its canonical JSON. It is signed with the detector's own Ed25519 key, which the header names
(``jwk``), or with the organisation's certificate (``x5c``). Either shows only that nothing changed
since; the owner of the key has to be known from another source.

A check trusts only the signed bytes of the file: the values shown come from them. If the file also
holds the answer in readable form, each of its values must equal the signed one. Otherwise the file
is refused, and the differences are listed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pura.base.catalogue import catalogue
from pura.base.decoder import hold, one_of
from pura.base.errors import RecordError, ReportFileError, ServeError
from pura.base.files import read_bounded, write_atomic
from pura.base.identity import Identity, describe
from pura.base.json_text import TwiceError, canonical, read_json
from pura.base.numerals import LANGUAGES
from pura.record.answers import Role, answer_values, digested
from pura.report.check import BAD, GOOD, NOTICE, OPEN, CheckedPoint, load_trust, point
from pura.report.signing import USAGES, drive
from pura.words.sentences import Sentence, fill, findings

if TYPE_CHECKING:
    from cryptography import x509


SCHEMA: Final = "pura-statement/2"
FORMER: Final = "pura-statement/1"
"""Schema of version 0.3.0, which signs neither passages nor fields nor the explanation."""
MEDIA: Final = "pura-statement+jws"
OWN_ALGORITHM: Final = "Ed25519"  # RFC 9864; the older name EdDSA left the curve open
ALGORITHMS: Final = (OWN_ALGORITHM, "ES256", "ES384", "ES512", "PS256")
_MAX_KEY_BYTES: Final = 1 << 14


def _signed_shape() -> dict[str, Any]:
    """Return the shape of a signed document."""
    answer_shape = {
        f"{name}?" if row.later else name: row.shape for name, row in answer_values().items()
    }
    return {
        "schema": one_of(SCHEMA),
        **dict.fromkeys(("detector", "version", "role", "language"), str),
        "check": {
            "id": str,
            "status": Literal["done"],
            "answer": {**answer_shape, "record?": {"sha256": str}},
        },
    }


_FORMER: Final = {
    **dict.fromkeys(("schema", "detector", "version", "role", "created", "sha256"), str),
    **dict.fromkeys(("verdict", "strength", "supports", "policy", "policy_name"), str),
    "headline": {"key": str, "values": dict[str, Any]},
}


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement of a detector, ready to be shown.

    Attributes:
        schema: :data:`SCHEMA` or :data:`FORMER`.
        detector: Name of the detector.
        version: Version of the program.
        role: Role of the client who requested the check.
        language: Language of the answer.
        id: Identifier of the check; empty in the former schema.
        answer: The answer by the names of :func:`~pura.record.answers.answer_values`; the former
            schema has no meaning and no marks.
        record: SHA-256 of the canonical JSON of the record; empty without a record.
    """

    schema: str
    detector: str
    version: str
    role: str
    language: str
    id: str
    answer: dict[str, Any]
    record: str

    @classmethod
    def of(cls, document: object) -> Statement:
        """Return the statement in a signed document.

        Raises:
            ValueError: The document is not a statement of a supported schema.
        """
        if not isinstance(document, dict):
            raise ValueError("content")
        if document.get("schema") == FORMER:
            document = _upgraded(document)
        else:
            hold(_signed_shape(), document)
        check = document["check"]
        answer = {name: value for name, value in check["answer"].items() if name != "record"}
        record = check["answer"].get("record", {"sha256": ""})["sha256"]
        header = {name: value for name, value in document.items() if name != "check"}
        return cls(**header, id=check["id"], answer=answer, record=record)

    def lines(self, language: str = "en") -> list[tuple[str, str]]:
        """Return the names and values of the statement for people.

        Args:
            language: Language of the names; signed values stay in the language of the answer.
        """
        texts = catalogue("report-check")
        answer_language = self.language if self.language in LANGUAGES else "en"
        lines = [
            (findings().fill(f"value.{name}", language, {}), value)
            for name, row in answer_values().items()
            if row.shown is not None and name in self.answer
            if (value := row.shown(self.answer[name], self.answer, answer_language))
        ]

        def add(key: str, value: str, **blanks: int) -> None:
            if value:
                lines.append((texts.fill(f"statement.{key}", language, blanks), value))

        for number, mark in enumerate(self.answer.get("marks", ()), 1):
            add("mark", _mark_text(mark, language), n=number)
        role_known = self.role in tuple(Role)
        role = texts.fill(f"statement.role-{self.role}", language, {}) if role_known else self.role
        add("detector", f"{self.detector} ({self.version})")
        add("role", role)
        add("check", self.id)
        add("record", self.record)
        return lines

    def plain(self) -> dict[str, Any]:
        """Return the statement as JSON: the answer, and the facts about it."""
        facts = {name: value for name, value in vars(self).items() if name != "answer"}
        policy = self.answer["policy"]
        return {
            **facts,
            "meaning": "",
            "marks": None,
            "manifests": None,
            "layers": "",
            **self.answer,
            "policy": policy["sha256"],
            "policy_name": f"{policy['name']} {policy['version']}",
        }


def _upgraded(former: dict[str, Any]) -> dict[str, Any]:
    """Convert a document that version 0.3.0 signed to the present schema.

    Raises:
        ValueError: The document does not have the former schema.
    """
    hold(_FORMER, former)
    try:
        headline = fill(Sentence(**former["headline"]), "en")
    except RecordError:  # of a version with other messages
        headline = former["verdict"]
    name, _, version = former["policy_name"].rpartition(" ")
    header = {key: former[key] for key in ("schema", "detector", "version", "role")}
    answer = {key: former[key] for key in answer_values() if key in former}
    policy = {"name": name, "version": version, "sha256": former["policy"]}
    answer |= {"headline": headline, "policy": policy}
    return header | {"language": "en", "check": {"id": "", "status": "done", "answer": answer}}


def _mark_text(mark: dict[str, Any], language: str) -> str:
    """Return a description of a mark: its fields and its passages, counted from 1."""
    texts = catalogue("report-check")
    fields = (f"{name}: {value}" for name, value in mark["fields"].items())
    passages = (
        texts.fill("statement.place", language, {"a": passage["start"] + 1, "b": passage["end"]})
        for passage in mark["places"]
    )
    return "; ".join((*fields, *passages))


@dataclass(frozen=True, kw_only=True)
class StatementKey:
    """A key that signs statements.

    Attributes:
        header: Header of the statements: algorithm, and public key or certificates.
        private: The private key, PKCS#8 DER; never shown.
    """

    header: dict[str, Any]
    private: bytes = field(repr=False)

    @classmethod
    def of(cls, path: Path) -> StatementKey:
        """Read the detector's own key; create it if there is none.

        Raises:
            ServeError: The file is damaged.
            OSError: The file cannot be read or written.
        """
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_der_private_key
        from joserfc.jwk import OKPKey

        if not path.exists():
            write_atomic(path, _der(Ed25519PrivateKey.generate()), private=True)
        der = read_bounded(path, _MAX_KEY_BYTES, ServeError)
        try:
            key = load_der_private_key(der, None)
        except (ValueError, TypeError):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise ServeError("serve.secret", name=path.name)
        public = OKPKey.import_key(der).as_dict(private=False)
        return cls(header={"alg": OWN_ALGORITHM, "jwk": public}, private=der)

    @classmethod
    def of_identity(cls, identity: Identity) -> StatementKey:
        """Return the signing key of an identity, with its certificates."""
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519
        from cryptography.hazmat.primitives.serialization import load_der_private_key

        key = load_der_private_key(identity.key_der, None)
        if isinstance(key, ed25519.Ed25519PrivateKey):
            algorithm = OWN_ALGORITHM
        elif isinstance(key, ec.EllipticCurvePrivateKey):
            algorithm = {256: "ES256", 384: "ES384", 521: "ES512"}.get(key.curve.key_size, "")
        else:
            algorithm = "PS256"
        if not algorithm or getattr(getattr(key, "curve", None), "name", "secp")[:4] != "secp":
            raise ServeError("statement.curve", name=identity.certificate.key)
        chain = [base64.b64encode(d).decode() for d in (identity.cert_der, *identity.chain_der)]
        return cls(header={"alg": algorithm, "x5c": chain}, private=identity.key_der)

    def public_pem(self) -> str:
        """Return the public key as PEM, for publication."""
        from cryptography.hazmat.primitives import serialization

        key = serialization.load_der_private_key(self.private, None).public_key()
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return key.public_bytes(serialization.Encoding.PEM, form).decode()

    def sign(self, document: Mapping[str, object]) -> str:
        """Return a signed statement.

        Args:
            document: Content of the statement; see :class:`Statement`.

        Raises:
            ValueError: The document is not a valid statement.
        """
        from joserfc import jws

        Statement.of(dict(document))
        header = {"typ": MEDIA, **self.header}
        key = joserfc_key(self.private, str(header["alg"]))
        statement: str = jws.serialize_compact(
            header, canonical(document), key, algorithms=list(ALGORITHMS)
        )
        return statement


def joserfc_key(der: bytes, algorithm: str) -> Any:
    """Convert a private or public key, DER, for the signing library."""
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    kinds: dict[str, Any] = {OWN_ALGORITHM: OKPKey, "PS256": RSAKey}
    return kinds.get(algorithm, ECKey).import_key(der)


def _der(key: Any) -> bytes:
    from cryptography.hazmat.primitives import serialization

    encryption = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    der: bytes = key.private_bytes(serialization.Encoding.DER, form, encryption)
    return der


MAX_BYTES: Final = 4 << 20
MAX_FILE_BYTES: Final = 64 << 20
_MAX_HEADER_BYTES: Final = 64 << 10
_MOST_CERTIFICATES: Final = 10
_MOST_NAMED: Final = 8
_LONGEST_NAME: Final = 40
_PARTS: Final = 3


@dataclass(frozen=True, kw_only=True)
class Trust:
    """Trusted certificates and keys.

    Attributes:
        certificates: Certificates, DER.
        keys: Public keys, SubjectPublicKeyInfo DER.
    """

    certificates: tuple[bytes, ...] = ()
    keys: tuple[bytes, ...] = ()

    @classmethod
    def read(cls, file_bytes: bytes) -> Trust:
        """Read a file: certificates, PEM or DER, or one public key, PEM.

        Raises:
            ReportFileError: The file holds neither.
        """
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        if b"-----BEGIN PUBLIC KEY" not in file_bytes:
            return cls(certificates=load_trust(file_bytes))
        try:
            return cls(keys=(_public_der(load_pem_public_key(file_bytes)),))
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
        checks: Results of the checks, in reading order.
        statement: The signed statement; None if the signature is invalid.
        fingerprint: SHA-256 of the key or certificate that signed, hexadecimal; empty for none.
    """

    checks: tuple[CheckedPoint, ...]
    statement: Statement | None = None
    fingerprint: str = ""

    @property
    def status(self) -> str:
        """The overall result: ``amiss``, ``signed`` (the signer was not examined), ``trusted``."""
        if any(check.state == BAD for check in self.checks):
            return "amiss"
        trusted = any(check.name == "trust" and check.state == GOOD for check in self.checks)
        return "trusted" if trusted else "signed"

    def headline(self, language: str = "en") -> str:
        """Return the overall result as a sentence."""
        return catalogue("report-check").fill(f"statement.{self.status}", language, {})


StatementParts: TypeAlias = tuple[str, dict[str, Any] | None, bool]
"""Three parts of a file: the signed statement; the readable check without the statement, or None if
the file holds only the statement; and whether that is the complete check, not just its answer."""


def find_statement(file_bytes: bytes) -> StatementParts:
    """Return the statement in a file, which holds it alone or inside an answer of the service.

    Raises:
        ReportFileError: There is no statement, or a name appears more than once.
    """
    try:
        if file_bytes.lstrip()[:1] != b"{":
            return _checked_parts((file_bytes.decode("ascii").strip(), None, False))
        document = read_json(file_bytes)
    except TwiceError as error:
        twice = _name(str(error))
        raise ReportFileError("statement.twice", name=twice, code="statement-twice") from None
    except (ValueError, RecursionError):
        document = None
    is_check = isinstance(document, dict) and isinstance(document.get("answer"), dict)
    answer = document["answer"] if is_check else document
    if not isinstance(answer, dict) or not isinstance(answer.get("statement"), str):
        raise ReportFileError("statement.none", code="statement-file")
    readable = {name: value for name, value in answer.items() if name != "statement"}
    copy = {**document, "answer": readable} if is_check else {"answer": readable}
    return _checked_parts((answer["statement"], copy, is_check))


def _checked_parts(parts: StatementParts) -> StatementParts:
    if parts[0].count(".") != _PARTS - 1 or len(parts[0]) > MAX_BYTES:
        raise ReportFileError("statement.none", code="statement-file")
    return parts


def check_statement(
    parts: StatementParts, *, moment: datetime, trust: Trust | None = None, sha256: str = ""
) -> StatementCheck:
    """Check a statement offline.

    Args:
        parts: The signed statement and the readable answer.
        moment: The present time, with a time zone.
        trust: Trusted certificates and keys; None does not examine the signer.
        sha256: SHA-256 of the text that the statement should describe; empty does not examine it.
    """
    trust = trust or Trust()
    try:
        header, public, certificates = _signer(parts[0])
        document, statement = _verified(parts[0], str(header["alg"]), public)
    except Exception:  # libraries have many ways of not understanding what a stranger sends
        broken = point(BAD, "statement.broken", check_name="integrity")
        return StatementCheck(checks=(broken,))
    checks = [point(GOOD, "statement.intact", check_name="integrity")]
    checks += _compared(parts, document)
    if certificates:
        facts = describe(certificates[0])
        checks.append(
            point(
                NOTICE if facts.self_signed else GOOD,
                "statement.certificate",
                check_name="signer",
                subject=facts.subject,
                issuer=facts.issuer,
                sha=facts.sha256,
            )
        )
        fingerprint, until = facts.sha256, facts.not_after
    else:
        fingerprint, until = hashlib.sha256(public).hexdigest(), None
        checks.append(point(GOOD, "statement.signer-key", check_name="signer", sha=fingerprint))
    checks.append(_trusted(trust, public, certificates, moment, until))
    if not sha256:
        checks.append(point(OPEN, "statement.no-text", check_name="text"))
    else:
        same = sha256 == statement.answer["sha256"]
        key = "statement.text-same" if same else "statement.text-other"
        checks.append(point(GOOD if same else BAD, key, check_name="text"))
    return StatementCheck(checks=tuple(checks), statement=statement, fingerprint=fingerprint)


def _compared(parts: StatementParts, document: dict[str, Any]) -> list[CheckedPoint]:
    """Compare the readable answer with the signed one."""
    former = document["schema"] == FORMER
    _, copy, is_check = parts
    if copy is None:
        key = "statement.former"
        return [point(NOTICE, key, check_name="copy")] if former else []
    if former:
        return [point(BAD, "statement.copy-former", check_name="copy")]
    signed = document["check"] if is_check else {"answer": document["check"]["answer"]}
    differences = [*_different(signed, _with_digest(copy), "")]
    if not differences:
        return [point(GOOD, "statement.copy-same", check_name="copy")]
    key = "statement.copy-more" if len(differences) > _MOST_NAMED else "statement.copy-differs"
    listed = ", ".join(differences[:_MOST_NAMED])
    return [point(BAD, key, check_name="copy", count=len(differences), places=listed)]


def _with_digest(copy: dict[str, Any]) -> dict[str, Any]:
    """Replace the record of a readable answer by its digest, as in the signed answer."""
    answer = dict(copy["answer"])
    if "record" in answer:
        try:
            answer["record"] = digested(answer["record"])
        except ValueError:
            answer["record"] = None  # is never signed
    return {**copy, "answer": answer}


def _different(signed: Any, copy: Any, path: str) -> Iterator[str]:
    """Yield the paths at which a copy differs from the signed value."""
    if isinstance(signed, dict) and isinstance(copy, dict):
        for name in [*signed, *(name for name in copy if name not in signed)]:
            below = f"{path}.{_name(name)}".removeprefix(".")
            if name in signed and name in copy:
                yield from _different(signed[name], copy[name], below)
            else:
                yield below
    elif isinstance(signed, list) and isinstance(copy, list) and len(signed) == len(copy):
        for number, (signed_value, copied_value) in enumerate(zip(signed, copy, strict=True)):
            yield from _different(signed_value, copied_value, f"{path}[{number}]")
    elif not _same(signed, copy):
        yield path


def _same(signed: object, copy: object) -> bool:
    try:
        return canonical(signed) == canonical(copy)
    except ValueError:  # a number or character that canonical JSON cannot hold
        return False


def _name(name: str) -> str:
    """Return a name from the file in a form that is safe to print."""
    if re.fullmatch(r"[\w-]+", name, re.ASCII) is None:
        name = json.dumps(name)
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _decoded(part: str) -> bytes:
    """Decode a part of a signature, in canonical base64url.

    Raises:
        ValueError: The part is not canonical.
    """
    decoded = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if base64.urlsafe_b64encode(decoded).rstrip(b"=").decode() != part:
        raise ValueError("base64url")
    return decoded


def _signer(statement: str) -> tuple[dict[str, Any], bytes, list[x509.Certificate]]:
    """Return header, public key (DER) and certificates, none of them verified yet."""
    from cryptography import x509
    from joserfc.jwk import OKPKey

    head, _, _ = (_decoded(part) for part in statement.split("."))
    header = read_json(head)
    if set(header) not in ({"alg", "typ", "jwk"}, {"alg", "typ", "x5c"}) or header["typ"] != MEDIA:
        raise ValueError("header")
    if "x5c" in header:
        chain = header["x5c"][:_MOST_CERTIFICATES]
        certificates = [
            x509.load_der_x509_certificate(base64.b64decode(encoded)) for encoded in chain
        ]
        return header, _public_der(certificates[0].public_key()), certificates
    if header["alg"] != OWN_ALGORITHM or set(header["jwk"]) - {"kty", "crv", "x", "kid"}:
        raise ValueError("key")
    return header, _public_der(OKPKey.import_key(header["jwk"]).public_key), []


def _verified(statement: str, algorithm: str, public: bytes) -> tuple[dict[str, Any], Statement]:
    """Verify the signature; return the signed document and its statement."""
    from joserfc import jws

    if algorithm not in ALGORITHMS:
        raise ValueError("algorithm")
    registry = jws.JWSRegistry(algorithms=list(ALGORITHMS))
    registry.max_header_length = _MAX_HEADER_BYTES  # certificates are longer than they allow
    registry.max_payload_length = MAX_BYTES
    key = joserfc_key(public, algorithm)
    signed = jws.deserialize_compact(statement, key, registry=registry).payload
    document = read_json(signed)
    return document, Statement.of(document)


def _trusted(
    trust: Trust,
    public: bytes,
    certificates: Sequence[x509.Certificate],
    moment: datetime,
    until: datetime | None,
) -> CheckedPoint:
    if not trust:
        return point(OPEN, "statement.trust-none", check_name="trust")
    if until is not None and moment > until:
        return point(BAD, "trust.expired", when=until.astimezone(UTC).isoformat())
    if public in trust.keys or _vouched(trust, certificates, moment):
        return point(GOOD, "statement.trust-good", check_name="trust")
    return point(BAD, "statement.trust-other", check_name="trust")


def _vouched(trust: Trust, certificates: Sequence[x509.Certificate], moment: datetime) -> bool:
    """Return whether a trusted certificate vouches for the first of these certificates."""
    if not certificates or not trust.certificates:
        return False
    from asn1crypto import x509 as forms
    from cryptography.hazmat.primitives.serialization import Encoding
    from pyhanko_certvalidator import CertificateValidator, ValidationContext

    first, *intermediates = (
        forms.Certificate.load(certificate.public_bytes(Encoding.DER))
        for certificate in certificates
    )
    context = ValidationContext(
        trust_roots=[forms.Certificate.load(der) for der in trust.certificates],
        allow_fetching=False,
        moment=moment,
    )
    validator = CertificateValidator(first, list(intermediates), validation_context=context)
    try:
        drive(validator.async_validate_path())
    except Exception:  # the library raises various errors for an untrusted chain
        return False
    usage = first.key_usage_value
    return usage is None or bool(usage.native & USAGES)


def _public_der(key: Any) -> bytes:
    """Return a public key, SubjectPublicKeyInfo DER."""
    from cryptography.hazmat.primitives import serialization

    form = serialization.PublicFormat.SubjectPublicKeyInfo
    der: bytes = key.public_bytes(serialization.Encoding.DER, form)
    return der
