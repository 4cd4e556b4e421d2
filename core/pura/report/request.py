"""What a report is told beside the audits: parties, layout, what of the text is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pura.base.errors import InputError
from pura.base.numerals import LANGUAGES
from pura.report.logo import check_logo

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
