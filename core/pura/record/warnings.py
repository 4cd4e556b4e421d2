"""The warnings of a finding, as each asker of a service reads them.

A warning is a sentence without which an answer would be taken for more, or for less, than it is:
the cautions of the finding, and what qualifies its outcome and payload. Internal askers read them
as they are. Trusted askers are told no number that follows from the key, since texts could be
adapted to it; so each warning of :data:`WARNINGS` says in which words they read it, and to which
part of their answer it belongs. The public is told one word about a text, and of all warnings only
that the finding is a draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from pura.base.catalogue import catalogue
from pura.record.naming import NamedMark
from pura.words.sentences import Sentence, fill


class Warnable(Protocol):
    """A finding, as far as its warnings are concerned."""

    @property
    def qualifications(self) -> tuple[Sentence, ...]:
        """The sentences that stand beside the answer wherever that is given alone."""

    @property
    def cautions(self) -> tuple[Sentence, ...]:
        """What weakens or limits the findings."""

    @property
    def marks(self) -> tuple[NamedMark, ...]:
        """Each mark with what may be said of its payload."""


class Warned(NamedTuple):
    """How trusted askers read a warning.

    Attributes:
        subject: The part of the answer that it weakens: ``outcome``, ``payload`` or ``register``.
        plain: The same without numbers of the evidence, a text of the volume ``serve``; empty: the
            sentence is told as it is.
    """

    subject: str
    plain: str = ""


OUTCOME: Final = "outcome"
PAYLOAD: Final = "payload"
REGISTER: Final = "register"
"""Part of no answer: whoever asks a service is told of no entry, unless the record goes along."""

_AS_IT_IS: Final = Warned(OUTCOME)
WARNINGS: Final[dict[str, Warned]] = {
    # Only what everybody can count in the text, and how it was read.
    **dict.fromkeys(
        (
            "caution.short",
            "caution.unmeasured",
            "caution.hidden-invisible-characters",
            "caution.hidden-direction-marks",
            "caution.hidden-variation-selectors",
            "caution.hidden-tag-characters",
            "caution.hidden-control-characters",
            "caution.hidden-blank-letters",
            "caution.hidden-soft-hyphens",
            "caution.handled-case",
            "caution.handled-lines",
            "caution.handled-typing",
            "caution.handled-characters",
            "caution.handled-words",
            "caution.handled-settings",
            "caution.handled-scan",
            "caution.signs",
            "caution.language",
            "caution.prompt-unknown",
            "caution.message-unknown",
            "caution.model-unknown",
            "caution.retokenised",
            "caution.passage-whole",
        ),
        _AS_IT_IS,
    ),
    "way-out": _AS_IT_IS,
    "public.key": Warned(OUTCOME, "answer.draft"),
    "foreign.scheme": _AS_IT_IS,
    "caution.few-usable": Warned(OUTCOME, "warning.few-usable"),
    "caution.prompts-one": Warned(OUTCOME, "warning.prompts"),
    "caution.prompts-none": Warned(OUTCOME, "warning.prompts"),
    "caution.model-differs": Warned(OUTCOME, "warning.model"),
    "verifier.proxy": Warned(OUTCOME, "warning.model"),
    "caution.several-readings": Warned(OUTCOME, "warning.readings"),
    "caution.several-keys": Warned(OUTCOME, "warning.keys"),
    "caution.several-schemes": Warned(OUTCOME, "warning.keys"),
    "caution.several-epochs": Warned(OUTCOME, "warning.keys"),
    "caution.edited-here": Warned(OUTCOME, "warning.edited"),
    "stopped.early": Warned(OUTCOME, "warning.part"),
    "reread.found": Warned(OUTCOME, "warning.part"),
    "text.concentrated": Warned(OUTCOME, "warning.part"),
    "text.edited": Warned(OUTCOME, "warning.part"),
    "text.gap": Warned(OUTCOME, "warning.edited"),
    "text.gap-between": Warned(OUTCOME, "warning.edited"),
    "text.copy": Warned(OUTCOME, "warning.copy"),
    "marks.counted": Warned(OUTCOME, "warning.marks"),
    "payload.outside": Warned(PAYLOAD, "warning.outside"),
    "payload.unfit": Warned(PAYLOAD, "warning.withheld"),
    "payload.pieces": Warned(PAYLOAD, "warning.withheld"),
    "payload.withheld-unfit": Warned(PAYLOAD, "warning.withheld"),
    "payload.withheld-pieces": Warned(PAYLOAD, "warning.withheld"),
    "payload.in-question": Warned(PAYLOAD, "warning.in-question"),
    "payload.several": Warned(PAYLOAD, "warning.in-question"),
    "caution.erasures": Warned(PAYLOAD, "warning.bits"),
    "caution.repaired": Warned(PAYLOAD, "warning.bits"),
    "caution.paper-decoder": Warned(PAYLOAD, "warning.decoder"),
    "caution.prior-unused": Warned(PAYLOAD, "warning.prior"),
    "caution.question-unlike": Warned(PAYLOAD, "warning.question"),
    **dict.fromkeys(
        (
            "caution.register-when-epoch",
            "caution.register-when-field",
            "caution.register-epoch-field",
            "caution.register-model-field",
            "register",
        ),
        Warned(REGISTER),
    ),
}
"""Every warning by the key of its sentence, or by the first part of it."""


_OTHER: Final = Warned(OUTCOME, "warning.other")


def warned(key: str) -> Warned:
    """Return how trusted askers read the warning with a key.

    One that this version does not write, as in an old record, is told of without its words.
    """
    return WARNINGS.get(key) or WARNINGS.get(key.partition(".")[0]) or _OTHER


def warnings_for(finding: Warnable, released: tuple[str, ...] | None, language: str) -> list[str]:
    """Return what weakens an answer, the weightiest first, each once.

    Args:
        finding: What is answered.
        released: Fields of payloads that the asker is told; None: all, and numbers as well.
        language: ``en`` or ``de``.
    """
    sentences = (*finding.qualifications, *finding.cautions)
    outside = _outside(finding)
    if released is None:
        lines = [fill(one, language) for one in sentences]
        # The sentence names those of a text with one mark.
        if outside and not any(one.key == "payload.outside" for one in sentences):
            lines.append(_outside_words(outside, language))
        reasons = {mark.payload.withheld for mark in finding.marks} - {""}
        lines += [fill(Sentence(key=f"payload.{why}"), language) for why in sorted(reasons)]
        return list(dict.fromkeys(lines))
    lines = []
    for sentence in sentences:
        line = _plain(sentence, released, language)
        if line:
            lines.append(line)
    # Of fields the answer's own ones count, whatever sentence names them.
    if told_fields := [name for name in outside if name in released]:
        lines.insert(0, _outside_words(told_fields, language))
    if released and any(mark.payload.withheld for mark in finding.marks):
        lines.insert(0, _words("warning.withheld", language))
    return list(dict.fromkeys(lines))


def _plain(sentence: Sentence, released: Sequence[str], language: str) -> str:
    """Return a warning as a trusted asker reads it; empty where its subject is not told."""
    row = warned(sentence.key)
    if row.subject == REGISTER or sentence.key == "payload.outside":
        return ""
    if row.subject == PAYLOAD and not released:
        return ""
    return _words(row.plain, language) if row.plain else fill(sentence, language)


def _outside(finding: Warnable) -> list[str]:
    """Return the fields outside the profile's limits, of any mark, each once."""
    return list(dict.fromkeys(name for mark in finding.marks for name in mark.payload.outside))


def _outside_words(names: Sequence[str], language: str) -> str:
    return _words("warning.outside", language, fields=", ".join(names))


def _words(key: str, language: str, **values: str) -> str:
    return catalogue("serve").fill(key, language, values)
