"""What an audit is told, its numbered steps and their log."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pura.base.errors import PuraError
from pura.base.paths import build_hash
from pura.base.progress import Checkpoint, Progress, Stage
from pura.documents import Document, characters, under_rule
from pura.documents.manifests import in_texts
from pura.record.evidence import PowerFacts, SchemeFacts
from pura.record.provenance import ManifestFacts
from pura.record.surroundings import DeviceFacts, InputFacts, KeyFacts, ModelFacts, StepReport
from pura.register.store import Register
from pura.scheme import KeyOrigin, SecretKey
from pura.verdict.outcome import Outcome
from pura.verdict.policy import Policy, default_policy
from pura.verdict.power import Claim, PowerTable
from pura.version import __version__
from pura.words.sentences import Sentence, sentence

if TYPE_CHECKING:
    from pura.model.device import Device
    from pura.model.folder import InstalledModel
    from pura.model.load import BareModel


STEPS: Final = (
    "input",
    "text",
    "tokens",
    "fitness",
    "reading",
    "schedule",
    "local-evidence",
    "decoding",
    "significance",
    "passages",
    "candidates",
    "verdict",
)


def input_noted(document: Document, *, alone: bool) -> list[Sentence]:
    """Return what step 1 says of a document.

    Args:
        document: The document.
        alone: It is read by itself, since reading it beside others failed.
    """
    noted = [bytes_noted(document.size_bytes, document.sha256)]
    return [*noted, sentence("log.alone")] if alone else noted


def bytes_noted(size: int, sha256: str) -> Sentence:
    """Return what step 1 says of a file."""
    return sentence("log.bytes", n=size, sha256=sha256)


def characters_noted(document: Document) -> Sentence:
    """Return what step 2 says of a text."""
    return sentence("log.characters", n=len(document.text), encoding=document.encoding)


def rule_noted(policy: Policy, outcome: Outcome) -> Sentence:
    """Return what step 12 says of the decision."""
    return sentence("log.rule", name=policy.rule, outcome=f"log.outcome-{outcome.verdict}")


@dataclass(frozen=True, kw_only=True)
class StepLog:
    """Tells of steps as they begin, and keeps what they did.

    Attributes:
        reports: Gets a report of every step as it ends, also of the one that failed.
        progress: Told of every step.
        checkpoint: Called before each; may raise.
    """

    reports: list[StepReport]
    progress: Progress
    checkpoint: Checkpoint

    @contextmanager
    def step(self, number: int) -> Iterator[list[Sentence]]:
        """Walk a step; the notes that the caller adds go into its report."""
        self.checkpoint()
        self.progress(Stage(number=number, name=STEPS[number - 1]))
        with self.logged(number) as note:
            yield note

    @contextmanager
    def logged(self, number: int, spent: float = 0.0) -> Iterator[list[Sentence]]:
        """Put a step into the log; ``spent`` are seconds that it took before."""
        note: list[Sentence] = []
        failure: dict[str, object] | None = None
        start = time.perf_counter()
        done = False
        try:
            yield note
            done = True
        except PuraError as error:
            failure = error.packed()
            raise
        finally:
            seconds = round(spent + time.perf_counter() - start, 6)
            self.reports.append(
                StepReport(
                    number=number,
                    name=STEPS[number - 1],
                    done=done,
                    note=tuple(note),
                    seconds=seconds,
                    error=failure,
                )
            )

    @contextmanager
    def resumed(self, spent: float) -> Iterator[list[Sentence]]:
        """Go on with the last step; ``spent`` are seconds that passed for it in between."""
        before = self.reports.pop()
        with self.logged(before.number, before.seconds + spent) as note:
            note += [one for one in before.note if isinstance(one, Sentence)]
            yield note

    def skip(self, number: int, why: str) -> None:
        """Say by a key of the catalogue why a step was left out."""
        name = STEPS[number - 1]
        self.reports.append(StepReport(number=number, name=name, done=False, note=(sentence(why),)))


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
        excluded=document.excluded if shown in (None, document.text) else (),
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


class Notice(StrEnum):
    """What a person should hear of at once, not only from the record's log."""

    SHORT_OF_MEMORY = "short-of-memory"
    READ_ALONE = "read-alone"


@dataclass(frozen=True, kw_only=True)
class KeyUse:
    """What is on record of the use of the keys of an audit.

    Attributes:
        created: The day on which the oldest of them was created, UTC; None where that is not known
            of each.
        issued: Payloads that were issued under the keys and the profile; None without a register.
        unassigned: Payloads of the profile's length in the register of which nobody knows the key.
        today: The day of the audit, UTC.
    """

    created: dt.date | None
    issued: int | None
    unassigned: int
    today: dt.date

    @property
    def new(self) -> bool:
        """No text that is older than the day of the audit can carry a mark of these keys."""
        return self.created is not None and self.created >= self.today


@dataclass(frozen=True, kw_only=True)
class Options:
    """What an audit may be told besides text, key, profile and model; the same for many texts.

    Attributes:
        decoder: Which payload is reported: ``exact`` or ``paper``.
        policy: The decision rule.
        register: The register of issued payloads, asked after the verdict is fixed.
        candidates: How many payloads to list.
        keep_text: Whether the record holds the text itself.
        restore: Also read the text as it was before it was handled, where it shows signs of that.
        power_tables: The power tables that the policy names, all of them.
        epochs: ``FROM..TO`` where the keys are those of a range of epochs.
        follow: Tell of the evidence while a long text is read.
        weigh: Let the model read a text that is looked through for marks by others, where its
            probabilities can weigh the bets; it needs its weights then.
        day: What ``today`` stands for in limits of the profile's fields, part of the decision rule;
            None takes :func:`latest_day`.
        use: What is on record of the use of the keys; None where nobody looked.
        trust: Certificates, PEM, whose signatures of manifests are trusted; empty trusts nobody.
        unfinished: Folder for sealed numbers of long texts, from which an audit that was
            interrupted goes on; None keeps none.
    """

    decoder: str = "exact"
    policy: Policy = field(default_factory=default_policy)
    register: Register | None = None
    candidates: int = 32
    keep_text: bool = True
    restore: bool = True
    power_tables: tuple[PowerTable, ...] = ()
    epochs: str = ""
    follow: bool = False
    weigh: bool = False
    day: dt.date | None = None
    use: KeyUse | None = None
    trust: str = ""
    unfinished: Path | None = None


def latest_day() -> dt.date:
    """Return the latest date that any clock shows now: none is further ahead than UTC+14."""
    return (dt.datetime.now(dt.UTC) + dt.timedelta(hours=14)).date()


@dataclass(frozen=True, kw_only=True)
class AuditText:
    """A text to be audited.

    Attributes:
        document: The text and where it came from.
        prompts: The prompt, when it is known, which sharpens the evidence; or several candidates,
            all different.
        ids: Token ids that the generator saved; read beside the text.
        other_schemes: What other schemes say of this text; they count in the mean.
        alone: It is read by itself, since reading it beside others failed.
        manifests: Those of its file and among its characters (:func:`with_manifests`); None where
            nobody has looked.
        notice: Told of what a person should hear of at once.
        log: Gets a report of every step as it ends, also of the one that failed.
    """

    document: Document
    prompts: tuple[str, ...] = ()
    ids: tuple[int, ...] | None = None
    other_schemes: tuple[SchemeFacts, ...] = ()
    alone: bool = False
    manifests: tuple[ManifestFacts, ...] | None = None
    notice: Callable[[Notice], None] = field(default=lambda _: None, repr=False, compare=False)
    log: list[StepReport] = field(default_factory=list, repr=False, compare=False)


def under_policy(texts: Sequence[AuditText], options: Options) -> list[AuditText]:
    """Leave out of texts what the policy leaves out; those that were read so stay as they are."""
    rule = options.policy.leave_out
    return [replace(text, document=under_rule(text.document, rule)) for text in texts]


def with_manifests(
    texts: Sequence[AuditText], options: Options, checkpoint: Checkpoint
) -> list[AuditText]:
    """Look into the manifests of texts of which nobody has; one child looks at those of all."""
    left = [text for text in texts if text.manifests is None]
    asked = [(text.document.text, text.document.encoding) for text in left]
    told = iter(in_texts(asked, options.trust, heartbeat=checkpoint))
    return [
        replace(text, manifests=(*text.document.manifests, *next(told)))
        if text.manifests is None
        else text
        for text in texts
    ]
