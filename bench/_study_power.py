"""The power table's file, which several studies write into."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pura.base.paths import resource

# Of one reading under one key, of two, of four, and what more of them and stricter policies take.
THRESHOLDS = (6.0, 6.302, 6.603, 7.0, 8.0, 9.0, 12.0)
LEVEL = 0.95
LEAST_TEXTS = 60  # of a class; 59 of 59 are the fewest that show a power of 0.95
_CASE = ("code", "payload_bits", "prompt", "sampling", "entropy_thresholds_bits")


def write_power(
    entries: Sequence[dict[str, Any]], likelihood: str, command: str, *, passages: bool = False
) -> None:
    """Put entries into resources/power/study.json in the place of those that they measure again.

    Args:
        entries: All of texts marked from end to end, or all of passages.
        likelihood: Fingerprint of the likelihood table.
        command: That made them.
        passages: Which.
    """
    path = resource("power", "study.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    new = {_case(entry) for entry in entries}
    kept = [
        entry
        for entry in data["entries"]
        if ("text_usable" in entry) != passages or _case(entry) not in new
    ]
    key = "passages" if passages else "whole texts"
    data["conditions"]["measured"][key] = {"likelihood": likelihood, "command": command}
    every = sorted((*kept, *entries), key=_order)
    body = ",\n  ".join(json.dumps(e, ensure_ascii=False) for e in every)
    head = json.dumps(data["conditions"], ensure_ascii=False, indent=1).replace("\n", "\n ")
    path.write_text(
        f'{{\n "schema": "pura-power/1",\n "level": {LEVEL},\n "conditions": {head},\n'
        f' "entries": [\n  {body}\n ]\n}}\n',
        encoding="utf-8",
    )


def _case(entry: dict[str, Any]) -> str:
    return json.dumps([entry[name] for name in _CASE])


def _order(entry: dict[str, Any]) -> tuple[Any, ...]:
    inside = entry.get("text_usable", 0)
    return inside, entry["code"], entry["payload_bits"], entry["prompt"], entry["threshold"]
