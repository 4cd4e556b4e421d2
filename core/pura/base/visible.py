"""Names and other foreign words, written so that they can steer nothing that shows them.

A file name is any bytes, a part of a file is called what its author liked. Both end in terminals,
JSON rows, databases and reports; there a newline, an escape sequence, a change of direction or a
byte that is no character would do harm or stop the run.
"""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    r"""Return one line of printable characters that stands for a text, and for no other one.

    A text of printable characters stays as it is. In any other the characters that cannot be
    printed are written as Python writes them (``\n``, ``\x1b``, ``\u202e``; bytes of a file name
    that are no UTF-8 as ``\udc80`` to ``\udcff``), and a backslash as two.

    Examples:
        >>> print(visible("letter" + chr(0x202E) + "txt.pdf"))
        letter\u202etxt.pdf
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() and c != "\\" else c.encode("unicode_escape").decode() for c in text
    )


def visible_lines(text: str) -> str:
    """Return a text whose lines may be printed: newlines, tabs and odd blanks stay as they are."""
    if text.isprintable():
        return text
    return "".join(
        c
        if c.isprintable() or c in "\n\t" or unicodedata.category(c) == "Zs"
        else c.encode("unicode_escape").decode()
        for c in text
    )
