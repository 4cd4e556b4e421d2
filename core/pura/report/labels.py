"""The words of a report that are no findings: headings, names of fields, remarks on the method.

They stand in the volume ``report`` of the catalogue; findings come from :mod:`pura.words.sentences`
alone.
"""

from __future__ import annotations

from pura.base.catalogue import catalogue, check_language


class Labels:
    """The words of one language.

    Args:
        language: ``en`` or ``de``.
    """

    def __init__(self, language: str) -> None:
        check_language(language)
        self.language = language

    def __call__(self, key: str, **values: str | int) -> str:
        """Return a text with its blanks filled.

        Raises:
            KeyError: There is no such text.
        """
        return catalogue("report").fill(key, self.language, values)

    def given(self, text: str) -> str:
        """Return a field, or that it was not given."""
        return text.strip() or self("not-given")

    def yes(self, found: bool) -> str:
        """Return yes or no."""
        return self("yes" if found else "no")
