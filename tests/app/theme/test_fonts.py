"""Which fonts the tests run with: `make test` runs the window's tests bare and as on a desktop."""

import os

import pytest
from PySide6.QtGui import QFontDatabase

DESKTOP = {"Noto Sans", "Noto Sans Mono"}  # no faces that the program ships


@pytest.mark.skipif("PURA_TEST_FONTS" not in os.environ, reason="not started by make test")
def test_this_run_has_the_fonts_that_it_says(window):
    there = DESKTOP & set(QFontDatabase.families())
    assert there == (DESKTOP if os.environ["PURA_TEST_FONTS"] == "desktop" else set())
