"""RTF: the visible body, and the content beside it.

A file consists of nested groups. Each group inherits the settings of the outer group for characters
(code page, hidden, deleted) and the destination of its text: the body, a footnote, a comment, a
header, or nowhere. Deleted text, hidden text, notes and headers become separate parts, as in the
other formats of Word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from pura.documents.charsets import code_page_codec, codec_of
from pura.documents.extraction import ALTERNATIVE, MAIN, Extract
from pura.documents.formats import CONTAINERS, ReadOptions, damaged, over, truncated
from pura.documents.readers.blocks import TextBlock, extract
from pura.documents.readers.embedded import ole_extracts, unreadable
from pura.documents.readers.packages import metadata
from pura.record.left_out import LeftOut, LeftOutKind
from pura.words.sentences import Sentence, sentence

_TOKEN: Final = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?"
    rb"|\\'(?P<byte>[0-9a-fA-F]{2})"
    rb"|\\(?P<sign>[^a-zA-Z])"
    rb"|(?P<brace>[{}])"
    rb"|(?P<text>[^\\{}\r\n]+)"
    rb"|[\r\n]+"
)
_MAX_DEPTH: Final = 10_000
"""Levels of nested groups; normal files have about twenty."""

BODY: Final = ""
HIDDEN: Final = "hidden text"
FOOTNOTES: Final = "footnotes"
COMMENTS: Final = "comments"
HEADERS: Final = "headers and footers"
BOXES: Final = "text boxes"
KINDS_APART: Final = {
    HIDDEN: LeftOutKind.HIDDEN_TEXT,
    FOOTNOTES: LeftOutKind.NOTE,
    COMMENTS: LeftOutKind.COMMENT,
    HEADERS: LeftOutKind.HEADER,
    BOXES: LeftOutKind.TEXT_BOX,
}
"""The parts for text beside the body, in order, with their kinds."""
_NOWHERE: Final = "nowhere"
_INFORMATION: Final = "information"
"""Information about the file: names, dates and numbers, and groups with properties."""
_PROPERTIES: Final = "properties"
_OBJECTS: Final = "objects"
"""Embedded files, as hexadecimal digits."""
_AS_ORIGINAL: Final = "as original"

# Control words that open a group with another destination than the group around it.
_DESTINATIONS: Final = {
    "footnote": FOOTNOTES,
    "annotation": COMMENTS,
    "shptxt": BOXES,
    "dptxbxtext": BOXES,
    "info": _INFORMATION,
    "objdata": _OBJECTS,
    **{f"{name}{side}": HEADERS for name in ("header", "footer") for side in ("", "l", "r", "f")},
    **dict.fromkeys(
        (
            *("fonttbl", "colortbl", "stylesheet", "pict", "fldinst"),
            *("listtext", "pntext", "listtable", "listoverridetable", "xe", "tc", "tcn", "rxe"),
            *("nonesttables", "nonshppict", "filetbl", "atnid", "atnauthor", "template", "private"),
            *("falt", "panose", "fontemb", "fontfile", "datafield", "bkmkstart", "bkmkend"),
            *("objclass", "objname", "fchars", "lchars", "userprops", "themedata", "datastore"),
            *("colorschememapping", "latentstyles", "pgdsctbl", "revtbl", "rsidtbl", "xmlnstbl"),
        ),
        _NOWHERE,
    ),
}
_DESCRIBING: Final = frozenset({"title", "subject", "doccomm", "keywords", "category"})
# Of the groups that programs may pass over ("\*"), those whose text is read.
_READ_WHERE_OPTIONAL: Final = frozenset(
    {"annotation", "shptxt", "shpinst", "ud", "footnote", "fldrslt", "do", "dptxbxtext", "shpgrp"}
    | {"objdata"}
)
_SIGNS: Final = {
    "tab": "\t",
    "line": "\n",
    "lbr": "\n",
    "emdash": "—",
    "endash": "–",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "bullet": "•",
    "emspace": "\u2003",
    "enspace": "\u2002",
    "qmspace": "\u2005",
    "zwj": "\u200d",
    "zwnj": "\u200c",
    "ltrmark": "\u200e",
    "rtlmark": "\u200f",
}
_SIGN_WORDS: Final = {"~": "\xa0", "_": "\u2011", "-": "\xad", "\\": "\\", "{": "{", "}": "}"}
_ENDS: Final = {
    "par": "paragraph",
    "sect": "paragraph",
    "page": "paragraph",
    "cell": "cell",
    "nestcell": "cell",
    "row": "row",
    "nestrow": "row",
}
# Code pages of Windows by the character sets of fonts.
_FONT_CHARSETS: Final = {
    0: 1252,
    77: 10000,
    78: 10001,
    79: 10003,
    80: 10008,
    81: 10002,
    85: 10006,
    86: 10081,
    88: 10029,
    89: 10007,
    128: 932,
    129: 949,
    130: 1361,
    134: 936,
    136: 950,
    161: 1253,
    162: 1254,
    163: 1258,
    177: 1255,
    178: 1256,
    186: 1257,
    204: 1251,
    222: 874,
    238: 1250,
    254: 437,
    255: 850,
}
_SYMBOL_CHARSET: Final = 2
_SYMBOL: Final = "symbol"
"""Codec name for symbol fonts, whose characters are mapped to Unicode's private use area."""
_FAMILIES: Final = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_DEFAULT_CODEC: Final = "cp1252"


@dataclass(frozen=True, slots=True)
class _RtfState:
    """Settings of a group for its characters.

    Attributes:
        destination: The part of the document that the text goes to.
        hidden: The text is hidden.
        deleted: A tracked change deleted the text.
        revised: A tracked change inserted the text.
        skipped: Number of characters for older programs after each Unicode character.
        codec: Codec of the bytes; empty takes the codec of the file.
        in_table: The paragraph is in a table.
        in_list: The paragraph is a list item.
        fonts: The group is the font table.
        font: Number of the font that is being described in the font table.
        optional: The group is marked as optional for programs that do not know it.
        of_html: The group repeats adjacent HTML for programs without HTML.
    """

    destination: str = BODY
    hidden: bool = False
    deleted: bool = False
    revised: bool = False
    skipped: int = 1
    codec: str = ""
    in_table: bool = False
    in_list: bool = False
    fonts: bool = False
    font: int = 0
    optional: bool = False
    of_html: bool = False


class _RtfRun(NamedTuple):
    """Characters, or the end of a paragraph, cell or row, in one destination."""

    text: str
    end: str
    deleted: bool
    revised: bool
    in_table: bool
    in_list: bool


@dataclass
class _RtfContent:
    """The content of a file.

    Attributes:
        runs: Runs by destination.
        ended: All groups are closed.
        unknown: The code page that the file names and that is not known; empty for none.
    """

    runs: dict[str, list[_RtfRun]] = field(default_factory=dict)
    ended: bool = True
    unknown: str = ""


def read_rtf(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return the body with changes accepted, the original body, and further parts."""
    user_codec = None if options.encoding is None else codec_of(options.encoding)
    parsed = _RtfParser(file_bytes, user_codec).content()
    body = parsed.runs.get(BODY, [])
    changed = any(run.deleted or run.revised for run in body)
    notes = _notes(parsed)
    accepted = _blocks(run for run in body if not run.deleted)
    left_out = _deleted(parsed)
    extracts = [
        extract(accepted, "as accepted" if changed else "", MAIN, notes=notes, left_out=left_out)
    ]
    if changed:
        original = _blocks(run for run in body if not run.revised)
        extracts.append(extract(original, _AS_ORIGINAL, ALTERNATIVE))
    for destination, kind in KINDS_APART.items():
        blocks = _blocks(run for run in parsed.runs.get(destination, ()) if not run.deleted)
        if any(block.text.strip() for block in blocks):
            extracts.append(extract(blocks, destination, ALTERNATIVE, kind=kind))
    extracts += metadata(block.text for block in _blocks(parsed.runs.get(_PROPERTIES, ())))
    object_blocks = _blocks(parsed.runs.get(_OBJECTS, ()))
    for number, block in enumerate(filter(lambda block: block.text, object_blocks), 1):
        extracts += _object(block.text, f"object {number}")
    if not parsed.ended:
        if not extracts[0].text:
            raise truncated()
        extracts[0] = extracts[0].cut_off()
    return extracts


def _object(digits: str, name: str) -> list[Extract]:
    """Return the texts of an embedded file.

    Its bytes are OLE's first version, a header around a compound file.
    """
    hexadecimal = "".join(digits.split())
    try:
        file_bytes = bytes.fromhex(hexadecimal[: len(hexadecimal) // 2 * 2])
    except ValueError:
        return [unreadable(damaged(CONTAINERS["compound"].label), name)]
    start = file_bytes.find(CONTAINERS["compound"].magic[0])
    if start < 0:
        return [unreadable(damaged(CONTAINERS["compound"].label), name)]
    return ole_extracts(file_bytes[start:], name)


def _deleted(parsed: _RtfContent) -> tuple[LeftOut, ...]:
    """Return an entry for text that tracked changes deleted, which the original contains."""
    deleted = (run.text for runs in parsed.runs.values() for run in runs if run.deleted)
    if not (text := "".join(deleted).strip()):
        return ()
    return (LeftOut.of_text(LeftOutKind.DELETED_TEXT, text, part=_AS_ORIGINAL),)


def _notes(parsed: _RtfContent) -> tuple[Sentence, ...]:
    notes = []
    if parsed.unknown:
        assumed = sum(not sign.isascii() for run in parsed.runs.get(BODY, ()) for sign in run.text)
        parameters: dict[str, str | int] = {"name": parsed.unknown, "n": assumed}
        if assumed:
            parameters["encoding"] = "windows-1252"
        else:
            del parameters["n"]
        notes.append(
            sentence("reading.charset" if assumed else "reading.charset-ascii", **parameters)
        )
    undecoded = sum(run.text.count("\ufffd") for run in parsed.runs.get(BODY, ()))
    if undecoded:
        notes.append(sentence("reading.undecoded", n=undecoded))
    return tuple(notes)


def _blocks(runs: Iterator[_RtfRun] | Sequence[_RtfRun]) -> list[TextBlock]:
    """Join runs to paragraphs and rows of tables."""
    blocks: list[TextBlock] = []
    text: list[str] = []
    paragraphs: list[str] = []  # of the cell
    cells: list[str] = []  # of the row
    for run in runs:
        text.append(run.text)
        match run.end:
            case "paragraph" if run.in_table:
                paragraphs.append("".join(text))
            case "paragraph":
                blocks.append(TextBlock(text="".join(text), tight=run.in_list))
            case "cell":
                cells.append("\n".join([*paragraphs, "".join(text)]))
                paragraphs = []
            case "row":
                # The text of a last cell without an end mark belongs to the row.
                rest = "\n".join([*paragraphs, "".join(text)])
                row = [*cells, rest] if rest else cells
                blocks.append(TextBlock(text="\t".join(row), tight=True))
                paragraphs, cells = [], []
            case _:
                continue
        text = []
    rest = "\t".join([*cells, "\n".join([*paragraphs, "".join(text)])])
    if rest.strip():
        blocks.append(TextBlock(text=rest))
    return blocks


class _RtfParser:
    """One pass over the tokens of a file.

    Args:
        file_bytes: The bytes of the file.
        codec: Codec that the user chose for all bytes; None takes the declarations of the file.
    """

    def __init__(self, file_bytes: bytes, codec: str | None) -> None:
        self._data, self._chosen = file_bytes, codec
        self._content = _RtfContent()
        self._state, self._outer = _RtfState(), list[_RtfState]()
        self._codec = _DEFAULT_CODEC  # of the file
        self._default_font = 0
        self._fonts: dict[int, str] = {}
        self._bytes = bytearray()  # of text that is not decoded yet
        self._units: list[int] = []  # of UTF-16, likewise
        self._passed_over = 0  # characters for older programs that still come
        self._html = False
        self._group_begins = False  # nothing but line ends stands between its brace and here

    def content(self) -> _RtfContent:
        """Return the content of the file."""
        position, end = 0, len(self._data)
        while position < end:
            token = _TOKEN.match(self._data, position)
            if token is None:  # a backslash at the very end
                break
            position = token.end()
            if word := token["word"]:
                number = token["number"]
                position += self._control(word.decode(), None if number is None else int(number))
            elif byte := token["byte"]:
                self._take(bytes.fromhex(byte.decode()))
            elif sign := token["sign"]:
                self._control_sign(sign.decode("latin-1"))
                if sign == b"*":
                    continue  # the word after it is still the first of the group
            elif brace := token["brace"]:
                self._brace(opens=brace == b"{")
            elif text := token["text"]:
                self._take(text)
            if token[0].strip(b"\r\n"):
                self._group_begins = token["brace"] == b"{"
            if not self._outer and token["brace"] == b"}":
                break  # anything after the last brace is not part of the document
        self._flush()
        self._content.ended = not self._outer
        return self._content

    def _brace(self, *, opens: bool) -> None:
        self._flush()
        self._passed_over = 0
        if opens:
            self._outer.append(self._state)
            if len(self._outer) > _MAX_DEPTH:
                raise over("limit.deep")
            self._state = replace(self._state, optional=False)
        elif self._outer:
            if (
                self._state.destination != self._outer[-1].destination
                and self._state.destination != _NOWHERE
            ):
                self._end("paragraph")
            self._state = self._outer.pop()

    # Control words

    def _control(self, word: str, number: int | None) -> int:
        """Apply a control word; return the number of raw bytes after it."""
        if self._passed_over:
            self._passed_over -= 1
            return max(0, number or 0) if word == "bin" else 0
        if word == "bin":
            return max(0, number or 0)
        if word == "u":
            self._unicode(number or 0)
            return 0
        if word in _SIGNS:
            self._put(_SIGNS[word])
            return 0
        self._flush()
        optional, self._state = self._state.optional, replace(self._state, optional=False)
        if word in _ENDS:
            self._end(_ENDS[word])
        elif optional and word not in _READ_WHERE_OPTIONAL:
            self._redirect(_NOWHERE)
            self._state = replace(self._state, fonts=word == "fonttbl")
        elif word in _DESCRIBING and self._state.destination == _INFORMATION:
            self._redirect(_PROPERTIES)
        elif word in _DESTINATIONS:
            self._redirect(_DESTINATIONS[word])
            self._state = replace(self._state, fonts=word == "fonttbl")
        elif word == "ud":  # repeats the group before it in Unicode
            self._state = replace(self._state, destination=self._outer[-2].destination)
        elif word == "upr":
            self._redirect(_NOWHERE)
        else:
            self._set(word, number)
        return 0

    def _redirect(self, destination: str) -> None:
        """Send the rest of the group to a destination, unless an outer group is skipped."""
        if self._state.destination != _NOWHERE:
            self._state = replace(self._state, destination=destination)

    def _set(self, word: str, number: int | None) -> None:
        """Change the settings for the following characters."""
        is_on = number != 0
        match word:
            case "v":
                self._state = replace(self._state, hidden=is_on)
            case "deleted":
                self._state = replace(self._state, deleted=is_on)
            case "revised":
                self._state = replace(self._state, revised=is_on)
            case "plain":
                self._state = replace(
                    self._state, hidden=False, deleted=False, revised=False, codec=""
                )
            case "pard":
                self._state = replace(self._state, in_table=False, in_list=False)
            case "intbl" | "itap":
                self._state = replace(self._state, in_table=is_on)
            case "ls" | "pnlvlblt" | "pnlvlbody":
                self._state = replace(self._state, in_list=True)
            case "uc":
                self._state = replace(self._state, skipped=min(max(0, number or 0), 100))
            case "fromhtml":
                self._html = True
            case "htmlrtf" if self._html:
                self._state = replace(self._state, of_html=is_on)
            case _:
                self._choose_codec(word, number)

    def _choose_codec(self, word: str, number: int | None) -> None:
        """Apply a control word for code pages and fonts."""
        if word in _FAMILIES:
            self._codec = _FAMILIES[word]
        elif word == "ansicpg" and number is not None:
            codec = code_page_codec(number)
            self._content.unknown = "" if codec else f"code page {number}"
            self._codec = codec or _DEFAULT_CODEC
        elif word == "deff":
            self._default_font = number or 0
        elif word == "f" and self._state.fonts:
            self._state = replace(self._state, font=number or 0)
        elif word == "f":
            self._state = replace(self._state, codec=self._fonts.get(number or 0, ""))
        elif word == "fcharset" and self._state.fonts:
            pages = _FONT_CHARSETS.get(number or 0)
            codec = None if pages is None else code_page_codec(pages)
            self._fonts[self._state.font] = _SYMBOL if number == _SYMBOL_CHARSET else codec or ""
        elif word == "cpg" and self._state.fonts:
            self._fonts[self._state.font] = code_page_codec(number or 0) or ""

    def _control_sign(self, sign: str) -> None:
        if self._passed_over:
            self._passed_over -= 1
        elif sign in _SIGN_WORDS:
            self._put(_SIGN_WORDS[sign])
        elif sign == "*":
            # Elsewhere it marks nothing: the words after it are text that every program shows.
            self._state = replace(self._state, optional=self._group_begins)
        elif sign in "\r\n":
            self._flush()
            self._end("paragraph")

    # Characters

    def _unicode(self, number: int) -> None:
        """Collect one unit of UTF-16; the characters for older programs after it are skipped."""
        self._flush_bytes()
        self._units.append(number & 0xFFFF)
        self._passed_over = self._state.skipped

    def _take(self, text: bytes) -> None:
        """Collect bytes in the current code page."""
        passed = min(self._passed_over, len(text))
        self._passed_over -= passed
        if text := text[passed:]:
            self._flush_units()
            self._bytes += text

    def _put(self, sign: str) -> None:
        if self._passed_over:
            self._passed_over -= 1
            return
        self._flush()
        self._keep(sign)

    def _flush(self) -> None:
        self._flush_bytes()
        self._flush_units()

    def _flush_bytes(self) -> None:
        if self._bytes:
            encoded, self._bytes = bytes(self._bytes), bytearray()
            self._keep(self._decoded(encoded))

    def _decoded(self, encoded: bytes) -> str:
        codec = self._chosen or self._state.codec or self._codec
        if codec == _SYMBOL:
            # Word writes the bullets of lists in a symbol font.
            return "".join("•" if byte == 0xB7 else chr(0xF000 + byte) for byte in encoded)
        return encoded.decode(codec, "replace")

    def _flush_units(self) -> None:
        if self._units:
            units = b"".join(unit.to_bytes(2, "little") for unit in self._units)
            self._units = []
            self._keep(units.decode("utf-16-le", "replace"))

    def _keep(self, text: str) -> None:
        state = self._state
        if state.destination in (_NOWHERE, _INFORMATION) or state.of_html:
            return
        # NUL is shown by no program, so it is not part of the text.
        text = text.replace("\x00", "")
        if state.hidden and not state.deleted:
            self._add(HIDDEN, text, "")
        else:
            self._add(state.destination, text, "")

    def _end(self, kind: str) -> None:
        """End a paragraph, cell or row."""
        state = self._state
        if state.destination in (_NOWHERE, _INFORMATION) or state.of_html:
            return
        if self._content.runs.get(HIDDEN) and not self._content.runs[HIDDEN][-1].end:
            self._add(HIDDEN, "", "paragraph")
        self._add(state.destination, "", kind)

    def _add(self, destination: str, text: str, end: str) -> None:
        state = self._state
        in_table = state.in_table and destination == BODY
        run = _RtfRun(text, end, state.deleted, state.revised, in_table, state.in_list)
        self._content.runs.setdefault(destination, []).append(run)
