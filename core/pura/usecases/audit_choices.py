"""How texts are audited, apart from key, profile and model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pura.base.errors import InputError
from pura.detect.verdict.policy import Policy
from pura.record.decoders import DECODERS
from pura.usecases.choices import EPOCHS, RESTORE, STOP_EARLY, WEIGH


@dataclass(frozen=True, kw_only=True)
class Choices:
    """How texts are audited.

    Attributes:
        decoder: Which payload is reported, one of :data:`~pura.record.decoders.DECODERS`; ``paper``
            is the published method.
        policy: A policy, or its file, instead of the user's; None takes the user's, or the default
            one.
        ask_register: True asks the register of issued payloads, and wants one; False does not
            ask; None asks where there is one.
        questions: Also read texts after the stored questions that they may answer: of the user's
            question store, or of another file.
        restore: Also read the text with typographic substitutions undone.
        stop_early: Read no further once the evidence has reached what is ever reported; False does
            what the policy says.
        follow: Tell of the evidence while a long text is read.
        epochs: ``FROM..TO``: the keys of these days, weeks or months are tried, derived from
            the chosen ones; empty takes the last ones, up to today and as many as the policy says,
            where the profile says that keys are such; ``none`` takes the keys as they are.
        weigh: Let the model read the text for marks by others too, where that sharpens the
            evidence (Gumbel-max).
        trust: Certificates, PEM, whose signatures of manifests are trusted; None takes the
            user's list (:func:`~pura.usecases.choices.trusted`), empty trusts nobody.
        leave_out: What is left out of the examined texts besides what the policy says, of
            :data:`~pura.record.left_out.LEAVE_OUT`.
        resume: Keep sealed numbers of long texts until their audit ends, and go on from them.
    """

    decoder: str = DECODERS[0]
    policy: Path | Policy | None = None
    ask_register: bool | None = None
    questions: Path | bool = False
    restore: bool = RESTORE
    stop_early: bool = STOP_EARLY
    follow: bool = False
    epochs: str = EPOCHS
    weigh: bool = WEIGH
    trust: str | None = None
    leave_out: tuple[str, ...] = ()
    resume: bool = False

    def __post_init__(self) -> None:
        """Refuse a decoder that does not exist, whoever names it.

        Raises:
            InputError: It is none of :data:`~pura.record.decoders.DECODERS`.
        """
        if self.decoder not in DECODERS:
            decoders = ", ".join(DECODERS)
            raise InputError("choice.unknown", known=decoders, name=self.decoder, code="usage")
