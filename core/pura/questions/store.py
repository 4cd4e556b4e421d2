"""The question store: what stood before each answer, kept sealed until a day, and found again.

The store is off unless somebody switches it on. It has a file and a key of its own. Whoever has the
file without the key learns how many questions there are, of which days, and about how long they
are; neither words nor who asked, nor which questions are alike.
"""

from __future__ import annotations

import datetime as dt
import logging
import math
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pura.base.catalogue import Phrase, phrase
from pura.base.database import Handle, transaction
from pura.base.errors import QuestionError, os_error_as
from pura.base.files import make_private
from pura.base.progress import Checkpoint, never_cancelled, not_counted
from pura.questions.schema import QUESTIONS
from pura.questions.sealing import (
    RowContent,
    Sealing,
    TermChain,
    chain_address,
    entry_address,
)
from pura.questions.words import content_words
from pura.scheme import I64, MarkIdentity, PayloadSeries, SecretKey

logger = logging.getLogger(__name__)
guard = QUESTIONS.guard

DAYS: Final = 30
"""Days that a question is kept where nothing else is said."""
MOST_DAYS: Final = 366
INDEXED: Final = 24
"""Words by which one question can be found."""
ENTRIES_READ: Final = 4_096
"""Entries of the index that one look-up reads at most, so that it takes as long in any store."""
RANKED: Final = 64
"""Questions that one look-up gives at most."""
MOST_TOKENS: Final = 1 << 17
"""Tokens of the longest question that is kept: the contexts of today's models."""

_OPENED: Final = 256  # rows that a look-up opens at most; other keys' questions are among them
_AT_ONCE: Final = 500  # parameters of one statement
_BOUND: Final = struct.Struct("<Qqq")


@dataclass(frozen=True, kw_only=True)
class AnsweredQuestion:
    """What stood before an answer.

    Attributes:
        mark: The mark that the answer carries.
        ids: int64 [P], the exact token ids that the engine was given.
        texts: What people and programs wrote of it, the newest first: question, earlier ones, tool
            results, system text. No answer that carries a mark: an index over words that a key had
            chosen would choose by that key (evidence.md §3, "Stored questions").
        recipient: To whom the answer went; empty where nobody is named.
    """

    mark: MarkIdentity
    ids: I64
    texts: tuple[str, ...]
    recipient: str = ""


@dataclass(frozen=True, kw_only=True)
class StoredQuestion:
    """A question of the store.

    Attributes:
        number: Of its row.
        mark: The mark that the answer carries.
        ids: int64 [P], the token ids that stood before it.
        written: Day on which it was written, UTC.
        until: Last day on which it is kept.
    """

    number: int
    mark: MarkIdentity
    ids: I64
    written: dt.date
    until: dt.date


@dataclass(frozen=True, kw_only=True)
class StoreStatus:
    """What can be said of a store without its key.

    Attributes:
        questions: How many there are, those that have expired not counted.
        expired: How many have expired and are not erased yet.
        days: How long a question is kept.
        oldest: Day of the oldest; None without one.
        newest: Day of the newest.
        key: Fingerprint of the store's key.
    """

    questions: int
    expired: int
    days: int
    oldest: dt.date | None
    newest: dt.date | None
    key: str


@dataclass(frozen=True, kw_only=True)
class StoreCheck:
    """Whether a store holds what was written.

    Attributes:
        questions: Rows that were opened.
        faults: What is wrong; empty where nothing is.
    """

    questions: int
    faults: tuple[Phrase, ...]

    @property
    def sound(self) -> bool:
        """Nothing is wrong."""
        return not self.faults


def status_of(path: Path, *, today: dt.date | None = None) -> StoreStatus:
    """Return what can be said of a store without its key.

    Raises:
        QuestionError: It is missing, damaged, or not a question store.
    """
    day = _number(today or _today())
    with guard():
        db = QUESTIONS.connect(path, create=False, read_only=True, timeout=5.0)
        try:
            meta = dict(db.execute("SELECT name, value FROM meta"))
            live, oldest, newest = db.execute(
                "SELECT count(*), min(day), max(day) FROM questions WHERE until >= ?", (day,)
            ).fetchone()
            (expired,) = db.execute(
                "SELECT count(*) FROM questions WHERE until < ?", (day,)
            ).fetchone()
        finally:
            db.close()
    return StoreStatus(
        questions=live,
        expired=expired,
        days=int(meta.get("days", DAYS)),
        oldest=None if oldest is None else _date(oldest),
        newest=None if newest is None else _date(newest),
        key=meta.get("key", ""),
    )


class QuestionStore(Handle):
    """An open question store; close it, or use it in a ``with`` statement. One thread at a time.

    Args:
        path: The file.
        key: The store's key; it stays the caller's.
        create: Make the file when it is not there.
        read_only: Never write.
        days: How long new questions are kept, 1 … 366; None does what the file says, 30 days in a
            new one. Of an existing file it is changed for rows that are written from now on.
        timeout: Seconds to wait for another program to let go of it.
        clock: Where the time comes from.

    Raises:
        QuestionError: The file is missing, locked, damaged, something else or too new; or its key
            is another one.
    """

    def __init__(
        self,
        path: Path,
        key: SecretKey,
        *,
        create: bool = False,
        read_only: bool = False,
        days: int | None = None,
        timeout: float = 5.0,
        clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise QuestionError("questions.days", most=MOST_DAYS)
        if create:
            with os_error_as(QuestionError, "file.write", name=path.parent.name):
                make_private(path.parent)
        self._clock, self._sealing = clock, Sealing(key)
        self._db = QUESTIONS.connect(path, create=create, read_only=read_only, timeout=timeout)
        self._swept = 0
        try:
            with guard():
                self._days = self._settle(days, read_only=read_only)
        except BaseException:
            self._db.close()
            raise

    @property
    def connection(self) -> sqlite3.Connection:
        """The open file."""
        return self._db

    @property
    def days(self) -> int:
        """How long a question is kept that is written now."""
        return self._days

    def __len__(self) -> int:
        """Return how many questions there are; those that have expired do not count."""
        with guard():
            query = "SELECT count(*) FROM questions WHERE until >= ?"
            return int(self._db.execute(query, (self._today,)).fetchone()[0])

    # Keeping

    def keep(self, question: AnsweredQuestion) -> int:
        """Keep one question; see :meth:`keep_many`."""
        (number,) = self.keep_many([question])
        return number

    def keep_many(self, questions: Sequence[AnsweredQuestion]) -> list[int]:
        """Keep questions, all or none; they survive the end of this process from now on.

        Once a day what has expired is erased before.

        Returns:
            The numbers of their rows.

        Raises:
            QuestionError: A question is too long, or the file cannot be written.
        """
        for question in questions:
            if not 0 < question.ids.size <= MOST_TOKENS:
                raise QuestionError("questions.long", most=MOST_TOKENS)
        today = self._today
        if self._swept < today:
            self.erase_expired()
            self._swept = today
        with guard(), transaction(self._db):
            return [self._keep(question, today) for question in questions]

    def _keep(self, question: AnsweredQuestion, today: int) -> int:
        db, until = self._db, today + self._days
        (number,) = db.execute(
            "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'questions'), 0) + 1"
        ).fetchone()
        terms: list[tuple[str, int]] = []
        chains = self._rarest(question.texts)
        for term in _named_terms(question.mark, question.recipient):
            key = self._sealing.term_key(term)
            chains.append((term, key, self._chain(key)))
        for term, key, chain in chains:
            address = chain_address(key)
            grown = TermChain(first=chain.first, after=chain.after + 1)
            db.execute(
                "INSERT INTO entries VALUES (?, ?)", (entry_address(key, chain.after), number)
            )
            db.execute(
                "INSERT OR REPLACE INTO chains VALUES (?, ?)",
                (address, self._sealing.seal_chain(grown, address)),
            )
            terms.append((term, chain.after))
        content = RowContent(mark=question.mark, ids=question.ids, terms=tuple(terms))
        sealed = self._sealing.seal_row(content, _BOUND.pack(number, today, until))
        db.execute("INSERT INTO questions VALUES (?, ?, ?, ?)", (number, today, until, sealed))
        return int(number)

    def _rarest(self, texts: Sequence[str]) -> list[tuple[str, bytes, TermChain]]:
        """Return the words by which a question is found: the rarest, of equals the newest."""
        vocabulary = dict.fromkeys(word for text in texts for word in content_words(text))
        terms = []
        for word in vocabulary:
            term = _word_term(word)
            key = self._sealing.term_key(term)
            terms.append((term, key, self._chain(key)))
        terms.sort(key=lambda entry: entry[2].length)  # stable: of equals the first
        return terms[:INDEXED]

    # Finding

    def of_mark(self, mark: MarkIdentity, text: str) -> tuple[list[StoredQuestion], int]:
        """Return the questions of the answers that carry a mark, those likeliest for a text first.

        Args:
            mark: The mark.
            text: What may be one of the answers; it ranks them where there are more than
                :data:`RANKED`.

        Returns:
            At most :data:`RANKED` of them, and how many there are.

        Raises:
            QuestionError: A row is not the one that was written.
        """
        with guard():
            rows = sorted(set(self._rows_of(_mark_term(mark))), reverse=True)
            if len(rows) > RANKED:
                rank = {row: n for n, row in enumerate(self._ranked(content_words(text)))}
                rows.sort(key=lambda row: rank.get(row, len(rank)))  # stable: the newest first
            opened = (self._open(row) for row in rows[:RANKED])
            return [one for one in opened if one is not None and one.mark == mark], len(rows)

    def kept(self) -> dict[MarkIdentity, dt.date]:
        """Return for each mark whose question is kept the last day of that.

        Raises:
            QuestionError: A row is not the one that was written.
        """
        query = "SELECT number, day, until, sealed FROM questions WHERE until >= ? ORDER BY until"
        with guard():
            return {
                self._content(number, day, until, sealed).mark: _date(until)
                for number, day, until, sealed in self._db.execute(query, (self._today,))
            }

    def get(self, number: int) -> StoredQuestion | None:
        """Return a question by its number; None where there is none, or where it has expired.

        Raises:
            QuestionError: The row is not the one that was written.
        """
        with guard():
            return self._open(number)

    def likely(self, text: str, series: Iterable[PayloadSeries]) -> list[StoredQuestion]:
        """Return the questions that share the rarest words with a text, the likeliest first.

        The sum of inverse document frequencies ranks them; of equals the newest comes first. It
        looks at words of the text and of what people wrote, never at a key or a phase.

        Args:
            text: What may be the answer.
            series: The keys, epochs and profiles of the answers that may be meant.

        Returns:
            At most :data:`RANKED`.

        Raises:
            QuestionError: A row is not the one that was written.
        """
        admitted, questions = frozenset(series), []
        with guard():
            for row in self._ranked(content_words(text))[:_OPENED]:
                question = self._open(row)
                if question is not None and question.mark.series in admitted:
                    questions.append(question)
                if len(questions) == RANKED:
                    break
        return questions

    def _ranked(self, vocabulary: Sequence[str]) -> list[int]:
        """Return rows by the rare words that they share with others."""
        total = len(self)
        chains = []
        for word in vocabulary:
            key = self._sealing.term_key(_word_term(word))
            chain = self._chain(key)
            if chain.length:
                chains.append((chain, key))
        chains.sort(key=lambda entry: entry[0].length)
        scores: dict[int, float] = {}
        left = ENTRIES_READ
        for chain, key in chains:
            if chain.length > left:
                break
            left -= chain.length
            rows = self._entries(key, chain)
            weight = math.log((total + 1) / max(1, len(rows)))
            for row in rows:
                scores[row] = scores.get(row, 0.0) + weight
        return sorted(scores, key=lambda row: (-scores[row], -row))

    def _rows_of(self, term: str) -> list[int]:
        key = self._sealing.term_key(term)
        return self._entries(key, self._chain(key))

    def _entries(self, key: bytes, chain: TermChain) -> list[int]:
        """Return the rows that the entries of a term lead to."""
        rows: list[int] = []
        numbers = range(chain.first, chain.after)
        for start in range(0, len(numbers), _AT_ONCE):
            addresses = [entry_address(key, n) for n in numbers[start : start + _AT_ONCE]]
            marks = ",".join("?" * len(addresses))
            query = f"SELECT row FROM entries WHERE address IN ({marks})"  # noqa: S608
            rows += [row for (row,) in self._db.execute(query, addresses)]
        return rows

    def _chain(self, key: bytes) -> TermChain:
        address = chain_address(key)
        row = self._db.execute("SELECT sealed FROM chains WHERE address = ?", (address,)).fetchone()
        if row is None:
            return TermChain()
        try:
            return self._sealing.open_chain(row[0], address)
        except ValueError:
            raise QuestionError("questions.index-damaged", code="questions-damaged") from None

    def _open(self, number: int) -> StoredQuestion | None:
        row = self._db.execute(
            "SELECT day, until, sealed FROM questions WHERE number = ? AND until >= ?",
            (number, self._today),
        ).fetchone()
        if row is None:
            return None
        day, until, sealed = row
        content = self._content(number, day, until, sealed)
        return StoredQuestion(
            number=number,
            mark=content.mark,
            ids=content.ids,
            written=_date(day),
            until=_date(until),
        )

    def _content(self, number: int, day: int, until: int, sealed: bytes) -> RowContent:
        try:
            return self._sealing.open_row(sealed, _BOUND.pack(number, day, until))
        except ValueError:
            raise QuestionError(
                "questions.row-damaged", number=number, code="questions-damaged"
            ) from None

    # Erasing

    def erase_expired(self) -> int:
        """Erase what has expired; its place in the file is overwritten.

        Returns:
            How many questions were erased.
        """
        return self._erase("until < ?", (self._today,))

    def erase_number(self, number: int) -> int:
        """Erase the question of a number; see :meth:`erase_expired` and :meth:`clean`."""
        return self._erase("number = ?", (number,))

    def erase_before(self, day: dt.date) -> int:
        """Erase all questions that were written before a day."""
        return self._erase("day < ?", (_number(day),))

    def erase_customer(self, recipient: str) -> int:
        """Erase all questions whose answers went to somebody."""
        with guard():
            rows = self._rows_of(_customer_term(recipient))
        return sum(self._erase("number = ?", (row,)) for row in rows)

    def clean(self) -> None:
        """Leave nothing of what was erased: write the log back, and the file anew."""
        with guard():
            if not self._db.execute("SELECT 1 FROM questions LIMIT 1").fetchone():
                with transaction(self._db):  # lengths of chains, which no row needs any more
                    self._db.execute("DELETE FROM chains")
                    self._db.execute("DELETE FROM entries")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _erase(self, condition: str, values: tuple[object, ...]) -> int:
        query = f"SELECT number, day, until, sealed FROM questions WHERE {condition}"  # noqa: S608
        with guard(), transaction(self._db):
            rows = self._db.execute(query, values).fetchall()
            for number, day, until, sealed in rows:
                self._db.execute("DELETE FROM questions WHERE number = ?", (number,))
                self._db.execute("DELETE FROM entries WHERE row = ?", (number,))
                try:
                    content = self._sealing.open_row(sealed, _BOUND.pack(number, day, until))
                except ValueError:
                    continue  # it goes all the same; its words stay in the counts
                for term, _ in content.terms:
                    self._shorten(term)
        if rows:
            logger.info("question store: %d questions erased", len(rows))
        return len(rows)

    def _shorten(self, term: str) -> None:
        """Let the entries of a term begin where the first is that is left."""
        key = self._sealing.term_key(term)
        chain, address = self._chain(key), chain_address(key)
        first = chain.first
        query = "SELECT 1 FROM entries WHERE address = ?"
        while (
            first < chain.after
            and not self._db.execute(query, (entry_address(key, first),)).fetchone()
        ):
            first += 1
        if first == chain.after:
            self._db.execute("DELETE FROM chains WHERE address = ?", (address,))
        elif first != chain.first:
            sealed = self._sealing.seal_chain(TermChain(first=first, after=chain.after), address)
            self._db.execute("UPDATE chains SET sealed = ? WHERE address = ?", (sealed, address))

    # Checking

    def verify(
        self,
        *,
        checkpoint: Checkpoint = never_cancelled,
        progress: Callable[[int, int], None] = not_counted,
    ) -> StoreCheck:
        """Check that every row is the one that was written, and that the index leads to it.

        Args:
            checkpoint: Called every few rows; may raise :class:`~pura.base.errors.Cancelled`.
            progress: Told how many rows are checked, of how many.
        """
        faults: list[Phrase] = []
        with guard(), transaction(self._db, "DEFERRED"):
            if self._db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
                faults.append(phrase("questions.fault-file"))
            (total,) = self._db.execute("SELECT count(*) FROM questions").fetchone()
            expected = opened = 0
            for number, content in self._walk(faults):
                opened += 1
                if opened % _AT_ONCE == 0:
                    checkpoint()
                    progress(opened, total)
                expected += len(content.terms)
                if not self._indexed(number, content):
                    faults.append(phrase("questions.fault-index", number=number))
            (entries,) = self._db.execute(
                "SELECT count(*) FROM entries WHERE row IN (SELECT number FROM questions)"
            ).fetchone()
            (stray,) = self._db.execute(
                "SELECT count(*) FROM entries WHERE row NOT IN (SELECT number FROM questions)"
            ).fetchone()
            if stray or (entries != expected and not faults):
                faults.append(phrase("questions.fault-stray", count=stray or entries - expected))
        return StoreCheck(questions=opened, faults=tuple(faults))

    def _walk(self, faults: list[Phrase]) -> Iterator[tuple[int, RowContent]]:
        query = "SELECT number, day, until, sealed FROM questions ORDER BY number"
        for number, day, until, sealed in self._db.execute(query):
            try:
                yield number, self._content(number, day, until, sealed)
            except QuestionError as error:
                faults.append(error.phrase)

    def _indexed(self, number: int, content: RowContent) -> bool:
        for term, entry in content.terms:
            key = self._sealing.term_key(term)
            chain = self._chain(key)
            row = self._db.execute(
                "SELECT row FROM entries WHERE address = ?", (entry_address(key, entry),)
            ).fetchone()
            if row != (number,) or not chain.first <= entry < chain.after:
                return False
        return True

    def _settle(self, days: int | None, *, read_only: bool) -> int:
        """Compare the key with that of the file, or note it in a new one; return the days."""
        meta = dict(self._db.execute("SELECT name, value FROM meta"))
        fingerprint = self._sealing.fingerprint
        if meta.get("key", fingerprint) != fingerprint:
            raise QuestionError(
                "questions.key", stored=meta["key"], opened=fingerprint, code="key-mismatch"
            )
        try:
            stored = int(meta.get("days", DAYS))
        except ValueError:
            raise sqlite3.DatabaseError("a row is not one of this program") from None
        if read_only:
            return stored
        retention = stored if days is None else days
        if (meta.get("key"), meta.get("days")) != (fingerprint, str(retention)):
            with transaction(self._db):
                rows = [("key", fingerprint), ("days", str(retention))]
                self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
        return retention

    @property
    def _today(self) -> int:
        return _number(self._clock().astimezone(dt.UTC).date())


def _today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


def _number(day: dt.date) -> int:
    """Return a day as a number."""
    return day.toordinal()


def _date(number: int) -> dt.date:
    try:
        return dt.date.fromordinal(number)
    except (ValueError, OverflowError, TypeError):
        raise sqlite3.DatabaseError("a row is not one of this program") from None


def _word_term(word: str) -> str:
    return f"word {word}"


def _mark_term(mark: MarkIdentity) -> str:
    return f"mark {mark.key} {mark.epoch} {mark.profile} {mark.payload.text}"


def _customer_term(recipient: str) -> str:
    return f"customer {recipient}"


def _named_terms(mark: MarkIdentity, recipient: str) -> list[str]:
    return [_mark_term(mark), *([_customer_term(recipient)] if recipient else [])]
