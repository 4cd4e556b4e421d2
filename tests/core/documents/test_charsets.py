"""Character sets by the names that files give them, in the sandbox as everywhere."""

from __future__ import annotations

import json
from email.message import EmailMessage
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.programs import python
from webencodings.labels import LABELS

from pura.base.errors import InputError
from pura.documents import Extraction, ReadOptions, child, read_data, sandbox
from pura.documents.charsets import code_page_codec, codec_of
from pura.documents.encodings import decode
from pura.documents.formats import FORMATS, Extract

PROSE = "Die außergewöhnlich schöne Straße führt über Köln; Bäcker reichen früh süße Brötchen. "
NOT_DECODED_HERE = {"replacement", "x-user-defined"}  # and what the standard itself refuses


def page(label: str, codec: str, words: str = PROSE) -> bytes:
    """Write a web page that names its character set by a label."""
    return f"<!doctype html><meta charset='{label}'><p>{words}".encode(codec)


def notes(extraction: Extraction) -> list[str]:
    return [note.key for note in extraction.chosen[0].notes]


@pytest.mark.parametrize(
    "label", [label for label, name in LABELS.items() if name != "replacement"]
)
def test_every_label_of_the_web_has_a_codec(label: str) -> None:
    assert (codec_of(label) is not None) == (LABELS[label] not in NOT_DECODED_HERE)


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("iso-8859-8-i", "iso8859_8"),
        ("x-mac-roman", "mac_roman"),
        ("X-MAC-CE", "mac_latin2"),
        ("utf8mb4", "utf_8"),
        (" 'UTF-8'; ", "utf_8"),
        ("ISO_8859-15:1998", "iso8859_15"),
        ("latin-9", "iso8859_15"),
        ("windows1252", "cp1252"),
        ("x-cp850", "cp850"),
        ("iso-8859-1", "cp1252"),  # as browsers and mailers read it
        ("ks_c_5601-1987", "cp949"),
        ("koi8-t", "koi8_t"),
        ("unknown-8bit", None),
        ("utf-7", None),
        ("base64", None),
        ("idna", None),
        ("../../etc/passwd", None),
        ("x" * 5000, None),
        ("", None),
    ],
)
def test_a_label_leads_to_the_codec_that_it_means(label: str, codec: str | None) -> None:
    assert codec_of(label) == codec


@given(label=st.text(max_size=60) | st.sampled_from(sorted(aliases)))
def test_any_label_is_of_a_codec_of_text_or_of_none(label: str) -> None:
    codec = codec_of(label)
    assert codec is None or isinstance(b"words".decode(codec, "replace"), str)


@pytest.mark.parametrize(
    ("number", "codec"),
    [(0, "cp1252"), (1252, "cp1252"), (10000, "mac_roman"), (10029, "mac_latin2"), (932, "cp932")],
)
def test_a_code_page_has_its_codec(number: int, codec: str) -> None:
    assert code_page_codec(number) == codec


# Whole files, read as the program reads them


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("x-mac-roman", "mac_roman"),
        ("cp850", "cp850"),
        ("iso-8859-16", "iso8859_16"),
        ("x-mac-ce", "mac_latin2"),
        ("windows-1252", "cp1252"),
    ],
)
def test_a_page_is_read_in_the_character_set_that_it_names(label: str, codec: str) -> None:
    data = page(label, "ascii", "") + PROSE.encode(codec)
    extraction = read_data(data, name="a.html")
    assert extraction.chosen[0].text == PROSE.strip()
    assert extraction.chosen[0].encoding_source == "declared"
    assert notes(extraction) == []


@pytest.mark.parametrize("label", ["unknown-8bit", "x-user-defined", "base64", "utf-7"])
def test_an_unknown_character_set_is_as_if_none_was_named_and_is_said(label: str) -> None:
    extraction = read_data(page(label, "cp1252"), name="a.html")
    (note,) = extraction.chosen[0].notes
    assert extraction.chosen[0].text == PROSE.strip()
    assert (note.key, note.values["name"]) == ("reading.charset", label)
    ascii_only = read_data(page(label, "ascii", "plain words"), name="a.html")
    assert notes(ascii_only) == ["reading.charset-ascii"]


def test_a_character_set_that_cannot_be_the_one_of_the_bytes_is_not_used() -> None:
    for label in ("utf-16", "utf-32", "cp500"):
        extraction = read_data(page(label, "cp1252"), name="a.html")
        assert extraction.chosen[0].text == PROSE.strip()
        assert notes(extraction) == ["reading.charset"]


@pytest.mark.parametrize("name", ["=?x-none?q?=E9.txt?=", "x-none''%E9.txt"])
def test_a_mail_whose_names_are_in_an_unknown_character_set_is_read(name: str) -> None:
    message = EmailMessage()
    message.set_content("The words of the body.\n")
    message.add_attachment("The attached words.\n", filename="NAME")
    star = "*" if "''" in name else ""
    data = bytes(message).replace(b'filename="NAME"', f'filename{star}="{name}"'.encode())
    data = data.replace(b'charset="utf-8"', b'charset="x-unknown"', 1)
    texts = [document.text for document in read_data(data, name="a.eml").documents]
    assert texts == ["The words of the body.", "The attached words."]


def test_utf8_with_a_few_lost_bytes_stays_utf8_and_says_so() -> None:
    whole = ("Grüße aus Köln und Düsseldorf, schöne Straßen. " * 8).encode()
    at = whole.index("ö".encode())
    lost = decode(whole[:at] + whole[at + 1 :])
    assert (lost.encoding, lost.source) == ("utf-8", "damaged")
    assert lost.text.count("Grüße") == 8
    assert [note.values for note in lost.notes] == [{"n": 1}]
    cut = decode("Ein schönes Wort, und noch ein ü".encode()[:-1])
    assert cut.text == "Ein schönes Wort, und noch ein \ufffd"
    western = decode("Ein kurzes Wort: é".encode("cp1252"))
    assert (western.text[-1], western.source) == ("é", "fallback")


# The sandbox


def test_no_label_makes_the_sandboxed_child_reach_outside() -> None:
    labels = [*LABELS, *aliases, "unknown-8bit", "x" * 99, "a.b", "é", "mbcs", "undefined"]
    code = f"""
import json, sys
from pura.documents import charsets, encodings, sandbox
labels = json.loads({json.dumps(json.dumps(labels))})
charsets.confine_codecs()
sandbox.close()
for label in labels:
    encodings.decode("caf\\xe9 au lait".encode("latin-1"), declared=label)
    try:
        b"words".decode(label)  # as a library does with a name that it found in a file
    except (LookupError, UnicodeError):
        pass
print("read", len(labels))
"""
    assert python(code).strip() == f"read {len(labels)}"


@pytest.mark.parametrize("error", [sandbox.ForbiddenError("open"), PermissionError(1, "")])
def test_a_forbidden_act_of_a_reader_is_a_fault_of_this_program(error: PermissionError) -> None:
    def reader(data: bytes, options: ReadOptions) -> list[Extract]:
        raise error

    answer = child._answer(reader, b"", ReadOptions(), FORMATS["html"])
    refusal = InputError.unpacked(answer["error"])
    assert (refusal.key, refusal.code) == ("reader.forbidden", "reader-forbidden")
    assert "fault of this program" in refusal.message
