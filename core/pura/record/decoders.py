"""Names of the decoders that a record may report; this module imports nothing."""

from __future__ import annotations

from typing import Final

DECODERS: Final = ("exact", "paper")
"""The exact decoder, and the published one."""
