"""E-mail and mailboxes: the body as its reader sees it, quoted passages apart, attached texts.

Headers, signatures of the transport and pictures are left out. The plain version of a message is
taken where there is one, since the HTML version is made from it by the writer's program. A mailbox
is messages one after another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any, Final

from pura.documents.encodings import DecodedText, decode
from pura.documents.extraction import ATTACHMENT, QUOTED, Extract
from pura.documents.formats import (
    MAX_MAIL_DEPTH,
    MAX_MAIL_HEADER_BYTES,
    MAX_MAIL_HEADERS_BYTES,
    MAX_MAIL_PARAMETERS,
    MAX_MAIL_PARTS,
    MAX_PARTS,
    ReadOptions,
    over,
)
from pura.documents.readers.html import visible
from pura.record.left_out import LeftOut, LeftOutKind
from pura.record.transforms import Transform

_QUOTE: Final = re.compile(r"^ ?>[> ]*", re.MULTILINE)
_SAYS: Final = re.compile(
    r"(On|Am|Le|El|Il) .{5,200}(wrote|schrieb[^\n]{0,80}|a écrit|escribió|ha scritto) ?:\s*$"
)
_ORIGINAL: Final = re.compile(
    r"-{2,} ?(Original Message|Forwarded message|Ursprüngliche Nachricht|Weitergeleitete "
    r"Nachricht) ?-{2,}\s*$"
)
_SIGNATURE: Final = re.compile(r"\n-- \n.*\Z", re.DOTALL)
_MAX_NAME: Final = 120  # characters of an attachment's name in the name of its part
_FIRST_QUOTED: Final = "quoted"
_MIME: Final = ("content-type", "content-disposition", "content-transfer-encoding")
"""The headers that are taken apart here; no other one is ever parsed."""


def read_mail(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return body, quoted passages and text attachments of one message."""
    return message_extracts(data, options, "")


def message_extracts(data: bytes, options: ReadOptions, prefix: str) -> list[Extract]:
    """Return the texts of one message; part names begin with ``prefix``."""
    leaves = list(_leaves(_parsed(data)))
    body = _body(leaves)
    extracts: list[Extract] = []
    if body is not None:
        extracts += _split(body, options, prefix)
    left_out: list[LeftOut] = []
    for leaf in leaves:
        if leaf is body or _is_alternative(leaf, body):
            continue
        if (attached := _attachment(leaf, options, prefix)) is not None:
            extracts.append(attached)
        else:
            left_out.append(_unread(leaf))
    if extracts and left_out:
        listed = (*extracts[0].left_out, *left_out)
        extracts[0] = replace(extracts[0], left_out=listed)
    return [replace(extract, group=prefix) for extract in extracts]


def _unread(leaf: EmailMessage) -> LeftOut:
    """Return the entry of an attachment that is not read."""
    name = leaf.get_filename() or leaf.get_content_type()
    picture = leaf.get_content_maintype() in ("image", "audio", "video", "font")
    return LeftOut(
        kind=LeftOutKind.PICTURE if picture else LeftOutKind.UNREADABLE,
        words=0 if picture else None,
        location=name[:_MAX_NAME],
    )


def _parsed(data: bytes) -> EmailMessage:
    """Parse a message; parts and headers are counted before the parser takes them apart."""
    counted = _Counted()
    bounded = policy.default.clone(message_factory=lambda policy: _Part(policy, counted))
    parsed = BytesParser(policy=bounded).parsebytes(data)
    assert isinstance(parsed, EmailMessage)
    return parsed


class _Counted:
    """What a message has so far.

    Attributes:
        parts: How many.
        header_bytes: Of the headers that are taken apart, all together.
    """

    parts = 0
    header_bytes = 0


class _Part(EmailMessage):
    """A part of a message; a header is taken apart once, and only within bounds.

    Taking one apart costs more than proportionally to its length, and the parser asks for the same
    one again and again.

    Args:
        policy: As the parser gives it.
        counted: Of the whole message.
    """

    def __init__(self, policy: Any, counted: _Counted) -> None:
        super().__init__(policy)
        self._counted = counted
        self._known: dict[str, Any] = {}
        counted.parts += 1
        if counted.parts > MAX_MAIL_PARTS:
            raise over("limit.parts", most=MAX_MAIL_PARTS)

    def set_raw(self, name: str, value: str) -> None:
        """Take a header as the parser finds it."""
        if name.lower() in _MIME:
            self._counted.header_bytes += len(value)
            if len(value) > MAX_MAIL_HEADER_BYTES:
                raise over("limit.mail-header", kibibytes=MAX_MAIL_HEADER_BYTES >> 10)
            if self._counted.header_bytes > MAX_MAIL_HEADERS_BYTES:
                raise over("limit.mail-header", kibibytes=MAX_MAIL_HEADERS_BYTES >> 10)
            if value.count(";") + value.count("(") > MAX_MAIL_PARAMETERS:
                raise over("limit.parts", most=MAX_MAIL_PARAMETERS)
        super().set_raw(name, value)
        self._known.clear()

    def get(self, name: str, failobj: Any = None) -> Any:
        """Return a header, taken apart."""
        if name.lower() not in _MIME:
            return super().get(name, failobj)
        if name.lower() not in self._known:
            self._known[name.lower()] = super().get(name)
        found = self._known[name.lower()]
        return failobj if found is None else found


def _leaves(message: EmailMessage) -> Iterator[EmailMessage]:
    """Yield all parts that are no containers, without recursion and with bounds."""
    stack: list[tuple[EmailMessage, int]] = [(message, 0)]
    while stack:
        part, depth = stack.pop()
        if depth > MAX_MAIL_DEPTH:
            raise over("limit.deep")
        inside = part.get_payload()
        if isinstance(inside, list):
            stack += [(c, depth + 1) for c in reversed(inside) if isinstance(c, EmailMessage)]
        else:
            yield part


def _body(leaves: list[EmailMessage]) -> EmailMessage | None:
    for kind in ("text/plain", "text/html"):
        for leaf in leaves:
            attached = leaf.get_content_disposition() == "attachment"
            if leaf.get_content_type() == kind and not attached:
                return leaf
    return None


def _is_alternative(leaf: EmailMessage, body: EmailMessage | None) -> bool:
    """Whether this is the same body once more, as HTML."""
    html = leaf.get_content_type() == "text/html" and leaf.get_content_disposition() is None
    return body is not None and html and body.get_content_type() == "text/plain"


def _text(leaf: EmailMessage, options: ReadOptions) -> tuple[DecodedText, tuple[Transform, ...]]:
    raw = leaf.get_payload(decode=True)
    data = raw if isinstance(raw, bytes) else b""
    declared = leaf.get_content_charset()
    decoded = decode(data, chosen=options.encoding, declared=declared)
    transforms: tuple[Transform, ...] = ()
    text = decoded.text.replace("\r\n", "\n")
    if leaf.get_content_type() == "text/html":
        text, transforms = visible(text)
    elif str(leaf.get_param("format", "")).lower() == "flowed":
        text, count = _unflow(text, delete=str(leaf.get_param("delsp", "")).lower() == "yes")
        if count:
            transforms = (Transform(name="flowed-joined", count=count),)
    return replace(decoded, text=text), transforms


def _unflow(text: str, *, delete: bool) -> tuple[str, int]:
    """Undo format=flowed (RFC 3676): a line that ends in a space goes on in the next one."""
    out: list[str] = []
    joins = 0
    flowing, level = False, 0
    for line in text.split("\n"):
        quotes = len(line) - len(line.lstrip(">"))
        rest = line[quotes:].removeprefix(" ")
        if flowing and quotes == level:
            out[-1] += rest
            joins += 1
        else:
            out.append(f"{'>' * quotes} {rest}" if quotes else rest)
        flowing = rest.endswith(" ") and rest != "-- "
        level = quotes
        if flowing and delete:
            out[-1] = out[-1][:-1]
    return "\n".join(out), joins


def _split(body: EmailMessage, options: ReadOptions, prefix: str) -> list[Extract]:
    """Split a body into what the writer wrote and what it quotes."""
    decoded, transforms = _text(body, options)
    text = decoded.text
    left_out: tuple[LeftOut, ...] = ()
    if found := _SIGNATURE.search(text):
        left_out = (LeftOut.of_text(LeftOutKind.SIGNATURE, found[0]),)
        text = text[: found.start()]
    own, quoted = _passages(text)
    extracts = []
    if own.strip():
        text, part = own.strip("\n"), f"{prefix}body"
        extracts.append(Extract.of(decoded, text, part, transforms=transforms, left_out=left_out))
    for number, passage in enumerate(quoted, 1):
        stripped = Transform(name="quote-marks-removed", count=passage.count("\n") + 1)
        plain = _QUOTE.sub("", passage).strip("\n")
        if plain.strip():
            part, done = f"{prefix}{_FIRST_QUOTED} {number}", (*transforms, stripped)
            extracts.append(Extract.of(decoded, plain, part, role=QUOTED, transforms=done))
    return extracts


def _passages(text: str) -> tuple[str, list[str]]:
    """Split at lines that begin with ``>``, and at the line that announces the original."""
    own: list[str] = []
    quoted: list[list[str]] = []
    inside = False
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _ORIGINAL.match(line):
            quoted.append(lines[number + 1 :])
            break
        if line.lstrip(" ").startswith(">"):
            if not inside:
                quoted.append([])
            quoted[-1].append(line)
            inside = True
            continue
        announces = any(n.lstrip(" ").startswith(">") for n in lines[number + 1 : number + 3])
        if not (announces and _SAYS.match(line)):
            own.append(line)
        inside = False
    joined = "\n".join(own)
    if quoted:
        # What stood around a quotation is now next to each other.
        joined = re.sub(r"\n{3,}", "\n\n", joined)
    return joined, ["\n".join(lines) for lines in quoted]


def _attachment(leaf: EmailMessage, options: ReadOptions, prefix: str) -> Extract | None:
    if leaf.get_content_maintype() != "text":
        return None
    decoded, transforms = _text(leaf, options)
    name = (leaf.get_filename() or leaf.get_content_type()).replace("\n", " ")[:_MAX_NAME]
    text, part = decoded.text.strip("\n"), f"{prefix}attachment {name}"
    return Extract.of(decoded, text, part, role=ATTACHMENT, transforms=transforms)


_FROM: Final = re.compile(rb"^From [^\r\n]*\r?\n", re.MULTILINE)
_QUOTED_FROM: Final = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_mbox(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return the texts of all messages; parts are ``message 1, body`` and so on."""
    # A "From " inside a body stands after a blank line only when the writer forgot to quote it.
    if not data.strip():
        return []
    marks = _marks(data)
    extracts: list[Extract] = []
    ends = [m.start() for m in marks[1:]] + [len(data)]
    for number, (mark, end) in enumerate(zip(marks, ends, strict=True), 1):
        message = _QUOTED_FROM.sub(rb"\1", data[mark.end() : end])
        extracts += message_extracts(message, options, f"message {number}, ")
        if len(extracts) > MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
    return extracts


def _marks(data: bytes) -> list[re.Match[bytes]]:
    return [
        m
        for m in _FROM.finditer(data)
        if m.start() == 0 or data[max(0, m.start() - 4) : m.start()].endswith((b"\n\n", b"\n\r\n"))
    ]
