"""What was done to read a profile file of an older version, in the window's words."""

from __future__ import annotations

from collections.abc import Sequence

from pura_audit.platform.i18n import translate


def stored_words(notes: Sequence[str]) -> list[str]:
    """Say of a stored file what was done to read it, and how it gets its present form."""
    words = {
        "version-1": translate(
            "Profiles",
            "Its file is of the first form (version 1): what it leaves out has the usual value. "
            "Edit and save it to bring it to the present form; its fingerprint stays.",
        ),
    }
    return [words[note] for note in notes]


def imported_words(notes: Sequence[str]) -> list[str]:
    """Say of a file that was imported in what form it came."""
    words = {
        "version-1": translate(
            "Profiles",
            "Its file was of the first form (version 1) and is stored in the present one; what "
            "it left out has the usual value.",
        ),
    }
    return [words[note] for note in notes]
