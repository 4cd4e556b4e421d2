"""The marks of a record in words: the same lines for command, notebook, window and report."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pura.base import numerals
from pura.record.naming import NamedField, NamedMark, NamedPayload, Passage
from pura.scheme import Profile
from pura.words.sentences import Sentence, Value, findings

_SIGN: Final = re.compile(r"\S")
_PARAGRAPH: Final = re.compile(r"(?:\A|\n[^\S\n]*\n)\s*\S")


def mark_lines(
    mark: NamedMark,
    language: str,
    *,
    alone: bool,
    place: Callable[[Passage, str], str],
    lr_cap: float,
) -> list[str]:
    """Return what is said of one mark, a line each.

    Args:
        mark: The mark.
        language: ``en`` or ``de``.
        alone: It is the only one, so that headline and passages speak of it already.
        place: Says where a passage stands, in a language.
        lr_cap: Largest likelihood ratio that is printed.
    """
    lines = []
    if not alone:
        places = "; ".join(place(p, language) for p in mark.passages)
        lines.append(_fill("mark.place", language, i=mark.number, place=places))
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


def placed(passage: Passage, text: str | None, pages: Sequence[int]) -> Passage:
    """Return a passage with the page, paragraph and lines where it stands, as far as known.

    Args:
        passage: The passage.
        text: The text; None where the record leaves it out.
        pages: Where each page begins, in characters; paragraphs are counted from there then.
    """
    # A token brings the blank before it, which may stand on the page before.
    begins = _first_sign(text, passage) if text is not None else passage.start + 1
    page = max(1, bisect_right(pages, begins)) if pages else 0
    if text is None:
        return replace(passage, page=page)
    if page:
        end = pages[page] if page < len(pages) else len(text)
        paragraph = _paragraph(text[pages[page - 1] : end], begins - pages[page - 1])
        return replace(passage, page=page, paragraph=paragraph or 1)
    return replace(
        passage,
        paragraph=_paragraph(text, begins),
        line=text.count("\n", 0, begins) + 1,
        last_line=text.count("\n", 0, _last_sign(text, passage)) + 1,
    )


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


def limits_words(passage: Passage, language: str) -> str:
    """Return the intervals in which a passage begins and ends; "" where the record has none.

    Args:
        passage: The passage.
        language: ``en`` or ``de``.
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
    parts = [f"{begins}, {ends} ({_fill('mark.intervals', language)})"]
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


def _paragraph(text: str, place: int) -> int:
    """Return the number of the paragraph at a place; 0 where the text has only one."""
    begun = [found.end() - 1 for found in _PARAGRAPH.finditer(text)]
    return max(1, bisect_right(begun, place)) if len(begun) > 1 else 0


def payload_lines(payload: NamedPayload, language: str) -> list[str]:
    """Return the payload and its fields, a line each: as facts only what is identified."""
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
    """Return in a few words that a payload is not identified."""
    if not payload.in_question:
        return _fill("payload.open-unweighed", language)
    return _fill("payload.open", language, more=int(payload.more), n=payload.in_question)


def field_words(field: NamedField, language: str, written: str | None = None) -> str:
    """Return what a field says; as a fact only where it is identified.

    Args:
        field: The field.
        language: ``en`` or ``de``.
        written: Its value as it is to be printed; as the layout writes it when absent.
    """
    value = field.text if written is None else written
    if field.identified:
        key = "field.outside" if field.outside else "field.identified"
        return _fill(key, language, name=field.name, value=value)
    if field.posterior is None:
        return _fill("field.unweighed", language, name=field.name, value=value)
    return _fill("field.in-question", language, name=field.name, value=value, post=field.posterior)


def value_words(profile: Profile, field: NamedField, language: str) -> str:
    """Return the value of a field as people write it: a date in the words of the language."""
    kinds = {one.name: one.kind for one in profile.fields}
    if kinds.get(field.name) == "date" and field.value.known:
        try:
            return numerals.date(field.value.text, language)
        except ValueError:
            pass
    return field.text


def whom_words(profile: Profile, payload: NamedPayload, written: str, language: str) -> str:
    """Return for whom and when in one line: the fields that are identified, or the payload.

    Args:
        profile: Its fields.
        payload: The payload.
        written: Its bits as they are to be printed.
        language: ``en`` or ``de``.
    """
    parts = [
        f"{field.name} {value_words(profile, field, language)}"
        for field in payload.fields
        if field.identified
    ]
    if payload.identified:
        return " · ".join(parts) or written
    words = in_question_words(payload, language)
    return " · ".join([*parts, words]) if parts else words[:1].upper() + words[1:]


def sentences_said(
    sentences: Sequence[Sentence], marks: Sequence[NamedMark], *, more: bool
) -> tuple[Sentence, ...]:
    """Return the sentences of a record as they are said today.

    Earlier versions had a sentence a mark, which stated its payload and a share of the evidence,
    and looked a payload up in the register that was in question; today's rule stands for both.

    Args:
        sentences: Of the record.
        marks: Its marks.
        more: There may be more marks than these.
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
                out.append(sentence)
    return tuple(out)


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


def _fill(key: str, language: str, **values: Value) -> str:
    return findings().fill(key, language, values)
