"""Texts that records of 0.3.0 name, by the key that says the same today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_MERGED: Final[Mapping[str, tuple[str, ...]]] = {
    "fitness.tokenizer": ("fitness.vocabulary",),
    "input.empty": ("input.no-text",),
    "input.outside": ("packed.entities",),
    "input.read": ("input.read-end",),
    "input.surrogates": ("input.surrogate",),
    "json.no-field": ("batch.no-column",),
    "batch.damaged": ("batch.csv",),
    "limit.characters": ("limit.pdf",),
    "limit.deep": ("limit.document-deep", "limit.json", "limit.mail-depth"),
    "limit.file": ("limit.answer", "limit.part", "limit.rtf"),
    "limit.mail-header": ("limit.mail-headers",),
    "limit.parts": (
        "limit.mail-parameters",
        "limit.mail-parts",
        "limit.packed",
        "limit.pages",
    ),
    "limit.texts": ("limit.mailbox", "limit.table"),
    "limit.time": ("limit.computing",),
    "packed.locked": ("batch.zip-locked",),
}
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "kind.packed": ("7z", "bzip2", "gzip", "rar", "xz", "zip"),
    "kind.picture": ("gif", "jpeg", "png"),
}
PRESENT: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    **{old: (key, {}) for key, olds in _MERGED.items() for old in olds},
    **{
        f"kind.{name}": (key, {"name": name if key == "kind.packed" else name.upper()})
        for key, names in _KINDS.items()
        for name in names
    },
    "input.special": ("input.read", {"why": {"key": "reason.special", "values": {}}}),
    "model.ids": ("audit.ids-list", {}),
}
"""The key of today, and the values that the former one did not have."""
