"""Pages as they are seen: pictures and places of characters, from a child that is shut in."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pikepdf
import pytest
import typst
from tests.core.documents.conftest import child_that, page_of

from pura.base.errors import Cancelled, InputError
from pura.documents import formats, pages, read_data
from pura.documents.extraction import Document
from pura.documents.pages import SPAN, Pages, examined_bytes

WORDS = (
    "The efficient officer read the affluent waveform of the difficult text, and wrote it down "
    "with a quite extraordinarily well-considered explanation of its internationalisation. " * 9
)
SET = '#set text(lang: "en", hyphenate: true, ligatures: true)\n#set par(justify: true)\n'
LAYOUTS = {
    "plain": f"{SET}#set page(width: 12cm, height: 14cm)\n{WORDS}",
    "columns": f"{SET}#set page(width: 16cm, height: 9cm, columns: 2)\n{WORDS}",
    "emoji": f"{SET}#set page(width: 9cm, height: 9cm)\nHere 😀 and 𝒳 stand beside words. {WORDS}",
}


def read(data: bytes) -> Document:
    return read_data(data, name="x.pdf").chosen[0]


def held_of(data: bytes) -> Pages:
    return Pages(lambda: data)


def changed(data: bytes, **values: object) -> bytes:
    """Return a PDF whose pages are turned or cut."""
    file = io.BytesIO()
    with pikepdf.open(io.BytesIO(data)) as document:
        for page in document.pages:
            for name, value in values.items():
                page[f"/{name}"] = value
        document.save(file)
    return file.getvalue()


def picture(held: Pages, page: int, *, wide: int = 1200) -> npt.NDArray[np.uint8]:
    """Return a page as grey pixels, uint8 [H, W]."""
    width, height = held.sizes()[page]
    high = round(wide * height / width)
    seen = np.frombuffer(held.draw(page, wide, high), dtype=np.uint8).reshape(high, wide, 4)
    return seen[:, :, :3].min(axis=2)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("turned", [0, 90, 270])
def test_every_character_stands_where_its_ink_is(layout: str, turned: int) -> None:
    """Boxes hold ink, no ink is outside of them, and equal words look alike."""
    data = typst.compile(LAYOUTS[layout].encode())
    data = changed(data, Rotate=turned) if turned else data
    found = read(data)
    with closing(held_of(data)) as held:
        places = held.places(found.text)
        assert places is not None
        assert tuple(places.starts.tolist()) == found.pages
        boxes = places.boxes
        assert boxes.shape == (len(found.text), 4)
        starts = (*found.pages, len(found.text))
        for page, (start, end) in enumerate(pairwise(starts)):
            grey = picture(held, page)
            scale = np.array([grey.shape[1], grey.shape[0]] * 2) / SPAN
            uncovered = grey < 128
            for place in range(start, end):
                if not boxes[place].any():
                    assert found.text[place].isspace()
                    continue
                left, top, right, bottom = (boxes[place] * scale).round().astype(int)
                inside = grey[top : bottom + 1, left : right + 1]
                # The font of the emoji is not here: it leaves no ink, but has its place.
                assert inside.min() < 128 or not found.text[place].isascii(), found.text[place]
                uncovered[top - 3 : bottom + 4, left - 3 : right + 4] = False
            # The text leaves out hyphens at line ends, and signs without a font stick out.
            hyphens = sum(one.count for one in found.transforms if one.name == "hyphens-joined")
            signs = sum(not sign.isascii() for sign in found.text)
            assert uncovered.sum() <= 60 * (hyphens + signs)


def test_characters_stand_where_the_page_says() -> None:
    """Against what was typeset: an outside measure of the places."""
    data = typst.compile(
        b"#set page(width: 400pt, height: 800pt, margin: 0pt)\n#set text(size: 20pt)\n"
        b"#place(dx: 100pt, dy: 200pt)[Alpha]\n#place(dx: 300pt, dy: 600pt)[Omega]"
    )
    text = read(data).text
    for crop, (left, top) in ((None, (0, 0)), (pikepdf.Array([50, 100, 400, 700]), (50, 100))):
        cut = changed(data, CropBox=crop) if crop is not None else data
        wide, high = (350, 600) if crop is not None else (400, 800)
        with closing(held_of(cut)) as held:
            assert held.sizes() == ((wide, high),)
            places = held.places(text)
        assert places is not None
        boxes = places.boxes
        for word, x, y in (("Alpha", 100, 200), ("Omega", 300, 600)):
            first = boxes[text.index(word)] / SPAN * [wide, high, wide, high]
            assert abs(first[0] - (x - left)) < 2
            assert first[1] - 3 < y - top + 8 < first[3]


def test_a_scan_with_text_behind_it_has_places() -> None:
    words = "Words that a scanner has read behind its picture"
    data = page_of(f"0.5 g 50 650 500 100 re f BT 3 Tr /F1 20 Tf 72 700 Td ({words}) Tj ET")
    found = read(data)
    assert found.text == words
    with closing(held_of(data)) as held:
        places = held.places(words)
        assert set(picture(held, 0).ravel().tolist()) <= {127, 128, 255}
    assert places is not None
    boxes = places.boxes
    assert abs(boxes[0, 0] / SPAN * 612 - 72) < 2
    assert boxes[0, 1] / SPAN * 792 < 792 - 700 < boxes[0, 3] / SPAN * 792 + 1


def test_a_word_that_goes_over_the_end_of_a_page_is_one_word() -> None:
    divided = 0
    words = " ".join(random.Random(3).choices(WORDS.replace(".", "").split(), k=300))
    for width in range(60, 120, 5):
        source = f"{SET}#set page(width: {width}mm, height: 5cm)\n{words}"
        found = read(typst.compile(source.encode()))
        assert found.text.split() == words.split()
        divided += sum(found.text[at - 1 : at + 1].isalpha() for at in found.pages[1:])
    assert divided > 3


def test_boxes_are_of_one_text_only() -> None:
    data = typst.compile(LAYOUTS["plain"].encode())
    with closing(held_of(data)) as held:
        text = read(data).text
        assert held.places(text.replace("officer", "offices")) is None
        assert held.places(text + " more") is None
        assert held.places(text) is not None


unix = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")


@pytest.fixture
def held() -> Iterator[Pages]:
    with closing(held_of(typst.compile(LAYOUTS["plain"].encode()))) as found:
        yield found


@pytest.mark.skipif(sys.platform != "linux", reason="what the Linux kernel says of a process")
def test_the_child_that_draws_is_shut_in_and_ends(held: Pages) -> None:
    held.draw(0, 100, 100)
    child = held._child
    assert child is not None
    status = Path(f"/proc/{child.pid}/status").read_text(encoding="ascii")
    assert "\nSeccomp:\t2\n" in status
    assert "\nNoNewPrivs:\t1\n" in status
    held.close()
    assert child.returncode is not None
    with pytest.raises(Cancelled):
        held.draw(0, 100, 100)


@unix
def test_a_child_whose_time_is_over_is_followed_by_another(held: Pages) -> None:
    first = held.draw(0, 300, 350)
    child = held._child
    assert child is not None
    os.kill(child.pid, signal.SIGXCPU)
    child.wait()
    assert held.draw(0, 300, 350) == first
    assert held._child is not child


@unix
def test_whoever_waits_is_told_when_it_is_closed(held: Pages) -> None:
    held.sizes()
    child = held._child
    assert child is not None
    os.kill(child.pid, signal.SIGSTOP)
    told: list[BaseException] = []

    def ask() -> None:
        try:
            held.draw(0, 100, 100)
        except BaseException as error:
            told.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    held.close()
    asking.join(30)
    assert not asking.is_alive()
    assert [type(one) for one in told] == [Cancelled]


def test_a_broken_page_leaves_the_others() -> None:
    data = typst.compile(b"#page[One]\n#page[Two]\n#page[Three]")
    file = io.BytesIO()
    with pikepdf.open(io.BytesIO(data)) as document:
        document.pages[1]["/Type"] = pikepdf.Name.Catalog
        document.save(file)
    with closing(held_of(file.getvalue())) as held:
        sizes = held.sizes()
        assert [size == (0, 0) for size in sizes] == [False, True, False]
        with pytest.raises(InputError, match="cannot be understood"):
            held.draw(1, 100, 100)
        with pytest.raises(InputError):
            held.draw(7, 100, 100)
        assert len(held.draw(2, 100, 141)) == 4 * 100 * 141
        found = read(file.getvalue())
        assert held.places(found.text) is not None


def test_a_page_of_five_metres_is_drawn_in_a_picture_of_any_size() -> None:
    data = typst.compile(b"#set page(width: 508cm, height: 100pt)\nWide")
    with closing(held_of(data)) as held:
        ((width, height),) = held.sizes()
        assert width > 14_000
        assert len(held.draw(0, 4000, round(4000 * height / width))) == 4 * 4000 * 28
        with pytest.raises(ValueError, match="size"):
            held.draw(0, 100_000, 100_000)
        with pytest.raises(ValueError, match="size"):
            held.draw(0, 0, 10)


def test_a_locked_file_and_one_that_is_none_say_so() -> None:
    file = io.BytesIO()
    with pikepdf.open(io.BytesIO(typst.compile(b"Words"))) as document:
        document.save(file, encryption=pikepdf.Encryption(user="secret", owner="owner", R=6))
    for data, code in ((file.getvalue(), "input-encrypted"), (b"%PDF-1.7 no", "input-damaged")):
        with closing(held_of(data)) as held:
            for ask in (held.sizes, lambda: held.draw(0, 10, 10), lambda: held.places("x")):
                with pytest.raises(InputError) as caught:
                    ask()
                assert caught.value.code == code


def framed(head: bytes, found: bytes = b"", lengths: tuple[int, int] | None = None) -> bytes:
    return struct.pack(">II", *(lengths or (len(head), len(found)))) + head + found


def said(head: bytes, found: bytes = b"", lengths: tuple[int, int] | None = None) -> str:
    return f"say({framed(head, found, lengths)!r})"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("os.abort()", "memory", marks=unix),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "stopped on this file"),
        pytest.param("os.kill(os.getpid(), signal.SIGXCPU)", "longer than 30 seconds", marks=unix),
        ("sys.exit(77)", "cannot be set up"),
        ("time.sleep(60)", "longer than 0.5 seconds"),
        ("pass", "cannot be understood"),
        (said(b"no json"), "cannot be understood"),
        (said(b"[1]", b"x" * 400), "cannot be understood"),
        (said(b"{}", b"x" * 399), "cannot be understood"),
        (said(b"{}", b"x" * 399, (2, 400)), "cannot be understood"),
        (said(b"{}", b"", (1 << 31, 0)), "cannot be understood"),
        (said(b"{}", b"", (2, 1 << 31)) + "; time.sleep(9)", "cannot be understood"),
        (said(b'{"error": {"key": "x"}}'), "cannot be understood"),
        (said(b"{}"), "cannot be understood"),
    ],
)
def test_a_bad_child_is_one_clear_error(
    code: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "import os, signal, sys, time\ndef say(data): sys.stdout.buffer.write(data); "
    says += f"sys.stdout.buffer.flush()\n{code}"

    monkeypatch.setattr(pages, "start_child", child_that(says))
    if "sleep(60)" in code:
        monkeypatch.setattr(formats, "CHILD_WALL_SECONDS", 0.5)
    with closing(held_of(b"%PDF-1.7")) as held, pytest.raises(InputError) as caught:
        held.draw(0, 10, 10)
    assert expected in caught.value.message


@pytest.mark.parametrize("sizes", ["[[1]]", "3", '[["a", 2]]', "null", "[[1, 2, 3]]", "[[NaN, 1]]"])
def test_sizes_are_taken_as_numbers_only(sizes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"sizes": json.loads(sizes)}
    monkeypatch.setattr(Pages, "_ask", lambda _self, _question: (told, b""))
    with (
        closing(held_of(b"")) as held,
        pytest.raises(InputError, match="cannot be understood"),
    ):
        held.sizes()
    told = {"sizes": [[1, 1e9], [0, 5], [-1, 3], [10, 20.5]]}
    with closing(held_of(b"")) as held:
        assert held.sizes() == ((0, 0), (0, 0), (0, 0), (10, 20.5))


@pytest.mark.parametrize(
    "starts", [[0, 99], [5, 3], [-1], ["a"], [1e999], [1.5], None, [1 << 70], [0] * 6000]
)
def test_places_are_taken_within_the_text_only(
    starts: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"same": True, "starts": starts}
    monkeypatch.setattr(Pages, "_ask", lambda _self, _question, size: (told, bytes(size)))
    with (
        closing(held_of(b"")) as held,
        pytest.raises(InputError, match="cannot be understood"),
    ):
        held.places("some words")


def test_a_file_that_was_moved_or_changed_says_so(tmp_path: Path) -> None:
    path, data = tmp_path / "letter.pdf", typst.compile(b"Words")
    digest = read(data).sha256
    with pytest.raises(InputError, match=r"letter\.pdf is no longer where it was"):
        examined_bytes(path, digest)
    path.write_bytes(data)
    assert examined_bytes(path, digest) == data
    path.write_bytes(data + b"\n")
    with pytest.raises(InputError, match=r"letter\.pdf is another file now"):
        examined_bytes(path, digest)
