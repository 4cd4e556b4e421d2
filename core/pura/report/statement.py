"""Statements of a detector: what it answered, signed, so that it can be shown to others.

A statement is a JSON Web Signature (RFC 7515, compact) over the canonical JSON (RFC 8785) of the
whole answer as it was given: every value that the asker was shown, and of the record, which may be
long, the SHA-256 of its canonical JSON. Signed is with the detector's own Ed25519 key, which the
header names (``jwk``), or with the organisation's certificate (``x5c``). Either shows only that
nothing changed since: whose key it is has to be known from another source.

When one is checked, nothing of its file is believed but the signed bytes: what is shown comes from
them. Where the file holds the answer in readable form as well, each of its values has to be the
signed one; else the file is refused, with the places that differ.
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
"""Of version 0.3.0: neither places nor fields nor the explanation are signed."""
MEDIA: Final = "pura-statement+jws"
OWN: Final = "Ed25519"  # RFC 9864; the older name EdDSA left the curve open
ALGORITHMS: Final = (OWN, "ES256", "ES384", "ES512", "PS256")
_MAX_KEY_BYTES: Final = 1 << 14


def _signed() -> dict[str, Any]:
    """Return the shape of what is signed."""
    told = {f"{name}?" if row.later else name: row.shape for name, row in answer_values().items()}
    return {
        "schema": one_of(SCHEMA),
        **dict.fromkeys(("detector", "version", "role", "language"), str),
        "check": {
            "id": str,
            "status": Literal["done"],
            "answer": {**told, "record?": {"sha256": str}},
        },
    }


_FORMER: Final = {
    **dict.fromkeys(("schema", "detector", "version", "role", "created", "sha256"), str),
    **dict.fromkeys(("verdict", "strength", "supports", "policy", "policy_name"), str),
    "headline": {"key": str, "values": dict[str, Any]},
}


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a detector states, as it is shown.

    Attributes:
        schema: :data:`SCHEMA` or :data:`FORMER`.
        detector: What the detector calls itself.
        version: Of the program.
        role: Of whoever asked.
        language: Of the words of the answer.
        id: Of the check; empty in the former form.
        answer: The answer by the names of :func:`~pura.record.answers.answer_values`; the former
            form has no meaning and no marks.
        record: SHA-256 of the canonical JSON of the record; empty where none was given.
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
    def of(cls, content: object) -> Statement:
        """Return what is shown of what was signed.

        Raises:
            ValueError: It is no statement of a form that is known.
        """
        if not isinstance(content, dict):
            raise ValueError("content")
        if content.get("schema") == FORMER:
            content = _upgraded(content)
        else:
            hold(_signed(), content)
        check = content["check"]
        answer = {name: value for name, value in check["answer"].items() if name != "record"}
        record = check["answer"].get("record", {"sha256": ""})["sha256"]
        about = {name: value for name, value in content.items() if name != "check"}
        return cls(**about, id=check["id"], answer=answer, record=record)

    def lines(self, language: str = "en") -> list[tuple[str, str]]:
        """Return what it says, each with its name, as people read it.

        Args:
            language: Of the names; what was signed stands in the language of the answer.
        """
        words = catalogue("report-check")
        own = self.language if self.language in LANGUAGES else "en"
        said = [
            (findings().fill(f"value.{name}", language, {}), value)
            for name, row in answer_values().items()
            if row.shown is not None and name in self.answer
            if (value := row.shown(self.answer[name], self.answer, own))
        ]

        def add(key: str, value: str, **blanks: int) -> None:
            if value:
                said.append((words.fill(f"statement.{key}", language, blanks), value))

        for number, mark in enumerate(self.answer.get("marks", ()), 1):
            add("mark", _told(mark, language), n=number)
        known = self.role in tuple(Role)
        role = words.fill(f"statement.role-{self.role}", language, {}) if known else self.role
        add("detector", f"{self.detector} ({self.version})")
        add("role", role)
        add("check", self.id)
        add("record", self.record)
        return said

    def plain(self) -> dict[str, Any]:
        """Return it as JSON: the answer beside what is said of it."""
        about = {name: value for name, value in vars(self).items() if name != "answer"}
        policy = self.answer["policy"]
        return {
            **about,
            "meaning": "",
            "marks": None,
            "manifests": None,
            "layers": "",
            **self.answer,
            "policy": policy["sha256"],
            "policy_name": f"{policy['name']} {policy['version']}",
        }


def _upgraded(former: dict[str, Any]) -> dict[str, Any]:
    """Return what version 0.3.0 signed in the present form.

    Raises:
        ValueError: It is none.
    """
    hold(_FORMER, former)
    try:
        headline = fill(Sentence(**former["headline"]), "en")
    except RecordError:  # of a version with other words
        headline = former["verdict"]
    name, _, version = former["policy_name"].rpartition(" ")
    about = {one: former[one] for one in ("schema", "detector", "version", "role")}
    answer = {one: former[one] for one in answer_values() if one in former}
    policy = {"name": name, "version": version, "sha256": former["policy"]}
    answer |= {"headline": headline, "policy": policy}
    return about | {"language": "en", "check": {"id": "", "status": "done", "answer": answer}}


def _told(mark: dict[str, Any], language: str) -> str:
    """Return a mark in words: its fields, and where it stands, counted from 1."""
    words = catalogue("report-check")
    fields = (f"{name}: {value}" for name, value in mark["fields"].items())
    places = (
        words.fill("statement.place", language, {"a": place["start"] + 1, "b": place["end"]})
        for place in mark["places"]
    )
    return "; ".join((*fields, *places))


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
            raise ServeError("serve.secret", name=path.name)
        public = OKPKey.import_key(data).as_dict(private=False)
        return cls(header={"alg": OWN, "jwk": public}, private=data)

    @classmethod
    def of_identity(cls, identity: Identity) -> StatementKey:
        """Take the key of a certificate."""
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519
        from cryptography.hazmat.primitives.serialization import load_der_private_key

        key = load_der_private_key(identity.key_der, None)
        if isinstance(key, ed25519.Ed25519PrivateKey):
            algorithm = OWN
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

    def sign(self, content: Mapping[str, object]) -> str:
        """Return a signed statement.

        Args:
            content: What is stated; see :class:`Statement`.

        Raises:
            ValueError: Nobody could read that as a statement.
        """
        from joserfc import jws

        Statement.of(dict(content))
        header = {"typ": MEDIA, **self.header}
        key = joserfc_key(self.private, str(header["alg"]))
        made: str = jws.serialize_compact(
            header, canonical(content), key, algorithms=list(ALGORITHMS)
        )
        return made


def joserfc_key(der: bytes, algorithm: str) -> Any:
    """Return a key, private or public, for the library that signs."""
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    kinds: dict[str, Any] = {OWN: OKPKey, "PS256": RSAKey}
    return kinds.get(algorithm, ECKey).import_key(der)


def _der(key: Any) -> bytes:
    from cryptography.hazmat.primitives import serialization

    none = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    made: bytes = key.private_bytes(serialization.Encoding.DER, form, none)
    return made


MAX_BYTES: Final = 4 << 20
MAX_FILE_BYTES: Final = 64 << 20
_MAX_HEADER_BYTES: Final = 64 << 10
_MOST_CERTIFICATES: Final = 10
_MOST_NAMED: Final = 8
_LONGEST_NAME: Final = 40
_PARTS: Final = 3


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
    def status(self) -> str:
        """What all of it comes to: ``amiss``, ``signed`` (by whom: not examined), ``trusted``."""
        if any(one.state == BAD for one in self.checks):
            return "amiss"
        known = any(one.name == "trust" and one.state == GOOD for one in self.checks)
        return "trusted" if known else "signed"

    def headline(self, language: str = "en") -> str:
        """What all of it comes to, in a sentence."""
        return catalogue("report-check").fill(f"statement.{self.status}", language, {})


Found: TypeAlias = tuple[str, dict[str, Any] | None, bool]
"""A signed statement; the check of which it is part, without it, as its file has it, or None where
the file holds the statement alone; and whether that is the whole check, not its answer alone."""


def find_statement(data: bytes) -> Found:
    """Return the statement in a file: by itself, or in an answer of the service.

    Raises:
        ReportFileError: There is none, or a name stands twice.
    """
    try:
        if data.lstrip()[:1] != b"{":
            return _known((data.decode("ascii").strip(), None, False))
        found = read_json(data)
    except TwiceError as error:
        twice = _name(str(error))
        raise ReportFileError("statement.twice", name=twice, code="statement-twice") from None
    except (ValueError, RecursionError):
        found = None
    whole = isinstance(found, dict) and isinstance(found.get("answer"), dict)
    answer = found["answer"] if whole else found
    if not isinstance(answer, dict) or not isinstance(answer.get("statement"), str):
        raise ReportFileError("statement.none", code="statement-file")
    beside = {name: value for name, value in answer.items() if name != "statement"}
    copy = {**found, "answer": beside} if whole else {"answer": beside}
    return _known((answer["statement"], copy, whole))


def _known(found: Found) -> Found:
    if found[0].count(".") != _PARTS - 1 or len(found[0]) > MAX_BYTES:
        raise ReportFileError("statement.none", code="statement-file")
    return found


def check_statement(
    found: Found, *, moment: datetime, trust: Trust | None = None, sha256: str = ""
) -> StatementCheck:
    """Check a statement; nothing is asked of anybody.

    Args:
        found: The signed statement and what stands beside it.
        moment: Now, with a zone.
        trust: Who is trusted; None: who signed is not examined.
        sha256: Of the bytes that it should be about; empty: that is not examined.
    """
    trust = trust or Trust()
    try:
        header, public, certificates = _signer(found[0])
        content, said = _said(found[0], str(header["alg"]), public)
    except Exception:  # libraries have many ways of not understanding what a stranger sends
        broken = point(BAD, "statement.broken", named="integrity")
        return StatementCheck(checks=(broken,))
    checks = [point(GOOD, "statement.intact", named="integrity")]
    checks += _compared(found, content)
    if certificates:
        facts = describe(certificates[0])
        checks.append(
            point(
                NOTICE if facts.self_signed else GOOD,
                "statement.certificate",
                named="signer",
                subject=facts.subject,
                issuer=facts.issuer,
                sha=facts.sha256,
            )
        )
        fingerprint, until = facts.sha256, facts.not_after
    else:
        fingerprint, until = hashlib.sha256(public).hexdigest(), None
        checks.append(point(GOOD, "statement.signer-key", named="signer", sha=fingerprint))
    checks.append(_trusted(trust, public, certificates, moment, until))
    if not sha256:
        checks.append(point(OPEN, "statement.no-text", named="text"))
    else:
        same = sha256 == said.answer["sha256"]
        key = "statement.text-same" if same else "statement.text-other"
        checks.append(point(GOOD if same else BAD, key, named="text"))
    return StatementCheck(checks=tuple(checks), statement=said, fingerprint=fingerprint)


def _compared(found: Found, content: dict[str, Any]) -> list[CheckedPoint]:
    """Hold what stands beside a statement against what was signed."""
    former = content["schema"] == FORMER
    _, copy, whole = found
    if copy is None:
        key = "statement.former"
        return [point(NOTICE, key, named="copy")] if former else []
    if former:
        return [point(BAD, "statement.copy-former", named="copy")]
    signed = content["check"] if whole else {"answer": content["check"]["answer"]}
    places = [*_different(signed, _with_digest(copy), "")]
    if not places:
        return [point(GOOD, "statement.copy-same", named="copy")]
    key = "statement.copy-more" if len(places) > _MOST_NAMED else "statement.copy-differs"
    named = ", ".join(places[:_MOST_NAMED])
    return [point(BAD, key, named="copy", count=len(places), places=named)]


def _with_digest(copy: dict[str, Any]) -> dict[str, Any]:
    """Return a copy with what stands for its record in what is signed."""
    answer = dict(copy["answer"])
    if "record" in answer:
        try:
            answer["record"] = digested(answer["record"])
        except ValueError:
            answer["record"] = None  # is never signed
    return {**copy, "answer": answer}


def _different(signed: Any, here: Any, place: str) -> Iterator[str]:
    """Yield the places where a copy is not what was signed."""
    if isinstance(signed, dict) and isinstance(here, dict):
        for name in [*signed, *(name for name in here if name not in signed)]:
            below = f"{place}.{_name(name)}".removeprefix(".")
            if name in signed and name in here:
                yield from _different(signed[name], here[name], below)
            else:
                yield below
    elif isinstance(signed, list) and isinstance(here, list) and len(signed) == len(here):
        for number, (one, other) in enumerate(zip(signed, here, strict=True)):
            yield from _different(one, other, f"{place}[{number}]")
    elif not _same(signed, here):
        yield place


def _same(signed: object, here: object) -> bool:
    try:
        return canonical(signed) == canonical(here)
    except ValueError:  # a number or sign that no canonical JSON holds
        return False


def _name(name: str) -> str:
    """Return a stranger's name so that it can be printed."""
    if re.fullmatch(r"[\w-]+", name, re.ASCII) is None:
        name = json.dumps(name)
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _decoded(part: str) -> bytes:
    """Return the bytes of a part; there is one way to write them.

    Raises:
        ValueError: It is written in another.
    """
    data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if base64.urlsafe_b64encode(data).rstrip(b"=").decode() != part:
        raise ValueError("base64url")
    return data


def _signer(statement: str) -> tuple[dict[str, Any], bytes, list[x509.Certificate]]:
    """Return header, public key (DER) and certificates, none of them believed yet."""
    from cryptography import x509
    from joserfc.jwk import OKPKey

    head, _, _ = (_decoded(part) for part in statement.split("."))
    header = read_json(head)
    if set(header) not in ({"alg", "typ", "jwk"}, {"alg", "typ", "x5c"}) or header["typ"] != MEDIA:
        raise ValueError("header")
    if "x5c" in header:
        chain = header["x5c"][:_MOST_CERTIFICATES]
        certificates = [x509.load_der_x509_certificate(base64.b64decode(one)) for one in chain]
        return header, _public_der(certificates[0].public_key()), certificates
    if header["alg"] != OWN or set(header["jwk"]) - {"kty", "crv", "x", "kid"}:
        raise ValueError("key")
    return header, _public_der(OKPKey.import_key(header["jwk"]).public_key), []


def _said(statement: str, algorithm: str, public: bytes) -> tuple[dict[str, Any], Statement]:
    """Return what was signed, and what is shown of it."""
    from joserfc import jws

    if algorithm not in ALGORITHMS:
        raise ValueError("algorithm")
    registry = jws.JWSRegistry(algorithms=list(ALGORITHMS))
    registry.max_header_length = _MAX_HEADER_BYTES  # certificates are longer than they allow
    registry.max_payload_length = MAX_BYTES
    key = joserfc_key(public, algorithm)
    signed = jws.deserialize_compact(statement, key, registry=registry).payload
    content = read_json(signed)
    return content, Statement.of(content)


def _trusted(
    trust: Trust,
    public: bytes,
    certificates: Sequence[x509.Certificate],
    moment: datetime,
    until: datetime | None,
) -> CheckedPoint:
    if not trust:
        return point(OPEN, "statement.trust-none", named="trust")
    if until is not None and moment > until:
        return point(BAD, "trust.expired", when=until.astimezone(UTC).isoformat())
    if public in trust.keys or _vouched(trust, certificates, moment):
        return point(GOOD, "statement.trust-good", named="trust")
    return point(BAD, "statement.trust-other", named="trust")


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
    return usage is None or bool(usage.native & USAGES)


def _public_der(key: Any) -> bytes:
    """Return a public key, SubjectPublicKeyInfo DER."""
    from cryptography.hazmat.primitives import serialization

    form = serialization.PublicFormat.SubjectPublicKeyInfo
    made: bytes = key.public_bytes(serialization.Encoding.DER, form)
    return made
