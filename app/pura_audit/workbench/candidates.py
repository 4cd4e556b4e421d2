"""The ranked payloads as a table."""

from __future__ import annotations

from pura.base.numerals import weight
from pura.record.audit import Audit
from pura_audit.platform.i18n import language, translate
from pura_audit.workbench.mark_list import grouped


def candidate_table(audit: Audit) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
    """Return headers, rows and the sentence above them."""
    names = [field.name for field in audit.profile.fields]
    matches = {m.payload: m for m in audit.register.matches} if audit.register else {}
    headers = (
        translate("Dialog", "Rank"),
        translate("Dialog", "Weight"),
        translate("Dialog", "Payload"),
        *names,
        *((translate("Dialog", "Register"),) if audit.register else ()),
    )
    rows = []
    for rank, found in enumerate(audit.candidates, start=1):
        entry = matches.get(found.bits)
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
        "Weights with equal prior weight for all payloads. They rank the payloads under the "
        "assumption that the text carries a mark of this key.",
    )
    return headers, rows, words
