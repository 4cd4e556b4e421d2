"""Help and usage errors in German: every text of the tree, and every sentence of Typer's own."""

import ast
import inspect
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main
from tests.core import programs
from typer.core import TyperGroup

from pura.base.catalogue import catalogue
from pura.base.errors import KeyStoreError
from pura.base.numerals import LANGUAGES
from pura.caselog import CUSTODY, ORGANISATION
from pura.cli.__main__ import app
from pura.cli.command_table import EXAMPLES, HEADINGS
from pura.cli.manual import write_manual
from pura.cli.pages import paragraphs
from pura.cli.tree import LazyCommand, asked_language
from pura.scheme import Profile

Run = Callable[..., tuple[int, str, str]]
ENGLISH = re.compile(
    r"\b(the|of|is|are|not|with|cannot|there|this|and|from|no|by|for|usage|show|default|options"
    r"|arguments|commands?|required|env|value|missing|such|try|error|input|should)\b",
    re.IGNORECASE,
)


def tree() -> dict[str, Any]:
    """Return every command and group by its words after ``pura``."""
    found: dict[str, Any] = {}

    def walk(command: Any, words: str) -> None:
        if isinstance(command, LazyCommand):
            about, command = command.help, command.fetched()
            assert paragraphs(command.help)[0] == about, words
        found[words] = command
        if isinstance(command, TyperGroup):
            for name, inner in command.commands.items():
                walk(inner, f"{words} {name}".strip())

    walk(typer.main.get_command(app), "")
    return found


def english_texts() -> Iterator[str]:
    for words, command in tree().items():
        assert command.help, words
        assert not command.short_help, words
        assert not command.epilog, words
        yield from paragraphs(command.help)
        for param in command.params:
            assert param.help, (words, param.name)
            yield from paragraphs(param.help)
            if param.metavar:
                yield param.metavar


def test_every_text_of_the_help_has_its_german_and_none_is_left_over():
    assert set(english_texts()) == set(catalogue("help"))
    same = {key for key, text in catalogue("help").items() if text.texts["de"] == key}
    assert same == {"BITS", "NAME", "ALPHA", "URL", "N:HASH", "I/N", "HEX"}


def test_every_command_has_an_example_that_can_be_parsed(monkeypatch):
    commands = {
        words: c
        for words, c in tree().items()
        if not isinstance(c, TyperGroup) or (words and c.invoke_without_command)
    }
    assert set(EXAMPLES) == set(commands)
    for words, command in commands.items():
        command.make_context(words, shlex.split(EXAMPLES[words]))


def test_every_option_of_the_long_pages_stands_under_one_heading():
    for words, headings in HEADINGS.items():
        listed = [name for names in headings.values() for name in names.split()]
        options = [p.name for p in tree()[words].params if p.param_type_name == "option"]
        assert sorted(listed) == sorted(options), words


def names_in(source: str, kind: type[ast.Name | ast.Attribute]) -> set[str]:
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, kind)]
    return {node.id if isinstance(node, ast.Name) else node.attr for node in found}


def test_every_option_is_looked_at_by_its_command():
    """Options that stand in a class, as those of verify and batch do, are read as its fields."""
    folder = Path(inspect.getfile(write_manual)).parent
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.py")]
    fields = set[str]().union(*(names_in(text, ast.Attribute) for text in texts))
    for words, command in tree().items():
        if command.callback is None:
            continue
        function = inspect.unwrap(command.callback)
        read = names_in(textwrap.dedent(inspect.getsource(function)), ast.Name)
        if "options" in function.__code__.co_varnames:  # what makes them into the class
            read = fields | names_in(inspect.getsource(sys.modules[function.__module__]), ast.Name)
        asked = {param.name for param in command.params if not param.name.startswith("_")}
        assert asked <= read, (words, asked - read)


def test_the_events_of_the_log_are_named():
    [said] = [param.help for param in tree()["caselog record"].params if param.name == "action"]
    organisation, case = (", ".join(events) for events in (ORGANISATION, CUSTODY))
    assert said == f"Of a case: {case}. Of the organisation: {organisation}."


def test_every_page_is_german(monkeypatch, run):
    monkeypatch.setenv("COLUMNS", "200")
    for words in tree():
        code, out, err = run("--language", "de", *words.split(), "--help")
        assert (code, err) == (0, ""), words
        assert "Aufruf: " in out
        # What is typed stays as it is: options, types, names in examples.
        out = out.partition("Beispiel:")[0]
        prose = re.sub(r"--?[\w-]+|<[^>]*>|»[^«]*«|\[Vorgabe: [^\]]*\]|\b[\w]+-[\w-]+\b", "", out)
        prose = prose.replace(f"pura {words}", "")
        prose = re.sub(r"(?m)^  [a-z]+ ", "", prose)
        assert not ENGLISH.findall(prose), (words, ENGLISH.findall(prose), prose)


def test_a_help_text_without_its_translation_is_shown_in_english(monkeypatch, run):
    from pura.cli import pages as module

    known = module.catalogue
    monkeypatch.setattr(module, "catalogue", lambda name: {} if name == "help" else known(name))
    monkeypatch.setenv("COLUMNS", "200")
    for language in LANGUAGES:
        for words, command in tree().items():
            about = paragraphs(command.help)[0]
            code, out, err = run("--language", language, *words.split(), "-h")
            assert (code, err) == (0, ""), (language, words)
            assert about[:60] in out, (language, words)


def test_where_there_is_no_keyring_the_error_names_the_option_that_needs_none():
    error = KeyStoreError("keystore.no-backend", detail="")
    assert all("pura key new NAME --in-file" in error.words(language)[1] for language in LANGUAGES)


@pytest.mark.programs("groff")
def test_the_manual_has_a_clean_page_for_every_command_in_both_languages(tmp_path):
    commands = tree()
    names = {words.split()[0] for words in commands if words}
    for language in ("en", "de"):
        pages = write_manual(tmp_path / language, language)
        assert {page.name for page in pages} == {"pura.1", *(f"pura-{n}.1" for n in names)}
        text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
        for words, command in commands.items():
            assert f"pura {words}".strip().replace("-", "\\-") in text, words
            for option in (name for param in command.params for name in param.opts):
                assert not option.startswith("-") or option.replace("-", "\\-") in text, option
        programs.run("groff", "-man", "-Kutf8", "-ww", "-b", "-z", *pages, quiet=True)


def test_a_shell_is_told_commands_options_and_stored_names(tmp_path, monkeypatch, run):
    monkeypatch.setenv("PURA_HOME", str(tmp_path))
    folder = tmp_path / "config" / "profiles"
    folder.mkdir(parents=True)
    (folder / "house.json").write_text(
        Profile(payload_bits=36, vocab_size=50_000, code="tbcc").to_json()
    )
    for shell in ("bash", "zsh", "fish", "powershell"):
        code, out, err = run("completion", shell)
        assert (code, err) == (0, "")
        assert f"_PURA_COMPLETE=complete_{shell}" in out.replace(' = "', "=")

    def asked(*words: str) -> list[str]:
        with monkeypatch.context() as patch:
            patch.setenv("_PURA_COMPLETE", "complete_bash")
            patch.setenv("COMP_WORDS", " ".join(("pura", *words)))
            patch.setenv("COMP_CWORD", str(len(words)))
            return run()[1].split()

    assert asked("ver") == ["verify"]
    assert asked("key", "exp") == ["export"]
    assert "--stop-early" in asked("verify", "--st")
    assert asked("verify", "--profile", "h") == ["house"]


def test_a_page_is_english_again_after_a_german_one(monkeypatch, run):
    monkeypatch.delenv("PURA_LANGUAGE", raising=False)
    run("--language", "de", "verify", "--help")
    out = run("verify", "--help")[1]
    assert all(word in out for word in ("Usage: ", "Options", "[required]", "[default: auto]"))
    assert "Audit texts: does one carry" in out
    assert "Optionen" not in out


USAGE = [
    (["verifi"], "Es gibt keinen Befehl 'verifi'. Gemeint sein könnte: 'verify'."),
    (["xyz"], "Es gibt keinen Befehl 'xyz'."),
    (["--version", "--bogus"], "Es gibt keine Option --bogus."),
    (["key", "list", "--jso"], "Es gibt keine Option --jso. Gemeint sein könnte: --json."),
    (["--passphrase-file", "x"], "Es fehlt der Befehl."),
    (["verify", "x"], "Der Wert für --setup passt nicht: Nennen Sie mit --setup eine Einrichtung"),
    (
        ["register", "issue", "--who", "x"],
        "Es fehlt die Option '--profile' (Umgebungsvariable 'PURA_PROFILE').",
    ),
    (["report", "sign", "x", "y"], "Es fehlt die Option '--certificate'."),
    (["key", "new"], "Es fehlt das Argument 'name'."),
    (["key", "new", "a", "b", "c"], "Zu viele Argumente: b c"),
    (["verify", "--profile"], "Die Option '--profile' braucht einen Wert."),
    (["key", "list", "--json=x"], "Die Option '--json' nimmt keinen Wert."),
    (
        ["profile", "new", "--bits", "x"],
        "Der Wert für '--bits' passt nicht: Das ist keine ganze Zahl.",
    ),
    (["profile", "new", "--bits", "9" * 5000], "passt nicht: Die Zahl ist zu lang."),
    (["profile", "new", "--top-p", "x"], "Der Wert für '--top-p' passt nicht: Das ist keine Zahl."),
    (
        ["model", "fitness", "x", "--profile", "x", "--texts", "0"],
        "Der Wert für '--texts' passt nicht: Der kleinste Wert ist 1.",
    ),
    (
        ["model", "fitness", "x", "--profile", "x", "--texts", "1001"],
        "Der Wert für '--texts' passt nicht: Der größte Wert ist 1000.",
    ),
    (
        ["caselog", "list", "--state", "x"],
        "Der Wert für --state passt nicht: Zur Wahl stehen: open, closed, held, unreviewed.",
    ),
    (["caselog", "list", "--since", "x"], "Schreiben Sie einen Tag als JJJJ-MM-TT."),
    (["verify", "x", "--profile", "x", "--fdr", "2"], "Wählen Sie eine Rate zwischen 0 und 1."),
    (["verify", "x", "--profile", "x", "--decoder", "y"], "Zur Wahl stehen: exact, paper."),
    (
        ["--language", "fr", "key", "list"],
        "Der Wert für '--language' (Umgebungsvariable 'PURA_LANGUAGE') passt nicht: Zur Wahl",
    ),
]


@pytest.mark.parametrize("asked", ["option", "environment", "own option"])
def test_usage_errors_are_german_though_parsing_has_not_ended(asked, monkeypatch, run):
    monkeypatch.delenv("PURA_LANGUAGE", raising=False)
    before, after = (), ()
    if asked == "environment":
        monkeypatch.setenv("PURA_LANGUAGE", "de")
    elif asked == "option":
        before = ("--language", "de")
    else:
        after = ("--language=de",)
    for words, sentence in USAGE:
        if after and words[0] != "verify":
            continue
        code, out, err = run(*before, *words[:1], *after, *words[1:])
        assert (code, out) == (2, ""), words
        assert sentence in err, (words, err)
        assert not ENGLISH.findall(re.sub(r"--?[\w-]+|\bpura [\w ]+|'[^']*'", "", err)), err


def test_every_sentence_of_typer_is_met_by_an_error():
    """The sentences are recognised by their English; one that Typer words anew is missed here."""
    met = "\n".join(sentence for _, sentence in USAGE)
    for key, template in catalogue("typer").items():
        if key.startswith("said.") and key not in ("said.unreadable", "said.value-only"):
            fixed = re.split(r"\{\w+:text\}", template.texts["de"])
            assert all(part in met for part in fixed), key


def test_a_file_that_must_not_be_read_is_named_in_german(tmp_path, monkeypatch, run):
    monkeypatch.setattr("os.access", lambda *_: False)  # also for the superuser
    file = tmp_path / "a.pdf"
    file.write_bytes(b"x")
    code, _, err = run("--language", "de", "report", "verify", str(file))
    assert (code, "lässt sich nicht lesen." in err) == (2, True)
    assert "path" not in err.replace(str(tmp_path), "")


def test_the_language_is_known_before_parsing(monkeypatch):
    monkeypatch.delenv("PURA_LANGUAGE", raising=False)
    assert asked_language([]) == "en"
    assert asked_language(["--language", "de", "key"]) == "de"
    assert asked_language(["verify", "--language=de"]) == "de"
    assert asked_language(["key", "--language"]) == "en"
    assert asked_language(["--language", "de", "verify", "--language", "en"]) == "en"
    monkeypatch.setenv("PURA_LANGUAGE", "de")
    assert asked_language(["--language", "fr"]) == "de"
    assert asked_language(["--language", "en"]) == "en"


def test_help_loads_no_model_code():
    code = (
        "import sys; sys.argv = ['pura', '--language', 'de', 'verify', '--help']\n"
        "from pura.cli.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'transformers', 'PySide6', 'numpy', 'scipy', 'typst', 'lxml'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    programs.python(code)
