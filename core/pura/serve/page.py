"""The page for people: paste a text or choose a file, wait, read the answer.

It is made here and works without script; with script a file can be dropped, and waiting needs no
reload. Nothing of what is asked stands in an address.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any, Final

import jinja2
from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from pura.base.errors import PuraError
from pura.base.paths import resource
from pura.documents import Document, endings, from_text
from pura.record import answers
from pura.serve.routes import InMemory, asker_of, document_of, ended, service_of
from pura.serve.service import DONE, WAITING
from pura.serve.shapes import RefusalError, details, language_of
from pura.serve.tokens import Asker
from pura.version import __version__

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_MEDIA: Final = {"page.css": "text/css", "page.js": "text/javascript"}
_FIELDS: Final = 2
_WORDS_A_TOKEN: Final = 0.75

router = APIRouter(include_in_schema=False)


@router.get("/")
async def form(request: Request) -> Response:
    """Show the form; to whom nobody answers, why."""
    try:
        asker_of(request)
    except PuraError as error:
        return _refused(request, error, form=False)
    return _page(request, "form", title="page.ask", form=True)


@router.post("/")
async def ask(request: Request) -> Response:
    """Take a text or a file, and lead to where its answer will stand."""
    service, text = service_of(request), ""
    try:
        asker = asker_of(request)
        service.admit(asker)
        document, text = await _asked(request, asker)
        check = await service.ask(asker, document)
        there = await ended(request, check, within_s=service.settings.limits.at_once_s)
    except ClientDisconnect:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    except PuraError as error:
        return _refused(request, error, text=text, form=service.settings.anyone)
    if not there:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return RedirectResponse(f"/answers/{check.id}", status_code=HTTPStatus.SEE_OTHER)


@router.get("/answers/{identifier}")
async def answer(request: Request, identifier: str) -> Response:
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


@router.get("/page.css")
@router.get("/page.js")
async def part(request: Request) -> Response:
    """Return what the page loads."""
    name = request.url.path.removeprefix("/")
    return Response(resource("serve", name).read_bytes(), media_type=_MEDIA[name])


async def _asked(request: Request, asker: Asker) -> tuple[Document, str]:
    """Read the form: the text, and what was typed, to be shown again where it is not taken."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise RefusalError("serve.media", code="serve-media")
    most = service_of(request).settings.limits.body_bytes
    try:
        found = await InMemory(
            request.headers,
            request.stream(),
            max_files=1,
            max_fields=_FIELDS,
            max_part_size=most,
        ).parse()
    except MultiPartException:
        raise RefusalError("serve.form", code="serve-request") from None
    try:
        file, typed = found.get("file"), found.get("text")
        if file is not None and not isinstance(file, str) and file.filename:
            data = await file.read()
            return await document_of(request, asker, data, file.filename), ""
    finally:
        await found.close()
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
