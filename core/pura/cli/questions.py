"""``pura questions``: the question store, what it keeps, and what of it is erased."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import typer

from pura.base.numerals import date
from pura.cli.options import JsonPrinted, QuestionStoreOption, Yes, session
from pura.cli.progress import bar_of
from pura.cli.terminal import RowsInto, confirm, error_text, language, out, say, write_row
from pura.cli.tree import App

app = App()


@app.command("status")
def status(
    question_store: QuestionStoreOption = None,
    as_json: JsonPrinted = False,
    _rows: RowsInto = None,
) -> None:
    """Report how many questions are kept, and for how long; no key is needed."""
    from pura.usecases.questions import questions_path, questions_status

    with session() as workspace:
        path = questions_path(workspace, question_store or True)
        store = questions_status(workspace, path)
    if as_json or _rows is not None:
        write_row(
            {
                "there": store is not None,
                "questions": 0 if store is None else store.questions,
                "expired": 0 if store is None else store.expired,
                "days": None if store is None else store.days,
                "oldest": _iso(None if store is None else store.oldest),
                "newest": _iso(None if store is None else store.newest),
                "key": "" if store is None else store.key,
            },
            "question-store",
        )
        return
    if store is None:
        out.print(say("questions.none", name=path.name))
        return
    out.print(say("questions.status", questions=store.questions, days=store.days, key=store.key))
    if store.oldest is not None and store.newest is not None:
        ends = (date(day.isoformat(), language()) for day in (store.oldest, store.newest))
        out.print(say("questions.from-to", **dict(zip(("first", "last"), ends, strict=True))))
    if store.expired:
        out.print(say("questions.expired", count=store.expired))


@app.command("erase")
def erase(
    number: Annotated[
        int | None, typer.Option(min=1, metavar="NUMBER", help="The question of this number.")
    ] = None,
    recipient: Annotated[
        str,
        typer.Option(
            "--who", metavar="NAME", help="Questions whose answers went to this recipient."
        ),
    ] = "",
    before: Annotated[
        str, typer.Option(metavar="DAY", help="Questions written before this day, YYYY-MM-DD.")
    ] = "",
    question_store: QuestionStoreOption = None,
    yes: Yes = False,
    as_json: JsonPrinted = False,
    _rows: RowsInto = None,
) -> None:
    """Erase questions for good: by number, by recipient, or all before a day.

    Expired questions are erased in any case, and without an option nothing else is. The file is
    written anew, so that nothing of them is left in it.
    """
    from pura.usecases.questions import QuestionErasure, erase_questions

    day = _day(before)
    if number is not None or recipient or day is not None:
        confirm(say("questions.erase"), yes=yes)
    with session() as workspace:
        erased = erase_questions(
            workspace,
            QuestionErasure(number=number, recipient=recipient, before=day),
            question_store,
        )
    if as_json or _rows is not None:
        write_row({"erased": erased}, "question-erasure")
        return
    out.print(say("questions.erased", count=erased))


@app.command("verify")
def verify(
    question_store: QuestionStoreOption = None,
    as_json: JsonPrinted = False,
    _rows: RowsInto = None,
) -> None:
    """Check that the store holds what was written; exit code 1 when it does not.

    Rows that were edited, moved or replaced show, and entries of the index that were removed.
    """
    from pura.usecases.questions import verify_questions

    with session() as workspace, bar_of("bar.verify-questions") as progress:
        check = verify_questions(workspace, question_store, progress=progress)
    if as_json or _rows is not None:
        faults = [error_text(fault) for fault in check.faults]
        row = {"questions": check.questions, "sound": check.sound, "faults": faults}
        write_row(row, "question-check")
    else:
        for fault in check.faults:
            out.print(say("questions.fault", fault=error_text(fault)))
        key = "questions.sound" if check.sound else "questions.unsound"
        out.print(say(key, count=check.questions))
    if not check.sound:
        raise typer.Exit(1)


def _iso(day: dt.date | None) -> str | None:
    return None if day is None else day.isoformat()


def _day(text: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text) if text else None
    except ValueError:
        raise typer.BadParameter(say("questions.day", day=text), param_hint="--before") from None
