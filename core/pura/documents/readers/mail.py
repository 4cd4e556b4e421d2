"""E-mail and mailboxes: the body as its reader sees it, quoted passages apart, attached texts.

Headers, signatures and pictures are left out. The plain version of a message is preferred if it is
complete, since it needs no guesses about what is shown. The other version becomes a part if it has
different words. Attached documents are read by the readers of their formats. A mailbox is a
sequence of messages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any, Final, NamedTuple

from pura.base.errors import InputError
from pura.documents.encodings import DecodedText, decode
from pura.documents.extraction import ALTERNATIVE, ATTACHMENT, QUOTED, Extract
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
from pura.documents.readers.embedded import embedded_extracts
from pura.documents.readers.html import PageText, read_page
from pura.documents.readers.quotes import split_quoted
from pura.record.left_out import LeftOut, LeftOutKind, word_count
from pura.record.transforms import Transform

_QUOTE: Final = re.compile(r"^ ?>[> ]*", re.MULTILINE)
_SIGNATURE: Final = re.compile(r"\n-- \n.*\Z", re.DOTALL)
_MAX_NAME: Final = 120  # characters of an attachment's name in the name of its part
_FIRST_QUOTED: Final = "quoted"
_SEALED: Final = (
    "application/pkcs7-mime",
    "application/x-pkcs7-mime",
    "application/pgp-encrypted",
)
"""Messages encrypted with S/MIME or PGP, which only the recipient can open."""
_SIGNATURES: Final = (
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
    "application/pgp-signature",
)
"""Detached signatures, which have no words."""
_PGP_MESSAGE: Final = b"-----BEGIN PGP MESSAGE-----"
_ARMOUR: Final = re.compile(
    r"-----BEGIN PGP (MESSAGE|SIGNATURE|PUBLIC KEY BLOCK)-----.*?(?:-----END PGP \1-----|\Z)",
    re.DOTALL,
)
_SIGNED_HEAD: Final = re.compile(
    r"^-----BEGIN PGP SIGNED MESSAGE-----\n(?:[^\n]+\n)*\n", re.MULTILINE
)
_ESCAPED_DASH: Final = re.compile(r"^- (?=-)", re.MULTILINE)
"""In signed text, a line that begins with a dash is preceded by "- " (RFC 9580, 7.2)."""
_PICTURES: Final = ("image", "audio", "video", "font")
_APPLE: Final = re.compile(rb"(\d{1,12})[ \t]*\r?\n")
"""Apple Mail writes the length of a message in bytes before it, and a property list after it."""
_MIME: Final = ("content-type", "content-disposition", "content-transfer-encoding")
"""The only headers that are parsed."""


def read_mail(file_bytes: bytes, options: ReadOptions) -> list[Extract]:
    """Return body, quoted passages and text attachments of one message."""
    if length := _APPLE.match(file_bytes):
        file_bytes = file_bytes[length.end() : length.end() + int(length[1])]
    return message_extracts(file_bytes, options, "")


def message_extracts(message_bytes: bytes, options: ReadOptions, prefix: str) -> list[Extract]:
    """Return the texts of one message; part names begin with ``prefix``."""
    leaves = list(_leaves(_parsed(message_bytes)))
    body, alternative = _body(leaves, options)
    extracts: list[Extract] = []
    if body is not None:
        extracts += _split(body, options, prefix)
        if alternative is not None:
            extracts += _other_version(alternative, body, options, prefix)
    left_out: list[LeftOut] = []
    for leaf in leaves:
        if leaf is body or leaf is alternative:
            continue
        attached = _attached(leaf, options, prefix)
        if isinstance(attached, LeftOut):
            left_out.append(attached)
        else:
            extracts += attached
    if not extracts and left_out:
        extracts.append(_without_body(left_out, f"{prefix}body"))
    if extracts and left_out:
        listed = (*extracts[0].left_out, *left_out)
        extracts[0] = replace(extracts[0], left_out=listed)
    return [replace(extract, group=prefix) for extract in extracts]


def _without_body(left_out: list[LeftOut], part: str) -> Extract:
    """Return the part of a message without readable text, with the reason if it is encrypted."""
    for entry in left_out:
        if entry.kind is LeftOutKind.ENCRYPTED:
            sealed = InputError("mail.sealed", name=entry.location, code="input-sealed")
            return Extract(text="", part=part, refusal=sealed.packed())
    return Extract(text="", part=part)


def _attached(leaf: EmailMessage, options: ReadOptions, prefix: str) -> list[Extract] | LeftOut:
    """Return the texts of an attachment, or an entry if it has none."""
    name = _file_name(leaf)
    kind = leaf.get_content_type()
    if kind in _SEALED:
        return LeftOut(kind=LeftOutKind.ENCRYPTED, words=None, location=name)
    if kind in _SIGNATURES:
        return LeftOut(kind=LeftOutKind.SIGNATURE, words=0, location=name)
    if leaf.get_content_maintype() in _PICTURES:
        return LeftOut(kind=LeftOutKind.PICTURE, words=0, location=name)
    if leaf.get_content_maintype() == "text":
        return [_attached_text(leaf, name, options, prefix)]
    raw = leaf.get_payload(decode=True)
    file_bytes = raw if isinstance(raw, bytes) else b""
    if file_bytes.lstrip().startswith(_PGP_MESSAGE):
        return LeftOut(kind=LeftOutKind.ENCRYPTED, words=None, location=name)
    inside = embedded_extracts(
        file_bytes,
        name,
        kind=LeftOutKind.ATTACHMENT,
        label=f"{prefix}attachment",
    )
    return [extract for extract in inside if extract.text.strip() or extract.refusal]


def _file_name(leaf: EmailMessage) -> str:
    """Return the name of an attachment, or its kind where it has none."""
    return (leaf.get_filename() or leaf.get_content_type()).replace("\n", " ")[:_MAX_NAME]


_CONTENT_TYPE: Final = re.compile(
    rb"^content-type:[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*", re.IGNORECASE | re.MULTILINE
)
_UNQUOTED_BOUNDARY: Final = re.compile(
    rb"(\bboundary=)([^\s\";]*[()<>@,:/\[\]?=][^\s\";]*)", re.IGNORECASE
)
"""RFC 2045 requires quotes around these characters; many mailers omit them."""


_FIELD: Final = re.compile(rb"([!-9;-~]+):")
_KNOWN_FIELDS: Final = frozenset(
    {
        *(b"from", b"to", b"cc", b"bcc", b"subject", b"date", b"sender", b"received", b"status"),
        *(b"references", b"comments", b"keywords", b"organization", b"organisation", b"lines"),
        *(b"importance", b"priority", b"sensitivity", b"precedence", b"newsgroups", b"path"),
        *(b"xref", b"approved", b"distribution", b"expires", b"supersedes", b"encrypted"),
    }
)
"""Names of header lines that have no hyphen; nearly all others have one."""


def _with_blank_line(message_bytes: bytes) -> bytes:
    """Insert a missing blank line between the header and the body of a message.

    Without it the parser takes lines of the body such as "Note: this is new" for headers, and their
    words are lost.
    """
    fields: list[tuple[int, bytes]] = []
    position = 0
    while position < len(message_bytes):
        end = message_bytes.find(b"\n", position) + 1 or len(message_bytes)
        line = message_bytes[position:end]
        field = _FIELD.match(line)
        if not line.strip():
            return message_bytes
        if field is not None:
            fields.append((position, field[1].lower()))
        elif not line.startswith((b" ", b"\t", b"From ", b">From ")):
            break
        position = end
    body = position
    while fields and b"-" not in fields[-1][1] and fields[-1][1] not in _KNOWN_FIELDS:
        body, _ = fields.pop()
    return (
        message_bytes[:body] + b"\n" + message_bytes[body:]
        if fields and body < position
        else message_bytes
    )


def _as_standard(message_bytes: bytes) -> bytes:
    """Return a message with the line ends, quotes and blank line that the standard requires."""
    if b"\n" not in message_bytes:
        message_bytes = message_bytes.replace(b"\r", b"\n")
    message_bytes = _with_blank_line(message_bytes)
    return _CONTENT_TYPE.sub(
        lambda header: _UNQUOTED_BOUNDARY.sub(rb'\1"\2"', header[0]), message_bytes
    )


def _parsed(message_bytes: bytes) -> EmailMessage:
    """Parse a message, with limits on the number of parts and the size of headers."""
    message_bytes = _as_standard(message_bytes)
    counted = _Counted()
    bounded = policy.default.clone(message_factory=lambda policy: _MailPart(policy, counted))
    parsed = BytesParser(policy=bounded).parsebytes(message_bytes)
    assert isinstance(parsed, EmailMessage)
    return parsed


class _Counted:
    """Counts of a message while it is parsed.

    Attributes:
        parts: Number of MIME parts.
        header_bytes: Bytes of all parsed headers.
    """

    parts = 0
    header_bytes = 0


class _MailPart(EmailMessage):
    """A part of a message that parses each header once, and only within limits.

    The time to parse a header grows faster than its length, and the parser reads the same header
    again and again.

    Args:
        policy: Policy of the parser.
        counted: Counts of the whole message.
    """

    def __init__(self, policy: Any, counted: _Counted) -> None:
        super().__init__(policy)
        self._counted = counted
        self._known: dict[str, Any] = {}
        counted.parts += 1
        if counted.parts > MAX_MAIL_PARTS:
            raise over("limit.parts", most=MAX_MAIL_PARTS)

    def set_raw(self, name: str, value: str) -> None:
        """Store a header, if it is within the limits."""
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
        """Return a header; the headers in :data:`_MIME` are parsed only once."""
        if name.lower() not in _MIME:
            return super().get(name, failobj)
        if name.lower() not in self._known:
            self._known[name.lower()] = super().get(name)
        header = self._known[name.lower()]
        return failobj if header is None else header


def _leaves(message: EmailMessage) -> Iterator[EmailMessage]:
    """Yield all parts that are not containers, without recursion and within limits."""
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


_FULL_VERSION: Final = 0.5
"""Least share of the words of the HTML version that a complete plain version has.

Mail programs generate the plain version from the HTML version and lose some words. A version with
fewer than half is a stub ("view this message in a browser") or a footer."""
_SAME_WORDS: Final = 0.9
"""Share of the words of a version that also occur in the other one if both have the same text."""


def _body(
    leaves: list[EmailMessage], options: ReadOptions
) -> tuple[EmailMessage | None, EmailMessage | None]:
    """Return the part with the message, and the part with its other version.

    The plain version is preferred unless it is empty, a stub or a footer.
    """
    versions: list[EmailMessage] = []
    for kind in ("text/plain", "text/html"):
        for leaf in leaves:
            attached = leaf.get_content_disposition() == "attachment"
            if leaf.get_content_type() == kind and not attached:
                versions.append(leaf)
                break
    if not versions:
        return None, None
    if len(versions) == 1:
        return versions[0], None
    plain, html = versions
    if html.get_content_disposition() is not None:
        return plain, None
    counts = [word_count(_text(leaf, options).decoded.text) for leaf in versions]
    return (plain, html) if counts[0] >= _FULL_VERSION * counts[1] else (html, plain)


def _other_version(
    alternative: EmailMessage, body: EmailMessage, options: ReadOptions, prefix: str
) -> list[Extract]:
    """Return the other version of a message and its hidden text as parts.

    Parts that only repeat the words of the message are omitted.
    """
    read, message = _text(alternative, options), _text(body, options)
    name = "html version" if alternative.get_content_type() == "text/html" else "plain version"
    version = Extract.of(
        read.decoded,
        read.both.strip("\n"),
        f"{prefix}{name}",
        role=ALTERNATIVE,
        kind=LeftOutKind.OTHER_VERSION,
        transforms=read.transforms,
    )
    body_words = Counter(message.both.split())
    return [
        extract
        for extract in (version, *read.extracts_apart(f"{prefix}{name}, "))
        if not _is_repeated(extract.text, body_words)
    ]


def _is_repeated(text: str, other_words: Counter[str]) -> bool:
    """Return whether nearly all words of a text occur in another text, as often as here."""
    text_words = Counter(text.split())
    return (text_words & other_words).total() >= _SAME_WORDS * text_words.total()


class _LeafText(NamedTuple):
    """The text of a part of a message.

    Attributes:
        decoded: The visible text, and how it was decoded.
        transforms: Transforms of the text.
        page: The texts of an HTML page; None for plain text.
    """

    decoded: DecodedText
    transforms: tuple[Transform, ...]
    page: PageText | None

    @property
    def both(self) -> str:
        """The text, followed by the messages that the HTML page marks as quoted."""
        quoted = "" if self.page is None else self.page.quoted
        return f"{self.decoded.text}\n\n{quoted}" if quoted.strip() else self.decoded.text

    def extracts_apart(self, prefix: str) -> list[Extract]:
        """Return hidden text and form fields of a page as parts."""
        return [] if self.page is None else self.page.extracts_apart(self.decoded, prefix)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Content of a page that was not read."""
        return () if self.page is None else self.page.left_out


def _text(leaf: EmailMessage, options: ReadOptions) -> _LeafText:
    raw = leaf.get_payload(decode=True)
    encoded = raw if isinstance(raw, bytes) else b""
    declared = leaf.get_content_charset()
    decoded = decode(encoded, choice=options.encoding, declared=declared)
    transforms: tuple[Transform, ...] = ()
    text = decoded.text.replace("\r\n", "\n")
    page: PageText | None = None
    if leaf.get_content_type() == "text/html":
        page = read_page(text, mail=True)
        text, transforms = page.text, page.transforms
    elif str(leaf.get_param("format", "")).lower() == "flowed":
        text, count = _unflow(text, delete=str(leaf.get_param("delsp", "")).lower() == "yes")
        if count:
            transforms = (Transform(name="flowed-joined", count=count),)
    return _LeafText(replace(decoded, text=text), transforms, page)


def _unflow(text: str, *, delete: bool) -> tuple[str, int]:
    """Undo format=flowed (RFC 3676): a line that ends in a space continues in the next one."""
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
    """Split a body into the writer's text, quoted passages and hidden text."""
    read = _text(body, options)
    decoded, transforms = read.decoded, read.transforms
    has_page_quotes = read.page is not None and bool(read.page.quoted.strip())
    text, armour = _without_armour(decoded.text)
    split = split_quoted(text, page_quotes_removed=has_page_quotes)
    own_text, left_out = split.own, (*read.left_out, *armour)
    if signature := _SIGNATURE.search(own_text):
        left_out = (*left_out, LeftOut.of_text(LeftOutKind.SIGNATURE, signature[0]))
        own_text = own_text[: signature.start()]
    announcing = "\n".join(split.announcing)
    if announcing.strip():
        # Date and author of the quoted message; not the writer's own words.
        left_out = (*left_out, LeftOut.of_text(LeftOutKind.HEADER, announcing))
    passages = list(split.quoted)
    if read.page is not None and has_page_quotes:
        passages.append(read.page.quoted)
    extracts = []
    if own_text.strip():
        extracts.append(
            Extract.of(decoded, own_text.strip("\n"), f"{prefix}body", transforms=transforms)
        )
    for number, passage in enumerate((passage for passage in passages if passage.strip()), 1):
        plain = _QUOTE.sub("", passage).strip("\n")
        if plain.strip():
            passage_transforms = transforms
            if plain != passage.strip("\n"):
                stripped = Transform(name="quote-marks-removed", count=passage.count("\n") + 1)
                passage_transforms = (*transforms, stripped)
            part = f"{prefix}{_FIRST_QUOTED} {number}"
            extracts.append(
                Extract.of(decoded, plain, part, role=QUOTED, transforms=passage_transforms)
            )
    extracts += read.extracts_apart(prefix)
    if not extracts and armour:
        extracts.append(_without_body(list(armour), f"{prefix}body"))
    if extracts and left_out:
        extracts[0] = replace(extracts[0], left_out=left_out)
    return extracts


def _without_armour(text: str) -> tuple[str, tuple[LeftOut, ...]]:
    """Remove OpenPGP blocks from a text; return it with an entry for each block."""
    entries: list[LeftOut] = []

    def entry(block: re.Match[str]) -> str:
        is_sealed = block[1] == "MESSAGE"
        kind = LeftOutKind.ENCRYPTED if is_sealed else LeftOutKind.SIGNATURE
        entries.append(LeftOut(kind=kind, words=None if is_sealed else 0, location="OpenPGP"))
        return ""

    if "-----BEGIN PGP " not in text:
        return text, ()
    opened = _SIGNED_HEAD.sub("", text)
    if opened != text:
        opened = _ESCAPED_DASH.sub("", opened)
    return _ARMOUR.sub(entry, opened), tuple(entries)


def _attached_text(leaf: EmailMessage, name: str, options: ReadOptions, prefix: str) -> Extract:
    read = _text(leaf, options)
    return Extract.of(
        read.decoded,
        read.both.strip("\n"),
        f"{prefix}attachment {name}",
        role=ATTACHMENT,
        transforms=read.transforms,
        left_out=() if read.page is None else read.page.entries_apart(),
    )


_FROM: Final = re.compile(
    rb"^From [^\r\n]*\r?\n(?=(?:>From [^\r\n]*\r?\n)?[!-9;-~]+[ \t]*:|\Z)", re.MULTILINE
)
_QUOTED_FROM: Final = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_mbox(mailbox: bytes, options: ReadOptions) -> list[Extract]:
    """Return the texts of all messages; parts are ``message 1, body`` and so on."""
    # A "From " inside a body follows a blank line only if a program forgot to quote it.
    if not mailbox.strip():
        return []
    marks = _marks(mailbox)
    extracts: list[Extract] = []
    ends = [m.start() for m in marks[1:]] + [len(mailbox)]
    for number, (mark, end) in enumerate(zip(marks, ends, strict=True), 1):
        message = _QUOTED_FROM.sub(rb"\1", mailbox[mark.end() : end])
        extracts += message_extracts(message, options, f"message {number}, ")
        if len(extracts) > MAX_PARTS:
            raise over("limit.texts", most=MAX_PARTS)
    return extracts


def _marks(mailbox: bytes) -> list[re.Match[bytes]]:
    return [
        m
        for m in _FROM.finditer(mailbox)
        if m.start() == 0
        or mailbox[max(0, m.start() - 4) : m.start()].endswith((b"\n\n", b"\n\r\n"))
    ]
