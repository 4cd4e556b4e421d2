"""How a file is read: its encoding, with a preview, and which of its parts become texts."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QWidget,
)

from pura.documents import (
    ALTERNATIVE,
    ATTACHMENT,
    QUOTED,
    Document,
    Extraction,
    Preview,
    ReadOptions,
)
from pura.words.sentences import changed, fill
from pura_audit.jobs.context import Done, Failure, Outcome
from pura_audit.jobs.queue import Job
from pura_audit.platform.i18n import filled, language, translate
from pura_audit.session.queue_model import Item
from pura_audit.session.session import Session
from pura_audit.session.texts import look_into
from pura_audit.theme import fonts
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import label
from pura_audit.widgets.form_dialog import (
    PlainDialog,
    button_row,
    cancel_button,
    dialog_column,
    main_button,
)
from pura_audit.widgets.text_layout import safe_text

SHOWN: Final = 2000  # characters of a preview
LEAST: Final = 56  # pixels of list and preview


class ReadingDialog(PlainDialog):
    """Looks into the file in the file thread, shows what comes out, and applies a choice.

    Args:
        session: The session.
        item: A row with a file.
    """

    def __init__(self, session: Session, item: Item, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        assert item.path is not None
        self._session, self._item, self._path = session, item, item.path
        self._documents: tuple[Document, ...] = ()
        self._looking: Job | None = None
        self.setWindowTitle(translate("Reading", "How this file is read"))
        self.resize(760, 600)
        self.encoding = QComboBox()
        self.encoding.setAccessibleName(translate("Reading", "Encoding"))
        self.encoding.activated.connect(lambda _: self.look())
        self.how = label("", "muted", wrap=True)
        self.parts = QListWidget()
        self.parts.setAccessibleName(translate("Reading", "Parts of the file"))
        self.parts.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.parts.currentRowChanged.connect(self._show)
        self.parts.itemChanged.connect(lambda _: self._allow())
        self.preview = QPlainTextEdit()
        self.preview.setReadOnly(True)
        self.preview.setTabChangesFocus(True)
        self.preview.setFont(fonts.face(fonts.READING))
        self.preview.setAccessibleName(translate("Reading", "Preview"))
        self.notes = label("", "muted", wrap=True)
        self.apply = main_button(translate("Reading", "Read it like this"), self.take)
        self._lay_out()
        self.look()

    def _lay_out(self) -> None:
        title = translate("Reading", "How this file is read")
        layout = dialog_column(self, title, self._path.name, spacing=GRID)
        layout.addSpacing(GRID)
        self._caption = label(translate("Reading", "Encoding"), "label")
        layout.addWidget(self._caption)
        layout.addWidget(self.encoding)
        layout.addWidget(self.how)
        self._heading = label(translate("Reading", "Parts of the file"), "label")
        layout.addWidget(self._heading)
        self.parts.setMaximumHeight(150)
        for box in (self.parts, self.preview):
            box.setMinimumHeight(LEAST)
        layout.addWidget(self.parts)
        layout.addWidget(label(translate("Reading", "Preview"), "label"))
        layout.addWidget(self.preview, 1)
        layout.addWidget(self.notes)
        layout.addSpacing(GAP)
        layout.addLayout(button_row(cancel_button(self), self.apply))

    def look(self) -> None:
        """Ask the file thread what the file holds in the encoding that is chosen."""
        self.apply.setEnabled(False)
        options = ReadOptions(encoding=self.encoding.currentData())
        if self._looking is not None:
            self._looking.drop()
        self._looking = self._session.jobs.files.do(
            lambda context: look_into(self._path, options, context), self._looked, self
        )

    def _looked(self, outcome: Outcome[tuple[Extraction | Failure, tuple[Preview, ...]]]) -> None:
        self._looking = None
        match outcome:
            case Done((extraction, previews)):
                self._offer(previews)
                if isinstance(extraction, Failure):
                    self._refuse(extraction)
                else:
                    self._take_in(extraction)
            case Failure():
                self._refuse(outcome)

    def _refuse(self, failure: Failure) -> None:
        self._documents = ()
        self.parts.clear()
        self.preview.setPlainText("")
        self.notes.setText(failure.words)

    def _take_in(self, extraction: Extraction) -> None:
        self._documents = extraction.documents
        self._list(extraction)
        self._how(extraction.documents[0])

    def _offer(self, previews: tuple[Preview, ...]) -> None:
        """Offer every encoding that fits all bytes; nothing where the format leaves no choice."""
        for widget in (self.encoding, self._caption, self.how):
            widget.setVisible(bool(previews))
        if self.encoding.count() or not previews:
            return
        self.encoding.addItem(translate("Reading", "Chosen by the program"), None)
        for one in previews:
            self.encoding.addItem(one.label, one.encoding)

    def _how(self, document: Document) -> None:
        words = translate("Reading", "Read as {encoding:text} ({source:text}).")
        source = {
            "mark": translate("Reading", "the file begins with its mark"),
            "strict": translate("Reading", "every byte fits"),
            "declared": translate("Reading", "the file says so"),
            "chosen": translate("Reading", "your choice"),
            "detected": translate("Reading", "guessed from the letters; look at the preview"),
            "fallback": translate("Reading", "assumed; look at the preview"),
            "pattern": translate("Reading", "guessed from the pattern of the bytes"),
        }.get(document.encoding_source, document.encoding_source or "–")
        self.how.setText(filled(words, encoding=document.encoding, source=source))

    def _list(self, found: Extraction) -> None:
        usual = {id(document) for document in found.chosen}
        self.parts.blockSignals(True)
        self.parts.clear()
        for document in found.documents:
            count = filled(translate("Reading", "{n:count} characters"), n=len(document.text))
            name = document.part or translate("Reading", "The whole text")
            row = QListWidgetItem(f"{name} · {_role(document.role)}{count}")
            row.setFlags(row.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            on = id(document) in usual
            row.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
            self.parts.addItem(row)
        self.parts.blockSignals(False)
        several = len(found.documents) > 1
        self.parts.setVisible(several)
        self._heading.setVisible(several)
        self.parts.setCurrentRow(0)
        self._show(0)
        self._allow()

    def _show(self, place: int) -> None:
        if not 0 <= place < len(self._documents):
            return
        document = self._documents[place]
        self.preview.setPlainText(_visible(document.text[:SHOWN]))
        tongue = language()
        facts = [changed(t.name, t.count, t.note, tongue) for t in document.transforms]
        facts += [fill(one, tongue) for one in document.notes]
        self.notes.setText("; ".join(facts))

    def _allow(self) -> None:
        self.apply.setEnabled(bool(self.chosen()))

    def chosen(self) -> tuple[Document, ...]:
        """Return the parts that are ticked."""
        return tuple(
            document
            for place, document in enumerate(self._documents)
            if (row := self.parts.item(place)) is not None
            and row.checkState() == Qt.CheckState.Checked
        )

    def take(self) -> None:
        """Let the row, and further ones behind it, hold what is ticked."""
        self._session.texts.take_documents(self._item, self.chosen())
        self.accept()


def _visible(text: str) -> str:
    """Show what has no picture as a sign; line ends stay line ends."""
    return "\n".join(safe_text(line) for line in text.splitlines())


def _role(role: str) -> str:
    words = {
        ALTERNATIVE: translate("Reading", "another reading"),
        QUOTED: translate("Reading", "quoted"),
        ATTACHMENT: translate("Reading", "attachment"),
    }.get(role, "")
    return f"{words} · " if words else ""
