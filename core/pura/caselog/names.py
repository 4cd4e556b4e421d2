"""Who did what, as it was when it was written: names of people, and the subjects of certificates.

The chain knows people by identifiers, and a person may give another name later. An entry keeps the
name that was valid when it was written. A signature is that of its certificate, whoever worked the
program: its subject is who signed.
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
"""Actions of which the certificate's subject is who signed."""
SIGNER: Final = "signer"
"""Name of the kept value with the subject of the certificate; 0.4.0 wrote none."""


@dataclass(frozen=True, kw_only=True)
class Attribution:
    """Whose act an entry is.

    Attributes:
        name: The person, under the name that was valid then; of a signature the subject of its
            certificate. None where the name was erased, or nobody gave one.
        operator: Who worked the program at a signature, where that is somebody else; else empty.
    """

    name: str | None
    operator: str = ""


@dataclass(frozen=True, kw_only=True)
class _GivenName:
    """A name that a person gave.

    Attributes:
        log: Identifier of the log that noted it first.
        seq: Number of the entry there.
        name: The name; None when it was erased.
    """

    log: str
    seq: int
    name: str | None


class PersonNames:
    """The names in a log at each of its entries.

    Args:
        log: The log; it is read once, so that later entries need another of these.
    """

    def __init__(self, log: CaseLog) -> None:
        self._log = log
        self._given: dict[str, list[_GivenName]] = {}
        for entry in log.acts("person-added"):
            given = _GivenName(log=entry.log, seq=entry.seq, name=log.kept(entry, "name"))
            self._given.setdefault(str(entry.facts["person"]), []).append(given)

    def latest(self, person: str) -> str | None:
        """Return the name that a person gave last, or None when it was erased or never given."""
        names = (given.name for given in reversed(self._given.get(person, [])))
        return next((name for name in names if name is not None), None)

    def at(self, entry: LogEntry, person: str = "") -> str | None:
        """Return the name that a person had when an entry was written.

        Args:
            entry: The entry.
            person: Identifier of the person; that of who acted where it is empty.

        Returns:
            The name; None when it was erased. Of a person whom the log of the entry named only
            later, the first name that is known.
        """
        given = self._given.get(person or entry.actor, [])
        before = [one for one in given if one.log == entry.log and one.seq <= entry.seq]
        if before:
            return before[-1].name
        return next((one.name for one in given), None)

    def attribution(self, entry: LogEntry) -> Attribution:
        """Return whose act an entry is."""
        person = self.at(entry)
        if entry.action not in SIGNING:
            return Attribution(name=person)
        subject = signer(self._log, entry)
        if subject is None:
            return Attribution(name=None, operator=person or "")
        other = person is not None and person.casefold() != subject.casefold()
        return Attribution(name=subject, operator=person if other and person else "")


def signer(log: CaseLog, entry: LogEntry) -> str | None:
    """Return the subject of the certificate that a signature was made with.

    An entry of 0.4.0 has its digest only; the certificate itself is in the signature of the log's
    head, which was made with it in the same turn.

    Returns:
        The subject; None when it was erased, or the signature is not there.
    """
    if SIGNER in entry.kept:
        subject = log.kept(entry, SIGNER)
        return None if subject is None else str(subject)
    head = entry if entry.action == "head-signed" else log.entry(entry.seq + 1, entry.log)
    if head is None or head.action != "head-signed":
        return None
    wanted = entry.facts.get("certificate")
    found = (describe(one) for one in _certificates(log.signature(head.body["signature"])))
    return next((one.subject for one in found if one.sha256 == wanted), None)


def _certificates(cms: bytes | None) -> Iterator[x509.Certificate]:
    """Yield the certificates in a signature; none of one that cannot be read."""
    from cryptography.hazmat.primitives.serialization import pkcs7

    if cms is None:
        return
    try:
        yield from pkcs7.load_der_pkcs7_certificates(cms)
    except ValueError:
        return
