"""How good a proxy a model is for a profile: the page that measures it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QWidget,
)

from pura.measure import PROXY_TEXTS, TOKENS
from pura.measure.fitness import LEAST, Estimate, ProxyFitness
from pura.usecases.models import measure_fitness
from pura_audit.platform.i18n import decimal, filled, translate
from pura_audit.session.choices import Inventory
from pura_audit.session.session import Session
from pura_audit.theme.theme import GRID
from pura_audit.widgets.card import label
from pura_audit.widgets.form_dialog import (
    ask_file,
    button_row,
    close_button,
    dialog_column,
    main_button,
    name_input,
    plain_button,
    spin_box,
)
from pura_audit.widgets.working_dialog import WorkingDialog, fill_table, make_table

ROW, HEAD = 32, 40


class FitnessDialog(WorkingDialog):
    """Asks what to measure with, measures, and shows the numbers with a plain sentence."""

    def __init__(self, session: Session, model: str, parent: QWidget | None = None) -> None:
        super().__init__(session, parent)
        self._model, self._path = model, Path()
        found = session.chosen.catalogue or Inventory()
        self._keys = found.keys
        self._profiles = tuple(p for p in found.profiles if p.profile.foreign is None)
        self.setWindowTitle(translate("Fitness", "Fitness of a model"))
        self.resize(760, 760)
        self.profile, self.key, self.source = QComboBox(), QComboBox(), QComboBox()
        self.profile.addItems([p.title for p in self._profiles])
        self.key.addItems([k.label for k in self._keys])
        self.source.addItem(translate("Fitness", "not here"), "")
        for one in found.models:
            self.source.addItem(one.name, one.name)
        self.texts, self.tokens = spin_box(*PROXY_TEXTS), spin_box(*TOKENS)
        words = translate("Fitness", "Use a file of marked texts …")
        self.samples = plain_button(words, self.ask_file)
        self.measure = main_button(translate("Fitness", "Measure"), self._measure)
        self.sentence = label("", "reading", wrap=True)
        self.rule = label("", "small", wrap=True)
        self.table = make_table(translate("Fitness", "Measurements"))
        self.table.setMinimumHeight(6 * ROW + HEAD)
        self._lay_out()
        self._choose_current()
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
        form = QFormLayout()
        form.setSpacing(GRID)
        for words, field in (
            (translate("Fitness", "Profile"), self.profile),
            (translate("Fitness", "Key"), self.key),
            (translate("Fitness", "Generating model"), self.source),
            (translate("Fitness", "Texts to make"), self.texts),
            (translate("Fitness", "Tokens of each"), self.tokens),
        ):
            name_input(field, words)
            form.addRow(words, field)
        row = QHBoxLayout()
        row.addWidget(self.samples)
        row.addStretch(1)
        form.addRow("", row)
        layout.addLayout(form)
        layout.addLayout(self.progress_row())
        layout.addWidget(self.sentence)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.rule)
        layout.addLayout(button_row(close_button(self), self.measure))
        for widget in (self.sentence, self.table, self.rule):
            widget.hide()
        layout.addStretch(0)

    def _choose_current(self) -> None:
        session = self.session
        if session.chosen.profile in self._profiles:
            self.profile.setCurrentIndex(self._profiles.index(session.chosen.profile))
        if session.chosen.key in self._keys:
            self.key.setCurrentIndex(self._keys.index(session.chosen.key))

    def refresh_buttons(self) -> None:
        """Enable what can be done now."""
        ready = bool(self._keys) and bool(self._profiles)
        self.measure.setEnabled(ready and not self.busy)
        for widget in (self.profile, self.key, self.source, self.samples):
            widget.setEnabled(not self.busy)
        own = not self._path.name
        self.texts.setEnabled(own and not self.busy)
        self.tokens.setEnabled(own and not self.busy)
        if not ready:
            self.say(translate("Fitness", "A measurement takes a key and a profile."), bad=True)

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
        words = filled(translate("Fitness", "Texts of “{file:text}” (change …)"), file=path.name)
        self.samples.setText(words)
        self.refresh_buttons()

    def _measure(self) -> None:
        for widget in (self.sentence, self.table, self.rule):
            widget.hide()
        key = self._keys[self.key.currentIndex()]
        source = str(self.source.currentData()) or None
        work = partial(
            measure_fitness,
            self.session.environment,
            model=self._model,
            profile=self._profiles[self.profile.currentIndex()].profile,
            key=key.ref,
            source=source if source != self._model else None,
            samples=self._path if self._path.name else None,
            texts=self.texts.value(),
            tokens=self.tokens.value(),
        )
        self.begin(
            lambda context: work(progress=context.progress, checkpoint=context.checkpoint),
            then=self.show_result,
            at="model",
        )

    def show_result(self, found: ProxyFitness) -> None:
        """Show the numbers and what they mean."""
        self.sentence.setText(sentence(found))
        headers = (
            translate("Fitness", "What"),
            translate("Fitness", "Value"),
            translate("Fitness", "95 % interval"),
        )
        fill_table(self.table, headers, rows(found), 340)
        self.rule.setText(rule())
        for widget in (self.sentence, self.table, self.rule):
            widget.show()


def sentence(found: ProxyFitness) -> str:
    """Return the plain sentence of a measurement."""
    count = len(found.results)
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
    }[found.word]
    counts = filled(
        translate(
            "Fitness",
            "of {n:plural(one marked text|{n:count} marked texts)}, {reached:count} reached the "
            "evidence of a mark and {whole:plural(one gave its|{whole:count} gave their)} whole "
            "payload.",
        ),
        n=count,
        reached=round(found.found.value * count),
        whole=round(found.matched.value * count),
    )
    words = filled(judged, counts=counts)
    if found.made_here and found.source is None:
        words += " " + translate(
            "Fitness",
            "The texts were made by this model itself: this says how well the profile works, not "
            "how good a proxy it is.",
        )
    return words


def rule() -> str:
    """Return the rule behind the word."""
    return filled(
        translate(
            "Fitness",
            "Good: at least 90 % of the texts reach evidence of 6 (log₁₀), and at least 80 % "
            "give their whole payload. Usable: at least 50 % reach it. Poor: fewer. Below "
            "{least:count} texts there is no word.",
        ),
        least=LEAST,
    )


def rows(found: ProxyFitness) -> list[tuple[str, str, str]]:
    """Return the table of a measurement."""
    reach = translate("Fitness", "Texts that reach evidence of 6 (log₁₀)")
    whole = translate("Fitness", "Texts that give their whole payload")
    bits = translate("Fitness", "Payload bits that are right")
    made = [
        (reach, *_cells(found.found, 100, 0, " %")),
        (whole, *_cells(found.matched, 100, 0, " %")),
        (bits, *_cells(found.bits_right, 100, 1, " %")),
        (translate("Fitness", "Evidence a text (log₁₀)"), *_cells(found.evidence, 1, 1, "")),
        (
            translate("Fitness", "Evidence for 100 tokens (log₁₀)"),
            *_cells(found.evidence_per_100, 1, 2, ""),
        ),
    ]
    if found.kl_bits is not None:
        words = translate("Fitness", "Divergence from “{model:text}” (bits a token)")
        made.append((filled(words, model=found.source or ""), *_cells(found.kl_bits, 1, 3, "")))
    return made


def _cells(value: Estimate, times: int, digits: int, unit: str) -> tuple[str, str]:
    middle = f"{decimal(times * value.value, digits)}{unit}"
    if value.low is None or value.high is None:
        return middle, "–"
    low, high = decimal(times * value.low, digits), decimal(times * value.high, digits)
    return middle, filled(
        translate("Fitness", "{low:text} to {high:text}"), low=low, high=f"{high}{unit}"
    )
