"""The header with its choosers, the status line, notices, and the menu of recent files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QSystemTrayIcon, QWidget

from pura.caselog.cases import UNFILED
from pura.model.device import Device
from pura.scheme import Profile
from pura.scheme.foreign import FOREIGN_NAMES
from pura.usecases.setups import StoredSetup
from pura.words.sentences import say
from pura_audit.jobs.queue import Failure
from pura_audit.platform.accessible import announce
from pura_audit.platform.i18n import duration, error_words, filled, language, number, translate
from pura_audit.platform.settings import SettingsFile
from pura_audit.session.queue_model import ItemState
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP, GRID, Theme
from pura_audit.widgets.card import ElidedLabel, push_button, row_of
from pura_audit.widgets.chips import Chip, ChoiceMenu, DeviceBadge
from pura_audit.workbench.state_views import progress_words

HEIGHT = 56  # pixels
TIGHT = 1180  # below this width the brand and the shortcut give way


class Header(QWidget):
    """The top of the window: the choices, the device, and the main button."""

    def __init__(self, session: Session, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT)
        self._session = session
        self._brand = brand = QLabel("PURA Audit")
        brand.setObjectName("brand")
        self.setup = Chip(translate("Header", "Set-up"))
        self.key = ChoiceMenu(
            self.setup,
            translate("Header", "Key"),
            further=translate("Header", "Try several keys …"),
            manage=translate("Header", "Manage keys …"),
        )
        self.model = ChoiceMenu(
            self.setup, translate("Header", "Model"), manage=translate("Header", "Manage models …")
        )
        self.profile = ChoiceMenu(
            self.setup,
            translate("Header", "Profile"),
            manage=translate("Header", "Manage profiles …"),
        )
        self.setups = ChoiceMenu(
            self.setup,
            translate("Header", "Set-up"),
            further=translate("Header", "Save as a set-up …"),
            below=(self.key, self.model, self.profile),
            manage=translate("Header", "Set up another …"),
        )
        self.setup.setMenu(self.setups)
        self.issued = push_button(translate("Header", "Issued"), role="link")
        self.issued.setToolTip(translate("Header", "To whom payloads were issued (Ctrl+I)"))
        self.badge = DeviceBadge(theme)
        self.badge.show_device(translate("Header", "Finding the device"), "", gpu=False)
        self.cancel = push_button(translate("Header", "Cancel"))
        self.cancel.setToolTip(translate("Menu", "Cancel all audits"))
        self.audit = push_button(translate("Header", "Audit"), role="main")
        right = (self.badge, GRID, self.cancel, self.audit)
        for button in (self.issued, self.cancel, self.audit):
            # A button that was pressed and goes grey would hand the focus, and its ring, on.
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.row = row_of(brand, GRID * 2, self.setup, self.issued, None, *right, inside=self)
        self.row.setContentsMargins(20, 0, GAP, 0)
        self._wire()
        self.refresh()
        self._show_device()

    def _wire(self) -> None:
        session = self._session
        for signal, kind in (
            (self.setups.chosen, "setups"),
            (self.key.chosen, "keys"),
            (self.model.chosen, "models"),
            (self.profile.chosen, "profiles"),
            (self.profile.several_chosen, "profiles"),
        ):
            signal.connect(partial(self._choose, kind))
        for signal in (
            session.chosen.changed,
            session.jobs.model.busy_changed,
            session.texts.item_changed,
            session.texts.current_changed,
            session.texts.queue.counted,
            session.texts.queue.dataChanged,
        ):
            signal.connect(self._told)
        session.chosen.device_changed.connect(self._show_device)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten texts if there is little room."""
        super().resizeEvent(event)
        if (event.oldSize().width() < TIGHT) != (self.width() < TIGHT):
            self.refresh()

    def _told(self, *_: object) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Show the choices, and whether rows are due."""
        session = self._session
        busy = session.jobs.model.busy
        self.cancel.setVisible(busy)
        due = len(session.audits.due())
        fits = not session.chosen.mismatches()
        self.audit.setEnabled(session.chosen.ready and due > 0 and fits)
        caption = translate("Header", "Audit")
        caption = f"{caption} {number(due)}" if due > 1 else caption
        tight = self.width() < TIGHT
        keys = translate("Header", "Ctrl+⏎")
        self.audit.setText(caption if tight else f"{caption}   {keys}")
        self._brand.setVisible(not tight)
        self.audit.setMinimumWidth(max(104, self.audit.sizeHint().width()))
        self.audit.setAccessibleName(caption)
        self.audit.setToolTip(self._why_not(due))
        self._fill_menus()

    def _choose(self, kind: str, indexes: int | Sequence[int]) -> None:
        """Choose keys, models or profiles by their indexes."""
        choices = self._session.chosen
        if (catalogue := choices.catalogue) is None:
            return
        picked = [indexes] if isinstance(indexes, int) else indexes
        if kind == "setups":
            choices.choose_setup(catalogue.setups[picked[0]])
        elif kind == "keys":
            choices.choose_keys([catalogue.keys[index] for index in picked])
        elif kind == "models":
            choices.choose_model(catalogue.models[picked[0]])
        else:
            choices.choose_profiles([catalogue.profiles[index] for index in picked])

    def _why_not(self, due: int) -> str:
        if not self._session.chosen.ready:
            setup = self._session.chosen.setup
            if setup is not None and (missing := self._session.chosen.missing):
                template = translate("Header", "The set-up “{name:text}” lacks: {parts:text}.")
                kinds = {"key": self.key, "model": self.model, "profile": self.profile}
                parts = ", ".join(kinds[part].kind for part in missing)
                return filled(template, name=setup.name, parts=parts)
            return translate("Header", "Choose or make a set-up first.")
        if faults := self._session.chosen.mismatches():
            return "\n".join(map(error_words, faults))
        if due == 0:
            return translate("Header", "Add a text first: paste it, open it or drop it here.")
        return translate("Header", "Audit (Ctrl+Return)")

    def _fill_menus(self) -> None:
        choices, inventory = self._session.chosen, self._session.chosen.found
        key, model, profile = self._used()
        changed = choices.changed_parts
        setups = [
            (setup.name, self._parts_of(setup), setup == choices.setup and not changed)
            for setup in inventory.setups
        ]
        keys = [(k.label, _spaced(k.fingerprint), k in choices.keys) for k in inventory.keys]
        models = [(m.name, _spaced(m.fingerprint), m == choices.model) for m in inventory.models]
        profiles = [(p.title, _shape(p.profile), p in choices.profiles) for p in inventory.profiles]
        no_key = translate("Header", "No key yet: make one under “Manage keys …”.")
        no_model = translate("Header", "No model yet: install one under “Manage models …”.")
        no_profile = translate("Header", "No profile yet: make one under “Manage profiles …”.")
        # Beside a profile of PURA's there is nothing to add but marks by others.
        foreign_marks = any(choice.profile.foreign is not None for choice in inventory.profiles)
        nothing_chosen = translate("Header", "none")
        used = {
            self.key: self.key.fill(keys, no_key, instead=key or nothing_chosen),
            self.model: self.model.fill(models, no_model, instead=model or nothing_chosen),
            self.profile: self.profile.fill(
                profiles, no_profile, several=foreign_marks, instead=profile or nothing_chosen
            ),
        }
        nothing = translate("Header", "none yet")
        self.setups.fill(setups, nothing)
        summary, lines = self._named(used[self.profile], bool(profile or choices.profiles), nothing)
        lines += [f"{menu.kind}: {names}" for menu, names in used.items()]
        missing = choices.setup is not None and bool(choices.missing)
        self.setup.show_value(
            summary,
            "\n".join(lines),
            attention=bool(changed or missing or choices.mismatches()),
        )

    def _named(self, profile: str, used: bool, nothing: str) -> tuple[str, list[str]]:
        """Return the name of the set-up in use, and its parts that were changed by hand."""
        choices = self._session.chosen
        if choices.catalogue is None:
            return translate("Header", "looking …"), []
        if choices.setup is None:
            return (profile if used else nothing), []
        if not (changed := choices.changed_parts):
            return choices.setup.name, []
        changes = {
            "key": translate("Header", "other key"),
            "model": translate("Header", "other model"),
            "profile": translate("Header", "other profile"),
        }
        parts = ", ".join(changes[part] for part in changed)
        summary = filled(
            translate("Header", "{name:text} with {parts:text}"),
            name=choices.setup.name,
            parts=parts,
        )
        return summary, [
            translate("Header", "Changed by hand; choose the set-up again to undo it.")
        ]

    def _parts_of(self, setup: StoredSetup) -> str:
        """Return what a set-up marks, or which of its parts is missing."""
        inventory = self._session.chosen.found
        fingerprints = {key.fingerprint for key in inventory.keys}
        if not setup.keys or not fingerprints.issuperset(setup.keys):
            return translate("Header", "key missing")
        for profile in inventory.profiles:
            if profile.name == setup.profile:
                return _shape(profile.profile)
        return translate("Header", "profile missing")

    def _used(self) -> tuple[str, str, str]:
        """Return key, model and profile of the text on screen, for choices that are not made."""
        row = self._session.texts.current
        if row is None:
            return "", "", ""
        audit = row.audit
        if audit is None:  # a sample brings its own
            profile = row.profile
            return (
                row.key.label if row.key else "",
                "",
                profile.name or _shape(profile) if profile else "",
            )
        return (
            audit.key.label or _spaced(audit.key.fingerprint),
            audit.model.name,
            audit.profile.name or _shape(audit.profile),
        )

    def _show_device(self) -> None:
        device = self._session.chosen.device
        if isinstance(device, Failure):
            self.badge.show_device(
                translate("Header", "No device"),
                device.words,
                gpu=False,
                bad=True,
            )
        elif isinstance(device, Device):
            name = "CPU" if device.kind == "cpu" else device.name
            self.badge.show_device(
                f"{name} · {device.dtype}",
                f"{device.name}\n{say(device.reason, language())}",
                gpu=device.kind != "cpu",
            )


def _shape(profile: Profile) -> str:
    if profile.foreign is not None:
        return FOREIGN_NAMES[profile.scheme]
    return filled(translate("Header", "payload of {n:text} bits"), n=profile.payload_bits)


def _spaced(fingerprint: str) -> str:
    return " ".join(fingerprint[i : i + 4] for i in range(0, min(8, len(fingerprint)), 4))


STATUS_HEIGHT = 28
STAY_MS = 8000  # that a message stays in the status line


class StatusLine(QWidget):
    """The status line at the foot of the window."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("statusline")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(STATUS_HEIGHT)
        self._session = session
        self.words = ElidedLabel()
        self._notice = ""
        self._timer = QTimer(self, singleShot=True, interval=STAY_MS)
        self._timer.timeout.connect(self._forget)
        self._network = QLabel()
        self._say_network()
        session.jobs.installs.busy_changed.connect(self._say_network)
        line = row_of((self.words, 1), self._network, spacing=GAP, inside=self)
        line.setContentsMargins(20, 0, 20, 0)
        session.texts.queue.dataChanged.connect(self._told)
        session.texts.queue.counted.connect(self._told)
        session.noticed.connect(self.say)
        self.refresh()

    def _say_network(self) -> None:
        self._network.setText(
            translate("Status", "A model is being installed · no text leaves this computer")
            if self._session.jobs.installs.busy
            else translate("Status", "Offline · nothing leaves this computer")
        )

    def say(self, message: Failure | str) -> None:
        """Show a remark for a while."""
        self._notice = message.words if isinstance(message, Failure) else message
        self._timer.start()
        self.refresh()
        announce(self, self._notice)

    def _told(self, *_: object) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Show the state of the queue."""
        rows = self._session.texts.queue.items
        running = next((i for i in rows if i.state is ItemState.RUNNING), None)
        if self._notice:
            self.words.setText(self._notice)
        elif running is not None:
            parts = [running.name]
            if self._session.jobs.model.paused:
                parts.append(translate("Status", "paused"))
            elif running.progress is not None:
                parts.append(progress_words(running.progress))
            parts += self._others()
            self.words.setText(" · ".join(parts))
        else:
            self.words.setText(self._idle())

    def _others(self) -> list[str]:
        """Return how many other rows are active, and the time until all are done."""
        waiting = sum(row.active for row in self._session.texts.queue.items) - 1
        left = self._session.audits.seconds_left
        if not waiting or left is None:
            return []
        template = translate("Status", "{n:count} more, all done in {time:text}")
        return [filled(template, n=waiting, time=duration(left))]

    def _idle(self) -> str:
        rows = self._session.texts.queue.items
        examined = sum(i.examined for i in rows)
        bad = sum(i.state in (ItemState.DONE, ItemState.FAILED) for i in rows) - examined
        parts = []
        if examined:
            parts.append(
                filled(translate("Status", "{n:count} {n:plural(text|texts)} audited"), n=examined)
            )
        if bad:
            parts.append(filled(translate("Status", "{n:count} could not be"), n=bad))
        unkept = self._session.texts.unkept
        if unkept:
            template = translate("Status", "{n:count} not saved: use Save to a case (Ctrl+S)")
            parts.append(filled(template, n=unkept))
        elif any(i.status is not None and i.status.name == UNFILED for i in rows):
            parts.append(translate("Status", "kept in the case “Unfiled”"))
        return " · ".join(parts) if parts else translate("Status", "Ready")

    def _forget(self) -> None:
        self._notice = ""
        self.refresh()


LONG_S: Final = 60.0
"""Shortest run in seconds that gets a notice: the user waits for shorter ones."""
_NOTICE_MS: Final = 15_000  # after which the notice is taken away


class RunNotice(QObject):
    """Notifies the user that a long run has ended while another program was in front.

    It names no text and no outcome, since others may see the screen.

    Args:
        session: The session whose runs are followed.
        window: The window that asks for attention.
        clock: Clock in seconds.
    """

    def __init__(
        self, session: Session, window: QWidget, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(window)
        self._window, self._clock = window, clock
        self._begun: float | None = None
        self.tray = QSystemTrayIcon(window.windowIcon(), self)
        self._hide = QTimer(self, singleShot=True, interval=_NOTICE_MS)
        self._hide.timeout.connect(self.tray.hide)
        session.jobs.model.busy_changed.connect(self._changed)

    def _changed(self, busy: bool) -> None:
        if busy:
            self._begun = self._clock() if self._begun is None else self._begun
            return
        started, self._begun = self._begun, None
        if started is not None and self._clock() - started >= LONG_S and not self._in_front():
            self.tell()

    def tell(self) -> None:
        """Show the notice."""
        QApplication.alert(self._window)
        if QSystemTrayIcon.isSystemTrayAvailable():
            self.tray.show()
            self.tray.showMessage(
                "PURA Audit", translate("Notice", "The audits are done."), self._window.windowIcon()
            )
            self._hide.start()

    @staticmethod
    def _in_front() -> bool:
        return QApplication.activeWindow() is not None


def recent_menu(
    settings: SettingsFile, open_path: Callable[[Path], object], parent: QWidget
) -> QMenu:
    """Return the menu of recent files, which is filled each time it opens."""
    menu = QMenu(translate("Menu", "Recent files"), parent)
    menu.setToolTipsVisible(True)

    def keep(remember: bool) -> None:
        # Switching off forgets at once.
        settings.update(keep_recent=remember, recent=settings.current.recent if remember else ())

    def fill() -> None:
        menu.clear()
        now = settings.current
        for position, name in enumerate(now.recent, start=1):
            path = Path(name)
            name_text = path.name.replace("&", "&&")
            action = menu.addAction(f"&{position % 10}  {name_text}")
            action.setToolTip(name)
            action.triggered.connect(lambda _=False, p=path: open_path(p))
        if not now.recent:
            no_files = (
                translate("Menu", "No recent files")
                if now.keep_recent
                else translate("Menu", "Recent files are not remembered")
            )
            menu.addAction(no_files).setEnabled(False)
        menu.addSeparator()
        clearing = menu.addAction(translate("Menu", "Clear the list"))
        clearing.setEnabled(bool(now.recent))
        clearing.triggered.connect(lambda: settings.update(recent=()))
        keeping = menu.addAction(translate("Menu", "Remember recent files"))
        keeping.setCheckable(True)
        keeping.setChecked(now.keep_recent)
        keeping.triggered.connect(keep)

    menu.aboutToShow.connect(fill)
    fill()
    return menu
