"""The record of one audit: the only thing that views, reports and logs read.

Frozen values, one name each (architecture.md). JSON out and in again without loss: floats
keep all their digits, arrays keep their type and shape. The record never holds a key, only
fingerprints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, NoReturn

from pura.base.arguments import truth_error
from pura.base.decoder import later, one_of
from pura.record.decoders import DECODERS
from pura.record.evidence import (
    VERDICTS,
    BitEvidence,
    EvidenceFacts,
    LimitsFacts,
    MarkFacts,
    PayloadFacts,
    PowerFacts,
    PriorFacts,
    PromptReading,
    QuestionFacts,
    RereadingFacts,
    SchemeFacts,
    StepEvidence,
    StopFacts,
    StoredProfile,
    TokenEvidence,
    VariantFacts,
    encode,
)
from pura.record.finding import (
    AUDIT,
    LR_CAP,
    VALUES,
    Finding,
    answer_of,
    compared_of,
    draft_of,
)
from pura.record.gaps import with_gaps_said
from pura.record.naming import (
    CandidateFacts,
    NamedMark,
    NamedPayload,
    Passage,
    RegisterFacts,
    identified_from,
    name_payload,
    placed,
    sentences_said,
    token_share,
)
from pura.record.provenance import ManifestFacts, layers_of, layers_said
from pura.record.surroundings import (
    DeviceFacts,
    InputFacts,
    KeyFacts,
    ModelFacts,
    PromptFacts,
    StepReport,
)
from pura.record.titles import joined_titles, titled
from pura.scheme import MarkIdentity, Payload
from pura.scheme.public_keys import is_public
from pura.words.sentences import Sentence, headline

SCHEMA = "pura-audit/1"
_NOT_MEASURED = ("outcome.insufficient-not-measured", "outcome.insufficient-handled")
"""Nothing follows from finding no mark, however long the text is."""
_IN_PART = ("outcome.insufficient-in-part", "outcome.insufficient-in-part-uncounted")
"""No mark was found in the part of the file that was examined."""
OLD_MOST_MARKS = 8
"""So many marks earlier versions looked for in a text, and no more."""


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
        questions: How stored questions entered the evidence; None without a store.
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
        provenance: Signed manifests that came with the text; they are no part of the evidence.
        bindings: Values by which a manifest names the identified payloads of the marks.
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
    profile: StoredProfile
    model: ModelFacts
    device: DeviceFacts
    tokens: TokenEvidence
    steps: StepEvidence
    bits: tuple[BitEvidence, ...]
    decoded: PayloadFacts
    decoder: Annotated[str, one_of(*DECODERS)]
    candidates: tuple[CandidateFacts, ...]
    evidence: EvidenceFacts
    power: PowerFacts | None = later(None)
    verdict: Annotated[str, one_of(*VERDICTS)]
    sentences: tuple[Sentence, ...]
    cautions: tuple[Sentence, ...]
    passages: tuple[Passage, ...]
    marks: tuple[MarkFacts, ...] = later(())
    more_marks: bool = later(False)
    variants: tuple[VariantFacts, ...] = ()
    prompts: tuple[PromptReading, ...] = later(())
    questions: QuestionFacts | None = later(None)
    prior: PriorFacts | None = later(None)
    limits: LimitsFacts | None = later(None)
    stopped: StopFacts | None = later(None)
    rereading: RereadingFacts | None = later(None)
    epochs: str | None = later(None)
    schemes: tuple[SchemeFacts, ...] = later(())
    register: RegisterFacts | None
    provenance: tuple[ManifestFacts, ...] = later(())
    bindings: tuple[str, ...] = later(())
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
        withheld = any(mark.withheld for mark in self.marks)
        if self.verdict != "mark" or not (self.decoded.bits or withheld):
            return ()
        level, decoded = identified_from(self.policy), self.decoded
        matches = () if self.register is None else self.register.matches
        entries = {match.mark: match for match in matches if match.mark is not None}
        if len(self.marks) < 2:  # the text as a whole is what its one mark was decoded from
            own = self.marks[0] if self.marks else None
            payload = name_payload(
                decoded.bits,
                decoded.fields,
                self.candidates,
                level,
                layout=self.profile.fields,
                withheld="" if own is None else own.withheld,
            )
            identity = self.identity(self.key.fingerprint, payload.best)
            return (
                NamedMark(
                    number=1,
                    key=self.key.fingerprint,
                    key_title=self.key.title,
                    payload=payload,
                    candidates=self.candidates,
                    passages=self._placed(self.passages),
                    share=None if own is None else own.share,
                    log10_e=None if own is None else own.own_log10_e,
                    entry=entries.get(identity) if identity and payload.identified else None,
                    identity=identity,
                ),
            )
        placed = sorted(self.marks, key=lambda one: [p.first_token for p in one.passages])
        named = []
        for number, mark in enumerate(placed, start=1):
            # Records of earlier versions hold weights of the strongest mark only.
            strongest = mark.bits == decoded.bits and mark.key == self.key.fingerprint
            candidates = mark.candidates or (self.candidates if strongest else ())
            payload = name_payload(
                mark.bits,
                mark.fields,
                candidates,
                level,
                layout=self.profile.fields,
                withheld=mark.withheld,
            )
            identity = self.identity(mark.key, payload.best)
            named.append(
                NamedMark(
                    number=number,
                    key=mark.key,
                    key_title=self._key_titles.get(mark.key, mark.key),
                    payload=payload,
                    candidates=candidates,
                    passages=self._placed(mark.passages),
                    share=mark.share,
                    log10_e=mark.own_log10_e,
                    entry=entries.get(identity) if identity and payload.identified else None,
                    identity=identity,
                )
            )
        return tuple(named)

    def identity(self, key: str, bits: str) -> MarkIdentity | None:
        """Return what a mark of the text is, so that it cannot be taken for another.

        Args:
            key: Fingerprint of the key under which it was read, one of :attr:`keys`.
            bits: Its payload, characters 0 and 1.

        Returns:
            None where the record does not say under which key or profile it was read.
        """
        facts = next((one for one in (self.key, *self.keys) if one.fingerprint == key), None)
        series = None if facts is None else facts.series(self.profile.fingerprint)
        return None if series is None or not bits else series.mark(Payload(text=bits))

    def _placed(self, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        return placed(passages, self.text, self.input.pages)

    @property
    def payload(self) -> NamedPayload | None:
        """What may be said of the payload of a text with one mark; None without one, or with more.

        ``audit.payload.bits`` is None where the payload is in question; of several marks each has
        a payload of its own (:attr:`named_marks`).
        """
        return self.finding.payload

    @property
    def found(self) -> bool:
        """Whether a mark was found, as the policy asks; :attr:`verdict` says what else there is."""
        return self.verdict == "mark"

    def __bool__(self) -> NoReturn:
        """Refuse: a record is there for texts without a mark, too.

        Raises:
            ArgumentError: Names what says whether a mark was found.
        """
        raise truth_error("Audit")

    @property
    def undone(self) -> tuple[str, ...]:
        """What of the text's handling was undone in one of the readings that count, by name."""
        changes = (change.name for variant in self.variants for change in variant.changes)
        return tuple(dict.fromkeys(changes))

    @property
    def handling(self) -> tuple[str, ...]:
        """What of it was undone in the reading that the findings are about."""
        return tuple(one.name for v in self.variants if v.shown for one in v.changes)

    @property
    def readings(self) -> int:
        """How many readings of the text count."""
        return max(1, sum(variant.read for variant in self.variants))

    def to_row(self) -> dict[str, str | int | float | None]:
        """Return what answers the question as one flat row, e.g. of a data frame.

        ``payload`` and its fields (``field.NAME``) are given where they are identified; the most
        probable payload stands under ``payload_best`` with its posterior. Of several marks each has
        a payload of its own, in :attr:`named_marks`. ``strength`` says in words how strong the
        evidence is, ``strength_for`` for what: "mark", or "no mark" where log10 e is not above 0.
        """
        row = {name: one.of(self.finding) for name, one in VALUES.items() if AUDIT in one.files}
        fields = row.pop("fields") or {}
        lists = {name: ", ".join(one) for name, one in row.items() if isinstance(one, list)}
        return row | lists | {f"field.{name}": value for name, value in fields.items()}

    @cached_property
    def finding(self) -> Finding:
        """What may be said of the text: all that is shown, filed and sent is made of this."""
        titles = self._key_titles
        marking = tuple(dict.fromkeys(mark.key_title for mark in self.named_marks))
        marking = marking or (self.key.title,)
        config = titled(self.profile.name, self.profile.fingerprint)
        said = sentences_said(
            self.sentences, self.named_marks, more=self.marks_limited, titles=titles
        )
        wording = with_gaps_said(said, self.named_marks)
        public = tuple(title for name, title in titles.items() if is_public(name))
        # Behind the outcome, before what rests on the key being secret.
        wording = (*wording[:1], *draft_of(public), *wording[1:])
        examined = self.verdict != "not-examinable"
        marked = self.verdict == "mark"
        evidence = self.evidence
        answer, caveat = answer_of(
            self.verdict,
            wording,
            capped=evidence.capped,
            lr=evidence.lr_capped,
            keys=marking,
            config=config,
        )
        return Finding(
            id=self.id,
            created=self.created,
            name=self.input.name,
            sha256=self.input.sha256,
            left_out=self.input.left_out,
            examined_words=self.input.examined_words,
            reading_notes=self.input.notes,
            tokens=self.input.tokens,
            usable=evidence.usable,
            leaf="slide" if self.input.format == "pptx" else "page",
            verdict=self.verdict,
            log10_e=evidence.log10_e,
            strength=evidence.scale_word if examined else "",
            lr_cap=self.lr_cap,
            marks=self.named_marks,
            counted=len(self.marks),
            at_least=self.marks_limited,
            share=None
            if not marked
            else token_share(
                ((p.first_token, p.last_token) for mark in self.named_marks for p in mark.passages),
                self.input.tokens,
            ),
            headline=self._headline(),
            answer=answer,
            caveat=caveat,
            compared=compared_of(self.profile, marking) if examined else (),
            wording=wording,
            provenance=self.provenance,
            layers=layers_of(self.provenance, self.bindings, marked=marked),
            conditions=self._conditions(),
            cautions=self.cautions,
            undone=self.undone,
            handling=self.handling,
            readings=self.readings,
            keys=joined_titles(titles.values()),
            keys_tried=tuple(titles),
            marking_keys=marking,
            public_keys=public,
            profile=config,
            model=self.model.title,
            p_bound=evidence.p_bound,
            p_redraw=evidence.p_redraw,
            key_fingerprint=self.key.fingerprint,
            profile_fingerprint=self.profile.fingerprint,
            model_fingerprint=self.model.fingerprint,
        )

    def _conditions(self) -> tuple[Sentence, ...]:
        """What is said beside the answer: of manifests, hidden characters, a stored question."""
        marked = self.verdict == "mark"
        layers = layers_said(self.provenance, self.bindings, marked=marked)
        fit = None if self.questions is None else self.questions.fit
        return (*(layers or self.input.conditions), *(() if fit is None else (fit,)))

    def other_key_title(self, candidate: CandidateFacts) -> str:
        """Return the key of a candidate of another key, as ``name (fingerprint)``.

        Empty for a candidate under the key of its mark, which the mark itself names.
        """
        return self._key_titles.get(candidate.key, candidate.key)

    @cached_property
    def _key_titles(self) -> dict[str, str]:
        """Every key that was tried, as ``name (fingerprint)``, by its fingerprint."""
        titles = {key.fingerprint: key.title for key in self.keys}
        for name in (name for scheme in self.schemes for name in scheme.keys):
            titles.setdefault(name, name)
        return titles

    def _headline(self) -> Sentence:
        if any(one.key in _NOT_MEASURED for one in self.sentences):
            return headline("not-measured")
        if any(one.key in _IN_PART for one in self.sentences):
            return headline("in-part")
        return headline(self.verdict, len(self.marks), at_least=self.marks_limited)

    def title(self, language: str = "en") -> str:
        """Return the headline, e.g. "A mark was found" or "2 marks were found"."""
        return self.finding.title(language)

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
        return self.finding.to_html(language)

    def __repr__(self) -> str:
        """Return one line; the whole is :meth:`to_dict`."""
        return (
            f"<Audit {self.id} of {self.input.name!r}: {self.verdict}, "
            f"log10 e {self.evidence.log10_e:.2f}>"
        )

    def plot(self, kind: Literal["course", "bits", "tokens"] = "course") -> Any:
        """Draw the evidence with matplotlib (``pip install 'pura-audit[notebook]'``).

        Args:
            kind: ``course``: the evidence along the text; ``bits``: how strongly the text speaks
                for each position of the codeword; ``tokens``: what each token adds.

        Returns:
            A ``matplotlib.figure.Figure``.

        Raises:
            PuraError: matplotlib is not installed, the kind is none of these, or nothing was read.

        Examples:
            As a program says it::

                audit.plot("bits").savefig("bits.png")
        """
        from pura.record.plots import plot

        return plot(self, kind)

    def _repr_html_(self) -> str:
        """Show the findings in a notebook: the answer as a card, all else folded away."""
        from pura.record.card import card_html

        return card_html(self.finding, self.text, self.tokens)
