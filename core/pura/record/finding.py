"""The one finding: what may be said of a text, whoever shows it.

A projection of the record (:class:`~pura.record.audit.Audit`) that holds neither text nor arrays.
Everything outside ``pura.detect`` and ``pura.record`` that shows, files, sends or counts a result
reads this and nothing else; each output chooses and formats, and decides nothing.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from pura.base.catalogue import catalogue, phrase
from pura.base.decoder import DecodeError, decode, later
from pura.base.errors import RecordError, unusable
from pura.record.evidence import encode
from pura.record.left_out import LeftOut, LeftOutKind, left_out_words, listed_lines
from pura.record.naming import (
    NamedField,
    NamedMark,
    NamedPayload,
    Passage,
    RegisterMatch,
    mark_lines,
    place_words,
)
from pura.record.provenance import ABSENT, BINDINGS, FORMS, STATES, VALID, ManifestFacts
from pura.record.titles import joined_titles, titled
from pura.record.warnings import warnings_for
from pura.scheme import FieldValue, Profile
from pura.scheme.foreign import FOREIGN_NAMES
from pura.words.sentences import Sentence, Value, fill, findings, headline, scale

_QUALIFYING: Final = (
    "public.",
    "stopped.",
    "reread.",
    "foreign.",
    "marks.",
    "payload.",
    "register.",
    "text.concentrated",
    "text.edited",
    "text.gap",
    "text.copy",
    "verifier.",
    "way-out.",
)
"""Kinds of sentences without which the answer would be taken for more, or for less, than it is."""
_OF_LOST_EVIDENCE: Final = (
    *("caution.short", "caution.few-usable", "caution.unmeasured", "caution.prompt-unknown"),
    *("caution.message-unknown", "caution.retokenised"),
)
_SAID_BY_OUTCOME: Final = {
    "insufficient": _OF_LOST_EVIDENCE,
    "not-measured": _OF_LOST_EVIDENCE,
}
"""Cautions that say why evidence is missing, where the outcome is that too little is there."""
_OF_THE_METHOD: Final = ("caution.erasures", "caution.repaired")
"""Cautions on how a payload was read; whether it may be named has been decided with them."""
_OF_THE_SCALE: Final = ("outcome.mark", "evidence.for-h1", "evidence.for-h2", "evidence.neutral")
_POSITIVE: Final = ("mark", "indication")
FORM: Final = 1
"""Version of a finding's JSON; a higher one for whatever :func:`upgrade` has to know."""
LR_CAP: Final = 1e6
"""Largest likelihood ratio that is printed, where a record's policy does not say."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What may be said of one text.

    Attributes:
        id: Identifier of the audit; empty in a row of a result, which names none.
        created: UTC, ISO 8601; empty likewise.
        name: Of the item.
        sha256: Of its bytes, hex.
        tokens: Tokens of the text.
        usable: Steps that carry bits.
        left_out: What of the item's file was not examined.
        examined_words: Words of the file that were.
        reading_notes: How the file was read, and what is uncertain about it.
        language: What the words look like; empty when there are too few to tell.
        leaf: What a page of it is: ``page`` or ``slide``.
        verdict: The outcome.
        log10_e: The evidence.
        strength: Word of the verbal scale, English; empty where nothing was read.
        lr_cap: Largest likelihood ratio that is printed.
        marks: Each mark with what may be said of its payload, in the order of the text.
        counted: How many marks the headline counts; 0 where the record knows one only.
        at_least: There may be more marks.
        share: Share of the tokens that lies in passages, each counted once; None without a mark.
        headline: The outcome in a few words, e.g. "A mark was found".
        answer: What the findings say to whoever reads no more, in a sentence or two.
        caveat: What the number of the answer is not; empty where it has none.
        compared: The two propositions, H1 and H2, written out.
        wording: All sentences, the outcome first.
        provenance: Signed manifests that came with the text.
        layers: How mark and manifests stand to each other, as
            :func:`~pura.record.provenance.layers_of` says it; empty where there is nothing to say.
        conditions: What is said of them, or of what else was hidden among the characters; then
            whether the text fits the stored question of its payload.
        cautions: What weakens or limits the findings.
        undone: What of the text's handling was undone in one of the readings that count.
        handling: What of it was undone in the reading that the findings are about.
        readings: How many count.
        keys: Every key that was tried, as ``name (fingerprint)``, with commas between.
        keys_tried: The fingerprints of these keys.
        marking_keys: The keys that the sentences of the finding are about, as
            ``name (fingerprint)``: of each mark the one under which it was read, without a mark the
            one with the most evidence.
        public_keys: Those of the keys that anyone can know (:mod:`pura.scheme.public_keys`), as
            ``name (fingerprint)``; the finding is a draft where there is one.
        profile: The profile, as ``name (fingerprint)``.
        model: The model that read the text, as ``name (fingerprint)``.
        p_bound: The proven bound, ``min(1, 1/e)``.
        p_redraw: Redraw p-value; None where none was computed.
        key_fingerprint: Of the key that the findings are about.
        profile_fingerprint: Of the profile.
        model_fingerprint: Of the model that read the text.
    """

    id: str = ""
    created: str = ""
    name: str = ""
    sha256: str = ""
    tokens: int = 0
    usable: int = 0
    left_out: tuple[LeftOut, ...] = later(())
    examined_words: int = later(0)
    reading_notes: tuple[Sentence, ...] = later(())
    language: str = ""
    leaf: str = "page"
    verdict: str
    log10_e: float = 0.0
    strength: str = ""
    lr_cap: float = LR_CAP
    marks: tuple[NamedMark, ...] = ()
    counted: int = 0
    at_least: bool = False
    share: float | None = None
    headline: Sentence
    answer: tuple[Sentence, ...] = ()
    caveat: tuple[Sentence, ...] = ()
    compared: tuple[Sentence, ...] = ()
    wording: tuple[Sentence, ...] = ()
    provenance: tuple[ManifestFacts, ...] = later(())
    layers: str = later("")
    handling: tuple[str, ...] = later(())
    readings: int = later(1)
    conditions: tuple[Sentence, ...] = ()
    cautions: tuple[Sentence, ...] = ()
    undone: tuple[str, ...] = ()
    keys: str = ""
    keys_tried: tuple[str, ...] = later(())
    marking_keys: tuple[str, ...] = later(())
    public_keys: tuple[str, ...] = later(())
    profile: str = ""
    model: str = later("")
    p_bound: float = 1.0
    p_redraw: float | None = None
    key_fingerprint: str = ""
    profile_fingerprint: str = ""
    model_fingerprint: str = ""

    @property
    def qualifications(self) -> tuple[Sentence, ...]:
        """The sentences that stand beside the answer wherever that is given alone."""
        return tuple(one for one in self.wording if one.key.startswith(_QUALIFYING))

    @property
    def further_cautions(self) -> tuple[Sentence, ...]:
        """The cautions that say more than the outcome itself, and nothing of the method."""
        passed_over = (*_OF_THE_METHOD, *_SAID_BY_OUTCOME.get(self.outcome, ()))
        return tuple(one for one in self.cautions if one.key not in passed_over)

    @property
    def draft(self) -> bool:
        """Whether the finding stays a draft, since anyone can mark texts with one of its keys."""
        return bool(self.public_keys)

    @property
    def basis(self) -> tuple[Sentence, ...]:
        """What the finding rests on: all keys that were tried, the profile, the model, the day.

        Nothing of a text that could not be examined, and of a row of a result, which has no names.
        """
        if self.verdict == "not-examinable" or not self.model:
            return ()
        values: dict[str, Value] = {
            "n": len(self.keys_tried),
            "keys": self.keys,
            "profile": self.profile,
            "model": self.model,
            "day": self.created[:10],
        }
        return (Sentence(key="basis.read", values=values),)

    @property
    def payload(self) -> NamedPayload | None:
        """What may be said of the payload of a text with one mark; None without, or with more."""
        return self.marks[0].payload if len(self.marks) == 1 else None

    @property
    def register_match(self) -> RegisterMatch | None:
        """The entry of the register that has the identified payload of a text with one mark."""
        return self.marks[0].entry if len(self.marks) == 1 else None

    @property
    def passages(self) -> tuple[tuple[int, Passage], ...]:
        """Every passage with the number of its mark, from 0 up, in the order of the text."""
        found = [(n, p) for n, mark in enumerate(self.marks) for p in mark.passages]
        return tuple(sorted(found, key=lambda one: one[1].first_token))

    @property
    def places(self) -> list[Passage]:
        """The passages of all marks, each stretch of tokens once, in the order of the text."""
        named = {(p.first_token, p.last_token): p for _, p in self.passages}
        return [named[place] for place in sorted(named)]

    @property
    def supports(self) -> str:
        """What the evidence supports: ``mark`` or ``no-mark``; empty where nothing was read."""
        if not self.strength:
            return ""
        return "mark" if self.log10_e >= 0 else "no-mark"

    @property
    def hidden(self) -> int:
        """How many characters show nothing and have no use where they stand; cautions name them."""
        counts = (
            one.values.get("k") for one in self.cautions if one.key.startswith("caution.hidden-")
        )
        return sum(count for count in counts if isinstance(count, int))

    @cached_property  # a table of thousands asks for it again and again
    def outcome(self) -> str:
        """What its headline says, without the number of marks: what findings are grouped by.

        It is the verdict, except where that is "insufficient" since nothing was measured.
        """
        return self.headline.key.removeprefix("title.").removesuffix("-at-least")

    def title(self, language: str) -> str:
        """Return the headline in words."""
        return fill(self.headline, language)

    def place(self, passage: Passage, language: str) -> str:
        """Return where a passage stands: page or slide, paragraph, line, as far as known."""
        return place_words(passage, language, self.leaf)

    def mark_lines(self, language: str) -> list[list[str]]:
        """Return what is said of each mark: where it stands, its payload, its evidence."""
        alone = len(self.marks) < 2
        return [
            mark_lines(
                mark,
                language,
                alone=alone,
                place=self.place,
                lr_cap=self.lr_cap,
                profile=self.profile,
            )
            for mark in self.marks
        ]

    def scale_lines(self, language: str) -> list[str]:
        """Return the verbal scale where the wording uses a word of it; it stands below."""
        if not any(sentence.key in _OF_THE_SCALE for sentence in self.wording):
            return []
        return [f"{row.range}: {row.word}" for row in scale(language)]

    def notes(self, language: str, *, without: Sequence[str] = ()) -> list[str]:
        """Return what the rows of :data:`VALUES` say in words; every text of a finding has it.

        Args:
            language: ``en`` or ``de``.
            without: Rows that the caller shows in another way.
        """
        return [
            line
            for name, row in VALUES.items()
            if row.words is not None and name not in without
            for line in row.words(self, language)
        ]

    def to_html(self, language: str) -> str:
        """Return the finding as HTML."""
        title = html.escape(f"{self.name}: {self.title(language)}")
        blocks = (
            *([one] for one in rendered((*self.compared, *self.wording), language)),
            self.scale_lines(language),
            *self.mark_lines(language),
            *([one] for one in self.notes(language)),
            rendered(self.basis, language),
        )
        parts = [f"<p><b>{title}</b></p>"]
        parts += [f"<p>{'<br>'.join(map(html.escape, lines))}</p>" for lines in blocks if lines]
        limits = "".join(
            f"<li>{html.escape(one)}</li>" for one in rendered(self.cautions, language)
        )
        if limits:
            parts.append(f"<ul>{limits}</ul>")
        return f'<div lang="{language}">{"".join(parts)}</div>'

    def brief(self) -> Finding:
        """Return what a list of many texts keeps: without sentences and candidates."""
        marks = tuple(replace(mark, candidates=()) for mark in self.marks)
        none: dict[str, Any] = dict.fromkeys(
            ("answer", "caveat", "compared", "wording", "conditions", "cautions", "reading_notes"),
            (),
        )
        return replace(self, marks=marks, **none)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, with the version of their form."""
        return {"form": FORM, **encode(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], **defaults: object) -> Finding:
        """Undo :meth:`to_json`, also of an earlier version (:func:`upgrade`).

        Raises:
            RecordError: It is none.
        """
        try:
            present = upgrade(data, **defaults)
            del present["form"]
            return decode(cls, present)
        except (DecodeError, KeyError, TypeError, ValueError):
            raise unusable(RecordError, "record", phrase("what.no-json")) from None


def _of_payload(name: str) -> Callable[[Finding], Any]:
    return lambda found: None if found.payload is None else found.payload.columns()[name]


def _of_entry(name: str) -> Callable[[Finding], Any]:
    return lambda found: found.register_match and getattr(found.register_match, name)


class AnswerValue(NamedTuple):
    """What a service tells for a value, and a statement signs.

    Attributes:
        shape: What it is, see :func:`~pura.base.decoder.hold`; with what it means.
        told: What is told, given the fields of payloads that may be named (None: all, and numbers
            as well) and the language; None: the value as it is.
        public: What the public is told, given the verdict and the language; None: nothing.
        shown: How a person reads it who checks a statement, under the words ``value.NAME``; None:
            beside another, or not at all.
        later: Statements of earlier versions do not hold it.
    """

    shape: Any
    told: Callable[[Finding, tuple[str, ...] | None, str], Any] | None = None
    public: Callable[[str, str], Any] | None = None
    shown: Callable[[Any, dict[str, Any], str], str] | None = lambda value, *_: str(value)
    later: bool = False


AUDIT: Final = "audit"
"""The row of an audit (:meth:`~pura.record.audit.Audit.to_row`)."""
BATCH: Final = "batch"
"""The rows of a batch."""
SUMMARY: Final = "summary"
"""``pura verify --json`` (:func:`~pura.record.json_io.summary`)."""


class ShownValue(NamedTuple):
    """A value that outputs show of a finding.

    Attributes:
        kind: Type of the value.
        of: The value.
        about: What schemas say of it.
        files: Where it stands under its name: :data:`AUDIT`, :data:`BATCH`, :data:`SUMMARY`.
        told: What a service tells for it; None: nothing.
        words: What people read of it, in a language: in command, window, HTML and report, and in a
            table under the words ``value.NAME``; None: nothing, or its sentences do.
    """

    kind: Any = None
    of: Callable[[Finding], Any] = lambda _: None
    about: str = ""
    files: tuple[str, ...] = (AUDIT, BATCH)
    told: AnswerValue | None = None
    words: Callable[[Finding, str], list[str]] | None = None


def _strength(finding: Finding, _: object, language: str) -> str:
    # Records hold the word of the scale in English.
    return findings().retold("scale", finding.strength, language) if finding.strength else ""


def _shown_strength(word: str, answer: dict[str, Any], language: str) -> str:
    side = answer["supports"]
    if not word or side not in ("mark", "no-mark"):
        return word
    return catalogue("report-check").fill(f"statement.for-{side}", language, {"word": word})


def _public(suffix: str = "") -> Callable[[str, str], str]:
    return lambda verdict, language: catalogue("serve").fill(
        f"answer.{verdict}{suffix}", language, {}
    )


def _meaning(finding: Finding, released: tuple[str, ...] | None, language: str) -> str:
    # The sentences have numbers.
    answer = (*draft_of(finding.public_keys), *finding.answer) if released is None else ()
    if words := " ".join(rendered(answer, language)):
        return words
    draft = catalogue("serve").fill("answer.draft", language, {}) if finding.draft else ""
    return " ".join(filter(None, (draft, _public("-means")(finding.outcome, language))))


def _marks(finding: Finding, released: tuple[str, ...] | None, _: str) -> list[dict[str, Any]]:
    return [
        {
            "places": [{"start": p.start, "end": p.end} for p in mark.passages],
            "fields": {
                one.name: one.text
                for one in mark.payload.fields
                if one.identified and (released is None or one.name in released)
            },
        }
        for mark in finding.marks
    ]


def _manifests(finding: Finding, released: tuple[str, ...] | None, _: str) -> list[dict[str, Any]]:
    """Return manifests; of one that anybody can make, trusted askers do not hear what it names.

    It would answer guesses of a payload of which they are not told all.
    """
    return [
        {
            **{name: getattr(one, name) for name in _MANIFEST},
            "soft_binding": one.soft_binding if released is None or one.state == VALID else ABSENT,
        }
        for one in finding.provenance
    ]


def _left_out(finding: Finding, _: object, language: str) -> list[dict[str, Any]]:
    return [
        {name: getattr(entry, name) for name in _LEFT_OUT} | {"what": entry.name(language)}
        for entry in finding.left_out
    ]


def _layers(finding: Finding, released: tuple[str, ...] | None, language: str) -> str:
    """Say what is said of manifests, by the same rule."""
    known = bool(finding.provenance) and all(one.state == VALID for one in finding.provenance)
    if released is None or known:
        of_layers = [one for one in finding.conditions if not one.key.startswith("question.")]
        return " ".join(rendered(of_layers, language))
    each = (sentence for one in finding.provenance for sentence in one.said)
    return " ".join(rendered(each, language))


_MANIFEST: Final = {
    "form": (Literal[FORMS], "How it was there: a7, a8, a9 (C2PA 2.4, Annex A), or the format."),
    "state": (Literal[STATES], "What was made of it."),
    "signer": (str, "Name in its certificate."),
    "signed_at": (str, "When, as the time stamp or the signer says."),
    "manifest": (str, "Its identifier."),
    "soft_binding": (Literal[BINDINGS], "Whether it names an identified mark of the text."),
}
_LEFT_OUT: Final = {
    "kind": (Literal[tuple(map(str, LeftOutKind))], "What the place is."),
    "words": (int | None, "Words there; null where they cannot be counted."),
    "location": (str, "Where it is."),
    "part": (str, "The part to ask about; empty where it cannot be examined."),
}
_MARK: Final = {
    "places": (
        [{"start": (int, "First character."), "end": (int, "Character after the last.")}],
        "Where it stands.",
    ),
    "fields": (dict[str, str], "Fields of its payload that are identified and released."),
}
VALUES: Final[dict[str, ShownValue]] = {
    "audit": ShownValue(str, lambda found: found.id, files=(AUDIT,)),
    "created": ShownValue(
        str,
        lambda found: found.created,
        files=(AUDIT,),
        told=AnswerValue((str, "When it was read, ISO 8601.")),
    ),
    "name": ShownValue(str, lambda found: found.name, files=(AUDIT,)),
    "sha256": ShownValue(
        str,
        lambda found: found.sha256,
        files=(AUDIT,),
        told=AnswerValue((str, "Of the bytes that were asked about.")),
    ),
    "verdict": ShownValue(
        str,
        lambda found: found.verdict,
        told=AnswerValue(
            (
                Literal[
                    "marked",
                    "no-statement",
                    "mark",
                    "indication",
                    "no-mark",
                    "insufficient",
                    "not-examinable",
                ],
                "The public: marked or no-statement. Others: the outcome.",
            ),
            public=lambda verdict, _: verdict,
            shown=None,
        ),
    ),
    "headline": ShownValue(
        files=(),
        told=AnswerValue(
            (str, "The same in a few words."),
            lambda finding, _, language: finding.title(language),
            public=_public(),
        ),
    ),
    "log10_e": ShownValue(float, lambda found: found.log10_e, "log10 of the e-value"),
    "p_bound": ShownValue(float, lambda found: found.p_bound, files=(AUDIT,)),
    "p_redraw": ShownValue(float, lambda found: found.p_redraw, files=(AUDIT,)),
    "strength": ShownValue(
        str,
        lambda found: found.strength,
        files=(AUDIT,),
        told=AnswerValue(
            (str, "How strong the evidence is, in words."), _strength, shown=_shown_strength
        ),
    ),
    "strength_for": ShownValue(
        str, lambda found: "mark" if found.log10_e > 0 else "no mark", files=(AUDIT,)
    ),
    "supports": ShownValue(
        str,
        lambda found: found.supports,
        files=(),
        told=AnswerValue((Literal["", "mark", "no-mark"], "What it supports."), shown=None),
    ),
    "meaning": ShownValue(
        files=(),
        told=AnswerValue(
            (str, "What it means, and what it does not."), _meaning, public=_public("-means")
        ),
    ),
    "tokens": ShownValue(int, lambda found: found.tokens, "length of the text in tokens"),
    "usable": ShownValue(int, lambda found: found.usable, "positions that can carry bits"),
    "hidden": ShownValue(
        int, lambda found: found.hidden, "invisible characters without a legitimate use"
    ),
    "left_out": ShownValue(
        tuple[LeftOut, ...],
        lambda found: encode(found.left_out),
        "what of the file was not examined",
        files=(SUMMARY,),
        told=AnswerValue(
            ([_LEFT_OUT | {"what": (str, "The same in words.")}], "What was not examined."),
            _left_out,
            shown=lambda entries, *_: ", ".join(entry["what"] for entry in entries),
            later=True,
        ),
        words=lambda found, tongue: listed_lines(found.left_out, found.examined_words, tongue),
    ),
    "left_out_kinds": ShownValue(
        tuple[str, ...],
        lambda found: [str(entry.kind) for entry in found.left_out],
        "kind of each place of the file that was not examined",
    ),
    "left_out_parts": ShownValue(
        tuple[str, ...],
        lambda found: [entry.part for entry in found.left_out],
        "part that takes each of them; empty where it cannot be examined",
    ),
    "left_out_words": ShownValue(
        int,
        lambda found: left_out_words(found.left_out),
        "words of the file that were not examined; null where they cannot be counted",
    ),
    "examined_words": ShownValue(
        int,
        lambda found: found.examined_words,
        "words of the file that were examined",
        files=(AUDIT, BATCH, SUMMARY),
    ),
    "reading_notes": ShownValue(
        tuple[str, ...],
        lambda found: [note.key for note in found.reading_notes],
        "keys of the sentences that say how the file was read",
        words=lambda found, tongue: rendered(found.reading_notes, tongue),
    ),
    "conditions": ShownValue(
        files=(), words=lambda found, tongue: rendered(found.conditions, tongue)
    ),
    "cautions": ShownValue(
        tuple[str, ...],
        lambda found: [caution.key for caution in found.cautions],
        "keys of the sentences that weaken the finding, the weightiest first",
    ),
    "warnings": ShownValue(
        files=(),
        told=AnswerValue(
            ([str], "What weakens the answer, in words."),
            warnings_for,
            shown=lambda lines, *_: " ".join(lines),
            later=True,
        ),
    ),
    "undone": ShownValue(
        tuple[str, ...],
        lambda found: list(found.undone),
        "handling that was undone in a reading that counts",
        files=(AUDIT, BATCH, SUMMARY),
    ),
    "marks": ShownValue(
        int,
        lambda found: max(len(found.marks), int(found.verdict == "mark")),
        "number of marks",
        told=AnswerValue(([_MARK], "The marks."), _marks, shown=None),
    ),
    "marks_payloads": ShownValue(
        tuple[str | None, ...],
        lambda found: [mark.payload.bits for mark in found.marks],
        "payload of each mark, in the order of the text; null where it is not identified",
        files=(BATCH,),
    ),
    "marks_withheld": ShownValue(
        tuple[str | None, ...],
        lambda found: [mark.payload.withheld or None for mark in found.marks],
        "why the payload of each mark is withheld, in the order of the text; null where it is not",
        files=(BATCH,),
    ),
    "passages": ShownValue(
        tuple[tuple[int, int], ...],
        lambda found: [[p.start, p.end] for p in found.places],
        "first character of each passage and the one after the last, of all marks",
        files=(BATCH,),
    ),
    "passages_limits": ShownValue(
        tuple[tuple[int, int, int, int] | None, ...],
        lambda found: [p.limits and list(p.limits) for p in found.places],
        "95 % limits of each passage: least and greatest start, least and greatest end",
        files=(BATCH,),
    ),
    "share": ShownValue(
        float,
        lambda found: round(found.share or 0.0, 6),
        "share of the tokens in passages",
        files=(BATCH,),
    ),
    "payload": ShownValue(
        str, _of_payload("payload"), "bits, where the text has one mark and they are identified"
    ),
    "payload_best": ShownValue(
        str, _of_payload("payload_best"), "the most probable payload of a text with one mark"
    ),
    "payload_posterior": ShownValue(float, _of_payload("payload_posterior"), "its weight"),
    "payloads_in_question": ShownValue(
        int, _of_payload("payloads_in_question"), "the least number of possible payloads"
    ),
    "payload_withheld": ShownValue(
        str,
        _of_payload("payload_withheld"),
        "why the payload of a text with one mark is withheld and nobody is named; null where it "
        "is not",
    ),
    "fields": ShownValue(
        dict[str, str | None],
        _of_payload("fields"),
        "fields of the payload; null where a field is not identified",
    ),
    "fields_outside": ShownValue(
        tuple[str, ...],
        lambda found: list(found.payload.outside) if found.payload else [],
        "identified fields outside the limits of the profile",
        files=(BATCH,),
    ),
    "register_entry": ShownValue(
        int,
        _of_entry("entry"),
        "entry of the register with the identified payload",
        files=(BATCH,),
    ),
    "register_who": ShownValue(str, _of_entry("who"), "to whom it was issued", files=(BATCH,)),
    "register_posterior": ShownValue(
        float, _of_entry("posterior"), "weight of that entry", files=(BATCH,)
    ),
    "manifests": ShownValue(
        tuple[str, ...],
        lambda found: [one.state for one in found.provenance],
        "state of each signed manifest that came with the text",
        told=AnswerValue(
            ([_MANIFEST], "Signed manifests that came with the text."), _manifests, shown=None
        ),
    ),
    "layers": ShownValue(
        str,
        lambda found: found.layers,
        "how manifests and mark stand to each other",
        files=(AUDIT, BATCH, SUMMARY),
        told=AnswerValue(
            (str, "What manifests say, and whether they agree with the marks."), _layers
        ),
    ),
    "handling": ShownValue(
        tuple[str, ...],
        lambda found: list(found.handling),
        "handling that was undone in the reading that the findings are about",
        files=(AUDIT, BATCH, SUMMARY),
    ),
    "readings": ShownValue(
        int,
        lambda found: found.readings,
        "number of readings that count",
        files=(AUDIT, BATCH, SUMMARY),
    ),
    "outcome": ShownValue(
        str,
        lambda found: found.outcome,
        "what the headline says: the verdict; not-measured where no measurement applies; in-part "
        "where no mark was found and too much of the file was not examined",
        files=(AUDIT, BATCH, SUMMARY),
    ),
    "more_marks": ShownValue(
        bool,
        lambda found: found.at_least,
        "whether there may be more marks than are counted",
        files=(BATCH,),
    ),
    "key": ShownValue(str, lambda found: found.key_fingerprint, "fingerprint of the key"),
    "draft": ShownValue(
        bool,
        lambda found: found.draft,
        "whether a key that anyone can know took part, so that the finding stays a draft",
        files=(AUDIT, BATCH, SUMMARY),
    ),
    "keys_tried": ShownValue(
        tuple[str, ...],
        lambda found: list(found.keys_tried),
        "fingerprints of all keys that were tried, those without a result included",
        files=(AUDIT, BATCH, SUMMARY),
    ),
    "marks_keys": ShownValue(
        tuple[str, ...],
        lambda found: [mark.key for mark in found.marks],
        "fingerprint of the key of each mark, in the order of the text",
        files=(BATCH,),
    ),
    "profile": ShownValue(
        str, lambda found: found.profile_fingerprint, "fingerprint of the profile"
    ),
    "model": ShownValue(str, lambda found: found.model_fingerprint, "fingerprint of the model"),
}
"""The values of a finding: what each output shows of them. An output is a choice of them, and a
value more is a row more."""


def rendered(sentences: Iterable[Sentence], language: str) -> list[str]:
    """Return sentences in words."""
    return [fill(sentence, language) for sentence in sentences]


def named_payload(
    bits: str, fields: Mapping[str, str | None], *, best: str = "", withheld: str = ""
) -> NamedPayload:
    """Return a payload as a row or a list holds it: what is identified, and no weights.

    Args:
        bits: The payload where it is identified; else empty.
        fields: Value of each field; None where it is in question.
        best: The most probable payload, as far as known.
        withheld: Why it is withheld; else empty.
    """
    if withheld:
        return NamedPayload.withhold(withheld)
    return NamedPayload(
        best=bits or best,
        posterior=None,
        identified=bool(bits),
        in_question=0,
        more=False,
        weight=0.0,
        fields=tuple(
            NamedField(
                name=name,
                value=FieldValue(name=name, raw=0, text=value or "", known=value is not None),
                posterior=None,
                identified=value is not None,
            )
            for name, value in fields.items()
        ),
    )


def named_marks(payloads: Sequence[NamedPayload]) -> tuple[NamedMark, ...]:
    """Return marks of which nothing but the payloads is known."""
    return tuple(
        NamedMark(
            number=number,
            key="",
            payload=payload,
            candidates=(),
            passages=(),
            share=None,
            log10_e=None,
            entry=None,
        )
        for number, payload in enumerate(payloads, start=1)
    )


def upgrade(data: Mapping[str, Any], **defaults: object) -> dict[str, Any]:
    """Return the JSON of a finding in the present form.

    Args:
        data: Of any version. What versions up to 0.3.0 kept in the list of texts and in the case
            log has no form.
        **defaults: What entries of a case log say beside such data: audit, created, verdict.

    Raises:
        ValueError: It is of a later version.
        KeyError: It is no finding.
    """
    if "form" in data:
        if data["form"] != FORM:
            raise ValueError("form")
        return dict(data)
    data = {**defaults, **data}
    verdict, tokens = data["verdict"], max(1, int(data.get("tokens", 1)))
    counted = int(data.get("marks") or verdict == "mark")
    if "payloads" in data:
        payloads = data["payloads"]
    elif "places" in data:  # up to 0.2.0: of the first payload, by its own rule
        payloads = [{"bits": data["payload"], "fields": data["fields"]}] * (verdict == "mark")
    else:  # of the case log, which knew the payload of a text with one mark
        bits = data.get("identified", "") if counted == 1 else ""
        payloads = [{"bits": bits, "fields": {}}] * counted
    marks = named_marks([named_payload(one["bits"], dict(one["fields"])) for one in payloads])
    spans: dict[int, list[Passage]] = {}
    for start, end, number in data.get("places", ()):
        first, last = round(start * tokens), max(0, round(end * tokens) - 1)
        passage = Passage(first_token=first, last_token=last, start=0, end=0)
        spans.setdefault(int(number), []).append(passage)
    more = bool(data.get("at_least", data.get("more_marks", False)))
    return Finding(
        id=data["audit"],
        created=data["created"],
        name=data.get("name", ""),
        sha256=data.get("sha256", ""),
        verdict=verdict,
        log10_e=data["log10_e"],
        tokens=int(data.get("tokens", 0)),
        language=data.get("language", ""),
        counted=counted,
        at_least=more,
        share=data.get("share"),
        marks=tuple(replace(m, passages=tuple(spans.get(n, ()))) for n, m in enumerate(marks)),
        headline=headline(verdict, counted, at_least=more),
    ).to_json()


def answer_of(
    verdict: str,
    wording: Sequence[Sentence],
    *,
    capped: bool,
    lr: float,
    keys: Sequence[str],
    config: str,
) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """Return what the findings say in a sentence or two without symbols, and its caveat.

    Args:
        verdict: The outcome's word.
        wording: All sentences of the record.
        capped: The likelihood ratio lies beyond what is printed.
        lr: The likelihood ratio that is printed.
        keys: The keys that the findings are about, as ``name (fingerprint)``.
        config: The profile, likewise.
    """
    # That a key was never used comes before what finding no mark of it would mean.
    unused = [one for one in wording if one.key.startswith("unused.")]
    first = (*unused, *wording[:1])
    if verdict not in _POSITIVE:
        return first, ()
    values: dict[str, Value] = {
        "capped": int(capped),
        "lr": lr,
        "n": len(keys),
        "key": joined_titles(keys),
        "config": config,
    }
    plain = Sentence(key="plain.for-h1", values=values)
    more = first if verdict == "indication" else ()
    return (plain, *more), (Sentence(key="plain.n1"),)


def draft_of(public_keys: Sequence[str]) -> tuple[Sentence, ...]:
    """Return the sentence that says why a finding stays a draft; none where it does not.

    Args:
        public_keys: The keys that anyone can know, as ``name (fingerprint)``.
    """
    if not public_keys:
        return ()
    values: dict[str, Value] = {"n": len(public_keys), "keys": joined_titles(public_keys)}
    return (Sentence(key="public.key", values=values),)


def compared_of(profile: Profile, keys: Sequence[str]) -> tuple[Sentence, Sentence]:
    """Return the two propositions that a likelihood ratio compares.

    Args:
        profile: What the mark was made with.
        keys: The keys that the findings are about, as ``name (fingerprint)``.
    """
    values: dict[str, Value] = {
        "n": len(keys),
        "key": joined_titles(keys),
        "config": titled(profile.name, profile.fingerprint),
    }
    h2 = Sentence(key="proposition.h2", values={"n": len(keys)})
    if profile.foreign is None:
        return Sentence(key="proposition.h1", values=values), h2
    # Of a mark by another program one key is asked: the one that its secret is sealed under.
    del values["n"]
    values["name"] = FOREIGN_NAMES[profile.scheme]
    return Sentence(key="proposition.h1-foreign", values=values), h2
