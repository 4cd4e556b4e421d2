"""What callers of the library pass: a value of another type is refused by the argument's name.

An error from inside would speak of something else: of an attribute of the value, or of a file that
nobody meant. Only the type of the value is named, since it may be a text or a key.
"""

from __future__ import annotations

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import PuraError


class ArgumentError(PuraError, TypeError):
    """An argument of a function has a type that it does not take."""

    code = "argument"


def argument_error(
    name: str, argument: object, expected: str, *, code: str | None = None
) -> ArgumentError:
    """Return the error that names an argument, what came, and what is wanted.

    Args:
        name: Of the argument.
        argument: What was passed; its type is named.
        expected: What it takes, a key below ``argument`` in the volume ``errors``.
        code: As of any error.
    """
    return ArgumentError(
        "argument.type",
        name=name,
        came=type_words(argument),
        wanted=phrase(f"argument.{expected}"),
        code=code,
    )


def type_words(argument: object) -> Phrase:
    """Return what an argument is, without saying it."""
    if argument is None:
        return phrase("argument.came-none")
    kind = type(argument)
    home = kind.__module__.partition(".")[0]
    type_name = kind.__qualname__ if home in ("builtins", "pura") else f"{home}.{kind.__qualname__}"
    return phrase("argument.came", kind=type_name)


def check_argument(
    name: str,
    argument: object,
    kinds: type | tuple[type, ...],
    expected: str,
    *,
    code: str | None = None,
) -> None:
    """Refuse an argument of another type; True and False are no numbers.

    Args:
        name: Of the argument.
        argument: What was passed.
        kinds: The types that it takes.
        expected: See :func:`argument_error`.
        code: As of any error.

    Raises:
        ArgumentError: Names the argument, the type that came, and what is wanted.
    """
    listed = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(argument, listed) or (isinstance(argument, bool) and bool not in listed):
        raise argument_error(name, argument, expected, code=code)


def truth_error(kind: str) -> ArgumentError:
    """Return the error of asking whether a finding is true, as in ``if audit:``.

    Python would call every finding true, those without a mark included.

    Args:
        kind: Name of its class.
    """
    return ArgumentError("argument.no-truth", kind=kind, code="truth")
