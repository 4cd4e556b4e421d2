"""What a stranger's bytes can reach, as functions that may refuse and nothing else.

Each target takes bytes. A refusal in words (:class:`~pura.base.errors.PuraError`) is as good as an
answer; whatever else comes out of it is a fault, and so are a crash, a hang and a flood of memory.
"""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

from pura.base import json_text
from pura.base.errors import PuraError

Target = Callable[[bytes], object]
READERS: Final = (
    "csv",
    "docx",
    "eml",
    "html",
    "json",
    "jsonl",
    "mbox",
    "odt",
    "pdf",
    "pptx",
    "rtf",
    "xlsx",
)


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


def _packed(reader: Target, part: str) -> Target:
    """The same, with the bytes as the XML inside the archive, which flips would never get into."""

    def target(data: bytes) -> object:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(part, data)
        return reader(file.getvalue())

    return target


def _plain() -> Target:
    from pura.documents import reading

    return lambda data: reading.from_bytes(data, name="x")


def _case() -> Target:
    """A case file, and its index alone, which its checksum would hide from flips."""
    from pura.caselog import package

    def target(data: bytes) -> object:
        if not data.startswith(b"PK"):
            file = io.BytesIO()
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr(package.INDEX, data)
                archive.writestr("kept/0", b"{}")
            data = file.getvalue()
        return package.read_package(data)

    return target


def _report() -> Target:
    from pura.report.check_child import dissect

    moment = datetime(2026, 11, 22, tzinfo=UTC)

    def target(data: bytes) -> object:
        return dissect(data, (), moment)

    return target


def _profile() -> Target:
    from pura.scheme import Profile

    return Profile.from_json


def _policy() -> Target:
    from pura.verdict.policy import Policy

    return Policy.from_json


def _record() -> Target:
    from pura.record.json_io import from_json

    return from_json


def _power() -> Target:
    from pura.verdict.power import parse_power_file

    return parse_power_file


def _key() -> Target:
    from pura.keys import sealed
    from pura.keys.sealed import parse_key

    # What takes half a second of scrypt on purpose would take it a million times.
    sealed._stretch = lambda passphrase, salt, cost: bytearray(64)
    return lambda data: parse_key(data, lambda: bytearray(b"passphrase of a test"))


def _register() -> Target:
    from pura.register.store import Register, import_csv
    from pura.scheme import Profile

    class Counted(Register):
        """Counts what it would store."""

        def __init__(self) -> None:
            pass

        def add_many(self, rows: object, problems: object, **_: object) -> int:
            return sum(1 for _ in rows)  # type: ignore[attr-defined]

    profile = Profile(payload_bits=20, vocab_size=100, code="tbcc")
    return lambda data: import_csv(Counted(), _file(data), profile)


def _prompts() -> Target:
    from pura.usecases.choices import read_candidates

    return lambda data: read_candidates(_file(data))


def _samples() -> Target:
    from pura.measure.fitness import read_samples

    return lambda data: read_samples(_file(data))


def _head() -> Target:
    from pura.caselog.verify import parse_head

    return lambda data: parse_head(data.decode("utf-8", "surrogateescape"), "0" * 32)


def _manifest() -> Target:
    from pura.documents import characters

    return lambda data: characters.facts(
        data.decode("utf-8", "replace") + characters.encode(data[:200])
    )


def _particulars() -> Target:
    from pura.report import request as request_file

    def target(data: bytes) -> object:
        try:
            return request_file.read(data)
        except ValueError:  # what its callers expect
            return None

    return target


def _strict() -> Target:
    def target(data: bytes) -> object:
        try:
            return json_text.read_json(data)
        except ValueError:
            return None

    return target


def _safetensors() -> Target:
    from pura.model.folder import inspect_safetensors

    return lambda data: inspect_safetensors(_file(data))


def _gguf() -> Target:
    """What is read outside the cage; the library's own parser can be kept busy for very long."""
    from pura.model.folder import inspect_gguf

    return lambda data: inspect_gguf(_file(data))


def targets() -> dict[str, Callable[[], Target]]:
    """Return what makes each target, by name; importing it is part of the making."""
    made: dict[str, Callable[[], Target]] = {
        f"reader-{name}": (lambda name=name: _reader(name)) for name in READERS
    }
    return made | {
        "inside-docx": lambda: _packed(_reader("docx"), "word/document.xml"),
        "inside-xlsx": lambda: _packed(_reader("xlsx"), "xl/workbook.xml"),
        "inside-pptx": lambda: _packed(_reader("pptx"), "ppt/presentation.xml"),
        "inside-odt": lambda: _packed(_reader("odt"), "content.xml"),
        "case": _case,
        "gguf": _gguf,
        "head": _head,
        "key": _key,
        "manifest": _manifest,
        "particulars": _particulars,
        "plain": _plain,
        "policy": _policy,
        "power": _power,
        "profile": _profile,
        "prompts": _prompts,
        "record": _record,
        "register": _register,
        "report": _report,
        "safetensors": _safetensors,
        "samples": _samples,
        "strict": _strict,
    }


def tried(target: Target, data: bytes) -> None:
    """Give a target bytes; a refusal is an answer.

    Raises:
        BaseException: A fault was found.
    """
    try:
        target(data)
    except PuraError as refusal:
        _ = refusal.message  # with all its blanks filled
