"""Outcomes of answers, which a gateway writes beside its logs, as remarks on register entries.

A row is written before the first token is sent. Whether the answer was sent completely is known
later and stored in a separate file. The entry of an interrupted answer still names its recipient,
since a part may have been sent, and carries a remark.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pura.base.errors import PayloadError, RegisterError, os_error_as
from pura.base.files import open_regular
from pura.register.store import Register
from pura.scheme import MarkIdentity, Payload

OUTCOMES: Final = "outcomes.jsonl"
DELIVERED: Final = "delivered"
"""The outcome that needs no remark."""
_MAX_LINE: Final = 1 << 12  # a line has about 200 characters

logger = logging.getLogger(__name__)


def note_outcomes(register: Register, folder: Path) -> int:
    """Add remarks to entries with incomplete answers.

    A payload of several answers gets no remark, since its entry stands for all of them. Existing
    remarks are not repeated.

    Args:
        register: An open register with the rows of the folder's logs.
        folder: Folder of the logs; without a file of outcomes nothing is done.

    Returns:
        Number of entries that got a remark.

    Raises:
        RegisterError: The file cannot be read, or the register cannot be written.
    """
    path = folder / OUTCOMES
    if not path.is_file():
        return 0
    ends: defaultdict[MarkIdentity, list[str]] = defaultdict(list)
    with os_error_as(RegisterError, "file.read", name=path.name), open_regular(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(_MAX_LINE), b""), start=1):
            try:
                mark, end = _outcome(json.loads(line))
            except (TypeError, ValueError, KeyError, PayloadError):
                logger.warning("outcomes: line %d is none and was passed over", number)
            else:
                ends[mark].append(end)
    return sum(_remark(register, mark, end) for mark, end in _to_remark(ends))


def _remark(register: Register, mark: MarkIdentity, end: str) -> bool:
    """Add a remark to the entry of a mark; return False without an entry or a new remark."""
    entry = register.find(mark)
    if entry is None or entry.remark == end:
        return False
    register.remark(entry.number, end)
    return True


def _to_remark(ends: dict[MarkIdentity, list[str]]) -> Iterator[tuple[MarkIdentity, str]]:
    for mark, outcomes in ends.items():
        if len(outcomes) == 1 and not outcomes[0].startswith(DELIVERED):
            yield mark, outcomes[0]


def _outcome(row: Any) -> tuple[MarkIdentity, str]:
    """Return the mark of a line, and the outcome of its answer."""
    mark = MarkIdentity(
        key=row["key"],
        epoch=row["epoch"],
        profile=row["profile"],
        payload=Payload(text=row["payload"]),
    )
    outcome, tokens = row["outcome"], row["tokens"]
    if not isinstance(outcome, str) or type(tokens) is not int:
        raise TypeError("outcome")
    return mark, f"{outcome[:80]} after {tokens} tokens"
