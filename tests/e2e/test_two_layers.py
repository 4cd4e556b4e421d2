"""Two layers in ten minutes: the commands of the page, as programs of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.test_circle import run_page

pytestmark = [
    pytest.mark.model,
    pytest.mark.programs("bash", "curl", "openssl", "iconv", "dbus-run-session"),
]


@pytest.fixture
def models(installed_models: Path) -> Path:
    return installed_models


def test_the_page_shows_what_its_commands_print(desktop: Any, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    folder.mkdir()
    run_page("two-layers.md", folder, desktop.environment)
    said = json.loads((Path(desktop.environment["PURA_HOME"]) / "data/detector.json").read_text())
    assert said["soft_binding"] == "org.example.pura.1"
