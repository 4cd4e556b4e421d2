"""What a file holds beside the parts that are audited is listed with each of them."""

from __future__ import annotations

from typing import Any

import pytest

from pura.base.errors import InputError
from pura.documents.extraction import (
    ALTERNATIVE,
    MAIN,
    QUOTED,
    Document,
    Extraction,
    UnreadPart,
    choose,
)
from pura.record.left_out import (
    FEWEST_WORDS,
    LeftOut,
    LeftOutKind,
    left_out_share,
    letter_count,
    listed_lines,
    summary_line,
    word_count,
)


def words(count: int) -> str:
    return " ".join(["word"] * count)


def part(name: str, count: int, **more: Any) -> Document:
    return Document(name="x", sha256="", size_bytes=1, text=words(count), part=name, **more)


def extraction(*parts: Document, unread: tuple[UnreadPart, ...] = ()) -> Extraction:
    return Extraction(
        name="x", sha256="", size_bytes=1, format="docx", documents=parts, unread=unread
    )


def listed(document: Document) -> list[tuple[str, int | None, str]]:
    return [(str(entry.kind), entry.words, entry.part) for entry in document.left_out]


MEMO = extraction(
    part("as accepted", 100, left_out=(LeftOut(kind=LeftOutKind.PICTURE, words=0),)),
    part("as original", 90, role=ALTERNATIVE),
    part("comments", 40, role=ALTERNATIVE, kind=LeftOutKind.COMMENT),
    part("quoted 1", 7, role=QUOTED),
)


def test_what_is_not_chosen_is_listed_and_what_repeats_is_not() -> None:
    (body,) = MEMO.chosen
    assert listed(body) == [
        ("picture", 0, ""),
        ("comment", 40, "comments"),
        ("quoted-original", 7, "quoted 1"),
    ]
    assert body.examined_words == 100


def test_a_part_that_was_chosen_beside_others_is_not_left_out() -> None:
    body, comments = choose(MEMO, ["as accepted", "comments"])
    assert (
        listed(body) == listed(comments) == [("picture", 0, ""), ("quoted-original", 7, "quoted 1")]
    )
    assert body.examined_words == comments.examined_words == 140


def test_all_parts_leave_only_what_cannot_be_examined() -> None:
    assert {tuple(listed(one)) for one in choose(MEMO, ["all"])} == {(("picture", 0, ""),)}


def test_another_reading_stands_for_the_words_that_it_repeats() -> None:
    (original,) = choose(MEMO, ["as original"])
    assert ("main-text", 10, "as accepted") in listed(original)
    assert original.examined_words == 90


def test_a_text_of_a_collection_is_not_told_of_the_others() -> None:
    mailbox = extraction(
        part("message 1, body", 50, group="1"),
        part("message 1, quoted 1", 9, group="1", role=QUOTED),
        part("message 2, body", 60, group="2"),
        part("message 2, quoted 1", 8, group="2", role=QUOTED),
    )
    first, second = mailbox.chosen
    assert listed(first) == [("quoted-original", 9, "message 1, quoted 1")]
    assert listed(second) == [("quoted-original", 8, "message 2, quoted 1")]
    assert (first.examined_words, second.examined_words) == (50, 60)


def test_what_could_not_be_read_is_listed_without_a_number() -> None:
    damaged = UnreadPart(
        part="attachment a.docx", role=ALTERNATIVE, error=InputError("input.nul"), location="a.docx"
    )
    empty = UnreadPart(part="body", role=MAIN, error=InputError("input.empty"))
    (body,) = extraction(part("", 50), unread=(damaged, empty)).chosen
    assert [(str(one.kind), one.words, one.location) for one in body.left_out] == [
        ("unreadable", None, "a.docx"),
        ("unreadable", 0, "body"),
    ]
    assert left_out_share(body.left_out, body.examined_words) == 1.0


@pytest.mark.parametrize(
    ("left", "examined", "share"),
    [
        ([], 100, 0.0),
        ([FEWEST_WORDS - 1], 1, 0.0),
        ([FEWEST_WORDS], FEWEST_WORDS, 0.5),
        ([20, 20], 160, 0.2),
        ([None, 1], 10**6, 1.0),
        ([100], 0, 1.0),
    ],
)
def test_the_share_counts_all_places_together(
    left: list[int | None], examined: int, share: float
) -> None:
    entries = [LeftOut(kind=LeftOutKind.COMMENT, words=count) for count in left]
    assert left_out_share(entries, examined) == share


@pytest.mark.parametrize(
    ("text", "count", "letters"),
    [
        ("", 0, 0),
        ("Don’t stop - the well-known 12.5 _ end", 7, 26),
        ("漢字かな", 4, 4),
        ("ภาษาไทย", 2, 7),
        ("Grüße, „Welt“!", 2, 9),
    ],
)
def test_words_and_letters_are_counted_in_every_script(text: str, count: int, letters: int) -> None:
    assert (word_count(text), letter_count(text)) == (count, letters)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", LeftOutKind)
def test_every_kind_has_words(kind: LeftOutKind, language: str) -> None:
    entry = LeftOut(kind=kind, words=1200, location="a\tb" * 90, part="p" * 300)
    assert entry.name(language) in summary_line([entry], 0, language) or len(entry.name("en")) > 120
    (first, line) = listed_lines([entry], 800, language)
    assert first == summary_line([entry], 800, language)
    assert "1" in line


def test_a_long_list_is_cut_for_people() -> None:
    entries = [LeftOut(kind=LeftOutKind.ATTACHMENT, words=n) for n in range(1, 40)]
    assert len(listed_lines(entries, 0, "en")) == 14
