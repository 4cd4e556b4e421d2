"""Are the pages what the record says? They are made again from what is inside, and compared."""

from __future__ import annotations

from collections.abc import Callable

from pura.base.catalogue import Value
from pura.report import particulars
from pura.report.check.caged import look_different, made_again
from pura.report.check.facts import FileFacts
from pura.report.check.judge import BAD, GOOD, NOTICE, OPEN, CheckedPoint, records


def same_pages(
    data: bytes, facts: FileFacts, beat: Callable[[], None] | None = None
) -> CheckedPoint:
    """Hold a report against the one that its own record and particulars make.

    A report is made with the same bytes each time, so the one holds for all that is in the file:
    what is painted over, hidden, cropped, added, left out or put in another order.

    Args:
        data: The PDF.
        facts: What the child found in it; it holds one record.
        beat: Called often; whatever it raises stops the check.
    """
    told = [one for one in facts.attachments if one.name == particulars.NAME and one.data]
    if len(told) != 1:
        return _check(OPEN, "pages.no-particulars")
    record, particular = (one.data.encode("latin-1") for one in (records(facts)[0], told[0]))
    try:
        known = particulars.read(particular).made_with == particulars.here()
    except ValueError:
        return _check(BAD, "pages.damaged")
    made = made_again(record, particular, beat=beat)
    if made is None:
        return _check(BAD if known else OPEN, "pages.not-made")
    # A signature is appended; whatever else comes after the report is not of its making.
    signed = bool(facts.signatures) and all(one.whole for one in facts.signatures)
    if data == made or (signed and data.startswith(made)):
        return _check(GOOD, "pages.same")
    differing = look_different(data, made, beat=beat)
    pages = ", ".join(map(str, differing))
    if not known:
        return _check(*((OPEN, "pages.version") if differing else (NOTICE, "pages.alike")), pages)
    return _check(BAD, "pages.other" if differing else "pages.unseen", pages)


def _check(state: str, key: str, pages: str = "") -> CheckedPoint:
    values: dict[str, Value] = {"pages": pages} if pages else {}
    return CheckedPoint(name="pages", state=state, key=key, values=values)
