"""The command in German: what it says itself, its tables and its errors; JSON stays as it is."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pura.base.catalogue import catalogue
from pura.cli.__main__ import main
from pura.cli.terminal import use_language
from pura.scheme import Profile

ENGLISH = re.compile(
    r"\b(the|of|is|are|was|were|not|with|cannot|there|this|and|from|no|by|for|written|take)\b"
)
FINGERPRINT = "0123456789abcdef"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PURA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PURA_LANGUAGE", "de")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.chdir(tmp_path)
    profile = Profile(payload_bits=36, vocab_size=50_000, code="tbcc", name="haus")
    (tmp_path / "haus.json").write_text(profile.to_json())
    (tmp_path / "schlecht.json").write_text("{}")
    (tmp_path / "zeilen.csv").write_text("payload,who\n0x1,Redaktion\n0x2,\n")
    (tmp_path / "schluessel.hex").write_text("ab" * 32)
    (tmp_path / "geheim.txt").write_text("eine lange Passphrase\n")
    (tmp_path / "brief.txt").write_text("Ein kurzer Brief.\n")
    yield tmp_path
    use_language("en")


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["pura", *words])
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


COMMANDS = [
    ["key", "state"],
    ["key", "list"],
    ["key", "export", "fehlt", "--output", "kopie.key"],
    ["key", "delete", "fehlt", "--yes"],
    ["profile", "show", "haus.json"],
    ["profile", "show", "schlecht.json"],
    ["profile", "show", "fehlt"],
    ["profile", "import", "haus.json"],
    ["model", "list"],
    ["model", "show", "fehlt"],
    ["model", "install", "fehlt"],
    ["register", "import", "zeilen.csv", "--profile", "haus.json"],
    ["register", "add", "0x1", "--profile", "haus.json", "--who", "Redaktion"],
    ["register", "find", "0x2", "--profile", "haus.json"],
    ["caselog", "list"],
    ["caselog", "new", "Fall A", "--auditor", "Anna"],
    ["caselog", "show", "fehlt"],
    ["report", "verify", "brief.txt"],
    ["report", "verify", "fehlt.pdf"],
    ["verify", "fehlt.txt", "--key-file", "schluessel.hex", "--profile", "haus.json"],
    ["verify", "brief.txt", "--key-file", "fehlt.hex", "--profile", "haus.json"],
    ["generate", "--profile", "haus.json", "--key-file", "schluessel.hex", "--payload", "0x1"],
    ["selftest", "--vectors", "fehlt"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_english_sentence_is_printed(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, err = run(monkeypatch, capsys, *words)
    said = re.sub(r"»[^«]*«|/\S+", "", out + err)
    if words[:2] == ["profile", "show"]:
        said = err
    assert not ENGLISH.findall(said), said


def test_cases_are_told_in_german(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, capsys, "caselog", "new", "A", "--auditor", "Anna")[0] == 0
    for words in (["list"], ["show", "A"], ["verify"], ["close", "A", "--auditor", "Anna"]):
        _, out, err = run(monkeypatch, capsys, "caselog", *words)
        assert not ENGLISH.findall(out + err), (words, out, err)
    code, out, err = run(monkeypatch, capsys, "caselog", "note", "A", "x", "--auditor", "Anna")
    assert code == 1
    assert "geschlossen" in err


def test_the_option_decides_over_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Es ist kein" not in run(monkeypatch, capsys, "--language", "en", "key", "state")[1]
    code, _, err = run(monkeypatch, capsys, "--language", "fr", "key", "state")
    assert code == 2
    assert "Zur Wahl stehen: en, de." in err


def test_json_is_the_same_in_every_language(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("key", "state", "--json")
    german = run(monkeypatch, capsys, *words)
    monkeypatch.delenv("PURA_LANGUAGE")
    english = run(monkeypatch, capsys, *words)
    assert german == english
    assert json.loads(german[1])["message"]


def test_every_text_of_the_command_is_used() -> None:
    from pura import cli, lab, register, verdict

    sources = "".join(
        path.read_text(encoding="utf-8")
        for room in (cli, lab, register, verdict)
        for path in Path(room.__file__ or "").parent.rglob("*.py")
    )
    built = ("head.", "verdict.", "advice.", "note.", "skipped.", "mode.", "audit.", "device.")
    built += ("review.", "usage.", "expect.", "memory.", "fitness.", "state.", "case.erase-")
    left = [
        key
        for key in catalogue("command")
        if f'"{key}"' not in sources and f"'{key}'" not in sources and not key.startswith(built)
    ]
    assert left == []
