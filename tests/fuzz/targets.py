"""What a stranger's bytes can reach, as functions that may refuse and nothing else.

Each target takes bytes. A refusal in words (:class:`~pura.base.errors.PuraError`) is as good as an
answer; whatever else comes out of it is a fault, and so are a crash, a hang and a flood of memory.
"""

import io
import os
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Final

from pura.base.errors import PuraError

Target = Callable[[bytes], object]
READERS: Final = (
    *(
        "csv",
        "docx",
        "eml",
        "epub",
        "html",
        "json",
        "jsonl",
        "mbox",
        "msg",
        "odt",
        "pdf",
        "pptx",
        "rtf",
    ),
    *("stream", "subtitles", "whatsapp", "xlsx"),
)
INSIDE: Final = {
    "docx": "word/document.xml",
    "xlsx": "xl/workbook.xml",
    "pptx": "ppt/presentation.xml",
    "odt": "content.xml",
}
"""The part of an archive that the bytes are, which flips would never get into."""
OF_BYTES: Final = {
    "policy": "pura.detect.verdict.policy:Policy.from_json",
    "power": "pura.detect.verdict.power:parse_power_file",
    "profile": "pura.scheme:Profile.from_json",
    "record": "pura.record.json_io:from_json",
}
OF_A_FILE: Final = {
    # What is read outside the sandbox; the library's own parser can be kept busy for very long.
    "gguf": "pura.model.suitability:metadata_of",
    "prompts": "pura.usecases.choices:read_candidates",
    "safetensors": "pura.model.folder:inspect_safetensors",
    "samples": "pura.measure.fitness:read_samples",
}
RAISE_VALUE_ERROR: Final = {  # which their callers expect
    "particulars": "pura.report.request:read",
    "strict": "pura.base.json_text:read_json",
}


@cache
def _scratch() -> Path:
    memory = Path("/dev/shm")  # no disk is worn out by a million files
    return Path(tempfile.mkdtemp(prefix="fuzz-", dir=memory if memory.is_dir() else None))


def _file(data: bytes, suffix: str = "") -> Path:
    path = _scratch() / f"{os.getpid()}{suffix}"
    path.write_bytes(data)
    return path


def _reader(name: str) -> Target:
    from pura.documents import child
    from pura.documents.formats import FORMATS, ReadOptions

    form = FORMATS[name]
    read = form.load()
    return lambda data: child._answer(read, data, ReadOptions(), form)


def _zipped(**parts: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return file.getvalue()


def _inside(name: str) -> Target:
    reader = _reader(name)
    return lambda data: reader(_zipped(**{INSIDE[name]: data}))


def _of_bytes(where: str) -> Target:
    found: Target = resolve_name(where)
    return found


def _of_a_file(where: str) -> Target:
    read = resolve_name(where)
    return lambda data: read(_file(data))


def _that_raises_value_errors(where: str) -> Target:
    read = resolve_name(where)

    def target(data: bytes) -> object:
        with suppress(ValueError):
            return read(data)

    return target


def _plain() -> Target:
    from pura.documents import reading

    return lambda data: reading.from_bytes(data, name="x")


def _case() -> Target:
    """A case file, and its index alone, which its checksum would hide from flips."""
    from pura.caselog import package

    def target(data: bytes) -> object:
        if not data.startswith(b"PK"):
            data = _zipped(**{package.INDEX: data, "kept/0": b"{}"})
        return package.read_package(data)

    return target


def _report() -> Target:
    from pura.report.check_child import dissect

    moment = datetime(2026, 11, 22, tzinfo=UTC)
    return lambda data: dissect(data, (), moment)


def _key() -> Target:
    from pura.keys import sealed
    from pura.keys.sealed import parse_key

    # What takes half a second of scrypt on purpose would take it a million times.
    sealed._stretch = lambda passphrase, salt, cost: bytearray(64)
    return lambda data: parse_key(data, lambda: bytearray(b"passphrase of a test"))


def _register() -> Target:
    from pura.register.store import Register
    from pura.register.table import import_csv
    from pura.register.under import IssuedUnder
    from pura.scheme import Profile

    class Counted(Register):
        """Counts what it would store."""

        def __init__(self) -> None:
            pass

        def add_many(self, rows: object, problems: object, **_: object) -> int:
            return sum(1 for _ in rows)  # type: ignore[attr-defined]

        def unassigned(self, *_: object) -> int:
            return 0

        def find(self, *_: object) -> None:
            return None

        def revoked(self, *_: object) -> tuple[()]:
            return ()

        def holds_same_row(self, *_: object) -> bool:
            return False

    profile = Profile(payload_bits=20, vocab_size=100, code="tbcc")
    under = IssuedUnder(profile=profile, key="a" * 16)
    return lambda data: import_csv(Counted(), _file(data), under)


def _head() -> Target:
    from pura.caselog.verify import parse_head

    return lambda data: parse_head(data.decode("utf-8", "surrogateescape"), "0" * 32)


def _manifest() -> Target:
    from pura.documents import characters
    from pura.provenance.reading import encode, without, wrappers

    def target(data: bytes) -> None:
        """What parents do with them; a child in the sandbox verifies."""
        text = data.decode("utf-8", "replace")
        block = f"-----BEGIN C2PA MANIFEST-----{text}-----END C2PA MANIFEST-----"
        for one in (text + encode(data[:200]), f"<!-- {block} -->\n{text}", text):
            found = wrappers(one)
            assert all(0 <= w.start <= w.first < w.end <= len(one) for w in found)
            assert characters.cut(one).text == without(one)
            characters.facts(one)

    return target


def _verifier() -> Target:
    from pura.provenance.reading import FILES, Asset, encode, load

    verify = load("")
    header = b"C2PATXT\0\x01"

    def target(data: bytes) -> None:
        wrapped = "Words.\ufeff" + encode(header + len(data).to_bytes(4, "big") + data)
        verify(Asset(form="text", data=wrapped.encode(), text="Words."))
        for form in FILES:
            verify(Asset(form=form, data=data, text="Words."))

    return target


def targets() -> dict[str, Callable[[], Target]]:
    """Return what makes each target, by name; importing it is part of the making."""
    made: dict[str, Callable[[], Target]] = {
        "case": _case,
        "head": _head,
        "key": _key,
        "manifest": _manifest,
        "plain": _plain,
        "register": _register,
        "report": _report,
        "verifier": _verifier,
    }
    made |= {f"reader-{name}": partial(_reader, name) for name in READERS}
    made |= {f"inside-{name}": partial(_inside, name) for name in INSIDE}
    for make, table in (
        (_of_bytes, OF_BYTES),
        (_of_a_file, OF_A_FILE),
        (_that_raises_value_errors, RAISE_VALUE_ERROR),
    ):
        made |= {name: partial(make, where) for name, where in table.items()}
    return made


def tried(target: Target, data: bytes) -> None:
    """Give a target bytes; a refusal is an answer.

    Raises:
        BaseException: A fault was found.
    """
    try:
        target(data)
    except PuraError as refusal:
        _ = refusal.message  # with all its blanks filled
