"""When a report may say that it is final: who did what, and that nobody did two things.

A report is final only where the case log holds a second person's confirmation of exactly these
findings, and who authorises it is named. In all other cases it is a draft; each page says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pura.base.errors import InputError
from pura.record.audit import Audit
from pura.record.json_io import findings_digest, without_text
from pura.report.request import ReportRequest

ALWAYS: Final = "always"
BY_POLICY: Final = "where the policy asks for a third person"
ROLES_APART: Final = (
    ("examiner", "reviewer", ALWAYS),
    ("examiner", "authoriser", ALWAYS),
    ("reviewer", "authoriser", BY_POLICY),
)
"""Pairs of roles that one person may not take for one finding : docs/reports.md, "Who may what"."""


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
