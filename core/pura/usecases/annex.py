"""The annex for regulators: from stored profile, policy and power tables to one PDF."""

from __future__ import annotations

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


def write_annex(
    environment: Environment,
    *,
    profile: Profile,
    pdf: Path,
    policy: Path | None = None,
    date: str = "",
    language: str = "en",
    paper: str = "a4",
    detector: str = "",
    replace: bool = False,
) -> WrittenFile:
    """Fill the annex for a deployment and write it.

    Args:
        environment: Whose policy and tables.
        profile: What the deployment marks texts with.
        pdf: Where to.
        policy: File with the rule; None takes the stored one.
        date: Of the annex, ``YYYY-MM-DD``; empty: today.
        language: ``en`` or ``de``.
        paper: ``a4`` or ``us-letter``.
        detector: Address of the detector that others may ask; empty where there is none.
        replace: A file that is there may be replaced.

    Raises:
        PuraError: A choice does not exist, policy or a table cannot be used, the file is there
            already, or it cannot be written.
    """
    check_choices(("language", language, LANGUAGES), ("paper", paper, PAPERS))
    refuse_replacing([pdf], replace=replace)
    rule = load_policy(policy or environment.paths.policy, must_exist=policy is not None)
    written = regulators_annex(
        AnnexFacts(
            profile=profile,
            policy=rule,
            own=tables_of(environment, rule),
            shipped=shipped_power(),
            date=date or datetime.now(UTC).date().isoformat(),
            language=language,
            paper=paper,
            detector=detector,
        )
    )
    write_or_refuse(pdf, written)
    return WrittenFile(path=pdf, size=len(written))
