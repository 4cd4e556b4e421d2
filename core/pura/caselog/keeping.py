"""What is done to cases; each thing is one turn at the log."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from pura.base.errors import CaseLogError
from pura.caselog.case import Case, CaseItem
from pura.caselog.cases import read_case
from pura.caselog.entries import Draft, pack
from pura.caselog.log import CaseLog, Person

MAX_NAME: Final = 200
MAX_TEXT: Final = 100_000
MAX_TAGS: Final = 50


def open_case(
    log: CaseLog, name: str, actor: Person, *, notes: str = "", tags: Sequence[str] = ()
) -> Case:
    """Open a case.

    Raises:
        CaseLogError: The name is empty or too long, or a case of this name is there.
    """
    name = _name(name)
    kept = {"name": pack(name)}
    if notes.strip():
        kept["notes"] = pack(worded(notes))
    if tags:
        kept["tags"] = pack(_tags(tags))
    case = secrets.token_hex(16)
    with log.writing() as writer:
        _refuse_twin(log, name)
        writer.append(Draft(action="case-opened", actor=actor.id, case=case, kept=kept))
    return read_case(log, case)


def rename_case(log: CaseLog, case: str, name: str, actor: Person) -> None:
    """Give a case another name; the old one stays in the log until it is erased.

    Raises:
        CaseLogError: The name is empty, too long or taken.
    """
    name = _name(name)
    with log.writing() as writer:
        if (read_case(log, case).name or "").casefold() != name.casefold():
            _refuse_twin(log, name)
        writer.append(
            Draft(action="case-renamed", actor=actor.id, case=case, kept={"name": pack(name)})
        )


def write_note(log: CaseLog, case: str, text: str, actor: Person) -> None:
    """Add a note.

    Raises:
        CaseLogError: It is empty or too long.
    """
    kept = {"text": pack(worded(text))}
    with log.writing() as writer:
        living(log, case)
        writer.append(Draft(action="note-added", actor=actor.id, case=case, kept=kept))


def set_tags(log: CaseLog, case: str, tags: Sequence[str], actor: Person) -> None:
    """Set the tags of a case.

    Raises:
        CaseLogError: Too many.
    """
    with log.writing() as writer:
        living(log, case)
        kept = {"tags": pack(_tags(tags))}
        writer.append(Draft(action="tags-set", actor=actor.id, case=case, kept=kept))


def sign_off(
    log: CaseLog, item: CaseItem, reviewer: Person, *, agree: bool, recomputed: str, words: str = ""
) -> None:
    """Confirm or dispute a finding, as a second person (four eyes).

    Raises:
        CaseLogError: The reviewer examined or filed it, or it is not said what was recomputed.
    """
    if reviewer.id in (item.examined_by, item.entry.actor):
        raise CaseLogError("caselog.four-eyes", code="four-eyes")
    kept = {"recomputed": pack(worded(recomputed))}
    if words.strip():
        kept["words"] = pack(worded(words))
    action = "finding-confirmed" if agree else "finding-disputed"
    with log.writing() as writer:
        living(log, item.case)
        writer.append(
            Draft(
                action=action,
                actor=reviewer.id,
                role="reviewer",
                case=item.case,
                item=item.id,
                result=item.verdict,
                facts={"examiner": item.examined_by},
                kept=kept,
            )
        )


def set_hold(log: CaseLog, case: str, actor: Person, *, held: bool, reason: str) -> None:
    """Forbid erasing in a case, or allow it again.

    Raises:
        CaseLogError: No reason was given.
    """
    action = "hold-set" if held else "hold-lifted"
    draft = Draft(
        action=action,
        actor=actor.id,
        role="custodian",
        case=case,
        kept={"reason": pack(worded(reason))},
    )
    with log.writing() as writer:
        writer.append(draft)


def set_closed(log: CaseLog, case: str, actor: Person, *, closed: bool) -> None:
    """Close a case, or open it again."""
    log.append(
        Draft(action="case-closed" if closed else "case-reopened", actor=actor.id, case=case)
    )


def living(log: CaseLog, case: str) -> None:
    """Go on only with a case that takes something more; its audits are not read for that.

    Raises:
        CaseLogError: It is closed, or there is none.
    """
    state = _last(log, case, ("case-opened", "case-closed", "case-reopened"))
    if state is None:
        raise CaseLogError("caselog.no-case", code="case-log-unknown")
    if state == "case-closed":
        raise CaseLogError("caselog.closed", code="case-log-closed")


def held(log: CaseLog, case: str) -> bool:
    """Whether a hold forbids erasing in a case."""
    return _last(log, case, ("hold-set", "hold-lifted", "")) == "hold-set"


def _last(log: CaseLog, case: str, actions: tuple[str, str, str]) -> str | None:
    with log.reading() as db:
        row = db.execute(
            "SELECT action FROM entries WHERE case_id = ? AND action IN (?, ?, ?)"
            " ORDER BY place DESC LIMIT 1",
            (case, *actions),
        ).fetchone()
    return None if row is None else str(row[0])


def _refuse_twin(log: CaseLog, name: str) -> None:
    from pura.caselog.cases import find_case

    if find_case(log, name) is not None:
        raise CaseLogError("name.taken", name=name, code="case-log-taken")


def _name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise CaseLogError("name.form", most=MAX_NAME, code="case-log-name")
    return name


def worded(text: str) -> str:
    """Return words that are not empty and not too long.

    Raises:
        CaseLogError: They are.
    """
    text = text.strip()
    if not text:
        raise CaseLogError("caselog.empty", code="case-log-empty")
    if len(text) > MAX_TEXT:
        raise CaseLogError("words.long", count=len(text), most=MAX_TEXT, code="case-log-long")
    return text


def _tags(tags: Sequence[str]) -> list[str]:
    found = list(dict.fromkeys(" ".join(tag.split())[:60] for tag in tags if tag.strip()))
    if len(found) > MAX_TAGS:
        raise CaseLogError("caselog.tags", most=MAX_TAGS, code="case-log-long")
    return found
