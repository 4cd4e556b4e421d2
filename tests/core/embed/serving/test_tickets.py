"""Tickets: what an adapter reports, and what is confirmed of an answer."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pura.base.errors import GenerationError, PuraError
from pura.embed.serving import tickets
from pura.embed.serving.tickets import (
    TICKET,
    AssignedMark,
    Draw,
    Ticket,
    TicketOffice,
    TicketState,
    office_of,
    ticket_in,
)
from pura.scheme import Payload

MARK = AssignedMark(deployment="house", payload=Payload.from_int(5, 36))


def office(mark: AssignedMark | PuraError = MARK) -> TicketOffice:
    return TicketOffice(lambda orders, series: [mark for _ in orders])


def redeemed(shop: TicketOffice) -> Ticket:
    ticket = shop.open("an order")
    assert shop.redeem([ticket.text], {})[0] is not None
    return ticket


def report(shop: TicketOffice, ticket: Ticket, tokens: Sequence[int], start: int = 0) -> None:
    draws = [
        Draw(number=ticket.number, position=start + place, token=token)
        for place, token in enumerate(tokens)
    ]
    shop.report(draws, [])


def confirmed(ticket: Ticket, *pieces: Sequence[int]) -> list[bool]:
    async def confirm() -> list[bool]:
        return [await ticket.confirm(piece) for piece in pieces]

    return asyncio.run(confirm())


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "REPORT_PATIENCE_S", 0.05)


def test_what_was_drawn_is_confirmed_in_its_order() -> None:
    shop = office()
    ticket = redeemed(shop)
    report(shop, ticket, [1, 2, 3])
    assert confirmed(ticket, [1], [2, 3], []) == [True, True, True]
    assert ticket.confirmed == 3


@pytest.mark.parametrize("claimed", [[2], [1, 3], [1, 2, 3, 4], [1, 1]])
def test_what_was_not_drawn_is_not(claimed: list[int]) -> None:
    shop = office()
    ticket = redeemed(shop)
    report(shop, ticket, [1, 2, 3])
    assert confirmed(ticket, claimed) == [False]


def test_a_report_that_comes_late_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "REPORT_PATIENCE_S", 30.0)
    shop = office()
    ticket = shop.open("an order")

    async def answer() -> bool:
        waiting = asyncio.ensure_future(ticket.confirm([7]))
        await asyncio.sleep(0.01)  # lets the confirmation begin before the report is there
        await asyncio.to_thread(shop.redeem, [ticket.text], {})
        await asyncio.to_thread(report, shop, ticket, [7])
        return await waiting

    assert asyncio.run(answer())


def test_a_preempted_text_is_drawn_anew_where_nothing_has_left() -> None:
    shop = office()
    ticket = redeemed(shop)
    report(shop, ticket, [1, 2, 3])
    report(shop, ticket, [8, 9], start=1)
    assert confirmed(ticket, [1, 8, 9]) == [True]
    assert ticket.tokens == [1, 8, 9]


@pytest.mark.parametrize("start", [0, 1, 5], ids=["left", "left too", "gap"])
def test_a_token_that_has_left_is_not_drawn_anew_and_none_is_left_out(start: int) -> None:
    shop = office()
    ticket = redeemed(shop)
    report(shop, ticket, [1, 2, 3])
    assert confirmed(ticket, [1, 2]) == [True]
    report(shop, ticket, [4], start=start)
    assert confirmed(ticket, [3]) == [False]


def test_an_adapter_that_was_not_asked_for_a_token_says_so() -> None:
    shop = office()
    ticket = redeemed(shop)
    report(shop, ticket, [1])
    shop.report([], [ticket.number])
    assert confirmed(ticket, [1]) == [False]


def test_reports_on_tickets_that_have_ended_are_dropped() -> None:
    shop = office()
    ticket = redeemed(shop)
    shop.end(ticket)
    report(shop, ticket, [1])
    shop.report([], [ticket.number, 99])
    assert (ticket.tokens, ticket.foreign) == ([], False)
    assert shop.ended([ticket.number, 99]) == {ticket.number, 99}


def test_why_no_mark_was_drawn_is_kept() -> None:
    refusal = GenerationError("gateway.deployment", name="house")
    shop = office(refusal)
    ticket = shop.open("an order")
    assert shop.redeem([ticket.text], {}) == [None]
    shop.end(ticket)
    assert (ticket.state, ticket.refusal) == (TicketState.REFUSED, refusal)
    assert confirmed(ticket, [1]) == [False]


def test_no_two_tickets_are_alike_and_each_names_its_office() -> None:
    shop = office()
    texts = {shop.open("an order").text for _ in range(100)}
    assert len(texts) == 100
    assert {office_of(text) for text in texts} == {shop.name}


TEXT = f"{'0' * 16}.{'f' * 32}"


@pytest.mark.parametrize(
    ("arguments", "ticket"),
    [(None, None), ({}, None), ({"other": 1}, None), ({TICKET: TEXT, "other": 1}, TEXT)],
)
def test_the_ticket_of_a_request(arguments: dict[str, object] | None, ticket: str | None) -> None:
    assert ticket_in(arguments) == ticket


@pytest.mark.parametrize(
    "arguments",
    [
        {TICKET: None},
        {TICKET: 5},
        {TICKET: "guess"},
        {TICKET: TEXT.upper()},
        {TICKET: f"{TEXT}\n"},
        {TICKET: TEXT, "pura_payload": "0x1"},
        {"pura_payload": "0x1"},
        {"pura_profile": "house"},
    ],
)
def test_a_request_that_could_name_a_mark_by_itself_is_refused(
    arguments: dict[str, object],
) -> None:
    with pytest.raises(ValueError, match="not a ticket"):
        ticket_in(arguments)


@settings(max_examples=200, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["report", "confirm"]), st.integers(0, 6), st.integers(0, 2)),
        max_size=30,
    )
)
def test_nothing_is_ever_confirmed_that_was_not_drawn_at_its_place(
    steps: list[tuple[str, int, int]],
) -> None:
    """Whatever is reported in whatever order: what left is a beginning of what was drawn last."""
    shop = office()
    ticket = redeemed(shop)
    drawn: dict[int, set[int]] = {}
    left: list[int] = []
    for act, position, token in steps:
        if act == "report":
            report(shop, ticket, [token], start=position)
            drawn.setdefault(position, set()).add(token)
        elif len(ticket.tokens) > len(left) and confirmed(ticket, [token]) == [True]:
            left.append(token)
        assert ticket.foreign or left == ticket.tokens[: len(left)]
    assert all(token in drawn[position] for position, token in enumerate(left))
