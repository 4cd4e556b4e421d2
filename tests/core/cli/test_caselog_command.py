"""``pura caselog``, ``pura verify --save`` and ``pura report build --case``."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from tests.core.cli import conftest
from tests.core.cli.conftest import pura
from tests.core.programs import for_owner_alone

from pura.base.errors import InputError
from pura.base.numerals import LANGUAGES
from pura.base.paths import user_paths
from pura.caselog import CaseLog, open_case, save_audit
from pura.cli.terminal import use_language
from pura.cli.verify import _save_to
from pura.record import json_io
from pura.record.audit import Audit
from pura.usecases.cases import worker_of
from pura.usecases.environment import Environment


@pytest.fixture
def audit(honest_record: Callable[..., Audit]) -> Audit:
    return honest_record()


@pytest.fixture
def case(audit: Audit) -> str:
    """A case called “Thesis” with one audit in it."""
    with CaseLog(user_paths().caselog, create=True) as log:
        anna = log.person("Anna")
        found = open_case(log, "Thesis", anna, notes="urgent")
        save_audit(log, found.id, audit, anna)
        return found.id


def caselog(*words: str | Path) -> str:
    done = pura("caselog", *words)
    assert done.exit_code == 0, (words, done.output, done.exception)
    return str(done.output)


def refusal(*words: str | Path) -> str:
    return conftest.refusal(pura("caselog", *words))


def test_without_a_log_the_way_to_one_is_said():
    assert refusal("list") == "case-log-missing"
    caselog("new", "Thesis", "--auditor", "Anna", "--tag", "x", "--notes", "urgent")
    assert "Thesis" in caselog("list")


def test_a_case_is_listed_shown_and_found(case, audit):
    assert "Thesis" in caselog("list", "--search", "urgent")
    assert "No case" in caselog("list", "--tag", "none")
    [row] = [json.loads(line) for line in caselog("list", "--json").splitlines()]
    assert (row["id"], row["name"], row["audits"][0]["id"]) == (case, "Thesis", audit.id)
    shown = caselog("show", "thesis")
    for words in ("urgent", "Anna", "Examination saved", audit.id[:8], "not yet"):
        assert words in shown
    whole = caselog("show", case[:10], audit.id[:6], "--json", "--auditor", "Béla")
    assert json_io.from_json(whole).text == audit.text
    assert "Text opened" in caselog("show", "Thesis")
    assert refusal("show", "nobody") == "case-log-unknown"
    assert refusal("show", "Thesis", "ffff") == "case-log-unknown"
    for words in (["list", "--state", "odd"], ["list", "--since", "soon"]):
        assert pura("caselog", *words).exit_code == 2


@pytest.mark.slow
def test_everything_that_is_done_to_a_case(case, audit):
    caselog("note", "Thesis", "second thoughts", "--auditor", "Anna")
    caselog("tag", "Thesis", "a", "b", "--auditor", "Anna")
    caselog("rename", "Thesis", "Diploma", "--auditor", "Anna")
    words = ("review", "Diploma", audit.id[:8], "--recomputed", "from the record")
    assert refusal(*words, "--agree", "--auditor", "anna") == "four-eyes"
    caselog(*words, "--disagree", "--words", "too short", "--auditor", "Béla")
    caselog("hold", "Diploma", "--reason", "court")
    assert refusal("erase", "Diploma", "--reason", "x", "--yes") == "case-log-hold"
    caselog("release", "Diploma", "--reason", "settled")
    caselog("close", "Diploma")
    assert refusal("note", "Diploma", "more") == "case-log-closed"
    caselog("reopen", "Diploma")
    [row] = [json.loads(line) for line in caselog("list", "--json").splitlines()]
    assert (row["tags"], row["audits"][0]["review"]["state"]) == (["a", "b"], "disputed")
    assert refusal("erase", "Diploma", "--reason", "x") == "usage"  # nobody can be asked
    assert "One thing was erased" in caselog(
        "erase", "Diploma", "--reason", "x", "--text-only", "--yes"
    )
    caselog("erase", "Diploma", "--reason", "article 17", "--yes")
    caselog("forget", "Béla", "--reason", "left", "--yes")
    assert refusal("forget", "Béla", "--reason", "left", "--yes") == "case-log-person"
    assert "(erased)" in caselog("list")
    assert "FAULT" not in caselog("verify")


def test_events_of_case_and_house(case, audit):
    words = ("--case", "Thesis", "--details", "by mail", "--taken", "Anna")
    caselog("record", "item-received", *words, "--audit", audit.id[:8])
    assert "Item received" in caselog("show", "Thesis")
    fingerprint = audit.keys[0].fingerprint
    said = caselog("record", "key-leaked", "--key", fingerprint, "--details", "stolen")
    assert "Reports that rest on this key: 0" in said
    assert refusal("record", "item-received", "--details", "x") == "case-log-event-case"
    assert case


def test_the_first_fault_is_named_and_the_exit_code_tells(case):
    assert "each the one that follows" in caselog("verify")
    with CaseLog(user_paths().caselog, read_only=True) as log:
        head = str(log.head())
    assert "holds entry" in caselog("verify", "--head", head, "--record", "--auditor", "Anna")
    with CaseLog(user_paths().caselog, read_only=True) as log:
        last = list(log.entries())[-1]
    assert (last.action, last.result, last.facts["head"]) == ("log-verified", "whole", head)
    with closing(sqlite3.connect(user_paths().caselog)) as db:
        for trigger in ("entries_stay", "entries_remain"):
            words = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (trigger,))
            made = words.fetchone()[0]
            db.execute(f"DROP TRIGGER {trigger}")
            if trigger == "entries_stay":
                db.execute(
                    "UPDATE entries SET body = replace(body, 'case-', 'kase-') WHERE seq = 3"
                )
            db.execute(made)
        db.commit()
    done = pura("caselog", "verify", "--json")
    assert done.exit_code == 1
    faults = [json.loads(line) for line in done.output.splitlines()]
    assert next(f for f in faults if f["state"] == "bad")["code"] == "chain.altered"
    assert next(f for f in faults if f["state"] == "bad")["seq"] == 3
    german = pura("caselog", "verify", "--language", "de", "--file", user_paths().caselog)
    assert "Eintrag 3 wurde geändert" in german.output
    assert case


def test_a_case_travels_as_one_file(case, tmp_path, monkeypatch):
    packed = tmp_path / "thesis.puracase"
    caselog("export", "Thesis", packed, "--auditor", "Anna", "--purpose", "second opinion")
    assert for_owner_alone(packed)
    assert pura("caselog", "export", "Thesis", packed).exit_code == 1
    monkeypatch.setenv("PURA_HOME", str(tmp_path / "elsewhere"))
    assert "Thesis" in caselog("import", packed, "--auditor", "Carla")
    assert refusal("import", packed, "--auditor", "Carla") == "case-log-imported"
    [row] = [json.loads(line) for line in caselog("list", "--json").splitlines()]
    assert (row["id"], bool(row["imported"])) == (case, True)
    assert "FAULT" not in caselog("verify")
    (tmp_path / "other").write_bytes(b"nonsense")
    assert refusal("import", tmp_path / "other") == "case-log-file"
    assert refusal("import", tmp_path / "missing") == "file-unreadable"


def test_a_report_of_a_case_prints_the_log_and_is_noted(case, audit, tmp_path):
    caselog("review", "Thesis", audit.id, "--agree", "--recomputed", "all", "--auditor", "Béla")
    with CaseLog(user_paths().caselog, read_only=True) as log:
        before = log.head()
    pdf = tmp_path / "out.pdf"
    told = tmp_path / "request.json"
    told.write_text(json.dumps({"parties": {"authoriser": "B. Example"}}), encoding="utf-8")
    of_case = ("--case", "Thesis", "--final", "--recipient", "the dean", "--auditor", "Anna")
    done = pura("report", "build", "--pdf", pdf, "--request", told, *of_case)
    assert done.exit_code == 0, (done.output, done.exception)
    with pypdfium2.PdfDocument(pdf) as document:
        text = " ".join("".join(p.get_textpage().get_text_bounded() for p in document).split())
    # What a line break puts into a long number.
    squeezed = re.sub(r"[\s\u00ad\u200b\u2060\ufffe\u0002-]", "", text)
    assert "Béla" in text
    assert "Thesis" in text
    with CaseLog(user_paths().caselog, read_only=True) as log:
        entries = list(log.entries(case=case))
        assert [entry.action for entry in entries][-2:] == ["text-opened", "report-issued"]
        assert log.kept(entries[-1], "recipient") == "the dean"
        printed = f"{before.seq + 1}:"  # reading the text is an entry of its own
        assert printed in squeezed
        told = log.entry(before.seq + 1)
        assert told.hash in squeezed
    assert pura("report", "build", "--pdf", tmp_path / "none.pdf").exit_code == 1
    refused = pura("report", "build", "--pdf", tmp_path / "none.pdf", *of_case)
    assert isinstance(refused.exception, InputError)
    assert not (tmp_path / "none.pdf").exists()


@pytest.mark.parametrize("language", LANGUAGES)
def test_whoever_saves_first_is_asked_for_a_name_once(monkeypatch, language):
    asked = list[str]()

    def prompt(question: str, **_: Any) -> str:
        asked.append(question)
        return " Anna  Berg "

    at = Environment(paths=user_paths())
    use_language(language)
    monkeypatch.setattr("pura.cli.verify.typer.prompt", prompt)
    assert _save_to(at, "Thesis", None, "keep", None).auditor is None
    assert asked == []  # nobody is there to answer
    monkeypatch.setattr("pura.cli.verify.interactive", lambda: True)
    _save_to(at, "Thesis", None, "keep", None)
    _save_to(at, "Thesis", None, "keep", None)
    _save_to(at, "Thesis", "Béla", "keep", None)
    (question,) = asked
    assert question.startswith({"en": "Your name", "de": "Ihr Name"}[language])
    assert worker_of(at).name == "Anna Berg"


def test_a_short_passphrase_or_an_odd_choice_is_refused_before_the_work(tmp_path):
    words = tmp_path / "words"
    words.write_text("short")
    start = ("verify", tmp_path / "none.txt", "--profile", "none", "--save", "Thesis")
    assert pura(*start, "--keep-text", "odd").exit_code == 2
    done = pura(*start, "--keep-text", "seal", "--text-passphrase-file", words)
    assert done.exit_code == 1
    assert not user_paths().caselog.exists()
