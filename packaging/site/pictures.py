"""Take the pictures of README and guide: real audits in the real window.

    .venv/bin/python packaging/site/pictures.py [NAME …]
    .venv/bin/python packaging/site/pictures.py --check
    .venv/bin/python packaging/site/pictures.py --states FOLDER [STATE …]

The first takes all pictures, or those that are named. The second names those that are older than
what they show. The third takes every state of the window in every one of :data:`VARIANTS`, and a
sheet of each variant to look at.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import pypdfium2
from PySide6.QtCore import QDeadlineTimer, QEventLoop, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QWidget,
)

from pura.base.errors import ModelError, PuraError
from pura.base.paths import Paths, resource, user_paths
from pura.caselog.log import CASE_LOG
from pura.record.audit import Audit
from pura.register.rows import Issue
from pura.register.store import Register
from pura.report.blocks import render_pages
from pura.report.build import build_report
from pura.report.request import Parties, ReportRequest
from pura.scheme import PayloadSeries, Profile, SecretKey, pack, parse_layout
from pura.usecases.profiles import save_profile
from pura.usecases.setups import StoredSetup, setup_folder
from pura_audit.jobs.queue import Failure, Progress, unexpected
from pura_audit.platform.notices import LABEL, sample
from pura_audit.session.choices import KeyChoice
from pura_audit.session.queue_model import Item, ItemState
from pura_audit.tools.paint import SIZE, settle

if TYPE_CHECKING:
    from pura_audit.cases.dialog import CasesDialog
    from pura_audit.session.session import Session
    from pura_audit.workbench.main_window import MainWindow


_SHOWN: Final = "Shown"
_ACROSS: Final = Qt.Orientation.Horizontal


def shown(widget: QWidget) -> str:
    """Return a digest of what a widget shows: its parts in their order, and what they are called.

    Titles, buttons, headings of tables and names for screen readers count; findings, times, names
    of devices and whatever else has a digit do not, nor do sizes, colours and fonts, by which alone
    a scroll bar comes and goes.
    """
    parts = [widget, *(one for one in widget.findChildren(QWidget) if one.isVisibleTo(widget))]
    counted = (one for one in parts if not isinstance(one, QScrollBar))
    return _digest(" ".join((_kind(one), *_called(one))) for one in counted)


def _kind(widget: QWidget) -> str:
    """Return the name of Qt's class: that ours have other names changes no picture."""
    kinds = (kind for kind in type(widget).__mro__ if kind.__module__.startswith("PySide6"))
    return next(kinds).__name__


def read(words: str) -> str:
    """Return a digest of what a page says: its words in any order, without those with a digit."""
    return _digest(word for word in words.split() if not any(map(str.isdigit, word)))


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(set(lines))).encode()).hexdigest()[:32]


def shown_in(path: Path) -> str:
    """Return the digest of what a picture shows; "" where it holds none."""
    return QImage(str(path)).text(_SHOWN)


def _called(widget: QWidget) -> list[str]:
    names = [widget.accessibleName()]
    if isinstance(widget, QAbstractButton) or _is_title(widget):
        names.append(widget.text())  # type: ignore[attr-defined]
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        names.append(widget.placeholderText())
    if isinstance(widget, QHeaderView) and (model := widget.model()) is not None:
        count = model.columnCount() if widget.orientation() is _ACROSS else 0
        names += [str(model.headerData(place, _ACROSS) or "") for place in range(count)]
    return [name for name in names if name and not any(map(str.isdigit, name))]


def _is_title(widget: QWidget) -> bool:
    return isinstance(widget, QLabel) and widget.property("role") in ("answer", "title", "section")


def paint(widget: QWidget, path: Path) -> Path:
    """Write a widget as PNG, with a digest of what it shows beside it (:func:`shown`)."""
    return write(widget.grab().toImage(), shown(widget), path)


def write(picture: QImage, shows: str, path: Path) -> Path:
    """Write a picture as PNG, with a digest of what it shows.

    Raises:
        OSError: The picture cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.setText(_SHOWN, shows)
    if not picture.save(str(path)):
        raise OSError(f"the picture {path.name} cannot be written")
    return path


OUT: Final = Path("docs") / "images"
ISSUED: Final = "2026-11-21"
PICTURES: Final = (
    *("first-run", "first-run-dark", "empty", "set-up", "set-up-dark", "set-up-german"),
    *("audit-light", "audit-dark", "audit-small", "audit-contrast", "audit-german"),
    *("marks", "marks-dark", "in-question", "results", "results-dark", "no-finding"),
    *("error", "error-dark", "busy", "busy-dark", "ready", "settings", "settings-dark"),
    *("report-window-light", "report-window-dark", "report-check", "report-sign", "side-by-side"),
    *("cases", "cases-dark", "cases-german", "case-save", "case-review", "case-check"),
    *("issued", "issued-german", "pages"),
)
"""Of README and guide; the state of the window comes first in the name."""
DIALOGS: Final = ("keys", "models", "profiles", "guide", "palette", "shortcuts")
"""Commands that open a dialog beside a finding."""
SMALL: Final = ("audit-small", "side-by-side")
VARIANTS: Final = ("light", "dark", "contrast", "german", "low", "200")
"""Themes, language, a window of 1024 by 640 pixels, and one of 960 by 600 at 200 %."""
LOW: Final = {"low": QSize(1024, 640), "200": QSize(960, 600)}
PEOPLE: Final = ("City paper", "Radio Nord", "Desk B", "Agency 7", "Reader service")
FIELDS: Final = [
    {"name": "customer", "bits": 20, "kind": "integer"},
    {"name": "date", "bits": 16, "kind": "date"},
]
REPORTS: Final = {"report-1": "en", "report-german": "de"}
TIMEOUT_MS: Final = 600_000
# Brings the window to where the picture is taken; returns a dialog if that is to be painted.
Act: TypeAlias = "Callable[[MainWindow], QWidget | None]"


def main() -> int:
    """Take every picture, or those that are named."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if "--states" in sys.argv:
        folder, *states = sys.argv[sys.argv.index("--states") + 1 :]
        return take_states(Path(folder), states)
    if "--scaled" in sys.argv:
        return Pictures(suffix="-200").take(("audit-light", "audit-dark"))
    if "--check" in sys.argv:
        old = Pictures().old(in_pages())
        sys.stdout.write("".join(f"{name} is older than what it shows\n" for name in old))
        return int(bool(old))
    if names := tuple(sys.argv[1:]):
        return Pictures().take(names)
    done = Pictures().take(())
    return done or _scaled("--scaled")


def _scaled(*words: str) -> int:
    """Go on at 200 %: the factor is read once, when Qt starts, so it takes another process."""
    environment = os.environ | {_FACTOR: "2"}
    command = [sys.executable, __file__, *words]
    return subprocess.run(command, env=environment, check=False).returncode


def take_states(folder: Path, states: Sequence[str]) -> int:
    """Take every state, or those named, in every variant; return an exit status."""
    scaled = _FACTOR in os.environ
    pictures = Pictures(folder=folder)
    for variant in VARIANTS[-1:] if scaled else VARIANTS[:-1]:
        taken = [f"{state}-{variant}" for state in states or pictures.states]
        pictures.take(taken)
        sheet([folder / f"{name}.png" for name in taken], folder / f"sheet-{variant}.png")
    return 0 if scaled else _scaled("--states", str(folder), *states)


def sheet(paths: Sequence[Path], out: Path) -> None:
    """Put pictures side by side, each with its name above it."""
    wide, high, line = 640, 420, 18
    rows = -(-len(paths) // _ACROSS_SHEET)
    whole = QImage(wide * _ACROSS_SHEET, (high + line) * rows, QImage.Format.Format_RGB32)
    whole.fill(Qt.GlobalColor.gray)
    painter = QPainter(whole)
    for place, path in enumerate(paths):
        x, y = place % _ACROSS_SHEET * wide, place // _ACROSS_SHEET * (high + line)
        painter.drawText(x + 4, y + line - 5, path.stem)
        room = QSize(wide - 8, high - 4)
        kept, smooth = (
            Qt.AspectRatioMode.KeepAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
        painter.drawImage(x + 4, y + line, QImage(str(path)).scaled(room, kept, smooth))
    painter.end()
    whole.save(str(out))


_MISSING: Final = ModelError("model.not-installed", code="model-missing", name="smollm2-135m")
_FACTOR: Final = "QT_SCALE_FACTOR"
_ACROSS_SHEET: Final = 3


def _shown(session: Session) -> Item:
    queued = session.texts.current
    assert queued is not None  # a text was just added, and what is added is shown
    return queued


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


def _text_of(pdf: bytes) -> str:
    """Return a digest of what the first page of a report says."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        return read(document[0].get_textpage().get_text_bounded())
    finally:
        document.close()


def _plain_text(count: int) -> str:
    samples = json.loads(resource("samples", "plain.json").read_text(encoding="utf-8"))
    return " ".join(text["text"] for text in samples["texts"][:count])


def _three_marks() -> str:
    """Return a document with three marks."""
    host = _plain_text(2)
    samples = json.loads(resource("samples", "marked-tbcc.json").read_text(encoding="utf-8"))
    first, *others = (text["text"].strip() for text in samples["texts"][:3])
    return "\n\n".join((host[:500], first, host[500:1000], *others, host[1000:1300]))


_PRINTED: Final = b"""#set page(paper: "a4", header: [Annual report], numbering: "1")
#set par(justify: true)
#for part in sys.inputs.text.split("\n\n") { par(part) }"""


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
        folder: Where they go.
    """

    def __init__(self, suffix: str = "", models: Path | None = None, folder: Path = OUT) -> None:
        from pura_audit.application import make_application
        from pura_audit.platform import diagnostics

        diagnostics.log_qt_messages()
        self._app = make_application()
        self._suffix, self._models = suffix, models or user_paths().models
        self._folder = folder
        self._marked: Audit | None = None
        self._three: Audit | None = None

    def take(self, only: Sequence[str]) -> int:
        """Take the pictures of these names, or all that README and guide show."""
        for name in only or (*PICTURES, *REPORTS):
            if name in REPORTS:
                pdf = self._first_report(REPORTS[name])
                page = QImage.fromData(render_pages(pdf, dpi=100, pages=range(1))[0])
                write(page, _text_of(pdf), _file(name))
            else:
                self._one(name, self._act(name), self._paint)
        return 0

    def old(self, only: tuple[str, ...]) -> list[str]:
        """Return those of these names whose picture shows what the program does not show now."""
        found: dict[str, str] = {}

        def note(name: str, widget: QWidget) -> None:
            found[name] = shown(widget)

        for name in only:
            if name in REPORTS:
                found[name] = _text_of(self._first_report(REPORTS[name]))
            elif name in PICTURES:
                self._one(name, self._act(name), note)
        return [name for name, shows in found.items() if shown_in(_file(name)) != shows]

    def _first_report(self, language: str) -> bytes:
        """Return the report of the sample."""
        then = replace(self._sample(), created=f"{ISSUED}T10:00:00+00:00")  # a month is a word
        return build_report([then], _request(language)).pdf

    def _paint(self, name: str, widget: QWidget) -> None:
        paint(widget, self._folder / f"{name}{self._suffix}.png")

    def _states(self) -> dict[str, Act]:
        """Return how the window is brought into each of its states."""
        return {
            "first-run": lambda _: None,
            "installing": self._installing,
            "empty": lambda _: None,
            "set-up": self._set_up,
            "issued": self._issued,
            "issued-none": lambda window: window.toggle_issued(),
            "mark-text": self._mark,
            "ready": self._ready,
            "busy": self._busy,
            "audit": self._audited,
            "marks": self._several,
            "pages": self._paged,
            "in-question": self._in_question,
            "no-finding": self._plain,
            "results": self._table,
            "error": self._bad_file,
            "crash": partial(self._failed, RuntimeError()),
            "model-missing": partial(self._failed, _MISSING),
            "disk-full": self._unsaved,
            "cancelled": self._cancelled,
            "settings": self._settings,
            "report-window": self._report,
            "report-check": self._check,
            "report-sign": self._sign,
            "side-by-side": self._side_by_side,
            "cases": self._cases,
            "case-save": self._save,
            "case-review": self._second_person,
            "case-check": self._check_log,
            **{name: partial(self._opened, name) for name in DIALOGS},
        }

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states."""
        return tuple(self._states())

    def _act(self, name: str) -> Act:
        """Return what a picture shows; the end of its name says theme, language and size."""
        if name == "audit-light":
            return self._tried
        self._sample()
        acts = self._states()
        return acts[name] if name in acts else acts[name.rpartition("-")[0]]

    def _one(self, name: str, act: Act, then: Callable[[str, QWidget], None]) -> None:
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
            keys = self._all_there(paths) if name.startswith("empty") else None
            end = name.rpartition("-")[2]
            theme = end if end in ("dark", "contrast") else "light"
            window = make_window(paths, theme=theme, session_keys=keys)
            window.resize(LOW.get(end, QSize(1280, 720) if name in SMALL else SIZE))
            window.show()
            chosen = window.session.chosen
            self._until(lambda: chosen.device is not None and chosen.catalogue is not None)
            try:
                shown = act(window) or window
                settle()
                then(name, shown)
            finally:
                window.session.close()
                window.close()
                window.deleteLater()
                settle(0)

    @staticmethod
    def _all_there(paths: Paths) -> dict[str, SecretKey]:
        """Put a profile and a key in place, so that nothing is left to set up."""
        found = sample()
        paths.profiles.mkdir(parents=True)
        (paths.profiles / "sample.json").write_text(found.profile.to_json(), encoding="utf-8")
        return {LABEL: found.key}

    def _until(self, condition: Callable[[], bool]) -> None:
        deadline = QDeadlineTimer(TIMEOUT_MS)
        while not condition():
            self._app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
            if deadline.hasExpired():
                raise TimeoutError("the window did not get there in time")

    def _sample(self) -> Audit:
        """Return the audit of the sample, made in English whichever picture comes first."""
        if self._marked is None:
            self._one("audit-light", self._tried, lambda *_: None)
        assert self._marked is not None  # it was audited now or before
        return self._marked

    def _tried(self, window: MainWindow) -> None:
        """Audit the sample."""
        window.try_sample()
        queued = _shown(window.session)
        self._until(lambda: queued.audit is not None and not queued.unkept)
        self._marked = queued.audit

    def _audited(self, window: MainWindow) -> None:
        """Show the sample; audited once, shown in many pictures."""
        window.session.texts.add_audit(self._sample())
        kept = _shown(window.session)
        self._until(lambda: not kept.unkept)

    def _several(self, window: MainWindow) -> None:
        """Show a document with three marks, the second of them selected."""
        if self._three is None:
            self._three = self._audit(window, _three_marks(), "annual report")
        else:
            window.session.texts.add_audit(self._three)
        settle()
        window.selection.select_mark(1)

    def _paged(self, window: MainWindow) -> None:
        """Show the pages of the same document as it was printed."""
        import typst

        path = window.session.environment.paths.data / "annual report.pdf"
        path.write_bytes(typst.compile(_PRINTED, sys_inputs={"text": _three_marks()}))
        window.session.texts.add_paths([path])
        queued = _shown(window.session)
        self._until(lambda: queued.document is not None)
        found = sample()
        queued.key = KeyChoice(label=LABEL, fingerprint=found.key.fingerprint, session=True)
        queued.profile = found.profile
        window.session.audits.audit([queued])
        self._until(lambda: queued.audit is not None)
        card = window.work.text
        card.tabs.setCurrentIndex(1)
        pane = card.pages
        assert pane is not None  # the window offers pages
        self._until(lambda: pane.view.evidence is not None)
        self._until(lambda: not (pane.view.missing() or pane.strip.missing()))
        window.selection.select_mark(1)
        self._until(lambda: not pane.view.missing())

    def _in_question(self, window: MainWindow) -> None:
        """Show a short piece of a marked text: a mark is found, its payload stays in question."""
        samples = json.loads(resource("samples", "marked-tbcc.json").read_text(encoding="utf-8"))
        self._audit(window, samples["texts"][0]["text"][:260], "paragraph")

    def _plain(self, window: MainWindow) -> None:
        self._audited(window)
        self._audit(window, _plain_text(1), "interview")

    def _table(self, window: MainWindow) -> None:
        """Show findings of several kinds as a table."""
        self._several(window)
        self._bad_file(window)
        self._audit(window, _plain_text(1), "interview")
        window.toggle_results()

    def _audit(self, window: MainWindow, text: str, name: str) -> Audit | None:
        queued = self._add(window, text, name)
        window.session.audits.audit([queued])
        self._until(lambda: queued.audit is not None)
        return queued.audit

    @staticmethod
    def _add(window: MainWindow, text: str, name: str) -> Item:
        found, session = sample(), window.session
        session.texts.add_text(text, name)
        queued = _shown(session)
        queued.key = KeyChoice(label=LABEL, fingerprint=found.key.fingerprint, session=True)
        queued.profile = found.profile
        session.texts.item_changed.emit()
        return queued

    def _settings(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench import opening

        self._until(lambda: window.session.chosen.catalogue is not None)
        return opening.show_settings(window)

    def _report(self, window: MainWindow) -> QWidget:
        """Show the report of the sample and of a text without a mark."""
        from pura_audit.workbench import opening

        self._plain(window)
        window.session.texts.show(window.session.texts.queue.items[0])
        dialog = opening.make_report(window, base=_request(), tick_all=True)
        assert dialog is not None  # there are audits
        preview = dialog.preview
        self._until(lambda: preview.built is not None and not preview.view.missing())
        return dialog

    def _check(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench import opening

        self._audited(window)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "R-2026-117.pdf"
            path.write_bytes(build_report([self._sample()], ReportRequest()).pdf)
            dialog = opening.verify_report(window, path)
            self._until(lambda: dialog.checked is not None)
        return dialog

    def _sign(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench import opening

        self._audited(window)
        return opening.sign_report(window, Path("R-2026-117.pdf"))

    def _cases(self, window: MainWindow) -> CasesDialog:
        """Show a log with three cases; one audit has been looked at by a second person."""
        from pura.caselog import CaseLog, open_case, save_audit, sign_off
        from pura_audit.workbench import opening

        self._plain(window)
        marked, plain = (queued.audit for queued in window.session.texts.queue.items)
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
            saved = save_audit(log, case.id, marked, who)
            save_audit(log, case.id, plain, who)
            sign_off(log, saved, second, agree=True, recomputed="The evidence, from the record.")
        window.session.settings.update(auditor="A. Example")
        dialog = opening.show_cases(window)
        self._until(lambda: dialog.pane.case is not None)
        return dialog

    def _save(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench import opening

        self._cases(window).accept()
        dialog = opening.save_to_case(window)
        assert dialog is not None  # there is an audit
        self._until(lambda: dialog.case.count() > 0)
        return dialog

    def _second_person(self, window: MainWindow) -> QWidget:
        browser = self._cases(window)
        assert browser.pane.case is not None
        dialog = browser.acts.ask_review(browser.pane.case)
        assert dialog is not None  # an audit is chosen
        return dialog

    def _check_log(self, window: MainWindow) -> QWidget:
        dialog = self._cases(window).acts.check_log()
        self._until(lambda: dialog.checks is not None)
        return dialog

    def _side_by_side(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench import opening

        self._audited(window)
        audited = _shown(window.session)
        assert audited.document is not None  # it was just audited
        words = audited.document.text.split(" ")[40:120]
        words[12:15] = ["in", "other", "words"]
        del words[50:52]
        window.session.texts.add_text("As has been written: " + " ".join(words), "letter")
        window.session.texts.show(audited)
        dialog = opening.show_side_by_side(window)
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
            queued = _shown(session)
            self._until(lambda: queued.failure is not None)

    def _busy(self, window: MainWindow) -> None:
        self._audited(window)
        queued = self._add(window, _plain_text(8), "newsletter")
        window.session.audits.audit([queued])
        self._until(lambda: queued.progress is not None and queued.progress.done > 0)

    def _house(self, window: MainWindow) -> Profile:
        """Choose a set-up whose payloads have fields."""
        found, session = sample(), window.session
        layout = parse_layout(FIELDS, found.profile.payload_bits)
        profile = found.profile.with_(fields=layout, name="Our assistant")
        save_profile(session.environment, profile=profile, name="house")
        session.environment.session_keys.add(found.key, LABEL)
        setup = StoredSetup(name=profile.name or "", profile="house", keys=(found.key.fingerprint,))
        setup_folder(session.environment).save(setup)
        session.chosen.use_setup(setup.name)
        self._until(lambda: session.chosen.ready)
        return profile

    def _issued(self, window: MainWindow) -> None:
        """Show the register of a small house, and who got one of its payloads."""
        profile = self._house(window)
        series = PayloadSeries.of(sample().key, profile)
        with Register(window.session.environment.paths.register, create=True) as register:
            for number in range(60):
                day = f"2026-{number % 11 + 1:02}-{number % 27 + 1:02}"
                payload_values = {"customer": 400 + number * 7919 % 997, "date": day}
                register.add(
                    Issue(
                        payload=pack(profile.fields, payload_values),
                        series=series,
                        who=PEOPLE[number % len(PEOPLE)],
                        when=day,
                        model="smollm2-135m",
                    )
                )
        window.toggle_issued()
        view = window.issued
        self._until(lambda: view.model.rowCount() == 60)
        view.form.set_payload(pack(profile.fields, payload_values))
        view.look_up()
        self._until(lambda: bool(view.answer.text()))

    def _mark(self, window: MainWindow) -> QWidget:
        """Show a text that was marked for somebody."""
        from pura_audit.workbench.mark_dialog import MarkDialog

        profile = self._house(window)
        window.actions_by_name["generate"].trigger()
        (dialog,) = window.findChildren(MarkDialog)
        dialog.prompt.setPlainText("The council met on Tuesday and")
        dialog.form.set_payload(pack(profile.fields, {"customer": 417, "date": ISSUED}))
        dialog.who.setText(PEOPLE[0])
        dialog.length.setValue(200)
        dialog.write.click()
        self._until(lambda: bool(dialog.text.toPlainText()))
        return dialog

    def _installing(self, window: MainWindow) -> None:
        """Show the first page while a model is fetched."""
        window.empty.setup.show_when(True)
        window.empty.setup.busy(Progress(step=0, name="install", done=30, total=100))

    def _failed(self, error: Exception, window: MainWindow) -> None:
        """Show what an error says where the answer would have stood."""
        self._ready(window)
        queued = _shown(window.session)
        if isinstance(error, PuraError):
            queued.failure = Failure.of(error)
        else:
            queued.failure = unexpected(error)
        queued.state = ItemState.FAILED
        window.session.texts.touch(queued)

    def _unsaved(self, window: MainWindow) -> None:
        """Show a finding that a full disk did not take."""
        self._audited(window)
        queued = _shown(window.session)
        queued.status, queued.imported = None, False
        queued.failure = Failure.of(CASE_LOG.fault("full", "database.full-hint"))
        window.session.texts.touch(queued)

    def _cancelled(self, window: MainWindow) -> None:
        self._ready(window)
        queued = _shown(window.session)
        queued.state = ItemState.CANCELLED
        window.session.texts.touch(queued)

    def _opened(self, name: str, window: MainWindow) -> QWidget | None:
        """Show a dialog of a command beside a finding."""
        self._audited(window)
        window.actions_by_name[name].trigger()
        settle()
        return next((d for d in window.findChildren(QDialog) if d.isVisible()), None)

    def _set_up(self, window: MainWindow) -> QWidget:
        from pura_audit.workbench import opening

        return opening.show_setup(window)

    def _ready(self, window: MainWindow) -> None:
        self._audited(window)
        window.session.texts.add_text(
            "A text that waits to be audited. The prompt can be given if it is known.", "statement"
        )


if __name__ == "__main__":
    sys.exit(main())
