"""Is everything here that an audit needs, and does this machine compute what the scheme says?"""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from pura.base.catalogue import Value, catalogue
from pura.base.errors import InputError, PuraError
from pura.base.files import exposed
from pura.base.json_text import read_json
from pura.base.paths import build_hash, resource
from pura.base.process import (
    NOT_SHUT_STATUS,
    confines_children,
    converse,
    start_child,
    stays_out_of_swap,
)
from pura.caselog import list_cases
from pura.detect.decode.exact import decide
from pura.detect.decode.likelihood import Intervals, default_model
from pura.detect.decode.paper import decode as decode_paper
from pura.detect.decode.trellis import make_trellis
from pura.detect.local.evidence import local_evidence
from pura.detect.verdict.policy import load_policy
from pura.documents import formats as bounds
from pura.documents.ocr import Tesseract
from pura.keys import State
from pura.keys.backends import words
from pura.model import libraries
from pura.model.device import free_memory, gigabytes, instructions, memory_need
from pura.model.store import known_models
from pura.record.titles import titled
from pura.register.store import Register
from pura.scheme import (
    F64,
    Gate,
    Payload,
    Profile,
    Scheduler,
    SecretKey,
    anchor,
    encode,
    ranks,
    schedule,
)
from pura.scheme.gray import sector_of
from pura.scheme.public_keys import is_public
from pura.usecases.cases import open_log
from pura.usecases.environment import Environment
from pura.usecases.measurements import tables_of
from pura.usecases.setups import SetupFolder, setup_faults
from pura.version import __version__

TOLERANCE: Final = 1e-9
_MAX_FILE_BYTES: Final = 64 << 20
_WAYS_OUT: Final = "pura.documents.sandbox"


@dataclass(frozen=True, kw_only=True)
class SandboxResult:
    """What came of the attempts to get out of the sandbox.

    Attributes:
        tried: How many ways out were tried.
        problem: None when every one was shut.
        landlock: The version of Landlock that holds; 0 where the kernel has none.
        namespaces: The child stands in namespaces of its own.
    """

    tried: int = 0
    problem: PuraError | None = None
    landlock: int = 0
    namespaces: bool = False


def check_sandbox() -> SandboxResult | None:
    """Let a child enter its sandbox and try every way out that it knows.

    Returns:
        What came of it; None where the system has no sandbox that could be tried (not Linux).
    """
    if not confines_children():
        return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mine").write_bytes(b"x")
        request = json.dumps({"folder": folder}).encode() + b"\n"
        ending = converse(start_child(_WAYS_OUT, own=True), request, seconds=60, most=1 << 16)
    if ending.status == NOT_SHUT_STATUS:
        return SandboxResult(problem=InputError("reader.cage"))
    try:
        found = json.loads(ending.answer)
        ways = ", ".join(found["open"])
        return SandboxResult(
            tried=int(found["tried"]),
            problem=InputError("cage.open", ways=ways) if ways else None,
            landlock=int(found["bars"]["landlock"]),
            namespaces=bool(found["bars"]["namespaces"]),
        )
    except (ValueError, TypeError, KeyError):
        return SandboxResult(problem=InputError("cage.unknown", status=ending.status))


def check_folder(folder: Path) -> dict[str, PuraError | None]:
    """Recompute every ``*.json`` of a folder whose name begins with a known kind.

    Returns:
        By name of the file: None when everything agrees, else what :func:`check_file` says.

    Raises:
        InputError: There is no such folder.
    """
    if not folder.is_dir():
        raise InputError("file.read", name=folder.name, why=errno.ENOENT)
    return {path.name: check_file(path) for path in sorted(folder.glob("*.json"))}


def check_file(path: Path) -> PuraError | None:
    """Recompute one vector file; return what differs first, or why it cannot be read."""
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise InputError("vector.damaged", kind=f"{path.stat().st_size >> 20} MiB")
        data = read_json(path.read_bytes())
        _check(path.name)(data)
    except PuraError as error:
        return error
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        return InputError("vector.damaged", kind=type(error).__name__)
    return None


def _check(name: str) -> Callable[[dict[str, Any]], None]:
    for prefix, check in _CHECKS.items():
        if name.startswith(prefix):
            return check
    raise InputError("vector.damaged", kind=name)


def _same(what: str, got: Any, expected: Any) -> None:
    """Compare what was computed with a value of the file; ``what`` is its place there."""
    a, b = np.asarray(got, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if a.shape != b.shape:
        raise InputError("vector.value", what=f"{what}.size", got=a.size, wanted=b.size)
    scale = np.maximum(1.0, np.abs(b))
    bad = np.flatnonzero(~(np.abs(a - b) <= TOLERANCE * scale).ravel())
    if bad.size:
        place = f"[{bad[0]}]" if b.ndim else ""
        got_one, expected_one = a.ravel()[bad[0]], b.ravel()[bad[0]]
        raise InputError(
            "vector.value",
            what=f"{what}{place}",
            got=f"{got_one:.12g}",
            wanted=f"{expected_one:.12g}",
        )


def _distribution(logits: list[float], profile: Profile) -> F64:
    from pura.model.reading import distribution

    return distribution(
        np.asarray(logits, dtype=np.float64),
        temperature=profile.temperature,
        top_k=profile.top_k,
        top_p=profile.top_p,
    )


def _check_embed(data: dict[str, Any]) -> None:
    from pura.embed.engine import entropy_bits, inverse_transform

    key, profile = SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])
    if key.fingerprint != data["key_fingerprint"]:
        raise InputError(
            "vector.value",
            what="key_fingerprint",
            got=key.fingerprint,
            wanted=data["key_fingerprint"],
        )
    codeword = encode(Payload.from_bits(data["payload"]), profile)
    _same("codeword", codeword, data["codeword"])
    order = key.vocabulary_order(profile.vocab_size)
    _same("order", order, data["order"])
    walk = Scheduler(key, profile)
    for number, (expected, logits) in enumerate(zip(data["steps"], data["logits"], strict=True)):
        where = f"steps[{number}]."
        pi = _distribution(logits, profile)
        entropy = entropy_bits(pi)
        _same(f"{where}entropy_bits", entropy, expected["entropy_bits"])
        step = walk.step(entropy)
        _same(f"{where}arity", step.arity, expected["arity"])
        repeated = bool(expected.get("repeated_context"))
        _same(f"{where}repeated_context", step.gate == Gate.REPEATED_CONTEXT, repeated)
        if step.arity:
            bits = codeword[(step.index + np.arange(step.arity)) % codeword.size]
            point = anchor(step, sector_of(bits.tolist()))
            _same(f"{where}U", step.phase, expected["U"])
            _same(f"{where}index", step.index, expected["index"])
            _same(f"{where}bits", bits, expected["bits"])
            _same(f"{where}anchor", point, expected["anchor"])
            _same(f"{where}token", inverse_transform(pi, order, point), expected["token"])
        walk.push(int(expected["token"]))


def _check_extract(data: dict[str, Any]) -> None:
    from pura.embed.engine import entropy_bits

    key = SecretKey.from_hex(data["key_hex"])
    profile = Profile.from_dict({**data["profile"], "llr_clip": data["llr_clip"]})
    ids = np.asarray(data["tokens"], dtype=np.int64)
    order = key.vocabulary_order(profile.vocab_size)
    rank = ranks(order)[ids]
    pis = [_distribution(row, profile) for row in data["logits"]]
    entropy = np.array([entropy_bits(pi) for pi in pis])
    lo = np.array([pi[order[:r]].sum() for pi, r in zip(pis, rank, strict=True)])
    hi = lo + np.array([pi[v] for pi, v in zip(pis, ids, strict=True)])
    _same("entropy_bits", entropy, data["entropy_bits"])
    _same("lo", lo, data["lo"])
    _same("hi", hi, data["hi"])
    plan = schedule(ids, entropy, key, profile)
    for name, got in (
        ("t", plan.token),
        ("arity", plan.arity),
        ("U", plan.phase),
        ("index", plan.index),
    ):
        _same(f"steps.{name}", got, [step[name] for step in data["steps"]])
    for kernel, expected in data["expected"].items():
        local = local_evidence(plan, lo, hi, profile, kernel=kernel)
        decoding = decode_paper(plan, local, profile)
        for name, value in (
            ("llr", decoding.llr_nats),
            ("hard_bits", decoding.hard_bits),
            ("repaired_codeword", decoding.codeword),
            ("payload", decoding.payload.array),
        ):
            _same(f"expected.{kernel}.{name}", value, expected[name])


def _check_trellis(data: dict[str, Any]) -> None:
    bits = data["n"] - data["blocks"]
    profile = Profile(payload_bits=bits, vocab_size=2, blocks=data["blocks"])
    best = _check_sums(data, profile)
    _same("best_codeword", encode(best, profile), data["best_codeword"])


def _check_tbcc(data: dict[str, Any]) -> None:
    payload = Payload.from_bits(data["payload"])
    profile = Profile(payload_bits=len(payload), vocab_size=2, code="tbcc")
    _same("codeword", encode(payload, profile), data["codeword"])
    best = _check_sums(data, profile)
    _same("best_payload", best.array, data["best_payload"])


def _check_passages(data: dict[str, Any]) -> None:
    """Weigh a spliced text: its halves, the chains of each payload, the marks and passages."""
    key, profile = SecretKey.from_hex(data["key_hex"]), Profile.from_dict(data["profile"])
    model = default_model()
    if model.fingerprint != data["likelihood"]:
        raise InputError(
            "vector.value", what="likelihood", wanted=data["likelihood"], got=model.fingerprint
        )
    entropy, lo, hi = (np.asarray(data[name]) for name in ("entropy_bits", "lo", "hi"))
    plan = schedule(np.asarray(data["tokens"], dtype=np.int64), entropy, key, profile)
    expected = data["expected"]
    _same("steps", len(plan), expected["steps"])
    found = decide(Intervals.of(plan, entropy, lo, hi, profile, model=model))
    for name in ("log_e_whole", "log_e_list", "log_e"):
        _same(name, getattr(found, name), expected[name])
    listed = {Payload.from_bits(row).text: i for i, row in enumerate(found.listed)}
    for payload, value in expected["log_chains"].items():
        got = found.log_listed[listed[payload]] if payload in listed else np.nan
        _same(f"log_chains {payload}", got, value)
    _same("marks", len(found.marks), len(expected["marks"]))
    # The vectors name the marks by their share in the e-value, the largest first.
    bits = np.array([mark.payload.array for mark in found.marks])
    shares = found.log_ratios(bits, profile) - profile.payload_bits * np.log(2.0)
    named = [(found.marks[at], shares[at]) for at in np.argsort(-shares, kind="stable")]
    for number, ((mark, share), wanted) in enumerate(zip(named, expected["marks"], strict=True)):
        _same(f"marks[{number}] payload", mark.payload.array, list(map(int, wanted["payload"])))
        _same(f"marks[{number}] log_e", share, wanted["log_e"])
        _same(f"marks[{number}] ranges", mark.ranges, wanted["ranges"])


def _check_sums(data: dict[str, Any], profile: Profile) -> Payload:
    phi = np.asarray(data["window_potentials"], dtype=np.float64)
    trellis = make_trellis(profile)
    bits, score = trellis.best(phi)
    _same("best_score", score, data["best_score"])
    log_sum = float(trellis.log_sum(phi[None])[0])
    _same("log_sum", log_sum, data["log_sum"])
    _same("log_mean", log_sum - profile.payload_bits * np.log(2.0), data["log_mean"])
    return Payload.from_bits(bits)


_CHECKS: Final[dict[str, Callable[[dict[str, Any]], None]]] = {
    "embed-": _check_embed,
    "extract-": _check_extract,
    "trellis-": _check_trellis,
    "tbcc-": _check_tbcc,
    "passages-": _check_passages,
}


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
_LEAST_FREE_BYTES: Final = 2_000_000_000
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """One thing that was looked at.

    Attributes:
        name: What it is, for programs.
        grade: ``ok``, ``warning`` (it works, something is worth knowing) or ``fault``.
        words: Says what was seen, and the way out, in a language.
    """

    name: str
    grade: Grade
    words: Callable[[str], tuple[str, str]]


def examine(environment: Environment, *, hashes: bool = False) -> Iterator[CheckResult]:
    """Look at everything that an audit needs.

    Args:
        environment: Whose folders, keys and models.
        hashes: Also hash every file of the installed models, which takes seconds each.
    """
    looks: tuple[Callable[[], Iterator[CheckResult]], ...] = (
        _program,
        _parts,
        _processor,
        _offline,
        lambda: _folders(environment),
        lambda: _models(environment, hashes=hashes),
        lambda: _keys(environment),
        lambda: _profiles(environment),
        lambda: _setups(environment),
        lambda: _policy(environment),
        lambda: _register(environment),
        lambda: _case_log(environment),
        lambda: _service(environment),
        _sandbox,
        _fonts,
        _programs,
    )
    for look in looks:
        yield from look()


def _seen(name: str, key: str, grade: Grade = "ok", /, **values: Value) -> CheckResult:
    def words(language: str) -> tuple[str, str]:
        texts = catalogue("doctor")
        hint = texts[key].hint
        way_out = texts.fill(hint, language, values) if hint else ""
        return texts.fill(key, language, values), way_out

    return CheckResult(name=name, grade=grade, words=words)


def _fault(name: str, error: PuraError) -> CheckResult:
    return CheckResult(name=name, grade="fault", words=error.words)


def _program() -> Iterator[CheckResult]:
    how = "packaged" if getattr(sys, "frozen", False) else "source"
    yield _seen("version", f"version.{how}", version=__version__, build=build_hash()[:16])
    yield _seen("python", "python", version=platform.python_version(), where=sys.executable)
    yield _seen("platform", "platform", name=platform.platform())


def _parts() -> Iterator[CheckResult]:
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


def _processor() -> Iterator[CheckResult]:
    instruction_sets = ", ".join(sorted(instructions())) or "–"
    free = free_memory()
    yield _seen(
        "processor",
        "processor" if free is not None else "processor.memory-unknown",
        cores=os.cpu_count() or 1,
        instructions=instruction_sets,
        free=gigabytes(free or 0),
    )


def _offline() -> Iterator[CheckResult]:
    libraries.prepare()
    switches = libraries.switches()
    off = [name for name, wanted in switches.items() if os.environ.get(name) != wanted]
    if off:
        yield _seen("offline", "offline.open", "fault", listed=", ".join(off))
    else:
        yield _seen("offline", "offline", listed=", ".join(switches))


def _folders(environment: Environment) -> Iterator[CheckResult]:
    paths = environment.paths
    for name, path in (("data", paths.data), ("config", paths.config), ("state", paths.state)):
        yield _folder(f"folder-{name}", path)


def _folder(name: str, path: Path) -> CheckResult:
    shown = str(path)
    if not path.exists():
        return _seen(name, "folder.absent", path=shown)
    if not path.is_dir() or not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return _seen(name, "folder.shut", "fault", path=shown)
    free = shutil.disk_usage(path).free
    if free < _LEAST_FREE_BYTES:
        return _seen(name, "folder.full", "warning", path=shown, free=gigabytes(free))
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & _OTHERS & ~(stat.S_IXGRP | stat.S_IXOTH):
        return _seen(name, "folder.open", "warning", path=shown, mode=f"{mode:04o}")
    return _seen(name, "folder", path=shown, mode=f"{mode:04o}", free=gigabytes(free))


def _models(environment: Environment, *, hashes: bool) -> Iterator[CheckResult]:
    store, free = environment.models, free_memory()
    fingerprints = {model.name: model.fingerprint for model in known_models()}
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
        if model.fingerprint != fingerprints.get(model.name, model.fingerprint):
            yield _seen("model", "model.other", "fault", **values, known=fingerprints[model.name])
            continue
        need = memory_need(model.parameters, free=free)
        if need.fits is False:
            values |= {"need": gigabytes(need.need_bytes), "free": gigabytes(free or 0)}
            yield _seen("model", "model.large", "warning", **values)
        else:
            yield _seen("model", "model.hashed" if hashes else "model", **values)
    if not store.list():
        yield _seen("model", "model.none", "warning")


def _keys(environment: Environment) -> Iterator[CheckResult]:
    try:
        store = environment.keys
        state, entries = store.state(), store.list()
        exposed = store.exposures()
    except PuraError as error:
        yield _fault("keys", error)
        return
    for problem in exposed:
        yield CheckResult(name="keys", grade="warning", words=problem.words)
    for entry in entries:  # 0.4.0 stored such keys
        if is_public(entry.fingerprint) or is_public(entry.master):
            title = titled(entry.name, entry.fingerprint)
            yield _seen("keys", "keys.public", "warning", name=title)
    if not stays_out_of_swap():
        yield _seen("keys", "keys.swap", "warning")
    if state is State.READY:
        yield _seen("keys", "keys", store=store.title, count=len(entries))
        return
    shut = state not in (State.NO_BACKEND, State.LOCKED)
    yield CheckResult(
        name="keys",
        grade="fault" if shut else "warning",
        words=lambda language: words(state, store.title, language, files=not store.has_keyring),
    )


def _profiles(environment: Environment) -> Iterator[CheckResult]:
    names = environment.profiles.names()
    sound = 0
    for name in names:
        try:
            profile = environment.profiles.get(name)
        except PuraError as error:
            yield _fault("profile", error)
            continue
        sound += 1
        if profile.recipient_in_payload:
            yield _seen("profile", "profile.recipient", "warning", name=name)
    yield _seen("profile", "profiles", count=sound)


def _setups(environment: Environment) -> Iterator[CheckResult]:
    """Look at the set-ups that are stored; those of 0.4.0 are made when one is first used."""
    folder = SetupFolder(environment.paths.setups)
    usable = 0
    for name in folder.names():
        try:
            faults = setup_faults(environment, folder.get(name))
        except PuraError as error:
            yield _fault("setup", error)
            continue
        if faults:
            yield _seen("setup", "setup.unusable", "warning", name=name)
        else:
            usable += 1
    yield _seen("setup", "setups", count=usable)


def _policy(environment: Environment) -> Iterator[CheckResult]:
    path = environment.paths.policy
    try:
        policy = load_policy(path)
        tables = tables_of(environment, policy)
    except PuraError as error:
        yield _fault("policy", error)
        return
    yield _seen("policy", "policy.stored" if path.exists() else "policy.default")
    yield _seen("power", "power" if tables else "power.shipped", count=len(tables))


def _register(environment: Environment) -> Iterator[CheckResult]:
    path = environment.paths.register
    if not path.exists():
        yield _seen("register", "register.none")
        return
    try:
        with Register(path, read_only=True) as register:
            yield _seen("register", "register", count=len(register))
    except PuraError as error:
        yield _fault("register", error)


def _service(environment: Environment) -> Iterator[CheckResult]:
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


def _case_log(environment: Environment) -> Iterator[CheckResult]:
    if not environment.paths.caselog.exists():
        yield _seen("case-log", "case-log.none")
        return
    try:
        with open_log(environment, read_only=True) as log:
            yield _seen("case-log", "case-log", count=len(list_cases(log)))
    except PuraError as error:
        yield _fault("case-log", error)


def _sandbox() -> Iterator[CheckResult]:
    sandbox = check_sandbox()
    values: dict[str, Value] = {
        "file": bounds.MAX_FILE_BYTES >> 20,
        "memory": bounds.CHILD_MEMORY_BYTES >> 20,
        "seconds": bounds.CHILD_CPU_SECONDS,
    }
    if sandbox is None:
        yield _seen("cage", "cage.weak", "warning", **values)
    elif sandbox.problem is not None:
        yield _fault("cage", sandbox.problem)
    else:
        yield _seen("cage", "cage", tried=sandbox.tried, **values)


def _fonts() -> Iterator[CheckResult]:
    try:
        fonts = [path for path in resource("report", "fonts").iterdir() if path.suffix == ".ttf"]
    except FileNotFoundError:
        fonts = []
    if fonts:
        yield _seen("fonts", "fonts", count=len(fonts))
    else:
        yield _seen("fonts", "fonts.none", "fault")


def _programs() -> Iterator[CheckResult]:
    """Look for what is called or asked and does not come with the libraries."""
    packaged = getattr(sys, "frozen", False)
    if packaged or importlib.util.find_spec("pip") is not None:
        yield _seen("pip", "pip")
    else:
        yield _seen("pip", "pip.none", "warning")
    tesseract = Tesseract.installed()
    if tesseract is None:
        yield _seen("tesseract", "tesseract.none", "warning")
    else:
        languages = ", ".join(tesseract.languages)
        yield _seen("tesseract", "tesseract", version=tesseract.version, languages=languages)
    if sys.platform == "linux":
        here = bool(os.environ.get("DBUS_SESSION_BUS_ADDRESS"))
        yield _seen("dbus", "dbus" if here else "dbus.none", "ok" if here else "warning")
