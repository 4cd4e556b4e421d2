"""How Schemathesis sends what is no JSON; see ``SCHEMATHESIS_HOOKS``."""

from __future__ import annotations

import json
from typing import Any

import schemathesis


@schemathesis.serializer("application/c2pa")
def manifest_store(_context: Any, value: Any) -> bytes:
    """Return the bytes of what was thought of as a manifest store."""
    return value if isinstance(value, bytes) else json.dumps(value).encode()
