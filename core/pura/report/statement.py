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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from pura.base.catalogue import catalogue
from pura.base.errors import RecordError, ServeError
from pura.base.files import read_bounded, write_atomic
from pura.base.json_text import canonical
from pura.base.numerals import LANGUAGES
from pura.record.answers import VALUES, Role, fits
from pura.report.sign.identity import Identity
from pura.words.sentences import Sentence, fill

SCHEMA: Final = "pura-statement/2"
FORMER: Final = "pura-statement/1"
"""Of version 0.3.0: neither places nor fields nor the explanation are signed."""
MEDIA: Final = "pura-statement+jws"
OWN: Final = "Ed25519"  # RFC 9864; the older name EdDSA left the curve open
ALGORITHMS: Final = (OWN, "ES256", "ES384", "ES512", "PS256")
_MAX_KEY_BYTES: Final = 1 << 14


_SIGNED: Final = {
    "schema": str,
    "detector": str,
    "version": str,
    "role": str,
    "language": str,
    "check": {
        "id": str,
        "status": Literal["done"],
        "answer": dict,
    },
}
_FORMER: Final = {
    **dict.fromkeys(("schema", "detector", "version", "role", "created", "sha256"), str),
    **dict.fromkeys(("verdict", "strength", "supports", "policy", "policy_name"), str),
    "headline": {"key": str, "values": dict},
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
        answer: The answer by the names of :data:`~pura.record.answers.VALUES`; the former form has
            no meaning and no marks.
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
        elif content.get("schema") != SCHEMA or not fits(content, _SIGNED):
            raise ValueError("schema")
        else:
            shape = {name: row.shape for name, row in VALUES.items()}
            if not fits(content["check"]["answer"], {**shape, "record?": {"sha256": str}}):
                raise ValueError("answer")
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
        words, said = catalogue("report-check"), list[tuple[str, str]]()

        def add(key: str, value: str, **blanks: int) -> None:
            if value:
                said.append((words.fill(f"statement.{key}", language, blanks), value))

        own = self.language if self.language in LANGUAGES else "en"
        for name, row in VALUES.items():
            if row.shown is not None and name in self.answer:
                add(name, row.shown(self.answer[name], self.answer, own))
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
            **self.answer,
            "policy": policy["sha256"],
            "policy_name": f"{policy['name']} {policy['version']}",
        }


def _upgraded(former: dict[str, Any]) -> dict[str, Any]:
    """Return what version 0.3.0 signed in the present form.

    Raises:
        ValueError: It is none.
    """
    if not fits(former, _FORMER):
        raise ValueError("former")
    try:
        headline = fill(Sentence(**former["headline"]), "en")
    except RecordError:  # of a version with other words
        headline = former["verdict"]
    name, _, version = former["policy_name"].rpartition(" ")
    about = {one: former[one] for one in ("schema", "detector", "version", "role")}
    answer = {one: former[one] for one in VALUES if one in former}
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
