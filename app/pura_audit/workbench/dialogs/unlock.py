"""Asks for the passphrase of the key files before an audit that needs one of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from pura.keys import Place, Secret, State
from pura.usecases.keys import unlock_files
from pura_audit.jobs.outcome import Done, Outcome
from pura_audit.keys.passphrase import PassphraseDialog
from pura_audit.platform.i18n import translate
from pura_audit.session.session import Session
from pura_audit.widgets.form_dialog import opened


def unlocked(
    session: Session, parent: QWidget, then: Callable[[], object]
) -> PassphraseDialog | None:
    """Go on at once, or when the passphrases have opened; returns the dialog that asks first."""
    if session.keeper.wants_passphrase:
        return _ask_for_texts(session, parent, lambda: _with_keys(session, parent, then))
    return _with_keys(session, parent, then)


def _ask_for_texts(
    session: Session, parent: QWidget, then: Callable[[], object]
) -> PassphraseDialog:
    dialog = PassphraseDialog(
        translate("Cases", "Passphrase of the kept texts"),
        translate(
            "Cases",
            "The settings keep examined texts encrypted. Whoever shall read one later needs this "
            "passphrase; it is kept nowhere. It is asked for once a session.",
        ),
        translate("Cases", "Go on"),
        parent,
        new=True,
    )

    def go_on(secret: Secret) -> None:
        session.keeper.unlock(secret)
        then()

    dialog.given.connect(go_on)
    return opened(dialog)


def _with_keys(
    session: Session, parent: QWidget, then: Callable[[], object]
) -> PassphraseDialog | None:
    found = session.chosen.catalogue
    needed = any(k.entry is not None and k.entry.place is Place.FILES for k in session.chosen.keys)
    if found is None or found.files is not State.LOCKED or not needed:
        then()
        return None
    dialog = PassphraseDialog(
        translate("Keys", "Passphrase of the encrypted key files"),
        translate("Keys", "The chosen key is kept in one. It is asked for once a session."),
        translate("Keys", "Unlock and audit"),
        parent,
        new=False,
    )

    def ended(outcome: Outcome[None]) -> None:
        dialog.ended(outcome)
        if isinstance(outcome, Done):
            then()

    def go_on(secret: Secret) -> None:
        session.do(lambda _: unlock_files(session.environment, passphrase=secret), ended, dialog)

    dialog.given.connect(go_on)
    return opened(dialog)
