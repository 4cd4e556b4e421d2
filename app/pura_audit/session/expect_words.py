"""What may be expected of a text, in words, for the page that stands before the audit."""

from __future__ import annotations

from typing import Final

from pura.verdict.expect import Expectation, expect
from pura_audit.platform.i18n import duration, filled, translate
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.session.session import Session

SHORT_S: Final = 20.0  # what is over sooner needs no word


def expectation_words(item: Item, session: Session) -> str:
    """Return the expectation of a text that was not audited yet; "" where there is none to give."""
    profile = item.profile or (session.chosen.profile.profile if session.chosen.profile else None)
    if item.document is None or profile is None or item.state is not ItemState.READY:
        return ""
    if profile.foreign is not None:  # nothing was measured of it
        return ""
    known = bool(item.prompt.strip())
    # The words say nothing of power, so no file is read in the window's thread.
    words = _words(expect(item.document.text, profile, prompt_known=known, tables=()))
    seconds = session.audits.pace.seconds([item])
    if seconds is None or seconds < SHORT_S:
        return words
    said = translate("Expect", "The audit takes about {time:text} on this computer.")
    return f"{words} {filled(said, time=duration(seconds))}".strip()


def _words(found: Expectation) -> str:
    if not found.matters:
        return ""
    first = translate(
        "Expect",
        "If this text is marked, it can carry about {n:count} of {all:count} bits (an estimate).",
    )
    parts = [filled(first, n=found.bits, all=found.payload_bits)]
    notes = {
        "signs": translate("Expect", "The text is mostly code or numbers, which carry less."),
        "language": translate(
            "Expect", "The text does not look English; other languages were not measured."
        ),
        "short": translate("Expect", "The text is short; too little evidence is likely."),
        "repetitive": translate("Expect", "The text repeats itself, which adds nothing."),
    }
    return " ".join([*parts, *(notes[name] for name in found.notes)])
