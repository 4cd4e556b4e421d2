"""E-mail: the body as its reader sees it, quoted passages apart, attachments that are text.

Headers, signatures of the transport and pictures are left out. The plain version of a message is
taken where there is one, since the HTML version is made from it by the writer's program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, Message
from email.parser import BytesParser
from typing import Final, cast

from pura.documents.encodings import Decoded, decode
from pura.documents.limits import MAX_MAIL_DEPTH, MAX_MAIL_PARTS, over
from pura.documents.readers.html import visible
from pura.documents.values import ATTACHMENT, MAIN, QUOTED, Extract, ReadOptions, Transform

_QUOTE: Final = re.compile(r"^ ?>[> ]*", re.MULTILINE)
_SAYS: Final = re.compile(
    r"(On|Am|Le|El|Il) .{5,200}(wrote|schrieb[^\n]{0,80}|a écrit|escribió|ha scritto) ?:\s*$"
)
_ORIGINAL: Final = re.compile(
    r"-{2,} ?(Original Message|Forwarded message|Ursprüngliche Nachricht|Weitergeleitete "
    r"Nachricht) ?-{2,}\s*$"
)
_SIGNATURE: Final = re.compile(r"\n-- \n.*\Z", re.DOTALL)
_FIRST_QUOTED: Final = "quoted"


def read(data: bytes, options: ReadOptions) -> list[Extract]:
    """Return body, quoted passages and text attachments of one message."""
    return message_extracts(data, options, "")


def message_extracts(data: bytes, options: ReadOptions, prefix: str) -> list[Extract]:
    """Return the texts of one message; part names begin with ``prefix``."""
    message = BytesParser(policy=policy.default).parsebytes(data)
    leaves = list(_leaves(message))
    body = _body(leaves)
    extracts: list[Extract] = []
    if body is not None:
        extracts += _split(body, options, prefix)
    notes: list[str] = []
    for leaf in leaves:
        if leaf is body or _is_alternative(leaf, body):
            continue
        if (attached := _attachment(leaf, options, prefix)) is not None:
            extracts.append(attached)
        else:
            notes.append(f"Left out: {leaf.get_content_type()[:80]}.")
    if extracts and notes:
        from dataclasses import replace

        extracts[0] = replace(extracts[0], notes=(*extracts[0].notes, *sorted(set(notes))[:20]))
    return extracts


def _leaves(message: Message) -> Iterator[EmailMessage]:
    """Yield all parts that are no containers, without recursion and with bounds."""
    stack: list[tuple[Message, int]] = [(message, 0)]
    count = 0
    while stack:
        part, depth = stack.pop()
        count += 1
        if depth > MAX_MAIL_DEPTH:
            raise over("limit.mail-depth", most=MAX_MAIL_DEPTH)
        if count > MAX_MAIL_PARTS:
            raise over("limit.mail-parts", most=MAX_MAIL_PARTS)
        inside = part.get_payload()
        if isinstance(inside, list):
            stack += [(c, depth + 1) for c in reversed(inside) if isinstance(c, Message)]
        else:
            yield cast("EmailMessage", part)


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


def _text(leaf: EmailMessage, options: ReadOptions) -> tuple[Decoded, tuple[Transform, ...]]:
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
            note = f"{count} soft line ends of format=flowed joined"
            transforms = (Transform(name="flowed-joined", count=count, note=note),)
    return Decoded(text=text, encoding=decoded.encoding, source=decoded.source), transforms


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
    cut = 0
    if found := _SIGNATURE.search(text):
        cut = found[0].count("\n") - 1
        text = text[: found.start()]
    own, quoted = _passages(text)
    notes = (f"A signature of {cut} lines was left out.",) if cut else ()
    extracts = []
    if own.strip():
        extracts.append(_part(own, f"{prefix}body", MAIN, decoded, transforms, notes))
    for number, passage in enumerate(quoted, 1):
        stripped = Transform(
            name="quote-marks-removed",
            count=passage.count("\n") + 1,
            note="quote marks at line starts removed",
        )
        plain = _QUOTE.sub("", passage).strip("\n")
        if plain.strip():
            name = f"{prefix}{_FIRST_QUOTED} {number}"
            extracts.append(_part(plain, name, QUOTED, decoded, (*transforms, stripped), ()))
    return extracts


def _part(
    text: str,
    part: str,
    role: str,
    decoded: Decoded,
    transforms: tuple[Transform, ...],
    notes: tuple[str, ...],
) -> Extract:
    return Extract(
        text=text.strip("\n"),
        part=part,
        role=role,
        encoding=decoded.encoding,
        encoding_source=decoded.source,
        transforms=transforms,
        notes=notes,
    )


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
    name = (leaf.get_filename() or leaf.get_content_type()).replace("\n", " ")[:120]
    return _part(decoded.text, f"{prefix}attachment {name}", ATTACHMENT, decoded, transforms, ())
