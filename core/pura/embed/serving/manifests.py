"""Both layers in one go: the manifest of an answer that the gateway had marked.

The payload and the manifest's identifier are drawn before, and are in one row of the log; the
manifest is made when the text has ended, since it is bound to all of it. It is kept as a file of
its own in any case, written before the end of the answer leaves; with ``"embed": "a8"`` it is also
the end of the text, of a streamed one in its last piece.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pura.base.errors import GenerationError, PuraError, SigningError, os_error_as
from pura.base.files import make_private, read_bounded, write_atomic
from pura.base.identity import MAX_FILE_BYTES, Identity, check_time, load_identity
from pura.provenance.writing import DETACHED, WRAPPER, check_ready, sign_manifest
from pura.register.rows import Issue

MANIFEST: Final = b"x-pura-manifest"
ROUTES: Final = ("/completions",)  # whose answers are understood, those of chats among them
_EVENT: Final = b"\n\n"
_OK: Final = 200
_JSON, _STREAM = b"application/json", b"text/event-stream"

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Signing:
    """How answers are signed.

    Attributes:
        identity: Who signs.
        soft_binding: The mark's name in C2PA's list of algorithms.
        form: ``a8``, at the end of the text; or ``none``, beside it only.
        folder: Where manifests are kept.
        timestamp: Address of a time-stamp authority (RFC 3161); None: the network is not used.
        profile: Fingerprint of the profile that answers are marked with.
    """

    identity: Identity
    soft_binding: str
    form: str
    folder: Path
    timestamp: str | None
    profile: str

    @classmethod
    def load(cls, data: Mapping[str, Any], folder: Path, profile: str) -> Signing:
        """Read the part ``manifest`` of a policy; the files that it names lie beside it.

        Raises:
            PuraError: A file cannot be read, or the certificate is not fit for manifests.
            ValueError: It is no such part.
        """
        known = {"certificate", "key", "passphrase_file", "soft_binding", "embed", "folder"}
        form = data.get("embed", DETACHED)
        if set(data) - known - {"timestamp"} or form not in (WRAPPER, DETACHED):
            raise ValueError(form)

        def read(name: str) -> bytes | None:
            given = data.get(name)
            path = folder / str(given)
            return None if given is None else read_bounded(path, MAX_FILE_BYTES, SigningError)

        words = (read("passphrase_file") or b"").splitlines()
        found = cls(
            identity=load_identity(
                read("certificate") or b"",
                words[0] if words else None,
                now=datetime.now(UTC),
                key=read("key"),
            ),
            soft_binding=str(data["soft_binding"]),
            form=form,
            folder=folder / str(data["folder"]),
            timestamp=data.get("timestamp"),
            profile=profile,
        )
        check_ready(found.identity, found.soft_binding)
        make_private(found.folder)
        return found

    def refuse_several(self, body: Mapping[str, Any]) -> None:
        """Refuse a request for several texts: they would share a payload, but not a manifest.

        Raises:
            GenerationError: It asks for several.
        """
        prompt = body.get("prompt")
        lists = isinstance(prompt, list) and len(prompt) > 1 and not isinstance(prompt[0], int)
        if lists or any(body.get(name) not in (None, 1) for name in ("n", "best_of")):
            raise GenerationError("gateway.several", code="gateway-several")

    def sign(self, text: str, issue: Issue) -> str:
        """Sign a text; returns it as it is answered, once its manifest is on disk.

        Raises:
            PuraError: It cannot be signed, or the manifest cannot be written.
        """
        check_time(self.identity.certificate, datetime.now(UTC))
        made = sign_manifest(
            text,
            self.identity,
            payload=issue.payload.text,
            profile=self.profile,
            soft_binding=self.soft_binding,
            form=self.form,
            manifest=issue.manifest,
            timestamp=self.timestamp,
        )
        path = self.folder / f"{issue.manifest.rpartition(':')[2]}.c2pa"
        with os_error_as(SigningError, "file.write", name=path.name):
            write_atomic(path, made.store, private=True)
        return made.text


class Answer:
    """One answer, signed when it has ended.

    Args:
        signing: How.
        issue: The row of its payload, with its manifest.
    """

    def __init__(self, signing: Signing, issue: Issue) -> None:
        self.manifest = issue.manifest
        self._signing, self._issue, self._text = signing, issue, ""

    async def piece(self, text: str | None, *, last: bool) -> str | None:
        """Return a piece as it is sent: as it is, and the last one with what comes after it.

        Raises:
            PuraError: See :meth:`Signing.sign`.
        """
        self._text += text or ""
        if not last or not self._text:
            return text
        whole = await asyncio.to_thread(self._signing.sign, self._text, self._issue)
        return (text or "") + whole[len(self._text) :]

    async def choices(self, body: Any) -> None:
        """Bring the choice of a whole answer, or of a streamed part, to what is sent."""
        for choice in body.get("choices") or ():
            holder = choice.get("message", choice.get("delta", choice))
            name = "text" if holder is choice else "content"
            last = "message" in choice or bool(choice.get("finish_reason"))
            sent = await self.piece(holder.get(name), last=last)
            if sent is not None:
                holder[name] = sent


class SignedSend:
    """Passes an answer of an ASGI application on, with its manifest.

    The manifest's identifier is in the header ``x-pura-manifest``.

    Args:
        send: What takes the messages.
        answer: The answer.
    """

    def __init__(self, send: Send, answer: Answer) -> None:
        self._send, self._answer = send, answer
        self._header = (MANIFEST, answer.manifest.encode())
        self._start: Message = {}
        self._kind, self._data = b"", b""

    async def __call__(self, message: Message) -> None:
        """Take one message of the application."""
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            self._kind = kind if message["status"] == _OK else b""
            self._start = message
            if self._kind == _STREAM:
                message["headers"] = [*message["headers"], self._header]
            if self._kind != _JSON:
                await self._send(message)
        elif message["type"] == "http.response.body" and self._kind == _STREAM:
            await self._stream(message)
        elif message["type"] == "http.response.body" and self._kind == _JSON:
            await self._whole(message)
        else:
            await self._send(message)

    async def _whole(self, message: Message) -> None:
        self._data += message.get("body", b"")
        if message.get("more_body"):
            return
        try:
            body = json.loads(self._data)
            await self._answer.choices(body)
        except PuraError as error:
            self._start["status"], body = 500, _error(error)
        data = json.dumps(body).encode()
        kept = [one for one in self._start["headers"] if one[0] != b"content-length"]
        length = (b"content-length", b"%d" % len(data))
        await self._send({**self._start, "headers": [*kept, length, self._header]})
        await self._send({"type": "http.response.body", "body": data})

    async def _stream(self, message: Message) -> None:
        self._data = (self._data + message.get("body", b"")).replace(b"\r\n", b"\n")
        *events, self._data = self._data.split(_EVENT)
        if not message.get("more_body"):
            events, self._data = [*events, *filter(None, [self._data])], b""
        done = b"".join([await self._event(event) + _EVENT for event in events])
        if done or not message.get("more_body"):
            await self._send({**message, "body": done})

    async def _event(self, event: bytes) -> bytes:
        start, _, data = event.partition(b"data:")
        if not data or data.strip() == b"[DONE]":
            return event
        body = json.loads(data)
        try:
            await self._answer.choices(body)
        except PuraError as error:  # the text has left already
            body = _error(error)
        return start + b"data: " + json.dumps(body).encode()


def _error(error: PuraError) -> dict[str, Any]:
    return {"error": {"message": str(error), "type": "pura", "code": 500}}
