"""The record of one audit: the only thing that views, reports and logs read.

Frozen values, one name each (docs/architecture.md). JSON out and in again without loss: floats
keep all their digits, arrays keep their type and shape. The record never holds a key, only
fingerprints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pura.base.decoder import JSON_NAME, READ, later
from pura.base.errors import PuraError, RecordError
from pura.record.encode import array_of, encode
from pura.record.naming import (
    CandidateFacts,
    NamedMark,
    NamedPayload,
    Passage,
    RegisterMatch,
    identified_from,
    name_payload,
)
from pura.record.presented import Presented, answer_of, beside_of, compared_of
from pura.record.spoken import sentences_said
from pura.record.transform import Transform
from pura.scheme import FieldValue, Profile
from pura.words.sentence import Note, Sentence
from pura.words.sentences import fill, findings, headline, noted

SCHEMA = "pura-audit/1"
OLD_MOST_MARKS = 8
"""So many marks earlier versions looked for in a text, and no more."""
LR_CAP = 1e6
"""Largest likelihood ratio that is printed, where a record's policy does not say."""

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class InputFacts:
    """What was examined.

    Attributes:
        name: File name, or ``-`` for standard input, or ``pasted text``.
        sha256: Of the original bytes (of the UTF-8 text when it was pasted).
        size_bytes: Length of the original bytes.
        characters: Code points of the text that was tokenised.
        tokens: ``L``.
        encoding: How bytes became text.
        format: Format that the file was read as; ``text`` for plain and pasted text.
        part: Which part of the file this is; empty when the file is one text.
        transforms: What extraction did to the characters, in order; then what is hidden among
            them (:mod:`pura.documents.c2pa`).
    """

    name: str
    sha256: str
    size_bytes: int
    characters: int
    tokens: int
    encoding: str = "utf-8"
    format: str = "text"
    part: str = ""
    transforms: tuple[Transform, ...] = ()

    @property
    def conditions(self) -> tuple[Sentence, ...]:
        """What is said of manifests that were hidden among the characters."""
        return tuple(
            Sentence(key=key, values={"k": one.count})
            for one in self.transforms
            if (key := f"condition.{one.name}") in findings()
        )


@dataclass(frozen=True, kw_only=True)
class PromptFacts:
    """Whether the verifier knew the prompt.

    Attributes:
        known: True when a prompt was given; of several candidates, when the shown reading has one.
        sha256: Of the prompt's UTF-8 bytes, or None.
        tokens: Its length, with template and system prompt where the profile holds them.
    """

    known: bool = False
    sha256: str | None = None
    tokens: int = 0


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
class KeyFacts:
    """A key, by its fingerprint.

    Attributes:
        fingerprint: 16 hex digits.
        label: The key's name in the key store, or None.
    """

    fingerprint: str
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """The model that read the text.

    Attributes:
        name: Name in the model store, or the folder's name.
        fingerprint: First 16 hex digits of SHA-256 over the weights' file hashes and the config.
        tokenizer: Tokenizer fingerprint (docs/scheme.md §6).
        architecture: Class name, e.g. ``LlamaForCausalLM``.
        parameters: Number of weights.
        vocab_size: ``len(tokenizer)``.
        context_length: Longest window in tokens.
        weights: Where the weights came from: ``safetensors`` or ``gguf``.
    """

    name: str
    fingerprint: str
    tokenizer: str
    architecture: str
    parameters: int
    vocab_size: int
    context_length: int
    weights: str


@dataclass(frozen=True, kw_only=True)
class DeviceFacts:
    """Where the model ran.

    Attributes:
        kind: ``cpu``, ``cuda`` or ``mps``.
        name: Name of the chip.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        reason: Why this device.
    """

    kind: str
    name: str
    dtype: str
    reason: Note


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
    spans: I64 = field(metadata={READ: array_of(np.int64, 2)})
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
    llr_nats: F64 = field(metadata={READ: array_of(np.float64, 3)})

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
        bits: ``L_m`` characters 0 and 1.
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
    """How strong the findings are (docs/evidence.md).

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
    """Which table the power comes from (docs/power.md).

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
class MarkFacts:
    """One mark of the text: a payload, and the passages that carry it.

    Attributes:
        key: Fingerprint of the key under which it was read.
        bits: ``L_m`` characters 0 and 1, the most probable payload.
        fields: What the layout makes of them.
        passages: Where it stands; no passage belongs to two marks of one key.
        share: Share of the usable positions inside these passages.
        candidates: The most probable payloads of these passages alone, strongest first; empty in
            records of earlier versions.
        own_log10_e: log10 of the e-value of the statement that these passages carry a mark; None in
            records of earlier versions.
        log10_e: In records of earlier versions its share of the evidence of the whole text, which
            says nothing of this mark alone and is shown nowhere; else None.
    """

    key: str
    bits: str
    fields: tuple[FieldValue, ...]
    passages: tuple[Passage, ...]
    share: float
    candidates: tuple[CandidateFacts, ...] = later(())
    own_log10_e: float | None = later(None)
    log10_e: float | None = later(None)


@dataclass(frozen=True, kw_only=True)
class ChangeFacts:
    """One kind of typographic substitution that was undone (docs/documents.md).

    Attributes:
        name: Stable name, e.g. ``curly-quotes``.
        count: How often.
    """

    name: str
    count: int


@dataclass(frozen=True, kw_only=True)
class VariantFacts:
    """One reading of the text; all of them count in the evidence.

    Attributes:
        name: ``found``, ``restored``, ``layout``, ``case``, ``ids``, or the name of an alternative
            of the document.
        shown: The record's tokens, bits and passages are of this one.
        text: Its characters; None where they are the record's own text, or it leaves text out.
        characters: Code points.
        tokens: ``L``.
        usable: Steps that carry bits, for the key with the largest evidence.
        log10_e: Mean over the keys, for this reading alone.
        verdict: What the decision rule would make of this reading alone.
        changes: What was undone.
    """

    name: str
    shown: bool
    text: str | None
    characters: int
    tokens: int
    usable: int
    log10_e: float
    verdict: str
    changes: tuple[ChangeFacts, ...]


@dataclass(frozen=True, kw_only=True)
class LimitsFacts:
    """How limits of the payload's fields entered the evidence; the profile holds them.

    Attributes:
        weight: Part of the prior weight that all payloads share; those within share the rest.
        log10_share: log10 of the share of all payloads that is within.
        log10_alike: log10 of the e-value with all payloads alike, over all keys and readings.
    """

    weight: float
    log10_share: float
    log10_alike: float


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

    profile: Profile
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


@dataclass(frozen=True, kw_only=True)
class RegisterFacts:
    """What the register of issued payloads says.

    Attributes:
        version: Which state of the register (a digest of its content and its size).
        date: When it was last changed, ISO 8601.
        entries: Its size ``N``.
        matches: The entries that carry posterior weight, strongest first; of several marks the
            entry of each identified payload. Empty where the payload is in question.
        none_weight: Posterior of "not in the register".
        prior_none: Prior of "not in the register", from the policy.
        chance: Probability that a random payload agrees with some entry, ``N / 2**L_m``.
    """

    version: str
    date: str
    entries: int
    matches: tuple[RegisterMatch, ...]
    none_weight: float
    prior_none: float
    chance: float


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """One numbered step of the audit: what was done, what was not and why.

    Attributes:
        number: 1 … 12, the same in the docs and in the code.
        name: input, text, tokens, fitness, reading, schedule, local-evidence, decoding,
            significance, passages, candidates, verdict.
        done: False when it was left out.
        note: What is worth knowing, or why it was left out.
        seconds: How long it took.
        error: Why it failed, as :meth:`~pura.base.errors.PuraError.packed` returns it.
    """

    number: int
    name: str
    done: bool
    note: Note = ()
    seconds: float = 0.0
    error: dict[str, object] | None = later(None)

    def words(self, language: str) -> str:
        """Return what is noted of the step, or why it failed.

        Raises:
            RecordError: The error is none that this program knows.
        """
        if self.error is None:
            return noted(self.note, language)
        try:
            error = PuraError.unpacked(self.error)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise RecordError("record.step", number=self.number) from None
        return " ".join(filter(None, error.words(language)))


@dataclass(frozen=True, kw_only=True)
class Audit:
    """One audit of one text.

    Attributes:
        id: Random identifier, 32 hex digits.
        created: UTC, ISO 8601 with offset.
        input: What was examined.
        text: The text as found, to which all spans refer, also those of a restored reading; the
            text of saved ids or of an alternative where such a reading is shown; None when the
            record leaves it out.
        prompt: Whether the prompt was known.
        key: The key the findings are about.
        keys: All keys that were tried, in order.
        profile: The profile that was used.
        model: The model that read the text.
        device: Where it ran.
        tokens: Evidence per token.
        steps: Evidence per step that carries bits.
        bits: One entry for every codeword position.
        decoded: The most probable payload; :attr:`payload` says what may be named of it.
        decoder: ``exact`` or ``paper``.
        candidates: The most probable payloads of the strongest mark, strongest first.
        evidence: How strong the findings are.
        power: The table that the power comes from; None where none speaks of the text, and in
            records of versions that knew one table only.
        verdict: ``mark``, ``indication``, ``no-mark``, ``insufficient`` or ``not-examinable``.
        sentences: The findings in words, in the order in which they are read.
        cautions: What weakens the findings.
        passages: Where the strongest mark stands.
        marks: All marks in the order of the text, in records of earlier versions the strongest
            first; empty without a finding, and in records of versions that knew one mark only.
            :attr:`named_marks` is what is shown.
        more_marks: There are more marks than these: a limit was reached.
        variants: The readings of the text that the evidence is the mean of.
        prompts: The readings after candidate prompts, where several were given; they and
            ``variants``, which are read without any, are what the evidence is the mean of.
        prior: How issued payloads entered the evidence; None where all payloads weigh alike.
        limits: How limits of the payload's fields did; None where the profile has none. The
            profile of the record says ``today`` as the day of the audit.
        stopped: Where reading was stopped early; None where the whole text was read.
        rereading: How windows of a long text entered the evidence; None of a short one, and in
            records of versions that read everything once.
        epochs: ``FROM..TO`` where the keys are those of a range of days, weeks or months, which was
            fixed, with equal weights, before the text was read; None where they are not.
        schemes: All schemes that were tried, where marks by others were among them; else empty.
        register: What the register says, or None when it was not asked.
        policy: The policy that was applied, as plain JSON.
        log: The twelve steps.
        versions: Versions of the tool and its parts.
    """

    id: str
    created: str
    input: InputFacts
    text: str | None
    prompt: PromptFacts
    key: KeyFacts
    keys: tuple[KeyFacts, ...]
    profile: Profile
    model: ModelFacts
    device: DeviceFacts
    tokens: TokenEvidence
    steps: StepEvidence
    bits: tuple[BitEvidence, ...]
    decoded: PayloadFacts
    decoder: str
    candidates: tuple[CandidateFacts, ...]
    evidence: EvidenceFacts
    power: PowerFacts | None = later(None)
    verdict: str
    sentences: tuple[Sentence, ...]
    cautions: tuple[Sentence, ...]
    passages: tuple[Passage, ...]
    marks: tuple[MarkFacts, ...] = later(())
    more_marks: bool = later(False)
    variants: tuple[VariantFacts, ...] = ()
    prompts: tuple[PromptReading, ...] = later(())
    prior: PriorFacts | None = later(None)
    limits: LimitsFacts | None = later(None)
    stopped: StopFacts | None = later(None)
    rereading: RereadingFacts | None = later(None)
    epochs: str | None = later(None)
    schemes: tuple[SchemeFacts, ...] = later(())
    register: RegisterFacts | None
    policy: dict[str, object]
    log: tuple[StepReport, ...]
    versions: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole record as plain JSON values (``resources/audit.schema.json``)."""
        return {"schema": SCHEMA, **encode(self)}

    @cached_property
    def named_marks(self) -> tuple[NamedMark, ...]:
        """The marks of the text in its order, each with what may be said of its payload.

        Empty without a finding, and where the mark carries no payload (a mark by others).
        """
        if self.verdict != "mark" or not self.decoded.bits:
            return ()
        level, decoded = identified_from(self.policy), self.decoded
        matches = () if self.register is None else self.register.matches
        entries = {match.payload: match for match in matches}
        if len(self.marks) < 2:  # the text as a whole is what its one mark was decoded from
            payload = name_payload(
                decoded.bits, decoded.fields, self.candidates, level, layout=self.profile.fields
            )
            own = self.marks[0] if self.marks else None
            return (
                NamedMark(
                    number=1,
                    key=self.key.fingerprint,
                    payload=payload,
                    candidates=self.candidates,
                    passages=self.passages,
                    share=None if own is None else own.share,
                    log10_e=None if own is None else own.own_log10_e,
                    entry=entries.get(payload.bits or ""),
                ),
            )
        placed = sorted(self.marks, key=lambda one: [p.first_token for p in one.passages])
        named = []
        for number, mark in enumerate(placed, start=1):
            # Records of earlier versions hold weights of the strongest mark only.
            strongest = mark.bits == decoded.bits and mark.key == self.key.fingerprint
            candidates = mark.candidates or (self.candidates if strongest else ())
            payload = name_payload(
                mark.bits, mark.fields, candidates, level, layout=self.profile.fields
            )
            named.append(
                NamedMark(
                    number=number,
                    key=mark.key,
                    payload=payload,
                    candidates=candidates,
                    passages=mark.passages,
                    share=mark.share,
                    log10_e=mark.own_log10_e,
                    entry=entries.get(payload.bits or ""),
                )
            )
        return tuple(named)

    @property
    def payload(self) -> NamedPayload | None:
        """What may be said of the payload of a text with one mark; None without one, or with more.

        ``audit.payload.bits`` is None where the payload is in question; of several marks each has
        a payload of its own (:attr:`named_marks`).
        """
        marks = self.named_marks
        return marks[0].payload if len(marks) == 1 else None

    @property
    def register_match(self) -> RegisterMatch | None:
        """The entry of the register that has the identified payload of a text with one mark."""
        marks = self.named_marks
        return marks[0].entry if len(marks) == 1 else None

    @property
    def hidden(self) -> int:
        """How many characters show nothing and have no use where they stand; cautions name them."""
        counts = (
            one.values.get("k") for one in self.cautions if one.key.startswith("caution.hidden-")
        )
        return sum(count for count in counts if isinstance(count, int))

    def to_row(self) -> dict[str, str | int | float | None]:
        """Return what answers the question as one flat row, e.g. of a data frame.

        ``payload`` and its fields (``field.NAME``) are given where they are identified; the most
        probable payload stands under ``payload_best`` with its posterior. Of several marks each has
        a payload of its own, in :attr:`named_marks`. ``strength`` says in words how strong the
        evidence is, ``strength_for`` for what: "mark", or "no mark" where log10 e is not above 0.
        """
        payload = self.payload
        return {
            "audit": self.id,
            "created": self.created,
            "name": self.input.name,
            "sha256": self.input.sha256,
            "verdict": self.verdict,
            "log10_e": self.evidence.log10_e,
            "p_bound": self.evidence.p_bound,
            "p_redraw": self.evidence.p_redraw,
            "strength": self.evidence.scale_word,
            "strength_for": "mark" if self.evidence.log10_e > 0 else "no mark",
            "tokens": self.input.tokens,
            "usable": self.evidence.usable,
            "hidden": self.hidden,
            "marks": len(self.named_marks) if self.verdict == "mark" else 0,
            "payload": None if payload is None else payload.bits,
            "payload_best": None if payload is None else payload.best,
            "payload_posterior": None if payload is None else payload.posterior,
            "payloads_in_question": None if payload is None else payload.in_question,
            "key": self.key.fingerprint,
            "profile": self.profile.fingerprint,
            "model": self.model.fingerprint,
            **{
                f"field.{one.name}": one.text if one.identified else None
                for one in (payload.fields if payload is not None else ())
            },
        }

    @cached_property
    def presented(self) -> Presented:
        """What is shown of it, wherever it is shown."""
        keys = ", ".join(key.label or key.fingerprint for key in self.keys)
        config = self.profile.name or self.profile.fingerprint
        wording = sentences_said(self.sentences, self.named_marks, more=self.marks_limited)
        measured = self.verdict != "not-examinable"
        answer, caveat = answer_of(
            self.verdict,
            wording,
            capped=self.evidence.capped,
            lr=self.evidence.lr_capped,
            keys=keys,
            config=config,
        )
        return Presented(
            headline=headline(self.verdict, len(self.marks), at_least=self.marks_limited),
            answer=answer,
            caveat=caveat,
            compared=compared_of(self.profile, self.key.fingerprint) if measured else (),
            wording=wording,
            beside=beside_of(wording),
            conditions=self.input.conditions,
            cautions=self.cautions,
            marks=self.named_marks,
            text=self.text,
            lr_cap=self.lr_cap,
            keys=keys,
            profile=config,
        )

    def title(self, language: str = "en") -> str:
        """Return the headline, e.g. "A mark was found" or "2 marks were found"."""
        return fill(self.presented.headline, language)

    @property
    def marks_limited(self) -> bool:
        """There may be more marks than the record holds: its version looked for a few only."""
        old = bool(self.marks) and all(mark.own_log10_e is None for mark in self.marks)
        return self.more_marks or (old and len(self.marks) >= OLD_MOST_MARKS)

    @property
    def lr_cap(self) -> float:
        """Largest likelihood ratio that is printed."""
        cap = self.policy.get("lr_cap", LR_CAP)
        return float(cap) if isinstance(cap, int | float) else LR_CAP

    def to_html(self, language: str = "en") -> str:
        """Return the findings as HTML, in the words of the window and the command.

        Args:
            language: ``en`` or ``de``.
        """
        return self.presented.to_html(self.input.name, language)

    def __repr__(self) -> str:
        """Return one line; the whole is :meth:`to_dict`."""
        return (
            f"<Audit {self.id} of {self.input.name!r}: {self.verdict}, "
            f"log10 e {self.evidence.log10_e:.2f}>"
        )

    def _repr_html_(self) -> str:
        """Show the findings in a notebook."""
        return self.to_html()
