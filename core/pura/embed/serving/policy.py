"""The policy of a gateway: for whom it marks with what, and how it knows who asks.

The file that ``PURA_GATEWAY`` names; serving.md describes it.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final

from pura.base.catalogue import phrase
from pura.base.decoder import decode, form_of, list_of, refused_as, text, whole
from pura.base.errors import GenerationError, naming, unusable
from pura.base.files import read_bounded
from pura.base.json_text import read_json
from pura.embed.serving.deployments import read_key
from pura.embed.serving.manifests import Signing
from pura.embed.serving.private_files import refuse_readable, refuse_writable
from pura.embed.serving.requests import EngineRoutes, RequestRefusedError
from pura.embed.serving.routes import ENGINES
from pura.questions.keeping import QuestionKeeper
from pura.questions.store import DAYS, MOST_DAYS
from pura.scheme import Profile

GATEWAY_VARIABLE: Final = "PURA_GATEWAY"
CUSTOMER_HEADER: Final = "x-pura-customer"
NONCE_HEADER: Final = "x-pura-nonce"
# Of 8 tokens no mark was found, of 16 nearly every one (docs/how-it-works/decisions/082).
LEAST_TOKENS: Final = 16
# The whole payload of a profile without fields.
WHOLE_PAYLOAD: Final = "bits"
NUMBER: Final = "@number"
CUSTOMER: Final = "@customer"
TODAY: Final = "@today"

_MAX_POLICY_BYTES: Final = 1 << 20
_MAX_SECRET_BYTES: Final = 1024
_LEAST_SECRET: Final = 16  # characters
_MOST_TOKENS: Final = 4096
# A proxy on the same machine that listens on a Unix socket has no address.
_UNIX: Final = "unix"

Scope = MutableMapping[str, Any]

_Name = Annotated[str, text(phrase("what.not-text"), 1, 200)]


@dataclass(frozen=True, kw_only=True)
class Customer:
    """Somebody for whom answers are marked.

    Attributes:
        who: The name in the register; a pseudonym is enough, and better.
        number: For a payload with a field ``@customer``; None where it has none.
    """

    who: str
    number: int | None = None


@dataclass(frozen=True, kw_only=True)
class TrustedProxy:
    """The proxy that says who asks: what it says counts, and nothing that a client writes.

    Attributes:
        header: The header that names the customer.
        networks: Addresses from which the proxy connects.
        unix: Whether it connects over a Unix socket.
        secret: The token that it shows as ``Authorization: Bearer``; None: it shows none.
    """

    header: str
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]
    unix: bool = False
    secret: bytes | None = field(default=None, repr=False)

    def identify(self, scope: Scope) -> str | None:
        """Return who asks; None where no trusted proxy says so.

        Raises:
            RequestRefusedError: A header of the proxy's is there twice.
        """
        named = header_once(scope, self.header)
        shown = header_once(scope, "authorization") or b""
        if named is None or not self._trusts(scope.get("client")):
            return None
        if self.secret is not None and not hmac.compare_digest(shown, b"Bearer " + self.secret):
            return None
        return named.decode("latin-1")

    def receipt(self, scope: Scope) -> str | None:
        """Return what an answer is named, so that the proxy knows it; None: it did not ask.

        Raises:
            RequestRefusedError: The proxy's random number is there twice.
        """
        nonce = header_once(scope, NONCE_HEADER)
        if nonce is None or self.secret is None:
            return None
        return receipt(self.secret, nonce.decode("latin-1"))

    def _trusts(self, client: tuple[str, int] | None) -> bool:
        if client is None:
            return self.unix
        try:
            address = ipaddress.ip_address(client[0])
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None) or address
        return any(mapped in network for network in self.networks)


def receipt(secret: bytes, nonce: str) -> str:
    """Return the name of an answer that only who knows the secret can give.

    Args:
        secret: That gateway and proxy share.
        nonce: The random number of the request.
    """
    return f"pura-{hmac.new(secret, nonce.encode('latin-1', 'replace'), 'sha256').hexdigest()}"


def header_once(scope: Scope, name: str) -> bytes | None:
    """Return the value of a header; None where it is absent.

    Raises:
        RequestRefusedError: It is there twice: one of them would be a client's.
    """
    values = [value for header, value in scope["headers"] if header.lower() == name.encode()]
    if len(values) > 1:
        raise RequestRefusedError("gateway.twice", name=name, code="header-twice")
    return bytes(values[0]) if values else None


@dataclass(frozen=True, kw_only=True)
class QuestionKeeping:
    """How the questions behind answers are kept.

    Attributes:
        store: The file of the question store; made where it is not there.
        key: File of the store's key, which no other user can read.
        days: How long they are kept; the policy's upper limit.
    """

    store: Path
    key: Path
    days: int = DAYS

    def keeper(self) -> QuestionKeeper:
        """Open the store.

        Raises:
            PuraError: Key or store cannot be used.
        """
        return QuestionKeeper(self.store, read_key(self.key), self.days)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a gateway assigns, to whom.

    Attributes:
        deployment: The name of the engine's deployment.
        profile: Its profile.
        engine: What is passed on to the engine.
        models: The names under which the engine serves the model; the first is the usual one.
        payload: For each field of the profile a constant, ``@customer``, ``@today`` or ``@number``,
            a number drawn at random; of a profile without fields, the same under ``bits``.
        customers: By the name that the trusted proxy gives.
        proxy: Who says who asks.
        log: Folder of the rows.
        tickets: Folder in which this gateway listens for adapters of other processes; None: the
            adapter is in this process.
        required: Refuse who is no customer; else such a request goes on unmarked.
        least_tokens: The least that a request may ask for at most.
        signing: How a manifest is signed for each answer; None: for none.
        questions: How the questions behind answers are kept; None: they are not kept.
    """

    deployment: str
    profile: Profile
    engine: EngineRoutes
    models: tuple[str, ...]
    payload: Mapping[str, str | int]
    customers: Mapping[str, Customer]
    proxy: TrustedProxy
    log: Path
    tickets: Path | None = None
    required: bool = True
    least_tokens: int = LEAST_TOKENS
    signing: Signing | None = None
    questions: QuestionKeeping | None = None

    @classmethod
    def load(cls, path: Path) -> Policy:
        """Read a policy; the files that it names are relative to its folder.

        Raises:
            PuraError: A file cannot be read, can be changed by other users, or is not valid.
        """
        refuse_writable(path)
        content = read_bounded(path, _MAX_POLICY_BYTES, GenerationError)
        with naming(path.name):
            with refused_as(GenerationError, "gateway-file"):
                stated = decode(_PolicyFile, read_json(content), sparse=True)
            return cls._of(stated, path.parent)

    @classmethod
    def _of(cls, stated: _PolicyFile, folder: Path) -> Policy:
        """Return the policy that a file states, with the files that it names."""
        refuse_writable(folder / stated.profile)
        profile = Profile.load(folder / stated.profile)
        names = {field.name for field in profile.fields} or {WHOLE_PAYLOAD}
        payload = dict.fromkeys(names, NUMBER) if stated.payload is None else stated.payload
        if payload.keys() != names:
            raise _unfit("payload")
        customers = {name: _customer(name, said) for name, said in stated.customers.items()}
        needs_number = CUSTOMER in payload.values()
        if needs_number and any(one.number is None for one in customers.values()):
            raise _unfit("customers")
        try:
            signing = stated.manifest and Signing.load(stated.manifest, folder, profile.fingerprint)
        except (ValueError, KeyError, TypeError):
            raise _unfit("manifest") from None
        return cls(
            deployment=stated.deployment,
            profile=profile,
            engine=ENGINES[stated.engine],
            models=stated.models or (stated.deployment,),
            payload=payload,
            customers=customers,
            proxy=_proxy(stated.proxy, folder),
            log=folder / stated.log,
            tickets=None if stated.tickets is None else folder / stated.tickets,
            required=stated.required,
            least_tokens=stated.least_tokens,
            signing=signing or None,
            questions=None
            if stated.questions is None
            else QuestionKeeping(
                store=folder / stated.questions.store,
                key=folder / stated.questions.key,
                days=stated.questions.days,
            ),
        )


@cache
def stated_policy() -> Policy:
    """Return the policy that ``PURA_GATEWAY`` names; read once.

    Raises:
        PuraError: The variable is not set, or see :meth:`Policy.load`.
    """
    name = os.environ.get(GATEWAY_VARIABLE)
    if not name:
        raise GenerationError("gateway.variable", name=GATEWAY_VARIABLE)
    return Policy.load(Path(name))


@dataclass(frozen=True, kw_only=True)
class _ProxyFile:
    addresses: Annotated[
        tuple[str, ...], list_of(text(phrase("what.not-text"), 1, 100), 100, "10.0.0.0/8")
    ]
    header: _Name = CUSTOMER_HEADER
    secret_file: _Name | None = None


@dataclass(frozen=True, kw_only=True)
class _QuestionsFile:
    store: _Name
    key: _Name
    days: Annotated[int, whole(1, MOST_DAYS)] = DAYS


_ENGINE: Final = form_of(
    {"enum": [*ENGINES]},
    (
        lambda name: isinstance(name, str) and name in ENGINES,
        phrase("what.one-of", known=", ".join(ENGINES)),
    ),
)


@dataclass(frozen=True, kw_only=True)
class _PolicyFile:
    deployment: _Name
    profile: _Name
    customers: Mapping[str, Any]
    log: _Name
    proxy: _ProxyFile
    engine: Annotated[str, _ENGINE] = "vllm"
    models: Annotated[
        tuple[str, ...], list_of(text(phrase("what.not-text"), 1, 80), 100, "council-7b")
    ] = ()
    payload: Mapping[str, Any] | None = None
    tickets: _Name | None = None
    required: bool = True
    least_tokens: Annotated[int, whole(0, _MOST_TOKENS)] = LEAST_TOKENS
    manifest: Mapping[str, Any] | None = None
    questions: _QuestionsFile | None = None


def _customer(name: str, said: Any) -> Customer:
    """Read a customer: a number, an object with ``who`` and perhaps ``number``, or null."""
    if said is None:
        return Customer(who=name)
    if isinstance(said, int) and not isinstance(said, bool):
        return Customer(who=name, number=said)
    with refused_as(GenerationError, "gateway-file", "customers"):
        return decode(Customer, said, sparse=True)


def _proxy(stated: _ProxyFile, folder: Path) -> TrustedProxy:
    secret = None
    if stated.secret_file is not None:
        secret = read_secret(folder / stated.secret_file)
        if len(secret) < _LEAST_SECRET:
            raise _unfit("proxy.secret_file")
    try:
        networks = tuple(
            ipaddress.ip_network(address, strict=False)
            for address in stated.addresses
            if address != _UNIX
        )
        if not stated.addresses:
            raise ValueError("no address")
    except ValueError:
        raise _unfit("proxy.addresses") from None
    return TrustedProxy(
        header=stated.header.lower(),
        networks=networks,
        unix=_UNIX in stated.addresses,
        secret=secret,
    )


def _unfit(name: str) -> GenerationError:
    return unusable(GenerationError, "gateway-file", phrase("what.unfit"), name)


def read_secret(path: Path) -> bytes:
    """Read the first line of a file that no other user may read.

    Raises:
        GenerationError: The file cannot be read, or is exposed to others.
    """
    refuse_readable(path)
    lines = read_bounded(path, _MAX_SECRET_BYTES, GenerationError).splitlines()
    return lines[0].strip() if lines else b""
