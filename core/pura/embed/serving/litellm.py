"""The gateway as a callback of LiteLLM's proxy.

In its configuration: ``litellm_settings: {callbacks: pura.embed.serving.litellm.callback}``. Who a
request is from is the alias of the key that it came with, else its user.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

from pura.base.errors import GenerationError, PuraError
from pura.embed.serving.gateway import FIELDS, of_the_gateway, status_of
from pura.embed.serving.manifests import Answer

_NO_TEXT: Final = frozenset({"embeddings", "aembedding", "moderation", "rerank", "arerank"})
_SIGNED: Final = frozenset({"completion", "acompletion", "text_completion", "atext_completion"})
_MOST: Final = 10_000  # answers that are waited for; one that fails is never asked for


class PuraCallback(CustomLogger):
    """Marks what goes through the proxy, or refuses it; signs it where the policy says so."""

    def __init__(self) -> None:
        super().__init__()
        self._answers: dict[str, Answer] = {}

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
            if gateway.policy.signing and call_type not in _SIGNED:
                raise GenerationError("gateway.several", code="gateway-several")
            ready, answer = await asyncio.to_thread(gateway.issue, data, customer)
        except PuraError as error:
            raise HTTPException(status_of(error), str(error)) from None
        if answer is not None:
            self._answers[str(data.get("litellm_call_id"))] = answer
            while len(self._answers) > _MOST:
                self._answers.pop(next(iter(self._answers)))
        # What OpenAI's interface does not know goes to the engine in this one.
        field = FIELDS[gateway.policy.engine]
        marks = ready.pop(field, None)
        if marks is not None:
            ready["extra_body"] = {**(ready.get("extra_body") or {}), field: marks}
        return ready

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, response: Any
    ) -> Any:
        """Sign a whole answer.

        Raises:
            HTTPException: It cannot be signed.
        """
        answer = self._answers.pop(str(data.get("litellm_call_id")), None)
        if answer is not None:
            try:
                await _signed(response, answer)
            except PuraError as error:
                raise HTTPException(500, str(error)) from None
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Sign a streamed answer in its last piece."""
        answer = self._answers.pop(str(request_data.get("litellm_call_id")), None)
        async for part in response:
            if answer is not None:
                await _signed(part, answer)
            yield part


async def _signed(part: Any, answer: Answer) -> None:
    """Bring a whole answer, or a part of one, to what is sent."""
    for choice in getattr(part, "choices", ()):
        whole = getattr(choice, "message", None)
        holder = whole or getattr(choice, "delta", None) or choice
        name = "text" if holder is choice else "content"
        last = whole is not None or bool(choice.finish_reason)
        sent = await answer.piece(getattr(holder, name, None), last=last)
        if sent is not None:
            setattr(holder, name, sent)


callback = PuraCallback()
