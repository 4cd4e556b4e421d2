"""From suspect text to token ids and back to characters.

Suspect text is data. A document that quotes ``<|im_start|>`` must not steer the model, so control
tokens are spelled out in ordinary tokens, and none is added (docs/scheme.md: the ids are those of
the text alone).
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pura.base.errors import Cancelled, InputError, ModelError, PuraError
from pura.scheme import Profile
from pura.scheme.profile import PROMPT_HOLE, SYSTEM_HOLE


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The tokens of a text.

    Attributes:
        ids: int64 [L].
        spans: int64 [L, 2], the characters (code points) that each token touches, end excluded.
            Tokens that share the bytes of one character share its span.
    """

    ids: npt.NDArray[np.int64]
    spans: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return int(self.ids.size)


class Spelled(Protocol):
    """A model, as far as its tokenizer is concerned."""

    @property
    def tokenizer(self) -> Any:
        """A fast tokenizer of the transformers library."""

    @property
    def vocab_size(self) -> int:
        """``V = len(tokenizer)``."""


@contextlib.contextmanager
def tokenizing() -> Iterator[None]:
    """Turn whatever a tokenizer raises into one error; its words may quote the text.

    A panic of the Rust code is no ``Exception``, so that it would end the program.

    Raises:
        ModelError: The tokenizer gave up.
    """
    try:
        yield
    except (PuraError, Cancelled, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:
        raise ModelError("model.failed", kind=type(error).__name__) from None


def tokenise(tokenizer: Any, text: str) -> Tokens:
    """Return the token ids of a suspect text and the characters they stand for.

    Args:
        tokenizer: Of the transformers library; that of a model is its attribute ``tokenizer``.
        text: Any text; NUL characters are text like any other.

    Raises:
        InputError: The text holds half of a surrogate pair, which no encoding can write.
        ModelError: The tokenizer gave up on the text.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("input.surrogates", code="input-surrogate") from None
    nothing = Tokens(ids=np.zeros(0, np.int64), spans=np.zeros((0, 2), np.int64))
    if not text:
        return nothing
    with tokenizing():
        encoded = tokenizer(
            text,
            add_special_tokens=False,
            split_special_tokens=True,
            return_offsets_mapping=True,
            return_attention_mask=False,
            truncation=False,
            verbose=False,
        )
        ids = np.array(encoded["input_ids"], dtype=np.int64)
        if not ids.size:  # no byte of the text is in the vocabulary
            return nothing
        spans = _byte_spans(tokenizer, ids, text)
    if spans is None:
        offsets = np.array(encoded["offset_mapping"], dtype=np.int64).reshape(-1, 2)
        spans = _close_gaps(offsets, len(text))
    return Tokens(ids=ids, spans=spans)


def beginning_ids(tokenizer: Any, profile: Profile, prompt: str) -> tuple[int, ...]:
    """Return the tokens that stand before a text: template and system prompt around a prompt.

    The template may hold control tokens, which are the generator's own. What fills its holes is
    data: control tokens that it quotes are spelled out, as in a suspect text.

    Args:
        tokenizer: Of the transformers library.
        profile: With or without a template; without one the prompt stands alone.
        prompt: What the model was asked; may be empty.

    Raises:
        InputError: Half of a surrogate pair in the prompt.
        ModelError: The tokenizer gave up.
    """
    if profile.chat_template is None:
        return tuple(tokenise(tokenizer, prompt).ids.tolist())
    fills = {PROMPT_HOLE: prompt, SYSTEM_HOLE: profile.system_prompt or ""}
    holes = re.compile("|".join(map(re.escape, fills)))
    control = {
        token.content: number
        for number, token in tokenizer.added_tokens_decoder.items()
        if token.special
    }
    longest_first = sorted(map(re.escape, control), key=len, reverse=True)
    parts = [profile.chat_template]
    if control:
        parts = re.split(f"({'|'.join(longest_first)})", profile.chat_template)
    ids: list[int] = []
    for part in parts:
        if part in control:
            ids.append(control[part])
        else:
            # Holes are filled in one go, so that nothing in a fill is taken for a hole.
            filled = holes.sub(lambda hole: fills[hole[0]], part)
            ids += tokenise(tokenizer, filled).ids.tolist()
    return tuple(ids)


def _byte_spans(
    tokenizer: Any, ids: npt.NDArray[np.int64], text: str
) -> npt.NDArray[np.int64] | None:
    """Count the bytes of each token; exact for byte-level vocabularies, None for others.

    A byte-level token is written with one character per byte. The library's own offsets leave
    the blank in front of a word out, which would leave holes in a shaded text.
    """
    from tokenizers import decoders

    backend = tokenizer.backend_tokenizer
    if not isinstance(backend.decoder, decoders.ByteLevel):
        return None
    if backend.normalizer is not None and backend.normalizer.normalize_str(text) != text:
        return None
    known, place = np.unique(ids, return_inverse=True)
    lengths = np.array([len(t or "") for t in tokenizer.convert_ids_to_tokens(known.tolist())])
    ends = np.cumsum(lengths[place])
    units = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
    if ends[-1] != units.size:  # a byte that the vocabulary lacks was dropped
        return None
    character = np.cumsum((units & 0xC0) != 0x80) - 1
    starts = ends - lengths[place]
    return np.stack([character[starts], character[ends - 1] + 1], axis=1).astype(np.int64)


def _close_gaps(offsets: npt.NDArray[np.int64], characters: int) -> npt.NDArray[np.int64]:
    """Give skipped characters to the token behind them, the last ones to the last token."""
    spans = offsets.copy()
    reach = np.concatenate(([0], np.maximum.accumulate(offsets[:, 1])))
    spans[:, 0] = np.minimum(spans[:, 0], reach[:-1])
    # Inside a shared character the start must stay that of the character.
    shared = offsets[:, 0] < reach[:-1]
    spans[shared, 0] = offsets[shared, 0]
    spans[:, 1] = np.maximum(spans[:, 1], spans[:, 0])
    spans[-1, 1] = characters
    return spans


def decode(tokenizer: Any, ids: Sequence[int]) -> str:
    """Return the text of token ids, with nothing tidied and nothing left out.

    Raises:
        ModelError: The tokenizer gave up.
    """
    with tokenizing():
        return str(
            tokenizer.decode(
                list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
            )
        )


def word_ids(tokenizer: Any, words: Sequence[str]) -> list[list[int]]:
    """Return the token ids of words that stand behind a blank, each by itself.

    Raises:
        ModelError: The tokenizer gave up.
    """
    spaced = [f" {word}" for word in words]
    if not spaced:
        return []
    with tokenizing():
        found = tokenizer(spaced, add_special_tokens=False, split_special_tokens=True)
        return [list(ids) for ids in found["input_ids"]]


def usual_spelling(tokenizer: Any, words: Iterable[str]) -> dict[str, str]:
    """Return words in small letters as the tokenizer's vocabulary spells them.

    A vocabulary is learnt from text, so it is a lexicon: of a word in small letters, with a
    capital, and in capitals, that form is the usual one that takes the fewest tokens, and of
    single tokens the one with the lowest id, which was met most often. A word that is no single
    token in any form keeps its small letters unless a capital saves tokens.

    Args:
        tokenizer: A bare tokenizer of the transformers library.
        words: In small letters.
    """
    listed = list(words)
    if not listed:
        return {}
    forms = [(word, word.capitalize(), word.upper()) for word in listed]
    ids = word_ids(tokenizer, [form for three in forms for form in three])
    usual = {}
    for number, word in enumerate(listed):
        three = ids[3 * number : 3 * number + 3]
        # Several tokens: the first form, in small letters, unless another takes fewer.
        ranks = [(len(t), t[0] if len(t) == 1 else place) for place, t in enumerate(three)]
        usual[word] = forms[number][ranks.index(min(ranks))]
    return usual


def tokenizer_fingerprint(tokenizer: Any) -> str:
    """Return 16 hex digits that name the tokenizer (docs/scheme.md §6).

    SHA-256 over the token strings of ids 0 … V-1, each followed by a zero byte; an id without a
    token counts as empty.
    """
    with tokenizing():
        strings = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    digest = hashlib.sha256()
    for string in strings:
        digest.update((string or "").encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()[:16]
