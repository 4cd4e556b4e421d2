"""Two audits side by side: what was examined, with what, and what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pura.record.audit import Audit

TOLERANCE: Final = 0.05
"""Powers of ten within which two values of the evidence count as the same; another device or
batch size moves it by less (evidence.md)."""


@dataclass(frozen=True, kw_only=True)
class ComparisonLine:
    """One thing that is compared.

    Attributes:
        name: Stable name.
        first: Of the first audit, ready to read.
        second: Of the second audit.
        same: The two agree, the evidence within :data:`TOLERANCE`.
    """

    name: str
    first: str
    second: str
    same: bool


_PARTS: Final[tuple[tuple[str, Callable[[Audit], str]], ...]] = (
    ("item", lambda a: a.input.name),
    ("sha256", lambda a: a.input.sha256),
    ("tokens", lambda a: str(a.input.tokens)),
    ("keys", lambda a: ", ".join(key.fingerprint for key in a.keys)),
    ("profile", lambda a: a.profile.name or a.profile.coding),
    ("model", lambda a: f"{a.model.name} ({a.model.fingerprint})"),
    ("prompt", lambda a: "known" if a.prompt.known else "unknown"),
    ("device", lambda a: f"{a.device.kind}, {a.device.dtype}"),
    ("decoder", lambda a: a.decoder),
    ("verdict", lambda a: a.verdict),
    # What is decoded without a mark, or is in question, is nobody's payload.
    ("payload", lambda a: ", ".join(m.payload.bits or "?" for m in a.named_marks) or "–"),
    ("repaired", lambda a: str(a.decoded.repaired) if a.verdict == "mark" else "–"),
    ("usable", lambda a: str(a.evidence.usable)),
)


def compare_audits(first: Audit, second: Audit) -> tuple[ComparisonLine, ...]:
    """Compare two audits, of the same text or of two.

    Args:
        first: One.
        second: The other.

    Returns:
        A line for each thing, the evidence last.
    """
    lines = [
        ComparisonLine(
            name=name, first=read(first), second=read(second), same=read(first) == read(second)
        )
        for name, read in _PARTS
    ]
    a, b = first.evidence.log10_e, second.evidence.log10_e
    lines.append(
        ComparisonLine(
            name="evidence", first=f"{a:.3f}", second=f"{b:.3f}", same=abs(a - b) <= TOLERANCE
        )
    )
    return tuple(lines)
