"""The request for a report: choices and free text, the logo, and the conditions of a final one."""

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
    """Decode a logo that :func:`write` encoded."""
    return None if encoded is None else base64.b64decode(encoded, validate=True)


def _pages_of(encoded: Any) -> tuple[tuple[PagePicture, ...], ...]:
    """Decode page pictures that :func:`write` encoded."""
    return tuple(
        tuple((int(number), base64.b64decode(png, validate=True)) for number, png in pictures)
        for pictures in encoded
    )


@dataclass(frozen=True, kw_only=True)
class Parties:
    """Client, examiner and the people responsible; empty fields print as not given.

    Attributes:
        organisation: Name of the examining organisation.
        address: Address of the organisation.
        place: Where the work was done.
        customer: Client who ordered the examination.
        question: The question to be answered.
        purpose: Legal basis or purpose of the examination.
        examiner: Name of the examiner.
        qualifications: Training and experience of the examiner.
        reviewer: Name of the technical reviewer.
        authoriser: Name of the person who authorises the report.
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
    """Origin of the examined item.

    Attributes:
        source: Where the item comes from and how it was received.
        received: Date and time of receipt.
        custody: People who handled it since.
        supplied: Information from the client about the item.
        disclosed: Case information that was disclosed to the examiner, and when.
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
        number: Identifier of the report; if empty, derived from the audits.
        version: Counts up with every replacement.
        case: Identifier of the case.
        classification: E.g. ``confidential``.
        final: False prints “draft” on every page: not yet reviewed and authorised.
        replaces: Identifier of the report that this one replaces or supplements.
        reason: Reason for the replacement or supplement.
        supplements: Whether the report supplements the original instead of replacing it.
        parties: People and organisations involved.
        item: Origin of the examined item.
        deviations: Deviations from the method.
        external: Parts that third parties provided.
        remark: Free text of the examiner, in a box of its own; checked by the linter.
        standing: Text that the organisation prints in each report; checked by the linter.
        review: What the reviewer recomputed, and with what result.
        reviewed: Review in the case log: ``confirmed``, ``disputed``, or empty without one.
        log: Head of the case log and the numbers of the entries that belong to the report.
        issued: Date of issue, ISO 8601; empty takes that of the newest audit.
        language: ``en`` or ``de``.
        paper: ``a4`` or ``us-letter``.
        text: One of :data:`TEXT_MODES`.
        redactions: Character ranges that :data:`REDACTED` blacks out, of the first audit's text.
        further: The same for the second text, the third …; a missing entry hides nothing.
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
        choices: Name, value and allowed values of each choice.

    Raises:
        InputError: A value is not allowed; the first such value is named.
    """
    for _, value, allowed in choices:
        if value not in allowed:
            raise InputError(
                "choice.unknown", name=value[:40], known=", ".join(allowed), code="report-option"
            )


def check_request(request: ReportRequest) -> None:
    """Refuse a request that no report can be made from.

    Raises:
        InputError: A choice does not exist, a field is far too long, or a logo or page picture
            is not acceptable.
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
            acceptable = png.startswith(_PNG) and len(png) <= MAX_PAGE
            _check_png(png if acceptable else b"")
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
"""Shape of the attached file from which, with the record, the pages of a report are made."""


def here() -> dict[str, str]:
    """Return the versions of the programs on which the bytes of a report depend."""
    return {"pura": __version__, "typst": metadata.version("typst")}


def write(request: ReportRequest, annex: str) -> bytes:
    """Return the particulars of a report as a JSON file."""
    document = {"request": asdict(request), "annex": annex, "made_with": here(), "schema": SCHEMA}
    return json.dumps(document, default=_encoded, ensure_ascii=False, sort_keys=True).encode()


def _encoded(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


def read(file_bytes: bytes) -> dict[str, Any]:
    """Read the particulars of a report.

    Returns:
        The ``request``, SHA-256 of the sealed ``annex`` or "", and ``made_with``, names and
        versions of the programs that made the report.

    Raises:
        ValueError: The file is not JSON, or a field is missing, unknown or of the wrong type.
    """
    try:
        return hold(_FILE, read_json(file_bytes))  # type: ignore[no-any-return]
    except TypeError:
        raise ValueError("pictures") from None


ALWAYS: Final = "always"
BY_POLICY: Final = "where the policy asks for a third person"
ROLES_APART: Final = (
    ("examiner", "reviewer", ALWAYS),
    ("examiner", "authoriser", ALWAYS),
    ("reviewer", "authoriser", BY_POLICY),
)
"""Pairs of roles that one person may not have for one finding: reports.md, "Who may what"."""


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """Entry of the case log for a finding that a second person confirmed.

    Attributes:
        audit: Identifier of the audit.
        findings: Digest of its findings without the text; see :func:`digest_of`.
        examiner: Name of the examiner; "" if it was erased.
        examined_by: Identifier of the examiner in the log.
        reviewer: Name of the person who confirmed the finding; "" if it was erased.
        reviewed_by: Identifier of that person in the log.
        examiner_names: All names that the log has for the examiner, including the login.
        reviewer_names: All names that the log has for the reviewer.
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
    """Return the digest of findings; it does not depend on whether the text is kept."""
    return findings_digest(without_text(audit))


def refuse_unreviewed(
    audits: Sequence[Audit], request: ReportRequest, confirmed: Sequence[Confirmation]
) -> None:
    """Refuse a final report that nobody confirmed, or in which one person has two roles.

    Args:
        audits: Audits of the report.
        request: Request for the report; names the parties.
        confirmed: Confirmations from the case log.

    Raises:
        InputError: A key is public (``report-public-key``), no authoriser is named
            (``report-authoriser``), a finding was not confirmed (``report-not-reviewed``), a name
            differs from the log (``report-parties``), or a person has two roles
            (``report-two-roles``).
    """
    if keys := [key for audit in audits for key in audit.finding.public_keys]:
        titles = joined_titles(keys)
        raise InputError("report.public-key", keys=titles, code="report-public-key")
    parties = request.parties
    if not parties.authoriser.strip():
        raise InputError("report.authoriser", code="report-authoriser")
    confirmations = {
        (confirmation.audit, confirmation.findings): confirmation for confirmation in confirmed
    }
    for audit in audits:
        confirmation = confirmations.get((audit.id, digest_of(audit)))
        if confirmation is None:
            raise InputError(
                "report.not-reviewed", name=audit.input.name, code="report-not-reviewed"
            )
        if confirmation.examined_by == confirmation.reviewed_by:
            raise InputError("report.two-roles", who=confirmation.reviewer, code="report-two-roles")
        for role, printed, logged in (
            ("examiner", parties.examiner, confirmation.examiner),
            ("reviewer", parties.reviewer, confirmation.reviewer),
        ):
            if printed and logged and _plain(logged) not in map(_plain, printed.split(",")):
                raise InputError(
                    "report.other-party",
                    role=role,
                    printed=printed,
                    told=logged,
                    code="report-parties",
                )
        names = {
            "examiner": (confirmation.examiner, *confirmation.examiner_names),
            "reviewer": (confirmation.reviewer, *confirmation.reviewer_names),
            "authoriser": (parties.authoriser,),
        }
        third = bool(audit.policy.get("third_person"))
        for first, second, condition in ROLES_APART:
            same = {_plain(name) for name in names[first]} & {_plain(n) for n in names[second]}
            if (condition == ALWAYS or third) and same - {""}:
                person = names[second][0]
                raise InputError("report.two-roles", who=person, code="report-two-roles")


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


MAX_LOGO: Final = 1 << 20
MAX_PAGE: Final = 4 << 20
MAX_DOTS: Final = 8_000_000
MAX_SHAPES: Final = 20_000
_MAX_CHUNK: Final = 1 << 16  # bytes of a PNG chunk without pixels, such as a colour profile
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_SVG: Final = "http://www.w3.org/2000/svg"
_GRADIENTS: Final = frozenset({"linearGradient", "radialGradient"})
_DRAWN: Final = (
    "svg g defs symbol use title desc metadata style a path rect circle ellipse line polyline "
    "polygon text tspan stop clipPath"
)
_ELEMENTS: Final = _GRADIENTS | frozenset(_DRAWN.split())
"""Elements allowed in a logo; pictures, filters, patterns, masks and scripts are not."""
_URL: Final = re.compile(r"url\(\s*[\"']?\s*([^\"')\s]*)", re.IGNORECASE)


def logo_format(logo: bytes) -> str | None:
    """Return ``png`` or ``svg``, judged by the content; None for any other format."""
    if len(logo) > MAX_LOGO:
        return None
    if logo.startswith(_PNG):
        return "png"
    start = logo[:2000].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "svg" if start.startswith((b"<svg", b"<?xml")) and b"<svg" in start else None


def check_logo(logo: bytes) -> None:
    """Refuse a logo that a report cannot use.

    Raises:
        InputError: The logo is neither PNG nor SVG, is too large when drawn, refers to something
            outside the file, or has parts that no logo needs.
    """
    match logo_format(logo):
        case "png":
            _check_png(logo)
        case "svg":
            _check_svg(logo)
        case _:
            raise InputError("report.logo", code="report-logo")


def _check_png(png: bytes) -> None:
    if len(png) < 33 or png[12:16] != b"IHDR":
        raise InputError("report.logo", code="report-logo")
    width, height = struct.unpack(">II", png[16:24])
    if width * height > MAX_DOTS:
        raise _too_large()
    offset = len(_PNG)
    while offset + 8 <= len(png):
        size, kind = struct.unpack(">I4s", png[offset : offset + 8])
        if size > _MAX_CHUNK and kind != b"IDAT":
            raise _refused(kind.decode("ascii", "replace"))
        offset += size + 12


def _check_svg(svg: bytes) -> None:
    from lxml import etree

    if b"<!ENTITY" in svg:
        raise _refused("ENTITY")
    parser = etree.XMLParser(
        encoding="utf-8",  # the encoding that the PDF writer assumes, whatever the file declares
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(svg, parser)
    except etree.XMLSyntaxError:
        raise InputError("report.logo", code="report-logo") from None
    shapes = list(root.iter(f"{{{_SVG}}}*"))
    if root.tag != f"{{{_SVG}}}svg":
        raise InputError("report.logo", code="report-logo")
    for shape in shapes:
        if _name(shape) not in _ELEMENTS:
            raise _refused(_name(shape))
    _check_references(root, shapes)


def _check_references(root: _Element, shapes: list[_Element]) -> None:
    """Refuse references that lead outside the file, and nested ones, which grow exponentially.

    Gradients may refer to one another: they draw nothing themselves.
    """
    by_id = {element.get("id", ""): element for element in shapes}
    pointing = {element: list(_references(element)) for element in root.iter()}
    drawn = len(shapes)
    sizes: dict[str, int] = {}
    for element, references in pointing.items():
        if element.tag in (f"{{{_SVG}}}{name}" for name in _GRADIENTS):
            continue
        for reference in references:
            target = by_id.get(reference)
            if target is None or _name(target) in _GRADIENTS:
                continue
            if reference not in sizes:
                inside = list(target.iter())
                sizes[reference] = len(inside)
                for part in inside:
                    if any(
                        name in by_id and _name(by_id[name]) not in _GRADIENTS
                        for name in pointing[part]
                    ):
                        raise _refused(f"#{reference}")
            drawn += sizes[reference]
            if drawn > MAX_SHAPES:
                raise _too_large()
    if drawn > MAX_SHAPES:
        raise _too_large()


def _references(element: _Element) -> Iterator[str]:
    """Yield the names that an element refers to.

    Raises:
        InputError: The element refers to something outside the picture.
    """
    texts = [value for name, value in element.attrib.items() if "url" in value.lower()]
    styles = [element.get("style", "")]
    if element.tag == f"{{{_SVG}}}style":
        styles.append("".join(element.itertext()))
        texts += styles
        if "@import" in styles[-1].lower():
            raise _refused("@import")
        if "clip-path" in styles[-1].lower():  # which elements it applies to is not examined
            raise _refused("clip-path")
    if any("\\" in text for text in styles):
        raise _refused("\\")
    references = [reference for text in texts for reference in _URL.findall(text)]
    if element.tag != f"{{{_SVG}}}a":
        references += [
            value for name, value in element.attrib.items() if name.split("}")[-1] == "href"
        ]
    for reference in references:
        if not reference.startswith("#"):
            raise _refused(reference[:40] or "url")
        yield reference[1:]


def _name(element: _Element) -> str:
    return str(element.tag).split("}")[-1]


def _refused(part: str) -> InputError:
    return InputError("report.logo-part", part=part, code="report-logo")


def _too_large() -> InputError:
    return InputError("report.logo-drawn", dots=MAX_DOTS, shapes=MAX_SHAPES, code="report-logo")
