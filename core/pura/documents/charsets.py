"""Names of character sets, and the codecs of Python that decode them.

A file names its character set by a label: one of the web (the WHATWG's Encoding standard, through
``webencodings``), one that Python knows, the number of a Windows code page, or one that databases
and mailers use. All of them lead to a codec here; a label that leads to none is unknown, and its
text is decoded as if the file had named nothing (:mod:`.encodings`).

No label is ever passed to Python's own search for codecs: that search imports a module by the
label's name, which the sandbox forbids. :func:`confine_codecs` replaces the search in the child.
"""

from __future__ import annotations

import codecs
import encodings
import pkgutil
import re
from encodings.aliases import aliases
from functools import cache
from typing import Final

import webencodings
from webencodings.labels import LABELS

# Not character sets: they turn bytes into bytes, or escape sequences into characters.
_NO_CHARACTER_SETS: Final = frozenset(
    {
        "base64_codec",
        "bz2_codec",
        "hex_codec",
        "idna",
        "punycode",
        "quopri_codec",
        "raw_unicode_escape",
        "rot_13",
        "undefined",
        "unicode_escape",
        "uu_codec",
        "zlib_codec",
    }
)
# UTF-7 encodes ASCII in other ASCII characters, so it is refused even if a file declares it.
_REFUSED: Final = frozenset({"utf_7"})

# Labels that neither the Encoding standard nor Python has, in lower case.
_FURTHER_LABELS: Final = {
    # MySQL's names of UTF-8
    "utf8mb3": "utf_8",
    "utf8mb4": "utf_8",
    # as old mailers for the Macintosh write them
    "x-mac-arabic": "mac_arabic",
    "x-mac-ce": "mac_latin2",
    "x-mac-centraleurroman": "mac_latin2",
    "x-mac-chinesesimp": "gb18030",
    "x-mac-chinesetrad": "big5hkscs",
    "x-mac-croatian": "mac_croatian",
    "x-mac-farsi": "mac_farsi",
    "x-mac-greek": "mac_greek",
    "x-mac-icelandic": "mac_iceland",
    "x-mac-japanese": "cp932",
    "x-mac-korean": "cp949",
    "x-mac-romanian": "mac_romanian",
    "x-mac-turkish": "mac_turkish",
    "x-johab": "johab",
}
# Numbers of Windows code pages whose codec is not called "cp" and the number.
_CODE_PAGES: Final = {
    0: "cp1252",  # "the default of the system that wrote it", nearly always a Western one
    708: "iso8859_6",
    1200: "utf_16_le",
    1201: "utf_16_be",
    1361: "johab",
    10000: "mac_roman",
    10001: "cp932",
    10002: "big5hkscs",
    10003: "cp949",
    10004: "mac_arabic",
    10006: "mac_greek",
    10007: "mac_cyrillic",
    10008: "gb18030",
    10010: "mac_romanian",
    10029: "mac_latin2",
    10079: "mac_iceland",
    10081: "mac_turkish",
    10082: "mac_croatian",
    12000: "utf_32_le",
    12001: "utf_32_be",
    20127: "ascii",
    20866: "koi8_r",
    20932: "euc_jp",
    20936: "gb18030",
    20949: "cp949",
    21866: "koi8_u",
    28591: "cp1252",
    # the others of ISO 8859 follow below
    38598: "iso8859_8",
    50220: "iso2022_jp_ext",
    50221: "iso2022_jp_ext",
    50222: "iso2022_jp_ext",
    50225: "iso2022_kr",
    51932: "euc_jp",
    51936: "gb18030",
    51949: "cp949",
    52936: "hz",
    54936: "gb18030",
    65001: "utf_8",
    **{28590 + part: f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16)},
}
_NUMBERED: Final = re.compile(r"(?:x-)?(?:windows|win|cp|ms|ibm|dos|cswindows)?[-_]?(\d{3,5})")
_MAX_LABEL: Final = 80
"""Characters of a label; the longest one of the registry of character sets has 45."""


@cache
def _codec_names() -> frozenset[str]:
    """Return the names of all modules of the standard library that contain a codec."""
    modules = {module.name for module in pkgutil.iter_modules(encodings.__path__)}
    return frozenset(modules | set(aliases.values())) - {"aliases", "__init__"}


def codec_of(label: str) -> str | None:
    """Return the name of the codec for a label.

    Args:
        label: A label as files and people write it; case, blanks and quotation marks are ignored.

    Returns:
        A name for :func:`codecs.lookup`, the same for every spelling of the label; None if the
        label names no character set that can be decoded here.
    """
    plain = label.strip(" \t\n\f\r\"'`;,").lower()
    if not plain or len(plain) > _MAX_LABEL or not plain.isascii():
        return None
    if plain in _FURTHER_LABELS:
        return _FURTHER_LABELS[plain]
    web = webencodings.lookup(plain)
    name = _canonical(web.codec_info.name) if web is not None else None
    if name is None:
        name = _canonical(plain)
    if name is None and (numbered := _NUMBERED.fullmatch(plain)):
        name = code_page_codec(int(numbered[1]))
    return name or _bare_labels().get(_bare(_YEAR.sub("", plain)))


_YEAR: Final = re.compile(r":\d{4}$")
"""The year of a standard, as in "ISO_8859-15:1998"."""


def _bare(label: str) -> str:
    """Return only the letters and digits of a label."""
    return "".join(character for character in label if character.isalnum())


@cache
def _bare_labels() -> dict[str, str]:
    """Return the codecs of all labels of Python and the web, by the bare label."""
    codecs_by_label = {
        _bare(alias): module for alias, module in aliases.items() if _canonical(module)
    }
    for label in LABELS:
        if (codec := _canonical(webencodings.lookup(label).codec_info.name)) is not None:
            codecs_by_label[_bare(label)] = codec
    return codecs_by_label


def code_page_codec(number: int) -> str | None:
    """Return the name of the codec of a Windows code page; None if there is none."""
    return _CODE_PAGES.get(number) or _canonical(f"cp{number}")


def _canonical(name: str) -> str | None:
    """Return the module of the codec that Python has under a name, if it decodes characters."""
    normal = encodings.normalize_encoding(name).lower()
    for candidate in (normal, normal.replace(".", "_")):
        module = aliases.get(candidate, candidate)
        if module in _codec_names():
            usable = module not in _NO_CHARACTER_SETS | _REFUSED
            return module if usable and _loads(module) else None
    return None


@cache
def _loads(module: str) -> bool:
    """Return whether this system has a codec; two exist on Windows only."""
    try:
        codecs.lookup(module)
    except LookupError:
        return False
    return True


def confine_codecs() -> None:
    """Load every codec, and stop this process from searching for others.

    Afterwards an unknown codec raises :class:`LookupError`, as usual, instead of an import that
    the sandbox forbids. This cannot be undone and is meant for the child only.
    """
    loaded = {module: codecs.lookup(module) for module in _codec_names() if _loads(module)}

    def search(name: str) -> codecs.CodecInfo | None:
        normal = encodings.normalize_encoding(name).lower()
        return loaded.get(aliases.get(normal, normal))

    codecs.unregister(encodings.search_function)
    codecs.register(search)
