"""SGLang, started with ``--enable-custom-logit-processor``.

A gateway puts the name of this adapter and a ticket into each request; what travels is the name of
the class, never a key. SGLang unpickles whatever a request names as its processor, so it must not
be reached but through the gateway: ``python -m pura.embed.serving.sglang`` starts it with the
gateway inside its own server.

SGLang makes a new object for every batch, so the texts belong to the process, and it never says
that a request has left: a text lives as long as the request.
"""

from __future__ import annotations

import logging
import secrets
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sglang.srt.distributed.parallel_state import get_attn_tp_group
from sglang.srt.sampling.custom_logit_processor import CustomLogitProcessor

from pura.base.catalogue import phrase
from pura.base.errors import GenerationError, PuraError
from pura.embed.serving.channel import gateway_tickets
from pura.embed.serving.deployments import Deployments, serving_config
from pura.embed.serving.marker import Marker
from pura.embed.serving.tickets import RankedTickets, TicketSource, ticket_in

if TYPE_CHECKING:
    import torch

_OTHER = -1  # no token
_REQUEST = "__req__"  # where SGLang puts its own request into the parameters

_log = logging.getLogger(__name__)


@dataclass
class _Text:
    """A request of SGLang's: its parameters, and its text, None where it brings no ticket."""

    params: dict[str, Any]
    text: int | None
    taken_back: int = 0

    @property
    def gone(self) -> bool:
        """Whether SGLang has let the request go."""
        try:
            return bool(self.params[_REQUEST].finished())
        except ReferenceError:  # SGLang lends its request weakly
            return True


class _Process:
    """The texts of this process, by the identity of the parameters that each request keeps."""

    def __init__(self, deployments: Deployments, source: TicketSource | None, group: Any) -> None:
        entropy = group.broadcast_object(secrets.randbits(128), src=0)
        # SGLang's requests name their own end tokens; 0 only ends a text whose ticket was refused.
        self.marker = Marker(deployments, entropy, RankedTickets(source, group), end_token=0)
        self.texts: dict[int, _Text] = {}

    def text(self, params: dict[str, Any]) -> _Text:
        """Return the text of a request, begun where it is new."""
        known = self.texts.get(id(params))
        if known is None:
            try:
                ticket = ticket_in(params)
                text = None
                if ticket is not None:
                    text = self.marker.begin(ticket, lambda: params[_REQUEST].origin_input_ids)
            except ValueError:
                _log.error("a request names a mark without a ticket; it is left unmarked")
                text = None
            known = self.texts[id(params)] = _Text(params=params, text=text)
        return known

    def forget(self) -> None:
        """Forget the texts of requests that have left."""
        for name in [name for name, text in self.texts.items() if text.gone]:
            text = self.texts.pop(name).text
            if text is not None:
                self.marker.end(text)


class PuraLogitProcessor(CustomLogitProcessor):
    """Marks the requests whose ``custom_params`` hold a ticket."""

    @classmethod
    def deployments(cls) -> Deployments:
        """Return the keys and profiles; override it to read keys from a store of your own."""
        return serving_config().deployments()

    @classmethod
    def tickets(cls) -> TicketSource:
        """Return where tickets are redeemed.

        Raises:
            GenerationError: The configuration names no folder of tickets.
        """
        return gateway_tickets(serving_config().tickets)

    @classmethod
    @cache
    def process(cls) -> _Process:
        """Return the texts of this process."""
        group = get_attn_tp_group()
        source = cls.tickets() if group.rank_in_group == 0 else None
        return _Process(cls.deployments(), source, group)

    def __call__(
        self, logits: torch.Tensor, custom_param_list: list[dict[str, Any]] | None = None
    ) -> torch.Tensor:
        """Choose the next token of every marked request.

        Raises:
            GenerationError: Several lines belong to one request: speculative decoding is on.
        """
        if not custom_param_list:
            return logits
        process = self.process()
        process.forget()
        texts: list[int | None] = []
        asked: dict[int, _Text] = {}
        for params in custom_param_list:
            text = process.text(params) if params and _REQUEST in params else None
            number = None if text is None else text.text
            if text is not None and number is not None:
                if number in asked:
                    raise GenerationError("processor.breaks", what=phrase("decoding.assisted"))
                asked[number] = text
            texts.append(number)
        process.marker.prepare(list(asked))
        for line, number in enumerate(texts):
            if number is None:
                continue
            request = asked[number].params[_REQUEST]
            if getattr(request, "beam_group", None) is not None:
                process.marker.spoil(number)
                texts[line] = None
            elif _reads_on(request):
                texts[line] = None
            else:
                _agree(process.marker, asked[number], number)
        process.marker.mark(logits, texts)
        return logits


def _reads_on(request: Any) -> bool:
    """Whether its prompt is read in parts and this is not the last: SGLang drops the token."""
    end = getattr(request, "extend_end", None)
    return end is not None and end < len(getattr(request, "full_untruncated_fill_ids", ()))


def _agree(marker: Marker, text: _Text, number: int) -> None:
    """Let a row go on from the request's tokens, which may lag one behind what was drawn."""
    request = text.params[_REQUEST]
    output, own = request.output_ids, marker.drawn(number)
    known = len(output)
    taken_back = getattr(request, "retraction_count", 0)
    lags = taken_back == text.taken_back and len(own) == known + 1
    text.taken_back = taken_back
    same = known == 0 or (known <= len(own) and own[known - 1] == output[known - 1])
    pending = list(own[known:]) if lags else []
    count = known + len(pending)
    marker.agree(number, count, None if same else _OTHER, lambda: [*output, *pending])


def main() -> None:
    """Start SGLang with the gateway inside its HTTP server; the arguments are SGLang's own."""
    from sglang.srt.entrypoints.http_server import app, launch_server
    from sglang.srt.server_args import prepare_server_args

    from pura.embed.serving.gateway import GatewayMiddleware, stated_gateway

    # SGLang warms up by a request to itself, which the gateway would refuse.
    own = ("--enable-custom-logit-processor", "--skip-server-warmup")
    arguments = prepare_server_args([*sys.argv[1:], *own])
    if arguments.tokenizer_worker_num != 1:
        sys.exit("--tokenizer-worker-num must be 1: other workers load SGLang without the gateway")
    try:
        app.add_middleware(GatewayMiddleware, gateway=stated_gateway())
    except PuraError as error:
        sys.exit(str(error))
    launch_server(arguments)


if __name__ == "__main__":
    main()
