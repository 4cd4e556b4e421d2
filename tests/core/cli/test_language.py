"""The command in German: what it says itself, its tables and its errors; JSON stays as it is."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pura.base.catalogue import catalogue
from pura.base.numerals import LANGUAGES
from pura.base.paths import resource
from pura.caselog import ACTIONS, action_words
from pura.scheme import Profile

Run = Callable[..., tuple[int, str, str]]
ENGLISH = re.compile(
    r"\b(the|of|is|are|was|were|not|with|cannot|there|this|and|from|no|by|for|written|take)\b"
)
FINGERPRINT = "0123456789abcdef"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
    return tmp_path


COMMANDS = [
    ["key", "state"],
    ["key", "list"],
    ["key", "export", "fehlt", "--output", "kopie.key"],
    ["key", "remove", "fehlt", "--yes"],
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
def test_no_english_sentence_is_printed(words, run):
    _, out, err = run(*words)
    said = re.sub(r"»[^«]*«|/\S+", "", out + err)
    if words[:2] == ["profile", "show"]:
        said = err
    assert not ENGLISH.findall(said), said


def test_cases_are_told_in_german(run):
    assert run("caselog", "new", "A", "--auditor", "Anna")[0] == 0
    for words in (["list"], ["show", "A"], ["verify"], ["close", "A", "--auditor", "Anna"]):
        _, out, err = run("caselog", *words)
        assert not ENGLISH.findall(out + err), (words, out, err)
    code, out, err = run("caselog", "note", "A", "x", "--auditor", "Anna")
    assert code == 1
    assert "geschlossen" in err


def test_the_option_decides_over_the_environment(run):
    assert "Es ist kein" not in run("--language", "en", "key", "state")[1]
    code, _, err = run("--language", "xx", "key", "state")
    assert code == 2
    assert f"Zur Wahl stehen: {', '.join(LANGUAGES)}." in err


def test_json_is_the_same_in_every_language(monkeypatch, run):
    words = ("key", "state", "--json")
    german = run(*words)
    monkeypatch.delenv("PURA_LANGUAGE")
    english = run(*words)
    assert german == english
    assert json.loads(german[1])["message"]


def test_every_text_of_the_command_is_used():
    import pura_lab
    from pura import cli, register
    from pura.detect import verdict

    sources = "".join(
        path.read_text(encoding="utf-8")
        for room in (cli, pura_lab, register, verdict)
        for path in Path(room.__file__ or "").parent.rglob("*.py")
    )
    built = ("head.", "verdict.", "advice.", "note.", "skipped.", "mode.", "audit.", "device.")
    built += ("review.", "usage.", "expect.", "memory.", "fitness.", "state.", "case.erase-")
    built += ("serve.token-", "answer.", "doctor.", "action.", "stage.", "check.", "kept.")
    built += ("quoted", "source.", "engine.", "profile.use.")
    left = [
        key
        for key in catalogue("command")
        if f'"{key}"' not in sources and f"'{key}'" not in sources and not key.startswith(built)
    ]
    assert left == []


ACTED = ("--auditor", "Anna")
HISTORY = [
    ["caselog", "new", "Akte", "--notes", "Erste Notiz", "--tag", "eilig", *ACTED],
    ["caselog", "rename", "Akte", "Mappe", *ACTED],
    ["caselog", "hold", "Mappe", "--reason", "Anfrage", *ACTED],
    ["caselog", "release", "Mappe", "--reason", "erledigt", *ACTED],
    ["caselog", "record", "item-received", "--details", "Post", "--case", "Mappe", *ACTED],
    ["caselog", "close", "Mappe", *ACTED],
    ["caselog", "reopen", "Mappe", *ACTED],
]


def test_a_history_is_told_in_words(run):
    for words in HISTORY:
        assert run(*words)[0] == 0, words
    out = run("caselog", "show", "Mappe")[1]
    for said in ("Fall eröffnet", "Fall umbenannt", "Sperre aufgehoben", "Gegenstand eingegangen"):
        assert said in out
    assert not ENGLISH.findall(out)
    assert not re.findall(r"\b(case|note|hold|item|tags)-\w+", out)
    out = run("caselog", "verify")[1]
    assert "Ein Fall; seine Einträge folgen" in out  # one is no plural
    assert "FAULT" not in out


def test_every_action_of_the_log_has_words():
    for action in ACTIONS:
        english, german = (action_words(action, language) for language in ("en", "de"))
        assert "-" not in english, action
        assert len({action, english, german}) == 3
    assert action_words("of-a-newer-program", "de") == "of-a-newer-program"


def test_what_a_vector_differs_in_is_said_in_german(home, run):
    folder = home / "vektoren"
    folder.mkdir()
    shipped = min(resource("vectors").glob("trellis-*.json"))
    vector = json.loads(shipped.read_text())
    (folder / "trellis-a.json").write_text(json.dumps(vector | {"log_sum": 1.5}))
    (folder / "trellis-b.json").write_text(
        json.dumps(vector | {"best_codeword": vector["best_codeword"][:-1]})
    )
    (folder / "trellis-c.json").write_text("{")
    (folder / "trellis-d.json").write_text(json.dumps(vector))
    (folder / "unbekannt.json").write_text("{}")
    code, out, err = run("selftest", "--vectors", str(folder))
    assert code == 1
    assert out.split() == ["OK", "trellis-d.json"]
    for said in ("log_sum: ", " statt 1.5", ".size: ", "die Datei ist beschädigt"):
        assert said in err
    assert not ENGLISH.findall(err)


def test_tables_of_a_terminal_are_german(home, monkeypatch, run):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("pura.cli.terminal.Terminal.is_terminal", True)
    for words in (["key", "list"], ["model", "list"]):  # there is nothing yet
        assert not ENGLISH.findall(run(*words)[1])
    secret = ("--passphrase-file", "geheim.txt")
    new = run(*secret, "key", "new", "pult", "--in-file")
    assert "Aufbewahrt in: Verschlüsselte Schlüsseldateien." in new[2]
    said = run(*secret, "key", "list")[1]
    assert all(word in said for word in ("Fingerabdruck", "Erstellt", "Dateien"))
    assert not ENGLISH.findall(said)


def test_a_question_is_asked_and_answered_in_german(monkeypatch, run):
    run("profile", "import", "haus.json")
    for answers, code, end in ((["vielleicht", "nein"], 1, "Abgebrochen."), (["Ja"], 0, "")):
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*answers, ""])))
        ended, out, err = run("profile", "remove", "haus")
        assert (ended, out.strip()) == (code, "")
        assert "Das Profil »haus« löschen? [j/N]:" in err
        assert ("Antworten Sie mit j oder n." in err) == (len(answers) > 1)
        assert end in err


def test_what_is_no_report_is_said_in_german(run):
    code, out, err = run("report", "verify", "brief.txt")
    assert code == 1
    assert "Die eine Prüfung fand etwas, das nicht stimmt." in out
    assert not ENGLISH.findall(out + err)
