"""The annex for regulators: from stored profile, policy and power tables to one PDF."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pura.base.files import write_or_refuse
from pura.base.numerals import LANGUAGES
from pura.report.regulators import AnnexFacts, regulators_annex
from pura.report.request import PAPERS, check_choices
from pura.scheme import Profile
from pura.usecases.environment import Environment
from pura.usecases.power import tables_of
from pura.usecases.reports import WrittenFile, refuse_replacing
from pura.verdict.policy import load_policy
from pura.verdict.power_claim import shipped_power


@dataclass(frozen=True, kw_only=True)
class WriteAnnex:
    """Write the annex for a deployment.

    Attributes:
        profile: What it marks texts with.
        pdf: Where to.
        policy: The rule; None takes the stored one.
        date: Of the annex, ``YYYY-MM-DD``; empty: today.
        language: ``en`` or ``de``.
        paper: ``a4`` or ``us-letter``.
        replace: A file that is there may be replaced.
        detector: Address of the detector that others may ask; empty where there is none.
    """

    profile: Profile
    pdf: Path
    policy: Path | None = None
    date: str = ""
    language: str = "en"
    paper: str = "a4"
    replace: bool = False
    detector: str = ""


def write_annex(environment: Environment, request: WriteAnnex) -> WrittenFile:
    """Fill the annex and write it.

    Raises:
        PuraError: A choice does not exist, policy or a table cannot be used, the file is there
            already, or it cannot be written.
    """
    check_choices(("language", request.language, LANGUAGES), ("paper", request.paper, PAPERS))
    refuse_replacing([request.pdf], replace=request.replace)
    named = request.policy is not None
    policy = load_policy(request.policy or environment.paths.policy, must_exist=named)
    pdf = regulators_annex(
        AnnexFacts(
            profile=request.profile,
            policy=policy,
            own=tables_of(environment, policy),
            shipped=shipped_power(),
            date=request.date or datetime.now(UTC).date().isoformat(),
            language=request.language,
            paper=request.paper,
            detector=request.detector,
        )
    )
    write_or_refuse(request.pdf, pdf)
    return WrittenFile(path=request.pdf, size=len(pdf))
