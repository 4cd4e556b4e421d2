"""What ``import pura`` offers."""

import json
import pydoc
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.core.programs import lend

import pura
from pura.base.errors import PayloadError, ProfileError
from pura.base.paths import user_paths
from pura.keys import Place
from pura.usecases.environment import Environment
from pura.usecases.profiles import create_profile
from pura.usecases.setups import save_setup
from pura.words.sentences import fill, title

OLD = Path(__file__).parents[1] / "data" / "v0.1.0"


@pytest.fixture
def audit() -> pura.Audit:
    """A real record, read from its file."""
    from pura.record import json_io

    return json_io.from_json((OLD / "record.json").read_text())


@pytest.fixture
def sample(samples) -> dict[str, Any]:
    sample = samples["marked-tbcc"]
    return {
        "text": sample["texts"][0]["text"],
        "key": pura.SecretKey.from_hex(sample["key_hex"]),
        "profile": pura.Profile.from_dict(sample["profile"]),
        "bits": sample["texts"][0]["payload"],
    }


def test_importing_it_loads_neither_torch_nor_a_room():
    code = (
        "import os, sys\n"
        "for name in ('HF_HUB_OFFLINE', 'OMP_WAIT_POLICY'): os.environ.pop(name, None)\n"
        "import pura\n"
        "assert {m for m in sys.modules if m.startswith('pura.')} == {'pura.version'}\n"
        "assert 'numpy' not in sys.modules\n"
        "assert 'verify' in dir(pura)\n"
        "pura.verify\n"
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules\n"
        "assert os.environ['HF_HUB_OFFLINE'] == '1'\n"
        "pura.SecretKey, pura.Profile, pura.Payload, pura.Audit, pura.PuraError, pura.Result\n"
        "pura.Generated, pura.load, pura.mark, pura.verify_many\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_name_is_there_and_no_other():
    for name in pura.__all__:
        assert getattr(pura, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        pura.nothing  # noqa: B018


def test_help_lists_what_is_stable():
    told = pydoc.plain(pydoc.render_doc(pura))
    for name in ("verify_many", "Profile.new", "to_row", "docs/reference/examples"):
        assert name in told


def test_a_row_is_flat_and_names_a_payload_only_with_a_mark(audit):
    row = audit.to_row()
    assert all(value is None or isinstance(value, str | int | float) for value in row.values())
    assert (row["verdict"], row["payload"]) == ("mark", audit.payload.bits)
    assert (row["field.customer"], row["field.release"]) == ("417", "1.4")
    unclear = replace(audit, verdict="insufficient").to_row()
    assert unclear["payload"] is None
    assert not any(name.startswith("field.") for name in unclear)
    assert json.loads(json.dumps(audit.to_dict()))["id"] == audit.id


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_notebook_shows_the_words_of_the_window(audit, language):
    from html import escape

    shown = audit.to_html(language)
    assert escape(title(audit.verdict, language)) in shown
    for sentence in audit.finding.wording + audit.cautions:
        assert escape(fill(sentence, language)) in shown
    assert audit.payload.bits in shown
    assert audit.to_html("en") in audit._repr_html_()
    assert audit.payload.bits not in replace(audit, verdict="indication").to_html(language)


def test_what_is_shown_is_escaped(audit):
    named = replace(audit, input=replace(audit.input, name="<script>alert(1)</script>"))
    assert "<script" not in named.to_html()
    assert "&lt;script&gt;" in named.to_html()


def test_a_row_says_for_what_the_evidence_is_and_a_record_prints_one_line(audit):
    for log10_e, side in ((4.0, "mark"), (0.0, "no mark"), (-1.2, "no mark")):
        one = replace(audit, evidence=replace(audit.evidence, log10_e=log10_e))
        assert one.to_row()["strength_for"] == side
    assert len(repr(audit)) < 120
    assert audit.verdict in repr(audit)
    assert audit.input.name in repr(audit)


def test_what_is_no_key_or_no_text_is_an_error_of_ours(sample, small_model, tmp_path, monkeypatch):
    with_ = {"profile": sample["profile"], "model": small_model}
    for wrong in (None, tmp_path / "a.key", [sample["key"], None], b"x"):
        with pytest.raises(pura.PuraError) as caught:
            pura.verify("a text", key=wrong, **with_)
        assert "SecretKey" in caught.value.hint
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a note").write_text("The text that was meant.")
    for name in ("letter.txt", "/far/away.pdf", "a note", str(tmp_path / "a note")):
        with pytest.raises(pura.PuraError) as caught:
            pura.verify(name, key=sample["key"], **with_)
        assert "Path" in caught.value.hint
    # A table with missing values: each is a row with an error, and the others are read.
    texts: Any = {"a": None, "b": float("nan"), "c": "letter.txt", "d": "A few words."}
    found = list(pura.verify_many(texts, key=sample["key"], **with_))
    assert [one.to_row()["error"] for one in found] == ["input-field", "input-field", "usage", None]
    assert [one.id for one in found] == ["a", "b", "c", "d"]


@pytest.fixture
def set_up(small_models, small_samples, lent) -> dict[str, Any]:
    """A stored set-up of the key and the profile that the small samples are marked with."""
    sample, words = small_samples["marked-tbcc"], b"four words in a row"
    paths = user_paths()
    lend(small_models, paths.models)
    at = Environment(paths=paths, device="cpu", ask_folder=lambda _new: bytearray(words))
    with pura.SecretKey.from_hex(sample["key_hex"]) as key:
        entry = at.keys.add("house", key, place=Place.FILES)
    at.profiles.save("house", pura.Profile.from_dict(sample["profile"]))
    save_setup(at, name="newsroom", profile="house", keys=(entry.fingerprint,))
    return sample


def test_a_stored_set_up_is_used_whole(set_up, monkeypatch):
    monkeypatch.setattr("pura.api._environment", unlocked)
    text, other = (one["text"] for one in set_up["texts"])
    found = pura.verify(text, setup="newsroom")
    assert (found.verdict, found.key.label) == ("mark", "house")
    [verified] = pura.verify_many([other], setup="newsroom")
    assert verified.audit is not None
    assert verified.audit.key.fingerprint == found.key.fingerprint


def test_a_part_that_is_passed_replaces_that_of_the_set_up(set_up, small_model, monkeypatch):
    monkeypatch.setattr("pura.api._environment", unlocked)
    key = pura.SecretKey.from_hex("5c" * 32)
    text = set_up["texts"][0]["text"]
    found = pura.verify(text, setup="newsroom", key=key, model=small_model)
    assert found.key.fingerprint == key.fingerprint


def test_neither_a_set_up_nor_a_profile_is_refused(set_up):
    with pytest.raises(ProfileError) as refused:
        pura.verify("A few words.")
    assert refused.value.key == "face.setup"
    with pytest.raises(ProfileError) as refused:
        pura.verify("A few words.", setup="nowhere")
    assert refused.value.key == "setup.none"


def unlocked(paths) -> Environment:
    """An environment whose key files can be opened."""
    return Environment(
        paths=paths, device="cpu", ask_folder=lambda _new: bytearray(b"four words in a row")
    )


def test_a_fault_of_the_program_is_the_result_of_one_text(
    small_model, small_samples, faulty, monkeypatch
):
    sample = small_samples["marked-tbcc"]
    texts = [one["text"] for one in sample["texts"]] + ["Words that cannot be taken in."]
    usual = pura.api.from_text

    def from_text(text: str, **more: Any) -> Any:
        if text == texts[2]:
            raise ValueError(text)
        return usual(text, **more)

    monkeypatch.setattr(pura.api, "from_text", from_text)
    faulty(8, texts[1], RuntimeError(texts[1]))
    with_ = {"profile": pura.Profile.from_dict(sample["profile"]), "model": small_model}
    key = pura.SecretKey.from_hex(sample["key_hex"])
    rows = [one.to_row() for one in pura.verify_many(texts, key=key, **with_)]
    assert [row["error"] for row in rows] == [None, "internal", "internal"]
    assert rows[0]["verdict"] == "mark"
    assert not any(text in str(row) for text, row in zip(texts[1:], rows[1:], strict=True))


def test_the_tokenizer_of_a_model_takes_settings(small_files):
    from pura.model.load import load_tokenizer

    tokenizer = load_tokenizer(small_files)
    tokenizer.pad_token, tokenizer.padding_side = tokenizer.eos_token, "left"
    [_, short] = tokenizer(["a b c d", "a"], padding=True)["input_ids"]
    assert short[:-1] == [tokenizer.eos_token_id] * (len(short) - 1)


def test_a_new_profile_has_the_defaults_of_the_command():
    place = Environment(paths=user_paths())
    made = create_profile(place, vocab_size=49152).profile
    assert pura.Profile.new(vocab_size=49152) == made
    assert (made.code, made.payload_bits, made.blocks) == ("tbcc", 36, None)
    assert pura.Profile.new(vocab_size=100, bits=24, code="spc").blocks == 3
    fields = [{"name": "a", "bits": 36, "kind": "integer"}]
    with_fields = pura.Profile.new(vocab_size=100, fields=fields)
    assert pura.Profile.new(vocab_size=100, fields=with_fields.fields) == with_fields
    with pytest.raises(ProfileError, match="tokenizer"):
        pura.Profile.new()


def test_one_text_and_many(builtin_model, sample, tmp_path):
    key, profile = sample["key"], sample["profile"]
    text = " ".join(sample["text"].split(" ")[:60])
    (tmp_path / "a.txt").write_text(text)
    texts = [("one", text), ("bad", ""), (3, tmp_path / "a.txt"), (4, tmp_path / "none.txt")]
    rows = list(pura.verify_many(texts, key=key, profile=profile, model=builtin_model))
    assert [row.id for row in rows] == ["one", "bad", 3, 4]
    assert [row.error.code if row.error else None for row in rows] == [
        None,
        "input-empty",
        None,
        "input-unreadable",
    ]
    table = [row.to_row() for row in rows]
    assert table[0]["verdict"] == table[2]["verdict"] == "mark"
    assert table[0]["payload"] == sample["bits"]
    assert table[0]["log10_e"] == pytest.approx(table[2]["log10_e"], abs=1e-3)
    assert "verdict" not in table[1]
    again = pura.verify(text, key=[key, key], profile=profile, model=builtin_model)
    same = pytest.approx(table[0]["log10_e"], abs=1e-3)
    assert again.evidence.log10_e == same, "a key that is given twice counts once"
    [counted] = pura.verify_many([text], key=key, profile=profile, model=builtin_model)
    assert counted.id == 0


def test_a_decoder_that_does_not_exist_is_refused(sample):
    """In 0.4.0 it was taken, recorded and printed in a report."""
    with pytest.raises(pura.PuraError) as refused:
        pura.verify(sample["text"], key=sample["key"], profile=sample["profile"], decoder="fast")  # type: ignore[arg-type]
    assert "exact, paper" in refused.value.hint


def test_a_payload_outside_the_limits_is_refused_unless_it_is_wanted(small_model):
    """In 0.4.0 it was written without a word."""
    profile = pura.Profile.new(
        small_model,
        bits=12,
        fields=[{"name": "customer", "bits": 12, "kind": "integer", "limits": ["..400"]}],
    )
    key = pura.SecretKey.generate()
    with_: dict[str, Any] = {"key": key, "profile": profile, "model": small_model, "tokens": 5}
    with pytest.raises(PayloadError, match="customer") as refused:
        pura.mark("A", payload={"customer": 417}, **with_)
    assert refused.value.code == "payload-outside"
    assert "outside_limits=True" in refused.value.hint
    assert pura.mark("A", payload={"customer": 400}, **with_).text
    assert pura.mark("A", payload={"customer": 417}, outside_limits=True, **with_).text
