"""What the callback of LiteLLM's proxy takes from a client (1.108)."""

from __future__ import annotations

from typing import Final

from pura.embed.serving.requests import Reason, carried, only
from pura.embed.serving.routes.forms import (
    BOOLEAN,
    TOKENS,
    TOOLS_AND_REASONING,
    chat_route,
    completion_route,
    reasons,
)

_BOTH: Final = {
    "repetition_penalty": only(1, reason=Reason.DRAWS),
    "ignore_eos": carried(BOOLEAN),
    "min_tokens": carried(TOKENS),
    "best_of": only(1, reason=Reason.SEVERAL),
}
# Fields of LiteLLM's that decide where a request goes, what comes back or who is told.
_REFUSED: Final = reasons(
    mark="vllm_xargs custom_params custom_logit_processor pura",
    words="mock_response mock_tool_calls mock_timeout",
    inner="""api_base api_key base_url api_version custom_llm_provider model_list fallbacks
        context_window_fallbacks content_policy_fallbacks num_retries timeout request_timeout
        extra_body extra_headers headers extra_query cache caching ttl tags guardrails
        litellm_call_id litellm_logging_obj litellm_trace_id litellm_session_id litellm_metadata
        proxy_server_request secret_fields allowed_openai_params additional_drop_params drop_params
        hooks prompt_id prompt_variables model_info deployment_id specific_deployment""",
)

_COMPLETION: Final = completion_route(
    fields=_BOTH,
    refused=_REFUSED,
)
_CONVERSATION: Final = chat_route(
    fields={
        **_BOTH,
        **TOOLS_AND_REASONING,
    },
    refused=_REFUSED,
)

ROUTES: Final = {
    "completion": _CONVERSATION,
    "acompletion": _CONVERSATION,
    "text_completion": _COMPLETION,
    "atext_completion": _COMPLETION,
}
"""By LiteLLM's name of a call; every other call that could write a text is refused."""

SILENT_CALLS: Final = frozenset(
    {"embeddings", "embedding", "aembedding", "moderation", "amoderation", "rerank", "arerank"}
)
"""Calls whose answers hold no text."""

INTERNAL_FIELDS: Final = frozenset({"metadata"})
"""What LiteLLM writes into a client's request before it asks the callback: there for its own use,
and not passed on to an engine."""
