"""The manifests of files and texts, verified in a child in the sandbox (:mod:`.child`)."""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Sequence
from typing import Final

from pura.base import decoder
from pura.base.errors import InputError, RecordError, os_error_as
from pura.base.json_text import is_hex
from pura.base.process import ChildResult, converse, start_child
from pura.base.progress import Checkpoint, never_cancelled
from pura.documents import formats
from pura.provenance import reading
from pura.provenance.reading import Asset, StoreFacts
from pura.record.provenance import ABSENT, FORMS, STATES, UNCHECKED, WHY, ManifestFacts

CHILD: Final = "pura.documents.child"


def ask_child(request: bytes, heartbeat: Checkpoint = never_cancelled) -> ChildResult:
    """Send a request to the sandboxed child that parses untrusted input.

    Args:
        request: A line of JSON, then the bytes that it is about.
        heartbeat: Called twenty times a second; an exception that it raises kills the child first.

    Raises:
        InputError: The child cannot be started.
    """
    with os_error_as(InputError, "reader.start", code="input-start"):
        child = start_child(CHILD)
    return converse(
        child,
        request,
        seconds=formats.CHILD_WALL_SECONDS,
        most=formats.MAX_ANSWER_BYTES,
        heartbeat=heartbeat,
    )


def may_hold(form: str, file_bytes: bytes) -> bool:
    """Return whether a file may contain a manifest, judged by its format and its bytes."""
    file_kind = reading.FILES.get(form)
    return file_kind is not None and file_kind[1] in file_bytes


def in_texts(
    texts: Sequence[tuple[str, str]], trust: str, *, heartbeat: Checkpoint = never_cancelled
) -> list[tuple[ManifestFacts, ...]]:
    """Return the manifests among the characters of texts, verified by a child.

    Args:
        texts: Each with the name of its encoding: a byte order mark is part of the signed bytes.
        trust: Certificates whose signatures are trusted, PEM.
        heartbeat: Called while the child works; may raise to stop it.
    """
    assets: dict[int, Asset] = {}
    for number, (text, encoding) in enumerate(texts):
        if reading.wrappers(text):
            encoded = text.encode(encoding if encoding == "utf-8-sig" else "utf-8")
            assets[number] = Asset(form="text", data=encoded, text=reading.without(text))
    manifests_by_text = dict(
        zip(assets, verified(list(assets.values()), trust, heartbeat=heartbeat), strict=True)
    )
    return [manifests_by_text.get(number, ()) for number in range(len(texts))]


def verified(
    assets: Sequence[Asset], trust: str, *, heartbeat: Checkpoint = never_cancelled
) -> list[tuple[ManifestFacts, ...]]:
    """Verify the manifests of assets in a child; its failure does not stop an audit.

    Args:
        assets: Files and texts.
        trust: Certificates whose signatures are trusted, PEM.
        heartbeat: Called twenty times a second; an exception that it raises kills the child first.

    Returns:
        The facts about the manifests of each asset.
    """
    if not assets or not reading.installed():
        return reading.named(assets, "extra")
    request = [
        {"form": asset.form, "data": base64.b64encode(asset.data).decode(), "text": asset.text}
        for asset in assets
    ]
    head = json.dumps({"trust": trust}).encode()
    ending = ask_child(head + b"\n" + json.dumps(request).encode(), heartbeat)
    try:
        manifests = [_validated(rows) for rows in json.loads(ending.answer)["manifests"]]
    except (ValueError, TypeError, KeyError, RecursionError, RecordError):
        manifests = []
    if ending.status or ending.late or len(manifests) != len(assets):
        return reading.named(assets, "stopped")
    return manifests


def verified_store(
    store: bytes, trust: str, *, heartbeat: Checkpoint = never_cancelled
) -> StoreFacts:
    """Verify a manifest store that came without its text, in a child.

    Args:
        store: The manifest store.
        trust: Certificates whose signatures are trusted, PEM.
        heartbeat: Called twenty times a second; whatever it raises kills the child first.

    Returns:
        The facts; the state ``not-checked`` if the extra is not installed or the child failed.

    Raises:
        InputError: The child cannot be started.
    """
    if not reading.installed():
        return StoreFacts(state=UNCHECKED)
    head = json.dumps({"store": True, "trust": trust}).encode()
    ending = ask_child(head + b"\n" + store, heartbeat)
    try:
        facts = decoder.decode(StoreFacts, json.loads(ending.answer)["store"])
        is_valid = facts.state in STATES and (
            not facts.fingerprint or is_hex(facts.fingerprint, 64)
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        is_valid = False
    if ending.status or ending.late or not is_valid:
        return StoreFacts(state=UNCHECKED)
    return facts


def _validated(rows: object) -> tuple[ManifestFacts, ...]:
    """Validate the facts about manifests that the child sent."""
    manifests = decoder.decode(tuple[ManifestFacts, ...], rows)
    for facts in manifests:
        is_known = facts.form in FORMS and facts.state in STATES and facts.soft_binding == ABSENT
        has_reason = facts.why in WHY.get(facts.state, ("",))
        strings = (facts.signer, facts.signed_at, facts.manifest, facts.reference, *facts.values)
        distance = facts.fingerprint_distance
        if facts.signed_at:
            dt.datetime.fromisoformat(facts.signed_at)
        if not (
            is_known and has_reason and all(len(s) <= 200 and s.isprintable() for s in strings)
        ):
            raise ValueError("manifest")
        if distance is not None and not 0 <= distance <= 256:
            raise ValueError("distance")
    if len(manifests) > reading.MAX_MANIFESTS:
        raise ValueError("manifests")
    return manifests
