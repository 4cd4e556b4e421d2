"""What the adapters of vLLM's two model runners share: requests, tickets and their marker."""

from __future__ import annotations

import secrets
from typing import Any, Final

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import GenerationError, PuraError
from pura.embed.serving.channel import gateway_tickets
from pura.embed.serving.deployments import Deployments, ServingConfig, serving_config
from pura.embed.serving.marker import Marker
from pura.embed.serving.tickets import TICKET, RankedTickets, TicketSource, ticket_in

# What would let vLLM, or a client, put other tokens into a text than those that the adapter chose.
# Forcing for a thinking budget runs after every processor; so does a mark of vLLM's own.
_FORCING: Final = ("thinking_token_budget", "watermarking")


class MarkedRequests:
    """Requests whose ``extra_args`` hold a ticket."""

    @classmethod
    def config(cls) -> ServingConfig:
        """Return the configuration without keys, which the process before the engine reads too."""
        return serving_config()

    @classmethod
    def deployments(cls) -> Deployments:
        """Return the keys and profiles; override it to read keys from a store of your own."""
        return cls.config().deployments()

    @classmethod
    def tickets(cls) -> TicketSource:
        """Return where tickets are redeemed.

        Raises:
            GenerationError: The configuration names no folder of tickets.
        """
        return gateway_tickets(cls.config().tickets)

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a request that cannot be marked, before it is accepted.

        One that is marked leaves greedy: the engine's own draw would be thrown away.

        Raises:
            ValueError: Says why; vLLM answers it to the client.
        """
        try:
            if _ticket(sampling_params) is None:
                if cls.config().required:
                    raise GenerationError("serving.no-ticket", name=TICKET)
                return
            if sampling_params.n != 1:
                raise GenerationError("serving.several")
            for name in _FORCING:
                if getattr(sampling_params, name, None):
                    raise GenerationError("serving.forced", name=name)
        except PuraError as error:
            raise ValueError(str(error)) from None
        sampling_params.temperature = 0.0

    @classmethod
    def marker(cls, vllm_config: Any) -> Marker:
        """Return the marker of this process; those of one tensor-parallel group draw alike."""
        from vllm.distributed import get_tp_group

        group = get_tp_group()
        entropy = group.broadcast_object(secrets.randbits(128), src=0)
        source = cls.tickets() if group.rank_in_group == 0 else None
        return Marker(
            cls.deployments(),
            entropy,
            RankedTickets(source, group),
            _end_token(vllm_config),
        )


def ticket_of(sampling_params: Any) -> str | None:
    """Return the ticket of a request that was accepted."""
    return ticket_in(sampling_params.extra_args)


def refuse_drafts(what: Phrase | None = None) -> GenerationError:
    """Return the error of a way of speculative decoding that would replace chosen tokens."""
    return GenerationError("processor.breaks", what=what or phrase("decoding.assisted"))


def _ticket(sampling_params: Any) -> str | None:
    try:
        return ticket_of(sampling_params)
    except ValueError:
        raise GenerationError("serving.no-ticket", name=TICKET) from None


def _end_token(vllm_config: Any) -> int:
    """Return the token that ends a text, 0 where the model names none."""
    model = getattr(vllm_config, "model_config", None)
    named = getattr(getattr(model, "hf_config", None), "eos_token_id", None)
    first = named[0] if isinstance(named, list) and named else named
    return int(first) if isinstance(first, int) else 0
