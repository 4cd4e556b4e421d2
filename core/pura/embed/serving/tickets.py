"""Tickets: how an adapter learns which mark an answer carries, out of every client's reach.

A gateway opens a ticket for each request that it admits and puts the ticket's text, a random
number, into the request. The adapter redeems it when the engine asks for the first token: only then
is a number drawn, and its row is on disk before the adapter gets to know the mark. A ticket is
redeemed once and ends with its request. Nothing else in a request can name a mark.

While the engine writes, the adapter reports every token that it draws, so that the gateway can
compare an answer with what was drawn before it delivers it. Where gateway and engine are one
process, the adapter calls :class:`TicketOffice` itself; else :mod:`pura.embed.serving.channel`
carries its calls.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from pura.base.errors import PuraError
from pura.scheme import Payload, PayloadSeries

TICKET: Final = "pura_ticket"
"""The one argument of a request that an adapter reads."""

# A ticket ends with its request; this bounds how long a request may wait for its first token.
LIFETIME_S: Final = 900.0
# An adapter reports a token before the engine hands it out, so a token is waited for only as long
# as a thread of a busy machine needs to read a socket.
REPORT_PATIENCE_S: Final = 10.0

_TEXT: Final = re.compile(r"([0-9a-f]{16})\.([0-9a-f]{32})")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class AssignedMark:
    """The mark that one answer carries, as a gateway assigns it.

    Attributes:
        deployment: Name of the engine's deployment, which has the key and the profile.
        payload: What the text carries.
    """

    deployment: str
    payload: Payload


@dataclass(frozen=True, kw_only=True)
class RedeemedTicket:
    """A ticket's answer to the adapter that redeemed it.

    Attributes:
        number: Under which the adapter reports tokens.
        mark: What the text carries.
        wants_question: The gateway keeps questions: the adapter tells it what stands before the
            answer.
    """

    number: int
    mark: AssignedMark
    wants_question: bool = False


@dataclass(frozen=True, kw_only=True)
class Draw:
    """A token that an adapter chose.

    Attributes:
        number: Of the ticket.
        position: Of the token in the answer, from 0. A smaller one than before says that the engine
            had thrown tokens away.
        token: Its id.
    """

    number: int
    position: int
    token: int


class TicketSource(Protocol):
    """What an adapter asks of gateways."""

    def redeem(
        self, tickets: Sequence[str], series: Mapping[str, PayloadSeries]
    ) -> list[RedeemedTicket | None]:
        """Redeem tickets; None for one that is unknown, used, ended or refused.

        When this returns, the rows of all redeemed tickets are on disk.

        Args:
            tickets: The tickets.
            series: By the deployment's name, the key, epoch and profile that the engine marks with.
        """

    def question(self, number: int, ids: Sequence[int]) -> None:
        """Tell what stands before the answer of a redeemed ticket whose gateway keeps that.

        Args:
            number: Of the ticket.
            ids: The exact token ids that the engine was given.
        """

    def ended(self, numbers: Sequence[int]) -> frozenset[int]:
        """Return which of some redeemed tickets have ended since."""

    def report(self, draws: Sequence[Draw], foreign: Sequence[int]) -> None:
        """Report tokens that were drawn, and the tickets whose text holds a token that was not.

        Args:
            draws: In the order in which they were drawn.
            foreign: Numbers of tickets.
        """


def ticket_in(arguments: Mapping[str, Any] | None) -> str | None:
    """Return the ticket among a request's own arguments; None where there is none.

    Raises:
        ValueError: Another argument of this name space, by which a client could mean to name a
            mark, or a ticket that no gateway writes.
    """
    own = {name for name in arguments or {} if name.startswith("pura")}
    if not own:
        return None
    text = (arguments or {}).get(TICKET)
    if own != {TICKET} or not isinstance(text, str) or not _TEXT.fullmatch(text):
        raise ValueError("not a ticket")
    return text


def office_of(ticket: str) -> str:
    """Return the name of the office that opened a ticket.

    Raises:
        ValueError: It is not the text of a ticket.
    """
    match = _TEXT.fullmatch(ticket)
    if match is None:
        raise ValueError("not a ticket")
    return match[1]


class TicketState(StrEnum):
    """How far a ticket is."""

    OPEN = "open"
    REDEEMED = "redeemed"
    REFUSED = "refused"
    ENDED = "ended"


@dataclass(eq=False, kw_only=True)
class Ticket:
    """One ticket, as its gateway sees it.

    Attributes:
        text: What is put into the request. A secret between gateway and adapter.
        number: Under which the adapter reports.
        order: What the gateway draws a mark for, when the ticket is redeemed.
        deadline: Monotonic second after which it cannot be redeemed.
        state: How far it is.
        refusal: Why no mark was drawn.
        tokens: What the adapter has drawn.
        foreign: Whether the text holds a token that the adapter did not draw.
        asked: Whether the adapter has told what stands before the answer.
    """

    text: str
    number: int
    order: Any
    deadline: float
    state: TicketState = TicketState.OPEN
    refusal: PuraError | None = None
    tokens: list[int] = field(default_factory=list)
    foreign: bool = False
    asked: bool = False
    _confirmed: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = field(
        default_factory=list
    )

    @property
    def confirmed(self) -> int:
        """How many tokens of the answer were compared with what was drawn."""
        return self._confirmed

    async def confirm(self, ids: Sequence[int]) -> bool:
        """Compare the next tokens of the answer with those that the adapter drew.

        Args:
            ids: The tokens that the engine is about to hand out.

        Returns:
            False where a token was not drawn by the adapter, or not within
            :data:`REPORT_PATIENCE_S`.
        """
        loop = asyncio.get_running_loop()
        deadline = time.monotonic() + REPORT_PATIENCE_S
        while (left := deadline - time.monotonic()) > 0:
            with self._lock:
                known = self._compare(ids)
                if known is not None:
                    return known
                reported: asyncio.Future[None] = loop.create_future()
                self._waiting.append((loop, reported))
            try:
                await asyncio.wait_for(reported, left)
            except TimeoutError:
                break
        _log.warning("an answer has %d tokens that its adapter did not report", len(ids))
        return False

    def _compare(self, ids: Sequence[int]) -> bool | None:
        """Return whether the adapter drew these tokens next; None where it has not reported yet."""
        if self.foreign or self.state in (TicketState.REFUSED, TicketState.ENDED):
            return False
        end = self._confirmed + len(ids)
        if self.state is TicketState.OPEN or len(self.tokens) < end:
            return None
        same = self.tokens[self._confirmed : end] == list(ids)
        if same:
            self._confirmed = end
        return same

    def add(self, draw: Draw) -> None:
        """Take a report of a token."""
        with self._lock:
            # A token that has left already cannot be drawn anew, and none can be left out.
            if draw.position < self._confirmed or draw.position > len(self.tokens):
                self.foreign = True
            else:
                del self.tokens[draw.position :]
                self.tokens.append(draw.token)

    def change(self, state: TicketState, refusal: PuraError | None = None) -> None:
        """Note a new state."""
        with self._lock:
            self.state, self.refusal = state, refusal

    def distrust(self) -> None:
        """Note that the text holds a token that the adapter did not draw."""
        with self._lock:
            self.foreign = True

    def wake(self) -> None:
        """Let whoever waits look again."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for loop, reported in waiting:
            with suppress(RuntimeError):  # the loop was closed: nobody waits any more
                loop.call_soon_threadsafe(_settle, reported)


def _settle(reported: asyncio.Future[None]) -> None:
    if not reported.done():
        reported.set_result(None)


Issue = Callable[[Sequence[Any], Mapping[str, PayloadSeries]], Sequence["AssignedMark | PuraError"]]
"""Draws a mark for each of some orders and brings their rows to disk; an error for one without.

The second argument is what the engine marks with, see :meth:`TicketSource.redeem`.
"""


Keep = Callable[[Any, Sequence[int]], None]
"""Keeps the question of an order: the order, and the token ids that stand before its answer."""


class TicketOffice:
    """Opens tickets for a gateway and redeems them for adapters; for all threads.

    Args:
        issue: Draws the marks of redeemed tickets.
        keep: Keeps the questions of redeemed tickets; None: they are not kept.

    Attributes:
        name: 16 hex digits, drawn anew in each process; every ticket begins with it.
    """

    def __init__(self, issue: Issue, keep: Keep | None = None) -> None:
        self.name = secrets.token_hex(8)
        self._issue, self._keep = issue, keep
        self._lock = threading.Lock()
        self._open: dict[str, Ticket] = {}
        self._numbered: dict[int, Ticket] = {}
        self._next = 0

    def open(self, order: Any) -> Ticket:
        """Open a ticket; :meth:`end` it when its request has ended.

        Args:
            order: What a mark will be drawn for.
        """
        text = f"{self.name}.{secrets.token_hex(16)}"
        with self._lock:
            ticket = Ticket(
                text=text,
                number=self._next,
                order=order,
                deadline=time.monotonic() + LIFETIME_S,
            )
            self._next += 1
            self._open[text] = self._numbered[ticket.number] = ticket
        return ticket

    def end(self, ticket: Ticket) -> None:
        """End a ticket: it can neither be redeemed nor reported on any more."""
        with self._lock:
            self._open.pop(ticket.text, None)
            self._numbered.pop(ticket.number, None)
        if ticket.state is not TicketState.REFUSED:
            ticket.change(TicketState.ENDED)
        ticket.wake()

    def redeem(
        self, tickets: Sequence[str], series: Mapping[str, PayloadSeries]
    ) -> list[RedeemedTicket | None]:
        """See :class:`TicketSource`."""
        now = time.monotonic()
        with self._lock:
            # Taken out before anything is drawn, so that no second call finds it.
            taken = [self._open.pop(text, None) for text in tickets]
        valid = [ticket for ticket in taken if ticket is not None and ticket.deadline > now]
        marks = dict(
            zip(
                (ticket.number for ticket in valid),
                self._issue([ticket.order for ticket in valid], series) if valid else (),
                strict=True,
            )
        )
        redeemed: list[RedeemedTicket | None] = []
        for ticket in taken:
            mark = None if ticket is None else marks.get(ticket.number)
            if ticket is None or mark is None:
                _log.warning("a ticket was refused: unknown, used before, or too old")
                redeemed.append(None)
            elif isinstance(mark, PuraError):
                _log.error("no mark was drawn for a ticket: %s", mark.code)
                ticket.change(TicketState.REFUSED, refusal=mark)
                redeemed.append(None)
            else:
                ticket.change(TicketState.REDEEMED)
                redeemed.append(
                    RedeemedTicket(
                        number=ticket.number, mark=mark, wants_question=self._keep is not None
                    )
                )
            if ticket is not None:
                ticket.wake()
        return redeemed

    def question(self, number: int, ids: Sequence[int]) -> None:
        """See :class:`TicketSource`."""
        with self._lock:
            ticket = self._numbered.get(number)
            # Told once: an adapter has one question for an answer.
            reported = ticket is None or ticket.asked
            if ticket is not None:
                ticket.asked = True
        if self._keep is not None and ticket is not None and not reported:
            self._keep(ticket.order, ids)

    def ended(self, numbers: Sequence[int]) -> frozenset[int]:
        """See :class:`TicketSource`."""
        with self._lock:
            return frozenset(number for number in numbers if number not in self._numbered)

    def report(self, draws: Sequence[Draw], foreign: Sequence[int]) -> None:
        """See :class:`TicketSource`."""
        touched: dict[int, Ticket] = {}
        with self._lock:
            for number in (*(draw.number for draw in draws), *foreign):
                if number in self._numbered:
                    touched[number] = self._numbered[number]
        for draw in draws:
            if draw.number in touched:
                touched[draw.number].add(draw)
        for number in foreign:
            if number in touched:
                _log.error("an adapter was not asked for every token of an answer")
                touched[number].distrust()
        for ticket in touched.values():
            ticket.wake()


class RankedTickets:
    """Tickets for processes that compute the same tokens side by side.

    The first one talks to the gateways and tells the others.

    Args:
        source: The first process's; None in the others.
        group: The engine's own group of these processes, which can broadcast an object.
    """

    def __init__(self, source: TicketSource | None, group: Any) -> None:
        self._source, self._group = source, group

    def redeem(
        self, tickets: Sequence[str], series: Mapping[str, PayloadSeries]
    ) -> list[RedeemedTicket | None]:
        """See :class:`TicketSource`."""
        redeemed = None if self._source is None else self._source.redeem(tickets, series)
        shared: list[RedeemedTicket | None] = self._group.broadcast_object(redeemed, src=0)
        return shared

    def question(self, number: int, ids: Sequence[int]) -> None:
        """See :class:`TicketSource`."""
        if self._source is not None:
            self._source.question(number, ids)

    def ended(self, numbers: Sequence[int]) -> frozenset[int]:
        """See :class:`TicketSource`."""
        ended = None if self._source is None else self._source.ended(numbers)
        shared: frozenset[int] = self._group.broadcast_object(ended, src=0)
        return shared

    def report(self, draws: Sequence[Draw], foreign: Sequence[int]) -> None:
        """See :class:`TicketSource`."""
        if self._source is not None:
            self._source.report(draws, foreign)
