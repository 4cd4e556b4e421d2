"""Naming of payloads: a payload is stated as a fact only if it is identified.

The decoder always returns a most probable payload. Its posterior, which is calibrated (study.md
§14), tells whether the text carries it. Only this module decides: a payload is *identified* from
the posterior that the policy requires. The same holds for each field by itself, since a customer
may be certain while the day is not. All outputs, files and look-ups follow this decision.

It also describes the marks of a record in the same lines for command, notebook, window and report.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from pura.base import numerals
from pura.base.decoder import later
from pura.base.errors import PayloadError
from pura.scheme import Field, FieldValue, MarkIdentity, Payload, Profile
from pura.words.sentences import Sentence, Value, findings

IDENTIFIED: Final = 0.99
"""Posterior from which a payload is identified, if a record's policy does not set it."""
LEAST_IDENTIFIED: Final = 0.9
"""Lower bound for every policy."""
UNFIT: Final = "unfit"
"""The words fit the mark much worse than those of a text that was written with it."""
PIECES: Final = "pieces"
"""The mark consists of short pieces with different payloads."""
WITHHELD: Final = (UNFIT, PIECES)
"""Reasons why the payload of a mark is withheld (:mod:`pura.detect.verdict.attribution`)."""
_HAIR: Final = 1e-12  # rounding error of weights that add up to one


@dataclass(frozen=True, kw_only=True)
class CandidateFacts:
    """A payload that the evidence leaves in question.

    Attributes:
        bits: ``L_m`` characters 0 and 1.
        posterior: Weight under the prior of the evidence, which is uniform or favours issued
            payloads (:class:`~pura.record.evidence.PriorFacts`).
        fields: Values of the payload's fields.
        key: Fingerprint of its key, if that is not the key of the mark: the same payload under
            another key is another mark. Empty for the mark's key.
    """

    bits: str
    posterior: float
    fields: tuple[FieldValue, ...] = ()
    key: str = later("")


@dataclass(frozen=True, kw_only=True)
class NamedField:
    """The value of a field of the payload, and its own certainty.

    Attributes:
        name: Name of the field.
        value: Most probable value.
        posterior: Weight of all payloads with this value; None if the record holds no weights.
        identified: Whether the value may be stated.
        outside: Whether it lies outside the limits in the profile.
    """

    name: str
    value: FieldValue
    posterior: float | None
    identified: bool
    outside: bool = False

    @property
    def text(self) -> str:
        """The most probable value as text, with a question mark if it has no meaning."""
        return self.value.text if self.value.known else f"{self.value.raw} ?"


@dataclass(frozen=True, kw_only=True)
class NamedPayload:
    """The payload of a mark, and how much of it may be stated.

    Attributes:
        best: The most probable payload, characters 0 and 1 (of the published decoder: its choice).
        posterior: Its weight among all payloads; None if the record holds no weights.
        identified: Whether it may be stated.
        in_question: Smallest number of payloads that together have the identifying weight; 1 if
            one has it alone, 0 if the record holds no weights.
        more: Whether the listed payloads, ``in_question`` of them, do not have that weight
            together, so that there are more.
        weight: Total weight of the listed payloads in question.
        fields: Value of each field, in the order of the layout; empty without a layout.
        withheld: Why nothing of the payload is stated, one of :data:`WITHHELD`; empty if it is not
            withheld. Of a withheld payload nothing else is reported.
    """

    best: str
    posterior: float | None
    identified: bool
    in_question: int
    more: bool
    weight: float
    fields: tuple[NamedField, ...] = ()
    withheld: str = later("")

    @classmethod
    def withhold(cls, reason: str) -> NamedPayload:
        """Return a withheld payload, which has only a reason."""
        return cls(
            best="",
            posterior=None,
            identified=False,
            in_question=0,
            more=False,
            weight=0.0,
            withheld=reason,
        )

    @property
    def bits(self) -> str | None:
        """The payload if it is identified, else None."""
        return self.best if self.identified else None

    @property
    def outside(self) -> tuple[str, ...]:
        """Names of the fields that are identified and outside the profile's limits."""
        return tuple(f.name for f in self.fields if f.identified and f.outside)

    def columns(self) -> dict[str, object]:
        """Return the payload as columns of a row; identified and most probable values are apart."""
        return {
            "payload": self.bits,
            "payload_best": self.best or None,
            "payload_posterior": self.posterior,
            "payloads_in_question": self.in_question,
            "payload_withheld": self.withheld or None,
            "fields_outside": list(self.outside),
            "fields": {f.name: f.text if f.identified else None for f in self.fields},
            "fields_best": {f.name: f.text for f in self.fields},
            "fields_posterior": {f.name: f.posterior for f in self.fields},
        }


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A passage of the text that carries the mark.

    Attributes:
        first_token: Index of its first token.
        last_token: Index of its last token (inclusive).
        start: First character.
        end: Character after the last.
        start_from: Lower end of the 95 % credible interval of ``start``; None, like the other
            three, in records of earlier versions.
        start_to: Upper end of that interval.
        end_from: Lower end of the 95 % credible interval of ``end``.
        end_to: Upper end of that interval.
        start_uncounted: Whether the text between ``start_from`` and ``start`` was not counted.
        end_uncounted: Whether the text between ``end`` and ``end_to`` was not counted.
        page: Page or slide on which it begins, from 1; 0 without pages, and in stored records,
            where the text gives it (:func:`pura.record.naming.placed`).
        paragraph: Paragraph of the text, or of the page; 0 if there is only one.
        line: Line on which it begins; 0 if it has a page.
        last_line: Line on which it ends.
    """

    first_token: int
    last_token: int
    start: int
    end: int
    start_from: int | None = later(None)
    start_to: int | None = later(None)
    end_from: int | None = later(None)
    end_to: int | None = later(None)
    start_uncounted: bool = later(False)
    end_uncounted: bool = later(False)
    page: int = later(0)
    paragraph: int = later(0)
    line: int = later(0)
    last_line: int = later(0)

    @property
    def limits(self) -> tuple[int, int, int, int] | None:
        """Earliest and latest start, earliest and latest end; None if the record has none."""
        ends = (self.start_from, self.start_to, self.end_from, self.end_to)
        stored = [limit for limit in ends if limit is not None]
        return (stored[0], stored[1], stored[2], stored[3]) if len(stored) == len(ends) else None


def token_share(ranges: Iterable[tuple[int, int]], tokens: int) -> float:
    """Return the share of a text's tokens inside passages, each token counted once.

    Args:
        ranges: First and last token of each passage.
        tokens: ``L``.
    """
    inside, end = 0, 0
    for first, last in sorted(ranges):
        inside += max(0, last + 1 - max(first, end))
        end = max(end, last + 1)
    return inside / max(1, tokens)


@dataclass(frozen=True, kw_only=True)
class RegisterMatch:
    """One entry of the register, and the mark that it was issued for.

    Attributes:
        entry: Number of the entry.
        key: Fingerprint of the key that it was issued under; for an epoch's key, that of its
            parent key. Empty in records of versions before 0.5, whose registers stored only
            payloads.
        epoch: The day, ISO week or month of the key; empty for a key without epochs.
        profile: Fingerprint of the profile; empty in the same records as ``key``.
        payload: Bits of the payload.
        who: Recipient.
        when: Date of issue, as imported.
        model: Model it was issued for.
        note: Purpose of the issue.
        drawn: How its number was chosen (:class:`pura.register.rows.Drawn`).
        row: SHA-256 of its row in the register and all rows before it, 64 hex digits.
        contradicts: Contradictions between row, payload fields and key epoch, by name
            (:class:`pura.register.contradictions.Contradiction`).
        posterior: Its weight among all entries and "not in the register".
    """

    entry: int
    key: str = later("")
    epoch: str = later("")
    profile: str = later("")
    payload: str
    who: str
    when: str
    model: str
    note: str = later("")
    drawn: str = later("")
    row: str = later("")
    contradicts: tuple[str, ...] = later(())
    posterior: float

    @property
    def mark(self) -> MarkIdentity | None:
        """The mark that the entry was issued for; None if the record does not name its key."""
        with suppress(ValueError, PayloadError):
            return MarkIdentity(
                key=self.key,
                epoch=self.epoch,
                profile=self.profile,
                payload=Payload(text=self.payload),
            )
        return None


@dataclass(frozen=True, kw_only=True)
class NamedMark:
    """A mark ready to be shown: its passages and its payload.

    Attributes:
        number: Number of the mark, from 1, in the order of the text.
        key: Fingerprint of the key under which it was read.
        key_title: That key as ``name (fingerprint)``; empty if only a row of a result is left.
        identity: Key, epoch, profile and most probable payload, which identify the mark; None if
            the record does not name the key or the profile. It may be looked up in a register
            only if the payload is identified.
        payload: The payload, as far as it may be stated.
        candidates: Its candidate payloads, strongest first.
        passages: Its passages, in the order of the text.
        share: Share of the text's tokens inside these passages; None if not recorded.
        log10_e: log10 of the e-value of the statement that these passages carry a mark; None if
            not recorded.
        entry: The entry of the register with its identified payload; None if there is none, or if
            the register was not consulted.
    """

    number: int
    key: str
    key_title: str = later("")
    payload: NamedPayload
    candidates: tuple[CandidateFacts, ...]
    passages: tuple[Passage, ...]
    share: float | None
    log10_e: float | None
    entry: RegisterMatch | None
    identity: MarkIdentity | None = later(None)


def identified_from(policy: Mapping[str, object]) -> float:
    """Return the posterior from which a payload is identified under a recorded policy."""
    level = policy.get("single_weight", IDENTIFIED)
    return max(LEAST_IDENTIFIED, float(level)) if isinstance(level, int | float) else IDENTIFIED


def name_payload(
    best: str,
    fields: Sequence[FieldValue],
    candidates: Sequence[CandidateFacts],
    level: float,
    *,
    layout: Sequence[Field] = (),
    withheld: str = "",
) -> NamedPayload:
    """Decide which parts of a payload may be stated.

    Args:
        best: The decoded payload.
        fields: Values of its fields.
        candidates: Payloads with their weights, strongest first; empty if unknown. Weight that is
            not listed, or belongs to another key, counts against identification.
        level: Posterior from which a payload, or the value of a field, is identified.
        layout: The fields with their limits.
        withheld: Why nothing of it may be stated, one of :data:`WITHHELD`; empty if it may.
    """
    if withheld:
        return NamedPayload.withhold(withheld)
    limited = {field.name: field for field in layout if field.limits}
    weights = {c.bits: c.posterior for c in candidates if not c.key}
    posterior = weights.get(best, 0.0) if candidates else None
    total, count = 0.0, 0
    for candidate in candidates:
        if total >= level - _HAIR:
            break
        total, count = total + candidate.posterior, count + 1
    return NamedPayload(
        best=best,
        posterior=posterior,
        identified=posterior is not None and posterior >= level,
        in_question=count,
        more=bool(candidates) and total < level - _HAIR,
        weight=min(1.0, total),
        fields=tuple(
            _limited(_field(index, value, candidates, level), limited.get(value.name))
            for index, value in enumerate(fields)
        ),
    )


def _limited(field: NamedField, limit: Field | None) -> NamedField:
    outside = limit is not None and not limit.admits(field.value.raw)
    return replace(field, outside=True) if outside else field


def _field(
    index: int, value: FieldValue, candidates: Sequence[CandidateFacts], level: float
) -> NamedField:
    """Return the most probable value of one field, by its marginal over the candidates."""
    values: dict[int, FieldValue] = {}
    weights: dict[int, float] = {}
    for candidate in candidates:
        if candidate.key:
            continue  # under another key the same value names another recipient
        if index >= len(candidate.fields) or candidate.fields[index].name != value.name:
            continue  # from a damaged record; it counts against every value
        candidate_value = candidate.fields[index]
        values[candidate_value.raw] = candidate_value
        weights[candidate_value.raw] = weights.get(candidate_value.raw, 0.0) + candidate.posterior
    if not weights:
        return NamedField(name=value.name, value=value, posterior=None, identified=False)
    raw = max(weights, key=lambda raw_value: weights[raw_value])
    weight = min(1.0, weights[raw])
    return NamedField(
        name=value.name, value=values[raw], posterior=weight, identified=weight >= level
    )


@dataclass(frozen=True, kw_only=True)
class RegisterFacts:
    """Result of consulting the register of issued payloads.

    Attributes:
        version: State of the register, in short: first digits of the head, and number of rows.
        head: State of the register: hash of the newest row, 64 hex digits; empty in records of
            versions before 0.5.
        date: Time of the last change, ISO 8601.
        entries: Number of payloads issued under the keys, epochs and profile of the marks, ``N``;
            in records of versions before 0.5, all entries.
        matches: Entries with posterior weight, strongest first; with several marks, the entry of
            each identified payload. Empty if the payload is in question.
        none_weight: Posterior of "not in the register".
        prior_none: Prior of "not in the register", from the policy.
        chance: Probability that a misread payload equals some entry, ``N / 2**L_m``; None if the
            numbers of these entries were not all drawn at random.
        unassigned: Entries of unknown key with payloads of this length; they name nobody.
        revoked: Entries that were issued for the marks and revoked.
    """

    version: str
    head: str = later("")
    date: str
    entries: int
    matches: tuple[RegisterMatch, ...]
    none_weight: float
    prior_none: float
    chance: float | None
    unassigned: int = later(0)
    revoked: tuple[int, ...] = later(())


_SIGN: Final = re.compile(r"\S")
_LINE: Final = re.compile(r"\n")
_PARAGRAPH: Final = re.compile(r"(?:\A|\n[^\S\n]*\n)\s*\S")


def mark_lines(
    mark: NamedMark,
    language: str,
    *,
    alone: bool,
    place: Callable[[Passage, str], str],
    lr_cap: float,
    profile: str,
) -> list[str]:
    """Return the lines that describe one mark.

    Args:
        mark: The mark.
        language: ``en`` or ``de``.
        alone: Whether it is the only mark, which headline and passages describe already.
        place: Returns the location of a passage, in a language.
        lr_cap: Largest likelihood ratio that is printed.
        profile: The profile of all marks of the text, as ``name (fingerprint)``.
    """
    lines = []
    if not alone:
        locations = "; ".join(place(p, language) for p in mark.passages)
        lines.append(_fill("mark.place", language, i=mark.number, place=locations))
        if mark.key_title:
            lines.append(_fill("mark.of", language, key=mark.key_title, config=profile))
    lines += payload_lines(mark.payload, language)
    if mark.entry is not None:
        lines.append(_fill("mark.entry", language, entry=mark.entry.entry, who=mark.entry.who))
    if not alone and (text := evidence_words(mark, language, lr_cap)):
        lines.append(text)
    if not alone:
        lines += [f"  {text}" for p in mark.passages if (text := limits_words(p, language))]
    return lines


def evidence_words(mark: NamedMark, language: str, lr_cap: float) -> str:
    """Return the evidence that a mark's passages carry one, as a sentence; "" if not recorded.

    Evidence above the policy's cap is printed as the cap.
    """
    values = _ratio(mark, lr_cap)
    return "" if values is None else _fill("mark.evidence", language, **values)


def evidence_ratio(mark: NamedMark, language: str, lr_cap: float) -> str:
    """Return the evidence of a mark as a number for a table; "" if not recorded."""
    values = _ratio(mark, lr_cap)
    return "" if values is None else _fill("mark.ratio", language, **values)


def _ratio(mark: NamedMark, lr_cap: float) -> dict[str, Value] | None:
    if mark.log10_e is None:
        return None
    capped = mark.log10_e >= math.log10(lr_cap)
    return {"capped": int(capped), "lr": lr_cap if capped else 10.0**mark.log10_e}


def placed(
    passages: Iterable[Passage], text: str | None, pages: Sequence[int]
) -> tuple[Passage, ...]:
    """Return passages with their page, paragraph and lines, as far as known.

    Args:
        passages: The passages.
        text: The text; None if the record omits it.
        pages: First character of each page; with pages, paragraphs are counted on each page.
    """
    # A long text has a thousand passages, so lines and paragraphs are located only once.
    lines = [] if text is None or pages else [match.start() for match in _LINE.finditer(text)]
    paragraphs: dict[int, list[int]] = {}
    located = []
    for passage in passages:
        # A token includes the blank before it, which may lie on the previous page.
        begins = _first_sign(text, passage) if text is not None else passage.start + 1
        page = max(1, bisect_right(pages, begins)) if pages else 0
        if text is None:
            located.append(replace(passage, page=page))
            continue
        first = pages[page - 1] if page else 0
        if page not in paragraphs:
            end = pages[page] if 0 < page < len(pages) else len(text)
            paragraphs[page] = [
                first + match.end() - 1 for match in _PARAGRAPH.finditer(text[first:end])
            ]
        number = max(1, bisect_right(paragraphs[page], begins))
        if page:
            located.append(replace(passage, page=page, paragraph=number))
            continue
        located.append(
            replace(
                passage,
                paragraph=number if len(paragraphs[page]) > 1 else 0,
                line=bisect_left(lines, begins) + 1,
                last_line=bisect_left(lines, _last_sign(text, passage)) + 1,
            )
        )
    return tuple(located)


def place_words(passage: Passage, language: str, leaf: str = "page") -> str:
    """Return the location of a passage: page, paragraph and lines as far as known, or characters.

    Args:
        passage: The passage, from :func:`placed`.
        language: ``en`` or ``de``.
        leaf: Kind of the pages: ``page`` or ``slide``.
    """
    values: dict[str, Value] = {"a": passage.start + 1, "b": passage.end}
    prefix = _fill(f"mark.{leaf}", language, page=passage.page) + ", " if passage.page else ""
    if passage.paragraph:
        values["paragraph"] = passage.paragraph
    if not passage.line:
        key = "mark.on-page" if passage.page and passage.paragraph else "mark.characters"
        return prefix + _fill(key, language, **values)
    several = passage.last_line != passage.line
    values |= {"line": passage.line} | ({"last": passage.last_line} if several else {})
    kind = "mark.paragraph" if passage.paragraph else "mark.line"
    if several:
        kind = f"{kind}-lines" if passage.paragraph else f"{kind}s"
    return prefix + _fill(kind, language, **values)


def limits_words(passage: Passage, language: str, *, level: bool = True) -> str:
    """Return the intervals in which a passage begins and ends; "" if the record has none.

    Args:
        passage: The passage.
        language: ``en`` or ``de``.
        level: Whether to mention the 95 %; a report states it once for all passages.
    """
    if passage.limits is None:
        return ""
    a, b, c, d = passage.limits
    begins, ends = (
        _fill(f"mark.{edge}-at", language, a=low)
        if low == high
        else _fill(f"mark.{edge}", language, a=low, b=high)
        for edge, low, high in (("begins", a + 1, b + 1), ("ends", c, d))
    )
    parts = [f"{begins}, {ends}"]
    if level:
        parts[0] += f" ({_fill('mark.intervals', language)})"
    if passage.start_uncounted:
        parts.append(_fill("mark.uncounted-before", language))
    if passage.end_uncounted:
        parts.append(_fill("mark.uncounted-behind", language))
    return "; ".join(parts)


def _first_sign(text: str, passage: Passage) -> int:
    """Return the position of the first non-blank character of a passage."""
    match = _SIGN.search(text, passage.start, passage.end)
    return match.start() if match is not None else passage.start


def _last_sign(text: str, passage: Passage) -> int:
    """Return the position of the last non-blank character of a passage."""
    inside = text[passage.start : passage.end].rstrip()
    return passage.start + max(0, len(inside) - 1)


def payload_lines(payload: NamedPayload, language: str) -> list[str]:
    """Return a line for the payload and for each field; only identified ones are stated as facts.

    The line for a withheld payload states that nobody is named.
    """
    return [
        payload_words(payload, payload.best, language),
        *(f"  {field_words(field, language)}" for field in payload.fields),
    ]


def payload_words(payload: NamedPayload, written: str, language: str) -> str:
    """Return the payload, or a statement that it is in question.

    Args:
        payload: The payload.
        written: Its bits in the form to be printed.
        language: ``en`` or ``de``.
    """
    if payload.withheld:
        return _fill(f"payload.{payload.withheld}", language)
    if payload.identified:
        return _fill("payload.identified", language, bits=written)
    if payload.posterior is None:
        return _fill("payload.unweighed", language, bits=written)
    return _fill(
        "payload.in-question",
        language,
        more=int(payload.more),
        n=payload.in_question,
        post=payload.posterior,
        bits=written,
    )


def in_question_words(payload: NamedPayload, language: str) -> str:
    """Return a short statement that a payload is not identified, or is withheld."""
    if payload.withheld:
        return _fill("payload.withheld", language)
    if not payload.in_question:
        return _fill("payload.open-unweighed", language)
    return _fill("payload.open", language, more=int(payload.more), n=payload.in_question)


def field_words(field: NamedField, language: str) -> str:
    """Return the value of a field, as a fact only if it is identified.

    Args:
        field: The field.
        language: ``en`` or ``de``.
    """
    post: dict[str, float] = {}
    if field.identified:
        key = "field.outside" if field.outside else "field.identified"
    elif field.posterior is None:
        key = "field.unweighed"
    else:
        key, post["post"] = "field.in-question", field.posterior
    return _fill(key, language, name=field.name, value=field.text, **post)


def value_words(profile: Profile, value: FieldValue, language: str) -> str:
    """Return the value of a field for people; dates follow the language."""
    if not value.known:
        return f"{value.raw} ?"
    if (value.name, "date") in {(field.name, field.kind) for field in profile.fields}:
        with suppress(ValueError):
            return numerals.date(value.text, language)
    return value.text


def whom_words(profile: Profile, payload: NamedPayload, written: str, language: str) -> str:
    """Return the recipient and date in one line: the identified fields, or the payload.

    For a withheld payload, the line states why nobody is named.

    Args:
        profile: Profile with the fields.
        payload: The payload.
        written: Its bits in the form to be printed.
        language: ``en`` or ``de``.
    """
    if payload.withheld:
        return payload_words(payload, written, language)
    parts = [
        f"{field.name} {value_words(profile, field.value, language)}"
        for field in payload.fields
        if field.identified
    ]
    if payload.identified:
        return " · ".join(parts) or written
    text = in_question_words(payload, language)
    return " · ".join([*parts, text]) if parts else text[:1].upper() + text[1:]


def sentences_said(
    sentences: Sequence[Sentence],
    marks: Sequence[NamedMark],
    *,
    more: bool,
    titles: Mapping[str, str],
) -> tuple[Sentence, ...]:
    """Return the sentences of a record in the present wording.

    Earlier versions had a sentence for each mark, with its payload and a share of the evidence,
    and consulted the register for payloads in question. Both are replaced by the present rule. A
    key that a record names by its fingerprint is named by its title.

    Args:
        sentences: Sentences of the record.
        marks: Marks of the record.
        more: Whether there may be more marks than these.
        titles: Keys as ``name (fingerprint)``, by their fingerprints.
    """
    payload = marks[0].payload if len(marks) == 1 else None
    in_question = payload is not None and not payload.identified
    out: list[Sentence] = []
    for sentence in sentences:
        match sentence.key:
            case "marks.each":
                pass
            case "marks.several":
                out.append(marks_counted(len(marks), more=more))
            case "candidates.several":
                out += payload_several(payload)
            case "register.match" | "register.none" if in_question:
                values = {"ver": sentence.values["ver"]}
                out.append(Sentence(key="register.in-question", values=values))
            case "register.nearest" if in_question:
                pass
            case _:
                out.append(_with_title(sentence, titles))
    return tuple(out)


def _with_title(sentence: Sentence, titles: Mapping[str, str]) -> Sentence:
    """Return the sentence with its key named by name and fingerprint."""
    key = sentence.values.get("key")
    if not isinstance(key, str) or key not in titles:
        return sentence
    return replace(sentence, values=sentence.values | {"key": titles[key]})


def payload_several(payload: NamedPayload | None) -> list[Sentence]:
    """Return the sentence that counts the payloads in question; none if one is identified."""
    if payload is None or payload.identified or not payload.in_question:
        return []
    values: dict[str, str | int | float] = {
        "more": int(payload.more),
        "k": payload.in_question,
        "sum": payload.weight,
    }
    return [Sentence(key="payload.several", values=values)]


def marks_counted(count: int, *, more: bool) -> Sentence:
    """Return the sentence that counts the marks of a text."""
    return Sentence(key="marks.counted", values={"k": count, "more": int(more)})


def _fill(key: str, language: str, /, **values: Value) -> str:
    return findings().fill(key, language, values)
