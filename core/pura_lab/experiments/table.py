"""The table of experiments: those of the paper, and further ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pura.measure.corpora import DOMAINS
from pura_lab.experiments import rows, steered, telling
from pura_lab.experiments.bench import Cell, Experiment, ExperimentBench, Row, Scale

_EDITS: Final = (
    "clean",
    "insert:0.1",
    "delete:0.1",
    "substitute:0.1",
    "copy-paste:0.3",
    "sentence-shuffle",
    "substitute-plausible:0.1",
)
_CODES: Final = ("spc", "tbcc")
_VERIFIERS: Final = (
    *("same", "drop-3", "proxy", "drop-10", "noise-0.1", "int-8", "int-4", "tuned-24"),
)
_UNREACHABLE: Final = 1e9
"""A threshold that no entropy reaches."""
_HARD: Final = {"verifier": "proxy", "attack": "substitute:0.15"}
"""Conditions under which components differ: clean texts are read without errors by all of them."""


def _capacity(scale: Scale) -> Sequence[Cell]:
    bits = (12, 18, 24, 30, 36, 48, 64, 96, 128, 192, 256) if scale.full else (12, 24, 36, 64, 128)
    verifiers = ("same", "proxy", "same+prompt")
    return [{"verifier": v, "code": c, "bits": b} for v in verifiers for c in _CODES for b in bits]


def _edits(scale: Scale) -> Sequence[Cell]:
    bits = (18, 24, 30, 36) if scale.full else (18, 36)
    edits = (*_EDITS, "dipper") if scale.full else _EDITS
    verifiers = ("same", "proxy") if scale.full else ("same",)
    return [
        {"attack": e, "code": c, "bits": b, "verifier": v}
        for v in verifiers
        for e in edits
        for c in _CODES
        for b in bits
    ]


def _survives(scale: Scale) -> Sequence[Cell]:
    hits = (
        *("clean", "truncate:0.5", "truncate:0.7", "delete:0.1", "delete:0.2"),
        *("substitute:0.1", "substitute:0.2", "substitute-plausible:0.1"),
        *("substitute-plausible:0.2", "typos:0.1", "sentence-shuffle", "copy-paste:0.3"),
    )
    further = (
        *("substitute-plausible:0.3", "typos:0.3", "case:0.1", "punctuation:1"),
        *("copy-paste:0.6", "smoothing:0.28", "paraphrase"),
    )
    return [
        {"attack": a, "code": "tbcc", "bits": 36} for a in (*hits, *(further if scale.full else ()))
    ]


def _domains(scale: Scale) -> Sequence[Cell]:
    names = (*DOMAINS, "code", "german", "tasks") if scale.full else (*DOMAINS, "german")
    bits = (18, 24, 30, 36) if scale.full else (18, 36)
    return [{"domain": d, "bits": b, "code": c} for d in names for c in _CODES for b in bits]


def _adaptive(scale: Scale) -> Sequence[Cell]:
    further = ("paraphrase", "dipper", "sira", "rlcracker") if scale.full else ()
    attacks = ("clean", "substitute:0.1", "smoothing:0.28", *further)
    cells = [{"attack": a, "verifier": v} for v in ("same", "proxy") for a in attacks]
    # Dependence of μ_c on the verifier.
    other_verifiers = [v for v in _VERIFIERS if v not in ("same", "proxy")] if scale.full else []
    return [*cells, *({"attack": "clean", "verifier": v} for v in other_verifiers)]


def _attackers(scale: Scale) -> Sequence[Cell]:
    hits = ("substitute-plausible:0.1", "substitute-plausible:0.2", "infill:0.1", "infill:0.2")
    further = ("substitute-plausible:0.3", "infill:0.3", "smoothing:0.28") if scale.full else ()
    attacker = {"attacker": scale.attacker} if scale.attacker else {}
    return [
        {"attack": a, "code": "tbcc", "bits": 36, **attacker}
        for a in ("clean", *hits, *further, "paraphrase")
    ]


def _quality(scale: Scale) -> Sequence[Cell]:
    further = ("pura-keys", "plain-again", "bimark", "stealthink", "mpac-2", "rsbh-2", "rsbh-3")
    marks = ("pura", "mpac-3", *further) if scale.full else ("pura", "mpac-3")
    judge = scale.judge or "letters"
    return [{"mark": m, "judge": judge} for m in marks]


def _unbiased(scale: Scale) -> Sequence[Cell]:
    marks = ("pura", "mpac-3", "bimark", "stealthink") if scale.full else ("pura", "mpac-3")
    return [{"mark": m} for m in marks]


def _oracle(scale: Scale) -> Sequence[Cell]:
    rates = (0.1, 0.2, 0.3, 0.4) if scale.full else (0.1, 0.4)
    return [{"attack": "oracle", "r": r, "k": k} for r in rates for k in (6, 15)]


def _length(scale: Scale) -> Sequence[Cell]:
    lengths = (200, 400, 800, 1600, 3200, 5000) if scale.full else (200, 400, 800, 1600)
    attacks = ("substitute:0.2", "smoothing:0.28") if scale.full else ("substitute:0.2",)
    return [
        {"attack": a, "tokens": n, "pool": max(scale.texts, n // 200), "verifier": "proxy"}
        for a in attacks
        for n in lengths
    ]


def _density(scale: Scale) -> Sequence[Cell]:
    edits = ("clean", "substitute:0.05", "substitute:0.1")
    verifiers = ("proxy", "same") if scale.full else ("proxy",)
    return [{"bits": 24, "attack": e, "verifier": v} for v in verifiers for e in edits]


def _labels(scale: Scale) -> Sequence[Cell]:
    bits = (18, 24, 30, 36) if scale.full else (18, 36)
    return [{"labels": kind, "bits": b, **_HARD} for kind in ("Gray", "binary") for b in bits]


def _ecc(scale: Scale) -> Sequence[Cell]:
    bits = (12, 24, 36) if scale.full else (36,)
    kinds = ("spc-4", "spc-18", "hamming-hard", "hamming-soft", "rs-hard", "rs-soft", "tbcc")
    blocks = {"spc-4": 4, "spc-18": 18}  # the payload is divided evenly
    return [
        {"ecc": k, "bits": b, **_HARD} for k in kinds for b in bits if b % blocks.get(k, 1) == 0
    ]


def _kernels(scale: Scale) -> Sequence[Cell]:
    kinds = ("cosine", "box", "triangular", "epanechnikov", "biweight", "hard")
    return [{"kernel": k, "bits": 36, **_HARD} for k in kinds]


def _verifiers(scale: Scale) -> Sequence[Cell]:
    bits = (18, 24, 30, 36) if scale.full else (18, 36)
    return [{"verifier": v, "code": c, "bits": b} for v in _VERIFIERS for c in _CODES for b in bits]


def _gating(scale: Scale) -> Sequence[Cell]:
    gates: dict[str, list[float]] = {
        "fixed 1": [0.0, _UNREACHABLE, _UNREACHABLE],
        "fixed 2": [0.0, 0.0, _UNREACHABLE],
        "fixed 3": [0.0, 0.0, 0.0],
        "1-2": [1.0, 3.0, _UNREACHABLE],
        "1-2-3": [1.0, 3.0, 5.0],
    }
    if scale.full:
        gates |= {f"{a:g} {b:g} {c:g} bits": [a, b, c] for a, b, c in _SWEEP}
    return [
        {"gate": name, "entropy_thresholds_bits": t, "code": c, "bits": 36, **_HARD}
        for name, t in gates.items()
        for c in _CODES
    ]


def _schedules(scale: Scale) -> Sequence[Cell]:
    bits = (36, 64) if scale.full else (36,)
    blind = ("clean", "substitute:0.1", "delete:0.1")
    sights = [("same+prompt", "clean"), *(("same", attack) for attack in blind)]
    return [
        {"schedule": rule, "code": "tbcc", "bits": b, "verifier": v, "attack": a}
        for v, a in sights
        for b in bits
        for rule in steered.RULES
    ]


_SWEEP: Final = ((0.5, 2.0, 4.0), (1.0, 2.0, 3.0), (1.44, 2.89, 4.33), (2.0, 4.0, 6.0))


def _one(name: str, values: Sequence[Any], **settings: Any) -> Sequence[Cell]:
    return [{name: v, "code": c, "bits": 36, **_HARD, **settings} for v in values for c in _CODES]


_BOTH: Final = ("paper_match", "exact_match", "paper_bits", "exact_bits")
_MARGIN: Final = (
    *("rho", "mu_c", "mu_adv", "gamma", "readings", "error", "bound", "match"),
    *("exact_gamma", "exact_error", "exact_bound", "exact_match"),
)
_PUBLISHED: Final = ("paper_match", "paper_bits")
"""The exact decoder knows neither kernels nor a clip."""


def _row(
    name: str,
    title: str,
    paper: str,
    cells: Callable[[Scale], Sequence[Cell]],
    figure: Mapping[str, Any],
    *columns: str,
    row: Callable[[ExperimentBench, Cell, int], Row] | None = None,
    **options: Any,
) -> Experiment:
    """Return a row of the table; without ``row``, payloads are read back."""
    return Experiment(
        name=name,
        title=title,
        paper=paper,
        cells=cells,
        row=row or rows.recovery,
        columns=columns if row else (*_BOTH, *columns),
        **figure,
        **options,
    )


EXPERIMENTS: Final[dict[str, Experiment]] = {
    e.name: e
    for e in (
        _row(
            "capacity",
            "Payload length in 200 tokens",
            "Table 1",
            _capacity,
            {"x": "bits", "lines": ("code",), "panels": "verifier", "log": True},
            "log10_e",
        ),
        _row(
            "edits",
            "Edits and payload length",
            "Figure 4",
            _edits,
            {"x": "bits", "lines": ("code",), "panels": "attack"},
            "log10_e",
            "edit_rate",
        ),
        _row(
            "survives",
            "What the default mark survives in 200 tokens",
            "–",
            _survives,
            {"x": "attack", "y": ("found", "exact_match")},
            "found",
            "log10_e",
            "edit_rate",
            max_texts=64,
        ),
        _row(
            "attackers",
            "Attacks by a model, the source or another one",
            "–",
            _attackers,
            {"x": "attack", "y": ("found", "exact_match")},
            "found",
            "log10_e",
            "edit_rate",
            max_texts=32,
        ),
        _row(
            "domains",
            "Kinds of text",
            "Figure 3",
            _domains,
            {"x": "bits", "lines": ("code",), "panels": "domain"},
            "log10_e",
            "usable",
            max_texts=32,
        ),
        _row(
            "quality",
            "Quality and stealth of texts that were written with a mark",
            "Table 2",
            _quality,
            {"x": "mark", "y": ("words", "transformer", "likelihood", "by_judge")},
            *("perplexity", "plain", "nats", "judge_mark", "judge_plain", "judged"),
            *("words", "transformer", "likelihood", "by_judge", "mmd_p"),
            row=telling.quality,
            pooled=telling.telling_apart,
        ),
        _row(
            "unbiased",
            "Frequencies over keys beside the exact law, a thousand keys a text",
            "–",
            _unbiased,
            {"x": "mark", "y": ("distance", "by_chance")},
            *("keys", "p", "distance", "by_chance"),
            row=telling.frequencies,
            pooled=telling.chi_square,
        ),
        _row(
            "adaptive",
            "Robustness decomposition, 18 raw bits",
            "Table 3",
            _adaptive,
            {"x": "attack", "y": ("rho", "mu_c", "mu_adv", "gamma"), "panels": "verifier"},
            *_MARGIN,
            row=rows.margin,
            max_texts=32,
        ),
        _row(
            "oracle",
            "Key-aware oracle, cheap scoring",
            "Table 4",
            _oracle,
            {"x": "r", "y": ("rho", "mu_c", "mu_adv", "gamma"), "panels": "k"},
            *_MARGIN,
            row=rows.margin,
            max_texts=8,
        ),
        _row(
            "length",
            "Length, 18 raw bits, proxy",
            "Figure 6",
            _length,
            {"x": "tokens", "y": ("error", "bound"), "panels": "attack", "log": True},
            *_MARGIN,
            row=rows.margin,
            max_texts=32,
        ),
        _row(
            "density",
            "Summed LLRs of right and wrong positions",
            "Figure 5",
            _density,
            {"x": "attack", "y": ("aligned",), "panels": "verifier"},
            *("auc", "wrong", "paper_bits"),
            row=rows.density,
            pooled=rows.auc,
        ),
        _row(
            "labels",
            "Gray and binary labels",
            "Figure 7a",
            _labels,
            {"x": "bits", "y": _PUBLISHED, "lines": ("labels",)},
            *_PUBLISHED,
            row=rows.labels,
        ),
        _row(
            "codes",
            "Parity, Hamming, Reed-Solomon, convolutional code",
            "Figure 7b",
            _ecc,
            {"x": "ecc"},
            "total",
            *_BOTH,
            row=rows.coded,
        ),
        _row(
            "verifiers",
            "Verifiers that are not the source",
            "Figure 7c",
            _verifiers,
            {"x": "verifier", "lines": ("code",), "panels": "bits"},
            "kl",
            *_BOTH,
            "log10_e",
            "seconds",
            row=rows.mismatch,
        ),
        _row(
            "kernels",
            "Kernels and hard votes",
            "Figure 7d",
            _kernels,
            {"x": "kernel", "y": _PUBLISHED},
        ),
        _row("gating", "Gates", "Figure 8", _gating, {"x": "gate", "lines": ("code",)}, "log10_e"),
        _row(
            "schedules",
            "Schedules that look back: tokens until half are found, and read",
            "–",
            _schedules,
            {"x": "schedule", "y": ("half_found", "half_read"), "panels": "attack"},
            *("half_found", "half_read", "exact_match", "log10_e"),
            row=steered.lengths,
            pooled=steered.halves,
            max_texts=64,
        ),
        _row(
            "history",
            "Rule for repeated contexts",
            "–",
            lambda _: _one("history", ("used", "all")),
            {"x": "history", "lines": ("code",)},
            "log10_e",
            "usable",
        ),
        _row(
            "clip",
            "Clip of the LLRs",
            "–",
            lambda _: [{"llr_clip": e, "bits": 36, **_HARD} for e in (1e-6, 1e-3, 1e-2, 0.1)],
            {"x": "llr_clip", "y": _PUBLISHED, "log": True},
        ),
        _row(
            "window",
            "Context window",
            "–",
            lambda _: _one("context_window", (1, 2, 3, 4)),
            {"x": "context_window", "lines": ("code",)},
            "log10_e",
            "usable",
        ),
    )
}
"""All experiments, in the order of the paper."""
