"""The header's set-ups: chosen whole, changed by hand, missing a part, upgraded from 0.4.0."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pura.base.paths import user_paths
from pura.usecases.environment import Environment
from pura.usecases.setups import StoredSetup, setup_folder
from pura_audit import application
from pura_audit.session.choices import AuditEngine, Inventory, KeyChoice, ProfileChoice
from pura_audit.workbench import opening
from pura_audit.workbench.main_window import MainWindow
from pura_audit.workbench.setup import SaveSetupDialog

ROOT = Path(__file__).resolve().parents[3]
HOUSE = KeyChoice(label="House", fingerprint="a1" * 8)
CONTOSO = KeyChoice(label="Contoso", fingerprint="c0" * 8)
SETUPS = tuple(
    StoredSetup(name=name, profile="letters", keys=(key.fingerprint,))
    for name, key in (("house", HOUSE), ("contoso", CONTOSO))
)


@pytest.fixture
def inventory(engine: Any, tbcc: Any) -> Inventory:
    """Two set-ups that share a profile which names no key, as in 0.4.0's mixture."""
    found = replace(
        engine.catalogue(),
        keys=(HOUSE, CONTOSO),
        profiles=(
            ProfileChoice(name="letters", profile=tbcc.with_(key=None)),
            ProfileChoice(name="other", profile=tbcc.with_(key=None, temperature=0.9)),
        ),
        setups=SETUPS,
    )
    engine.catalogue = lambda: found
    return found


@pytest.fixture
def opened(inventory: Inventory, window: MainWindow) -> MainWindow:
    """The window with the set-up “contoso” in use."""
    choose(window, "contoso")
    assert labels(window) == ["Contoso"]
    return window


def choose(window: MainWindow, name: str) -> None:
    """Choose a set-up in the header's menu."""
    action = next(a for a in window.header.setups.actions() if a.text().startswith(name))
    action.trigger()


def labels(window: MainWindow) -> list[str]:
    """Return the keys that audits try."""
    return [key.label for key in window.session.chosen.keys]


def ticked(window: MainWindow) -> list[str]:
    """Return the set-ups that are ticked in the header's menu."""
    actions = window.header.setups.actions()
    return [a.text().partition("\t")[0] for a in actions if a.isCheckable() and a.isChecked()]


def in_attention(window: MainWindow) -> bool:
    """Whether the header shows the set-up in the attention colour."""
    return bool(window.header.setup.property("missing"))


def test_choosing_a_set_up_leaves_no_key_of_another(opened: MainWindow) -> None:
    choose(opened, "house")
    assert labels(opened) == ["House"]
    assert ticked(opened) == ["house"]
    assert opened.header.setup.accessibleName().endswith("house")
    assert not in_attention(opened)


CHANGES: dict[str, Callable[[MainWindow], None]] = {
    "key": lambda window: window.session.chosen.choose_keys([HOUSE]),
    "model": lambda window: window.session.chosen.choose_model(
        replace(window.session.chosen.model, name="other", fingerprint="b" * 16)
    ),
    "profile": lambda window: window.session.chosen.choose_profiles(
        window.session.chosen.found.profiles[1:]
    ),
}


@pytest.mark.parametrize("part", CHANGES)
def test_a_part_that_is_changed_by_hand_shows_in_the_header(opened: MainWindow, part: str) -> None:
    CHANGES[part](opened)
    assert opened.session.chosen.changed_parts == (part,)
    assert in_attention(opened)
    assert ticked(opened) == []
    assert "contoso" in opened.header.setup.accessibleName()
    choose(opened, "contoso")
    assert opened.session.chosen.changed_parts == ()
    assert ticked(opened) == ["contoso"]
    assert not in_attention(opened)


def test_another_key_never_stands_in_for_one_that_is_gone(
    opened: MainWindow, engine: Any, inventory: Inventory, qtbot: Any
) -> None:
    engine.catalogue = lambda: replace(inventory, keys=(HOUSE,))
    opened.session.chosen.look_around()
    qtbot.waitUntil(lambda: opened.session.chosen.found.keys == (HOUSE,))
    assert labels(opened) == []
    assert in_attention(opened)
    assert not opened.header.audit.isEnabled()
    assert "contoso" in opened.header.audit.toolTip()
    # It is back as soon as the key is.
    engine.catalogue = lambda: inventory
    opened.session.chosen.look_around()
    qtbot.waitUntil(lambda: labels(opened) == ["Contoso"])


def test_the_set_up_is_remembered(opened: MainWindow, start: Callable[..., MainWindow]) -> None:
    again = start()
    assert again.session.chosen.setup == SETUPS[1]
    assert (labels(again), ticked(again)) == (["Contoso"], ["contoso"])


def test_a_change_by_hand_is_remembered(
    opened: MainWindow, start: Callable[..., MainWindow]
) -> None:
    CHANGES["key"](opened)
    again = start()
    assert again.session.chosen.setup == SETUPS[1]
    assert again.session.chosen.changed_parts == ("key",)
    assert in_attention(again)


def test_what_nobody_has_chosen_is_a_set_up_as_a_whole(
    inventory: Inventory, window: MainWindow
) -> None:
    assert window.session.chosen.setup == SETUPS[0]
    assert window.session.chosen.changed_parts == ()


def test_parts_are_saved_as_a_set_up(
    engine: Any, window: MainWindow, inventory: Inventory, qtbot: Any, monkeypatch: Any
) -> None:
    stored: list[dict[str, Any]] = []

    def save(environment: Environment, **parts: Any) -> StoredSetup:
        setup = StoredSetup(**parts)
        engine.catalogue = lambda: replace(inventory, setups=(*SETUPS, setup))
        stored.append(parts)
        return setup

    monkeypatch.setattr("pura_audit.workbench.setup.save_setup", save)
    window.session.chosen.choose_keys([HOUSE, CONTOSO])
    dialog = opening.save_setup(window)
    assert isinstance(dialog, SaveSetupDialog)
    assert not dialog.submit.isEnabled()
    dialog.name.setText("both")
    dialog.submit.click()
    qtbot.waitUntil(lambda: ticked(window) == ["both"])
    assert stored[0]["keys"] == (HOUSE.fingerprint, CONTOSO.fingerprint)
    assert labels(window) == ["House", "Contoso"]


@pytest.fixture
def former(app: Any, qtbot: Any) -> Any:
    """The window over a home that 0.4.0 left with the profile of one and the key of another."""
    paths = user_paths()
    shutil.copytree(ROOT / "tests/data/v0.4.0/home/config", paths.config, dirs_exist_ok=True)
    made = application.make_window(paths, engine=AuditEngine(paths), theme="light")
    qtbot.addWidget(made)
    made.show()
    qtbot.waitUntil(lambda: made.session.chosen.catalogue is not None)
    yield made
    made.session.close()


def test_a_home_of_0_4_0_opens_with_set_ups(former: MainWindow) -> None:
    names = [setup.name for setup in former.session.chosen.found.setups]
    assert names == ["contoso", "house", "imported", "newsroom"]
    assert names == list(setup_folder(former.session.environment).names())
    # What 0.4.0 mixed is kept, and shown for what it is.
    assert former.session.chosen.setup.name == "house"
    assert labels(former) == ["contoso"]
    assert "key" in former.session.chosen.changed_parts
    assert in_attention(former)
    choose(former, "house")
    assert labels(former) == ["house"]
    assert former.session.chosen.changed_parts == ()
