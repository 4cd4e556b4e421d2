"""Every text of the window in both languages: complete, careful in its words, and with room."""

import ast
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFileDialog,
    QLabel,
    QMessageBox,
    QWidget,
)
from tests.app.every_dialog import opened_dialogs
from tests.app.room import faults

import pura_audit
from pura.base.errors import ModelError
from pura.base.paths import resource
from pura.words.sentences import forbidden
from pura_audit.jobs.queue import JobQueue, Progress
from pura_audit.platform import i18n
from pura_audit.session.queue_model import ItemState, case_words

SOURCES = sorted(Path(pura_audit.__file__).parent.rglob("*.py"))
# Not texts: a name, and a key that is called the same in every language.
UNTRANSLATED = re.compile(r"PURA Audit|\bEsc\b")
SHOWS = re.compile(
    "Q(Label|PushButton|ToolButton|CheckBox|RadioButton|GroupBox|Action)|ElidedLabel"
    "|label|button|say|emit|add(Action|Menu|Item|Button)"
    "|set(Text|ToolTip|AccessibleName|AccessibleDescription|WindowTitle|PlaceholderText|Title)"
    "|set(StatusTip|LabelText|InformativeText)"
)


@pytest.fixture(autouse=True)
def _language_of_the_system() -> Iterator[None]:
    """Whatever language a test speaks, the next one does not."""
    yield
    i18n.set_language(None)


@dataclass(frozen=True)
class Message:
    context: str
    source: str
    translation: str
    finished: bool


@cache
def in_the_code() -> tuple[list[tuple[str, str]], list[str]]:
    """Return every text that is wrapped, and every call whose text cannot be collected."""
    texts, strange = [], []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "translate":
                try:
                    context, text = map(ast.literal_eval, node.args)
                    texts.append((context, text))
                except ValueError:
                    strange.append(f"{path.name}:{node.lineno}")
    return texts, strange


@cache
def catalogue(language: str) -> tuple[Message, ...]:
    root = ET.parse(resource("languages", language, "window.ts")).getroot()
    return tuple(
        Message(
            context=context.findtext("name") or "",
            source=message.findtext("source") or "",
            translation=message.findtext("translation") or "",
            finished=message.find("translation").get("type") is None,  # type: ignore[union-attr]
        )
        for context in root.iter("context")
        for message in context.iter("message")
    )


def test_every_text_can_be_collected():
    texts, strange = in_the_code()
    assert strange == []
    assert len(texts) > 200


def test_no_text_is_shown_without_translation():
    bare = []
    for path in SOURCES:
        if path.name in ("demo.py", "screenshots.py", "__main__.py"):
            continue  # speak to a terminal, in English like every command of the project
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func).rpartition(".")[2]
            if not SHOWS.fullmatch(called):
                continue
            bare += [
                f"{path.name}:{node.lineno} {text!r}"
                for value in node.args[:2]
                for text in written(value)
                if re.search(r"[A-Za-z]{2}", UNTRANSLATED.sub("", text))
                and not (called == "label" and value is not node.args[0])  # its role
            ]
    assert bare == []


def written(node: ast.expr) -> list[str]:
    """Return the texts that stand in an argument as such."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        parts = [v.value for v in node.values if isinstance(v, ast.Constant)]
        return [p for p in parts if isinstance(p, str)]
    if isinstance(node, ast.IfExp):
        return [*written(node.body), *written(node.orelse)]
    return []


@pytest.mark.parametrize("language", i18n.CATALOGUES)
def test_the_catalogue_holds_every_text_and_no_other(language):
    wanted = set(in_the_code()[0])
    held = {(m.context, m.source) for m in catalogue(language)}
    assert sorted(wanted - held) == [], "not translated: run make translations, then fill them in"
    assert sorted(held - wanted) == [], "gone from the code: run make translations"
    assert [m for m in catalogue(language) if not m.finished or not m.translation.strip()] == []


@pytest.mark.parametrize("language", i18n.CATALOGUES)
def test_the_compiled_catalogue_says_what_the_written_one_says(app, language):
    translator = QTranslator()
    assert translator.load("window", str(resource("languages", language)))
    stale = [
        m.source
        for m in catalogue(language)
        if translator.translate(m.context, m.source) != m.translation
    ]
    assert stale == [], "run make translations"


@pytest.mark.parametrize("language", i18n.CATALOGUES)
def test_a_translation_is_built_like_its_text(language):
    def marks(text: str) -> tuple[object, ...]:
        return (
            text.count("&"),
            text.rstrip()[-1] in ".?",
            text.endswith("…"),
            text.endswith(":"),
            text.count(" · "),
            text == text.strip(),
        )

    odd = [
        (m.source, m.translation)
        for m in catalogue(language)
        for count in (1, 2)
        if marks(sample(m.source, count)) != marks(sample(m.translation, count))
    ]
    assert odd == []


# Blanks


def blanks(text: str) -> set[tuple[str, str]]:
    """Return name and kind of every blank; a choice of forms counts where it alone uses a value."""
    found = set(re.findall(r"\{(\w+):(\w+)", text))
    written = {name for name, kind in found if kind != "plural"}
    return {(name, kind) for name, kind in found if kind != "plural" or name not in written}


def sample(text: str, count: int) -> str:
    """Return a text with something in its blanks."""
    values: dict[str, str | int] = {
        name: "x" if kind == "text" else count for name, kind in blanks(text)
    }
    return i18n.filled(text, **values)


@pytest.mark.parametrize("language", i18n.CATALOGUES)
def test_a_translation_has_the_blanks_of_its_text(language):
    held = catalogue(language)
    assert sum(bool(blanks(m.source)) for m in held) > 100
    assert [m for m in held if blanks(m.source) != blanks(m.translation)] == []
    # What is left of a brace or of Qt's own blanks belongs to one that is not written as it should.
    texts = [text for m in held for text in (m.source, m.translation)]
    assert [t for t in texts if re.search(r"[{}]|%\d", sample(t, 1) + sample(t, 2))] == []


def test_every_blank_gets_its_value():
    odd, checked = [], 0
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
        for function in functions:
            for node in ast.walk(function):
                if not isinstance(node, ast.Call) or ast.unparse(node.func) != "filled":
                    continue
                texts = texts_of(node.args[0], function)
                checked += bool(texts)
                given = {keyword.arg for keyword in node.keywords}
                known = {name for text in texts for name, _ in blanks(text)}
                needed = {name for name, _ in blanks(texts[-1])} if texts else given
                if not (needed <= given and (given <= known or not texts)):
                    odd.append(f"{path.name}:{node.lineno} {given ^ needed}")
    assert odd == []
    assert checked > 90


def texts_of(node: ast.expr, function: ast.FunctionDef) -> list[str]:
    """Return the texts that an argument may hold: those in the call, or in its name before it."""
    places: list[ast.AST] = [node]
    if isinstance(node, ast.Name):
        places = [
            statement.value
            for statement in ast.walk(function)
            if isinstance(statement, ast.Assign)
            and ast.unparse(statement.targets[0]) == node.id
            and statement.lineno < node.lineno
        ]
    calls = [
        call
        for place in places
        for call in ast.walk(place)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "translate"
    ]
    return [ast.literal_eval(c.args[1]) for c in sorted(calls, key=lambda call: call.lineno)]


def test_a_value_is_never_read_for_blanks():
    name = "{file:text} {n:plural(a|b)} {x}.txt"
    assert i18n.filled("“{file:text}” is saved.", file=name, n=1) == f"“{name}” is saved."


def test_a_text_chooses_its_form_in_both_languages(app):
    def words(count: int) -> str:
        return i18n.filled(
            i18n.translate("Folder", "{n:count} {n:plural(file|files)} taken from the folder."),
            n=count,
        )

    i18n.set_language("en")
    assert words(1) == "1 file taken from the folder."
    assert words(12345) == f"{i18n.number(12345)} files taken from the folder."
    i18n.set_language("de")
    assert words(1) == "1 Datei aus dem Ordner genommen."
    assert words(2) == "2 Dateien aus dem Ordner genommen."


def test_german_quotes_and_spellings_are_german():
    for message in catalogue("de"):
        assert not re.search(r"[“”\"]|\bCtrl\b|\bReturn\b|--|\.\.\.", message.translation), message


def test_the_same_text_has_one_translation_where_it_means_the_same():
    found: dict[str, set[str]] = {}
    for message in catalogue("de"):
        found.setdefault(message.source, set()).add(message.translation)
    assert {s: t for s, t in found.items() if len(t) > 1} == {}


def test_no_text_of_the_window_says_too_much():
    said = [(text, "en") for _, text in in_the_code()[0]]
    said += [(m.translation, "de") for m in catalogue("de")]
    assert [(text, f) for text, language in said for f in forbidden(text, language)] == []


# The window in another language


SIZE = (1280, 720)


def visible_texts(root: QWidget) -> list[str]:
    widgets = [w for w in root.findChildren(QWidget) if w.isVisibleTo(root)]
    texts = [w.text() for w in widgets if isinstance(w, QLabel | QAbstractButton)]
    return texts + [w.toolTip() for w in widgets] + [w.accessibleName() for w in widgets]


def test_the_window_speaks_german(start, audit):
    english = {m.source for m in catalogue("de") if m.source != m.translation}
    window = start(SIZE, language="de")
    assert window.header.audit.text() == "Untersuchen   Strg+⏎"
    left = [t for t in visible_texts(window) if t in english]
    window.session.texts.add_audit(audit)
    QApplication.processEvents()
    assert window.work.answer.heading.text() == "Eine Markierung wurde gefunden"
    left += [t for t in visible_texts(window) if t in english]
    left += [a.text() for a in window.actions_by_name.values() if a.text() in english]
    assert left == []
    # Qt's own words too, those of its standard buttons for one.
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Abbrechen"


def test_numbers_follow_the_language():
    i18n.set_language("de")
    assert i18n.decimal(-1234.5, 1) == "\N{MINUS SIGN}1234,5"
    assert i18n.size(93_400_000) == "93,4 MB"
    assert QLocale().language() == QLocale.Language.German
    i18n.set_language("en")
    assert i18n.decimal(1.5, 1) == "1.5"
    assert QLocale().language() == QLocale.Language.English


def test_the_language_of_the_system_is_followed(tmp_path):
    code = (
        "from pathlib import Path; import sys\n"
        "from pura_audit import application\n"
        "from pura_audit.platform import i18n\n"
        "application.make_application(); i18n.set_language(None)\n"
        "print(i18n.language(), i18n.translate('Menu', 'Quit'))"
    )
    for locale, words in (("de_CH.UTF-8", "de Beenden"), ("fr_FR.UTF-8", "en Quit")):
        environment = os.environ | {"LC_ALL": locale, "LANG": locale, "LANGUAGE": ""}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.strip() == words, done.stderr


class Longer(QTranslator):
    """A language whose every text is 40 % longer."""

    def isEmpty(self) -> bool:
        return False

    def translate(
        self, _context: str, text: str, _disambiguation: str | None = None, _n: int = -1
    ) -> str:
        extra = max(1, round(0.4 * len(text)))
        words = "mehr Worte sind hier nun einmal nötig "
        return f"{text} {(words * (extra // len(words) + 1))[:extra]}".rstrip()


@pytest.fixture
def long_texts(app, start) -> Iterator[Any]:
    """Opens a window in which every text is longer. ``test_room.py`` looks at the German one."""
    translator = Longer()
    app.installTranslator(translator)
    yield partial(start, SIZE, language="en")
    app.removeTranslator(translator)


def clipped(root: QWidget) -> list[str]:
    """Return the faults of whatever has words."""
    return [fault for fault in faults(root) if "“”" not in fault]


def settle(qtbot: Any, window: Any) -> None:
    """Wait until nothing is on its way any more, and is laid out."""
    queues = window.session.jobs.findChildren(JobQueue)
    for _ in range(3):  # what came may ask for more
        qtbot.waitUntil(lambda: not any(queue.busy for queue in queues))
        QApplication.processEvents()


def test_nothing_is_clipped(long_texts, qtbot, engine, audit, text):
    def check(window: Any, state: str) -> None:
        settle(qtbot, window)
        assert window.size().toTuple() == SIZE
        assert clipped(window) == [], state

    engine.empty = True
    window = long_texts()
    check(window, "first-run")
    window.session.close()
    engine.empty = False
    window = long_texts()
    session = window.session
    check(window, "empty")
    session.texts.add_text(text)
    item = session.texts.current
    reading = Progress(step=5, name="reading", done=3, total=10, seconds_left=70)
    for state in ("ready", "running", "failed"):
        item.state = ItemState(state)
        item.progress = reading if state == "running" else None
        session.texts.item_changed.emit()
        check(window, state)
    session.texts.add_audit(audit)
    check(window, "done")


def test_nothing_is_clipped_in_the_dialogs(long_texts, qtbot, audit):
    window = long_texts()
    window.session.texts.add_audit(audit)
    settle(qtbot, window)
    found = {}
    for name, act in opened_dialogs(window).items():
        dialog = act()
        if dialog is None or isinstance(dialog, QFileDialog | QMessageBox):
            continue  # Qt draws these itself
        settle(qtbot, window)
        if words := clipped(dialog):
            found[name] = words
        dialog.done(0)
    assert found == {}


def test_an_error_is_shown_in_the_language_of_the_window(start, qtbot, engine, text):
    engine.error = ModelError("model.memory", name="CPU")
    window = start(language="de")
    window.session.texts.add_text(text)
    window.audit()
    item = window.session.texts.queue.items[0]
    qtbot.waitUntil(lambda: item.state is ItemState.FAILED)
    assert item.failure.message.startswith("Für dieses Modell und diesen Text reicht der Speicher")
    assert item.failure.hint.startswith("Schließen Sie andere Programme")


def test_the_case_for_all_the_rest_has_a_german_name(app):
    from pura.caselog.cases import UNFILED

    i18n.set_language("de")
    assert case_words(UNFILED) == "Nicht zugeordnet"
    assert case_words("Thesis") == "Thesis"
    i18n.set_language("en")
    assert case_words(UNFILED) == "Unfiled"
