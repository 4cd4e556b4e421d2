"""The addresses: checks, the detector, what operators look at, and the page for people.

The page is made here and works without script; with script a file can be dropped, and waiting needs
no reload. Nothing of what is asked stands in an address.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from typing import Any, Final

import jinja2
from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from pura.base.catalogue import quoted
from pura.base.decoder import decode
from pura.base.errors import InputError, PuraError
from pura.base.json_text import read_json
from pura.base.paths import resource
from pura.documents import (
    Document,
    Extraction,
    ReadOptions,
    choose,
    endings,
    from_text,
    read_data,
)
from pura.documents.formats import over
from pura.record import answers
from pura.record.answers import Role
from pura.serve import shapes
from pura.serve.reader import Kept
from pura.serve.service import DONE, WAITING, Check, Service, address_of
from pura.serve.settings import CHECK_TOKENS, Asker, most_answered
from pura.serve.shapes import MEDIA, RefusalError, answered, details, language_of
from pura.usecases.environment import Environment
from pura.version import __version__

_FIELDS: Final = 3
_FIELD_BYTES: Final = 1000
_PROBLEM: Final = answered("Problem", "What went wrong.", MEDIA)
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = dict.fromkeys(
    (400, 401, 403, 408, 413, 415, 421, 422, 429, 503, 507), _PROBLEM
)
NOT_FOUND: Final[dict[int | str, dict[str, Any]]] = dict.fromkeys((401, 404, 421), _PROBLEM)
_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Question"}},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "contentMediaType": "application/octet-stream",
                            "description": "A file of any format that is read.",
                        },
                        "part": {
                            "type": "string",
                            "description": "Which of several texts of the file.",
                        },
                        "case": {"type": "string", "description": "As of a text."},
                    },
                }
            },
        },
    }
}

router = APIRouter()


class InMemory(MultiPartParser):
    """Files of a form stay in memory: none is ever written to disk."""

    spool_max_size = 1 << 40


def service_of(request: Request) -> Service:
    """Return the service that a request is for."""
    found: Service = request.app.state.service
    return found


def asker_of(request: Request) -> Asker:
    """Return who asks."""
    authorization = request.headers.get("authorization")
    return service_of(request).asker(authorization, address_of(request))


async def ended(request: Request, check: Check, *, within_s: float | None) -> bool:
    """Wait for an answer.

    Args:
        request: Of the asker; its body has been read.
        check: What is asked.
        within_s: So many seconds at most; None: until it is there.

    Returns:
        False where nobody is there any more.
    """
    answer = asyncio.ensure_future(check.ended.wait())
    comes = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((answer, comes), timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        answer.cancel()
        comes.cancel()
    gone = comes.done() and comes.result()["type"] == "http.disconnect"
    return check.ended.is_set() or not gone


async def document_of(
    request: Request, asker: Asker, data: bytes, name: str, part: str = ""
) -> Document:
    """Read a file in the sandbox and return its one text.

    Raises:
        InputError: It cannot be read, or holds several texts of which none was named.
        RefusalError: A budget cannot pay.
    """
    service = service_of(request)
    most = service.settings.limits.parser_s[asker.role]

    def read() -> Extraction:
        until = time.monotonic() + most

        def in_time() -> None:
            if time.monotonic() > until:
                raise over("limit.time", seconds=f"{most:g}")

        options = ReadOptions(trust=service.trust, leave_out=service.leave_out)
        return read_data(data, name=name, options=options, heartbeat=in_time)

    extraction = await service.parsed(asker, len(data), read)
    found = choose(extraction, (part,) if part else ())
    if len(found) != 1:
        shown = quoted([one.part for one in found], most=12)
        raise InputError("input.part", shown=shown, code="input-part")
    return found[0]


@router.post(
    "/v1/checks",
    responses={200: answered("Check"), 202: answered("Check", "It is read later."), **PROBLEMS},
    openapi_extra=_BODY,
    tags=["checks"],
)
async def ask(request: Request) -> Response:
    """Ask whether a text is marked; the answer comes now, or later under the id."""
    service, asker = service_of(request), asker_of(request)
    service.admit(asker)
    try:
        document, case = await _asked(request, asker)
    except ClientDisconnect:
        return Response(status_code=HTTPStatus.NO_CONTENT)  # nobody is there to read it
    keep = None if case is None else _keeping(request, asker, case)
    check = await service.ask(asker, document, keep=keep)
    if not await ended(request, check, within_s=service.settings.limits.at_once_s):
        service.drop(check)
        return Response(status_code=HTTPStatus.NO_CONTENT)
    status = HTTPStatus.ACCEPTED if check.state == WAITING else HTTPStatus.OK
    return _shown(request, check, status, {"Location": f"/v1/checks/{check.id}"})


@router.get(
    "/v1/checks/{identifier}",
    responses={200: answered("Check"), **NOT_FOUND},
    tags=["checks"],
)
async def look(request: Request, identifier: str) -> Response:
    """Fetch the answer of a check; who has a token is told of one that comes soon."""
    service, asker = service_of(request), asker_of(request)
    check = service.check(asker, identifier)
    await request.body()
    soon = service.settings.limits.at_once_s if asker.reserved else 0.0
    if not await ended(request, check, within_s=soon):
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return _shown(request, check, HTTPStatus.OK, {})


@router.delete(
    "/v1/checks/{identifier}",
    status_code=HTTPStatus.NO_CONTENT,
    responses=NOT_FOUND,
    tags=["checks"],
)
async def drop(request: Request, identifier: str) -> Response:
    """Forget a check; one that is not read yet is read no more."""
    service = service_of(request)
    service.drop(service.check(asker_of(request), identifier))
    return Response(status_code=HTTPStatus.NO_CONTENT)


@router.get("/v1/detector", responses={200: answered("Detector")}, tags=["detector"])
async def detector(request: Request) -> JSONResponse:
    """Say what is detected, what an answer means, and what holds of false findings."""
    language = language_of(request)
    shown = described(service_of(request), language, request.app.state.public_key)
    return JSONResponse(shown, headers={"Content-Language": language, "Vary": "Accept-Language"})


@router.get("/healthz", response_class=PlainTextResponse, tags=["operation"])
async def healthz() -> str:
    """Whether the process answers."""
    return "ok"


@router.get(
    "/readyz",
    response_class=PlainTextResponse,
    responses={503: {"content": {"text/plain": {}}}},
    tags=["operation"],
)
async def readyz(request: Request) -> PlainTextResponse:
    """Whether checks are taken: the model is loaded, the disk has room, and it does not end."""
    service = service_of(request)
    if service.ready:
        return PlainTextResponse("ready")
    why = "draining" if service.draining else "disk"
    return PlainTextResponse(why, status_code=HTTPStatus.SERVICE_UNAVAILABLE)


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses={401: _PROBLEM, 403: _PROBLEM},
    tags=["operation"],
)
async def metrics(request: Request) -> Response:
    """Counters for Prometheus; for internal askers."""
    if asker_of(request).role is not Role.INTERNAL:
        raise RefusalError("serve.role", code="serve-role")
    return Response(service_of(request).metrics.text(), media_type=CONTENT_TYPE_LATEST)


def described(service: Service, language: str, public_key: str) -> dict[str, Any]:
    """Return what there is to know of the detector, in a language."""
    settings, policy = service.settings, service.policy
    protection, limits = settings.protection, settings.limits
    one = 10.0**-service.threshold
    questions = None
    if protection.per_day_public and protection.least_tokens:
        most = most_answered(protection.per_day_public, protection.least_tokens)
        questions = math.floor(most)
    return {
        "name": settings.name or "PURA",
        "version": __version__,
        "contact": settings.contact,
        "detects": answers.say("detects", language),
        "least_tokens": protection.least_tokens,
        "languages": list(settings.languages),
        "formats": list(endings()),
        "answers": {
            name: {
                "headline": answers.say(f"answer.{name}", language),
                "meaning": answers.say(f"answer.{name}-means", language),
            }
            for name in (answers.MARKED, answers.NO_STATEMENT)
        },
        "anyone": settings.anyone,
        "soft_binding": settings.soft_binding,
        "public_lookups": bool(settings.soft_binding) and settings.public_lookups,
        "most_bytes": limits.body_bytes,
        "most_characters": limits.characters[Role.PUBLIC],
        "check_tokens": CHECK_TOKENS,
        "per_day_block": protection.per_day_block or None,
        "policy": answers.policy_facts(policy.to_dict()),
        "statement_key": public_key,
        "false_findings": {
            "one": one,
            "questions": questions,
            "any_of_a_day": None if questions is None else min(1.0, one * questions),
            "meaning": answers.say("false-findings", language),
        },
    }


def _shown(
    request: Request, check: Check, status: HTTPStatus, headers: dict[str, str]
) -> JSONResponse:
    language = language_of(request)
    check.fetched |= check.state != WAITING
    headers = {"Content-Language": language, "Vary": "Accept-Language", **headers}
    shown = check.shown(language, service_of(request).sign)
    return JSONResponse(shown, status_code=status, headers=headers)


@asynccontextmanager
async def _form(request: Request, fields: int, part_bytes: int) -> AsyncIterator[FormData]:
    """Lend a form of at most one file, which stays in memory."""
    parser = InMemory(
        request.headers,
        request.stream(),
        max_files=1,
        max_fields=fields,
        max_part_size=part_bytes,
    )
    try:
        form = await parser.parse()
    except MultiPartException:
        raise RefusalError("serve.form", code="serve-request") from None
    try:
        yield form
    finally:
        await form.close()


async def _asked(request: Request, asker: Asker) -> tuple[Document, str | None]:
    """Read the text of a question, and the case that takes it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        try:
            question = decode(shapes.Question, read_json(await request.body()), sparse=True)
        except ValueError as error:
            where = getattr(error, "where", "") or "text"
            raise RefusalError("serve.request", field=where[:40], code="serve-request") from None
        return from_text(question.text, name=question.name), question.case
    if kind != "multipart/form-data":
        raise RefusalError("serve.media", code="serve-media")
    async with _form(request, _FIELDS, _FIELD_BYTES) as form:
        file = form.get("file")
        if file is None or isinstance(file, str):
            raise RefusalError("serve.request", field="file", code="serve-request")
        data, name = await file.read(), file.filename or "file"
        part, case = (form.get(one) for one in ("part", "case"))
    document = await document_of(request, asker, data, name, part if isinstance(part, str) else "")
    return document, case if isinstance(case, str) and case else None


def _keeping(request: Request, asker: Asker, case: str) -> Kept:
    """Return what saves a finding to a case, before it is answered."""
    if asker.role is not Role.INTERNAL:
        raise RefusalError("serve.role", code="serve-role")
    at: Environment = request.app.state.environment

    def keep(found: Any) -> None:
        from pura.usecases.cases import SaveTo, saving_run

        with saving_run(at, SaveTo(case=case, auditor=asker.name)) as run:
            run.save(found.audit)

    return keep


_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_MEDIA: Final = {"page.css": "text/css", "page.js": "text/javascript"}
_PAGE_FIELDS: Final = 2
_WORDS_A_TOKEN: Final = 0.75

pages = APIRouter(include_in_schema=False)


@pages.get("/")
async def form(request: Request) -> Response:
    """Show the form; to whom nobody answers, why."""
    try:
        asker_of(request)
    except PuraError as error:
        return _refused(request, error, form=False)
    return _page(request, "form", title="page.ask", form=True)


@pages.post("/")
async def ask_by_form(request: Request) -> Response:
    """Take a text or a file, and lead to where its answer will stand."""
    service, text = service_of(request), ""
    try:
        asker = asker_of(request)
        service.admit(asker)
        document, text = await _page_asked(request, asker)
        check = await service.ask(asker, document)
        there = await ended(request, check, within_s=service.settings.limits.at_once_s)
    except ClientDisconnect:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    except PuraError as error:
        return _refused(request, error, text=text, form=service.settings.anyone)
    if not there:
        service.drop(check)
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return RedirectResponse(f"/answers/{check.id}", status_code=HTTPStatus.SEE_OTHER)


@pages.get("/answers/{identifier}")
async def answer_page(request: Request, identifier: str) -> Response:
    """Show the answer, or that it is being worked on."""
    try:
        check = service_of(request).check(asker_of(request), identifier)
    except PuraError as error:
        return _refused(request, error, form=service_of(request).settings.anyone)
    check.fetched |= check.state != WAITING
    if check.error is not None:
        return _problem(request, check.error, form=True)
    if check.answer is None:
        return _page(request, WAITING, title="page.waiting", check=check.id)
    shown = check.answer.told(language_of(request))
    return _page(request, DONE, title=f"answer.{check.answer.verdict}", answer=shown)


@pages.get("/page.css")
@pages.get("/page.js")
async def part(request: Request) -> Response:
    """Return what the page loads."""
    name = request.url.path.removeprefix("/")
    return Response(resource("serve", name).read_bytes(), media_type=_MEDIA[name])


async def _page_asked(request: Request, asker: Asker) -> tuple[Document, str]:
    """Read the form: the text, and what was typed, to be shown again where it is not taken."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise RefusalError("serve.media", code="serve-media")
    most = service_of(request).settings.limits.body_bytes
    async with _form(request, _PAGE_FIELDS, most) as found:
        file, typed = found.get("file"), found.get("text")
        if file is not None and not isinstance(file, str) and file.filename:
            data = await file.read()
            return await document_of(request, asker, data, file.filename), ""
    # A form sends every line's end as two characters.
    text = typed.replace("\r\n", "\n") if isinstance(typed, str) else ""
    if not text.strip():
        raise RefusalError("serve.request", field="text", code="serve-request")
    return from_text(text), text


def _refused(request: Request, error: PuraError, *, text: str = "", form: bool) -> Response:
    """Show why a question was not taken."""
    service_of(request).refused(request, error)
    return _problem(request, error, text=text, form=form)


def _problem(request: Request, error: PuraError, *, text: str = "", form: bool) -> Response:
    """Show what is wrong, where the answer would have stood."""
    language = language_of(request)
    shown = details(error, language)
    page = _page(request, "problem", title="page.problem", problem=shown, text=text, form=form)
    page.status_code = shown["status"]
    again = getattr(error, "again_s", None)
    if again is not None:
        page.headers["Retry-After"] = str(max(1, round(again)))
    return page


def _page(request: Request, state: str, *, title: str, **values: Any) -> Response:
    language, service = language_of(request), service_of(request)
    settings = service.settings

    def say(key: str, **blanks: Any) -> str:
        return answers.say(key, language, **blanks)

    least = settings.protection.least_tokens
    made = _template().render(
        state=state,
        language=language,
        say=say,
        title=say(title),
        name=settings.name or "PURA",
        contact=settings.contact,
        version=__version__,
        least_tokens=least,
        least_words=round(least * _WORDS_A_TOKEN),
        formats=",".join(endings()),
        **values,
    )
    headers = {
        "Content-Security-Policy": _POLICY,
        "Referrer-Policy": "same-origin",  # else browsers say “Origin: null” of our own form
        "Content-Language": language,
        "Vary": "Accept-Language",
    }
    return HTMLResponse(made, headers=headers)


@cache
def _template() -> jinja2.Template:
    surroundings = jinja2.Environment(
        autoescape=True, undefined=jinja2.ChainableUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return surroundings.from_string(resource("serve", "page.html").read_text(encoding="utf-8"))
