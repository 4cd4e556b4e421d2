"""What was found of each token, step, bit and mark, and what the evidence is the mean of.

The values of a record, and :func:`encode`, which writes them as plain JSON: the shape is the
dataclasses' own. NaN, which JSON does not know, stands as ``null`` in number arrays.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from pura.base.catalogue import phrase
from pura.base.decoder import JSON_NAME, DecodeError, Form, json_name, later, left_out, one_of
from pura.base.errors import ProfileError, RecordError
from pura.base.json_text import PIECE
from pura.record.naming import CandidateFacts, Passage
from pura.scheme import FieldValue, Profile
from pura.words.sentences import Sentence

VERDICTS: Final = ("mark", "indication", "no-mark", "insufficient", "not-examinable")
"""What the decision rule can make of a text."""


def encode(value: Any) -> Any:
    """Return a value of the record as plain JSON."""
    if isinstance(value, Profile):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [(f, getattr(value, f.name)) for f in dataclasses.fields(value)]
        return {json_name(f): encode(part) for f, part in parts if not left_out(f, part)}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, tuple | list):
        return [encode(v) for v in value]
    if isinstance(value, dict):
        return {str(k): encode(v) for k, v in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def array_of(kind: Any, *tail: int) -> Form:
    """Return the form of an array of numbers.

    Args:
        kind: Type of its numbers.
        tail: Its shape after the first axis.
    """

    def read(value: Any) -> np.ndarray[Any, Any]:
        if not isinstance(value, list):
            raise DecodeError(phrase("what.not-list"))
        try:
            array = np.array(value, dtype=kind)
        except (TypeError, ValueError, OverflowError):
            raise DecodeError(phrase("what.not-array")) from None
        if array.size == 0:
            array = array.reshape((0, *tail))
        if array.shape[1:] != tail:
            raise DecodeError(phrase("what.shape"))
        return array

    one = {"type": ["number", "null"] if kind is np.float64 else "integer"}
    items = {"anyOf": [one, {"type": "array", "items": one}]}
    return Form(read=read, schema={"type": "array", "items": items})


def _array(array: np.ndarray[Any, Any]) -> list[Any]:
    """Return an array as lists, piece by piece: other threads have their turns between them."""
    if array.size <= PIECE or not array.ndim:
        return _plain(array)
    width = array.size // array.shape[0]
    if width > PIECE:
        return [_array(row) for row in array]
    step = PIECE // width
    return [v for start in range(0, array.shape[0], step) for v in _plain(array[start:][:step])]


def _plain(array: np.ndarray[Any, Any]) -> list[Any]:
    if array.dtype.kind != "f" or not np.isnan(array).any():
        return cast("list[Any]", array.tolist())
    boxed = array.astype(object)
    boxed[np.isnan(array)] = None
    return cast("list[Any]", boxed.tolist())


F64: TypeAlias = Annotated[npt.NDArray[np.float64], array_of(np.float64)]
I64: TypeAlias = Annotated[npt.NDArray[np.int64], array_of(np.int64)]
U8: TypeAlias = Annotated[npt.NDArray[np.uint8], array_of(np.uint8)]


def _profile(value: Any) -> Profile:
    try:
        return Profile.from_dict(value)
    except ProfileError as error:
        raise RecordError("record.profile", why=error.phrase) from None


StoredProfile: TypeAlias = Annotated[
    Profile,
    Form(read=_profile, schema={"type": "object", "description": "The profile, scheme.md."}),
]
"""A profile as part of a record, which reads it by its own versions."""


@dataclass(frozen=True, kw_only=True)
class TokenEvidence:
    """Everything that is known of each token of the text; ``L`` tokens.

    Attributes:
        ids: int64 [L].
        spans: int64 [L, 2], character range of each token in the text.
        entropy_bits: float64 [L].
        lo: float64 [L], start of the token's interval in the secret order.
        hi: float64 [L], end of it.
        gate: uint8 [L], a :class:`pura.scheme.Gate`.
        log10_evidence: float64 [L], what the token adds to the log10 likelihood ratio of the
            payload, given the tokens before it; of several marks together.
        marked: float64 [L], posterior that the token belongs to a marked passage.
    """

    ids: I64
    spans: Annotated[npt.NDArray[np.int64], array_of(np.int64, 2)]
    entropy_bits: F64
    lo: F64
    hi: F64
    gate: U8
    log10_evidence: F64
    marked: F64


@dataclass(frozen=True, kw_only=True)
class StepEvidence:
    """The steps that carry bits; ``S`` of them.

    Attributes:
        token: int64 [S], index into the tokens.
        arity: int64 [S], 1 … 3.
        phase: float64 [S], ``U_t``.
        index: int64 [S], first codeword position.
        llr_nats: float64 [S, 3], local LLR of each bit read; NaN beyond the arity.
    """

    token: I64
    arity: I64
    phase: F64
    index: I64
    llr_nats: Annotated[npt.NDArray[np.float64], array_of(np.float64, 3)]

    @classmethod
    def none(cls) -> StepEvidence:
        """Return the evidence of no step: nothing was read, or what was read carries no bits."""
        integers = np.zeros(0, dtype=np.int64)
        return cls(
            token=integers,
            arity=integers,
            phase=np.zeros(0),
            index=integers,
            llr_nats=np.zeros((0, 3)),
        )


@dataclass(frozen=True, kw_only=True)
class BitEvidence:
    """One position of the codeword.

    Attributes:
        position: 0 … n-1.
        llr_nats: Sum of the local LLRs; positive supports 1.
        readings: How many steps read it; 0 is an erasure.
        bit: The decoded bit.
        repaired: The decoded bit disagrees with the sign of the LLR.
        parity: It is a parity bit (``spc`` only).
        weak: Its LLR is too small to stand alone.
    """

    position: int
    llr_nats: float = field(metadata={JSON_NAME: "llr"})
    readings: int
    bit: int
    repaired: bool
    parity: bool
    weak: bool

    @property
    def llr_log10(self) -> float:
        """The LLR as it is shown to people, in the unit of all evidence."""
        return self.llr_nats / math.log(10)


@dataclass(frozen=True, kw_only=True)
class PayloadFacts:
    """The most probable payload of the strongest mark; whether it may be named is another matter.

    Attributes:
        bits: ``L_m`` characters 0 and 1; empty for a mark by others, and where it is withheld.
        posterior: float64 [L_m], posterior that each bit is as decoded.
        repaired: How many codeword positions were repaired.
        fields: What the layout makes of it; empty without a layout.
    """

    bits: str
    posterior: F64
    repaired: int
    fields: tuple[FieldValue, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EvidenceFacts:
    """How strong the findings are (evidence.md).

    Attributes:
        log10_e: log10 of the e-value, the mean likelihood ratio over payloads, grid and keys.
        p_bound: ``min(1, 1/e)``, the proven bound.
        p_redraw: Redraw p-value, or None when it was not computed.
        draws: Number of redraws ``R``.
        seed: Seed of the redraws.
        scale_word: Word of the verbal scale, English, from the sentence catalogue.
        power: Share of texts with ``needed`` usable positions marked in a row (all positions,
            where that is None or more) that reach the threshold, as a lower limit; None when no
            table covers the conditions.
        keys_tried: Keys and profiles that the mean runs over.
        usable: Steps that carry bits, ``S``.
        needed: Usable positions marked in a row at which the policy's power is reached, or None.
        lr_capped: Reported likelihood ratio, never above the policy's cap.
        capped: The cap was applied.
    """

    log10_e: float
    p_bound: float
    p_redraw: float | None
    draws: int
    seed: int
    scale_word: str
    power: float | None
    keys_tried: int
    usable: int
    needed: int | None
    lr_capped: float
    capped: bool


@dataclass(frozen=True, kw_only=True)
class PowerFacts:
    """Which table the power comes from (power.md).

    Attributes:
        table: SHA-256 of the table, 64 hex digits.
        name: What whoever measured it called it; empty for the one that ships.
        own: It is one of the organisation's, named by its policy.
        texts: Marked texts that it was measured on; 0 where the table does not say.
        date: Day of the measurement, ISO 8601; empty where the table does not say.
    """

    table: str
    name: str
    own: bool
    texts: int
    date: str


@dataclass(frozen=True, kw_only=True)
class FitFacts:
    """How well the passages of a mark fit a text that was written under it (evidence.md §7).

    Attributes:
        log10_ratio: log10 of how much better their steps fit in stretches, as those of a text that
            was written and edited, than one by one, as those of a text that was put together.
        log10_per_step: log10 of how much better they fit in stretches than without the mark, for
            each step.
        steps: Steps that carry bits in these passages.
    """

    log10_ratio: float
    log10_per_step: float
    steps: int


@dataclass(frozen=True, kw_only=True)
class MarkFacts:
    """One mark of the text: a payload, and the passages that carry it.

    Attributes:
        key: Fingerprint of the key under which it was read.
        bits: ``L_m`` characters 0 and 1, the most probable payload; empty where it is withheld.
        fields: What the layout makes of them.
        passages: Where it stands; no passage belongs to two marks of one key.
        share: Share of the text's tokens inside these passages; up to 0.3.0 of its usable
            positions.
        candidates: The most probable payloads of these passages alone, strongest first; empty in
            records of earlier versions.
        own_log10_e: log10 of the e-value of the statement that these passages carry a mark; None in
            records of earlier versions.
        log10_e: In records of earlier versions its share of the evidence of the whole text, which
            says nothing of this mark alone and is shown nowhere; else None.
        fit: How well its passages fit a text that was written under it; None in records of earlier
            versions, and where no step stands in its passages.
        withheld: Why its payload is withheld and nobody is named
            (:data:`~pura.record.naming.WITHHELD`); empty where it is not.
    """

    key: str
    bits: str
    fields: tuple[FieldValue, ...]
    passages: tuple[Passage, ...]
    share: float
    candidates: tuple[CandidateFacts, ...] = later(())
    own_log10_e: float | None = later(None)
    log10_e: float | None = later(None)
    fit: FitFacts | None = later(None)
    withheld: str = later("")


@dataclass(frozen=True, kw_only=True)
class ChangeFacts:
    """One kind of typographic substitution that was undone (documents.md).

    Attributes:
        name: Stable name, e.g. ``curly-quotes``.
        count: How often.
    """

    name: str
    count: int


@dataclass(frozen=True, kw_only=True)
class VariantFacts:
    """One reading of the text; all that were read count in the evidence.

    Attributes:
        name: ``found``, ``restored``, ``layout``, ``case``, ``spelling``, ``ids``, or the name of
            an alternative of the document.
        shown: The record's tokens, bits and passages are of this one.
        text: Its characters; None where they are the record's own text, or it leaves text out.
        characters: Code points.
        tokens: ``L``.
        usable: Steps that carry bits, for the key with the largest evidence.
        log10_e: Mean over the keys, for this reading alone.
        verdict: What the decision rule would make of this reading alone.
        changes: What was undone.
        read: The model read it; else the text is by far likelier in another reading.
    """

    name: str
    shown: bool
    text: str | None
    characters: int
    tokens: int
    usable: int
    log10_e: float
    verdict: Annotated[str, one_of(*VERDICTS)]
    changes: tuple[ChangeFacts, ...]
    read: bool = later(True)


@dataclass(frozen=True, kw_only=True)
class PromptReading:
    """The text as found, read after one of several candidate prompts; all count in the evidence.

    Attributes:
        number: Which candidate, from 1.
        sha256: Of its UTF-8 bytes.
        tokens: Tokens before the text, with template and system prompt.
        log10_e: Mean over the keys, for this reading alone; None where reading had stopped before.
        shown: The record's tokens, bits and passages are of this one.
    """

    number: int
    sha256: str
    tokens: int
    log10_e: float | None
    shown: bool


@dataclass(frozen=True, kw_only=True)
class QuestionReading:
    """The text as found, read after a stored question; never its words.

    Attributes:
        number: Of its row in the store; of several with the same tokens the likeliest.
        same: How many rows with the same tokens it stands for.
        by: What led to it: ``words`` that it shares with the text, or the ``number`` that the text
            carries.
        tokens: Tokens that stood before the answer.
        until: Last day on which it is kept, ISO 8601.
        weight: Part of the evidence that this reading has.
        log10_e: log10 of its own evidence; of one that is not counted, what the payloads of its
            answers say, of a longer text at its beginning.
        counted: It is part of the evidence; else it would add next to nothing.
    """

    number: int
    same: int
    by: Annotated[str, one_of("words", "number")]
    tokens: int
    until: str
    weight: float
    log10_e: float
    counted: bool


@dataclass(frozen=True, kw_only=True)
class QuestionFacts:
    """How stored questions entered the evidence (evidence.md §3, "Stored questions").

    Attributes:
        stored: Questions of the store.
        weight: Part of the evidence that all readings after stored questions share, read or not.
        log10_without: log10 of what the text says when it is read without any of them.
        tried: Those after which it was read, in this order.
        carried: Row of the question that carries more than half of the evidence; None where none
            does.
        shown: Row of the question after which the shown reading was read; None where it was read
            without one.
        same_payload: How many stored questions have an answer with the payload that the text
            carries; None where none is identified.
        gain: log10 by which the question of that payload makes it likelier, the largest of those
            that were read; None without one.
        fits: ``yes``: the text fits the question that was asked; ``no``: it does not; empty where
            neither can be said.
    """

    stored: int
    weight: float
    log10_without: float
    tried: tuple[QuestionReading, ...]
    carried: int | None = None
    shown: int | None = None
    same_payload: int | None = None
    gain: float | None = None
    fits: Annotated[str, one_of("yes", "no", "")] = ""

    @property
    def fit(self) -> Sentence | None:
        """Whether the text fits the question that was asked; None where neither can be said."""
        if self.fits == "no":
            return Sentence(key="question.unlike")
        if self.fits != "yes":
            return None
        if self.carried is None:
            return Sentence(key="question.fits")
        return Sentence(key="question.fits-number", values={"number": str(self.carried)})


@dataclass(frozen=True, kw_only=True)
class LimitsFacts:
    """How limits of the payload's fields entered the evidence; the profile holds them.

    Attributes:
        weight: Part of the prior weight that all payloads share; those within share the rest.
        log10_share: log10 of the share of all payloads that is within.
        log10_alike: log10 of the e-value with all payloads alike, over all keys and readings.
        day: What ``today`` in the limits stood for, ISO 8601; empty where none says it. It is part
            of the rule: another day is another rule (evidence.md §3, "Limits as prior").
    """

    weight: float
    log10_share: float
    log10_alike: float
    day: str = later("")


@dataclass(frozen=True, kw_only=True)
class PriorFacts:
    """How the register of issued payloads entered the evidence, as its policy fixed beforehand.

    Attributes:
        version: Which state of the register.
        digest: Digest over its rows, hex.
        date: When it was last changed, ISO 8601; empty when it never was.
        entries: Its payloads of the profile's length.
        weight: Part of the prior weight that they share.
        log10_alike: log10 of the e-value with all payloads alike, over all keys and readings.
        log10_issued: log10 of the e-value of the issued payloads alone.
    """

    version: str
    digest: str
    date: str
    entries: int
    weight: float
    log10_alike: float
    log10_issued: float


@dataclass(frozen=True, kw_only=True)
class SchemeFacts:
    """One scheme that was tried, where not PURA's mark alone was; the evidence is their mean.

    Attributes:
        profile: Names the scheme.
        keys: Fingerprints of its keys; of a mark by others the one that its secret is sealed under.
        log10_e: log10 of its own evidence, the mean over its readings.
        shown: The record's tokens are of this one.
        weighed: A model's probabilities took part in the bets on a mark by others.
    """

    profile: StoredProfile
    keys: tuple[str, ...]
    log10_e: float
    shown: bool
    weighed: bool = later(False, omitted=False)


@dataclass(frozen=True, kw_only=True)
class StopFacts:
    """Where reading was stopped, as the evidence was there.

    Attributes:
        read: Tokens that were read.
        tokens: Tokens of the text.
        log10_e: log10 of the evidence that the policy stops at.
        unread: Further readings of the text that were not begun; each counts as 0.
    """

    read: int
    tokens: int
    log10_e: float
    unread: int


@dataclass(frozen=True, kw_only=True)
class RereadingFacts:
    """Windows of a long text, which may be read a second time with nothing before them.

    Attributes:
        weight: Part of the evidence that all windows share, read or not.
        windows: How many there are, in the form of the text that was read again.
        read: How many were read.
        tokens: Tokens of those.
        log10_first: log10 of what the first readings add to the evidence.
        log10_second: log10 of what the windows add; None where none was read.
        first_token: First token of the window that the findings rest on, whose second reading the
            record's tokens, steps and bits are of; None where they rest on first readings.
        last_token: Its last token, inclusive.
    """

    weight: float
    windows: int
    read: int
    tokens: int
    log10_first: float
    log10_second: float | None = None
    first_token: int | None = None
    last_token: int | None = None
