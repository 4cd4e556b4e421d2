"""Pictures of the pages of a PDF, and the positions of its characters on them.

A sandboxed child (:mod:`.readers.pages`) does the work and keeps the document open as long as it is
displayed. It answers with plain bytes whose length is known in advance.
"""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pura.base import decoder
from pura.base.catalogue import phrase
from pura.base.errors import Cancelled, InputError, RecordError, os_error_as
from pura.base.process import start_child
from pura.documents import formats
from pura.documents.file_bytes import read_bytes_of
from pura.documents.formats import FORMATS, LENGTHS, MAX_PAGES, damaged, refuse_ending
from pura.documents.manifests import CHILD

MAX_PIXELS: Final = 24_000_000
"""Pixels of one picture: A4 at 500 dpi."""
MAX_POINTS: Final = 20_000
"""Longest side of a page in points; PDF allows 14 400."""
SPAN: Final = 0xFFFF
"""Width, or height, of a page in the units of a box."""
_MAX_HEAD: Final = 1 << 20  # bytes of the JSON part of an answer
_LAST_SECONDS: Final = 5.0  # wait for a child that is ending, to learn its status


class Places(NamedTuple):
    """Positions of the ``C`` characters of a text on pages.

    Attributes:
        starts: int64 [P], first character of each page; for an empty page that of the next one.
        boxes: uint16 [C, 4], left, top, right and bottom in units of 1/:data:`SPAN` of the page;
            zeros for blanks and unknown positions.
    """

    starts: npt.NDArray[np.int64]
    boxes: npt.NDArray[np.uint16]


def examined_bytes(path: Path, sha256: str) -> bytes:
    """Read a file that was examined earlier.

    Args:
        path: Path of the file.
        sha256: SHA-256 of the examined bytes, in hexadecimal.

    Raises:
        InputError: The file is missing, unreadable, or has changed.
    """
    if not path.exists():
        raise InputError("pages.moved", name=path.name, code="pages-elsewhere")
    file_bytes = read_bytes_of(path)
    if hashlib.sha256(file_bytes).hexdigest() != sha256:
        raise InputError("pages.changed", name=path.name, code="pages-elsewhere")
    return file_bytes


def _senseless() -> InputError:
    return damaged(FORMATS["pdf"].label, phrase("reader.no-answer"))


def _usable(side: float) -> bool:
    return math.isfinite(side) and 0 < side <= MAX_POINTS


class _ChildEndedError(Exception):
    """The child ended before it had answered."""

    def __init__(self, status: int, *, late: bool) -> None:
        super().__init__(status)
        self.status, self.late = status, late


class Pages:
    """The pages of one PDF. Use it in one thread; close it in any.

    Args:
        read: Returns the bytes of the file; called for the first question.
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read, self._data = read, b""
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._asking = threading.Lock()

    def sizes(self) -> tuple[tuple[float, float], ...]:
        """Return width and height of every page in points; zeros for a damaged page.

        Raises:
            InputError: The file cannot be drawn as a PDF.
            Cancelled: The pages were closed.
        """
        reply, _ = self._ask({"do": "open"})
        try:
            sizes = decoder.decode(tuple[tuple[float, float], ...], reply["sizes"])
        except (ValueError, KeyError, RecordError):
            raise _senseless() from None
        if len(sizes) > MAX_PAGES:
            raise _senseless()
        return tuple(size if all(map(_usable, size)) else (0.0, 0.0) for size in sizes)

    def draw(self, page: int, width: int, height: int) -> bytes:
        """Draw a page.

        Args:
            page: From 0.
            width: Width of the picture in pixels.
            height: Height of the picture in pixels; at most :data:`MAX_PIXELS` pixels in total.

        Returns:
            Rows of pixels of four bytes: blue, green, red, unused.

        Raises:
            InputError: The page cannot be drawn.
            ValueError: The picture is too large, or too small.
            Cancelled: The pages were closed.
        """
        if min(width, height) < 1 or width * height > MAX_PIXELS:
            raise ValueError("size of the picture")
        question = {"do": "draw", "page": page, "width": width, "height": height}
        drawn = self._ask(question, 4 * width * height)[1]
        if not drawn:
            raise _senseless()
        return drawn

    def places(self, text: str) -> Places | None:
        """Return the position of each character of a text.

        Args:
            text: Text that was read from the same file, ``C`` characters.

        Returns:
            The positions; None if the file has another text.

        Raises:
            InputError: The file cannot be read.
            Cancelled: The pages were closed.
        """
        is_visible = np.fromiter((not sign.isspace() for sign in text), dtype=bool, count=len(text))
        question = {"do": "place", "sha256": hashlib.sha256(text.encode()).hexdigest()}
        reply, box_bytes = self._ask(question, 8 * int(np.count_nonzero(is_visible)))
        if reply.get("same") is not True:
            return None
        try:
            starts = np.array(decoder.decode(tuple[int, ...], reply["starts"]), dtype=np.int64)
            boxes = np.zeros((len(text), 4), dtype=np.uint16)
            boxes[is_visible] = np.frombuffer(box_bytes, dtype="<u2").reshape(-1, 4)
        except (ValueError, KeyError, OverflowError):
            raise _senseless() from None
        edges = np.concatenate(([0], starts, [len(text)]))
        if starts.size > MAX_PAGES or np.any(np.diff(edges) < 0):
            raise _senseless()
        return Places(starts, boxes)

    def close(self) -> None:
        """End the child; a waiting call raises :class:`~pura.base.errors.Cancelled`."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
        with self._asking:
            self._end()

    # The child

    def _ask(self, question: dict[str, Any], size: int = 0) -> tuple[dict[str, Any], bytes]:
        """Send a question to the child; replace a child that has reached its time limit.

        Args:
            question: The question, as :mod:`.readers.pages` takes it.
            size: Bytes of the answer after its JSON part; an answer has this many, or none.

        Returns:
            The JSON part and the bytes of the answer.
        """
        with self._asking:
            if self._closed:
                raise Cancelled
            fresh = self._child is None
            try:
                try:
                    return self._answer(question, size)
                except _ChildEndedError as ended:
                    if fresh or ended.late or self._closed:
                        raise
                    return self._answer(question, size)
            except _ChildEndedError as ended:
                if self._closed:
                    raise Cancelled from None
                refuse_ending(ended.status, FORMATS["pdf"].label, late=ended.late)
                raise _senseless() from None

    def _answer(self, question: dict[str, Any], size: int) -> tuple[dict[str, Any], bytes]:
        request = json.dumps(question).encode() + b"\n"
        if self._child is None:
            self._data = self._data or self._read()
            request = json.dumps({"pages": len(self._data)}).encode() + b"\n" + self._data + request
            with os_error_as(InputError, "reader.start", code="input-start"):
                self._child = start_child(CHILD)
        child = self._child
        assert child.stdin is not None  # both were asked for
        assert child.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            child.kill()

        timer = threading.Timer(formats.CHILD_WALL_SECONDS, stop)
        timer.start()
        try:
            if self._closed:  # meanwhile
                raise EOFError
            view = memoryview(request)
            while view:
                view = view[child.stdin.write(view) :]
            head, length = LENGTHS.unpack(_read(child.stdout, LENGTHS.size))
            if head > _MAX_HEAD or length not in (0, size):
                raise ValueError("length")
            return _checked_reply(_read(child.stdout, head)), _read(child.stdout, length)
        except (OSError, EOFError):
            with suppress(subprocess.TimeoutExpired):
                child.wait(_LAST_SECONDS)  # it is ending; its status tells the reason
            raise _ChildEndedError(self._end(), late=late.is_set()) from None
        except (ValueError, TypeError, KeyError, RecursionError):
            self._end()
            raise _senseless() from None
        finally:
            timer.cancel()

    def _end(self) -> int:
        """End the child and return its exit status."""
        child, self._child = self._child, None
        if child is None:
            return 0
        child.kill()
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None  # both were asked for
            pipe.close()
        return child.wait()


def _read(pipe: IO[bytes], size: int) -> bytes:
    """Read exactly ``size`` bytes.

    Raises:
        EOFError: The child ended before.
    """
    received = bytearray()
    while len(received) < size:
        piece = pipe.read(size - len(received))
        if not piece:
            raise EOFError
        received += piece
    return bytes(received)


def _checked_reply(line: bytes) -> dict[str, Any]:
    """Return the JSON part of an answer, or raise the error that it contains."""
    reply = json.loads(line)
    if "error" in reply:
        try:
            error = InputError.unpacked(reply["error"])
        except RecordError:
            raise ValueError("error") from None
        raise error
    return dict(reply)
