"""What is answered, as a signed statement."""

from __future__ import annotations

from typing import Any

from pura.report.statement import SCHEMA, StatementKey
from pura.serve.roles import Role
from pura.serve.service import Sign
from pura.serve.settings import Settings
from pura.version import __version__


def signer(key: StatementKey, settings: Settings) -> Sign:
    """Return what makes the statements of a service.

    Args:
        key: What signs them.
        settings: The name of the detector.
    """

    def sign(check: dict[str, Any], role: Role, language: str) -> str:
        return key.sign(
            {
                "schema": SCHEMA,
                "detector": settings.name or "PURA",
                "version": __version__,
                "role": role.value,
                "language": language,
                "check": check,
            }
        )

    return sign
