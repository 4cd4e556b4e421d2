"""What is chosen before an audit: candidate prompts, trusted certificates, rules, defaults.

It loads no arrays, so that the command knows its defaults at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pura.base.catalogue import phrase
from pura.base.errors import InputError
from pura.base.files import read_start, write_atomic
from pura.base.json_text import read_json
from pura.base.numerals import visible
from pura.base.paths import Paths
from pura.documents import ReadOptions, read_document
from pura.record.left_out import LEAVE_OUT


def read_candidates(path: Path) -> tuple[str, ...]:
    """Read a file of candidate prompts; see :func:`candidates_of`.

    Raises:
        InputError: It cannot be read, or holds none; a line that is none is named.
    """
    return candidates_of(read_document(path, options=ReadOptions(format="text")).chosen[0].text)


def candidates_of(text: str) -> tuple[str, ...]:
    """Read candidate prompts: one a line, or JSON lines with the field ``prompt``.

    JSON lines may hold prompts of several lines. Blank lines are left out, and what is there twice
    counts once.

    Raises:
        InputError: No candidate, or a line that is none; the line is named.
    """
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    as_json = bool(lines) and lines[0][1].lstrip().startswith("{")
    prompts = [_json_prompt(number, line) if as_json else line.strip() for number, line in lines]
    if not prompts:
        raise InputError("audit.prompts-none", code="prompts")
    return tuple(dict.fromkeys(prompts))


def _json_prompt(number: int, line: str) -> str:
    try:
        row = read_json(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise _bad_line(number, "audit.prompts-no-json")
    prompt = row.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        raise _bad_line(number, "audit.prompts-no-prompt")
    return prompt


def _bad_line(number: int, what: str) -> InputError:
    return InputError("audit.prompts-line", line=number, what=phrase(what), code="prompts")


def candidates_text(prompts: Iterable[str]) -> str:
    """Write candidates as :func:`candidates_of` reads them: plain lines where that is possible."""
    lines = list(prompts)
    if any(len(line.splitlines()) != 1 or line.strip() != line for line in lines) or (
        lines and lines[0].startswith("{")
    ):
        lines = [json.dumps({"prompt": line}, ensure_ascii=False) for line in lines]
    return "\n".join(lines)


EPOCHS: Final = ""
"""Epochs of keys that are tried where nobody says which: what the profile says."""
RESTORE: Final = True
"""Texts are also read with typographic substitutions undone."""
STOP_EARLY: Final = False
"""Reading goes on where the evidence has reached what is ever reported, unless the policy stops."""
WEIGH: Final = False
"""The model does not read texts for marks by others."""
MAX_TRUST_BYTES: Final = 1 << 20


def trusted(paths: Paths, chosen: Path | None = None) -> str:
    """Read the certificates whose signatures of manifests are trusted.

    Args:
        paths: Where the user's list is.
        chosen: Another file.

    Returns:
        Them in PEM; empty where there is no list.

    Raises:
        InputError: The file cannot be read, is too long, or holds no certificate.
    """
    if chosen is None and not paths.trust.is_file():
        return ""
    return read_trust(chosen or paths.trust)[0]


def count_trust(paths: Paths) -> int:
    """Return how many certificates the user's list holds.

    Raises:
        InputError: It holds none.
    """
    return read_trust(paths.trust)[1] if paths.trust.is_file() else 0


def keep_trust(paths: Paths, chosen: Path | None) -> int:
    """Make a file the user's list of certificates, or take the list away.

    Returns:
        How many certificates it holds.

    Raises:
        InputError: The file cannot be read, is too long, or holds no certificate.
        OSError: The folder cannot be written.
    """
    if chosen is None:
        paths.trust.unlink(missing_ok=True)
        return 0
    text, count = read_trust(chosen)
    write_atomic(paths.trust, text.encode("ascii"))
    return count


def read_trust(path: Path) -> tuple[str, int]:
    """Read a list of certificates.

    Returns:
        Them in PEM, and how many there are.

    Raises:
        InputError: The file cannot be read, is too long, or holds no certificate.
    """
    from cryptography import x509

    data = read_start(path, MAX_TRUST_BYTES, InputError)
    try:
        certificates = x509.load_pem_x509_certificates(data) if len(data) <= MAX_TRUST_BYTES else []
        if not certificates:
            raise ValueError
        return data.decode("ascii"), len(certificates)
    except ValueError:
        raise InputError("choice.trust", name=visible(path.name), code="usage") from None


def together(*rules: tuple[str, ...]) -> tuple[str, ...]:
    """Return what rules leave out together, in one order."""
    return tuple(name for name in LEAVE_OUT if any(name in rule for rule in rules))


def refuse_other_rules(names: Iterable[str]) -> None:
    """Refuse what no rule leaves out.

    Raises:
        InputError: A name is not in :data:`~pura.record.left_out.LEAVE_OUT`.
    """
    for name in names:
        if name not in LEAVE_OUT:
            known = ", ".join(LEAVE_OUT)
            raise InputError("choice.unknown", known=known, name=name, code="usage")
