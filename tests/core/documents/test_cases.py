"""Files of kinds that strangers send: the marked text in each is read, or is said to be left out.

What must hold for each stands in ``tests/data/cases/README.md``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

import pura
from pura.base.errors import InputError
from pura.documents import Document, Extraction, read_data
from pura.record.left_out import LeftOutKind, left_out_share

CASES = Path(__file__).parents[2] / "data" / "cases"
BESIDE = {"README.md", "PAYLOAD", "key.hex", "profile.json"}
MARKED_WORDS = 154


@dataclass(frozen=True, kw_only=True)
class Holds:
    """What must hold for a case.

    Attributes:
        part: The part that has the marked text.
        words: How many words the part may have; a few beside the marked ones stand in the file.
        listed: What the part is said to be with the text that is examined; None where it is
            examined itself.
        beside: Kinds of what else is listed.
        examined: How many parts are examined.
    """

    part: str = ""
    words: int = MARKED_WORDS
    listed: LeftOutKind | None = None
    beside: tuple[LeftOutKind, ...] = ()
    examined: int = 1


READ = {
    "c1_charset_iso-8859-8-i.html": Holds(),
    "c2_charset_x-mac-roman.html": Holds(),
    "c4_charset_unknown-8bit.html": Holds(),
    "c5_charset_utf8mb4.html": Holds(),
    "c7_rtf_ansicpg0.rtf": Holds(),
    "c7_rtf_ansicpg10000.rtf": Holds(),
    "d1_sdt_cell.docx": Holds(words=157),
    "d2_altchunk_html.docx": Holds(words=155),
    "d3_backslashes.docx": Holds(),
    "d5_text_box.docx": Holds(part="text boxes", listed=LeftOutKind.TEXT_BOX),
    "d6_comment.docx": Holds(part="comments", listed=LeftOutKind.COMMENT),
    "d8_flat_opc.xml": Holds(),
    "h1_mjml_mail.eml": Holds(part="body"),
    "h1_mjml_mail.html": Holds(),
    "h2_media_query.html": Holds(words=155),
    "h3_reveal_opacity.html": Holds(part="hidden text", listed=LeftOutKind.HIDDEN_TEXT),
    "h4_aria_hidden_root.html": Holds(words=160),
    "h6_iframe_srcdoc.html": Holds(words=155),
    "h8_textarea.html": Holds(words=156),
    "j1_chatgpt_conversations.json": Holds(
        part="message 2 (assistant)", beside=(LeftOutKind.MESSAGE,)
    ),
    "j5_sse_stream.txt": Holds(),
    "m1_plain_stub.eml": Holds(part="body", beside=(LeftOutKind.OTHER_VERSION,)),
    "m2_plain_empty.eml": Holds(part="body"),
    "m3_html_gmail_quote.eml": Holds(
        part="quoted 1", words=168, listed=LeftOutKind.QUOTED_ORIGINAL
    ),
    "m6_from_in_body.mbox": Holds(part="message 1, body", words=157, examined=2),
    "m10_docx_attached.eml": Holds(part="attachment report.docx", listed=LeftOutKind.ATTACHMENT),
    "m11_apple.emlx": Holds(part="body"),
    "m13_unquoted_boundary.eml": Holds(part="body"),
    "p1_form_field.pdf": Holds(part="form fields", listed=LeftOutKind.FORM_FIELD),
    "r2_rtf_revisions.rtf": Holds(
        part="as accepted",
        beside=(
            LeftOutKind.DELETED_TEXT,
            LeftOutKind.HEADER,
            LeftOutKind.HIDDEN_TEXT,
            LeftOutKind.NOTE,
        ),
    ),
    "s1_subtitles.srt": Holds(),
    "x2_xlsx_with_embedded_docx.xlsx": Holds(part="sheet S"),
}
REFUSED = {"m8_smime_opaque.eml": "mail.sealed", "t1_truncated.docx": "input.truncated"}
NO_MARK = ("no-mark/d1.docx", "no-mark/h9.html", "no-mark/m10.eml")


def read(name: str) -> Extraction:
    path = CASES / name
    return read_data(path.read_bytes(), name=path.name)


def marked_part(name: str) -> Document:
    parts = {document.part: document for document in read(name).documents}
    return parts[READ[name].part]


def test_every_case_has_a_line() -> None:
    files = {
        path.relative_to(CASES).as_posix() for path in CASES.rglob("*") if path.name not in BESIDE
    } - {"no-mark"}
    assert files == {*READ, *REFUSED, *NO_MARK}
    page = (CASES / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in files)


@pytest.mark.parametrize("name", READ)
def test_the_marked_words_are_all_in_one_part(name: str) -> None:
    # Single signs aside: the form field has "-" where the text has a dash.
    words = re.findall(r"\w+", marked_part("m11_apple.emlx").text)
    part = marked_part(name)
    assert Counter(words) <= Counter(re.findall(r"\w+", part.text))
    assert part.words == READ[name].words


@pytest.mark.parametrize("name", READ)
def test_what_is_examined_and_what_is_listed(name: str) -> None:
    holds, chosen = READ[name], read(name).chosen
    assert len(chosen) == holds.examined
    assert (holds.part in {document.part for document in chosen}) is (holds.listed is None)
    listed = {(entry.kind, entry.part) for entry in chosen[0].left_out if entry.matters}
    if holds.listed is not None:
        assert (holds.listed, holds.part) in listed
        assert left_out_share(chosen[0].left_out, chosen[0].examined_words) > 0.5
    others = tuple(sorted(kind for kind, part in listed if part != holds.part))
    assert others == holds.beside


@pytest.mark.parametrize("name", REFUSED)
def test_a_case_without_readable_words_names_the_cause(name: str) -> None:
    with pytest.raises(InputError, check=lambda error: error.key == REFUSED[name]):
        read(name)


@pytest.mark.parametrize("name", READ)
def test_the_payload_is_read(builtin_model, name: str) -> None:
    audit = pura.verify(
        marked_part(name).text,
        key=pura.SecretKey.from_hex((CASES / "key.hex").read_text(encoding="ascii").strip()),
        profile=CASES / "profile.json",
        model=builtin_model,
    )
    assert audit.payload is not None
    assert audit.payload.bits == (CASES / "PAYLOAD").read_text(encoding="ascii").strip()


@pytest.mark.parametrize("name", NO_MARK)
def test_words_that_were_left_out_forbid_no_mark(builtin_model, name: str) -> None:
    folder = CASES / "no-mark"
    profile = json.loads((folder / "profile.json").read_text(encoding="utf-8"))
    audit = pura.verify(
        CASES / name,
        key=pura.SecretKey.from_hex((folder / "key.hex").read_text(encoding="ascii").strip()),
        profile=pura.Profile.from_dict(profile),
        model=builtin_model,
    )
    if audit.payload is not None:
        assert int(audit.payload.bits, 2) == 0x8E41B07C3
    else:
        assert audit.verdict == "insufficient"
        assert audit.sentences[0].key.startswith("outcome.insufficient-in-part")
