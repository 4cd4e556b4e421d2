"""One audit, from a text to its record, in the twelve numbered steps of architecture.md.

1 input, 2 text, 3 tokens, 4 fitness of model, key and profile, 5 reading, 6 schedule, 7 local
evidence, 8 decoding, 9 significance, 10 passages, 11 candidates and register, 12 verdict. The
record carries the same numbers: what was done, what was left out and why.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pura.audit.conclude import conclude
from pura.audit.decoding import WeighedText, decode_text, decode_windows
from pura.audit.options import STEPS, AuditText, Options, under_policy, with_manifests
from pura.audit.prepare import CHUNK, AuditBasis, PreparedText, prepare
from pura.audit.unfinished import Unfinished, unfinished
from pura.base.errors import KeyStoreError, PuraError
from pura.base.progress import Checkpoint, Progress, Stage, never_cancelled, no_progress
from pura.documents import from_text
from pura.provenance.binding import stated
from pura.record.audit import Audit
from pura.scheme import Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.evidence import Request
    from pura.model.load import LanguageModel
    from pura.model.reading import Reading


def audit_text(
    text: AuditText | str,
    *,
    model: LanguageModel,
    keys: Sequence[tuple[SecretKey, str | None]],
    profile: Profile,
    name: str = "pasted text",
    options: Options | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> Audit:
    """Audit one text.

    Args:
        text: The text, with what is known of it.
        model: The model that reads it.
        keys: Secret keys and their labels. All are tried in one pass of the model; the evidence
            is the mean over them.
        profile: What generator and verifier share.
        name: How the record calls a text that is no document.
        options: Everything else.
        progress: Told of every step and of the tokens read.
        checkpoint: Called often; may raise :class:`~pura.base.errors.Cancelled`.

    Returns:
        The record.

    Raises:
        ProfileError: Profile, tokenizer and key do not belong together.
        InputError: The text cannot be tokenised, or is in a language that the policy leaves out.
        KeyStoreError: No key was given.
        PolicyError: The policy names a power table that is not among the options.
    """
    if isinstance(text, str):
        text = AuditText(document=from_text(text, name=name))
    (found,) = audit_documents(
        [text],
        model=model,
        keys=keys,
        profile=profile,
        options=options,
        progress=progress,
        checkpoint=checkpoint,
    )
    if isinstance(found, PuraError):
        raise found
    return found


def audit_documents(
    texts: Sequence[AuditText],
    *,
    model: LanguageModel,
    keys: Sequence[tuple[SecretKey, str | None]],
    profile: Profile,
    options: Options | None = None,
    progress: Progress = no_progress,
    checkpoint: Checkpoint = never_cancelled,
) -> list[Audit | PuraError]:
    """Audit documents that the model reads side by side; arguments as of :func:`audit_text`.

    A few thousand tokens together fill a pass. Everything before and after the reading is done for
    one after the other.

    Returns:
        In the order of ``texts``: the record, or why there is none. What is wrong with one costs
        the others nothing.

    Raises:
        KeyStoreError: No key was given.
    """
    if not keys:
        raise KeyStoreError("audit.no-key", code="key-missing")
    options = options or Options()
    texts = under_policy(with_manifests(texts, options, checkpoint), options)
    basis = AuditBasis.of(options, model, keys, profile, progress, checkpoint)
    found: dict[int, Audit | PuraError] = {}
    prepared: dict[int, PreparedText] = {}
    requests: list[Request] = []
    for number, text in enumerate(texts):
        try:
            ready = prepare(basis, text)
            requests.append(ready.request())
            prepared[number] = ready
        except PuraError as error:
            found[number] = error
    chunk = None if options.policy.stop_at is None else CHUNK
    tried = [key for key, _ in keys]
    with unfinished(options.unfinished, requests, model, tried, basis.profile) as kept:
        read = _read(basis, 5, requests, tried, kept, chunk=chunk)
        decoded: dict[int, WeighedText] = {}
        for (number, ready), (readings, seconds) in zip(prepared.items(), read, strict=True):
            try:
                decoded[number] = decode_text(ready, readings, seconds)
            except PuraError as error:
                found[number] = error
        for number, one in _read_again(basis, decoded, kept).items():
            try:
                found[number] = (
                    one
                    if isinstance(one, PuraError)
                    else stated(conclude(one), texts[number].manifests or ())
                )
            except PuraError as error:
                found[number] = error
    return [found[number] for number in range(len(texts))]


def _read_again(
    basis: AuditBasis, decoded: dict[int, WeighedText], kept: Unfinished | None
) -> dict[int, WeighedText | PuraError]:
    """Read windows of several documents a second time, side by side.

    Returns:
        Every document, with its windows where it has any; or why they could not be read.
    """
    from pura.model.evidence import Request

    named = {number: one.windows for number, one in decoded.items()}
    again = {number: windows for number, windows in named.items() if windows is not None}
    chosen = sorted({windows.trial.number for windows in again.values()})
    # Each a document of its own, so that no window knows the states of another.
    places = [(number, text) for number, windows in again.items() for text in windows.texts]
    read = _read(
        basis,
        8,
        [Request(texts=[text], prompts=[basis.beginning]) for _, text in places],
        [basis.keys[number][0] for number in chosen],
        kept,
    )
    done: dict[int, WeighedText | PuraError] = dict(decoded)
    for number, windows in again.items():
        mine = [one for (owner, _), one in zip(places, read, strict=True) if owner == number]
        error = next((one for one, _ in mine if isinstance(one, PuraError)), None)
        readings = error or [
            reading for one, _ in mine if not isinstance(one, PuraError) for reading in one
        ]
        try:
            done[number] = decode_windows(
                decoded[number],
                windows,
                readings,
                chosen.index(windows.trial.number),
                sum(seconds for _, seconds in mine),
            )
        except PuraError as problem:
            done[number] = problem
    return done


def _read(
    basis: AuditBasis,
    step: int,
    requests: Sequence[Request],
    keys: Sequence[SecretKey],
    kept: Unfinished | None,
    *,
    chunk: int | None = None,
) -> list[tuple[list[Reading] | PuraError, float]]:
    """Have the model read all in one go, as part of a step; with each its share of the seconds."""
    from pura.model.evidence import read_documents

    if not requests:
        return []
    sizes = [sum(int(ids.size) for ids in request.texts) for request in requests]
    tokens = sum(sizes)

    def report(done: int, total: int) -> None:
        # The pass counts layers and tiles of the vocabulary; people count tokens.
        read = tokens * done // total if total else 0
        basis.progress(Stage(number=step, name=STEPS[step - 1], done=read, total=tokens))

    basis.checkpoint()
    basis.progress(Stage(number=step, name=STEPS[step - 1]))
    start = time.perf_counter()
    try:
        found = read_documents(
            basis.model,
            requests,
            keys=keys,
            profile=basis.profile,
            progress=report,
            checkpoint=basis.checkpoint,
            chunk=chunk,
            kept=kept and kept.read_with(keys),
        )
    except PuraError as error:
        found = [error] * len(requests)
    seconds = time.perf_counter() - start
    shares = [size / tokens if tokens else 1 / len(sizes) for size in sizes]
    return [(one, seconds * share) for one, share in zip(found, shares, strict=True)]
