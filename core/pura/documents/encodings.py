"""From bytes to characters, and how that was decided.

In this order: the user's choice, a byte order mark, strict UTF-8, what the file declares, a
detector that may choose from a short list only, Windows-1252. Detectors misread short Western
texts (tried: Windows-1252 taken for Baltic or Macedonian), so this one is asked only when most
letters are beyond ASCII, as they are in every script but the Latin one.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

from pura.base.errors import InputError

CHOICES: Final = (
    ("utf-8", "Unicode (UTF-8)"),
    ("utf-16", "Unicode (UTF-16)"),
    ("windows-1252", "Western European (Windows)"),
    ("iso-8859-15", "Western European (ISO, with €)"),
    ("macintosh", "Western European (old Mac OS)"),
    ("cp850", "Western European (DOS)"),
    ("windows-1250", "Central European (Windows)"),
    ("iso-8859-2", "Central European (ISO)"),
    ("windows-1251", "Cyrillic (Windows)"),
    ("koi8-r", "Cyrillic (KOI8-R)"),
    ("windows-1253", "Greek (Windows)"),
    ("windows-1254", "Turkish (Windows)"),
    ("windows-1255", "Hebrew (Windows)"),
    ("windows-1256", "Arabic (Windows)"),
    ("windows-1257", "Baltic (Windows)"),
    ("shift_jis", "Japanese (Shift JIS)"),
    ("euc-jp", "Japanese (EUC)"),
    ("gb18030", "Chinese (GB 18030)"),
    ("big5", "Chinese (Big5)"),
    ("euc-kr", "Korean (EUC)"),
)
"""Encodings that a person can choose, with their names for people."""

_ALSO: Final = (
    "ascii",
    "latin-1",
    "utf-7",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "iso2022_jp",
    "gbk",
    "gb2312",
    "hz",
    "cp437",
    "cp866",
    "cp949",
    "cp932",
    "koi8_u",
    "iso8859_3",
    "iso8859_4",
    "iso8859_5",
    "iso8859_7",
    "iso8859_9",
    "iso8859_13",
    "cp874",
    "cp1258",
)
# UTF-7 hides ASCII inside ASCII and is refused even where a file declares it.
_REFUSED: Final = frozenset({"utf-7"})
_DETECTED: Final = (
    "cp1251",
    "koi8_r",
    "cp1253",
    "shift_jis",
    "euc_jp",
    "gb18030",
    "big5",
    "euc_kr",
)
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE: Final = 65536
_HIGH_SHARE: Final = 0.4  # German stays below 0.1, Czech below 0.25, Cyrillic is near 1


@dataclass(frozen=True, kw_only=True)
class DecodedText:
    """A text and how its bytes were read.

    Attributes:
        text: The characters.
        encoding: Name of the encoding.
        source: ``chosen``, ``mark``, ``strict``, ``declared``, ``pattern``, ``detected`` or
            ``fallback``.
    """

    text: str
    encoding: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a file looks like in one encoding.

    Attributes:
        encoding: Its name, as ``ReadOptions.encoding`` takes it.
        label: Its name for people.
        sample: The beginning of the text.
    """

    encoding: str
    label: str
    sample: str


def decode(data: bytes, *, chosen: str | None = None, declared: str | None = None) -> DecodedText:
    """Decode the bytes of a text.

    Args:
        data: All of them.
        chosen: The user's choice; nothing else is tried then.
        declared: What the file says of itself.

    Raises:
        InputError: The choice does not fit, or these are not the bytes of a text.
    """
    if chosen is not None:
        return DecodedText(text=_by_choice(data, chosen), encoding=chosen, source="chosen")
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = _try(data, encoding)
            if text is None:
                raise not_text()
            return DecodedText(text=text, encoding=encoding, source="mark")
    text = _try(data, "utf-8")
    # Escape sequences of ISO-2022 and HZ are ASCII, so only the declaration can tell.
    if (
        text is not None
        and "\x00" not in text
        and not (declared and _name(declared) in ("iso2022_jp", "hz"))
    ):
        return DecodedText(text=text, encoding="utf-8", source="strict")
    if declared and (text := _try(data, declared)) is not None:
        return DecodedText(text=text, encoding=declared.lower(), source="declared")
    return _guess(data)


def previews(data: bytes, *, characters: int = 400) -> tuple[Preview, ...]:
    """Return what the beginning looks like in every encoding that fits all bytes, without guessing.

    Args:
        data: The bytes of the file.
        characters: Length of the samples.
    """
    found = []
    for encoding, label in CHOICES:
        if encoding == "utf-16" and b"\x00" not in data[:_SAMPLE] and data[:2] not in _UTF16_MARKS:
            continue  # nearly any bytes are valid UTF-16, and look Chinese
        text = _try(data, encoding)
        if text is not None and "\x00" not in text:
            sample = text.removeprefix("\ufeff")[:characters]
            found.append(Preview(encoding=encoding, label=label, sample=sample))
    return tuple(found)


_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def preload() -> None:
    """Load every codec that may be asked for; the sandboxed child can open no file later."""
    for name in (
        *(n for n, _ in CHOICES),
        *_ALSO,
        *_DETECTED,
        "utf-8-sig",
        "idna",
        "unicode_escape",
    ):
        codecs.lookup(name)


def not_text() -> InputError:
    """Return the refusal of bytes that are no text."""
    return InputError("input.not-text", code="input-format")


def check_encoding(name: str) -> None:
    """Refuse an encoding that is none of text.

    Raises:
        InputError: There is none of this name.
    """
    if _name(name) is None:
        known = ", ".join(choice for choice, _ in CHOICES)
        raise InputError("choice.unknown", known=known, name=name, code="usage")


def _by_choice(data: bytes, chosen: str) -> str:
    check_encoding(chosen)
    text = _try(data, chosen)
    if text is None:
        raise InputError("input.wrong-encoding", code="input-encoding")
    return text.removeprefix("\ufeff")


def _guess(data: bytes) -> DecodedText:
    if b"\x00" in data:
        return _without_mark(data)
    if _control_share(data) > 0.01:
        raise not_text()
    if _high_share(data) > _HIGH_SHARE and (encoding := _detect(data)):
        text = _try(data, encoding)
        if text is not None:
            return DecodedText(text=text, encoding=encoding, source="detected")
    for encoding in ("windows-1252", "windows-1250"):
        if (text := _try(data, encoding)) is not None:
            return DecodedText(text=text, encoding=encoding, source="fallback")
    raise not_text()


def _without_mark(data: bytes) -> DecodedText:
    """UTF-16 without a mark: nearly every second byte of a Western text is zero."""
    sample = data[: _SAMPLE & ~1]
    half = max(1, len(sample) // 2)
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if sample[first::2].count(0) > 0.7 * half and sample[1 - first :: 2].count(0) == 0:
            text = _try(data, encoding)
            if text is not None:
                return DecodedText(text=text, encoding=encoding, source="pattern")
    raise not_text()


def _detect(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE], cp_isolation=list(_DETECTED)).best()
    return None if best is None else str(best.encoding)


def _name(encoding: str) -> str | None:
    try:
        found = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return None
    # Python also knows "encodings" that are no character sets, such as base64.
    text_like = getattr(codecs.lookup(encoding), "_is_text_encoding", True)
    return found if text_like and found not in _REFUSED else None


def _try(data: bytes, encoding: str) -> str | None:
    if _name(encoding) is None:
        return None
    try:
        return data.decode(encoding)
    except (UnicodeError, ValueError):
        return None


def _control_share(data: bytes) -> float:
    sample = data[:_SAMPLE]
    controls = sum(b < 32 and b not in b"\t\n\r\f\x1b" for b in sample)
    return controls / max(1, len(sample))


def _high_share(data: bytes) -> float:
    sample = data[:_SAMPLE]
    high = sum(b >= 128 for b in sample)
    letters = sum(65 <= b <= 90 or 97 <= b <= 122 for b in sample)
    return high / max(1, high + letters)
