"""The decoders whose payload a record may report; loads nothing."""

from __future__ import annotations

from typing import Final

DECODERS: Final = ("exact", "paper")
"""The exact decoder, and the published one."""
