"""What the child and its parent say of a file that cannot be read: the same words on both sides."""

from __future__ import annotations

from pura.base.catalogue import Phrase
from pura.base.errors import InputError
from pura.documents import limits
from pura.documents.values import Extract


def check(extracts: list[Extract]) -> None:
    """Refuse an answer that is over a limit.

    Raises:
        InputError: Too many parts or characters.
    """
    if len(extracts) > limits.MAX_PARTS:
        raise limits.over("limit.texts", most=limits.MAX_PARTS)
    if sum(len(e.text) for e in extracts) > limits.MAX_TOTAL_CHARACTERS:
        raise limits.over("limit.characters", most=limits.MAX_TOTAL_CHARACTERS)


def memory() -> InputError:
    """Return the refusal of a file that needs too much memory."""
    return limits.over("limit.memory", mebibytes=limits.CHILD_MEMORY_BYTES >> 20)


def deep() -> InputError:
    """Return the refusal of a file that is nested too deeply."""
    return limits.over("limit.deep")


def outside() -> InputError:
    """Return the refusal of a file that made its parser reach outside."""
    return InputError("input.outside", code="input-outside")


def damaged(label: str, why: Phrase | None = None) -> InputError:
    """Return the refusal of a file that its parser cannot understand, with the reason if known."""
    if why is None:
        return InputError("input.damaged", label=label, code="input-damaged")
    return InputError("input.damaged-why", label=label, why=why, code="input-damaged")
