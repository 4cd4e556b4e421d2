"""What both model runners of vLLM ask of an adapter alike."""

from __future__ import annotations

import secrets
from typing import Any

from pura.base.catalogue import phrase
from pura.base.errors import GenerationError
from pura.embed.serving.deployments import Deployments, checked, of_the_server
from pura.embed.serving.marker import Marker


class MarkedRequests:
    """Requests whose ``extra_args`` name a payload."""

    @classmethod
    def deployments(cls) -> Deployments:
        """Return what may be marked with; override it to read keys from a store of your own."""
        return of_the_server()

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a request that cannot be marked as it asks.

        Raises:
            ValueError: Says why.
        """
        checked(sampling_params.extra_args, cls.deployments())

    @classmethod
    def marker(cls, vllm_config: Any) -> Marker:
        """Return the marker of this process; those of one tensor-parallel group draw alike.

        Raises:
            GenerationError: The engine guesses ahead (speculative decoding).
        """
        from vllm.distributed import get_tp_group

        if vllm_config.speculative_config is not None:
            raise GenerationError("processor.breaks", what=phrase("decoding.assisted"))
        entropy = get_tp_group().broadcast_object(secrets.randbits(128), src=0)
        return Marker(cls.deployments(), entropy)
