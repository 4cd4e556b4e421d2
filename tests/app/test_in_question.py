"""One audit whose payload is in question, through every output: none of them states it.

The customer is certain (99.6 % of the weight), the day is not; so the customer may be said, and the
day, the whole payload and the entry of the register may not.
"""

import json
import subprocess
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLabel
from tests.app.records import candidate, issued, laid_out

from pura.batch.results import finding_of, read_row, row_of
from pura.caselog import CaseLog, list_cases, open_case, save_audit
from pura.cli.verify import audit_lines
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.comparison import compare_audits
from pura.record.finding import Finding, rendered
from pura.record.transforms import Transform
from pura.report.annexes import names
from pura.report.blocks import Labels
from pura.report.build import build_report
from pura.report.request import ReportRequest
from pura.words.sentences import Sentence
from pura_audit.jobs.queue import JobContext
from pura_audit.platform.i18n import set_language
from pura_audit.session.export import exported_table
from pura_audit.session.queue_model import listed
from pura_audit.session.results import ResultRow
from pura_audit.session.selection import Selection
from pura_audit.theme.theme import Theme
from pura_audit.workbench.answer import AnswerView
from pura_audit.workbench.details import candidate_table, wording

DAYS = {"iso": "2026-11-21", "en": "21 November 2026", "de": "21. November 2026"}


@pytest.fixture
def audit(audit) -> Audit:
    """As an earlier version wrote it: entry and payload were stated."""
    candidates = (
        candidate(417, 0.61),
        candidate(417, 0.386, day="2026-11-22"),
        candidate(418, 0.004),
    )
    return issued(laid_out(audit, *candidates), candidates[0].bits, who="Ada Lovelace")


def states(said: str, audit: Audit, language: str = "en") -> list[str]:
    """Return what a text states of the payload as a fact."""
    bits = audit.decoded.bits
    grouped = " ".join(bits[i : i + 4] for i in range(0, len(bits), 4))
    day = DAYS[language]
    facts = ["Ada Lovelace", "entry 12"]
    for name in ("issued", "Issued"):
        facts += [f"{name}: {DAYS['iso']}", f"{name} {DAYS['iso']}", f"{name} {day}"]
    facts += [f"Payload: {bits}", f"Nutzlast: {bits}", f"Payload {grouped}", f"Payload\n{grouped}"]
    return [fact for fact in facts if fact in said]


@pytest.mark.parametrize(
    ("language", "issued", "whole"),
    [
        ("en", "issued: in question; most probable 2026-11-21", "Most probable of 2 that remain"),
        ("de", "issued: offen; am wahrscheinlichsten 2026-11-21", "Wahrscheinlichste von 2"),
    ],
)
def test_the_command_calls_in_question_what_is_not_certain(audit, language, issued, whole):
    said = "\n".join(line for line, _ in audit_lines(audit, language))
    assert states(said, audit, language) == []
    assert [words for words in ("customer: 417", issued, whole) if words not in said] == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_stands_beside_the_answer_stands_everywhere(audit, qtbot, language):
    reread = {"first": 801, "last": 960, "k": 4, "w": 0.1}
    proxy = {"proxy": "another", "gen": "c" * 16}
    more = (
        Sentence(key="reread.found", values=reread),
        Sentence(key="verifier.proxy", values=proxy),
    )
    hidden = Transform(name="c2pa-manifest", count=1)
    audit = replace(
        audit,
        sentences=(*audit.sentences[:1], *more, *audit.sentences[1:]),
        input=replace(audit.input, transforms=(hidden,)),
    )
    set_language(language)
    card = AnswerView(Selection(), Theme())
    qtbot.addWidget(card)
    card.show_audit(audit)
    report = build_report([audit], ReportRequest(language=language)).content
    # Of several items page one is an overview: the evaluation says of each what belongs to it.
    both = build_report([audit, replace(audit, id="f" * 32)], ReportRequest(language=language))
    title = Labels(language)("section.evaluation")
    section = next(one for one in both.content.sections if one.title == title)
    places = {
        "card": " ".join(one.text() for one in card.findChildren(QLabel)),
        "details": wording(audit),
        "page one": json.dumps([one.text for one in report.summary], ensure_ascii=False),
        "section of several": json.dumps([one.text for one in section.blocks], ensure_ascii=False),
    }
    beside = rendered(audit.finding.qualifications, language)
    assert len(beside) == 2
    for place, words in places.items():
        assert [one for one in beside if one not in words] == [], place
        if "section" not in place and "page" not in place:
            assert rendered(audit.finding.conditions, language)[0] in words, place
    assert not [one for one in places if "section 4" in places[one] or "Abschnitt 4" in places[one]]


def test_json_rows_and_python_face_name_it_otherwise(audit):
    found = json_io.summary(audit)
    row = audit.to_row()
    batch = finding_of(audit.finding)
    for one in (found, row, batch):
        assert one["payload"] is None
        assert one["payload_best"] == audit.decoded.bits
        assert one["payload_posterior"] == 0.61
        assert one["payloads_in_question"] == 2
    assert found["fields"] == batch["fields"]
    assert found["fields"] == {"customer": "417", "issued": None, "release": "1.4"}
    assert (row["field.customer"], row["field.issued"]) == ("417", None)
    assert found["marks"][0]["payload"] is None
    assert batch["marks_payloads"] == [None]
    assert [batch[f"register_{name}"] for name in ("entry", "who", "posterior")] == [None] * 3
    assert "payload" not in audit.to_dict()
    assert audit.payload.bits is None
    html = audit.to_html()
    assert states(html, audit) == []
    assert "Most probable of 2" in html


def test_a_row_of_an_earlier_version_states_nothing(audit):
    place = {"input": 1, "item": 1, "piece": 1, "path": "a", "part": ""}
    whole = row_of(place, finding_of(audit.finding))
    later = ("payload_best", "payload_posterior", "payloads_in_question")
    later += ("payload_withheld", "marks", "marks_payloads", "marks_withheld", "hidden")
    old = {name: value for name, value in whole.items() if name not in later}
    old |= {"payload": audit.decoded.bits, "fields": {"customer": "417"}, "register_who": "Ada"}
    row = read_row(old)
    assert (row["payload"], row["payload_best"]) == (None, audit.decoded.bits)
    assert row["fields"] == {"customer": None}
    assert row["register_who"] is None


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_report_and_its_sealed_annex(audit, language, tmp_path):
    report = build_report([audit], ReportRequest(language=language))
    file = tmp_path / "report.pdf"
    file.write_bytes(report.pdf)
    said = subprocess.run(
        ["pdftotext", "-layout", file, "-"], check=True, capture_output=True, text=True
    ).stdout
    # The table of candidates names each with its weight.
    table = {"en": "Candidate payloads", "de": "In Betracht kommende Nutzlasten"}[language]
    first, _, _ = said.partition(table)
    one_line = " ".join(first.split())
    assert states(one_line, audit, language) == []
    assert "Ada Lovelace" not in said
    assert {"en": "payload in question (2 possible)", "de": "Nutzlast offen (2 möglich)"}[
        language
    ] in one_line
    assert names([audit]) == []


def test_the_case_log_does_not_find_it_and_a_comparison_does_not_name_it(audit, tmp_path):
    with CaseLog(tmp_path / "log.sqlite3", create=True) as log:
        who = log.person("A. Example")
        save_audit(log, open_case(log, "Case", who).id, audit, who)
        assert list_cases(log, search="memo") != ()
        assert list_cases(log, search=audit.decoded.bits) == ()
    (line,) = [line for line in compare_audits(audit, audit) if line.name == "payload"]
    assert (line.first, line.second) == ("?", "?")


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_window(window, audit, language):
    set_language(language)
    window.session.texts.add_audit(audit)
    answer = window.work.answer
    assert answer.payload.findChild(QLabel, "payload") is None
    lines = [label.text() for label in answer.payload.findChildren(QLabel)]
    # Candidates are named with their rank and weight, and nothing else is.
    facts = [line for line in lines if not line[:1].isdigit()]
    assert states("\n".join(facts), audit, language) == []
    assert "customer 417" in facts[0]
    said = listed(audit)
    assert said.marks[0].payload.bits is None
    named = [(f.name, f.text) for f in said.marks[0].payload.fields if f.identified]
    assert named == [("customer", "417"), ("release", "1.4")]
    assert Finding.from_json(json.loads(json.dumps(said.to_json()))) == said
    rows = [ResultRow(name=item.name, item=item) for item in window.session.texts.queue.items]
    nothing = JobContext(lambda _: None, lambda _: None)
    _, (row,) = exported_table(window.session.cases.environment, rows, nothing)
    assert states("\n".join(map(str, row)), audit, language) == []
    # No number, which would be the least of what remains and not the whole.
    open_words = {"en": "payload in question", "de": "Nutzlast offen"}[language]
    assert rows[0].cell("payload") == f"customer 417, release 1.4, {open_words}"
    set_language("en")


def test_an_indication_names_nothing(audit):
    hint = replace(audit, verdict="indication", sentences=(), passages=())
    said = "\n".join(line for line, _ in audit_lines(hint, "en"))
    assert "417" not in said
    assert hint.decoded.bits not in said
    assert hint.payload is None
    assert hint.to_row()["payload_best"] is None
    assert json_io.summary(hint)["payload_best"] is None
    assert listed(hint).marks == ()


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_candidate_of_another_key_is_listed_with_that_key(audit, qtbot, language):
    archive = replace(audit.key, fingerprint="0123456789abcdef", label="Archive")
    first, *others = audit.candidates
    others[0] = replace(first, key=archive.fingerprint, posterior=others[0].posterior)
    audit = replace(audit, keys=(audit.key, archive), candidates=(first, *others), marks=())
    set_language(language)
    card = AnswerView(Selection(), Theme())
    qtbot.addWidget(card)
    card.show_audit(audit)
    _, rows, _ = candidate_table(audit)
    report = build_report([audit], ReportRequest(language=language)).content
    lists = {
        "card": " ".join(one.text() for one in card.findChildren(QLabel)),
        "table": " ".join(rows[1]),
        "command": "\n".join(line for line, _ in audit_lines(audit, language)),
        "report": str([section.blocks for section in report.sections]),
    }
    assert [name for name, words in lists.items() if archive.title not in words] == []
    # The key of the mark stands at the mark; a candidate under it needs none.
    assert archive.title not in " ".join(rows[0])
    # An entry of the register is of one mark: not of the same payload under another key.
    assert "Ada Lovelace" not in " ".join(rows[1])
