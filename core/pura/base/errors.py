"""The one family of errors that people get to read.

Each error names a text of the catalogue (its volume ``errors``) and the values of its
blanks; what happened and what it means stands there with the way out, in every language. The
command line, the window and the log print the same words. An error never carries the suspect text
or a key.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Self, TypeVar

from pura.base.catalogue import PRESENT, Phrase, Value, catalogue, packed, phrase, unpacked

_FILE: Final = "in_file"
_Error = TypeVar("_Error", bound="PuraError")


class PuraError(Exception):
    """Something the user can act on.

    Args:
        key: Its text in the volume ``errors`` of the catalogue.
        code: Stable identifier for programs; defaults to the class's own.
        **values: What the blanks of the text and of its way out hold.
    """

    code: str = "error"

    def __init__(self, key: str, /, *, code: str | None = None, **values: Value) -> None:
        super().__init__(key)
        self.key = key
        self.values = values
        if code is not None:
            self.code = code

    @property
    def message(self) -> str:
        """What happened and what it means, in English."""
        return self.words("en")[0]

    @property
    def hint(self) -> str:
        """The way out, in English; empty when there is none."""
        return self.words("en")[1]

    @property
    def phrase(self) -> Phrase:
        """What happened, to stand in the text of another error."""
        return Phrase(key=self.key, values=self.values)

    def in_file(self, file: str) -> Self:
        """Return the same error, that of a file: its words name it, first if nowhere else."""
        if self.values.get("name") == file:
            return self
        return type(self)(self.key, code=self.code, **{**self.values, _FILE: file})

    def words(self, language: str) -> tuple[str, str]:
        """Return what happened, and the way out, in a language.

        The texts are looked up here and not when the error is made, which may happen where no file
        can be opened any more.
        """
        texts = catalogue("errors")
        hint = texts[self.key].hint
        way_out = texts.fill(hint, language, self.values) if hint else ""
        happened = texts.fill(self.key, language, self.values)
        file = self.values.get(_FILE)
        return f"{file}: {happened}" if file else happened, way_out

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def __reduce__(self) -> tuple[object, ...]:
        """Cross a process boundary without losing values and code."""
        return (_rebuild, (type(self), self.key, self.code, self.values))

    def to_dict(self) -> dict[str, str]:
        """Return ``code``, ``message`` and ``hint`` for JSON output."""
        return {"code": self.code, "message": self.message, "hint": self.hint}

    def packed(self) -> dict[str, Any]:
        """Return key, code and values as JSON, for the process that started this one."""
        values = {name: packed(value) for name, value in self.values.items()}
        return {"key": self.key, "code": self.code, "values": values}

    @classmethod
    def unpacked(cls, data: Any) -> PuraError:
        """Read what :meth:`packed` returned in a process that is not trusted.

        Raises:
            ValueError, TypeError, KeyError: Anything that this program does not write.
        """
        key, more = PRESENT.get(data["key"], (str(data["key"]), {}))
        held = {**data["values"], **more}
        values = {str(name): unpacked(value) for name, value in held.items()}
        error = cls(key, code=str(data["code"]), **values)
        error.words("en")  # every key is known and every blank has its value, or it is refused
        return error


@contextmanager
def naming(file: str) -> Iterator[None]:
    """Have what goes wrong with a file name it."""
    try:
        yield
    except PuraError as error:
        raise error.in_file(file) from None


@contextmanager
def os_error_as(
    error: type[PuraError], key: str, /, *, code: str | None = None, **values: Value
) -> Iterator[None]:
    """Have what the system refuses be an error of ours, whose blank ``why`` says the reason.

    Args:
        error: What is raised.
        key: Its text.
        code: As of any error.
        **values: The other blanks.
    """
    try:
        yield
    except OSError as problem:
        raise error(key, code=code, why=problem.errno or 0, **values) from None


def unusable(
    error: type[_Error], whole: str, what: Phrase, name: str = "", *, code: str | None = None
) -> _Error:
    """Return the error of a file of ours that is not as it has to be.

    Args:
        error: What is raised.
        whole: What the file holds, a key below ``whole`` and, for the way out, below ``hint``.
        what: What is wrong.
        name: With what of the file; empty for all of it.
        code: As of any error.
    """
    key = "document.field" if name else "document.form"
    whole_, way_out = phrase(f"whole.{whole}"), phrase(f"hint.{whole}")
    return error(key, whole=whole_, name=name, what=what, way_out=way_out, code=code)


def _rebuild(cls: type[PuraError], key: str, code: str, values: dict[str, Value]) -> PuraError:
    return cls(key, code=code, **values)


class KeyFormatError(PuraError):
    """A secret key is not 32 bytes, or its text form is damaged."""

    code = "key-format"


class KeyStoreError(PuraError):
    """The place that holds the keys cannot be used, or has no such key."""

    code = "key-store"


class ProfileError(PuraError):
    """A profile is damaged, unknown or does not fit the model or key."""

    code = "profile"


class PayloadError(PuraError):
    """A payload does not fit the profile."""

    code = "payload"


class InputError(PuraError):
    """A text or file cannot be audited."""

    code = "input"


class ModelError(PuraError):
    """A model folder is missing, unsafe, damaged or does not fit."""

    code = "model"


class DeviceError(PuraError):
    """The device that was asked for is not there."""

    code = "device"


class GenerationError(PuraError):
    """Marked text cannot be generated with these settings."""

    code = "generation"


class RecordError(PuraError):
    """A stored audit record cannot be read."""

    code = "record"


class RegisterError(PuraError):
    """The register of issued payloads is damaged or an import does not fit."""

    code = "register"


class QuestionError(PuraError):
    """The question store is damaged, or cannot be opened with this key."""

    code = "questions"


class PolicyError(PuraError):
    """A policy file is damaged or out of range."""

    code = "policy"


class SigningError(PuraError):
    """A report cannot be signed with this certificate, or not at all."""

    code = "signing"


class ReportError(PuraError):
    """A report cannot be made."""

    code = "report"


class CaseLogError(PuraError):
    """The case log is damaged, or something may not be done to a case."""

    code = "case-log"


class ReportFileError(PuraError):
    """A file that shall be a report of ours cannot be taken apart."""

    code = "report-file"


class ServeError(PuraError):
    """The service cannot be run, or a question cannot be taken, as asked."""

    code = "serve"


class Cancelled(BaseException):
    """The user asked to stop.

    A ``BaseException`` so that no broad ``except Exception`` on the way swallows it.
    """
