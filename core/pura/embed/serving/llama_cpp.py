"""llama.cpp through llama-cpp-python: a server that marks, and a processor for programs.

    PURA_SERVING=serving.json python -m pura.embed.serving.llama_cpp --model model.gguf --gateway

answers OpenAI's routes and Ollama's, with the gateway of ``PURA_GATEWAY`` in front. ``--ollama
NAME`` takes the model from Ollama's store instead.

In a program of your own give :class:`PuraLogitsProcessor` to ``Llama.create_completion`` and its
like.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

import llama_cpp
import numpy as np
import numpy.typing as npt
import torch

from pura.base.errors import PuraError
from pura.embed.serving.channel import gateway_tickets
from pura.embed.serving.deployments import serving_config
from pura.embed.serving.gateway import Gateway, GatewayMiddleware, stated_gateway
from pura.embed.serving.llama_routes import LlamaServer, ServedModel
from pura.embed.serving.llama_writing import TextWriter
from pura.embed.serving.marker import SingleText
from pura.embed.serving.ollama import OllamaModel, find_model, store_folder
from pura.embed.serving.tickets import TicketOffice, TicketSource

_FAR: Final = -1e30  # an infinity becomes NaN in the penalties of llama.cpp
# What a text ends with whose marker failed: llama-cpp-python drops what a processor raises, and
# without this would draw from the model's own distribution.
_FAILED_TOKEN: Final = 0


class PuraLogitsProcessor(SingleText):
    """Marks one text; ``logits_processor=LogitsProcessorList([processor])``.

    Whatever llama.cpp does to the scores afterwards, only the chosen token is left. Speculation by
    ``LlamaPromptLookupDecoding`` changes nothing: it asks behind accepted tokens only.

    Attributes:
        failure: What went wrong; None while nothing has. llama-cpp-python drops what a processor
            raises, so look here when the text has ended.
    """

    failure: PuraError | None = None

    def __call__(
        self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]
    ) -> npt.NDArray[np.single]:
        """Choose the next token.

        Args:
            input_ids: int [P + t]; see :meth:`SingleText.next_token`.
            scores: float32 [V], the model's logits.
        """
        logits = torch.from_numpy(np.array(scores, dtype=np.float32))
        try:
            token = self.next_token(input_ids.tolist(), logits)
        except PuraError as error:
            self.failure, token = error, _FAILED_TOKEN
        out = np.full_like(scores, _FAR)
        out[token] = 0.0
        return out


def application(served: ServedModel, gateway: Gateway | None) -> Any:
    """Return a server of one model, which writes one text at a time.

    Args:
        served: The model.
        gateway: Stands in front, in the same process; None: gateways of other processes do, or the
            operator asks for unmarked texts.

    Raises:
        PuraError: The configuration that ``PURA_SERVING`` names cannot be used.
    """
    config = serving_config()
    deployments = config.deployments()
    tickets: TicketSource
    if gateway is not None:
        tickets = gateway.office
    elif config.tickets is not None or config.required:
        tickets = gateway_tickets(config.tickets)
    else:
        tickets = TicketOffice(
            lambda orders, series: []
        )  # no gateway opens tickets: every text is unmarked
    writer = TextWriter(served.model, deployments, tickets)
    server = LlamaServer(served, writer, required=deployments.required).application()
    return server if gateway is None else GatewayMiddleware(server, gateway)


def main() -> None:
    """Serve a model until the program is ended."""
    import uvicorn

    parser = argparse.ArgumentParser(prog="python -m pura.embed.serving.llama_cpp")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--model", type=Path, help="GGUF file")
    source.add_argument("--ollama", metavar="NAME", help="model of Ollama's store")
    parser.add_argument("--name", help="name of the model in requests [default: that of the file]")
    parser.add_argument("--host", default="127.0.0.1", help="address [default: 127.0.0.1]")
    parser.add_argument("--port", default=8000, type=int, help="port [default: 8000]")
    parser.add_argument("--context", default=4096, type=int, help="tokens [default: 4096]")
    parser.add_argument("--threads", type=int, help="threads of the processor [default: all]")
    parser.add_argument(
        "--gateway", action="store_true", help="gateway by the policy that PURA_GATEWAY names"
    )
    options = parser.parse_args()
    try:
        entry = None if options.ollama is None else find_model(options.ollama, store_folder())
        gateway = stated_gateway() if options.gateway else None
        served = load_model(options.model, entry, options)
        app = application(served, gateway)
    except PuraError as error:
        parser.error(str(error))
    uvicorn.run(app, host=options.host, port=options.port)


def load_model(
    path: Path | None, entry: OllamaModel | None, options: argparse.Namespace
) -> ServedModel:
    """Load the model of a file, or of an entry of Ollama's store."""
    weights = path if entry is None else entry.weights
    model = llama_cpp.Llama(
        str(weights), n_ctx=options.context, n_threads=options.threads, verbose=False
    )
    usual = entry.name if entry is not None else Path(str(weights)).stem
    return ServedModel(name=options.name or usual, model=model, ollama=entry)


if __name__ == "__main__":
    main()
