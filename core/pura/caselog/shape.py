"""Whether entries from elsewhere are of the shapes that this program writes.

A stranger can make a chain that is sound in itself and says nonsense. The log is only ever added
to, so nonsense must not get in: it would stand in the way of every list for ever.
"""

from __future__ import annotations

from typing import Any, Final

from pura.caselog.canonical import unpack
from pura.caselog.case import FINISHED, RECORD_OF
from pura.caselog.entries import ACTIONS, ROLES, LogEntry
from pura.caselog.saving import REPORT_ACTIONS, TEXT_MODES
from pura.verdict.outcome import VERDICTS

_BYTES: Final = ("record", "sealed")
_ITEM: Final = {
    "name": str,
    "sha256": str,
    "payload": str,
    "identified": str,
    "log10_e": float,
    "seed": int,
}
MAX_WORDS: Final = 200_000


def check_entry(entry: LogEntry) -> None:
    """Refuse an entry of a shape that this program does not write.

    Raises:
        ValueError: It is one.
    """
    facts, action = entry.facts, entry.action
    _must(action in ACTIONS and entry.role in ROLES and entry.seq >= 1)
    if action == "person-added":
        _must(isinstance(facts.get("person"), str) and facts["person"] == entry.actor)
    if action in FINISHED:
        _must(type(facts.get("run")) is int and facts["run"] >= 1)
        _must(facts.get("text") in TEXT_MODES and entry.result in VERDICTS)
        _must(_texts(facts.get("keys")) and bool(entry.item))
    if action in REPORT_ACTIONS:
        _must(_texts(facts.get("items")))
    for name in ("erased", "absent"):
        if name in facts or (name == "erased" and action == "kept-erased"):
            rows = facts.get(name)
            _must(isinstance(rows, list) and all(_place(row) for row in rows))


def check_kept(field: str, value: bytes) -> None:
    """Refuse a kept value of a shape that this program does not write.

    Raises:
        ValueError: It is one.
    """
    if field in _BYTES or field.startswith(RECORD_OF):
        return  # opened with bounds, and only when somebody wants to see it
    found = unpack(value)
    if field == "tags":
        _must(_texts(found) and len(found) <= 50)
    elif field == "item":
        _must(isinstance(found, dict))
        for name, kind in _ITEM.items():
            if name in found:
                _must(type(found[name]) is kind or (kind is float and type(found[name]) is int))
    else:
        _must(isinstance(found, str) and len(found) <= MAX_WORDS)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _place(row: Any) -> bool:
    if not isinstance(row, dict):
        return False
    kinds = {"log": str, "seq": int, "field": str}
    return all(type(row.get(name)) is kind for name, kind in kinds.items())


def _must(fits: bool) -> None:
    if not fits:
        raise ValueError("not a shape of this program")
