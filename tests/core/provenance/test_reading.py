"""Manifests of others' writers, read by us: found, cut out, verified in the sandbox, compared."""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import c2pa_text
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.programs import ended, python

from pura.documents import ReadOptions, characters, from_text, manifests, read_document
from pura.documents.formats import FORMATS
from pura.documents.manifests import in_texts, verified
from pura.provenance import reading
from pura.provenance.binding import binding_value, compared
from pura.provenance.reading import Asset, encode, without, wrappers
from pura.record.provenance import (
    BOTH_AGREE,
    BOTH_DIFFER,
    MANIFEST_ONLY,
    MARK_ONLY,
    MOST_APART,
    UNNAMED,
    WHY,
    ManifestFacts,
    layers_of,
    layers_said,
)
from pura.words.sentences import fill, forbidden

HERE = Path(__file__).resolve().parents[2] / "data" / "manifests"
TRUST = (HERE / "trust.pem").read_text(encoding="ascii")
SIGNER = "Example Press signing"


def read(name: str, trust: str = TRUST) -> tuple[ManifestFacts, ...]:
    """As an audit reads a file."""
    document = read_document(HERE / name, options=ReadOptions(trust=trust)).chosen[0]
    (found,) = in_texts([(document.text, document.encoding)], trust)
    return (*document.manifests, *found)


def told(text: str, trust: str = TRUST) -> tuple[ManifestFacts, ...]:
    """As an audit reads a text that never was a file."""
    document = from_text(text)
    return in_texts([(document.text, document.encoding)], trust)[0]


def held(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sample(samples: dict[str, Any]) -> tuple[str, str, str]:
    """A marked text, its payload, and the fingerprint of its profile."""
    from pura.scheme import Profile

    made = samples["marked-tbcc"]
    first = made["texts"][0]
    return first["text"], first["payload"], Profile.from_dict(made["profile"]).fingerprint


@pytest.mark.parametrize(
    ("name", "form", "soft_binding"),
    [
        ("agrees.txt", "a8", "agrees"),
        ("agrees.md", "a9", "agrees"),
        ("agrees.html", "a7", "agrees"),
        ("differs.txt", "a8", "differs"),
        ("elsewhere.txt", "a8", "differs"),
        ("unnamed.txt", "a8", "absent"),
        ("large.txt", "a8", "agrees"),
        *((f"agrees.{form}", form, "agrees") for form in ("docx", "odt", "epub", "pdf")),
    ],
)
def test_anothers_manifest_is_valid_and_compared(
    sample: tuple[str, str, str], name: str, form: str, soft_binding: str
) -> None:
    text, payload, profile = sample
    (found,) = compared(read(name), [payload], profile)
    assert (found.form, found.state, found.why) == (form, "valid", "")
    assert (found.signer, found.signed_at) == (SIGNER, "2026-11-26T09:30:00+00:00")
    assert found.manifest.startswith("urn:c2pa:")
    assert found.soft_binding == soft_binding
    assert found.elsewhere is (name == "elsewhere.txt")
    if soft_binding == "agrees":
        assert found.values == (binding_value(payload, profile),)
        assert (found.fingerprint_distance or 0) <= 2, "paragraphs are put together again"
    if form in ("a8", "a9"):
        assert without(held(name)) == text
    # Nobody is trusted whom the list does not name.
    (stranger,) = read(name, trust="")
    assert stranger == replace(found, state="untrusted", soft_binding="absent")


def test_one_changed_word_and_one_changed_byte_are_told_apart() -> None:
    text = held("agrees.txt")
    (changed,) = told(text.replace("the", "teh", 1))
    assert (changed.state, changed.why, changed.signer) == ("invalid", "changed", SIGNER)
    (run,) = (one for one in wrappers(text))
    data = bytearray(c2pa_text.extract_manifest(text)[0] or b"")
    place = data.index(b"c2pa.created")
    data[place] ^= 1
    (broken,) = told(text[: run.start] + c2pa_text.encode_wrapper(bytes(data)))
    assert (broken.state, broken.why) == ("invalid", "broken")


def test_a_manifest_of_another_text_is_invalid_and_said_to_be_from_elsewhere(
    sample: tuple[str, str, str],
) -> None:
    wrapper = held("agrees.txt")[len(sample[0]) :]
    (found,) = told(without(held("alone.txt")) + wrapper)
    assert (found.state, found.why) == ("invalid", "changed")
    assert (found.fingerprint_distance or 0) > MOST_APART
    (found,) = compared([found], [], sample[2])
    assert found.soft_binding == "differs"
    assert layers_of([found], [], marked=False) == BOTH_DIFFER


def test_several_in_one_text_count_none() -> None:
    text = held("agrees.txt")
    other = text + held("differs.txt")[len(without(text)) :]
    found = told(other)
    assert [(one.state, one.why, one.signer) for one in found] == [
        ("invalid", "several", SIGNER)
    ] * 2
    assert found[0].values != found[1].values
    assert without(other) == without(text)
    many = told("Words." + "".join(c2pa_text.encode_wrapper(b"x" * 9) + "y" for _ in range(99)))
    assert len(many) == reading.MAX_MANIFESTS
    assert {one.state for one in many} == {"invalid"}


DAMAGED = {
    "noise": c2pa_text.encode_wrapper(b"y" * 500),
    "no end": c2pa_text.encode_wrapper(b"y" * 500)[:-1],
    "nothing": c2pa_text.encode_wrapper(b""),
    "nested CBOR": c2pa_text.encode_wrapper(b"\x9f" * 100_000),
    "nested boxes": c2pa_text.encode_wrapper(b"\0\0\0\x08jumb" * 50_000),
    "no base64": f"\n<!-- {reading._BEGIN} {reading._DATA_URI}!!! {reading._END} -->",
    "no store": f"\n<!-- {reading._BEGIN} {reading._DATA_URI}AAAA {reading._END} -->",
    "no armour": f"\n# {reading._BEGIN} {reading._DATA_URI}AAAA",
}


def test_what_is_malformed_costs_no_text_anything(subtests: Any) -> None:
    found = verified(
        [Asset(form="text", data=f"Words.{one}".encode(), text="") for one in DAMAGED.values()],
        TRUST,
    )
    for (name, text), facts in zip(DAMAGED.items(), found, strict=True):
        with subtests.test(name):
            assert [(one.state, one.why) for one in facts] == [("invalid", "damaged")]
            assert without(f"Words.{text}") == "Words."
    spoken = f"It stands between {reading._BEGIN} and {reading._END}."
    assert (told(spoken), without(spoken)) == ((), spoken), "words about it are none"
    # A text is bounded; what is not bounded by that has a limit of its own.
    huge = c2pa_text.encode_wrapper(b"y" * (reading.MAX_MANIFEST_BYTES + 1))
    ((facts,),) = verified([Asset(form="text", data=huge.encode(), text="")], TRUST)
    assert (facts.state, facts.why) == ("not-checked", "limit")


def test_every_cut_of_a_manifest_is_answered() -> None:
    """Cut anywhere, a text is read, and nothing of the manifest is left in it."""
    text, armoured = held("agrees.txt"), held("agrees.md")
    begun = len(without(text)) + 12
    assets, words = [], without(text)
    for place in range(begun, len(text), (len(text) - begun) // 40):
        assert without(text[:place]) == words
        assets.append(Asset(form="text", data=text[:place].encode(), text=words))
    block = wrappers(armoured)[0]
    for place in range(100, block.end - 40, 300):
        assert without(armoured[:place]) == ""
        assets.append(Asset(form="text", data=armoured[:place].encode(), text=""))
    found = verified(assets, TRUST)
    assert {(one.state, one.why) for (one,) in found} == {("invalid", "damaged")}


def test_where_a_text_names_a_manifest_nothing_is_fetched() -> None:
    address = "https://manifests.example.org/letter.c2pa"
    text = c2pa_text.embed_structured("Words.", address, "<!--", "-->").text
    (found,) = told(text)
    assert (found.state, found.why, found.reference) == ("not-checked", "reference", address)
    assert without(text) == "Words."
    page = c2pa_text.embed_html_reference("<html><head></head><p>Words.</p></html>", address)
    (whole,) = verified([Asset(form="html", data=page.encode(), text="Words.")], TRUST)
    assert [(one.form, one.state, one.why) for one in whole] == [("a7", "not-checked", "reference")]


SYNTAX = [*c2pa_text.structured._COMMENT_SYNTAX.values(), ("%", ""), (";", ""), ("--", "")]


@given(
    st.text().filter(lambda text: not wrappers(text) and text == without(text)),
    st.sampled_from(SYNTAX),
    st.sampled_from(list(c2pa_text.Placement)),
    st.binary(min_size=1, max_size=90),
)
def test_what_another_writer_puts_there_is_cut_out_again(
    text: str, signs: tuple[str, str], placement: Any, store: bytes
) -> None:
    uri = c2pa_text.encode_data_uri(store)
    made = c2pa_text.embed_structured(text, uri, *signs, placement=placement).text
    assert [(one.form, one.whole) for one in wrappers(made)] == [("a9", True)]
    assert without(made) == text
    fenced = f"---\n{c2pa_text.build_manifest_block_multiline(uri)}\n---\n{text}"
    assert without(fenced) == text
    # Beside other front matter only the block goes.
    kept = f"---\ntitle: x\n{c2pa_text.build_manifest_block_multiline(uri)}\n---\n"
    assert without(kept + text) == f"---\ntitle: x\n---\n{text}"


@given(st.text(), st.binary(max_size=60), st.text())
def test_the_way_back_from_a_cut_text_fits(before: str, noise: bytes, after: str) -> None:
    whole = before + encode(b"C2PATXT\0" + noise) + after
    bare = characters.cut(whole)
    assert bare.text == without(whole)
    assert [whole[place] for place in bare.origin[:-1]] == list(bare.text)


def test_a_file_carries_its_manifest_and_those_of_its_text(tmp_path: Path) -> None:
    """In company: a page with a manifest of its own, in which a signed text is quoted."""
    page = held("agrees.html").replace("</p>", "</p><p>" + held("alone.txt") + "</p>")
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    document = read_document(path, options=ReadOptions(trust=TRUST)).chosen[0]
    quoted = in_texts([(document.text, document.encoding)], TRUST)[0]
    assert [(one.form, one.why) for one in document.manifests] == [("a7", "changed")]
    assert [(one.form, one.why) for one in quoted] == [("a8", "changed")]


def test_texts_beside_each_other_share_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    start = manifests.start_child

    def counted(module: str) -> Any:
        started.append(module)
        return start(module)

    monkeypatch.setattr(manifests, "start_child", counted)
    texts = [(held("agrees.txt"), "utf-8"), ("Plain.", "text"), (held("differs.txt"), "utf-8")]
    found = in_texts(texts, TRUST)
    assert [len(one) for one in found] == [1, 0, 1]
    assert started == [manifests.CHILD]
    assert in_texts([("Plain.", "text")], TRUST) == [()]
    assert len(started) == 1, "no child without a manifest"


def test_without_the_extra_it_is_said_and_still_cut_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "installed", lambda: False)
    for name in ("agrees.txt", "agrees.md", "agrees.html"):
        (found,) = read(name)
        assert (found.state, found.why) == ("not-checked", "extra")
        assert "pip install 'pura-audit[provenance]'" in fill(found.said[0], "en")
    assert without(held("agrees.md")) == without(held("agrees.txt"))


def test_a_child_that_stops_costs_the_manifest_and_not_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(manifests.formats, "CHILD_WALL_SECONDS", 0.0)
    (found,) = told(held("agrees.txt"))
    assert (found.state, found.why) == ("not-checked", "stopped")


@pytest.mark.parametrize(
    "changed",
    [
        {"form": "a6"},
        {"state": "fine"},
        {"why": "several"},
        {"signer": "x" * 300},
        {"signer": "a\nb"},
        {"soft_binding": "agrees"},
        {"fingerprint_distance": 900},
        {"signed_at": "yesterday"},
        {"values": "text"},
    ],
)
def test_a_child_is_not_believed_what_it_cannot_know(
    monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any]
) -> None:
    facts = vars(ManifestFacts(form="a8", state="valid")) | changed
    ending = type("Ending", (), {"status": 0, "late": False})()
    ending.answer = json.dumps({"manifests": [[facts]]}).encode()
    monkeypatch.setattr(manifests, "converse", lambda child, *_, **__: child.kill() or ending)
    child = type("Child", (), {"kill": lambda self: None})
    monkeypatch.setattr(manifests, "start_child", lambda _: child())
    (found,) = told(held("agrees.txt"))
    assert (found.state, found.why) == ("not-checked", "stopped")


def test_the_parent_never_imports_what_verifies() -> None:
    code = (
        "import sys; from pathlib import Path; from pura.documents.manifests import in_texts\n"
        f"text = Path({str(HERE / 'agrees.txt')!r}).read_text('utf-8')\n"
        "print([one.state for one in in_texts([(text, 'utf-8')], '')[0]],"
        " [m for m in ('encypher_c2pa', 'c2pa_text_binding', 'c2pa_text') if m in sys.modules])"
    )
    assert python(code).strip() == "['untrusted'] []"


TOLD = """
import functools, os, socket, sys
from types import SimpleNamespace
import c2pa_text_binding, encypher_c2pa
from pura.provenance import reading
from pura.provenance.reading import Asset
changed = open(sys.argv[1], "rb").read().replace(b"the", b"teh", 1)
server = socket.create_server(("127.0.0.1", 0))
server.settimeout(60)
url = f"http://127.0.0.1:{server.getsockname()[1]}/"
encypher_c2pa.verify = functools.partial(encypher_c2pa.verify, telemetry_endpoint=url)
verify = reading.load("")
(found,) = verify(Asset(form="text", data=changed, text="x"))
print(found.why)
# The same library, where somebody opted in, tells: what comes first is its word and not ours.
os.environ.update({"ENCYPHER_C2PA_TELEMETRY": "on", "ENCYPHER_C2PA_CONFIG_DIR": sys.argv[2]})
encypher_c2pa.verify(changed, "text/x-python")
first, said = server.accept()[0], ""
while "mime_type" not in said:
    said += first.recv(4096).decode()
print("text/x-python" in said)
"""


def test_failures_are_reported_to_nobody_whatever_the_shell_says(tmp_path: Path) -> None:
    """The library can tell a server of each failure; the canary is that it never does for us."""
    import os

    settings = tmp_path / "on"
    environment = {
        **os.environ,
        "ENCYPHER_C2PA_TELEMETRY": "on",
        "ENCYPHER_C2PA_ONLINE": "on",
        "ENCYPHER_C2PA_CONFIG_DIR": str(tmp_path / "shell"),
    }
    done = ended(
        sys.executable, "-c", TOLD, str(HERE / "agrees.txt"), str(settings), env=environment
    )
    assert done.stdout.split() == ["changed", "True"], done.stderr
    assert not (tmp_path / "shell").exists(), "nor does it keep a file of settings"


SAID = {
    BOTH_AGREE: ManifestFacts(form="a8", state="valid", soft_binding="agrees"),
    BOTH_DIFFER: ManifestFacts(form="pdf", state="untrusted", soft_binding="differs"),
    MANIFEST_ONLY: ManifestFacts(form="a7", state="valid", signer="x", signed_at="2026-11-26"),
    UNNAMED: ManifestFacts(form="docx", state="valid"),
}


@pytest.mark.parametrize("language", ["en", "de"])
def test_each_case_is_a_sentence_with_a_way_on(language: str) -> None:
    value = base64.b64encode(b"123456").decode()
    cases = [
        *(([one], [value] if case != MANIFEST_ONLY else [], case) for case, one in SAID.items()),
        ([], [value], MARK_ONLY),
        (
            [ManifestFacts(form="a9", state="invalid", why="changed", fingerprint_distance=99)],
            [],
            "",
        ),
    ]
    words = set()
    for found, bindings, case in cases:
        marked = case != MANIFEST_ONLY
        found = [replace(one, soft_binding="differs") if one.elsewhere else one for one in found]
        assert layers_of(found, bindings, marked=marked) == (case or BOTH_DIFFER)
        last = layers_said(found, bindings, marked=marked)[-1]
        words.add(fill(last, language))
        assert forbidden(fill(last, language), language) == []
    assert len(words) == len(cases)
    assert layers_of([], [], marked=True) == ""
    assert layers_said([], [], marked=False) == ()


def test_every_form_and_reason_has_its_words() -> None:
    for form in reading.FILES:
        assert form in FORMATS
    for state, reasons in {**WHY, "valid": ("",), "untrusted": ("",)}.items():
        for why in reasons:
            where = "https://example.org/x" if why == "reference" else ""
            for form in ("a7", "a8", "a9", "docx", "odt", "epub", "xlsx", "pptx", "pdf"):
                facts = ManifestFacts(form=form, state=state, why=why, reference=where)
                for language in ("en", "de"):
                    assert all(fill(one, language) for one in facts.said)


def test_what_our_writer_signs_our_reader_finds_valid_and_agreeing() -> None:
    from tests.core.provenance import test_writing as writer

    texts = [text for text in writer.TEXTS if text.strip()]
    root = writer.pem(writer.ROOT[1]).decode()
    for form, name in ((writer.WRAPPER, "a8"), (writer.COMMENT, "a9")):
        made = [writer.signed(text, form) for text in texts]
        found = in_texts([(one.text, "utf-8") for one in made], root)
        for text, one, facts in zip(texts, made, found, strict=True):
            (own,) = compared(facts, [writer.PAYLOAD], writer.PROFILE)
            assert (own.form, own.state, own.soft_binding) == (name, "valid", "agrees"), text[:20]
            assert (own.manifest, own.fingerprint_distance) == (one.manifest, 0)
            assert without(one.text) == text, text[:20]
            (other,) = compared(facts, [writer.PAYLOAD[::-1]], writer.PROFILE)
            assert other.soft_binding == "differs"
