"""What a gateway passes on to vLLM's own server (0.32)."""

from __future__ import annotations

from typing import Final

from pura.base.decoder import one_of
from pura.embed.serving.requests import (
    AnswerForm,
    EngineRoutes,
    Reason,
    Route,
    carried,
    only,
)
from pura.embed.serving.routes.forms import (
    BOOLEAN,
    CHAT,
    NAME,
    PLAIN,
    TEMPLATE_SETTINGS,
    TOKENS,
    TOOLS,
    reasons,
)
from pura.embed.serving.tickets import TICKET

_BOTH: Final = {
    "repetition_penalty": only(1, reason=Reason.DRAWS),
    "ignore_eos": carried(BOOLEAN),
    "min_tokens": carried(TOKENS),
    "cache_salt": carried(NAME),
    "skip_special_tokens": only(True, reason=Reason.EXTRA),
    "spaces_between_special_tokens": only(True, reason=Reason.EXTRA),
    "include_stop_str_in_output": only(False, reason=Reason.EXTRA),
    "use_beam_search": only(False, reason=Reason.DRAWS),
    "length_penalty": only(1, reason=Reason.DRAWS),
    "stop_token_ids": only([], reason=Reason.UNSUPPORTED),
    "bad_words": only([], reason=Reason.DRAWS),
    "allowed_token_ids": only(reason=Reason.DRAWS),
    "prompt_logprobs": only(reason=Reason.EXTRA),
    "return_token_ids": only(False, reason=Reason.EXTRA),
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
        Route(
            method="POST",
            path="/v1/completions",
            fields={
                **PLAIN,
                **_BOTH,
                "response_format": only({"type": "text"}, reason=Reason.DRAWS),
            },
            refused=_REFUSED | reasons(words="prompt_embeds"),
            needed=("prompt",),
            answer=AnswerForm.COMPLETION,
        ),
        Route(
            method="POST",
            path="/v1/chat/completions",
            fields={
                **CHAT,
                **_BOTH,
                **TOOLS,
                "max_completion_tokens": carried(TOKENS),
                "chat_template_kwargs": carried(TEMPLATE_SETTINGS),
                "reasoning_effort": carried(
                    one_of("none", "minimal", "low", "medium", "high", "xhigh", "max")
                ),
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
            needed=("messages",),
            answer=AnswerForm.CHAT,
        ),
    ),
    # The server's own defaults may come from the model's folder, so each is overridden.
    fixed={
        "n": 1,
        "temperature": 1.0,
        "top_p": 1.0,
        "top_k": 0,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "frequency_penalty": 0.0,
        "presence_penalty": 0.0,
        "return_token_ids": True,
    },
    ticket=lambda text: {"vllm_xargs": {TICKET: text}},
)
