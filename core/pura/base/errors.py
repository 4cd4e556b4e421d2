"""The one family of errors that people get to read.

Each error carries a stable ``code`` for programs, a ``message`` that says what happened and what
it means, and a ``hint`` that says the way out. The command line, the window and the log print
the same words. An error never carries the suspect text or a key.
"""

from __future__ import annotations


class PuraError(Exception):
    """Something the user can act on.

    Args:
        message: One sentence: what happened and what it means.
        hint: One sentence: the way out. Empty when there is none.
        code: Stable identifier; defaults to the class's own.
    """

    code: str = "error"

    def __init__(self, message: str, hint: str = "", *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def __reduce__(self) -> tuple[object, ...]:
        """Cross a process boundary without losing hint and code."""
        return (_rebuild, (type(self), self.message, self.hint, self.code))

    def to_dict(self) -> dict[str, str]:
        """Return ``code``, ``message`` and ``hint`` for JSON output."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


def _rebuild(cls: type[PuraError], message: str, hint: str, code: str) -> PuraError:
    return cls(message, hint, code=code)


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


class Cancelled(BaseException):
    """The user asked to stop.

    A ``BaseException`` so that no broad ``except Exception`` on the way swallows it.
    """
