"""What the lab needs: the tool of the same version, with the extra that the lab's libraries are.

Called by hatchling (``pyproject.toml`` beside this file). The lab uses the tool's inner modules, so
another version of the tool would not do.
"""

from __future__ import annotations

from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ToolOfSameVersion(MetadataHookInterface):
    """Fills in the dependencies, in which the version stands."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Name the tool in the version that was just read."""
        metadata["dependencies"] = [f"pura-audit[lab]=={metadata['version']}"]
