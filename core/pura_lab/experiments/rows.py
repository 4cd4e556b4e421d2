"""The rows that experiments count.

Both cut the payload into words of four symbols, bits for Hamming and three bits each for
Reed-Solomon over GF(8). *Hard* takes the signs of the sums;
*soft* takes the likeliest codeword (Hamming), or erases the two symbols whose weakest bit is
weakest (Reed-Solomon, as the paper does).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pura.detect.decode import paper
from pura.detect.decode.paper import repair_parities
from pura.detect.local.evidence import local_evidence
from pura.measure.attacks.base import Attacked
from pura.measure.attacks.rewrite import logits_of
from pura.measure.attacks.table import named_strength
from pura.measure.decomposition import (
    BitReadings,
    align,
    bit_readings,
    exact_llrs,
    margin_of,
    paper_llrs,
    survived,
)
from pura.measure.evaluate import decide, evaluate, joined
from pura.scheme import F64, I64, U8, Payload, Profile, default_blocks, encode, schedule, sum_llrs
from pura.scheme.gray import label_bits, sector_of
from pura_lab.afterwards import FixedPhaseKey, binary_sector, lay_mark
from pura_lab.attacks.oracle import oracle
from pura_lab.experiments.bench import Cell, ExperimentBench, PlainText, Row

Bits = U8

_DATA: Final = 4
_SYMBOL: Final = 3
_PARITY: Final = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], dtype=np.uint8)
_WORDS: Final = np.array(list(itertools.product((0, 1), repeat=_DATA)), dtype=np.uint8)
_CODEWORDS: Final = np.concatenate([_WORDS, _WORDS @ _PARITY % 2], axis=1)


def _hamming(bits: Bits) -> Bits:
    rows = bits.reshape(-1, _DATA)
    return np.asarray(np.concatenate([rows, rows @ _PARITY % 2], axis=1), dtype=np.uint8).ravel()


def _hamming_hard(llr: F64) -> Bits:
    return _nearest(np.where(llr >= 0, 1.0, -1.0))


def _nearest(llr: F64) -> Bits:
    scores = llr.reshape(-1, _CODEWORDS.shape[1]) @ (2.0 * _CODEWORDS.T - 1)
    return np.asarray(_WORDS[scores.argmax(axis=1)]).ravel()


def _codec() -> Any:
    # Made anew each time: the library's arithmetic is that of the codec made last.
    from reedsolo import RSCodec

    return RSCodec(2, nsize=7, c_exp=_SYMBOL, prim=0b1011, generator=2)


def _symbols(bits: Bits) -> list[list[int]]:
    grid = bits.reshape(-1, _DATA, _SYMBOL) @ np.array([4, 2, 1])
    return [[int(s) for s in row] for row in grid]


def _bits(symbols: I64) -> Bits:
    return np.asarray((symbols[..., None] >> np.array([2, 1, 0])) & 1, dtype=np.uint8).ravel()


def _reed_solomon(bits: Bits) -> Bits:
    words = [list(_codec().encode(bytearray(row))) for row in _symbols(bits)]
    return _bits(np.array(words, dtype=np.int64))


def _rs_decode(llr: F64, erased: int) -> Bits:
    from reedsolo import ReedSolomonError

    rows = llr.reshape(-1, _DATA + 2, _SYMBOL)
    out = []
    for row in rows:
        word = bytearray(((row >= 0) @ np.array([4, 2, 1])).astype(int).tolist())
        weakest = np.argsort(np.abs(row).min(axis=1), kind="stable")[:erased].tolist()
        try:
            got = list(_codec().decode(word, erase_pos=weakest)[0])
        except ReedSolomonError:
            got = list(word[:_DATA])
        out.append(got)
    return _bits(np.array(out, dtype=np.int64))


CODES: Final[dict[str, tuple[Callable[[Bits], Bits], Callable[[F64], Bits]]]] = {
    "hamming-hard": (_hamming, _hamming_hard),
    "hamming-soft": (_hamming, _nearest),
    "rs-hard": (_reed_solomon, lambda llr: _rs_decode(llr, 0)),
    "rs-soft": (_reed_solomon, lambda llr: _rs_decode(llr, 2)),
}
"""Payload bits to codeword bits, and sums of LLRs, positive for 1, back to payload bits.

Payloads of a multiple of four bits for Hamming, of twelve for Reed-Solomon.
"""


RAW: Final = 18
"""Bits without parity in the paper's tables on robustness."""


def profile_of(bench: ExperimentBench, cell: Cell) -> Profile:
    """Return the profile of a cell: code, bits, and whatever fields of a profile it names."""
    bits, code = int(cell.get("bits", 36)), str(cell.get("code", "spc"))
    blocks = None
    if code == "spc":
        # Lengths beyond the paper's keep its block length of about nine data bits.
        blocks = (
            default_blocks(bits)
            if bits <= 36
            else bits // next(d for d in (9, 8, 10, 6, 4, 3, 2, 1) if bits % d == 0)
        )
    known = ("kernel", "llr_clip", "history", "context_window", "entropy_thresholds_bits")
    more = {name: cell[name] for name in known if name in cell}
    if "entropy_thresholds_bits" in more:
        more["entropy_thresholds_bits"] = tuple(more["entropy_thresholds_bits"])
    return Profile(
        payload_bits=bits, code=code, blocks=blocks, vocab_size=bench.model.vocab_size, **more
    )


def carrier(bench: ExperimentBench, length: int) -> Profile:
    """Return a profile whose codeword has any length; its code is not asked for."""
    return Profile(payload_bits=length - 1, blocks=1, vocab_size=bench.model.vocab_size)


def attack_of(bench: ExperimentBench, cell: Cell, text: PlainText) -> Attacked:
    """Return the text after the cell's attack, ``name`` or ``name:strength``."""
    attack = str(cell.get("attack", "clean"))
    name, params = (attack, {}) if attack == "clean" else named_strength(attack)
    return bench.attacked(text, name, **params)


def _text(bench: ExperimentBench, cell: Cell, number: int) -> PlainText:
    return bench.text(number, domain=str(cell.get("domain", "openings")))


def _rows_bits(bench: ExperimentBench, count: int, number: int) -> Bits:
    """Return random bits, the same for every cell that asks for so many."""
    return bench.rng("bits", count, number).integers(0, 2, count).astype(np.uint8)


def _laid(
    bench: ExperimentBench,
    text: PlainText,
    codeword: Bits,
    profile: Profile,
    sector: Callable[[Sequence[int]], int] = sector_of,
) -> FixedPhaseKey:
    key = bench.key(profile.codeword_length, text.number)
    own = text.generator
    return lay_mark(own.ids, own.entropy_bits, text.points, key, codeword, profile, sector=sector)


def recovery(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Read the payload of a text with both decoders."""
    text, profile = _text(bench, cell, number), profile_of(bench, cell)
    payload = Payload.from_bits(_rows_bits(bench, profile.payload_bits, number))
    key = _laid(bench, text, encode(payload, profile), profile)
    verifier = str(cell.get("verifier", "same"))
    hit = attack_of(bench, cell, text)
    reading = bench.reading(text, hit.ids, verifier)
    done = evaluate(reading, key, payload, profile, prompt_known=verifier.endswith("+prompt"))
    return {
        "paper_match": done.paper_match,
        "exact_match": done.exact_match,
        "paper_bits": done.paper_bits,
        "exact_bits": done.exact_bits,
        "log10_e": done.log10_e,
        "found": done.log10_e >= 6,
        "usable": done.usable,
        "edit_rate": hit.rate,
        "seconds": bench.seconds(text, hit.ids, verifier),
    }


def mismatch(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Read the payload of a text, and say how far the verifier's model is from the source on it."""
    kl = bench.divergence(_text(bench, cell, number), str(cell["verifier"]))
    return {**recovery(bench, cell, number), "kl": kl}


def labels(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Read a text whose sectors are labelled by a Gray code or by plain numbers.

    The exact decoder knows the Gray code only.
    """
    text, profile = _text(bench, cell, number), profile_of(bench, cell)
    payload = Payload.from_bits(_rows_bits(bench, profile.payload_bits, number))
    gray = cell["labels"] == "Gray"
    sector = sector_of if gray else binary_sector
    key = _laid(bench, text, encode(payload, profile), profile, sector)
    reading = bench.reading(text, attack_of(bench, cell, text).ids, str(cell["verifier"]))
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    weights = local_evidence(steps, reading.lo, reading.hi, profile).weights
    llr = np.full((len(steps), 3), np.nan)
    for arity in (1, 2, 3):
        rows = np.flatnonzero(steps.arity == arity)
        shifts = np.arange(arity - 1, -1, -1)
        plain = (np.arange(1 << arity)[:, None] >> shifts) & 1
        signs = label_bits(arity) if gray else plain
        w = weights[rows, : 1 << arity]
        total = w.sum(axis=1, keepdims=True)
        p = np.where(total > 0, (w @ signs) / np.where(total > 0, total, 1.0), 0.5)
        p = np.clip(p, profile.llr_clip, 1 - profile.llr_clip)
        llr[rows, :arity] = np.log(p) - np.log1p(-p)
    sums, _ = sum_llrs(steps.index, steps.arity, llr, profile.codeword_length)
    hard = (sums >= 0).astype(np.uint8)
    repair_parities(sums, hard, profile.block_count)
    data = hard.reshape(profile.block_count, -1)[:, :-1].ravel()
    return {
        "paper_match": bool((data == payload.array).all()),
        "paper_bits": float((data == payload.array).mean()),
    }


def coded(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Read a payload under some code from the paper's summed LLRs; spc and tbcc exactly too."""
    bits = _rows_bits(bench, int(cell["bits"]), number)
    code = str(cell["ecc"])
    text, verifier = _text(bench, cell, number), str(cell["verifier"])
    reading = bench.reading(text, attack_of(bench, cell, text).ids, verifier)
    if code in CODES:
        word = CODES[code][0](bits)
        profile = carrier(bench, word.size)
    else:
        profile = profile_of(bench, {**cell, "code": code.partition("-")[0]})
        if code.startswith("spc-"):
            profile = profile.with_(blocks=int(code.removeprefix("spc-")))
        word = encode(Payload.from_bits(bits), profile)
    key = _laid(bench, text, word, profile)
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    local = local_evidence(steps, reading.lo, reading.hi, profile)
    if code in CODES:
        sums, _ = sum_llrs(steps.index, steps.arity, local.llr_nats, word.size)
        got = exact = CODES[code][1](sums)
    else:
        got = paper.decode(steps, local, profile).payload.array
        exact = decide(reading, steps, profile, prompt_known=False).payload.array
    return {
        "paper_match": bool((got == bits).all()),
        "paper_bits": float((got == bits).mean()),
        "exact_match": bool((exact == bits).all()),
        "exact_bits": float((exact == bits).mean()),
        "total": int(word.size),
    }


def density(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Return the aligned sums of LLRs of all positions."""
    text, profile = _text(bench, cell, number), profile_of(bench, cell)
    word = encode(Payload.from_bits(_rows_bits(bench, profile.payload_bits, number)), profile)
    key = _laid(bench, text, word, profile)
    reading = bench.reading(text, attack_of(bench, cell, text).ids, str(cell["verifier"]))
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    local = local_evidence(steps, reading.lo, reading.hi, profile)
    sums, _ = sum_llrs(steps.index, steps.arity, local.llr_nats, word.size)
    aligned = (2.0 * word - 1) * sums
    return {"aligned": aligned.tolist(), "paper_bits": float((aligned > 0).mean())}


def auc(rows: Sequence[Row]) -> dict[str, float]:
    """Return how often a right position's sum is larger in size than a wrong one's."""
    values = np.concatenate([np.asarray(row["aligned"]) for row in rows])
    right, wrong = values[values > 0], -values[values <= 0]
    if not right.size or not wrong.size:
        return {"auc": float("nan"), "wrong": float(wrong.size)}
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([right, wrong]))[: right.size]
    above = ranks.sum() - right.size * (right.size + 1) / 2
    return {"auc": float(above / (right.size * wrong.size)), "wrong": float(wrong.size)}


def margin(bench: ExperimentBench, cell: Cell, number: int) -> Row:
    """Decompose what an attack did to a text with 18 raw bits, or to several one after another."""
    profile, word = carrier(bench, RAW), _rows_bits(bench, RAW, number)
    pieces = max(1, int(cell.get("tokens", 200)) // 200)
    count = int(cell.get("pool", pieces))
    numbers = [(number + i) % count for i in range(pieces)] if pieces > 1 else [number]
    text = bench.composite(numbers) if pieces > 1 else bench.text(number)
    key = _laid(bench, text, word, profile)
    verifier = str(cell.get("verifier", "same"))
    ids, readings = [], []
    for n in numbers:
        part = bench.text(n)
        if str(cell["attack"]) == "oracle":
            hit = _oracle(bench, cell, part, key, profile, word)
        else:
            hit = attack_of(bench, cell, part)
        ids.append(hit.ids)
        readings.append(bench.reading(part, hit.ids, verifier))
    reading = joined(readings)
    parts = zip(numbers, ids, strict=True)
    origins = [align(bench.text(n).ids, new) for n, new in parts]
    starts = np.cumsum([0, *(bench.text(n).ids.size for n in numbers)])
    origin = np.concatenate(
        [np.where(o >= 0, o + s, -1) for o, s in zip(origins, starts, strict=False)]
    )
    kept = survived(origin, profile.context_window)
    steps = schedule(reading.ids, reading.entropy_bits, key, profile)
    got: dict[str, Any] = {}
    for prefix, pair in (
        ("", paper_llrs(reading, steps, profile)),
        ("exact_", exact_llrs(reading, steps, profile, prompt_known=False)),
    ):
        found = bit_readings(steps, *pair, word, kept)
        values = vars(margin_of([found]))
        got |= {prefix + name: value for name, value in values.items()}
        got[prefix + "match"] = _all_right(found)
    return got


def _all_right(text: BitReadings) -> bool:
    sums = np.bincount(text.position, weights=text.z, minlength=text.length)
    return bool((sums > 0).all())


def _oracle(
    bench: ExperimentBench,
    cell: Cell,
    text: PlainText,
    key: FixedPhaseKey,
    profile: Profile,
    word: Bits,
) -> Attacked:
    return oracle(
        text.ids,
        rate=float(cell["r"]),
        width=int(cell["k"]),
        key=key,
        profile=profile,
        codeword=word,
        propose=lambda ids: logits_of(bench.model, ids),
    )
