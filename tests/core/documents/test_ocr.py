"""Pictures of text are read by Tesseract, confined; where it is missing a sentence says how."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
import pytest
import typst

from pura.base import linux
from pura.base.errors import InputError
from pura.detect.options import AuditText, Options
from pura.detect.together import audit_text
from pura.detect.verdict.policy import Policy
from pura.documents import ocr, read_data
from pura.documents.ocr import Tesseract, languages_of_system
from pura.record.left_out import LeftOutKind
from pura.scheme import Profile, SecretKey
from pura.usecases.audits import unread_file
from pura.words.sentences import fill

PAGE = "#set page(width: 150mm, height: 180mm)\n#set text(size: 11pt)\n"
WORDS = "The harbour was quiet that morning.\n\nNobody had expected the ships to come back so soon."


def source(text: str) -> bytes:
    escaped = text.translate({ord(sign): f"\\{sign}" for sign in "\\$#*_@<>`~"})
    return (PAGE + escaped.replace("\f", "\n#pagebreak()\n")).encode()


def picture(text: str, ppi: float = 200) -> bytes:
    """Return the first page of a text as PNG."""
    found = typst.compile(source(text), format="png", ppi=ppi)
    return found if isinstance(found, bytes) else found[0]


def scan(text: str, *, noise: float = 12.0) -> bytes:
    """Return a PDF of pictures alone: pages drawn at 200 dpi, with the grain of a scanner."""
    rng = np.random.default_rng(1)
    out = pikepdf.new()
    with typst_pages(text) as drawn:
        for grey in drawn:
            grain = grey.astype(float) + rng.normal(scale=noise, size=grey.shape)
            data = np.clip(grain, 0, 255).astype(np.uint8)
            height, width = data.shape
            image = pikepdf.Stream(out, zlib.compress(data.tobytes()))
            image.update(
                {
                    "/Type": pikepdf.Name.XObject,
                    "/Subtype": pikepdf.Name.Image,
                    "/Width": width,
                    "/Height": height,
                    "/ColorSpace": pikepdf.Name.DeviceGray,
                    "/BitsPerComponent": 8,
                    "/Filter": pikepdf.Name.FlateDecode,
                }
            )
            size = (width * 72 / 200, height * 72 / 200)
            page = out.add_blank_page(page_size=size)
            name = page.add_resource(image, pikepdf.Name.XObject)
            content = f"q {size[0]} 0 0 {size[1]} 0 0 cm {name} Do Q".encode()
            page.Contents = out.make_stream(content)
    file = io.BytesIO()
    out.save(file)
    return file.getvalue()


class typst_pages:  # noqa: N801 - reads as a function
    """The pages of a text, drawn at 200 dpi, in grey."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __enter__(self) -> list[Any]:
        import pypdfium2 as pdfium

        document = pdfium.PdfDocument(typst.compile(source(self._text)))
        drawn = [page.render(scale=200 / 72, grayscale=True).to_numpy() for page in document]
        return [grey.reshape(grey.shape[:2]).copy() for grey in drawn]

    def __exit__(self, *_: object) -> None:
        return None


@pytest.mark.programs("tesseract")
def test_words_of_a_picture_are_read_and_said_to_be_recognised() -> None:
    (found,) = read_data(picture(WORDS), name="scan.png").chosen
    assert found.text.split() == WORDS.split()
    assert found.format == "picture"
    notes = [fill(note, "en") for note in found.notes]
    assert notes[0].startswith("The file holds pictures of text. Tesseract ")
    assert "Compare the text with the pages" in notes[1]
    assert found.transforms[0].name == ocr.RECOGNISED


@pytest.mark.programs("tesseract")
def test_pages_of_a_scanned_pdf_are_read_in_order() -> None:
    pages = [f"Minutes of the harbour\n\nPage {number}. {WORDS}" for number in ("one", "two")]
    extraction = read_data(scan("\f".join(pages)), name="scan.pdf")
    (found,) = extraction.chosen
    assert len(found.pages) == 2
    assert found.text.startswith("Page one.")
    assert found.text[found.pages[1] :].startswith("Page two.")
    # What stands on every page is a part, as in a PDF with text.
    assert [(one.kind, one.part) for one in found.left_out] == [
        (LeftOutKind.HEADER, "headers and footers")
    ]


def test_pdf_with_text_of_its_own_is_not_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "read_pdf", lambda *_, **__: pytest.fail("it has text"))
    (found,) = read_data(typst.compile(source(WORDS)), name="a.pdf").chosen
    assert found.text.split() == WORDS.split()


@pytest.mark.programs("tesseract")
@pytest.mark.model
def test_mark_is_found_in_a_scan(samples: dict[str, Any], builtin_model: Any) -> None:
    data = samples["marked-tbcc"]
    marked = data["texts"][0]["text"].strip()
    (found,) = read_data(scan(marked), name="scan.pdf").chosen
    audit = audit_text(
        AuditText(document=found),
        model=builtin_model,
        keys=[(SecretKey.from_hex(data["key_hex"]), None)],
        profile=Profile.from_dict(data["profile"]),
        options=Options(policy=Policy(draws=0)),
    )
    assert audit.verdict == "mark"
    cautions = " ".join(fill(one, "en") for one in audit.cautions)
    assert "recognised in pictures of its pages" in cautions
    assert any(note.key == "reading.ocr" for note in audit.input.notes)


@pytest.mark.programs("tesseract")
@pytest.mark.model
def test_scan_without_a_mark_is_not_called_unmarked(
    samples: dict[str, Any], builtin_model: Any
) -> None:
    data = samples["marked-tbcc"]
    human = (Path(__file__).parents[2] / "data" / "human.txt").read_text(encoding="utf-8")
    (found,) = read_data(picture(human[:1500]), name="scan.png").chosen
    audit = audit_text(
        AuditText(document=found),
        model=builtin_model,
        keys=[(SecretKey.from_hex(data["key_hex"]), None)],
        profile=Profile.from_dict(data["profile"]),
        options=Options(policy=Policy(draws=0)),
    )
    assert audit.verdict == "insufficient"


def test_without_tesseract_one_sentence_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ocr.shutil, "which", lambda _: None)
    for name, data in (("a.png", picture("x")), ("a.pdf", scan(WORDS))):
        with pytest.raises(InputError, match="Tesseract") as refused:
            read_data(data, name=name)
        assert "apt install tesseract-ocr" in refused.value.words("en")[1]
        assert "apt install tesseract-ocr" in refused.value.words("de")[1]
        (tmp_path / name).write_bytes(data)
        assert unread_file(tmp_path / name, refused.value) is not None  # an outcome, no fault


@pytest.mark.programs("tesseract")
def test_picture_without_words_and_broken_picture_are_refused() -> None:
    with pytest.raises(InputError) as refused:
        read_data(picture(" "), name="a.png")
    assert refused.value.key == "ocr.nothing"
    for broken in (
        picture(WORDS)[:2000],
        b"\x89PNG\r\n\x1a\n" + bytes(500),
        b"II*\x00" + b"\xff" * 99,
    ):
        with pytest.raises(InputError):
            read_data(broken, name="a.png")


@pytest.mark.programs("tesseract")
def test_attached_texts_of_a_scan_stay_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    with pikepdf.open(io.BytesIO(scan(WORDS))) as document:
        document.attachments["note.txt"] = b"A note of a few words, attached."
        file = io.BytesIO()
        document.save(file)
    extraction = read_data(file.getvalue(), name="a.pdf")
    assert extraction.chosen[0].text.split() == WORDS.split()
    assert [one.text for one in extraction.documents[1:]] == ["A note of a few words, attached."]
    monkeypatch.setattr(ocr.shutil, "which", lambda _: None)
    alone = read_data(file.getvalue(), name="a.pdf")
    assert alone.unread[0].error.key == "ocr.missing"


def test_languages_are_those_of_the_system_and_english(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert languages_of_system(["deu", "eng", "osd"]) == ("deu", "eng")
    assert languages_of_system(["fra", "osd"]) == ("fra",)
    assert languages_of_system(["osd"]) == ()
    monkeypatch.setenv("LANGUAGE", "fr:en")
    assert languages_of_system(["deu", "eng", "fra"]) == ("fra", "eng", "deu")


def shell(command: str) -> bytes | None:
    """Return what a shell writes that is started as Tesseract is; None where it failed."""
    program = Tesseract(program=Path("/bin/sh"), version="", languages=())
    return program._run(["-c", command])


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only time is limited")
def test_program_reaches_no_files_processes_or_other_users(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("told")
    secret.chmod(0o644)
    assert shell("echo told") == b"told\n"
    assert shell("(echo told)") is None  # no further process
    assert shell(f"echo x > {tmp_path}/written; echo $?") != b"0\n"
    assert not (tmp_path / "written").exists()
    assert shell(f"kill -0 {os.getpid()}; echo $?") == b"1\n"
    assert shell("ulimit -n; ulimit -f; ulimit -v") == b"32\n0\n2097152\n"
    if linux.version():
        assert shell(f"read line < {secret}; echo $line") != b"told\n"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only time is limited")
def test_program_has_no_network() -> None:
    # A socket for UDP needs nobody who listens: without the sandbox it always opens.
    command = "exec 3<>/dev/udp/127.0.0.1/9 && echo open"
    program = Tesseract(program=Path("/bin/bash"), version="", languages=())
    assert program._run(["-c", command]) is None
    assert program._run(["-c", "echo open"]) == b"open\n"
    plain = subprocess.run(["/bin/bash", "-c", command], check=False, capture_output=True)
    assert plain.stdout == b"open\n"


@pytest.mark.programs("tesseract")
def test_time_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "_WALL_SECONDS", 0.01)
    program = Tesseract(program=Path("/bin/sh"), version="", languages=("eng",))
    assert program._run(["-c", "while :; do :; done"]) is None
