"""Typesetting in a process of its own: the same bytes, and an end of it that loses nothing."""

import os
import signal
import tempfile
from contextlib import suppress

import psutil
import pytest
from tests.core.records import RECORD

from pura.base.errors import Cancelled, ReportError
from pura.record.audit import Audit
from pura.report.blocks import typeset
from pura.report.build import build_report
from pura.report.request import ReportRequest
from pura.report.typesetter import apart

LOGO = b'<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="2"/></svg>'


@pytest.fixture(scope="module")
def audit() -> Audit:
    return RECORD


def children() -> list[psutil.Process]:
    """Typesetters of this process that live: one that has just ended has no command line."""
    found = []
    for process in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if "pura.report.typesetter" in process.cmdline():
                found.append(process)
    return found


def test_apart_or_not_the_bytes_are_the_same(audit):
    beats: list[int] = []
    request = ReportRequest(logo=LOGO)
    made = build_report([audit], request, typeset=apart(lambda: beats.append(1)))
    assert made.pdf == build_report([audit], request).pdf
    assert beats
    assert children() == []


def test_what_typst_refuses_is_one_error_with_its_kind():
    with pytest.raises(ReportError) as here:
        typeset({"data": "{", "attached": "{}"}, None)
    with pytest.raises(ReportError) as there:
        apart(lambda: None)({"data": "{", "attached": "{}"}, None)
    assert here.value.message == there.value.message


def test_one_that_is_killed_has_another_try_and_then_an_end(audit, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed: list[int] = []

    def kill(most: int) -> None:
        for child in children():
            if child.pid not in killed and len(killed) < most:
                killed.append(child.pid)
                os.kill(child.pid, signal.SIGKILL)

    assert build_report([audit], ReportRequest(), typeset=apart(lambda: kill(1))).pdf
    killed.clear()
    with pytest.raises(ReportError, match="no answer"):
        build_report([audit], ReportRequest(), typeset=apart(lambda: kill(9)))
    assert len(killed) == 2
    assert list(tmp_path.iterdir()) == [], "a killed child leaves nothing behind"


def test_whoever_stops_it_stops_the_process(audit):
    def stop() -> None:
        if children():
            raise Cancelled

    with pytest.raises(Cancelled):
        build_report([audit], ReportRequest(), typeset=apart(stop))
    assert children() == []
