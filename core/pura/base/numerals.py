"""How numbers, shares and dates are written, and foreign names so that they steer nothing."""

from __future__ import annotations

import datetime as dt
import json
import math
import unicodedata
from dataclasses import dataclass
from typing import Final

from pura.base.paths import resource


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


@dataclass(frozen=True, kw_only=True)
class Language:
    """How a language writes numbers and dates.

    Attributes:
        name: What it calls itself.
        group: Stands between thousands.
        point: Stands before a fraction.
        one_in: A chance.
        over: More than can be told.
        under: Less than can be told.
        least: Stands before a number that is a lower bound.
        months: Their names.
        day: Day, month, year.
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
    folders = [place for place in resource("languages").iterdir() if place.is_dir()]
    names = sorted((place.name for place in folders), key=lambda name: (name != "en", name))
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
_POWER_FROM: Final = 15  # from so many digits on a number is written as a power of ten
_WEIGHT_DIGITS: Final = 4
# A hair, so that 10**2.9999999999999996 counts as 1,000 and 0.95 as 95 %.
_HAIR: Final = 1e-9


def pointed(text: str, language: str) -> str:
    """Write digits with a point, and a sign, as the language does."""
    return text.replace(".", SPOKEN[language].point).replace("-", "\N{MINUS SIGN}")


def count(value: int, language: str) -> str:
    """Write a whole number with its thousands apart: ``1,000`` or ``1.000``."""
    return f"{value:,}".replace(",", SPOKEN[language].group)


def ratio(value: float, language: str) -> str:
    """Write a likelihood ratio with one significant figure, rounded towards 1.

    Raises:
        ValueError: Not a positive finite number.
    """
    if not (math.isfinite(value) and value > 0):
        raise ValueError("not a likelihood ratio")
    exponent = math.floor(math.log10(value) + _HAIR)
    lead = value / 10.0**exponent
    digit = math.floor(lead + _HAIR) if value >= 1 else math.ceil(lead - _HAIR)
    return _one_figure(digit, exponent, language)


def chance(value: float, language: str) -> str:
    """Write a probability that stands as an upper limit: one significant figure, rounded up.

    From 1 % on as a decimal, below as ``1 in 100,000``.

    Raises:
        ValueError: Not in (0, 1].
    """
    if not 0 < value <= 1:
        raise ValueError("not a probability above 0")
    if value >= 0.01:
        exponent = math.floor(math.log10(value) + _HAIR)
        digit = math.ceil(value / 10.0**exponent - _HAIR)
        return _one_figure(digit, exponent, language)
    # In logarithms: 1 / value overflows for the smallest floats.
    size = -math.log10(value)
    exponent = math.floor(size + _HAIR)
    digit = max(1, math.floor(10 ** (size - exponent) + _HAIR))
    return SPOKEN[language].one_in.format(_one_figure(digit, exponent, language))


def percent(value: float, language: str) -> str:
    """Write a share that was reached, as whole per cent without the sign, rounded down.

    Raises:
        ValueError: Not in [0, 1].
    """
    return count(math.floor(_share(value) * 100 + _HAIR), language)


def share(value: float, language: str) -> str:
    """Write a share as whole per cent with the sign; never 0 % or 100 % unless it is that.

    Raises:
        ValueError: Not in [0, 1].
    """
    whole = round(_share(value) * 100)
    if 0 < value < 1:
        whole = min(max(whole, 1), 99)
    return f"{count(whole, language)} %"


def weight(value: float, language: str) -> str:
    """Write a posterior weight with at most four decimals, rounded down; never 0 or 1 falsely.

    Raises:
        ValueError: Not in [0, 1].
    """
    steps = 10**_WEIGHT_DIGITS
    whole = math.floor(_share(value) * steps + _HAIR)
    if value > 0 and whole == 0:
        return SPOKEN[language].under.format(_decimal(1, language))
    # Float sums of weights end a hair under 1; they mean "over", not "exactly".
    if value < 1 and value * steps > steps - 1 + _HAIR:
        return SPOKEN[language].over.format(_decimal(steps - 1, language))
    return _decimal(whole, language)


def date(value: str, language: str) -> str:
    """Write the day of an ISO 8601 date or moment: ``14 March 2026`` or ``14. März 2026``.

    Raises:
        ValueError: Not ISO 8601.
    """
    day = dt.datetime.fromisoformat(value)
    month = SPOKEN[language].months.split()[day.month - 1]
    return SPOKEN[language].day.format(day.day, month, day.year)


def moment(value: str, language: str, *, seconds: bool = True) -> str:
    """Write an ISO 8601 moment in UTC: ``14 March 2026, 09:26:53 UTC``; a dash for none.

    Raises:
        ValueError: Not ISO 8601.
    """
    if not value:
        return "–"
    when = dt.datetime.fromisoformat(value)
    when = when.astimezone(dt.UTC) if when.tzinfo else when
    return f"{date(when.isoformat(), language)}, {when:{'%H:%M:%S' if seconds else '%H:%M'}} UTC"


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError("not a share")
    return value


def _decimal(steps: int, language: str) -> str:
    whole, rest = divmod(steps, 10**_WEIGHT_DIGITS)
    digits = f"{rest:0{_WEIGHT_DIGITS}d}".rstrip("0")
    return f"{whole}{SPOKEN[language].point}{digits}" if digits else str(whole)


def _one_figure(digit: int, exponent: int, language: str) -> str:
    if digit == 10:
        digit, exponent = 1, exponent + 1
    if exponent >= _POWER_FROM:
        return f"{digit} × 10{str(exponent).translate(_SUPERSCRIPT)}"
    if exponent >= 0:
        return count(digit * 10**exponent, language)
    return f"0{SPOKEN[language].point}{'0' * (-exponent - 1)}{digit}"
