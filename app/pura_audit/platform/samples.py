"""The sample that ships with the program: a real marked text, with its own key and profile."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from pura.base.paths import resource
from pura.scheme import Profile, SecretKey

LABEL = "Sample key (public)"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A sample text.

    Attributes:
        text: Marked text of the built-in model.
        profile: Its profile.
        key: Its key. Hazard: it is public, so it proves nothing about any text but a sample.
    """

    text: str
    profile: Profile
    key: SecretKey


@cache
def sample() -> Sample:
    """Read the sample."""
    data = json.loads(resource("samples", "marked-tbcc.json").read_text(encoding="utf-8"))
    profile = Profile.from_dict(data["profile"]).with_(name="Sample profile")
    return Sample(
        text=data["texts"][0]["text"], profile=profile, key=SecretKey.from_hex(data["key_hex"])
    )
