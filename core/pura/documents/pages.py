"""The pages of a PDF as they are seen, and where the characters of its text stand on them.

All of it is done by a child in the sandbox (:mod:`.readers.pages`), which holds the document as
long as somebody looks at it. It answers with plain bytes, of a length that is known before.
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
"""Largest side of a page; PDF itself ends at 14 400."""
SPAN: Final = 0xFFFF
"""The whole width, or height, of a page in the numbers of a box."""
_MAX_HEAD: Final = 1 << 20
_LAST_SECONDS: Final = 5.0


class Places(NamedTuple):
    """Where the characters of a text of ``C`` characters stand.

    Attributes:
        starts: int64 [P], the first character of each page; of an empty one that of the next.
        boxes: uint16 [C, 4], left, top, right and bottom as shares of :data:`SPAN` of the page;
            zeros for blanks, and where no place is known.
    """

    starts: npt.NDArray[np.int64]
    boxes: npt.NDArray[np.uint16]


def examined_bytes(path: Path, sha256: str) -> bytes:
    """Read a file that was examined.

    Args:
        path: Where it was.
        sha256: Of its bytes then, hex.

    Raises:
        InputError: It is not there any more, cannot be read, or is another one.
    """
    if not path.exists():
        raise InputError("pages.moved", name=path.name, code="pages-elsewhere")
    data = read_bytes_of(path)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise InputError("pages.changed", name=path.name, code="pages-elsewhere")
    return data


def _senseless() -> InputError:
    return damaged(FORMATS["pdf"].label, phrase("reader.no-answer"))


def _usable(side: float) -> bool:
    return math.isfinite(side) and 0 < side <= MAX_POINTS


class _EndedError(Exception):
    """The child ended amid an answer."""

    def __init__(self, status: int, *, late: bool) -> None:
        super().__init__(status)
        self.status, self.late = status, late


class Pages:
    """The pages of one PDF; asked for in one thread, closed in any.

    Args:
        read: Returns the whole file; called with the first question.
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read, self._data = read, b""
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._asking = threading.Lock()

    def sizes(self) -> tuple[tuple[float, float], ...]:
        """Return width and height of every page in points; zeros where a page is broken.

        Raises:
            InputError: It is no PDF that can be drawn.
            Cancelled: It was closed.
        """
        told, _ = self._ask({"do": "open"})
        try:
            sizes = decoder.decode(tuple[tuple[float, float], ...], told["sizes"])
        except (ValueError, KeyError, RecordError):
            raise _senseless() from None
        if len(sizes) > MAX_PAGES:
            raise _senseless()
        return tuple(size if all(map(_usable, size)) else (0.0, 0.0) for size in sizes)

    def draw(self, page: int, width: int, height: int) -> bytes:
        """Draw a page.

        Args:
            page: From 0.
            width: Of the picture, in pixels.
            height: Likewise; at most :data:`MAX_PIXELS` together.

        Returns:
            Rows of blue, green, red and a byte that says nothing; ``4 * width * height`` bytes.

        Raises:
            InputError: This page cannot be drawn.
            ValueError: The picture is too large, or too small.
            Cancelled: It was closed.
        """
        if min(width, height) < 1 or width * height > MAX_PIXELS:
            raise ValueError("size of the picture")
        question = {"do": "draw", "page": page, "width": width, "height": height}
        drawn = self._ask(question, 4 * width * height)[1]
        if not drawn:
            raise _senseless()
        return drawn

    def places(self, text: str) -> Places | None:
        """Return where each character of a text stands.

        Args:
            text: What was read from the same file, ``C`` characters.

        Returns:
            None where the file does not hold this text.

        Raises:
            InputError: The file cannot be read.
            Cancelled: It was closed.
        """
        seen = np.fromiter((not sign.isspace() for sign in text), dtype=bool, count=len(text))
        question = {"do": "place", "sha256": hashlib.sha256(text.encode()).hexdigest()}
        told, found = self._ask(question, 8 * int(np.count_nonzero(seen)))
        if told.get("same") is not True:
            return None
        try:
            starts = np.array(decoder.decode(tuple[int, ...], told["starts"]), dtype=np.int64)
            boxes = np.zeros((len(text), 4), dtype=np.uint16)
            boxes[seen] = np.frombuffer(found, dtype="<u2").reshape(-1, 4)
        except (ValueError, KeyError, OverflowError):
            raise _senseless() from None
        edges = np.concatenate(([0], starts, [len(text)]))
        if starts.size > MAX_PAGES or np.any(np.diff(edges) < 0):
            raise _senseless()
        return Places(starts, boxes)

    def close(self) -> None:
        """End the child; whoever waits for an answer is told that it was closed."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
        with self._asking:
            self._end()

    # The child

    def _ask(self, question: dict[str, Any], size: int = 0) -> tuple[dict[str, Any], bytes]:
        """Ask; where the child had answered before and ends, its time was over: a new one is asked.

        Args:
            question: For the child.
            size: Bytes that the answer may have; it has these, or none.
        """
        with self._asking:
            if self._closed:
                raise Cancelled
            fresh = self._child is None
            try:
                try:
                    return self._answer(question, size)
                except _EndedError as ended:
                    if fresh or ended.late or self._closed:
                        raise
                    return self._answer(question, size)
            except _EndedError as ended:
                if self._closed:
                    raise Cancelled from None
                refuse_ending(ended.status, FORMATS["pdf"].label, late=ended.late)
                raise _senseless() from None

    def _answer(self, question: dict[str, Any], size: int) -> tuple[dict[str, Any], bytes]:
        asked = json.dumps(question).encode() + b"\n"
        if self._child is None:
            self._data = self._data or self._read()
            asked = json.dumps({"pages": len(self._data)}).encode() + b"\n" + self._data + asked
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
            view = memoryview(asked)
            while view:
                view = view[child.stdin.write(view) :]
            head, length = LENGTHS.unpack(_read(child.stdout, LENGTHS.size))
            if head > _MAX_HEAD or length not in (0, size):
                raise ValueError("length")
            return _told(_read(child.stdout, head)), _read(child.stdout, length)
        except (OSError, EOFError):
            with suppress(subprocess.TimeoutExpired):
                child.wait(_LAST_SECONDS)  # it is about to end; how says why
            raise _EndedError(self._end(), late=late.is_set()) from None
        except (ValueError, TypeError, KeyError, RecursionError):
            self._end()
            raise _senseless() from None
        finally:
            timer.cancel()

    def _end(self) -> int:
        """End the child and let go of it; return its status."""
        child, self._child = self._child, None
        if child is None:
            return 0
        child.kill()
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None  # both were asked for
            pipe.close()
        return child.wait()


def _read(pipe: IO[bytes], size: int) -> bytes:
    """Read so many bytes.

    Raises:
        EOFError: The child ended before.
    """
    found = bytearray()
    while len(found) < size:
        piece = pipe.read(size - len(found))
        if not piece:
            raise EOFError
        found += piece
    return bytes(found)


def _told(line: bytes) -> dict[str, Any]:
    """Return what the child says, or raise the refusal that it sent."""
    told = json.loads(line)
    if "error" in told:
        try:
            error = InputError.unpacked(told["error"])
        except RecordError:
            raise ValueError("error") from None
        raise error
    return dict(told)
