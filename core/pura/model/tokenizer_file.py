"""A ``tokenizer.json`` as it stands, where the library of models would add nothing to it.

transformers takes seconds to import and, for a folder that says all in its ``tokenizer.json``,
hands every call on to the same Rust code. What its class for some models changes (Gemma's, T5's)
stays with it: only the class that changes nothing is taken straight, and only with settings that
are known to change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from pura.model.safety import MAX_CONFIG_BYTES, read_object

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
        """Return ``input_ids`` and ``offset_mapping`` of a text, or a list of each of several."""
        if any(wish for name, wish in more.items() if name != "return_offsets_mapping"):
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
        return {
            "input_ids": [found.ids for found in several],
            "offset_mapping": [found.offsets for found in several],
        }

    @property
    def added_tokens_decoder(self) -> dict[int, Any]:
        """The added tokens by id."""
        found: dict[int, Any] = self.backend_tokenizer.get_added_tokens_decoder()
        return found

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str | None]:
        """Return the string of each token; None where an id has none."""
        return [self.backend_tokenizer.id_to_token(number) for number in ids]

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
