"""What was issued: the table, its import, who got a payload; and a text that is marked."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from tests.app.records import LAYOUT
from tests.core.programs import lend

from pura.base.numerals import date
from pura.detect.options import AuditText
from pura.documents import from_text
from pura.keys.epochs import today
from pura.model.store import ModelCache
from pura.questions.store import AnsweredQuestion
from pura.register.issue_log import IssueLog
from pura.register.rows import Drawn, Issue
from pura.register.store import Register
from pura.register.verification import verify
from pura.scheme import Payload, PayloadSeries, Profile, pack, unpack
from pura.usecases.audits import Setup, audit
from pura.usecases.environment import Environment
from pura.usecases.questions import begin_questions
from pura_audit.session.choices import KeyChoice, ProfileChoice
from pura_audit.widgets.working_dialog import TableDialog
from pura_audit.workbench.mark_dialog import MarkDialog
from pura_audit.workbench.palette import Palette


def payload(customer: int, day: str = "2026-11-21") -> Payload:
    return pack(LAYOUT, {"customer": customer, "issued": day, "release": "1.4"})


@pytest.fixture
def engine(engine: Any) -> Any:
    engine.profile = engine.profile.with_(fields=LAYOUT)
    return engine


@pytest.fixture
def series(engine: Any) -> PayloadSeries:
    """What the payloads of the window's set-up belong to."""
    return PayloadSeries.of(engine.key, engine.profile)


@pytest.fixture
def issue(series: PayloadSeries) -> Callable[..., Issue]:
    """Makes the issue of a customer's payload: ``issue(417, who="City paper")``."""

    def made(customer: int, who: str = "", **more: str) -> Issue:
        day = f"2026-{customer % 12 + 1:02}-05"
        who = who or f"desk {customer}"
        return Issue(payload=payload(customer, day), series=series, who=who, when=day, **more)

    return made


@pytest.fixture
def view(window: Any, qtbot: Any) -> Any:
    window.toggle_issued()
    qtbot.waitUntil(lambda: bool(window.issued.heading.text()))
    return window.issued


def fill(paths: Any, issues: Any) -> None:
    with Register(paths.register, create=True) as register:
        register.add_many(enumerate(issues, start=1))


def column(view: Any, name: str) -> list[str]:
    at = view.model.columns.index(name)
    return [view.model.index(row, at).data() for row in range(view.model.rowCount())]


def ask(view: Any, qtbot: Any, words: str, place: str = "") -> None:
    with qtbot.waitSignal(view.model.modelReset):
        view.column.setCurrentIndex(view.column.findData(place))
        view.search.setText(words)


def test_an_empty_register_says_how_it_fills(view):
    assert view.heading.text() == "0 payloads issued"
    assert "Nothing was issued yet" in view.none.text()
    assert view.none.isVisible()
    assert not view.table.isVisible()
    assert not view.export.isEnabled()


def test_an_entry_says_until_when_its_question_is_kept(window, qtbot, paths, series, issue):
    """A column of its own once a question is kept and its key can be read; else none."""
    fill(paths, [issue(1), issue(2)])
    window.toggle_issued()
    view = window.issued
    qtbot.waitUntil(lambda: view.model.rowCount() == 2)
    place = view.model.columns.index("question")
    assert view.table.isColumnHidden(place)
    at = window.session.environment
    at.keys.files.unlock(bytearray(b"four words in a row"))
    kept = AnsweredQuestion(
        mark=series.mark(issue(2).payload), ids=np.arange(9), texts=("Which plants?",)
    )
    with begin_questions(at) as store:
        store.keep(kept)
        (until,) = store.kept().values()
    with qtbot.waitSignal(view.model.modelReset):
        view.refresh()
    assert not view.table.isColumnHidden(place)
    assert column(view, "question") == ["", date(until.isoformat(), "en")]


def test_a_hundred_thousand_rows_are_searched_and_sorted(window, qtbot, paths, series, issue):
    other = replace(series, key="f" * 16)
    fill(paths, (issue(n) for n in range(40_000)))
    fill(paths, (issue(n, model="large") for n in range(40_000, 65_536)))
    fill(
        paths,
        (
            Issue(payload=Payload.from_int(n, 40), series=other, who="another width")
            for n in range(34_464)
        ),
    )
    window.toggle_issued()
    view = window.issued
    qtbot.waitUntil(lambda: view.model.rowCount() == 100_000)
    assert view.heading.text() == "100,000 payloads issued"
    assert len(view.model._cells) < 500  # only what is on the screen was made out
    for words, place, found in (
        ("desk 4711", "", {"4711"}),
        ("4711", "customer", {"4711"}),
        ("65530..", "customer", {str(n) for n in range(65_530, 65_536)}),
        ("DESK 99", "who", {"99", *(str(n) for n in range(990, 1000))}),
        (payload(7, "2026-08-05").hex.lower(), "payload", {"7"}),
    ):
        ask(view, qtbot, words, place)
        got = set(column(view, "customer"))
        assert found <= got, words
        assert len(got) < 1200, words
    ask(view, qtbot, "2026-03..2026-04", "when")
    assert {when[:7] for when in column(view, "when")} == {"2026-03", "2026-04"}
    ask(view, qtbot, "2026-03-05", "issued")
    assert set(column(view, "when")) == {"2026-03-05"}
    view.search.setText("nonsense")
    view.column.setCurrentIndex(view.column.findData("customer"))
    qtbot.waitUntil(lambda: bool(view.words.text()))
    assert "“nonsense” is no value of “customer”" in view.words.text()
    ask(view, qtbot, "large", "model")
    view.table.sortByColumn(view.model.columns.index("customer"), Qt.SortOrder.DescendingOrder)
    qtbot.waitUntil(lambda: column(view, "customer")[0] == "65535")
    assert column(view, "customer") == [str(n) for n in range(65_535, 39_999, -1)]


def test_an_engines_log_comes_in_and_conflicts_are_shown(
    window, view, qtbot, paths, issue, tmp_path
):
    with IssueLog(tmp_path / "logs") as log:
        log.add_many(issue(n) for n in range(1500))
    view.import_from(tmp_path / "logs")
    assert view.bar.isVisible()
    assert not view.add.isEnabled()
    qtbot.waitUntil(lambda: view.heading.text() == "1,500 payloads issued")
    assert window.status.words.text() == (
        "1,500 entries were added to the register; it has 1,500 now."
    )
    assert not view.bar.isVisible()
    with IssueLog(tmp_path / "more") as log:
        log.add_many([issue(7, who="somebody else"), issue(9000), issue(9000, who="a third")])
    view.import_from(tmp_path / "more")
    qtbot.waitUntil(lambda: bool(window.findChildren(TableDialog)))
    shown = window.findChildren(TableDialog)[0]
    rows = [
        [shown.table.model().index(row, at).data() for at in range(2)]
        for row in range(shown.table.model().rowCount())
    ]
    assert [row[0] for row in rows] == ["3", "1"]
    assert "for “desk 9000”; here it is for “a third”" in rows[0][1]
    assert "entry 8, for “desk 7”; here it is for “somebody else”" in rows[1][1]
    with Register(paths.register, read_only=True) as register:
        assert len(register) == 1500  # all or nothing
    assert shown.act is None  # there is no other row
    shown.close()


def test_the_rows_without_a_conflict_come_in_when_they_are_asked_for(
    window, view, qtbot, paths, issue, tmp_path
):
    fill(paths, [issue(7)])
    rows = [issue(7, who="somebody else"), issue(9000), issue(9000, who="a third"), issue(8)]
    with IssueLog(tmp_path / "more") as log:
        log.add_many([*rows, issue(9)])
    view.import_from(tmp_path / "more")
    qtbot.waitUntil(lambda: bool(window.findChildren(TableDialog)))
    (shown,) = window.findChildren(TableDialog)
    assert shown.act.text() == "Import the other 2 rows"
    shown.act.click()
    qtbot.waitUntil(lambda: sorted(column(view, "who")) == ["desk 7", "desk 8", "desk 9"])
    assert window.status.words.text() == (
        "2 entries were added to the register; it has 3 now. 3 rows were left out."
    )
    with Register(paths.register, read_only=True) as register:
        assert verify(register).sound


def test_the_order_is_chosen_with_the_keyboard(window, view, qtbot, paths, issue):
    fill(paths, [issue(n) for n in (3, 1, 2)])
    view.refresh()
    qtbot.waitUntil(lambda: column(view, "customer") == ["3", "1", "2"])
    for wanted in (["1", "2", "3"], ["3", "2", "1"]):
        window.activateWindow()
        view.table.setFocus()
        qtbot.waitUntil(view.table.hasFocus)
        qtbot.keyClick(view.table, Qt.Key.Key_F4)
        (menu,) = (one for one in view.table.findChildren(QMenu) if one.isVisible())
        (entry,) = (one for one in menu.actions() if one.text() == "customer")
        menu.setActiveAction(entry)
        qtbot.keyClick(menu, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda wanted=wanted: column(view, "customer") == wanted)


def test_a_table_comes_in_and_an_import_is_stopped(window, view, qtbot, paths, tmp_path):
    table = tmp_path / "issued.csv"
    first, second = payload(1, "2026-01-02").text, payload(2).text
    rows = [f"{first},customer 1,2026-01-02,m", f"{second},customer 2,,m"]
    table.write_text("\n".join(["payload,who,when,model", *rows, ""]), encoding="utf-8")
    dialog = window.import_issued()
    dialog.fileSelected.emit(str(table))
    dialog.close()
    qtbot.waitUntil(lambda: column(view, "who") == ["customer 1", "customer 2"])
    table.write_text("payload,who,when,model\n0xZZ,customer 3,,m\n", encoding="utf-8")
    view.import_from(table)
    qtbot.waitUntil(lambda: bool(window.findChildren(TableDialog)))
    window.findChildren(TableDialog)[0].close()
    view.import_from(table)
    view.stop.click()
    qtbot.waitUntil(view.add.isEnabled)
    with Register(paths.register, read_only=True) as register:
        assert len(register) == 2


def test_who_got_this(window, view, qtbot, paths, issue):
    fill(paths, [issue(417, who="City paper", model="m")])
    view.refresh()
    window.actions_by_name["who"].trigger()
    assert window.focusWidget() is view.form.whole
    qtbot.waitUntil(lambda: view.model.rowCount() == 1)
    form, known = view.form, issue(417).payload
    said = {v.name: v.text for v in unpack(LAYOUT, known)}
    for typed in (known.hex, known.text):
        form.whole.clear()
        qtbot.keyClicks(form.whole, typed)
        assert {name: line.text() for name, line in form.lines.items()} == said
        qtbot.keyClick(form.whole, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: view.answer.text().startswith("To whom: City paper\nWhen: 2026"))
        view.answer.say("")
    form.whole.clear()
    form.whole.textEdited.emit("")
    assert not view.ask.isEnabled()
    for name, line in form.lines.items():
        line.clear()
        qtbot.keyClicks(line, said[name])
    assert form.whole.text() == known.hex  # each follows the other
    view.ask.click()
    qtbot.waitUntil(lambda: "City paper" in view.answer.text())
    assert view.table.currentIndex().row() == 0
    qtbot.keyClicks(form.lines["customer"], "9")
    view.ask.click()
    qtbot.waitUntil(lambda: "No entry has this payload" in view.answer.text())
    form.lines["customer"].clear()
    qtbot.keyClicks(form.lines["customer"], "none")
    assert "customer" in form._words.text()
    assert not view.ask.isEnabled()


@pytest.mark.parametrize(
    ("typed", "first"), [("register", "Issued payloads"), ("generate", "Mark a text …")]
)
def test_the_palette_finds_them_by_the_names_of_the_commands(window, qtbot, typed, first):
    palette = Palette(window, window.show_document)
    palette.open()
    qtbot.keyClicks(palette.line, typed)
    assert palette.found[0][0] == first
    palette.close()


@pytest.fixture
def marking(
    window: Any, small_models: Any, small_model: Any, small_samples: Any, sample_key: Any
) -> Callable[[Profile], tuple[MarkDialog, Setup]]:
    """Opens the form that marks a text with the small model and a key of the session."""
    session = window.session
    paths = session.environment.paths
    environment = Environment(paths=paths, device="cpu", held=ModelCache(lambda *_: small_model))
    lend(small_models, paths.models)
    session.environment = environment
    key = environment.session_keys.add(sample_key, "house")
    name = next(small_models.iterdir()).name
    session.chosen.keys = (KeyChoice(label="house", fingerprint=key.fingerprint, session=True),)
    session.chosen.model = replace(session.chosen.model, name=name)
    session.chosen.catalogue = replace(session.chosen.catalogue, models=(session.chosen.model,))

    def opened(profile: Profile) -> tuple[MarkDialog, Setup]:
        session.chosen.profiles = (ProfileChoice(name="house", profile=profile),)
        window.issued.mark.click()
        (dialog,) = window.findChildren(MarkDialog)
        return dialog, Setup(keys=(key,), profile=profile, model=name)

    return opened


@pytest.mark.model
def test_a_text_is_marked_copied_noted_and_read_again(
    window, view, qtbot, paths, marking, small_samples, tmp_path
):
    profile = Profile.from_dict(small_samples["marked-tbcc"]["profile"]).with_(
        fields=LAYOUT, payload_use="recipient"
    )
    dialog, setup = marking(profile)
    assert not dialog.write.isEnabled()
    dialog.prompt.setPlainText("The council met on Tuesday and")
    chosen = payload(417, today().isoformat())
    dialog.form.whole.setText(chosen.hex)
    dialog.form.whole.textEdited.emit("")
    dialog.length.setValue(20)
    assert dialog.few.isVisible()
    dialog.length.setValue(200)
    assert not dialog.few.isVisible()
    dialog.who.setText("City paper")
    dialog.write.click()
    qtbot.waitUntil(lambda: bool(dialog.made), timeout=60_000)
    text = dialog.made
    assert dialog.text.toPlainText() == text.replace("\N{NO-BREAK SPACE}", " ")
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == text
    dialog.write_to(tmp_path / "marked.txt")
    assert (tmp_path / "marked.txt").read_text(encoding="utf-8") == text
    with Register(paths.register, read_only=True) as register:
        (entry,) = register.entries()
    assert (entry.issue.who, entry.issue.payload) == ("City paper", chosen)
    read = audit(window.session.environment, setup, AuditText(document=from_text(text)))
    assert read.audit.payload.bits == chosen.text
    dialog.who.setText("Another")  # one payload points to one recipient
    dialog.write.click()
    qtbot.waitUntil(lambda: "under the same key and profile already" in dialog.words.text())
    dialog.close()


@pytest.mark.model
def test_a_payload_without_fields_is_drawn_for_its_recipient(
    window, view, qtbot, paths, marking, small_samples
):
    dialog, setup = marking(Profile.from_dict(small_samples["marked-tbcc"]["profile"]))
    assert not dialog.form.isVisible()
    dialog.prompt.setPlainText("The council met on Tuesday and")
    dialog.length.setValue(20)
    drawn = []
    for who in ("City paper", "Another"):
        dialog.who.clear()
        assert not dialog.write.isEnabled()
        dialog.who.setText(who)
        dialog.write.click()
        qtbot.waitUntil(lambda who=who: f"issued to “{who}”" in dialog.words.text())
        with Register(paths.register, read_only=True) as register:
            *_, entry = register.entries()
        assert (entry.issue.who, entry.issue.drawn) == (who, Drawn.RANDOM)
        assert entry.issue.series == PayloadSeries(
            key=setup.keys[0].fingerprint, profile=setup.profile.fingerprint
        )
        drawn.append(entry.issue.payload)
    assert drawn[0] != drawn[1]
    dialog.close()
