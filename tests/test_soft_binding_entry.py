"""The entry that the page drafts for C2PA's list of soft bindings has the form of that list."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from pura.provenance.binding import binding_value, binding_values

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "two-layers.md"
# The forms of the list's own schema (2020-12), as it was in July 2026.
NAME = re.compile(r"[A-Za-z]{2,63}(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+\.?")
MEDIA = {"application", "audio", "image", "model", "text", "video"}
REQUIRED = {"identifier", "alg", "type", "entryMetadata"}
TAKEN = REQUIRED | {"deprecated", "decodedMediaTypes", "encodedMediaTypes"}
TAKEN |= {"softBindingResolutionApis"}
ABOUT = {"description", "dateEntered", "contact", "informationalUrl"}


def test_the_entry_has_the_form_of_the_list() -> None:
    page = PAGE.read_text(encoding="utf-8")
    [written] = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    entry = json.loads(written)
    assert entry.keys() >= REQUIRED
    assert entry.keys() <= TAKEN
    assert 0 <= entry["identifier"] < 1 << 16
    assert NAME.fullmatch(entry["alg"])
    assert entry["type"] in ("watermark", "fingerprint")
    assert entry["decodedMediaTypes"]
    assert set(entry["decodedMediaTypes"]) <= MEDIA
    about = entry["entryMetadata"]
    assert about.keys() == ABOUT
    assert datetime.fromisoformat(about["dateEntered"]).tzinfo is not None
    assert re.fullmatch(r"[^@\s]+@[^@\s]+", about["contact"])
    for address in (about["informationalUrl"], *entry["softBindingResolutionApis"]):
        assert urlsplit(address).scheme == "https"


def test_the_page_shows_the_value_of_a_payload() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    [(payload, profile, value)] = re.findall(
        r"Payload `([01]+)` under profile `([0-9a-f]{16})` is `([^`]+)`", page
    )
    assert value == binding_value(payload, profile)
    assert binding_values(value)[0].names(payload, profile)
