"""Who stands on the bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from pura.scheme import SecretKey
from pura_lab.rivals.arcmark import ArcMark
from pura_lab.rivals.base import Rival
from pura_lab.rivals.bimark import BiMark
from pura_lab.rivals.ctwl import Ctwl, Proxy
from pura_lab.rivals.cycleshift import CycleShift
from pura_lab.rivals.greens import Kgw, Unigram
from pura_lab.rivals.gumbel import GumbelMax
from pura_lab.rivals.keyed import I64
from pura_lab.rivals.kuditipudi import Exp, Its
from pura_lab.rivals.mc2mark import Mc2Mark
from pura_lab.rivals.mirrormark import MirrorMark
from pura_lab.rivals.mpac import Mpac
from pura_lab.rivals.rsbh import RsBh
from pura_lab.rivals.stealthink import StealthInk
from pura_lab.rivals.synthid import SynthId


@dataclass(frozen=True, kw_only=True, eq=False)
class Bench:
    """What schemes are built on.

    Attributes:
        vocab_size: ``V``.
        segments: For RS-BH, the segment of each token, by payload length.
        proxy: For CTWL.
    """

    vocab_size: int
    segments: Callable[[int], I64]
    proxy: Proxy | None = None


Maker = Callable[[Bench, SecretKey, int], Rival]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A scheme with its settings.

    Attributes:
        name: For programs, and in results.
        unbiased: For a fixed message.
        make: Builds the scheme; None: PURA.
        code: Of PURA, ``spc`` or ``tbcc``.
        bits: The only payload lengths that are feasible; all when empty.
        published: Match rate in percent by payload length, as the PURA paper's table has it
            (C4, Llama-3 8B, 200 tokens).
    """

    name: str
    unbiased: bool
    make: Maker | None = None
    code: str = ""
    bits: tuple[int, ...] = ()
    published: Mapping[int, float] = field(default_factory=dict)

    def carries(self, bits: int) -> bool:
        """Tell whether the payload length is feasible."""
        return not self.bits or bits in self.bits


def _plain(scheme: Callable[..., Rival], **settings: object) -> Maker:
    def make(bench: Bench, key: SecretKey, bits: int) -> Rival:
        return scheme(key=key, vocab_size=bench.vocab_size, payload_bits=bits, **settings)

    return make


def _rsbh(delta: float, bench: Bench, key: SecretKey, bits: int) -> Rival:
    return RsBh(
        key=key,
        vocab_size=bench.vocab_size,
        payload_bits=bits,
        segment=bench.segments(bits),
        delta=delta,
    )


def _ctwl(bench: Bench, key: SecretKey, bits: int) -> Rival:
    assert bench.proxy is not None
    return Ctwl(key=key, vocab_size=bench.vocab_size, payload_bits=bits, proxy=bench.proxy)


def _percent(*rates: float, bits: tuple[int, ...] = (12, 18, 24, 30, 36)) -> dict[int, float]:
    return dict(zip(bits, rates, strict=False))


METHODS: Final[dict[str, Method]] = {
    m.name: m
    for m in (
        Method(name="pura-tbcc", unbiased=True, code="tbcc"),
        Method(
            name="pura-spc",
            unbiased=True,
            code="spc",
            published=_percent(99.8, 99.6, 99.4, 99.0, 97.2),
        ),
        Method(
            name="rsbh-3",
            unbiased=False,
            make=partial(_rsbh, 3.0),
            published=_percent(98.7, 97.9, 95.9, 90.5, 81.4),
        ),
        Method(
            name="mpac-3",
            unbiased=False,
            make=_plain(Mpac, delta=3.0),
            published=_percent(99.1, 96.2, 87.2, 70.6, 52.3),
        ),
        Method(
            name="bimark",
            unbiased=True,
            make=_plain(BiMark),
            published=_percent(97.2, 87.8, 65.0, 50.0, 28.9),
        ),
        Method(
            name="stealthink",
            unbiased=True,
            make=_plain(StealthInk),
            published=_percent(60.0, 25.5, 6.5, 2.0, 0.5),
        ),
        Method(name="mirrormark", unbiased=True, make=_plain(MirrorMark)),
        Method(name="mc2mark", unbiased=True, make=_plain(Mc2Mark)),
        Method(name="arcmark", unbiased=True, make=_plain(ArcMark)),
        Method(
            name="cycleshift",
            unbiased=True,
            make=_plain(CycleShift),
            bits=(12, 18),
            published=_percent(98.6, 97.8),
        ),
        Method(
            name="rsbh-2",
            unbiased=False,
            make=partial(_rsbh, 2.0),
            published=_percent(93.3, 82.7, 60.4, 35.4, 20.8),
        ),
        Method(
            name="mpac-2",
            unbiased=False,
            make=_plain(Mpac, delta=2.0),
            published=_percent(91.8, 71.0, 41.3, 18.5, 5.6),
        ),
        Method(
            name="stealthink-padded",
            unbiased=True,
            make=_plain(StealthInk, width=2, padded=True),
        ),
        Method(name="mirrormark-tournament", unbiased=True, make=_plain(MirrorMark, layers=30)),
        Method(
            name="ctwl-2",
            unbiased=False,
            make=_ctwl,
            bits=(12, 18),
            published=_percent(99.3, 97.0),
        ),
    )
}
"""With a message; the first are the most important."""

ZERO_BIT: Final[dict[str, Callable[..., Rival]]] = {
    "kgw": Kgw,
    "unigram": Unigram,
    "gumbel-max": GumbelMax,
    "exp": Exp,
    "its": Its,
    "synthid": SynthId,
}
"""Without a message: for what is printed as a p-value."""
