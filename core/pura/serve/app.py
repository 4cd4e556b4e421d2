"""The application: routes, errors, bounds and signed statements around one service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from pura.base.errors import PuraError
from pura.record import answers
from pura.record.answers import Role
from pura.report.statement import SCHEMA, StatementKey
from pura.serve import page, routes, shapes, softbinding
from pura.serve.guard import Guard
from pura.serve.log import Log
from pura.serve.reader import Reader
from pura.serve.service import Service, Sign
from pura.serve.settings import Places, Settings
from pura.serve.shapes import RefusalError, problem
from pura.serve.softbinding import Manifests
from pura.serve.store import Salt, Store
from pura.serve.tokens import TokenFile
from pura.usecases.environment import Environment
from pura.version import __version__


def signer(key: StatementKey, settings: Settings) -> Sign:
    """Return what makes the statements of a service.

    Args:
        key: What signs them.
        settings: The name of the detector.
    """

    def sign(check: dict[str, Any], role: Role, language: str) -> str:
        return key.sign(
            {
                "schema": SCHEMA,
                "detector": settings.name or "PURA",
                "version": __version__,
                "role": role.value,
                "language": language,
                "check": check,
            }
        )

    return sign


def create_app(
    environment: Environment,
    reader: Reader,
    settings: Settings,
    *,
    log: Log | None = None,
    key: StatementKey | None = None,
    manifests: Manifests | None = None,
) -> FastAPI:
    """Return the application.

    Args:
        environment: Where cases are saved.
        reader: Reads texts; it is open.
        settings: How the service is run.
        log: Gets the lines about what was done.
        key: Signs the statements of answers to trusted and internal askers; None: none are made.
        manifests: Where manifests are, by payload; None: nowhere.
    """
    places = Places.of(environment.paths)
    log = log or Log()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        store = Store(places.store)
        service = Service(
            reader=reader,
            settings=settings,
            tokens=TokenFile(places.tokens),
            store=store,
            salt=Salt.of(places.salt),
            log=log,
            sign=None if key is None else signer(key, settings),
        )
        app.state.service, app.state.environment = service, environment
        app.state.manifests = manifests
        app.state.public_key = "" if key is None else key.public_pem()
        try:
            yield
        finally:
            service.close()

    app = FastAPI(
        title="PURA",
        version=__version__,
        lifespan=life,
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/v1/openapi.json",
    )
    app.include_router(routes.router)
    app.include_router(softbinding.router)
    app.include_router(page.router)
    app.add_exception_handler(PuraError, _refused)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(Exception, _refused)
    app.add_middleware(Guard, settings=settings)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # as FastAPI says
    return app


def _openapi(app: FastAPI) -> dict[str, object]:
    """Describe the interface, with what is read by hand."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        components = schema["components"]["schemas"]
        components["Question"] = shapes.Question.model_json_schema()
        components |= {name: answers.schema(shape) for name, shape in shapes.SHAPES.items()}
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"token": []}, {}]
        app.openapi_schema = schema
    return app.openapi_schema


def _methods(request: Request) -> set[str]:
    """Return the methods that an address takes."""
    asked = {name: request.scope[name] for name in ("type", "path", "method", "headers")}
    return {
        method
        for route in (*routes.router.routes, *softbinding.router.routes)
        if isinstance(route, APIRoute) and route.matches(asked)[0] is not Match.NONE
        for method in route.methods or ()
    }


async def _refused(request: Request, error: Exception) -> Response:
    """Answer an error as a problem."""
    headers: dict[str, str] = {}
    if isinstance(error, HTTPException):
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(sorted(_methods(request)))
            error = RefusalError("serve.method", code="serve-method")
        elif error.status_code == HTTPStatus.NOT_FOUND:
            error = RefusalError("serve.unknown", code="serve-unknown")
        else:
            error = RefusalError("serve.form", code="serve-request")
    elif isinstance(error, RequestValidationError):
        error = RefusalError("serve.form", code="serve-request")
    elif not isinstance(error, PuraError):
        error = RefusalError("serve.fault", kind=type(error).__name__, code="serve-fault")
    service: Service | None = getattr(request.app.state, "service", None)
    if service is not None:
        service.refused(request, error)
    told = problem(request, error)
    told.headers.update(headers)
    return told
