"""Every door by which a mark becomes a name: it names the recipient of that mark, or nobody.

0.4.0 took payloads alone: a text that was marked under one key was attributed to the customer of
another. A new door fails the last tests here until it is listed beside one that is walked.
"""

import csv
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from tests.core.embed.serving.small_engine import load_policy, rows_in
from tests.core.register.cells import (
    CELLS,
    PAYLOAD,
    PROFILES,
    STRANGER,
    Cell,
    Door,
    Home,
    Shows,
    cells_of,
    home_of,
    homes,
    named_in,
    place_of,
    readers,
    record_of,
    record_of_several,
    strays,
    unlisted,
    without_doors,
)
from typer.testing import CliRunner

import pura
from pura.base.errors import KeyStoreError, RegisterError
from pura.base.paths import user_paths
from pura.batch.results import finding_of
from pura.caselog import CaseLog, load_audit, open_case, save_audit
from pura.cli.__main__ import app
from pura.cli.verify import audit_lines
from pura.detect.key_reading import register_prior
from pura.detect.verdict.policy import default_policy
from pura.embed.generate import generate_batch
from pura.embed.serving.ledger import Ledger, Order
from pura.embed.serving.policy import Customer
from pura.embed.serving.tickets import AssignedMark
from pura.keys import KeyRef, Place, Secret
from pura.provenance.binding import BindingValue
from pura.record import json_io
from pura.record.answers import Answer, Role
from pura.record.audit import Audit
from pura.record.finding import VALUES, Finding
from pura.register.issue_log import IssueLog
from pura.register.rows import Issue, Recipient, RegisterEntry
from pura.register.store import Register, entry_of
from pura.register.under import IssuedUnder
from pura.report.annexes import Seals, names
from pura.report.build import content_of
from pura.report.request import ReportRequest
from pura.scheme import Profile
from pura.serve.grants import Grant
from pura.serve.manifests import SIGNED, Manifests, Repository
from pura.usecases import keys, registers
from pura.usecases.environment import Environment
from pura.usecases.marking import mark_text

ROOT = Path(__file__).parents[3]
WORDS: Final = b"four words in a row"


def _who(entry: RegisterEntry | None) -> set[str]:
    return set() if entry is None else {entry.issue.who}


def _refused(asked: Cell, work: Callable[[], object]) -> set[str]:
    """Return the recipient whose mark it is where an action refuses to give it to a stranger."""
    try:
        work()
    except RegisterError as error:
        if error.code == "register-contradicts":
            raise
        return named_in(error) or {asked.who}
    return set()


# The register


def find(asked: Cell, home: Home, _: Path) -> set[str]:
    with home.register() as register:
        return _who(register.find(asked.mark))


def revoked(asked: Cell, home: Home, folder: Path) -> set[str]:
    with Register(home.copied(folder / "home").paths.register) as register:
        for entry in list(register.entries()):
            register.revoke(entry.number)
        assert register.find(asked.mark) is None
        return {entry.issue.who for entry in register.revoked(asked.mark)}


def weighed(asked: Cell, home: Home, _: Path) -> set[str]:
    """Every entry that is compared gets the same weight, so that all of them are listed."""
    with home.register() as register:
        facts = register.posterior(
            asked.mark, lambda rows: np.zeros(len(rows)), 0.0, 0.1, asked.profile, top=len(CELLS)
        )
    return {match.who for match in facts.matches}


def looked_up_with_others(asked: Cell, home: Home, _: Path) -> set[str]:
    """The marks of all keys of a profile are looked up, as for a text with several marks."""
    together = [(c.mark, 0.995) for c in CELLS if c.profile == asked.profile]
    with home.register() as register:
        facts = register.entries_of(together, 0.1, asked.profile)
    return {match.who for match in facts.matches if match.mark == asked.mark}


def prior(asked: Cell, home: Home, _: Path) -> set[str]:
    policy = replace(default_policy(), register_prior=0.5)
    with home.register() as register:
        read = register_prior(register, [asked.key], asked.profile, policy, lambda: None)
        numbers = [
            int(number)
            for entries, _ in register.chunks(asked.mark.series, asked.profile.payload_bits)
            for number in entries
        ]
        assert (0 if read is None else read.entries) == len(numbers)
        return {who for number in numbers for who in _who(register.entry(number))}


def add(asked: Cell, home: Home, folder: Path) -> set[str]:
    environment = home.copied(folder / "home").environment
    return _refused(
        asked,
        lambda: registers.add_issue(
            environment,
            mark=asked.mark,
            profile=asked.profile,
            recipient=Recipient(who=STRANGER),
        ),
    )


def assign(asked: Cell, home: Home, folder: Path) -> set[str]:
    environment = home.copied(folder / "home").environment
    with Register(environment.paths.register) as register:
        register.add(Issue(payload=PAYLOAD, series=None, who=STRANGER))
    under = IssuedUnder(profile=asked.profile, key=asked.root.fingerprint, epoch=asked.epoch)
    return _refused(asked, lambda: registers.assign_issues(environment, under=under))


def import_table(asked: Cell, home: Home, folder: Path) -> set[str]:
    table, mark = folder / "rows.csv", asked.mark
    columns = ("payload", "who", "key", "epoch", "profile", "bits")
    row = (PAYLOAD.hex, STRANGER, mark.key, mark.epoch, mark.profile, len(PAYLOAD))
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([columns, row])
    environment = home.copied(folder / "home").environment
    return _refused(asked, lambda: registers.import_register(environment, path=table, under=None))


def import_log(asked: Cell, home: Home, folder: Path) -> set[str]:
    with IssueLog(folder / "log") as log:
        log.add(Issue(payload=PAYLOAD, series=asked.mark.series, who=STRANGER))
    environment = home.copied(folder / "home").environment
    return _refused(
        asked, lambda: registers.import_register(environment, path=folder / "log", under=None)
    )


def export(asked: Cell, home: Home, folder: Path) -> set[str]:
    """A colleague takes the table in, and looks the mark up."""
    table = folder / "register.csv"
    registers.export_register(home.environment, path=table)
    there = Environment(paths=user_paths(folder / "there"), device="cpu")
    registers.import_register(there, path=table, under=None)
    return _who(registers.look_up(there, mark=asked.mark).entry)


def issued_rows(asked: Cell, home: Home, _: Path) -> set[str]:
    """The table of the register, in which each row says of which mark it is."""
    with home.register() as register:
        rows = register.select(asked.profile, words=PAYLOAD.hex, column="payload")
    assert len(rows) == len(home.held)
    return {e.issue.who for row in rows if (e := entry_of(row)).issue.mark == asked.mark}


def issued_fields(asked: Cell, home: Home, _: Path) -> set[str]:
    """A field belongs to the profile: the same bits under another one are no customer 417."""
    name, raw = asked.profile.fields[0].name, int(PAYLOAD.text[: asked.profile.fields[0].bits], 2)
    with home.register() as register:
        rows = register.select(asked.profile, words=str(raw), column=name)
    shown = [entry_of(row).issue for row in rows]
    assert {i.series.profile for i in shown if i.series} <= {asked.profile.fingerprint}
    return {issue.who for issue in shown if issue.mark == asked.mark}


def look_up(asked: Cell, home: Home, _: Path) -> set[str]:
    return _who(registers.look_up(home.environment, mark=asked.mark).entry)


def command_find(asked: Cell, home: Home, folder: Path) -> set[str]:
    profile = folder / "profile.json"
    profile.write_text(asked.profile.to_json())
    options = ["--profile", str(profile), "--key", asked.root.fingerprint, "--epoch", asked.epoch]
    done = CliRunner().invoke(
        app,
        ["register", "find", PAYLOAD.text, *options],
        env={"PURA_HOME": str(home.folder)},
    )
    assert done.exit_code == (0 if named_in(done.output) else 1), done.output
    return named_in(done.output)


def mark_a_text(asked: Cell, home: Home, _: Path) -> set[str]:
    """A payload that somebody has is not written for a stranger; the key is not opened for it."""
    key = KeyRef(fingerprint=asked.key.fingerprint, root=asked.root.fingerprint, epoch=asked.epoch)

    def work() -> None:
        with suppress(KeyStoreError):  # nobody has the mark, and the keys are not stored here
            mark_text(
                home.environment,
                prompt="",
                key=key,
                profile=asked.profile,
                payload=PAYLOAD,
                recipient=Recipient(who=STRANGER),
            )

    return _refused(asked, work)


_BUNDLES: dict[tuple[Path, str, str], Environment] = {}


def bundle(asked: Cell, home: Home, folder: Path) -> set[str]:
    """A colleague takes in the bundle of the mark's key and profile, and looks the mark up."""
    made = (home.folder, asked.root.fingerprint, asked.profile.name)
    if made not in _BUNDLES:  # it holds all epochs of a key
        here = replace(
            home.copied(folder / "home").environment, ask_folder=lambda _new: bytearray(WORDS)
        )
        keys.import_key(
            here,
            source=Secret(bytearray(asked.root.to_hex().encode())),
            name="K",
            place=Place.FILES,
        )
        here.profiles.save(asked.profile.name, asked.profile)
        path = folder / "team.purateam"
        keys.create_bundle(
            here, key="K", profile=asked.profile.name, passphrase=_words(), path=path
        )
        there = replace(here, paths=user_paths(folder / "there"))
        Register(there.paths.register, create=True).close()
        keys.take_bundle(there, path=path, passphrase=_words(), place=Place.FILES)
        _BUNDLES[made] = there
    return _who(registers.look_up(_BUNDLES[made], mark=asked.mark).entry)


def _words() -> Secret:
    return Secret(bytearray(WORDS))


def gateway(asked: Cell, home: Home, folder: Path) -> set[str]:
    """A customer with a number has one row a mark; rows of other marks are no rows of this one."""
    first, second = asked.profile.fields
    number, rest = divmod(int(PAYLOAD.text, 2), 1 << second.bits)
    policy = replace(
        load_policy(folder),
        profile=asked.profile,
        payload={first.name: "@customer", second.name: rest},
    )
    with IssueLog(policy.log) as log:
        log.add_many(
            Issue(payload=PAYLOAD, series=cell.mark.series, who=asked.who) for cell in home.held
        )
    before = len(rows_in(folder))
    order = Order(customer=Customer(who=asked.who, number=number), model="council-7b")
    ledger = Ledger(policy)
    (assigned,) = ledger.issue([order], {policy.deployment: asked.mark.series})
    ledger.close()
    assert isinstance(assigned, AssignedMark), assigned
    assert assigned.payload == PAYLOAD
    return {asked.who} if len(rows_in(folder)) == before else set()


def soft_binding(asked: Cell, home: Home, folder: Path) -> set[str]:
    """Each recipient publishes a manifest; the marks of a text lead to those of their recipient."""
    grants = {
        cell.who: (Grant.of_profile(cell.profile, key=cell.mark.key, epoch=cell.epoch),)
        for cell in home.held
    }
    with Repository(folder / "m.sqlite3", lambda who: grants.get(who, ())) as repository:
        for cell in home.held:
            value = BindingValue(profile=cell.profile.fingerprint[:8], payload=PAYLOAD.text)
            repository.add(cell.who, cell.who, b"store", rank=SIGNED)
            assert repository.bind(cell.who, value, cell.who, anew=False)
        return {match.manifest for match in repository.bound_to_marks([asked.mark], 99)}


def index_of_manifests(asked: Cell, home: Home, folder: Path) -> set[str]:
    """The operator's index says of each payload of one profile under which key it was issued."""
    shown = set()
    for profile in PROFILES:
        entries = [
            {
                "payload": PAYLOAD.text,
                "manifest": cell.who,
                "endpoint": "https://example.org/v1",
                "key": cell.mark.key,
                "epoch": cell.epoch,
            }
            for cell in home.held
            if cell.profile == profile
        ]
        index = {"schema": "pura-manifests/1", "alg": "org.example.pura.1", "manifests": entries}
        path = folder / "manifests.json"
        path.write_text(json.dumps(index))
        with Repository(folder / f"{profile.name}.sqlite3", lambda _: ()) as repository:
            repository.load(Manifests.read(path), profile.fingerprint)
            shown |= {match.manifest for match in repository.bound_to_marks([asked.mark], 99)}
    return shown


# The record, and what is made of it


def _of_record(shown: Callable[[Audit], object]) -> Shows:
    return lambda asked, home, _: named_in(shown(record_of(asked, home)))


def _of_finding(shown: Callable[[Finding], object]) -> Shows:
    return _of_record(lambda audit: shown(audit.finding))


def _of_one_among_several(shown: Callable[[Audit, int], object]) -> Shows:
    return lambda asked, home, _: named_in(shown(record_of_several(asked, home), place_of(asked)))


def _pages(audit: Audit) -> object:
    return content_of([audit], ReportRequest(), Seals(name="r", record="0" * 64, size=1))


def _answer(role: Role) -> Callable[[Finding], object]:
    return lambda finding: [
        Answer(role=role, verdict=finding.verdict, finding=finding).told(tongue)
        for tongue in ("en", "de")
    ]


def kept_in_a_case(asked: Cell, home: Home, folder: Path) -> set[str]:
    with CaseLog(folder / "log.sqlite3", create=True) as log:
        person = log.person("root", "0123456789abcdef")
        case = open_case(log, "Thesis", person).id
        item = save_audit(log, case, record_of(asked, home), person)
        return named_in([mark.entry for mark in load_audit(log, item).named_marks])


def summary(asked: Cell, home: Home, _: Path) -> set[str]:
    """It holds what the register returned, each entry with its mark, and no name elsewhere."""
    shown = json_io.summary(record_of(asked, home))
    of_mark = {name: getattr(asked.mark, name) for name in ("key", "epoch", "profile")}
    of_mark["payload"] = asked.mark.payload.text
    matches = shown["register"].pop("matches")
    return named_in([m for m in matches if of_mark.items() <= m.items()]) | named_in(shown)


def _annex_row(audit: Audit, place: int) -> object:
    entry = audit.finding.marks[place].entry
    return [row for row in names([audit]) if entry is not None and row[1] == entry.entry]


DOORS: Final[Mapping[str, Door]] = {
    "find": Door(shows=find),
    "revoked": Door(shows=revoked),
    "posterior": Door(shows=weighed),
    "several keys": Door(shows=looked_up_with_others),
    "prior": Door(shows=prior),
    "add": Door(shows=add),
    "assign": Door(shows=assign),
    "import of a table": Door(shows=import_table),
    "import of a log": Door(shows=import_log),
    "export": Door(shows=export),
    "table of the register": Door(shows=issued_rows),
    "fields in the table": Door(shows=issued_fields),
    "look up": Door(shows=look_up),
    "command find": Door(shows=command_find),
    "mark a text": Door(shows=mark_a_text),
    "bundle": Door(shows=bundle),
    "gateway": Door(shows=gateway),
    "soft binding": Door(shows=soft_binding),
    "index of manifests": Door(shows=index_of_manifests),
    "mark of a record": Door(shows=_of_record(lambda a: a.named_marks[0].entry)),
    "record in JSON": Door(
        shows=_of_record(
            lambda a: [m.entry for m in json_io.from_json(json_io.to_json(a)).named_marks]
        )
    ),
    "summary": Door(shows=summary),
    "row of an audit": Door(shows=_of_record(lambda a: a.to_row()), names=False),
    "row of a batch": Door(shows=_of_finding(finding_of)),
    "values of a finding": Door(
        shows=_of_finding(lambda f: [row.of(f) for row in VALUES.values()])
    ),
    "finding kept in a list": Door(
        shows=_of_finding(lambda f: [m.entry for m in Finding.from_json(f.brief().to_json()).marks])
    ),
    "lines of a mark": Door(shows=_of_finding(lambda f: [f.mark_lines(t) for t in ("en", "de")])),
    "finding in HTML": Door(shows=_of_finding(lambda f: f.to_html("en"))),
    "command verify": Door(shows=_of_record(lambda a: list(audit_lines(a, "en", explain=True)))),
    "report": Door(shows=_of_record(_pages), names=False),
    "annex of a report": Door(shows=_of_record(lambda a: names([a]))),
    "case": Door(shows=kept_in_a_case),
    "service, internal": Door(shows=_of_finding(_answer(Role.INTERNAL)), names=False),
    "service, trusted": Door(shows=_of_finding(_answer(Role.TRUSTED)), names=False),
    "several marks": Door(
        shows=_of_one_among_several(lambda audit, place: audit.named_marks[place].entry)
    ),
    "lines of several marks": Door(
        shows=_of_one_among_several(lambda audit, place: audit.finding.mark_lines("en")[place])
    ),
    "annex of several marks": Door(shows=_of_one_among_several(_annex_row)),
}
"""Every way by which a mark becomes a name, but those of the window."""
OUTPUTS_OF_A_RECORD: Final = frozenset(
    {"case", "finding kept in a list", "row of an audit", "service, internal", "service, trusted"}
)
"""Doors that show what a record holds and read no name themselves."""


@pytest.fixture(scope="module")
def each_home(tmp_path_factory: pytest.TempPathFactory) -> list[Home]:
    return homes(tmp_path_factory.mktemp("homes"))


@pytest.mark.parametrize("name", DOORS)
def test_a_door_names_the_recipient_of_the_mark_and_nobody_else(
    name: str, each_home: list[Home], tmp_path: Path
) -> None:
    assert strays(DOORS[name], each_home, tmp_path) == []


@pytest.fixture(scope="module")
def written(small_model: Any) -> list[tuple[Cell, str]]:
    """The eight marks, each with a text that the small model wrote with it."""
    cells = cells_of(Profile.new(small_model, code="tbcc").with_(model=None, tokenizer=None))
    prompt = "The city council met on Tuesday evening to discuss"
    return [
        (
            cell,
            generate_batch(
                small_model, [prompt], [PAYLOAD], cell.key, cell.profile, tokens=110, seed=1
            )[0].text,
        )
        for cell in cells
    ]


@pytest.mark.parametrize("number", range(len(CELLS)))
def test_a_program_is_told_the_recipient_of_the_mark_that_was_read(
    number: int,
    written: list[tuple[Cell, str]],
    small_model: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All keys are tried; issued payloads count more beforehand, and may not decide whose it is."""
    (asked, text), cells = written[number], tuple(cell for cell, _ in written)
    policy = replace(default_policy(), register_prior=0.5)
    for name, held in (("all", cells), ("others", tuple(c for c in cells if c != asked))):
        home = home_of(held, tmp_path / name)
        monkeypatch.setenv("PURA_HOME", str(home.folder))
        audit = pura.verify(
            text,
            key=list(dict.fromkeys(cell.key for cell in cells)),
            profile=asked.profile,
            model=small_model,
            epochs="none",
            policy=policy,
            register=True,
        )
        (mark,) = audit.named_marks
        assert mark.identity == asked.mark
        assert named_in(json_io.to_json(audit)) == ({asked.who} if asked in held else set())
        said = {sentence.key for sentence in audit.sentences}
        assert ("register.issued" in said, "register.none" in said) == (
            asked in held,
            asked not in held,
        )


# No door is forgotten

BESIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "pura.detect.conclusion:Conclusion.ask_register": ("posterior", "several keys"),
    "pura.detect.conclusion:Conclusion.findings": ("posterior", "several keys"),
    "pura.detect.conclusion:Conclusion.record": ("posterior", "several keys"),
    "pura.detect.key_reading:register_prior": ("prior",),
    "pura.batch.results:": ("row of a batch",),
    "pura.batch.results:read_row": ("row of a batch",),
    "pura.cli.register:_show": ("command find",),
    "pura.cli.register:find": ("command find",),
    "pura.embed.serving.gateway:Gateway._keep_question": ("gateway",),
    "pura.embed.serving.ledger:Ledger._draw": ("gateway",),
    "pura.embed.serving.ledger:Ledger._new_rows": ("gateway",),
    "pura.embed.serving.ledger:_issue_of": ("gateway",),
    "pura.record.audit:Audit": ("mark of a record", "record in JSON"),
    "pura.record.audit:Audit.finding": ("mark of a record", "several marks"),
    "pura.record.finding:": ("values of a finding", "row of a batch"),
    "pura.record.finding:Finding.register_match": ("values of a finding",),
    "pura.record.finding:_of_entry": ("values of a finding",),
    "pura.record.json_io:summary": ("summary",),
    "pura.record.naming:NamedMark": ("mark of a record", "several marks"),
    "pura.record.naming:RegisterFacts": ("posterior", "several keys"),
    "pura.record.naming:mark_lines": ("lines of a mark", "lines of several marks"),
    "pura.register.issue_log:": ("import of a log",),
    "pura.register.issue_log:_Logs._issue": ("import of a log",),
    "pura.register.issue_log:_line": ("import of a log",),
    "pura.register.issue_log:import_log": ("import of a log",),
    "pura.register.repeats:_recorded": ("import of a log",),
    "pura.register.repeats:without_repeats": ("import of a log",),
    "pura.register.search:": ("table of the register", "fields in the table"),
    "pura.register.store:": ("find", "table of the register"),
    "pura.register.store:Register._assign": ("assign",),
    "pura.register.store:Register._entries": ("find", "revoked"),
    "pura.register.store:Register._facts": ("posterior", "several keys"),
    "pura.register.store:Register._find_duplicates": ("import of a table",),
    "pura.register.store:Register._stage.staged": ("import of a table",),
    "pura.register.store:Register._standing": ("revoked",),
    "pura.register.store:Register._walk": ("export", "assign"),
    "pura.register.store:Register.add": ("add",),
    "pura.register.store:Register.assign": ("assign",),
    "pura.register.store:Register.entries": ("export",),
    "pura.register.store:Register.entries_of": ("several keys",),
    "pura.register.store:Register.entry": ("posterior", "prior"),
    "pura.register.store:Register.find": ("find",),
    "pura.register.store:Register.posterior": ("posterior",),
    "pura.register.store:Register.revoked": ("revoked",),
    "pura.register.store:_Appender.issue": ("add", "find"),
    "pura.register.store:_issued_before": ("assign",),
    "pura.register.store:_match": ("posterior", "several keys"),
    "pura.register.store:entry_of": ("find", "table of the register"),
    "pura.register.table:": ("import of a table", "export"),
    "pura.register.table:_Rows._columns": ("import of a table",),
    "pura.register.table:_write": ("export", "bundle"),
    "pura.register.table:export_csv": ("export", "bundle"),
    "pura.register.table:import_csv": ("import of a table", "bundle"),
    "pura.report.annexes:names": ("annex of a report", "annex of several marks"),
    "pura.report.findings:_register": ("report",),
    "pura.serve.softbinding:by_content": ("soft binding", "index of manifests"),
    "pura.usecases.keys:_issued": ("bundle",),
    "pura.usecases.marking:MarkedText": ("mark a text",),
    "pura.usecases.marking:_entry_for": ("mark a text",),
    "pura.usecases.marking:_issued": ("mark a text", "add"),
    "pura.usecases.marking:mark_text": ("mark a text",),
    "pura.usecases.registers:MarkLookup": ("look up",),
    "pura.usecases.registers:add_issue": ("add",),
    "pura.usecases.registers:assign_issues": ("assign",),
    "pura.usecases.registers:export_register": ("export",),
    "pura.usecases.registers:import_register": ("import of a table", "import of a log"),
    "pura.usecases.registers:look_up": ("look up",),
    "pura.usecases.registers:select_issued": ("table of the register",),
    "pura.detect.verdict.findings:_contradicted": ("command verify", "finding in HTML"),
    "pura.detect.verdict.findings:_entry": ("command verify", "finding in HTML"),
    "pura.detect.verdict.findings:_register": ("command verify", "finding in HTML"),
    "pura.detect.verdict.findings:cautions": ("command verify", "finding in HTML"),
    "pura.detect.verdict.findings:findings": ("command verify", "finding in HTML"),
}
"""Functions that read names, and the doors of :data:`DOORS` through which that is walked."""

_NO_LOOK_UP: Final = "issues, corrects, counts or checks; looks for nobody"
_NUMBERS: Final = "says how many entries or which numbers, no name"
_HANDED_ON: Final = "hands the register on"
_PAYLOADS: Final = "takes payloads or candidates of the marks, not their entries"

NAME_NOBODY: Final[Mapping[str, str]] = {
    "pura.detect.options:Options": _HANDED_ON,
    "pura.caselog": "the people are those who work on a case",
    "pura.cli.caselog": "the people are those who work on a case",
    "pura.provenance.binding:stated": _PAYLOADS,
    "pura.record.comparison:": _PAYLOADS,
    "pura.record.marks:bits_of": _PAYLOADS,
    "pura.register.chain:": "the columns that are hashed",
    "pura.register.outcomes": "remarks on the entry of a whole mark; returns no name",
    "pura.register.rows": "the values themselves",
    "pura.register.schema:_append": "the columns that are written",
    "pura.register.store:Register.draw": _NO_LOOK_UP,
    "pura.register.store:Register.draw_many": _NO_LOOK_UP,
    "pura.register.usage:_issued": _NUMBERS,
    "pura.register.verification:verify": _NO_LOOK_UP,
    "pura.report.signing:draw_seal": "the person is who signs a report",
    "pura.serve.settings": "the people are those who ask a service",
    "pura.serve.softbinding:_looked_up": (
        "is given a value of a soft binding and no mark; the value names profile and payload only"
    ),
    "pura.usecases.audits:Prepared.open": _HANDED_ON,
    "pura.usecases.audits:_refuse_other_register": _NUMBERS,
    "pura.usecases.audits:_use_of": _NUMBERS,
    "pura.usecases.batch:_settings": _NUMBERS,
    "pura.usecases.doctor:_register": _NUMBERS,
    "pura.usecases.duties": _NUMBERS,
    "pura.usecases.manifests:name_manifest": (
        "is given the number of an entry, and notes a manifest with it; returns no name"
    ),
    "pura.usecases.marking:_completed": "the recipient is the one that the caller names",
    "pura.usecases.marking:_revoke": _NO_LOOK_UP,
    "pura.usecases.registers:issue_payload": _NO_LOOK_UP,
    "pura.usecases.registers:open_register": _HANDED_ON,
    "pura.usecases.registers:revoke_issue": _NO_LOOK_UP,
    "pura.usecases.registers:verify_register": _NO_LOOK_UP,
    "pura.detect.verdict.agreement:_wanted_of_marks": _NUMBERS,
    "pura.detect.verdict.findings:_agreement": _NUMBERS,
    "pura.detect.verdict.findings:_around_register": _NUMBERS,
    "pura.detect.verdict.findings:_register_of": _NUMBERS,
}
"""Functions, modules and packages that touch a register or a person, and name no recipient."""


def test_whoever_reads_names_is_listed_beside_a_door() -> None:
    new, gone = unlisted(ROOT / "core" / "pura", BESIDE, NAME_NOBODY)
    assert new == set(), "list each in BESIDE with the door that walks it, or say why it names none"
    assert gone == set(), "is listed, and reads no name any more"
    assert without_doors(BESIDE, DOORS) == {}


def test_the_laboratory_reads_no_names() -> None:
    assert readers(ROOT / "core" / "pura_lab") == set()


def test_every_door_is_walked_for_somebody_who_reads_names() -> None:
    """Doors that stand for outputs of a record only need no reader of their own."""
    walked = {door for doors in BESIDE.values() for door in doors}
    assert set(DOORS) - walked == OUTPUTS_OF_A_RECORD


def test_a_reader_of_names_is_found_wherever_it_stands(tmp_path: Path) -> None:
    package = tmp_path / "invented"
    package.mkdir()
    (package / "shown.py").write_text(
        "def title(match):\n    return match.who.upper()\n"
        "class Card:\n    def show(self, audit):\n"
        "        return [audit.finding.register_match]\n"
        "async def found(at):\n    from pura.usecases import registers\n"
        "    return registers.look_up(at)\n"
        "def row(entry):\n    return getattr(entry, 'who')\n"
        "def quiet(text):\n    return text.find('x')\n"
    )
    assert readers(package) == {
        "invented.shown:Card.show",
        "invented.shown:found",
        "invented.shown:row",
        "invented.shown:title",
    }
    new, gone = unlisted(package, {"invented.shown:Card": "", "invented.shown:row": ""})
    assert new == {"invented.shown:Card.show", "invented.shown:found", "invented.shown:title"}
    assert gone == {"invented.shown:Card"}
