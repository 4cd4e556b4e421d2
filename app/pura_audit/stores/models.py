"""The models.

Installed models, whether each fits into memory, their actions, and their fitness as proxies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
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
from pura.measure import PROXY_TEXTS, TOKENS
from pura.measure.fitness import LEAST, Estimate, ProxyFitness
from pura.model.device import MemoryNeed
from pura.model.folder import InstalledModel
from pura.model.store import builtin_model
from pura.usecases.models import (
    add_model,
    install_model,
    measure_fitness,
    recheck_model,
    remove_model,
)
from pura_audit.jobs.queue import with_progress
from pura_audit.platform.i18n import decimal, filled, language, size, translate
from pura_audit.session.session import Session
from pura_audit.stores.power import PowerTablesDialog, own_profiles
from pura_audit.theme.theme import GAP
from pura_audit.widgets.card import add_parts, label, row_of, shortened
from pura_audit.widgets.form_dialog import (
    MainButton,
    ask_file,
    ask_first,
    ask_folder,
    ask_to_read,
    button_row,
    close_button,
    combo,
    dialog_column,
    name_input,
    named_rows,
    opened,
    plain_button,
    spin_box,
)
from pura_audit.widgets.working_dialog import StoreDialog, WorkingDialog, fill_table, make_table

MAX_LICENCE = 80  # characters
EXPANDED = " expanded to float32"  # as a model's source says it
LICENCE_WIDTH = 260  # pixels


class ModelsDialog(StoreDialog[InstalledModel]):
    """The table of the installed models."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._fits: Mapping[str, MemoryNeed] = {}
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
                "It is shown in the list of models. The program neither finds it out by itself "
                "nor checks it.",
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
        """Show the installed models."""
        inventory = self.session.chosen.found
        self._fits = inventory.rooms
        headers = (
            translate("Models", "Name"),
            translate("Models", "Architecture"),
            translate("Models", "Parameters"),
            translate("Models", "Size"),
            translate("Models", "Licence"),
            translate("Models", "Tokenizer"),
            translate("Models", "Fits here"),
        )
        self.fill(headers, inventory.models)

    def key(self, row: InstalledModel) -> str:
        """Return the name of the model."""
        return row.name

    def cells(self, row: InstalledModel) -> Sequence[str]:
        """Return a row of the table."""
        fit = self._fits.get(row.name)
        unknown = translate("Models", "unknown")
        fits = fit.fits if fit is not None else None
        answers = {
            True: translate("Models", "yes"),
            False: translate("Models", "no"),
            None: unknown,
        }
        return (
            row.name,
            row.architecture,
            filled(translate("Models", "{number:text} M"), number=decimal(row.parameters / 1e6, 0)),
            size(row.size_bytes),
            row.licence or unknown,
            row.tokenizer_fingerprint[:8],
            answers[fits],
        )

    def refresh_buttons(self) -> None:
        """Enable the buttons that apply to the selected model, and show its details."""
        model = self.selected
        self.detail.setText(_detail(model, self._fits.get(model.name)) if model is not None else "")
        builtin = any(row.name == builtin_model().name for row in self.rows)
        for kind, button in self.buttons.items():
            needs_one = kind in ("verify", "fitness", "power", "remove")
            button.setEnabled(not self.busy and (model is not None or not needs_one))
        self.buttons["install"].setEnabled(not self.busy and not builtin)
        self.copy.setEnabled(not self.busy)
        self.licence.setEnabled(not self.busy)

    def _options(self) -> QHBoxLayout:
        """Return the row of inputs for the next model to be added."""
        caption = QLabel(translate("Models", "&Licence of a model to add:"))
        caption.setBuddy(self.licence)
        self.licence.setMinimumWidth(LICENCE_WIDTH)
        return row_of(self.copy, None, caption, self.licence, spacing=GAP)

    def _install(self) -> None:
        work = with_progress(partial(install_model, self.session.environment))
        self.begin(work, words=_installed, queue="installs")

    def _verify(self) -> None:
        if self.selected is None:
            return
        work = partial(recheck_model, self.session.environment, name=self.selected.name)
        self.begin(with_progress(work), words=_unchanged, queue="model")

    def ask_place(self, kind: str) -> QDialog:
        """Ask for a folder or a GGUF file."""
        title = translate("Models", "Add a model")
        if kind == "folder":
            return ask_folder(self, title, self._add)
        return ask_file(self, title, self._add, translate("Models", "GGUF files (*.gguf)"))

    def _add(self, path: Path) -> None:
        ask_to_read(self, [path], partial(self._add_now, path))

    def _add_now(self, path: Path) -> None:
        work = partial(
            add_model,
            self.session.environment,
            path=path,
            copy=self.copy.isChecked(),
            licence=self.licence.text().strip(),
        )
        self.begin(
            with_progress(work),
            words=_installed,
            queue="installs",
            # What was entered for one model must not end up in the record of the next.
            on_result=lambda _: self.licence.clear(),
        )

    def ask_remove(self) -> QDialog | None:
        """Ask for confirmation before a model is removed."""
        model = self.selected
        if model is None:
            return None
        consequence = (
            translate("Models", "Its folder lies outside the store and stays where it is.")
            if model.referenced
            else filled(
                translate("Models", "Its files are deleted: {size:text}."),
                size=size(model.size_bytes),
            )
        )
        environment, name = self.session.environment, model.name

        def remove() -> None:
            self.begin(
                lambda _: remove_model(environment, name=name), words=_removed, queue="model"
            )

        return ask_first(
            self,
            translate("Models", "Remove a model"),
            filled(translate("Models", "Remove “{model:text}”?"), model=model.name),
            consequence,
            (translate("Models", "Remove"), remove),
        )

    def ask_fitness(self) -> QDialog | None:
        """Open the dialog that measures the selected model."""
        if self.selected is None:
            return None
        return opened(FitnessDialog(self.session, self.selected.name, self))

    def ask_power(self) -> QDialog | None:
        """Open the list of power tables; the selected model can measure further ones."""
        if self.selected is None:
            return None
        return opened(PowerTablesDialog(self.session, self.selected.name, self))


def _installed(model: InstalledModel) -> str:
    return filled(translate("Models", "The model “{model:text}” is installed."), model=model.name)


def _unchanged(model: InstalledModel) -> str:
    text = translate(
        "Models",
        "“{model:text}” is what was installed: "
        "{n:plural(its file is|all {n:count} files are)} unchanged.",
    )
    return filled(text, model=model.name, n=len(model.files))


def _removed(model: InstalledModel) -> str:
    return filled(translate("Models", "The model “{model:text}” was removed."), model=model.name)


def _detail(model: InstalledModel, fit: MemoryNeed | None) -> str:
    location = str(model.path) if model.referenced else translate("Models", "in the store")
    lines = [
        filled(
            translate(
                "Models",
                "{source:text} · stored as {format:text} · {n:count} tokens · lies {place:text}",
            ),
            source=catalogue("command").retold("source", model.source, language()),
            format=model.dtype,
            n=model.vocab_size,
            place=location,
        ),
        filled(
            translate("Models", "Fingerprint {model:text}, tokenizer {tokenizer:text}"),
            model=model.fingerprint,
            tokenizer=model.tokenizer_fingerprint,
        ),
    ]
    if model.source.endswith(EXPANDED):
        text = translate(
            "Models", "Its file packs the weights to a few bits; they are read unpacked, in full."
        )
        lines.append(text)
    if fit is not None:
        lines.append(fit.words(language()))
    return "\n".join(lines)


ROW, HEAD = 32, 40  # pixels of a row and of the header of the table


class FitnessDialog(WorkingDialog):
    """Measures how good a proxy a model is, and shows the numbers with a sentence."""

    def __init__(self, session: Session, model: str, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._model, self._path = model, Path()
        inventory = session.chosen.found
        self.setWindowTitle(translate("Fitness", "Fitness of a model"))
        self.resize(760, 760)
        self.profile = own_profiles(session)
        self.key = combo((key.ref, key.label) for key in inventory.keys)
        if session.chosen.key in inventory.keys:
            self.key.setCurrentIndex(inventory.keys.index(session.chosen.key))
        no_source = ("", translate("Fitness", "not here"))
        self.source = combo([no_source, *((model.name, model.name) for model in inventory.models)])
        self.texts, self.tokens = spin_box(*PROXY_TEXTS), spin_box(*TOKENS)
        text = translate("Fitness", "Use a file of marked texts …")
        self.samples = plain_button(text, self.ask_file)
        self.measure = MainButton(translate("Fitness", "Measure"), self._measure)
        self.sentence = label("", "reading", wrap=True)
        self.rule = label("", "small", wrap=True)
        self.table = make_table(translate("Fitness", "Measurements"))
        self.table.setMinimumHeight(6 * ROW + HEAD)
        self._lay_out()
        self.refresh_buttons()

    def _lay_out(self) -> None:
        title = filled(
            translate("Fitness", "How well does “{model:text}” read marks?"), model=self._model
        )
        layout = dialog_column(
            self,
            title,
            translate(
                "Fitness",
                "Texts with known payloads are read with this model. They are made on the spot "
                "by the generating model, or come from a file.",
            ),
        )
        form = named_rows(
            (
                (translate("Fitness", "Profile"), self.profile),
                (translate("Fitness", "Key"), self.key),
                (translate("Fitness", "Generating model"), self.source),
                (translate("Fitness", "Texts to make"), self.texts),
                (translate("Fitness", "Tokens of each"), self.tokens),
            )
        )
        form.addRow("", button_row(left=(self.samples,)))
        add_parts(
            layout,
            form,
            self.progress_row(),
            self.sentence,
            (self.table, 1),
            self.rule,
            button_row(close_button(self), self.measure),
        )
        for widget in (self.sentence, self.table, self.rule):
            widget.hide()
        layout.addStretch(0)

    def refresh_buttons(self) -> None:
        """Enable the inputs that can be used now."""
        choices = (self.profile, self.key)
        needed = {box.accessibleName(): box.count() for box in choices}
        self.measure.require(needed, free=not self.busy)
        for widget in (self.profile, self.key, self.source, self.samples):
            widget.setEnabled(not self.busy)
        for number_field in (self.texts, self.tokens):
            number_field.setEnabled(not self._path.name and not self.busy)

    def ask_file(self) -> QDialog:
        """Ask for a file of marked texts."""
        return ask_file(
            self,
            translate("Fitness", "Marked texts"),
            self._use,
            translate("Fitness", "JSON Lines (*.jsonl)"),
        )

    def _use(self, path: Path) -> None:
        self._path = path
        text = filled(translate("Fitness", "Texts of “{file:text}” (change …)"), file=path.name)
        self.samples.setText(shortened(text))
        self.refresh_buttons()

    def _measure(self) -> None:
        for widget in (self.sentence, self.table, self.rule):
            widget.hide()
        source = str(self.source.currentData()) or None
        work = partial(
            measure_fitness,
            self.session.environment,
            model=self._model,
            profile=self.profile.currentData(),
            key=self.key.currentData(),
            source=source if source != self._model else None,
            samples=self._path if self._path.name else None,
            texts=self.texts.value(),
            tokens=self.tokens.value(),
        )
        self.begin(with_progress(work), on_result=self.show_result, queue="model")

    def show_result(self, fitness: ProxyFitness) -> None:
        """Show the measured numbers and their meaning."""
        self.sentence.setText(sentence(fitness))
        headers = (
            translate("Fitness", "What"),
            translate("Fitness", "Value"),
            translate("Fitness", "95 % interval"),
        )
        fill_table(self.table, headers, rows(fitness), 340)
        self.rule.setText(rule())
        for widget in (self.sentence, self.table, self.rule):
            widget.show()


def sentence(fitness: ProxyFitness) -> str:
    """Return a measurement as a plain sentence."""
    count = len(fitness.results)
    judged = {
        "good": translate("Fitness", "A good proxy for this profile: {counts:text}"),
        "usable": translate(
            "Fitness",
            "A usable proxy for this profile; short or edited texts may be missed: {counts:text}",
        ),
        "poor": translate(
            "Fitness",
            "A poor proxy for this profile; most marked texts would be missed: {counts:text}",
        ),
        "undecided": translate("Fitness", "Too few texts for a word: {counts:text}"),
    }[fitness.word]
    counts = filled(
        translate(
            "Fitness",
            "of {n:plural(one marked text|{n:count} marked texts)}, {reached:count} reached the "
            "evidence of a mark and {whole:plural(one gave its|{whole:count} gave their)} whole "
            "payload.",
        ),
        n=count,
        reached=round(fitness.found.value * count),
        whole=round(fitness.matched.value * count),
    )
    text = filled(judged, counts=counts)
    if fitness.made_here and fitness.source is None:
        text += " " + translate(
            "Fitness",
            "The texts were made by this model itself: this says how well the profile works, not "
            "how good a proxy it is.",
        )
    return text


def rule() -> str:
    """Return the rule behind the verdict on a proxy."""
    return filled(
        translate(
            "Fitness",
            "Good: at least 90 % of the texts reach evidence of 6 (log₁₀), and at least 80 % "
            "give their whole payload. Usable: at least 50 % reach it. Poor: fewer. Below "
            "{least:count} texts there is no word.",
        ),
        least=LEAST,
    )


def rows(fitness: ProxyFitness) -> list[tuple[str, str, str]]:
    """Return the rows of a measurement: what was measured, the estimate, and its interval."""
    reach = translate("Fitness", "Texts that reach evidence of 6 (log₁₀)")
    complete = translate("Fitness", "Texts that give their whole payload")
    bits = translate("Fitness", "Payload bits that are right")
    table = [
        (reach, *_cells(fitness.found, 100, 0, " %")),
        (complete, *_cells(fitness.matched, 100, 0, " %")),
        (bits, *_cells(fitness.bits_right, 100, 1, " %")),
        (translate("Fitness", "Evidence a text (log₁₀)"), *_cells(fitness.evidence, 1, 1, "")),
        (
            translate("Fitness", "Evidence for 100 tokens (log₁₀)"),
            *_cells(fitness.evidence_per_100, 1, 2, ""),
        ),
    ]
    if fitness.kl_bits is not None:
        text = translate("Fitness", "Divergence from “{model:text}” (bits a token)")
        table.append((filled(text, model=fitness.source or ""), *_cells(fitness.kl_bits, 1, 3, "")))
    return table


def _cells(estimate: Estimate, times: int, digits: int, unit: str) -> tuple[str, str]:
    middle = f"{decimal(times * estimate.value, digits)}{unit}"
    if estimate.low is None or estimate.high is None:
        return middle, "–"
    low, high = decimal(times * estimate.low, digits), decimal(times * estimate.high, digits)
    return middle, filled(
        translate("Fitness", "{low:text} to {high:text}"), low=low, high=f"{high}{unit}"
    )
