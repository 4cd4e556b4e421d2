"""Every kind of row that the command writes satisfies the schema that it names."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.core.cli import conftest
from tests.core.cli.conftest import refusal
from tests.core.programs import lend, run

from pura.base.errors import InputError, PuraError
from pura.base.paths import resource, user_paths
from pura.batch.results import failed, row_line, row_of
from pura.cli.rows import OPEN, ROWS, json_schema
from pura.cli.terminal import exit_code, rows_into, write_row
from pura.detect.verdict.power import seal
from pura.measure.fitness import ProxyFitness, TextResult, share
from pura.model.store import builtin_model
from pura.scheme import Profile, pack, parse_layout

Rows = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def desk(tmp_path: Path, installed_models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with a key, a profile, a model, a register, a case and the result of a batch."""
    lend(installed_models, user_paths().models)
    monkeypatch.chdir(tmp_path)
    profile = Profile(payload_bits=36, vocab_size=50_000, code="tbcc")
    Path("house.json").write_text(profile.to_json())
    Path("words.txt").write_text("four words in a row\n")
    place = {"input": 1, "item": 1, "piece": 1, "path": "/a.txt", "part": ""}
    found = failed(InputError("input.empty", code="input-empty"))
    Path("found.jsonl").write_bytes(row_line(row_of(place, found)))
    return tmp_path


def pura(*words: object, codes: tuple[int, ...] = (0,)) -> str:
    done = conftest.pura(*words, file=Path("words.txt"))
    assert done.exit_code in codes, (words, done.output, done.exception)
    return done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("desk")
def test_every_kind_of_row_satisfies_the_schema_that_it_names(rows):
    pura("key", "new", "house", "--in-file")
    pura("profile", "import", "house.json")
    known = ("0" * 36, "--profile", "house.json", "--key", "house")
    pura("register", "add", *known, "--who", "A.")
    pura("caselog", "new", "Thesis", "--auditor", "Anna")
    pura("serve", "token", "new", "City paper")
    texts = [TextResult(tokens=9, usable=5, log10_e=7.0, matched=True, bits_right=1.0)]
    names = {"model": "tiny", "model_fingerprint": "a", "profile": "b", "dtype": "float32"}
    shares = ("found", "matched", "evidence", "evidence_per_100", "bits_right")
    fitness = ProxyFitness(
        **names,
        **dict.fromkeys(shares, share(1, 1)),
        made_here=False,
        results=tuple(texts),
        kl_bits=None,
        source=None,
        word="undecided",
        rule="…",
    )
    with rows_into(Path("fitness.jsonl")):  # which takes a model to measure
        write_row(fitness.to_dict(), "fitness")
    audit = pura(
        "verify", "a.txt", "b.txt", "--profile", "house.json", "--key", "x", "--json", codes=(1,)
    )
    found = Path("found-payload.jsonl")
    assert not pura("register", "find", *known, "-o", found)
    said = [
        Path("fitness.jsonl").read_text(encoding="utf-8"),
        audit,
        pura("doctor", "--json"),
        pura("doctor", "--duties", "--json", codes=(1,)),
        pura("model", "list", "--json"),
        pura("key", "list", "--json"),
        pura("key", "state", "--check", "--json"),
        found.read_text(encoding="utf-8"),
        pura("power", "show", sealed(), "--json"),
        pura("caselog", "list", "--json"),
        pura("caselog", "show", "Thesis", "--json"),
        pura("caselog", "verify", "--json"),
        pura("batch", "summary", "found.jsonl", "--json", codes=(1,)),
        pura("serve", "token", "list", "--json"),
        pura("setup", "list", "--json"),
        pura("questions", "status", "--json"),
        pura("profile", "list", "--json"),
        pura("power", "import", "table.json", "--json"),
        pura("power", "list", "--json"),
    ]
    assert len(rows(audit)) == 1  # a fault of the set-up is no fault of each text
    seen = {row["schema"] for text in said for row in rows(text)}
    kinds = json.loads(resource("rows.schema.json").read_text(encoding="utf-8"))["$defs"]
    known = {kind["properties"]["schema"]["const"] for kind in kinds.values()}
    # Those of test_command.py, test_engine_fitness.py, test_report_check_command.py,
    # test_lab_command.py, test_compare_command.py, test_statement.py, test_manifest_command.py,
    # test_questions_command.py.
    elsewhere = [
        "engine-fitness",
        "choice",
        "report-check",
        "attack",
        "decomposition",
        "comparison",
        "score",
        "statement-check",
        "manifest",
        "question-erasure",
        "question-check",
    ]
    assert seen == known - {f"pura-{kind}/1" for kind in elsewhere}


def test_the_schemas_that_ship_are_those_of_the_types():
    root = Path(__file__).resolve().parents[3]
    assert run(sys.executable, str(root / "packaging" / "setup" / "schemas.py"), "--check") == ""


def test_each_kind_of_row_refuses_what_its_type_does_not_hold():
    """Walks the kinds: a field of another type, a missing one, an unknown one."""
    whole = json_schema()
    refs = [one["$ref"].rpartition("/")[2] for one in whole["oneOf"]]
    assert refs == [*whole["$defs"]] == [*ROWS]
    for kind, (_, fields) in ROWS.items():
        checked = whole["$defs"][kind]
        validator = jsonschema.Draft202012Validator(checked)
        named = {name for name in checked["properties"] if name != "schema"}
        assert named == {name.rstrip("?") for name in fields}
        errors = [*validator.iter_errors({"schema": f"pura-{kind}/1"})]
        assert len(errors) == len(checked["required"]) - 1, kind
        assert not validator.is_valid({"schema": "pura-other/1"})
        nothing = dict.fromkeys(named, object())
        bad = {error.path[0] for error in validator.iter_errors(nothing) if error.path}
        free = {name for name, one in checked["properties"].items() if not one}
        assert bad == named - free, kind
        unknown = [e for e in validator.iter_errors({"odd": 1}) if e.validator.startswith("addit")]
        assert bool(unknown) == (kind not in OPEN), kind


def sealed() -> Path:
    table = json.loads(resource("power", "english-chat-t1-p95.json").read_text(encoding="utf-8"))
    path = Path("table.json")
    path.write_bytes(seal(table).to_bytes())
    return path


@pytest.mark.usefixtures("desk")
def test_rows_go_into_a_new_file(rows):
    assert pura("doctor", "-o", "rows.jsonl") == ""
    written = rows(Path("rows.jsonl").read_text(encoding="utf-8"))
    assert {row["grade"] for row in written} <= {"ok", "warning"}
    assert next(row for row in written if row["check"] == "model")["grade"] == "ok"
    assert refusal(conftest.pura("model", "list", "--output", "rows.jsonl")) == "file-exists"
    assert rows(Path("rows.jsonl").read_text(encoding="utf-8")) == written


@pytest.mark.usefixtures("desk")
def test_a_payload_is_issued_and_found_by_its_fields(rows):
    layout = [{"name": "customer", "bits": 20, "kind": "integer"}]
    layout.append({"name": "date", "bits": 16, "kind": "date"})
    fields = parse_layout(layout, 36)
    Path("fields.json").write_text(
        Profile(payload_bits=36, blocks=4, vocab_size=100, fields=fields).to_json()
    )
    of = ("--key", "ab" * 8, "--profile", "fields.json")
    known = ("--field", "customer=417", "--field", "date=2026-11-21", *of)
    assert conftest.pura("register", "add", *known, "--who", "City paper").exit_code == 0
    [row] = rows(conftest.pura("register", "find", *known).stdout)
    assert row["who"] == "City paper"
    assert row["payload"] == pack(fields, {"customer": 417, "date": "2026-11-21"}).text
    for bad in (of, ("0x1", *known)):
        assert refusal(conftest.pura("register", "find", *bad)) == "payload"


@pytest.mark.usefixtures("desk")
def test_what_is_typed_wrongly_is_a_usage_error():
    Path("house.key").write_text("ab" * 32)
    given = ("--profile", "house.json", "--key-file", "house.key")
    for words in (
        ("verify", "words.txt", "--profile", "house.json"),
        ("verify", "words.txt", *given, "--epochs", "2026-11-03..2026-11-01"),
        ("profile", "new", "--vocab-size", "9", "--key-epochs", "hour"),
        ("verify", "words.txt", *given, "--device", "abacus"),
        ("verify", "words.txt", *given, "--dtype", "float3"),
        ("generate", *given, "--prompt", "x", "--payload", "zz"),
        ("register", "find", "zz", "--profile", "house.json"),
        ("profile", "new", "--code", "morse"),
        ("completion", "tcsh"),
    ):
        done = conftest.pura(*words)
        wrong = done.exception
        code = exit_code(wrong) if isinstance(wrong, PuraError) else done.exit_code
        assert code == 2, (words, done.output, wrong)


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("language", ["en", "de"])
def test_a_file_that_cannot_be_read_is_named(language):
    Path("torn.json").write_text("{")
    given = ("--profile", "house.json")
    for words in (
        ("profile", "show", "torn.json"),
        ("verify", "words.txt", "--profile", "torn.json", "--key", "x"),
        ("verify", "words.txt", *given, "--key-file", "torn.json"),
        ("power", "show", "torn.json"),
        ("register", "import", "torn.json", *given),
        ("report", "annex", *given, "--policy", "torn.json", "--pdf", "annex.pdf"),
        ("lab", "attack", "delete", "nowhere/torn.json"),
        ("profile", "new", "--vocab-size", "9", "--fields", "torn.json"),
    ):
        done = conftest.pura("--language", language, *words)
        wrong = done.exception
        said = wrong.words(language)[0] if isinstance(wrong, PuraError) else done.output
        assert "torn.json" in said, (words, said)


def test_the_doctor_names_what_is_wrong_and_the_way_out(monkeypatch, rows, small_models):
    paths = user_paths()
    (paths.models / "broken").mkdir(parents=True)
    # Another model under the name of the built-in one, whose digest the manifest says.
    other = paths.models / builtin_model().name
    other.mkdir()
    record = json.loads((small_models / "small" / "pura-model.json").read_text(encoding="utf-8"))
    (other / "pura-model.json").write_text(json.dumps(record | {"name": other.name}))
    for name in record["files"]:
        (other / name).touch()
    paths.profiles.mkdir(parents=True)
    (paths.profiles / "torn.json").write_text("{")
    paths.policy.write_text('{"schema": "pura-policy/1", "power_tables": ["0123456789abcdef"]}')
    paths.register.write_bytes(b"no database")
    monkeypatch.setattr("pura.model.libraries._FORCED", {"DO_NOT_TRACK": "1"})
    found = rows(conftest.pura("doctor", "--json").stdout)
    assert any(f"pura model remove {other.name}" in row["hint"] for row in found)
    faults = {row["check"]: row for row in found if row["grade"] == "fault"}
    assert set(faults) == {"model", "profile", "policy", "register"}
    assert all(row["hint"] for row in faults.values()), faults
    german = conftest.pura("--language", "de", "doctor")
    assert german.exit_code == 1
    assert "5 Fehler" in german.stdout
