"""The measured tables: what each says, who signed it, whether the policy relies on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from pura.keys import Secret
from pura.usecases.measurements import (
    SHARES,
    PowerFound,
    add_power,
    export_power,
    list_power,
    power_lines,
    rely_on_power,
    remove_power,
    sign_power,
)
from pura.verdict.policy import Policy, default_policy
from pura.verdict.power import PowerEntry
from pura.verdict.power_file import SHORT, PowerFile
from pura_audit.jobs.queue import Done, Outcome
from pura_audit.keys.passphrase import PassphraseDialog
from pura_audit.models.power import PowerDialog
from pura_audit.platform.i18n import filled, number, translate
from pura_audit.session.choices import Inventory
from pura_audit.session.session import Session
from pura_audit.widgets.form_dialog import ask_file, ask_first, ask_target, opened
from pura_audit.widgets.working_dialog import StoreDialog, fill_table, make_table

T = TypeVar("T")
_SHOWN = 4
_ROW, _HEAD = 32, 40
_KINDS = "*.json"


class PowerTablesDialog(StoreDialog):
    """Table of the measured tables, and below it what the chosen one says.

    Args:
        session: The session.
        model: The model whose texts "Measure …" measures.
    """

    def __init__(self, session: Session, model: str, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self.resize(1000, 680)
        self._model = model
        self._rows: tuple[PowerFound, ...] = ()
        self._policy = (session.chosen.catalogue or Inventory()).policy or default_policy()
        self.state.setText(
            translate(
                "Power",
                "How often marked texts of your own kind are found. Where a text shows no mark, "
                "the tables that the policy relies on say how often one would have been found, "
                "before those that ship with the program.",
            )
        )
        self.none.setText(
            translate(
                "Power", "No tables yet. Measure one, or add one that was measured elsewhere."
            )
        )
        self.lay_out(
            translate("Power", "How much is found"),
            {
                "measure": (translate("Power", "Measure …"), self.ask_measure),
                "add": (translate("Power", "Add a file …"), self.ask_file),
                "-rely": (translate("Power", "Let the policy rely on it"), self._rely),
                "sign": (translate("Power", "Sign …"), self.ask_certificate),
                "export": (translate("Power", "Export …"), self.ask_export),
                "-remove": (translate("Power", "Remove …"), self.ask_remove),
            },
        )
        self.lines = make_table(translate("Power", "Shares found"))
        self.lines.setMinimumHeight(_SHOWN * _ROW + _HEAD)
        self.column.insertWidget(3, self.lines, 1)
        self.refresh_buttons()
        self._do(lambda: None)

    @property
    def selected(self) -> PowerFound | None:
        """The table of the chosen row."""
        return self._rows[self.place] if 0 <= self.place < len(self._rows) else None

    def refresh_buttons(self) -> None:
        """Enable what can be done now, and tell more of the chosen table."""
        found = self.selected
        for kind, button in self.buttons.items():
            button.setEnabled(not self.busy and (found is not None or kind in ("measure", "add")))
        relied_on = found is not None and found.relied_on
        if "rely" in self.buttons:
            self.buttons["rely"].setText(
                translate("Power", "No longer rely on it")
                if relied_on
                else translate("Power", "Let the policy rely on it")
            )
            self.buttons["remove"].setEnabled(self.buttons["remove"].isEnabled() and not relied_on)
            self._tell(found)

    def _tell(self, found: PowerFound | None) -> None:
        self.detail.setText(_detail(found) if found is not None else "")
        self.lines.setVisible(found is not None)
        headers = (
            translate("Power", "Marked texts"),
            *(
                filled(translate("Power", "{n:count} % found from"), n=round(100 * share))
                for share in SHARES
            ),
            translate("Power", "At most shown"),
            translate("Power", "Texts"),
        )
        lines = power_lines(found.sealed.table, self._policy.t_found) if found is not None else ()
        fill_table(self.lines, headers, [_line(line) for line in lines], 340)

    def _do(self, act: Callable[[], T], words: Callable[[T], str] | None = None) -> None:
        """Hand a use case over, and show the tables as they are after it."""
        environment = self.session.environment
        self.begin(
            lambda _: (act(), list_power(environment)),
            words=None if words is None else lambda done: words(done[0]),
            then=lambda done: self._show(done[1]),
        )

    def _show(self, rows: tuple[PowerFound, ...], chosen: str = "") -> None:
        chosen = chosen or (self.selected.sealed.fingerprint if self.selected else "")
        self._rows = rows
        headers = (
            translate("Power", "Name"),
            translate("Power", "Measured"),
            translate("Power", "Writing model"),
            translate("Power", "Texts"),
            translate("Power", "Signed as"),
            translate("Power", "Policy"),
        )
        prints = [found.sealed.fingerprint for found in rows]
        place = prints.index(chosen) if chosen in prints else 0
        self.fill(headers, [_row(found) for found in rows], place)

    def ask_measure(self) -> PowerDialog:
        """Open the form that measures a table."""
        dialog = PowerDialog(self.session, self._model, self)
        dialog.measured.connect(lambda made: self._take(dialog, made))
        opened(dialog)
        return dialog

    def _take(self, dialog: PowerDialog, made: PowerFile) -> None:
        dialog.accept()
        environment = self.session.environment
        self.begin(
            lambda _: list_power(environment),
            words=lambda _: _stored(made),
            then=lambda rows: self._show(rows, made.fingerprint),
        )

    def ask_file(self) -> QDialog:
        """Ask for a table that was measured elsewhere."""
        environment = self.session.environment
        return self._ask_path(
            translate("Power", "Add a table"),
            translate("Power", "Measured tables ({files:text})"),
            lambda path: self._do(lambda: add_power(environment, path), _added),
        )

    def ask_certificate(self) -> QDialog | None:
        """Ask for the certificate that signs the chosen table."""
        if self.selected is None:
            return None
        name = self.selected.sealed.fingerprint
        return self._ask_path(
            translate("Power", "Choose a certificate"),
            translate("Power", "Certificates ({files:text})"),
            lambda path: self.ask_passphrase(name, path),
            "*.p12 *.pfx",
        )

    def ask_passphrase(self, name: str, certificate: Path) -> QDialog:
        """Ask for the passphrase of a certificate, and sign.

        Args:
            name: Fingerprint of the table.
            certificate: PKCS#12 file.
        """
        words = translate(
            "Power",
            "The table is signed with “{file:text}”. Whoever gets the table can check that it is "
            "yours and unchanged.",
        )
        dialog = PassphraseDialog(
            translate("Power", "Sign the table"),
            filled(words, file=certificate.name),
            translate("Power", "Sign"),
            self,
            new=False,
        )
        environment = self.session.environment

        def ended(outcome: Outcome[tuple[PowerFound, tuple[PowerFound, ...]]]) -> None:
            dialog.ended(outcome)
            if isinstance(outcome, Done):
                self._show(outcome.result[1])

        def sign(secret: Secret) -> None:
            self.session.do(
                lambda _: (
                    sign_power(environment, name=name, certificate=certificate, passphrase=secret),
                    list_power(environment),
                ),
                ended,
                dialog,
                words=lambda done: _signed(done[0]),
            )

        dialog.given.connect(sign)
        return opened(dialog)

    def ask_export(self) -> QDialog | None:
        """Ask where the chosen table shall be written."""
        if self.selected is None:
            return None
        name, environment = self.selected.sealed.fingerprint, self.session.environment
        return ask_target(
            self,
            translate("Power", "Export the table"),
            lambda path: self._do(
                lambda: export_power(environment, name, path, replace=True),
                lambda _: _exported(path),
            ),
            filled(translate("Power", "Measured tables ({files:text})"), files=_KINDS),
            suffix="json",
        )

    def _ask_path(
        self, title: str, kinds: str, act: Callable[[Path], object], files: str = _KINDS
    ) -> QFileDialog:
        return ask_file(self, title, act, filled(kinds, files=files))

    def _rely(self) -> None:
        if self.selected is None:
            return
        name, on = self.selected.sealed.fingerprint, not self.selected.relied_on
        environment = self.session.environment
        self._do(lambda: rely_on_power(environment, name=name, on=on), _relied)

    def ask_remove(self) -> QDialog | None:
        """Ask before a table goes."""
        if self.selected is None:
            return None
        table, environment = self.selected.sealed.table, self.session.environment
        fingerprint = self.selected.sealed.fingerprint

        def remove() -> None:
            self._do(lambda: remove_power(environment, fingerprint), lambda _: _removed())

        return ask_first(
            self,
            translate("Power", "Remove a table"),
            filled(translate("Power", "Remove “{table:text}”?"), table=table.name),
            translate("Power", "It can be measured again, or added again from a file."),
            (translate("Power", "Remove"), remove),
        )


def _row(found: PowerFound) -> tuple[str, ...]:
    table = found.sealed.table
    conditions = table.conditions
    return (
        table.name,
        str(conditions.get("date", "")),
        str(conditions.get("names", {}).get("generator", "")),
        number(int(conditions.get("texts", 0))),
        found.signed.subject if found.signed is not None else "–",
        translate("Power", "yes") if found.relied_on else "–",
    )


def _detail(found: PowerFound) -> str:
    table = found.sealed.table
    kinds = ", ".join(table.conditions.get("kinds", []))
    words = (
        translate("Power", "Read by “{reader:text}”. Kind of text: {kinds:text}."),
        translate("Power", "It brings a likelihood table that was learnt.")
        if table.likelihood is not None
        else translate("Power", "The shipped likelihood table weighed the texts."),
        translate("Power", "Fingerprint {table:text}"),
    )
    reader = str(table.conditions.get("names", {}).get("reader", ""))
    return filled(
        "{} {}\n{}".format(*words),
        reader=reader,
        kinds=kinds or translate("Power", "not told apart"),
        table=found.sealed.fingerprint,
    )


def _line(line: PowerEntry) -> tuple[str, ...]:
    """Return a line of a table in cells."""
    if line.edit:
        what = filled(translate("Power", "edited ({edit:text})"), edit=line.edit)
    elif line.text_usable:
        words = translate("Power", "passages in up to {n:count} positions")
        what = filled(words, n=line.text_usable)
    else:
        what = translate("Power", "whole texts")
    from_ = translate("Power", "{n:count} positions")
    none = translate("Power", "not shown")
    needed = [none if n is None else filled(from_, n=n) for n in map(line.needed, SHARES)]
    return (what, *needed, f"{int(100 * max(line.limits))} %", number(max(line.texts)))


def _stored(made: PowerFile) -> str:
    words = translate(
        "Power", "Table “{name:text}” ({table:text}) is stored; {n:count} texts were counted."
    )
    return filled(
        words,
        name=made.table.name,
        table=made.fingerprint[:SHORT],
        n=made.table.conditions["texts"],
    )


def _added(found: PowerFound) -> str:
    words = translate("Power", "The table “{table:text}” was added.")
    return filled(words, table=found.sealed.table.name)


def _signed(found: PowerFound) -> str:
    words = translate("Power", "The table “{table:text}” is signed as {who:text}.")
    who = found.signed.subject if found.signed is not None else ""
    return filled(words, table=found.sealed.table.name, who=who)


def _exported(path: Path) -> str:
    return filled(translate("Power", "The table was written to “{file:text}”."), file=path.name)


def _removed() -> str:
    return translate("Power", "The table was removed.")


def _relied(policy: Policy) -> str:
    words = translate(
        "Power",
        "The policy is now {rule:text} and relies on {n:plural(one table|{n:count} tables)}.",
    )
    return filled(words, rule=policy.rule, n=len(policy.power_tables))
