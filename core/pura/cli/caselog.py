"""``pura caselog``: cases, what was saved in them, and whether the log is whole."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from pura.base.catalogue import catalogue
from pura.cli import caselog_acts
from pura.cli.caselog_acts import Auditor, CaseName
from pura.cli.common import environment, passphrase
from pura.cli.terminal import Language, RowsInto, language, out, say, write_row
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.caselog import Case, CaseItem, CaseLog

app = App()
caselog_acts.register(app)
_STATES: Final = ("", "open", "closed", "held", "unreviewed")
_STYLES: Final = {"good": "green", "notice": "yellow", "bad": "bold red"}


@app.command("list")
def list_(
    search: Annotated[str, typer.Option(help="Words in name, notes, tags, file names.")] = "",
    tag: Annotated[str, typer.Option(help="Only with this tag.")] = "",
    verdict: Annotated[str, typer.Option(help="Only with such an outcome, e.g. mark.")] = "",
    since: Annotated[str, typer.Option(metavar="DAY", help="Changed since, YYYY-MM-DD.")] = "",
    until: Annotated[str, typer.Option(metavar="DAY", help="Opened until, YYYY-MM-DD.")] = "",
    state: Annotated[str, typer.Option(help="open, closed, held or unreviewed.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a case.")] = False,
    _rows: RowsInto = None,
) -> None:
    """List the cases, the newest change first."""
    from rich.table import Table
    from rich.text import Text

    from pura.caselog import list_cases
    from pura.usecases.cases import open_log

    if state not in _STATES:
        raise typer.BadParameter(say("choose", known=", ".join(_STATES[1:])), param_hint="--state")
    days = {"since": _day(since, "--since"), "until": _day(until, "--until")}
    with open_log(environment(), read_only=True) as log:
        cases = list_cases(log, search=search, tag=tag, verdict=verdict, state=state, **days)
    if as_json:
        for case in cases:
            write_row(case_row(case), "case")
        return
    table = Table(box=None, pad_edge=False)
    for head in ("case", "audits", "outcomes", "changed", "state", "tags", "identifier"):
        table.add_column(say(f"head.{head}"), overflow="fold")
    for case in cases:
        outcomes = ", ".join(sorted({say(f"verdict.{item.verdict}") for item in case.items}))
        table.add_row(
            Text(case.name or _gone(case)),
            str(len(case.items)),
            outcomes,
            case.changed[:16].replace("T", " "),
            _state(case),
            Text(", ".join(case.tags)),
            case.id[:8],
        )
    out.print(table if cases else say("case.none"))


@app.command("show")
def show(
    case: CaseName,
    item: Annotated[
        str | None, typer.Argument(metavar="AUDIT", help="Beginning of an audit's identifier.")
    ] = None,
    auditor: Auditor = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON; an audit: its record.")] = False,
    _rows: RowsInto = None,
    unlock: Annotated[
        bool, typer.Option("--unlock", help="Also the text that was kept encrypted.")
    ] = False,
    passphrase_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --unlock: its passphrase; else asked.")
    ] = None,
    language: Language = "",
) -> None:
    """Show a case with its history, or one audit of it in full, without model or key."""
    from pura.cli.words import audit_lines
    from pura.keys import Secret
    from pura.usecases.cases import case_named, items_of, open_audits, open_log

    at = environment()
    if item is None:
        with open_log(at) as log:
            found = case_named(log, case)
            if as_json:
                history = [entry.body for entry in log.entries(case=found.id)]
                write_row(case_row(found) | {"history": history}, "case")
            else:
                _print_case(log, found)
        return
    _, items = items_of(at, case, [item])
    secret = None
    if unlock:
        secret = Secret(passphrase(passphrase_file, say("ask.text")))
    [audit] = open_audits(at, items=items, auditor=auditor, passphrase=secret)
    if as_json:
        write_row(audit.to_dict())
    else:
        for words, style in audit_lines(audit, language):
            out.print(words, style=style)


@app.command("verify")
def verify(
    head: Annotated[
        str | None,
        typer.Option(metavar="N:HASH", help="A head that a report printed; shows a cut-off end."),
    ] = None,
    trust: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Trusted certificate (PEM or DER), for signed heads."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Another log than the user's own.")
    ] = None,
    deposits: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder with heads that were laid down there."),
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Also say in the log that it was checked.")
    ] = False,
    auditor: Auditor = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    _rows: RowsInto = None,
    language: Language = "",
) -> None:
    """Check the log: the first altered, missing or reordered entry is named.

    Exit codes: 0 nothing is at fault, 1 something is.
    """
    from pura.usecases.cases import check_log

    checks = check_log(
        environment(),
        head=head or "",
        trust=tuple(trust or ()),
        log=file,
        deposits=deposits,
        record=record,
        auditor=auditor,
    )
    width = max(len(say(f"check.{state}")) for state in _STYLES)
    for check in checks:
        if as_json:
            write_row(
                {
                    "check": check.name,
                    "state": check.state,
                    "code": check.key,
                    **check.values,
                    "text": check.text(language),
                },
                "log-check",
            )
        else:
            mark = say(f"check.{check.state}")
            out.print(f" {mark:>{width}}", style=_STYLES[check.state], end="  ")
            out.print(f"{check.title(language)}: {check.text(language)}")
    raise typer.Exit(1 if any(check.state == "bad" for check in checks) else 0)


@app.command("export")
def export(
    case: CaseName,
    to: Annotated[Path, typer.Argument(metavar="OUT", help="File to write (.puracase).")],
    auditor: Auditor = None,
    purpose: Annotated[str, typer.Option(help="What for; the log keeps it.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a case as one file: entries, names, notes, records, and texts as they are kept."""
    from pura.usecases.cases import export_to_file

    size = export_to_file(
        environment(), case=case, path=to, auditor=auditor, purpose=purpose, replace=force
    )
    out.print(say("file.written", path=str(to), count=size))


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A case that was exported.")],
    auditor: Auditor = None,
) -> None:
    """Take in a case that was exported elsewhere; it is checked whole before."""
    from pura.usecases.cases import import_from_file

    case = import_from_file(environment(), path=file, auditor=auditor)
    out.print(say("case.imported", name=case.name or case.id, count=len(case.items)))
    if case.missing:
        out.print(case.incomplete(language()), style=_STYLES["bad"])


def case_row(case: Case) -> dict[str, Any]:
    """Return a case as JSON."""
    from pura.caselog.cases import rows_of

    return {
        "id": case.id,
        "name": case.name,
        "opened": case.opened,
        "changed": case.changed,
        "auditor": case.auditor,
        "tags": list(case.tags),
        "held": case.held,
        "closed": case.closed,
        "imported": case.imported,
        "failures": case.failures,
        "missing": rows_of(case.missing),
        "notes": [vars(note) for note in case.notes],
        "audits": [_item_row(item) for item in case.items],
    }


def _item_row(item: CaseItem) -> dict[str, Any]:
    from pura.record.finding import COLUMNS

    found = item.finding
    said = ("name", "sha256", "log10_e", "payload", "marks")
    return {
        "id": item.id,
        "verdict": item.verdict,
        **{name: None if found is None else COLUMNS[name].of(found) for name in said},
        "text": item.mode,
        "run": item.run,
        "examiner": item.examiner,
        "examined": item.examined,
        "auditor": item.auditor,
        "saved": item.entry.time,
        "kept": item.record is not None,
        "missing": item.missing,
        "review": None if item.review is None else vars(item.review),
    }


def _print_case(log: CaseLog, case: Case) -> None:
    from rich.table import Table
    from rich.text import Text

    from pura.caselog import action_words

    gone = _gone(case)
    out.print(f"{case.name or gone}  ·  {case.id}", style="bold")
    if case.missing:
        out.print(case.incomplete(language()), style=_STYLES["bad"])
    out.print(
        say(
            "case.line-tags" if case.tags else "case.line",
            when=case.opened[:16],
            who=case.auditor or gone,
            state=_state(case),
            tags=", ".join(case.tags),
        ),
    )
    for note in case.notes:
        out.print(
            say(
                "case.note",
                when=note.time[:16],
                who=note.who or gone,
                text=gone if note.text is None else note.text,
            ),
        )
    table = Table(box=None, pad_edge=False)
    for head in ("audit", "file", "outcome", "evidence", "run", "text", "by", "second"):
        table.add_column(say(f"head.{head}"), overflow="fold")
    for item in case.items:
        second = say("case.not-yet")
        if item.review is not None:
            second = say(f"review.{item.review.state}", who=item.review.who or gone)
        table.add_row(
            item.id[:8],
            Text(item.name or gone),
            item.headline(language()),
            "" if item.finding is None else f"{item.finding.log10_e:.1f}",
            str(item.run),
            say(f"mode.{_mode(item)}"),
            Text(item.examiner or gone),
            Text(second),
        )
    if case.items:
        out.print(table)
    out.print(say("case.history"), style="bold")
    for entry in log.entries(case=case.id):
        name = log.person_name(entry.actor) or (gone if entry.actor else say("program"))
        more = f"  {entry.item[:8]}" if entry.item else ""
        did = action_words(entry.action, language())
        result = f"  {_result(entry.result)}" if entry.result else ""
        out.print(f"{entry.seq:>6}  {entry.time[:19]}  {did}{more}{result}  {name}")


def _gone(case: Case) -> str:
    """Say of a name that is not there what is known: in a whole case it was erased."""
    return say("absent" if case.missing else "erased")


def _mode(item: CaseItem) -> str:
    """Return what became of the text, or of the whole record."""
    if item.record is None:
        return "missing" if item.missing else "erased"
    return item.mode


def _result(code: str) -> str:
    """Return an outcome in words; the code of an error stays what it is."""
    known = f"verdict.{code}"
    return say(known) if known in catalogue("command") else code


def _state(case: Case) -> str:
    states = [say("state.closed" if case.closed else "state.open")]
    if case.held:
        states.append(say("state.hold"))
    if case.imported:
        states.append(say("state.imported"))
    if case.missing:
        states.append(say("state.incomplete"))
    return ", ".join(states)


def _day(text: str, option: str) -> str:
    if text:
        try:
            date.fromisoformat(text)
        except ValueError:
            raise typer.BadParameter(say("choose.day"), param_hint=option) from None
    return text
