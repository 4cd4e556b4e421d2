"""``pura caselog``: cases, what is done to them, and whether the log is whole.

What is done to a case is one entry in the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pura.base.catalogue import catalogue
from pura.base.errors import CaseLogError
from pura.cli.options import (
    Auditor,
    Certificate,
    CertificatePassphrase,
    ReplaceFile,
    Yes,
    environment,
)
from pura.cli.terminal import (
    STYLES,
    FormerOutput,
    Language,
    RowsInto,
    as_printed,
    columns,
    confirm,
    interactive,
    language,
    out,
    output_of,
    passphrase,
    passphrase_for,
    print_made,
    refuse_unknown,
    say,
    write_row,
)
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.caselog import Case, CaseItem, CaseLog, Person

app = App()
CaseName = Annotated[str, typer.Argument(metavar="CASE", help="Its name, or its identifier.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; the log keeps it.")]


@contextmanager
def _acting_on(case: str, auditor: str | None) -> Iterator[tuple[CaseLog, Case, Person]]:
    """Open the log to act on a case: lend the log, the case and who acts."""
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment()) as log:
        yield log, case_named(log, case), acting(log, auditor)


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(help="Its name.")],
    auditor: Auditor = None,
    notes: Annotated[str, typer.Option(help="A first note.")] = "",
    tags: Annotated[list[str] | None, typer.Option("--tag", help="A tag; several times.")] = None,
) -> None:
    """Open a case."""
    from pura.caselog import open_case
    from pura.usecases.cases import acting, open_log

    with open_log(environment(), create=True) as log:
        case = open_case(log, name, acting(log, auditor), notes=notes, tags=tags or ())
    sentence = say("case.opened-id", name=case.name or "", id=case.id[:8])
    print_made("case", case.name or "", sentence, fingerprint=case.id)


@app.command("rename")
def rename(
    case: CaseName,
    name: Annotated[str, typer.Argument(help="Its new name.")],
    auditor: Auditor = None,
) -> None:
    """Give a case another name."""
    from pura.caselog import rename_case

    with _acting_on(case, auditor) as (log, found, actor):
        rename_case(log, found.id, name, actor)


@app.command("note")
def note(
    case: CaseName,
    text: Annotated[str, typer.Argument(help="What to note.")],
    auditor: Auditor = None,
) -> None:
    """Add a note to a case."""
    from pura.caselog import write_note

    with _acting_on(case, auditor) as (log, found, actor):
        write_note(log, found.id, text, actor)


@app.command("tag")
def tag(
    case: CaseName,
    tags: Annotated[
        list[str] | None, typer.Argument(help="All its tags; none clears them.")
    ] = None,
    auditor: Auditor = None,
) -> None:
    """Set the tags of a case."""
    from pura.caselog import set_tags

    with _acting_on(case, auditor) as (log, found, actor):
        set_tags(log, found.id, tags or (), actor)


@app.command("review")
def review(
    case: CaseName,
    item: Annotated[str, typer.Argument(metavar="AUDIT", help="Beginning of its identifier.")],
    recomputed: Annotated[str, typer.Option(help="What was recomputed, and with what result.")],
    agree: Annotated[
        bool, typer.Option("--agree/--disagree", help="Confirm or dispute the finding.")
    ],
    words: Annotated[str, typer.Option(help="What else there is to say.")] = "",
    auditor: Auditor = None,
) -> None:
    """Confirm or dispute a finding as a second person (four eyes)."""
    from pura.usecases.cases import items_of, review_finding

    at = environment()
    _, [found] = items_of(at, case, [item])
    review_finding(
        at, item=found, reviewer=auditor, agree=agree, recomputed=recomputed, words=words
    )
    out.print(say("case.confirmed" if agree else "case.disputed"))


@app.command("hold")
def hold(case: CaseName, reason: Reason, auditor: Auditor = None) -> None:
    """Forbid erasing anything of a case."""
    from pura.caselog import set_hold

    with _acting_on(case, auditor) as (log, found, actor):
        set_hold(log, found.id, actor, held=True, reason=reason)


@app.command("release")
def release(case: CaseName, reason: Reason, auditor: Auditor = None) -> None:
    """Lift the hold of a case."""
    from pura.caselog import set_hold

    with _acting_on(case, auditor) as (log, found, actor):
        set_hold(log, found.id, actor, held=False, reason=reason)


@app.command("close")
def close(case: CaseName, auditor: Auditor = None) -> None:
    """Close a case: it takes nothing more."""
    from pura.caselog import set_closed

    with _acting_on(case, auditor) as (log, found, actor):
        set_closed(log, found.id, actor, closed=True)


@app.command("reopen")
def reopen(case: CaseName, auditor: Auditor = None) -> None:
    """Open a closed case again."""
    from pura.caselog import set_closed

    with _acting_on(case, auditor) as (log, found, actor):
        set_closed(log, found.id, actor, closed=False)


@app.command("erase")
def erase_(
    case: CaseName,
    reason: Reason,
    item: Annotated[
        str | None, typer.Option("--audit", metavar="AUDIT", help="Only of this audit.")
    ] = None,
    text_only: Annotated[
        bool, typer.Option("--text-only", help="Only the text; the findings stay.")
    ] = False,
    yes: Yes = False,
    auditor: Auditor = None,
) -> None:
    """Erase what is kept of a case; the chain stays and says what was erased."""
    from pura.caselog import erase
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment()) as log:
        found = case_named(log, case)
        audit = None if item is None else found.item(item).id
        what = "case.erase-texts" if text_only else "case.erase-all"
        if audit:
            what = f"{what}-audit"
        _sure(say(what, name=found.name or found.id, audit=(audit or "")[:8]), yes=yes)
        gone = erase(
            log, found.id, acting(log, auditor), reason=reason, item=audit, text_only=text_only
        )
    out.print(say("case.erased", count=gone))


@app.command("forget")
def forget(
    name: Annotated[str, typer.Argument(help="The name as the log has it.")],
    reason: Reason,
    yes: Yes = False,
    auditor: Auditor = None,
) -> None:
    """Erase the name of a person; what they did stays under an identifier."""
    from pura.caselog import erase_person
    from pura.usecases.cases import acting, open_log

    with open_log(environment()) as log:
        _sure(say("case.forget", name=name), yes=yes)
        if not erase_person(log, name, acting(log, auditor), reason=reason):
            raise CaseLogError("caselog.person", name=name[:80], code="case-log-person")


@app.command("record")
def record(
    action: Annotated[
        str,
        typer.Argument(
            metavar="EVENT",
            help="Of a case: item-received, item-copied, item-transferred, item-returned,"
            " item-destroyed, information-disclosed. Of the organisation: policy-changed,"
            " key-added, key-retired, key-leaked, validation-imported.",
        ),
    ],
    details: Annotated[str, typer.Option(help="What happened; the log keeps it.")],
    case: Annotated[str | None, typer.Option(metavar="CASE", help="Its case.")] = None,
    item: Annotated[
        str | None, typer.Option("--audit", metavar="AUDIT", help="The audit that it is about.")
    ] = None,
    handed: Annotated[str, typer.Option(help="Who released the item, or approved.")] = "",
    taken: Annotated[str, typer.Option(help="Who received it.")] = "",
    digest: Annotated[str, typer.Option(help="Hash of the item or of the file.")] = "",
    key: Annotated[str, typer.Option(metavar="FINGERPRINT", help="Of the key.")] = "",
    auditor: Auditor = None,
) -> None:
    """Put on record what happened to an item, a key or the rules (chain of custody)."""
    from pura.caselog import record_event
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment(), create=case is None) as log:
        found = None if case is None else case_named(log, case)
        audit = "" if found is None or item is None else found.item(item).id
        entry = record_event(
            log,
            acting(log, auditor),
            action,
            details,
            case=found.id if found else "",
            item=audit,
            key=key.lower(),
            digest=digest,
            handed=handed,
            taken=taken,
        )
    out.print(say("entry", number=entry.seq))
    if entry.action == "key-leaked":
        reports = entry.facts["reports"]
        listed = ", ".join(str(one["seq"]) for one in reports)
        leaked = "case.leaked" if reports else "case.leaked-none"
        out.print(say(leaked, count=len(reports), listed=listed))


@app.command("sign-head")
def sign_head_(
    certificate: Certificate,
    passphrase_file: CertificatePassphrase = None,
    auditor: Auditor = None,
) -> None:
    """Sign the head of the log, so that a cut-off end can be seen later."""
    from pura.usecases.cases import sign_head_of_log

    secret = passphrase_for(certificate, passphrase_file)
    head = sign_head_of_log(
        environment(), certificate=certificate, passphrase=secret, auditor=auditor
    )
    out.print(say("case.head", head=str(head)))


@app.command("deposit")
def deposit(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Out of reach of who could alter the log."),
    ] = None,
    mail: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Make a draft of a mail to this address.")
    ] = "",
    always: Annotated[
        bool, typer.Option("--always", help="From now on each time the log is written to.")
    ] = False,
    never: Annotated[bool, typer.Option("--never", help="Not any more.")] = False,
) -> None:
    """Lay the head of the log down in a folder, so that a cut-off end is found."""
    from pura.usecases.cases import deposit_head, end_deposits

    if never and (folder is not None or always):
        raise CaseLogError("command.deposit-both", code="usage")
    if folder is None and not never:
        raise CaseLogError("command.deposit", code="usage")
    if folder is None:
        end_deposits(environment())
        return
    out.print(str(deposit_head(environment(), folder=folder, mail=mail, always=always)))


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
    from pura.caselog import list_cases
    from pura.usecases.cases import open_log

    refuse_unknown("--state", state or None, ("open", "closed", "held", "unreviewed"))
    days = {"since": _day(since, "--since"), "until": _day(until, "--until")}
    with open_log(environment(), read_only=True) as log:
        cases = list_cases(log, search=search, tag=tag, verdict=verdict, state=state, **days)
    if as_json:
        for case in cases:
            write_row(case_row(case), "case")
        return
    heads = ("case", "audits", "outcomes", "changed", "state", "tags", "identifier")
    rows = (
        (
            case.name or _gone(case),
            str(len(case.items)),
            ", ".join(sorted({say(f"verdict.{item.outcome}") for item in case.items})),
            case.changed[:16].replace("T", " "),
            _state(case),
            ", ".join(case.tags),
            case.id[:8],
        )
        for case in cases
    )
    out.print(columns(heads, rows) if cases else say("case.none"))


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
    from pura.cli.verify import audit_lines
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
    secret = passphrase(passphrase_file, say("ask.text")) if unlock else None
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
    width = max(len(say(f"check.{state}")) for state in ("good", "notice", "bad"))
    for check in checks:
        if as_json:
            row = {"check": check.name, "state": check.state, "code": check.key, **check.values}
            write_row(row | {"text": check.text(language)}, "log-check")
        else:
            mark = say(f"check.{check.state}")
            out.print(f" {mark:>{width}}", style=STYLES[check.state], end="  ")
            out.print(f"{check.title(language)}: {check.text(language)}")
    raise typer.Exit(1 if any(check.state == "bad" for check in checks) else 0)


@app.command("export")
def export(
    case: CaseName,
    to: FormerOutput = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write (.puracase).")
    ] = None,
    auditor: Auditor = None,
    purpose: Annotated[str, typer.Option(help="What for; the log keeps it.")] = "",
    force: ReplaceFile = False,
) -> None:
    """Write a case as one file: entries, names, notes, records, and texts as they are kept."""
    from pura.usecases.cases import export_to_file

    path = output_of(output, to)
    size = export_to_file(
        environment(), case=case, path=path, auditor=auditor, purpose=purpose, replace=force
    )
    sentence = say("file.written", path=str(path), count=size)
    print_made("case", path.name, sentence, files=[path], count=size)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A case that was exported.")],
    auditor: Auditor = None,
) -> None:
    """Take in a case that was exported elsewhere; it is checked whole before."""
    from pura.usecases.cases import import_from_file

    case = import_from_file(environment(), path=file, auditor=auditor)
    count = len(case.items)
    sentence = say("case.imported", name=case.name or case.id, count=count)
    print_made("case", case.name or "", sentence, fingerprint=case.id, count=count)
    if case.missing and not as_printed.json:
        out.print(case.incomplete(language()), style=STYLES["bad"])


def case_row(case: Case) -> dict[str, Any]:
    """Return a case as JSON."""
    from pura.caselog.cases import rows_of
    from pura.cli.rows import CASE_FINDING, ROWS, row_of
    from pura.record.finding import VALUES

    def finding(item: CaseItem) -> dict[str, Any]:
        found = item.finding
        said = ("name", "sha256", "log10_e", "payload", "marks")
        return row_of(
            item,
            CASE_FINDING,
            **{name: None if found is None else VALUES[name].of(found) for name in said},
            text=item.mode,
            saved=item.entry.time,
            kept=item.record is not None,
            review=None if item.review is None else vars(item.review),
        )

    audits = [finding(item) for item in case.items]
    notes = [vars(note) for note in case.notes]
    missing = rows_of(case.missing)
    return row_of(case, ROWS["case"][1], notes=notes, missing=missing, audits=audits)


def _print_case(log: CaseLog, case: Case) -> None:
    from pura.caselog import PersonNames, action_words

    gone = _gone(case)
    out.print(f"{case.name or gone}  ·  {case.id}", style="bold")
    if case.missing:
        out.print(case.incomplete(language()), style=STYLES["bad"])
    out.print(
        say(
            "case.line-tags" if case.tags else "case.line",
            when=case.opened,
            who=case.auditor or gone,
            state=_state(case),
            tags=", ".join(case.tags),
        )
    )
    for note in case.notes:
        text = gone if note.text is None else note.text
        out.print(say("case.note", when=note.time, who=note.who or gone, text=text))
    heads = ("audit", "file", "outcome", "evidence", "run", "text", "by", "second")
    if case.items:
        out.print(columns(heads, (_item_words(item, gone) for item in case.items)))
    out.print(say("case.history"), style="bold")
    people = PersonNames(log)
    for entry in log.entries(case=case.id):
        by = people.attribution(entry)
        name = by.name or (gone if entry.actor else say("program"))
        if by.operator:
            name = say("case.operator", who=name, operator=by.operator)
        more = f"  {entry.item[:8]}" if entry.item else ""
        did = action_words(entry.action, language())
        result = f"  {_result(entry.result)}" if entry.result else ""
        out.print(f"{entry.seq:>6}  {entry.time[:19]}  {did}{more}{result}  {name}")


def _item_words(item: CaseItem, gone: str) -> Iterator[str]:
    """Say what is known of an audit, in the order of the columns; ``gone`` stands for a name."""
    yield item.id[:8]
    yield item.name or gone
    yield item.headline(language())
    yield "" if item.finding is None else f"{item.finding.log10_e:.1f}"
    yield str(item.run)
    mode = item.mode  # of the text, or what became of the whole record
    if item.record is None:
        mode = "missing" if item.missing else "erased"
    yield say(f"mode.{mode}")
    yield item.examiner or gone
    review = item.review
    yield (
        say("case.not-yet")
        if review is None
        else say(f"review.{review.state}", who=review.who or gone)
    )


def _gone(case: Case) -> str:
    """Say of a name that is not there what is known: in a whole case it was erased."""
    return say("absent" if case.missing else "erased")


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


def _sure(question: str, *, yes: bool) -> None:
    if not yes and not interactive():
        raise CaseLogError("command.sure", question=question, code="usage")
    confirm(question, yes=yes)
