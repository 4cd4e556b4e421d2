"""Remembers the list of texts, so that it comes back however the program ended.

One line of JSON a change, added at the end of a private file; the last line about a row counts. A
line that was cut off is left out when the file is read. Findings do not stand here: they are in
the case log. Pasted texts and prompts stand here only where the settings keep texts readable.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pura.base.errors import PuraError
from pura.base.files import make_private, write_atomic
from pura.documents import from_text
from pura.record.finding import Finding
from pura_audit.jobs.outcome import Failure
from pura_audit.platform.i18n import translate
from pura_audit.platform.samples import LABEL, sample
from pura_audit.session.choices import KeyChoice
from pura_audit.session.items import Item, ItemState
from pura_audit.session.pace import length

FILE: Final = "texts.jsonl"
MAX_BYTES: Final = 1 << 28
_log = logging.getLogger(__name__)


class Journal:
    """The file; a disk that refuses is logged, never in the way.

    Args:
        folder: The folder of the program's state.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._last: dict[int, dict[str, Any]] = {}

    def write(self, items: Iterable[Item], gone: Iterable[Item], *, readable: bool) -> None:
        """Note rows as they are now, and rows that were taken out.

        Args:
            items: Rows.
            gone: Rows that are in the list no more.
            readable: Pasted texts and prompts may stand in the file.
        """
        lines = []
        for item in items:
            line = _line(item, readable=readable)
            if self._last.get(item.number) != line:  # progress alone is not noted
                self._last[item.number] = line
                lines.append(line)
        lines += [{"row": item.number, "gone": True} for item in gone]
        if not lines:
            return
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        try:
            make_private(self.path.parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(os.open(self.path, flags, 0o600), "ab") as file:
                file.write(data.encode("utf-8", "surrogatepass"))
        except OSError as error:
            _log.warning("the list of texts cannot be noted: %s", error.strerror)

    def read(self) -> list[Item]:
        """Return the rows as they were; their numbers begin anew with the file."""
        try:
            with self.path.open("rb") as file:
                data = file.read(MAX_BYTES)
        except OSError:
            return []
        rows: dict[int, dict[str, Any]] = {}
        for line in data.splitlines():
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                row = json.loads(line)
                number = row["row"]
                if row.get("gone"):
                    rows.pop(number, None)
                else:
                    rows[number] = row
        ordered = sorted(rows.values(), key=lambda row: row.get("place", 0))
        items = []
        for number, row in enumerate(ordered, start=1):
            with suppress(ValueError, TypeError, KeyError):
                items.append(_item(number, row))
        return items

    def begin(self, items: Iterable[Item], *, readable: bool) -> None:
        """Write the file anew with these rows only."""
        self._last.clear()
        with suppress(OSError):
            write_atomic(self.path, b"", private=True)
        self.write(items, (), readable=readable)


def _line(item: Item, *, readable: bool) -> dict[str, Any]:
    line: dict[str, Any] = {
        "row": item.number,
        "place": item.number,
        "name": item.name,
        "state": item.state.value,
    }
    if item.path is not None:
        line["path"] = str(item.path.absolute())
    part = item.document.part if item.document is not None else item.part
    if part:
        line["part"] = part
    if length(item):
        line["characters"] = length(item)
    if item.digest:
        line["digest"] = item.digest
    if item.sample:
        line["sample"] = True
    elif readable:
        if item.path is None and item.document is not None and item.finding is None:
            line["text"] = item.document.text
        if item.prompt:
            line["prompt"], line["several"] = item.prompt, item.several
    if item.finding is not None and item.standing is not None:
        line["finding"] = item.finding.to_json()
    if item.failure is not None:
        failure = item.failure
        line["failure"] = [failure.code, failure.message, failure.hint]
    return line


def _item(number: int, row: dict[str, Any]) -> Item:
    item = Item(number=number, name=str(row["name"]), state=_state(row["state"]))
    if "path" in row:
        item.path, item.part = Path(row["path"]), str(row.get("part", ""))
    item.noted = int(row.get("characters", 0))
    item.noted_digest = str(row.get("digest", ""))
    item.prompt, item.several = str(row.get("prompt", "")), bool(row.get("several"))
    if "failure" in row:
        code, message, hint = map(str, row["failure"])
        item.failure = Failure(code=code, message=message, hint=hint)
    text = row.get("text")
    if row.get("sample"):
        found = sample()
        text = found.text
        item.sample, item.profile = True, found.profile
        item.key = KeyChoice(label=LABEL, fingerprint=found.key.fingerprint, session=True)
    if kept := row.get("finding", row.get("outline")):  # "outline" up to 0.3.0
        item.finding = Finding.from_json(kept)
        item.state = ItemState.DONE
    elif item.state is ItemState.DONE:
        item.state = ItemState.READY  # the case log did not take it: it is examined again
    if text is not None:
        with suppress(PuraError):
            item.document = from_text(str(text), name=item.name)
    if item.finding is None and item.document is None and item.path is None:
        item.state = ItemState.FAILED
        item.failure = item.failure or Failure(
            code="text-not-kept",
            message=translate("Session", "This text was pasted and not yet examined."),
            hint=translate("Session", "The settings keep no readable texts: paste it again."),
        )
    return item


def _state(name: str) -> ItemState:
    """Return where a row stands after a restart."""
    state = ItemState(name)
    if state is ItemState.RUNNING:
        return ItemState.INTERRUPTED
    return ItemState.READY if state in (ItemState.LOADING, ItemState.WAITING) else state
