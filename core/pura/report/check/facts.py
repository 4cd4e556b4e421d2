"""What the child finds in a file: plain values, nothing judged yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class AttachmentFacts:
    """A file inside the file.

    Attributes:
        name: As it is called in there.
        sha256: Of its bytes.
        size: Its length.
        data: Its bytes as Latin-1 text; empty unless it is JSON of a sensible size.
    """

    name: str
    sha256: str
    size: int
    data: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class SignatureFacts:
    """One signature.

    Attributes:
        name: Of its field.
        subject: Whom the certificate names.
        issuer: Who vouches for it.
        sha256: Fingerprint of the certificate.
        not_before: Valid from, ISO 8601.
        not_after: Valid until, ISO 8601.
        signed_at: When, as the signer says; empty when not said.
        stamped_at: When, as a time-stamp authority says; empty without one.
        stamp_trusted: The authority's certificate is trusted.
        intact: The signed bytes are as they were signed.
        valid: The signature fits the certificate's key.
        trusted: The certificate leads to one that was given as trusted.
        whole: It covers the file from the first byte to the last.
        end: Where the covered bytes end.
        padded: Nothing but zeros follows the signature in the place that it does not cover.
        changes: ``none``, ``ltv``, ``forms``, ``annotations`` or ``other``: what came later.
        revision_pages: Pages whose text differs between the signed state and the file, from 1.
        revision_attachments: Attachments that differ, by name.
        problem: Why it could not be checked; empty when it could.
    """

    name: str
    subject: str = ""
    issuer: str = ""
    sha256: str = ""
    not_before: str = ""
    not_after: str = ""
    signed_at: str = ""
    stamped_at: str = ""
    stamp_trusted: bool = False
    intact: bool = False
    valid: bool = False
    trusted: bool = False
    whole: bool = False
    end: int = 0
    padded: bool = True
    changes: str = "none"
    revision_pages: tuple[int, ...] = ()
    revision_attachments: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """A PDF, taken apart.

    Attributes:
        size: Bytes.
        sha256: Of the file.
        pages: Text of every page.
        metadata: Title, author, subject, keywords, … as the file says.
        attachments: Files inside.
        signatures: In the order in which they were made.
        tail: Bytes after the last end-of-file mark.
        saves: How often the file was saved (end-of-file marks).
        extras: What a report never has: ``scripts``, ``annotations``, ``layers``, ``cropped``,
            or ``unreadable``.
        problem: Why it could not be taken apart; empty when it could.
    """

    size: int
    sha256: str
    pages: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    attachments: tuple[AttachmentFacts, ...] = ()
    signatures: tuple[SignatureFacts, ...] = ()
    tail: int = 0
    saves: int = 0
    extras: tuple[str, ...] = ()
    problem: str = ""


def from_plain(data: dict[str, Any]) -> FileFacts:
    """Rebuild facts from what the child sent.

    Raises:
        TypeError: A part is missing or unknown.
        KeyError: A part is missing.
    """
    plain = dict(data)
    attachments = tuple(AttachmentFacts(**one) for one in plain.pop("attachments"))
    signatures = tuple(_signature(one) for one in plain.pop("signatures"))
    plain["pages"] = tuple(map(str, plain["pages"]))
    plain["metadata"] = {str(k): str(v) for k, v in plain["metadata"].items()}
    plain["extras"] = tuple(map(str, plain["extras"]))
    return FileFacts(**plain, attachments=attachments, signatures=signatures)


def _signature(data: dict[str, Any]) -> SignatureFacts:
    plain = dict(data)
    plain["revision_pages"] = tuple(map(int, plain["revision_pages"]))
    plain["revision_attachments"] = tuple(map(str, plain["revision_attachments"]))
    return SignatureFacts(**plain)
