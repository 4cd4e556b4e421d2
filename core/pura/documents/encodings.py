"""From bytes to characters, and how that was decided.

In this order: the user's choice, a byte order mark, strict UTF-8, what the file declares, UTF-8
with a few damaged characters, a detector that may choose from a short list only, Windows-1252.
Detectors misread short Western texts (tried: Windows-1252 taken for Baltic or Macedonian), so this
one is asked only when most letters are beyond ASCII, as they are in every script but the Latin one.

A declared character set that is unknown, or that cannot fit these bytes, is ignored, and a note
reports this.
"""

from __future__ import annotations

import codecs
import string
from dataclasses import dataclass, replace
from typing import Final

from pura.base.errors import InputError
from pura.base.numerals import visible
from pura.documents.charsets import codec_of
from pura.words.sentences import Sentence, sentence

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
"""Encodings that a person can choose, with the names that are shown."""

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
_SAMPLE: Final = 65536  # bytes that are examined when an encoding is guessed
_HIGH_SHARE: Final = 0.4  # German stays below 0.1, Czech below 0.25, Cyrillic is near 1


_DAMAGED_SHARE: Final = 0.1
"""Greatest share of invalid bytes among those beyond ASCII in a damaged UTF-8 text. Measured on
prose of twelve languages in 29 other character sets: at least 0.53 of them are invalid there."""
_ASCII_SHARE: Final = 0.8
"""Least share of printable ASCII in a text that is not UTF-16, UTF-32 or EBCDIC: in English UTF-16
one half of the bytes are printable ASCII, in EBCDIC almost none."""
_PRINTABLE: Final = frozenset([*range(32, 127), *b"\t\n\r"])
_LONGEST_LABEL_SHOWN: Final = 40  # characters of an unknown label that a note repeats


@dataclass(frozen=True, kw_only=True)
class DecodedText:
    """A text and how it was decoded.

    Attributes:
        text: The characters.
        encoding: Name of the encoding.
        source: ``chosen``, ``mark``, ``strict``, ``declared``, ``damaged``, ``pattern``,
            ``detected`` or ``fallback``.
        notes: Reports that the declared character set was not used, or that some characters
            could not be decoded and were replaced by U+FFFD.
    """

    text: str
    encoding: str
    source: str
    notes: tuple[Sentence, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Preview:
    """The beginning of a file in one encoding.

    Attributes:
        encoding: Name of the encoding, for ``ReadOptions.encoding``.
        label: Name that is shown.
        sample: The beginning of the text.
    """

    encoding: str
    label: str
    sample: str


def decode(
    encoded: bytes, *, choice: str | None = None, declared: str | None = None
) -> DecodedText:
    """Decode the bytes of a text.

    Args:
        encoded: All of them.
        choice: Encoding that the user chose; if given, no other is tried.
        declared: Character set that the file declares, as written there.

    Raises:
        InputError: The chosen encoding does not fit, or the bytes are not a text.
    """
    if choice is not None:
        return DecodedText(text=_by_choice(encoded, choice), encoding=choice, source="chosen")
    for mark, encoding in _BOMS:
        if encoded.startswith(mark):
            text = _decoded(encoded, encoding)
            if text is None:
                raise not_text()
            return _reported(DecodedText(text=text, encoding=encoding, source="mark"))
    codec = codec_of(declared) if declared else None
    if codec is not None and not _may_be(encoded, codec):
        codec = None
    text = _decoded(encoded, "utf_8")
    # Escape sequences of ISO-2022 and HZ are ASCII, so only the declaration can tell.
    if text is not None and "\x00" not in text and codec not in _SEVEN_BITS:
        decoded = DecodedText(text=text, encoding="utf-8", source="strict")
    elif codec is not None and (text := _decoded(encoded, codec)) is not None:
        decoded = DecodedText(text=text, encoding=_display_name(codec), source="declared")
    else:
        decoded = _guess(encoded)
    if declared and codec is None:
        decoded = _without_label(decoded, declared)
    return _reported(decoded)


_SEVEN_BITS: Final = frozenset({"hz", "iso2022_jp", "iso2022_jp_ext", "iso2022_kr"})
_C1_CONTROLS: Final = "pura-c1-controls"


def _c1_controls(error: UnicodeError) -> tuple[str, int]:
    """Decode the bytes that Windows code pages leave undefined as the Encoding standard does."""
    if isinstance(error, UnicodeDecodeError):
        undefined = error.object[error.start : error.end]
        if all(0x80 <= byte <= 0x9F for byte in undefined):
            return undefined.decode("latin-1"), error.end
    raise error


codecs.register_error(_C1_CONTROLS, _c1_controls)


def _decoded(encoded: bytes, codec: str) -> str | None:
    """Decode all bytes; try further codecs if a label may stand for several."""
    if codec.startswith("utf_16_") and encoded.startswith(_UTF16_MARKS):
        codec = "utf_16"  # the mark determines the byte order
    for candidate in (codec, *_ALSO_CALLED.get(codec, ())):
        try:
            # Only for cp1252: with the other code pages, text in another encoding would decode.
            return encoded.decode(candidate, _C1_CONTROLS if candidate == "cp1252" else "strict")
        except (UnicodeError, ValueError):
            continue
    return None


# The Encoding standard decodes each of these with one decoder, Python with several codecs.
_ALSO_CALLED: Final = {
    "big5hkscs": ("cp950",),
    "cp932": ("shift_jis", "shift_jis_2004"),
    "cp949": ("johab",),
    "euc_jp": ("euc_jis_2004",),
    "gbk": ("gb18030",),
    "gb2312": ("gb18030",),
    "iso2022_jp": ("iso2022_jp_ext", "iso2022_jp_2"),
    "iso2022_jp_ext": ("iso2022_jp_2",),
}


def _may_be(encoded: bytes, codec: str) -> bool:
    """Return whether a codec may fit, judged by letters that it encodes unlike ASCII."""
    if string.ascii_letters.encode().decode(codec, "replace") == string.ascii_letters:
        return True
    sample = encoded[:_SAMPLE]
    printable = sum(byte in _PRINTABLE for byte in sample)
    return printable <= _ASCII_SHARE * len(sample)


def _display_name(codec: str) -> str:
    """Return the name of a codec as records show it."""
    return _DISPLAY.get(codec, codec.replace("_", "-"))


_DISPLAY: Final = {
    **{f"cp{number}": f"windows-{number}" for number in (*range(1250, 1259), 874)},
    **{f"iso8859_{part}": f"iso-8859-{part}" for part in range(1, 17)},
    "mac_roman": "macintosh",
    "shift_jis": "shift_jis",
}


def _without_label(decoded: DecodedText, label: str) -> DecodedText:
    """Add a note that the declared character set was ignored."""
    name = visible("".join(label.split())[:_LONGEST_LABEL_SHOWN]) or "?"
    assumed = sum(not character.isascii() for character in decoded.text)
    if assumed:
        note = sentence("reading.charset", name=name, encoding=decoded.encoding, n=assumed)
    else:
        note = sentence("reading.charset-ascii", name=name)
    return replace(decoded, notes=(*decoded.notes, note))


def _reported(decoded: DecodedText) -> DecodedText:
    """Add a note on the number of characters that could not be decoded."""
    undecoded = decoded.text.count("\ufffd")
    if not undecoded:
        return decoded
    return replace(decoded, notes=(*decoded.notes, sentence("reading.undecoded", n=undecoded)))


def previews(encoded: bytes, *, characters: int = 400) -> tuple[Preview, ...]:
    """Return the beginning of a text in every encoding that fits all its bytes.

    Args:
        encoded: The bytes of the file.
        characters: Length of the samples.
    """
    fitting = []
    for encoding, label in CHOICES:
        if (
            encoding == "utf-16"
            and b"\x00" not in encoded[:_SAMPLE]
            and encoded[:2] not in _UTF16_MARKS
        ):
            continue  # nearly any bytes are valid UTF-16, and look Chinese
        text = _decoded(encoded, codec_of(encoding) or encoding)
        if text is not None and "\x00" not in text:
            sample = text.removeprefix("\ufeff")[:characters]
            fitting.append(Preview(encoding=encoding, label=label, sample=sample))
    return tuple(fitting)


_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def not_text() -> InputError:
    """Return the error for bytes that are not a text."""
    return InputError("input.not-text", code="input-format")


def check_encoding(name: str) -> None:
    """Require the name of a known text encoding.

    Raises:
        InputError: No text encoding has this name.
    """
    if codec_of(name) is None:
        choices = ", ".join(encoding for encoding, _ in CHOICES)
        raise InputError("choice.unknown", known=choices, name=name, code="usage")


def _by_choice(encoded: bytes, choice: str) -> str:
    check_encoding(choice)
    codec = codec_of(choice)
    text = None if codec is None else _decoded(encoded, codec)
    if text is None:
        raise InputError("input.wrong-encoding", code="input-encoding")
    return text.removeprefix("\ufeff")


def _guess(encoded: bytes) -> DecodedText:
    if b"\x00" in encoded:
        return _without_mark(encoded)
    if _control_share(encoded) > 0.01:
        raise not_text()
    if (text := _damaged_utf8(encoded)) is not None:
        return DecodedText(text=text, encoding="utf-8", source="damaged")
    if _high_share(encoded) > _HIGH_SHARE and (encoding := _detect(encoded)):
        text = _decoded(encoded, encoding)
        if text is not None:
            return DecodedText(text=text, encoding=encoding, source="detected")
    for encoding in ("windows-1252", "windows-1250"):
        try:
            return DecodedText(text=encoded.decode(encoding), encoding=encoding, source="fallback")
        except UnicodeDecodeError:
            continue
    raise not_text()


def _damaged_utf8(encoded: bytes) -> str | None:
    """Decode UTF-8 in which a few bytes are damaged or cut off; None if it is not UTF-8."""
    text = encoded.decode("utf-8", "replace")
    invalid = text.count("\ufffd") - encoded.count(b"\xef\xbf\xbd")
    beyond_ascii = sum(byte >= 0x80 for byte in encoded)
    # The end may cut a character off; then one whole one elsewhere is enough to tell.
    cut = invalid == 1 and text.endswith("\ufffd") and not text[:-1].isascii()
    return text if cut or invalid <= _DAMAGED_SHARE * beyond_ascii else None


def _without_mark(encoded: bytes) -> DecodedText:
    """UTF-16 without a mark: nearly every second byte of a Western text is zero."""
    sample = encoded[: _SAMPLE & ~1]
    half = max(1, len(sample) // 2)
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if sample[first::2].count(0) > 0.7 * half and sample[1 - first :: 2].count(0) == 0:
            text = _decoded(encoded, encoding)
            if text is not None:
                return DecodedText(text=text, encoding=encoding, source="pattern")
    raise not_text()


def _detect(encoded: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(encoded[:_SAMPLE], cp_isolation=list(_DETECTED)).best()
    return None if best is None else str(best.encoding)


def _control_share(encoded: bytes) -> float:
    sample = encoded[:_SAMPLE]
    controls = sum(b < 32 and b not in b"\t\n\r\f\x1b" for b in sample)
    return controls / max(1, len(sample))


def _high_share(encoded: bytes) -> float:
    sample = encoded[:_SAMPLE]
    high = sum(b >= 128 for b in sample)
    letters = sum(65 <= b <= 90 or 97 <= b <= 122 for b in sample)
    return high / max(1, high + letters)
