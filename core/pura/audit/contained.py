"""One failing text never costs another its finding: the edge of what is audited together.

A fault of the program in one text of a group would end the group. It is caught here, for command,
library, batch, workers, window and service alike: each text of the group is then audited alone, and
one that still fails is an error with a reference, under which the place of the fault stands in the
log. Neither holds a word of the text. What is done with one text before and after that is caught in
the same way.
"""

from __future__ import annotations

import datetime as dt
import logging
import secrets
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from pura.base.errors import InternalError, ModelError, PuraError
from pura.base.files import make_private

Item = TypeVar("Item")
Found = TypeVar("Found")

FAULTS: Final = "faults.log"
_MOST_BYTES: Final = 1 << 20
_MEMORY: Final = "model-memory"  # what does not suffice for a group may do for one text

_log = logging.getLogger("pura.faults")
_log.addHandler(logging.NullHandler())  # a program without a log of its own has the file


def audit_contained(
    items: Sequence[Item],
    audit: Callable[[Sequence[Item], bool], list[Found | PuraError]],
    *,
    folder: Path,
) -> list[Found | PuraError]:
    """Audit a group of texts; if that fails, each of them alone.

    Args:
        items: The texts.
        audit: Audits some of them side by side; told whether one is read alone after a failure.
        folder: Where :data:`FAULTS` is kept.

    Returns:
        In the order of ``items``: what was found, or why nothing was.

    Raises:
        PuraError: None of them can be audited: a key, the profile.
        Cancelled: Somebody said so.
    """
    try:
        found = audit(items, False)
        again = [n for n, one in enumerate(found) if getattr(one, "code", "") == _MEMORY]
    except PuraError:
        raise
    except Exception as fault:
        refusal = _noted(fault, len(items), folder)
        found, again = [refusal] * len(items), list(range(len(items)))
    if len(items) > 1:
        for number in again:
            found[number] = contained(partial(_alone, items[number], audit), folder=folder)
    return found


def _alone(
    item: Item, audit: Callable[[Sequence[Item], bool], list[Found | PuraError]]
) -> Found | PuraError:
    (found,) = audit([item], True)
    return found


def contained(work: Callable[[], Found], *, folder: Path) -> Found | PuraError:
    """Do something with one text.

    Args:
        work: Does it.
        folder: Where :data:`FAULTS` is kept.

    Returns:
        What came of it, or why nothing did.

    Raises:
        Cancelled: Somebody said so.
    """
    try:
        return work()
    except PuraError as error:
        return error
    except Exception as fault:
        return _noted(fault, 1, folder)


def _noted(fault: Exception, texts: int, folder: Path) -> PuraError:
    """Write a fault to the log, by kind and place: its own words may quote a text.

    Returns:
        The error that refers to it.
    """
    reference, kind = secrets.token_hex(4), type(fault).__name__
    places = [
        f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}:{line}"
        for frame, line in traceback.walk_tb(fault.__traceback__)
    ]
    place = " < ".join(reversed(places))
    words = f"fault {reference}: {kind} in a group of {texts}, at {place}"
    _log.error("%s", words, extra={"reference": reference})
    with suppress(OSError):  # a full disk must not cost the others their findings
        make_private(folder)
        path = folder / FAULTS
        if path.exists() and path.stat().st_size > _MOST_BYTES:
            path.replace(path.with_suffix(".old.log"))
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{dt.datetime.now(dt.UTC).isoformat(timespec='seconds')} {words}\n")
    if isinstance(fault, MemoryError):
        return ModelError("model.memory", code="model-memory")
    return InternalError("audit.internal", reference=reference, kind=kind, file=FAULTS)
