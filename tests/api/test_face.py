"""The public face as people meet it: collections, wrong arguments, what can be discovered."""

import inspect
import json
import re
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.core.programs import lend

import pura
from pura.base.arguments import ArgumentError
from pura.base.catalogue import catalogue
from pura.base.errors import PayloadError
from pura.base.paths import user_paths
from pura.record import json_io
from pura.scheme.keys import KEY_BYTES

ROOT = Path(__file__).parents[2]
OLD = ROOT / "tests" / "data" / "v0.1.0"


@pytest.fixture(scope="module")
def audit() -> pura.Audit:
    return json_io.from_json((OLD / "record.json").read_text())


@pytest.fixture
def sample(small_samples) -> dict[str, Any]:
    return small_samples["marked-tbcc"]


@pytest.fixture
def means(sample, small_model) -> dict[str, Any]:
    return {
        "key": pura.SecretKey.from_hex(sample["key_hex"]),
        "profile": pura.Profile.from_dict(sample["profile"]),
        "model": small_model,
    }


# --- collections --------------------------------------------------------------------------------


def test_a_single_text_and_a_whole_table_are_refused_at_once(means):
    import pandas as pd

    table = pd.DataFrame({"text": ["one", "two"], "day": [1, 2]})
    for wrong in ("text", b"text", Path("a.txt"), table, 7, None):
        with pytest.raises(ArgumentError) as refused:
            pura.verify_many(wrong, **means)  # nothing has been asked for yet
        assert "texts" in refused.value.message
        assert 'df["text"]' in refused.value.hint
        assert "pura.verify" in refused.value.hint


def test_a_series_keeps_its_index(means, sample):
    import pandas as pd

    texts = [one["text"] for one in sample["texts"][:2]]
    series = pd.Series([*texts, ""], index=["b", "a", 7])
    results = list(pura.verify_many(series, **means))
    assert [result.id for result in results] == ["b", "a", 7]
    assert [result.found for result in results] == [True, True, False]
    frame = pura.to_pandas(results)
    assert frame.index.tolist() == ["b", "a", 7]
    assert frame.index.name == "id"
    assert frame["verdict"].tolist()[:2] == ["mark", "mark"]
    assert frame.loc[7, "error"] == "input-empty"
    joined = series.to_frame("text").join(frame)
    assert joined.loc["a", "sha256"] == results[1].audit.finding.sha256


def test_audits_become_a_frame_and_nothing_else_does(audit):
    frame = pura.to_pandas([audit, audit])
    assert frame["verdict"].tolist() == ["mark", "mark"]
    for wrong in (audit, "text", {"a": audit}, [audit, "text"]):
        with pytest.raises(ArgumentError, match="results"):
            pura.to_pandas(wrong)


def test_a_bar_shows_how_far_texts_are(means, sample, capsys):
    texts = [one["text"] for one in sample["texts"][:2]]
    assert len(list(pura.verify_many(texts, progress=True, **means))) == 2
    assert "2/2" in capsys.readouterr().err
    assert len(list(pura.verify_many(texts, **means))) == 2
    assert capsys.readouterr().err == ""


# --- wrong arguments ----------------------------------------------------------------------------

ARGUMENTS: dict[str, tuple[object, ...]] = {
    "text": (None, 7, b"x", ["a"]),
    "texts": (None, 7, "x"),
    "name": (None, 7),
    "setup": (7, b"x", ["a"]),
    "key": (None, 7, Path("a.key"), [None], b"x"),
    "profile": (7, b"x", {"a": 1}),
    "model": (7, b"x", object()),
    "prompt": (7, b"x", [7]),
    "decoder": (None, 7),
    "epochs": (None, 7),
    "also": ("x", 7, [7]),
    "weigh": (1, "yes", None),
    "policy": (7, {"a": 1}),
    "register": (1, "yes", None),
    "ids": ("12", [1.5], ["a"], 7),
    "trust": (7, b"x"),
    "leave_out": ("quotations", 7, [7]),
    "questions": (7, b"x", None),
    "progress": (1, "yes"),
    "payload": (7, b"x", None, ["1"]),
    "tokens": ("7", 7.5, None, True),
    "seed": ("7", 7.5),
    "outside_limits": (1, "yes"),
    "device": (7,),
    "dtype": (7,),
    "soft_binding": (7, None),
    "certificate": (7, None),
    "private_key": (7,),
    "passphrase": (7, b"x"),
    "embed": (7,),
    "timestamp": (7,),
    "results": (None, 7, "x"),
    "data": (7, "x", None),
    "path": (7, None),
    "value": ("7", 7.5, None),
    "length": ("7", None),
    "bits": ("7", 7.5),
    "blocks": ("7", 7.5),
    "vocab_size": ("7", 7.5),
    "fields": ("x", 7, [7]),
    "code": (7,),
}
"""For each argument by its name, values of a type that it does not take."""
EXTRA = {"self", "cls", "origin", "settings", "text_or_none"}


def _calls(means: dict[str, Any], tmp_path: Path) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield each function of the face with arguments that fit together."""
    parts = {"key": means["key"], "profile": means["profile"], "model": means["model"]}
    yield "verify", pura.verify, {"text": "A text.", **parts}
    yield "verify_many", pura.verify_many, {"texts": ["A text."], **parts}
    yield "mark", pura.mark, {"prompt": "A", "payload": "0x1", **parts}
    yield "load", pura.load, {"model": tmp_path / "none"}
    yield "to_pandas", pura.to_pandas, {"results": []}
    yield (
        "sign_manifest",
        pura.sign_manifest,
        {
            "text": "A text.",
            "payload": "0x1",
            "profile": means["profile"],
            "soft_binding": "org.example.pura.1",
            "certificate": tmp_path / "none.p12",
        },
    )
    yield "SecretKey", pura.SecretKey, {"data": bytes(KEY_BYTES)}
    yield "SecretKey.load", pura.SecretKey.load, {"path": tmp_path / "none"}
    yield "Payload.from_int", pura.Payload.from_int, {"value": 1, "length": 12}
    yield "Profile.new", pura.Profile.new, {"vocab_size": 100}
    yield "Profile.load", pura.Profile.load, {"path": tmp_path / "none"}
    yield "Profile.save", means["profile"].save, {"path": tmp_path / "saved.json"}


def test_a_wrong_argument_is_named_with_what_came_and_what_is_wanted(means, tmp_path):
    tested, faults = set(), []
    for name, function, fitting in _calls(means, tmp_path):
        for argument in inspect.signature(function).parameters:
            if argument in EXTRA:
                continue
            for wrong in ARGUMENTS[argument]:
                tested.add(argument)
                try:
                    made = function(**{**fitting, argument: wrong})
                    if isinstance(made, Iterator):
                        list(made)
                except pura.PuraError as error:
                    named = argument in error.message or argument in ("device", "dtype", "embed")
                    if not named or (isinstance(error, TypeError) and not error.hint):
                        faults.append((name, argument, wrong, str(error)))
                except Exception as error:
                    faults.append((name, argument, wrong, repr(error)))
                else:
                    faults.append((name, argument, wrong, "taken"))
    assert faults == []
    assert tested == ARGUMENTS.keys()


def test_an_argument_of_a_wrong_type_is_a_type_error_and_says_no_value():
    with pytest.raises(TypeError) as refused:
        pura.verify(b"a secret text", profile="house")  # type: ignore[arg-type]
    assert isinstance(refused.value, pura.PuraError)
    assert "secret" not in str(refused.value)
    assert "bytes" in str(refused.value)


WORDS: dict[str, Callable[[dict[str, Any], str], object]] = {
    "verify decoder": lambda means, word: pura.verify("A text.", decoder=word, **means),
    "verify epochs": lambda means, word: pura.verify("A text.", epochs=word, **means),
    "verify leave_out": lambda means, word: pura.verify("A text.", leave_out=[word], **means),
    "verify setup": lambda means, word: pura.verify("A text.", setup=word),
    "verify profile": lambda means, word: pura.verify("A text.", **{**means, "profile": word}),
    "verify key": lambda means, word: pura.verify("A text.", **{**means, "key": word}),
    "verify model": lambda means, word: pura.verify("A text.", **{**means, "model": word}),
    "verify policy": lambda means, word: pura.verify("A text.", policy=word, **means),
    "verify trust": lambda means, word: pura.verify("A text.", trust=word, **means),
    "verify_many decoder": lambda means, word: pura.verify_many(["A"], decoder=word, **means),
    "mark payload": lambda means, word: pura.mark("A", payload=word, **means),
    "load model": lambda means, word: pura.load(word),
    "load device": lambda means, word: pura.load(device=word),
    "load dtype": lambda means, word: pura.load(dtype=word),
    "new model": lambda means, word: pura.Profile.new(word),
    "new code": lambda means, word: pura.Profile.new(vocab_size=99, code=word),
    "new history": lambda means, word: pura.Profile.new(vocab_size=99, history=word),
    "new kernel": lambda means, word: pura.Profile.new(vocab_size=99, kernel=word),
    "new prefix": lambda means, word: pura.Profile.new(vocab_size=99, prefix=word),
    "new key_epochs": lambda means, word: pura.Profile.new(vocab_size=99, key_epochs=word),
    "new payload_use": lambda means, word: pura.Profile.new(vocab_size=99, payload_use=word),
    "new scheme": lambda means, word: pura.Profile.new(vocab_size=99, scheme=word),
    "key from_hex": lambda means, word: pura.SecretKey.from_hex(word),
    "key from_base64": lambda means, word: pura.SecretKey.from_base64(word),
    "payload text": lambda means, word: pura.Payload(text=word),
    "payload hex": lambda means, word: pura.Payload.from_hex(word, 12),
}
"""Every parameter that takes one of a few words, or a form: with a word that does not exist."""


def test_a_word_that_does_not_exist_is_refused_wherever_a_few_are_taken(means):
    taken = []
    for name, call in WORDS.items():
        try:
            call(means, "no-such-word")
        except pura.PuraError:
            continue
        taken.append(name)
    assert taken == []


FREE = re.compile(
    r"id|text|created|input\.(name|part|sha256|encoding|format)|keys?(\.\*)?\.label|log\.\*\.(name|note)"
    r"|model\.(name|architecture|fingerprint|tokenizer)|device\.(name|reason)"
    r"|policy\.organisation|profile\.(name|note)|register\.(date|version)"
    r"|register\.matches\.\*\.(model|payload|when|who|key|profile)|variants\.\*\.name|versions\..+"
)
"""Strings of a record that are names, digests, versions or the text: anything may stand there."""


def test_every_string_of_a_record_that_is_one_of_a_few_is_checked():
    """With a word that no program writes it is not read, or its check tells."""
    from pura.detect.verdict.agreement import disagreements

    whole = json.loads((OLD / "record.json").read_text())
    read, passed = set(), set()
    for path in _strings(whole):
        name = ".".join("*" if isinstance(step, int) else step for step in path)
        read.add(name)
        try:
            forged = json_io.from_dict(_put(whole, path, "no-such-word"))
            forged.to_html("de")
        except pura.PuraError:
            continue
        if not disagreements(forged) and not FREE.fullmatch(name):
            passed.add(name)
    assert passed == set()
    assert {"decoder", "verdict", "device.kind", "device.dtype", "model.weights"} <= read


def _strings(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where strings stand; of a list the first two entries speak for all."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _strings(part, (*path, name))
    elif isinstance(value, list):
        for number, part in enumerate(value[:2]):
            yield from _strings(part, (*path, number))


def _put(value: Any, path: tuple[Any, ...], word: str) -> Any:
    if not path:
        return word
    step, *rest = path
    copied = value.copy()
    copied[step] = _put(value[step], tuple(rest), word)
    return copied


# --- what can be discovered ---------------------------------------------------------------------


def test_hints_of_the_face_are_types_and_load_no_torch():
    code = (
        "import inspect, sys, typing\n"
        "import pura\n"
        "for name in pura.__all__:\n"
        "    face = getattr(pura, name)\n"
        "    called = [face] if callable(face) else []\n"
        "    if inspect.isclass(face):\n"
        "        called += [v for k, v in inspect.getmembers(face, callable)\n"
        "                   if not k.startswith('_') and inspect.isroutine(v)]\n"
        "    for one in called:\n"
        "        if getattr(one, '__module__', '').startswith('pura'):\n"
        "            typing.get_type_hints(one)\n"
        "assert not {'torch', 'transformers', 'pandas', 'matplotlib'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_closed_choices_are_literals():
    hints = typing.get_type_hints(pura.verify)
    assert typing.get_args(hints["decoder"]) == ("exact", "paper")
    assert typing.get_args(typing.get_type_hints(pura.load)["device"])[0] == "auto"
    assert typing.get_type_hints(pura.verify)["return"] is pura.Audit
    assert typing.get_type_hints(pura.load)["return"] is pura.LanguageModel


def test_no_strangers_are_listed():
    assert set(dir(pura)) == set(pura.__all__)
    for name in ("Policy", "Field", "LanguageModel", "Setup"):
        assert name in pura.__all__
    unknown = [name for name in pura.__all__ if not (getattr(pura, name).__doc__ or "").strip()]
    assert unknown == ["__version__"] or unknown == []


def test_keys_profiles_and_payloads_go_through_files_and_hex(tmp_path):
    key = pura.SecretKey.generate()
    (tmp_path / "a.key").write_text(key.to_hex() + "\n")
    assert pura.SecretKey.load(tmp_path / "a.key").fingerprint == key.fingerprint
    assert pura.SecretKey.load(str(tmp_path / "a.key")).fingerprint == key.fingerprint
    words = (OLD / "passphrase.txt").read_text().strip()
    assert pura.SecretKey.load(OLD / "desk.purakey", words).fingerprint
    with pytest.raises(pura.PuraError) as refused:
        pura.SecretKey.load(OLD / "desk.purakey")
    assert refused.value.code == "key-file-passphrase"
    profile = pura.Profile.new(vocab_size=100, name="house")
    profile.save(tmp_path / "house.json")
    assert pura.Profile.load(str(tmp_path / "house.json")) == profile
    assert pura.Payload.from_hex("2A5", 12) == pura.Payload.from_hex("0x2a5", 12)
    for wrong in ("2G5", "0x", "", "1000"):
        with pytest.raises(PayloadError):
            pura.Payload.from_hex(wrong, 12)


def test_bits_are_of_one_type_everywhere(audit):
    payload = pura.Payload.from_int(0x2A5, 12)
    assert payload.bits == payload.text == "001010100101"
    assert isinstance(audit.payload.bits, str)
    assert pura.Payload.from_bits(payload.bits) == payload
    assert pura.Payload.from_bits(payload.array) == payload
    assert payload.array.dtype == np.uint8


def test_a_record_says_whether_a_mark_was_found_and_is_neither_true_nor_false(audit):
    assert audit.found
    assert not replace(audit, verdict="indication").found
    for refused in (audit, pura.verify_many):
        if refused is not audit:
            continue
        with pytest.raises(TypeError) as caught:
            bool(refused)
        assert ".found" in caught.value.hint


def test_cautions_come_with_their_words(audit):
    assert audit.cautions
    for caution in audit.cautions:
        assert str(caution) == caution.words("en")
        assert caution.words("de") != caution.words("en")
        assert "{" not in str(caution)


def test_names_of_models_work_where_models_do(small_models, small_model, lent):
    lend(small_models, user_paths().models)
    name = next(user_paths().models.iterdir()).name
    by_name, by_model = pura.Profile.new(small_model.name), pura.Profile.new(small_model)
    assert by_name == by_model, name
    with pytest.raises(pura.PuraError) as refused:
        pura.Profile.new("no-such-model")
    assert "no-such-model" in refused.value.message


# --- notebooks ----------------------------------------------------------------------------------


def test_a_notebook_shows_a_card_with_the_text_shaded_and_the_rest_folded(audit):
    shown = audit._repr_html_()
    above, below = shown.split("<details>")
    assert audit.finding.title("en") in above
    assert "Support for a mark" in above
    assert all(line.split(": ")[-1] in above for line in audit.finding.mark_lines("en")[0])
    assert "background:rgba" in above
    assert audit.text[:40].split("<")[0] in above.replace("&#x27;", "'").replace("&quot;", '"')
    assert audit.to_html("en") in below
    without = json_io.without_text(audit)._repr_html_()
    assert "background:rgba" not in without
    assert len(shown) < 60_000


def test_shading_follows_the_record_to_the_letter(audit):
    shown = audit._repr_html_().split("<details>")[0]
    pattern = r'<span style="background:rgba\(31,122,85,[0-9.]+\)">(.*?)</span>'
    spans = re.findall(pattern, shown, re.DOTALL)
    marked = np.clip(np.nan_to_num(audit.tokens.marked), 0, 1)
    ranges = zip(audit.tokens.spans.tolist(), marked, strict=True)
    letters = sum(end - start for (start, end), share in ranges if share > 0.125)
    assert abs(sum(len(unescape(words)) for words in spans) - letters) <= 2 * len(marked)


def test_a_generated_text_shows_its_text_first(means):
    made = pura.mark("A", payload="0x1", tokens=12, seed=1, **means)
    assert str(made) == made.text
    assert repr(made).startswith(f"<Generated {made.text[:20]!r}"[:-1])
    assert len(repr(made)) < 140
    assert made._repr_html_().index(made.text[:5].replace("&", "&amp;")) < 60
    assert next(iter(vars(made))) == "text"
    for short in (means["profile"], pura.Result(id=1, error=PayloadError("payload.form"))):
        assert len(repr(short)) < 140


@pytest.mark.parametrize("kind", ["course", "bits", "tokens"])
def test_evidence_is_drawn(audit, kind, tmp_path):
    figure = audit.plot(kind)
    [axes] = figure.axes
    assert axes.get_title(loc="left") == catalogue("findings").fill(f"plot.{kind}", "en", {})
    figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
    if kind == "course":
        assert axes.lines[0].get_ydata()[-1] == pytest.approx(audit.evidence.log10_e, abs=40)
    else:
        count = len(audit.bits) if kind == "bits" else audit.tokens.ids.size
        assert len(axes.patches) >= count


def test_what_cannot_be_drawn_is_said(audit):
    with pytest.raises(pura.PuraError, match="pie"):
        audit.plot("pie")
    empty = replace(audit, bits=())
    with pytest.raises(pura.PuraError, match="no evidence"):
        empty.plot("bits")
