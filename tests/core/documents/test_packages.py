"""Containers are told by their directory, and what is wrong with one is said."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from pathlib import Path

import pytest
from lxml import etree
from tests.core.documents.compound_files import compound
from tests.core.documents.test_documents_formats import (
    ODT,
    WRITERS,
    book,
    deck,
    opendocument,
    read,
    sheet,
    word,
)
from tests.core.documents.test_hostile_corpus import archived

from pura.base.errors import InputError
from pura.documents import Extraction
from pura.record.left_out import LeftOutKind

WORDS = "The nine words of this text stand in it."
DOCX = word(lambda document: document.add_paragraph(WORDS))
OPC = "http://schemas.openxmlformats.org/package/2006"


def entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def stored(parts: dict[str, bytes]) -> bytes:
    """Write an archive whose entries are not compressed: their bytes stand in it as they are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def text_of(data: bytes, name: str = "x.bin") -> str:
    return read(data, name).chosen[0].text


def refusal(data: bytes, name: str = "x.bin") -> InputError:
    with pytest.raises(InputError) as caught:
        read(data, name)
    return caught.value


def with_main_part(kind: str, name: str = "word/document.xml") -> bytes:
    """Write a Word file whose main part has another content type, or another name."""
    parts = entries(DOCX)
    document = parts.pop("word/document.xml")
    relations = parts.pop("word/_rels/document.xml.rels")
    folder, _, file = name.rpartition("/")
    usual = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    parts["[Content_Types].xml"] = (
        parts["[Content_Types].xml"]
        .replace(usual, kind.encode())
        .replace(b"/word/document.xml", f"/{name}".encode())
    )
    parts["_rels/.rels"] = parts["_rels/.rels"].replace(b"word/document.xml", name.encode())
    return archived(parts | {name: document, f"{folder}/_rels/{file}.rels": relations})


@pytest.mark.parametrize(
    "kind",
    [
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
        "application/vnd.ms-word.document.macroEnabled.main+xml",
        "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
        "application/xml",  # says nothing; the first element does
    ],
)
def test_documents_templates_and_those_with_macros_are_of_one_format(kind: str) -> None:
    found = read(with_main_part(kind), "x.bin")
    assert (found.format, found.chosen[0].text) == ("docx", WORDS)


@pytest.mark.parametrize("name", ["word/document2.xml", "docs/main.xml", "WORD/Document.XML"])
def test_the_main_part_is_the_one_that_the_package_names(name: str) -> None:
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    assert text_of(with_main_part(kind, name)) == WORDS


def test_names_with_backslashes_are_names_with_slashes() -> None:
    assert text_of(stored({n.replace("/", "\\"): d for n, d in entries(DOCX).items()})) == WORDS


def test_names_in_another_case_are_the_same() -> None:
    assert text_of(stored({n.upper(): d for n, d in entries(DOCX).items()})) == WORDS


@pytest.mark.parametrize("folder", ["xl/embeddings", "word", "ppt"])
def test_a_document_stored_inside_another_does_not_make_it_one(folder: str) -> None:
    inner = stored(entries(DOCX))
    outer = entries(sheet(WORDS)) | {f"{folder}/inside.docx": inner}
    assert read(stored(outer), "x.bin").format == "xlsx"
    outer = entries(DOCX) | {f"{folder}/inside.xlsx": stored(entries(sheet("other words")))}
    assert read(stored(outer), "x.bin").format == "docx"


def test_an_archive_of_documents_is_an_archive() -> None:
    error = refusal(stored({"letters/a.docx": stored(entries(DOCX))}), "x.docx")
    assert (error.key, error.code) == ("input.no-reader", "input-format")


@pytest.mark.parametrize("stands", ["last", "packed"])
def test_the_kind_of_an_opendocument_counts_wherever_it_stands(stands: str) -> None:
    parts = entries(opendocument(f"<text:p>{WORDS}</text:p>"))
    kind = parts.pop("mimetype")
    data = archived({"content.xml": parts["content.xml"], "mimetype": kind})
    if stands == "packed":
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("mimetype", kind)
            archive.writestr("content.xml", parts["content.xml"])
        data = file.getvalue()
    found = read(data, "x.bin")
    assert (found.format, found.chosen[0].text) == ("odt", WORDS)


@pytest.mark.parametrize("kind", ["text", "text-template", "text-master", "text-web"])
def test_every_kind_of_opendocument_text_is_read(kind: str) -> None:
    content = ODT.format(f"<text:p>{WORDS}</text:p>")
    data = archived(
        {"mimetype": f"application/vnd.oasis.opendocument.{kind}\n", "content.xml": content}
    )
    assert text_of(data) == WORDS
    manifest = (
        '<manifest:manifest xmlns:manifest="m"><manifest:file-entry manifest:full-path="/" '
        f'manifest:media-type="application/vnd.oasis.opendocument.{kind}"/></manifest:manifest>'
    )
    assert text_of(archived({"META-INF/manifest.xml": manifest, "content.xml": content})) == WORDS


def test_a_book_is_one_without_its_kind_too() -> None:
    parts = entries(book(f"<p>{WORDS}</p>"))
    del parts["mimetype"]
    found = read(archived(parts), "x.bin")
    assert (found.format, found.chosen[0].text) == ("epub", WORDS)


def test_a_presentation_is_told_by_its_parts() -> None:
    assert read(deck(WORDS), "x.bin").format == "pptx"


# What has no reader is named


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}, "kind.opendocument"),
        ({"Index/Document.iwa": "x"}, "kind.iwork"),
        ({"a.txt": "x"}, "kind.packed"),
        ({"[Content_Types].xml": "<Types/>", "a.xml": "<a/>"}, "kind.office-other"),
    ],
)
def test_a_package_without_a_reader_is_named(parts: dict[str, bytes | str], kind: str) -> None:
    what = refusal(archived(parts)).values["what"]
    assert getattr(what, "key", None) == kind


def test_a_binary_workbook_is_named() -> None:
    parts = entries(sheet(WORDS))
    usual = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    binary = b"application/vnd.ms-excel.sheet.binary.macroEnabled.main"
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(usual, binary)
    assert getattr(refusal(archived(parts)).values["what"], "key", None) == "kind.xlsb"


@pytest.mark.parametrize(
    ("streams", "key"),
    [
        (["EncryptionInfo", "EncryptedPackage"], "packed.locked"),
        (["WordDocument", "1Table"], "kind.doc"),
        (["Workbook"], "kind.xls"),
        (["Book"], "kind.xls"),
        (["PowerPoint Document", "Pictures"], "kind.ppt"),
        (["Anything"], "kind.office"),
    ],
)
@pytest.mark.parametrize("name", ["x.docx", "x.doc"])
def test_a_compound_file_is_locked_or_old(streams: list[str], key: str, name: str) -> None:
    error = refusal(compound(streams), name)
    if key == "packed.locked":
        assert (error.key, error.code) == (key, "input-encrypted")
    else:
        assert getattr(error.values["what"], "key", None) == key


# Files in one piece of XML


def flat(data: bytes) -> bytes:
    """Write an Office package as Word's one XML file."""
    pkg = "http://schemas.microsoft.com/office/2006/xmlPackage"
    root = etree.Element(f"{{{pkg}}}package", nsmap={"pkg": pkg})
    types = etree.fromstring(entries(data)["[Content_Types].xml"])
    kinds = {one.get("PartName"): one.get("ContentType") for one in types}
    for name, content in entries(data).items():
        if not name.endswith((".xml", ".rels")) or name.startswith("["):
            continue
        part = etree.SubElement(root, f"{{{pkg}}}part", {f"{{{pkg}}}name": f"/{name}"})
        part.set(f"{{{pkg}}}contentType", kinds.get(f"/{name}", "application/xml"))
        etree.SubElement(part, f"{{{pkg}}}xmlData").append(etree.fromstring(content))
    head = b'<?xml version="1.0" standalone="yes"?>\n<?mso-application progid="Word.Document"?>\n'
    return head + bytes(etree.tostring(root))


@pytest.mark.parametrize("name", ["x.xml", "x.txt", "x.docx"])
def test_flat_office_xml_is_the_document_that_it_is(name: str) -> None:
    found = read(flat(DOCX), name)
    assert (found.format, found.chosen[0].text) == ("docx", WORDS)


def test_a_flat_presentation_is_read_as_one() -> None:
    assert read(flat(deck_with_types()), "x.xml").format == "pptx"


def deck_with_types() -> bytes:
    parts = entries(deck(WORDS))
    kind = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
    return archived(
        parts
        | {
            "[Content_Types].xml": f'<Types xmlns="{OPC}/content-types"><Override '
            f'PartName="/ppt/presentation.xml" ContentType="{kind}"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{OPC}/relationships"><Relationship Id="r" '
            'Type="x/officeDocument" Target="ppt/presentation.xml"/></Relationships>',
        }
    )


def test_flat_opendocument_is_read() -> None:
    root = ODT.format(f"<text:p>{WORDS}</text:p>").replace("document-content", "document")
    kind = 'office:mimetype="application/vnd.oasis.opendocument.text"'
    document = root.replace("<office:document ", f"<office:document {kind} ", 1)
    for encoding in ("utf-8", "utf-16"):
        found = read(document.encode(encoding), "x.fodt")
        assert (found.format, found.chosen[0].text) == ("odt", WORDS)


@pytest.mark.parametrize(
    "root",
    [
        '<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"/>',
        '<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>',
    ],
)
def test_xml_of_the_office_programs_of_2003_is_named(root: str) -> None:
    what = refusal(f"<?xml version='1.0'?>\n{root}".encode(), "x.xml").values["what"]
    assert getattr(what, "key", None) == "kind.office-2003"


def test_other_xml_is_text() -> None:
    assert read('<?xml version="1.0"?><document>words</document>', "x.xml").format == "text"


# Files that end too early


def cut(data: bytes, share: float) -> bytes:
    return data[: int(len(data) * share)]


@pytest.mark.parametrize("name", ["docx", "xlsx", "pptx", "odt", "epub"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.98])
def test_a_cut_package_ends_too_early(name: str, share: float) -> None:
    error = refusal(cut(WRITERS[name](WORDS), share), f"x.{name}")
    assert (error.key, error.code) == ("input.truncated", "input-truncated")


def test_a_cut_package_is_not_taken_for_the_one_inside_it() -> None:
    inner = stored(entries(DOCX))
    whole = stored(entries(sheet(WORDS)) | {"xl/embeddings/a.docx": inner, "z": b"z" * 500})
    assert refusal(cut(whole, 0.9), "x.xlsx").key == "input.truncated"


def test_a_cut_flat_file_ends_too_early() -> None:
    assert refusal(cut(flat(DOCX), 0.8), "x.xml").key == "input.truncated"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ('[{"text": "one"}, {"text": "tw', "x.json"),
        ('{"text": "one"', "x.json"),
        ('[\n {"text": "one"},\n {"text": "two"', "x.json"),
        ('{"text": "one"}\n{"text": "tw', "x.jsonl"),
        ('{"text": "one"}\n{"text": "tw', "x.json"),
    ],
)
def test_cut_json_ends_too_early(data: str, name: str) -> None:
    assert refusal(data.encode(), name).key == "input.truncated"


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_what_a_cut_rtf_holds_is_read_and_its_end_is_missed(share: float) -> None:
    (document,) = read(cut(WRITERS["rtf"](WORDS * 4), share), "x.rtf").chosen
    assert (WORDS * 4).startswith(document.text[:20])
    assert [note.key for note in document.notes] == ["reading.truncated"]
    assert [(entry.kind, entry.words) for entry in document.left_out] == [
        (LeftOutKind.MISSING_END, None)
    ]


def test_an_rtf_without_any_text_left_ends_too_early() -> None:
    assert refusal(b"{\\rtf1\\ansi{\\fonttbl{\\f0 Ari", "x.rtf").key == "input.truncated"


def test_an_old_office_file_that_is_cut_ends_too_early() -> None:
    assert refusal(compound(["WordDocument"])[:700], "x.doc").key == "input.truncated"


def test_a_mail_with_a_package_is_a_mail(tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@b", "c"
    message.set_content(WORDS)
    message.add_attachment(DOCX, maintype="application", subtype="zip", filename="a.docx")
    found: Extraction = read(bytes(message), "x.eml")
    assert found.format == "eml"
