"""Writing numbers, shares and dates in each language, and escaping control characters in names."""

from __future__ import annotations

import datetime as dt
import json
import math
import unicodedata
from dataclasses import dataclass
from typing import Final

from pura.base.paths import resource


def visible(text: str) -> str:
    r"""Escape a text to one line of printable characters; different texts stay different.

    A text of printable characters is returned unchanged. In any other text, unprintable characters
    are escaped as in Python (``\n``, ``\x1b``, ``\u202e``; bytes of a file name that are not UTF-8
    as ``\udc80`` to ``\udcff``), and backslashes are doubled.

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
    """Escape unprintable characters of a text except newlines, tabs and special blanks."""
    if text.isprintable():
        return text
    return "".join(
        c
        if c.isprintable() or c in "\n\t" or unicodedata.category(c) == "Zs"
        else c.encode("unicode_escape").decode()
        for c in text
    )


@dataclass(frozen=True, kw_only=True)
class Language:
    """Conventions of a language for numbers and dates.

    Attributes:
        name: Name of the language in that language.
        group: Separator of thousands.
        point: Decimal separator.
        one_in: Format of a chance.
        over: Format of a number above the largest that is written.
        under: Format of a number below the smallest that is written.
        least: Prefix of a lower bound.
        months: Names of the months, separated by blanks.
        day: Format of day, month and year.
    """

    name: str
    group: str
    point: str
    one_in: str
    over: str
    under: str
    least: str
    months: str
    day: str


def _spoken() -> dict[str, Language]:
    folders = [folder for folder in resource("languages").iterdir() if folder.is_dir()]
    names = sorted((folder.name for folder in folders), key=lambda name: (name != "en", name))
    return {
        name: Language(**json.loads((resource("languages", name) / FILE).read_text("utf-8")))
        for name in names
    }


FILE: Final = "language.json"
SPOKEN: Final = _spoken()
"""The languages of the program, English first: one folder each (CONTRIBUTING.md, "Another
language")."""
LANGUAGES: Final = tuple(SPOKEN)
_SUPERSCRIPT: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_POWER_FROM: Final = 15  # exponent from which a number is written as a power of ten
_WEIGHT_DIGITS: Final = 4  # decimals of a posterior weight
# Tolerance for rounding errors, so that 10**2.9999999999999996 counts as 1,000, and 0.95 as 95 %.
_HAIR: Final = 1e-9


def pointed(text: str, language: str) -> str:
    """Convert decimal point and minus sign of a number to those of the language."""
    return text.replace(".", SPOKEN[language].point).replace("-", "\N{MINUS SIGN}")


def count(number: int, language: str) -> str:
    """Write an integer with separated thousands: ``1,000`` or ``1.000``."""
    return f"{number:,}".replace(",", SPOKEN[language].group)


def ratio(likelihood_ratio: float, language: str) -> str:
    """Write a likelihood ratio with one significant figure, rounded towards 1.

    Raises:
        ValueError: The ratio is not a positive finite number.
    """
    if not (math.isfinite(likelihood_ratio) and likelihood_ratio > 0):
        raise ValueError("not a likelihood ratio")
    exponent = math.floor(math.log10(likelihood_ratio) + _HAIR)
    lead = likelihood_ratio / 10.0**exponent
    digit = math.floor(lead + _HAIR) if likelihood_ratio >= 1 else math.ceil(lead - _HAIR)
    return _one_figure(digit, exponent, language)


def chance(probability: float, language: str) -> str:
    """Write a probability as an upper bound: one significant figure, rounded up.

    Probabilities of at least 1 % are written as a decimal, smaller ones as ``1 in 100,000``.

    Raises:
        ValueError: The probability is not in (0, 1].
    """
    if not 0 < probability <= 1:
        raise ValueError("not a probability above 0")
    if probability >= 0.01:
        exponent = math.floor(math.log10(probability) + _HAIR)
        digit = math.ceil(probability / 10.0**exponent - _HAIR)
        return _one_figure(digit, exponent, language)
    # In logarithms: 1 / value overflows for the smallest floats.
    size = -math.log10(probability)
    exponent = math.floor(size + _HAIR)
    digit = max(1, math.floor(10 ** (size - exponent) + _HAIR))
    return SPOKEN[language].one_in.format(_one_figure(digit, exponent, language))


def percent(value: float, language: str) -> str:
    """Write a share as a lower bound: whole per cent without the sign, rounded down.

    Raises:
        ValueError: The share is not in [0, 1].
    """
    return count(math.floor(_share(value) * 100 + _HAIR), language)


def share(value: float, language: str) -> str:
    """Write a share as whole per cent with the sign; 0 % and 100 % only if they are exact.

    Raises:
        ValueError: The share is not in [0, 1].
    """
    percentage = round(_share(value) * 100)
    if 0 < value < 1:
        percentage = min(max(percentage, 1), 99)
    return f"{count(percentage, language)} %"


def weight(value: float, language: str) -> str:
    """Write a posterior weight with at most four decimals, rounded down; 0 and 1 only if exact.

    Raises:
        ValueError: The weight is not in [0, 1].
    """
    steps = 10**_WEIGHT_DIGITS
    units = math.floor(_share(value) * steps + _HAIR)
    if value > 0 and units == 0:
        return SPOKEN[language].under.format(_decimal(1, language))
    # Sums of floats end slightly below 1; they are written as "over", not as an exact number.
    if value < 1 and value * steps > steps - 1 + _HAIR:
        return SPOKEN[language].over.format(_decimal(steps - 1, language))
    return _decimal(units, language)


def date(iso_date: str, language: str) -> str:
    """Write the day of an ISO 8601 date or moment: ``14 March 2026`` or ``14. März 2026``.

    Raises:
        ValueError: Not ISO 8601.
    """
    day = dt.datetime.fromisoformat(iso_date)
    month = SPOKEN[language].months.split()[day.month - 1]
    return SPOKEN[language].day.format(day.day, month, day.year)


def moment(iso_moment: str, language: str, *, seconds: bool = True) -> str:
    """Write an ISO 8601 moment in UTC, ``14 March 2026, 09:26:53 UTC``; empty gives a dash.

    Raises:
        ValueError: Not ISO 8601.
    """
    if not iso_moment:
        return "–"
    instant = dt.datetime.fromisoformat(iso_moment)
    instant = instant.astimezone(dt.UTC) if instant.tzinfo else instant
    return (
        f"{date(instant.isoformat(), language)}, {instant:{'%H:%M:%S' if seconds else '%H:%M'}} UTC"
    )


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError("not a share")
    return value


def _decimal(steps: int, language: str) -> str:
    integer_part, rest = divmod(steps, 10**_WEIGHT_DIGITS)
    digits = f"{rest:0{_WEIGHT_DIGITS}d}".rstrip("0")
    return f"{integer_part}{SPOKEN[language].point}{digits}" if digits else str(integer_part)


def _one_figure(digit: int, exponent: int, language: str) -> str:
    if digit == 10:
        digit, exponent = 1, exponent + 1
    if exponent >= _POWER_FROM:
        return f"{digit} × 10{str(exponent).translate(_SUPERSCRIPT)}"
    if exponent >= 0:
        return count(digit * 10**exponent, language)
    return f"0{SPOKEN[language].point}{'0' * (-exponent - 1)}{digit}"
