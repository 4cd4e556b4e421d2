"""What is answered, as a signed statement."""

from __future__ import annotations

from pura.report.statement import Statement, StatementKey
from pura.serve.answers import Answer
from pura.serve.service import Sign
from pura.serve.settings import Settings
from pura.version import __version__
from pura.words.sentence import Sentence


def signer(key: StatementKey, settings: Settings) -> Sign:
    """Return what makes the statements of a service.

    Args:
        key: What signs them.
        settings: The name of the detector.
    """

    def sign(answer: Answer) -> str:
        policy = answer.policy or {}
        return key.sign(
            Statement(
                detector=settings.name or "PURA",
                version=__version__,
                role=answer.role.value,
                created=answer.created,
                sha256=answer.sha256,
                verdict=answer.verdict,
                headline=answer.headline or Sentence(key=""),
                strength=answer.strength,
                supports=answer.supports,
                policy=str(policy.get("sha256", "")),
                policy_name=f"{policy.get('name')} {policy.get('version')}",
            )
        )

    return sign
