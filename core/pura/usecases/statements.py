"""Statements of a detector: what signs them, and whether one holds."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from pura.base.errors import InputError, ReportFileError, SigningError
from pura.base.files import read_bounded
from pura.keys import Secret
from pura.report.check import MAX_TRUST_BYTES
from pura.report.signing import MAX_FILE_BYTES as MAX_IDENTITY
from pura.report.signing import load_identity
from pura.report.statement import (
    MAX_FILE_BYTES,
    StatementCheck,
    StatementKey,
    Trust,
    find_statement,
)
from pura.report.statement import check_statement as examine
from pura.usecases.environment import Environment


def detector_key(environment: Environment) -> StatementKey:
    """Return the detector's own key; it is made the first time.

    Raises:
        ServeError: Its file is damaged.
    """
    return StatementKey.of(environment.paths.config / "serve" / "statements.key")


def certificate_key(path: Path, passphrase: Secret) -> StatementKey:
    """Return the key of a certificate.

    Args:
        path: PKCS#12.
        passphrase: Its passphrase; overwritten when it has been used.

    Raises:
        SigningError: See :func:`load_identity`.
        ServeError: Statements are not signed with a key of its kind.
    """
    data = read_bounded(path, MAX_IDENTITY + 1, SigningError)
    with passphrase.used() as secret:
        return StatementKey.of_identity(load_identity(data, secret, now=datetime.now(UTC)))


def check_statement(
    *, path: Path, trust: tuple[Path, ...] = (), text: Path | None = None, sha256: str = ""
) -> StatementCheck:
    """Check a statement: single checks, each with its own result.

    Args:
        path: The statement, or an answer of the service that holds it.
        trust: Files with trusted certificates, or with a public key.
        text: What was asked about; or
        sha256: the digest of its bytes. Without either that is not examined.

    Raises:
        ReportFileError: A file holds no statement, or nothing to trust.
        InputError: The text cannot be read.
    """
    trusted = Trust()
    for one in trust:
        trusted += Trust.read(read_bounded(one, MAX_TRUST_BYTES, ReportFileError))
    if text is not None:
        sha256 = hashlib.sha256(read_bounded(text, MAX_FILE_BYTES, InputError)).hexdigest()
    return examine(
        find_statement(read_bounded(path, MAX_FILE_BYTES, ReportFileError)),
        moment=datetime.now(UTC),
        trust=trusted,
        sha256=sha256,
    )
