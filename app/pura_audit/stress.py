"""Stress a text: attack it, see what was changed, what became of its bits, what the bound says."""

from __future__ import annotations

import html
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QSlider,
    QSplitter,
    QTextBrowser,
    QWidget,
)

from pura.base.errors import InputError
from pura.base.files import write_or_refuse
from pura.keys import KeyRef
from pura.record.audit import Audit
from pura.record.comparison import Kind, align
from pura.scheme import Payload, Profile
from pura.usecases.measurements import AttackTry, list_attacks, stress_text
from pura_audit.jobs.queue import Progress, with_progress
from pura_audit.platform.i18n import decimal, error_words, filled, translate
from pura_audit.session.export import csv_text
from pura_audit.session.session import Session
from pura_audit.theme.theme import GRID, Theme
from pura_audit.widgets.card import Card, ElidedLabel, Fold, add_parts, label, row_of
from pura_audit.widgets.form_dialog import (
    MainButton,
    ask_target,
    button_row,
    close_button,
    combo,
    dialog_column,
    name_input,
    opened,
    plain_button,
    spin_box,
)
from pura_audit.widgets.plot_card import Plot, PlotCard, Table
from pura_audit.widgets.text_layout import safe_text
from pura_audit.widgets.working_dialog import TableDialog, WorkingDialog, fill_table, make_table


def percent(share: float) -> str:
    """Write a share in percent."""
    return f"{decimal(100 * share, 0)} %"


class PositionsCard(PlotCard):
    """Sum of the readings of each codeword position: above zero it says what was put in."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._sums = np.zeros(0)
        self._shown: AttackTry | None = None
        super().__init__(
            translate("Stress", "Each position of the mark: above zero is right"), theme, parent
        )
        self.plot = Plot(theme)
        self._bars: list[pg.BarGraphItem] = []
        self.show_plot(self.plot)
        theme.changed.connect(self._draw_bars)
        self.show_try(None)

    def canvas(self) -> QWidget:
        """Return the plot."""
        return self.plot

    def show_try(self, shown: AttackTry | None) -> None:
        """Show the readings of one try."""
        self._shown = shown
        if shown is not None:
            readings = shown.found.readings
            sums = np.bincount(readings.position, weights=readings.z, minlength=readings.length)
            self._sums = sums.astype(np.float64)
        self._draw_bars()
        self.set_filled(shown is not None, None)
        self.empty.setText(_nothing_yet())
        self.redescribe()

    def _draw_bars(self) -> None:
        for bar in self._bars:
            self.plot.removeItem(bar)
        self._bars = []
        places = np.arange(self._sums.size)
        for name, chosen in (("support", self._sums > 0), ("against", self._sums <= 0)):
            colour = self.theme.colour(name)
            bar = pg.BarGraphItem(
                x=places[chosen],
                height=self._sums[chosen],
                width=0.8,
                pen=pg.mkPen(colour),
                brush=pg.mkBrush(colour) if name == "support" else pg.mkBrush(None),
            )
            self._bars.append(bar)
            self.plot.addItem(bar)
        if self._sums.size:
            reach = max(1.0, float(np.abs(self._sums).max())) * 1.05
            box = self.plot.getPlotItem().getViewBox()
            box.setRange(xRange=(-1, self._sums.size), yRange=(-reach, reach), padding=0)

    def table(self) -> Table:
        """Return the sum of every position."""
        headers = (
            translate("Stress", "Position"),
            translate("Stress", "Sum of Z"),
            translate("Stress", "Speaks for what was put in"),
        )
        yes, no = translate("Stress", "yes"), translate("Stress", "no")
        rows = [
            (str(place), decimal(value, 3), yes if value > 0 else no)
            for place, value in enumerate(self._sums.tolist())
        ]
        return headers, rows

    def summary(self) -> str:
        """Say how many positions come out right."""
        words = translate("Stress", "{right:count} of {all:count} positions say what was put in.")
        right = int((self._sums > 0).sum())
        return filled(words, right=right, all=self._sums.size)


class SweepCard(PlotCard):
    """How much of the payload comes out right, over how much of the text was changed."""

    def __init__(self, theme: Theme) -> None:
        self.tries: Sequence[AttackTry] = ()
        title = translate("Stress", "Payload bits right, over tokens changed")
        super().__init__(title, theme)
        self.plot = Plot(theme)
        self._lines = (pg.PlotDataItem(), pg.PlotDataItem())
        for line in self._lines:
            self.plot.addItem(line)
        self.show_plot(self.plot)
        words = translate(
            "Stress", "In percent. Circles: exact decoder; triangles, dashed: the paper’s decoder."
        )
        self.body.addWidget(label(words, "small", wrap=True))
        theme.changed.connect(self._draw_lines)
        self.show_tries(())

    def canvas(self) -> QWidget:
        """Return the plot."""
        return self.plot

    def show_tries(self, tries: Sequence[AttackTry]) -> None:
        """Show other tries."""
        self.tries = sorted(tries, key=_changed)
        self._draw_lines()
        self.set_filled(len(tries) > 1, None)
        self.empty.setText(_nothing_yet())
        self.redescribe()

    def _draw_lines(self) -> None:
        x = [100 * _changed(one) for one in self.tries]
        exact = [100 * one.found.outcome.exact_bits for one in self.tries]
        paper = [100 * one.found.outcome.paper_bits for one in self.tries]
        styles = (
            (exact, "support", Qt.PenStyle.SolidLine, "o"),
            (paper, "muted", Qt.PenStyle.DashLine, "t"),
        )
        for line, (y, name, style, symbol) in zip(self._lines, styles, strict=True):
            colour = self.theme.colour(name)
            line.setData(x, y, symbol=symbol, symbolSize=8)
            line.setPen(pg.mkPen(colour, width=2, style=style))
            line.setSymbolPen(pg.mkPen(colour))
            line.setSymbolBrush(pg.mkBrush(colour))
        if x:
            least = min([40.0, *exact, *paper])
            box = self.plot.getPlotItem().getViewBox()
            box.setRange(xRange=(-2, max(10.0, *x) * 1.05), yRange=(least - 2, 103), padding=0)

    def table(self) -> Table:
        """Return the points."""
        headers = (
            translate("Stress", "Tokens changed"),
            translate("Stress", "Bits right, exact decoder"),
            translate("Stress", "Bits right, the paper’s decoder"),
        )
        rows = [
            (
                percent(_changed(one)),
                percent(one.found.outcome.exact_bits),
                percent(one.found.outcome.paper_bits),
            )
            for one in self.tries
        ]
        return headers, rows

    def summary(self) -> str:
        """Say the two ends."""
        if len(self.tries) < 2:
            return ""
        last = self.tries[-1]
        words = translate(
            "Stress",
            "With {changed:text} of the tokens changed, the exact decoder has {exact:text} of the "
            "bits right, the paper’s {paper:text}.",
        )
        return filled(
            words,
            changed=percent(_changed(last)),
            exact=percent(last.found.outcome.exact_bits),
            paper=percent(last.found.outcome.paper_bits),
        )


def _changed(one: AttackTry) -> float:
    return 0.0 if one.damage is None else one.damage.tokens


def _nothing_yet() -> str:
    return translate("Stress", "Appears here after an attack.")


def attack_title(name: str) -> str:
    """Return what an attack does, in a few words."""
    return {
        "substitute": translate("Stress", "Random tokens in the place of others"),
        "substitute-plausible": translate("Stress", "Likely tokens in the place of others"),
        "insert": translate("Stress", "Random tokens put in"),
        "delete": translate("Stress", "Tokens left out"),
        "synonyms": translate("Stress", "Synonyms"),
        "typos": translate("Stress", "Typing errors"),
        "case": translate("Stress", "Capital and small letters"),
        "punctuation": translate("Stress", "Punctuation"),
        "spelling": translate("Stress", "British and American spelling"),
        "contractions": translate("Stress", "Contractions"),
        "office": translate("Stress", "Typography of office programs"),
        "homoglyphs": translate("Stress", "Letters that only look the same"),
        "zero-width": translate("Stress", "Invisible characters"),
        "sentence-shuffle": translate("Stress", "Sentences in another order"),
        "copy-paste": translate("Stress", "A passage in somebody else’s text"),
        "paste-spans": translate("Stress", "Several passages in somebody else’s text"),
        "truncate": translate("Stress", "Only the beginning is kept"),
        "splice": translate("Stress", "Sentences of somebody else in between"),
        "smoothing": translate("Stress", "Smoothing by another model"),
        "paraphrase": translate("Stress", "A model writes it anew"),
        "dipper": translate("Stress", "DIPPER, or a model in its place"),
        "back-translation": translate("Stress", "Translated and back"),
        "sira": translate("Stress", "SIRA: telling words are written anew"),
        "rlcracker": translate("Stress", "RLCracker: the best of several rewrites"),
    }.get(name, name)


def outcome_sentence(attack: str, tries: Sequence[AttackTry], bits: int) -> str:
    """Say in a sentence what the payload survived.

    Args:
        attack: What was done, in words.
        tries: The text as it is, and after each attack.
        bits: Of the payload.
    """
    at = translate("Stress", " at {share:text}")
    hit = sorted((one for one in tries if one.damage is not None), key=lambda o: o.strength or 0)
    kept = list(itertools.takewhile(lambda one: one.found.outcome.exact_match, hit))
    if not hit:
        return ""
    if not tries[0].found.outcome.exact_match:
        words = translate(
            "Stress", "Unchanged already, the text gives only {right:count} of {all:count} bits."
        )
        return filled(words, right=_right(tries[0], bits), all=bits)
    parts = []
    if kept:
        survives = translate(
            "Stress",
            "The payload survives “{attack:text}”{at:text}: {all:count} of {all:count} bits.",
        )
        upto = translate("Stress", " up to {share:text}") if len(hit) > 1 else at
        parts.append(filled(survives, attack=attack, at=_strength(upto, kept[-1]), all=bits))
    if len(kept) < len(hit):
        lost = hit[len(kept)]
        words = translate(
            "Stress",
            "It does not survive “{attack:text}”{at:text}: {right:count} of {all:count} bits "
            "are right.",
        )
        right = _right(lost, bits)
        parts.append(filled(words, attack=attack, at=_strength(at, lost), right=right, all=bits))
    return " ".join(parts)


def _strength(words: str, one: AttackTry) -> str:
    if one.strength is None:
        return ""
    share = f"{decimal(100 * one.strength, 0)}\N{NO-BREAK SPACE}%"
    return filled(words, share=share)


def _right(one: AttackTry, bits: int) -> int:
    return round(one.found.outcome.exact_bits * bits)


def marked_difference(before: str, after: str, theme: Theme) -> str:
    """Return the second text as HTML: what was taken out struck, what was put in underlined.

    Args:
        before: The text as it was.
        after: The text as it is.
        theme: Its colours; line and ink say the same as the colour.
    """
    lost = f"color:{theme.colour('against').name()};text-decoration:line-through"
    put = f"color:{theme.colour('support').name()};text-decoration:underline"
    parts = []
    for pair in align(before, after).pairs:
        gone, come = _escaped(before[slice(*pair.left)]), _escaped(after[slice(*pair.right)])
        if pair.kind is Kind.SAME:
            parts.append(come)
            continue
        if gone:
            parts.append(f"<span style='{lost}'>{gone}</span>{' ' if come.strip() else ''}")
        if come:
            parts.append(f"<span style='{put}'>{come}</span>")
    return f"<div style='white-space:pre-wrap'>{''.join(parts)}</div>"


def _escaped(piece: str) -> str:
    lines = piece.split("\n")
    return html.escape("\n".join(safe_text(line) for line in lines))


TALL = 640
FRAME = 60  # pixels of the screen that a title and a panel take
SWEEP = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Strengths of a sweep."""


@dataclass(frozen=True, kw_only=True)
class StressedText:
    """A text whose payload is known.

    Attributes:
        name: What people call it.
        text: The text.
        payload: What it carries.
        key: What it was marked with.
        profile: How.
        model: The model that reads it; None takes the profile's.
    """

    name: str
    text: str
    payload: Payload
    key: KeyRef
    profile: Profile
    model: str | None = None

    @classmethod
    def of(cls, audit: Audit, text: str | None) -> StressedText | None:
        """Return the text of an audit that identified a payload; None where it did not.

        Args:
            audit: The audit; what it identified is taken for what the text carries.
            text: The text, where the record leaves it out.
        """
        known = audit.text if audit.text is not None else text
        bits = None if audit.payload is None else audit.payload.bits
        if known is None or bits is None:
            return None
        return cls(
            name=audit.input.name,
            text=known,
            payload=Payload(text=bits),
            key=KeyRef(fingerprint=audit.key.fingerprint, label=audit.key.label),
            profile=audit.profile,
            model=audit.model.name,
        )


class StressDialog(WorkingDialog):
    """A text, an attack, how hard; and what that did.

    Args:
        session: The session.
        stressed: The text.
        theme: The colours.
    """

    def __init__(
        self, session: Session, stressed: StressedText, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(session, parent)
        self._stressed, self._theme = stressed, theme
        self.tries: tuple[AttackTry, ...] = ()
        self.setWindowTitle(translate("Stress", "Stress a text"))
        self.resize(1180, 780)
        self.attack = combo((line, attack_title(line.name)) for line in list_attacks())
        self.attack.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.attack.setMinimumContentsLength(14)
        self.strength = QSlider(Qt.Orientation.Horizontal)
        self.strength.setRange(1, 100)
        self.strength.setMinimumWidth(60)
        self.strength.setPageStep(10)
        self.share = label("", "value")
        self.strength.valueChanged.connect(lambda value: self.share.setText(percent(value / 100)))
        self.strength.setValue(10)
        self.seed = spin_box(1, 9999, 1)
        self.once = MainButton(translate("Stress", "Attack"), self._once)
        self.sweep = plain_button(translate("Stress", "At six strengths"), lambda: self._try(SWEEP))
        self.sentence = label("", "reading", wrap=True)
        self.save = plain_button(translate("Stress", "Save the table …"), self.ask_file)
        self.text = QTextBrowser()
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setAccessibleName(translate("Stress", "The text, changes marked"))
        self.positions = PositionsCard(theme)
        self.course = SweepCard(theme)
        for card in (self.positions, self.course):
            card.table_wanted.connect(lambda shown=card: self._show_table(shown))
            card.noticed.connect(self.say)
        self.table = make_table(translate("Stress", "What each attack did"))
        self.table.setMinimumHeight(150)
        self.numbers = Fold(translate("Stress", "Numbers"), ruled=False)
        self._lay_out()
        self.attack.currentIndexChanged.connect(lambda _index: self._chose())
        theme.changed.connect(self._show_chosen)
        self._chose()
        self._fill()

    def _lay_out(self) -> None:
        words = translate("Stress", "What does the mark of “{name:text}” survive?")
        title = filled(words, name=self._stressed.name)
        layout = dialog_column(
            self,
            "",
            translate(
                "Stress",
                "The text is changed on purpose and read again. Its payload is known, so the right "
                "and the wrong bits can be counted. Nothing of this enters a case or a report.",
            ),
        )
        layout.insertWidget(0, ElidedLabel(title, "answer", middle=True))
        form = row_of()
        _add_named(form, translate("Stress", "Attack"), self.attack)
        _add_named(form, translate("Stress", "Strength"), self.strength)
        form.setStretchFactor(self.attack, 3)  # its names are long
        form.addWidget(self.share)
        self.share.setMinimumWidth(self.share.fontMetrics().horizontalAdvance(percent(1)) + GRID)
        form.addWidget(self.sweep)
        form.addWidget(self.once)
        add_parts(layout, form, self.progress_row(), self.sentence)
        left = Card(self.text.accessibleName(), inner=20)
        left.body.addWidget(self.text, 1)
        self.split = _split((left, 560), (self.course, 560), height=170)
        self.table.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        both = _split((self.table, 700), (self.positions, 420), height=200)
        self.numbers.body.addWidget(both, 1)
        row = row_of()
        _add_named(row, translate("Stress", "Seed"), self.seed)
        add_parts(row, None, self.save)
        self.numbers.body.addLayout(row)
        add_parts(layout, (self.split, 1), self.numbers)
        self.numbers.toggled.connect(
            lambda opened: layout.setStretchFactor(self.numbers, int(opened))
        )
        layout.addLayout(button_row(close_button(self)))

    def showEvent(self, event: QShowEvent) -> None:
        """Give the text and the picture more height where the screen has it."""
        super().showEvent(event)
        height = self.screen().availableGeometry().height() - FRAME
        self.resize(self.width(), max(self.height(), min(TALL, height)))

    def refresh_buttons(self) -> None:
        """Enable what can be done now."""
        free, line = not self.busy, self.attack.currentData()
        self.once.setEnabled(free)
        self.sweep.setEnabled(free and bool(line.strength))
        self.strength.setEnabled(free and bool(line.strength))
        self.save.setEnabled(free and bool(self.tries))
        for widget in (self.attack, self.seed):
            widget.setEnabled(free)

    def _chose(self) -> None:
        line = self.attack.currentData()
        if line.strength:
            self.strength.setValue(round(100 * float(line.params[line.strength])))
        self.share.setVisible(bool(line.strength))
        self.refresh_buttons()
        self.say(
            translate("Stress", "A model on this computer rewrites the text; that takes minutes.")
            if line.rewrites
            else ""
        )

    def _once(self) -> None:
        line = self.attack.currentData()
        self._try((self.strength.value() / 100 if line.strength else None,))

    def _try(self, strengths: tuple[float | None, ...]) -> None:
        of = self._stressed
        work = partial(
            stress_text,
            self.session.environment,
            text=of.text,
            payload=of.payload,
            key=of.key,
            profile=of.profile,
            attack=self.attack.currentData().name,
            strengths=strengths,
            seed=self.seed.value(),
            model=of.model,
        )
        self.begin(with_progress(work), then=self.show_tries, at="model")

    def _progressed(self, progress: Progress) -> None:
        super()._progressed(progress)
        words = translate("Stress", "Text {n:count} of {all:count}")
        if progress.total and progress.done < progress.total:
            self.say(filled(words, n=progress.done + 1, all=progress.total))

    def show_tries(self, tries: tuple[AttackTry, ...]) -> None:
        """Show what came of it, the last try chosen."""
        self.tries = tries
        self.course.show_tries(tries)
        title = self.attack.currentText()
        self.sentence.setText(outcome_sentence(title, tries, len(self._stressed.payload.text)))
        self._fill()
        self.refresh_buttons()
        self.say("")

    def _fill(self) -> None:
        fill_table(self.table, self.headers(), [row(one) for one in self.tries], widest=130)
        chosen = self.table.selectionModel()
        chosen.selectionChanged.connect(lambda *_: self._show_chosen())
        if self.tries:
            self.table.selectRow(len(self.tries) - 1)
        self._show_chosen()

    def _show_chosen(self) -> None:
        rows = self.table.selectionModel().selectedRows()
        one = self.tries[rows[0].row()] if rows and self.tries else None
        text = self._stressed.text if one is None else one.text
        self.text.setHtml(marked_difference(self._stressed.text, text, self._theme))
        self.positions.show_try(one)

    @staticmethod
    def headers() -> tuple[str, ...]:
        """Return the headers of the table."""
        return (
            translate("Stress", "Strength"),
            translate("Stress", "Tokens changed"),
            translate("Stress", "Similar"),
            translate("Stress", "Bits right, exact"),
            translate("Stress", "Bits right, paper"),
            translate("Stress", "Evidence (log₁₀)"),
            "ρ̂",
            "μ̂c",
            "μ̂adv",
            "Γ̂",
            translate("Stress", "Positions wrong"),
            translate("Stress", "Bound"),
        )

    def _show_table(self, card: PositionsCard | SweepCard) -> None:
        opened(TableDialog(card.title.text(), *card.table(), card.summary(), self))

    def ask_file(self) -> QDialog:
        """Ask where the table is to be written."""
        return ask_target(
            self,
            translate("Stress", "Save the table"),
            self.write,
            translate("Stress", "Table (*.csv)"),
            suffix="csv",
        )

    def write(self, path: Path) -> None:
        """Write the table; a file that cannot be written is reported."""
        data = csv_text(self.headers(), [row(one) for one in self.tries])
        try:
            write_or_refuse(path, data.encode("utf-8-sig"))
        except InputError as error:
            self.say(error_words(error), bad=True)
            return
        self.say(filled(translate("Stress", "Saved: {file:text}"), file=path.name))


def _split(*parts: tuple[QWidget, int], height: int) -> QSplitter:
    """Put parts of these widths side by side; plots would fill more than most screens."""
    split = QSplitter(Qt.Orientation.Horizontal)
    split.setChildrenCollapsible(False)
    for part, _ in parts:
        split.addWidget(part)
    split.setSizes([width for _, width in parts])
    split.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
    split.setMinimumHeight(height)
    return split


def _add_named(row: QHBoxLayout, words: str, field: QWidget) -> None:
    name_input(field, words)
    caption = label(words, "muted")
    caption.setBuddy(field)
    row.addWidget(caption)
    row.addWidget(field, int(not isinstance(field, QAbstractSpinBox)))
    row.addSpacing(GRID)


def row(one: AttackTry) -> Sequence[str]:
    """Return a try as the table writes it."""
    margin, outcome = one.found.paper.margin, one.found.outcome
    strength = "–" if one.strength is None else percent(one.strength)
    if one.damage is None:
        hit = (translate("Stress", "as it is"), percent(0.0), percent(1.0))
    else:
        hit = (strength, percent(one.damage.tokens), percent(one.damage.similarity))
    return (
        *hit,
        percent(outcome.exact_bits),
        percent(outcome.paper_bits),
        decimal(outcome.log10_e, 1),
        *(decimal(value, 3) for value in (margin.rho, margin.mu_c, margin.mu_adv, margin.gamma)),
        percent(margin.error),
        decimal(margin.bound, 3),
    )
