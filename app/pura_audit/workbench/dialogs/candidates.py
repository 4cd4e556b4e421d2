"""The ranked payloads as a table."""

from __future__ import annotations

from pura.base.numerals import weight
from pura.record.audit import Audit
from pura_audit.platform.i18n import language, translate
from pura_audit.workbench.answer.mark_list import grouped


def candidate_table(
    audit: Audit, number: int = 0
) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
    """Return headers, rows and the sentence above them.

    Args:
        audit: The record.
        number: Of which mark, in the order of the text.
    """
    names = [field.name for field in audit.profile.fields]
    match = audit.finding.register_match
    headers = (
        translate("Dialog", "Rank"),
        translate("Dialog", "Share"),
        translate("Dialog", "Payload"),
        *names,
        *((translate("Dialog", "Register"),) if audit.register else ()),
    )
    rows = []
    mark = audit.finding.marks[number]
    for rank, found in enumerate(mark.candidates, start=1):
        # A payload in question is nobody's, so no entry stands beside it.
        entry = match if match is not None and match.payload == found.bits else None
        rows.append(
            (
                str(rank),
                weight(found.posterior, language()),
                grouped(found.bits),
                *(value.text for value in found.fields),
                *((entry.who if entry else "–",) if audit.register else ()),
            )
        )
    words = translate(
        "Dialog",
        "Shares of 1, all payloads counting alike beforehand. They rank the payloads under the "
        "assumption that the text carries a mark of this key.",
    )
    return headers, rows, words
