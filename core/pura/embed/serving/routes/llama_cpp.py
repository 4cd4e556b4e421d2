"""What our server of llama.cpp understands: routes of OpenAI's interface and of Ollama's."""

from __future__ import annotations

from typing import Final

from pura.base.decoder import one_of, whole
from pura.embed.serving.requests import (
    AnswerForm,
    EngineRoutes,
    Reason,
    Route,
    carried,
    only,
    ruled,
)
from pura.embed.serving.routes.forms import (
    ANY_NUMBER,
    BOOLEAN,
    MESSAGES,
    NAME,
    SEED,
    STOP,
    TEMPLATE_SETTINGS,
    TEXT,
    TOKENS,
    chat_route,
    completion_route,
    either,
    fields_of,
    reasons,
)
from pura.embed.serving.tickets import TICKET

OWN_FIELD: Final = "pura"
"""Where the server reads a request's ticket."""

# Ollama asks with -1 for an answer without a limit, and with -2 for one that fills the context.
_LEAST_PREDICT: Final = -2
_MOST_PREDICT: Final = 1 << 24

_REFUSED: Final = reasons(
    draws="""grammar logit_bias_type mirostat_mode mirostat_tau mirostat_eta tfs_z typical_p
        json_schema""",
    mark=OWN_FIELD,
    unsupported="cache_prompt functions function_call",
)
_BOTH: Final = {
    "repeat_penalty": only(1, reason=Reason.DRAWS),
    "ignore_eos": carried(BOOLEAN),
}


_OPTIONS: Final = fields_of(
    {
        "num_predict": carried(whole(_LEAST_PREDICT, _MOST_PREDICT)),
        "stop": carried(STOP),
        "seed": ruled(SEED),
        **dict.fromkeys(
            ("temperature", "top_k", "top_p", "min_p", "typical_p", "repeat_last_n"),
            ruled(ANY_NUMBER),
        ),
        # How the model is loaded and computed is the server's own affair.
        **dict.fromkeys(
            ("num_ctx", "num_keep", "num_batch", "num_gpu", "main_gpu", "num_thread"),
            ruled(ANY_NUMBER),
        ),
        **dict.fromkeys(("use_mmap", "low_vram", "f16_kv", "numa", "use_mlock"), ruled(BOOLEAN)),
        "repeat_penalty": only(1, reason=Reason.DRAWS),
        "presence_penalty": only(0, reason=Reason.DRAWS),
        "frequency_penalty": only(0, reason=Reason.DRAWS),
        "mirostat": only(0, reason=Reason.DRAWS),
        "tfs_z": only(1, reason=Reason.DRAWS),
    }
)
_OLLAMA: Final = {
    "model": carried(NAME),
    "stream": carried(BOOLEAN),
    "options": carried(_OPTIONS),
    "keep_alive": ruled(ANY_NUMBER, TEXT),
    "think": carried(either(BOOLEAN, one_of("low", "medium", "high"))),
    "format": only("", reason=Reason.DRAWS),
}
_OLLAMA_REFUSED: Final = reasons(mark=OWN_FIELD, extra="logprobs top_logprobs")
_NO_BODY: Final = ("/health", "/v1/models", "/", "/api/tags", "/api/version", "/api/ps")

ROUTES: Final = EngineRoutes(
    name="llama.cpp",
    routes=(
        *(Route(method="GET", path=path) for path in _NO_BODY),
        Route(
            method="POST",
            path="/api/show",
            fields={"model": carried(NAME), "name": carried(NAME), "verbose": ruled(BOOLEAN)},
        ),
        completion_route(
            fields={**_BOTH, "best_of": only(1, reason=Reason.SEVERAL)},
            refused=_REFUSED,
        ),
        chat_route(
            fields={
                **_BOTH,
                "max_completion_tokens": carried(TOKENS),
                "chat_template_kwargs": carried(TEMPLATE_SETTINGS),
                "tools": only([], reason=Reason.UNSUPPORTED),
                "tool_choice": only("none", "auto", reason=Reason.UNSUPPORTED),
            },
            refused=_REFUSED,
        ),
        Route(
            method="POST",
            path="/api/generate",
            fields={
                **_OLLAMA,
                "prompt": carried(TEXT),
                "system": carried(TEXT),
                "suffix": only("", reason=Reason.WORDS),
                "template": only("", reason=Reason.UNSUPPORTED),
                "context": only([], reason=Reason.UNSUPPORTED),
                "raw": only(False, reason=Reason.UNSUPPORTED),
                "images": only([], reason=Reason.UNSUPPORTED),
            },
            refused=_OLLAMA_REFUSED,
            needed=("prompt",),
            answer=AnswerForm.OLLAMA_GENERATE,
            streams=True,
        ),
        Route(
            method="POST",
            path="/api/chat",
            fields={
                **_OLLAMA,
                "messages": carried(MESSAGES),
                "tools": only([], reason=Reason.UNSUPPORTED),
            },
            refused=_OLLAMA_REFUSED,
            needed=("messages",),
            answer=AnswerForm.OLLAMA_CHAT,
            streams=True,
        ),
    ),
    fixed={},
    ticket=lambda text: {OWN_FIELD: {TICKET: text}},
)
