"""Whether the posterior of a payload, and of its single fields, is as sure as it may be.

Texts that the built-in model wrote with a mark are edited as text, tokenised anew and read by the
model that wrote them (prompt unknown and known) and by a proxy. Pieces are cut from each reading
and decoded: 40 to 300 tokens from the start (no token's reading looks ahead, so a text that ends
there has the same reading), and 40 to 120 from the middle, read with what stands before. Counted
is how often the payload that is called most probable, and each field's value, is the one that was
put in, by the posterior that it was given::

    python bench/calibration.py --cache DIR [--code CODE …] [--part N …]

What was generated, read and decoded stays in the cache; the tables are of what is there.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from _study_decode import VOCABULARY
from _study_read import human_texts, make_proxy
from pura.detect.decode import exact
from pura.detect.decode.exact import Candidate
from pura.detect.decode.likelihood import Intervals, default_model
from pura.detect.options import Options
from pura.embed.generate import generate_batch
from pura.measure.attacks.base import split_sentences
from pura.measure.cache import Cache
from pura.measure.corpora import MAIN, SEED, Cell
from pura.measure.evaluate import wilson
from pura.model.evidence import read
from pura.model.tokenise import decode, tokenise
from pura.record.naming import IDENTIFIED, CandidateFacts, name_payload
from pura.scheme import Payload, schedule
from pura.scheme.fields import parse_layout, unpack

TOKENS: Final = 300
CUTS: Final = {0: (40, 60, 80, 120, 200, 300), 150: (40, 60, 80, 120)}
"""Lengths of the pieces, by their first token."""
HALF_TRANSLATED: Final = "half-translated"
EDITS: Final = (0, 10, 20, HALF_TRANSLATED)
"""Words exchanged, percent; or every other sentence replaced by a German one."""
VERIFIERS: Final = ("blind", "prompt", "proxy")
PART: Final = 16  # texts that are read together: a run that is stopped has whole parts
PARTS: Final = 4
"""The length of the longer list was chosen on the first two; study.md §14 reports the others."""
BINS: Final = (0.3, 0.6, 0.9, 0.99, 0.999)
LAYOUT: Final = parse_layout(
    [
        {"name": "customer", "bits": 16, "kind": "integer"},
        {"name": "issued", "bits": 14, "kind": "integer"},
        {"name": "release", "bits": 6, "kind": "integer"},
    ],
    36,
)
CELLS: Final = tuple(
    replace(cell, name=f"calibration-{cell.code}", texts=PART * PARTS, tokens=TOKENS)
    for cell in MAIN
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_GERMAN: Final = Path(__file__).resolve().parents[1] / "docs" / "de" / "how-to" / "guide.md"


def generate(model: Any, cache: Cache, cell: Cell) -> None:
    """Write the texts of a cell, all of the same length."""
    if f"texts.{cell.name}" in cache:
        return
    start = time.perf_counter()
    numbers = range(cell.texts)
    texts = generate_batch(
        model,
        cell.prompts(),
        [cell.payload(i) for i in numbers],
        [cell.key(i) for i in numbers],
        cell.profile(model.vocab_size),
        tokens=cell.tokens,
        seed=[int(cell.generator("dice", i).integers(1 << 62)) for i in numbers],
        ignore_eos=True,
        batch_size=cell.texts,
    )
    cache.put(
        f"texts.{cell.name}",
        {"ids": [t.ids for t in texts], "prompt_ids": [t.prompt_ids for t in texts]},
    )
    print(f"generated {cell.name} in {time.perf_counter() - start:.0f} s", flush=True)


def exchanged(text: str, percent: int, rng: np.random.Generator) -> str:
    """Exchange a share of the words for words that people wrote elsewhere."""
    places = list(_WORD.finditer(text))
    pool = [word for human in human_texts() for word in _WORD.findall(human)]
    chosen = rng.choice(len(places), round(len(places) * percent / 100), replace=False)
    for place in sorted(chosen.tolist(), reverse=True):
        start, end = places[place].span()
        text = text[:start] + pool[int(rng.integers(len(pool)))] + text[end:]
    return text


def german_sentences() -> list[str]:
    """Return sentences of 8 to 40 words that people wrote in German."""
    text = _GERMAN.read_text(encoding="utf-8")
    sentences = re.split(r"(?<=[.!?])\s+", text)
    return [s for s in sentences if 8 <= len(s.split()) <= 40 and not set("|`[") & set(s)]


def edited(text: str, edit: int | str, rng: np.random.Generator) -> str:
    """Return a text with words exchanged, or every other sentence as if it were translated."""
    if edit != HALF_TRANSLATED:
        return exchanged(text, int(edit), rng)
    sentences, gaps = split_sentences(text)
    german = german_sentences()
    order = rng.permutation(len(german))
    mixed = [
        german[order[number % len(german)]] if number % 2 else sentence
        for number, sentence in enumerate(sentences)
    ]
    return "".join(sentence + gap for sentence, gap in zip(mixed, [*gaps, ""], strict=True))


def read_part(model: Any, cache: Cache, cell: Cell, part: int, proxy: Callable[[], Any]) -> None:
    """Read some texts of a cell, edited and not, with every verifier."""
    texts = cache.get(f"texts.{cell.name}")
    profile = cell.profile(model.vocab_size)
    for verifier in VERIFIERS:
        for edit in EDITS:
            name = reading_of(cell, part, edit, verifier)
            if name in cache:
                continue
            start, rows = time.perf_counter(), []
            for number in numbers_of(part):
                text = decode(model.tokenizer, texts["ids"][number].tolist())
                text = edited(text, edit, cell.generator(f"exchange {edit}", number))
                rows.append(
                    read(
                        proxy() if verifier == "proxy" else model,
                        np.asarray(tokenise(model.tokenizer, text).ids)[:TOKENS],
                        keys=[cell.key(number)],
                        profile=profile,
                        prompt_ids=texts["prompt_ids"][number].tolist()
                        if verifier == "prompt"
                        else None,
                    )
                )
            columns = {
                "ids": [r.ids for r in rows],
                "entropy_bits": [r.entropy_bits for r in rows],
                "probability": [r.probability for r in rows],
                "lo": [r.lo[0] for r in rows],
                "hi": [r.hi[0] for r in rows],
            }
            cache.put(name, columns)
            print(f"read {name} in {time.perf_counter() - start:.0f} s", flush=True)


def numbers_of(part: int) -> range:
    """Return which texts of a cell are a part."""
    return range(part * PART, (part + 1) * PART)


def reading_of(cell: Cell, part: int, edit: int | str, verifier: str) -> str:
    """Name on the cache."""
    return f"reading.{cell.name}.{verifier}.{edit}.{part}"


@dataclass(frozen=True, kw_only=True)
class Said:
    """What was said of something, and whether it is so.

    Attributes:
        posterior: Of the most probable value.
        right: It is the one that was put in.
    """

    posterior: float
    right: bool


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One cut text.

    Attributes:
        code: Of its mark.
        verifier: Who read it.
        edit: As in ``EDITS``.
        tokens: Its length.
        log10_e: Its evidence.
        payload: What is said of the payload.
        fields: What is said of each field.
    """

    code: str
    verifier: str
    edit: int | str
    tokens: int
    log10_e: float
    payload: Said
    fields: tuple[Said, ...]


def said_of(candidates: Sequence[Candidate], truth: Payload) -> tuple[Said, tuple[Said, ...]]:
    """Return what a record says of the payload and its fields, beside the truth."""
    facts = [
        CandidateFacts(bits=c.payload.text, posterior=c.posterior, fields=unpack(LAYOUT, c.payload))
        for c in candidates
    ]
    named = name_payload(facts[0].bits, facts[0].fields, facts, IDENTIFIED)
    return (
        Said(posterior=named.posterior or 0.0, right=named.best == truth.text),
        tuple(
            Said(posterior=field.posterior or 0.0, right=field.value.raw == value.raw)
            for field, value in zip(named.fields, unpack(LAYOUT, truth), strict=True)
        ),
    )


def decode_part(
    cache: Cache, cell: Cell, part: int, edit: int | str, verifier: str, first: int
) -> list[Piece]:
    """Cut and decode some readings, or fetch what was decoded before."""
    reading = reading_of(cell, part, edit, verifier)
    name = f"said.{default_model().fingerprint}.{first}.{reading}"
    if name not in cache:
        start, rows = time.perf_counter(), []
        stored = cache.get(reading)
        for place, number in enumerate(numbers_of(part)):
            whole = {column: arrays[place] for column, arrays in stored.items()}
            for tokens in CUTS[first]:
                if len(whole["ids"]) < first + tokens:
                    continue
                cut = {column: array[first : first + tokens] for column, array in whole.items()}
                decision = decided(cut, cell, number, verifier)
                if not decision.usable:
                    continue
                payload, fields = said_of(decision.candidates, cell.payload(number))
                both = [(s.posterior, s.right) for s in (payload, *fields)]
                rows.append([tokens, decision.log10_e, *np.ravel(both)])
        cache.put(name, {"said": [np.array(rows, dtype=np.float64).T]})
        print(f"decoded {name} in {time.perf_counter() - start:.0f} s", flush=True)
    out = []
    for tokens, log10_e, *both in cache.get(name)["said"][0].T.tolist():
        payload, *fields = (
            Said(posterior=p, right=bool(right))
            for p, right in zip(both[::2], both[1::2], strict=True)
        )
        out.append(
            Piece(
                code=cell.code,
                verifier=verifier,
                edit=edit,
                tokens=int(tokens),
                log10_e=log10_e,
                payload=payload,
                fields=tuple(fields),
            )
        )
    return out


def decided(cut: dict[str, Any], cell: Cell, number: int, verifier: str) -> exact.ExactDecision:
    """Decode one cut reading as an audit does."""
    key, profile = cell.key(number), cell.profile(VOCABULARY)
    return exact.decide(
        Intervals.of(
            schedule(cut["ids"], cut["entropy_bits"], key, profile),
            cut["entropy_bits"],
            cut["lo"],
            cut["hi"],
            profile,
            prompt_known=verifier == "prompt",
            probability=cut["probability"],
        ),
        candidates=Options().candidates,
    )


def pieces(cache: Cache, cell: Cell, part: int) -> Iterator[Piece]:
    """Return the pieces of some texts, as far as they were read."""
    for verifier in VERIFIERS:
        for edit in EDITS:
            if reading_of(cell, part, edit, verifier) in cache:
                for first in CUTS:
                    yield from decode_part(cache, cell, part, edit, verifier, first)


def table(title: str, groups: dict[str, list[Said]]) -> None:
    """Print how often what was said is right, by posterior, a group a line."""
    print(f"### {title}\n")
    names = ["< 0.3", "0.3-0.6", "0.6-0.9", "0.9-0.99", "0.99-0.999", "≥ 0.999"]
    rows = []
    for label, said in groups.items():
        place = np.digitize([s.posterior for s in said], BINS)
        right = np.array([s.right for s in said], dtype=bool)
        counts = [f"{right[place == i].sum()}/{(place == i).sum()}" for i in range(len(BINS) + 1)]
        rows.append([label, *counts, share(right[place >= BINS.index(IDENTIFIED) + 1])])
    _common.print_table(["", *names, "identified: % right"], rows)


def share(right: Any) -> str:
    """A share in percent, with its 95 % interval (Wilson)."""
    if not right.size:
        return "-"
    low, high = wilson(int(right.sum()), right.size)
    return f"{100 * right.mean():.1f} ({100 * low:.1f}-{100 * high:.1f})"


def tables(found: list[Piece]) -> None:
    """Print both tables: whole payloads, single fields."""
    by: dict[str, Callable[[Piece], str]] = {
        "": lambda p: p.code,
        "read: ": lambda p: {"prompt": "prompt known", "blind": "prompt unknown"}.get(
            p.verifier, p.verifier
        ),
        "edited: ": lambda p: f"{p.edit}",
        "tokens: ": lambda p: f"{p.tokens}",
    }
    groups = {"all": found, "log10 e ≥ 6": [p for p in found if p.log10_e >= 6]}
    for what, label in by.items():
        for text in sorted({label(p) for p in found}, key=lambda t: (len(t), t)):
            groups[what + text] = [p for p in found if label(p) == text]
    table(
        f"Whole payload, {len(found)} pieces",
        {name: [p.payload for p in some] for name, some in groups.items()},
    )
    fields = {
        f"{field.name}, {field.bits} bits": [p.fields[place] for p in found]
        for place, field in enumerate(LAYOUT)
    }
    table(
        "Single fields",
        fields | {name: [f for p in some for f in p.fields] for name, some in groups.items()},
    )


def main() -> None:
    """Generate, read and decode what is not there; print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--part", type=int, nargs="*", default=list(range(PARTS)))
    parser.add_argument("--code", nargs="*", default=[cell.code for cell in CELLS])
    args = parser.parse_args()
    cache = Cache(args.cache)
    cells = [cell for cell in CELLS if cell.code in args.code]
    _common.print_facts("Calibration of the posterior", SEED)
    wanted = [
        (cell, part)
        for part in args.part
        for cell in cells
        if not all(reading_of(cell, part, e, v) in cache for e in EDITS for v in VERIFIERS)
    ]
    if wanted:
        model = _common.load_builtin()
        proxy = cache(lambda: make_proxy(model, "proxy"))
        for cell, part in wanted:
            generate(model, cache, cell)
            read_part(model, cache, cell, part, proxy)
    tables([piece for part in args.part for cell in cells for piece in pieces(cache, cell, part)])


if __name__ == "__main__":
    main()
