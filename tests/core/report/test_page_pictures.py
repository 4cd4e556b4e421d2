"""The original pages in a report: of passages only, with the evidence where it stands."""

from __future__ import annotations

import io
import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
import typst
from PIL import Image
from tests.app.records import make_audit
from tests.core.cli.conftest import pura, refusal

from pura.base.errors import Cancelled, InputError
from pura.base.numerals import LANGUAGES
from pura.cli import report as cli
from pura.documents import Document, read_document
from pura.documents.pages import Pages
from pura.documents.places import columns, page_of, token_boxes
from pura.record.audit import Audit
from pura.record.naming import Passage
from pura.report import page_pictures as module
from pura.report.annexes import shades
from pura.report.blocks import Labels, html_page
from pura.report.build import build_report
from pura.report.check import GOOD, check_report
from pura.report.page_pictures import page_pictures
from pura.report.request import EXCERPT, ReportRequest
from pura.scheme import Profile, SecretKey
from pura.usecases.reports import files_examined, original_pages

WORDS = " ".join(
    f"In year {number} officer {7 * number} read the text, and found passage {number} in it."
    for number in range(100)
)
SOURCE = f'#set page(paper: "a5", header: [Head], numbering: "1")\n#set text(size: 14pt)\n{WORDS}'


@pytest.fixture(scope="module")
def letter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "letter.pdf"
    path.write_bytes(typst.compile(SOURCE.encode()))
    return path


@pytest.fixture(scope="module")
def document(letter: Path) -> Document:
    return read_document(letter).chosen[0]


@pytest.fixture
def audit(document: Document, samples) -> Audit:
    """A finding whose passage lies on the middle pages."""
    profile = Profile.from_dict(samples["marked"]["profile"])
    made = make_audit(document.text, profile, SecretKey(bytes(range(32))))
    start, end = document.pages[1] + 40, document.pages[2] + 200
    spans = made.tokens.spans
    first, last = (int(np.searchsorted(spans[:, 1], place, "right")) for place in (start, end))
    passage = Passage(
        first_token=first, last_token=last, start=int(spans[first, 0]), end=int(spans[last, 1])
    )
    facts = replace(
        made.input, name="letter.pdf", format="pdf", sha256=document.sha256, pages=document.pages
    )
    return replace(made, input=facts, passages=(passage,))


def test_pages_that_hold_a_passage_are_drawn_with_their_evidence(
    audit: Audit, letter: Path
) -> None:
    found = original_pages(audit, letter)
    assert [number for number, _ in found] == [2, 3]
    with closing(Pages(letter.read_bytes)) as pages:
        places = pages.places(audit.text or "")
        assert places is not None
        boxes, tokens = token_boxes(places, audit.tokens.spans, 1, pages.sizes()[1])
    image = np.asarray(Image.open(io.BytesIO(found[0][1])).convert("RGB"))
    high, wide, _ = image.shape
    levels = shades(audit)[tokens]
    seen = {"for": 0, "against": 0}
    (passage,) = audit.passages
    first, last = passage.first_token, passage.last_token
    found_of_page = zip(boxes.tolist(), tokens.tolist(), levels.tolist(), strict=True)
    for (left, top, right, end), token, level in found_of_page:
        corner = image[round(top * high) + 1, round(right * wide) - 2].astype(int)
        below = image[round(end * high), round(left * wide) : round(right * wide)].astype(int)
        if not first <= token <= last:
            assert corner.min() > 200
        elif level == 4:
            assert abs(corner - [0x93, 0xB7, 0xDF]).max() < 40
            seen["for"] += 1
        elif level < 0:
            assert (np.abs(below - [0xA6, 0x4A, 0x0C]).max(axis=1) < 40).any()
            seen["against"] += 1
    assert min(seen.values()) > 20
    inside = (tokens >= passage.first_token) & (tokens <= passage.last_token)
    ((left, top, _, end),) = columns(boxes[inside]).tolist()
    bracket = image[round(top * high) + 2 : round(end * high) - 2, round(left * wide) - 7]
    assert (np.abs(bracket.astype(int) - [0x1F, 0x7A, 0x55]).max(axis=1) < 40).all()
    assert page_of(places, passage.start) == 1


def test_a_report_shows_them_and_is_made_again_with_the_same_bytes(
    audit: Audit, letter: Path
) -> None:
    pages = original_pages(audit, letter)
    request = ReportRequest(pages=(pages,))
    report = build_report([audit], request)
    with closing(pypdfium2.PdfDocument(report.pdf)) as made:
        texts = [page.get_textpage().get_text_bounded() for page in made]
    assert re.findall(r"Page (\d+) of the original|page (\d+)", "\n".join(texts))
    alone = build_report([audit], ReportRequest())
    assert len(report.pdf) > len(alone.pdf) + 50_000
    checked = check_report(report.pdf, moment=datetime.now(UTC))
    same = [one for one in checked.checks if one.key.startswith("pages.")]
    assert [(one.key, one.state) for one in same] == [("pages.same", GOOD)]
    excerpt = build_report([audit], replace(request, text=EXCERPT))
    assert excerpt.pdf == build_report([audit], ReportRequest(text=EXCERPT)).pdf


def test_a_report_without_them_says_why(audit: Audit, letter: Path) -> None:
    pages = original_pages(audit, letter)
    plain = replace(audit, id="1" * 32, input=replace(audit.input, name="plain.txt", format="text"))
    quiet = replace(audit, id="2" * 32, passages=(), verdict="insufficient")
    both = [audit, plain, quiet]
    for language in LANGUAGES:
        words = Labels(language)("annex.no-pages")
        for shown, request in (
            (1, ReportRequest()),
            (0, ReportRequest(pages=(pages,))),
            (0, ReportRequest(text=EXCERPT)),
        ):
            report = build_report(both, replace(request, language=language))
            assert html_page(report.content).count(words) == shown, (language, request.text)


def test_the_original_is_known_by_its_digest(audit: Audit, letter: Path, tmp_path: Path) -> None:
    moved = letter.rename(letter.with_name("moved.pdf"))
    try:
        second = replace(audit, id="1" * 32)  # another examination of the same bytes
        assert files_examined([audit, second], [moved]) == {audit.input.sha256: moved}
        other = tmp_path / "letter.pdf"
        other.write_bytes(typst.compile(b"Something else"))
        with pytest.raises(InputError, match="original of no finding"):
            files_examined([audit], [moved, other])
    finally:
        moved.rename(letter)


def test_the_command_shows_pages_of_the_original(
    audit: Audit, letter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, out = tmp_path / "record.json", tmp_path / "out.pdf"
    monkeypatch.setattr(cli, "read_records", lambda path: [audit])  # this one was put together
    words = ("report", "build", record, "--pdf", out, "--force")
    done = pura(*words, "--original", letter)
    assert done.exit_code == 0, done.output
    other = tmp_path / "other.pdf"
    other.write_bytes(b"%PDF-")
    request = ReportRequest(pages=(original_pages(audit, letter),))
    assert out.read_bytes() == build_report([audit], request).pdf
    assert refusal(pura(*words, "--original", other)) == "report-original"


def test_files_without_pages_or_elsewhere_are_left_out(
    audit: Audit, letter: Path, tmp_path: Path
) -> None:
    assert original_pages(audit, None) == ()
    assert original_pages(audit, tmp_path / "gone.pdf") == ()
    other = tmp_path / "letter.pdf"
    other.write_bytes(typst.compile(b"Something else"))
    assert original_pages(audit, other) == ()
    assert original_pages(replace(audit, text=None), letter) == ()
    assert original_pages(replace(audit, passages=(), verdict="insufficient"), letter) == ()
    assert original_pages(replace(audit, text=f"{audit.text} more"), letter) == ()


def test_of_many_pages_the_strongest_are_shown(
    audit: Audit, letter: Path, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Passage(
        first_token=0, last_token=audit.tokens.ids.size - 1, start=0, end=len(document.text)
    )
    audit = replace(audit, passages=(whole,))
    found = [number for number, _ in original_pages(audit, letter)]
    assert found == list(range(1, len(document.pages) + 1))
    monkeypatch.setattr(module, "MAX_PAGES", 2)
    strong = [number for number, _ in original_pages(audit, letter)]
    assert len(strong) == 2
    sums = np.concatenate(([0.0], np.cumsum(audit.tokens.log10_evidence)))
    edges = np.searchsorted(audit.tokens.spans[:, 0], [*document.pages, len(document.text)])
    evidence = sums[edges[1:]] - sums[edges[:-1]]
    assert strong == sorted((np.argsort(-evidence)[:2] + 1).tolist())


def test_drawing_can_be_stopped(audit: Audit, letter: Path) -> None:
    def stop() -> None:
        raise Cancelled

    with closing(Pages(letter.read_bytes)) as pages, pytest.raises(Cancelled):
        page_pictures(audit, pages, stop)
