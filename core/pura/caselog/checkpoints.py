"""Signed heads: a certificate vouches that the log had this many entries, ending so, at that time.

A chain by itself cannot show that its end was cut off. A signed head can, and so can one that was
printed in a report.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime

from pura.base.canonical import canonical
from pura.base.errors import CaseLogError
from pura.caselog.entries import Draft, LogEntry
from pura.caselog.log import CaseLog, LogHead, Person
from pura.report.sign.detached import SignatureWord, check_detached, sign_detached
from pura.report.sign.identity import Identity


def statement(head: LogHead) -> bytes:
    """Return the bytes that are signed."""
    return canonical({"log": head.log, "seq": head.seq, "hash": head.hash})


def parse_head(text: str, log: str) -> LogHead:
    """Read a head as reports print it: number, colon, hash.

    Raises:
        CaseLogError: It is not such a thing.
    """
    # Copied from a PDF, a long number carries blanks and marks of where it may be broken.
    seq, _, digest = re.sub(r"[\s\u00ad\u200b\u2060\ufffe]", "", text).lower().partition(":")
    if not seq.isdecimal() or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise CaseLogError("caselog.head", code="case-log-head")
    return LogHead(log=log, seq=int(seq), hash=digest)


def sign_head(
    log: CaseLog, identity: Identity, actor: Person, *, role: str = "authoriser"
) -> LogEntry:
    """Sign the log's head with the organisation's certificate; an entry of its own says so.

    Raises:
        CaseLogError: The log cannot be written.
    """
    with log.writing() as writer:
        head = log.head()
        cms = sign_detached(statement(head), identity)
        mark = hashlib.sha256(cms).hexdigest()
        writer.sign(mark, cms)
        return writer.append(
            Draft(
                action="head-signed",
                actor=actor.id,
                role=role,
                signature=mark,
                facts={
                    "seq": head.seq,
                    "hash": head.hash,
                    "certificate": identity.certificate.sha256,
                },
            )
        )


def check_signature(
    cms: bytes, head: LogHead, trust: Sequence[bytes], moment: datetime
) -> SignatureWord:
    """Check the signature of a head.

    Args:
        cms: The signature, DER.
        head: What it should be of.
        trust: Trusted certificates, DER.
        moment: The time to hold certificates against.
    """
    return check_detached(cms, statement(head), trust, moment)
