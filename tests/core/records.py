"""The record that 0.1.0 wrote of a marked text, as it is read today, and records like it."""

from dataclasses import replace
from pathlib import Path

from pura.record import json_io
from pura.record.audit import Audit
from pura.scheme.public_keys import is_public

_PATH = Path(__file__).parents[1] / "data" / "v0.1.0" / "record.json"


def of_organisation(audit: Audit) -> Audit:
    """Return a record in which keys that only an organisation has stand for the public ones.

    The keys of the tests are public, and a finding with one of them stays a draft.
    """
    text = json_io.to_json(audit)
    for place, fingerprint in enumerate(filter(is_public, audit.finding.keys_tried)):
        text = text.replace(fingerprint, f"0a9e5b1c7d2f48{place:02x}")
    return json_io.from_json(text)


def issued_today(audit: Audit) -> Audit:
    """Return a record whose entries of the register name the key and profile of their marks.

    Registers of 0.1.0 knew payloads only, so nobody is named by what they hold.
    """
    if audit.register is None:
        return audit
    key, profile = audit.key.fingerprint, audit.profile.fingerprint
    matches = tuple(replace(match, key=key, profile=profile) for match in audit.register.matches)
    return replace(audit, register=replace(audit.register, matches=matches))


RECORD = issued_today(of_organisation(json_io.from_json(_PATH.read_text(encoding="utf-8"))))
