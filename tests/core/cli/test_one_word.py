"""One word for one thing over all commands, former names, and options that stand everywhere."""

import json
import re
from typing import Any

import pytest
from tests.core.cli.conftest import pura
from tests.core.cli.test_help import tree
from typer.core import TyperGroup

from pura.base.catalogue import catalogue
from pura.cli.command_table import FORMER_COMMANDS, FORMER_OPTIONS
from pura.cli.help_pages import topics
from pura.cli.terminal import NARROWEST, WIDEST, wrapped

MEANINGS = {
    "certificate-key": ("its private key, where the certificate is pem.", "tls: its key, pem."),
    "timestamp": ("time-stamp authority; this uses the network.",),
    "force": ("replace a file that is there.", "replace files that are there."),
    "yes": ("do not ask.",),
    "key-file": ("file with a key: hex, base64 or encrypted. it is used for this run only.",),
}
"""What an option means, wherever it stands, under the one name that it has."""


def commands() -> dict[str, Any]:
    return {
        words: command
        for words, command in tree().items()
        if not isinstance(command, TyperGroup) or (words and command.invoke_without_command)
    }


def test_a_thing_has_one_name_over_all_commands():
    for words, command in commands().items():
        for param in command.params:
            if param.param_type_name != "option":
                continue
            said = (param.help or "").lower()
            for name, meanings in MEANINGS.items():
                if said in meanings:
                    assert f"--{name}" in param.opts, (words, param.opts)
            # A passphrase comes from a file, which the name says.
            if "passphrase" in param.opts[0]:
                assert param.opts[0].endswith("passphrase-file"), (words, param.opts)
            if "-r" in param.opts or "--recursive" in param.opts:
                assert param.secondary_opts == ["--no-recursive"], words
            if "-o" in param.opts:
                assert "--output" in param.opts, words
    verbs = {words.split()[-1] for words in commands()}
    assert not verbs & {"delete", "add-file"}


@pytest.mark.parametrize("words", FORMER_COMMANDS)
def test_a_former_command_is_taken_and_says_the_new_one(run, words):
    code, _, err = run(*words.split(), "--help")
    assert code == 0, err
    _, _, err = run(*words.split(), "no such thing")
    assert f"“{words.split()[-1]}” is now “{FORMER_COMMANDS[words]}”" in err
    now = " ".join([*words.split()[:-1], FORMER_COMMANDS[words]])
    assert now in commands()
    assert words not in tree()


def test_a_former_option_is_taken_and_says_the_new_one(run, tmp_path):
    for words, options in FORMER_OPTIONS.items():
        names = {name for param in commands()[words].params for name in param.opts}
        for former, now in options.items():
            assert now in names, (words, now)
            assert former not in names or words == "verify", (words, former)
    code, _, err = run("report", "sign", "a", "b", "--tsa", "https://x.example")
    assert "“--tsa” is now “--timestamp”" in err
    assert code == 2
    code, _, err = run("report", "sign", "a", "b", "--timestamp", "https://x.example")
    assert "is now" not in err
    code, _, err = run("manifest", "sign", "a", "--key=x")
    assert "“--key” is now “--certificate-key”" in err


def test_quiet_verbose_and_language_stand_before_and_behind(run):
    for words in ("key list", "setup show none", "doctor", "profile show none"):
        for placed in (["-q", *words.split()], [*words.split(), "-q"]):
            code, _, err = run(*placed)
            assert code in (0, 1), err
        for placed in (["--language", "de", *words.split()], [*words.split(), "--language=de"]):
            code, _, err = run(*placed)
            assert code in (0, 1), err
            assert "usage" not in err.lower()
    _, _, before = run("-v", "profile", "show", "none")
    _, _, behind = run("profile", "show", "none", "-v")
    # The log has times; what the command says is the same.
    assert [line for line in before.splitlines() if line[:2] != "20"] == [
        line for line in behind.splitlines() if line[:2] != "20"
    ]
    assert "profile-not-found" in behind
    _, _, plain = run("profile", "show", "none")
    assert "profile-not-found" not in plain
    _, _, german = run("profile", "show", "none", "--language", "de")
    assert german == run("--language", "de", "profile", "show", "none")[2]
    assert german != plain


def test_json_stands_before_and_behind(run):
    before, behind = run("--json", "key", "state"), run("key", "state", "--json")
    assert before == behind
    assert [json.loads(line) for line in before[1].splitlines()]
    code, _, err = run("--json", "completion", "bash")
    assert code == 2
    assert "prints no JSON" in err
    assert run("key", "state")[1] != before[1]


def test_help_shows_commands_and_pages(run):
    assert run("help", "verify")[1] == run("verify", "--help")[1]
    assert run("help", "key", "new")[1] == run("key", "new", "--help")[1]
    assert run("help")[1] == run("--help")[1]
    code, out, _ = run("help", "serving")
    assert code == 0
    assert out.startswith("# Marking what a serving stack writes")
    code, out, _ = run("--language", "de", "help", "guide")
    assert out.startswith("# ")
    assert out != run("help", "guide")[1]
    code, _, err = run("help", "serveing")
    assert code == 2
    assert "Do you mean “serving”?" in err
    assert {"serving", "glossary", "guide", "first-hour", "api"} <= {*topics("en")}


def test_a_misspelt_stored_name_gets_a_suggestion(run, tmp_path):
    assert run("profile", "new", "--vocab-size", "100", "--name", "newsroom")[0] == 0
    for words in (
        ("profile", "show", "newsrom"),
        ("verify", "x", "--profile", "newsrom", "--key-file", "x"),
    ):
        _, _, err = run(*words)
        assert "Do you mean “newsroom”?" in err, words
    assert "Do you mean" not in run("profile", "show", "quite other")[2]


def test_no_page_shows_a_type_of_python(run):
    for words in tree():
        _, out, _ = run(*words.split(), "--help")
        assert not re.search(r"<\w+>|list\[|<path>|None\b", out), words


def test_a_question_that_nobody_answers_names_the_option():
    assert pura("profile", "new", "--vocab-size", "100", "--name", "gone").exit_code == 0
    asked = pura("profile", "remove", "gone", stdin="")
    assert asked.exit_code == 1
    assert "--yes" in asked.stderr
    assert "--yes" not in pura("profile", "remove", "gone", stdin="n\n").stderr
    assert pura("profile", "show", "gone").exit_code == 0


@pytest.mark.parametrize("columns", [20, 60, 80, 100, 120, 300])
def test_sentences_are_wrapped_to_the_terminal(columns):
    words = "- " + "A sentence with quite a few words of usual length in it. " * 6
    lines = wrapped(words, columns).splitlines()
    assert all(len(line) <= min(max(columns, NARROWEST), WIDEST) for line in lines)
    assert len(lines) > 1
    assert all(line.startswith("  ") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == " ".join(words.split())


def test_messages_name_options_that_there_are(run, tmp_path):
    """Of this program: those that belong to pip and engines stand in a command of theirs."""
    known = {
        name
        for command in tree().values()
        for param in command.params
        for name in (*param.opts, *param.secondary_opts)
    } | {"--help", "--force", "--json"}
    others = {
        "--logprobs",
        "--merge",
        "--no-deps",
        "--middleware",
        "--dest",
        "--find-links",
        "--no-index",
    }
    for volume in ("errors", "command", "findings", "doctor", "duties"):
        for key, template in catalogue(volume).items():
            for text in template.texts.values():
                options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
                assert options <= known | others, (volume, key, options - known)


def test_hints_name_the_option_of_the_command_that_was_run(run, tmp_path):
    (tmp_path / "a.pem").write_text("no certificate")
    for words in (
        ["generate", "--certificate", str(tmp_path / "a.pem"), "--soft-binding", "org.x.1"],
        ["caselog", "deposit", str(tmp_path), "--never"],
    ):
        code, _, err = run(*words)
        assert code in (1, 2)
        assert "--key " not in err
        assert "Name a folder, or say" not in err
    assert "contradict" in err


def test_messages_lead_to_pages_that_come_with_the_program():
    """An installed package has no folder of the repository."""
    for volume in ("errors", "command", "findings", "doctor", "duties", "help", "typer"):
        for key, template in catalogue(volume).items():
            for text in template.texts.values():
                assert "docs/" not in text, (volume, key)
                for topic in re.findall(r"pura help ([\w-]+)", text):
                    assert topic in topics("en"), (volume, key, topic)
