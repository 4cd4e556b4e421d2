"""What a gateway passes on to SGLang's server (0.5.23)."""

from __future__ import annotations

import json
from typing import Final

from pura.embed.serving.requests import EngineRoutes, Reason, Route, carried, only
from pura.embed.serving.routes.forms import (
    BOOLEAN,
    ENGINE_EXTENSIONS,
    NEUTRAL_SAMPLING,
    TOOLS_AND_REASONING,
    chat_route,
    completion_route,
    reasons,
)
from pura.embed.serving.tickets import TICKET

# The name of the adapter's class in the notation of pickle's first protocol, as SGLang takes
# processors: a gateway writes it without loading SGLang, and it holds no code and no key.
_ADAPTER: Final = b"cpura.embed.serving.sglang\nPuraLogitProcessor\n."
PROCESSOR: Final = json.dumps({"callable": _ADAPTER.hex()})

_BOTH: Final = {
    **ENGINE_EXTENSIONS,
    "no_stop_trim": only(False, reason=Reason.EXTRA),
    "return_hidden_states": only(False, reason=Reason.EXTRA),
    "return_routed_experts": only(False, reason=Reason.EXTRA),
    "return_cached_tokens_details": only(False, reason=Reason.EXTRA),
    "return_spec_tokens_details": only(False, reason=Reason.EXTRA),
}
_REFUSED: Final = reasons(
    draws="regex ebnf stop_regex lora_path",
    mark="custom_logit_processor custom_params watermark session_params",
    inner="""rid extra_key priority session_id data_parallel_rank routed_dp_rank
        disagg_prefill_dp_rank bootstrap_host bootstrap_port bootstrap_room
        routed_experts_start_len custom_labels""",
    unsupported="images_config mm_processor_kwargs",
)
_NO_BODY: Final = ("/health", "/ping", "/v1/models")

ROUTES: Final = EngineRoutes(
    name="sglang",
    routes=(
        *(Route(method="GET", path=path) for path in _NO_BODY),
        completion_route(
            fields={
                **_BOTH,
                "best_of": only(1, reason=Reason.SEVERAL),
            },
            refused=_REFUSED | reasons(draws="json_schema"),
        ),
        chat_route(
            fields={
                **_BOTH,
                **TOOLS_AND_REASONING,
                "separate_reasoning": carried(BOOLEAN),
                "stream_reasoning": carried(BOOLEAN),
                "continue_final_message": only(False, reason=Reason.WORDS),
            },
            refused=_REFUSED
            | reasons(
                words="input_ids task",
                extra="""return_prompt_token_ids return_meta_info return_input_ids_in_sglext
                    return_output_ids_in_sglext return_sampling_mask sampling_logprobs_mode
                    return_flat_raw_output_top_logprobs return_flat_raw_top_logprobs_b64""",
                unsupported="""thinking max_dynamic_patch min_dynamic_patch use_audio_in_video
                    video_config""",
            ),
        ),
    ),
    fixed={
        **NEUTRAL_SAMPLING,
        "top_k": -1,
        "return_token_ids": True,
        "custom_logit_processor": PROCESSOR,
    },
    ticket=lambda text: {"custom_params": {TICKET: text}},
)
