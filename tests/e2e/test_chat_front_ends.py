"""A chat program in front of a marked model: the commands of the page, as programs of their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_circle import LLAMA, run_page

pytestmark = [
    pytest.mark.model,
    pytest.mark.programs("bash", "curl", "dbus-run-session"),
    pytest.mark.skipif(
        "PURA_CIRCLE" not in os.environ and not LLAMA.exists(),
        reason="llama.cpp is not built here: packaging/weekly.sh circle does it",
    ),
]


@pytest.fixture
def models(installed_models: Path) -> Path:
    return installed_models


def test_the_page_shows_what_its_commands_print(desktop: Any, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    run_page("chat-front-ends.md", folder, desktop.environment)
    assert list((folder / "issued").glob("*.issued.jsonl"))
