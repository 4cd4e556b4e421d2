"""What a report is told besides the audits, its logo, and when it may say that it is final."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from pura.base.decoder import Form, hold, later, one_of
from pura.base.errors import InputError
from pura.base.json_text import read_json
from pura.base.numerals import LANGUAGES
from pura.record.audit import Audit
from pura.record.json_io import findings_digest, without_text
from pura.record.titles import joined_titles
from pura.version import __version__

if TYPE_CHECKING:
    from lxml.etree import _Element

FULL: Final = "full"
EXCERPT: Final = "excerpt"
REDACTED: Final = "redacted"
OMITTED: Final = "omitted"
TEXT_MODES: Final = (FULL, EXCERPT, REDACTED, OMITTED)
PAPERS: Final = ("a4", "us-letter")
MAX_FIELD: Final = 4000

PagePicture: TypeAlias = tuple[int, bytes]
"""Number of a page, from 1, and the PNG that shows it with its passages shaded."""


def _logo_of(encoded: Any) -> bytes | None:
    """Read a logo as :func:`write` writes it."""
    return None if encoded is None else base64.b64decode(encoded, validate=True)


def _pages_of(encoded: Any) -> tuple[tuple[PagePicture, ...], ...]:
    """Read page pictures likewise."""
    return tuple(
        tuple((int(number), base64.b64decode(png, validate=True)) for number, png in one)
        for one in encoded
    )


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
        qualifications: Training and experience of whoever examined.
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
    qualifications: str = later("", omitted=False)
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
        pages: Pictures of the first text's pages that hold passages, of the second's …; they are
            shown where the text is shown whole.
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
    standing: str = later("", omitted=False)
    review: str = ""
    reviewed: str = ""
    log: str = ""
    issued: str = ""
    language: str = "en"
    paper: str = "a4"
    text: str = FULL
    redactions: tuple[tuple[int, int], ...] = ()
    further: tuple[tuple[tuple[int, int], ...], ...] = ()
    logo: Annotated[bytes | None, Form(read=_logo_of, schema={})] = None
    pages: Annotated[tuple[tuple[PagePicture, ...], ...], Form(read=_pages_of, schema={})] = later(
        (), omitted=False
    )


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
        InputError: A choice that does not exist, a field that is far too long, a logo or a picture
            of a page that no report takes.
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
    for _, png in (picture for of_text in request.pages for picture in of_text):
        try:
            whole = png.startswith(_PNG) and len(png) <= MAX_PAGE
            _check_png(png if whole else b"")
        except InputError:
            raise InputError("report.page", mebibytes=MAX_PAGE >> 20, code="report-page") from None


SCHEMA: Final = "pura-particulars/1"
NAME: Final = "particulars.json"
_FILE: Final = {
    "request": ReportRequest,
    "annex": str,
    "made_with": dict[str, str],
    "schema": one_of(SCHEMA),
}
"""The file inside a report that says what its pages are made of besides its record."""


def here() -> dict[str, str]:
    """Return the versions on which the bytes of a report depend."""
    return {"pura": __version__, "typst": metadata.version("typst")}


def write(request: ReportRequest, annex: str) -> bytes:
    """Return the file."""
    whole = {"request": asdict(request), "annex": annex, "made_with": here(), "schema": SCHEMA}
    return json.dumps(whole, default=_encoded, ensure_ascii=False, sort_keys=True).encode()


def _encoded(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


def read(data: bytes) -> dict[str, Any]:
    """Read the file.

    Returns:
        The ``request``, SHA-256 of the sealed ``annex`` or "", and ``made_with``, names and
        versions of the programs that made the report.

    Raises:
        ValueError: It is none, or a field is missing, unknown or of another type.
    """
    try:
        return hold(_FILE, read_json(data))  # type: ignore[no-any-return]
    except TypeError:
        raise ValueError("pictures") from None


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
        InputError: A key of it is public (``report-public-key``), it names nobody who authorises
            it (``report-authoriser``), a finding was not confirmed (``report-not-reviewed``), it
            names somebody else than the log (``report-parties``), or a person has two roles
            (``report-two-roles``).
    """
    if keys := [key for audit in audits for key in audit.finding.public_keys]:
        named = joined_titles(keys)
        raise InputError("report.public-key", keys=named, code="report-public-key")
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


MAX_LOGO: Final = 1 << 20
MAX_PAGE: Final = 4 << 20
MAX_DOTS: Final = 8_000_000
MAX_SHAPES: Final = 20_000
_MAX_CHUNK: Final = 1 << 16  # of what is no picture: a profile of colours, words
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_SVG: Final = "http://www.w3.org/2000/svg"
_GRADIENTS: Final = frozenset({"linearGradient", "radialGradient"})
_DRAWN: Final = (
    "svg g defs symbol use title desc metadata style a path rect circle ellipse line polyline "
    "polygon text tspan stop clipPath"
)
_ELEMENTS: Final = _GRADIENTS | frozenset(_DRAWN.split())
"""What a logo is drawn with; pictures, filters, patterns, masks and scripts are not among it."""
_URL: Final = re.compile(r"url\(\s*[\"']?\s*([^\"')\s]*)", re.IGNORECASE)


def logo_format(data: bytes) -> str | None:
    """Tell PNG and SVG by their content; None for anything else."""
    if len(data) > MAX_LOGO:
        return None
    if data.startswith(_PNG):
        return "png"
    start = data[:2000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "svg" if start.startswith((b"<svg", b"<?xml")) and b"<svg" in start else None


def check_logo(data: bytes) -> None:
    """Refuse what no report takes as its logo.

    Raises:
        InputError: It is neither PNG nor SVG, is too large when it is drawn, names something
            outside itself, or has parts that no logo needs.
    """
    match logo_format(data):
        case "png":
            _check_png(data)
        case "svg":
            _check_svg(data)
        case _:
            raise InputError("report.logo", code="report-logo")


def _check_png(data: bytes) -> None:
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise InputError("report.logo", code="report-logo")
    width, height = struct.unpack(">II", data[16:24])
    if width * height > MAX_DOTS:
        raise _too_large()
    at = len(_PNG)
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        if size > _MAX_CHUNK and kind != b"IDAT":
            raise _refused(kind.decode("ascii", "replace"))
        at += size + 12


def _check_svg(data: bytes) -> None:
    from lxml import etree

    if b"<!ENTITY" in data:
        raise _refused("ENTITY")
    parser = etree.XMLParser(
        encoding="utf-8",  # as the writer of the PDF reads it, whatever the file says
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        raise InputError("report.logo", code="report-logo") from None
    shapes = list(root.iter(f"{{{_SVG}}}*"))
    if root.tag != f"{{{_SVG}}}svg":
        raise InputError("report.logo", code="report-logo")
    for one in shapes:
        if _name(one) not in _ELEMENTS:
            raise _refused(_name(one))
    _check_references(root, shapes)


def _check_references(root: _Element, shapes: list[_Element]) -> None:
    """Refuse references that lead outside, and those that lead to others, which grow without end.

    Gradients refer to one another in a line, and draw nothing themselves.
    """
    named = {one.get("id", ""): one for one in shapes}
    pointing = {one: list(_references(one)) for one in root.iter()}
    drawn = len(shapes)
    sizes: dict[str, int] = {}
    for one, places in pointing.items():
        if one.tag in (f"{{{_SVG}}}{name}" for name in _GRADIENTS):
            continue
        for place in places:
            target = named.get(place)
            if target is None or _name(target) in _GRADIENTS:
                continue
            if place not in sizes:
                inside = list(target.iter())
                sizes[place] = len(inside)
                for part in inside:
                    if any(
                        name in named and _name(named[name]) not in _GRADIENTS
                        for name in pointing[part]
                    ):
                        raise _refused(f"#{place}")
            drawn += sizes[place]
            if drawn > MAX_SHAPES:
                raise _too_large()
    if drawn > MAX_SHAPES:
        raise _too_large()


def _references(one: _Element) -> Iterator[str]:
    """Yield the names that an element refers to.

    Raises:
        InputError: It refers to something outside the picture.
    """
    texts = [value for name, value in one.attrib.items() if "url" in value.lower()]
    styles = [one.get("style", "")]
    if one.tag == f"{{{_SVG}}}style":
        styles.append("".join(one.itertext()))
        texts += styles
        if "@import" in styles[-1].lower():
            raise _refused("@import")
        if "clip-path" in styles[-1].lower():  # whom it reaches is not followed
            raise _refused("clip-path")
    if any("\\" in words for words in styles):
        raise _refused("\\")
    places = [place for words in texts for place in _URL.findall(words)]
    if one.tag != f"{{{_SVG}}}a":
        places += [value for name, value in one.attrib.items() if name.split("}")[-1] == "href"]
    for place in places:
        if not place.startswith("#"):
            raise _refused(place[:40] or "url")
        yield place[1:]


def _name(one: _Element) -> str:
    return str(one.tag).split("}")[-1]


def _refused(part: str) -> InputError:
    return InputError("report.logo-part", part=part, code="report-logo")


def _too_large() -> InputError:
    return InputError("report.logo-drawn", dots=MAX_DOTS, shapes=MAX_SHAPES, code="report-logo")
