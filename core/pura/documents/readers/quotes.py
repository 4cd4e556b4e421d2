"""Quotations in mails of the message that they answer, in the languages that mailers use.

Quotations are lines that begin with ``>``, everything below the headers of another message, and
everything below a line such as "On Monday, Anna wrote:" with a time or an address. Such headers and
lines belong to neither text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_WROTE: Final = (
    r"wrote|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|skrev|kirjoitti|"
    r"napisała?|napisał\(a\)|napsala?|írta|a scris|έγραψε|пишет|писала?|написала?|написал\(а\)|"
    r"написав|yazdı|כתב|كتب|写道|寫道|のメール|が書きました|작성"
)
_ADDRESS: Final = r"[<(\[][^<>()\[\]\s]+@[^<>()\[\]\s]+[>)\]]"
_ANNOUNCES: Final = re.compile(
    rf"\s*\S.{{4,300}}(?:(?:{_WROTE})[^\n]{{0,100}}|{_ADDRESS}) ?[:：]\s*$", re.IGNORECASE
)
_MOMENT_OR_ADDRESS: Final = re.compile(rf"{_ADDRESS}|\S@\S+\.\S|\d{{1,2}}[:.]\d{{2}}\b")
_DIGIT: Final = re.compile(r"\d")
_LONGEST_ANNOUNCEMENT: Final = 420  # characters
_ANNOUNCING_LINES: Final = 3  # over which mailers break the line that announces a quotation
_RULE: Final = re.compile(r"\s*(?:-{2,} ?[^-\n]{4,60}? ?-{2,}|_{10,}|[^\n]{5,60}:)\s*$")
"""A line that mailers write above the headers of the quoted message."""
_ORIGINAL: Final = re.compile(
    r"\s*-{2,} ?(?:Original Message|Forwarded message|Ursprüngliche Nachricht|Weitergeleitete "
    r"Nachricht|Message d.origine|Message transféré|Mensaje original|Mensaje reenviado|"
    r"Messaggio originale|Messaggio inoltrato|Mensagem original|Mensagem encaminhada|"
    r"Oorspronkelijk bericht|Doorgestuurd bericht|Ursprungligt meddelande|Oprindelig meddelelse|"
    r"Opprinnelig melding|Alkuperäinen viesti|Wiadomość oryginalna|Původní zpráva|"
    r"Исходное сообщение|Пересылаемое сообщение|原始邮件|原始郵件|元のメッセージ|"
    r"원본 메시지) ?-{2,}\s*$",
    re.IGNORECASE,
)
_FROM: Final = (
    r"from|von|de|da|van|från|fra|od|от|від|kimden|gönderen|από|lähettäjä|feladó|expéditeur|"
    r"remitente|mittente|差出人|发件人|寄件者|보낸 ?사람|מאת|من"
)
_OTHERS: Final = (
    r"sent|date|to|cc|subject|gesendet|datum|an|betreff|kopie|envoyé|à|objet|enviad[oa]( em)?|"
    r"fecha|para|asunto|assunto|data|inviato|a|oggetto|verzonden|aan|onderwerp|skickat|till|ämne|"
    r"sendt|til|emne|dato|wysłano|do|temat|odesláno|komu|předmět|отправлено|дата|кому|тема|"
    r"gönderilme tarihi|gönderildi|tarih|kime|konu|lähetetty|päivämäärä|vastaanottaja|aihe|"
    r"elküldve|címzett|tárgy|送信日時|日時|宛先|件名|发送时间|收件人|主题|日期|寄件日期|收件者|主旨|"
    r"보낸 ?날짜|날짜|받는 ?사람|제목|ημερομηνία|προς|θέμα|trimis|către|subiect"
)
_FROM_LINE: Final = re.compile(rf"[\s*]*(?:{_FROM})[\s*]*[:：][\s*]*\S", re.IGNORECASE)
_OTHER_LINE: Final = re.compile(rf"[\s*]*(?:{_OTHERS})[\s*]*[:：]", re.IGNORECASE)
_HEADER_LINES: Final = 7  # lines below the first header that are searched for further headers
_LEAST_HEADERS: Final = 2  # further headers after the first one


@dataclass
class QuotedSplit:
    """The parts of a mail's text.

    Attributes:
        own: Text of the writer.
        quoted: Quoted passages, with their ``>``.
        announcing: Lines that announce a quotation, or separate it from the text of the writer.
    """

    own: str = ""
    quoted: list[str] = field(default_factory=list)
    announcing: list[str] = field(default_factory=list)


def split_quoted(text: str, *, page_quotes_removed: bool = False) -> QuotedSplit:
    """Split the text of a mail into the text of its writer and quotations.

    Args:
        text: Text of the body.
        page_quotes_removed: Passages that the HTML page marks as quoted have been removed.
            A line that announces a quotation is then no evidence for the text below it.
    """
    split = QuotedSplit()
    lines = text.split("\n")
    own_lines: list[str] = []
    passage: list[str] | None = None
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.lstrip(" ").startswith(">"):
            if passage is None:
                passage = []
            passage.append(line)
            number += 1
            continue
        if passage is not None:
            split.quoted.append("\n".join(passage))
            passage = None
        if begin := _other_message(lines, number):
            split.announcing += lines[number:begin]
            split.quoted.append("\n".join(lines[begin:]))
            break
        if count := _announcing(lines, number):
            split.announcing += lines[number : number + count]
            number += count
            rest = lines[number:]
            if not page_quotes_removed and not _is_marked(rest):
                split.quoted.append("\n".join(rest))
                break
            continue
        own_lines.append(line)
        number += 1
    if passage is not None:
        split.quoted.append("\n".join(passage))
    split.own = "\n".join(own_lines)
    if split.quoted or split.announcing:
        # The lines around a removed quotation are now adjacent.
        split.own = re.sub(r"\n{3,}", "\n\n", split.own)
    return split


def announces(line: str) -> bool:
    """Return whether a line announces a quoted message, with its time or address."""
    return _says_who_wrote(line) and bool(_MOMENT_OR_ADDRESS.search(line))


def _says_who_wrote(line: str) -> bool:
    line = line.rstrip()
    is_candidate = line.endswith((":", "：")) and len(line) <= _LONGEST_ANNOUNCEMENT
    return is_candidate and bool(_ANNOUNCES.match(line))


def _is_marked(lines: list[str]) -> bool:
    """Return whether these lines begin with a passage marked by ``>``."""
    return any(line.lstrip(" ").startswith(">") for line in lines[:2])


def _announcing(lines: list[str], number: int) -> int:
    """Return the number of lines, from a line on, that announce a quotation; may be 0."""
    for count in range(1, _ANNOUNCING_LINES + 1):
        pieces = [line.strip() for line in lines[number : number + count]]
        if not pieces[0] or not _says_who_wrote(" ".join(pieces)):
            continue
        if count > 1 and not _is_broken(pieces):
            return 0  # the announcement begins further down
        marked = _is_marked(lines[number + count :])
        return count if marked or announces(" ".join(pieces)) else 0
    return 0


def _is_broken(pieces: list[str]) -> bool:
    """Return whether lines are one broken announcement, with the date on the first line."""
    if not _DIGIT.search(pieces[0]) or pieces[0].endswith((".", "!", "?")):
        return False
    shorter = (" ".join(pieces[first:]) for first in range(1, len(pieces)))
    return not any(_says_who_wrote(line) and _DIGIT.search(line) for line in shorter)


def _has_headers(lines: list[str], number: int) -> bool:
    """Return whether the headers of another message begin at a line."""
    if not _FROM_LINE.match(lines[number]):
        return False
    below = lines[number + 1 : number + 1 + _HEADER_LINES]
    return sum(bool(_OTHER_LINE.match(line)) for line in below) >= _LEAST_HEADERS


def _other_message(lines: list[str], number: int) -> int:
    """Return the first line of another message, including its headers; 0 if there is none.

    A separator or a title above the headers belongs to neither message. A text that begins with a
    header is a memo of the writer.
    """
    if _has_headers(lines, number):
        return number
    if _ORIGINAL.match(lines[number]):
        return number + 1
    if _RULE.match(lines[number]):
        for below in range(number + 1, min(number + 4, len(lines))):
            if _has_headers(lines, below):
                return below
            if lines[below].strip():
                return 0
    return 0
