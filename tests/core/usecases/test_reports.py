"""Reports at the desk: written whole or not at all, signed, noted in the case log."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pikepdf
import pytest
from tests.core.stops import stop

from pura.base.errors import Cancelled, InputError, SigningError
from pura.base.identity import Certificate
from pura.base.paths import user_paths
from pura.keys import Secret
from pura.record.audit import Audit
from pura.report.annexes import table_files
from pura.report.check import OPEN
from pura.report.request import ReportRequest
from pura.usecases import cases, reports
from pura.usecases.environment import Environment

Make = Callable[[int], Audit]


@pytest.fixture(scope="module")
def built(make_record: Make, tmp_path_factory: pytest.TempPathFactory) -> reports.Built:
    nowhere = Environment(paths=user_paths(tmp_path_factory.mktemp("built")))
    return reports.build_report(nowhere, [make_record(1)], request=ReportRequest())


def test_all_files_that_are_in_the_way_are_named_and_none_is_written(built, tmp_path):
    write = partial(
        reports.write_report,
        built,
        pdf=tmp_path / "r.pdf",
        record=tmp_path / "r.json",
        html=tmp_path / "r.html",
        tables=tmp_path,
        tables_prefix="r-",
        annex=tmp_path / "r-sealed.pdf",
    )
    (tmp_path / "r.json").write_text("mine")
    [(table, _), *_] = table_files(built.audits, built.request)
    (tmp_path / f"r-{table}").write_text("mine")
    with pytest.raises(reports.FilesTakenError) as caught:
        write()
    assert caught.value.code == "file-exists"
    assert {path.name for path in caught.value.paths} == {"r.json", f"r-{table}"}
    assert len(list(tmp_path.iterdir())) == 2
    secret = Secret(bytearray(b"a quiet passphrase"))
    done = write(replace=True, annex_passphrase=secret)
    assert set(done.files) == set(tmp_path.iterdir())
    assert all(path.stat().st_size == size for path, size in done.files.items())
    assert next(iter(done.files)).name == "r.pdf"
    assert done.annex == tmp_path / "r-sealed.pdf"
    with pytest.raises(pikepdf.PasswordError):
        pikepdf.open(done.annex)


def test_a_disk_that_fails_says_what_was_written_before(built, tmp_path):
    (tmp_path / "folder").mkdir()
    write = partial(reports.write_report, built, record=tmp_path / "folder", replace=True)
    with pytest.raises(
        InputError,
        match=r"“folder” cannot be written.*“r.pdf”",
        check=lambda e: e.code == "file-write",
    ):
        write(pdf=tmp_path / "r.pdf")

    with pytest.raises(Cancelled):
        write(pdf=tmp_path / "s.pdf", checkpoint=stop)
    assert not (tmp_path / "s.pdf").exists()


def test_a_report_of_saved_audits_prints_the_log_and_is_noted(alone, make_record):
    record = make_record(1)
    to = cases.SaveTo(case="Thesis", auditor="Anna")
    case, _ = cases.save_audits(alone, to, [record])
    wanted = reports.filled_for_audits(alone, case, [record], ReportRequest())
    assert (wanted.case, wanted.parties.examiner) == ("Thesis", "Anna")
    assert wanted == reports.filled_request(alone, case, case.items, ReportRequest())
    with cases.open_log(alone, read_only=True) as log:
        assert str(log.head()) in wanted.log
    built = reports.build_report(alone, [record], request=wanted)
    reports.note_built(alone, case, built, auditor="Anna", recipient="The faculty")
    with cases.open_log(alone, read_only=True) as log:
        assert list(log.entries(case=case.id))[-1].action == "report-drafted"


def test_a_report_is_signed_noted_and_checked(alone, built, make_record, certificate, tmp_path):
    case, _ = cases.save_audits(
        alone, cases.SaveTo(case="Thesis", auditor="Anna"), [make_record(1)]
    )
    reports.note_built(alone, case, built, auditor="Anna")
    reports.write_report(built, pdf=tmp_path / "r.pdf")

    def sign(to: Path, passphrase: Secret) -> Certificate:
        return reports.sign_report(
            alone,
            path=tmp_path / "r.pdf",
            to=to,
            certificate=certificate,
            passphrase=passphrase,
            note=True,
            auditor="Anna",
        )

    def words() -> Secret:
        return Secret(bytearray("Grüße 7".encode()))

    secret = words()
    assert sign(tmp_path / "s.pdf", secret).certificate.subject.endswith("Reports Desk")
    assert secret.copy() == b""
    with cases.open_log(alone, read_only=True) as log:
        actions = [entry.action for entry in log.entries()]
    assert actions[-2:] == ["report-signed", "head-signed"]
    with pytest.raises(SigningError, check=lambda e: e.code == "file-exists"):
        sign(tmp_path / "s.pdf", words())
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(SigningError, check=lambda e: e.code == "file-no-folder"):
        sign(tmp_path / "file" / "s.pdf", words())
    found = reports.check_report(alone, path=tmp_path / "s.pdf", rerun=True)
    [again] = [check for check in found.checks if check.name == "repeat"]
    assert again.state == OPEN, "its key is not here"


def test_only_a_pdf_with_our_attachment_is_taken_for_a_report(built, tmp_path, monkeypatch):
    path = tmp_path / "a.pdf"
    for data, ours in (
        (b"%PDF-1.7 plain", False),
        (b"text /F(record.json)", False),
        (built.report.pdf, True),
    ):
        path.write_bytes(data)
        assert reports.carries_record(path) is ours
    assert not reports.carries_record(tmp_path / "gone.pdf")
    monkeypatch.setattr(reports, "MAX_READ", len(built.report.pdf) - 1)
    assert not reports.carries_record(path), "what is too large to be checked is not offered"
