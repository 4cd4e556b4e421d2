"""The pile as a table: ten thousand rows, sorted, filtered, exported; results of a batch."""

import csv
from dataclasses import replace
from typing import Any

from openpyxl import load_workbook
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from pura.batch.results import read_rows
from pura.usecases.cases import open_saved
from pura_audit.jobs.queue import Failure, JobContext
from pura_audit.session.export import exported_table
from pura_audit.session.queue_model import Item, ItemState, listed, state_words, verdict_words
from pura_audit.session.results import BY_OUTCOME, COLUMNS, ResultRow, kind_words
from pura_audit.workbench.results_view import PAUSE_MS, WIDTHS


def evidence(window: Any) -> list[float]:
    return [row.found.log10_e for row in window.results.model.rows if row.found is not None]


def test_ten_thousand_rows_are_filtered_sorted_grouped_and_removed(window, qtbot, audit):
    found = listed(audit)
    items = [
        Item(
            number=n,
            name=f"text {n}",
            state=ItemState.DONE if n % 3 else ItemState.FAILED,
            finding=replace(found, log10_e=float(n * 7919 % 10_007), id=str(n)) if n % 3 else None,
            failure=None if n % 3 else Failure(code="x", message="No text in it.", hint=""),
            imported=True,
        )
        for n in range(10_000)
    ]
    queue, model = window.session.texts.queue, window.results.model
    queue.insert(items)
    qtbot.waitUntil(lambda: model.rowCount() == 10_000)
    assert model.counts() == {"mark": 6666, "failed": 3334}
    model.sort(COLUMNS.index("evidence"), Qt.SortOrder.DescendingOrder)
    values = evidence(window)
    assert values == sorted(values, reverse=True)
    assert model.rows[-1].found is None  # without a value: last, whichever way it is sorted
    model.group(BY_OUTCOME)
    kinds = [row.kind for row in model.rows]
    assert kinds == ["mark"] * 6666 + ["failed"] * 3334
    said = {place: heading.words for place, heading in model.headings.items()}
    assert said == {0: "A mark was found   6,666", 6667: "Failed   3,334"}
    window.toggle_results()
    table = window.results.table
    assert table.columnSpan(6667, 0) == len(COLUMNS)
    window.results._go_to(0)
    qtbot.keyClick(table, Qt.Key.Key_Left)
    assert model.rowCount() == 2 + 3334
    assert table.currentIndex().row() == 0
    assert window.results.chosen() == model.rows
    qtbot.keyClick(table, Qt.Key.Key_Right)
    assert model.rowCount() == 2 + 10_000
    model.group("")
    assert model.data(model.index(9999, COLUMNS.index("error"))) == "No text in it."
    qtbot.waitUntil(lambda: not table.isColumnHidden(COLUMNS.index("error")))
    assert model.data(model.index(9999, COLUMNS.index("payload"))) == ""
    window.results.search.setText("no text 9999")
    assert [row.name for row in model.rows] == ["text 9999"]
    window.results.search.setText("")
    queue.remove(items[1::2])
    assert queue.items == tuple(items[::2])
    qtbot.waitUntil(lambda: model.rowCount() == 5000)
    assert all(queue.row(item) == place for place, item in enumerate(items[::2]))


def test_a_text_goes_under_its_heading_when_it_is_audited(window, qtbot, text):
    for words in (text, text[:300]):
        window.session.texts.add_text(words)
    window.toggle_results()
    pile, model = window.results, window.results.model
    pile.model.group(BY_OUTCOME)
    qtbot.waitUntil(lambda: model.rowCount() == 3)
    chosen = model.rows[1]
    pile.show_item(chosen.item)
    window.session.audits.audit([chosen.item])
    said = ["A mark was found   1", "Still to audit   1"]
    qtbot.waitUntil(lambda: [one.words for one in model.headings.values()] == said)
    assert pile.table.currentIndex().row() == 1
    assert [index.row() for index in pile.table.selectionModel().selectedRows()] == [1]


def test_equal_texts_stand_under_one_heading(window, qtbot, text):
    texts = window.session.texts
    for name, words in (("a", text), ("b", text[:300]), ("c", text), ("d", "Other words.")):
        texts.add_text(words, name)
    texts.queue.insert([Item(number=99, name="gone", state=ItemState.FAILED)])
    pile, model = window.results, window.results.model
    window.toggle_results()
    pile.menu.fill()
    next(a for a in pile.menu.actions() if a.text() == "Group equal texts").trigger()

    def said() -> list[str]:
        return [one.words for one in model.headings.values()]

    others = ["Texts that are in the list only once   2", "Text not read   1"]
    qtbot.waitUntil(lambda: said() == ["2 times the same text: a · Ready", *others])
    assert [row.name for row in model.rows] == ["a", "c", "b", "d", "gone"]
    first, _ = texts.queue.items[0], window.session.audits.audit([texts.queue.items[0]])
    qtbot.waitUntil(lambda: first.state is ItemState.DONE)
    # One of them has been examined, so the heading names no outcome of both.
    qtbot.waitUntil(lambda: said() == ["2 times the same text: a", *others])
    pile.use_filter(("waiting", ""))
    assert said() == ["2 times the same text: c · 1 shown · Ready", others[0]]
    window.results.use_filter(("", ""))
    nothing = JobContext(lambda _: None, lambda _: None)
    head, cells = exported_table(window.session.cases.environment, model.rows, nothing)
    same = head.index("Same text as")
    assert [(row[0], row[same]) for row in cells if row[same]] == [("c", "a")]
    assert len({row[same - 1] for row in cells}) == 4  # the digests, one of them empty


def test_the_rest_is_audited_short_ones_first_and_a_row_opens_its_text(window, qtbot, engine, text):
    for words in (text, "A short one.", text[:200]):
        window.session.texts.add_text(words)
    window.toggle_results()
    pile = window.results
    assert not window.columns.isVisible()
    qtbot.waitUntil(lambda: pile.rest.text() == "Audit 3 remaining")
    pile.rest.click()
    items = window.session.texts.queue.items
    qtbot.waitUntil(lambda: all(i.state is ItemState.DONE for i in items))
    lengths = [len(request.document.text) for request in engine.asked]
    assert lengths == sorted(lengths)
    pile._activated(pile.model.index(1, 0))
    assert window.session.texts.current is items[1]
    assert window.columns.isVisible()


def test_rows_are_exported_and_results_opened(window, qtbot, tmp_path, text):
    window.session.texts.add_text(text, "=memo")
    window.session.audits.audit()
    item = window.session.texts.queue.items[0]
    qtbot.waitUntil(lambda: item.state is ItemState.DONE)
    item.audit = None  # only the case log has the record
    pile = window.results
    for name in ("rows.csv", "rows.xlsx", "rows.parquet", "rows.jsonl"):
        pile.export_to(tmp_path / name)
        qtbot.waitUntil((tmp_path / name).exists)
    with (tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        head, row = csv.reader(file)
    assert row[0] == "'=memo"  # no formula for a spreadsheet
    assert head[COLUMNS.index("outcome")] == "Outcome"
    audit = open_saved(window.session.cases.environment, item.finding.id)
    cells = dict(zip(head, row, strict=True))
    assert cells["SHA-256 of the file"].lstrip("'") == audit.input.sha256  # no number
    assert cells["Number of the audit"] == audit.id
    assert cells["Examined (UTC)"] == audit.created
    assert audit.key.fingerprint in cells["Key"]
    book = load_workbook(tmp_path / "rows.xlsx")
    texts, about = book.worksheets
    assert [cell.value for cell in texts[1]] == head
    values = dict(zip(head, texts[2], strict=True))
    assert (values["Text"].value, values["Text"].data_type) == ("=memo", "s")
    assert values["Evidence, log₁₀"].data_type == values["Tokens"].data_type == "n"
    said = {row[0].value: str(row[1].value) for row in about.rows}
    assert audit.model.fingerprint in said["Models"]
    assert said["Texts"] == "1"
    for name in ("rows.parquet", "rows.jsonl"):
        [found] = read_rows(str(tmp_path / name))
        assert (found["verdict"], found["path"]) == ("mark", "=memo")
    pile.open_result(tmp_path / "rows.jsonl")
    qtbot.waitUntil(lambda: pile.model.rowCount() == 2)
    opened = pile.model.rows[1]
    assert (opened.kind, opened.item) == ("mark", None)


def test_names_that_differ_at_their_end_look_different(window, text, qtbot):
    for version in (1, 2):
        window.session.texts.add_text(text, f"{'Statement_of_the_council_' * 5}v{version}.docx")
    window.toggle_results()
    table = window.results.table
    qtbot.waitUntil(lambda: table.model().rowCount() == 2)
    table.clearSelection()
    table.setAlternatingRowColors(False)
    cells = [table.visualRect(table.model().index(row, 0)).adjusted(2, 2, -2, -2) for row in (0, 1)]
    first, second = (table.viewport().grab(cell).toImage() for cell in cells)
    assert first.size() == second.size()
    assert first != second


def test_the_counts_follow_while_progress_ticks(window, audit, qtbot):
    """Every tick of progress tells of a change, faster than the counts are made."""
    window.session.texts.add_audit(audit)
    pile = window.results
    ticks = QTimer(interval=PAUSE_MS // 4)
    ticks.timeout.connect(pile.model.counted)
    pile.kinds.clear()
    ticks.start()
    qtbot.waitUntil(lambda: pile.kinds.count() > 0)
    ticks.stop()


def test_columns_and_filters_are_chosen_and_kept(window, qtbot, text):
    for name in ("long", "short"):
        window.session.texts.add_text(text, name)
    window.toggle_results()
    pile, settings = window.results, window.session.settings
    pile.use_filter(("waiting", "short"))
    qtbot.waitUntil(lambda: [row.name for row in pile.model.rows] == ["short"])

    def entry(words: str) -> Any:
        pile.menu.fill()
        return next(a for a in pile.menu.actions() if a.text() == words)

    entry("Keep this filter").trigger()
    assert settings.current.pile_filters == ("waiting:short",)
    pile.use_filter(("", ""))
    assert len(pile.model.rows) == 2
    entry("Still to audit · short").trigger()
    assert pile.search.text() == "short"
    entry("Forget this filter").trigger()
    assert settings.current.pile_filters == ()
    place = COLUMNS.index("tokens")
    entry("Tokens").trigger()
    assert pile.table.isColumnHidden(place)
    assert settings.current.pile_hidden == ("tokens",)
    entry("Tokens").trigger()
    assert not pile.table.isColumnHidden(place)


def test_list_table_and_card_have_one_word_for_one_state(window, text):
    window.session.texts.add_text(text)
    item = window.session.texts.current
    row = ResultRow(name=item.name, item=item)
    for state in set(ItemState) - {ItemState.DONE, ItemState.RUNNING, ItemState.FAILED}:
        item.state = state
        window.work.ready.show_item(item)
        said = {verdict_words(item), row.cell("outcome"), window.work.ready.heading.text()}
        assert said == {state_words(state)}


def test_the_columns_of_words_share_the_width_until_somebody_draws_at_one(window, qtbot, audit):
    row = Item(number=1, name="a.txt", state=ItemState.DONE, finding=listed(audit), imported=True)
    window.session.texts.queue.insert([row])
    view = window.results
    table, header = view.table, view.table.horizontalHeader()
    window.resize(1440, 900)
    window.toggle_results()
    qtbot.waitUntil(lambda: header.length() == table.viewport().width())
    name, outcome, last = (COLUMNS.index(word) for word in ("name", "outcome", "review"))
    words = table.fontMetrics().horizontalAdvance(kind_words("mark"))
    assert words < table.columnWidth(outcome)
    for width in (1900, 1440):
        window.resize(width, 900)
        QApplication.processEvents()
        assert table.columnWidth(last) - WIDTHS["review"] in range(4)  # not what Qt leaves it
        assert not table.horizontalScrollBar().isVisible()
    failed = Failure(code="x", message="No text in it.", hint="")
    row = Item(number=2, name="b.txt", state=ItemState.FAILED, failure=failed, imported=True)
    window.session.texts.queue.insert([row])  # with it a column more
    qtbot.waitUntil(lambda: not table.isColumnHidden(COLUMNS.index("error")))
    qtbot.waitUntil(lambda: header.length() == table.viewport().width())
    table.setColumnWidth(name, 333)
    window.resize(1800, 900)
    QApplication.processEvents()
    assert table.columnWidth(name) == 333
