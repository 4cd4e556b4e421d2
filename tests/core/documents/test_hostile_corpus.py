"""Files made to hurt. Each is read as the program reads it, in the sandboxed child."""

from __future__ import annotations

import io
import os
import socket
import sys
import tempfile
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pikepdf
import psutil
import pytest

from pura.base.errors import InputError
from pura.documents import file_bytes, formats, read_data, read_document
from pura.record.left_out import LeftOutKind

GOOD = "<p>An honest page with a few plain words.</p>"
DOCX = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{}</w:document>'
PARAGRAPH = "<w:body><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:body>"
CODES = {
    "input-limit",
    "input-damaged",
    "input-outside",
    "input-encrypted",
    "input-format",
    "input-truncated",
    "input-empty",
    "input-crash",
    "input-field",
}


def watched() -> None:
    """Called while a child works: it may never hold more than its limit."""
    for child in psutil.Process().children():
        try:
            assert child.memory_info().rss < formats.CHILD_MEMORY_BYTES
        except psutil.NoSuchProcess:
            continue


def refused(data: bytes, name: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read_data(data, name=name, heartbeat=watched)
    error = caught.value
    assert error.message
    assert error.hint
    assert error.code in CODES
    return error


def text_of(data: bytes, name: str) -> str:
    return read_data(data, name=name, heartbeat=watched).chosen[0].text


def ends(data: bytes, name: str, words: str = "") -> None:
    """Such a file is read, with its words, or refused by a known code; nothing else escapes."""
    try:
        assert words in text_of(data, name)
    except InputError as error:
        assert error.code in CODES  # noqa: PT017


def packed(document: bytes | str, **more: bytes | str) -> bytes:
    return archived({"word/document.xml": document, **more})


def archived(entries: dict[str, bytes | str]) -> bytes:
    """Return an archive that is the same at any time: tests are named by such bytes, and all
    workers have to find the same names."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():  # readers look for a kind that is stored as it is
            how = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, how)  # of 1980
    return file.getvalue()


def opendocument(content: str) -> bytes:
    kind = "application/vnd.oasis.opendocument.text"
    return archived({"mimetype": kind, "content.xml": content})


# Packed documents


def test_a_zip_bomb_stops_at_the_limit() -> None:
    data = packed(DOCX.format(PARAGRAPH.format(" " * (formats.MAX_UNPACKED_BYTES + 1))))
    assert len(data) < 1 << 20
    error = refused(data, "bomb.docx")
    assert error.code == "input-limit"
    assert f"{formats.MAX_UNPACKED_BYTES >> 20} MiB" in error.message
    # The queue goes on.
    assert text_of(GOOD.encode(), "good.html").startswith("An honest")


def test_a_header_that_lies_about_the_size_is_found_out() -> None:
    data = packed(DOCX.format(PARAGRAPH.format("word " * 5000)))
    # The sizes stand in the central directory, after the signature PK\1\2.
    at = data.index(b"PK\x01\x02")
    lie = data[: at + 24] + (10).to_bytes(4, "little") + data[at + 28 :]
    assert refused(lie, "lie.docx").code == "input-damaged"


def test_archives_inside_archives_are_never_opened() -> None:
    inner = b"PK\x03\x04" + b"\0" * 100
    for _ in range(5):
        inner = packed("x", **{"inner.zip": inner})
    data = packed(DOCX.format(PARAGRAPH.format("outer words")), **{"word/inner.zip": inner})
    assert text_of(data, "nested.docx") == "outer words"
    with pytest.raises(InputError, match="archive"):
        read_data(archived({"a.zip": inner}), name="nested.txt")


def test_entries_that_share_bytes_are_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", DOCX.format(PARAGRAPH.format("a" * 1000)))
        archive.writestr("word/other.xml", "b" * 1000)
        archive.filelist[1].header_offset = archive.filelist[0].header_offset
    assert "overlap" in refused(file.getvalue(), "overlap.docx").message


def test_too_many_entries_are_refused() -> None:
    more = {f"word/x{n}": "" for n in range(formats.MAX_PACKED_ENTRIES)}
    assert refused(packed(DOCX, **more), "many.docx").code == "input-limit"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
ENTITIES = [
    f'<!DOCTYPE d [<!ENTITY l0 "ha">{LAUGHS}]>',
    '<!DOCTYPE d [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE d [<!ENTITY % p SYSTEM "http://localhost:9/x.dtd"> %p; <!ENTITY l9 "x">]>',
]


@pytest.mark.parametrize("declaration", ENTITIES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused_in_every_packed_format(declaration: str, encoding: str) -> None:
    xml = declaration + DOCX.format(PARAGRAPH.format("&l9;"))
    assert refused(packed(xml.encode(encoding)), "x.docx").code == "input-outside"
    office = {"xl/workbook.xml": "x.xlsx", "ppt/presentation.xml": "x.pptx"}
    for entry, name in office.items():
        assert refused(archived({entry: xml.encode(encoding)}), name).code == "input-outside"
    if encoding == "utf-8":
        assert refused(opendocument(xml), "x.odt").code == "input-outside"


def test_deep_xml_is_refused() -> None:
    deep = DOCX.format("<w:sdt>" * 50_000 + "</w:sdt>" * 50_000)
    assert refused(packed(deep), "deep.docx").code == "input-limit"
    for entry, name in (("xl/workbook.xml", "deep.xlsx"), ("ppt/presentation.xml", "deep.pptx")):
        assert refused(archived({entry: deep}), name).code == "input-limit"


def workbook(cells: str, strings: str, target: str = "sheet1.xml") -> bytes:
    related = (
        '<r><q Id="a" Type="x/worksheet" Target="{}"/>'
        '<q Id="b" Type="x/sharedStrings" Target="s.xml"/></r>'
    )
    return archived(
        {
            "xl/workbook.xml": '<w><sheet name="A" id="a"/></w>',
            "xl/_rels/workbook.xml.rels": related.format(target),
            "xl/sheet1.xml": f"<w><row>{cells}</row></w>",
            "xl/s.xml": f"<w>{strings}</w>",
            "secret.xml": "<w><row><c t='inlineStr'><is><t>secret</t></is></c></row></w>",
        }
    )


def test_a_text_that_a_million_cells_ask_for_is_refused() -> None:
    data = workbook('<c t="s"><v>0</v></c>' * 100_000, f"<si><t>{'word ' * 1000}</t></si>")
    assert len(data) < 1 << 16
    assert refused(data, "x.xlsx").code == "input-limit"


@pytest.mark.parametrize("number", ["-1", "7", "x", "9" * 5000])
def test_a_cell_that_asks_for_a_text_that_is_not_there(number: str) -> None:
    data = workbook(f'<c t="s"><v>{number}</v></c>', "<si><t>words</t></si>")
    try:
        (document,) = read_data(data, name="x.xlsx").chosen
        assert document.kind == LeftOutKind.HIDDEN_TEXT
    except InputError as error:
        assert error.code in ("input-empty", "input-damaged")  # noqa: PT017


@pytest.mark.parametrize("target", ["../../../etc/passwd", "http://localhost:9/x", "sheet1.xml/.."])
def test_relations_lead_nowhere_outside(target: str) -> None:
    data = workbook("", "", target)
    assert refused(data, "x.xlsx").code == "input-empty"


def test_external_relationships_are_never_followed() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.1)
    url = f"http://127.0.0.1:{server.getsockname()[1]}/template.dotm"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate"
    rels = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{kind}" Target="{url}" TargetMode="External"/>'
        "</Relationships>"
    )
    data = packed(
        DOCX.format(PARAGRAPH.format("only words")),
        **{"word/_rels/document.xml.rels": rels, "word/_rels/settings.xml.rels": rels},
    )
    try:
        assert text_of(data, "template.docx") == "only words"
        with pytest.raises(TimeoutError):
            server.accept()
    finally:
        server.close()


# PDF


def pdf(pages: int = 1, words: str = "Plain words of a page.", **more: str) -> bytes:
    """Write a PDF by hand; every page is the same object."""
    stream = f"BT /F1 12 Tf 72 700 Td ({words}) Tj ET"
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {more.get('catalog', '')} >>",
        more.get("tree", f"<< /Type /Pages /Kids [{'3 0 R ' * pages}] /Count {pages} >>"),
        (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            "/Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    start = out.index(b"xref\n0")
    return out + (
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    )


def test_javascript_in_a_pdf_is_not_run() -> None:
    catalog = "/OpenAction << /S /JavaScript /JS (app.launchURL\\('http://127.0.0.1:9'\\);) >>"
    assert text_of(pdf(catalog=catalog), "script.pdf") == "Plain words of a page."


@pytest.mark.parametrize(
    "tree",
    [
        "<< /Type /Pages /Kids [2 0 R] /Count 1 >>",
        "<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] /Count 3 >>",
        "<< /Type /Pages /Parent 2 0 R /Kids [3 0 R] /Count 2000000000 >>",
    ],
)
def test_cycles_in_a_pdf_end(tree: str) -> None:
    ends(pdf(tree=tree), "cycle.pdf", "Plain words")


def test_a_locked_pdf_says_so_and_an_openly_encrypted_one_is_read() -> None:
    for password, locked in (("secret", True), ("", False)):
        file = io.BytesIO()
        with pikepdf.open(io.BytesIO(pdf())) as document:
            rules = pikepdf.Encryption(user=password, owner="owner", R=6)
            document.save(file, encryption=rules)
        if locked:
            assert refused(file.getvalue(), "locked.pdf").code == "input-encrypted"
        else:
            assert "Plain words" in text_of(file.getvalue(), "open.pdf")


def test_a_hundred_thousand_pages_are_refused_by_name() -> None:
    error = refused(pdf(pages=100_000), "long.pdf")
    assert f"{formats.MAX_PAGES:,} pages" in error.message


def test_truncated_pdfs_never_escape() -> None:
    whole = pdf()
    for share in (0.1, 0.4, 0.7, 0.95):
        ends(whole[: int(len(whole) * share)], "cut.pdf")


# Pages, mail, data


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "deep" + "</div>" * 100_000,
        "<table><tr><td>" * 30_000 + "deep",
        "deep" + "<!--" * 5_000,
        "deep" + "<a " * 2_000,
        "deep" + "</b>" * 100_000,
        "<b>" * 50_000 + "deep" + "</i>" * 50_000,
        "deep" + "&" * 200_000,
    ],
    ids=["div", "table", "comment", "tag", "end", "unmatched", "ampersand"],
)
def test_deep_and_broken_pages_end(page: str) -> None:
    ends(page.encode(), "deep.html", "deep")


def test_pages_fetch_nothing() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.1)
    url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    page = f'<link rel=stylesheet href="{url}"><img src="{url}"><iframe src="{url}"></iframe>words'
    try:
        assert text_of(page.encode(), "web.html") == "words"
        with pytest.raises(TimeoutError):
            server.accept()
    finally:
        server.close()


def test_nested_mime_is_refused() -> None:
    parts = "".join(
        f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(2000)
    )
    assert refused(f"From: a@b\nTo: c@d\nSubject: x\n{parts}".encode(), "m.eml").code in CODES
    message = EmailMessage()
    message.set_content("innermost words")
    for _ in range(formats.MAX_MAIL_DEPTH + 1):
        outer = EmailMessage()
        outer.add_attachment(message)
        message = outer
    assert refused(bytes(message), "forwarded.eml").code == "input-limit"


def test_many_parts_are_refused() -> None:
    part = "--b\nContent-Type: text/plain\n\nwords\n"
    head = 'From: a@b\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n'
    data = (head + part * (formats.MAX_MAIL_PARTS + 5) + "--b--\n").encode()
    assert refused(data, "many.eml").code == "input-limit"


def test_what_the_parser_of_mail_would_work_on_for_a_minute_is_counted_before() -> None:
    head = "From: a@b\nMIME-Version: 1.0\n"
    recipients = "Final-Recipient: rfc822; a@b\n\n" * 60_000
    parameters = "; ".join(f"p{n}=v{n}" for n in range(90_000))
    part = (
        f"--b\nContent-Type: text/plain; a={'x' * (formats.MAX_MAIL_HEADER_BYTES - 99)}\n\nwords\n"
    )
    cases = (
        ("limit.parts", f"Content-Type: message/delivery-status\n\n{recipients}"),
        ("limit.mail-header", f"Content-Type: text/plain; {parameters}\n\nwords"),
        ("limit.parts", f"Content-Disposition: attachment; {'(a)' * 2000}\n\nwords"),
        ("limit.mail-header", f"Content-Type: multipart/mixed; boundary=b\n\n{part * 40}--b--\n"),
    )
    for key, message in cases:
        assert refused((head + message).encode(), "mail.eml").key == key
        mailbox = f"From a@b Mon Nov 16 09:00:00 2026\n{head}{message}"
        assert refused(mailbox.encode(), "mail.mbox").key == key
    # What an honest mail has at most: a name of 255 letters, each as nine characters, in pieces.
    honest = EmailMessage()
    honest["To"] = ", ".join(f"u{n}@example.org" for n in range(5000))
    honest.set_content("A few words of the letter.\n")
    honest.add_attachment("The attached words.\n", filename="ж" * 255)
    found = read_data(bytes(honest), name="honest.eml")
    assert [document.text for document in found.documents] == [
        "A few words of the letter.",
        "The attached words.",
    ]


@pytest.mark.parametrize("name", ["deep.json", "deep.jsonl"])
def test_deep_json_is_refused(name: str) -> None:
    assert refused(b"[" * 100_000 + b"]" * 100_000, name).code == "input-limit"
    assert refused(b'{"a":' * 100_000, name).code == "input-limit"


def test_too_many_rows_are_refused() -> None:
    rows = b'{"text": "a few words"}\n' * (formats.MAX_PARTS + 1)
    assert refused(rows, "many.jsonl").code == "input-limit"


def test_deep_rtf_ends() -> None:
    ends(b"{\\rtf1 " + b"{" * 200_000 + b"words", "deep.rtf")


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.json", "a.html", "a.eml", "a.mbox"])
def test_binary_under_the_name_of_a_text_is_refused(name: str) -> None:
    noise = bytes((i * 197 + i // 7) % 256 for i in range(5000))
    assert refused(noise, name).code in CODES
    assert refused(b"\x7fELF\x02\x01\x01" + noise, name).code == "input-format"


def test_what_is_named_like_a_document_and_is_none_is_called_damaged() -> None:
    noise = bytes((i * 197 + i // 7) % 256 for i in range(5000))
    assert refused(noise, "broken.PDF").key == "input.misnamed"
    assert "ends in .pdf" in refused(noise, "broken.PDF").message
    assert (
        text_of(b"plain words under a wrong name", "note.docx") == "plain words under a wrong name"
    )


# Files


def test_a_gigabyte_of_nothing_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse.txt"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    before = psutil.Process().memory_info().rss
    with pytest.raises(InputError, match="more than 64 MiB"):
        read_document(path)
    assert psutil.Process().memory_info().rss - before < 64 << 20


def test_a_file_that_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.txt"
    path.write_text("first words\n" * 100)
    check = file_bytes.check_size

    def writes(size: int) -> None:
        with path.open("a") as file:
            file.write("more words\n")
        check(size)

    monkeypatch.setattr(file_bytes, "check_size", writes)
    with pytest.raises(InputError, match="changed while it was read"):
        read_document(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no file vanishes there while it is open")
def test_a_file_that_vanishes_is_whole_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gone.txt"
    path.write_text("first words")
    monkeypatch.setattr(file_bytes, "check_size", lambda _: path.unlink(missing_ok=True))
    assert read_document(path).chosen[0].text == "first words"
    with pytest.raises(InputError, match="cannot be read"):
        read_document(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_pipes_devices_and_loops_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "loop.txt").symlink_to(tmp_path / "loop.txt")
    (tmp_path / "dangling.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "device.txt").symlink_to("/dev/zero")
    for name in ("pipe.txt", "loop.txt", "dangling.txt", "device.txt"):
        with pytest.raises(InputError):
            read_document(tmp_path / name)
    with pytest.raises(InputError):
        read_document(Path("/dev/zero"))


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_links_are_followed_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("real words")
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "real.txt")
    assert read_document(link).chosen[0].text == "real words"
    with pytest.raises(InputError, match="cannot be read"):
        read_document(link, follow_links=False)


@pytest.mark.skipif(sys.platform == "win32", reason="such names do not exist there")
@pytest.mark.parametrize(
    "name",
    [
        "two\nlines.html",
        "\u202etxt.exe.html",
        "🙂🧨.html",
        "-rf.html",
        "--help",
        "…" * 83 + "ab.txt",
        " .html",
        b"\xff\xfe.html".decode(errors="surrogateescape"),
    ],
)
def test_strange_names_are_only_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(GOOD)
    found = read_document(path)
    assert "honest page" in found.chosen[0].text
    assert found.name == name
    assert len(os.fsencode(name)) <= 255


def test_an_error_in_the_parent_kills_the_child() -> None:
    class Stop(BaseException):
        pass

    def stop() -> None:
        raise Stop

    before = {p.pid for p in psutil.Process().children()}
    with pytest.raises(Stop):
        read_data(b"<div>" * 400_000, name="slow.html", heartbeat=stop)
    assert {p.pid for p in psutil.Process().children()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="other rights there")
def test_an_unreadable_file_is_refused() -> None:
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "secret.txt"
        path.write_text("words")
        path.chmod(0)
        Path(folder).chmod(0o755)
        if root:
            os.seteuid(65534)  # root may read everything
        try:
            with pytest.raises(InputError, match="Permission denied"):
                read_document(path)
        finally:
            if root:
                os.seteuid(0)
