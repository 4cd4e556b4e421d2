"""What a wheel holds beside the tool: the lab, unless a slim one is asked for.

Called by hatchling (``pyproject.toml``). ``PURA_SLIM=1 python -m build --wheel`` leaves the lab
out; the tool imports nothing of it, and the command then has no ``pura lab``.
"""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LabUnlessSlim(BuildHookInterface[Any]):
    """Adds ``pura_lab``; an editable install finds it in the tree by itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the lab's package before the wheel is written."""
        if version == "standard" and not os.environ.get("PURA_SLIM"):
            build_data["force_include"]["core/pura_lab"] = "pura_lab"
