"""From a text to the manifest that was made with it: C2PA's Soft Binding Resolution.

The interface is that of :data:`VERSION`.
"""

from __future__ import annotations

import mimetypes
from collections import Counter
from typing import Annotated, Any, Final

from anyio import to_thread
from fastapi import APIRouter, Query, Response
from fastapi import Path as PathParameter
from fastapi.responses import JSONResponse
from starlette.requests import ClientDisconnect, Request

from pura.documents import characters
from pura.documents.manifests import verified_store
from pura.provenance.binding import (
    BindingValue,
    binding_values,
    bits_apart,
    text_fingerprint,
)
from pura.provenance.jumbf import Active, active
from pura.record.answers import Role
from pura.record.provenance import UNTRUSTED, VALID
from pura.serve import settings, shapes
from pura.serve.grants import admitted
from pura.serve.manifests import (
    MOST_PUBLISHED,
    SIGNED,
    TRUSTED,
    UNVERIFIED,
    Match,
    Repository,
)
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

VERSION: Final = "2.4.0"
"""Of the interface, as in C2PA 2.5; 2.3.0, as in C2PA 2.4, has the same addresses, and fewer."""
MEDIA: Final = "application/c2pa"
BASES: Final = ("/v1", "/v1/softbinding")
"""Where the interface is, and where it was in 0.3."""
_STORES: Final = "/stores"
"""Below it, each store has an address of its own where publishers share an identifier."""
_MOST_NUMBER: Final = (1 << 63) - 1
"""Of a row of SQLite."""
_TEXTS: Final = ("text", "application")
_GONE: Final = 204
_STRONGEST: Final = 100
_MOST_RESULTS: Final = 1000
_ANSWERS: Final = PROBLEMS | NOT_FOUND
_MATCHES: Final[dict[int | str, dict[str, Any]]] = {200: answered("Matches"), **_ANSWERS}
_READS: Final = (Role.PUBLIC, Role.TRUSTED, Role.INTERNAL)
"""Who has texts read; the public where the operator says so."""
_LOOKS: Final = (*_READS, Role.PUBLISHER)

router = APIRouter(tags=["soft binding"])
discovery = APIRouter(tags=["soft binding"])

MostResults = Annotated[int, Query(alias="maxResults", ge=1)]
Algorithm = Annotated[str, Query(max_length=200)]
Value = Annotated[str, Query(max_length=2000)]


@discovery.get(
    "/.well-known/c2pa-soft-binding-resolution",
    responses={200: answered("Discovery"), **NOT_FOUND},
)
async def discover(request: Request) -> JSONResponse:
    """Say where the interface is."""
    _repository(request)
    return JSONResponse(
        {
            "apiEndpoint": BASES[0],
            "c2paSpecificationVersion": VERSION,
            "capabilitiesEndpoint": f"{BASES[0]}/services/capabilities",
            "statusEndpoint": f"{BASES[0]}/services/status",
        }
    )


@router.get("/services/capabilities", responses={200: answered("Capabilities"), **NOT_FOUND})
async def capabilities(request: Request) -> JSONResponse:
    """Say what of the interface there is."""
    _repository(request)
    offered = ["queryByContent", "storeManifests", "storeBindings"]
    return JSONResponse({"c2paSpecificationVersion": VERSION, "supportedCapabilities": offered})


@router.get("/services/status", responses={200: answered("Status"), **NOT_FOUND})
async def status(request: Request) -> JSONResponse:
    """Say whether questions are taken."""
    _repository(request)
    return JSONResponse({"status": "ok" if service_of(request).ready else "degraded"})


@router.get("/services/supportedAlgorithms", responses={200: answered("SoftBindings"), **NOT_FOUND})
async def supported(request: Request) -> JSONResponse:
    """Say which soft bindings are looked up."""
    _repository(request)
    return JSONResponse({"watermarks": [{"alg": _algorithm(request)}], "fingerprints": []})


@router.get("/matches/byBinding", responses=_MATCHES)
async def by_binding(
    request: Request,
    value: Value,
    alg: Algorithm,
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
    alg: Algorithm = "",
    maxResults: MostResults = 10,
    hintAlg: Algorithm = "",
    hintValue: Value = "",
) -> Response:
    """Find manifests by what the marks of a text carry; waits until it is read.

    A hint finds nothing more: of several manifests, those come first to which its value leads.
    """
    repository, asker = _repository(request), _entitled(request, *_READS)
    service, name = service_of(request), _algorithm(request)
    if (hintAlg or hintValue) and hintAlg != name:
        raise RefusalError("serve.hint", name=name, code="serve-request")
    hinted = _said(hintValue, "hintValue") if hintValue else ()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.partition("/")[0] not in _TEXTS:
        raise RefusalError("serve.media", code="serve-media")
    service.admit(asker)
    try:
        data = await request.body()
    except ClientDisconnect:
        return Response(status_code=_GONE)
    ending = mimetypes.guess_extension(kind) or ""
    document = await document_of(request, asker, data, f"asset{ending}")
    check = await service.ask(asker, document)
    there = await ended(request, check, within_s=None)
    service.drop(check)
    if not there:
        return Response(status_code=_GONE)
    if check.error is not None:
        raise check.error
    assert check.answer is not None  # it has ended
    marks = check.answer.marks if alg in ("", name) else ()
    found = repository.bound_to_marks(marks, _MOST_RESULTS)
    preferred = {*repository.bound_to_values(hinted, _MOST_RESULTS)} if hinted else set()
    of = ""
    if any(one.fingerprint for one in found):
        of = await to_thread.run_sync(text_fingerprint, characters.cut(document.text).text)
    scored = [(one, _score(one, of)) for one in found]
    return _matches(request, _in_turns(scored, preferred), maxResults)


@router.post("/matches/byReference", responses=_MATCHES)
async def by_reference(request: Request) -> JSONResponse:
    """Refuse: this service fetches nothing from addresses."""
    _repository(request)
    raise RefusalError("serve.reference", code="serve-reference")


@router.get(
    "/manifests/{activeManifestId}",
    response_class=Response,  # else JSON would be said to be answered as well
    responses={200: {"content": {MEDIA: {}}}, **_ANSWERS},
)
async def manifest(
    request: Request,
    activeManifestId: str,
    returnActiveManifest: bool = False,
) -> Response:
    """Return a manifest store that is held here, or its active manifest alone."""
    return await _fetched(request, activeManifestId, alone=returnActiveManifest)


@router.get(
    f"{_STORES}/{{number}}/manifests/{{activeManifestId}}",
    response_class=Response,
    responses={200: {"content": {MEDIA: {}}}, **_ANSWERS},
)
async def shared_manifest(
    request: Request,
    number: Annotated[int, PathParameter(ge=1, le=_MOST_NUMBER)],
    activeManifestId: str,
    returnActiveManifest: bool = False,
) -> Response:
    """Return one of several manifest stores that publishers hold under the same identifier."""
    return await _fetched(request, activeManifestId, alone=returnActiveManifest, shared=number)


@router.post(
    "/manifests",
    responses={200: answered("Published"), **_ANSWERS},
    openapi_extra={"requestBody": {"required": True, "content": {MEDIA: {}}}},
)
async def publish(
    request: Request,
    returnReceipt: bool = False,  # which is as it likes: none are made here
) -> Response:
    """Keep a manifest store; its active manifest is found by what is bound to it.

    Its signature is verified: only then does what it says of a text's fingerprint count.
    """
    repository, asker = _repository(request), _entitled(request, Role.PUBLISHER)
    _pay(request, asker, "publish")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != MEDIA:
        raise RefusalError("serve.manifest", code="serve-media")
    try:
        store = await request.body()
    except ClientDisconnect:
        return Response(status_code=_GONE)
    if len(store) > MOST_PUBLISHED:
        raise RefusalError("serve.large", most=MOST_PUBLISHED >> 20, code="serve-large")
    made = await to_thread.run_sync(_opened, store)
    trust = request.app.state.trust
    facts = await to_thread.run_sync(verified_store, store, trust)
    rank = {VALID: TRUSTED, UNTRUSTED: SIGNED}.get(facts.state, UNVERIFIED)
    # Anybody can sign in any name: where the operator keeps a list, only its signers count.
    relied_on = rank == TRUSTED or (rank == SIGNED and not trust)
    fingerprint = facts.fingerprint if relied_on else ""
    repository.add(asker.name, made.identifier, store, fingerprint=fingerprint, rank=rank)
    return JSONResponse({"manifestId": made.identifier})


@router.delete("/manifests/{activeManifestId}", status_code=_GONE, responses=_ANSWERS)
async def remove(request: Request, activeManifestId: str) -> Response:
    """Forget a manifest store, and what leads to it."""
    repository, asker = _repository(request), _entitled(request, Role.PUBLISHER)
    _pay(request, asker, "delete")
    if not repository.remove(asker.name, activeManifestId):
        raise RefusalError("serve.unpublished", code="serve-unknown")
    return Response(status_code=_GONE)


@router.post("/bindings", status_code=_GONE, responses=_ANSWERS)
async def bind(request: Request, binding: shapes.Binding) -> Response:
    """Have a value lead to a manifest, beside others."""
    return _bind(request, binding, anew=False)


@router.put("/bindings", status_code=_GONE, responses=_ANSWERS)
async def rebind(request: Request, binding: shapes.Binding) -> Response:
    """Have a value lead to a manifest, in place of others of this publisher."""
    return _bind(request, binding, anew=True)


def _bind(request: Request, binding: shapes.Binding, *, anew: bool) -> Response:
    repository, asker = _repository(request), _entitled(request, Role.PUBLISHER)
    _pay(request, asker, "bind")
    value = _said(binding.value, "bindingValue")[0]
    if not value.profile:
        raise RefusalError("serve.binding", code="serve-request")
    if not admitted(request.app.state.tokens.grants_of(asker.name), value):
        raise RefusalError("serve.not-granted", code="serve-role")
    if not repository.bind(asker.name, value, binding.manifest, anew=anew):
        raise RefusalError("serve.unpublished", code="serve-unknown")
    return Response(status_code=_GONE)


async def _fetched(request: Request, identifier: str, *, alone: bool, shared: int = 0) -> Response:
    """Return a manifest store, or its active manifest alone."""
    repository, asker = _repository(request), _entitled(request, *_LOOKS)
    _pay(request, asker, "fetch")
    store = repository.store(identifier, asker=_publisher(asker), shared=shared)
    if store is None:
        raise RefusalError("serve.unknown", code="serve-unknown")
    if alone:
        store = (await to_thread.run_sync(_opened, store)).alone
    return Response(store, media_type=MEDIA)


def _publisher(asker: Asker) -> str | None:
    """Return the name of a publisher that asks; None of anybody else."""
    return asker.name if asker.role is Role.PUBLISHER else None


def _looked_up(request: Request, alg: str, value: str, most: int) -> JSONResponse:
    repository, asker = _repository(request), _entitled(request, *_LOOKS)
    _pay(request, asker, "look up")
    said = _said(value, "value")
    known = alg == _algorithm(request)
    found = (
        repository.bound_to_values(said, _MOST_RESULTS, asker=_publisher(asker)) if known else []
    )
    return _matches(request, [(one, None) for one in found], most)


def _pay(request: Request, asker: Asker, what: str) -> None:
    """Pay for a look-up, or for what is published, and count it."""
    service = service_of(request)
    service.spend(asker, settings.LOOK_UP)
    service.metrics.manifests.labels(asker.role.value, what).inc()


def _said(value: str, field: str) -> tuple[BindingValue, ...]:
    """Return what a value says.

    Raises:
        RefusalError: It is no base64.
    """
    try:
        return binding_values(value)
    except ValueError:
        raise RefusalError("serve.request", field=field, code="serve-request") from None


def _opened(store: bytes) -> Active:
    try:
        return active(store)
    except ValueError:
        raise RefusalError("serve.manifest", code="serve-request") from None


def _in_turns(
    scored: list[tuple[Match, int | None]], preferred: set[Match]
) -> list[tuple[Match, int | None]]:
    """Sort matches: those that a hint names, then the likest of each publisher, then its next.

    However many manifests one publisher has for a value, they leave room for everybody else's.
    """
    likest = sorted(scored, key=lambda one: (one[0] not in preferred, -(one[1] or 0)))
    turns: Counter[str] = Counter()
    ranked: list[tuple[tuple[bool, int, int], tuple[Match, int | None]]] = []
    for match, score in likest:
        named = match in preferred
        ranked.append(((not named, turns[match.publisher], -(score or 0)), (match, score)))
        turns[match.publisher] += not named
    return [one for _, one in sorted(ranked, key=lambda one: one[0])]


def _score(match: Match, of: str) -> int | None:
    """Return how like a text the one is that a manifest was made for; None where nobody says so.

    Only a manifest whose signature was verified says so.

    One less than 100 for each bit in which their fingerprints differ, and never less than 0: about
    101 bits lie between texts that have nothing to do with each other.
    """
    if not (of and match.fingerprint):
        return None
    return max(0, _STRONGEST - bits_apart(of, match.fingerprint))


def _matches(request: Request, found: list[tuple[Match, int | None]], most: int) -> JSONResponse:
    shown: list[dict[str, Any]] = []
    for match, score in found[:most]:
        endpoint = match.endpoint
        if match.shared:  # by its identifier alone another publisher's might be fetched
            base = str(request.base_url).rstrip("/")
            endpoint = f"{base}{BASES[0]}{_STORES}/{match.shared}"
        shown.append(
            {"manifestId": match.manifest}
            | ({"endpoint": endpoint} if endpoint else {})
            | ({} if score is None else {"similarityScore": score})
        )
    return JSONResponse({"matches": shown})


def _repository(request: Request) -> Repository:
    found: Repository | None = request.app.state.repository
    if found is None:
        raise RefusalError("serve.unknown", code="serve-unknown")
    return found


def _algorithm(request: Request) -> str:
    return service_of(request).settings.soft_binding


def _entitled(request: Request, *roles: Role) -> Asker:
    asker = asker_of(request)
    opened = Role.PUBLIC in roles and service_of(request).settings.public_lookups
    if asker.role not in roles or (asker.role is Role.PUBLIC and not opened):
        raise RefusalError("serve.role", code="serve-role")
    return asker
