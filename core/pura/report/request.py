"""What a report is told beside the audits, and when it may say that it is final."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from importlib import metadata
from typing import Any, Final

from pura.base.errors import InputError
from pura.base.json_text import read_json
from pura.base.numerals import LANGUAGES
from pura.record.audit import Audit
from pura.record.json_io import findings_digest, without_text
from pura.report.figures import check_logo
from pura.version import __version__

FULL: Final = "full"
EXCERPT: Final = "excerpt"
REDACTED: Final = "redacted"
OMITTED: Final = "omitted"
TEXT_MODES: Final = (FULL, EXCERPT, REDACTED, OMITTED)
PAPERS: Final = ("a4", "us-letter")
MAX_FIELD: Final = 4000


@dataclass(frozen=True, kw_only=True)
class Parties:
    """Who asks, who examines, who answers for it; empty fields print as not given.

    Attributes:
        organisation: Name of the examining organisation.
        address: Its address.
        place: Where the work was done.
        customer: Who asked.
        question: What was asked.
        purpose: Legal basis or purpose of the examination.
        examiner: Who examined.
        reviewer: Who reviewed it technically.
        authoriser: Who authorised it.
    """

    organisation: str = ""
    address: str = ""
    place: str = ""
    customer: str = ""
    question: str = ""
    purpose: str = ""
    examiner: str = ""
    reviewer: str = ""
    authoriser: str = ""


@dataclass(frozen=True, kw_only=True)
class ItemNotes:
    """How the item came in.

    Attributes:
        source: Where it comes from and how it was received.
        received: Date and time of receipt.
        custody: Who handled it since.
        supplied: What the customer said about it.
        disclosed: What case information was disclosed, and when.
    """

    source: str = ""
    received: str = ""
    custody: str = ""
    supplied: str = ""
    disclosed: str = ""


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """One report to be made.

    Attributes:
        number: Its identifier; empty makes one of the first audit's.
        version: Counts up with every replacement.
        case: Identifier of the case.
        classification: E.g. ``confidential``.
        final: False prints “draft” on every page: not yet reviewed and authorised.
        replaces: Identifier of the report that this one replaces or supplements.
        reason: Why.
        supplements: It supplements the original and does not replace it.
        parties: Who.
        item: How the item came in.
        deviations: From the method.
        external: Parts that others provided.
        remark: Free text of the examiner, in a box of its own; checked by the linter.
        standing: What the organisation says in each of its reports; checked by the linter.
        review: What the reviewer recomputed, and with what result.
        reviewed: ``confirmed`` or ``disputed``, as the case log says; empty when nobody has looked.
        log: Head of the case log and the numbers of the entries that belong to the report.
        issued: Date of issue, ISO 8601; empty takes that of the newest audit.
        language: ``en`` or ``de``.
        paper: ``a4`` or ``us-letter``.
        text: One of :data:`TEXT_MODES`.
        redactions: Character ranges that :data:`REDACTED` blacks out, of the first audit's text.
        further: The same of the second text, of the third …; what is missing hides nothing.
        logo: PNG or SVG of the organisation.
    """

    number: str = ""
    version: int = 1
    case: str = ""
    classification: str = ""
    final: bool = False
    replaces: str = ""
    reason: str = ""
    supplements: bool = False
    parties: Parties = Parties()
    item: ItemNotes = ItemNotes()
    deviations: str = ""
    external: str = ""
    remark: str = ""
    standing: str = ""
    review: str = ""
    reviewed: str = ""
    log: str = ""
    issued: str = ""
    language: str = "en"
    paper: str = "a4"
    text: str = FULL
    redactions: tuple[tuple[int, int], ...] = ()
    further: tuple[tuple[tuple[int, int], ...], ...] = ()
    logo: bytes | None = None


def check_choices(*choices: tuple[str, str, Sequence[str]]) -> None:
    """Refuse choices that do not exist.

    Args:
        choices: Name, value and what can be chosen, of each.

    Raises:
        InputError: The first that does not exist.
    """
    for _, value, known in choices:
        if value not in known:
            raise InputError(
                "choice.unknown", name=value[:40], known=", ".join(known), code="report-option"
            )


def check_request(request: ReportRequest) -> None:
    """Refuse what no report can be made of.

    Raises:
        InputError: A choice that does not exist, a field that is far too long, a logo that no
            report takes.
    """
    check_choices(
        ("language", request.language, LANGUAGES),
        ("paper", request.paper, PAPERS),
        ("text", request.text, TEXT_MODES),
    )
    for part in (request, request.parties, request.item):
        for name, value in vars(part).items():
            if isinstance(value, str) and len(value) > MAX_FIELD:
                raise InputError(
                    "report.field-long",
                    name=name,
                    count=len(value),
                    most=MAX_FIELD,
                    code="report-field",
                )
    if request.logo is not None:
        check_logo(request.logo)


SCHEMA: Final = "pura-particulars/1"
NAME: Final = "particulars.json"
_ADDED: Final = {"standing": ""}  # which files of 0.2.0 do not have
_PARTS: Final[dict[str, type[Parties | ItemNotes]]] = {"parties": Parties, "item": ItemNotes}


@dataclass(frozen=True, kw_only=True)
class Particulars:
    """What the pages of a report are made of beside its record.

    Attributes:
        request: What it was told.
        annex: SHA-256 of the sealed annex; empty when there is none.
        made_with: Names and versions of the programs that made it.
    """

    request: ReportRequest
    annex: str = ""
    made_with: dict[str, str]


def here() -> dict[str, str]:
    """Return the versions on which the bytes of a report depend."""
    return {"pura": __version__, "typst": metadata.version("typst")}


def write(request: ReportRequest, annex: str) -> bytes:
    """Return the file."""
    told = asdict(request)
    told["logo"] = None if request.logo is None else base64.b64encode(request.logo).decode()
    whole = {"schema": SCHEMA, "made_with": here(), "annex": annex, "request": told}
    return json.dumps(whole, ensure_ascii=False, sort_keys=True).encode()


def read(data: bytes) -> Particulars:
    """Read the file.

    Raises:
        ValueError: It is none, or a field is missing, unknown or of another type.
    """
    found = read_json(data)
    try:
        if found.pop("schema") != SCHEMA:
            raise ValueError("schema")
        told, made_with, annex = found.pop("request"), found.pop("made_with"), found.pop("annex")
        if found or not isinstance(annex, str):
            raise ValueError("fields")
        return Particulars(
            request=_request(told),
            annex=annex,
            made_with={str(name): str(version) for name, version in made_with.items()},
        )
    except (AttributeError, KeyError, TypeError, binascii.Error) as error:
        raise ValueError(type(error).__name__) from None


def _request(told: dict[str, Any]) -> ReportRequest:
    plain = _ADDED | told
    for name, kind in _PARTS.items():
        plain[name] = _typed(kind, plain[name])
    plain["redactions"] = _ranges(plain["redactions"])
    plain["further"] = tuple(_ranges(part) for part in plain["further"])
    if plain["logo"] is not None:
        plain["logo"] = base64.b64decode(plain["logo"], validate=True)
    request: ReportRequest = _typed(ReportRequest, plain)
    return request


def _typed(kind: Any, plain: dict[str, Any]) -> Any:
    known = {field.name: field.type for field in fields(kind)}
    if plain.keys() != known.keys():
        raise ValueError("fields")
    for name, value in plain.items():
        wanted = {"str": str, "int": int, "bool": bool}.get(str(known[name]))
        if wanted is not None and type(value) is not wanted:
            raise ValueError(name)
    return kind(**plain)


def _ranges(found: Any) -> tuple[tuple[int, int], ...]:
    ranges = tuple((start, end) for start, end in found)
    if not all(type(number) is int for pair in ranges for number in pair):
        raise ValueError("ranges")
    return ranges


ALWAYS: Final = "always"
BY_POLICY: Final = "where the policy asks for a third person"
ROLES_APART: Final = (
    ("examiner", "reviewer", ALWAYS),
    ("examiner", "authoriser", ALWAYS),
    ("reviewer", "authoriser", BY_POLICY),
)
"""Pairs of roles that one person may not take for one finding : reports.md, "Who may what"."""


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """What the case log holds of one finding that a second person confirmed.

    Attributes:
        audit: Identifier of the audit.
        findings: Digest of its findings without the text; see :func:`digest_of`.
        examiner: Name of who examined it; "" when it was erased.
        examined_by: That person's identifier in the log.
        reviewer: Name of who confirmed it; "" when it was erased.
        reviewed_by: That person's identifier in the log.
        examiner_names: All names that the log has for who examined, the login's among them.
        reviewer_names: The same of who confirmed.
    """

    audit: str
    findings: str
    examiner: str
    examined_by: str
    reviewer: str
    reviewed_by: str
    examiner_names: tuple[str, ...] = ()
    reviewer_names: tuple[str, ...] = ()


def digest_of(audit: Audit) -> str:
    """Return the digest of findings, the same whether the text is kept, sealed or left out."""
    return findings_digest(without_text(audit))


def refuse_unreviewed(
    audits: Sequence[Audit], request: ReportRequest, confirmed: Sequence[Confirmation]
) -> None:
    """Refuse a final report that nobody confirmed, or in which one person has two roles.

    Args:
        audits: What the report is made of.
        request: What it is told; names its parties.
        confirmed: What the case log holds.

    Raises:
        InputError: It names nobody who authorises it (``report-authoriser``), a finding was not
            confirmed (``report-not-reviewed``), it names somebody else than the log
            (``report-parties``), or a person has two roles (``report-two-roles``).
    """
    parties = request.parties
    if not parties.authoriser.strip():
        raise InputError("report.authoriser", code="report-authoriser")
    known = {(one.audit, one.findings): one for one in confirmed}
    for audit in audits:
        one = known.get((audit.id, digest_of(audit)))
        if one is None:
            raise InputError(
                "report.not-reviewed", name=audit.input.name, code="report-not-reviewed"
            )
        if one.examined_by == one.reviewed_by:
            raise InputError("report.two-roles", who=one.reviewer, code="report-two-roles")
        for role, printed, told in (
            ("examiner", parties.examiner, one.examiner),
            ("reviewer", parties.reviewer, one.reviewer),
        ):
            if printed and told and _plain(told) not in map(_plain, printed.split(",")):
                raise InputError(
                    "report.other-party",
                    role=role,
                    printed=printed,
                    told=told,
                    code="report-parties",
                )
        names = {
            "examiner": (one.examiner, *one.examiner_names),
            "reviewer": (one.reviewer, *one.reviewer_names),
            "authoriser": (parties.authoriser,),
        }
        third = bool(audit.policy.get("third_person"))
        for first, second, when in ROLES_APART:
            same = {_plain(name) for name in names[first]} & {_plain(n) for n in names[second]}
            if (when == ALWAYS or third) and same - {""}:
                who = names[second][0]
                raise InputError("report.two-roles", who=who, code="report-two-roles")


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()
