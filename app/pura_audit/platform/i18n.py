"""Texts of the window: translation, numbers and the language of the findings.

Every text is wrapped in ``translate("Context", "text")``, the call that Qt's ``lupdate`` collects.
What varies in it is a blank, written as in the catalogue of words: ``{name:kind}``; :func:`filled`
puts the values in. The translations stand in the folder of their language; ``make translations``
brings them up to date.
"""

from __future__ import annotations

import logging
import math
from operator import index
from typing import Final

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from pura.base import numerals
from pura.base.catalogue import Catalogue, catalogue
from pura.base.errors import PuraError
from pura.base.paths import resource

translate = QCoreApplication.translate

CATALOGUES: Final = tuple(name for name in numerals.LANGUAGES if name != "en")  # in the code

WINDOW: Final = "window"
"""Name of the translation of the window, without its ending."""
_CATALOGUE: Final = Catalogue({})  # the window's texts have no keys
_language: list[str] = []
_translators: list[QTranslator] = []
_log = logging.getLogger(__name__)


def language() -> str:
    """Return the language of the window and of the findings, one of ``numerals.LANGUAGES``."""
    if _language:
        return _language[0]
    system = QLocale().name().partition("_")[0]
    return system if system in numerals.LANGUAGES else "en"


def set_language(name: str | None) -> None:
    """Fix the language, or follow the system again with None.

    Texts on screen do not change by themselves; the views have to be built again.
    """
    _language[:] = [name] if name else []
    system = QLocale.system()
    locale = QLocale(name) if name else system
    # The system's own format of numbers and dates stays where it speaks the same language.
    QLocale.setDefault(system if locale.language() == system.language() else locale)
    _install()


def _install() -> None:
    """Let Qt translate the window's texts, and its own, into the language."""
    app = QCoreApplication.instance()
    if app is None:
        return
    for translator in _translators:
        app.removeTranslator(translator)
    _translators.clear()
    name = language()
    if name not in CATALOGUES:
        return
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    # Asked last to first: what the window says goes before what Qt says.
    for file, directory in ((f"qtbase_{name}", folder), (WINDOW, _folder(name))):
        translator = QTranslator()
        if translator.load(file, directory):
            app.installTranslator(translator)
            _translators.append(translator)
        else:
            _log.warning("the translation %s cannot be read", file)


def _folder(language: str) -> str:
    try:
        return str(resource("languages", language))
    except FileNotFoundError:
        return ""


def error_words(error: PuraError) -> str:
    """Return what happened and the way out, in the language of the window."""
    return " ".join(filter(None, error.words(language())))


def filled(text: str, /, **blanks: str | int) -> str:
    """Return a text with its blanks filled, as the catalogue of words fills its own.

    The text is translated before: ``filled(translate("Cases", "Opened by {who:text}"), who=name)``.
    ``lupdate`` would not collect a ``translate`` that takes more than two arguments.

    Raises:
        FillError: A value is missing or does not fit.
    """
    # Counts of arrays are integers of numpy's, which the catalogue does not take.
    plain = {name: v if isinstance(v, str) else index(v) for name, v in blanks.items()}
    return _CATALOGUE.fill_text(text, language(), plain)


def quoted(name: str) -> str:
    """Return a name in the quotation marks of the language."""
    return catalogue("command").fill("quoted", language(), {"name": name})


def number(count: int) -> str:
    """Write a whole number, its thousands apart as in the findings."""
    return numerals.count(count, language())


def moment(time: str) -> str:
    """Write an ISO 8601 time, UTC, in the format of findings; return anything else as it is."""
    try:
        if not time[10:]:
            return numerals.date(time, language())
        return numerals.moment(time, language(), seconds=False)
    except ValueError:
        return time


def decimal(figure: float, digits: int = 2) -> str:
    """Write a number with a proper minus sign and the language's decimal mark; – for none."""
    if math.isnan(figure):
        return "–"
    text = f"{figure:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return _written(text)


def short(figure: float) -> str:
    """Write a number in its shortest form, as it can be typed again."""
    return _written(f"{figure:g}")


def power(figure: float, digits: int) -> str:
    """Write a number with a power of ten, however small it is."""
    return _written(f"{figure:.{digits}e}")


def _written(text: str) -> str:
    return numerals.pointed(text, language())


def signed(figure: float, digits: int = 2) -> str:
    """Write a number with its sign, plus included."""
    text = decimal(figure, digits)
    return text if text.startswith("\N{MINUS SIGN}") else f"+{text}"


def size(count: int) -> str:
    """Write a number of bytes for people."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{decimal(count / 1000, 1)} kB"
    if count < 1_000_000_000:
        return f"{decimal(count / 1_000_000, 1)} MB"
    return f"{decimal(count / 1_000_000_000, 1)} GB"


def duration(seconds: float) -> str:
    """Write a duration roughly, in seconds, minutes or hours."""
    if seconds < 90:
        return filled(translate("Units", "{n:text} s"), n=max(1, round(seconds)))
    if seconds < 5400:
        return filled(translate("Units", "{n:text} min"), n=round(seconds / 60))
    return filled(translate("Units", "{n:text} h"), n=decimal(seconds / 3600, 1))
