"""The table of exit codes holds of every command."""

import re
from pathlib import Path

import pytest
from tests.core.cli.test_one_word import commands

from pura.base.errors import InputError, KeyStoreError
from pura.cli.terminal import STATUS_CODES, exit_code

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "command-line.md"
ROW = re.compile(r"^\| (`pura ([^`]+)`|every command) \| (\d+) \| (.+) \|$", re.MULTILINE)


def rows() -> list[tuple[str, int, str]]:
    page = PAGE.read_text(encoding="utf-8").partition("## Exit codes")[2]
    return [(words or "", int(code), what) for _, words, code, what in ROW.findall(page)]


def test_each_row_is_about_a_command_and_each_command_with_codes_has_a_row():
    listed = {words for words, _, _ in rows()} - {""}
    assert listed <= {*commands()}
    told = {words for words, one in commands().items() if "xit code" in (one.help or "")}
    told |= {
        words
        for words, one in commands().items()
        if any("xit code" in (param.help or "") for param in one.params)
    }
    assert told <= listed, told - listed
    assert {code for words, code, _ in rows() if words == "report verify"} == {1, 3, 4}
    assert {*STATUS_CODES.values()} == {0, 1, 3, 4}
    assert {code for words, code, _ in rows() if not words} == {0, 1, 2, 130}


def test_every_command_ends_with_2_where_it_is_called_wrongly(run):
    for words in commands():
        code, out, err = run(*words.split(), "--no-such-option")
        assert (code, out) == (2, ""), words
        assert "--no-such-option" in err, words
        code, _, _ = run(*words.split(), "--help")
        assert code == 0, words


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("key list", 0),
        ("key export none -o none --yes", 1),
        ("key remove none --yes", 1),
        ("profile show none", 1),
        ("setup show none", 1),
        ("model show none", 1),
        ("power show none", 1),
        ("register verify", 1),
        ("questions verify", 1),
        ("report verify none.pdf", 1),
        ("serve statement verify none.json", 1),
        ("caselog show none", 1),
        ("bundle import none --passphrase-file none", 1),
        ("batch summary none.jsonl", 1),
        ("selftest --vectors none", 1),
        ("verify none.txt --profile none", 1),
        ("verify", 2),
        ("help none", 2),
        ("generate --profile none", 1),
        ("manifest sign none --certificate-key x", 2),
    ],
)
def test_commands_end_as_the_table_says(run, tmp_path, monkeypatch, words, code):
    monkeypatch.chdir(tmp_path)
    ended, out, err = run(*words.split())
    assert ended == code, (out, err)
    assert "Traceback" not in err
    assert err or not code


def test_what_was_typed_wrongly_is_2_and_what_lies_here_1():
    assert exit_code(InputError("choice.unknown", name="a", known="b", code="usage")) == 2
    assert exit_code(KeyStoreError("key.unknown", name="a", known="b", code="key-not-found")) == 1
