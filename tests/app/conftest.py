"""The window with an engine of its own: no model, no keyring, everything else real."""

from __future__ import annotations

import itertools
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from PySide6.QtCore import Qt
from tests.app.records import make_audit, make_unexamined

from pura.base.errors import PuraError
from pura.base.paths import Paths, user_paths
from pura.base.progress import Checkpoint, Progress, Stage
from pura.detect.options import AuditText, Notice
from pura.detect.unexamined import audit_contained
from pura.detect.verdict.policy import default_policy
from pura.keys import Place, State
from pura.model.device import Device
from pura.model.folder import InstalledModel
from pura.record.audit import Audit
from pura.record.evidence import MarkFacts
from pura.record.naming import CandidateFacts, Passage
from pura.record.surroundings import KeyFacts
from pura.scheme import Profile, SecretKey
from pura.usecases.audits import Audited, Setup, UnreadFile
from pura.usecases.environment import Environment
from pura_audit import application
from pura_audit.platform.i18n import set_language
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.choices import Inventory, KeyChoice, ProfileChoice
from pura_audit.workbench.main_window import MainWindow


class TestEngine:
    """Audits at once, or waits at a gate until it is opened or cancelled."""

    __test__ = False

    def __init__(self, profile: Profile, key: SecretKey) -> None:
        self.profile, self.key = profile, key
        self.environment = Environment(paths=user_paths())
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self.error: Exception | None = None
        self.threads: set[str] = set()
        self.asked: list[Any] = []
        self.setups: list[Setup] = []
        self.empty = False
        self.together = 1
        self.trips = ""
        self.groups: list[int] = []
        self.looks: tuple[tuple[int, float], ...] = ()

    @staticmethod
    def installed(name: str, vocab_size: int, tokenizer: str) -> InstalledModel:
        here = Path("/models") / name
        return InstalledModel(
            name=name,
            folder=here,
            path=here,
            source="folder tiny",
            licence="MIT",
            fingerprint="a" * 16,
            tokenizer_fingerprint=tokenizer,
            architecture="TinyForCausalLM",
            parameters=135_000_000,
            dtype="F32",
            vocab_size=vocab_size,
            weights="safetensors",
            size_bytes=540_000_000,
            created="2026-11-21T00:00:00+00:00",
            files={},
        )

    def catalogue(self) -> Inventory:
        self.threads.add(threading.current_thread().name)
        if self.empty:
            return Inventory()
        profile = self.profile
        return Inventory(
            keys=(KeyChoice(label="Newsroom 2026", fingerprint=self.key.fingerprint),),
            models=(self.installed("tiny", profile.vocab_size, profile.tokenizer or "b" * 16),),
            profiles=(ProfileChoice(name="internal", profile=self.profile),),
            place=Place.KEYRING,
            keyring=State.READY,
            backend="Test ring",
            policy=default_policy(),
        )

    def device(self) -> Device:
        return Device(kind="cpu", name="Test chip", dtype="float32", reason="device.asked-cpu")

    @contextmanager
    def prepared(self, setup: Setup) -> Iterator[TestReader]:
        self.setups.append(setup)
        yield TestReader(self, setup)

    def audit(self, setup: Setup, text: AuditText | UnreadFile, context: Told) -> Audited:
        self.asked.append(text)
        self.threads.add(threading.current_thread().name)
        context.progress(Stage(number=5, name="reading", done=1, total=10))
        for done, log10_e in self.looks:
            stage = Stage(number=5, name="reading", done=done, total=10_000, log10_e=log10_e)
            context.progress(stage)
        self.entered.set()
        while not self.gate.wait(0.005):
            context.checkpoint()
        context.checkpoint()
        if self.error is not None:
            raise self.error
        if isinstance(text, AuditText) and text.document.name == self.trips:
            raise RuntimeError
        if isinstance(text, UnreadFile):
            return make_unexamined(text, setup.profile, self.key)
        document = text.document
        audit = make_audit(document.text, setup.profile, self.key)
        source = replace(
            audit.input,
            part=document.part,
            left_out=document.left_out,
            examined_words=document.examined_words,
        )
        return Audited(audit=replace(audit, id=uuid.uuid4().hex, input=source))


class Told(NamedTuple):
    progress: Progress
    checkpoint: Checkpoint


class TestReader:
    """Audits one after the other what it takes together."""

    __test__ = False

    def __init__(self, engine: TestEngine, setup: Setup) -> None:
        self._engine, self._setup = engine, setup

    def stream(
        self, items: Any, *, progress: Progress, checkpoint: Checkpoint
    ) -> Iterator[tuple[Any, Audited | PuraError]]:
        at = Told(progress, checkpoint)
        while group := list(itertools.islice(items, self._engine.together)):
            self._engine.groups.append(len(group))
            found = audit_contained(
                [item for _, item in group],
                lambda some, alone: [self._audit(item, alone, at) for item in some],
                folder=self._engine.environment.paths.state,
            )
            yield from zip((name for name, _ in group), found, strict=True)

    def _audit(self, item: Any, alone: bool, at: Told) -> Audited | PuraError:
        try:
            found = self._engine.audit(self._setup, item, at)
        except PuraError as error:
            return error
        return replace(found, notices=(Notice.READ_ALONE,)) if alone else found


@pytest.fixture(scope="session")
def spc(samples) -> Profile:
    return Profile.from_dict(samples["marked"]["profile"])


@pytest.fixture(scope="session")
def tbcc(samples) -> Profile:
    return Profile.from_dict(samples["marked-tbcc"]["profile"])


@pytest.fixture(scope="session")
def text(samples) -> str:
    return str(samples["marked"]["texts"][0]["text"])


@pytest.fixture(scope="session")
def qapp_cls() -> type:
    from PySide6.QtWidgets import QApplication

    return QApplication


@pytest.fixture(scope="session")
def app(qapp):
    return application.make_application()


class Clock:
    """Says what a test sets it to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(tbcc, sample_key) -> TestEngine:
    return TestEngine(tbcc, sample_key)


@pytest.fixture
def paths() -> Paths:
    return user_paths()


@pytest.fixture
def start(app, qtbot, engine, paths) -> Iterator[Any]:
    """Opens the window of the user, once more each time; what was opened is closed at the end."""
    made: list[MainWindow] = []

    def start(size: tuple[int, int] = (1440, 900), **settings: Any) -> MainWindow:
        if settings:
            SettingsFile(paths.config).update(**settings)
        window = application.make_window(paths, engine=engine, theme="light")
        made.append(window)
        qtbot.addWidget(window)
        window.resize(*size)  # larger than the screen of the tests
        window.show()
        qtbot.waitUntil(
            lambda: None not in (window.session.chosen.catalogue, window.session.chosen.device)
        )
        return window

    yield start
    engine.gate.set()
    for window in made:
        window.session.close()
    set_language("en")


@pytest.fixture
def window(start, qtbot) -> MainWindow:
    made: MainWindow = start()
    made.session.settings.update(begin_audits=False)  # a test that drops a text has it as it came
    qtbot.keyRelease(made, Qt.Key.Key_Control)  # else one of a test before counts as held
    qtbot.waitUntil(lambda: made.session.chosen.ready)
    return made


@pytest.fixture
def german(start) -> MainWindow:
    """The window in German, whose words are longer."""
    made: MainWindow = start(language="de")
    made.session.settings.update(begin_audits=False)
    return made


@pytest.fixture
def audit(text, tbcc, sample_key) -> Audit:
    return make_audit(text, tbcc, sample_key)


@pytest.fixture
def several(audit) -> Audit:
    """An audit with three marks, of which the last belongs to another key."""
    size = audit.tokens.ids.size
    keys = (audit.key, KeyFacts(fingerprint="f" * 16, label="Archive"))
    marks = []
    for number, first in enumerate((0, size // 4, size // 2)):
        last = first + size // 5
        start, end = int(audit.tokens.spans[first, 0]), int(audit.tokens.spans[last, 1])
        bits = format(number * 77_777_777, f"0{audit.profile.payload_bits}b")
        marks.append(
            MarkFacts(
                key=keys[number == 2].fingerprint,
                bits=bits,
                fields=(),
                passages=(Passage(first_token=first, last_token=last, start=start, end=end),),
                share=0.2,
                candidates=(CandidateFacts(bits=bits, posterior=(1.0, 0.6, 0.995)[number]),),
                own_log10_e=12.0 - number,
            )
        )
    return replace(audit, keys=keys, marks=tuple(marks), passages=marks[0].passages)
