"""The models: what is installed, whether it fits here, and all that can be done to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QWidget,
)

from pura.base.catalogue import catalogue
from pura.model.device import MemoryNeed
from pura.model.folder import InstalledModel
from pura.model.store import builtin_model
from pura.usecases.models import (
    add_model,
    install_model,
    recheck_model,
    remove_model,
)
from pura_audit.platform.i18n import decimal, filled, language, size, translate
from pura_audit.session.choices import Inventory
from pura_audit.session.session import Session
from pura_audit.theme.theme import GAP
from pura_audit.widgets.form_dialog import ask_file, ask_first, ask_folder, name_input, opened
from pura_audit.widgets.working_dialog import StoreDialog

MAX_LICENCE = 80
EXPANDED = " expanded to float32"  # as a model's source says it
LICENCE_WIDTH = 260


class ModelsDialog(StoreDialog):
    """Table of the models."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._rows: tuple[InstalledModel, ...] = ()
        self._rooms: Mapping[str, MemoryNeed] = {}
        self.copy = QCheckBox(translate("Models", "Copy folders into the store"))
        self.copy.setToolTip(
            translate(
                "Models",
                "Otherwise the store points at the folder, which must stay where it is. A GGUF "
                "file is always expanded into the store.",
            )
        )
        self.licence = QLineEdit()
        self.licence.setMaxLength(MAX_LICENCE)
        self.licence.setPlaceholderText(translate("Models", "such as Apache-2.0; may stay empty"))
        self.licence.setToolTip(
            translate(
                "Models",
                "Stands in the list of models. The program does not find it out by itself and "
                "does not check it.",
            )
        )
        name_input(self.licence, translate("Models", "Licence of a model to add"))
        self.state.setText(
            translate(
                "Models",
                "A model reads the texts on this computer. It must have the tokenizer of the "
                "generating model; the generating model itself reads best.",
            )
        )
        self.none.setText(
            translate("Models", "No models yet. Install the built-in one, or add one of yours.")
        )
        self.lay_out(
            translate("Models", "Models"),
            {
                "install": (translate("Models", "Install the built-in one"), self._install),
                "folder": (translate("Models", "Add a folder …"), lambda: self.ask_place("folder")),
                "gguf": (translate("Models", "Add a GGUF file …"), lambda: self.ask_place("gguf")),
                "-verify": (translate("Models", "Verify"), self._verify),
                "fitness": (translate("Models", "Fitness …"), self.ask_fitness),
                "power": (translate("Models", "How much is found …"), self.ask_power),
                "-remove": (translate("Models", "Remove …"), self.ask_remove),
            },
        )
        self.column.insertLayout(3, self._options())
        session.chosen.changed.connect(self.refresh)
        self.refresh()
        session.chosen.look_around()  # memory comes and goes

    def refresh(self) -> None:
        """Show what is installed."""
        chosen = self.selected.name if self.selected is not None else ""
        found = self.session.chosen.catalogue or Inventory()
        self._rows, self._rooms = found.models, found.rooms
        headers = (
            translate("Models", "Name"),
            translate("Models", "Architecture"),
            translate("Models", "Parameters"),
            translate("Models", "Size"),
            translate("Models", "Licence"),
            translate("Models", "Tokenizer"),
            translate("Models", "Fits here"),
        )
        names = [model.name for model in self._rows]
        self.fill(
            headers,
            [_row(m, self._rooms.get(m.name)) for m in self._rows],
            names.index(chosen) if chosen in names else 0,
        )

    @property
    def selected(self) -> InstalledModel | None:
        """The model of the chosen row."""
        return self._rows[self.place] if 0 <= self.place < len(self._rows) else None

    def refresh_buttons(self) -> None:
        """Enable what can be done now, and tell more of the chosen model."""
        model = self.selected
        self.detail.setText(
            _detail(model, self._rooms.get(model.name)) if model is not None else ""
        )
        builtin = any(row.name == builtin_model().name for row in self._rows)
        for kind, button in self.buttons.items():
            needs_one = kind in ("verify", "fitness", "power", "remove")
            button.setEnabled(not self.busy and (model is not None or not needs_one))
        self.buttons["install"].setEnabled(not self.busy and not builtin)
        self.copy.setEnabled(not self.busy)
        self.licence.setEnabled(not self.busy)

    def _options(self) -> QHBoxLayout:
        """Return the row of what is said beforehand of a model that is added."""
        words = QLabel(translate("Models", "&Licence of a model to add:"))
        words.setBuddy(self.licence)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(words)
        row.addWidget(self.licence)
        self.licence.setMinimumWidth(LICENCE_WIDTH)
        return row

    def _install(self) -> None:
        environment = self.session.environment
        self.begin(
            lambda context: install_model(
                environment,
                progress=context.progress,
                checkpoint=context.checkpoint,
            ),
            words=_installed,
            at="installs",
        )

    def _verify(self) -> None:
        if self.selected is None:
            return
        environment, name = self.session.environment, self.selected.name
        self.begin(
            lambda context: recheck_model(
                environment, name=name, progress=context.progress, checkpoint=context.checkpoint
            ),
            words=_unchanged,
            at="model",
        )

    def ask_place(self, kind: str) -> QDialog:
        """Ask for a folder or a GGUF file."""
        title = translate("Models", "Add a model")
        if kind == "folder":
            return ask_folder(self, title, self._add)
        return ask_file(self, title, self._add, translate("Models", "GGUF files (*.gguf)"))

    def _add(self, path: Path) -> None:
        environment = self.session.environment
        copy, licence = self.copy.isChecked(), self.licence.text().strip()
        self.begin(
            lambda context: add_model(
                environment,
                path=path,
                copy=copy,
                licence=licence,
                progress=context.progress,
                checkpoint=context.checkpoint,
            ),
            words=_installed,
            at="installs",
            # What was said of one model must not stand unseen in the record of the next.
            then=lambda _: self.licence.clear(),
        )

    def ask_remove(self) -> QDialog | None:
        """Ask before a model goes."""
        model = self.selected
        if model is None:
            return None
        words = (
            translate("Models", "Its folder lies outside the store and stays where it is.")
            if model.referenced
            else filled(
                translate("Models", "Its files are deleted: {size:text}."),
                size=size(model.size_bytes),
            )
        )
        return ask_first(
            self,
            translate("Models", "Remove a model"),
            filled(translate("Models", "Remove “{model:text}”?"), model=model.name),
            words,
            (translate("Models", "Remove"), lambda: self._remove(model.name)),
        )

    def _remove(self, name: str) -> None:
        environment = self.session.environment
        self.begin(lambda _: remove_model(environment, name=name), words=_removed, at="model")

    def ask_fitness(self) -> QDialog | None:
        """Open the page that measures the chosen model."""
        from pura_audit.models.fitness import FitnessDialog

        if self.selected is None:
            return None
        return opened(FitnessDialog(self.session, self.selected.name, self))

    def ask_power(self) -> QDialog | None:
        """Open the list of measured tables; more can be measured with the chosen model."""
        from pura_audit.models.tables import PowerTablesDialog

        if self.selected is None:
            return None
        return opened(PowerTablesDialog(self.session, self.selected.name, self))


def _installed(model: InstalledModel) -> str:
    return filled(translate("Models", "The model “{model:text}” is installed."), model=model.name)


def _unchanged(model: InstalledModel) -> str:
    words = translate(
        "Models",
        "“{model:text}” is what was installed: "
        "{n:plural(its file is|all {n:count} files are)} unchanged.",
    )
    return filled(words, model=model.name, n=len(model.files))


def _removed(model: InstalledModel) -> str:
    return filled(translate("Models", "The model “{model:text}” was removed."), model=model.name)


def _row(model: InstalledModel, room: MemoryNeed | None) -> tuple[str, ...]:
    unknown = translate("Models", "unknown")
    fits = room.fits if room is not None else None
    words = {True: translate("Models", "yes"), False: translate("Models", "no"), None: unknown}
    return (
        model.name,
        model.architecture,
        filled(translate("Models", "{number:text} M"), number=decimal(model.parameters / 1e6, 0)),
        size(model.size_bytes),
        model.licence or unknown,
        model.tokenizer_fingerprint[:8],
        words[fits],
    )


def _detail(model: InstalledModel, room: MemoryNeed | None) -> str:
    place = str(model.path) if model.referenced else translate("Models", "in the store")
    lines = [
        filled(
            translate(
                "Models",
                "{source:text} · stored as {format:text} · {n:count} tokens · lies {place:text}",
            ),
            source=catalogue("command").retold("source", model.source, language()),
            format=model.dtype,
            n=model.vocab_size,
            place=place,
        ),
        filled(
            translate("Models", "Fingerprint {model:text}, tokenizer {tokenizer:text}"),
            model=model.fingerprint,
            tokenizer=model.tokenizer_fingerprint,
        ),
    ]
    if model.source.endswith(EXPANDED):
        words = translate(
            "Models", "Its file packs the weights to a few bits; they are read unpacked, in full."
        )
        lines.append(words)
    if room is not None:
        lines.append(room.words(language()))
    return "\n".join(lines)
