"""A pile of texts into one result, by this process or by others that get a plan and the keys."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pura.base.errors import InputError, PuraError
from pura.base.files import make_private, refuse_no_folder, refuse_taken, write_or_refuse
from pura.base.json_text import sha256
from pura.base.paths import Paths
from pura.base.progress import Checkpoint, never_cancelled
from pura.batch.engine import Engine, Read, actors, by_workers, failure, here, local
from pura.batch.inputs import Inputs, TextResult, files, weight_of
from pura.batch.journal import DAY, BatchJournal, Tell, work_off
from pura.batch.results import (
    Row,
    finding_of,
    format_of,
    merged,
    outcome_in,
    packed,
    read_rows,
    record_path,
    write_rows,
)
from pura.detect.options import AuditText, Notice, latest_day
from pura.documents import Document
from pura.scheme import F64, SecretKey
from pura.scheme.keys import wipe_buffer
from pura.usecases import registers
from pura.usecases.audits import (
    Audited,
    Prepared,
    Setup,
    policy_of,
    prepared,
    resolved,
    trust_of,
)
from pura.usecases.environment import Environment
from pura.version import __version__

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """What a worker elsewhere does: audits with the keys that come another way.

    Attributes:
        paths: Where models and register lie.
        device: As of the environment.
        dtype: As of the environment.
        setup: With what texts are audited, resolved.
    """

    paths: Paths
    device: str
    dtype: str
    setup: Setup

    @contextmanager
    def prepared(self, secrets: Sequence[bytearray]) -> Iterator[Prepared]:
        """Load the model and take the keys.

        Args:
            secrets: The keys; overwritten here.

        Raises:
            PuraError: One of them cannot be used here.
        """
        with ExitStack() as held:
            keys = [held.enter_context(SecretKey(secret)) for secret in secrets]
            for secret in secrets:
                wipe_buffer(secret)
            if [key.fingerprint for key in keys] != fingerprints(self.setup):
                raise InputError("batch.no-worker", code="batch-worker")
            at = Environment(
                paths=self.paths,
                device=self.device,
                dtype=self.dtype,
                lent_keys={key.fingerprint: key for key in keys},
            )
            yield held.enter_context(prepared(at, self.setup))


def fingerprints(setup: Setup) -> list[str]:
    """Return the keys that a set-up needs, by fingerprint."""
    return [key.fingerprint for key in setup.lent_keys]


ENGINES: Final = ("local", "ray")


@dataclass(frozen=True, kw_only=True)
class BatchDone:
    """What became of a batch.

    Attributes:
        output: Where the result is.
        rows: How many rows it has.
        outcomes: Rows by what their headline says (:attr:`~pura.record.finding.Finding.outcome`).
        errors: Rows by the code of what went wrong.
        chosen: Rows that were chosen; None where none were to be.
        found: Texts that were examined in this run; the others were seen before.
        alone: Those among them that were read one by one, since reading them together failed.
        seconds: How long this run took.
        skipped: What was left out of folders, by reason.
        missing: Input and item of the first row that is not there, though later ones are: the
            result of a shard is missing. None where there is none.
    """

    output: str
    rows: int
    outcomes: Counter[str]
    errors: Counter[str]
    chosen: int | None = None
    found: int = 0
    alone: int = 0
    seconds: float = 0.0
    skipped: Counter[str] = field(default_factory=Counter)
    missing: tuple[int, int] | None = None


def run_batch(
    environment: Environment,
    *,
    inputs: Inputs,
    setup: Setup,
    output: str,
    form: str | None = None,
    records: Path | None = None,
    fdr: float | None = None,
    engine: str = ENGINES[0],
    jobs: int = 1,
    journal: Path | None = None,
    anew: bool = False,
    tell: Tell = lambda _: None,
    checkpoint: Checkpoint = never_cancelled,
) -> BatchDone:
    """Audit every text that no finding is there of, into one file of rows.

    Killed at any moment and called again it goes on, and gives the same bytes as in one go.

    Args:
        environment: Where keys, models and stores are.
        inputs: What is read.
        setup: With what.
        output: Path or address of the result; what is there is brought up to date.
        form: ``jsonl`` or ``parquet``; None goes by the name.
        records: Folder for whole records, by the digest of their text; None keeps none.
        fdr: Choose from the batch with this false discovery rate; None chooses none.
        engine: One of :data:`ENGINES`.
        jobs: How many processes, or actors of a cluster; one local job is this process.
        journal: Where it is noted what is done; None: beside the result.
        anew: Begin anew, whatever was done before.
        tell: Told how far it is.
        checkpoint: Called often; may raise.

    Raises:
        PuraError: Key, model, policy or register cannot be used, or the disk takes no more. What
            is wrong with an input is a row.
        Cancelled: The checkpoint said so.
    """
    form = format_of(output, form)
    for named in (journal, records):
        if named is not None:
            refuse_no_folder(named)
    place = journal or journal_of(environment, output)
    if "://" not in output:
        refuse_no_folder(Path(output))
    elif journal is None:
        make_private(place.parent)
    _clear_place(output, place, anew=anew)
    setup = resolved(environment, setup)
    inputs = inputs.under(policy_of(environment, setup).leave_out)
    with BatchJournal(place, _settings(environment, setup)) as noted:
        plan = BatchPlan(
            paths=environment.paths,
            device=environment.device,
            dtype=environment.dtype,
            setup=replace(setup, day=noted.day),
            records=records is not None,
        )
        with _engine(environment, plan, engine, jobs) as reads:
            status = work_off(
                inputs,
                noted,
                reads,
                total=sum(map(weight_of, files(inputs))),
                keep=_keeper(records),
                tell=tell,
                checkpoint=checkpoint,
            )
        chosen = None if fdr is None else _chosen(noted.strengths(), fdr)
        done = _written(output, noted.rows(chosen), form, fdr)
    _log.info("a batch ended: %d rows, %.1f s", status.rows, status.seconds)
    return replace(
        done,
        found=status.found,
        alone=status.alone,
        seconds=status.seconds,
        skipped=status.skipped,
    )


def merge_batch(
    output: str,
    results: Sequence[str],
    *,
    form: str | None = None,
    fdr: float | None = None,
    replacing: bool = False,
) -> BatchDone:
    """Put the results of shards together, in the order of the inputs.

    Args:
        output: Path or address of the result.
        results: One of each shard.
        form: ``jsonl`` or ``parquet``; None goes by the name.
        fdr: Choose among all rows with this false discovery rate; None chooses none.
        replacing: Replace a file that is there.

    Raises:
        InputError: One cannot be read, a row is there twice, or the result cannot be written.
        RecordError: One is no result of a batch.
    """
    chosen = format_of(output, form)
    if "://" not in output:
        refuse_taken(Path(output), replace=replacing)
    gaps: list[tuple[int, int]] = []
    rows = _watched(merged(results), gaps)
    if fdr is not None:
        marks = _chosen(np.array([_strength(row) for row in merged(results)]), fdr)
        rows = (row | {"chosen": bool(m)} for row, m in zip(rows, marks, strict=True))
    done = _written(output, rows, chosen, fdr)
    return replace(done, missing=next(iter(gaps), None))


def _watched(rows: Iterator[Row], gaps: list[tuple[int, int]]) -> Iterator[Row]:
    """Note where rows are missing: every input has an item 1, and items are counted without gap."""
    number = item = 0
    for row in rows:
        if row["input"] != number:
            if row["input"] != number + 1:
                gaps.append((number + 1, 1))
            number, item = row["input"], 0
        if row["item"] > item + 1:
            gaps.append((number, item + 1))
        item = row["item"]
        yield row


def summary_of(name: str, form: str | None = None) -> BatchDone:
    """Count what a result holds.

    Raises:
        InputError: It cannot be read.
        RecordError: It is no result of a batch.
    """
    done = BatchDone(output=name, rows=0, outcomes=Counter(), errors=Counter())
    count, chosen = 0, None
    for row in _counted(read_rows(name, form), done):
        count += 1
        if row["chosen"] is not None:  # a rate was asked for when the result was written
            chosen = (chosen or 0) + int(row["chosen"])
    return replace(done, rows=count, chosen=chosen)


def journal_of(environment: Environment, output: str) -> Path:
    """Return where it is noted what a batch has done: beside its result, if that is a file."""
    if "://" not in output:
        return Path(f"{output}.journal")
    name = hashlib.sha256(output.encode()).hexdigest()[:32]
    return environment.paths.state / "batches" / f"{name}.journal"


def _clear_place(output: str, place: Path, *, anew: bool) -> None:
    """Refuse what cannot be written, before hours of work; begin anew where that is wanted."""
    if not anew:
        if "://" not in output and not place.exists():
            refuse_taken(Path(output))
        return
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            place.with_name(f"{place.name}{ending}").unlink()


def _settings(environment: Environment, setup: Setup) -> dict[str, Any]:
    """Return what a finding depends on, beside the text."""
    version = None
    if setup.ask_register:
        with registers.open_register(environment, must_exist=True) as asked:
            version = asked.version() if asked is not None else None
    return {
        "version": __version__,
        "keys": [key.fingerprint for key in setup.needed_keys],
        "profile": setup.profile.fingerprint,
        "model": _model_of(environment, setup),
        "dtype": environment.dtype,
        "decoder": setup.decoder,
        "policy": policy_of(environment, setup).to_dict(),
        "register": version,
        "restore": setup.restore,
        **({"limits": [f.limits for f in setup.profile.fields]} if setup.profile.limited else {}),
        **({DAY: (setup.day or latest_day()).isoformat()} if setup.profile.names_today else {}),
        **({"also": [one.fingerprint for one in setup.also]} if setup.also else {}),
        **({"weigh": True} if setup.weigh else {}),
        **({"questions": setup.question_key} if setup.questions else {}),
        **({"trust": sha256(trust.encode())} if (trust := trust_of(environment, setup)) else {}),
    }


def _model_of(environment: Environment, setup: Setup) -> str:
    if setup.model is not None and Path(setup.model).exists():
        return str(Path(setup.model).resolve())
    return environment.installed(setup.model, profile=setup.profile).fingerprint


def _keeper(folder: Path | None) -> Callable[[str, bytes], None] | None:
    if folder is None:
        return None

    def keep(digest: str, data: bytes) -> None:
        write_or_refuse(record_path(folder, digest), data, own=True)

    return keep


def _chosen(log10_e: F64, alpha: float) -> npt.NDArray[np.bool_]:
    """Choose by e-BH among the rows that were examined."""
    from pura.detect.decode.significance import e_bh

    examined = ~np.isnan(log10_e)
    chosen = np.zeros(log10_e.size, dtype=bool)
    chosen[examined] = e_bh(log10_e[examined], alpha)
    return chosen


def _strength(row: Row) -> float:
    strength = None if row["error"] is not None else row["log10_e"]
    return np.nan if strength is None else float(strength)


def _written(output: str, rows: Iterator[Row], form: str, fdr: float | None) -> BatchDone:
    done = BatchDone(output=output, rows=0, outcomes=Counter(), errors=Counter())
    chosen = 0

    def counted() -> Iterator[Row]:
        nonlocal chosen
        for row in _counted(rows, done):
            chosen += row["chosen"] is True
            yield row

    count = write_rows(output, counted(), form)
    return replace(done, rows=count, chosen=None if fdr is None else chosen)


def _counted(rows: Iterator[Row], done: BatchDone) -> Iterator[Row]:
    for row in rows:
        done.outcomes[outcome_in(row)] += 1
        if row["error"] is not None:
            done.errors[row["error"]] += 1
        yield row


@contextmanager
def _engine(environment: Environment, plan: BatchPlan, engine: str, jobs: int) -> Iterator[Engine]:
    """Lend who reads: this process, which loads its model when the first text comes, or others."""
    if engine not in ENGINES:
        known = ", ".join(ENGINES)
        raise InputError("choice.unknown", known=known, name=engine, code="usage")
    with ExitStack() as opened:
        if engine == "local" and jobs == 1:
            ready = opened.enter_context(prepared(environment, plan.setup, late=True))
            yield here(reading(ready, records=plan.records))
            return
        # Here, where somebody can be asked for a passphrase; workers get copies.
        keys = opened.enter_context(environment.opened_keys(plan.setup.lent_keys))

        def lend() -> list[bytearray]:
            return [key.copy_secret() for key, _ in keys]

        if engine == "local":
            yield local(plan, lend, jobs)
            return
        gpus = int(environment.device == "cuda")
        start = opened.enter_context(actors(plan, lend, gpus=gpus))
        yield by_workers(start, jobs)


@dataclass(frozen=True, kw_only=True)
class BatchPlan(AuditPlan):
    """What a worker of a batch does; other processes get it.

    Attributes:
        records: Whole records are wanted.
    """

    records: bool

    @contextmanager
    def opened(self, secrets: Sequence[bytearray]) -> Iterator[Read]:
        """See :class:`~pura.batch.engine.Plan`."""
        with self.prepared(secrets) as ready:
            yield reading(ready, records=self.records)


def reading(ready: Prepared, *, records: bool) -> Read:
    """Return what finds what is in texts, as the engines want it.

    Args:
        ready: Keys and model.
        records: Also return whole records.
    """

    def read(documents: Sequence[Document]) -> list[TextResult]:
        ready.open()  # what keeps every text from being read is no text's fault
        begun = time.perf_counter()
        found = ready.audit_many([AuditText(document=document) for document in documents])
        seconds = round((time.perf_counter() - begun) / max(1, len(documents)), 3)

        def finding(one: Audited | PuraError) -> TextResult:
            if isinstance(one, PuraError):
                return failure(one)
            made = ready.contained(lambda: _finding(one, seconds, records=records))
            return failure(made) if isinstance(made, PuraError) else made

        return [finding(one) for one in found]

    return read


def _finding(found: Audited, seconds: float, *, records: bool) -> TextResult:
    record = packed(found.audit) if records else None
    return TextResult(
        row=finding_of(found.audit.finding, found.error),
        seconds=seconds,
        record=record,
        alone=Notice.READ_ALONE in found.notices,
    )
