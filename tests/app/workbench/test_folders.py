"""Folders, and files of several texts, in the window."""

from pura.documents.folders import REASONS, Summary, WalkOptions
from pura_audit.session import texts
from pura_audit.session.queue_model import ItemState
from pura_audit.session.texts import folder_words, left_out_table, reason_words
from pura_audit.workbench import opening
from pura_audit.workbench.questions import FolderDialog


def test_a_folder_comes_in_batches_and_says_what_it_left_out(window, qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "BATCH", 2)
    for i in range(5):
        (tmp_path / f"{i}.txt").write_text(f"text {i}", encoding="utf-8")
    (tmp_path / "photo.jpg").write_text("x", encoding="utf-8")
    (tmp_path / ".note.txt").write_text("x", encoding="utf-8")
    counted = window.session.texts.queue.counted
    with qtbot.waitSignals([counted] * 3 + [window.session.noticed]):
        window.session.texts.add_paths([tmp_path])
    items = window.session.texts.queue.items
    assert [i.name for i in items] == [f"{i}.txt" for i in range(5)]
    qtbot.waitUntil(lambda: all(i.state is ItemState.READY for i in items))
    left = window.session.texts.left_out
    assert left.total_skipped == 2
    assert "5 files" in folder_words(left)
    _, rows, counts = left_out_table(left)
    assert {row[0] for row in rows} == {"photo.jpg", ".note.txt"}
    assert counts.count("1 ×") == 2


def test_choices_for_folders_are_kept(window, qtbot, tmp_path):
    (tmp_path / ".note.txt").write_text("hidden words", encoding="utf-8")
    (tmp_path / "a.md").write_text("other words", encoding="utf-8")
    window.session.texts.folder_options = WalkOptions(hidden=True, include=("*.txt",))
    with qtbot.waitSignal(window.session.noticed):
        window.session.texts.add_paths([tmp_path])
    assert [i.name for i in window.session.texts.queue.items] == [".note.txt"]
    qtbot.waitUntil(lambda: window.session.texts.queue.items[0].state is ItemState.READY)


def test_an_empty_folder_is_said(window, qtbot, tmp_path):
    with qtbot.waitSignal(window.session.noticed) as said:
        window.session.texts.add_paths([tmp_path])
    assert "no file" in said.args[0]
    assert folder_words(Summary()) == said.args[0]


def test_each_text_of_a_table_is_a_row(window, qtbot, tmp_path):
    table = tmp_path / "answers.csv"
    table.write_text("a,b\nfirst text,second text\n", encoding="utf-8")
    window.session.texts.add_paths([table])
    qtbot.waitUntil(lambda: len(window.session.texts.queue.items) > 1)
    items = window.session.texts.queue.items
    assert all(i.state is ItemState.READY for i in items)
    assert all(i.name.startswith("answers.csv · ") for i in items)
    assert len({i.name for i in items}) == len(items)


def test_every_reason_has_words():
    assert len({reason_words(reason) for reason in REASONS}) == len(REASONS)


def test_the_dialog_keeps_what_was_chosen(window, qtbot, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("words", encoding="utf-8")
    (tmp_path / "b.txt").write_text("words", encoding="utf-8")
    assert opening.show_left_out(window) is None
    asked = opening.open_folder(window)
    asked.fileSelected.emit(str(tmp_path))
    dialog = window.findChild(FolderDialog)
    asked.close()
    dialog.include.setText("*.txt  *.md")
    dialog.recursive.setChecked(False)
    with qtbot.waitSignal(window.session.noticed):
        dialog.choose.click()
    assert window.session.texts.folder_options == WalkOptions(
        recursive=False, include=("*.txt", "*.md")
    )
    assert [i.name for i in window.session.texts.queue.items] == ["b.txt"]
    table = opening.show_left_out(window)
    assert table.table.model().rowCount() == 1
    table.close()
    assert opening.choose_of_folder(window, tmp_path).include.text() == "*.txt *.md"
