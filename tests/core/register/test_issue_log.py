"""What a serving process writes down reaches the register, however the process ends."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from tests.core.register.issues import CONTOSO, PROFILE, SERIES, UNDER, mark, series_of
from tests.core.register.issues import issue as issued

from pura.base.errors import RegisterError
from pura.register.issue_log import SUFFIX, IssueLog, import_log, is_log
from pura.register.rows import Drawn, Problems
from pura.register.store import Register
from pura.register.table import export_csv, import_csv
from pura.register.verification import verify
from pura.scheme import Payload

PROFILES = {PROFILE.fingerprint: PROFILE}
SERVER = """
import sys
from pathlib import Path
from pura.register.issue_log import IssueLog
from pura.register.rows import Issue
from pura.scheme import Payload, PayloadSeries

series = PayloadSeries(key="a" * 16, profile="c" * 16)
log, number = IssueLog(Path(sys.argv[1])), int(sys.argv[2])
while True:
    issue = Issue(
        payload=Payload.from_int(number, 36), series=series, who="Ä", when="today", model="m"
    )
    log.add(issue)
    print(number, flush=True)  # it may be answered now
    number += 1
"""


def issue(number, who="Ä, Müller", **about):
    return issued(number, who, **about)


@pytest.fixture
def register(tmp_path):
    with Register(tmp_path / "register.sqlite3", create=True) as opened:
        yield opened


def test_what_was_answered_survives_the_end_of_the_process(tmp_path, register):
    """Two servers at once, killed in full flight; one of them had begun a line."""
    folder = tmp_path / "issued"
    answered = []
    command = [sys.executable, "-P", "-c", SERVER, str(folder)]
    servers = [
        subprocess.Popen([*command, str(1000000 * n)], stdout=subprocess.PIPE, text=True)
        for n in range(2)
    ]
    for server in servers:
        answered += [int(server.stdout.readline()) for _ in range(150)]
    time.sleep(0.05)
    for server in servers:
        server.send_signal(signal.SIGKILL)
        answered += [int(line) for line in server.stdout.read().split("\n")[:-1]]
        server.wait()
        server.stdout.close()
    logs = sorted(folder.glob(f"*{SUFFIX}"))
    assert len(logs) == 2
    assert {path.stat().st_mode & 0o777 for path in logs} == {0o600}
    with logs[1].open("ab") as file:
        file.write(b'{"payload": "0101')
    assert is_log(folder)
    added = import_log(register, folder, profiles=PROFILES)
    written = {int(entry.issue.payload) for entry in register.entries()}
    assert added == len(written) >= len(answered) >= 300
    assert written >= set(answered)
    assert import_log(register, folder, profiles=PROFILES) == 0  # they may be taken again


def test_the_log_and_the_table_are_twins(tmp_path, register):
    issues = [issue(n, when=f"2026-03-{n + 1:02}", model="=m") for n in range(20)]
    with IssueLog(tmp_path / "issued", batch=7) as log:
        log.add_many(issues[:15])
        log.add(issues[15])
        assert import_log(register, tmp_path / "issued", profiles=PROFILES) == 16  # while it grows
        log.add_many([*issues[16:], issues[3]])  # one that was noted twice
    assert import_log(register, tmp_path / "issued", profiles=PROFILES) == 4
    export_csv(register, tmp_path / "table.csv")
    assert not is_log(tmp_path / "table.csv")
    with Register(tmp_path / "other.sqlite3", create=True) as other:
        assert import_csv(other, tmp_path / "table.csv", None) == 20
        assert [entry.issue for entry in other.entries()] == [
            entry.issue for entry in register.entries()
        ]


def test_rows_that_contradict_are_named_and_nothing_is_added(tmp_path, register):
    register.add(issue(1, who="one"))
    with IssueLog(tmp_path / "issued") as log:
        log.add_many([issue(0), issue(1, who="another"), issue(2), issue(2, who="a third")])
        log.add(replace(issue(3, who="short"), payload=Payload(text="01")))
    with pytest.raises(RegisterError) as refused:
        import_log(register, tmp_path / "issued", profiles=PROFILES)
    for words in ("Row 2", "Row 4", "Row 5", "36"):
        assert words.casefold() in str(refused.value).casefold()
    assert len(register) == 1


def test_the_others_come_in_when_they_are_asked_for(tmp_path, register):
    register.add(issue(5))
    with IssueLog(tmp_path / "issued") as log:
        log.add_many([issue(5), issue(6), issue(6), issue(7)])
        log.add_many([replace(issue(5), who="b"), replace(issue(7), who="c"), issue(8)])
    (path,) = (tmp_path / "issued").iterdir()
    path.write_bytes(path.read_bytes() + b'{"payload": 5}\n')
    with pytest.raises(RegisterError) as refused:
        import_log(register, path, profiles=PROFILES)
    assert refused.value.values["good"] == 2
    problems = Problems(others=True)
    assert import_log(register, path, profiles=PROFILES, problems=problems) == 2
    assert [entry.issue for entry in register.entries()] == [issue(5), issue(6), issue(8)]
    assert problems.left_out == 4  # one to another, two to two, one that is no row
    assert len(problems.rows) == 3
    assert verify(register).sound
    problems = Problems(others=True)
    assert import_log(register, path, profiles=PROFILES, problems=problems) == 0
    assert problems.left_out == 4


def test_damage_is_not_a_torn_end(tmp_path, register):
    with IssueLog(tmp_path / "issued") as log:
        log.add_many([issue(0), issue(1), issue(2)])
    (path,) = (tmp_path / "issued").iterdir()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + b"\0\0\n" + lines[3])
    with pytest.raises(RegisterError, match="damaged"):
        import_log(register, path, profiles=PROFILES)
    path.write_bytes(lines[0] + b'{"payload": 5}\n')
    with pytest.raises(RegisterError, match="not a row"):
        import_log(register, path, profiles=PROFILES)
    path.write_bytes(lines[0][:9])  # ended before it had begun
    assert import_log(register, tmp_path / "issued", profiles=PROFILES) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_worker_has_a_file_of_its_own(tmp_path, register):
    with IssueLog(tmp_path) as log:
        log.add(issue(1))
        child = os.fork()
        if child == 0:
            log.add(issue(2))
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        log.add(issue(3))
    assert len(list(tmp_path.glob(f"*{SUFFIX}"))) == 2
    assert import_log(register, tmp_path, profiles=PROFILES) == 3


def test_a_full_disk_leaves_no_half_line(tmp_path, register, monkeypatch):
    with IssueLog(tmp_path) as log:
        log.add(issue(1))
        write = os.write
        with monkeypatch.context() as full:
            full.setattr(os, "write", lambda file, data: write(file, data[:10]))
            with pytest.raises(RegisterError, match="cannot be written"):
                log.add(issue(2))
        log.add(issue(3))
    assert import_log(register, tmp_path, profiles=PROFILES) == 2


def test_a_row_names_its_manifest_and_one_without_is_as_it_was(tmp_path, register):
    with IssueLog(tmp_path / "issued") as log:
        log.add_many([issue(1), issue(2, manifest="urn:c2pa:2")])
    (path,) = (tmp_path / "issued").iterdir()
    assert b"manifest" not in path.read_bytes().splitlines()[1]
    assert import_log(register, path, profiles=PROFILES) == 2
    assert register.find(mark(2)).issue.manifest == "urn:c2pa:2"
    register.name_manifest(register.find(mark(1)).number, "urn:c2pa:1")
    assert import_log(register, path, profiles=PROFILES) == 0, (
        "a manifest that was named later stays"
    )


def test_a_row_says_under_which_key_and_how_its_number_was_drawn(tmp_path, register):
    rows = [
        issue(5),
        issue(5, who="b", series=series_of(PROFILE, CONTOSO, "2026-11-28"), drawn=Drawn.RANDOM),
        issue(5, who="c", series=series_of(PROFILE, epoch="2026-11"), note="request 7"),
    ]
    with IssueLog(tmp_path / "issued") as log:
        log.add_many(rows)
    assert import_log(register, tmp_path / "issued") == 3
    assert [entry.issue for entry in register.entries()] == rows


def test_a_row_without_a_key_takes_that_of_the_import(tmp_path, register):
    with IssueLog(tmp_path / "issued") as log:
        log.add_many([issue(5, series=None), issue(6, series=series_of(PROFILE, CONTOSO))])
    assert import_log(register, tmp_path / "issued", UNDER) == 2
    assert register.find(mark(5)) is not None
    assert register.find(mark(6)) is None
    assert register.find(mark(6, series=series_of(PROFILE, CONTOSO))) is not None


def test_a_log_of_version_040_needs_a_key(tmp_path, register):
    path = tmp_path / f"former{SUFFIX}"
    row = '{"model": "m", "payload": "' + "01" * 18 + '", "when": "2026-11-03", "who": "Ann"}'
    path.write_text(f'{{"schema": "pura-issued/1"}}\n{row}\n', encoding="utf-8")
    assert is_log(path)
    with pytest.raises(RegisterError) as refused:
        import_log(register, path)
    assert refused.value.key == "register.key-needed"
    assert import_log(register, path, UNDER) == 1
    assert register.find(SERIES.mark(Payload(text="01" * 18))).issue.who == "Ann"


def test_a_row_that_contradicts_the_epoch_of_its_key_is_named(tmp_path, register):
    with IssueLog(tmp_path / "issued") as log:
        log.add(issue(5, when="2026-09-01", series=series_of(PROFILE, epoch="2026-11")))
    with pytest.raises(RegisterError) as refused:
        import_log(register, tmp_path / "issued")
    (what,) = refused.value.values["every"]
    assert what.values["what"].values["what"].key == "register.when-epoch"
