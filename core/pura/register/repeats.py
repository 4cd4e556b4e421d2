"""Rows that come a second time: they are passed over, wherever they were read from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from pura.base.json_text import former
from pura.register.rows import Issue, Problems
from pura.register.store import Register


def without_repeats(
    rows: Iterable[tuple[int, Issue]],
    register: Register,
    problems: Problems,
    *,
    unknown: bool = True,
) -> Iterator[tuple[int, Issue]]:
    """Pass over rows that the register has, or had and revoked, and those that come twice.

    Where the register has entries of unknown key, a row that says the same as one of them counts
    as well: that entry gets its key by being assigned to it (:meth:`Register.assign`).

    Args:
        rows: Row numbers of the caller's table, and what was issued.
        register: An open register.
        problems: Counts them, as :attr:`~pura.register.rows.Problems.repeats`.
        unknown: Entries of unknown key count; else a row with a key is another one than theirs.
    """
    seen: set[bytes] = set()
    unassigned = unknown and register.unassigned() > 0
    for number, issue in rows:
        digest = _digest(issue)
        repeated = digest in seen or (unassigned and register.holds_same_row(issue))
        if repeated or _recorded(register, issue):
            problems.repeats += 1
        else:
            yield number, issue
        seen.add(digest)


def _recorded(register: Register, issue: Issue) -> bool:
    """Whether the register has, or had, an entry that says the same of the same mark."""
    mark = issue.mark
    if mark is None:
        return register.holds_same_row(issue)
    standing = register.find(mark)
    if standing is not None:
        return standing.issue.same_as(issue)
    return any(entry.issue.same_as(issue) for entry in register.revoked(mark))


def _digest(issue: Issue) -> bytes:
    """Return what stands for a row in memory: logs hold millions."""
    row = vars(issue) | {"payload": issue.payload.text, "series": repr(issue.series)}
    return hashlib.sha256(former(row, escaped=False)).digest()[:16]
