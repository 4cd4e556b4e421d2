"""What a gateway passes on to each engine: a table an engine, tested against its own document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pura.embed.serving.requests import EngineRoutes
from pura.embed.serving.routes import llama_cpp, sglang, vllm

ENGINES: Final[Mapping[str, EngineRoutes]] = {
    table.name: table for table in (vllm.ROUTES, llama_cpp.ROUTES, sglang.ROUTES)
}
"""The tables, by the name that a policy gives as ``engine``."""
