"""The words of a report that are no findings: headings, names of fields, remarks on the method.

Findings come from the sentence catalogue alone (:mod:`pura.words.sentences`).
"""

from __future__ import annotations

import json
from functools import cache
from typing import Final

from pura.base.resources import resource

LANGUAGES: Final = ("en", "de")


class Labels:
    """The words of one language.

    Args:
        language: ``en`` or ``de``.
    """

    def __init__(self, language: str) -> None:
        self.language = language
        self._place = LANGUAGES.index(language)

    def __call__(self, key: str, **values: str | int) -> str:
        """Return a text with its blanks filled.

        Raises:
            KeyError: There is no such text.
        """
        text = catalogue()[key][self._place]
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text

    def given(self, text: str) -> str:
        """Return a field, or that it was not given."""
        return text.strip() or self("not-given")

    def yes(self, found: bool) -> str:
        """Return yes or no."""
        return self("yes" if found else "no")


@cache
def catalogue() -> dict[str, tuple[str, str]]:
    """Return every text by its key, English and German."""
    found = json.loads(resource("report", "labels.json").read_text(encoding="utf-8"))
    return {key: (pair[0], pair[1]) for key, pair in found.items()}
