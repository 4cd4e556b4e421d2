"""``pura profile``: what payloads stand for is chosen, shown and checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.core.cli.conftest import pura, refusal

from pura.base.catalogue import catalogue
from pura.base.paths import user_paths
from pura.scheme import Profile
from pura.usecases.doctor import examine
from pura.usecases.environment import Environment

NEW = ("profile", "new", "--vocab-size", "9")
FIELDS = [
    {"name": "customer", "kind": "integer", "bits": 20},
    {"name": "date", "kind": "date", "bits": 16},
]


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """A file with the fields of a payload."""
    path = tmp_path / "fields.json"
    path.write_text(json.dumps(FIELDS))
    return path


def text(key: str, **values: Any) -> str:
    """Return a text of the command in English."""
    return catalogue("command").fill(key, "en", values)


@pytest.mark.parametrize(
    ("with_fields", "option", "use"),
    [
        (False, None, "answer"),
        (False, "answer", "answer"),
        (False, "recipient", "recipient"),
        (True, None, "recipient"),
        (True, "recipient", "recipient"),
    ],
)
def test_a_profile_states_what_its_payloads_stand_for(
    layout: Path, with_fields: bool, option: str | None, use: str
) -> None:
    words: list[object] = [*NEW, "--name", "house"]
    words += ["--fields", layout] if with_fields else []
    words += ["--payload-use", option] if option else []
    made = pura(*words)
    assert made.exit_code == 0, made.output
    assert Environment(paths=user_paths()).profiles.get("house").payload_use == use
    cost = " ".join(text("profile.use.recipient").split())
    assert (cost in " ".join(made.stderr.split())) == (use == "recipient")
    shown = " ".join(pura("profile", "show", "house").stderr.split())
    assert text(f"profile.use.{use}") in shown


def test_a_profile_of_before_shows_that_it_does_not_state_it() -> None:
    at = Environment(paths=user_paths())
    at.profiles.save("old", Profile.new(vocab_size=9, payload_use=None))
    shown = " ".join(pura("profile", "show", "old").stderr.split())
    assert text("profile.use.unstated") in shown


def test_a_number_for_each_answer_has_no_fields(layout: Path) -> None:
    done = pura(*NEW, "--fields", layout, "--payload-use", "answer")
    assert refusal(done).startswith("profile")
    assert pura(*NEW, "--payload-use", "both").exit_code == 2


@pytest.mark.parametrize(
    ("use", "fields", "warned"),
    [
        ("answer", [], False),
        (None, [], False),
        ("recipient", [], True),
        ("recipient", FIELDS, True),
        (None, FIELDS, True),
    ],
)
def test_doctor_names_profiles_that_put_recipients_into_payloads(
    use: str | None, fields: list[dict[str, Any]], warned: bool
) -> None:
    at = Environment(paths=user_paths(), device="cpu")
    at.profiles.save("house", Profile.new(vocab_size=9, fields=fields, payload_use=use))
    checks = [check for check in examine(at) if check.name == "profile"]
    warnings = [check.words for check in checks if check.grade == "warning"]
    assert len(warnings) == warned
    for words in warnings:
        for language in ("en", "de"):
            sentence, way_out = words(language)
            assert sentence == catalogue("doctor").fill(
                "profile.recipient", language, {"name": "house"}
            )
            assert "--payload-use answer" in way_out
            assert "pura register issue" in way_out


def test_limits_are_shown_unless_they_are_stated_or_cleared(layout: Path) -> None:
    """In 0.4.0 the command without an option removed them."""
    pura(*NEW, "--name", "house", "--fields", layout)
    stated = pura("profile", "limit", "house", "--limit", "customer=..4999")
    shown = pura("profile", "limit", "house")
    assert (stated.exit_code, shown.exit_code) == (0, 0)
    assert shown.stdout == stated.stdout
    assert Environment(paths=user_paths()).profiles.get("house").limited
    both = pura("profile", "limit", "house", "--clear", "--limit", "customer=..4999")
    assert both.exit_code == 2
    assert pura("profile", "limit", "house", "--clear").exit_code == 0
    assert not Environment(paths=user_paths()).profiles.get("house").limited
