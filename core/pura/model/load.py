"""Load a model safely: local files, safetensors or GGUF, no code but ours.

The folder is inspected first (:mod:`pura.model.folder`); the libraries get it only then, with
their networks, pickles and remote code switched off. Whatever they raise leaves as a ModelError.
"""

from __future__ import annotations

import contextlib
import logging
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from pura.base.errors import Cancelled, ModelError
from pura.model import libraries
from pura.model.device import Device
from pura.model.folder import (
    FolderFacts,
    InstalledModel,
    file_hash,
    inspect,
    inspect_folder,
    model_fingerprint,
    refuse_changed,
    refuse_changed_weights,
)
from pura.model.head import Head
from pura.model.product import speed_up
from pura.model.suitability import (
    metadata_of,
    refuse_unknown_architecture,
    refuse_unknown_gguf,
)
from pura.model.tokenise import file_tokenizer, tokenizer_fingerprint

_log = logging.getLogger(__name__)

DEFAULT_CONTEXT: Final = 2048  # for architectures without a hard limit (BLOOM's ALiBi)
_OWN_NETWORK: Final = "llama"
"""The model type that :mod:`pura.model.llama` reads without the import of transformers."""
_SAFE: Final = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True, kw_only=True, eq=False)
class BareModel:
    """A model without its weights: for what needs its tokens only.

    Attributes:
        tokenizer: A fast tokenizer of the transformers library.
        device: Where it computes, or would.
        name: Name in the store, or the folder's.
        fingerprint: 16 hex digits that name the weights.
        tokenizer_fingerprint: 16 hex digits (scheme.md §6).
        architecture: Class name.
        parameters: Number of weights.
        vocab_size: ``V = len(tokenizer)``.
        weights: Where the weights came from: ``safetensors`` or ``gguf``.
    """

    tokenizer: Any
    device: Device
    name: str
    fingerprint: str
    tokenizer_fingerprint: str
    architecture: str
    parameters: int
    vocab_size: int
    weights: str


@dataclass(frozen=True, kw_only=True, eq=False)
class LanguageModel(BareModel):
    """A model that is ready to read.

    Attributes:
        network: The torch module, in evaluation mode, on its device.
        head: How the network turns hidden states into logits.
        context_length: Longest window in tokens.
        bos_id: The token that opens a document, or None.
    """

    network: Any
    head: Head
    context_length: int
    bos_id: int | None


def bare(model: LanguageModel) -> BareModel:
    """Return what is left of a model without its weights."""
    return BareModel(**{one.name: getattr(model, one.name) for one in fields(BareModel)})


def load_bare(source: InstalledModel, device: Device) -> BareModel:
    """Load the tokenizer of an installed model.

    Raises:
        ModelError: Missing, unsafe or damaged.
    """
    refuse_changed(source)
    both = {one.name for one in fields(BareModel)} & {one.name for one in fields(source)}
    known = {name: getattr(source, name) for name in both}
    tokenizer = _load_tokenizer(source.path, inspect(source.path, as_installed=True))
    return BareModel(tokenizer=tokenizer, device=device, **known)


def load_model(source: InstalledModel | Path, device: Device) -> LanguageModel:
    """Load weights and tokenizer.

    Args:
        source: An installed model, a folder of safetensors, or a GGUF file.
        device: Where to compute, from :func:`pura.model.device.choose_device`.

    Raises:
        ModelError: Missing, unsafe, damaged, unknown, or too large for the memory.
    """
    start = time.perf_counter()
    libraries.prepare()
    libraries.keep_freed_memory()
    as_installed = isinstance(source, InstalledModel)
    path = source.path if isinstance(source, InstalledModel) else Path(source)
    if isinstance(source, InstalledModel):
        refuse_changed(source)
        refuse_changed_weights(source)
    facts = inspect(path, as_installed=as_installed)
    with _as_model_error():
        if facts is None:
            refuse_unknown_gguf(metadata_of(path))
        elif facts.config["model_type"] != _OWN_NETWORK:
            refuse_unknown_architecture(facts.config)
    tokenizer = _load_tokenizer(path, facts)
    network = _load_network(path, facts, device)
    if isinstance(source, InstalledModel):  # its tokenizer is what was installed, byte by byte
        name, fingerprint, weights = source.name, source.fingerprint, source.weights
        known = source.tokenizer_fingerprint
    else:
        name, weights = (path.stem, "gguf") if path.is_file() else (path.name, "safetensors")
        fingerprint, known = fingerprint_of(path), ""
    _log.info(
        "a model was loaded in %.2f s: %s, fingerprint %s, on %s",
        time.perf_counter() - start,
        weights,
        fingerprint,
        device.name,
    )
    return wrap(
        network,
        tokenizer,
        device,
        name=name,
        fingerprint=fingerprint,
        tokenizer_known=known,
        weights=weights,
    )


def wrap(
    network: Any,
    tokenizer: Any,
    device: Device,
    *,
    name: str,
    fingerprint: str = "",
    tokenizer_known: str = "",
    weights: str = "safetensors",
) -> LanguageModel:
    """Make a :class:`LanguageModel` of a network that is already in memory.

    The fingerprint of the tokenizer is worked out where it is not known.

    Raises:
        ModelError: The tokenizer does not fit the network, or its logits are computed in a way
            that the evidence pass cannot follow.
    """
    from pura.model.head import find_head

    network.eval()
    network.requires_grad_(requires_grad=False)
    head = find_head(network)
    vocab_size = len(tokenizer)
    if head.rows < vocab_size and not only_control_tokens(tokenizer, head.rows):
        raise ModelError("model.rows", vocab_size=vocab_size, rows=head.rows)
    return LanguageModel(
        network=network,
        tokenizer=tokenizer,
        head=head,
        device=device,
        name=name,
        fingerprint=fingerprint,
        tokenizer_fingerprint=tokenizer_known or tokenizer_fingerprint(tokenizer),
        architecture=type(network).__name__,
        parameters=sum(p.numel() for p in network.parameters()),
        vocab_size=vocab_size,
        context_length=_context_length(network.config),
        weights=weights,
        bos_id=tokenizer.bos_token_id,
    )


def only_control_tokens(tokenizer: Any, rows: int) -> bool:
    """Whether the tokens beyond the model's rows are control tokens, which no text can hold.

    Some tokenizers know more of them than their model (Gemma 3 without pictures, GGUF files
    without an unknown token). Their probability is zero.
    """
    added = getattr(tokenizer, "added_tokens_decoder", {})
    return all(i in added and added[i].special for i in range(rows, len(tokenizer)))


def load_tokenizer(path: Path) -> Any:
    """Load the tokenizer of a folder or GGUF file.

    Raises:
        ModelError: Missing, damaged, or not of the fast kind that knows characters.
    """
    return _load_tokenizer(path, inspect(path))


def _load_tokenizer(path: Path, facts: FolderFacts | None) -> Any:
    libraries.prepare()
    if facts is not None:
        with _as_model_error():
            plain = file_tokenizer(path, str(facts.config["model_type"]), library_tokenizer)
        if plain is not None:
            return plain
    return library_tokenizer(path)


def library_tokenizer(path: Path) -> Any:
    """Load the tokenizer of an inspected folder or GGUF file as transformers does.

    Raises:
        ModelError: Missing, damaged, or not of the fast kind that knows characters.
    """
    folder, extra = _place(path)
    with _as_model_error():
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, **_SAFE, **extra)
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError("model.lacks", name="tokenizer.json")
    return tokenizer


def fingerprint_of(path: Path) -> str:
    """Return the fingerprint of a folder or GGUF file; reads every weight once."""
    if path.is_file():
        return model_fingerprint({path.name: file_hash(path)}, gguf=True)
    facts = inspect_folder(path)
    files = {f.name: file_hash(f) for f in facts.weights}
    return model_fingerprint(files | {"config.json": file_hash(path / "config.json")})


def quiet() -> None:
    """Keep the library's progress bars off the terminal."""
    from transformers.utils import logging

    silence: Any = logging.disable_progress_bar
    silence()


def _place(path: Path) -> tuple[str, dict[str, str]]:
    """Return what transformers is told of a folder or GGUF file."""
    if path.is_file():
        return str(path.parent), {"gguf_file": path.name}
    return str(path), {}


def _load_network(path: Path, facts: FolderFacts | None, device: Device) -> Any:
    with _as_model_error():
        network = None
        if facts is not None and facts.config["model_type"] == _OWN_NETWORK:
            from pura.model import llama

            network = llama.load(facts, device.torch_dtype)
        if network is None:
            network = _library_network(path, facts, device)
        network = network.to(device.torch_device)
        speed_up(network)
        return network


def _library_network(path: Path, facts: FolderFacts | None, device: Device) -> Any:
    folder, extra = _place(path)
    quiet()
    if facts is not None:
        _check_shape(facts)
    network, found = _auto().from_pretrained(
        folder,
        dtype=device.torch_dtype,
        use_safetensors=True,
        output_loading_info=True,
        **_SAFE,
        **extra,
    )
    if found.get("missing_keys") or found.get("mismatched_keys"):
        raise ModelError("model.weights-missing", code="model-damaged")
    return network


def _auto() -> Any:
    import transformers

    return transformers.AutoModelForCausalLM


def _check_shape(facts: FolderFacts) -> None:
    """Refuse a config that describes a far larger network than the weights fill.

    The network is laid out without memory first, so that a config of a few bytes cannot ask for
    terabytes.
    """
    import torch

    folder = str(facts.weights[0].parent)
    with torch.device("meta"):
        from transformers import AutoConfig

        config = AutoConfig.from_pretrained(folder, **_SAFE)
        empty = _auto().from_config(config, trust_remote_code=False)
    wanted = sum(p.numel() for p in empty.parameters())
    if wanted > 2 * facts.parameters + (1 << 20):
        raise ModelError("model.config-large")


def _context_length(config: Any) -> int:
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    length = getattr(text, "max_position_embeddings", None)
    return int(length) if length else DEFAULT_CONTEXT


@contextlib.contextmanager
def _as_model_error() -> Iterator[None]:
    """Let no error of a library through; their texts quote paths and addresses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (ModelError, Cancelled, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except MemoryError:
        raise ModelError("model.memory") from None
    except BaseException as error:  # Rust panics of the tokenizers are not Exceptions
        if "out of memory" in str(error).lower() or "can't allocate" in str(error).lower():
            raise ModelError("model.memory") from None
        raise ModelError("model.load", kind=type(error).__name__) from None
