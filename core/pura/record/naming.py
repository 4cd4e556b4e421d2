"""What may be said of a payload: it is named as a fact only where it is identified.

The decoder always has a most probable payload. Whether it is the one that the text carries is told
by its posterior, whose calibration is measured (study.md §14). This is the one place that
decides: a payload is *identified* from the posterior on that the policy asks for, a single field by
itself likewise, since a customer may be certain while the day is not. Everything that is printed,
filed or looked up goes by it.

The marks of a record in words: the same lines for command, notebook, window and report.
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
"""Posterior from which a payload is identified, where a record's policy does not say."""
LEAST_IDENTIFIED: Final = 0.9
"""No policy asks for less."""
UNFIT: Final = "unfit"
"""The words fit the mark far less than a text that was written under it."""
PIECES: Final = "pieces"
"""The mark stands in short pieces with different payloads."""
WITHHELD: Final = (UNFIT, PIECES)
"""Why the payload of a mark may be withheld (:mod:`pura.detect.verdict.attribution`)."""
_HAIR: Final = 1e-12  # weights that add up to one leave their last digit in the sum


@dataclass(frozen=True, kw_only=True)
class CandidateFacts:
    """One payload that the evidence leaves in question.

    Attributes:
        bits: ``L_m`` characters 0 and 1.
        posterior: Weight under the prior of the evidence: all payloads alike, or the issued ones
            more (:class:`~pura.record.evidence.PriorFacts`).
        fields: What the layout makes of it.
        key: Fingerprint of the key under which it is in question, where that is another one than
            the mark's: the same payload under another key is another mark. Empty for the mark's.
    """

    bits: str
    posterior: float
    fields: tuple[FieldValue, ...] = ()
    key: str = later("")


@dataclass(frozen=True, kw_only=True)
class NamedField:
    """What a field of the payload says, and how sure that is by itself.

    Attributes:
        name: The field's name.
        value: Its most probable value.
        posterior: Weight of all payloads with this value; None where the record holds no weights.
        identified: The value may be stated.
        outside: It lies outside the limits that the profile states.
    """

    name: str
    value: FieldValue
    posterior: float | None
    identified: bool
    outside: bool = False

    @property
    def text(self) -> str:
        """The most probable value in words, with a question mark where it has no meaning."""
        return self.value.text if self.value.known else f"{self.value.raw} ?"


@dataclass(frozen=True, kw_only=True)
class NamedPayload:
    """The payload of a mark, and how much of it may be stated.

    Attributes:
        best: The most probable payload, characters 0 and 1 (of the published decoder: its choice).
        posterior: Its weight among all payloads; None where the record holds no weights.
        identified: It may be stated.
        in_question: The fewest payloads that together have the weight that identifies; 1 where one
            has it alone, 0 where the record holds no weights.
        more: There are more than that: those that are listed do not have it together, and
            ``in_question`` is how many these are.
        weight: What those that are listed in question have together.
        fields: What each field says, in the order of the layout; empty without one.
        withheld: Why nothing of the payload is stated, one of :data:`WITHHELD`; empty where
            something may be. Nothing else is said of a payload that is withheld.
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
    def withhold(cls, why: str) -> NamedPayload:
        """Return what may be said of a payload that is withheld: why, and nothing else."""
        return cls(
            best="",
            posterior=None,
            identified=False,
            in_question=0,
            more=False,
            weight=0.0,
            withheld=why,
        )

    @property
    def bits(self) -> str | None:
        """The payload where it is identified, else None."""
        return self.best if self.identified else None

    @property
    def outside(self) -> tuple[str, ...]:
        """Names of the fields that are identified and outside the profile's limits."""
        return tuple(f.name for f in self.fields if f.identified and f.outside)

    def columns(self) -> dict[str, object]:
        """Return it as columns of a row: what is identified apart from what is most probable."""
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
    """A stretch of the text that carries the mark.

    Attributes:
        first_token: Index of its first token.
        last_token: Index of its last token (inclusive).
        start: First character.
        end: Character after the last.
        start_from: Least of the 95 % credible interval of ``start``; None in records of earlier
            versions, as are the others.
        start_to: Greatest of it.
        end_from: Least of that of ``end``.
        end_to: Greatest of it.
        start_uncounted: None of the text between ``start_from`` and ``start`` is counted.
        end_uncounted: None of that between ``end`` and ``end_to`` is.
        page: Page or slide on which it begins, from 1; 0 where there are none, and in records,
            where the text tells it (:func:`pura.record.naming.placed`).
        paragraph: Paragraph of the text, or of the page; 0 where there is one only.
        line: Line on which it begins; 0 where it has a page.
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
        """Least and greatest start, least and greatest end; None where the record has none."""
        found = (self.start_from, self.start_to, self.end_from, self.end_to)
        known = [one for one in found if one is not None]
        return (known[0], known[1], known[2], known[3]) if len(known) == len(found) else None


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
        entry: Its number.
        key: Fingerprint of the key that it was issued under; of an epoch's key, that of the key it
            was derived from. Empty in records of versions before 0.5, whose registers knew
            payloads only.
        epoch: The day, ISO week or month of the key; empty where the key marks by itself.
        profile: Fingerprint of the profile; empty likewise.
        payload: Its bits.
        who: To whom it was issued.
        when: Date of issue, as imported.
        model: Model it was issued for.
        note: For what it was issued.
        drawn: How its number was chosen (:class:`pura.register.rows.Drawn`).
        row: SHA-256 of its row in the register and all rows before it, 64 hex digits.
        contradicts: Where the row contradicts the payload's fields or the key's epoch, by name
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
        """The mark that it was issued for; None where the record does not know its key."""
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
    """One mark as it is shown: where it stands and what may be said of its payload.

    Attributes:
        number: From 1, in the order of the text.
        key: Fingerprint of the key under which it was read.
        key_title: That key as ``name (fingerprint)``; empty where only a row of a result is left.
        identity: The key, epoch, profile and most probable payload that make it this mark and no
            other; None where the record does not say under which key or profile it was read. It
            may be looked up in a register only where the payload is identified.
        payload: What may be said of its payload.
        candidates: The payloads behind that, strongest first.
        passages: Where it stands, in the order of the text.
        share: Share of the text's tokens inside these passages; None where the record does not
            say.
        log10_e: log10 of the e-value of the statement that these passages carry a mark; None where
            the record has none of its own.
        entry: The entry of the register that has its identified payload; None where there is none,
            and where the register was not asked.
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
    """Decide what may be said of a payload.

    Args:
        best: The decoded payload.
        fields: What the layout makes of it.
        candidates: Payloads with their weights, strongest first; empty where none are known. What
            is not listed, or stands under another key, counts against whatever is asked.
        level: Posterior from which a payload, or the value of a field, is identified.
        layout: The fields with their limits.
        withheld: Why nothing of it may be stated, one of :data:`WITHHELD`; else empty.
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
            _limited(_field(place, value, candidates, level), limited.get(value.name))
            for place, value in enumerate(fields)
        ),
    )


def _limited(named: NamedField, limit: Field | None) -> NamedField:
    outside = limit is not None and not limit.admits(named.value.raw)
    return replace(named, outside=True) if outside else named


def _field(
    place: int, value: FieldValue, candidates: Sequence[CandidateFacts], level: float
) -> NamedField:
    """Add up what the candidates say of one field: the marginal of its values."""
    values: dict[int, FieldValue] = {}
    weights: dict[int, float] = {}
    for candidate in candidates:
        if candidate.key:
            continue  # of another key: the same value there means somebody else
        if place >= len(candidate.fields) or candidate.fields[place].name != value.name:
            continue  # of a damaged record; it counts against every value
        said = candidate.fields[place]
        values[said.raw] = said
        weights[said.raw] = weights.get(said.raw, 0.0) + candidate.posterior
    if not weights:
        return NamedField(name=value.name, value=value, posterior=None, identified=False)
    raw = max(weights, key=lambda one: weights[one])
    weight = min(1.0, weights[raw])
    return NamedField(
        name=value.name, value=values[raw], posterior=weight, identified=weight >= level
    )


@dataclass(frozen=True, kw_only=True)
class RegisterFacts:
    """What the register of issued payloads says.

    Attributes:
        version: Which state of the register, in short: the head's first digits and how many rows.
        head: The state itself: the hash of the newest row, 64 hex digits; empty in records of
            versions before 0.5.
        date: When it was last changed, ISO 8601.
        entries: How many payloads were issued under the keys, epochs and profile of the marks,
            ``N``; in records of versions before 0.5 all of the register.
        matches: The entries that carry posterior weight, strongest first; of several marks the
            entry of each identified payload. Empty where the payload is in question.
        none_weight: Posterior of "not in the register".
        prior_none: Prior of "not in the register", from the policy.
        chance: Probability that a misread payload agrees with some entry, ``N / 2**L_m``; None
            where the numbers of these entries were not all drawn at random.
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
    """Return what is said of one mark, a line each.

    Args:
        mark: The mark.
        language: ``en`` or ``de``.
        alone: It is the only one, so that headline and passages speak of it already.
        place: Says where a passage stands, in a language.
        lr_cap: Largest likelihood ratio that is printed.
        profile: The profile of all marks of the text, as ``name (fingerprint)``.
    """
    lines = []
    if not alone:
        places = "; ".join(place(p, language) for p in mark.passages)
        lines.append(_fill("mark.place", language, i=mark.number, place=places))
        if mark.key_title:
            lines.append(_fill("mark.of", language, key=mark.key_title, config=profile))
    lines += payload_lines(mark.payload, language)
    if mark.entry is not None:
        lines.append(_fill("mark.entry", language, entry=mark.entry.entry, who=mark.entry.who))
    if not alone and (words := evidence_words(mark, language, lr_cap)):
        lines.append(words)
    if not alone:
        lines += [f"  {words}" for p in mark.passages if (words := limits_words(p, language))]
    return lines


def evidence_words(mark: NamedMark, language: str, lr_cap: float) -> str:
    """Return the evidence of the statement that a mark's passages carry one; "" where none is kept.

    It is never printed beyond the policy's cap.
    """
    values = _ratio(mark, lr_cap)
    return "" if values is None else _fill("mark.evidence", language, **values)


def evidence_ratio(mark: NamedMark, language: str, lr_cap: float) -> str:
    """Return the same as a number for a table; "" where none is kept."""
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
    """Return passages with the page, paragraph and lines where they stand, as far as known.

    Args:
        passages: The passages.
        text: The text; None where the record leaves it out.
        pages: Where each page begins, in characters; paragraphs are counted from there then.
    """
    # A long text has a thousand passages: what they are counted by is looked for once.
    lines = [] if text is None or pages else [found.start() for found in _LINE.finditer(text)]
    paragraphs: dict[int, list[int]] = {}
    found = []
    for passage in passages:
        # A token brings the blank before it, which may stand on the page before.
        begins = _first_sign(text, passage) if text is not None else passage.start + 1
        page = max(1, bisect_right(pages, begins)) if pages else 0
        if text is None:
            found.append(replace(passage, page=page))
            continue
        first = pages[page - 1] if page else 0
        if page not in paragraphs:
            end = pages[page] if 0 < page < len(pages) else len(text)
            paragraphs[page] = [
                first + match.end() - 1 for match in _PARAGRAPH.finditer(text[first:end])
            ]
        number = max(1, bisect_right(paragraphs[page], begins))
        if page:
            found.append(replace(passage, page=page, paragraph=number))
            continue
        found.append(
            replace(
                passage,
                paragraph=number if len(paragraphs[page]) > 1 else 0,
                line=bisect_left(lines, begins) + 1,
                last_line=bisect_left(lines, _last_sign(text, passage)) + 1,
            )
        )
    return tuple(found)


def place_words(passage: Passage, language: str, leaf: str = "page") -> str:
    """Return where a passage stands: its page, paragraph and line as far as known; characters.

    Args:
        passage: The passage, placed.
        language: ``en`` or ``de``.
        leaf: What a page is: ``page`` or ``slide``.
    """
    values: dict[str, Value] = {"a": passage.start + 1, "b": passage.end}
    words = _fill(f"mark.{leaf}", language, page=passage.page) + ", " if passage.page else ""
    if passage.paragraph:
        values["paragraph"] = passage.paragraph
    if not passage.line:
        key = "mark.on-page" if passage.page and passage.paragraph else "mark.characters"
        return words + _fill(key, language, **values)
    several = passage.last_line != passage.line
    values |= {"line": passage.line} | ({"last": passage.last_line} if several else {})
    kind = "mark.paragraph" if passage.paragraph else "mark.line"
    if several:
        kind = f"{kind}-lines" if passage.paragraph else f"{kind}s"
    return words + _fill(kind, language, **values)


def limits_words(passage: Passage, language: str, *, level: bool = True) -> str:
    """Return the intervals in which a passage begins and ends; "" where the record has none.

    Args:
        passage: The passage.
        language: ``en`` or ``de``.
        level: Say that they hold 95 %; a report's note says it of all.
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
    """Return where the first character of a passage stands that is no blank."""
    found = _SIGN.search(text, passage.start, passage.end)
    return found.start() if found is not None else passage.start


def _last_sign(text: str, passage: Passage) -> int:
    """Return where the last character of a passage stands that is no blank."""
    inside = text[passage.start : passage.end].rstrip()
    return passage.start + max(0, len(inside) - 1)


def payload_lines(payload: NamedPayload, language: str) -> list[str]:
    """Return the payload and its fields, a line each: as facts only what is identified.

    Of a payload that is withheld the line says that nobody is named.
    """
    return [
        payload_words(payload, payload.best, language),
        *(f"  {field_words(field, language)}" for field in payload.fields),
    ]


def payload_words(payload: NamedPayload, written: str, language: str) -> str:
    """Return the payload, or that it is in question.

    Args:
        payload: The payload.
        written: Its bits as they are to be printed.
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
    """Return in a few words that a payload is not identified, or that it is withheld."""
    if payload.withheld:
        return _fill("payload.withheld", language)
    if not payload.in_question:
        return _fill("payload.open-unweighed", language)
    return _fill("payload.open", language, more=int(payload.more), n=payload.in_question)


def field_words(field: NamedField, language: str) -> str:
    """Return what a field says; as a fact only where it is identified.

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
    """Return the value of a field as people write it: a date in the words of the language."""
    if not value.known:
        return f"{value.raw} ?"
    if (value.name, "date") in {(one.name, one.kind) for one in profile.fields}:
        with suppress(ValueError):
            return numerals.date(value.text, language)
    return value.text


def whom_words(profile: Profile, payload: NamedPayload, written: str, language: str) -> str:
    """Return for whom and when in one line: the fields that are identified, or the payload.

    Where the payload is withheld, the line says why nobody is named.

    Args:
        profile: Its fields.
        payload: The payload.
        written: Its bits as they are to be printed.
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
    words = in_question_words(payload, language)
    return " · ".join([*parts, words]) if parts else words[:1].upper() + words[1:]


def sentences_said(
    sentences: Sequence[Sentence],
    marks: Sequence[NamedMark],
    *,
    more: bool,
    titles: Mapping[str, str],
) -> tuple[Sentence, ...]:
    """Return the sentences of a record as they are said today.

    Earlier versions had a sentence a mark, which stated its payload and a share of the evidence,
    and looked a payload up in the register that was in question; today's rule stands for both. A
    key that a record names by its fingerprint is said by its title.

    Args:
        sentences: Of the record.
        marks: Its marks.
        more: There may be more marks than these.
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
    """Return a sentence that names its key by name and fingerprint."""
    key = sentence.values.get("key")
    if not isinstance(key, str) or key not in titles:
        return sentence
    return replace(sentence, values=sentence.values | {"key": titles[key]})


def payload_several(payload: NamedPayload | None) -> list[Sentence]:
    """Return the sentence that counts the payloads in question; none where one is identified."""
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
