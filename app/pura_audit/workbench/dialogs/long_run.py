"""The question before an audit that takes long: all of it, or an excerpt first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QMessageBox, QWidget

from pura_audit.platform.i18n import duration, filled, translate
from pura_audit.session.items import Item
from pura_audit.session.pace import length
from pura_audit.session.session import Session
from pura_audit.widgets.form_dialog import ask_first


def begin_audits(session: Session, parent: QWidget, items: Sequence[Item]) -> QMessageBox | None:
    """Audit these rows; where that takes long, somebody is asked first in the box returned."""
    if not session.audits.pace.long(items):
        session.audits.audit(items)
        return None
    most = session.audits.pace.excerpt
    long = sum(length(item) > most for item in items)
    words = translate(
        "LongRun",
        "It can be paused and cancelled at any time, and you can go on working meanwhile.",
    )
    whole = (
        translate("LongRun", "Audit the whole text")
        if len(items) == 1
        else filled(translate("LongRun", "Audit all {n:count} texts"), n=len(items))
    )
    acts = [(whole, lambda: session.audits.audit(items))]
    if long:
        said = translate(
            "LongRun",
            "An excerpt is how {n:plural(the text begins|each of the {n:count} long texts begins)},"
            " about {k:count} characters. It is a text of its own: what is found holds for it, "
            "and what is not found says nothing of the rest.",
        )
        words = f"{filled(said, n=long, k=most)}\n\n{words}"
        excerpt = filled(translate("LongRun", "{n:plural(An excerpt|Excerpts)} first"), n=long)
        acts.append((excerpt, lambda: session.audits.audit_excerpts(items)))
    return ask_first(
        parent,
        translate("LongRun", "A long audit"),
        _cost(session, items),
        words,
        *acts,
        keep=translate("LongRun", "Not now"),
        safe=False,
    )


def _cost(session: Session, items: Sequence[Item]) -> str:
    seconds = session.audits.pace.seconds(items)
    if seconds is None:
        words = translate(
            "LongRun",
            "{n:plural(This text is long|These texts are long)}: {k:count} characters. How long "
            "that takes was not measured on this computer yet.",
        )
        return filled(words, n=len(items), k=sum(map(length, items)))
    words = translate(
        "LongRun",
        "{n:plural(The audit of this text takes|The audits of {n:count} texts take)} about "
        "{time:text} on this computer, as fast as the last ones went.",
    )
    return filled(words, n=len(items), time=duration(seconds))
