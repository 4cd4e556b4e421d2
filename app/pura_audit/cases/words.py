"""How cases, audits and entries of the case log are written for people."""

from __future__ import annotations

from PySide6.QtCore import QDateTime, QLocale, Qt

from pura.caselog import KEEP, SEAL, Case, CaseItem, LogEntry, Review, action_words
from pura_audit.platform.i18n import decimal, filled, language, number, translate
from pura_audit.session.queue_model import case_words

ERASED = "—"


def moment(time: str) -> str:
    """Write a time of the log in the system's format and zone."""
    found = QDateTime.fromString(time, Qt.DateFormat.ISODateWithMs)
    if not found.isValid():
        return time
    return QLocale().toString(found.toLocalTime(), QLocale.FormatType.ShortFormat)


def day(time: str) -> str:
    """Write the day of a time of the log in the system's format and zone."""
    found = QDateTime.fromString(time, Qt.DateFormat.ISODateWithMs)
    if not found.isValid():
        return time[:10]
    return QLocale().toString(found.toLocalTime().date(), QLocale.FormatType.ShortFormat)


def case_name(case: Case) -> str:
    """Return a case's name, or that it was erased; in an incomplete case nobody knows that."""
    if case.name is not None:
        return case_words(case.name)
    if case.missing:
        return translate("Cases", "Case without a name")
    return translate("Cases", "Erased case")


def case_row(case: Case) -> tuple[str, str, str]:
    """Return name, number of audits and time of the last change."""
    name = case_name(case)
    if case.missing:
        name = filled(translate("Cases", "{name:text} (incomplete)"), name=name)
    return name, number(len(case.items)), day(case.changed)


def case_line(case: Case) -> str:
    """Return who opened a case and when, and what state it is in."""
    parts = [
        filled(
            translate("Cases", "Opened {when:text} by {who:text}"),
            when=moment(case.opened),
            who=case.auditor or ERASED,
        )
    ]
    if case.closed:
        parts.append(translate("Cases", "closed"))
    if case.held:
        parts.append(translate("Cases", "on hold: nothing may be erased"))
    if case.imported:
        parts.append(translate("Cases", "taken over from another log"))
    if case.failures:
        parts.append(
            filled(
                translate("Cases", "{n:count} {n:plural(examination|examinations)} failed"),
                n=case.failures,
            )
        )
    if case.missing:
        parts.append(case.incomplete(language()))
    return " · ".join(parts)


def item_headers() -> tuple[str, ...]:
    """Return the headers of the table of audits."""
    return (
        translate("Cases", "File"),
        translate("Cases", "Outcome"),
        translate("Pile", "Evidence, log₁₀"),
        translate("Cases", "Text"),
        translate("Cases", "Examined by"),
        translate("Cases", "Second person"),
    )


def item_row(item: CaseItem) -> tuple[str, ...]:
    """Return a row of the table of audits."""
    name = item.name or ERASED
    if item.run > 1:
        again = translate("Cases", "{name:text} (examination {run:count})")
        name = filled(again, name=name, run=item.run)
    return (
        name,
        item.headline(language()),
        ERASED if item.log10_e is None else decimal(item.log10_e, 1),
        text_words(item),
        item.examiner or ERASED,
        review_words(item.review),
    )


def text_words(item: CaseItem) -> str:
    """Say what became of the text."""
    if item.record is None and item.missing:
        return translate("Cases", "record missing")
    if item.record is None:
        return translate("Cases", "record erased")
    if item.mode == KEEP:
        return translate("Cases", "kept")
    if item.mode == SEAL:
        return translate("Cases", "encrypted")
    return translate("Cases", "left out")


def review_words(review: Review | None) -> str:
    """Say what a second person made of a finding."""
    if review is None:
        return translate("Cases", "not yet")
    if review.state == "confirmed":
        words = translate("Cases", "confirmed by {who:text}")
    else:
        words = translate("Cases", "disputed by {who:text}")
    return filled(words, who=review.who or ERASED)


def history_headers() -> tuple[str, ...]:
    """Return the headers of the table of entries."""
    return (
        translate("Cases", "No."),
        translate("Cases", "When"),
        translate("Cases", "Who"),
        translate("Cases", "What"),
    )


def history_row(entry: LogEntry, who: str | None) -> tuple[str, ...]:
    """Return a row of the table of entries."""
    program = translate("Cases", "the program")
    name = who or (ERASED if entry.actor else program)
    return number(entry.seq), moment(entry.time), name, action_words(entry.action, language())
