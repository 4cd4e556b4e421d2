"""Checking a report on behalf of the window; runs in the model thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pura.base.errors import ReportFileError
from pura.base.paths import Paths
from pura.keys import KeyStore
from pura.record.audit import Audit
from pura.report.check import ReportCheck, check_report, fresh_audit, load_trust
from pura.scheme import SecretKey
from pura_audit.jobs.messages import Chore, Progress

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

_MAX_READ: Final = (64 << 20) + 1


@dataclass(frozen=True, kw_only=True)
class CheckChore(Chore):
    """A report to be checked.

    Attributes:
        kind: ``check-report``.
        path: The PDF.
        trust: Files with trusted certificates.
        rerun: Also audit the embedded text again.
    """

    kind: str = "check-report"
    trust: tuple[Path, ...] = ()
    rerun: bool = False


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The answer: which report, and what was found."""

    chore: CheckChore
    found: ReportCheck


def do_check(
    chore: CheckChore,
    paths: Paths,
    keys: KeyStore,
    progress: Callable[[Progress], None],
    checkpoint: Callable[[], None],
) -> Checked:
    """Check a report.

    Raises:
        PuraError: A file cannot be read, or the report's reader died.
        Cancelled: The user stopped it.
    """
    assert chore.path is not None  # the dialog asks for it first
    progress(Progress(step=0, name=chore.kind))
    trust = [der for path in chore.trust for der in load_trust(read_whole(path))]
    models: dict[str, LanguageModel] = {}

    def again(audit: Audit) -> Audit:
        return fresh_audit(
            audit,
            lambda mark: _key(keys, mark),
            lambda mark: _model(paths, mark, models),
            checkpoint,
        )

    found = check_report(
        read_whole(chore.path),
        moment=datetime.now(UTC),
        trust=trust,
        again=again if chore.rerun else None,
        beat=checkpoint,
    )
    return Checked(chore=chore, found=found)


def read_whole(path: Path) -> bytes:
    """Read a file up to the limit.

    Raises:
        ReportFileError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(_MAX_READ)
    except OSError as error:
        raise ReportFileError(
            "file.read", name=path.name, why=error.errno or 0, code="file-unreadable"
        ) from None


def _key(keys: KeyStore, fingerprint: str) -> SecretKey | None:
    named = {entry.fingerprint: entry.name for entry in keys.list()}
    return keys.get(named[fingerprint]) if fingerprint in named else None


def _model(paths: Paths, fingerprint: str, held: dict[str, LanguageModel]) -> LanguageModel | None:
    from pura.model import offline

    offline.prepare()
    from pura.model.device import choose_device
    from pura.model.load import load_model
    from pura.model.store import ModelStore

    if fingerprint not in held:
        store = ModelStore(paths.models)
        found = next((m for m in store.list() if m.fingerprint == fingerprint), None)
        if found is None:
            return None
        held[fingerprint] = load_model(found, choose_device("auto"))
    return held[fingerprint]
