"""How often a marked text would be found: the table behind "no mark found".

Power is a statement about how much of the text is marked: "of texts like this one in which at least
so many usable positions in a row are marked". An entry measured on texts marked from end to end
speaks of those only; one measured on passages inside longer texts (``text_usable``) of every text
up to that length.

Without it the absence of a mark says nothing. The tables that ship (``resources/power/``) are
measured on unedited marked texts: for a class of usable positions, how many of so many texts
reached the threshold. What is used is never the share itself but its lower confidence limit
(Clopper and Pearson 1934), so a small study cannot make a strong claim: even if every text was
found it takes 59 of them to show a power of 0.95. Where nothing was measured the power is None,
and the outcome is "too little evidence", never "no mark".

What a text may be told of it is :mod:`pura.verdict.power_claim`; how a table is read,
:mod:`pura.verdict.power_file`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pura.base.decoder import READ, Decoder, later
from pura.scheme import Profile

if TYPE_CHECKING:
    from pura.decode.likelihood import LikelihoodModel

PROSE: Final = "English"
"""Of what the texts were where a table does not say it."""


@dataclass(frozen=True, kw_only=True)
class _Sampling:
    temperature: float
    top_k: int
    top_p: float


def _sampling(value: object, _: object) -> tuple[float, int, float]:
    found = _DECODER.decode(_Sampling, value)
    return found.temperature, found.top_k, found.top_p


_DECODER: Final = Decoder()


@dataclass(frozen=True, kw_only=True)
class PowerEntry:
    """What was measured under one set of conditions.

    Attributes:
        code: ``spc`` or ``tbcc``.
        payload_bits: ``L_m``.
        threshold: log10 of the evidence that counted as found.
        prompt: The verifier knew the prompt.
        sampling: Temperature, top_k and top_p of the generator.
        entropy_thresholds_bits: The gate's thresholds.
        usable: Lower ends of the classes of usable positions, ascending.
        found: Texts of each class that reached the threshold.
        texts: Texts of each class.
        level: Confidence level of the limits.
        text_usable: Usable positions of the longest texts that the passages stood in; 0 where the
            texts were marked from end to end.
        edit: What was done to the texts before they were read; empty for nothing.
    """

    code: str
    payload_bits: int
    threshold: float
    prompt: bool
    sampling: tuple[float, int, float] = field(metadata={READ: _sampling})
    entropy_thresholds_bits: tuple[float, ...]
    usable: tuple[int, ...]
    found: tuple[int, ...]
    texts: tuple[int, ...]
    level: float
    text_usable: int = later(0)
    edit: str = later("")

    @cached_property
    def limits(self) -> tuple[float, ...]:
        """Lower confidence limits, made monotone downwards.

        Power grows with the usable positions, so a class is never credited with more than any
        class above it: the running minimum from the right.
        """
        lowest = 1.0
        out = []
        for found, texts in zip(reversed(self.found), reversed(self.texts), strict=True):
            lowest = min(lowest, lower_limit(found, texts, self.level))
            out.append(lowest)
        return tuple(reversed(out))

    def speaks_of(self, profile: Profile, threshold: float) -> bool:
        """Whether it was measured as a profile says, with payload and threshold as hard or harder.

        Args:
            profile: Its code, payload, sampling and gate.
            threshold: log10 of the evidence that counts as found.
        """
        return (
            self.code == profile.code
            and self.payload_bits >= profile.payload_bits
            and self.threshold >= threshold
            and self.sampling == (profile.temperature, profile.top_k, profile.top_p)
            and self.entropy_thresholds_bits == profile.entropy_thresholds_bits
        )

    def power(self, usable: int) -> float:
        """Return the limit of the class that holds ``usable``; 0 below the first class."""
        at = sum(low <= usable for low in self.usable)
        return self.limits[at - 1] if at else 0.0

    def needed(self, power: float) -> int | None:
        """Return the usable positions from which the power is reached, or None."""
        for low, limit in zip(self.usable, self.limits, strict=True):
            if limit >= power:
                return low
        return None


@dataclass(frozen=True, kw_only=True)
class PowerTable:
    """All that was measured.

    Attributes:
        entries: One for each set of conditions.
        models: Fingerprints of the models that were measured, as generator and verifier alike
            unless the conditions name ``generators``.
        conditions: What the study says of itself.
        fingerprint: SHA-256 of the whole table in its canonical form, 64 hex digits.
        likelihood: The likelihood table that was learnt with it; None where the shipped one weighed
            its texts.
    """

    entries: tuple[PowerEntry, ...] = ()
    models: tuple[str, ...] = ()
    conditions: dict[str, Any]
    fingerprint: str = ""
    # Its numbers are part of what the fingerprint is over.
    likelihood: LikelihoodModel | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """What whoever measured it called it; empty for the study's."""
        return str(self.conditions.get("name", ""))

    def power(
        self,
        usable: int,
        profile: Profile,
        threshold: float,
        prompt_known: bool,
        *,
        model: str | None = None,
    ) -> float | None:
        """Return the share of unedited marked texts that would be found, as a lower limit.

        Args:
            usable: Steps of the text that carry bits, ``S``.
            profile: Its code, payload, sampling and gate choose the entry.
            threshold: log10 of the evidence that counts as found (``t_found``).
            prompt_known: The verifier knows the prompt.
            model: Fingerprint of the model that reads the text. None asks for no particular one.

        Returns:
            0 … 1, or None when the conditions were not measured.
        """
        entry = self._entry(profile, threshold, prompt_known, model)
        return None if entry is None else entry.power(usable)

    def needed(
        self,
        profile: Profile,
        threshold: float,
        power: float,
        prompt_known: bool,
        *,
        model: str | None = None,
    ) -> int | None:
        """Return how many usable positions the power takes; None when not measured or reached."""
        entry = self._entry(profile, threshold, prompt_known, model)
        return None if entry is None else entry.needed(power)

    def run(self, asked: Asked, power: float) -> tuple[float | None, int | None]:
        """Return what may be said of marked positions in a row in the text at hand.

        Args:
            asked: The text and the conditions of its audit.
            power: How often they must be found to say so.

        Returns:
            The share of such texts that would be found, as a lower limit, and how many positions
            must be marked in a row for that. Where none reaches ``power``, what is known of the
            text marked from end to end, and from how many positions such texts reach it. None
            where nothing fits.
        """
        if not self._measured(asked):
            return None, None
        whole = self._entry(asked.profile, asked.threshold, asked.prompt_known, None)
        inside = self._entry(
            asked.profile, asked.threshold, asked.prompt_known, None, text_usable=asked.usable
        )
        if inside is not None:
            needed = inside.needed(power)
            if needed is not None and needed <= asked.usable:
                return inside.power(needed), needed
        if whole is None:
            return None, None
        reached = whole.power(asked.usable)
        return reached, asked.usable if reached >= power else whole.needed(power)

    def _measured(self, asked: Asked) -> bool:
        """Whether the conditions of an audit are those of the study."""
        conditions = self.conditions
        # Where no generators are named the texts were read by the model that wrote them.
        generators = conditions.get("generators", [asked.reader])
        return (
            asked.reader in self.models
            and asked.profile.model in generators
            and asked.likelihood == conditions.get("likelihood", asked.likelihood)
            and asked.dtype in conditions.get("dtypes", [asked.dtype])
            and self.suits(asked.profile, asked.kind)
        )

    def suits(self, profile: Profile, kind: str) -> bool:
        """Whether texts like one of a kind, under a profile, were measured, by whatever model.

        Args:
            profile: Its context rules, template and system prompt.
            kind: What the text looks like (:func:`pura.verdict.expect.kind_of`).
        """
        conditions = self.conditions
        return (
            (not kind or kind in conditions.get("kinds", [PROSE]))
            and all(
                getattr(profile, name) == conditions[name]
                for name in ("context_window", "history", "prefix")
                if name in conditions
            )
            and all(
                getattr(profile, name) == conditions.get(name)
                for name in ("chat_template", "system_prompt")
            )
        )

    def _entry(
        self,
        profile: Profile,
        threshold: float,
        prompt_known: bool,
        model: str | None,
        *,
        text_usable: int = 0,
    ) -> PowerEntry | None:
        """Choose the measurement that cannot flatter the case at hand.

        A longer payload, a higher threshold, a longer text around the passage and an unknown
        prompt all make finding harder, so a measurement under them is a lower limit too; among
        those that fit, the closest one.
        """
        if model is not None and model not in self.models:
            return None
        fitting = [
            entry
            for entry in self.entries
            if not entry.edit
            and entry.speaks_of(profile, threshold)
            and (prompt_known or not entry.prompt)
            and (entry.text_usable >= text_usable if text_usable else not entry.text_usable)
        ]
        return min(
            fitting,
            key=lambda entry: (
                entry.text_usable,
                entry.payload_bits,
                entry.threshold,
                entry.prompt != prompt_known,
            ),
            default=None,
        )


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A text under audit, as far as the power depends on it.

    Attributes:
        profile: Code, payload, sampling, gate; names the model that generates.
        usable: Steps of the text that carry bits, ``S``.
        threshold: log10 of the evidence that one marked reading under one key must reach.
        prompt_known: The verifier knows the prompt.
        reader: Fingerprint of the model that reads.
        dtype: Its number format.
        kind: What its words look like (:func:`pura.verdict.expect.kind_of`).
        likelihood: Fingerprint of the likelihood table that weighed it.
    """

    profile: Profile
    usable: int
    threshold: float
    prompt_known: bool
    reader: str
    dtype: str
    kind: str
    likelihood: str


def lower_limit(found: int, texts: int, level: float = 0.95) -> float:
    """Return the one-sided lower confidence limit of a share (Clopper and Pearson 1934).

    The ``p`` at which ``P(X >= found)`` is ``1 - level`` for ``X`` binomial over ``texts``.

    Args:
        found: Successes.
        texts: Trials.
        level: Confidence level.
    """
    if found <= 0:
        return 0.0
    from scipy.special import betaincinv  # late: the window starts without it

    return float(betaincinv(found, texts - found + 1, 1 - level))
