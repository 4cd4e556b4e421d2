"""Embedding: the marking engine, generation of marked texts, and a processor for other stacks.

:mod:`pura.embed.processor` is imported by name, since it brings torch and transformers with it.
"""

from pura.embed.engine import MarkingEngine
from pura.embed.generate import Generated, check_fit, generate, generate_batch

__all__ = ["Generated", "MarkingEngine", "check_fit", "generate", "generate_batch"]
