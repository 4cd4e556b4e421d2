"""What the child and its parent say of a file that cannot be read: the same words on both sides."""

from __future__ import annotations

from pura.base.errors import InputError
from pura.documents import limits
from pura.documents.values import Extract


def check(extracts: list[Extract]) -> None:
    """Refuse an answer that is over a limit.

    Raises:
        InputError: Too many parts or characters.
    """
    if len(extracts) > limits.MAX_PARTS:
        raise limits.over(f"The file holds more than {limits.MAX_PARTS:,} texts.")
    if sum(len(e.text) for e in extracts) > limits.MAX_TOTAL_CHARACTERS:
        raise limits.over(
            f"The texts of the file have more than {limits.MAX_TOTAL_CHARACTERS:,} characters."
        )


def memory() -> InputError:
    """Return the refusal of a file that needs too much memory."""
    return limits.over(
        f"Reading the file would take more than {limits.CHILD_MEMORY_BYTES >> 20} MiB of memory.",
        "Open it in the program that made it, and save the text as plain text.",
    )


def deep() -> InputError:
    """Return the refusal of a file that is nested too deeply."""
    return limits.over(
        "The file is nested too deeply to be read.",
        "Open it in the program that made it, and save the text as plain text.",
    )


def outside() -> InputError:
    """Return the refusal of a file that made its parser reach outside."""
    return InputError(
        "The file asks for other files or for the network, which is not allowed.",
        "Open it in the program that made it, and save the text as plain text.",
        code="input-outside",
    )


def damaged(label: str, kind: str) -> InputError:
    """Return the refusal of a file that its parser cannot understand."""
    return InputError(
        f"The file cannot be understood as {label} ({kind}); it may be damaged.",
        "Open it in the program that made it, and save it again, or as plain text.",
        code="input-damaged",
    )
