"""``pura register``: payloads that were issued, and to whom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pura.base.errors import RegisterError
from pura.base.files import refuse_taken
from pura.cli.options import (
    JsonPrinted,
    KeyFile,
    PayloadFields,
    ProfileOption,
    Yes,
    environment,
    key_of_mark,
    load_profile,
    payload_of,
    session,
    stored_keys,
    stored_profiles,
)
from pura.cli.progress import bar_of
from pura.cli.terminal import (
    FormerOutput,
    RowsInto,
    as_printed,
    confirm,
    err,
    error_text,
    out,
    output_of,
    print_made,
    say,
    write_row,
)
from pura.cli.tree import App

if TYPE_CHECKING:
    from pura.base.catalogue import Phrase
    from pura.register.rows import RegisterEntry
    from pura.register.under import IssuedUnder
    from pura.usecases.environment import Environment

app = App()

_HEAD: Final = re.compile(r"[0-9a-f]{64}")

PayloadGiven = Annotated[str | None, typer.Argument(help="The payload as 0 and 1, or 0x… in hex.")]
EntryNumber = Annotated[int, typer.Argument(metavar="ENTRY", help="Number of the entry.")]
Who = Annotated[str, typer.Option(help="Recipient; a pseudonym is enough, and better.")]
Note = Annotated[str, typer.Option(help="Purpose, request or reference.")]
When = Annotated[str, typer.Option(help="Date of issue, YYYY-MM-DD.")]
IssuedModel = Annotated[str, typer.Option("--model", help="Model it is issued for.")]
KeyOfMark = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="NAME",
        envvar="PURA_KEY",
        help="Key of the mark: a stored name, or its fingerprint. [default: the key that the"
        " profile names]",
        autocompletion=stored_keys,
    ),
]
EpochOfMark = Annotated[
    str,
    typer.Option(
        "--epoch",
        metavar="DAY|WEEK|MONTH",
        help="Epoch that the marking key is derived for; none: the key as it is.",
    ),
]
OptionalProfile = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="FILE",
        envvar="PURA_PROFILE",
        help="Profile of rows that name none: a file or a stored name.",
        autocompletion=stored_profiles,
    ),
]


@app.command("issue")
def issue(
    profile: ProfileOption,
    who: Who,
    note: Note = "",
    key: KeyOfMark = None,
    key_file: KeyFile = None,
    epoch: EpochOfMark = "",
    model: IssuedModel = "",
    as_json: JsonPrinted = False,
    _rows: RowsInto = None,
) -> None:
    """Draw a payload that was never issued, and write down who gets it.

    Its row is on the disk before the payload is printed.
    """
    from pura.register.rows import Recipient
    from pura.usecases.registers import issue_payload, present_series

    with session() as at:
        shared = load_profile(at, profile)
        series = present_series(at, key_of_mark(at, key, key_file, shared), shared, epoch)
        recipient = Recipient(who=who, note=note, model=model)
        entry = issue_payload(at, series=series, profile=shared, recipient=recipient)
    _show(entry, as_json=as_json or _rows is not None)


@app.command("add")
def add(
    profile: ProfileOption,
    who: Who,
    payload: PayloadGiven = None,
    field: PayloadFields = None,
    key: KeyOfMark = None,
    key_file: KeyFile = None,
    epoch: EpochOfMark = "",
    when: When = "",
    model: IssuedModel = "",
    note: Note = "",
) -> None:
    """Write down a payload that was chosen elsewhere, and who has it."""
    from pura.register.rows import Recipient
    from pura.usecases.registers import add_issue, mark_of

    with session() as at:
        shared = load_profile(at, profile)
        bits = payload_of(shared, payload, field)
        mark = mark_of(at, key_of_mark(at, key, key_file, shared), shared, bits, epoch)
        recipient = Recipient(who=who, when=when, model=model, note=note)
        entry = add_issue(at, mark=mark, profile=shared, recipient=recipient)
    print_made("entry", str(entry.number), say("entry", number=entry.number))


@app.command("find")
def find(
    profile: ProfileOption,
    payload: PayloadGiven = None,
    field: PayloadFields = None,
    key: KeyOfMark = None,
    key_file: KeyFile = None,
    epoch: EpochOfMark = "",
    _rows: RowsInto = None,
) -> None:
    """Look a mark up: its key, profile and payload. Exit code 1 when it was never issued."""
    from pura.usecases.registers import look_up, mark_of

    with session() as at:
        shared = load_profile(at, profile)
        bits = payload_of(shared, payload, field)
        mark = mark_of(at, key_of_mark(at, key, key_file, shared), shared, bits, epoch)
        answer = look_up(at, mark=mark)
    if answer.entry is not None:
        _show(answer.entry, as_json=True)
        return
    err.print(say("register.none"))
    for entry in answer.revoked:
        err.print(say("register.revoked", number=entry.number))
    if answer.unassigned:
        err.print(say("register.unassigned", count=answer.unassigned))
    raise typer.Exit(1)


@app.command("revoke")
def revoke(
    entry: EntryNumber,
    reason: Annotated[str, typer.Option(help="Reason, for people.")] = "",
    yes: Yes = False,
) -> None:
    """Revoke an entry: it names nobody from now on, and its row stays in the register."""
    from pura.usecases.registers import revoke_issue

    confirm(say("register.revoke", number=entry), yes=yes)
    revoke_issue(environment(), number=entry, reason=reason)
    print_made("entry", str(entry), say("register.revoked", number=entry))


@app.command("assign")
def assign(
    profile: ProfileOption,
    key: KeyOfMark = None,
    key_file: KeyFile = None,
    epoch: EpochOfMark = "",
    rows: Annotated[
        str,
        typer.Option("--rows", metavar="FROM-TO", help="Entries by number. [default: all]"),
    ] = "",
    others: Annotated[
        bool, typer.Option("--others", help="Leave bad entries out and assign the others.")
    ] = False,
) -> None:
    """Say under which key and profile entries of version 0.4.0 and before were issued.

    Until then these entries name nobody.
    """
    from pura.register.rows import Problems
    from pura.usecases.registers import assign_issues, entry_range, issued_under

    first, last = entry_range(rows)
    problems = Problems(others=others)
    with session() as at:
        shared = load_profile(at, profile)
        under = issued_under(at, key_of_mark(at, key, key_file, shared), shared, epoch)
        assigned = assign_issues(at, under=under, first=first, last=last, problems=problems)
    print_made("register", "", say("register.assigned", rows=assigned), count=assigned)
    _show_left_out(problems.left_out, problems.rows)


@app.command("verify")
def verify(
    head: Annotated[
        list[str] | None,
        typer.Option(
            "--head",
            metavar="HEX",
            help="State or row that was noted before, e.g. in a record; repeat it.",
        ),
    ] = None,
) -> None:
    """Check that the register holds what was written; exit code 1 when it does not.

    Rows that were removed, replaced, edited, added or moved show. A register that was written anew
    as a whole shows only against a state that was noted elsewhere (--head).
    """
    from pura.usecases.registers import verify_register

    heads = tuple(one.lower() for one in head or ())
    if bad := next((one for one in heads if not _HEAD.fullmatch(one)), None):
        raise typer.BadParameter(say("register.head-form", head=bad), param_hint="--head")
    with bar_of("bar.verify-register") as tell:
        check = verify_register(environment(), heads=heads, progress=tell)
    for fault in check.faults:
        out.print(say("register.fault", fault=error_text(fault)))
    for noted, row in check.heads.items():
        key = "register.head-gone" if row is None else "register.head-there"
        out.print(say(key, head=noted, row=row or 0))
    out.print(
        say(
            "register.sound" if check.sound else "register.unsound",
            rows=check.rows,
            entries=check.entries,
            head=check.head,
        )
    )
    if not check.sound:
        raise typer.Exit(1)


@app.command("import")
def import_rows(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV (payload or fields, who, when, model, manifest, note; key, epoch, profile);"
            " or a log of issued payloads, or a folder of them."
        ),
    ],
    profile: OptionalProfile = None,
    key: KeyOfMark = None,
    key_file: KeyFile = None,
    epoch: EpochOfMark = "",
    others: Annotated[
        bool, typer.Option("--others", help="Leave bad rows out and add the others.")
    ] = False,
) -> None:
    """Add every row of a table or of a server's logs, or none: bad rows are named.

    Rows that do not name their key and profile take those of --key and --profile.
    """
    from pura.register.rows import Problems
    from pura.usecases.registers import import_register

    problems = Problems(others=others)
    with session() as at:
        under = _under(at, profile, key, key_file, epoch)
        added, _, version = import_register(at, path=file, under=under, problems=problems)
    sentence = say("register.added", rows=added, version=version)
    print_made("register", version, sentence, count=added)
    if problems.repeats and not as_printed.json:
        out.print(say("register.repeats", rows=problems.repeats))
    _show_left_out(problems.left_out, problems.rows)


@app.command("export")
def export_rows(
    to: FormerOutput = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV file to write.")
    ] = None,
) -> None:
    """Write the entries that stand as a table."""
    from pura.usecases.registers import export_register

    path = output_of(output, to)
    refuse_taken(path, RegisterError)
    rows = export_register(environment(), path=path)
    print_made("register", "", say("register.written", rows=rows), files=[path], count=rows)


def _under(
    at: Environment,
    profile: str | None,
    key: str | None,
    key_file: list[Path] | None,
    epoch: str,
) -> IssuedUnder | None:
    """Return the key and profile of rows that do not name them; None without a profile."""
    from pura.register.under import IssuedUnder
    from pura.usecases.registers import issued_under

    if profile is None:
        if key or key_file or epoch:
            raise typer.BadParameter(say("choose.idle", needed="--profile"), param_hint="--key")
        return None
    shared = load_profile(at, profile)
    if not (key or key_file or shared.key):
        return IssuedUnder(profile=shared)
    return issued_under(at, key_of_mark(at, key, key_file, shared), shared, epoch)


def _show(entry: RegisterEntry, *, as_json: bool) -> None:
    issue = entry.issue
    if not as_json:
        payload = issue.payload.hex
        out.print(say("register.issued", payload=payload, who=issue.who, number=entry.number))
        return
    series = issue.series
    row = {
        "entry": entry.number,
        "payload": issue.payload.text,
        "key": "" if series is None else series.key,
        "epoch": "" if series is None else series.epoch,
        "profile": "" if series is None else series.profile,
        "who": issue.who,
        "when": issue.when,
        "model": issue.model,
        "manifest": issue.manifest,
        "note": issue.note,
        "remark": entry.remark,
        "drawn": str(issue.drawn),
        "row": entry.hash,
    }
    write_row(row, "issue")


def _show_left_out(count: int, rows: tuple[Phrase, ...]) -> None:
    if count:
        err.print(say("register.left-out", rows=count, listed=rows))
