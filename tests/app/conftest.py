"""The window with an engine of its own: no model, no keyring, everything else real."""

from __future__ import annotations

import importlib.util
import itertools
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PySide6.QtCore import Qt

from pura.audit.options import AuditText, Notice
from pura.audit.unexamined import Means, audit_contained, unexamined
from pura.base.errors import PuraError
from pura.base.paths import Paths, user_paths
from pura.base.progress import Checkpoint, Progress, Stage
from pura.decode.paper import decode
from pura.extract.local import local_evidence
from pura.keys import Place, State
from pura.model.device import Device
from pura.model.folder import InstalledModel
from pura.record.audit import Audit, Sentence
from pura.record.evidence import (
    BitEvidence,
    EvidenceFacts,
    MarkFacts,
    PayloadFacts,
    StepEvidence,
    TokenEvidence,
)
from pura.record.naming import CandidateFacts, Passage
from pura.record.surroundings import (
    DeviceFacts,
    InputFacts,
    KeyFacts,
    ModelFacts,
    PromptFacts,
    StepReport,
)
from pura.scheme import Profile, SecretKey, schedule
from pura.usecases.audits import Audited, Setup, UnreadFile
from pura.usecases.environment import Environment
from pura.verdict.policy import default_policy
from pura_audit import application
from pura_audit.platform.i18n import set_language
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.choices import (
    Inventory,
    KeyChoice,
    ProfileChoice,
)
from pura_audit.workbench.main_window import MainWindow


def make_audit(text: str, profile: Profile, key: SecretKey, *, verdict: str = "mark") -> Audit:
    """Build a record: real schedule, local evidence and decoding over invented intervals."""
    rng = np.random.default_rng(7)
    spans = np.array([m.span() for m in re.finditer(r"\s*\S+|\s+$", text)], dtype=np.int64)
    size = len(spans)
    ids = rng.integers(0, profile.vocab_size, size)
    entropy = rng.uniform(0.5, 8.0, size)
    lo = rng.uniform(0, 0.9, size)
    hi = lo + rng.uniform(0.001, 0.1, size)
    plan = schedule(ids, entropy, key, profile)
    local = local_evidence(plan, lo, hi, profile)
    per_token = np.zeros(size)
    per_token[plan.token] = rng.normal(0.3, 0.6, len(plan))
    if profile.code == "spc":
        found = decode(plan, local, profile)
        bits = _bits(found.llr_nats, found.readings, found.codeword, profile)
        payload = "".join(map(str, found.payload.bits))
    else:
        n = profile.codeword_length
        bits = _bits(rng.normal(0, 20, n), rng.integers(0, 4, n), rng.integers(0, 2, n), profile)
        payload = "01" * (profile.payload_bits // 2)
    passages = (
        (Passage(first_token=0, last_token=size - 1, start=0, end=len(text)),)
        if verdict == "mark"
        else ()
    )
    mark = Sentence(
        key="outcome.mark",
        values={
            "rule": "default/1",
            "one_in": 1_000_000,
            "capped": 1,
            "lr": 1e6,
            "word": "extremely strong",
        },
    )
    none = Sentence(key="outcome.insufficient-not-measured", values={"n": len(plan)})
    found_mark = verdict == "mark"
    return Audit(
        id="0" * 32,
        created="2026-11-21T00:00:00+00:00",
        input=InputFacts(
            name="memo.txt",
            sha256="0" * 64,
            size_bytes=len(text.encode()),
            characters=len(text),
            tokens=size,
        ),
        text=text,
        prompt=PromptFacts(),
        key=KeyFacts(fingerprint=key.fingerprint, label="Test"),
        keys=(KeyFacts(fingerprint=key.fingerprint, label="Test"),),
        profile=profile,
        model=ModelFacts(
            name="tiny",
            fingerprint="a" * 16,
            tokenizer="b" * 16,
            architecture="Tiny",
            parameters=1,
            vocab_size=profile.vocab_size,
            context_length=64,
            weights="safetensors",
        ),
        device=DeviceFacts(kind="cpu", name="Test", dtype="float32", reason="Test."),
        tokens=TokenEvidence(
            ids=ids,
            spans=spans,
            entropy_bits=entropy,
            lo=lo,
            hi=hi,
            gate=plan.gate,
            log10_evidence=per_token,
            marked=np.ones(size),
        ),
        steps=StepEvidence(
            token=plan.token,
            arity=plan.arity,
            phase=plan.phase,
            index=plan.index,
            llr_nats=local.llr_nats,
        ),
        bits=bits,
        decoded=PayloadFacts(bits=payload, posterior=np.ones(len(payload)), repaired=1),
        decoder="exact",
        candidates=(
            CandidateFacts(bits=payload, posterior=0.995),
            CandidateFacts(bits=payload[::-1], posterior=0.005),
        ),
        evidence=EvidenceFacts(
            log10_e=12.0 if found_mark else 0.1,
            p_bound=1e-6,
            p_redraw=0.001,
            draws=999,
            seed=1,
            scale_word="extremely strong" if found_mark else "no useful support either way",
            power=None,
            keys_tried=1,
            usable=len(plan),
            needed=None,
            lr_capped=1e6 if found_mark else 1.2,
            capped=found_mark,
        ),
        verdict=verdict,
        sentences=(mark if found_mark else none, Sentence(key="note.n1")),
        cautions=(Sentence(key="caution.prompt-unknown"),),
        passages=passages,
        register=None,
        policy={"t_found": 6.0},
        log=tuple(StepReport(number=i, name="step", done=True) for i in range(1, 13)),
        versions={},
    )


def make_unexamined(item: UnreadFile, profile: Profile, key: SecretKey) -> Audited:
    """Build the record of a file that no text could be made of."""
    like = make_audit("a text", profile, key)
    found = replace(
        like.input, name=item.name, sha256=item.sha256, size_bytes=item.size_bytes, tokens=0
    )
    means = Means(
        keys=like.keys,
        profile=profile,
        model=like.model,
        device=like.device,
        policy=default_policy(),
        decoder="exact",
    )
    audit = unexamined(found, item.error, means, ())
    return Audited(audit=audit, error=item.error)


def _bits(
    llr: np.ndarray, readings: np.ndarray, word: np.ndarray, profile: Profile
) -> tuple[BitEvidence, ...]:
    size = profile.payload_bits // profile.block_count + 1
    return tuple(
        BitEvidence(
            position=i,
            llr_nats=float(llr[i]),
            readings=int(readings[i]),
            bit=int(word[i]),
            repaired=bool(readings[i]) and int(llr[i] >= 0) != int(word[i]),
            parity=profile.code == "spc" and i % size == size - 1,
            weak=bool(abs(llr[i]) < 2),
        )
        for i in range(len(llr))
    )


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
        audit = make_audit(text.document.text, setup.profile, self.key)
        return Audited(audit=replace(audit, id=uuid.uuid4().hex))


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
def spc(samples: dict[str, Any]) -> Profile:
    return Profile.from_dict(samples["marked"]["profile"])


@pytest.fixture(scope="session")
def tbcc(samples: dict[str, Any]) -> Profile:
    return Profile.from_dict(samples["marked-tbcc"]["profile"])


@pytest.fixture(scope="session")
def text(samples: dict[str, Any]) -> str:
    return str(samples["marked"]["texts"][0]["text"])


@pytest.fixture(scope="session")
def qapp_cls() -> type:
    from PySide6.QtWidgets import QApplication

    return QApplication


@pytest.fixture(scope="session")
def app(qapp: Any) -> Any:
    return application.make_application()


@pytest.fixture
def engine(tbcc: Profile, sample_key: SecretKey) -> TestEngine:
    return TestEngine(tbcc, sample_key)


@pytest.fixture
def paths() -> Paths:
    return user_paths()


@pytest.fixture
def window(app: Any, qtbot: Any, engine: TestEngine, paths: Paths) -> Iterator[MainWindow]:
    made = application.make_window(paths, engine=engine, theme="light")
    made.session.settings.update(begin_audits=False)  # a test that drops a text has it as it came
    qtbot.addWidget(made)
    made.resize(1440, 900)  # the screen of the tests is smaller than that
    made.show()
    qtbot.keyRelease(made, Qt.Key.Key_Control)  # else one of a test before counts as held
    qtbot.waitUntil(lambda: made.session.chosen.ready and made.session.chosen.device is not None)
    yield made
    engine.gate.set()
    made.session.close()


@pytest.fixture
def german(app: Any, qtbot: Any, engine: TestEngine, paths: Paths) -> Iterator[MainWindow]:
    """The window in German, whose words are longer."""
    SettingsFile(paths.config).update(language="de")
    made = application.make_window(paths, engine=engine, theme="light")
    made.session.settings.update(begin_audits=False)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(
        lambda: made.session.chosen.catalogue is not None and made.session.chosen.device is not None
    )
    yield made
    engine.gate.set()
    made.session.close()
    set_language("en")


@pytest.fixture
def audit(text: str, tbcc: Profile, sample_key: SecretKey) -> Audit:
    return make_audit(text, tbcc, sample_key)


@pytest.fixture
def several(audit: Audit) -> Audit:
    """An audit with three marks, of which the last belongs to another key."""
    size = audit.tokens.ids.size
    keys = (audit.key, KeyFacts(fingerprint="f" * 16, label="Archive"))
    marks = []
    for number, first in enumerate((0, size // 4, size // 2)):
        last = first + size // 5
        place = Passage(
            first_token=first,
            last_token=last,
            start=int(audit.tokens.spans[first, 0]),
            end=int(audit.tokens.spans[last, 1]),
        )
        marks.append(
            MarkFacts(
                key=keys[number == 2].fingerprint,
                bits=format(number * 77_777_777, f"0{audit.profile.payload_bits}b"),
                fields=(),
                passages=(place,),
                share=0.2,
                candidates=(
                    CandidateFacts(
                        bits=format(number * 77_777_777, f"0{audit.profile.payload_bits}b"),
                        posterior=(1.0, 0.6, 0.995)[number],
                    ),
                ),
                own_log10_e=12.0 - number,
            )
        )
    return replace(audit, keys=keys, marks=tuple(marks), passages=marks[0].passages)


@pytest.fixture
def audit_factory() -> Callable[..., Audit]:
    return make_audit


@pytest.fixture
def every_dialog() -> Callable[[Any], dict[str, Callable[[], Any]]]:
    """Takes the window; returns what opens each of its dialogs, by name."""
    opened: Callable[[Any], dict[str, Callable[[], Any]]] = _beside("every_dialog").opened_dialogs
    return opened


@pytest.fixture
def faults() -> Callable[[Any], list[str]]:
    """Takes a widget; names what is cut in it, or overlaps."""
    found: Callable[[Any], list[str]] = _beside("room").faults
    return found


def _beside(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
