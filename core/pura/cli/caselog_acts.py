"""``pura caselog``: what is done to a case; each command is one entry in the log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pura.base.errors import CaseLogError
from pura.cli.common import environment, passphrase_for
from pura.cli.terminal import confirm, interactive, out, say
from pura.cli.tree import App

CaseName = Annotated[str, typer.Argument(metavar="CASE", help="Its name, or its identifier.")]
Auditor = Annotated[
    str | None,
    typer.Option(
        "--auditor",
        metavar="NAME",
        envvar="PURA_AUDITOR",
        help="Who acts, as the log shall say; else whoever works here.",
    ),
]
Reason = Annotated[str, typer.Option("--reason", help="Why; the log keeps it.")]


def register(app: App) -> None:
    """Add the commands."""
    for name, act in (
        ("new", new),
        ("rename", rename),
        ("note", note),
        ("tag", tag),
        ("review", review),
        ("hold", hold),
        ("release", release),
        ("close", close),
        ("reopen", reopen),
        ("erase", erase_),
        ("forget", forget),
        ("record", record),
        ("sign-head", sign_head_),
        ("deposit", deposit),
    ):
        app.command(name)(act)


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
    out.print(say("case.opened-id", name=case.name or "", id=case.id[:8]))


def rename(
    case: CaseName,
    name: Annotated[str, typer.Argument(help="Its new name.")],
    auditor: Auditor = None,
) -> None:
    """Give a case another name."""
    from pura.caselog import rename_case
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment()) as log:
        rename_case(log, case_named(log, case).id, name, acting(log, auditor))


def note(
    case: CaseName,
    text: Annotated[str, typer.Argument(help="What to note.")],
    auditor: Auditor = None,
) -> None:
    """Add a note to a case."""
    from pura.caselog import write_note
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment()) as log:
        write_note(log, case_named(log, case).id, text, acting(log, auditor))


def tag(
    case: CaseName,
    tags: Annotated[
        list[str] | None, typer.Argument(help="All its tags; none clears them.")
    ] = None,
    auditor: Auditor = None,
) -> None:
    """Set the tags of a case."""
    from pura.caselog import set_tags
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment()) as log:
        set_tags(log, case_named(log, case).id, tags or (), acting(log, auditor))


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


def hold(case: CaseName, reason: Reason, auditor: Auditor = None) -> None:
    """Forbid erasing anything of a case."""
    from pura.caselog import set_hold
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment()) as log:
        set_hold(log, case_named(log, case).id, acting(log, auditor), held=True, reason=reason)


def release(case: CaseName, reason: Reason, auditor: Auditor = None) -> None:
    """Lift the hold of a case."""
    from pura.caselog import set_hold
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment()) as log:
        set_hold(log, case_named(log, case).id, acting(log, auditor), held=False, reason=reason)


def close(case: CaseName, auditor: Auditor = None) -> None:
    """Close a case: it takes nothing more."""
    from pura.caselog import set_closed
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment()) as log:
        set_closed(log, case_named(log, case).id, acting(log, auditor), closed=True)


def reopen(case: CaseName, auditor: Auditor = None) -> None:
    """Open a closed case again."""
    from pura.caselog import set_closed
    from pura.usecases.cases import acting, case_named, open_log

    with open_log(environment()) as log:
        set_closed(log, case_named(log, case).id, acting(log, auditor), closed=False)


def erase_(
    case: CaseName,
    reason: Reason,
    item: Annotated[
        str | None, typer.Option("--audit", metavar="AUDIT", help="Only of this audit.")
    ] = None,
    text_only: Annotated[
        bool, typer.Option("--text-only", help="Only the text; the findings stay.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
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


def forget(
    name: Annotated[str, typer.Argument(help="The name as the log has it.")],
    reason: Reason,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    auditor: Auditor = None,
) -> None:
    """Erase the name of a person; what they did stays under an identifier."""
    from pura.caselog import erase_person
    from pura.usecases.cases import acting, open_log

    with open_log(environment()) as log:
        _sure(say("case.forget", name=name), yes=yes)
        if not erase_person(log, name, acting(log, auditor), reason=reason):
            raise CaseLogError("caselog.person", name=name[:80], code="case-log-unknown")


def record(
    action: Annotated[
        str,
        typer.Argument(
            metavar="EVENT",
            help="Of a case: item-received, item-copied, item-transferred, item-returned,"
            " item-destroyed, information-disclosed. Of the house: policy-changed, key-added,"
            " key-retired, key-leaked, validation-imported.",
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
        out.print(
            say(
                "case.leaked" if reports else "case.leaked-none", count=len(reports), listed=listed
            ),
        )


def sign_head_(
    certificate: Annotated[
        Path, typer.Option(metavar="FILE.p12", help="Certificate and key, PKCS#12.")
    ],
    passphrase_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its passphrase; else asked.")
    ] = None,
    auditor: Auditor = None,
) -> None:
    """Sign the head of the log, so that a cut-off end can be seen later."""
    from pura.keys import Secret
    from pura.usecases.cases import sign_head_of_log

    asked = say("ask.of", name=certificate.name)
    secret = Secret(passphrase_for(certificate, file=passphrase_file, prompt=asked))
    head = sign_head_of_log(
        environment(), certificate=certificate, passphrase=secret, auditor=auditor
    )
    out.print(say("case.head", head=str(head)))


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
    from pura.usecases.cases import Deposited, deposit_head, end_deposits

    if (folder is None) != never:
        raise CaseLogError("command.deposit", code="usage")
    if folder is None:
        end_deposits(environment())
        return
    request = Deposited(folder=folder, mail=mail, always=always)
    out.print(str(deposit_head(environment(), request)))


def _sure(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not interactive():
        raise CaseLogError("command.sure", question=question, code="usage")
    confirm(question)
