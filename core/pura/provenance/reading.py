"""Manifests in and beside a text: their positions, and the result of verifying them.

Finding and removing them needs no library (C2PA 2.4, Annex A.8 and A.9). Verifying needs the extra
``provenance`` and is done only in the sandboxed child of the documents
(:mod:`pura.documents.manifests`), because the bytes come from strangers.
"""

from __future__ import annotations

import base64
import datetime as dt
import importlib.util
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, Final

from pura.base.json_text import is_hex
from pura.base.numerals import visible
from pura.provenance.binding import FINGERPRINT, fingerprint_of
from pura.record.provenance import (
    INVALID,
    UNCHECKED,
    UNTRUSTED,
    VALID,
    ManifestFacts,
)

MAX_MANIFEST_BYTES: Final = 2 << 20
"""Largest manifest in a text, in bytes; genuine ones have some ten thousand."""
MAX_MANIFESTS: Final = 16
"""Most manifests of a text that are examined; a genuine text has one."""
MAX_DEPTH: Final = 32
"""Deepest nesting of the JSON report of a manifest."""
_MAX_SHOWN: Final = 120
"""Most characters that are kept of a name, a date or an address in a manifest."""
_MAX_VALUES: Final = 8  # soft-binding values of a manifest that are kept
_MAX_VALUE: Final = 120  # characters of a value; longer ones are ignored

MAGIC: Final = b"C2PATXT\0"
VERSION: Final = 1
_HEADER: Final = len(MAGIC) + 1 + 4  # magic, version, length (big-endian)
_SELECTOR: Final = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_RUN: Final = re.compile(f"{_SELECTOR}+")
WRAPPER: Final = re.compile(f"\ufeff?{_SELECTOR}{{8,}}")
"""Matches damaged manifests too: no script or emoji has so many selectors in a row."""
_BEGIN: Final = "-----BEGIN C2PA MANIFEST-----"
_END: Final = "-----END C2PA MANIFEST-----"
_DATA_URI: Final = "data:application/c2pa;base64,"
_REFERENCE: Final = re.compile(
    r"\s*(?:data:application/c2pa;base64,[\w+/=\s]*|[A-Za-z][\w+.-]*:\S+)\s*"
)
_CUT_SHORT: Final = re.compile(r"\s*data:application/c2pa;base64,[\w+/=]*")
_LINK: Final = re.compile(rb"<link\s[^<>]{0,2000}>", re.IGNORECASE)
_HREF: Final = re.compile(rb"href\s*=\s*[\"']?([^\"'\s<>]+)", re.IGNORECASE)
_SIGNS: Final = re.compile(r"[^\w\n]{0,16}")
_SIGN_LINE: Final = re.compile(r"[^\w\s]{2,16}")

_OOXML: Final = "application/vnd.openxmlformats-officedocument."
_IN_ARCHIVE: Final = b"META-INF/content_credential.c2pa"
FILES: Final = {
    "docx": (f"{_OOXML}wordprocessingml.document", _IN_ARCHIVE),
    "xlsx": (f"{_OOXML}spreadsheetml.sheet", _IN_ARCHIVE),
    "pptx": (f"{_OOXML}presentationml.presentation", _IN_ARCHIVE),
    "odt": ("application/vnd.oasis.opendocument.text", _IN_ARCHIVE),
    "epub": ("application/epub+zip", _IN_ARCHIVE),
    "pdf": ("application/pdf", b"c2pa"),
    "html": ("text/html", b"c2pa"),
}
"""File formats that can hold a manifest: media type, and bytes present in every such file."""
_ALGORITHM: Final = re.compile(r"[\w.-]+\.pura\.\d+")


@dataclass(frozen=True, kw_only=True)
class Wrapper:
    """A manifest in a text.

    Attributes:
        form: ``a8`` or ``a9``.
        start: First character that is removed with it.
        end: Character after the last.
        first: First character of the manifest itself.
        size: Bytes of the manifest; 0 if unknown, or if the manifest is elsewhere.
        whole: Whether it has the expected form and is complete.
        reference: Address of the manifest, if the text only names it.
    """

    form: str
    start: int
    end: int
    first: int
    size: int
    whole: bool
    reference: str = ""


def encode(manifest: bytes) -> str:
    """Return bytes as variation selectors."""
    return "".join(chr(0xFE00 + b if b < 16 else 0xE0100 + b - 16) for b in manifest)


def wrappers(text: str) -> list[Wrapper]:
    """Return the manifests of a text, in order."""
    accepted: list[Wrapper] = []
    for wrapper in sorted((*_selectors(text), *_armour(text)), key=lambda wrapper: wrapper.start):
        if not accepted or wrapper.start >= accepted[-1].end:
            accepted.append(wrapper)
    return accepted


def cuts(text: str) -> list[tuple[int, int]]:
    """Return the stretches of a text that are manifests or remains of one."""
    armour = ((wrapper.start, wrapper.end) for wrapper in _armour(text))
    return [*(match.span() for match in WRAPPER.finditer(text)), *armour]


def without(text: str) -> str:
    """Return a text without its manifests."""
    pieces, position = [], 0
    for start, end in sorted(cuts(text)):
        pieces.append(text[position:start])
        position = max(position, end)
    return "".join((*pieces, text[position:]))


def _selectors(text: str) -> Iterator[Wrapper]:
    """Find manifests in invisible characters (A.8).

    A U+FEFF before the first selector is optional: at the beginning of a file it is lost as byte
    order mark.
    """
    magic = encode(MAGIC)
    start = text.find(magic)
    while start >= 0:
        run = _RUN.match(text, start)
        decoded = b"" if run is None else _decode(run[0])
        size = (
            int.from_bytes(decoded[len(MAGIC) + 1 : _HEADER], "big")
            if len(decoded) >= _HEADER
            else 0
        )
        complete = 0 < size <= len(decoded) - _HEADER and decoded[len(MAGIC)] == VERSION
        end = start + len(decoded)
        after = text.find(magic, start + (_HEADER + size if complete else len(MAGIC)))
        yield Wrapper(
            form="a8",
            start=start - text.startswith("\ufeff", start - 1),
            end=min(end, after) if after >= 0 else end,
            first=start,
            size=size,
            whole=complete,
        )
        start = after


def _armour(text: str) -> Iterator[Wrapper]:
    """Find manifests between the two marker lines of A.9; ignore text that only mentions them."""
    begin = text.find(_BEGIN)
    while begin >= 0:
        inside = begin + len(_BEGIN)
        close = text.find(_END, inside)
        if close < 0:
            match = _CUT_SHORT.match(text, inside)
            if match:
                start, end = _lines(text, begin, match.end())
                yield Wrapper(form="a9", start=start, end=end, first=begin, size=0, whole=False)
            begin = text.find(_BEGIN, inside)
            continue
        if _REFERENCE.fullmatch(text, inside, close):
            start, end = _lines(text, begin, close + len(_END))
            reference = text[inside:close].strip()
            embedded = reference.startswith(_DATA_URI)
            yield Wrapper(
                form="a9",
                start=start,
                end=end,
                first=begin,
                size=3 * (len(reference) - len(_DATA_URI)) // 4 if embedded else 0,
                whole=True,
                reference="" if embedded else reference,
            )
            begin = text.find(_BEGIN, close)
        else:
            begin = text.find(_BEGIN, inside)


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a block to full lines, with comment characters and fences that enclose only it."""
    head = text.rfind("\n", 0, start) + 1
    if not _SIGNS.fullmatch(text, head, start):
        return start, end
    tail = text.find("\n", end)
    tail = len(text) if tail < 0 else tail
    if not _SIGNS.fullmatch(text, end, tail):
        return start, end
    above, below = text.rfind("\n", 0, max(0, head - 1)) + 1, text.find("\n", tail + 1)
    below = len(text) if below < 0 else below
    if (
        head
        and _SIGN_LINE.fullmatch(text[above:head].strip())
        and _SIGN_LINE.fullmatch(text[tail:below].strip())
    ):
        head, tail = above, below
    if tail < len(text):
        return head, tail + 1
    # At the end of a text, the line break before the block was added with it.
    return head - text.startswith("\n", head - 1) if head else 0, tail


def _decode(run: str) -> bytes:
    codes = map(ord, run)
    return bytes(c - 0xFE00 if c <= 0xFE0F else c - 0xE0100 + 16 for c in codes)


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A text or file that may hold manifests.

    Attributes:
        form: A name of :data:`FILES`, or ``text``.
        data: The bytes; for a text the original ones, if these are UTF-8.
        text: The text without manifests, for its fingerprint; empty if there are several texts.
    """

    form: str
    data: bytes
    text: str


def named(assets: Sequence[Asset], reason: str) -> list[tuple[ManifestFacts, ...]]:
    """Return the manifests of assets without verifying them.

    Args:
        assets: Texts and files that may hold manifests.
        reason: Reason why they are not checked.
    """

    def of(asset: Asset) -> tuple[ManifestFacts, ...]:
        if asset.form != "text":
            form = "a7" if asset.form == "html" else asset.form
            return (ManifestFacts(form=form, state=UNCHECKED, why=reason),)
        listed = wrappers(asset.data.decode("utf-8", "replace"))[:MAX_MANIFESTS]
        return tuple(_named(wrapper, reason) for wrapper in listed)

    return [of(asset) for asset in assets]


def _named(wrapper: Wrapper, reason: str) -> ManifestFacts:
    if not wrapper.whole:
        return ManifestFacts(form=wrapper.form, state=INVALID, why="damaged")
    if wrapper.reference:
        address = _shown(wrapper.reference)
        return ManifestFacts(form=wrapper.form, state=UNCHECKED, why="reference", reference=address)
    return ManifestFacts(form=wrapper.form, state=UNCHECKED, why=reason)


def installed() -> bool:
    """Return whether the extra ``provenance`` is installed, without importing it."""
    return all(importlib.util.find_spec(name) for name in ("encypher_c2pa", "c2pa_text_binding"))


SWITCHES: Final = {
    "ENCYPHER_C2PA_TELEMETRY": "off",
    "ENCYPHER_C2PA_ONLINE": "off",
    # The folder in which it stores an opt-in; every call here opts out, which it would store.
    "ENCYPHER_C2PA_CONFIG_DIR": os.devnull,
}
"""Environment of the verifier: it may neither report failures nor fetch manifests."""
Verifier = Callable[[Asset], tuple[ManifestFacts, ...]]


def load(trust: str) -> Verifier:
    """Import the libraries and return the verifier; call it before the child enters the sandbox.

    Args:
        trust: Trusted certificates, PEM; empty trusts nobody.
    """
    os.environ.update(SWITCHES)
    library = importlib.import_module("encypher_c2pa")
    fingerprints = importlib.import_module("c2pa_text_binding")
    return lambda asset: _verified(asset, trust, library, fingerprints)


@dataclass(frozen=True, kw_only=True)
class StoreFacts:
    """The verified facts about a manifest store without its text.

    Attributes:
        state: ``valid``: its signature is valid, and the signer is on the list; ``untrusted``: its
            signature is valid; ``invalid``; ``not-checked``. Its text remains open.
        fingerprint: Fingerprint of its text, 64 hex digits, as the signer states it; empty if not
            stated, or if the signature is invalid.
    """

    state: str
    fingerprint: str = ""


_ANY_TEXT: Final = b"x"
"""Placeholder for the text of a store, as the library verifies no store without a text."""
_TEXT_ABSENT: Final = frozenset({"assertion.dataHash.mismatch", "assertion.dataHash.malformed"})
"""Faults of a sound store that is verified with another text than its own.

The second one arises for a store without a wrapper in the text, as the placeholder has none.
"""


def load_for_stores(trust: str) -> Callable[[bytes], StoreFacts]:
    """Import the library and return a verifier of single stores, for the sandboxed child.

    Args:
        trust: Trusted certificates, PEM; empty trusts nobody.
    """
    os.environ.update(SWITCHES)
    library = importlib.import_module("encypher_c2pa")
    return lambda store: _store_facts(store, trust, library)


def _report(
    library: ModuleType, file_bytes: bytes, media: str, trust: str, **options: bytes
) -> Mapping[str, Any]:
    """Return the library's report on a file, offline and with only the given list trusted.

    Raises:
        ValueError: The library cannot parse the file.
    """
    report: Mapping[str, Any] = library.verify(
        file_bytes,
        media,
        trust_pem=trust or None,
        tsa_trust_pem=trust or None,
        no_default_trust=True,
        online=False,
        telemetry=False,
        **options,
    )
    return report


def _store_facts(store: bytes, trust: str, library: ModuleType) -> StoreFacts:
    """Verify signature and assertions of a store without its text."""
    try:
        report = _report(library, _ANY_TEXT, "text/plain", trust, manifest_store=store)
    except ValueError:  # the library's error for a store that it cannot parse
        return StoreFacts(state=INVALID)
    faults = {str(fault.get("code")) for fault in report["validation_results"]["failure"]}
    manifest_report = report["manifest_report"]
    active = manifest_report["manifests"].get(manifest_report.get("active_manifest"), {})
    sound = report["signature"] == "valid" and faults <= _TEXT_ABSENT
    if not sound or _depth(active) > MAX_DEPTH:
        return StoreFacts(state=INVALID)
    trusted = report["trust"]["status"] == "valid_for_supplied_material"
    return StoreFacts(state=VALID if trusted else UNTRUSTED, fingerprint=_fingerprint(active))


def _fingerprint(active: Mapping[str, Any]) -> str:
    """Return the fingerprint of the complete text in a manifest's assertions; empty without one."""
    for label, assertion in _assertions(active):
        blocks = assertion.get("blocks")
        if not label.startswith("c2pa.soft-binding") or assertion.get("alg") != FINGERPRINT:
            continue
        for block in blocks if isinstance(blocks, list) else ():
            if isinstance(block, dict) and block.get("scope") == {}:
                try:
                    return fingerprint_of(block.get("value"))
                except ValueError:
                    continue
    return ""


def _verified(
    asset: Asset, trust: str, library: ModuleType, fingerprints: ModuleType
) -> tuple[ManifestFacts, ...]:
    def ask(file_bytes: bytes, media: str, form: str) -> ManifestFacts | None:
        try:
            report = _report(library, file_bytes, media, trust)
        except ValueError:  # the library's error for a file that it cannot parse
            return ManifestFacts(form=form, state=INVALID, why="damaged")
        return _facts(report, form, asset.text, fingerprints) if report["present"] else None

    if asset.form != "text":
        form = "a7" if asset.form == "html" else asset.form
        manifest = ask(asset.data, FILES[asset.form][0], form)
        if manifest is None and asset.form == "html":
            manifest = _linked(asset.data)
        return () if manifest is None else (manifest,)
    text = asset.data.decode("utf-8")
    listed = wrappers(text)
    manifests = []
    for wrapper in listed[:MAX_MANIFESTS]:
        facts = _named(wrapper, "limit")
        if facts.why == "limit" and wrapper.size <= MAX_MANIFEST_BYTES:
            single = text
            for other_wrapper in reversed(listed):
                if other_wrapper is not wrapper:
                    single = single[: other_wrapper.start] + single[other_wrapper.end :]
            media = "text/plain" if wrapper.form == "a8" else "text/markdown"
            facts = ask(single.encode(), media, wrapper.form) or replace(
                facts, state=INVALID, why="damaged"
            )
        if len(listed) > 1 and (facts.state in (VALID, UNTRUSTED) or facts.why == "changed"):
            # A text has one manifest (C2PA 2.4, A.8 and A.9); each is read alone for its content.
            facts = replace(facts, state=INVALID, why="several")
        manifests.append(facts)
    return tuple(manifests)


def _linked(page: bytes) -> ManifestFacts | None:
    """Return the manifest that a web page only refers to (A.7), which the library ignores."""
    for tag in _LINK.findall(page):
        if b"c2pa-manifest" in tag and (link := _HREF.search(tag)):
            address = _shown(link[1].decode("utf-8", "replace"))
            return ManifestFacts(form="a7", state=UNCHECKED, why="reference", reference=address)
    return None


def _facts(
    report: Mapping[str, Any], form: str, text: str, fingerprints: ModuleType
) -> ManifestFacts:
    state, reason = _state(report)
    manifest_report = report["manifest_report"]
    name = manifest_report.get("active_manifest")
    active = manifest_report["manifests"].get(name, {})
    if _depth(active) > MAX_DEPTH:
        return ManifestFacts(form=form, state=UNCHECKED, why="limit")
    signature = active.get("signature_info") or {}
    values, distance = _bindings(active, text, fingerprints)
    return ManifestFacts(
        form=form,
        state=state,
        why=reason,
        signer=_shown(signature.get("common_name") or signature.get("issuer")),
        signed_at=_moment(signature.get("time") or _created(active)),
        manifest=_shown(name),
        values=values,
        fingerprint_distance=distance,
    )


def _state(report: Mapping[str, Any]) -> tuple[str, str]:
    if report["integrity"] == "valid":
        trusted = report["trust"]["status"] == "valid_for_supplied_material"
        return (VALID if trusted else UNTRUSTED), ""
    if report["signature"] == "unknown":
        return INVALID, "damaged"
    changed = report["signature"] == "valid" and report["hard_binding"] == "mismatch"
    return INVALID, "changed" if changed else "broken"


def _assertions(active: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for assertion in active.get("assertions", ()):
        if isinstance(assertion.get("data"), dict):
            yield str(assertion.get("label")), assertion["data"]


def _created(active: Mapping[str, Any]) -> object:
    for label, assertion in _assertions(active):
        if label.startswith("c2pa.actions"):
            actions = assertion.get("actions")
            for action in actions if isinstance(actions, list) else ():
                if isinstance(action, dict) and action.get("action") == "c2pa.created":
                    return action.get("when")
    return None


def _bindings(
    active: Mapping[str, Any], text: str, fingerprints: ModuleType
) -> tuple[tuple[str, ...], int | None]:
    """Return the values that name a mark, and the distance of the text's fingerprint."""
    values: list[str] = []
    distance: int | None = None
    for label, assertion in _assertions(active):
        blocks = assertion.get("blocks")
        if not label.startswith("c2pa.soft-binding") or not isinstance(blocks, list):
            continue
        algorithm = str(assertion.get("alg"))
        for block in blocks:
            value = block.get("value") if isinstance(block, dict) else None
            if not isinstance(value, str) or len(value) > _MAX_VALUE:
                continue
            if _ALGORITHM.fullmatch(algorithm) and len(values) < _MAX_VALUES:
                values += [value] if _is_base64(value) else []
            elif (
                algorithm == FINGERPRINT and text and distance is None and block.get("scope") == {}
            ):
                fingerprint = fingerprints.text_fingerprint(text)
                distance = (
                    int(fingerprints.hamming_hex(fingerprint, value)) if is_hex(value, 64) else None
                )
    return tuple(values), distance


def _is_base64(encoded: str) -> bool:
    try:
        return bool(base64.b64decode(encoded, validate=True))
    except ValueError:
        return False


def _shown(value: object) -> str:
    return visible(value)[:_MAX_SHOWN] if isinstance(value, str) else ""


def _moment(written: object) -> str:
    """Return a moment to the second, ISO 8601; empty if it is not a date."""
    try:
        return dt.datetime.fromisoformat(str(written)).isoformat(timespec="seconds")
    except ValueError:
        return ""


def _depth(document: object) -> int:
    """Return how deeply parsed JSON is nested."""
    level, rows = 0, [document]
    while rows:
        level += 1
        rows = [
            inner
            for row in rows
            if isinstance(row, dict | list)
            for inner in (row.values() if isinstance(row, dict) else row)
        ]
    return level
