"""What a server may mark with, what a request asks for, and texts that an engine moves about."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pura.base.catalogue import phrase
from pura.base.errors import GenerationError, PuraError
from pura.base.files import read_bounded
from pura.embed.engine import MarkingEngine, Seed, rngs_for
from pura.embed.generate import check_keys
from pura.scheme import Payload, Profile, SecretKey, encode, parse_payload

if TYPE_CHECKING:
    import torch


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
class Deployments:
    """All that a server may mark with.

    Attributes:
        named: By the name that requests give.
        required: Refuse a request without a payload.
    """

    named: Mapping[str, Deployment]
    required: bool = False

    def mark(self, arguments: Mapping[str, Any] | None) -> tuple[Deployment, Payload] | None:
        """Read what a request asks for.

        Args:
            arguments: Its own arguments: ``pura_payload`` (0 and 1, or ``0x…``) and, where the
                server has several deployments, ``pura_profile``, the name of one.

        Returns:
            Key and profile, and what its text shall carry; None for one that wants no mark.

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
        return deployment, payload

    @classmethod
    def load(cls, path: Path) -> Deployments:
        """Read a file of deployments; the files that it names lie beside it.

        Raises:
            PuraError: It cannot be read or is not such a file; a profile or a key is not one.
        """
        try:
            data = json.loads(read_bounded(path, _MAX_BYTES, GenerationError))
            required = bool(data.get("required", False))
            paths = {
                str(name): (path.parent / one["profile"], path.parent / one["key"])
                for name, one in data["deployments"].items()
            }
            if not paths:
                raise ValueError("no deployments")
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


def checked(arguments: Mapping[str, Any] | None, deployments: Deployments) -> bool:
    """Refuse a request as serving engines expect it.

    Returns:
        Whether it is to be marked.

    Raises:
        ValueError: In words; engines answer such a request with an error of its own.
    """
    try:
        return deployments.mark(arguments) is not None
    except PuraError as error:
        raise ValueError(str(error)) from None


def _key(path: Path) -> SecretKey:
    return SecretKey.from_hex(read_bounded(path, 1024, GenerationError).decode("ascii", "replace"))


class Marker:
    """The texts of one process of a serving engine.

    Args:
        deployments: What it may mark with.
        entropy: Fresh random number of at least 128 bits. Processes that compute the same tokens
            side by side (tensor parallelism) must share it, and see requests in the same order.
    """

    def __init__(self, deployments: Deployments, entropy: int) -> None:
        self._deployments = deployments
        self._entropy = entropy
        self._engine = MarkingEngine()
        self._numbers: dict[int, int] = {}  # by row: which request of this process it is
        self._begun = 0

    def __len__(self) -> int:
        return len(self._engine)

    def begin(self, arguments: Mapping[str, Any] | None) -> int | None:
        """Begin a text.

        Args:
            arguments: The request's own; see :meth:`Deployments.mark`.

        Returns:
            Its row; None for a request that wants no mark.

        Raises:
            PuraError: See :meth:`Deployments.mark`.
        """
        mark = self._deployments.mark(arguments)
        if mark is None:
            return None
        self._begun += 1
        deployment, payload = mark
        rng = self._rng(self._begun, 0)
        row = self._engine.add(deployment.key, payload, deployment.profile, rng)
        self._numbers[row] = self._begun
        return row

    def end(self, row: int) -> None:
        """End a text."""
        self._engine.remove(row)
        del self._numbers[row]

    def drawn(self, row: int) -> Sequence[int]:
        """Return the tokens of a text as its row knows them; to be read only."""
        return self._engine.tokens(row)

    def agree(
        self, row: int, count: int, last: int | None, read: Callable[[], Sequence[int]]
    ) -> None:
        """Let a row go on from its text as it is.

        Args:
            row: The text.
            count: How many tokens it has.
            last: The last of them; None if there is none, or if it is not known here yet.
            read: Returns all of them; called only where they differ.
        """
        own = self._engine.tokens(row)
        if len(own) == count and (not own or last is None or last == own[-1]):
            return
        tokens = list(read())
        # Fresh randomness from here on: two processes may have drawn a different number of times.
        self._engine.resume(row, tokens, self._rng(self._numbers[row], len(tokens)))

    def mark(self, logits: torch.Tensor, rows: Sequence[int | None]) -> torch.Tensor:
        """Choose a token for every row and leave nothing else standing, in place.

        Whatever the engine does afterwards, temperature, top-k, top-p or greedy search, it takes
        that token. A line without a distribution is left to the engine.

        Args:
            logits: float [B, V].
            rows: [B], None for a line that is not marked.

        Raises:
            GenerationError: The profile is for more tokens than there are logits.
        """
        import torch

        try:
            drawn = self._engine.step(logits, rows)
        except ValueError:
            raise GenerationError("generate.logits", logits=logits.shape[1]) from None
        taken = np.array([row is not None for row in rows], dtype=bool) & (drawn.tokens >= 0)
        lines = torch.from_numpy(np.flatnonzero(taken)).to(logits.device)
        tokens = torch.from_numpy(drawn.tokens[taken]).to(logits.device)
        logits[lines] = float("-inf")
        logits[lines, tokens] = 0.0
        return logits

    def _rng(self, number: int, position: int) -> np.random.Generator:
        seed = np.random.SeedSequence(self._entropy, spawn_key=(number, position))
        return np.random.default_rng(seed)


class SingleText:
    """One marked text, for engines that ask a processor of its own for each request.

    Args:
        key: The secret key. Hazard: held until this is dropped.
        payload: What the text shall carry.
        profile: The profile that the verifier will use.
        seed: Of the ordinary randomness; None takes the operating system's.

    Raises:
        PayloadError: The payload does not fit the profile.
        ProfileError: The profile names another key.
    """

    def __init__(
        self, key: SecretKey, payload: Payload, profile: Profile, *, seed: Seed = None
    ) -> None:
        check_keys(profile, [key])
        self._engine = MarkingEngine()
        self._row = self._engine.add(key, payload, profile, rngs_for(seed, 1)[0])
        self._prompt: int | None = None

    def next_token(self, input_ids: Sequence[int], logits: torch.Tensor) -> int:
        """Choose the next token.

        Args:
            input_ids: [P + t], the prompt and what has been written; what is left of a draft may
                stand behind it.
            logits: float [V].

        Raises:
            GenerationError: The text does not go on with what was chosen, or there is no
                distribution, or one of fewer tokens than the profile has.
        """
        if self._prompt is None:
            self._prompt = len(input_ids)
        own = list(self._engine.tokens(self._row))
        if list(input_ids[self._prompt : self._prompt + len(own)]) != own:
            raise GenerationError("processor.grown")
        try:
            token = int(self._engine.step(logits[None], [self._row]).tokens[0])
        except ValueError:
            raise GenerationError("generate.logits", logits=logits.shape[0]) from None
        if token < 0:
            raise GenerationError("model.not-finite")
        return token


class MarkedRequests:
    """Requests whose ``extra_args`` name a payload."""

    @classmethod
    def deployments(cls) -> Deployments:
        """Return what may be marked with; override it to read keys from a store of your own."""
        return of_the_server()

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Refuse a request that cannot be marked as it asks.

        One that is marked leaves greedy: the engine's own draw would be thrown away. Not one with
        several answers, of which the engine wants none greedy.

        Raises:
            ValueError: Says why.
        """
        marked = checked(sampling_params.extra_args, cls.deployments())
        if marked and sampling_params.n == 1:
            sampling_params.temperature = 0.0

    @classmethod
    def marker(cls, vllm_config: Any) -> Marker:
        """Return the marker of this process; those of one tensor-parallel group draw alike.

        Raises:
            GenerationError: The engine guesses ahead (speculative decoding).
        """
        from vllm.distributed import get_tp_group

        if vllm_config.speculative_config is not None:
            raise GenerationError("processor.breaks", what=phrase("decoding.assisted"))
        entropy = get_tp_group().broadcast_object(secrets.randbits(128), src=0)
        return Marker(cls.deployments(), entropy)
