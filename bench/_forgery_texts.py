"""Texts of the study of forgeries: answers that an attacker collects, and texts that are genuine.

Everything is written by the built-in model and stored in a cache, so that a study that was stopped
goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

import numpy as np

from calibration import exchanged
from pura.embed.generate import generate_batch
from pura.measure.cache import Cache
from pura.measure.corpora import SEED, Cell
from pura.scheme import I64, Payload, Profile, SecretKey, pack


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How large the study is; a cache belongs to one size.

    Attributes:
        batch: Texts that are generated together; answers are stored in parts of this size, and
            so are genuine texts.
        answer_tokens: Length of a collected answer.
        most_answers: An attacker has no more of them.
        most_tokens: No text is longer.
        genuine: Genuine texts of a code and a window; half of them calibrate, half are kept aside.
        documents: Documents of a cell.
    """

    batch: int = 32
    answer_tokens: int = 150
    most_answers: int = 256
    most_tokens: int = 320
    genuine: int = 64
    documents: int = 16


SIZES: Final = Sizes()
"""Those of the study."""
SMALL_SIZES: Final = Sizes(
    batch=4, answer_tokens=60, most_answers=4, most_tokens=60, genuine=4, documents=1
)
"""Those of a run that only shows that all of it runs."""

PROMPTS: Final = (
    "The city council met on Tuesday and",
    "The company said on Monday that",
    "Our annual report shows that",
    "In the interview the director said",
    "The new product was announced and",
    "According to the study,",
    "The board of the bank decided",
    "The hospital said that the patients",
)
"""What the collected answers are about. All are near the attacker's subject, which helps him."""

FIELDS: Final = (
    {"name": "customer", "bits": 16, "kind": "integer"},
    {"name": "issued", "bits": 14, "kind": "date", "epoch": "2020-01-01", "unit": "day"},
    {"name": "release", "bits": 6, "kind": "version", "parts": [2, 4]},
)
"""A layout for payloads that say who got the text."""

VICTIM: Final = 417
ACCOMPLICES: Final = (416, 418, 419)
"""Accounts whose payloads add up, bit by bit, to the victim's: both codes are linear."""

BITS: Final = 36
CODES: Final = ("spc", "tbcc")
WINDOWS: Final = (2, 4)
USES: Final = ("recipient", "answer")


def randomness(*labels: object) -> np.random.Generator:
    """Return the randomness that belongs to some labels and the seed of the study."""
    label = "/".join(map(str, (SEED, "forgery", *labels)))
    digest = blake2b(label.encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How a service marks its answers.

    Attributes:
        code: ``spc`` or ``tbcc``.
        context_window: ``W``.
        use: ``recipient``, every answer of a customer carries the same payload; or ``answer``,
            each carries an opaque number of its own.
    """

    code: str
    context_window: int
    use: str

    @property
    def name(self) -> str:
        """Name in the cache and in the tables."""
        return f"{self.code}-w{self.context_window}-{self.use}"

    @property
    def key(self) -> SecretKey:
        """The key of the service. It guards nothing: anyone can derive it."""
        return SecretKey(randomness("key", self.name).bytes(32))

    def profile(self, model: Any) -> Profile:
        """Return the profile of the service."""
        return Profile.new(
            model,
            bits=BITS,
            code=self.code,
            context_window=self.context_window,
            fields=FIELDS if self.use == "recipient" else (),
            payload_use=None,  # the records hold their payloads; the rule is applied later
        )

    def payload(self, profile: Profile, customer: int, rng: np.random.Generator) -> Payload:
        """Return what the service puts into an answer for a customer."""
        if self.use == "recipient":
            values = {"customer": customer, "issued": "2026-11-21", "release": "1.4"}
            return pack(profile.fields, values)
        return Payload.from_bits(rng.integers(0, 2, BITS))


def settings() -> Iterator[Setting]:
    """Yield all settings: both codes, both windows, both uses of the payload."""
    for window in WINDOWS:
        for code in CODES:
            for use in USES:
                yield Setting(code=code, context_window=window, use=use)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer of the service.

    Attributes:
        ids: int64 [L], its tokens.
        payload: The bits that it carries.
    """

    ids: I64
    payload: Payload


def collected(model: Any, cache: Cache, setting: Setting, count: int, sizes: Sizes) -> list[Answer]:
    """Return answers of the service to one customer, and write those that are missing.

    Args:
        model: The service's model.
        cache: Where answers are.
        setting: How the service marks.
        count: How many; the first of any larger number are the same.
        sizes: Of the study.
    """
    answers: list[Answer] = []
    for part in range(-(-count // sizes.batch)):
        name = f"answers.{setting.name}.{part}"
        if name not in cache:
            _write_answers(model, cache, setting, part, name, sizes)
        stored = cache.get(name)
        answers += [
            Answer(ids=ids, payload=Payload.from_bits(bits))
            for ids, bits in zip(stored["ids"], stored["payload"], strict=True)
        ]
    return answers[:count]


def _write_answers(
    model: Any, cache: Cache, setting: Setting, part: int, name: str, sizes: Sizes
) -> None:
    start, profile = time.perf_counter(), setting.profile(model)
    numbers = range(part * sizes.batch, (part + 1) * sizes.batch)
    payloads = [
        setting.payload(profile, VICTIM, randomness("payload", setting.name, i)) for i in numbers
    ]
    texts = generate_batch(
        model,
        [PROMPTS[i % len(PROMPTS)] for i in numbers],
        payloads,
        setting.key,
        profile,
        tokens=sizes.answer_tokens,
        seed=[int(randomness("dice", setting.name, i).integers(1 << 62)) for i in numbers],
        ignore_eos=True,
        batch_size=sizes.batch,
    )
    columns = {"ids": [t.ids for t in texts], "payload": [p.array for p in payloads]}
    cache.put(name, columns)
    print(f"wrote {name} in {time.perf_counter() - start:.0f} s", flush=True)


@dataclass(frozen=True, kw_only=True)
class GenuineText:
    """A marked text as the service wrote it.

    Attributes:
        number: Its place in its cell.
        ids: int64 [L].
        payload: What it carries.
        key: Its key.
    """

    number: int
    ids: I64
    payload: Payload
    key: SecretKey


def genuine_cell(setting: Setting, texts: int, tokens: int) -> Cell:
    """Return the cell of genuine texts of a setting."""
    name = f"forgery-{setting.code}-w{setting.context_window}"
    return Cell(name=name, code=setting.code, payload_bits=BITS, texts=texts, tokens=tokens)


def genuine(
    model: Any, cache: Cache, cell: Cell, profile: Profile, sizes: Sizes
) -> list[GenuineText]:
    """Return the texts of a cell, each with its own key and payload, and write what is missing."""
    texts: list[GenuineText] = []
    for part in range(cell.texts // sizes.batch):
        name = f"genuine.{cell.name}.{part}"
        numbers = range(part * sizes.batch, (part + 1) * sizes.batch)
        if name not in cache:
            start = time.perf_counter()
            written = generate_batch(
                model,
                [cell.prompts()[i] for i in numbers],
                [cell.payload(i) for i in numbers],
                [cell.key(i) for i in numbers],
                profile,
                tokens=cell.tokens,
                seed=[int(cell.generator("dice", i).integers(1 << 62)) for i in numbers],
                ignore_eos=True,
                batch_size=sizes.batch,
            )
            cache.put(name, {"ids": [t.ids for t in written]})
            print(f"wrote {name} in {time.perf_counter() - start:.0f} s", flush=True)
        texts += [
            GenuineText(number=i, ids=ids, payload=cell.payload(i), key=cell.key(i))
            for i, ids in zip(numbers, cache.get(name)["ids"], strict=True)
        ]
    return texts


def edited(text: str, percent: int, rng: np.random.Generator) -> str:
    """Return a text with a share of its words replaced by words that people wrote elsewhere."""
    return exchanged(text, percent, rng) if percent else text


def document(
    quotes: Sequence[str], *, words_between: int, human: Sequence[str], rng: np.random.Generator
) -> str:
    """Return a document in which somebody quotes answers one behind the other.

    Args:
        quotes: What is quoted of each answer.
        words_between: Words of the person who quotes, before, between and behind the quotes; 0 puts
            each quote into a paragraph of its own and nothing between them.
        human: Texts by people.
        rng: Where in these texts the words are taken from.
    """
    if not words_between:
        return "\n\n".join(quotes)
    paragraphs: list[str] = []
    for quote in (*quotes, ""):
        pool = human[int(rng.integers(len(human)))].split()
        start = int(rng.integers(max(1, len(pool) - words_between)))
        paragraphs += [" ".join(pool[start : start + words_between]), quote]
    return "\n\n".join(filter(None, paragraphs))
