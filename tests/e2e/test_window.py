"""The real window, offscreen, with a model: a text goes in, its payload comes out."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel
from tests.core.programs import lend

from pura.base.paths import Paths
from pura_audit import application
from pura_audit.session.queue_model import ItemState
from pura_audit.workbench.answer import grouped

pytestmark = pytest.mark.model
WAIT = 120_000


@pytest.fixture
def paths(models, tmp_path, samples) -> Paths:
    """A user with a model and both profiles, and no keyring."""
    data = tmp_path / "data"
    lend(models, data / "models")
    found = Paths(data=data, config=tmp_path / "config", state=tmp_path / "state")
    found.profiles.mkdir(parents=True)
    for name in ("marked", "marked-tbcc"):
        text = json.dumps(samples[name]["profile"])
        (found.profiles / f"{name}.json").write_text(text, encoding="utf-8")
    return found


@pytest.fixture
def window(qapp, qtbot, paths, sample_key) -> Iterator[Any]:
    application.make_application()
    made = application.make_window(
        paths, device="cpu", session_keys={"Test key": sample_key}, theme="light"
    )
    qtbot.addWidget(made)
    made.show()
    chosen = made.session.chosen
    qtbot.waitUntil(
        lambda: chosen.catalogue is not None and chosen.device is not None, timeout=60_000
    )
    # The profiles name no key, and a key of the session is no part of a stored set-up.
    chosen.choose_profiles(chosen.catalogue.profiles[:1])
    chosen.choose_keys(chosen.catalogue.keys[:1])
    chosen.choose_model(chosen.catalogue.models[0])
    assert chosen.ready
    yield made
    assert made.session.close()


def drop(window: Any, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    copy = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPointF(300, 300).toPoint(), copy, data, buttons, keys)
    QApplication.sendEvent(window, enter)
    event = QDropEvent(QPointF(300, 300), copy, data, buttons, keys)
    QApplication.sendEvent(window, event)


@pytest.mark.parametrize("name", ["marked", "marked-tbcc"])
def test_a_dropped_file_gives_the_payload_that_was_embedded(
    window, qtbot, tmp_path, samples, name, monkeypatch
):
    sample = samples[name]["texts"][0]
    path = tmp_path / "memo.txt"
    path.write_text(sample["text"], encoding="utf-8")
    profile = next(p for p in window.session.chosen.catalogue.profiles if p.name == name)
    window.session.chosen.choose_profiles([profile])

    def no_network(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened during an audit")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    drop(window, path)
    item = window.session.texts.queue.items[0]
    over = (ItemState.DONE, ItemState.FAILED)  # it begins by itself
    qtbot.waitUntil(lambda: item.state in over, timeout=WAIT)
    assert item.state is ItemState.DONE, item.failure
    embedded = "".join(map(str, sample["payload"]))
    assert window.work.answer.payload.findChild(QLabel, "payload").toolTip() == grouped(embedded)
    assert window.work.answer.heading.text() == "A mark was found"
    assert window.header.badge.text() == "CPU · float32"
    assert item.audit.text == sample["text"]


class TestSample:
    @pytest.fixture
    def models(self, installed_models) -> Path:
        """The sample was written by the built-in model."""
        return installed_models

    def test_it_is_audited_with_its_own_key_and_profile(self, window, qtbot):
        qtbot.mouseClick(window.empty.sample, Qt.MouseButton.LeftButton)
        item = window.session.texts.queue.items[0]
        qtbot.waitUntil(lambda: not item.active, timeout=WAIT)
        assert item.state is ItemState.DONE, item.failure
        assert item.audit.verdict == "mark"
        assert item.audit.key.label == "Sample key (public)"


def test_a_plain_text_gets_no_payload(window, qtbot, samples):
    window.session.texts.add_text(samples["plain"]["texts"][0]["text"])
    window.audit()
    item = window.session.texts.queue.items[0]
    qtbot.waitUntil(lambda: not item.active, timeout=WAIT)
    assert item.audit.verdict in ("no-mark", "insufficient")
    assert window.work.answer.payload.findChild(QLabel, "payload") is None


def test_cancelling_the_real_pass_leaves_the_window_ready(window, qtbot, samples):
    long = " ".join(t["text"] for t in samples["plain"]["texts"]) * 60
    window.session.texts.add_text(long)
    window.audit()
    item = window.session.texts.queue.items[0]
    qtbot.waitUntil(lambda: item.progress is not None and item.progress.step == 5, timeout=WAIT)
    window.session.audits.cancel()
    qtbot.waitUntil(lambda: item.state is ItemState.CANCELLED, timeout=WAIT)
    qtbot.waitUntil(lambda: not window.session.jobs.model.busy, timeout=WAIT)
