"""The channel between a gateway and the adapters of other processes: a Unix socket a gateway.

The sockets lie in a folder that only their user may enter, and both ends compare the user of the
other one (Linux). A ticket begins with the name of its gateway's socket, so an engine process finds
the gateway of each request, however many there are.

A message is its length, its kind and its body. Tickets travel as JSON, reports of drawn tokens, one
a token and text, as numbers.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import stat
import struct
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

from pura.base.errors import GenerationError, os_error_as
from pura.base.files import make_private
from pura.embed.serving.tickets import (
    AssignedMark,
    Draw,
    RedeemedTicket,
    TicketOffice,
    office_of,
)
from pura.scheme import Payload, PayloadSeries

_HEAD: Final = struct.Struct("<IB")
_DRAW: Final = struct.Struct("<QII")
_CREDENTIALS: Final = struct.Struct("3i")
# A batch of a thousand tickets takes 60 kB; more than this is not a message of ours.
_MAX_BODY: Final = 1 << 24
# The engine stands still while it waits for a row, so a gateway that hangs is given up.
_PATIENCE_S: Final = 10.0
# A Unix socket's address holds 108 bytes on Linux and 104 on macOS, the closing zero included.
_MAX_ADDRESS: Final = 103
_SUFFIX: Final = ".sock"

_log = logging.getLogger(__name__)


class _Kind(IntEnum):
    REDEEM = 1
    ENDED = 2
    REPORT = 3
    QUESTION = 4


def require_channel() -> None:
    """Refuse a system without Unix sockets.

    Raises:
        GenerationError: This is Windows, where gateway and engine must be one process.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise GenerationError("serving.no-channel")


@contextmanager
def _address(folder: Path, name: str) -> Iterator[str]:
    """Yield the address of a socket, also where its path is too long for one."""
    path = folder / f"{name}{_SUFFIX}"
    if len(os.fsencode(path)) <= _MAX_ADDRESS:
        yield str(path)
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{handle}/{name}{_SUFFIX}"
    finally:
        os.close(handle)


def _refuse_open_folder(folder: Path) -> None:
    """Refuse a folder that other users may enter.

    Raises:
        OSError: It is one, or is not there.
    """
    status = folder.stat()
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO) or status.st_uid != os.geteuid():
        raise PermissionError(1, os.strerror(1))


def _refuse_other_user(connection: socket.socket) -> None:
    """Refuse a connection to a process of another user; elsewhere than on Linux the folder does.

    Raises:
        OSError: The process at the other end has another user.
    """
    if sys.platform == "linux":
        credentials = connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size
        )
        if _CREDENTIALS.unpack(credentials)[1] != os.geteuid():
            raise PermissionError(1, os.strerror(1))


def _send(connection: socket.socket, kind: _Kind, body: bytes) -> None:
    connection.sendall(_HEAD.pack(len(body), kind) + body)


def _receive(connection: socket.socket) -> tuple[_Kind, bytes]:
    """Return the next message.

    Raises:
        OSError: The other end has gone.
        ValueError: It is not a message of ours.
    """
    length, kind = _HEAD.unpack(_read(connection, _HEAD.size))
    if length > _MAX_BODY:
        raise ValueError("a message is too long")
    return _Kind(kind), _read(connection, length)


def _read(connection: socket.socket, length: int) -> bytes:
    body = bytearray()
    while len(body) < length:
        part = connection.recv(min(length - len(body), 1 << 16))
        if not part:
            raise ConnectionResetError(104, os.strerror(104))
        body += part
    return bytes(body)


class ChannelServer:
    """Lets adapters of other processes redeem the tickets of an office.

    Args:
        folder: Where the sockets of gateways lie; made for this user only.
        office: Whose tickets they are.

    Raises:
        GenerationError: The folder cannot be used, or the system has no Unix sockets.
    """

    def __init__(self, folder: Path, office: TicketOffice) -> None:
        require_channel()
        self._office, self._folder = office, folder
        with os_error_as(GenerationError, "file.write", name=folder.name):
            make_private(folder)
            _refuse_open_folder(folder)
            _remove_dead_sockets(folder)
            self._listening = _listening_socket(folder, office.name)
        threading.Thread(target=self._accept, name="pura-tickets", daemon=True).start()
        _log.info("a gateway listens for the adapters of engines")

    def close(self) -> None:
        """Stop listening; connections that are open end with their adapters."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        (self._folder / f"{self._office.name}{_SUFFIX}").unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return  # closed
            threading.Thread(
                target=self._serve, args=(connection,), name="pura-adapter", daemon=True
            ).start()

    def _serve(self, connection: socket.socket) -> None:
        """Answer one adapter until it goes."""
        with connection:
            try:
                _refuse_other_user(connection)
                while True:
                    kind, body = _receive(connection)
                    answer = self._answer(kind, body)
                    if answer is not None:
                        _send(connection, kind, json.dumps(answer).encode())
            except OSError:
                _log.info("an adapter has closed its channel")
            except (ValueError, KeyError, TypeError, AttributeError, struct.error):
                _log.error("an adapter sent a message that is not understood")

    def _answer(self, kind: _Kind, body: bytes) -> Any:
        """Return the answer to a message; None for one that gets none."""
        if kind is _Kind.REPORT:
            (foreign,) = struct.unpack_from("<I", body)
            start = 4 + 8 * foreign
            rows = _DRAW.iter_unpack(body[start:])
            draws = [Draw(number=n, position=p, token=t) for n, p, t in rows]
            self._office.report(draws, struct.unpack_from(f"<{foreign}Q", body, 4))
            return None
        if kind is _Kind.QUESTION:
            number, *ids = struct.unpack(f"<Q{(len(body) - 8) // 4}I", body)
            self._office.question(number, ids)
            return None
        message = json.loads(body)
        if kind is _Kind.ENDED:
            return sorted(self._office.ended(message))
        series = {str(name): PayloadSeries(**parts) for name, parts in message["series"].items()}
        return [
            ticket
            and {
                "number": ticket.number,
                "deployment": ticket.mark.deployment,
                "payload": ticket.mark.payload.text,
                "question": ticket.wants_question,
            }
            for ticket in self._office.redeem(message["tickets"], series)
        ]


def _listening_socket(folder: Path, name: str) -> socket.socket:
    """Return a socket that listens in a folder.

    Raises:
        OSError: The folder does not take it.
    """
    listening = socket.socket(socket.AF_UNIX)
    try:
        with _address(folder, name) as address:
            listening.bind(address)
        listening.listen()
    except OSError:
        listening.close()
        raise
    return listening


def _remove_dead_sockets(folder: Path) -> None:
    """Remove the sockets of gateways that were killed."""
    for path in folder.glob(f"*{_SUFFIX}"):
        with socket.socket(socket.AF_UNIX) as probe, _address(folder, path.stem) as address:
            try:
                probe.connect(address)
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)
            except OSError:
                continue


@dataclass(frozen=True)
class _Origin:
    """Where a redeemed ticket is reported: its gateway, and its number there."""

    office: str
    number: int


class ChannelClient:
    """An adapter's connections to the gateways of a folder.

    One thread at a time: an engine asks its adapter from one.

    Args:
        folder: Where the sockets of gateways lie.

    Raises:
        GenerationError: The system has no Unix sockets.
    """

    def __init__(self, folder: Path) -> None:
        require_channel()
        self._folder = folder
        self._connections: dict[str, socket.socket] = {}
        self._origins: dict[int, _Origin] = {}
        self._next = 0

    def redeem(
        self, tickets: Sequence[str], series: Mapping[str, PayloadSeries]
    ) -> list[RedeemedTicket | None]:
        """See :class:`~pura.embed.serving.tickets.TicketSource`."""
        redeemed: dict[str, RedeemedTicket | None] = dict.fromkeys(tickets)
        offices = dict.fromkeys(office_of(ticket) for ticket in tickets)
        for office in offices:
            own = [ticket for ticket in redeemed if office_of(ticket) == office]
            question = {"tickets": own, "series": {n: asdict(s) for n, s in series.items()}}
            answers = self._ask(office, _Kind.REDEEM, question) or [None] * len(own)
            for ticket, answer in zip(own, answers, strict=True):
                if answer is not None:
                    redeemed[ticket] = self._redeemed(office, answer)
        return [redeemed.pop(ticket, None) for ticket in tickets]

    def question(self, number: int, ids: Sequence[int]) -> None:
        """See :class:`~pura.embed.serving.tickets.TicketSource`."""
        origin = self._origins.get(number)
        if origin is not None:
            body = struct.pack(f"<Q{len(ids)}I", origin.number, *ids)
            self._tell(origin.office, _Kind.QUESTION, body)

    def ended(self, numbers: Sequence[int]) -> frozenset[int]:
        """See :class:`~pura.embed.serving.tickets.TicketSource`."""
        ended: set[int] = set()
        by_office: dict[str, dict[int, int]] = {}
        for number in numbers:
            origin = self._origins.get(number)
            if origin is None:
                ended.add(number)
            else:
                by_office.setdefault(origin.office, {})[origin.number] = number
        for office, own in by_office.items():
            answer = self._ask(office, _Kind.ENDED, list(own))
            ended.update(own.values() if answer is None else (own[number] for number in answer))
        for number in ended:
            self._origins.pop(number, None)
        return frozenset(ended)

    def report(self, draws: Sequence[Draw], foreign: Sequence[int]) -> None:
        """See :class:`~pura.embed.serving.tickets.TicketSource`."""
        for office in {o.office for o in map(self._origins.get, _numbers(draws, foreign)) if o}:
            own = [
                replace(draw, number=self._origins[draw.number].number)
                for draw in draws
                if self._is_of(draw.number, office)
            ]
            others = [self._origins[n].number for n in foreign if self._is_of(n, office)]
            body = struct.pack(f"<I{len(others)}Q", len(others), *others) + b"".join(
                _DRAW.pack(draw.number, draw.position, draw.token) for draw in own
            )
            self._tell(office, _Kind.REPORT, body)

    def close(self) -> None:
        """Close all connections."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _is_of(self, number: int, office: str) -> bool:
        origin = self._origins.get(number)
        return origin is not None and origin.office == office

    def _redeemed(self, office: str, answer: Mapping[str, Any]) -> RedeemedTicket:
        number, self._next = self._next, self._next + 1
        self._origins[number] = _Origin(office, int(answer["number"]))
        mark = AssignedMark(
            deployment=str(answer["deployment"]), payload=Payload(text=str(answer["payload"]))
        )
        wants = bool(answer.get("question"))
        return RedeemedTicket(number=number, mark=mark, wants_question=wants)

    def _tell(self, office: str, kind: _Kind, body: bytes) -> bool:
        """Send a message; False where the gateway has gone."""
        try:
            _send(self._connection(office), kind, body)
        except OSError:
            self._give_up(office)
            return False
        return True

    def _ask(self, office: str, kind: _Kind, question: object) -> Any:
        """Send a message and return its answer; None where the gateway has gone."""
        if not self._tell(office, kind, json.dumps(question).encode()):
            return None
        try:
            answered, body = _receive(self._connections[office])
            return json.loads(body) if answered is kind else None
        except (OSError, ValueError):
            self._give_up(office)
            return None

    def _connection(self, office: str) -> socket.socket:
        connection = self._connections.get(office)
        if connection is None:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.settimeout(_PATIENCE_S)
                _refuse_open_folder(self._folder)
                with _address(self._folder, office) as address:
                    connection.connect(address)
                _refuse_other_user(connection)
            except OSError:
                connection.close()
                raise
            self._connections[office] = connection
        return connection

    def _give_up(self, office: str) -> None:
        """Close the connection to a gateway that has gone: nobody will deliver its answers."""
        _log.error("a gateway cannot be reached, so its tickets are not redeemed")
        connection = self._connections.pop(office, None)
        if connection is not None:
            connection.close()
        self._origins = {n: o for n, o in self._origins.items() if o.office != office}


def gateway_tickets(folder: Path | None) -> ChannelClient:
    """Return the connection of an adapter whose gateways are in other processes.

    Args:
        folder: Where their sockets lie, as the file of deployments names it.

    Raises:
        GenerationError: It names none.
    """
    if folder is None:
        raise GenerationError("serving.no-tickets")
    return ChannelClient(folder)


def _numbers(draws: Sequence[Draw], foreign: Sequence[int]) -> list[int]:
    return [*(draw.number for draw in draws), *foreign]
