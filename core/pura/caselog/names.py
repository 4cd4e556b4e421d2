"""Attribution of entries to people: names at the time of writing, and subjects of certificates.

The chain identifies people by identifiers, and a person may change the name later. An entry is
attributed to the name that was valid when it was written. A signature is always attributed to the
subject of its certificate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pura.base.identity import describe
from pura.caselog.log import CaseLog, LogEntry

if TYPE_CHECKING:
    from cryptography import x509

SIGNING: Final = ("report-signed", "head-signed")
"""Actions that are attributed to the subject of a certificate."""
SIGNER: Final = "signer"
"""Name of the kept field with the subject of the certificate; version 0.4.0 did not write it."""


@dataclass(frozen=True, kw_only=True)
class Attribution:
    """The person that an entry is attributed to.

    Attributes:
        name: Name of the person at that time; for a signature the subject of its certificate. None
            if the name was erased, or never entered.
        operator: Name of the person who operated the program for a signature, if it differs; else
            empty.
    """

    name: str | None
    operator: str = ""


@dataclass(frozen=True, kw_only=True)
class _GivenName:
    """A name that a person entered.

    Attributes:
        log: Identifier of the log that recorded it first.
        seq: Number of the entry in that log.
        name: The name; None if it was erased.
    """

    log: str
    seq: int
    name: str | None


class PersonNames:
    """The names in a log at each of its entries.

    Args:
        log: The log. It is read once; create a new object after entries were added.
    """

    def __init__(self, log: CaseLog) -> None:
        self._log = log
        self._given: dict[str, list[_GivenName]] = {}
        for entry in log.acts("person-added"):
            given_name = _GivenName(log=entry.log, seq=entry.seq, name=log.kept(entry, "name"))
            self._given.setdefault(str(entry.facts["person"]), []).append(given_name)

    def latest(self, person: str) -> str | None:
        """Return the latest name of a person; None if it was erased or never entered."""
        names = (given_name.name for given_name in reversed(self._given.get(person, [])))
        return next((name for name in names if name is not None), None)

    def at(self, entry: LogEntry, person: str = "") -> str | None:
        """Return the name that a person had when an entry was written.

        Args:
            entry: The entry.
            person: Identifier of the person; empty for the person who acted.

        Returns:
            The name; None if it was erased. If the log of the entry recorded a name of the person
            only later, the first recorded name.
        """
        given_names = self._given.get(person or entry.actor, [])
        before = [
            given_name
            for given_name in given_names
            if given_name.log == entry.log and given_name.seq <= entry.seq
        ]
        if before:
            return before[-1].name
        return next((given_name.name for given_name in given_names), None)

    def attribution(self, entry: LogEntry) -> Attribution:
        """Return the person that an entry is attributed to."""
        person = self.at(entry)
        if entry.action not in SIGNING:
            return Attribution(name=person)
        subject = signer(self._log, entry)
        if subject is None:
            return Attribution(name=None, operator=person or "")
        is_other = person is not None and person.casefold() != subject.casefold()
        return Attribution(name=subject, operator=person if is_other and person else "")


def signer(log: CaseLog, entry: LogEntry) -> str | None:
    """Return the subject of the certificate of a signature.

    An entry of version 0.4.0 has only the digest of the certificate. The certificate is in the
    signature of the log's head, which was made with it in the same transaction.

    Returns:
        The subject; None if it was erased, or the signature is not stored.
    """
    if SIGNER in entry.kept:
        subject = log.kept(entry, SIGNER)
        return None if subject is None else str(subject)
    head = entry if entry.action == "head-signed" else log.entry(entry.seq + 1, entry.log)
    if head is None or head.action != "head-signed":
        return None
    fingerprint = entry.facts.get("certificate")
    certificates = (
        describe(certificate)
        for certificate in _certificates(log.signature(head.body["signature"]))
    )
    return next(
        (certificate.subject for certificate in certificates if certificate.sha256 == fingerprint),
        None,
    )


def _certificates(cms: bytes | None) -> Iterator[x509.Certificate]:
    """Yield the certificates in a signature; none if it cannot be read."""
    from cryptography.hazmat.primitives.serialization import pkcs7

    if cms is None:
        return
    try:
        yield from pkcs7.load_der_pkcs7_certificates(cms)
    except ValueError:
        return
