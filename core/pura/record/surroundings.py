"""What was examined, under which key, by which model, on which device, in which steps."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from pura.base.decoder import later, one_of
from pura.base.errors import PuraError, RecordError
from pura.record.left_out import ExcludedPiece, LeftOut, left_out_share
from pura.record.titles import titled
from pura.record.transforms import Transform
from pura.scheme.identity import PayloadSeries
from pura.words.sentences import Note, Sentence, findings, noted


@dataclass(frozen=True, kw_only=True)
class StepReport:
    """One numbered step of the audit: what was done, what was not and why.

    Attributes:
        number: 1 … 12, the same in the docs and in the code.
        name: input, text, tokens, fitness, reading, schedule, local-evidence, decoding,
            significance, passages, candidates, verdict.
        done: False when it was left out.
        note: What is worth knowing, or why it was left out.
        seconds: How long it took.
        error: Why it failed, as :meth:`~pura.base.errors.PuraError.packed` returns it.
    """

    number: int
    name: str
    done: bool
    note: Note = ()
    seconds: float = 0.0
    error: dict[str, object] | None = later(None)

    def words(self, language: str) -> str:
        """Return what is noted of the step, or why it failed.

        Raises:
            RecordError: The error is none that this program knows.
        """
        if self.error is None:
            return noted(self.note, language)
        try:
            error = PuraError.unpacked(self.error)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise RecordError("record.step", number=self.number) from None
        return " ".join(filter(None, error.words(language)))


@dataclass(frozen=True, kw_only=True)
class InputFacts:
    """What was examined.

    Attributes:
        name: File name, or ``-`` for standard input, or ``pasted text``.
        sha256: Of the original bytes (of the UTF-8 text when it was pasted).
        size_bytes: Length of the original bytes.
        characters: Code points of the text that was tokenised.
        tokens: ``L``.
        encoding: How bytes became text.
        format: Format that the file was read as; ``text`` for plain and pasted text.
        part: Which part of the file this is; empty when the file is one text.
        transforms: What extraction did to the characters, in order; then what is hidden among
            them (:mod:`pura.documents.characters`).
        pages: Where each page of a PDF, or slide of a presentation, begins in the text, in
            characters; empty where there are none, or the record shows another text.
        left_out: What of the file was not examined, in this text or beside it; also empty in
            records of versions that did not say.
        examined_words: Words of the file that were examined, in this text and beside it.
        excluded: Pieces of the text as found that a rule fixed beforehand left out, rising; they
            are listed in ``left_out`` as well. Empty where the record shows another text.
        notes: How the file was read, and what is uncertain about it.
    """

    name: str
    sha256: str
    size_bytes: int
    characters: int
    tokens: int
    encoding: str = "utf-8"
    format: str = "text"
    part: str = ""
    transforms: tuple[Transform, ...] = ()
    pages: tuple[int, ...] = later(())
    left_out: tuple[LeftOut, ...] = later(())
    examined_words: int = later(0)
    excluded: tuple[ExcludedPiece, ...] = later(())
    notes: tuple[Sentence, ...] = later(())

    @property
    def left_out_share(self) -> float:
        """Share of the file's words that was not examined, as the decision rule takes it."""
        return left_out_share(self.left_out, self.examined_words)

    @property
    def conditions(self) -> tuple[Sentence, ...]:
        """What is said of manifests that were hidden among the characters."""
        return tuple(
            Sentence(key=key, values={"k": one.count})
            for one in self.transforms
            if (key := f"condition.{one.name}") in findings()
        )


@dataclass(frozen=True, kw_only=True)
class PromptFacts:
    """Whether the verifier knew the prompt.

    Attributes:
        known: True when a prompt was given; of several candidates, when the shown reading has one.
        sha256: Of the prompt's UTF-8 bytes, or None.
        tokens: Its length, with template and system prompt where the profile holds them.
    """

    known: bool = False
    sha256: str | None = None
    tokens: int = 0


@dataclass(frozen=True, kw_only=True)
class KeyFacts:
    """A key, by its fingerprint.

    Attributes:
        fingerprint: 16 hex digits.
        label: The key's name in the key store, or None.
        parent: Fingerprint of the key that it was derived from for an epoch; empty for a key of its
            own, and in records of versions before 0.5.
        epoch: The day, ISO week or month that it was derived for; empty likewise.
    """

    fingerprint: str
    label: str | None = None
    parent: str = later("")
    epoch: str = later("")

    def series(self, profile: str) -> PayloadSeries | None:
        """Return what payloads of this key under a profile belong to.

        Args:
            profile: Fingerprint of the profile.

        Returns:
            None where a record names the key or the profile by something else than a fingerprint.
        """
        with suppress(ValueError):
            return PayloadSeries(
                key=self.parent or self.fingerprint, epoch=self.epoch, profile=profile
            )
        return None

    @property
    def title(self) -> str:
        """Name and fingerprint, as every sentence names the key."""
        return titled(self.label, self.fingerprint)


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """The model that read the text.

    Attributes:
        name: Name in the model store, or the folder's name.
        fingerprint: First 16 hex digits of SHA-256 over the weights' file hashes and the config.
        tokenizer: Tokenizer fingerprint (scheme.md §6).
        architecture: Class name, e.g. ``LlamaForCausalLM``.
        parameters: Number of weights.
        vocab_size: ``len(tokenizer)``.
        context_length: Longest window in tokens.
        weights: Where the weights came from: ``safetensors`` or ``gguf``.
    """

    name: str
    fingerprint: str
    tokenizer: str
    architecture: str
    parameters: int
    vocab_size: int
    context_length: int
    weights: Annotated[str, one_of("safetensors", "gguf")]

    @property
    def title(self) -> str:
        """Name and fingerprint, as every sentence names the model."""
        return titled(self.name, self.fingerprint)


@dataclass(frozen=True, kw_only=True)
class DeviceFacts:
    """Where the model ran.

    Attributes:
        kind: ``cpu``, ``cuda`` or ``mps``.
        name: Name of the chip.
        dtype: ``float32``, ``bfloat16`` or ``float16``.
        reason: Why this device.
    """

    kind: Annotated[str, one_of("cpu", "cuda", "mps")]
    name: str
    dtype: Annotated[str, one_of("float32", "bfloat16", "float16")]
    reason: Note
