"""A fresh audit of the embedded text, held against what the report says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pura.base.catalogue import phrase
from pura.base.errors import PuraError, ReportFileError
from pura.record.audit import Audit
from pura.record.comparison import TOLERANCE
from pura.record.findings_digest import findings_digest
from pura.report.check.judge import BAD, GOOD, NOTICE, OPEN, CheckedPoint, listed

"""In powers of ten: another device or batch size moves the evidence by less (docs/evidence.md)."""

Again = Callable[[Audit], Audit]


def repeat(audits: Sequence[Audit], again: Again) -> list[CheckedPoint]:
    """Audit each embedded text again.

    Args:
        audits: From the record.
        again: Does the audit with the same key, profile and model; raises PuraError where key or
            model is not there.
    """
    return [_one(audit, again) for audit in audits]


def _one(audit: Audit, again: Again) -> CheckedPoint:
    if audit.text is None:
        return _not_possible(ReportFileError("repeat.text"))
    try:
        fresh = again(audit)
    except PuraError as error:
        return _not_possible(error)
    return compare(audit, fresh)


def compare(audit: Audit, fresh: Audit) -> CheckedPoint:
    """Hold a fresh audit against a recorded one: payload, outcome, evidence within tolerance."""
    if findings_digest(audit) == findings_digest(fresh):
        return CheckedPoint(name="repeat", state=GOOD, key="repeat.identical")
    delta = abs(audit.evidence.log10_e - fresh.evidence.log10_e)
    differing = [
        name
        for name, same in (
            ("differs.payload", audit.decoded.bits == fresh.decoded.bits),
            ("differs.outcome", audit.verdict == fresh.verdict),
            ("differs.tokens", audit.input.tokens == fresh.input.tokens),
            ("differs.evidence", delta <= max(TOLERANCE, 0.005 * abs(audit.evidence.log10_e))),
        )
        if not same
    ]
    if differing == ["differs.evidence"] and _weighed_by(audit) != _weighed_by(fresh):
        values = {"delta": f"{delta:.3f}"}
        return CheckedPoint(name="repeat", state=NOTICE, key="repeat.weighed", values=values)
    if differing:
        what = listed([phrase(key) for key in differing])
        return CheckedPoint(name="repeat", state=BAD, key="repeat.other", values={"what": what})
    return CheckedPoint(
        name="repeat", state=GOOD, key="repeat.same", values={"delta": f"{delta:.3f}"}
    )


def _weighed_by(audit: Audit) -> str:
    """Return what the log says of the decoding: the table that weighed the evidence among it."""
    return next((step.words("en") for step in audit.log if step.name == "decoding"), "")


def _not_possible(why: PuraError) -> CheckedPoint:
    return CheckedPoint(
        name="repeat",
        state=OPEN,
        key="repeat.not-possible",
        error=why,
    )
