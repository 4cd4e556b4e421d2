"""Where a mark begins and ends: how often the stated intervals hold the true limits.

Marked texts, written for this purpose, stand in documents of twelve layouts; each document is read
as a whole. One set of texts teaches how often a step is misread by its distance from the beginning
of a passage (``AGES`` of ``pura/decode/limits.py``), another one tests the intervals::

    python bench/passage_limits.py read --cache DIR [--documents N]
    python bench/passage_limits.py learn --cache DIR
    python bench/passage_limits.py table --cache DIR

``read`` goes on where it was. Tables beside a mark are counted apart: how many of them were given a
range of their own.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import _common
from pura.detect.decode.evidence_sums import sum_evidence
from pura.detect.decode.exact import ExactDecision, decide
from pura.detect.decode.likelihood import Intervals
from pura.detect.decode.marks import AGES, PassageText, passage_text
from pura.detect.decode.trellis import codeword_windows
from pura.embed.generate import generate_batch
from pura.measure.cache import Cache
from pura.measure.corpora import LEARNING, STUDY
from pura.model.evidence import read
from pura.model.tokenise import tokenise
from pura.scheme import Payload, Profile, SecretKey, schedule
from pura.scheme.profile import encode_rows

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
SEED = 20_261_125
VOCABULARY = 49_152
TABLES = "tables"
CODES = ("spc", "tbcc")
BATCH = 25
Part = str | tuple[int, str]  # text around, or a marked text under its number
Layout = Callable[[Any, str, str], list[Part]]
NAMES = ("Harbour", "Library", "Schools", "Parks", "Buses", "Water", "Housing", "Lighting")


class Document(NamedTuple):
    """A document as the model read it, and what stands where: first and last token, payload."""

    layout: str
    profile: Profile
    key: SecretKey
    columns: dict[str, Any]
    truth: list[tuple[int, int, str]]


def profile_of(model: Any, code: str) -> Profile:
    """Return the profile of one of the codes."""
    return Profile.new(model).with_(code=code, payload_bits=36, blocks=4 if code == "spc" else None)


def key_of(use: str, number: int) -> SecretKey:
    """Return the key of a document; it guards nothing."""
    return SecretKey(hashlib.sha256(f"{SEED}/{use}/{number}".encode()).digest())


def write_texts(model: Any, cache: Cache, use: str, documents: int, tokens: int) -> None:
    """Generate the marked texts of the documents, of half as many tokens to all of them."""
    prompts = LEARNING if use == "learn" else STUDY
    for start in range(0, documents, BATCH):
        name = f"texts.{use}.{start}"
        if name in cache:
            continue
        rng = np.random.default_rng([SEED, start, use == "learn"])
        numbers = range(start, min(start + BATCH, documents))
        made: dict[tuple[int, int], Any] = {}
        for parity, code in enumerate(CODES):
            rows = [(n, i) for n in numbers if n % 2 == parity for i in range(marks_of(n))]
            payloads = [Payload.from_bits(rng.integers(0, 2, 36).astype(np.uint8)) for _ in rows]
            texts = generate_batch(
                model,
                [prompts[(7 * n + 3 * i + start) % len(prompts)] for n, i in rows],
                payloads,
                [key_of(use, n) for n, _ in rows],
                profile_of(model, code),
                tokens=tokens,
                seed=[int(rng.integers(1 << 62)) for _ in rows],
                ignore_eos=True,
                batch_size=BATCH,
            )
            sizes = rng.integers(tokens // 2, tokens + 1, len(rows)).tolist()
            for row, text, payload, size in zip(rows, texts, payloads, sizes, strict=True):
                made[row] = (np.array(text.ids[:size]), payload.array)
        rows = sorted(made)
        cache.put(name, {"ids": [made[r][0] for r in rows], "bits": [made[r][1] for r in rows]})


def prose(rng: Any, words: int) -> str:
    """Return a piece of a novel."""
    all_words = (DATA / "human.txt").read_text(encoding="utf-8").replace("\n%\n", "\n\n").split(" ")
    begin = int(rng.integers(len(all_words) - words))
    return " ".join(all_words[begin : begin + words]).strip()


def figures(rng: Any) -> str:
    """Return a table of figures, as spreadsheets give it."""
    rows = [
        f"{NAMES[i % len(NAMES)]}\t{rng.integers(10, 999)}\t{rng.integers(10, 999)}\t"
        f"{rng.integers(1, 99)}.{rng.integers(0, 9)} %"
        for i in range(int(rng.integers(6, 14)))
    ]
    return "\n".join(["Department\t2025\t2026\tChange", *rows])


def items(rng: Any) -> str:
    """Return a numbered list."""
    words = prose(rng, 60).replace("\n", " ").split(" ")
    return "\n".join(f"{i + 1}. {' '.join(words[6 * i : 6 * i + 6])}" for i in range(10))


def boilerplate() -> str:
    """Return what stands above and below the pages of a site."""
    return (DATA / "boilerplate.txt").read_text(encoding="utf-8")[:900].rsplit(".", 1)[0] + "."


def halves(text: str) -> tuple[str, str]:
    """Cut a text at the word in its middle."""
    at = text.index(" ", len(text) // 2)
    return text[:at], text[at:]


LAYOUTS: dict[str, Layout] = {
    "mark alone": lambda r, a, b: [(0, a)],
    "prose before": lambda r, a, b: [prose(r, 150), "\n\n", (0, a)],
    "prose after": lambda r, a, b: [(0, a), "\n\n", prose(r, 150)],
    "prose on both sides": lambda r, a, b: [prose(r, 120), "\n\n", (0, a), "\n\n", prose(r, 120)],
    "same text above and below": lambda r, a, b: [
        boilerplate(),
        "\n\n",
        (0, a),
        "\n\n",
        boilerplate(),
    ],
    "three pages, one head": lambda r, a, b: [
        f"{boilerplate()[:300]}\n\n{prose(r, 60)}\n\n{boilerplate()[:300]}\n\n",
        (0, a),
        f"\n\n{boilerplate()[:300]}\n\n{prose(r, 60)}",
    ],
    "table before": lambda r, a, b: [figures(r), "\n\n", (0, a)],
    "table after": lambda r, a, b: [(0, a), "\n\n", figures(r)],
    "list after": lambda r, a, b: [(0, a), "\n\n", items(r)],
    "16 words put in": lambda r, a, b: [
        (0, halves(a)[0]),
        " " + prose(r, 16).replace("\n", " "),
        (0, halves(a)[1]),
    ],
    "a paragraph twice": lambda r, a, b: [
        prose(r, 80),
        "\n\n",
        (0, a),
        "\n\n",
        prose(r, 60),
        "\n\n" + a,
    ],
    "two marks": lambda r, a, b: [(0, a), "\n\n", prose(r, 80), "\n\n", (1, b)],
}


def layout_of(number: int, use: str) -> tuple[str, Layout]:
    """Return the layout of a document; each comes with both codes in turn."""
    if use == TABLES:
        return "tables on both sides", lambda r, a, b: [
            figures(r),
            "\n\n",
            (0, a),
            "\n\n",
            figures(r),
        ]
    return list(LAYOUTS.items())[(number // 2) % len(LAYOUTS)]


def marks_of(number: int) -> int:
    """Return how many marked texts a document holds."""
    return 2 if layout_of(number, "test")[0] == "two marks" else 1


def read_documents(model: Any, cache: Cache, use: str, documents: int) -> None:
    """Put the documents together and read them."""
    for start in range(0, documents, BATCH):
        name = f"documents.{use}.{start}"
        if name in cache or not cache.claim(name):
            continue
        source = "test" if use == TABLES else use
        texts = cache.get(f"texts.{source}.{start}")
        columns: dict[str, list[Any]] = defaultdict(list)
        taken = 0
        for number in range(start, min(start + BATCH, documents)):
            rng = np.random.default_rng([SEED, number, 2 + (use == "learn")])
            rows = slice(taken, taken + marks_of(number))
            taken = rows.stop
            marked = [_text(model, ids) for ids in texts["ids"][rows]]
            parts = layout_of(number, use)[1](rng, marked[0], marked[-1])
            text, places = "", []
            for part in parts:
                if isinstance(part, tuple):
                    places.append((len(text), len(text) + len(part[1].rstrip()), part[0]))
                text += part if isinstance(part, str) else part[1]
            found = tokenise(model.tokenizer, text)
            spans = found.spans
            truth = []
            for begin, end, which in places:
                inside = np.flatnonzero((spans[:, 1] > begin + 1) & (spans[:, 0] < end))
                truth += [int(inside[0]), int(inside[-1]), which]
            profile = profile_of(model, CODES[number % 2])
            seen = read(model, found.ids, keys=[key_of(source, number)], profile=profile)
            columns["ids"].append(found.ids)
            columns["spans"].append(spans.T)
            columns["truth"].append(np.array(truth))
            columns["bits"].append(np.concatenate(texts["bits"][rows]))
            columns["law"].append(
                np.stack([seen.entropy_bits, seen.probability, seen.lo[0], seen.hi[0]])
            )
            print(use, number, found.ids.size, flush=True)
        cache.put(name, columns)


def _text(model: Any, ids: Any) -> str:
    from pura.model.tokenise import decode

    return decode(model.tokenizer, ids).strip()


def documents_of(cache: Cache, use: str) -> Iterator[Document]:
    """Yield the documents that were read."""
    profiles = {code: _profile(code) for code in CODES}
    for name in sorted(cache.names()):
        if not name.startswith(f"documents.{use}."):
            continue
        columns = cache.get(name)
        start = int(name.rpartition(".")[2])
        for at in range(len(columns["ids"])):
            number = start + at
            one = {column: rows[at] for column, rows in columns.items()}
            truth = [
                (int(first), int(last), "".join(map(str, one["bits"].reshape(-1, 36)[which])))
                for first, last, which in one["truth"].reshape(-1, 3)
            ]
            yield Document(
                layout=layout_of(number, use)[0],
                profile=profiles[CODES[number % 2]],
                key=key_of("test" if use == TABLES else use, number),
                columns=one,
                truth=truth,
            )


def _profile(code: str) -> Profile:
    return Profile(
        payload_bits=36, code=code, blocks=4 if code == "spc" else None, vocab_size=VOCABULARY
    )


def decision_of(document: Document) -> ExactDecision:
    """Decide on a document as an audit does."""
    entropy, probability, lo, hi = document.columns["law"]
    plan = schedule(document.columns["ids"], entropy, document.key, document.profile)
    return decide(Intervals.of(plan, entropy, lo, hi, document.profile, probability=probability))


def densities(document: Document, payload: str) -> PassageText:
    """Return what a document says of a payload, token by token."""
    entropy, probability, lo, hi = document.columns["law"]
    plan = schedule(document.columns["ids"], entropy, document.key, document.profile)
    seen = Intervals.of(plan, entropy, lo, hi, document.profile, probability=probability)
    weighed = sum_evidence(seen)
    bits = Payload(text=payload).array
    word = codeword_windows(encode_rows(bits[None], document.profile))[0]
    member = int(weighed.best_chain(bits, lambda: None)[0])
    return passage_text(weighed.chain_text, word, member)


def learn(cache: Cache) -> None:
    """Print how often a step is misread by its distance from the beginning of a passage."""
    edges = np.array([0, *AGES, 1 << 30])
    shares = np.linspace(0.0, 0.98, 50)
    held: list[list[float]] = [[] for _ in edges[:-1]]
    for document in documents_of(cache, "learn"):
        for first, last, payload in document.truth:
            if first < AGES[0] or document.layout == "16 words put in":
                continue  # nothing foreign stands before it, or its own text
            text = densities(document, payload)
            for token in range(first, last + 1):
                if text.counted[token]:
                    age = token - first
                    place = int(np.searchsorted(edges, age, side="right")) - 1
                    held[place].append(float(text.density(np.array([token]), np.array([age]))[0]))
    rows = []
    for place, values in enumerate(held):
        fit = [float(np.log((1 - s) * np.array(values) + s).sum()) for s in shares]
        rows.append((f"{edges[place]} on", str(len(values)), f"{shares[int(np.argmax(fit))]:.2f}"))
    _common.print_table(("tokens since the beginning", "steps", "misread"), rows)


def rows_of(document: Document) -> tuple[list[dict[str, Any]], int]:
    """Return what became of each passage of a document, and the ranges that are none."""
    placed = [one for mark in decision_of(document).marks for one in mark.extents]
    rows, taken = [], []
    for first, last, _ in document.truth:
        half = (last - first) / 2
        found = [e for e in placed if min(last, e.last) - max(first, e.first) >= half]
        if not found:
            rows.append({"layout": document.layout, "code": document.profile.code, "found": False})
            continue
        one = found[0]
        joined = one in taken  # what was put in was not seen: the passage goes on over it
        taken.append(one)
        if joined:
            rows[-1] |= {"end": one.last_from <= last <= one.last_to, "joined": True}
            rows[-1] |= {"end off": abs(one.last - last), "end width": one.last_to - one.last_from}
            continue
        rows.append(
            {
                "layout": document.layout,
                "code": document.profile.code,
                "found": True,
                "start": one.first_from <= first <= one.first_to,
                "end": one.last_from <= last <= one.last_to,
                "start off": abs(one.first - first),
                "end off": abs(one.last - last),
                "start width": one.first_to - one.first_from,
                "end width": one.last_to - one.last_from,
            }
        )
    return rows, sum(one not in taken for one in placed)


def table(cache: Cache, use: str) -> None:
    """Print how often the intervals hold the limits, by layout and by code."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    phantoms: Counter[str] = Counter()
    for document in documents_of(cache, use):
        rows, more = rows_of(document)
        for name in (document.layout, f"all, {document.profile.code}", "all"):
            groups[name] += rows
            phantoms[name] += more
    order = [*LAYOUTS, layout_of(0, TABLES)[0], *(f"all, {code}" for code in CODES), "all"]
    columns = ("start off", "end off", "start width", "end width")
    shown = []
    for name in (one for one in order if one in groups):
        found = [row for row in groups[name] if row["found"]]
        medians = [f"{np.median([row[c] for row in found]):.0f}" for c in columns]
        held = [f"{np.mean([row[limit] for row in found]):.1%}" for limit in ("start", "end")]
        joined = sum("joined" in row for row in found)
        counted = f"{len(found) + joined} of {len(groups[name]) + joined}"
        shown.append((name, counted, *held, *medians, str(phantoms[name])))
    head = ("layout", "passages found", "start held", "end held", *columns, "ranges of none")
    _common.print_table(head, shown)


def main() -> None:
    """Do one part of the study."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=("read", "learn", "table"))
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=300, help="that are tested")
    parser.add_argument("--learn", type=int, default=96, help="documents that teach")
    parser.add_argument("--tables", type=int, default=100, help="documents with tables, at most")
    parser.add_argument("--tokens", type=int, default=240, help="of a marked text, at most")
    arguments = _common.parse(parser, documents=2, learn=4, tables=1, tokens=60)
    cache = Cache(arguments.cache)
    _common.print_facts("Where a mark begins and ends", SEED)
    if arguments.part == "read":
        model = _common.load_builtin()
        uses = (("learn", arguments.learn), ("test", arguments.documents))
        uses += ((TABLES, min(arguments.tables, arguments.documents)),)
        for use, count in uses:
            if use != TABLES:
                write_texts(model, cache, use, count, arguments.tokens)
            read_documents(model, cache, use, count)
    elif arguments.part == "learn":
        learn(cache)
    else:
        table(cache, "test")
        table(cache, TABLES)


if __name__ == "__main__":
    main()
