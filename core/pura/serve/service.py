"""The service behind the addresses: who may ask, what was asked, what was answered.

It runs in the thread of the event loop; texts are read in those of the :class:`Reader`. What is
logged and counted is never a text, a token or an outcome.
"""

from __future__ import annotations

import asyncio
import collections
import hashlib
import ipaddress
import json
import logging
import secrets
import sys
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, TextIO, TypeVar

from anyio import CapacityLimiter, to_thread
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.requests import Request

from pura.base.errors import PuraError, ServeError
from pura.detect.options import Notice
from pura.detect.verdict.policy import Policy, default_policy
from pura.documents import Document
from pura.record.answers import MARKED, NO_STATEMENT, Answer, Role, digested, policy_facts
from pura.record.json_io import to_json
from pura.serve import settings
from pura.serve.reader import Found, Kept, Reader, Work
from pura.serve.settings import Asker, Budget, Settings, Store, TokenFile
from pura.serve.shapes import RefusalError, details
from pura.usecases.audits import Audited, Setup


class Log:
    """Writes one line of JSON for each thing that was done.

    Args:
        stream: Where to; None is standard error.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def __call__(self, event: str, **facts: Any) -> None:
        """Write a line."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
        stream = self._stream or sys.stderr
        with suppress(OSError):  # a full disk must not cost anybody an answer
            stream.write(json.dumps(line | facts, ensure_ascii=True) + "\n")
            stream.flush()


class OthersHandler(logging.Handler):
    """What libraries log, in lines of ours: where it came from, and of a fault its kind and place.

    Their own words are left out, as they may quote what they were given.

    Args:
        log: Where to.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(level=logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        facts: dict[str, Any] = {"from": record.name, "level": record.levelname.lower()}
        if reference := getattr(record, "reference", None):  # a fault that an answer refers to
            facts["reference"] = reference
        kind, _, trace = record.exc_info or (None, None, None)
        if kind is not None:
            facts["kind"] = kind.__name__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            if trace is not None:
                facts["at"] = f"{trace.tb_frame.f_code.co_qualname}:{trace.tb_lineno}"
        self._log("library", **facts)


_TOGETHER_S: Final = 10.0
_MOST: Final = 1000


class Refusals:
    """Writes the first refusal of a kind at once; those like it after ten seconds, counted.

    Whoever asks in vain very often would fill the disk with lines otherwise. One thread: that of
    the event loop.

    Args:
        log: Where to.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._more: collections.Counter[tuple[str, str, str]] = collections.Counter()

    def add(self, role: str, reason: str, block: str) -> None:
        """Take a refusal down.

        Args:
            role: Of whoever was refused; empty where that is not known.
            reason: The code of the error.
            block: Of addresses, from which it came; empty where there is none.
        """
        if not self._more:
            asyncio.get_running_loop().call_later(_TOGETHER_S, self.flush)
        kind = (role, reason, block)
        if kind not in self._more and len(self._more) >= _MOST:
            kind = (role, reason, "")  # from very many places: they are counted together
        if kind in self._more:
            self._more[kind] += 1
        else:
            self._more[kind] = 0
            self._write(kind, 1)

    def flush(self) -> None:
        """Write those that were only counted."""
        for kind, count in self._more.items():
            if count:
                self._write(kind, count)
        self._more.clear()

    def _write(self, kind: tuple[str, str, str], count: int) -> None:
        role, reason, block = kind
        self._log("refused", role=role, reason=reason, block=block, count=count)


_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600)


class Metrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.checks = Counter(
            "pura_serve_checks", "Checks that ended.", ("role", "end"), registry=self._registry
        )
        self.refused = Counter(
            "pura_serve_refused", "Questions not taken.", ("code",), registry=self._registry
        )
        self.alone = Counter(
            "pura_serve_read_alone",
            "Texts read alone, since reading them beside others failed.",
            registry=self._registry,
        )
        self.seconds = Histogram(
            "pura_serve_seconds",
            "From a question to its answer.",
            ("role",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.waiting = Gauge(
            "pura_serve_waiting", "Texts that wait.", ("line",), registry=self._registry
        )
        self.manifests = Counter(
            "pura_serve_manifests",
            "Look-ups of manifests, and what publishers did.",
            ("role", "what"),
            registry=self._registry,
        )
        self.kept = Gauge("pura_serve_kept", "Checks that are held.", registry=self._registry)

    def text(self) -> bytes:
        """Return them as Prometheus reads them."""
        return generate_latest(self._registry)


WAITING: Final = "waiting"
DONE: Final = "done"
FAILED: Final = "failed"
_ID_BYTES: Final = 24
_ALL: Final = b"all"
_V4_BLOCK: Final = 24
_V6_BLOCK: Final = 48
_SHORTEST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 600.0
_LOOKS: Final = 0.01  # of the time that answers are kept

T = TypeVar("T")
Sign = Callable[[dict[str, Any], Role, str], str]
"""Makes the signed statement of a check as it is shown to a role in a language."""


@dataclass(kw_only=True, eq=False)
class Check:
    """One question and what became of it.

    Attributes:
        id: Unguessable; who has it and the right token gets the answer.
        asker: Who asked.
        size: Bytes that were asked about.
        begun: When, by the clock of the loop.
        state: ``waiting``, ``done`` or ``failed``.
        answer: What is answered.
        error: Why there is no answer.
        ended: Set when it is no longer waiting.
        ended_at: When that was; 0 before.
        fetched: The asker was given the answer.
        gone: The asker wants it no more.
        tokens: Of the text, for the log.
        paid_tokens: So many were paid for before the text was read.
        text: SHA-256 of the text as it was read from the question.
        work: What is being read for it.
        record: The whole record, JSON, packed; None unless the asker is internal.
        digest: What stands for it in a statement.
    """

    id: str
    asker: Asker
    size: int
    begun: float
    text: bytes
    state: str = WAITING
    answer: Answer | None = None
    error: PuraError | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    ended_at: float = 0.0
    fetched: bool = False
    gone: bool = False
    tokens: int = 0
    paid_tokens: int = 0
    work: Work | None = None
    record: bytes | None = None
    digest: dict[str, str] | None = None

    def shown(self, language: str, sign: Sign | None = None) -> dict[str, Any]:
        """Return it as JSON in a language, signed unless the public asked.

        Args:
            language: Of its words.
            sign: Makes the statement; None: none is made.
        """
        shown: dict[str, Any] = {"id": self.id, "status": self.state}
        if (answer := self.answer) is not None:
            shown["answer"] = answer.told(language)
            if sign is not None and answer.role is not Role.PUBLIC:
                signed = shown["answer"] | ({"record": self.digest} if self.digest else {})
                shown["answer"]["statement"] = sign(
                    shown | {"answer": signed}, answer.role, language
                )
            if self.record is not None:
                shown["answer"]["record"] = json.loads(zlib.decompress(self.record))
        if self.error is not None:
            shown["problem"] = details(self.error, language)
        return shown


def address_of(request: Request) -> str:
    """Return from where a request comes."""
    return "" if request.client is None else request.client.host


def block_of(address: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Return the block of an address; None where it is none."""
    try:
        there = ipaddress.ip_address(address)
    except ValueError:
        return None
    there = getattr(there, "ipv4_mapped", None) or there
    size = _V4_BLOCK if there.version == 4 else _V6_BLOCK
    return ipaddress.ip_network((there, size), strict=False)


class Service:
    """Takes questions and gives answers. One thread: that of the event loop.

    Args:
        reader: Reads texts.
        settings: How it is run.
        tokens: Who may ask.
        store: What was spent.
        secret: Under which addresses are hashed.
        log: Told of every check.
        sign: Makes the statement of answers to trusted and internal askers.
        now: The clock of budgets, seconds since 1970.
    """

    def __init__(
        self,
        *,
        reader: Reader,
        settings: Settings,
        tokens: TokenFile,
        store: Store,
        secret: bytes,
        log: Log,
        sign: Sign | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.settings, self.metrics, self.log = settings, Metrics(), log
        self.draining = False
        self._reader, self._tokens, self._store, self._secret = reader, tokens, store, secret
        self._refusals = Refusals(log)
        self.sign, self._now = sign, now
        self._checks: dict[str, Check] = {}
        self._answers: dict[tuple[str, bytes], Check] = {}  # by asker and text
        self._tidied = 0.0
        # The public has slots of its own, and so have tokens.
        self._counting = {public: CapacityLimiter(1) for public in (True, False)}
        self._parsing = {
            True: CapacityLimiter(settings.limits.public_parsers),
            False: CapacityLimiter(settings.limits.parsers),
        }

    @property
    def setup(self) -> Setup:
        """With what texts are read."""
        return self._reader.setup

    @property
    def policy(self) -> Policy:
        """The decision rule that texts are read by."""
        policy = self.setup.policy
        return policy if isinstance(policy, Policy) else default_policy()

    @property
    def trust(self) -> str:
        """Certificates, PEM, whose signatures of manifests are trusted."""
        return self._reader.setup.trust or ""

    @property
    def leave_out(self) -> tuple[str, ...]:
        """What is left out of examined texts."""
        policy = self._reader.setup.policy
        return policy.leave_out if isinstance(policy, Policy) else ()

    @property
    def pending(self) -> int:
        """Checks that wait, and answers that nobody has fetched."""
        return sum(1 for one in self._checks.values() if not one.fetched)

    def asker(self, authorization: str | None, address: str) -> Asker:
        """Return who asks.

        Args:
            authorization: The header; None where there is none.
            address: Of who asks.

        Raises:
            RefusalError: The token is none, or there is none and one is needed.
        """
        if authorization is None:
            if not self.settings.anyone:
                raise RefusalError("serve.token", code="serve-auth")
            token = self._block(address)
            return Asker(token=token, name="public", role=Role.PUBLIC, budgets=self._shared(token))
        kind, _, token = authorization.partition(" ")
        found = self._tokens.asker(token.strip()) if kind.lower() == "bearer" else None
        if found is None:
            raise RefusalError("serve.token", code="serve-auth")
        if found.role is Role.PUBLIC:
            return replace(found, budgets=found.budgets + self._shared(self._block(address)))
        return found

    def known(self, request: Request) -> Asker | None:
        """Return who sends a request; None where nobody who may ask does."""
        try:
            return self.asker(request.headers.get("authorization"), address_of(request))
        except PuraError:
            return None

    def refused(self, request: Request, error: PuraError, asker: Asker | None = None) -> None:
        """Count and log that a request was refused.

        Args:
            request: From where it comes.
            error: Why.
            asker: Who sent it, where that is known already.
        """
        asker = asker or self.known(request)
        role = "" if asker is None else asker.role.value
        self.turned_away(error.code, address_of(request), role=role)

    def turned_away(self, reason: str, address: str, *, role: str = "") -> None:
        """Count and log that somebody was refused."""
        self.metrics.refused.labels(reason).inc()
        block = block_of(address)
        self._refusals.add(role, reason, "" if block is None else str(block))

    @property
    def ready(self) -> bool:
        """Whether checks are taken: it does not end, and what they cost can be written down."""
        return not self.draining and self._store.writable()

    def admit(self, asker: Asker) -> None:
        """Refuse a question for which there is no room, before its text is read from the wire.

        Raises:
            RefusalError: There is no room, the service ends, or the asker only publishes.
        """
        limits = self.settings.limits
        if asker.role is Role.PUBLISHER:
            raise RefusalError("serve.role", code="serve-role")
        if self.draining:
            raise RefusalError("serve.draining", code="serve-draining", again_s=limits.drain_s)
        self._tidy()
        public = not asker.reserved
        share = limits.public_share if public else 1.0
        full = (
            self._reader.waiting(public=public) >= share * limits.waiting
            or self._reader.characters(public=public) >= share * limits.waiting_characters
            or self._reader.waiting_of(asker.token) >= limits.waiting_each
            or not self._has_place(share * limits.kept, public=public)
        )
        if full:
            raise RefusalError("serve.busy", code="serve-busy", again_s=self._wait_s(public))

    async def ask(self, asker: Asker, document: Document, *, keep: Kept | None = None) -> Check:
        """Take a question.

        Args:
            asker: Who asks.
            document: The text.
            keep: Saves the finding before it is answered.

        Raises:
            RefusalError: The text is too long, a budget cannot pay, or there is no room.
        """
        most = self.settings.limits.characters[asker.role]
        if len(document.text) > most:
            raise RefusalError("serve.long", most=most, code="serve-large")
        check = Check(
            id=secrets.token_urlsafe(_ID_BYTES),
            asker=asker,
            size=document.size_bytes,
            begun=time.monotonic(),
            text=hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).digest(),
        )
        known = self._answered(check) if asker.role is Role.PUBLIC else None
        if known is None:
            check.paid_tokens = await to_thread.run_sync(
                self._reader.tokens, document.text, limiter=self._counting[not asker.reserved]
            )
        self.admit(asker)
        self.spend(asker, settings.of_tokens(check.paid_tokens))
        self._checks[check.id] = self._answers[check.asker.token, check.text] = check
        if known is None:
            self._put(check, document, keep)
        else:
            self._end(check, known)
        return check

    def check(self, asker: Asker, identifier: str) -> Check:
        """Return a check of an asker.

        Raises:
            RefusalError: There is none; whether another asker has it is not said.
        """
        self._tidy()
        found = self._checks.get(identifier)
        if found is None or found.asker.token != asker.token or found.gone:
            raise RefusalError("serve.unknown", code="serve-unknown")
        return found

    def drop(self, check: Check) -> None:
        """Forget a check; where it was not read yet its place is free."""
        check.gone = check.fetched = True
        if check.state != WAITING:
            self._checks.pop(check.id, None)
        elif check.work is not None:
            self._reader.cancel(check.work)

    def close(self) -> None:
        """Close the store, and write what was only counted."""
        self._refusals.flush()
        self._store.close()

    def _block(self, address: str) -> str:
        """Return what names the block of an address."""
        block = block_of(address) or ipaddress.IPv4Network((0, _V4_BLOCK))
        digest = hashlib.blake2b(
            str(block).encode(), digest_size=16, key=self._secret, person=b"block"
        )
        return f"block:{digest.hexdigest()}"

    def _shared(self, block: str) -> tuple[Budget, ...]:
        """Return the budgets that the public shares, as far as there are limits."""
        protection = self.settings.protection
        each = ((block.encode(), protection.per_day_block), (_ALL, protection.per_day_public))
        return tuple(Budget(who=who, per_day=limit) for who, limit in each if limit)

    async def parsed(self, asker: Asker, size: int, parse: Callable[[], T]) -> T:
        """Have a file parsed in a thread, when a slot is free.

        Args:
            asker: Who asks.
            size: Its bytes, which are paid for first.
            parse: Parses it.

        Raises:
            RefusalError: Too many files wait for a slot, or a budget cannot pay.
        """
        slots = self._parsing[not asker.reserved]
        if slots.statistics().tasks_waiting >= self.settings.limits.waiting_files:
            raise RefusalError("serve.busy", code="serve-busy", again_s=_SHORTEST_WAIT_S)
        self.spend(asker, settings.of_file(size))
        return await to_thread.run_sync(parse, limiter=slots)

    def spend(self, asker: Asker, checks: float) -> None:
        """Pay for work, before it is done.

        Raises:
            RefusalError: A budget cannot pay.
        """
        wait = self._store.spend(asker.budgets, checks, now=self._now())
        if wait:
            raise RefusalError("serve.budget", code="serve-budget", again_s=wait)

    def refund(self, asker: Asker, checks: float) -> None:
        """Pay back what was not done; where the disk takes nothing, the asker bears it."""
        with suppress(ServeError):
            self._store.refund(asker.budgets, checks, now=self._now())

    def _answered(self, check: Check) -> Answer | None:
        """Return what this asker was answered to this very text a short while ago.

        The same asker only: that, or when, somebody else asked must show neither in an answer nor
        in how fast it comes.
        """
        known = self._answers.get((check.asker.token, check.text))
        return None if known is None or known.id not in self._checks else known.answer

    def _put(self, check: Check, document: Document, keep: Kept | None) -> None:
        loop = asyncio.get_running_loop()

        def done(found: Found) -> None:
            told = (  # here and not in the loop, as a record may be long
                self._reader.contained(lambda: self._answer(check, found))
                if isinstance(found, Audited)
                else found
            )
            try:
                loop.call_soon_threadsafe(self._found, check, found, told)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return

        check.work = Work(
            document=document,
            asker=check.asker.token,
            reserved=check.asker.reserved,
            done=done,
            keep=keep,
        )
        self._reader.put(check.work)
        self._count_waiting()

    def _found(self, check: Check, found: Found, told: Answer | PuraError | None) -> None:
        """Answer a check."""
        self._count_waiting()
        if check.work is not None and not check.work.begun:
            self.refund(check.asker, settings.of_tokens(check.paid_tokens))
        check.work = None
        if found is None:
            self._end(check, None, RefusalError("serve.cut", code="serve-cut"))
            return
        if isinstance(found, Audited):
            self.metrics.alone.inc(Notice.READ_ALONE in found.notices)
            check.tokens = found.audit.input.tokens
        if isinstance(told, PuraError):
            self._end(check, None, told)
        else:
            self._end(check, told)

    @property
    def threshold(self) -> float:
        """The log10 of the evidence from which the public is told of a mark."""
        return self.policy.t_found + self.settings.protection.margin

    def _answer(self, check: Check, found: Audited) -> Answer:
        role, finding = check.asker.role, found.audit.finding
        marks = tuple(
            mark.identity
            for mark in finding.marks
            if mark.payload.bits is not None and mark.identity is not None
        )
        if role is Role.PUBLIC:
            marked = (
                found.error is None
                and finding.verdict == "mark"
                and check.paid_tokens >= self.settings.protection.least_tokens
                and finding.log10_e >= self.threshold
            )
            if marked:
                return Answer(role=role, verdict=MARKED, marks=marks, draft=finding.draft)
            return Answer(role=role, verdict=NO_STATEMENT, draft=finding.draft)
        if role is Role.INTERNAL:
            record = to_json(found.audit)
            check.record, check.digest = (
                zlib.compress(record.encode()),
                digested(json.loads(record)),
            )
        return Answer(
            role=role,
            verdict=finding.verdict,
            finding=finding,
            marks=marks,
            policy=policy_facts(found.audit.policy),
            release=self.settings.release,
        )

    def _end(self, check: Check, answer: Answer | None, error: PuraError | None = None) -> None:
        check.answer, check.error = answer, error
        check.state = FAILED if answer is None else DONE
        check.ended_at = time.monotonic()
        check.ended.set()
        seconds = check.ended_at - check.begun
        role = check.asker.role.value
        end = "gone" if check.gone else check.state
        self.metrics.checks.labels(role, end).inc()
        self.metrics.seconds.labels(role).observe(seconds)
        self.log(
            "check",
            token=check.asker.name,
            role=role,
            bytes=check.size,
            tokens=check.tokens,
            verdict=answer.verdict if answer is not None else error.code if error else "",
            seconds=round(seconds, 3),
        )
        if check.gone:
            self._checks.pop(check.id, None)
        self.metrics.kept.set(len(self._checks))

    def _has_place(self, most: float, *, public: bool) -> bool:
        """Return whether an answer can be held; the oldest that was fetched gives way to it."""
        if len(self._checks) < most:
            return True
        held = [one for one in self._checks.values() if not (public and one.asker.reserved)]
        if len(held) >= most:
            old = next((one for one in held if one.fetched and one.state != WAITING), None)
            if old is None:
                return False
            del self._checks[old.id]
        return True

    def _tidy(self) -> None:
        """Forget answers that were kept long enough; looks now and then, as there may be many."""
        now, kept_s = time.monotonic(), self.settings.limits.kept_s
        if now - self._tidied < _LOOKS * kept_s:
            return
        self._tidied = now
        for one in [c for c in self._checks.values() if 0 < c.ended_at < now - kept_s]:
            del self._checks[one.id]
        self._answers = {at: c for at, c in self._answers.items() if c.id in self._checks}
        self.metrics.kept.set(len(self._checks))

    def _count_waiting(self) -> None:
        public = self._reader.waiting(public=True)
        self.metrics.waiting.labels("public").set(public)
        self.metrics.waiting.labels("tokens").set(self._reader.waiting() - public)

    def _wait_s(self, public: bool) -> float:
        """Return about how long those that wait will take."""
        expected = self._reader.characters(public=public) * self._reader.seconds_a_character
        return min(max(expected, _SHORTEST_WAIT_S), _LONGEST_WAIT_S)
