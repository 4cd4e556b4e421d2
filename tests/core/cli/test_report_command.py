"""``pura report build`` and ``pura verify --pdf``: files are written whole, or not at all."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pikepdf
import pytest
from tests.core.cli.conftest import pura, refusal
from tests.core.records import RECORD

from pura.base.errors import InputError, RecordError, ReportError
from pura.cli.report import read_records, read_request
from pura.record import json_io
from pura.record.audit import Audit


@pytest.fixture
def audit() -> Audit:
    return RECORD


@pytest.fixture
def record(audit: Audit, tmp_path: Path) -> Path:
    path = tmp_path / "record.json"
    path.write_text(json_io.to_json(audit), encoding="utf-8")
    return path


def test_all_files_of_a_report_are_written(record, tmp_path):
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"case": "7", "parties": {"organisation": "Examples Ltd"}}))
    files = {"--pdf": "out.pdf", "--json-file": "out.json", "--html": "out.html"}
    written = [part for name, file in files.items() for part in (name, tmp_path / file)]
    more = ("--tables", tmp_path / "tables", "--language", "de", "--paper", "us-letter")
    done = pura("report", "build", record, *written, *more, "--request", request)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF-1.7")
    assert "Examples Ltd" in (tmp_path / "out.html").read_text(encoding="utf-8")
    assert len(list((tmp_path / "tables").glob("*.csv"))) == 2
    [back] = read_records(tmp_path / "out.json")
    assert back.id


def test_nothing_is_replaced_unasked_and_nothing_is_half_written(record, tmp_path):
    there = tmp_path / "out.html"
    there.write_text("mine")
    words = ("report", "build", record, "--pdf", tmp_path / "out.pdf", "--html", there)
    assert refusal(pura(*words)) == "file-exists"
    assert there.read_text() == "mine"
    assert not (tmp_path / "out.pdf").exists()
    assert pura(*words, "--force").exit_code == 0
    assert there.read_text(encoding="utf-8") != "mine"


def test_a_report_that_is_in_the_way_is_said_before_the_audit(tmp_path):
    there = tmp_path / "out.pdf"
    there.write_bytes(b"mine")
    done = pura("verify", tmp_path / "no.txt", "--profile", "none", "--pdf", there)
    assert refusal(done) == "file-exists"


def test_records_come_alone_in_lines_and_in_a_report(audit, tmp_path):
    one = audit.to_dict()
    lines = tmp_path / "lines.jsonl"
    lines.write_text(f"{json.dumps(one)}\n{json.dumps(one)}\n")
    assert len(read_records(lines)) == 2
    whole = tmp_path / "report.json"
    whole.write_text(json.dumps({"schema": "pura-report/1", "audits": [one, one, one]}))
    assert len(read_records(whole)) == 3


def test_a_record_that_does_not_agree_with_itself_makes_no_report(audit, tmp_path):
    path = tmp_path / "edited.json"
    path.write_text(json_io.to_json(replace(audit, verdict="no-mark")), encoding="utf-8")
    done = pura("report", "build", path, "--pdf", tmp_path / "out.pdf")
    assert isinstance(done.exception, RecordError)
    assert done.exception.message.startswith("edited.json: The record contradicts itself.")
    assert not (tmp_path / "out.pdf").exists()


def test_a_code_of_its_own_where_the_signer_was_not_examined(record, audit, certificate, tmp_path):
    """0 is for a signer who was examined: a stranger signs a forged report as well."""
    words, trust = tmp_path / "words", certificate.with_suffix(".pem")
    words.write_text("Grüße 7", encoding="utf-8")
    plain, signed = tmp_path / "plain.pdf", tmp_path / "signed.pdf"
    assert pura("report", "build", record, "--pdf", plain).exit_code == 0
    sign = ("report", "sign", plain, signed, "--certificate", certificate)
    assert pura(*sign, "--passphrase-file", words).exit_code == 0
    for words_of_the_call, code, standing in (
        ((plain,), 3, "unsigned"),
        ((signed,), 4, "signed"),
        ((signed, "--trust", trust), 0, "trusted"),
        ((plain, "--trust", trust), 1, "amiss"),
    ):
        done = pura("report", "verify", *words_of_the_call, "--json")
        assert done.exit_code == code, done.output
        assert json.loads(done.stdout)["standing"] == standing
    told = pura("report", "verify", signed, "--language", "de")
    assert told.exit_code == 4
    assert "wer signierte, wurde nicht geprüft" in " ".join(told.output.split())


def test_what_is_no_record_is_refused(tmp_path):
    path = tmp_path / "x.json"
    for content in ("", "{", "[]", '{"schema": "other"}', "1"):
        path.write_text(content)
        with pytest.raises(RecordError):
            read_records(path)


def test_a_bad_request_names_what_is_wrong_and_where(tmp_path):
    path = tmp_path / "request.json"
    for data, words in (
        ("[", "read as JSON"),
        ("[]", "not a JSON object"),
        ('{"unknown": 1}', "“unknown” is unknown"),
        ('{"case": 7}', "“case” is not text"),
        ('{"parties": []}', "“parties” is not an object"),
        ('{"parties": {"x": ""}}', "“parties.x” is unknown"),
        ('{"redactions": [[1]]}', "“redactions[0]” has a wrong shape"),
        ('{"further": [[1]]}', "“further[0][0]” is not a list"),
        ('{"further": 1}', "“further” is not a list"),
        ('{"logo": ""}', "--logo"),
        ('{"final": "yes"}', "“final” is neither true nor false"),
    ):
        path.write_text(data)
        with pytest.raises(InputError, match=re.escape(words)):
            read_request(path)


def test_the_annex_goes_under_a_passphrase(audit, tmp_path):
    record, words, annex = (tmp_path / name for name in ("r.json", "words", "annex.pdf"))
    record.write_text(json_io.to_json(audit), encoding="utf-8")
    assert audit.register.matches[0].who
    files = ("--pdf", tmp_path / "r.pdf", "--annex", annex, "--annex-passphrase-file", words)
    build = ("report", "build", record, *files)
    words.write_text("short")
    assert pura(*build).exit_code == 1
    assert not (tmp_path / "r.pdf").exists()
    words.write_text("x" * 128)
    assert isinstance(pura(*build).exception, ReportError)
    words.write_text("a quiet passphrase")
    assert pura(*build).exit_code == 0
    with pytest.raises(pikepdf.PasswordError):
        pikepdf.open(annex)
    with pikepdf.open(annex, password="a quiet passphrase") as document:
        assert document.attachments["annex.pdf"].get_file().read_bytes().startswith(b"%PDF")
