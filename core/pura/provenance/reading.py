"""Manifests in and beside a text: where they stand, and what a verifier says of them.

Finding and cutting them out needs no library (C2PA 2.4, Annex A.8 and A.9). Verifying does, the
extra ``provenance``, and is done in the documents' sandboxed child only
(:mod:`pura.documents.manifests`): what is verified are strangers' bytes.
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
"""Bytes of one manifest in a text; honest ones have some ten thousand."""
MAX_MANIFESTS: Final = 16
"""Manifests of one text that are looked at; an honest text has one."""
MAX_DEPTH: Final = 32
"""Levels of nesting of what a manifest says."""
_MAX_SHOWN: Final = 120
"""Characters of a name, a date or an address in a manifest that are kept."""
_MAX_VALUES: Final = 8
_MAX_VALUE: Final = 120

MAGIC: Final = b"C2PATXT\0"
VERSION: Final = 1
_HEADER: Final = len(MAGIC) + 1 + 4  # magic, version, length (big-endian)
_SELECTOR: Final = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_RUN: Final = re.compile(f"{_SELECTOR}+")
WRAPPER: Final = re.compile(f"\ufeff?{_SELECTOR}{{8,}}")
"""Also one that is damaged: no script and no emoji has so many selectors in a row."""
_BEGIN: Final = "-----BEGIN C2PA MANIFEST-----"
_END: Final = "-----END C2PA MANIFEST-----"
_DATA: Final = "data:application/c2pa;base64,"
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
"""Formats whose files hold a manifest, with their media type and bytes without which none does."""
_ALGORITHM: Final = re.compile(r"[\w.-]+\.pura\.\d+")


@dataclass(frozen=True, kw_only=True)
class Wrapper:
    """A manifest in a text.

    Attributes:
        form: ``a8`` or ``a9``.
        start: First character that is cut out with it.
        end: Character after the last.
        first: First character of the manifest itself.
        size: Bytes of the manifest, 0 where that is not known or it stands elsewhere.
        whole: It has the known form, and all of it is there.
        reference: Where it is, if the text only names it.
    """

    form: str
    start: int
    end: int
    first: int
    size: int
    whole: bool
    reference: str = ""


def encode(data: bytes) -> str:
    """Return bytes as variation selectors."""
    return "".join(chr(0xFE00 + b if b < 16 else 0xE0100 + b - 16) for b in data)


def wrappers(text: str) -> list[Wrapper]:
    """Return the manifests of a text, in the order in which they stand."""
    found: list[Wrapper] = []
    for one in sorted((*_selectors(text), *_armour(text)), key=lambda one: one.start):
        if not found or one.start >= found[-1].end:
            found.append(one)
    return found


def cuts(text: str) -> list[tuple[int, int]]:
    """Return the stretches of a text that are manifests, or what is left of one."""
    armour = ((one.start, one.end) for one in _armour(text))
    return [*(match.span() for match in WRAPPER.finditer(text)), *armour]


def without(text: str) -> str:
    """Return a text without its manifests."""
    pieces, place = [], 0
    for start, end in sorted(cuts(text)):
        pieces.append(text[place:start])
        place = max(place, end)
    return "".join((*pieces, text[place:]))


def _selectors(text: str) -> Iterator[Wrapper]:
    """Find manifests in characters that show nothing (A.8).

    What stands before the first selector is not asked for: a U+FEFF at the beginning of a file is
    lost as its byte order mark.
    """
    magic = encode(MAGIC)
    start = text.find(magic)
    while start >= 0:
        run = _RUN.match(text, start)
        data = b"" if run is None else _decode(run[0])
        size = int.from_bytes(data[len(MAGIC) + 1 : _HEADER], "big") if len(data) >= _HEADER else 0
        whole = 0 < size <= len(data) - _HEADER and data[len(MAGIC)] == VERSION
        end = start + len(data)
        after = text.find(magic, start + (_HEADER + size if whole else len(MAGIC)))
        yield Wrapper(
            form="a8",
            start=start - text.startswith("\ufeff", start - 1),
            end=min(end, after) if after >= 0 else end,
            first=start,
            size=size,
            whole=whole,
        )
        start = after


def _armour(text: str) -> Iterator[Wrapper]:
    """Find manifests between the two lines of A.9; what only speaks of these lines is none."""
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
            named = text[inside:close].strip()
            here = named.startswith(_DATA)
            yield Wrapper(
                form="a9",
                start=start,
                end=end,
                first=begin,
                size=3 * (len(named) - len(_DATA)) // 4 if here else 0,
                whole=True,
                reference="" if here else named,
            )
            begin = text.find(_BEGIN, close)
        else:
            begin = text.find(_BEGIN, inside)


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a block to its lines: signs of a comment around it, fences of nothing but it."""
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
    # At the end of a text the line end before it was put there with it.
    return head - text.startswith("\n", head - 1) if head else 0, tail


def _decode(run: str) -> bytes:
    codes = map(ord, run)
    return bytes(c - 0xFE00 if c <= 0xFE0F else c - 0xE0100 + 16 for c in codes)


@dataclass(frozen=True, kw_only=True)
class Asset:
    """What may hold manifests: a text, or a file of a format that can.

    Attributes:
        form: A name of :data:`FILES`, or ``text``.
        data: Its bytes; of a text the original ones where these are UTF-8.
        text: The text without manifests, for its fingerprint; empty where there is more than one.
    """

    form: str
    data: bytes
    text: str


def named(assets: Sequence[Asset], why: str) -> list[tuple[ManifestFacts, ...]]:
    """Return the manifests of assets without looking into any.

    Args:
        assets: Each may hold manifests.
        why: Why they are not checked.
    """

    def of(asset: Asset) -> tuple[ManifestFacts, ...]:
        if asset.form != "text":
            form = "a7" if asset.form == "html" else asset.form
            return (ManifestFacts(form=form, state=UNCHECKED, why=why),)
        found = wrappers(asset.data.decode("utf-8", "replace"))[:MAX_MANIFESTS]
        return tuple(_named(one, why) for one in found)

    return [of(asset) for asset in assets]


def _named(one: Wrapper, why: str) -> ManifestFacts:
    if not one.whole:
        return ManifestFacts(form=one.form, state=INVALID, why="damaged")
    if one.reference:
        where = _shown(one.reference)
        return ManifestFacts(form=one.form, state=UNCHECKED, why="reference", reference=where)
    return ManifestFacts(form=one.form, state=UNCHECKED, why=why)


def installed() -> bool:
    """Whether the extra ``provenance`` is installed; nothing is imported for it."""
    return all(importlib.util.find_spec(name) for name in ("encypher_c2pa", "c2pa_text_binding"))


SWITCHES: Final = {
    "ENCYPHER_C2PA_TELEMETRY": "off",
    "ENCYPHER_C2PA_ONLINE": "off",
    # Where it keeps whether somebody opted in; each call says no, which it would write down there.
    "ENCYPHER_C2PA_CONFIG_DIR": os.devnull,
}
"""The verifier reports failures and fetches manifests where somebody opted in: nobody can."""
Verifier = Callable[[Asset], tuple[ManifestFacts, ...]]


def load(trust: str) -> Verifier:
    """Import the libraries and return what verifies; in the sandboxed child, before it is shut.

    Args:
        trust: Certificates whose signatures are trusted, PEM; empty trusts nobody.
    """
    os.environ.update(SWITCHES)
    library = importlib.import_module("encypher_c2pa")
    fingerprints = importlib.import_module("c2pa_text_binding")
    return lambda asset: _verified(asset, trust, library, fingerprints)


@dataclass(frozen=True, kw_only=True)
class StoreFacts:
    """What can be relied on of a manifest store that came without its text.

    Attributes:
        state: ``valid``: its signature holds, and the signer is on the list; ``untrusted``: its
            signature holds; ``invalid``; ``not-checked``. Whether it belongs to a text is open.
        fingerprint: Of the text that it was made for, 64 hex digits, as its signer says; empty
            where it says none, or the signature does not hold.
    """

    state: str
    fingerprint: str = ""


_ANY_TEXT: Final = b"x"
"""Stands in for the text that a store was made for; the library verifies no store without one."""
_TEXT_ABSENT: Final = frozenset({"assertion.dataHash.mismatch", "assertion.dataHash.malformed"})
"""Faults of a sound store that is held against another text than its own.

The second one is that of a store without a wrapper in the text: the stand-in has none either.
"""


def load_for_stores(trust: str) -> Callable[[bytes], StoreFacts]:
    """Import the library and return what verifies a store by itself; in the sandboxed child.

    Args:
        trust: Certificates whose signatures are trusted, PEM; empty trusts nobody.
    """
    os.environ.update(SWITCHES)
    library = importlib.import_module("encypher_c2pa")
    return lambda store: _store_facts(store, trust, library)


def _report(
    library: ModuleType, data: bytes, media: str, trust: str, **options: bytes
) -> Mapping[str, Any]:
    """Return what the library reports of a file, asking no network and trusting the list alone.

    Raises:
        ValueError: It cannot parse the file.
    """
    report: Mapping[str, Any] = library.verify(
        data,
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
    """Verify signature and assertions of a store; its text is not here."""
    try:
        report = _report(library, _ANY_TEXT, "text/plain", trust, manifest_store=store)
    except ValueError:  # the library's error for a store that it cannot parse
        return StoreFacts(state=INVALID)
    faults = {str(one.get("code")) for one in report["validation_results"]["failure"]}
    told = report["manifest_report"]
    active = told["manifests"].get(told.get("active_manifest"), {})
    sound = report["signature"] == "valid" and faults <= _TEXT_ABSENT
    if not sound or _depth(active) > MAX_DEPTH:
        return StoreFacts(state=INVALID)
    trusted = report["trust"]["status"] == "valid_for_supplied_material"
    return StoreFacts(state=VALID if trusted else UNTRUSTED, fingerprint=_fingerprint(active))


def _fingerprint(active: Mapping[str, Any]) -> str:
    """Return the fingerprint of the whole text in a manifest's assertions; empty without one."""
    for label, data in _assertions(active):
        blocks = data.get("blocks")
        if not label.startswith("c2pa.soft-binding") or data.get("alg") != FINGERPRINT:
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
    def ask(data: bytes, media: str, form: str) -> ManifestFacts | None:
        try:
            report = _report(library, data, media, trust)
        except ValueError:  # its word for a file that it cannot take apart
            return ManifestFacts(form=form, state=INVALID, why="damaged")
        return _facts(report, form, asset.text, fingerprints) if report["present"] else None

    if asset.form != "text":
        form = "a7" if asset.form == "html" else asset.form
        whole = ask(asset.data, FILES[asset.form][0], form)
        if whole is None and asset.form == "html":
            whole = _linked(asset.data)
        return () if whole is None else (whole,)
    text = asset.data.decode("utf-8")
    listed = wrappers(text)
    found = []
    for one in listed[:MAX_MANIFESTS]:
        facts = _named(one, "limit")
        if facts.why == "limit" and one.size <= MAX_MANIFEST_BYTES:
            alone = text
            for other in reversed(listed):
                if other is not one:
                    alone = alone[: other.start] + alone[other.end :]
            media = "text/plain" if one.form == "a8" else "text/markdown"
            facts = ask(alone.encode(), media, one.form) or replace(
                facts, state=INVALID, why="damaged"
            )
        if len(listed) > 1 and (facts.state in (VALID, UNTRUSTED) or facts.why == "changed"):
            # A text has one manifest (C2PA 2.4, A.8 and A.9); each is read alone for what it says.
            facts = replace(facts, state=INVALID, why="several")
        found.append(facts)
    return tuple(found)


def _linked(page: bytes) -> ManifestFacts | None:
    """Return the manifest that a web page only names (A.7), of which the library says nothing."""
    for tag in _LINK.findall(page):
        if b"c2pa-manifest" in tag and (named := _HREF.search(tag)):
            where = _shown(named[1].decode("utf-8", "replace"))
            return ManifestFacts(form="a7", state=UNCHECKED, why="reference", reference=where)
    return None


def _facts(
    report: Mapping[str, Any], form: str, text: str, fingerprints: ModuleType
) -> ManifestFacts:
    state, why = _state(report)
    told = report["manifest_report"]
    name = told.get("active_manifest")
    active = told["manifests"].get(name, {})
    if _depth(active) > MAX_DEPTH:
        return ManifestFacts(form=form, state=UNCHECKED, why="limit")
    signature = active.get("signature_info") or {}
    values, apart = _bindings(active, text, fingerprints)
    return ManifestFacts(
        form=form,
        state=state,
        why=why,
        signer=_shown(signature.get("common_name") or signature.get("issuer")),
        signed_at=_moment(signature.get("time") or _created(active)),
        manifest=_shown(name),
        values=values,
        fingerprint_distance=apart,
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
    for one in active.get("assertions", ()):
        if isinstance(one.get("data"), dict):
            yield str(one.get("label")), one["data"]


def _created(active: Mapping[str, Any]) -> object:
    for label, data in _assertions(active):
        if label.startswith("c2pa.actions"):
            actions = data.get("actions")
            for action in actions if isinstance(actions, list) else ():
                if isinstance(action, dict) and action.get("action") == "c2pa.created":
                    return action.get("when")
    return None


def _bindings(
    active: Mapping[str, Any], text: str, fingerprints: ModuleType
) -> tuple[tuple[str, ...], int | None]:
    """Return the values that name a mark, and how far the text's fingerprint is from its own."""
    values: list[str] = []
    apart: int | None = None
    for label, data in _assertions(active):
        blocks = data.get("blocks")
        if not label.startswith("c2pa.soft-binding") or not isinstance(blocks, list):
            continue
        algorithm = str(data.get("alg"))
        for block in blocks:
            value = block.get("value") if isinstance(block, dict) else None
            if not isinstance(value, str) or len(value) > _MAX_VALUE:
                continue
            if _ALGORITHM.fullmatch(algorithm) and len(values) < _MAX_VALUES:
                values += [value] if _says(value) else []
            elif algorithm == FINGERPRINT and text and apart is None and block.get("scope") == {}:
                own = fingerprints.text_fingerprint(text)
                apart = int(fingerprints.hamming_hex(own, value)) if is_hex(value, 64) else None
    return tuple(values), apart


def _says(value: str) -> bool:
    try:
        return bool(base64.b64decode(value, validate=True))
    except ValueError:
        return False


def _shown(value: object) -> str:
    return visible(value)[:_MAX_SHOWN] if isinstance(value, str) else ""


def _moment(value: object) -> str:
    """Return a moment to the second, ISO 8601; empty for what is none."""
    try:
        return dt.datetime.fromisoformat(str(value)).isoformat(timespec="seconds")
    except ValueError:
        return ""


def _depth(value: object) -> int:
    """Return how deeply parsed JSON is nested."""
    level, rows = 0, [value]
    while rows:
        level += 1
        rows = [
            inner
            for one in rows
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return level
