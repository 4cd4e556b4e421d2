"""From a text to the manifest that was made with it: C2PA's Soft Binding Resolution."""

from __future__ import annotations

import base64
import binascii
import mimetypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect, Request

from pura.base.decoder import DecodeError, decode
from pura.base.errors import PayloadError, ServeError
from pura.base.files import read_bounded
from pura.base.json_text import read_json
from pura.record.answers import Role
from pura.scheme import Payload
from pura.serve import settings, shapes
from pura.serve.routes import (
    NOT_FOUND,
    PROBLEMS,
    asker_of,
    document_of,
    ended,
    service_of,
)
from pura.serve.settings import Asker
from pura.serve.shapes import RefusalError, answered

SCHEMA: Final = "pura-manifests/1"
MAX_BYTES: Final = 64 << 20
MAX_MANIFEST: Final = 16 << 20
_BYTE: Final = 8


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A C2PA manifest and the payload that leads to it.

    Attributes:
        payload: Characters 0 and 1.
        manifest: Its identifier.
        endpoint: Address of the interface that has it; empty: this one, from ``file``.
        file: The manifest store, beside the index; empty: an endpoint has it.
    """

    payload: str
    manifest: str
    endpoint: str = ""
    file: str = ""

    @property
    def value(self) -> str:
        """The value of the soft binding."""
        return binding(self.payload)


@dataclass(frozen=True, kw_only=True)
class Manifests:
    """The index of manifests.

    Attributes:
        schema: :data:`SCHEMA`.
        alg: The name of this detector's soft binding, as C2PA's list of algorithms has it.
        manifests: See there.
        folder: Where the files are.
    """

    schema: str
    alg: str
    manifests: tuple[Manifest, ...]
    folder: str = ""

    @classmethod
    def read(cls, path: Path) -> Manifests:
        """Read an index.

        Raises:
            ServeError: It is none, or names a file that is not there.
        """
        data = read_bounded(path, MAX_BYTES, ServeError)
        try:
            raw = read_json(data)
            if isinstance(raw, dict):
                raw["folder"] = str(path.parent.resolve())
            found = decode(cls, raw, sparse=True)
            where = _amiss(found)
        except DecodeError as error:
            where = error.where or "manifests"
        except ValueError:
            where = "JSON"
        if where:
            raise ServeError("serve.manifests", name=path.name, where=where, code="usage")
        return found

    def of(self, payloads: Iterable[str]) -> tuple[Manifest, ...]:
        """Return the manifests of payloads, each once, in their order."""
        each = (self._by.get(payload, ()) for payload in dict.fromkeys(payloads))
        return tuple(chain.from_iterable(each))

    def bound(self, value: str) -> tuple[Manifest, ...]:
        """Return the manifests of a soft binding's value.

        Raises:
            ValueError: It is no base64.
        """
        try:
            wanted = base64.b64encode(base64.b64decode(value, validate=True)).decode()
        except binascii.Error:
            raise ValueError("base64") from None
        return self._bound.get(wanted, ())

    def store(self, identifier: str) -> bytes | None:
        """Return a manifest store that is held here; None where it is not.

        Raises:
            ServeError: Its file cannot be read, or is too large.
        """
        for one in self.manifests:
            if one.manifest == identifier and one.file:
                return read_bounded(Path(self.folder) / one.file, MAX_MANIFEST, ServeError)
        return None

    @cached_property
    def _by(self) -> dict[str, tuple[Manifest, ...]]:
        return _grouped((one.payload, one) for one in self.manifests)

    @cached_property
    def _bound(self) -> dict[str, tuple[Manifest, ...]]:
        return _grouped((one.value, one) for one in self.manifests)


def binding(payload: str) -> str:
    """Return a payload as the value of a soft binding."""
    size = -(-len(payload) // _BYTE)
    return base64.b64encode(int(payload, 2).to_bytes(size, "big")).decode()


def _grouped(pairs: Iterable[tuple[str, Manifest]]) -> dict[str, tuple[Manifest, ...]]:
    found: dict[str, tuple[Manifest, ...]] = {}
    for name, one in pairs:
        found[name] = (*found.get(name, ()), one)
    return found


def _amiss(index: Manifests) -> str:
    """Return the place of what is wrong; empty where nothing is."""
    if index.schema != SCHEMA:
        return "schema"
    if not index.alg:
        return "alg"
    folder = Path(index.folder)
    for place, one in enumerate(index.manifests):
        try:
            Payload(text=one.payload)
        except PayloadError:
            return f"manifests[{place}].payload"
        if not one.manifest:
            return f"manifests[{place}].manifest"
        if bool(one.file) is bool(one.endpoint):
            return f"manifests[{place}].file"
        there = (folder / one.file).resolve()
        if one.file and not (there.is_relative_to(folder) and there.is_file()):
            return f"manifests[{place}].file"
    return ""


MEDIA: Final = "application/c2pa"
_TEXTS: Final = ("text", "application")
_GONE: Final = 204
_STRONGEST: Final = 100
_MOST_RESULTS: Final = 1000
_ANSWERS: Final = PROBLEMS | NOT_FOUND
_MATCHES: Final[dict[int | str, dict[str, Any]]] = {200: answered("Matches"), **_ANSWERS}

router = APIRouter(prefix="/v1/softbinding", tags=["soft binding"])

MostResults = Annotated[int, Query(alias="maxResults", ge=1)]


@router.get("/services/supportedAlgorithms", responses={200: answered("SoftBindings"), **NOT_FOUND})
async def supported(request: Request) -> JSONResponse:
    """Say which soft bindings are looked up."""
    return JSONResponse({"watermarks": [{"alg": _manifests(request).alg}], "fingerprints": []})


@router.get("/matches/byBinding", responses=_MATCHES)
async def by_binding(
    request: Request,
    value: str,
    alg: str,
    maxResults: MostResults = 10,
) -> JSONResponse:
    """Find manifests by the value of a soft binding."""
    return _looked_up(request, alg, value, maxResults)


@router.post("/matches/byBinding", responses=_MATCHES)
async def by_large_binding(
    request: Request,
    asked: shapes.SoftBinding,
    maxResults: MostResults = 10,
) -> JSONResponse:
    """Find manifests by the value of a soft binding, which is in the body."""
    return _looked_up(request, asked.alg, asked.value, maxResults)


@router.post(
    "/matches/byContent",
    responses=_MATCHES,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"text/*": {}, "application/*": {}},  # bytes have no schema
        }
    },
)
async def by_content(
    request: Request,
    alg: str = "",
    maxResults: MostResults = 10,
) -> Response:
    """Find manifests by what the marks of a text carry; waits until it is read."""
    service, asker, manifests = service_of(request), _entitled(request), _manifests(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.partition("/")[0] not in _TEXTS:
        raise RefusalError("serve.media", code="serve-media")
    service.admit(asker)
    try:
        data = await request.body()
    except ClientDisconnect:
        return Response(status_code=_GONE)
    name = f"asset{mimetypes.guess_extension(kind) or ''}"
    document = await document_of(request, asker, data, name)
    check = await service.ask(asker, document)
    if not await ended(request, check, within_s=None):
        return Response(status_code=_GONE)
    service.drop(check)
    if check.error is not None:
        raise check.error
    assert check.answer is not None  # it has ended
    known = alg in ("", manifests.alg)
    found = manifests.of(check.answer.payloads) if known else ()
    return _matches(found, maxResults)


@router.get("/manifests/{manifestId}", responses={200: {"content": {MEDIA: {}}}, **_ANSWERS})
async def manifest(
    request: Request,
    manifestId: str,
    returnActiveManifest: bool = False,
) -> Response:
    """Return a manifest store that is held here."""
    _entitled(request)
    found = _manifests(request).store(manifestId)
    if found is None or returnActiveManifest:  # a store is handed out whole, and never opened
        raise RefusalError("serve.unknown", code="serve-unknown")
    return Response(found, media_type=MEDIA)


def _looked_up(request: Request, alg: str, value: str, most: int) -> JSONResponse:
    manifests, asker = _manifests(request), _entitled(request)
    service_of(request).spend(asker, settings.LOOK_UP)
    try:
        found = manifests.bound(value) if alg == manifests.alg else ()
    except ValueError:
        raise RefusalError("serve.request", field="value", code="serve-request") from None
    return _matches(found, most)


def _matches(found: Sequence[Manifest], most: int) -> JSONResponse:
    shown: list[dict[str, Any]] = [
        {"manifestId": one.manifest, "similarityScore": _STRONGEST}
        | ({"endpoint": one.endpoint} if one.endpoint else {})
        for one in found[: min(most, _MOST_RESULTS)]
    ]
    return JSONResponse({"matches": shown})


def _manifests(request: Request) -> Manifests:
    found: Manifests | None = request.app.state.manifests
    if found is None:
        raise RefusalError("serve.unknown", code="serve-unknown")
    return found


def _entitled(request: Request) -> Asker:
    asker = asker_of(request)
    if asker.role is Role.PUBLIC:
        raise RefusalError("serve.role", code="serve-role")
    return asker
