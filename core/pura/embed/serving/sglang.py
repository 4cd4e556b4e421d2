"""SGLang, started with ``--enable-custom-logit-processor``.

A request brings ``PuraLogitProcessor.to_str()`` and its ``custom_params``. What travels is the name
of the class, never a key. SGLang makes a new object for every batch, so the rows belong to the
process, and it never says that a request has left: a row lives as long as the request.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sglang.srt.distributed.parallel_state import get_attn_tp_group
from sglang.srt.sampling.custom_logit_processor import CustomLogitProcessor

from pura.base.catalogue import phrase
from pura.base.errors import GenerationError, PuraError
from pura.embed.serving.marker import Deployments, Marker, of_the_server

if TYPE_CHECKING:
    import torch

_OTHER = -1  # no token
_REQUEST = "__req__"  # where SGLang puts its own request into the parameters


@dataclass
class _Text:
    params: dict[str, Any]
    row: int | None
    taken_back: int = 0

    @property
    def gone(self) -> bool:
        try:
            return bool(self.params[_REQUEST].finished())
        except ReferenceError:  # SGLang lends its request weakly
            return True


class _Process:
    """The texts of this process, by the identity of the parameters that each request keeps."""

    def __init__(self, deployments: Deployments) -> None:
        entropy = get_attn_tp_group().broadcast_object(secrets.randbits(128), src=0)
        self.marker = Marker(deployments, entropy)
        self.texts: dict[int, _Text] = {}

    def text(self, params: dict[str, Any]) -> _Text:
        known = self.texts.get(id(params))
        if known is None:
            try:
                row = self.marker.begin(params)
            except PuraError as error:
                logging.getLogger("pura").error("%s", error)
                row = None
            known = self.texts[id(params)] = _Text(params=params, row=row)
        return known

    def forget(self) -> None:
        for name in [name for name, text in self.texts.items() if text.gone]:
            row = self.texts.pop(name).row
            if row is not None:
                self.marker.end(row)


class PuraLogitProcessor(CustomLogitProcessor):
    """Marks the requests whose ``custom_params`` name a payload."""

    @classmethod
    def deployments(cls) -> Deployments:
        """Return what may be marked with; override it to read keys from a store of your own."""
        return of_the_server()

    @classmethod
    @cache
    def process(cls) -> _Process:
        """Return the texts of this process."""
        return _Process(cls.deployments())

    def __call__(
        self, logits: torch.Tensor, custom_param_list: list[dict[str, Any]] | None = None
    ) -> torch.Tensor:
        """Choose the next token of every marked request.

        Raises:
            GenerationError: Several lines belong to one request (speculative decoding), or a
                request is decoded as beams.
        """
        if not custom_param_list:
            return logits
        process = self.process()
        process.forget()
        rows: list[int | None] = []
        for params in custom_param_list:
            text = process.text(params) if params and _REQUEST in params else None
            row = None if text is None else text.row
            if text is not None and row is not None:
                if row in rows:
                    raise GenerationError("processor.breaks", what=phrase("decoding.assisted"))
                if getattr(params[_REQUEST], "beam_group", None) is not None:
                    raise GenerationError("processor.breaks", what=phrase("decoding.beams"))
                if _reads_on(params[_REQUEST]):
                    row = None
                else:
                    _agree(process.marker, text, row)
            rows.append(row)
        return process.marker.mark(logits, rows)


def _reads_on(request: Any) -> bool:
    """Whether its prompt is read in parts and this is not the last: SGLang drops the token."""
    end = getattr(request, "extend_end", None)
    return end is not None and end < len(getattr(request, "full_untruncated_fill_ids", ()))


def _agree(marker: Marker, text: _Text, row: int) -> None:
    """Let a row go on from the request's tokens, which may lag one behind what was drawn."""
    request = text.params[_REQUEST]
    output, own = request.output_ids, marker.drawn(row)
    known = len(output)
    taken_back = getattr(request, "retraction_count", 0)
    lags = taken_back == text.taken_back and len(own) == known + 1
    text.taken_back = taken_back
    same = known == 0 or (known <= len(own) and own[known - 1] == output[known - 1])
    pending = list(own[known:]) if lags else []
    marker.agree(row, known + len(pending), None if same else _OTHER, lambda: [*output, *pending])
