"""``make screenshots``: the pictures of the user guide, of real audits in the real window.

Taken offscreen with the built-in model and the sample texts. Each holds a digest of what it shows,
so that ``--check`` names those that are older than the program.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import pypdfium2
from PySide6.QtGui import QImage

from pura.base.paths import Paths, resource, user_paths
from pura.record.audit import Audit
from pura.report import Parties, ReportRequest, build_report
from pura.report.pages import render_pages
from pura.scheme import SecretKey
from pura_audit.platform.notices import LABEL, sample
from pura_audit.session.choices import KeyChoice
from pura_audit.session.queue_model import Item
from pura_audit.tools import painting

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from pura_audit.cases.dialog import CasesDialog
    from pura_audit.session.session import Session
    from pura_audit.workbench.frame.main_window import MainWindow

OUT: Final = Path("docs") / "images"
ISSUED: Final = "2026-11-21"
REPORTS: Final = {"report-1": "en", "report-german": "de"}
TIMEOUT_MS: Final = 600_000
# Brings the window to where the picture is taken; returns a dialog if that is to be painted.
Act: TypeAlias = "Callable[[MainWindow], QWidget | None]"


def main() -> int:
    """Take every picture, or those that are named."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if "--scaled" in sys.argv:
        return Pictures(suffix="-200").take(("audit-light", "audit-dark"))
    if "--check" in sys.argv:
        old = Pictures().old(in_pages())
        sys.stdout.write("".join(f"{name} is older than what it shows\n" for name in old))
        return int(bool(old))
    if names := tuple(sys.argv[1:]):
        return Pictures().take(names)
    done = Pictures().take(())
    # The scale factor is read once, when Qt starts, so 200 % takes a process of its own.
    environment = os.environ | {"QT_SCALE_FACTOR": "2"}
    command = [sys.executable, "-m", "pura_audit.tools.pictures", "--scaled"]
    return done or subprocess.run(command, env=environment, check=False).returncode  # noqa: S603


def _shown(session: Session) -> Item:
    item = session.texts.current
    assert item is not None  # a text was just added, and what is added is shown
    return item


def _file(name: str) -> Path:
    return OUT / f"{name}.png"


def _request(language: str = "en") -> ReportRequest:
    parties = Parties(
        organisation="Examination office",
        address="1 Example Street, 10000 Example",
        place="Example",
        examiner="A. Example",
        question="Does the text carry our mark?",
    )
    if language == "de":
        parties = Parties(
            organisation="Prüfstelle",
            address="Beispielstraße 1, 10000 Beispiel",
            place="Beispiel",
            examiner="A. Beispiel",
            question="Trägt der Text unsere Markierung?",
        )
    return ReportRequest(
        number="R-2026-117",
        case="2026-117",
        classification={"en": "confidential", "de": "vertraulich"}[language],
        issued=ISSUED,
        parties=parties,
        language=language,
    )


def _said(pdf: bytes) -> str:
    """Return a digest of what the first page of a report says."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        return painting.read(document[0].get_textpage().get_text_bounded())
    finally:
        document.close()


def _plain_text(count: int) -> str:
    data = json.loads(resource("samples", "plain.json").read_text(encoding="utf-8"))
    return " ".join(text["text"] for text in data["texts"][:count])


def in_pages() -> tuple[str, ...]:
    """Return the names of the pictures that README and guide show."""
    pages = [Path("README.md"), *Path("docs").rglob("*.md")]
    words = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    return tuple(sorted(set(re.findall(r"images/([\w-]+)\.png", words))))


class Pictures:
    """One run of the window after the other, each with its own empty folders.

    Args:
        suffix: Of the files' names.
        models: The folder of models; the user's own when left out.
    """

    def __init__(self, suffix: str = "", models: Path | None = None) -> None:
        from pura_audit.application import make_application
        from pura_audit.platform import diagnostics

        diagnostics.hear_qt()
        self._app = make_application()
        self._suffix, self._models = suffix, models or user_paths().models
        self._marked: Audit | None = None
        self._three: Audit | None = None

    def take(self, only: tuple[str, ...]) -> int:
        """Take the pictures of these names, or all of them."""
        for name, theme, size, act in self._plan():
            if not only or name in only:
                self._one(name, theme, size, act, self._paint)
        for name, language in REPORTS.items():
            if not only or name in only:
                pdf = self._first_report(language)
                page = QImage.fromData(render_pages(pdf, dpi=100, pages=range(1))[0])
                painting.write(page, _said(pdf), _file(name))
        return 0

    def old(self, only: tuple[str, ...]) -> list[str]:
        """Return those of these names whose picture shows what the program does not show now."""
        found: dict[str, str] = {}

        def note(name: str, widget: QWidget) -> None:
            found[name] = painting.shown(widget)

        for name, theme, size, act in self._plan():
            if name in only:
                self._one(name, theme, size, act, note)
        for name, language in REPORTS.items():
            if name in only:
                found[name] = _said(self._first_report(language))
        return [name for name, shows in found.items() if painting.shown_in(_file(name)) != shows]

    def _first_report(self, language: str) -> bytes:
        """Return the report of the sample."""
        if self._marked is None:
            self._one("audit-light", "light", (1440, 900), self._audited, lambda *_: None)
        assert self._marked is not None  # it was audited now or before
        then = replace(self._marked, created=f"{ISSUED}T10:00:00+00:00")  # a month is a word
        return build_report([then], _request(language)).pdf

    def _paint(self, name: str, widget: QWidget) -> None:
        painting.paint(widget, _file(f"{name}{self._suffix}"))

    def _plan(
        self,
    ) -> list[tuple[str, str, tuple[int, int], Act]]:
        big, small = (1440, 900), (1280, 720)
        return [
            ("first-run", "light", big, lambda _w: None),
            ("first-run-dark", "dark", big, lambda _w: None),
            ("empty", "light", big, lambda _w: None),
            ("audit-light", "light", big, self._audited),
            ("audit-dark", "dark", big, self._audited),
            ("audit-small", "light", small, self._audited),
            ("audit-contrast", "contrast", big, self._audited),
            ("marks", "light", big, self._several),
            ("marks-dark", "dark", big, self._several),
            ("in-question", "light", big, self._in_question),
            ("pile", "light", big, self._pile),
            ("pile-dark", "dark", big, self._pile),
            ("no-finding", "light", big, self._plain),
            ("error", "light", big, self._bad_file),
            ("error-dark", "dark", big, self._bad_file),
            ("busy", "light", big, self._busy),
            ("busy-dark", "dark", big, self._busy),
            ("ready", "light", big, self._ready),
            ("audit-german", "light", big, self._audited),
            ("settings", "light", big, self._settings),
            ("settings-dark", "dark", big, self._settings),
            ("report-window-light", "light", big, self._report),
            ("report-window-dark", "dark", big, self._report),
            ("report-check", "light", big, self._check),
            ("report-sign", "light", big, self._sign),
            ("side-by-side", "light", small, self._side_by_side),
            ("cases", "light", big, self._cases),
            ("cases-dark", "dark", big, self._cases),
            ("cases-german", "light", big, self._cases),
            ("case-save", "light", big, self._save),
            ("case-review", "light", big, self._second_person),
            ("case-check", "light", big, self._check_log),
        ]

    def _one(
        self,
        name: str,
        theme: str,
        size: tuple[int, int],
        act: Act,
        then: Callable[[str, QWidget], None],
    ) -> None:
        from pura_audit.application import make_window
        from pura_audit.platform.settings import SettingsFile

        with tempfile.TemporaryDirectory() as folder:
            base = Path(folder)
            data = base / "data"
            data.mkdir()
            if not name.startswith("first-run"):
                (data / "models").symlink_to(self._models, target_is_directory=True)
            paths = Paths(data=data, config=base / "config", state=base / "state")
            # Fixed, so that a picture does not depend on whose machine takes it.
            SettingsFile(paths.config).update(language="de" if name.endswith("german") else "en")
            keys = self._all_there(paths) if name == "empty" else None
            window = make_window(paths, theme=theme, session_keys=keys)
            window.resize(*size)
            window.show()
            chosen = window.session.chosen
            self._until(lambda: chosen.device is not None and chosen.catalogue is not None)
            try:
                shown = act(window) or window
                painting.settle()
                then(name, shown)
            finally:
                window.session.close()
                window.close()
                window.deleteLater()
                painting.settle(0)

    @staticmethod
    def _all_there(paths: Paths) -> dict[str, SecretKey]:
        """Put a profile and a key in place, so that nothing is left to set up."""
        found = sample()
        paths.profiles.mkdir(parents=True)
        (paths.profiles / "sample.json").write_text(found.profile.to_json(), encoding="utf-8")
        return {LABEL: found.key}

    def _until(self, condition: Callable[[], bool]) -> None:
        from PySide6.QtCore import QDeadlineTimer, QEventLoop

        deadline = QDeadlineTimer(TIMEOUT_MS)
        while not condition():
            self._app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
            if deadline.hasExpired():
                raise TimeoutError("the window did not get there in time")

    def _audited(self, window: MainWindow) -> None:
        """Show the sample; audited once, shown in many pictures."""
        session = window.session
        if self._marked is None:
            session.texts.add_sample()
            item = _shown(session)
            self._until(lambda: item.audit is not None)
            self._marked = item.audit
        else:
            session.texts.add_audit(self._marked)
        kept = _shown(session)
        self._until(lambda: not kept.unkept)

    def _several(self, window: MainWindow) -> None:
        """Show a document with three marks, the second of them selected."""
        if self._three is None:
            host = _plain_text(2)
            data = json.loads(resource("samples", "marked-tbcc.json").read_text(encoding="utf-8"))
            first, *others = (text["text"].strip() for text in data["texts"][:3])
            parts = (host[:500], first, host[500:1000], *others, host[1000:1300])
            item = self._add(window, "\n\n".join(parts), "annual report")
            window.session.audits.audit([item])
            self._until(lambda: item.audit is not None)
            self._three = item.audit
        else:
            window.session.texts.add_audit(self._three)
        painting.settle()
        window.selection.select_mark(1)

    def _in_question(self, window: MainWindow) -> None:
        """Show a short piece of a marked text: a mark is found, its payload stays in question."""
        data = json.loads(resource("samples", "marked-tbcc.json").read_text(encoding="utf-8"))
        item = self._add(window, data["texts"][0]["text"][:260], "paragraph")
        window.session.audits.audit([item])
        self._until(lambda: item.audit is not None)

    def _plain(self, window: MainWindow) -> None:
        self._audited(window)
        item = self._add(window, _plain_text(1), "interview")
        window.session.audits.audit([item])
        self._until(lambda: item.audit is not None)

    def _pile(self, window: MainWindow) -> None:
        """Show findings of several kinds as a table."""
        self._several(window)
        self._bad_file(window)
        item = self._add(window, _plain_text(1), "interview")
        window.session.audits.audit([item])
        self._until(lambda: item.audit is not None)
        window.toggle_pile()

    @staticmethod
    def _add(window: MainWindow, text: str, name: str) -> Item:
        found, session = sample(), window.session
        session.texts.add_text(text, name)
        item = _shown(session)
        item.key = KeyChoice(label=LABEL, fingerprint=found.key.fingerprint, session=True)
        item.profile = found.profile
        session.texts.item_changed.emit()
        return item

    def _settings(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench.frame import program_commands

        self._until(lambda: window.session.chosen.catalogue is not None)
        return program_commands.show_settings(window)

    def _report(self, window: MainWindow) -> QWidget:
        """Show the report of the sample and of a text without a mark."""
        from pura_audit.workbench.frame import report_commands

        self._plain(window)
        window.session.texts.show(window.session.texts.queue.items[0])
        dialog = report_commands.make_report(window, base=_request(), every=True)
        assert dialog is not None  # there are audits
        preview = dialog.preview
        self._until(lambda: preview.built is not None and not preview.view.missing())
        return dialog

    def _check(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench.frame import report_commands

        self._audited(window)
        assert self._marked is not None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "R-2026-117.pdf"
            path.write_bytes(build_report([self._marked], ReportRequest()).pdf)
            dialog = report_commands.verify_report(window, path)
            self._until(lambda: dialog.checked is not None)
        return dialog

    def _sign(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench.frame import report_commands

        self._audited(window)
        return report_commands.sign_report(window, Path("R-2026-117.pdf"))

    def _cases(self, window: MainWindow) -> CasesDialog:
        """Show a log with three cases; one audit has been looked at by a second person."""
        from pura.caselog import CaseLog, open_case, save_audit, sign_off
        from pura_audit.workbench.frame import case_commands

        self._plain(window)
        marked, plain = (item.audit for item in window.session.texts.queue.items)
        assert marked is not None
        assert plain is not None
        with CaseLog(window.session.cases.path, create=True) as log:
            who, second = log.person("A. Example"), log.person("B. Muster")
            for name in ("Letter to the editor, second version", "Complaint 2026-098"):
                open_case(log, name, who)
            case = open_case(
                log,
                "Thesis 2026-117",
                who,
                tags=["faculty of arts"],
                notes="Handed in on paper and as a file.",
            )
            item = save_audit(log, case.id, marked, who)
            save_audit(log, case.id, plain, who)
            sign_off(log, item, second, agree=True, recomputed="The evidence, from the record.")
        window.session.settings.update(auditor="A. Example")
        dialog = case_commands.show_cases(window)
        self._until(lambda: dialog.pane.shown is not None)
        return dialog

    def _save(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench.frame import case_commands

        self._cases(window).accept()
        dialog = case_commands.save_to_case(window)
        assert dialog is not None  # there is an audit
        self._until(lambda: dialog.case.count() > 0)
        return dialog

    def _second_person(self, window: MainWindow) -> QWidget:
        browser = self._cases(window)
        assert browser.pane.shown is not None
        dialog = browser.acts.ask_review(browser.pane.shown.case)
        assert dialog is not None  # an audit is chosen
        return dialog

    def _check_log(self, window: MainWindow) -> QWidget:
        dialog = self._cases(window).acts.check_log()
        self._until(lambda: dialog.checks is not None)
        return dialog

    def _side_by_side(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench.frame import case_commands

        self._audited(window)
        audited = _shown(window.session)
        assert audited.document is not None  # it was just audited
        words = audited.document.text.split(" ")[40:120]
        words[12:15] = ["in", "other", "words"]
        del words[50:52]
        window.session.texts.add_text("As has been written: " + " ".join(words), "letter")
        window.session.texts.show(audited)
        dialog = case_commands.show_side_by_side(window)
        assert dialog is not None  # there are two texts
        self._until(dialog.next.isEnabled)
        dialog.go_on()
        return dialog

    def _bad_file(self, window: MainWindow) -> None:
        self._audited(window)
        session = window.session
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scan-004.pdf"
            path.write_bytes(b"%PDF-1.7\x00\xff\xfe\x80\x81")
            session.texts.add_paths([path])
            item = _shown(session)
            self._until(lambda: item.failure is not None)

    def _busy(self, window: MainWindow) -> None:
        self._audited(window)
        item = self._add(window, _plain_text(8), "newsletter")
        window.session.audits.audit([item])
        self._until(lambda: item.progress is not None and item.progress.done > 0)

    def _ready(self, window: MainWindow) -> None:
        self._audited(window)
        window.session.texts.add_text(
            "A text that waits to be audited. The prompt can be given if it is known.", "statement"
        )


if __name__ == "__main__":
    sys.exit(main())
