"""From suspect text to token ids and back to characters; a ``tokenizer.json`` as it stands."""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from pura.base.errors import Cancelled, InputError, ModelError, PuraError
from pura.model.folder import MAX_CONFIG_BYTES, read_object
from pura.scheme import F64, I64, Profile
from pura.scheme.profile import PROMPT_HOLE, SYSTEM_HOLE

_FLAT: Final = 300
"""Places at the beginning of a vocabulary that say little: single bytes, in no order."""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """The tokens of a text.

    Attributes:
        ids: int64 [L].
        spans: int64 [L, 2], the characters (code points) that each token touches, end excluded.
            Tokens that share the bytes of one character share its span.
    """

    ids: I64
    spans: I64

    def __len__(self) -> int:
        return int(self.ids.size)


class HasTokenizer(Protocol):
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


def _byte_spans(tokenizer: Any, ids: I64, text: str) -> I64 | None:
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


def _close_gaps(offsets: I64, characters: int) -> I64:
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


def nats_of(tokenizer: Any, text: str) -> float:
    """Return how many nats a text takes, written in the tokens of the vocabulary.

    A vocabulary is learnt from text and lists its tokens from the most frequent one on, so its
    order is a crude model of how probable each is (Zipf): the fewer nats, the likelier a text.

    Raises:
        ModelError: The tokenizer gave up.
    """
    with tokenizing():
        found = tokenizer(text, add_special_tokens=False, split_special_tokens=True)
    return float(_nats_by_rank(len(tokenizer))[found["input_ids"]].sum())


@lru_cache(maxsize=2)
def _nats_by_rank(size: int) -> F64:
    return np.asarray(np.log(np.arange(size) + _FLAT) + math.log(math.log1p(size / _FLAT)))


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
    """Return 16 hex digits that name the tokenizer (scheme.md §6).

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


_CLASSES: Final = ("TokenizersBackend", "PreTrainedTokenizerFast")
_NAMED: Final = ("bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "mask_token")
_LISTED: Final = ("additional_special_tokens", "extra_special_tokens")
# What has no effect on ids, spans and decoding as they are asked for here.
_IDLE: Final = {
    "backend",
    "chat_template",
    "clean_up_tokenization_spaces",
    "is_local",
    "local_files_only",
    "model_input_names",
    "model_max_length",
    "padding_side",
    "tokenizer_class",
    "truncation_side",
}
_OWN: Final = ("backend_tokenizer", "bos_token_id", "eos_token_id")
_MARKS: Final = ("content", "lstrip", "normalized", "rstrip", "single_word", "special")


class FileTokenizer:
    """A tokenizer of its file alone; speaks as one of transformers does.

    Whatever is asked for beyond this comes from the library's own, which is loaded then.

    Args:
        folder: An inspected model folder.
        backend: What its ``tokenizer.json`` holds.
        config: Its ``tokenizer_config.json``.
        load: Loads the library's own of a folder.

    Attributes:
        backend_tokenizer: The tokenizer of the tokenizers library.
        bos_token_id: The token that opens a document, or None.
        eos_token_id: The token that ends one, or None.
    """

    is_fast: Final = True

    def __init__(
        self, folder: Path, backend: Any, config: dict[str, Any], load: Callable[[Path], Any]
    ) -> None:
        backend.no_truncation()
        backend.no_padding()
        self._folder, self._load = folder, load
        self._library: Any = None
        self.backend_tokenizer = backend
        self.bos_token_id, self.eos_token_id = (
            None if config.get(name) is None else backend.token_to_id(config[name])
            for name in _NAMED[:2]
        )

    def __len__(self) -> int:
        return int(self.backend_tokenizer.get_vocab_size(with_added_tokens=True))

    def __call__(
        self,
        text: str | list[str],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
        **more: Any,
    ) -> Any:
        """Return ``input_ids`` and ``offset_mapping`` of a text, or the ids of several."""
        offsets = "return_offsets_mapping" if isinstance(text, str) else None
        if any(wish for name, wish in more.items() if name != offsets):
            return self._whole()(
                text,
                add_special_tokens=add_special_tokens,
                split_special_tokens=split_special_tokens,
                **more,
            )
        backend = self.backend_tokenizer
        backend.encode_special_tokens = split_special_tokens
        if isinstance(text, str):
            found = backend.encode(text, add_special_tokens=add_special_tokens)
            return {"input_ids": found.ids, "offset_mapping": found.offsets}
        several = backend.encode_batch(text, add_special_tokens=add_special_tokens)
        return {"input_ids": [found.ids for found in several]}

    @property
    def added_tokens_decoder(self) -> dict[int, Any]:
        """The added tokens by id."""
        found: dict[int, Any] = self.backend_tokenizer.get_added_tokens_decoder()
        return found

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str | None]:
        """Return the string of each token; None where an id has none."""
        return [*map(self.backend_tokenizer.id_to_token, ids)]

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False, **_: object) -> str:
        """Return the text of token ids, a tensor [L] too, with nothing tidied."""
        text: str = self.backend_tokenizer.decode(
            [int(number) for number in ids], skip_special_tokens=skip_special_tokens
        )
        return text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._whole(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        # What is set beyond the file (padding_side, pad_token …) is for the library's own.
        if name.startswith("_") or name in _OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._whole(), name, value)

    def _whole(self) -> Any:
        if self._library is None:
            self._library = self._load(self._folder)
        return self._library


def file_tokenizer(
    folder: Path, model_type: str, load: Callable[[Path], Any]
) -> FileTokenizer | None:
    """Return the tokenizer of an inspected folder, or None where the library may change it.

    Args:
        folder: The folder.
        model_type: Of its config.
        load: Loads the library's own of a folder, for what is asked beyond the file.
    """
    names = {path.name for path in folder.iterdir()}
    if not {"tokenizer.json", "tokenizer_config.json"} <= names:
        return None
    if {"special_tokens_map.json", "added_tokens.json"} & names or "stral" in model_type:
        return None
    config = read_object(folder / "tokenizer_config.json", MAX_CONFIG_BYTES)
    if config.get("tokenizer_class") not in _CLASSES:
        return None
    if set(config) - _IDLE - {*_NAMED, *_LISTED, "added_tokens_decoder"}:
        return None
    from tokenizers import Tokenizer

    backend: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
    if backend.post_processor is None or not _all_known(backend, config):
        return None
    return FileTokenizer(folder, backend, config, load)


def _all_known(backend: Any, config: dict[str, Any]) -> bool:
    """Whether every token that the settings name is one of the file, and marked there alike."""
    added = backend.get_added_tokens_decoder()
    contents = {token.content for token in added.values()}
    named = [config[name] for name in _NAMED if config.get(name) is not None]
    for name in _LISTED:
        listed = config.get(name)
        named += listed if isinstance(listed, list) else [listed] if listed else []
    if not all(isinstance(token, str) and token in contents for token in named):
        return False
    said = config.get("added_tokens_decoder", {})
    if not isinstance(said, dict):
        return False
    marks = {str(i): {mark: getattr(t, mark) for mark in _MARKS} for i, t in added.items()}
    return all(
        isinstance(token, dict) and marks.get(number) == {m: token.get(m) for m in _MARKS}
        for number, token in said.items()
    )
