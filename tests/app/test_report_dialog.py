"""The window “Report …”: real PDFs, made in the real thread and read back."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pypdf
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from pura.audit import json_io
from pura.audit.record import Audit, RegisterFacts, RegisterMatch
from pura.audit.report import ItemNotes, ReportRequest
from pura.audit.report.compile import page_count
from pura_audit import dialogs
from pura_audit.jobs import report_desk
from pura_audit.settings import SettingsFile

WAIT = 60_000


def words_of(pdf: Path | bytes) -> str:
    source = io.BytesIO(pdf) if isinstance(pdf, bytes) else pdf
    return " ".join(" ".join(p.extract_text() for p in pypdf.PdfReader(source).pages).split())


def record_of(pdf: Path) -> bytes:
    return pypdf.PdfReader(pdf).attachments["record.json"][0]


def settled(dialog: Any) -> bool:
    preview = dialog.preview
    return preview.built is not None and not preview.renewing and not preview.view.missing()


@pytest.fixture
def opened(window: Any, audit: Audit, qtbot: Any) -> Callable[..., Any]:
    def make(*audits: Audit, base: ReportRequest | None = None, every: bool = False) -> Any:
        rows = [(one.input.name, one) for one in audits or (audit,)]
        dialog: Any = dialogs.make_report(window, rows, base, every=every)
        qtbot.waitUntil(lambda: settled(dialog), timeout=WAIT)
        return dialog

    return make


@pytest.fixture
def second(audit: Audit) -> Audit:
    return replace(audit, id="1" * 32, input=replace(audit.input, name="letter.txt"))


@pytest.fixture
def named(audit: Audit) -> Audit:
    register = RegisterFacts(
        name="register", sha256="a" * 64, entries=9, decided="2026-11-21",
        matches=(RegisterMatch(entry=3, who="Jane Roe", when="2026-01-01", distance=0),),
    ) if False else None  # fmt: skip
    return replace(audit, register=register)


def saved(dialog: Any, path: Path, qtbot: Any) -> None:
    with qtbot.waitSignal(dialog.saved, timeout=WAIT) as signal:
        dialog.save_to(path)
    report, request, to = signal.args
    assert report.pdf == path.read_bytes()
    assert isinstance(request, ReportRequest)
    assert to == path
