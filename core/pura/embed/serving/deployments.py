"""What a server may mark with, and what a request asks for.

Keys and profiles are the server's: they stand in a file that only it can read, named by the
variable ``PURA_SERVING``. A request names one of them and a payload; a key never travels with it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from pura.base.errors import GenerationError, PuraError
from pura.base.files import read_bounded
from pura.embed.prompts import check_keys
from pura.scheme import Payload, Profile, SecretKey, encode, parse_payload

VARIABLE: Final = "PURA_SERVING"
PAYLOAD: Final = "pura_payload"
PROFILE: Final = "pura_profile"
_MAX_BYTES: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A profile and the key that goes with it.

    Attributes:
        profile: What the auditors will verify with.
        key: The secret key. Hazard: held as long as the server runs.
    """

    profile: Profile
    key: SecretKey = field(repr=False)

    def __post_init__(self) -> None:
        check_keys(self.profile, [self.key])


@dataclass(frozen=True, kw_only=True)
class MarkOrder:
    """What one request asks for.

    Attributes:
        deployment: Key and profile.
        payload: What its text shall carry.
    """

    deployment: Deployment
    payload: Payload


@dataclass(frozen=True, kw_only=True)
class Deployments:
    """All that a server may mark with.

    Attributes:
        named: By the name that requests give.
        required: Refuse a request without a payload.
    """

    named: Mapping[str, Deployment]
    required: bool = False

    def mark(self, arguments: Mapping[str, Any] | None) -> MarkOrder | None:
        """Read what a request asks for.

        Args:
            arguments: Its own arguments: ``pura_payload`` (0 and 1, or ``0x…``) and, where the
                server has several deployments, ``pura_profile``, the name of one.

        Returns:
            None for a request that wants no mark.

        Raises:
            GenerationError: No payload though one is required, or an unknown deployment.
            PayloadError: The payload does not fit the profile.
        """
        given = arguments or {}
        wanted = given.get(PAYLOAD)
        if wanted is None:
            if self.required or PROFILE in given:
                raise GenerationError("serving.unknown", name=PAYLOAD)
            return None
        name = given.get(PROFILE)
        if name is None and len(self.named) == 1:
            name = next(iter(self.named))
        if not isinstance(name, str) or name not in self.named:
            raise GenerationError("serving.unknown", name=PROFILE)
        if not isinstance(wanted, str):
            raise GenerationError("serving.unknown", name=PAYLOAD)
        deployment = self.named[name]
        payload = parse_payload(wanted, deployment.profile.payload_bits)
        encode(payload, deployment.profile)
        return MarkOrder(deployment=deployment, payload=payload)

    @classmethod
    def load(cls, path: Path) -> Deployments:
        """Read a file of deployments; the files that it names lie beside it.

        Raises:
            PuraError: It cannot be read or is not such a file; a profile or a key is not one.
        """
        try:
            data = json.loads(read_bounded(path, _MAX_BYTES, GenerationError))
            files = {str(name): (one["profile"], one["key"]) for name, one in _items(data)}
            required = bool(data.get("required", False))
            paths = {
                name: (path.parent / profile, path.parent / key)
                for name, (profile, key) in files.items()
            }
        except (ValueError, TypeError, KeyError, AttributeError):
            raise GenerationError("serving.file", name=path.name) from None
        named = {
            name: Deployment(profile=Profile.load(profile), key=_key(key))
            for name, (profile, key) in paths.items()
        }
        return cls(named=named, required=required)


@cache
def of_the_server() -> Deployments:
    """Return what ``PURA_SERVING`` names; read once.

    Raises:
        PuraError: The variable is not set, or see :meth:`Deployments.load`.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        raise GenerationError("serving.variable", name=VARIABLE)
    return Deployments.load(Path(named))


def checked(arguments: Mapping[str, Any] | None, deployments: Deployments) -> None:
    """Refuse a request as serving engines expect it.

    Raises:
        ValueError: In words; engines answer such a request with an error of its own.
    """
    try:
        deployments.mark(arguments)
    except PuraError as error:
        raise ValueError(str(error)) from None


def _items(data: Any) -> list[tuple[Any, Any]]:
    items = list(data["deployments"].items())
    if not items:
        raise ValueError("no deployments")
    return items


def _key(path: Path) -> SecretKey:
    return SecretKey.from_hex(read_bounded(path, 1024, GenerationError).decode("ascii", "replace"))
