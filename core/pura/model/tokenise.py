"""Tokens of a text and their characters, and a tokenizer that needs only ``tokenizer.json``."""

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
"""Ids at the beginning of a vocabulary that are not ordered by frequency: single bytes."""


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
    """The part of a model that concerns its tokenizer."""

    @property
    def tokenizer(self) -> Any:
        """A fast tokenizer of the transformers library."""

    @property
    def vocab_size(self) -> int:
        """``V = len(tokenizer)``."""


@contextlib.contextmanager
def tokenizing() -> Iterator[None]:
    """Turn every error of a tokenizer into one of ours; its message could quote the text.

    A panic of the Rust code is not an ``Exception`` and would end the program.

    Raises:
        ModelError: The tokenizer failed.
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
        tokenizer: A tokenizer of the transformers library, such as ``model.tokenizer``.
        text: Any text; NUL characters are ordinary characters.

    Raises:
        InputError: The text contains half of a surrogate pair, which no encoding can write.
        ModelError: The tokenizer failed.
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
    """Return the tokens before a text: the prompt, inside chat template and system prompt.

    The template may contain control tokens of the generator. The texts that fill its placeholders
    are data: control tokens in them are spelled out, as in a suspect text.

    Args:
        tokenizer: A tokenizer of the transformers library.
        profile: Profile with or without a template; without one only the prompt is used.
        prompt: Prompt of the generating model; may be empty.

    Raises:
        InputError: The prompt contains half of a surrogate pair.
        ModelError: The tokenizer failed.
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
            # All placeholders are filled at once, so that a fill cannot contain a placeholder.
            filled = holes.sub(lambda hole: fills[hole[0]], part)
            ids += tokenise(tokenizer, filled).ids.tolist()
    return tuple(ids)


def _byte_spans(tokenizer: Any, ids: I64, text: str) -> I64 | None:
    """Return spans from the bytes of each token, for byte-level vocabularies; None for others.

    A byte-level token is written with one character per byte. The offsets of the library omit the
    blank before a word, which would leave gaps in a shaded text.
    """
    from tokenizers import decoders

    backend = tokenizer.backend_tokenizer
    if not isinstance(backend.decoder, decoders.ByteLevel):
        return None
    if backend.normalizer is not None and backend.normalizer.normalize_str(text) != text:
        return None
    distinct, indices = np.unique(ids, return_inverse=True)
    lengths = np.array([len(t or "") for t in tokenizer.convert_ids_to_tokens(distinct.tolist())])
    ends = np.cumsum(lengths[indices])
    units = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
    if ends[-1] != units.size:  # a byte that the vocabulary lacks was dropped
        return None
    character = np.cumsum((units & 0xC0) != 0x80) - 1
    starts = ends - lengths[indices]
    return np.stack([character[starts], character[ends - 1] + 1], axis=1).astype(np.int64)


def _close_gaps(offsets: I64, characters: int) -> I64:
    """Assign skipped characters to the token after them, the last ones to the last token."""
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
    """Return the exact text of token ids, including special tokens and spaces.

    Raises:
        ModelError: The tokenizer failed.
    """
    with tokenizing():
        return str(
            tokenizer.decode(
                list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
            )
        )


def word_ids(tokenizer: Any, words: Sequence[str]) -> list[list[int]]:
    """Return the token ids of each word after a blank.

    Raises:
        ModelError: The tokenizer failed.
    """
    spaced = [f" {word}" for word in words]
    if not spaced:
        return []
    with tokenizing():
        encoding = tokenizer(spaced, add_special_tokens=False, split_special_tokens=True)
        return [list(ids) for ids in encoding["input_ids"]]


def nats_of(tokenizer: Any, text: str) -> float:
    """Return an estimate of the information in a text, in nats, from its token ids.

    A vocabulary is learnt from text and lists frequent tokens first, so the rank of a token
    estimates its probability (Zipf): the fewer nats, the likelier a text.

    Raises:
        ModelError: The tokenizer failed.
    """
    with tokenizing():
        encoding = tokenizer(text, add_special_tokens=False, split_special_tokens=True)
    return float(_nats_by_rank(len(tokenizer))[encoding["input_ids"]].sum())


@lru_cache(maxsize=2)
def _nats_by_rank(size: int) -> F64:
    return np.asarray(np.log(np.arange(size) + _FLAT) + math.log(math.log1p(size / _FLAT)))


def usual_spelling(tokenizer: Any, words: Iterable[str]) -> dict[str, str]:
    """Return the usual capitalisation of words, by the tokenizer's vocabulary.

    A vocabulary is learnt from text, so it serves as a lexicon. Of a word in lower case, with a
    capital, and in upper case, the usual form takes the fewest tokens; among single tokens it is
    the most frequent one, with the lowest id. A word that is never a single token stays in lower
    case unless a capital saves tokens.

    Args:
        tokenizer: A tokenizer of the transformers library.
        words: Words in lower case.
    """
    listed = list(words)
    if not listed:
        return {}
    forms = [(word, word.capitalize(), word.upper()) for word in listed]
    ids = word_ids(tokenizer, [form for three in forms for form in three])
    usual = {}
    for number, word in enumerate(listed):
        three = ids[3 * number : 3 * number + 3]
        # Several tokens: the first form, in lower case, unless another takes fewer.
        ranks = [(len(t), t[0] if len(t) == 1 else index) for index, t in enumerate(three)]
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
_SPECIAL_TOKENS: Final = (
    "bos_token",
    "eos_token",
    "pad_token",
    "unk_token",
    "sep_token",
    "mask_token",
)
_LISTED: Final = ("additional_special_tokens", "extra_special_tokens")
# Settings without effect on ids, spans and decoding as they are used here.
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
_OWN_ATTRIBUTES: Final = ("backend_tokenizer", "bos_token_id", "eos_token_id")
_MARKS: Final = ("content", "lstrip", "normalized", "rstrip", "single_word", "special")


class FileTokenizer:
    """A tokenizer from ``tokenizer.json`` alone, with the interface of transformers.

    Anything beyond this interface is passed to the tokenizer of transformers, which is loaded then.

    Args:
        folder: An inspected model folder.
        backend: The tokenizer in its ``tokenizer.json``.
        config: The content of its ``tokenizer_config.json``.
        load: Loads the tokenizer of transformers from a folder.

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
            for name in _SPECIAL_TOKENS[:2]
        )

    def __len__(self) -> int:
        return int(self.backend_tokenizer.get_vocab_size(with_added_tokens=True))

    def __call__(
        self,
        text: str | list[str],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
        **options: Any,
    ) -> Any:
        """Return ``input_ids`` and ``offset_mapping`` of a text, or ``input_ids`` of several."""
        offsets = "return_offsets_mapping" if isinstance(text, str) else None
        if any(wish for name, wish in options.items() if name != offsets):
            return self._whole()(
                text,
                add_special_tokens=add_special_tokens,
                split_special_tokens=split_special_tokens,
                **options,
            )
        backend = self.backend_tokenizer
        backend.encode_special_tokens = split_special_tokens
        if isinstance(text, str):
            encoding = backend.encode(text, add_special_tokens=add_special_tokens)
            return {"input_ids": encoding.ids, "offset_mapping": encoding.offsets}
        several = backend.encode_batch(text, add_special_tokens=add_special_tokens)
        return {"input_ids": [encoding.ids for encoding in several]}

    @property
    def added_tokens_decoder(self) -> dict[int, Any]:
        """The added tokens by id."""
        tokens: dict[int, Any] = self.backend_tokenizer.get_added_tokens_decoder()
        return tokens

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str | None]:
        """Return the string of each token; None for an id without one."""
        return [*map(self.backend_tokenizer.id_to_token, ids)]

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False, **_: object) -> str:
        """Return the exact text of token ids, which may be a tensor [L]."""
        text: str = self.backend_tokenizer.decode(
            [int(number) for number in ids], skip_special_tokens=skip_special_tokens
        )
        return text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._whole(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        # Other settings (padding_side, pad_token …) belong to the tokenizer of transformers.
        if name.startswith("_") or name in _OWN_ATTRIBUTES:
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
    """Return the tokenizer of an inspected folder, or None if transformers might change it.

    Args:
        folder: The folder.
        model_type: ``model_type`` in its config.
        load: Loads the tokenizer of transformers from a folder, for anything beyond the file.
    """
    names = {path.name for path in folder.iterdir()}
    if not {"tokenizer.json", "tokenizer_config.json"} <= names:
        return None
    if {"special_tokens_map.json", "added_tokens.json"} & names or "stral" in model_type:
        return None
    config = read_object(folder / "tokenizer_config.json", MAX_CONFIG_BYTES)
    if config.get("tokenizer_class") not in _CLASSES:
        return None
    if set(config) - _IDLE - {*_SPECIAL_TOKENS, *_LISTED, "added_tokens_decoder"}:
        return None
    from tokenizers import Tokenizer

    backend: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
    if backend.post_processor is None or not _all_listed(backend, config):
        return None
    return FileTokenizer(folder, backend, config, load)


def _all_listed(backend: Any, config: dict[str, Any]) -> bool:
    """Return whether all tokens in the settings are in the file, with the same properties."""
    added = backend.get_added_tokens_decoder()
    token_texts = {token.content for token in added.values()}
    names = [config[name] for name in _SPECIAL_TOKENS if config.get(name) is not None]
    for name in _LISTED:
        listed = config.get(name)
        names += listed if isinstance(listed, list) else [listed] if listed else []
    if not all(isinstance(token, str) and token in token_texts for token in names):
        return False
    described = config.get("added_tokens_decoder", {})
    if not isinstance(described, dict):
        return False
    marks = {str(i): {mark: getattr(t, mark) for mark in _MARKS} for i, t in added.items()}
    return all(
        isinstance(token, dict) and marks.get(number) == {m: token.get(m) for m in _MARKS}
        for number, token in described.items()
    )
