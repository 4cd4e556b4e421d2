"""Whether a statement of a detector holds, and whether what stands beside it is what was signed.

Nothing of a file is believed but its signed bytes: what is shown of a statement comes from them.
Where the file holds the answer in readable form as well, each of its values has to be the signed
one; else the file is refused, with the places that differ.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from pura.base.catalogue import Value, catalogue
from pura.base.errors import ReportFileError
from pura.base.json_text import TwiceError, canonical, read_json
from pura.record.answers import digested
from pura.report.check.parse import drive
from pura.report.check.verify import BAD, GOOD, NOTICE, OPEN, CheckedPoint
from pura.report.sign.identity import describe
from pura.report.statement import ALGORITHMS, FORMER, MEDIA, OWN, Statement, joserfc_key

if TYPE_CHECKING:
    from cryptography import x509

MAX_BYTES: Final = 4 << 20
MAX_FILE_BYTES: Final = 64 << 20
_MAX_HEADER_BYTES: Final = 64 << 10
_MOST_CERTIFICATES: Final = 10
_MOST_NAMED: Final = 8
_LONGEST_NAME: Final = 40
_USAGES: Final = {"digital_signature", "non_repudiation"}
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


@dataclass(frozen=True, kw_only=True)
class FoundStatement:
    """A statement, and what stands beside it in its file.

    Attributes:
        statement: The signed statement.
        copy: The check of which it is part, without it, as the file has it; None where the file
            holds the statement alone.
        whole: The copy is the whole check, not its answer alone.
    """

    statement: str
    copy: dict[str, Any] | None = None
    whole: bool = False


def find_statement(data: bytes) -> FoundStatement:
    """Return the statement in a file: by itself, or in an answer of the service.

    Raises:
        ReportFileError: There is none, or a name stands twice.
    """
    try:
        if data.lstrip()[:1] != b"{":
            return _known(FoundStatement(statement=data.decode("ascii").strip()))
        found = read_json(data)
    except TwiceError as error:
        twice = _name(str(error))
        raise ReportFileError("statement.twice", name=twice, code="statement-file") from None
    except (ValueError, RecursionError):
        found = None
    whole = isinstance(found, dict) and isinstance(found.get("answer"), dict)
    answer = found["answer"] if whole else found
    if not isinstance(answer, dict) or not isinstance(answer.get("statement"), str):
        raise ReportFileError("statement.none", code="statement-file")
    beside = {name: value for name, value in answer.items() if name != "statement"}
    copy = {**found, "answer": beside} if whole else {"answer": beside}
    return _known(FoundStatement(statement=answer["statement"], copy=copy, whole=whole))


def _known(found: FoundStatement) -> FoundStatement:
    if found.statement.count(".") != _PARTS - 1 or len(found.statement) > MAX_BYTES:
        raise ReportFileError("statement.none", code="statement-file")
    return found


def check_statement(
    found: FoundStatement, *, moment: datetime, trust: Trust | None = None, sha256: str = ""
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
        header, public, certificates = _signer(found.statement)
        content, said = _said(found.statement, str(header["alg"]), public)
    except Exception:  # libraries have many ways of not understanding what a stranger sends
        broken = CheckedPoint(name="integrity", state=BAD, key="statement.broken")
        return StatementCheck(checks=(broken,))
    checks = [CheckedPoint(name="integrity", state=GOOD, key="statement.intact")]
    checks += _compared(found, content)
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
        same = sha256 == said.answer["sha256"]
        key = "statement.text-same" if same else "statement.text-other"
        checks.append(CheckedPoint(name="text", state=GOOD if same else BAD, key=key))
    return StatementCheck(checks=tuple(checks), statement=said, fingerprint=fingerprint)


def _compared(found: FoundStatement, content: dict[str, Any]) -> list[CheckedPoint]:
    """Hold what stands beside a statement against what was signed."""
    former = content["schema"] == FORMER
    if found.copy is None:
        key = "statement.former"
        return [CheckedPoint(name="copy", state=NOTICE, key=key)] if former else []
    if former:
        return [CheckedPoint(name="copy", state=BAD, key="statement.copy-former")]
    signed = content["check"] if found.whole else {"answer": content["check"]["answer"]}
    places = [*_different(signed, _with_digest(found.copy), "")]
    if not places:
        return [CheckedPoint(name="copy", state=GOOD, key="statement.copy-same")]
    values: dict[str, Value] = {
        "count": len(places),
        "places": ", ".join(places[:_MOST_NAMED]),
    }
    key = "statement.copy-more" if len(places) > _MOST_NAMED else "statement.copy-differs"
    return [CheckedPoint(name="copy", state=BAD, key=key, values=values)]


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


def _public_der(key: Any) -> bytes:
    """Return a public key, SubjectPublicKeyInfo DER."""
    from cryptography.hazmat.primitives import serialization

    form = serialization.PublicFormat.SubjectPublicKeyInfo
    made: bytes = key.public_bytes(serialization.Encoding.DER, form)
    return made
