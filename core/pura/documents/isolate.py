"""Documents in the cage: whatever happens there, here it is a list of extracts or one error."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final

from pura.base.caged_child import converse, start_child
from pura.base.catalogue import phrase
from pura.base.errors import InputError, PuraError, RecordError
from pura.base.process import NOT_SHUT_STATUS
from pura.documents import limits
from pura.documents.formats import Format
from pura.documents.refusals import check, damaged, memory
from pura.documents.values import ROLES, Extract, ReadOptions
from pura.record.transform import Transform
from pura.words.sentence import Sentence
from pura.words.sentences import fill, findings

CHILD: Final = "pura.documents.child"


def read_caged(
    data: bytes,
    form: Format,
    options: ReadOptions,
    *,
    beat: Callable[[], None] | None = None,
) -> list[Extract]:
    """Parse bytes in a child process.

    Args:
        data: The whole file.
        form: Its format.
        options: What the user said about it.
        beat: Called twenty times a second; whatever it raises kills the child first.

    Raises:
        InputError: The child refused the file, broke a limit, or died.
    """
    head = json.dumps({"format": form.name, "options": asdict(options)}).encode() + b"\n"
    try:
        child = start_child(CHILD)
    except OSError as error:
        raise _unstarted(error) from None
    ending = converse(
        child,
        head + data,
        seconds=limits.CHILD_WALL_SECONDS,
        most=limits.MAX_ANSWER_BYTES,
        beat=beat,
    )
    return _judge(ending.status, ending.answer, form, late=ending.late)


def _unstarted(error: OSError) -> InputError:
    return InputError("reader.start", why=error.errno or 0, code="input-crash")


def _judge(status: int, answer: bytes, form: Format, *, late: bool) -> list[Extract]:
    if late:
        raise limits.over("limit.time", seconds=f"{limits.CHILD_WALL_SECONDS:g}")
    if len(answer) > limits.MAX_ANSWER_BYTES:
        raise limits.over("limit.file", mebibytes=limits.MAX_ANSWER_BYTES >> 20)
    if status == -getattr(signal, "SIGXCPU", 0) != 0:
        raise limits.over("limit.time", seconds=limits.CHILD_CPU_SECONDS)
    if status == NOT_SHUT_STATUS:
        raise InputError("reader.cage", code="input-crash")
    if status != 0:
        # Python says MemoryError, C code dies of it: by abort, by a bad access, or by a status.
        if status in (-getattr(signal, "SIGKILL", 9), -getattr(signal, "SIGABRT", 6)):
            raise memory()
        raise InputError("reader.stopped", label=form.label, status=status, code="input-crash")
    try:
        reply = json.loads(answer)
        if "error" in reply:
            raise _refusal(reply["error"])
        extracts = [_extract(item) for item in reply["extracts"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, RecordError):
        raise damaged(form.label, phrase("reader.no-answer")) from None
    check(extracts)
    return extracts


def _refusal(found: dict[str, Any]) -> PuraError:
    return InputError.unpacked(found)


def _extract(item: dict[str, Any]) -> Extract:
    if item["role"] not in ROLES:
        raise ValueError("role")
    return Extract(
        text=str(item["text"]),
        part=str(item["part"]),
        role=str(item["role"]),
        encoding=str(item["encoding"]),
        encoding_source=str(item["encoding_source"]),
        transforms=tuple(
            Transform(name=_change(t), count=int(t["count"]), note=_sentences(t["note"]))
            for t in item["transforms"]
        ),
        notes=_sentences(item["notes"]),
        pages=_pages(item["pages"], len(item["text"])),
    )


def _pages(starts: list[int], length: int) -> tuple[int, ...]:
    found = tuple(map(int, starts))
    if len(found) > limits.MAX_PAGES or [*found] != sorted(found):
        raise ValueError("pages")
    if found and not (found[0] >= 0 and found[-1] <= length):
        raise ValueError("pages")
    return found


def _change(item: dict[str, Any]) -> str:
    if f"change.{item['name']}" not in findings():
        raise ValueError("no such change")
    return str(item["name"])


def _sentences(items: list[dict[str, Any]]) -> tuple[Sentence, ...]:
    found = tuple(Sentence(key=str(one["key"]), values=dict(one["values"])) for one in items)
    for one in found:
        fill(one, "en")  # every key is known and every blank has its value, or it is refused
    return found
