"""The deployments of a serving engine: which profiles and keys its adapter may mark with.

The file that ``PURA_SERVING`` names lists them; serving.md describes it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from pura.base.catalogue import phrase
from pura.base.decoder import decode, matching, refused_as, text
from pura.base.errors import GenerationError, naming, unusable
from pura.base.files import read_bounded
from pura.base.json_text import read_json
from pura.embed.generate import check_keys
from pura.embed.serving.private_files import refuse_readable, refuse_writable
from pura.keys.epochs import epoch_of, kind_of, today
from pura.scheme import PayloadSeries, Profile, SecretKey
from pura.scheme.keys import KeyOrigin

SERVING_VARIABLE: Final = "PURA_SERVING"
# A file of deployments is a page, and a key 64 digits; more is neither.
_MAX_CONFIG_BYTES: Final = 1 << 20
_MAX_KEY_BYTES: Final = 1024
_MAX_NAME: Final = 1000

_log = logging.getLogger(__name__)

_FileName = Annotated[str, text(phrase("what.not-text"), 1, _MAX_NAME)]
_Fingerprint = Annotated[str, matching("[0-9a-f]{16}", phrase("what.fingerprint"))]


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A profile and the key that goes with it.

    Attributes:
        profile: The profile that the auditors will verify with.
        key: The secret key. Hazard: held as long as the server runs.
    """

    profile: Profile
    key: SecretKey = field(repr=False)

    def __post_init__(self) -> None:
        check_keys(self.profile, [self.key])


@dataclass(frozen=True, kw_only=True)
class Deployments:
    """All deployments of one serving process.

    Attributes:
        named: The deployments by the names that a gateway assigns.
        required: Refuse a request that brings no ticket of a gateway.
    """

    named: Mapping[str, Deployment]
    required: bool = True

    def series(self) -> dict[str, PayloadSeries]:
        """Return the key, epoch and profile of each deployment, for the gateway's rows."""
        return {
            name: PayloadSeries.of(deployment.key, deployment.profile)
            for name, deployment in self.named.items()
        }


@dataclass(frozen=True, kw_only=True)
class _DeploymentFile:
    profile: _FileName
    key: _FileName
    epoch: _FileName | None = None
    parent: _Fingerprint | None = None


@dataclass(frozen=True, kw_only=True)
class _ServingFile:
    deployments: Mapping[str, _DeploymentFile]
    required: bool = True
    tickets: _FileName | None = None


@dataclass(frozen=True, kw_only=True)
class DeploymentFiles:
    """Where a deployment's profile and key are.

    Attributes:
        profile: File of the profile.
        key: File of the key.
        epoch: Day, ISO week or month that the key was derived for; None where the key marks by
            itself.
        parent: Fingerprint of the key that it was derived from; None: the one that the profile
            names.
    """

    profile: Path
    key: Path
    epoch: str | None = None
    parent: str | None = None

    def load(self) -> Deployment:
        """Read profile and key.

        Raises:
            PuraError: A file cannot be read, is exposed to other users, or is not a profile or key;
                or the epoch is not one of the profile's.
        """
        refuse_writable(self.profile)
        profile, key = Profile.load(self.profile), read_key(self.key)
        if profile.key_epochs is not None:
            # Rows and marks name the key that the epochs' keys are derived from.
            parent = self.parent or profile.key
            if not parent or not self.epoch or kind_of(self.epoch) != profile.key_epochs:
                raise GenerationError(
                    "serving.epoch", example=epoch_of(today(), profile.key_epochs)
                )
            key.note_origin(KeyOrigin(parent=parent, epoch=self.epoch))
        elif self.epoch is not None or self.parent is not None:
            name = "parent" if self.epoch is None else "epoch"
            raise unusable(GenerationError, "serving-file", phrase("what.unknown"), name)
        return Deployment(profile=profile, key=key)


@dataclass(frozen=True, kw_only=True)
class ServingConfig:
    """The file of deployments, without the keys: what the process before the engine needs.

    Attributes:
        files: The files of each deployment, by its name.
        required: Refuse a request that brings no ticket of a gateway.
        tickets: Folder in which gateways of other processes listen; None: the gateway is in the
            engine's own process.
    """

    files: Mapping[str, DeploymentFiles]
    required: bool
    tickets: Path | None

    @classmethod
    def load(cls, path: Path) -> ServingConfig:
        """Read a file of deployments; the files that it names are relative to its folder.

        Raises:
            GenerationError: The file cannot be read, can be changed by other users, or does not
                list deployments.
        """
        refuse_writable(path)
        content = read_bounded(path, _MAX_CONFIG_BYTES, GenerationError)
        with naming(path.name), refused_as(GenerationError, "serving-file"):
            listed = decode(_ServingFile, read_json(content), sparse=True)
            if not listed.deployments:
                raise unusable(
                    GenerationError, "serving-file", phrase("what.missing"), "deployments"
                )
        folder = path.parent
        return cls(
            files={
                name: DeploymentFiles(
                    profile=folder / entry.profile,
                    key=folder / entry.key,
                    epoch=entry.epoch,
                    parent=entry.parent,
                )
                for name, entry in listed.deployments.items()
            },
            required=listed.required,
            tickets=None if listed.tickets is None else folder / listed.tickets,
        )

    def deployments(self) -> Deployments:
        """Read the profiles and keys.

        Raises:
            PuraError: A file cannot be read, is exposed to other users, or is not a profile or key.
        """
        named = {name: files.load() for name, files in self.files.items()}
        _log.info("%d deployments loaded, tickets required: %s", len(named), self.required)
        return Deployments(named=named, required=self.required)


@cache
def serving_config() -> ServingConfig:
    """Return the configuration that ``PURA_SERVING`` names; read once.

    Raises:
        PuraError: The variable is not set, or see :meth:`ServingConfig.load`.
    """
    name = os.environ.get(SERVING_VARIABLE)
    if not name:
        raise GenerationError("serving.variable", name=SERVING_VARIABLE)
    return ServingConfig.load(Path(name))


def read_key(path: Path) -> SecretKey:
    """Read a key file that no other user can read.

    Raises:
        PuraError: The file cannot be read, is exposed to other users, or is not a key.
    """
    refuse_readable(path)
    content = read_bounded(path, _MAX_KEY_BYTES, GenerationError)
    return SecretKey.from_hex(content.decode("ascii", "replace"))
