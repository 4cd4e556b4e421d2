"""Recompute the test vectors: does this machine compute what the scheme says?

Every vector file is recomputed from its key, profile and logits with the code that audits use, and
compared value by value (tolerance 1e-9, docs/scheme.md "Test vectors"). And does the cage for
strangers' files hold here (docs/reading-files.md)? A child in it tries to get out.
"""

from __future__ import annotations

import errno
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from pura.base.caged_child import converse, start_child
from pura.base.errors import InputError, PuraError
from pura.base.json_text import read_json
from pura.base.process import NOT_SHUT_STATUS
from pura.decode.exact import decide
from pura.decode.likelihood import Intervals, default_model
from pura.decode.paper import decode as decode_paper
from pura.decode.trellis import make_trellis
from pura.extract.local import local_evidence
from pura.scheme import (
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

TOLERANCE: Final = 1e-9
_MAX_FILE_BYTES: Final = 64 << 20
_WAYS_OUT: Final = "pura.documents.escapes"


@dataclass(frozen=True, kw_only=True)
class VectorResult:
    """What came of one vector file.

    Attributes:
        name: Its file name.
        problem: None when everything agrees; else what differs first, or why it cannot be read.
    """

    name: str
    problem: PuraError | None


@dataclass(frozen=True, kw_only=True)
class CageResult:
    """What came of the attempts to get out of the cage.

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


def check_cage() -> CageResult | None:
    """Let a child shut its cage and try every way out that it knows.

    Returns:
        What came of it; None where the system has no cage that could be tried (not Linux).
    """
    if sys.platform != "linux":
        return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mine").write_bytes(b"x")
        request = json.dumps({"folder": folder}).encode() + b"\n"
        ending = converse(start_child(_WAYS_OUT), request, seconds=60, most=1 << 16)
    if ending.status == NOT_SHUT_STATUS:
        return CageResult(problem=InputError("reader.cage"))
    try:
        found = json.loads(ending.answer)
        ways = ", ".join(found["open"])
        return CageResult(
            tried=int(found["tried"]),
            problem=InputError("cage.open", ways=ways) if ways else None,
            landlock=int(found["bars"]["landlock"]),
            namespaces=bool(found["bars"]["namespaces"]),
        )
    except (ValueError, TypeError, KeyError):
        return CageResult(problem=InputError("cage.unknown", status=ending.status))


def check_folder(folder: Path) -> list[VectorResult]:
    """Recompute every ``*.json`` of a folder whose name begins with a known kind.

    Raises:
        InputError: There is no such folder.
    """
    if not folder.is_dir():
        raise InputError("file.read", name=folder.name, why=errno.ENOENT)
    return [check_file(path) for path in sorted(folder.glob("*.json"))]


def check_file(path: Path) -> VectorResult:
    """Recompute one vector file; a damaged file is a problem, not an exception."""
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise InputError("vector.damaged", kind=f"{path.stat().st_size >> 20} MiB")
        data = read_json(path.read_bytes())
        _check(path.name)(data)
    except PuraError as error:
        return VectorResult(name=path.name, problem=error)
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        damaged = InputError("vector.damaged", kind=type(error).__name__)
        return VectorResult(name=path.name, problem=damaged)
    return VectorResult(name=path.name, problem=None)


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


def _distribution(logits: list[float], profile: Profile) -> npt.NDArray[np.float64]:
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
            ("payload", decoding.payload.bits),
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
    _same("best_payload", best.bits, data["best_payload"])


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
    bits = np.array([mark.payload.bits for mark in found.marks])
    shares = found.log_ratios(bits, profile) - profile.payload_bits * np.log(2.0)
    named = [(found.marks[at], shares[at]) for at in np.argsort(-shares, kind="stable")]
    for number, ((mark, share), wanted) in enumerate(zip(named, expected["marks"], strict=True)):
        _same(f"marks[{number}] payload", mark.payload.bits, list(map(int, wanted["payload"])))
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
