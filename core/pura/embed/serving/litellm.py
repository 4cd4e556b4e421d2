"""The gateway as a callback of LiteLLM's proxy.

In its configuration: ``litellm_settings: {callbacks: pura.embed.serving.litellm.callback}``. Who a
request is from is the alias of the key that it came with, else its user.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

from pura.base.errors import GenerationError, PuraError
from pura.embed.serving.gateway import FIELDS, of_the_gateway

_NO_TEXT: Final = frozenset({"embeddings", "aembedding", "moderation", "rerank", "arerank"})


class PuraCallback(CustomLogger):
    """Marks what goes through the proxy, or refuses it."""

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Return a request as it goes on to the engine.

        Raises:
            HTTPException: It must not go on unmarked, or its row cannot be written.
        """
        if call_type in _NO_TEXT:
            return data
        gateway = of_the_gateway()
        customer = user_api_key_dict.key_alias or user_api_key_dict.user_id
        try:
            ready = await asyncio.to_thread(gateway.ready, data, customer)
        except PuraError as error:
            status = 403 if isinstance(error, GenerationError) else 500
            raise HTTPException(status, str(error)) from None
        # What OpenAI's interface does not know goes to the engine in this one.
        field = FIELDS[gateway.policy.engine]
        marks = ready.pop(field, None)
        if marks is not None:
            ready["extra_body"] = {**(ready.get("extra_body") or {}), field: marks}
        return ready


callback = PuraCallback()
