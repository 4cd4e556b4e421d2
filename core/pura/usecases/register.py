"""The register of issued payloads: import a table, export it, add and find one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pura.base.errors import RegisterError, naming
from pura.base.progress import Checkpoint, never_cancelled
from pura.register.issue_log import import_log, is_log
from pura.register.register_csv import export_csv, import_csv
from pura.register.rows import Issue, RegisterEntry
from pura.register.store import Register
from pura.scheme import Payload, Profile
from pura.usecases.environment import Environment


def import_register(
    environment: Environment,
    *,
    path: Path,
    profile: Profile,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[int, int, str]:
    """Add every row of a table or of logs, or none: bad rows are named.

    Args:
        environment: Whose.
        path: CSV: payload or fields, who, when, model; or a log, or a folder of logs.
        profile: Whose payloads they are.
        checkpoint: Called often; may raise.

    Returns:
        How many rows were added, how many there are now, and which state it is in.

    Raises:
        RegisterError: The table or a log does not fit, or the register cannot be written.
    """
    read = import_log if is_log(path) else import_csv
    with Register(environment.paths.register, create=True) as register:
        with naming(path.name):
            added = read(register, path, profile, checkpoint=checkpoint)
        return added, len(register), register.version()


def export_register(environment: Environment, *, path: Path) -> int:
    """Write the register as a table; returns how many rows it has.

    Raises:
        RegisterError: There is none, or the file cannot be written.
    """
    with Register(environment.paths.register, read_only=True) as register:
        return export_csv(register, path)


def add_issue(environment: Environment, *, issue: Issue) -> RegisterEntry:
    """Add one issued payload.

    Raises:
        RegisterError: The payload was issued before.
    """
    with Register(environment.paths.register, create=True) as register:
        return register.add(issue)


def find_payload(environment: Environment, *, payload: Payload) -> RegisterEntry | None:
    """Look a payload up; None when it was never issued.

    Raises:
        RegisterError: There is no register, or it is damaged.
    """
    with Register(environment.paths.register, read_only=True) as register:
        return register.find(payload)


@contextmanager
def open_register(environment: Environment, *, must_exist: bool) -> Iterator[Register | None]:
    """Lend the register to audits, for reading; nothing that an audit does changes it.

    Args:
        environment: Whose register.
        must_exist: A missing one is an error, as it is when somebody asked for it by name.

    Raises:
        RegisterError: It is damaged, or missing where it may not be.
    """
    path = environment.paths.register
    if path.exists():
        with Register(path, read_only=True) as register:
            yield register
        return
    if must_exist:
        raise RegisterError("command.no-register", code="register-missing")
    yield None
