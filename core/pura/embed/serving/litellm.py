"""LiteLLM's proxy in front of a gateway: it says who asks, and hands over only what was marked.

In its configuration: ``litellm_settings: {callbacks: pura.embed.serving.litellm.callback}``. The
file that ``PURA_LITELLM`` names holds what the gateway knows the proxy by; serving.md describes it.

The callback checks what a client sends against a table of its own, for many of LiteLLM's fields
would let a client choose where a request goes or what comes back. It names the client to the
gateway by the key's internal id, which LiteLLM makes and no client chooses, and adds a random
number to each request. The gateway's answer carries a receipt over that number; an answer without
one was made up, cached or written elsewhere and is not handed over.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

from pura.base.catalogue import phrase
from pura.base.decoder import decode, list_of, one_of, refused_as, text
from pura.base.errors import GenerationError, PuraError, naming
from pura.base.files import read_bounded
from pura.base.json_text import read_json
from pura.embed.serving.answers import status_of
from pura.embed.serving.policy import (
    CUSTOMER_HEADER,
    NONCE_HEADER,
    read_secret,
    receipt,
)
from pura.embed.serving.private_files import refuse_writable
from pura.embed.serving.requests import RequestRefusedError, checked_fields
from pura.embed.serving.routes.litellm import INTERNAL_FIELDS, ROUTES, SILENT_CALLS

LITELLM_VARIABLE: Final = "PURA_LITELLM"
_MAX_CONFIG_BYTES: Final = 1 << 20
_OWN_HEADERS: Final = "x-pura-"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class LiteLLMConfig:
    """How the proxy and the gateway know each other.

    Attributes:
        secret: What the gateway knows the proxy by.
        models: LiteLLM's names of the models that stand behind a gateway; empty: all of them.
        identity: Which internal id names the client: of the key, its user or its team.
    """

    secret: bytes
    models: tuple[str, ...]
    identity: str

    @classmethod
    def load(cls, path: Path) -> LiteLLMConfig:
        """Read a configuration.

        Raises:
            PuraError: A file cannot be read, is exposed to other users, or is not valid.
        """
        refuse_writable(path)
        content = read_bounded(path, _MAX_CONFIG_BYTES, GenerationError)
        with naming(path.name):
            with refused_as(GenerationError, "litellm-file"):
                stated = decode(_ConfigFile, read_json(content), sparse=True)
            return cls(
                secret=read_secret(path.parent / stated.secret_file),
                models=stated.models,
                identity=stated.identity,
            )


@dataclass(frozen=True, kw_only=True)
class _ConfigFile:
    secret_file: Annotated[str, text(phrase("what.not-text"), 1, 200)]
    models: Annotated[
        tuple[str, ...], list_of(text(phrase("what.not-text"), 1, 200), 1000, "council-7b")
    ] = ()
    identity: Annotated[str, one_of("token", "user_id", "team_id")] = "token"


@cache
def stated_config() -> LiteLLMConfig:
    """Return the configuration that ``PURA_LITELLM`` names; read once.

    Raises:
        PuraError: The variable is not set, or see :meth:`LiteLLMConfig.load`.
    """
    name = os.environ.get(LITELLM_VARIABLE)
    if not name:
        raise GenerationError("litellm.variable", name=LITELLM_VARIABLE)
    return LiteLLMConfig.load(Path(name))


class PuraCallback(CustomLogger):
    """Names clients to a gateway, and hands over nothing that did not come from there."""

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Return a request as it goes on to the gateway.

        Raises:
            HTTPException: It must not go on.
        """
        try:
            config = stated_config()
            if call_type in SILENT_CALLS or _elsewhere(data, config):
                return data
            route = ROUTES.get(call_type)
            if route is None:
                raise RequestRefusedError("gateway.route", status=404, code="unknown-route")
            stated = data.get("proxy_server_request", {}).get("body") or {}
            own = {name: value for name, value in stated.items() if name not in INTERNAL_FIELDS}
            checked = checked_fields(route, own)
            who = getattr(user_api_key_dict, config.identity, None)
            if not who:
                raise RequestRefusedError("gateway.customer", status=403, code="unknown-customer")
        except PuraError as error:
            _log.info("a request was refused: %s", error.code)
            raise HTTPException(status_of(error), str(error)) from None
        # What the client wrote is replaced by what was checked; the rest is LiteLLM's own.
        request = {name: value for name, value in data.items() if name not in own} | checked
        for name in ("headers", "extra_headers"):
            if isinstance(data.get(name), Mapping):
                request[name] = _without_own(data[name])
        request["extra_headers"] = {
            **request.get("extra_headers", {}),
            CUSTOMER_HEADER: str(who),
            NONCE_HEADER: secrets.token_hex(16),
        }
        # An answer is for one request; a cached one would carry another one's mark.
        request["cache"] = {"no-cache": True, "no-store": True}
        return request

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        """Return an answer that the gateway gave to this request.

        Raises:
            HTTPException: It did not.
        """
        nonce = _nonce(data)
        if nonce is not None and getattr(response, "id", None) != _expected(nonce):
            _log.error("an answer did not come through the gateway")
            raise HTTPException(502, str(RequestRefusedError("gateway.undrawn")))
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Yield the pieces of an answer that the gateway gave to this request.

        Raises:
            HTTPException: A piece is not of it.
        """
        nonce = _nonce(request_data)
        async for piece in response:
            if nonce is not None and getattr(piece, "id", None) != _expected(nonce):
                _log.error("a piece of an answer did not come through the gateway")
                raise HTTPException(502, str(RequestRefusedError("gateway.undrawn")))
            yield piece


def _elsewhere(data: Mapping[str, Any], config: LiteLLMConfig) -> bool:
    """Whether a request is for a model that does not stand behind a gateway."""
    return bool(config.models) and data.get("model") not in config.models


def _without_own(headers: Mapping[str, Any]) -> dict[str, Any]:
    """Return headers without those by which a client could name somebody."""
    return {
        name: value for name, value in headers.items() if not name.lower().startswith(_OWN_HEADERS)
    }


def _nonce(data: Mapping[str, Any]) -> str | None:
    """Return the random number of a request; None for one that did not go to a gateway."""
    headers = data.get("extra_headers")
    nonce = headers.get(NONCE_HEADER) if isinstance(headers, Mapping) else None
    return nonce if isinstance(nonce, str) else None


def _expected(nonce: str) -> str:
    return receipt(stated_config().secret, nonce)


callback = PuraCallback()
