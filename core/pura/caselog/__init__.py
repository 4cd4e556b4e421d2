"""The case log: what was done, by whom, and when; only ever added to (docs/caselog.md)."""

from pura.caselog.case import Case, CaseItem, Note, Review
from pura.caselog.cases import Query, find_case, list_cases, read_case
from pura.caselog.entries import ACTIONS, Draft, LogEntry, action_words
from pura.caselog.erasing import erase, erase_person, move_out
from pura.caselog.events import CUSTODY, HOUSE, Event, record_event
from pura.caselog.keeping import (
    open_case,
    rename_case,
    set_closed,
    set_hold,
    set_tags,
    sign_off,
    write_note,
)
from pura.caselog.log import CaseLog, LogHead, Person, workstation
from pura.caselog.package import export_case, import_case
from pura.caselog.reports import CaseStanding, standings
from pura.caselog.saving import (
    KEEP,
    LEAVE_OUT,
    SEAL,
    TEXT_MODES,
    Vault,
    load_audit,
    record_failure,
    record_report,
    save_audit,
)

__all__ = [
    "ACTIONS",
    "CUSTODY",
    "HOUSE",
    "KEEP",
    "LEAVE_OUT",
    "SEAL",
    "TEXT_MODES",
    "Case",
    "CaseItem",
    "CaseLog",
    "CaseStanding",
    "Draft",
    "Event",
    "LogEntry",
    "LogHead",
    "Note",
    "Person",
    "Query",
    "Review",
    "Vault",
    "action_words",
    "erase",
    "erase_person",
    "export_case",
    "find_case",
    "import_case",
    "list_cases",
    "load_audit",
    "move_out",
    "open_case",
    "read_case",
    "record_event",
    "record_failure",
    "record_report",
    "rename_case",
    "save_audit",
    "set_closed",
    "set_hold",
    "set_tags",
    "sign_off",
    "standings",
    "workstation",
    "write_note",
]
