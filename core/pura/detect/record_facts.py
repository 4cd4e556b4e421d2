"""The facts of a record that are no evidence: input, keys, model, device, power table, versions."""

from __future__ import annotations

import importlib.metadata
import platform
from functools import cache
from typing import TYPE_CHECKING, Final

from pura.base.paths import build_hash
from pura.detect.verdict.power import Claim
from pura.documents import Document, characters
from pura.record.evidence import PowerFacts
from pura.record.surroundings import DeviceFacts, InputFacts, KeyFacts, ModelFacts
from pura.scheme import KeyOrigin, SecretKey
from pura.version import __version__
from pura.words.sentences import sentence

if TYPE_CHECKING:
    from pura.model.device import Device
    from pura.model.folder import InstalledModel
    from pura.model.load import BareModel


_PARTS: Final = ("torch", "transformers", "tokenizers", "safetensors", "numpy")


def input_facts(document: Document, tokens: int, shown: str | None = None) -> InputFacts:
    """Return what was examined.

    Args:
        document: The text.
        tokens: ``L``.
        shown: The text that the record shows, where it may be another one.
    """
    return InputFacts(
        name=document.name,
        sha256=document.sha256,
        size_bytes=document.size_bytes,
        characters=len(document.text),
        tokens=tokens,
        encoding=document.encoding,
        format=document.format,
        part=document.part,
        transforms=(*document.transforms, *characters.facts(document.text)),
        pages=document.pages if shown in (None, document.text) else (),
        left_out=document.left_out,
        examined_words=document.examined_words,
        notes=document.notes,
    )


def key_facts(key: SecretKey, label: str | None) -> KeyFacts:
    """Return a key by its fingerprint, with the key and the epoch that it was derived from."""
    return key_named(key.fingerprint, label, key.origin)


def key_named(fingerprint: str, label: str | None, origin: KeyOrigin | None) -> KeyFacts:
    """Return what a record holds of a key that may not be open."""
    if origin is None:
        return KeyFacts(fingerprint=fingerprint, label=label)
    return KeyFacts(fingerprint=fingerprint, label=label, parent=origin.parent, epoch=origin.epoch)


def model_facts(model: BareModel | InstalledModel) -> ModelFacts:
    """Return a model; the context of one that was not loaded is not known, and 0."""
    return ModelFacts(
        name=model.name,
        fingerprint=model.fingerprint,
        tokenizer=model.tokenizer_fingerprint,
        architecture=model.architecture,
        parameters=model.parameters,
        vocab_size=model.vocab_size,
        context_length=getattr(model, "context_length", 0),
        weights=model.weights,
    )


def device_facts(device: Device) -> DeviceFacts:
    """Return where the model ran, and why there."""
    return DeviceFacts(
        kind=device.kind,
        name=device.name,
        dtype=device.dtype,
        reason=(sentence(device.reason),) if device.reason else (),
    )


def power_facts(claim: Claim) -> PowerFacts | None:
    """Return which table the power comes from, or None where none speaks of the text."""
    if claim.table is None:
        return None
    conditions = claim.table.conditions
    texts = conditions.get("texts")
    return PowerFacts(
        table=claim.table.fingerprint,
        name=claim.table.name,
        own=claim.own,
        texts=texts if isinstance(texts, int) else 0,
        date=str(conditions.get("date", "")),
    )


def versions() -> dict[str, str]:
    """Return the versions of the tool and of the parts that its numbers depend on."""
    return dict(_versions())


@cache  # reading what is installed takes as long as decoding a short text
def _versions() -> dict[str, str]:
    found = {
        "pura": __version__,
        "build": build_hash()[:16],
        "python": platform.python_version(),
    }
    for name in _PARTS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            # A frozen build may carry a part without its metadata.
            found[name] = "unknown"
    found["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    return found
