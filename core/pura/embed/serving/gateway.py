"""A gateway that decides who is marked with what, so that no client has to be trusted with it.

In front of an engine it passes on nothing but what the engine's table of routes lets through, puts
a ticket into each request, and hands over only what the adapter drew for that ticket. The number of
an answer is drawn when the engine has accepted the request and asks for the first token; its row is
on disk before that token is chosen.

:class:`GatewayMiddleware` is for any ASGI application that serves an engine, ``vllm serve
--middleware`` among them. It reads the policy that ``PURA_GATEWAY`` names; serving.md describes it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from pura.base.errors import PuraError
from pura.base.json_text import read_json
from pura.embed.serving.answers import (
    AnswerDelivery,
    Message,
    Outcome,
    Send,
    answers_plainly,
    send_error,
)
from pura.embed.serving.channel import ChannelServer
from pura.embed.serving.ledger import Ledger, Order
from pura.embed.serving.manifests import Signer
from pura.embed.serving.policy import Policy, Scope, header_once, stated_policy
from pura.embed.serving.requests import (
    RebuiltRequest,
    RequestRefusedError,
    Route,
    rebuild,
    unmarked_texts,
)
from pura.embed.serving.tickets import Ticket, TicketOffice, TicketState
from pura.provenance.writing import fresh_manifest
from pura.questions.store import AnsweredQuestion

# A long document with its conversation; an engine's context is far shorter.
_MAX_BODY: Final = 1 << 26
# What of a client's headers goes on; all others are for the gateway, or for nobody.
_PASSED_HEADERS: Final = frozenset({b"authorization", b"host", b"traceparent", b"tracestate"})

Receive = Callable[[], Awaitable[Message]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_log = logging.getLogger(__name__)


class Gateway:
    """Admits requests, opens their tickets and keeps the rows; for all threads of a process.

    Args:
        policy: What is assigned, to whom.

    Attributes:
        policy: As given.
        office: Redeems the tickets; an adapter in this process asks it directly.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._ledger = Ledger(policy)
        self._keeper = None if policy.questions is None else policy.questions.keeper()
        self.office = TicketOffice(
            self._ledger.issue, None if self._keeper is None else self._keep_question
        )
        self._channel: ChannelServer | None = None
        if policy.tickets is not None:
            self._channel = ChannelServer(policy.tickets, self.office)

    def admit(self, name: str | None, model: str, texts: tuple[str, ...] = ()) -> Ticket | None:
        """Open the ticket of a request; nothing is drawn and nothing written yet.

        Args:
            name: Who asks, as the trusted proxy says; None: nobody that it named.
            model: The model's name in the policy.
            texts: What people and programs wrote in the request, where questions are kept.

        Returns:
            The ticket; None for a request that goes on unmarked.

        Raises:
            RequestRefusedError: Nobody that the policy knows, where a mark is required.
        """
        customer = None if name is None else self.policy.customers.get(name)
        if customer is None:
            if self.policy.required:
                raise RequestRefusedError("gateway.customer", status=403, code="unknown-customer")
            return None
        manifest = "" if self.policy.signing is None else fresh_manifest()
        order = Order(customer=customer, model=model, manifest=manifest, texts=texts)
        return self.office.open(order)

    def _keep_question(self, order: Order, ids: Sequence[int]) -> None:
        """Keep what stands before an answer, under the mark that was drawn for it."""
        issue = order.issue
        if self._keeper is None or issue is None or issue.series is None:
            return
        self._keeper.keep(
            AnsweredQuestion(
                mark=issue.series.mark(issue.payload),
                ids=np.asarray(ids, dtype=np.int64),
                texts=order.texts,
                recipient=order.customer.who,
            )
        )

    def signer(self, ticket: Ticket) -> Signer | None:
        """Return what signs the answer of a ticket; None where the policy wants no manifest."""
        if self.policy.signing is None:
            return None
        return Signer(self.policy.signing, ticket.order.manifest, ticket.order.row)

    def end(self, ticket: Ticket, outcome: Outcome, left: int) -> None:
        """End a ticket and note in its row how the answer ended.

        Args:
            ticket: The ticket.
            outcome: How the answer ended.
            left: How many tokens of it were handed over.
        """
        self.office.end(ticket)
        self._ledger.finish(ticket.order, outcome, left)

    def close(self) -> None:
        """Stop listening for adapters, and bring everything to disk."""
        if self._channel is not None:
            self._channel.close()
        if self._keeper is not None:
            self._keeper.close()
        self._ledger.close()


@cache
def stated_gateway() -> Gateway:
    """Return the gateway of the policy that ``PURA_GATEWAY`` names; one for the process.

    Raises:
        PuraError: The variable is not set, or the policy is not valid.
    """
    return Gateway(stated_policy())


class GatewayMiddleware:
    """The gateway around an ASGI application that is the engine's own, or talks to it.

    Args:
        app: The application.
        gateway: None takes :func:`stated_gateway`.
    """

    def __init__(self, app: Application, gateway: Gateway | None = None) -> None:
        self._app = app
        self._gateway = gateway or stated_gateway()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, put together anew, or answer it with an error."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close"})  # no route of a table is one
        else:
            try:
                await self._handle(scope, receive, send)
            except PuraError as error:
                _log.info("a request was refused: %s", error.code)
                await send_error(send, error, plain=answers_plainly(_path(scope)))

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on.

        Raises:
            PuraError: It must not go on; nothing was sent yet.
        """
        policy = self._gateway.policy
        route = policy.engine.find(scope["method"], _path(scope))
        if route.fields is None:
            await self._app(_rebuilt_scope(scope, route, b""), _body(b"", receive), send)
            return
        request = rebuild(route, await _parsed(scope, receive), policy.models, policy.least_tokens)
        if route.answer is None:
            await self._pass_on(scope, receive, send, route, request.body)
            return
        texts = () if policy.questions is None else unmarked_texts(request.body)
        name = policy.proxy.identify(scope)
        ticket = self._gateway.admit(name, request.body["model"], texts)
        if ticket is None:
            await self._pass_on(scope, receive, send, route, self._asked(request))
            return
        receipt = policy.proxy.receipt(scope)
        signer = self._gateway.signer(ticket)
        delivery = AnswerDelivery(send, route.answer, ticket, signer, receipt)
        try:
            body = {**self._asked(request), **policy.engine.ticket(ticket.text)}
            await self._pass_on(scope, receive, delivery, route, body)
        finally:
            # Also where this task is cancelled: the client, or the server, has gone.
            if ticket.state is not TicketState.OPEN or delivery.left:
                _log.info("an answer ended: %s, %d tokens", delivery.outcome, delivery.left)
            self._gateway.end(ticket, delivery.outcome, delivery.left)

    def _asked(self, request: RebuiltRequest) -> dict[str, Any]:
        """Return the fields of a request for a text, without its ticket."""
        body = {**request.body, **self._gateway.policy.engine.fixed}
        if request.stream:
            body["stream"] = True
            if request.usage:
                body["stream_options"] = {"include_usage": True}
        return body

    async def _pass_on(
        self, scope: Scope, receive: Receive, send: Send, route: Route, body: dict[str, Any]
    ) -> None:
        content = json.dumps(body, ensure_ascii=False).encode()
        await self._app(_rebuilt_scope(scope, route, content), _body(content, receive), send)


def _path(scope: Scope) -> str:
    """Return the path of a request below the place where the application is mounted."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(root) else path


def _rebuilt_scope(scope: Scope, route: Route, content: bytes) -> Scope:
    """Return a scope that holds nothing of the client's but the headers that go on."""
    root = str(scope.get("root_path", ""))
    path = root + route.path
    headers = [pair for pair in scope["headers"] if pair[0].lower() in _PASSED_HEADERS]
    if content:
        headers.append((b"content-type", b"application/json"))
        headers.append((b"content-length", b"%d" % len(content)))
    return {
        **scope,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
    }


async def _parsed(scope: Scope, receive: Receive) -> Any:
    """Return the body of a request as JSON.

    Raises:
        RequestRefusedError: It is too long, is not JSON, holds a name twice, or never came whole.
    """
    for name in ("content-length", "content-type", "authorization"):
        header_once(scope, name)
    if header_once(scope, "content-encoding") not in (None, b"identity"):
        raise RequestRefusedError("gateway.no-object")
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise RequestRefusedError("gateway.no-object")
        content += message.get("body", b"")
        if len(content) > _MAX_BODY:
            raise RequestRefusedError("gateway.no-object", status=413)
        if not message.get("more_body"):
            break
    try:
        return read_json(bytes(content))
    except (ValueError, RecursionError):
        raise RequestRefusedError("gateway.no-object") from None


def _body(content: bytes, receive: Receive) -> Receive:
    """Return what hands the application a body, and then tells it that the client has gone."""
    sent = False

    async def receive_body() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": content, "more_body": False}

    return receive_body
