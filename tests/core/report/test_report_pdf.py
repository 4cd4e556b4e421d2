"""Reports, read back by other programs: what they say, what they carry, what they are."""

import hashlib
import json
import re
import struct
import zlib
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from tests.core.programs import run
from tests.core.records import of_organisation

from pura.base import numerals
from pura.base.errors import InputError
from pura.detect.options import Options
from pura.detect.together import audit_text
from pura.detect.verdict.policy import Policy
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.finding import rendered
from pura.record.naming import CandidateFacts, Passage, RegisterFacts, RegisterMatch
from pura.report.annexes import bits_csv, safe_name, tokens_csv
from pura.report.blocks import Labels, html_page, page_count, render_pages
from pura.report.build import build_report
from pura.report.check import BAD, check_report
from pura.report.findings import ratio
from pura.report.request import (
    Confirmation,
    ItemNotes,
    Parties,
    ReportRequest,
    check_logo,
    digest_of,
)
from pura.scheme import Profile, SecretKey
from pura.words.sentences import fill, say

pytestmark = [pytest.mark.model, pytest.mark.programs("pdftotext", "pdfinfo", "pdffonts", "qpdf")]
SCRIPTS = {
    "Greek": "Καλημέρα κόσμε",
    "Cyrillic": "Привет мир",
    "Chinese": "你好世界",
    "Japanese": "こんにちは",
    "Arabic": "مرحبا",
    "Hebrew": "שלום",
    "Devanagari": "नमस्ते",
}
HOSTILE = '#import "x" $a$ *b* _c_ ] #panic() <label> @ref `raw` \\ #let x = 1 // no\n= Heading'


@pytest.fixture(scope="session")
def real(builtin_model: Any, samples: dict[str, Any]) -> Audit:
    """A real audit of a marked text."""
    data = samples["marked-tbcc"]
    audit = audit_text(
        data["texts"][1]["text"],
        model=builtin_model,
        name="statement.docx",
        keys=[(SecretKey.from_hex(data["key_hex"]), "Newsroom")],
        profile=Profile.from_dict(data["profile"]),
        options=Options(policy=Policy(draws=99)),
    )
    return of_organisation(audit)


def text_of(pdf: bytes, folder: Path) -> str:
    path = folder / "report.pdf"
    path.write_bytes(pdf)
    return run("pdftotext", "-layout", path, "-")


def squeezed(text: str) -> str:
    return re.sub(r"[\s\u200b]+", "", text)


def attached(pdf: bytes, folder: Path) -> dict[str, bytes]:
    path = folder / "attached.pdf"
    path.write_bytes(pdf)
    with pikepdf.open(path) as document:
        return {
            n: bytes(document.attachments[n].get_file().read_bytes()) for n in document.attachments
        }


@pytest.mark.parametrize(("language", "paper"), [("de", "a4"), ("en", "us-letter")])
def test_other_programs_read_the_report(real, tmp_path, language, paper):
    report = build_report([real], ReportRequest(language=language, paper=paper))
    text = text_of(report.pdf, tmp_path)
    path = tmp_path / "report.pdf"
    facts = run("pdfinfo", path)
    assert "Tagged:          yes" in facts
    assert ("A4" if paper == "a4" else "letter") in facts
    assert run("qpdf", "--check", path)
    fonts = run("pdffonts", path).splitlines()[2:]
    assert fonts
    assert all(
        " yes yes yes " in f"{' '.join(line.split())} ".replace("Type 1C", "")
        or re.search(r"yes\s+yes\s+yes", line)
        for line in fonts
    ), fonts
    tree = run("pdfinfo", "-struct", path)
    for tag in ("H1", "H2", "Table", "TH", "Figure"):
        assert tag in tree, tag
    with pikepdf.open(path) as document:
        assert str(document.Root.Lang) == language
        assert bool(document.Root.MarkInfo.Marked)
        metadata = str(document.open_metadata())
        assert "pdfaid" in metadata
        assert "pdfuaid" in metadata
    for section in report.content.sections:
        assert squeezed(f"{section.number} {section.title}") in squeezed(text)
    assert squeezed(say("note.n1", language)) in squeezed(text)
    for sentence in real.sentences:
        assert squeezed(fill(sentence, language)) in squeezed(text)
    assert real.input.sha256 in squeezed(text)
    assert real.payload.bits in squeezed(text)
    assert report.digest in squeezed(text)


def test_sections_stand_in_their_order(real, tmp_path):
    report = build_report([real], ReportRequest())
    names = [f"{s.number} +{s.title}" for s in report.content.sections]
    text = text_of(report.pdf, tmp_path)
    places = [
        text.index(found.group(0))
        for name in names
        if (found := re.search(f"^ *{name}", text, re.MULTILINE))
    ]
    assert len(places) == len(names) > 5
    assert places == sorted(places)
    assert "End of report" in text
    pages = page_count(report.pdf)
    assert f"Page {pages} of {pages}" in text


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("marks", [1, 12])
def test_a_report_is_short_and_says_nothing_twice(real, tmp_path, language, marks):
    parties = Parties(organisation="City Paper", examiner="Anna", reviewer="B.", authoriser="C.")
    report = build_report(
        [of_several(real, marks)], ReportRequest(language=language, parties=parties)
    )
    pages = text_of(report.pdf, tmp_path).strip("\f").split("\f")
    assert len(pages) <= (5 if marks == 1 else 6)
    said_ = [b.text for s in report.content.sections for b in s.blocks if len(b.text) > 60]
    said_ += [b.text for b in report.content.summary if len(b.text) > 60]
    said_ += [
        words
        for blocks in (report.content.summary, *(s.blocks for s in report.content.sections))
        for block in blocks
        for row in (block.rows if block.kind in ("facts", "list") else ())
        for words in row
        if len(words) > 60
    ]
    assert len(said_) > 20
    assert [words for words, count in Counter(said_).items() if count > 1] == []
    # What a lawyer or another expert needs is there all the same.
    whole = squeezed(" ".join(pages))
    audit = real
    for words in (
        *rendered(audit.finding.compared, language),
        *rendered(audit.finding.wording[:1], language),
        audit.key.fingerprint,
        audit.profile.fingerprint,
        audit.model.fingerprint,
        audit.model.tokenizer,
        audit.input.sha256,
        numerals.moment(audit.created, language),
        report.digest,
        Labels(language)("limits.copy"),
        Labels(language)("validation.fp"),
        Labels(language)("steps"),
        Labels(language)("integrity.check", name="record.json"),
    ):
        assert squeezed(words) in whole, words


def of_several(audit: Audit, marks: int) -> Audit:
    """Return the finding with so many marks."""
    if marks == 1:
        return audit
    (first,) = audit.marks
    wide = audit.tokens.ids.size // marks
    found = []
    for n in range(marks):
        a, b = n * wide, (n + 1) * wide - 1
        place = Passage(
            first_token=a,
            last_token=b,
            start=int(audit.tokens.spans[a, 0]),
            end=int(audit.tokens.spans[b, 1]),
        )
        bits = first.bits if n == 0 else f"{n:036b}"
        sure = (CandidateFacts(bits=bits, posterior=0.999),)
        found.append(replace(first, bits=bits, passages=(place,), candidates=sure))
    return replace(audit, marks=tuple(found), passages=())


def test_the_same_record_gives_the_same_bytes(real):
    request = ReportRequest(case="7", parties=Parties(organisation="Examples Ltd"))
    assert build_report([real], request).pdf == build_report([real], request).pdf


def test_the_record_is_inside_and_its_digest_is_printed(real, tmp_path):
    report = build_report([real], ReportRequest())
    inside = attached(report.pdf, tmp_path)
    assert inside.keys() == {"record.json", "particulars.json"}
    assert inside["record.json"] == report.json
    assert hashlib.sha256(report.json).hexdigest() == report.digest
    assert json_io.from_json(report.json).payload.bits == real.payload.bits


def test_our_own_check_finds_it_whole_and_finds_a_swapped_record(real):
    report = build_report([real], ReportRequest())
    found = check_report(report.pdf, moment=datetime(2026, 11, 21, tzinfo=UTC))
    assert [c.name for c in found.checks if c.state == BAD] == []
    other = build_report([real], ReportRequest(text="omitted"))
    mixed = build_report([replace(real, id="f" * 32)], ReportRequest())
    assert mixed.digest != report.digest != other.digest


def test_every_script_is_shown_or_named(real, tmp_path):
    words = "\n".join(SCRIPTS.values()) + "\n한국어 🧿 \u202e\x07 end"
    audit = replace(real, text=words, passages=(), tokens=_one_token(real, len(words)))
    text = squeezed(text_of(build_report([audit], ReportRequest()).pdf, tmp_path))
    for name in ("Greek", "Cyrillic", "Chinese", "Japanese"):
        assert squeezed(SCRIPTS[name]) in text, name
    for name in ("Arabic", "Hebrew"):
        # pdftotext writes right-to-left words in either order; no letter may be missing.
        assert set(squeezed(SCRIPTS[name])) <= set(text), name
    assert "न" in text
    assert "한국어" in text
    for code in ("U+1F9FF", "U+202E"):
        assert code in text, code
    assert "␇" in text or "U+0007" in text


def _one_token(audit: Audit, size: int) -> Any:
    import numpy as np

    one = slice(0, 1)
    tokens = audit.tokens
    return replace(
        tokens,
        ids=tokens.ids[one],
        spans=np.array([[0, size]]),
        lo=tokens.lo[one],
        hi=tokens.hi[one],
        entropy_bits=tokens.entropy_bits[one],
        gate=tokens.gate[one],
        log10_evidence=tokens.log10_evidence[one],
        marked=tokens.marked[one],
    )


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_mark_of_several_is_told(real, tmp_path, language):
    assert real.text is not None
    (first,) = real.marks
    end = real.tokens.ids.size - 1
    start = int(real.tokens.spans[end - 20, 0])
    place = Passage(first_token=end - 20, last_token=end, start=start, end=len(real.text))
    sure = (CandidateFacts(bits="01" * 18, posterior=0.999),)
    second = replace(first, bits="01" * 18, key="f" * 16, passages=(place,), share=0.13)
    second = replace(second, candidates=sure)
    audit = replace(real, marks=(replace(first, passages=()), second), passages=())
    report = build_report([audit], ReportRequest(language=language, text="excerpt"))
    text = squeezed(text_of(report.pdf, tmp_path))
    for part in ("0101" * 6, "f" * 16, "13%", f"{place.first_token + 1}"):
        assert part in text
    # An excerpt shows the passages of every mark.
    assert squeezed(real.text[place.start : place.start + 30]) in text


def test_a_text_is_never_markup(real, tmp_path):
    audit = replace(
        real,
        text=HOSTILE,
        passages=(),
        tokens=_one_token(real, len(HOSTILE)),
        input=replace(real.input, name=HOSTILE[:60]),
    )
    request = ReportRequest(
        case="#panic()",
        parties=Parties(organisation="$x$ *y*", question="#import"),
        item=ItemNotes(source="] #sys.version"),
    )
    report = build_report([audit], request)
    text = squeezed(text_of(report.pdf, tmp_path))
    for piece in HOSTILE.split("\n"):
        assert squeezed(piece) in text
    for piece in ("#panic()", "$x$*y*", "]#sys.version"):
        assert piece in text
    page = html_page(report.content)
    assert "<label>" not in page
    assert "&lt;label&gt;" in page


@pytest.mark.parametrize("mode", ["redacted", "omitted", "excerpt"])
def test_what_is_hidden_is_nowhere_in_the_file(real, tmp_path, mode):
    secret = real.text[300:340]
    audit = replace(real, passages=(replace(real.passages[0], start=0, end=20),))
    request = ReportRequest(text=mode, redactions=((290, 360),))
    report = build_report([audit], request)
    text = text_of(report.pdf, tmp_path)
    inside = attached(report.pdf, tmp_path)["record.json"].decode()
    page = html_page(report.content)
    for place in (text, page, inside):
        assert squeezed(secret) not in squeezed(place)
    back = json_io.from_json(inside)
    hidden = [t for t, (a, b) in enumerate(real.tokens.spans.tolist()) if a >= 300 and b <= 340]
    assert hidden
    assert all(back.tokens.ids[t] == -1 for t in hidden)
    assert secret not in tokens_csv(back)


def test_several_audits_share_a_report_with_an_overview(real, tmp_path):
    other = replace(real, id="a" * 32, input=replace(real.input, name="second.txt"))
    report = build_report([real, other], ReportRequest())
    text = text_of(report.pdf, tmp_path)
    assert "Overview" in text
    assert "second.txt" in text
    assert len(json.loads(report.json)["audits"]) == 2


@pytest.mark.parametrize("language", ["en", "de"])
def test_digests_can_be_copied_and_nothing_is_cut_at_the_margin(real, tmp_path, language):
    name = f"{'memorandum_of_the_newsroom_' * 6}{'x' * 40}.docx"
    audit = replace(real, input=replace(real.input, name=name))
    request = ReportRequest(
        language=language, case="case_" * 20, parties=Parties(examiner="n" * 90)
    )
    report = build_report([audit, replace(audit, id="c" * 32)], request)
    text = text_of(report.pdf, tmp_path)
    assert "\u200b" not in text
    assert real.input.sha256 in text  # in one piece
    # In the order of reading, not of the page's lines: a name may take several of its cell.
    assert name in squeezed(run("pdftotext", tmp_path / "report.pdf", "-"))
    boxes = run("pdftotext", "-bbox", tmp_path / "report.pdf", "-")
    ends = [float(end) for end in re.findall(r'xMax="([0-9.]+)"', boxes)]
    (width,) = {float(width) for width in re.findall(r'<page width="([0-9.]+)"', boxes)}
    assert max(ends) <= width - 72 * 2 / 2.54 + 1


@pytest.mark.parametrize(
    ("language", "named"), [("en", ("proved", "observed")), ("de", ("Schranke", "beobachtet"))]
)
def test_the_note_below_the_numbers_names_the_rows_that_it_speaks_of(language, named):
    note = Labels(language)("bound.note")
    assert all(word in note for word in named)
    assert named[0] in Labels(language)("bound")
    for word in ("first", "second", "erste", "zweite"):
        assert word not in note


def test_names_stand_in_the_sealed_annex_only(real, tmp_path):
    found = {"entry": 4, "payload": real.payload.bits, "posterior": 0.99}
    found |= {"key": real.key.fingerprint, "profile": real.profile.fingerprint}
    match = RegisterMatch(
        **found, note="Aktenzeichen 7", who="Erika Mustermann", when="2026-01-02", model="m"
    )
    numbers = {"entries": 9, "none_weight": 0.01, "prior_none": 0.1, "chance": 1e-9}
    register = RegisterFacts(version="v1", date="2026-11-01", matches=(match,), **numbers)
    report = build_report([replace(real, register=register)], ReportRequest())
    text = squeezed(text_of(report.pdf, tmp_path))
    assert "Mustermann" not in text
    assert b"Mustermann" not in report.json
    assert b"Aktenzeichen 7" not in report.json
    assert hashlib.sha256(report.annex).hexdigest() in text
    assert "Erika Mustermann" in text_of(report.annex, tmp_path)
    assert build_report([real], ReportRequest()).annex is None


def test_a_draft_says_so_on_every_page_and_a_replacement_names_the_original(real, tmp_path):
    draft = text_of(build_report([real], ReportRequest()).pdf, tmp_path)
    pages = page_count(build_report([real], ReportRequest()).pdf)
    assert draft.count("Draft: not reviewed and not authorised") == pages
    final = ReportRequest(final=True, replaces="R-1", reason="A wrong page", version=2)
    with pytest.raises(InputError, match="names who authorised it"):
        build_report([real], final)
    final = replace(final, parties=Parties(authoriser="B. Example"))
    with pytest.raises(InputError, match="no confirmation of exactly this finding"):
        build_report([real], final)
    confirmed = Confirmation(
        audit=real.id,
        findings=digest_of(real),
        examiner="",
        examined_by="a",
        reviewer="Béla",
        reviewed_by="b",
    )
    text = text_of(build_report([real], final, confirmed=[confirmed]).pdf, tmp_path)
    assert "Draft" not in text
    assert "R-1" in text
    assert "A wrong page" in text


def test_page_one_is_a_summary_and_the_log_says_what_was_reviewed(real, tmp_path):
    parties = Parties(purpose="A complaint")
    request = ReportRequest(parties=parties, review="Confirmed by B.", reviewed="confirmed")
    report = build_report([real], request)
    text = text_of(report.pdf, tmp_path)
    pages = text.strip("\f").split("\f")
    first = squeezed(pages[0])
    for words in (
        f"Does the text carry a mark of key Newsroom ({real.key.fingerprint})?",
        *rendered(real.finding.answer, "en"),
        "statement.docx",
        say("plain.n1", "en"),
        "Confirmed by B.",
        "A complaint",
        *rendered(real.finding.cautions, "en"),
    ):
        assert squeezed(words) in first
    assert "H1" not in pages[0]
    assert "not given" not in text
    assert text.count("Draft: reviewed, not yet authorised") == len(pages)
    assert squeezed(pages[-1]) != squeezed("End of report")
    assert "A complaint" in text


def test_what_is_found_and_what_is_missed_add_up(real, tmp_path):
    evidence = replace(real.evidence, power=0.957, p_bound=1e-112, log10_e=112.0)
    text = text_of(build_report([replace(real, evidence=evidence)], ReportRequest()).pdf, tmp_path)
    assert "95 %" in text
    assert "at most 5 %" in text
    assert "10112" not in squeezed(text)
    assert "1 in 1,000,000" in text


def test_a_remark_that_says_too_much_is_refused(real):
    with pytest.raises(InputError, match="says more"):
        build_report([real], ReportRequest(remark="This proves that the author is guilty."))
    for name in ("deviations", "external", "review"):
        with pytest.raises(
            InputError, match=name, check=lambda e, n=name: e.code == f"report-words-{n}"
        ):
            build_report([real], replace(ReportRequest(), **{name: "It proves guilt."}))


def test_the_page_takes_nothing_from_outside(real):
    page = html_page(build_report([real], ReportRequest()).content)
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert "<script" not in page
    assert page.count("<h2>") == 3 + 10  # of the summary, and of the sections


def test_tables_hold_every_bit_and_token_and_run_nothing(real):
    assert bits_csv(real).count("\r\n") == len(real.bits) + 1
    words = '=cmd|"/c calc"!A1'
    audit = replace(real, text=words, tokens=_one_token(real, len(words)))
    row = tokens_csv(audit).splitlines()[1]
    assert "'=cmd" in row
    assert tokens_csv(real).count("\r\n") >= real.tokens.ids.size


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a/b\\c:d", "a-b-c-d"),
        ("..", "report"),
        ("CON", "report-CON"),
        ("", "report"),
        ("x" * 300, "x" * 80),
        ("ünïcode 名", "ünïcode 名"),
        ("a\nb\x00c", "a-b-c"),
    ],
)
def test_file_names_do_no_harm(name, safe):
    assert safe_name(name) == safe


def test_pages_can_be_looked_at(real):
    report = build_report([real], ReportRequest())
    pictures = render_pages(report.pdf, dpi=40, pages=range(2))
    assert len(pictures) == 2
    assert all(p.startswith(b"\x89PNG") for p in pictures)


def test_standing_remarks_are_in_each_report_and_say_no_more_than_evidence(real, tmp_path):
    words = "Kept for ten years. Objections go to the head of the office."
    report = build_report([real], ReportRequest(standing=words))
    assert squeezed(words) in squeezed(text_of(report.pdf, tmp_path))
    assert words in html_page(report.content)
    with pytest.raises(InputError, match="standing"):
        build_report([real], ReportRequest(standing="Our findings prove guilt."))


def _svg(inside: str) -> bytes:
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {space} width="40" height="20">{inside}</svg>'.encode()


def _png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(chunk(*c) for c in chunks)


_BOMB = '<g id="a0"><path d="M0 0h1"/></g>' + "".join(
    f'<g id="a{n}">' + f'<use href="#a{n - 1}"/>' * 9 + "</g>" for n in range(1, 12)
)


@pytest.mark.parametrize(
    "logo",
    [
        _svg('<image href="file:///etc/passwd"/>'),
        _svg('<use xlink:href="other.svg#a"/>'),
        _svg('<rect fill="url(http://example.org/a.svg#b)"/>'),
        _svg('<rect style="fill:u\\72l(other.svg)"/>'),
        _svg('<style>@import "http://example.org/a.css";</style>'),
        _svg("<script>1</script>"),
        _svg("<foreignObject/>"),
        _svg('<filter id="f"><feGaussianBlur stdDeviation="1e9"/></filter>'),
        _svg(_BOMB),
        _svg('<g id="a"><use href="#a"/></g>'),
        _svg('<g id="a">' + "<path/>" * 300 + "</g>" + '<use href="#a"/>' * 100),
        b'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "b">]>' + _svg("&a;"),
        _svg("<g>"),
        b"<svg width='9' height='9'/>",
        _png(60_000, 60_000),
        _png(9, 9, (b"iCCP", bytes(1 << 17))),
        b"\x89PNG\r\n\x1a\n",
    ],
)
def test_a_logo_leads_nowhere_and_does_not_grow(logo):
    with pytest.raises(InputError, match="logo", check=lambda e: e.code == "report-logo"):
        check_logo(logo)


def test_a_usual_logo_is_drawn_and_anything_else_refused(real):
    inside = (
        '<defs><linearGradient id="a"><stop offset="0"/></linearGradient>'
        '<linearGradient id="b" xlink:href="#a"/><path id="p" d="M0 0h9v9z"/>'
        '<clipPath id="c"><rect width="9" height="9"/></clipPath></defs>'
        '<g clip-path="url(#c)"><use xlink:href="#p" style="fill:url(#b)"/></g>'
    )
    head = b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">'
    logo = b'<?xml version="1.0"?>' + head + _svg(inside)
    assert len(build_report([real], ReportRequest(logo=logo)).pdf) > 10_000
    with pytest.raises(InputError, match="logo"):
        build_report([real], ReportRequest(logo=b"GIF89a"))


@pytest.mark.parametrize(
    ("language", "capped", "lr", "words"),
    [
        ("en", True, 1e6, "at least 1,000,000"),
        ("en", True, 0.01, "at most 0.01"),
        ("de", True, 0.01, "höchstens 0,01"),
        ("en", False, 0.3, "0.3"),
    ],
)
def test_a_capped_ratio_says_on_which_side_the_true_one_lies(real, language, capped, lr, words):
    evidence = replace(real.evidence, capped=capped, lr_capped=lr)
    assert ratio(replace(real, evidence=evidence), Labels(language)) == words
