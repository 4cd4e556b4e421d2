"""Cells that spreadsheets neither run nor round."""

import csv
import io

from openpyxl import load_workbook

from pura_audit.session.export import Sheet, csv_text, xlsx_bytes

PAYLOAD = "011001011010011101100101101001110110"
TEXTS = [PAYLOAD, "1" * 16, "007", "=1+1", "@SUM(A1)", "+49 30 1234", "nan", "1_000", "a\x00b"]


def test_what_only_looks_like_a_number_stays_a_text():
    head, *rows = csv.reader(io.StringIO(csv_text(["n"], [[cell] for cell in TEXTS])))
    assert head == ["n"]
    assert [row[0] for row in rows] == [*(f"'{cell}" for cell in TEXTS[:-1]), TEXTS[-1]]


def test_numbers_stay_numbers():
    cells = ["1.5", "\N{MINUS SIGN}3", "1e-12", "0", "123456789012345", 2.25, 7, None]
    _, *rows = csv.reader(io.StringIO(csv_text(["n"], [[cell] for cell in cells])))
    wanted = ["1.5", "-3", "1e-12", "0", "123456789012345", "2.25", "7", ""]
    assert ["".join(row) for row in rows] == wanted


def test_a_workbook_holds_texts_and_numbers_and_no_formula():
    data = xlsx_bytes([Sheet(name="Texts", head=["n"], rows=[[c] for c in (*TEXTS, 2.5)])])
    (page,) = load_workbook(io.BytesIO(data)).worksheets
    head, *cells = (row[0] for row in page.rows)
    assert head.font.bold
    assert [cell.value for cell in cells] == [*TEXTS[:-1], "a\N{REPLACEMENT CHARACTER}b", 2.5]
    assert {cell.data_type for cell in cells[:-1]} == {"s"}
    assert cells[-1].data_type == "n"
