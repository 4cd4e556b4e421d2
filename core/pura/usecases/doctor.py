"""What a support person asks first: is everything here that an audit needs, and can it be used?

Nothing is changed and nothing is loaded: no torch, no model, no key. What is told holds neither a
key nor a text.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal

from pura.base.catalogue import Value, catalogue
from pura.base.errors import PuraError
from pura.base.files import exposed
from pura.base.paths import build_hash, resource
from pura.base.process import stays_out_of_swap
from pura.caselog import list_cases
from pura.documents import values as bounds
from pura.keys import State, words
from pura.model import libraries
from pura.model.device import free_memory, gigabytes, instructions, memory_need
from pura.model.store import known_models
from pura.register.store import Register
from pura.usecases.cases import open_log
from pura.usecases.environment import Environment
from pura.usecases.power import tables_of
from pura.usecases.selftest import check_cage
from pura.verdict.policy import load_policy
from pura.version import __version__

Grade = Literal["ok", "warning", "fault"]
PARTS: Final = (
    *("torch", "transformers", "tokenizers", "safetensors", "gguf", "numpy", "scipy"),
    *(
        "cryptography",
        "keyring",
        "pypdfium2",
        "lxml",
        "typst",
        "pyHanko",
        "joserfc",
        "typer",
        "rich",
    ),
)
EXTRAS: Final = ("PySide6-Essentials", "pyarrow", "fsspec", "ray")
_LEAST_ROOM: Final = 2_000_000_000
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, kw_only=True)
class DoctorRemark:
    """What was seen, as a text of the volume ``doctor``."""

    key: str
    values: dict[str, Value] = field(default_factory=dict)

    def words(self, language: str) -> tuple[str, str]:
        """Return what was seen and the way out, in a language; like an error's."""
        texts = catalogue("doctor")
        hint = texts[self.key].hint
        way_out = texts.fill(hint, language, self.values) if hint else ""
        return texts.fill(self.key, language, self.values), way_out


@dataclass(frozen=True, kw_only=True)
class Examined:
    """One thing that was looked at.

    Attributes:
        name: What it is, for programs.
        grade: ``ok``, ``warning`` (it works, something is worth knowing) or ``fault``.
        remark: What was seen, with the way out.
    """

    name: str
    grade: Grade
    remark: DoctorRemark | PuraError


def examine(environment: Environment, *, hashes: bool = False) -> Iterator[Examined]:
    """Look at everything that an audit needs.

    Args:
        environment: Whose folders, keys and models.
        hashes: Also hash every file of the installed models, which takes seconds each.
    """
    looks: tuple[Callable[[], Iterator[Examined]], ...] = (
        _program,
        _parts,
        _processor,
        _offline,
        lambda: _folders(environment),
        lambda: _models(environment, hashes=hashes),
        lambda: _keys(environment),
        lambda: _profiles(environment),
        lambda: _policy(environment),
        lambda: _register(environment),
        lambda: _case_log(environment),
        lambda: _service(environment),
        _cage,
        _fonts,
        _programs,
    )
    for look in looks:
        yield from look()


def _seen(name: str, key: str, grade: Grade = "ok", /, **values: Value) -> Examined:
    return Examined(name=name, grade=grade, remark=DoctorRemark(key=key, values=values))


def _fault(name: str, error: PuraError) -> Examined:
    return Examined(name=name, grade="fault", remark=error)


def _program() -> Iterator[Examined]:
    how = "packaged" if getattr(sys, "frozen", False) else "source"
    yield _seen("version", f"version.{how}", version=__version__, build=build_hash()[:16])
    yield _seen("python", "python", version=platform.python_version(), where=sys.executable)
    yield _seen("platform", "platform", name=platform.platform())


def _parts() -> Iterator[Examined]:
    here = {name: _version(name) for name in (*PARTS, *EXTRAS)}
    listed = ", ".join(f"{name} {found}" for name, found in here.items() if found)
    yield _seen("libraries", "libraries", listed=listed)
    if missing := [name for name in PARTS if not here[name]]:
        yield _seen("libraries", "libraries.missing", "fault", listed=", ".join(missing))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _processor() -> Iterator[Examined]:
    known = ", ".join(sorted(instructions())) or "–"
    free = free_memory()
    yield _seen(
        "processor",
        "processor" if free is not None else "processor.memory-unknown",
        cores=os.cpu_count() or 1,
        instructions=known,
        free=gigabytes(free or 0),
    )


def _offline() -> Iterator[Examined]:
    libraries.prepare()
    switches = libraries.switches()
    off = [name for name, wanted in switches.items() if os.environ.get(name) != wanted]
    if off:
        yield _seen("offline", "offline.open", "fault", listed=", ".join(off))
    else:
        yield _seen("offline", "offline", listed=", ".join(switches))


def _folders(environment: Environment) -> Iterator[Examined]:
    paths = environment.paths
    for name, path in (("data", paths.data), ("config", paths.config), ("state", paths.state)):
        yield _folder(f"folder-{name}", path)


def _folder(name: str, path: Path) -> Examined:
    shown = str(path)
    if not path.exists():
        return _seen(name, "folder.absent", path=shown)
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return _seen(name, "folder.shut", "fault", path=shown)
    free = shutil.disk_usage(path).free
    if free < _LEAST_ROOM:
        return _seen(name, "folder.full", "warning", path=shown, free=gigabytes(free))
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & _OTHERS & ~(stat.S_IXGRP | stat.S_IXOTH):
        return _seen(name, "folder.open", "warning", path=shown, mode=f"{mode:04o}")
    return _seen(name, "folder", path=shown, mode=f"{mode:04o}", free=gigabytes(free))


def _models(environment: Environment, *, hashes: bool) -> Iterator[Examined]:
    store, free = environment.models, free_memory()
    known = {one.name: one.fingerprint for one in known_models()}
    for folder in sorted(store.folder.iterdir()) if store.folder.is_dir() else ():
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        try:
            model = store.get(folder.name)
        except PuraError as error:
            yield _fault("model", error)
            continue
        lacking = [name for name in model.files if not (model.path / name).is_file()]
        if lacking:
            yield _seen("model", "model.lacks", "fault", name=model.name, file=lacking[0])
            continue
        if hashes:
            try:
                store.verify(model.name)
            except PuraError as error:
                yield _fault("model", error)
                continue
        values: dict[str, Value] = {"name": model.name, "fingerprint": model.fingerprint}
        if model.fingerprint != known.get(model.name, model.fingerprint):
            yield _seen("model", "model.other", "fault", **values, known=known[model.name])
            continue
        room = memory_need(model.parameters, free=free)
        if room.fits is False:
            values |= {"need": gigabytes(room.need_bytes), "free": gigabytes(free or 0)}
            yield _seen("model", "model.large", "warning", **values)
        else:
            yield _seen("model", "model.hashed" if hashes else "model", **values)
    if not store.list():
        yield _seen("model", "model.none", "warning")


def _keys(environment: Environment) -> Iterator[Examined]:
    try:
        store = environment.keys
        standing, count = store.standing(), len(store.list())
        exposed = store.exposures()
    except PuraError as error:
        yield _fault("keys", error)
        return
    for problem in exposed:
        yield Examined(name="keys", grade="warning", remark=problem)
    if not stays_out_of_swap():
        yield _seen("keys", "keys.swap", "warning")
    if standing.state is State.READY:
        yield _seen("keys", "keys", store=standing.title, count=count)
        return
    shut = standing.state not in (State.NO_BACKEND, State.LOCKED)
    yield Examined(
        name="keys",
        grade="fault" if shut else "warning",
        remark=_KeyStore(state=standing.state, title=standing.title, files=not store.has_keyring),
    )


@dataclass(frozen=True, kw_only=True)
class _KeyStore(DoctorRemark):
    """The state of the key store, in the words that it has itself."""

    key: str = ""
    state: State
    title: str
    files: bool

    def words(self, language: str) -> tuple[str, str]:
        """Return its sentence and its way out."""
        return words(self.state, self.title, language, files=self.files)


def _profiles(environment: Environment) -> Iterator[Examined]:
    names = environment.profiles.names()
    sound = 0
    for name in names:
        try:
            environment.profiles.get(name)
        except PuraError as error:
            yield _fault("profile", error)
        else:
            sound += 1
    yield _seen("profile", "profiles", count=sound)


def _policy(environment: Environment) -> Iterator[Examined]:
    path = environment.paths.policy
    try:
        policy = load_policy(path)
        tables = tables_of(environment, policy)
    except PuraError as error:
        yield _fault("policy", error)
        return
    yield _seen("policy", "policy.stored" if path.exists() else "policy.default")
    yield _seen("power", "power" if tables else "power.shipped", count=len(tables))


def _register(environment: Environment) -> Iterator[Examined]:
    path = environment.paths.register
    if not path.exists():
        yield _seen("register", "register.none")
        return
    try:
        with Register(path, read_only=True) as register:
            yield _seen("register", "register", count=len(register))
    except PuraError as error:
        yield _fault("register", error)


def _service(environment: Environment) -> Iterator[Examined]:
    """Look at what the detector that others may ask keeps; nothing where there never was one."""
    folder, store = environment.paths.config / "serve", environment.paths.data / "serve.sqlite3"
    if not folder.is_dir():
        return
    shown = str(folder)
    kept = sorted(one for one in folder.iterdir() if one.is_file())
    if command := next((found for one in kept if (found := exposed(one))), ""):
        yield _seen("service", "service.open", "fault", path=shown, command=command)
    elif store.exists() and not (folder / "salt").exists():
        yield _seen("service", "service.salt", "fault", path=shown)
    else:
        yield _seen("service", "service", path=shown)


def _case_log(environment: Environment) -> Iterator[Examined]:
    if not environment.paths.caselog.exists():
        yield _seen("case-log", "case-log.none")
        return
    try:
        with open_log(environment, read_only=True) as log:
            yield _seen("case-log", "case-log", count=len(list_cases(log)))
    except PuraError as error:
        yield _fault("case-log", error)


def _cage() -> Iterator[Examined]:
    cage = check_cage()
    values: dict[str, Value] = {
        "file": bounds.MAX_FILE_BYTES >> 20,
        "memory": bounds.CHILD_MEMORY_BYTES >> 20,
        "seconds": bounds.CHILD_CPU_SECONDS,
    }
    if cage is None:
        yield _seen("cage", "cage.weak", "warning", **values)
    elif cage.problem is not None:
        yield _fault("cage", cage.problem)
    else:
        yield _seen("cage", "cage", tried=cage.tried, **values)


def _fonts() -> Iterator[Examined]:
    try:
        fonts = [path for path in resource("report", "fonts").iterdir() if path.suffix == ".ttf"]
    except FileNotFoundError:
        fonts = []
    if fonts:
        yield _seen("fonts", "fonts", count=len(fonts))
    else:
        yield _seen("fonts", "fonts.none", "fault")


def _programs() -> Iterator[Examined]:
    """Look for what is called or asked and does not come with the libraries."""
    packaged = getattr(sys, "frozen", False)
    if packaged or importlib.util.find_spec("pip") is not None:
        yield _seen("pip", "pip")
    else:
        yield _seen("pip", "pip.none", "warning")
    if sys.platform == "linux":
        here = bool(os.environ.get("DBUS_SESSION_BUS_ADDRESS"))
        yield _seen("dbus", "dbus" if here else "dbus.none", "ok" if here else "warning")
