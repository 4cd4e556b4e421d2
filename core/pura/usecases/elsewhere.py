"""Audits in other processes: a worker gets this plan, and the keys another way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pura.base.errors import InputError
from pura.base.paths import Paths
from pura.scheme import SecretKey
from pura.scheme.keys import wipe_buffer
from pura.usecases.audits import Prepared, Setup, prepared
from pura.usecases.environment import Environment


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """What a worker elsewhere does: audits with the keys that come another way.

    Attributes:
        paths: Where models and register lie.
        device: As of the environment.
        dtype: As of the environment.
        setup: With what texts are audited, resolved.
    """

    paths: Paths
    device: str
    dtype: str
    setup: Setup

    @contextmanager
    def prepared(self, secrets: Sequence[bytearray]) -> Iterator[Prepared]:
        """Load the model and take the keys.

        Args:
            secrets: The keys; overwritten here.

        Raises:
            PuraError: One of them cannot be used here.
        """
        with ExitStack() as held:
            keys = [held.enter_context(SecretKey(secret)) for secret in secrets]
            for secret in secrets:
                wipe_buffer(secret)
            if [key.fingerprint for key in keys] != fingerprints(self.setup):
                raise InputError("batch.no-worker", code="batch-worker")
            at = Environment(
                paths=self.paths,
                device=self.device,
                dtype=self.dtype,
                lent_keys={key.fingerprint: key for key in keys},
            )
            yield held.enter_context(prepared(at, self.setup))


def fingerprints(setup: Setup) -> list[str]:
    """Return the keys that a set-up needs, by fingerprint."""
    return [key.fingerprint for key in setup.needed_keys]
