"""What a gateway passes on to vLLM's own server (0.32)."""

from __future__ import annotations

from typing import Final

from pura.embed.serving.requests import EngineRoutes, Reason, Route, only
from pura.embed.serving.routes.forms import (
    ENGINE_EXTENSIONS,
    NEUTRAL_SAMPLING,
    TOOLS_AND_REASONING,
    chat_route,
    completion_route,
    reasons,
)
from pura.embed.serving.tickets import TICKET

_BOTH: Final = {
    **ENGINE_EXTENSIONS,
    "spaces_between_special_tokens": only(True, reason=Reason.EXTRA),
    "include_stop_str_in_output": only(False, reason=Reason.EXTRA),
    "use_beam_search": only(False, reason=Reason.DRAWS),
    "length_penalty": only(1, reason=Reason.DRAWS),
    "bad_words": only([], reason=Reason.DRAWS),
    "allowed_token_ids": only(reason=Reason.DRAWS),
    "prompt_logprobs": only(reason=Reason.EXTRA),
    "return_tokens_as_token_ids": only(False, reason=Reason.EXTRA),
}
_REFUSED: Final = reasons(
    draws="structured_outputs thinking_token_budget watermarking repetition_detection",
    mark="vllm_xargs kv_transfer_params ec_transfer_params",
    inner="priority request_id session_id routed_experts_prompt_start stream_interval mm_payload",
    extra="logprob_token_ids return_token_offsets return_mm_kwargs",
    unsupported="truncate_prompt_tokens truncation_side add_special_tokens",
)
_NO_BODY: Final = ("/health", "/ping", "/version", "/v1/models")

ROUTES: Final = EngineRoutes(
    name="vllm",
    routes=(
        *(Route(method="GET", path=path) for path in _NO_BODY),
        completion_route(
            fields=_BOTH,
            refused=_REFUSED | reasons(words="prompt_embeds"),
        ),
        chat_route(
            fields={
                **_BOTH,
                **TOOLS_AND_REASONING,
                # Without it vLLM leaves the ids of these tokens out of the answer.
                "include_reasoning": only(True, reason=Reason.EXTRA),
                "echo": only(False, reason=Reason.WORDS),
                "continue_final_message": only(False, reason=Reason.WORDS),
                "add_generation_prompt": only(True, reason=Reason.WORDS),
            },
            refused=_REFUSED
            | reasons(
                words="chat_template",
                extra="return_prompt_text",
                unsupported="documents media_io_kwargs mm_processor_kwargs",
            ),
        ),
    ),
    fixed={
        **NEUTRAL_SAMPLING,
        "top_k": 0,
        "return_token_ids": True,
    },
    ticket=lambda text: {"vllm_xargs": {TICKET: text}},
)
