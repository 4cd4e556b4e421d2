"""llama.cpp through llama-cpp-python, which asks a processor before its own penalties and samplers.

In a program of your own give :class:`PuraLogitsProcessor` to ``Llama.create_completion`` and its
like. Over HTTP, since the server of the package has no field for a mark:

    PURA_SERVING=serving.json python -m pura.embed.serving.llama_cpp --model model.gguf

answers ``/v1/completions`` and ``/v1/chat/completions``; a request brings
``"pura": {"pura_payload": "0x2A5", "pura_profile": "house"}``, or with ``--gateway`` nothing:
:mod:`pura.embed.serving.gateway` assigns it.
"""

from __future__ import annotations

import argparse
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import llama_cpp
import numpy as np
import numpy.typing as npt
import torch
from fastapi import FastAPI, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse
from llama_cpp.server.types import CreateChatCompletionRequest, CreateCompletionRequest

from pura.base.errors import PuraError
from pura.embed.serving.gateway import FIELDS, GatewayMiddleware, of_the_gateway
from pura.embed.serving.marker import Deployments, SingleText, of_the_server

_NOT_THE_MODELS: Final = {"model", "n", "user", "min_tokens", "logit_bias_type", "best_of"}
_FAR: Final = -1e30  # an infinity becomes NaN in the penalties of llama.cpp


class PuraLogitsProcessor(SingleText):
    """Marks one text; ``logits_processor=LogitsProcessorList([processor])``.

    Whatever llama.cpp does to the scores afterwards, only the chosen token is left. Speculation by
    ``LlamaPromptLookupDecoding`` changes nothing: it asks behind accepted tokens only.
    """

    def __call__(
        self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]
    ) -> npt.NDArray[np.single]:
        """Choose the next token.

        Args:
            input_ids: int [P + t]; see :meth:`SingleText.next_token`.
            scores: float32 [V], the model's logits.

        Raises:
            GenerationError: See :meth:`SingleText.next_token`.
        """
        logits = torch.from_numpy(np.array(scores, dtype=np.float32))
        token = self.next_token(input_ids.tolist(), logits)
        out = np.full_like(scores, _FAR)
        out[token] = 0.0
        return out


def application(model: llama_cpp.Llama, deployments: Deployments) -> FastAPI:
    """Return a server of one model, which writes one text at a time.

    Args:
        model: The loaded model.
        deployments: What it may mark with.
    """
    app = FastAPI(title="PURA in llama.cpp", docs_url=None, redoc_url=None)
    turn = threading.Lock()

    def answer(write: Any, form: Any, body: dict[str, Any]) -> Response:
        try:
            asked = form.model_validate(body)
            given = asked.model_dump(exclude_unset=True, exclude=_NOT_THE_MODELS)
            given["logits_processor"] = _marks(body, deployments)
            if not given.get("stream"):
                with turn:
                    written = json.dumps(write(**given), default=float)  # NumPy's, of logprobs
                return Response(written, media_type="application/json")
        except ValueError as error:  # too long, no such setting, or no logprobs here
            raise HTTPException(400, str(error)) from None

        def events() -> Iterator[str]:
            with turn:
                for piece in write(**given):
                    yield f"data: {json.dumps(piece, default=float)}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/v1/models")
    def models() -> dict[str, Any]:
        one = {"id": Path(model.model_path).stem, "object": "model", "owned_by": "llama.cpp"}
        return {"object": "list", "data": [one]}

    @app.post("/v1/completions")
    async def complete(request: Request) -> Response:
        body = await request.json()
        return await run_in_threadpool(
            answer, model.create_completion, CreateCompletionRequest, body
        )

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        body = await request.json()
        return await run_in_threadpool(
            answer, model.create_chat_completion, CreateChatCompletionRequest, body
        )

    return app


def _marks(body: dict[str, Any], deployments: Deployments) -> llama_cpp.LogitsProcessorList | None:
    try:
        order = deployments.mark(body.get(FIELDS["llama.cpp"]))
    except PuraError as error:
        raise HTTPException(400, str(error)) from None
    if order is None:
        return None
    deployment, payload = order
    one = PuraLogitsProcessor(deployment.key, payload, deployment.profile)
    return llama_cpp.LogitsProcessorList([one])


def main() -> None:
    """Serve a GGUF file until the program is ended."""
    import uvicorn

    parser = argparse.ArgumentParser(prog="python -m pura.embed.serving.llama_cpp")
    parser.add_argument("--model", required=True, type=Path, help="a GGUF file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", default=8000, type=int)
    parser.add_argument("--context", default=4096, type=int, help="tokens")
    parser.add_argument("--threads", type=int, help="of the processor")
    parser.add_argument(
        "--gateway",
        action="store_true",
        help="assign payloads by the policy that PURA_GATEWAY names",
    )
    parser.add_argument(
        "--logprobs", action="store_true", help="answer requests for them; holds all logits"
    )
    given = parser.parse_args()
    try:
        deployments = of_the_server()
        gateway = of_the_gateway() if given.gateway else None
    except PuraError as error:
        parser.error(str(error))
    model = llama_cpp.Llama(
        str(given.model),
        n_ctx=given.context,
        n_threads=given.threads,
        logits_all=given.logprobs,
        verbose=False,
    )
    app: Any = application(model, deployments)
    if gateway is not None:
        app = GatewayMiddleware(app, gateway)
    uvicorn.run(app, host=given.host, port=given.port)


if __name__ == "__main__":
    main()
