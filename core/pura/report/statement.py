"""Statements of a detector: what it answered, signed, so that it can be shown to others.

A statement is a JSON Web Signature (RFC 7515, compact) over the canonical JSON (RFC 8785) of the
whole answer as it was given: every value that the asker was shown, and of the record, which may be
long, the SHA-256 of its canonical JSON. Signed is with the detector's own Ed25519 key, which the
header names (``jwk``), or with the organisation's certificate (``x5c``). Either shows only that
nothing changed since: whose key it is has to be known from elsewhere. How one is checked:
:mod:`pura.report.statement_check`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pura.base.catalogue import catalogue
from pura.base.decoder import decode, later
from pura.base.errors import RecordError, ServeError
from pura.base.files import read_bounded, write_atomic
from pura.base.json_text import canonical, sha256
from pura.base.numerals import LANGUAGES
from pura.report.sign.identity import Identity
from pura.words.sentences import Sentence, fill

SCHEMA: Final = "pura-statement/2"
FORMER: Final = "pura-statement/1"
"""Of version 0.3.0: neither places nor fields nor the explanation are signed."""
MEDIA: Final = "pura-statement+jws"
OWN: Final = "Ed25519"  # RFC 9864; the older name EdDSA left the curve open
ALGORITHMS: Final = (OWN, "ES256", "ES384", "ES512", "PS256")
_MAX_KEY_BYTES: Final = 1 << 14
_ROLES: Final = ("trusted", "internal")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A stretch of the text that carries a mark, in characters.

    Attributes:
        start: First character.
        end: Character after the last.
    """

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What is told of a mark.

    Attributes:
        places: Where it stands.
        fields: Fields of its payload that are identified and released, by name.
    """

    places: tuple[Place, ...]
    fields: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class _Policy:
    name: str
    version: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class _Digest:
    sha256: str


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """An answer as trusted and internal askers get it."""

    verdict: str
    headline: str
    strength: str
    supports: str
    meaning: str
    sha256: str
    created: str
    policy: _Policy
    marks: tuple[Mark, ...]
    record: _Digest | None = later(None)


@dataclass(frozen=True, kw_only=True)
class _Check:
    id: str
    status: Literal["done"]
    answer: _Answer


@dataclass(frozen=True, kw_only=True)
class _Signed:
    """What is signed."""

    schema: str
    detector: str
    version: str
    role: str
    language: str
    check: _Check


@dataclass(frozen=True, kw_only=True)
class _Former:
    """What version 0.3.0 signed."""

    schema: str
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


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a detector states, as it is shown.

    Attributes:
        schema: :data:`SCHEMA` or :data:`FORMER`.
        detector: What the detector calls itself.
        version: Of the program.
        role: Of whoever asked.
        language: Of headline, strength and meaning.
        id: Of the check; empty in the former form.
        verdict: The outcome.
        headline: The outcome in a few words.
        strength: The word of the verbal scale; empty where nothing was read.
        supports: What it supports: ``mark`` or ``no-mark``; empty where the strength is.
        meaning: The answer in words; empty in the former form.
        sha256: Of the bytes that were asked about.
        created: When the text was read, ISO 8601.
        policy: SHA-256 of the canonical JSON of the decision rule.
        policy_name: Its name and version.
        marks: The marks; None in the former form, which says nothing of them.
        record: SHA-256 of the canonical JSON of the record; empty where none was given.
    """

    schema: str
    detector: str
    version: str
    role: str
    language: str
    id: str
    verdict: str
    headline: str
    strength: str
    supports: str
    meaning: str
    sha256: str
    created: str
    policy: str
    policy_name: str
    marks: tuple[Mark, ...] | None
    record: str

    @classmethod
    def of(cls, content: object) -> Statement:
        """Return what is shown of what was signed.

        Raises:
            ValueError: It is no statement of a form that is known.
        """
        schema = content.get("schema") if isinstance(content, dict) else None
        if schema == SCHEMA:
            signed = decode(_Signed, content)
            answer = signed.check.answer
            return cls(
                schema=SCHEMA,
                detector=signed.detector,
                version=signed.version,
                role=signed.role,
                language=signed.language,
                id=signed.check.id,
                verdict=answer.verdict,
                headline=answer.headline,
                strength=answer.strength,
                supports=answer.supports,
                meaning=answer.meaning,
                sha256=answer.sha256,
                created=answer.created,
                policy=answer.policy.sha256,
                policy_name=f"{answer.policy.name} {answer.policy.version}",
                marks=answer.marks,
                record="" if answer.record is None else answer.record.sha256,
            )
        if schema != FORMER:
            raise ValueError("schema")
        former = decode(_Former, content)
        try:
            headline = fill(former.headline, "en")
        except RecordError:  # of a version with other words
            headline = former.verdict
        values = {**vars(former), "headline": headline, "language": "en"}
        return cls(**values, id="", meaning="", marks=None, record="")

    def lines(self, language: str = "en") -> list[tuple[str, str]]:
        """Return what it says, each with its name, as people read it.

        Args:
            language: Of the names; what was signed stands in the language of the answer.
        """
        words = catalogue("report-check")
        values = {
            "verdict": self.headline,
            "meaning": self.meaning,
            "strength": self._strength(),
            **{f"mark {n}": _told(m, language) for n, m in enumerate(self.marks or (), 1)},
            "sha": self.sha256,
            "created": self.created,
            "detector": f"{self.detector} ({self.version})",
            "policy": f"{self.policy_name}, SHA-256 {self.policy}",
            "role": words.fill(f"statement.role-{self.role}", language, {})
            if self.role in _ROLES
            else self.role,
            "check": self.id,
            "record": self.record,
        }
        named = []
        for name, said in values.items():
            key, _, number = name.partition(" ")
            blanks = {"n": int(number)} if number else {}
            named.append((words.fill(f"statement.{key}", language, blanks), said))
        return [(name, said) for name, said in named if said]

    def _strength(self) -> str:
        if not self.strength or self.supports not in ("mark", "no-mark"):
            return self.strength
        language = self.language if self.language in LANGUAGES else "en"
        side = f"statement.for-{self.supports}"
        return catalogue("report-check").fill(side, language, {"word": self.strength})

    def plain(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def _told(mark: Mark, language: str) -> str:
    """Return a mark in words: its fields, and where it stands, counted from 1."""
    words = catalogue("report-check")
    places = (
        words.fill("statement.place", language, {"a": p.start + 1, "b": p.end}) for p in mark.places
    )
    return "; ".join((*(f"{name}: {value}" for name, value in mark.fields.items()), *places))


def digested(record: object) -> dict[str, str]:
    """Return what stands for a record in what is signed.

    Raises:
        ValueError: It has no canonical form.
    """
    return {"sha256": sha256(canonical(record))}


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
