"""One number over the findings of a record, the same whenever they are found again.

It leaves out what differs from run to run (identifier, time, seconds) and what says how the text
came in (file, register): the same text, prompt, keys, profile, model, device and version give the
same number. The redraws take their seed from the bytes of the file, so a text that is copied out of
a DOCX gives the same evidence and payload, but another number.
"""

from __future__ import annotations

from typing import Any, Final

from pura.base.canonical import canonical, former, sha256
from pura.record.audit import Audit

FORM: Final = 2
FORMS: Final = (FORM, 1)
"""2 is RFC 8785; 1 stands in reports of version 0.1.0, whose fractions Python wrote."""
_PARTS: Final = (
    "text",
    "prompt",
    "profile",
    "tokens",
    "steps",
    "bits",
    "payload",
    "decoder",
    "candidates",
    "evidence",
    "verdict",
    "passages",
    "variants",
    "policy",
)


def findings_digest(audit: Audit, form: int = FORM) -> str:
    """Return the SHA-256 over the findings, 64 hex digits.

    Args:
        audit: The record.
        form: One of :data:`FORMS`, how the findings are written to be hashed.
    """
    whole = audit.to_dict()
    # Records of earlier versions keep their number: what they called payload keeps that name here.
    whole["payload"] = whole["decoded"]
    part: dict[str, Any] = {name: whole[name] for name in _PARTS}
    later = ("marks", "more_marks", "prompts", "prior", "limits", "power", "stopped", "rereading")
    part |= {name: whole[name] for name in later if name in whole}
    part["keys"] = [key["fingerprint"] for key in whole["keys"]]
    part["model"] = whole["model"]["fingerprint"]
    part["device"] = [whole["device"]["kind"], whole["device"]["dtype"]]
    return sha256(former(part) if form == 1 else canonical(part))
