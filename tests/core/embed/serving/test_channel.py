"""The channel between a gateway and engines of other processes."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.core.embed.serving.small_engine import (
    DEPLOYMENTS,
    LENGTH,
    REQUESTS,
    SmallEngine,
    ask,
    load_policy,
    misplaced,
    rows_in,
    tokens_of,
)

from pura.base.errors import GenerationError
from pura.embed.serving.channel import ChannelClient, ChannelServer, gateway_tickets
from pura.embed.serving.gateway import Gateway, GatewayMiddleware
from pura.embed.serving.tickets import AssignedMark, Draw, RankedTickets, Ticket, TicketOffice
from pura.scheme import Payload

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Unix sockets")
SERIES = DEPLOYMENTS.series()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of sockets; its name is longer than the address of a socket may be."""
    return tmp_path / ("a" * 60) / ("b" * 60)


@pytest.fixture
def gateways(tmp_path: Path, folder: Path) -> Iterator[list[Gateway]]:
    folder.parent.mkdir()
    opened = [Gateway(load_policy(tmp_path, tickets=str(folder))) for _ in range(2)]
    yield opened
    for gateway in opened:
        gateway.close()


@pytest.fixture
def client(folder: Path) -> Iterator[ChannelClient]:
    tickets = ChannelClient(folder)
    yield tickets
    tickets.close()


def opened(gateway: Gateway) -> Ticket:
    ticket = gateway.admit("north", "council-7b")
    assert ticket is not None
    return ticket


def test_an_engine_of_another_process_marks_for_several_gateways(
    gateways: list[Gateway], client: ChannelClient, tmp_path: Path
) -> None:
    engine = SmallEngine(client)
    for gateway in gateways:
        answer = ask(GatewayMiddleware(engine, gateway), REQUESTS["/v1/completions"])
        assert len(answer.text) == LENGTH
        matches = [
            row
            for row in rows_in(tmp_path)
            if misplaced(tokens_of(answer.text), Payload(text=row["payload"])) == []
        ]
        assert len(matches) == 1
    assert len(rows_in(tmp_path)) == 2


ENGINE = """
import json, sys
from pathlib import Path
from tests.core.embed.serving.small_engine import SmallEngine
from pura.embed.serving.channel import ChannelClient
engine = SmallEngine(ChannelClient(Path(sys.argv[1])))
tokens = list(engine._write(sys.argv[2], 30))
print(json.dumps(tokens))
"""


def test_a_real_process_redeems_a_ticket(
    gateways: list[Gateway], folder: Path, tmp_path: Path
) -> None:
    ticket = opened(gateways[0])
    command = [sys.executable, "-c", ENGINE, str(folder), ticket.text]
    root = Path(__file__).parents[4]
    child = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    tokens = [int(token) for token in child.stdout.strip("[]\n").split(",")]
    assert asyncio.run(ticket.confirm(tokens))
    (row,) = rows_in(tmp_path)
    assert misplaced(tokens, Payload(text=row["payload"])) == []


def test_tickets_are_redeemed_together_and_each_once(
    gateways: list[Gateway], client: ChannelClient
) -> None:
    tickets = [opened(gateway) for gateway in gateways for _ in range(3)]
    texts = [ticket.text for ticket in tickets]
    redeemed = client.redeem([*texts, texts[0]], SERIES)
    assert [ticket is not None for ticket in redeemed] == [True] * 6 + [False]
    assert client.redeem(texts, SERIES) == [None] * 6
    payloads = {ticket.mark.payload.text for ticket in redeemed if ticket is not None}
    assert len(payloads) == 6


def test_an_engine_learns_which_tickets_have_ended(
    gateways: list[Gateway], client: ChannelClient
) -> None:
    tickets = [opened(gateway) for gateway in gateways]
    redeemed = client.redeem([ticket.text for ticket in tickets], SERIES)
    numbers = [ticket.number for ticket in redeemed if ticket is not None]
    assert client.ended(numbers) == frozenset()
    gateways[0].office.end(tickets[0])
    assert client.ended(numbers) == {numbers[0]}
    assert client.ended(numbers) == {numbers[0]}


@pytest.mark.parametrize(
    "ticket", ["", "0" * 16, "../../etc." + "0" * 32, "g" * 16 + "." + "0" * 32]
)
def test_what_is_not_a_ticket_reaches_no_socket(client: ChannelClient, ticket: str) -> None:
    with pytest.raises(ValueError, match="not a ticket"):
        client.redeem([ticket], SERIES)


def test_a_ticket_of_a_gateway_that_is_gone_is_not_redeemed(
    gateways: list[Gateway], client: ChannelClient
) -> None:
    ticket = opened(gateways[0])
    gateways[0].close()
    other = opened(gateways[1])
    assert client.redeem([ticket.text], SERIES) == [None]
    assert client.redeem(["0" * 16 + "." + "0" * 32], SERIES) == [None]
    (redeemed,) = client.redeem([other.text], SERIES)
    assert redeemed is not None


def test_a_gateway_that_is_killed_ends_its_tickets(
    gateways: list[Gateway], client: ChannelClient
) -> None:
    (redeemed,) = client.redeem([opened(gateways[0]).text], SERIES)
    assert redeemed is not None
    client.close()
    gateways[0].close()
    client.report([Draw(number=redeemed.number, position=0, token=1)], [])
    assert client.ended([redeemed.number]) == {redeemed.number}


def test_sockets_of_killed_gateways_are_removed(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        handle = os.open(folder, os.O_RDONLY)
        dead.bind(f"/proc/self/fd/{handle}/dead.sock")
        os.close(handle)
    office = TicketOffice(lambda orders, series: [])
    server = ChannelServer(folder, office)
    assert [path.stem for path in folder.glob("*.sock")] == [office.name]
    server.close()
    assert list(folder.glob("*.sock")) == []


def test_a_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(GenerationError):
        ChannelServer(folder, TicketOffice(lambda orders, series: []))


STRANGE = [
    b"\xff" * 5,  # longer than any message
    b"\x02\0\0\0\x01{]",
    b"\0\0\0\0\x09",  # of no kind
    b"\x02\0\0\0\x01{}",
    b"\x02\0\0\0\x01[]",
    b"\x1b\0\0\0\x01" + b'{"series": [], "tickets": 1}'[:27],
    b"\x01\0\0\0\x03\xff",
    b"\x04\0\0\0\x03\xff\xff\xff\xff",
]


@pytest.mark.parametrize("message", STRANGE)
def test_a_message_that_is_not_understood_ends_the_connection(
    gateways: list[Gateway], folder: Path, message: bytes
) -> None:
    handle = os.open(folder, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(f"/proc/self/fd/{handle}/{gateways[0].office.name}.sock")
        stranger.settimeout(10)
        stranger.sendall(message)
        assert stranger.recv(1) == b""
    os.close(handle)
    client = ChannelClient(folder)
    assert client.redeem([opened(gateways[0]).text], SERIES)[0] is not None
    client.close()


def test_an_adapter_needs_a_folder_of_tickets() -> None:
    with pytest.raises(GenerationError) as caught:
        gateway_tickets(None)
    assert caught.value.key == "serving.no-tickets"


def test_of_several_ranks_one_redeems_and_the_others_are_told() -> None:
    mark = AssignedMark(deployment="house", payload=Payload.from_int(5, 36))
    office = TicketOffice(lambda orders, series: [mark for _ in orders])
    told: list[Any] = []

    def broadcast(held: Any, src: int) -> Any:
        assert src == 0
        if held is not None:
            told.append(held)
        return told[-1]

    group = SimpleNamespace(broadcast_object=broadcast)
    first, second = RankedTickets(office, group), RankedTickets(None, group)
    ticket = office.open("an order")
    for rank in (first, second):
        (redeemed,) = rank.redeem([ticket.text], SERIES)
        assert redeemed is not None
        assert redeemed.mark == mark
        rank.report([Draw(number=redeemed.number, position=0, token=9)], [])
    assert ticket.tokens == [9]  # reported once
    office.end(ticket)
    assert [rank.ended([0]) for rank in (first, second)] == [{0}, {0}]
