"""What a study generates: cells of texts that share a code and a payload length.

Everything is derived from the study's seed: keys, payloads, ordinary randomness. Texts of
different cells share nothing, so no text is counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np

from pura.measure.prompts import LEARNING, STUDY
from pura.scheme import Payload, Profile, SecretKey, default_blocks

SEED: Final = 20_261_121
TOKENS: Final = 200


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Texts generated alike.

    Attributes:
        name: Of the cell; every random number of it follows from it and the seed.
        code: ``spc``, ``tbcc``; "" for texts without a mark.
        payload_bits: ``L_m``; 0 without a mark.
        texts: How many.
        tokens: Length of each.
        learning: Opened by the prompts for learning instead of the study's.
    """

    name: str
    code: str
    payload_bits: int
    texts: int = 64
    tokens: int = TOKENS
    learning: bool = False

    def prompts(self) -> list[str]:
        """Return one prompt a text, spread over the genres."""
        pool = LEARNING if self.learning else STUDY
        return [
            pool[(i * len(pool) // min(self.texts, len(pool))) % len(pool)]
            for i in range(self.texts)
        ]

    def profile(self, vocab_size: int) -> Profile:
        """Return the profile of the cell's texts."""
        if self.code == "tbcc":
            return Profile(payload_bits=self.payload_bits, code="tbcc", vocab_size=vocab_size)
        bits = self.payload_bits or 36
        return Profile(payload_bits=bits, blocks=default_blocks(bits), vocab_size=vocab_size)

    def key(self, number: int, seed: int = SEED) -> SecretKey:
        """Return the key of one text. It guards nothing: anyone can derive it."""
        return SecretKey(self._bytes("key", number, seed))

    def payload(self, number: int, seed: int = SEED) -> Payload:
        """Return the payload of one text, uniform over all payloads of the length."""
        bits = self.generator("payload", number, seed).integers(0, 2, self.payload_bits)
        return Payload.from_bits(bits)

    def generator(self, purpose: str, number: int, seed: int = SEED) -> np.random.Generator:
        """Return the randomness of one text for one purpose."""
        return np.random.default_rng(int.from_bytes(self._bytes(purpose, number, seed), "little"))

    def _bytes(self, purpose: str, number: int, seed: int) -> bytes:
        label = f"{seed}/{self.name}/{purpose}/{number}"
        return blake2b(label.encode(), digest_size=32).digest()


def _marked(code: str, bits: int) -> Cell:
    return Cell(name=f"{code}-{bits}", code=code, payload_bits=bits)


MAIN: Final = (_marked("tbcc", 36), _marked("spc", 36))
"""Read under every attack and by every verifier."""

CLEAN: Final = tuple(
    _marked(code, bits)
    for code, bits in [
        *(("spc", b) for b in (12, 18, 24, 30)),
        *((c, b) for b in (64, 96, 128) for c in ("tbcc", "spc")),
    ]
)
"""Other payload lengths."""

LEARN: Final = Cell(name="learn", code="tbcc", payload_bits=36, texts=80, learning=True)
PLAIN: Final = Cell(name="plain", code="", payload_bits=0, texts=32, tokens=400)
PASSAGE: Final = Cell(name="passage", code="tbcc", payload_bits=36, texts=32, tokens=150)
POWER: Final = Cell(name="power", code="tbcc", payload_bits=36, texts=128)
"""More texts of the default code, for the power table alone."""

CELLS: Final = {c.name: c for c in (LEARN, *MAIN, PASSAGE, PLAIN, *CLEAN, POWER)}
"""All cells, in the order in which they are generated."""
