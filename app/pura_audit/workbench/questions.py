"""Questions before something begins or is lost: folder, file, long run, passphrase, closing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
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
)
from pura.documents.folders import WalkOptions
from pura.keys import Place, Secret, State
from pura.usecases.keys import unlock_files
from pura.words.sentences import changed, fill
from pura_audit.jobs.queue import Done, Failure, Job, Outcome
from pura_audit.platform.i18n import duration, filled, language, translate
from pura_audit.session.audits import length
from pura_audit.session.queue_model import Item
from pura_audit.session.session import Session
from pura_audit.session.texts import look_into
from pura_audit.stores.key_forms import PassphraseDialog
from pura_audit.theme import fonts
from pura_audit.theme.theme import GAP, GRID
from pura_audit.widgets.card import add_parts, label
from pura_audit.widgets.form_dialog import (
    MainButton,
    PlainDialog,
    ask_first,
    button_row,
    cancel_button,
    dialog_column,
    opened,
)
from pura_audit.widgets.text_layout import safe_text


def closing_question(
    parent: QWidget,
    close: Callable[[], object],
    *,
    running: bool,
    installing: bool,
    unkept: int,
) -> QMessageBox:
    """Ask for confirmation before the window closes; return the open question.

    Args:
        parent: The window.
        close: Closes the window, whatever runs.
        running: Whether an audit runs or waits.
        installing: Whether a model is fetched or added.
        unkept: Number of findings that could not be saved and would be lost.
    """
    consequences = translate(
        "Window",
        "What is finished is kept in the case “Unfiled”. The list comes back at the next start, "
        "and the audit that is cancelled can be begun again there.",
    )
    if unkept:
        text = translate(
            "Window",
            "{n:plural(One finding is|{n:count} findings are)} not in the case log and "
            "{n:plural(is|are)} lost when the window closes. Save to a case first (Ctrl+S).",
        )
        consequences = filled(text, n=unkept)
    if installing:
        text = translate(
            "Window",
            "A model that is not fetched to its end is not installed; nothing of it is used.",
        )
        consequences = f"{text} {consequences}" if running or unkept else text
    return ask_first(
        parent,
        translate("Window", "Close"),
        _what(running=running, installing=installing),
        consequences,
        (
            translate("Window", "Cancel it and close")
            if running or installing
            else translate("Window", "Close and lose it"),
            close,
        ),
        keep=translate("Window", "Stay"),
    )


def _what(*, running: bool, installing: bool) -> str:
    if running and installing:
        return translate("Window", "An audit is running, and a model is being installed.")
    if running:
        return translate("Window", "An audit is running.")
    if installing:
        return translate("Window", "A model is being installed.")
    return translate("Window", "Not everything is saved.")


def unlocked(
    session: Session, parent: QWidget, on_unlocked: Callable[[], object]
) -> PassphraseDialog | None:
    """Call a function at once, or after asking for the passphrases that are needed.

    Returns:
        The dialog that asks; None if no passphrase is needed.
    """
    if session.keeper.wants_passphrase:
        return _ask_for_texts(session, parent, lambda: _with_keys(session, parent, on_unlocked))
    return _with_keys(session, parent, on_unlocked)


def _ask_for_texts(
    session: Session, parent: QWidget, on_unlocked: Callable[[], object]
) -> PassphraseDialog:
    dialog = PassphraseDialog(
        translate("Cases", "Passphrase of the kept texts"),
        translate(
            "Cases",
            "By the settings, examined texts are kept encrypted. Anyone who is to read one "
            "later needs this passphrase; it is not stored anywhere. It is asked for once a"
            " session.",
        ),
        translate("Cases", "Go on"),
        parent,
        new=True,
    )

    def go_on(secret: Secret) -> None:
        session.keeper.unlock(secret)
        on_unlocked()

    dialog.given.connect(go_on)
    return opened(dialog)


def _with_keys(
    session: Session, parent: QWidget, on_unlocked: Callable[[], object]
) -> PassphraseDialog | None:
    inventory = session.chosen.catalogue
    needed = any(k.entry is not None and k.entry.place is Place.FILES for k in session.chosen.keys)
    if inventory is None or inventory.files is not State.LOCKED or not needed:
        on_unlocked()
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
            on_unlocked()

    def go_on(secret: Secret) -> None:
        session.do(lambda _: unlock_files(session.environment, passphrase=secret), ended, dialog)

    dialog.given.connect(go_on)
    return opened(dialog)


def begin_audits(session: Session, parent: QWidget, items: Sequence[Item]) -> QMessageBox | None:
    """Audit rows, after a question if that takes long; return the open question or None."""
    if not session.audits.pace.long(items):
        session.audits.audit(items)
        return None
    excerpt_size = session.audits.pace.excerpt
    long = sum(length(item) > excerpt_size for item in items)
    explanation = translate(
        "LongRun",
        "It can be paused and cancelled at any time, and you can go on working meanwhile.",
    )
    complete = (
        translate("LongRun", "Audit the whole text")
        if len(items) == 1
        else filled(translate("LongRun", "Audit all {n:count} texts"), n=len(items))
    )
    choices = [(complete, lambda: session.audits.audit(items))]
    if long:
        short = translate(
            "LongRun",
            "An excerpt is how {n:plural(the text begins|each of the {n:count} long texts begins)},"
            " about {k:count} characters. It is a text of its own: what is found holds for it, "
            "and what is not found says nothing of the rest.",
        )
        explanation = f"{filled(short, n=long, k=excerpt_size)}\n\n{explanation}"
        excerpt = filled(translate("LongRun", "{n:plural(An excerpt|Excerpts)} first"), n=long)
        choices.append((excerpt, lambda: session.audits.audit_excerpts(items)))
    return ask_first(
        parent,
        translate("LongRun", "A long audit"),
        _cost(session, items),
        explanation,
        *choices,
        keep=translate("LongRun", "Not now"),
        safe=False,
    )


def _cost(session: Session, items: Sequence[Item]) -> str:
    seconds = session.audits.pace.seconds(items)
    if seconds is None:
        template = translate(
            "LongRun",
            "{n:plural(This text is long|These texts are long)}: {k:count} characters. How long "
            "that takes was not measured on this computer yet.",
        )
        return filled(template, n=len(items), k=sum(map(length, items)))
    template = translate(
        "LongRun",
        "{n:plural(The audit of this text takes|The audits of {n:count} texts take)} about "
        "{time:text} on this computer, as fast as the last ones went.",
    )
    return filled(template, n=len(items), time=duration(seconds))


class FolderDialog(PlainDialog):
    """Asks which files of a chosen folder are taken."""

    def __init__(self, session: Session, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._folder = session, folder
        self.setWindowTitle(translate("Folder", "Open a folder"))
        self.setMinimumWidth(520)
        now = session.texts.folder_options
        self.include = _field(
            now.include,
            translate("Folder", "Take these names only"),
            translate("Folder", "for example *.docx *.pdf; empty: every format that is read"),
        )
        self.exclude = _field(
            now.exclude,
            translate("Folder", "Leave these names out"),
            translate("Folder", "for example old* *.bak"),
        )
        self.recursive = _box(translate("Folder", "Enter the folders inside"), now.recursive)
        self.hidden = _box(translate("Folder", "Take hidden files too"), now.hidden)
        self.links = _box(translate("Folder", "Follow symbolic links"), now.links)
        self.choose = MainButton(translate("Folder", "Open the folder"), self._take)
        note = translate(
            "Folder", "These choices also hold for folders that are dropped on the window."
        )
        layout = dialog_column(self, folder.name or str(folder), note, spacing=GRID)
        layout.addSpacing(GRID)
        for field in (self.include, self.exclude):
            caption = label(field.accessibleName(), "label")
            caption.setBuddy(field)
            add_parts(layout, caption, field)
        boxes = (self.recursive, self.hidden, self.links)
        add_parts(layout, GRID, *boxes, GAP, button_row(cancel_button(self), self.choose))

    def options(self) -> WalkOptions:
        """Return the chosen options."""
        return WalkOptions(
            recursive=self.recursive.isChecked(),
            include=tuple(self.include.text().split()),
            exclude=tuple(self.exclude.text().split()),
            hidden=self.hidden.isChecked(),
            links=self.links.isChecked(),
        )

    def _take(self) -> None:
        """Store the options, and add the files of the folder."""
        self._session.texts.folder_options = self.options()
        self._session.texts.add_paths([self._folder])
        self.accept()


def _field(patterns: tuple[str, ...], name: str, hint: str) -> QLineEdit:
    field = QLineEdit(" ".join(patterns))
    field.setAccessibleName(name)
    field.setPlaceholderText(hint)
    return field


def _box(text: str, checked: bool) -> QCheckBox:
    box = QCheckBox(text)
    box.setChecked(checked)
    return box


PREVIEW_CHARACTERS: Final = 2000  # characters of a preview
MIN_HEIGHT: Final = 56  # pixels of list and preview


class ReadingDialog(PlainDialog):
    """Shows how a file is read, with its encoding and parts, and lets the user change it.

    Args:
        session: The session.
        item: A row with a file.
    """

    def __init__(self, session: Session, item: Item, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        assert item.path is not None
        self._session, self._item, self._path = session, item, item.path
        self._documents: tuple[Document, ...] = ()
        self._extraction: Extraction | None = None
        self._looking: Job | None = None
        self.setWindowTitle(translate("Reading", "How this file is read"))
        self.resize(760, 600)
        self.encoding = QComboBox()
        self.encoding.setAccessibleName(translate("Reading", "Encoding"))
        self.encoding.activated.connect(lambda _: self.look())
        self.encoding.addItem(translate("Reading", "Chosen by the program"), None)
        self.how = label("", "muted", wrap=True)
        # Nothing moves when the file has been looked into: what comes later takes its room below.
        self.how.setMinimumHeight(self.how.fontMetrics().height())
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
        self.apply = MainButton(translate("Reading", "Read it like this"), self.take)
        self._heading = label(translate("Reading", "Parts of the file"), "label")
        self.parts.setMaximumHeight(150)
        for box in (self.parts, self.preview):
            box.setMinimumHeight(MIN_HEIGHT)
        layout = dialog_column(self, self.windowTitle(), self._path.name, spacing=GRID)
        above = (label(translate("Reading", "Encoding"), "label"), self.encoding, self.how)
        preview_parts = (
            label(translate("Reading", "Preview"), "label"),
            (self.preview, 1),
            self.notes,
        )
        foot = button_row(cancel_button(self), self.apply)
        add_parts(layout, GRID, *above, *preview_parts, self._heading, self.parts, GAP, foot)
        for widget in (self._heading, self.parts):
            widget.hide()
        self.encoding.setEnabled(False)
        self.look()

    def look(self) -> None:
        """Read the file with the chosen encoding, in the thread of the files."""
        self.apply.require({}, free=False)
        encoding, texts = self.encoding.currentData(), self._session.texts
        if self._looking is not None:
            self._looking.drop()
        self._looking = self._session.jobs.files.do(
            lambda context: look_into(self._path, texts.options(encoding), context),
            self._looked,
            self,
        )

    def _looked(self, outcome: Outcome[tuple[Extraction | Failure, tuple[Preview, ...]]]) -> None:
        self._looking = None
        match outcome:
            case Done((extraction, previews)):
                self._offer(previews)
                if isinstance(extraction, Failure):
                    self._refuse(extraction)
                else:
                    self._extraction, self._documents = extraction, extraction.documents
                    self._list(extraction)
                    self._how(self._documents[0], free=bool(previews))
            case Failure():
                self._refuse(outcome)

    def _refuse(self, failure: Failure) -> None:
        self._documents, self._extraction = (), None
        self.parts.clear()
        self.preview.setPlainText("")
        self.notes.setText(failure.words)

    def _offer(self, previews: tuple[Preview, ...]) -> None:
        """Offer every encoding that fits all bytes, if the format leaves a choice."""
        self.encoding.setEnabled(bool(previews))
        if self.encoding.count() == 1:
            for preview in previews:
                self.encoding.addItem(preview.label, preview.encoding)

    def _how(self, document: Document, *, free: bool) -> None:
        if not free:
            self.how.setText(translate("Reading", "The format leaves no choice of an encoding."))
            return
        template = translate("Reading", "Read as {encoding:text} ({source:text}).")
        source = {
            "mark": translate("Reading", "the file begins with its mark"),
            "strict": translate("Reading", "every byte fits"),
            "declared": translate("Reading", "the file says so"),
            "chosen": translate("Reading", "your choice"),
            "damaged": translate("Reading", "some bytes do not fit"),
            "detected": translate("Reading", "guessed from the letters; look at the preview"),
            "fallback": translate("Reading", "assumed; look at the preview"),
            "pattern": translate("Reading", "guessed from the pattern of the bytes"),
        }.get(document.encoding_source, document.encoding_source or "–")
        self.how.setText(filled(template, encoding=document.encoding, source=source))

    def _list(self, extraction: Extraction) -> None:
        usual = {id(document) for document in extraction.usual}
        self.parts.blockSignals(True)
        self.parts.clear()
        for document in extraction.documents:
            count = filled(translate("Reading", "{n:count} characters"), n=len(document.text))
            name = document.part or translate("Reading", "The whole text")
            row = QListWidgetItem(f"{name} · {_role(document.role)}{count}")
            row.setFlags(row.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            is_usual = id(document) in usual
            row.setCheckState(Qt.CheckState.Checked if is_usual else Qt.CheckState.Unchecked)
            self.parts.addItem(row)
        self.parts.blockSignals(False)
        several = len(extraction.documents) > 1
        self.parts.setVisible(several)
        self._heading.setVisible(several)
        self.parts.setCurrentRow(0)
        self._show(0)
        self._allow()

    def _show(self, index: int) -> None:
        if not 0 <= index < len(self._documents):
            return
        document = self._documents[index]
        self.preview.setPlainText(_visible(document.text[:PREVIEW_CHARACTERS]))
        tongue = language()
        facts = [changed(t.name, t.count, t.note, tongue) for t in document.transforms]
        facts += [fill(note, tongue) for note in document.notes]
        self.notes.setText("; ".join(facts))

    def _allow(self) -> None:
        self.apply.require({self._heading.text(): self.chosen()})

    def chosen(self) -> tuple[Document, ...]:
        """Return the ticked parts."""
        if self._extraction is None:
            return ()
        return self._extraction.selected(
            document
            for index, document in enumerate(self._documents)
            if (row := self.parts.item(index)) is not None
            and row.checkState() == Qt.CheckState.Checked
        )

    def take(self) -> None:
        """Apply the ticked parts to the row, and to new rows after it."""
        self._session.texts.take_documents(self._item, self.chosen())
        self.accept()


def _visible(text: str) -> str:
    """Return a text with signs for invisible characters; line ends stay."""
    return "\n".join(safe_text(line) for line in text.splitlines())


def _role(role: str) -> str:
    role_name = {
        ALTERNATIVE: translate("Reading", "another reading"),
        QUOTED: translate("Reading", "quoted"),
        ATTACHMENT: translate("Reading", "attachment"),
    }.get(role, "")
    return f"{role_name} · " if role_name else ""
