"""Where findings stand: in which case, how kept, reviewed, reported, signed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from pura.caselog.case import FINISHED, REVIEWS
from pura.caselog.entries import LogEntry
from pura.caselog.log import CaseLog
from pura.caselog.saving import REPORT_ACTIONS

REPORTS: Final[Mapping[str, str]] = MappingProxyType(
    {"report-drafted": "drafted", "report-issued": "issued", "report-amended": "issued"}
)
_TELLING: Final = (
    "case-opened",
    "case-renamed",
    "report-signed",
    *FINISHED,
    *REVIEWS,
    *REPORT_ACTIONS,
)


@dataclass(frozen=True, kw_only=True)
class CaseStanding:
    """Where a saved finding stands.

    Attributes:
        case: Identifier of the case that has it.
        name: Of that case; None when it was erased.
        mode: ``keep``, ``seal`` or ``leave-out``: what became of the text.
        review: ``confirmed``, ``disputed``, or empty when nobody has looked.
        reviewer: Who; None when nobody has, or the name was erased.
        report: ``drafted`` or ``issued``; empty when it stands in no report, or in a withdrawn one.
        signed: The newest report of it is signed.
    """

    case: str
    name: str | None
    mode: str
    review: str = ""
    reviewer: str | None = None
    report: str = ""
    signed: bool = False


def standings(log: CaseLog, audits: Collection[str]) -> dict[str, CaseStanding]:
    """Return where findings stand, by the identifiers of their audits; unknown ones are left out.

    Args:
        log: The log.
        audits: Which.
    """
    wanted = frozenset(audits)
    found: dict[str, CaseStanding] = {}
    names: dict[str, str | None] = {}
    reports: dict[str, tuple[str, ...]] = {}
    with log.reading():
        for entry in log.acts(*_TELLING):
            if entry.action in ("case-opened", "case-renamed"):
                names[entry.case] = log.kept(entry, "name")
            elif entry.item in wanted:
                _follow(log, entry, found)
            elif entry.action in REPORT_ACTIONS:
                audits_in = tuple(a for a in map(str, entry.facts["items"]) if a in found)
                reports[str(entry.facts.get("sha256"))] = audits_in
                for audit in audits_in:
                    report = REPORTS.get(entry.action, "")
                    found[audit] = replace(found[audit], report=report, signed=False)
            elif entry.action == "report-signed":
                for audit in reports.get(str(entry.facts.get("unsigned")), ()):
                    found[audit] = replace(found[audit], signed=True)
    return {audit: replace(one, name=names.get(one.case)) for audit, one in found.items()}


def _follow(log: CaseLog, entry: LogEntry, found: dict[str, CaseStanding]) -> None:
    before = found.get(entry.item)
    if entry.action in FINISHED:
        new = CaseStanding(case=entry.case, name=None, mode=str(entry.facts["text"]))
        # A later case takes over what was said of it; a case that is not moved to changes nothing.
        found[entry.item] = new if before is None else replace(before, case=new.case, mode=new.mode)
    elif before is not None and entry.action in REVIEWS:
        who = log.person_name(entry.actor)
        found[entry.item] = replace(before, review=REVIEWS[entry.action], reviewer=who)
