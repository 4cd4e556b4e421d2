"""Whether what schemes print as p-values is one: texts without a mark under many keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from pura.lab.compare.methods import METHODS, ZERO_BIT, Bench
from pura.lab.rivals.base import Rival, redraw_p
from pura.scheme import SecretKey
from pura.scheme.keys import KEY_BYTES

I64 = npt.NDArray[np.int64]
Tokenise = Callable[[str], I64]
Maker = Callable[[SecretKey], Rival]

_LEVEL = 0.05
_BITS = 24
_FEWER_BITS = 8  # where every message is tried
_SLOW = ("exp", "its")  # what they print is a redraw already


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """One scheme on one text without a mark.

    Attributes:
        method: The scheme.
        text: Name of the text.
        keys: How many keys were tried.
        printed: Share of keys whose printed p-value is at most 5 %.
        redrawn: The same of the exact redraws.
        evidence: Share of keys whose e-value is 20 or more; None where the scheme has none.
    """

    method: str
    text: str
    keys: int
    printed: float
    redrawn: float
    evidence: float | None


def calibrate(
    bench: Bench, texts: Mapping[str, I64], keys: int, seed: int
) -> Iterator[Calibration]:
    """Try many keys on texts that none of them wrote.

    Args:
        bench: What schemes are built on.
        texts: int64 [L] by name.
        keys: How many.
        seed: Of keys and redraws.
    """
    rng = np.random.default_rng(seed)
    for name, ids in texts.items():
        for method, scheme in _schemes(bench):
            printed, redrawn, evidence = [], [], []
            for _ in range(keys):
                mine = scheme(SecretKey(rng.bytes(KEY_BYTES)))
                p = mine.printed_p(ids)
                assert p is not None
                printed.append(p <= _LEVEL)
                redrawn.append(p if method in _SLOW else redraw_p(mine, ids, rng, 19))
                if hasattr(mine, "log_e"):
                    evidence.append(mine.log_e(mine.observe(ids)) >= np.log(1 / _LEVEL))
            yield Calibration(
                method=method,
                text=name,
                keys=keys,
                printed=float(np.mean(printed)),
                redrawn=float(np.mean([p <= _LEVEL for p in redrawn])),
                evidence=float(np.mean(evidence)) if evidence else None,
            )


def _schemes(bench: Bench) -> Iterator[tuple[str, Maker]]:
    for name, scheme in ZERO_BIT.items():
        yield name, partial(_zero_bit, scheme, bench.vocab_size)
    for name in ("rsbh-3", "mpac-3", "bimark", "stealthink", "mirrormark", "cycleshift"):
        make, bits = METHODS[name].make, _FEWER_BITS if name == "cycleshift" else _BITS
        assert make is not None
        yield name, partial(_with_bits, make, bench, bits)


def _zero_bit(scheme: Callable[..., Rival], vocab_size: int, key: SecretKey) -> Rival:
    return scheme(key=key, vocab_size=vocab_size)


def _with_bits(
    make: Callable[[Bench, SecretKey, int], Rival], bench: Bench, bits: int, key: SecretKey
) -> Rival:
    return make(bench, key, bits)


def unmarked_texts(tokenise: Tokenise, tokens: int = 200) -> dict[str, I64]:
    """Return texts that no key wrote: prose, a loop, a template with slots, code."""
    from pura.lab.corpora import corpus

    template = "".join(
        f"Dear customer, your invoice no. {4000 + 7 * i} of {i + 1} March is due.\n"
        for i in range(12)
    )
    texts = {
        "prose": " ".join(corpus("manual")[:6]),
        "loop": "The committee will meet again on Monday to discuss the plan. " * 40,
        "template": template * 4,
        "code": "\n".join(corpus("code")[:6]),
    }
    return {name: tokenise(text)[:tokens] for name, text in texts.items()}
