"""Whatever is done to a report is found: on a signed one, and on one that nobody signed."""

import io
import json
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Pdf
from tests.core.records import RECORD
from tests.core.report.test_report_check import NOW, SECRET, make_p12, trust_of

from pura.base.errors import PuraError
from pura.base.identity import load_identity
from pura.report import check, request
from pura.report.build import Report, build_report, remake
from pura.report.check import BAD, OPEN, CheckedPoint, ReportCheck, check_report
from pura.report.check_child import differing_pages, dissect
from pura.report.request import Parties, ReportRequest
from pura.report.signing import SignOptions, sign_report

Act = Callable[[Pdf], None]
WHITE = b"q 1 1 1 rg 0 0 2000 2000 re f Q"


P12 = make_p12()


@pytest.fixture(scope="module")
def report() -> Report:
    return build_report([RECORD], ReportRequest(parties=Parties(organisation="Desk")))


@pytest.fixture(scope="module")
def signed(report: Report) -> bytes:
    identity = load_identity(P12, SECRET, now=NOW)
    return sign_report(report.pdf, identity, SignOptions(seal=True), now=NOW)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do in this process what the children do; the way through them is another test's."""
    monkeypatch.setattr(
        check, "take_apart", lambda data, trust, *, moment, heartbeat: dissect(data, trust, moment)
    )
    again = cache(remake)

    def made_again(record: bytes, told: bytes, *, heartbeat: Any) -> bytes | None:
        try:
            return again(record, told)
        except (ValueError, PuraError):
            return None

    monkeypatch.setattr(check, "made_again", made_again)
    monkeypatch.setattr(
        check,
        "look_different",
        lambda data, other, *, heartbeat: tuple(differing_pages(other, data)),
    )


def page(number: int, act: Callable[[Pdf, Any], None]) -> Act:
    return lambda pdf: act(pdf, pdf.pages[number])


def painted(stream: bytes, number: int = 0, *, before: bool = False) -> Act:
    return page(number, lambda pdf, p: p.contents_add(pdf.make_stream(stream), prepend=before))


def note(kind: str, **more: Any) -> Act:
    def act(pdf: Pdf, p: Any) -> None:
        made = Dictionary(
            Type=Name.Annot, Subtype=Name(f"/{kind}"), Rect=[50, 50, 400, 400], F=4, **more
        )
        p.Annots = Array([*p.get("/Annots", []), pdf.make_indirect(made)])

    return page(0, act)


def put(name: str, value: Any) -> Act:
    return page(0, lambda _, p: p.obj.__setitem__(Name(name), value))


def root(name: str, make: Callable[[Pdf], Any]) -> Act:
    return lambda pdf: pdf.Root.__setitem__(Name(name), make(pdf))


def script(_: Pdf) -> Dictionary:
    return Dictionary(S=Name.JavaScript, JS="app.alert('x')")


def attached(name: str, data: bytes) -> Act:
    def act(pdf: Pdf) -> None:
        if name in pdf.attachments:
            del pdf.attachments[name]
        pdf.attachments[name] = pikepdf.AttachedFileSpec(pdf, data, filename=name)

    return act


def another_organisation(pdf: Pdf) -> None:
    told = json.loads(pdf.attachments[request.NAME].get_file().read_bytes())
    told["request"]["parties"]["organisation"] = "Another desk"
    attached(request.NAME, json.dumps(told).encode())(pdf)


def swapped(pdf: Pdf) -> None:
    first = pdf.pages[0]
    del pdf.pages[0]
    pdf.pages.insert(1, first)


def layered(pdf: Pdf) -> None:
    layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name="x"))
    off = Dictionary(OFF=Array([layer]))
    pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=off)
    p = pdf.pages[0]
    p.obj.Resources.Properties = Dictionary(Hide=layer)
    p.contents_add(pdf.make_stream(b"/OC /Hide BDC"), prepend=True)
    p.contents_add(pdf.make_stream(b"EMC"))


def pictured(pdf: Pdf, p: Any) -> None:
    picture = pdf.make_stream(b"\xff" * 3, Type=Name.XObject, Subtype=Name.Image, Width=1, Height=1)
    picture.ColorSpace, picture.BitsPerComponent = Name.DeviceRGB, 8
    p.add_resource(picture, Name.XObject, Name("/Im9"))
    p.contents_add(pdf.make_stream(b"q 400 0 0 400 50 300 cm /Im9 Do Q"))


def see_through(pdf: Pdf, p: Any) -> None:
    p.add_resource(Dictionary(ca=0, CA=0), Name.ExtGState, Name("/Gone"))
    p.contents_add(pdf.make_stream(b"/Gone gs"), prepend=True)


def one_font(_: Pdf, p: Any) -> None:
    fonts = p.obj.Resources.Font
    for name in list(fonts.keys())[1:]:
        fonts[name] = fonts[next(iter(fonts.keys()))]


def drop(name: str) -> Act:
    return lambda pdf: pdf.attachments.__delitem__(name)


def titled(pdf: Pdf) -> None:
    pdf.docinfo["/Title"] = "Another title"


def field(pdf: Pdf) -> None:
    widget = pdf.make_indirect(
        Dictionary(
            Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, T="f", V="0.99", Rect=[9, 9, 99, 99]
        )
    )
    pdf.pages[0].Annots = Array([*pdf.pages[0].get("/Annots", []), widget])
    pdf.Root.AcroForm = Dictionary(Fields=Array([widget]), NeedAppearances=True)


TAMPERING: dict[str, Act] = {
    "a white page": painted(WHITE),
    "a white last page": painted(WHITE, -1),
    "a bar over a line": painted(b"q 0 g 60 600 300 12 re f Q"),
    "a word more": painted(b"BT /F9 12 Tf 80 80 Td (no mark) Tj ET"),
    "everything moved": painted(b"1 0 0 1 3 0 cm", before=True),
    "everything unseen": painted(b"3 Tr", before=True),
    "everything see-through": page(0, see_through),
    "cut to nothing": painted(b"0 0 1 1 re W n", before=True),
    "no content": put("/Contents", Array([])),
    "a picture": page(0, pictured),
    "one font for another": page(0, one_font),
    "a free text": note("FreeText", Contents="no mark", DA="/Helv 12 Tf 0 g"),
    "a white square": note("Square", IC=[1, 1, 1], C=[1, 1, 1]),
    "a highlight": note("Highlight", QuadPoints=[50, 90, 400, 90, 50, 50, 400, 50], C=[1, 1, 0]),
    "a stamp": note("Stamp", Name=Name.Approved),
    "a note": note("Text", Contents="see me"),
    "a redaction": note("Redact", IC=[0, 0, 0]),
    "a link over all": note("Link", A=Dictionary(S=Name.URI, URI="http://127.0.0.1/")),
    "a field": field,
    "a crop": put("/CropBox", [0, 400, 300, 700]),
    "a smaller page": put("/MediaBox", [0, 200, 595, 842]),
    "a turn": put("/Rotate", 180),
    "another unit": put("/UserUnit", 2),
    "pages swapped": swapped,
    "a page less": lambda pdf: pdf.pages.__delitem__(1),
    "a page twice": lambda pdf: pdf.pages.append(pdf.pages[0]),
    "an empty page": lambda pdf: pdf.add_blank_page(page_size=(595, 842)) and None,
    "a script at opening": root("/OpenAction", script),
    "a named script": root(
        "/Names",
        lambda pdf: Dictionary(
            EmbeddedFiles=pdf.Root.Names.EmbeddedFiles,
            JavaScript=Dictionary(Names=Array(["x", script(pdf)])),
        ),
    ),
    "a script at a page": put("/AA", Dictionary(O=Dictionary(S=Name.JavaScript, JS="x"))),
    "a program": root("/OpenAction", lambda _: Dictionary(S=Name.Launch, F="calc")),
    "a layer": layered,
    "a file more": attached("extra.txt", b"words"),
    "another record": attached("record.json", b"{}"),
    "two records": attached("second.json", b"{}"),
    "no record": drop("record.json"),
    "another organisation": another_organisation,
    "damaged particulars": attached(request.NAME, b"{}"),
    "another title": titled,
    "other bookmarks": root("/Outlines", lambda _: Dictionary(Type=Name.Outlines, Count=0)),
    "other words for a reader": root("/Lang", lambda _: "xx"),
    "a hidden toolbar": root("/ViewerPreferences", lambda _: Dictionary(HideToolbar=True)),
    "saved again": lambda _: None,
}
NAMED = {
    "a white page": "pages.other",
    "a free text": "added.some",
    "a script at opening": "added.some",
    "a layer": "added.some",
    "a crop": "added.some",
    "pages swapped": "pages.other",
    "a page less": "pages.other",
    "another organisation": "pages.other",
    "damaged particulars": "pages.damaged",
    "a link over all": "pages.unseen",
    "saved again": "pages.unseen",
    "no record": "record.none",
    "two records": "record.several",
}


def done_to(data: bytes, act: Act) -> bytes:
    with pikepdf.open(io.BytesIO(data)) as pdf:
        act(pdf)
        out = io.BytesIO()
        with warnings.catch_warnings(action="ignore"):  # what it thinks of such a file
            pdf.save(out)
    return out.getvalue()


def faults(found: ReportCheck) -> set[str]:
    return {one.key for one in found.checks if one.state == BAD}


@pytest.mark.sampled
def test_forty_kinds_of_tampering_are_found(report, signed, in_this_process, monkeypatch):
    assert len(TAMPERING) >= 40
    trust = trust_of(P12)
    assert check_report(report.pdf, moment=NOW).headline().startswith("Not signed: the pages are")
    assert check_report(signed, moment=NOW, trust=trust).headline().startswith("Signed under")
    missed = []
    for name, act in TAMPERING.items():
        unsigned = faults(check_report(done_to(report.pdf, act), moment=NOW))
        if not unsigned or NAMED.get(name) not in (None, *unsigned):
            missed.append((name, "unsigned", unsigned))
    # A signature speaks without any page being made again or drawn.
    not_compared = CheckedPoint(name="pages", state=OPEN, key="pages.no-particulars")
    monkeypatch.setattr(check, "same_pages", lambda *_: not_compared)
    for name in NAMED:
        again = done_to(signed, TAMPERING[name])
        if not faults(check_report(again, moment=NOW, trust=trust)):
            missed.append((name, "signed", set()))
    assert missed == []


def test_what_cannot_be_compared_is_in_the_headline(report, in_this_process):
    def of_another_version(pdf: Pdf) -> None:
        told = json.loads(pdf.attachments[request.NAME].get_file().read_bytes())
        told["made_with"]["typst"] = "0"
        attached(request.NAME, json.dumps(told).encode())(pdf)
        painted(WHITE)(pdf)

    for act in (drop(request.NAME), of_another_version):
        found = check_report(done_to(report.pdf, act), moment=NOW)
        assert not faults(found)
        assert "Its pages were not compared" in found.headline()


def test_a_removed_signature_fails_where_trust_was_named(report, in_this_process):
    found = check_report(report.pdf, moment=NOW, trust=trust_of(P12))
    assert faults(found) == {"integrity.missing"}
    # A policy asks for signatures: the one here, or the one that the record was made under.
    assert not faults(check_report(report.pdf, moment=NOW))
    assert faults(check_report(report.pdf, moment=NOW, policy=True)) == {"integrity.policy"}

    def under_such_a_policy(pdf: Pdf) -> None:
        record = json.loads(pdf.attachments["record.json"].get_file().read_bytes())
        record["policy"]["signed"] = True
        attached("record.json", json.dumps(record).encode())(pdf)

    changed = check_report(done_to(report.pdf, under_such_a_policy), moment=NOW)
    assert "integrity.policy" in faults(changed)


def test_changed_padding_of_the_signature_is_named(signed, in_this_process):
    end = signed.index(b">", signed.index(b"/Contents <"))
    other = signed[: end - 2] + b"41" + signed[end:]
    assert faults(check_report(other, moment=NOW, trust=trust_of(P12))) == {"integrity.padding"}


def test_the_pages_are_made_again_in_children(report):
    assert check_report(report.pdf, moment=NOW).headline("de").startswith("Nicht signiert: Die")
    painted_over = done_to(report.pdf, painted(WHITE))
    found = check_report(painted_over, moment=NOW)
    assert faults(found) == {"pages.other"}
    assert found.checks[-2].text().endswith("look different: 1.")
