"""Messages that Outlook saved are read as mails: bodies, quoted originals, attachments, RTF."""

from __future__ import annotations

import io
import struct

import docx
import pytest
from tests.core.documents.compound_files import compound

from pura.base.errors import InputError
from pura.documents import read_data
from pura.documents.readers.outlook import unpacked
from pura.record.left_out import LeftOutKind

PACKED = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a0072637067313235423 20af32068656c090020627705b06c647d"
    "0a800fa0".replace(" ", "")
)
"""The first example of [MS-OXRTFCP]."""
TOP = "__properties_version1.0"
OWN = "The council met on Tuesday evening to talk about the harbour and its old cranes. " * 4
QUOTED = "Whoever wrote the letter wanted an answer before the end of the week. " * 2


def properties(code_page: int = 1252) -> bytes:
    return bytes(32) + struct.pack("<4I", 0x3FFD0003, 6, code_page, 0)


def message(**streams: bytes) -> bytes:
    contents = {TOP: properties()}
    contents |= {f"__substg1.0_{name[1:]}": data for name, data in streams.items()}
    return compound(list(contents), contents)


def test_plain_body_with_a_quoted_original() -> None:
    text = f"{OWN}\r\n\r\nOn Monday, Bob <b@c.example> wrote:\r\n> {QUOTED}\r\n"
    extraction = read_data(message(_1000001F=text.encode("utf-16-le")), name="a.msg")
    assert extraction.format == "msg"
    (own,) = extraction.chosen
    assert own.text.strip() == OWN.strip()
    kinds = [one.kind for one in own.left_out]
    assert LeftOutKind.QUOTED_ORIGINAL in kinds


def test_bytes_are_read_in_the_code_page_that_the_message_names() -> None:
    text = "Привет, это письмо."
    streams = {TOP: properties(1251), "__substg1.0_1000001E": text.encode("cp1251")}
    assert read_data(compound(list(streams), streams), name="a").chosen[0].text == text


def test_html_body_is_read_where_the_plain_one_is_a_stub() -> None:
    page = f"<html><body><p>{OWN}</p></body></html>".encode()
    data = message(_1000001F="See the web version.".encode("utf-16-le"), _10130102=page)
    (own,) = read_data(data, name="a.msg").chosen
    assert own.text.strip() == OWN.strip()
    assert [one.kind for one in own.left_out] == [LeftOutKind.OTHER_VERSION]


def test_rtf_is_unpacked_as_its_specification_says() -> None:
    assert unpacked(PACKED) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    plain = b"{\\rtf1 hello}"
    assert unpacked(struct.pack("<2I4sI", 12 + len(plain), len(plain), b"MELA", 0) + plain) == plain
    for cut in range(16, len(PACKED)):
        assert unpacked(PACKED).startswith(unpacked(PACKED[:cut])[: cut - 16])
    with pytest.raises(InputError, match="ends too early"):
        unpacked(PACKED[:15])


def test_rtf_is_the_body_where_there_is_no_other() -> None:
    assert read_data(message(_10090102=PACKED), name="a.msg").chosen[0].text == "hello world"


def test_attached_document_and_attached_message_are_parts() -> None:
    file = io.BytesIO()
    document = docx.Document()
    document.add_paragraph(QUOTED)
    document.save(file)
    attached, forwarded = "__attach_version1.0_#00000000", "__attach_version1.0_#00000001"
    inner = f"{forwarded}/__substg1.0_3701000D"
    contents = {
        TOP: properties(),
        "__substg1.0_1000001F": OWN.encode("utf-16-le"),
        f"{attached}/__substg1.0_37010102": file.getvalue(),
        f"{attached}/__substg1.0_3707001F": "letter.docx".encode("utf-16-le"),
        f"{inner}/{TOP}": properties(),
        f"{inner}/__substg1.0_1000001F": ("Inside. " + OWN).encode("utf-16-le"),
    }
    extraction = read_data(compound(list(contents), contents), name="a.msg")
    texts = [one.text.strip() for one in extraction.documents]
    assert texts[0] == OWN.strip()
    assert QUOTED.strip() in texts
    assert any(text.startswith("Inside.") for text in texts)


@pytest.mark.parametrize("cut", [600, 2000, 5000])
def test_cut_off_message_is_refused_as_such(cut: int) -> None:
    data = message(_1000001F=OWN.encode("utf-16-le"))
    with pytest.raises(InputError):
        read_data(data[:cut], name="a.msg")
