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


def ask_child(asked: bytes, heartbeat: Checkpoint = never_cancelled) -> ChildResult:
    """Ask the sandboxed child that parses what strangers sent.

    Args:
        asked: A line of JSON, and what it is about.
        heartbeat: Called twenty times a second; whatever it raises kills the child first.

    Raises:
        InputError: It cannot be started.
    """
    with os_error_as(InputError, "reader.start", code="input-start"):
        child = start_child(CHILD)
    return converse(
        child,
        asked,
        seconds=formats.CHILD_WALL_SECONDS,
        most=formats.MAX_ANSWER_BYTES,
        heartbeat=heartbeat,
    )


def may_hold(form: str, data: bytes) -> bool:
    """Whether a file of a format may hold a manifest of its own: bytes of each are there."""
    known = reading.FILES.get(form)
    return known is not None and known[1] in data


def in_texts(
    texts: Sequence[tuple[str, str]], trust: str, *, heartbeat: Checkpoint = never_cancelled
) -> list[tuple[ManifestFacts, ...]]:
    """Return the manifests among the characters of texts; where there are any, a child looks.

    Args:
        texts: Each with the name of its encoding: a byte order mark is bound as well.
        trust: Certificates whose signatures are trusted, PEM.
        heartbeat: Called while the child works; may raise to stop it.
    """
    assets: dict[int, Asset] = {}
    for number, (text, encoding) in enumerate(texts):
        if reading.wrappers(text):
            data = text.encode(encoding if encoding == "utf-8-sig" else "utf-8")
            assets[number] = Asset(form="text", data=data, text=reading.without(text))
    told = dict(
        zip(assets, verified(list(assets.values()), trust, heartbeat=heartbeat), strict=True)
    )
    return [told.get(number, ()) for number in range(len(texts))]


def verified(
    assets: Sequence[Asset], trust: str, *, heartbeat: Checkpoint = never_cancelled
) -> list[tuple[ManifestFacts, ...]]:
    """Verify the manifests of assets in a child; what it cannot do costs no text.

    Args:
        assets: Files and texts.
        trust: Certificates whose signatures are trusted, PEM.
        heartbeat: Called twenty times a second; whatever it raises kills the child first.

    Returns:
        Those of each asset.
    """
    if not assets or not reading.installed():
        return reading.named(assets, "extra")
    request = [
        {"form": one.form, "data": base64.b64encode(one.data).decode(), "text": one.text}
        for one in assets
    ]
    head = json.dumps({"trust": trust}).encode()
    ending = ask_child(head + b"\n" + json.dumps(request).encode(), heartbeat)
    try:
        found = [_taken(rows) for rows in json.loads(ending.answer)["manifests"]]
    except (ValueError, TypeError, KeyError, RecursionError, RecordError):
        found = []
    if ending.status or ending.late or len(found) != len(assets):
        return reading.named(assets, "stopped")
    return found


def verified_store(
    store: bytes, trust: str, *, heartbeat: Checkpoint = never_cancelled
) -> StoreFacts:
    """Verify a manifest store that came without its text, in a child.

    Args:
        store: The manifest store.
        trust: Certificates whose signatures are trusted, PEM.
        heartbeat: Called twenty times a second; whatever it raises kills the child first.

    Returns:
        ``not-checked`` where the extra is not installed or the child stopped.

    Raises:
        InputError: The child cannot be started.
    """
    if not reading.installed():
        return StoreFacts(state=UNCHECKED)
    head = json.dumps({"store": True, "trust": trust}).encode()
    ending = ask_child(head + b"\n" + store, heartbeat)
    try:
        facts = decoder.decode(StoreFacts, json.loads(ending.answer)["store"])
        known = facts.state in STATES and (not facts.fingerprint or is_hex(facts.fingerprint, 64))
    except (ValueError, TypeError, KeyError, RecursionError):
        known = False
    if ending.status or ending.late or not known:
        return StoreFacts(state=UNCHECKED)
    return facts


def _taken(rows: object) -> tuple[ManifestFacts, ...]:
    """Take facts as the child sent them, if every part of them is as it makes them."""
    found = decoder.decode(tuple[ManifestFacts, ...], rows)
    for one in found:
        known = one.form in FORMS and one.state in STATES and one.soft_binding == ABSENT
        why = one.why in WHY.get(one.state, ("",))
        shown = (one.signer, one.signed_at, one.manifest, one.reference, *one.values)
        apart = one.fingerprint_distance
        if one.signed_at:
            dt.datetime.fromisoformat(one.signed_at)
        if not (known and why and all(len(s) <= 200 and s.isprintable() for s in shown)):
            raise ValueError("manifest")
        if apart is not None and not 0 <= apart <= 256:
            raise ValueError("distance")
    if len(found) > reading.MAX_MANIFESTS:
        raise ValueError("manifests")
    return found
