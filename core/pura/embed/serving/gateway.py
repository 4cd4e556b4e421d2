"""A gateway that decides who is marked with what, so that no client has to be trusted with it.

In front of an engine it takes every ``pura_…`` field out of a request, assigns the payload by a
policy of its own, and has written the row of the register before the request goes on: an answer
that leaves has its row, also where this process is killed in between.

:class:`GatewayMiddleware` is for any ASGI application, ``vllm serve --middleware`` among them;
:mod:`pura.embed.serving.litellm` for the proxy of LiteLLM. Both read the policy that
``PURA_GATEWAY`` names; serving.md describes it.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import os
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from pura.base.errors import GenerationError, PuraError, RegisterError
from pura.base.files import file_lock, read_bounded, write_atomic
from pura.embed.serving.manifests import ROUTES, Answer, SignedSend, Signing
from pura.embed.serving.marker import PAYLOAD, PROFILE
from pura.provenance.writing import fresh_manifest
from pura.register.issue_log import IssueLog
from pura.register.rows import Issue
from pura.scheme import Payload, Profile, pack

VARIABLE: Final = "PURA_GATEWAY"
CUSTOMER: Final = "x-pura-customer"
# Where each engine reads a request's own arguments.
FIELDS: Final = {"vllm": "vllm_xargs", "sglang": "custom_params", "llama.cpp": "pura"}
_OPEN: Final = frozenset({"extra_body", *FIELDS.values()})  # what clients fill as they like
# What is posted and writes no text; everything else is marked or refused.
_NO_TEXT: Final = ("/tokenize", "/detokenize", "/embeddings", "/score", "/rerank", "/classify")
_MAX_POLICY: Final = 1 << 20
_MAX_BODY: Final = 1 << 26
_PATIENCE_S: Final = 10.0  # with other processes that take a number

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a gateway assigns.

    Attributes:
        deployment: The name of the engine's deployment.
        profile: Its profile; a payload is made of its fields, or of its bits.
        engine: One of :data:`FIELDS`.
        payload: For each field of the profile a constant, ``@customer``, ``@today`` or
            ``@number``, a number that is given once; for a profile without fields, the same
            under ``bits``.
        customers: By the name that a request's sender goes by: the number of ``@customer``.
        log: Folder of the rows that ``pura register import`` takes.
        required: Refuse who is no customer; else such a request goes on unmarked.
        signing: How a manifest is signed for each answer; None: for none.
    """

    deployment: str
    profile: Profile
    engine: str
    payload: Mapping[str, str | int]
    customers: Mapping[str, int]
    log: Path
    required: bool = True
    signing: Signing | None = None

    @classmethod
    def load(cls, path: Path) -> Policy:
        """Read a policy; the files that it names lie beside it.

        Raises:
            PuraError: It cannot be read or is no policy; the profile is none.
        """
        try:
            data = json.loads(read_bounded(path, _MAX_POLICY, GenerationError))
            known = {name: data[name] for name in ("deployment", "payload", "log")}
            profile = Profile.load(path.parent / str(data["profile"]))
            layer = data.get("manifest")
            found = cls(
                deployment=str(known["deployment"]),
                profile=profile,
                engine=str(data.get("engine", "vllm")),
                payload={str(k): v for k, v in known["payload"].items()},
                customers={str(k): int(v) for k, v in data.get("customers", {}).items()},
                log=path.parent / str(known["log"]),
                required=bool(data.get("required", True)),
                signing=layer and Signing.load(layer, path.parent, profile.fingerprint),
            )
            names = {field.name for field in found.profile.fields} or {"bits"}
            if found.engine not in FIELDS or found.payload.keys() != names:
                raise ValueError(found.engine)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise GenerationError("serving.file", name=path.name) from None
        return found


class Gateway:
    """Assigns payloads and writes them down; for all threads, and beside other processes.

    Args:
        policy: What to assign.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._log = IssueLog(policy.log)

    def ready(self, body: Mapping[str, Any], customer: str | None) -> dict[str, Any]:
        """Return a request as it goes on to the engine; see :meth:`issue`."""
        return self.issue(body, customer)[0]

    def issue(
        self, body: Mapping[str, Any], customer: str | None
    ) -> tuple[dict[str, Any], Answer | None]:
        """Return a request as it goes on to the engine; its row has been brought to disk.

        With it comes what signs the answer, where that is asked for.

        Args:
            body: The request, as the client sent it.
            customer: What its sender goes by, as whoever let it in says; None: nobody said.

        Raises:
            GenerationError: Nobody that the policy knows, where a mark is required; the numbers
                are used up; or several texts, which would share a payload, where answers are
                signed.
            PayloadError: A value does not fit into its field.
            RegisterError: The row cannot be written; the request must not go on.
        """
        clean = without_marks(body)
        number = None if customer is None else self.policy.customers.get(customer)
        if customer is None or number is None:
            if self.policy.required:
                raise GenerationError("gateway.customer")
            return clean, None
        signing = self.policy.signing
        if signing is not None:
            signing.refuse_several(body)
        today = dt.datetime.now(dt.UTC).date().isoformat()
        payload = self._payload(number, today)
        model = str(body.get("model", ""))[:80]
        issue = Issue(
            payload=payload,
            series=None,  # the engine alone knows its key; whoever imports the row names it
            who=customer,
            when=today,
            model=model,
            manifest="" if signing is None else fresh_manifest(),
        )
        self._log.add(issue)
        self._log.sync()
        field = FIELDS[self.policy.engine]
        own = clean.get(field)
        marks = {PAYLOAD: payload.hex, PROFILE: self.policy.deployment}
        clean[field] = (dict(own) if isinstance(own, Mapping) else {}) | marks
        return clean, None if signing is None else Answer(signing, issue)

    def _payload(self, customer: int, today: str) -> Payload:
        def value(given: str | int) -> str | int:
            match given:
                case "@customer":
                    return customer
                case "@today":
                    return today
                case "@number":
                    return self._number()
            return given

        values = {name: value(given) for name, given in self.policy.payload.items()}
        if self.policy.profile.fields:
            return pack(self.policy.profile.fields, values)
        return Payload.from_int(int(values["bits"]), self.policy.profile.payload_bits)

    def _number(self) -> int:
        """Return a number that no process of this folder has given or will give."""
        path = self.policy.log / "number"
        try:
            with file_lock(path.with_suffix(".lock"), _PATIENCE_S):
                number = int(path.read_text()) if path.exists() else 0
                write_atomic(path, f"{number + 1}\n".encode(), private=True)
        except (OSError, ValueError) as error:
            why = getattr(error, "errno", None) or 0
            raise RegisterError("file.write", name=path.name, why=why) from None
        return number

    def close(self) -> None:
        """Bring everything to disk."""
        self._log.close()


def without_marks(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request without the fields by which a client could choose its mark."""
    return {
        key: without_marks(value) if key in _OPEN and isinstance(value, Mapping) else value
        for key, value in body.items()
        if not key.startswith("pura_")
    }


@cache
def of_the_gateway() -> Gateway:
    """Return the gateway of the policy that ``PURA_GATEWAY`` names.

    Raises:
        PuraError: The variable is not set, or see :meth:`Policy.load`.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        raise GenerationError("serving.variable", name=VARIABLE)
    return Gateway(Policy.load(Path(named)))


class GatewayMiddleware:
    """The gateway around an ASGI application that talks to the engine, or is the engine's own.

    Who a request is from is what the header ``x-pura-customer`` says: whatever lets clients in
    sets it, and takes it out of what they send.

    Args:
        app: The application.
        gateway: None takes :func:`of_the_gateway`.
    """

    def __init__(self, app: Application, gateway: Gateway | None = None) -> None:
        self._app = app
        self._gateway = gateway or of_the_gateway()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; one that asks for text is marked, or answered with an error."""
        if scope["type"] == "websocket" and self._gateway.policy.required:
            await send({"type": "websocket.close"})  # what it would ask for is not looked into
            return
        asks = scope["type"] == "http" and scope["method"] == "POST"
        if not asks or scope["path"].endswith(_NO_TEXT):
            await self._app(scope, receive, send)
            return
        own = (CUSTOMER.encode(), b"content-length")
        names = [value for name, value in scope["headers"] if name == own[0]]
        # Two of them are the client's beside that of whoever let it in: nobody's word counts.
        customer = names[0].decode("latin-1") if len(names) == 1 else None
        try:
            body = json.loads(await _whole(receive))
            if self._gateway.policy.signing and not scope["path"].endswith(ROUTES):
                raise GenerationError("gateway.several", code="gateway-several")
            ready, answer = await asyncio.to_thread(self._gateway.issue, body, customer)
        except (PuraError, ValueError, AttributeError) as error:
            await _refuse(send, error)
            return
        data = json.dumps(ready).encode()
        dropped = {*own}
        if answer is not None:
            dropped.add(b"accept-encoding")  # what is packed cannot be signed
            send = SignedSend(send, answer)
        headers = [header for header in scope["headers"] if header[0] not in dropped]
        headers.append((b"content-length", b"%d" % len(data)))
        sent = False

        async def again() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": data, "more_body": False}

        await self._app({**scope, "headers": headers}, again, send)


async def _whole(receive: Receive) -> bytes:
    """Return the body of a request.

    Raises:
        ValueError: It is too long, or its client has gone.
    """
    data = b""
    while True:
        message = await receive()
        data += bytes(message.get("body", b""))
        if message["type"] != "http.request" or len(data) > _MAX_BODY:
            raise ValueError
        if not message.get("more_body"):
            return data


def status_of(error: PuraError) -> int:
    """Return HTTP's number for a request that must not go on."""
    if error.code == "gateway-several":
        return 400
    return 403 if isinstance(error, GenerationError) else 500


async def _refuse(send: Send, error: Exception) -> None:
    """Answer as OpenAI's interface does: 403 for who is unknown, 400 for what is no request."""
    status = 400
    if isinstance(error, PuraError):
        status = status_of(error)
    said = str(error) if isinstance(error, PuraError) else "The request is not a JSON object."
    body = json.dumps({"error": {"message": said, "type": "pura", "code": status}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
