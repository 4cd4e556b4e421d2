"""The register of issued payloads: opened, asked, added to.

Whatever looks for a recipient gives a whole mark (:class:`~pura.scheme.MarkIdentity`): key, epoch,
profile and payload. No method takes bits, and none takes the number that a payload is.
"""

from __future__ import annotations

import datetime as dt
import logging
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from pura.base.catalogue import Phrase, phrase
from pura.base.database import Handle, transaction
from pura.base.errors import RegisterError, os_error_as
from pura.base.files import make_private
from pura.base.progress import Checkpoint, never_cancelled
from pura.record.naming import RegisterFacts, RegisterMatch
from pura.register import search
from pura.register.chain import START, Act, new_salt, payload_blob, payload_text, row_hash
from pura.register.contradictions import contradictions, refuse_contradictions
from pura.register.drawing import draw_number
from pura.register.rows import Drawn, Issue, Problems, Recipient, RegisterEntry, Revocation
from pura.register.schema import (
    APPEND,
    CHUNK,
    ENTER,
    NOBODY,
    REGISTER,
    numbers_text,
    series_number,
)
from pura.register.under import IssuedUnder
from pura.scheme import F64, I64, U8, MarkIdentity, Payload, PayloadSeries, Profile

logger = logging.getLogger(__name__)
guard = REGISTER.guard

_WORTH_NAMING: Final = 1e-6
"""Entries with less weight are not listed."""
_ENTRY: Final = (
    "SELECT entries.number, series.key, series.epoch, series.profile, series.bits,"
    " entries.payload, chain.who, chain.issued, chain.model, entries.manifest, chain.note,"
    " chain.drawn, entries.row, chain.hash, entries.remark, entries.revoked, revocation.note,"
    " revocation.written"
    " FROM entries JOIN series ON series.number = entries.series"
    " JOIN chain ON chain.sequence = entries.row"
    " LEFT JOIN chain AS revocation ON revocation.sequence = entries.revoked"
)
"""Entries as :func:`entry_of` reads them."""
MANIFEST_COLUMN: Final = 9
NOTE_COLUMN: Final = 10
"""Where manifest and note stand in a row of :meth:`Register.select`."""
_OF_MARK: Final = (
    "(series.key, series.epoch, series.profile, series.bits) = (?, ?, ?, ?) AND entries.payload = ?"
)
_INCOMING: Final = (
    "row INTEGER, series INTEGER, payload BLOB, who TEXT, issued TEXT, model TEXT, manifest TEXT,"
    " note TEXT, drawn TEXT"
)
_CONTESTED: Final = (
    "(series, payload) IN (SELECT series, payload FROM incoming GROUP BY 1, 2 HAVING count(*) > 1)"
    " OR (series, payload) IN (SELECT series, payload FROM entries WHERE revoked = 0)"
)
"""Rows of a mark that has an entry, or several rows: nobody knows whose it is."""


class Register(Handle):
    """An open register; close it, or use it in a ``with`` statement. One thread at a time.

    Args:
        path: The file.
        create: Make it when it is not there.
        read_only: Never write, except to bring a file of an earlier version up to date.
        timeout: Seconds to wait for another program to let go of it.
        clock: Where the time comes from.

    Raises:
        RegisterError: The file is missing, locked, damaged, not a register, or too new.
    """

    def __init__(
        self,
        path: Path,
        *,
        create: bool = False,
        read_only: bool = False,
        timeout: float = 5.0,
        clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        if create:
            with os_error_as(RegisterError, "file.write", name=path.parent.name):
                make_private(path.parent)
        self._clock = clock
        self._db = REGISTER.connect(path, create=create, read_only=read_only, timeout=timeout)

    @property
    def connection(self) -> sqlite3.Connection:
        """The open file, for what checks it (:mod:`pura.register.verification`)."""
        return self._db

    def __len__(self) -> int:
        """Return how many entries stand: issued, and not revoked."""
        return self._number("SELECT coalesce(sum(live), 0) FROM series")

    def manifests(self) -> int:
        """Return how many entries name a manifest."""
        return self._number("SELECT count(*) FROM entries WHERE manifest != '' AND revoked = 0")

    def count(self, series: PayloadSeries, payload_bits: int) -> int:
        """Return how many payloads of a series were issued and not revoked.

        Args:
            series: The key, epoch and profile.
            payload_bits: ``L_m`` of the profile.
        """
        live, _ = self._counted(series, payload_bits)
        return live

    def count_of_key(self, key: str, epoch: str | None = None) -> int:
        """Return how many payloads were issued under a key, whatever the profile.

        Args:
            key: Fingerprint of the key; of an epoch's key, that of the key it was derived from.
            epoch: Count those of one epoch; None counts those of all.
        """
        return self._number(
            "SELECT coalesce(sum(live), 0) FROM series"
            " WHERE key = ?1 AND epoch = coalesce(?2, epoch)",
            (key, epoch),
        )

    def unassigned(self, payload_bits: int | None = None) -> int:
        """Return how many entries are of unknown key, and so name nobody.

        Args:
            payload_bits: Count payloads of this length only.
        """
        return self._number(
            "SELECT coalesce(sum(live), 0) FROM series WHERE key = '' AND coalesce(bits = ?, 1)",
            (payload_bits,),
        )

    def all_series(self) -> tuple[PayloadSeries, ...]:
        """Return every key, epoch and profile that payloads were issued under."""
        with guard():
            rows = self._db.execute(
                "SELECT key, epoch, profile FROM series WHERE key != '' AND live ORDER BY number"
            ).fetchall()
        return tuple(PayloadSeries(key=k, epoch=e, profile=p) for k, e, p in rows)

    def head(self) -> str:
        """Return the state of the register: the hash of its newest row, 64 hex digits."""
        return self._newest()[1].hex()

    def version(self) -> str:
        """Return the state in short, for people: the head's first digits, and how many rows."""
        sequence, head = self._newest()
        return f"{head.hex()[:16]}-{sequence}"

    def changed(self) -> str:
        """Return when it was last changed, UTC, ISO 8601; empty when it never was."""
        with guard():
            row = self._db.execute(
                "SELECT written FROM chain ORDER BY sequence DESC LIMIT 1"
            ).fetchone()
        return "" if row is None else str(row[0])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Read one state of the register, whatever other programs write meanwhile."""
        with guard(), transaction(self._db, "DEFERRED"):
            yield

    # Issuing

    def draw(self, series: PayloadSeries, payload_bits: int, recipient: Recipient) -> RegisterEntry:
        """Issue a payload that was never issued, drawn at random; see :meth:`draw_many`."""
        (entry,) = self.draw_many(series, payload_bits, [recipient])
        return entry

    def draw_many(
        self, series: PayloadSeries, payload_bits: int, recipients: Sequence[Recipient]
    ) -> list[RegisterEntry]:
        """Issue a payload to each recipient, drawn at random among those never issued.

        One transaction: its rows are on the disk when this returns, and if the process is killed
        before, none of the numbers counts as issued. Processes draw from one register at the same
        time. Several at once share the disk's flush, which is what a drawing costs most.

        Args:
            series: The key, epoch and profile that texts are marked under.
            payload_bits: ``L_m`` of the profile, whose payload has no fields.
            recipients: To whom, and for what; without ``when`` it is today, UTC.

        Returns:
            The entries, in the order of the recipients.

        Raises:
            RegisterError: Every number was issued, a time contradicts the key's epoch, or the
                register cannot be written.
        """
        today = self._clock().astimezone(dt.UTC).date().isoformat()
        recipients = [one if one.when else replace(one, when=today) for one in recipients]
        drawn: list[RegisterEntry] = []
        with guard(), transaction(self._db):
            number = series_number(
                self._db, (series.key, series.epoch, series.profile, payload_bits)
            )
            rows = self._appender()
            for recipient in recipients:
                payload = self._draw_payload(number, payload_bits)
                issue = Issue.of(series.mark(payload), recipient, Drawn.RANDOM)
                refuse_contradictions(issue)
                drawn.append(rows.issue(number, issue))
            self._count_live(number, len(drawn), len(drawn))
        logger.info("register: %d payloads drawn", len(drawn))
        return drawn

    def _draw_payload(self, series: int, bits: int) -> Payload:
        # Entries of unknown key may turn out to be of this series: their numbers stay theirs.
        unknown = series_number(self._db, (*NOBODY, bits))

        def taken(number: int) -> bool:
            blob = payload_blob(format(number, f"0{bits}b"))
            query = "SELECT 1 FROM entries WHERE series IN (?, ?) AND payload = ? LIMIT 1"
            return self._db.execute(query, (series, unknown, blob)).fetchone() is not None

        def issued() -> Iterator[int]:
            query = "SELECT DISTINCT payload FROM entries WHERE series IN (?, ?) ORDER BY payload"
            for (blob,) in self._db.execute(query, (series, unknown)):
                yield int(payload_text(blob, bits), 2)

        return Payload.from_int(draw_number(bits, taken, issued), bits)

    def add(self, issue: Issue, profile: Profile | None = None) -> RegisterEntry:
        """Add one issued payload that was chosen by whoever issued it.

        Args:
            issue: The payload and to whom it was issued.
            profile: The profile, whose fields must not contradict the row.

        Raises:
            RegisterError: The mark has an entry already, or the row contradicts its payload or its
                key.
        """
        refuse_contradictions(issue, profile)
        with guard(), transaction(self._db):
            named = series_columns(issue)
            if self._entries(
                f"{_OF_MARK} AND entries.revoked = 0", (*named, payload_blob(issue.payload.text))
            ):
                raise RegisterError("register.twice")
            number = series_number(self._db, named)
            entry = self._appender().issue(number, issue)
            self._count_live(number, 1, int(issue.drawn is Drawn.RANDOM))
        logger.info("register: entry %d added", entry.number)
        return entry

    def add_many(self, rows: Iterable[tuple[int, Issue]], problems: Problems | None = None) -> int:
        """Add many issued payloads, all or none, or those that nothing is wrong with.

        Args:
            rows: Row numbers of the caller's table, for messages, and what was issued.
            problems: What the caller found wrong while the rows were read; asked at the end. It
                says whether the others are added all the same.

        Returns:
            How many were added.

        Raises:
            RegisterError: A mark is there twice, was issued before, or contradicts the epoch of its
                key; the rows are named.
        """
        problems = problems or Problems()
        with guard(), transaction(self._db):
            self._db.execute(f"CREATE TEMP TABLE incoming ({_INCOMING})")
            self._stage(rows, problems)
            unread = problems.total
            self._find_duplicates(problems)
            staged = self._number("SELECT count(*) FROM incoming")
            contested = self._number(f"SELECT count(*) FROM incoming WHERE {_CONTESTED}")  # noqa: S608
            problems.raise_if_any(staged - contested)
            problems.left_out = unread + contested
            if contested:
                self._db.execute(f"DELETE FROM incoming WHERE {_CONTESTED}")  # noqa: S608
            added = self._enter_staged()
            self._db.execute("DROP TABLE incoming")
        logger.info("register: %d payloads added", added)
        return added

    def _stage(self, rows: Iterable[tuple[int, Issue]], problems: Problems) -> None:
        """Write the rows to a temporary table on disk."""
        numbers: dict[tuple[str, str, str, int], int] = {}

        def staged() -> Iterator[tuple[Any, ...]]:
            for row, issue in rows:
                if contradicted := contradictions(issue):
                    problems.add(row, contradicted[0].phrase)
                    continue
                named = series_columns(issue)
                if named not in numbers:
                    numbers[named] = series_number(self._db, named)
                payload = payload_blob(issue.payload.text)
                about = (issue.who, issue.when, issue.model, issue.manifest, issue.note)
                yield (row, numbers[named], payload, *about, str(issue.drawn))

        source = staged()
        while part := list(islice(source, CHUNK)):
            self._db.executemany("INSERT INTO incoming VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", part)

    def _find_duplicates(self, problems: Problems) -> None:
        twice = self._db.execute(
            "SELECT row, first, who, other FROM (SELECT row, who AS other,"
            " first_value(row) OVER same AS first, first_value(who) OVER same AS who FROM incoming"
            " WINDOW same AS (PARTITION BY series, payload ORDER BY row))"
            " WHERE row > first ORDER BY row"
        )
        for row, first, who, other in twice:
            problems.add(row, phrase("register.same", first=first, who=who, other=other))
        before = self._db.execute(
            "SELECT incoming.row, entries.number, chain.who, incoming.who FROM incoming"
            " JOIN entries USING (series, payload) JOIN chain ON chain.sequence = entries.row"
            " WHERE entries.revoked = 0 ORDER BY incoming.row"
        )
        for row, number, who, other in before:
            problems.add(row, phrase("register.known", number=number, who=who, other=other))

    def _enter_staged(self) -> int:
        """Append the staged rows to the chain, in the order of the caller's table."""
        rows = self._appender()
        series = {
            number: named
            for number, *named in self._db.execute(
                "SELECT number, key, epoch, profile, bits FROM series"
            )
        }
        staged = self._db.execute(
            "SELECT series, payload, who, issued, model, manifest, note, drawn FROM incoming"
            " ORDER BY row"
        )
        added = 0
        while part := staged.fetchmany(CHUNK):
            rows.issue_many([(number, tuple(series[number]), *rest) for number, *rest in part])
            added += len(part)
        counted = self._db.execute(
            "SELECT series, count(*), sum(drawn = ?) FROM incoming GROUP BY series",
            (str(Drawn.RANDOM),),
        ).fetchall()
        for number, live, random in counted:
            self._count_live(number, live, random)
        return added

    # Corrections

    def revoke(self, number: int, reason: str = "") -> None:
        """Note that an entry no longer stands: a mistake, an answer that never left.

        Its row stays in the chain, its number is not given again, and its payload is not drawn
        again. A correction is another entry that is added afterwards.

        Args:
            number: The entry's number.
            reason: For people.

        Raises:
            RegisterError: There is no such entry, or it was revoked before.
        """
        Recipient(who="-", note=reason)  # refuses what does not fit into a row
        with guard(), transaction(self._db):
            entry = self._standing(number)
            sequence = self._appender().note(Act.REVOCATION, entry=number, note=reason)
            self._db.execute("UPDATE entries SET revoked = ? WHERE number = ?", (sequence, number))
            (series,) = self._db.execute(
                "SELECT series FROM entries WHERE number = ?", (number,)
            ).fetchone()
            self._count_live(series, -1, -int(entry.issue.drawn is Drawn.RANDOM))
        logger.info("register: entry %d revoked", number)

    def remark(self, number: int, remark: str) -> None:
        """Note something about an entry that stands, e.g. that its answer was cut off.

        The entry goes on naming its recipient: part of the answer may have left. The newest remark
        is shown with the entry; the chain keeps all of them.

        Args:
            number: The entry's number.
            remark: For people.

        Raises:
            RegisterError: There is no such entry, or it was revoked.
        """
        Recipient(who="-", note=remark)  # refuses what does not fit into a row
        with guard(), transaction(self._db):
            self._standing(number)
            self._appender().note(Act.REMARK, entry=number, note=remark)
            self._db.execute("UPDATE entries SET remark = ? WHERE number = ?", (remark, number))

    def _standing(self, number: int) -> RegisterEntry:
        entry = self.entry(number)
        if entry is None:
            raise RegisterError("register.no-entry", number=number)
        if entry.revocation is not None:
            raise RegisterError("register.revoked", number=number, code="register-revoked")
        return entry

    def name_manifest(self, number: int, manifest: str) -> None:
        """Note the manifest that names an entry's mark, instead of one that did.

        Args:
            number: The entry's number.
            manifest: The manifest's identifier.

        Raises:
            RegisterError: There is no such entry, or it was revoked.
        """
        Recipient(who="-", manifest=manifest)  # refuses what does not fit into a row
        with guard(), transaction(self._db):
            self._standing(number)
            self._appender().note(Act.MANIFEST, entry=number, manifest=manifest)
            self._db.execute("UPDATE entries SET manifest = ? WHERE number = ?", (manifest, number))

    def assign(
        self,
        under: IssuedUnder,
        *,
        first: int = 1,
        last: int | None = None,
        problems: Problems | None = None,
    ) -> int:
        """Say under which key and profile entries of unknown key were issued.

        Args:
            under: The key and the profile. Entries whose payloads have another length than the
                profile's stay as they are.
            first: Number of the first entry.
            last: Number of the last entry; None for all that follow.
            problems: Says whether entries that nothing is wrong with are assigned all the same.

        Returns:
            How many entries were assigned.

        Raises:
            RegisterError: An entry contradicts its payload's fields or the key's epoch, or its mark
                was issued to somebody else; the entries are named.
        """
        profile = under.profile
        problems = problems or Problems()
        with guard(), transaction(self._db):
            assigned: dict[PayloadSeries, list[RegisterEntry]] = {}
            seen = 0
            for entry in self._walk(
                "series.key = '' AND series.bits = ? AND entries.revoked = 0"
                " AND entries.number BETWEEN ? AND ?",
                (profile.payload_bits, first, 2**63 - 1 if last is None else last),
            ):
                seen += 1
                try:
                    issue = replace(entry.issue, series=under.series(entry.issue.when))
                    refuse_contradictions(issue, profile)
                except RegisterError as error:
                    problems.add(entry.number, error.phrase)
                    continue
                mark = issue.mark
                other = None if mark is None else self.find(mark)
                if other is not None:
                    problems.add(entry.number, _issued_before(other, issue))
                elif issue.series is not None:
                    assigned.setdefault(issue.series, []).append(entry)
            good = sum(map(len, assigned.values()))
            problems.raise_if_any(good)
            problems.left_out = seen - good
            for series, entries in assigned.items():
                self._assign(series, profile.payload_bits, entries)
        logger.info("register: %d entries assigned to a key", good)
        return good

    def _assign(self, series: PayloadSeries, bits: int, entries: list[RegisterEntry]) -> None:
        numbers = [entry.number for entry in entries]
        random = sum(entry.issue.drawn is Drawn.RANDOM for entry in entries)
        named = (series.key, series.epoch, series.profile, bits)
        number = series_number(self._db, named)
        unknown = series_number(self._db, (*NOBODY, bits))
        self._appender().note(
            Act.ASSIGNMENT, series=(number, named), entries=numbers_text(iter(numbers))
        )
        self._db.executemany(
            "UPDATE entries SET series = ? WHERE number = ?", ((number, one) for one in numbers)
        )
        self._count_live(unknown, -len(numbers), -random)
        self._count_live(number, len(numbers), random)

    # Looking up

    def find(self, mark: MarkIdentity) -> RegisterEntry | None:
        """Return the entry of a mark, or None."""
        found = self._entries(f"{_OF_MARK} AND entries.revoked = 0", mark_columns(mark))
        return found[0] if found else None

    def revoked(self, mark: MarkIdentity) -> tuple[RegisterEntry, ...]:
        """Return the entries of a mark that were revoked."""
        return tuple(self._entries(f"{_OF_MARK} AND entries.revoked != 0", mark_columns(mark)))

    def holds_same_row(self, issue: Issue) -> bool:
        """Return whether an entry says the same as a row whose key is not known.

        It need not stand, and may have been assigned to a key since. This tells rows that come a
        second time; it names nobody.
        """
        bits = len(issue.payload)
        same_payload = self._entries(
            "entries.series IN (SELECT number FROM series WHERE bits = ?) AND entries.payload = ?",
            (bits, payload_blob(issue.payload.text)),
        )
        return any(
            replace(entry.issue, series=issue.series).same_as(issue) for entry in same_payload
        )

    def entry(self, number: int) -> RegisterEntry | None:
        """Return an entry by the number of its row, or None; it need not stand."""
        found = self._entries("entries.number = ?", (number,))
        return found[0] if found else None

    def entries(self) -> Iterator[RegisterEntry]:
        """Walk over all entries that stand, in the order of their numbers."""
        yield from self._walk("entries.revoked = 0", ())

    def select(
        self,
        profile: Profile | None,
        *,
        words: str = "",
        column: str = "",
        order: str = "number",
        falling: bool = False,
        most: int = 1_000_000,
    ) -> list[tuple[Any, ...]]:
        """Return the rows in which something stands, sorted; :func:`entry_of` reads one.

        Args:
            profile: Whose fields are looked into and sorted by; None knows none.
            words: What is looked for, as :func:`pura.register.search.query` takes it.
            column: Where; empty looks into all columns.
            order: What is sorted by.
            falling: The largest first.
            most: Of the rows.

        Raises:
            RegisterError: The words are no value of the field, or the register cannot be read.
        """
        asked = search.query(profile, words=words, column=column, order=order, falling=falling)
        with guard():
            self._db.create_function("part", 4, search.part, deterministic=True)
            self._db.create_function("shown", 2, search.shown, deterministic=True)
            return self._db.execute(
                f"{_ENTRY} WHERE {asked.where} ORDER BY {asked.order} LIMIT {most}", asked.values
            ).fetchall()

    def chunks(
        self, series: PayloadSeries, payload_bits: int, size: int = CHUNK
    ) -> Iterator[tuple[I64, U8]]:
        """Walk over all payloads of a series that stand.

        Args:
            series: The key, epoch and profile.
            payload_bits: ``L_m`` of the profile.
            size: Rows at a time.

        Yields:
            Entry numbers int64 [M] and payloads uint8 [M, L_m], at most ``size`` rows at a time, in
            the order of the payloads.
        """
        with guard():
            numbered = self._db.execute(
                "SELECT number FROM series WHERE (key, epoch, profile, bits) = (?, ?, ?, ?)",
                (series.key, series.epoch, series.profile, payload_bits),
            ).fetchone()
            if numbered is None:
                return
            width = -(-payload_bits // 8)
            rows = self._db.execute(
                "SELECT number, payload FROM entries WHERE series = ? AND revoked = 0"
                " ORDER BY payload",
                numbered,
            )
            while part := rows.fetchmany(size):
                numbers = np.array([entry for entry, _ in part], dtype=np.int64)
                packed = np.frombuffer(b"".join(blob for _, blob in part), dtype=np.uint8)
                if packed.size != width * len(part):
                    raise sqlite3.DatabaseError("a payload has a wrong width")
                yield numbers, np.unpackbits(packed.reshape(-1, width), axis=1, count=payload_bits)

    def posterior(
        self,
        mark: MarkIdentity,
        score_many: Callable[[U8], F64],
        log_mean: float,
        prior_none: float,
        profile: Profile,
        *,
        top: int = 5,
        checkpoint: Checkpoint = never_cancelled,
    ) -> RegisterFacts:
        """Weigh all entries of a mark's series against each other and against "none of these".

        The entries share ``1 - prior_none`` equally; "not in the register" has the mean
        likelihood over all payloads (evidence.md §4).

        Args:
            mark: The mark that was decoded. The entries of its key, epoch and profile are weighed;
                its own is listed whatever its weight.
            score_many: Takes payloads uint8 [M, L_m], returns log likelihood ratios float64 [M],
                in nats.
            log_mean: The same, as mean over all ``2**L_m`` payloads.
            prior_none: Prior weight of "not in the register", in (0, 1).
            profile: The profile of the mark, whose fields may contradict a row.
            top: List at most so many entries.
            checkpoint: Called for every chunk; may raise :class:`~pura.base.errors.Cancelled`.

        Raises:
            ValueError: A score is NaN or infinite, or the prior is not a share.
            RegisterError: The register cannot be read.
        """
        if not 0 < prior_none < 1 or not math.isfinite(log_mean):
            raise ValueError("the prior or the mean is not a number that can be used")
        with self.held():
            size = self.count(mark.series, profile.payload_bits)
            log_none = math.log(prior_none) + log_mean
            log_prior = math.log1p(-prior_none) - math.log(size) if size else -math.inf
            total = log_none
            best, best_logs = np.empty(0, dtype=np.int64), np.empty(0)
            for numbers, bits in self.chunks(mark.series, profile.payload_bits):
                checkpoint()
                logs = _finite(score_many(bits), len(bits)) + log_prior
                total = float(np.logaddexp(total, np.logaddexp.reduce(logs)))
                best = np.concatenate([best, numbers])
                best_logs = np.concatenate([best_logs, logs])
                # Among equals the lower number comes first: a repeat gives the same list.
                keep = np.lexsort((best, -best_logs))[:top]
                best, best_logs = best[keep], best_logs[keep]
            weighed = [
                (self.entry(number), math.exp(log - total))
                for number, log in zip(best.tolist(), best_logs.tolist(), strict=True)
                if math.exp(log - total) >= _WORTH_NAMING
            ]
            entry = self.find(mark)
            if entry is not None and all(one != entry for one, _ in weighed):
                log = float(_finite(score_many(entry.issue.payload.array[None, :]), 1)[0])
                weighed.append((entry, math.exp(log + log_prior - total)))
            return self._facts([mark], weighed, math.exp(log_none - total), prior_none, profile)

    def entries_of(
        self,
        marks: Sequence[tuple[MarkIdentity, float]],
        prior_none: float,
        profile: Profile,
        *,
        series: Sequence[PayloadSeries] = (),
    ) -> RegisterFacts:
        """Look up the marks of a text whose payloads are identified.

        An entry's weight is that of its payload, reweighed for equal prior weight of all entries
        of its key, epoch and profile beside that of "not in the register"; whatever weight the
        payload leaves counts against it.

        Args:
            marks: Each with the weight of its payload among all payloads.
            prior_none: Prior weight of "not in the register", in (0, 1).
            profile: The profile of the marks, whose fields may contradict a row.
            series: What the marks of the text belong to that are not identified, too.

        Raises:
            RegisterError: The register cannot be read.
        """
        with self.held():
            weighed = []
            for mark, weight in marks:
                size = self.count(mark.series, profile.payload_bits)
                against = math.ldexp(prior_none / (1 - prior_none) * size, -profile.payload_bits)
                weighed.append((self.find(mark), weight / (1 + against)))
            named = [mark for mark, _ in marks]
            return self._facts(named, weighed, 0.0, prior_none, profile, series=series)

    def _facts(
        self,
        marks: Sequence[MarkIdentity],
        weighed: Sequence[tuple[RegisterEntry | None, float]],
        none_weight: float,
        prior_none: float,
        profile: Profile,
        *,
        series: Sequence[PayloadSeries] = (),
    ) -> RegisterFacts:
        """Return what the record holds, in the transaction in which the entries were read."""
        bits = profile.payload_bits
        asked = dict.fromkeys([*(mark.series for mark in marks), *series])
        counted = [self._counted(one, bits) for one in asked]
        size, random = sum(live for live, _ in counted), sum(drawn for _, drawn in counted)
        # Where a number was chosen, entries may agree with a misread payload by rule: consecutive
        # numbers differ in few bits. Then there is no chance to state.
        chance = max(math.ldexp(size, -bits), 5e-324) if 0 < size == random else None
        return RegisterFacts(
            version=self.version(),
            head=self.head(),
            date=self.changed() or self._now(),
            entries=size,
            matches=tuple(
                _match(entry, weight, profile) for entry, weight in weighed if entry is not None
            ),
            none_weight=none_weight,
            prior_none=prior_none,
            chance=chance,
            unassigned=self.unassigned(bits),
            revoked=tuple(entry.number for mark in marks for entry in self.revoked(mark)),
        )

    def _counted(self, series: PayloadSeries, payload_bits: int) -> tuple[int, int]:
        """Return how many entries of a series stand, and how many of them were drawn at random."""
        with guard():
            counted = self._db.execute(
                "SELECT live, random FROM series WHERE (key, epoch, profile, bits) = (?, ?, ?, ?)",
                (series.key, series.epoch, series.profile, payload_bits),
            ).fetchone()
        return (0, 0) if counted is None else (int(counted[0]), int(counted[1]))

    # Rows

    def _newest(self) -> tuple[int, bytes]:
        """Return number and hash of the newest row."""
        with guard():
            row = self._db.execute(
                "SELECT sequence, hash FROM chain ORDER BY sequence DESC LIMIT 1"
            ).fetchone()
            if row is None:
                return 0, START
            if not isinstance(row[1], bytes):
                raise sqlite3.DatabaseError("a row is not one of this program")
            return int(row[0]), row[1]

    def _appender(self) -> _Appender:
        return _Appender(self._db, self._newest(), self._now())

    def _now(self) -> str:
        return self._clock().astimezone(dt.UTC).isoformat(timespec="seconds")

    def _count_live(self, series: int, live: int, random: int) -> None:
        self._db.execute(
            "UPDATE series SET live = live + ?, random = random + ? WHERE number = ?",
            (live, random, series),
        )

    def _number(self, query: str, values: tuple[object, ...] = ()) -> int:
        with guard():
            return int(self._db.execute(query, values).fetchone()[0])

    def _entries(self, where: str, values: tuple[object, ...]) -> list[RegisterEntry]:
        with guard():
            rows = self._db.execute(f"{_ENTRY} WHERE {where}", values).fetchall()
            return [entry_of(row) for row in rows]

    def _walk(self, where: str, values: tuple[object, ...]) -> Iterator[RegisterEntry]:
        with guard():
            rows = self._db.execute(f"{_ENTRY} WHERE {where} ORDER BY entries.number", values)
            while part := rows.fetchmany(1000):
                yield from map(entry_of, part)


class _Appender:
    """Appends rows to the chain, inside a transaction that writes.

    Args:
        db: The file.
        newest: Number and hash of the newest row.
        written: The time that the rows bear.
    """

    def __init__(self, db: sqlite3.Connection, newest: tuple[int, bytes], written: str) -> None:
        self._db, self._written = db, written
        self._sequence, self._head = newest
        (last,) = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'entries'").fetchone()
        self._entry = int(last)

    def issue(self, series: int, issue: Issue) -> RegisterEntry:
        """Append the row of one payload."""
        about = (issue.who, issue.when, issue.model, issue.manifest, issue.note, str(issue.drawn))
        payload = payload_blob(issue.payload.text)
        self.issue_many([(series, series_columns(issue), payload, *about)])
        return RegisterEntry(
            number=self._entry, issue=issue, sequence=self._sequence, hash=self._head.hex()
        )

    def issue_many(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append rows of payloads: series, its columns, payload, who … drawn."""
        chain, entries = [], []
        for series, named, payload, *about in rows:
            self._sequence += 1
            self._entry += 1
            start = (self._sequence, str(Act.ISSUE), self._written, self._entry)
            salt = new_salt()
            self._head = row_hash(self._head, (*start, *named, payload, *about, None, salt))
            chain.append((*start, series, payload, *about, None, salt, self._head))
            entries.append((self._entry, self._sequence, series, payload, about[3]))
        self._db.executemany(APPEND, chain)
        self._db.executemany(ENTER, entries)

    def note(
        self,
        act: Act,
        *,
        entry: int | None = None,
        series: tuple[int, tuple[str, str, str, int]] | None = None,
        manifest: str | None = None,
        note: str | None = None,
        entries: str | None = None,
    ) -> int:
        """Append a row about entries that are there; returns its number."""
        self._sequence += 1
        start = (self._sequence, str(act), self._written, entry)
        number, named = series or (None, (None, None, None, None))
        about = (None, None, None, None, manifest, note, None, entries, new_salt())
        self._head = row_hash(self._head, (*start, *named, *about))
        self._db.execute(APPEND, (*start, number, *about, self._head))
        return self._sequence


def series_columns(issue: Issue) -> tuple[str, str, str, int]:
    """Return the columns ``key, epoch, profile, bits`` of an issued payload."""
    bits = len(issue.payload)
    if issue.series is None:
        return (*NOBODY, bits)
    return issue.series.key, issue.series.epoch, issue.series.profile, bits


def mark_columns(mark: MarkIdentity) -> tuple[str, str, str, int, bytes]:
    """Return the columns ``key, epoch, profile, bits, payload`` of a mark."""
    blob = payload_blob(mark.payload.text)
    return mark.key, mark.epoch, mark.profile, len(mark.payload), blob


def entry_of(row: tuple[Any, ...]) -> RegisterEntry:
    """Read a row of :meth:`Register.select`.

    Raises:
        sqlite3.DatabaseError: The row is not one that this program wrote.
    """
    number, key, epoch, profile, bits, blob, who, issued, model, manifest, note, drawn, *rest = row
    sequence, digest, remark, revoked, reason, written = rest
    try:
        series = PayloadSeries(key=key, epoch=epoch, profile=profile) if key else None
        issue = Issue(
            payload=Payload(text=payload_text(blob, bits)),
            series=series,
            who=who,
            when=issued,
            model=model,
            manifest=manifest,
            note=note,
            drawn=Drawn(drawn),
        )
        return RegisterEntry(
            number=number,
            issue=issue,
            sequence=sequence,
            hash=digest.hex(),
            remark=remark,
            revocation=Revocation(sequence=revoked, reason=reason, written=written)
            if revoked
            else None,
        )
    except (TypeError, ValueError, AttributeError, RegisterError):
        raise sqlite3.DatabaseError("a row is not one of this program") from None


def _issued_before(entry: RegisterEntry, issue: Issue) -> Phrase:
    """Say whose the mark of a row is already."""
    return phrase("register.known", number=entry.number, who=entry.issue.who, other=issue.who)


def _match(entry: RegisterEntry, weight: float, profile: Profile) -> RegisterMatch:
    issue, series = entry.issue, entry.issue.series
    return RegisterMatch(
        entry=entry.number,
        key="" if series is None else series.key,
        epoch="" if series is None else series.epoch,
        profile="" if series is None else series.profile,
        payload=issue.payload.text,
        who=issue.who,
        when=issue.when,
        model=issue.model,
        note=issue.note,
        drawn=str(issue.drawn),
        row=entry.hash,
        contradicts=tuple(dict.fromkeys(one.kind for one in contradictions(issue, profile))),
        posterior=min(1.0, weight),
    )


def _finite(logs: F64, rows: int) -> F64:
    if logs.shape != (rows,) or np.isnan(logs).any() or np.isposinf(logs).any():
        raise ValueError("the scores are not one number for every payload")
    return logs
