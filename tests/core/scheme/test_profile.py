"""Profiles: what is read, what is refused and by which name, and what the fingerprint covers."""

import json
from dataclasses import fields

import pytest

from pura.base.errors import ProfileError
from pura.scheme import Profile, default_blocks

GOOD = {
    "scheme": "pura1",
    "payload_bits": 12,
    "blocks": 3,
    "vocab_size": 50,
}
LAYOUT = [
    {"name": "who", "bits": 8, "kind": "integer"},
    {"name": "v", "bits": 4, "kind": "integer"},
]
HUGE = 10**400  # beyond every float

BAD = {
    "scheme": ["pura2", None, 1, ["pura1"]],
    "payload_bits": [0, -1, 4097, "12", 12.0, True, None, HUGE],
    "vocab_size": [1, "50", 50.0, None, 2**25],
    "code": ["ldpc", None, 3, ["spc"]],
    "blocks": [0, 5, "3", 3.0, True],
    "context_window": [0, 9, 2.0, "2", None],
    "entropy_thresholds_bits": [
        [1.0, 3.0],
        [3.0, 1.0, 5.0],
        [-1.0, 3.0, 5.0],
        [1.0, 3.0, "5"],
        [1.0, 3.0, float("nan")],
        [1.0, 3.0, float("inf")],
        [1.0, 3.0, HUGE],
        [True, 3.0, 5.0],
        "1,3,5",
        None,
    ],
    "history": ["some", None],
    "temperature": [0, 0.0, -1.0, 1000.0, "1", True, float("nan"), float("inf"), HUGE, None],
    "top_k": [-1, 1.5, None],
    "top_p": [0.0, 1.1, -0.5, "1", float("nan")],
    "kernel": ["gauss", None],
    "llr_clip": [0.0, 0.5, "x", HUGE],
    "prefix": ["eos", None],
    "tokenizer": ["xyz", "A" * 16, "a" * 15, 16],
    "model": ["g" * 16, 1],
    "key": ["0" * 17, []],
    "key_epochs": ["hour", 1, ""],
    "payload_use": ["both", 1, ""],
    "chat_template": [1, "no hole", "{prompt}{prompt}", "{prompt} {system}", "{prompt}" * 50_000],
    "system_prompt": ["without a template", 1, "\ud800"],
    "fields": ["x", {}, None, LAYOUT[:1]],
    "name": [1, [], "\ud800"],
    "note": [1, {}, "half \udfff"],
    "foreign": [{}, None, {"sealed": "x"}],
}


def test_the_table_of_bad_values_covers_every_field():
    assert BAD.keys() == {f.name for f in fields(Profile)}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_is_refused_with_its_name(name, subtests):
    for value in BAD[name]:
        with subtests.test(value=repr(value)[:40]):
            with pytest.raises(ProfileError) as caught:
                Profile.from_dict(GOOD | {name: value})
            assert name in caught.value.message
            assert len(caught.value.message) < 300


@pytest.mark.parametrize("name", ["scheme", "payload_bits", "vocab_size", "blocks"])
def test_a_missing_field_is_named(name):
    with pytest.raises(ProfileError, match=f"“{name}” is missing"):
        Profile.from_dict({k: v for k, v in GOOD.items() if k != name})


def test_an_unknown_field_is_named():
    with pytest.raises(ProfileError, match="“secret_key” is unknown"):
        Profile.from_dict(GOOD | {"secret_key": "x"})


def test_defaults_are_the_papers():
    profile = Profile.from_dict(GOOD)
    assert profile.code == "spc"
    assert profile.context_window == 2
    assert profile.entropy_thresholds_bits == (1.0, 3.0, 5.0)
    assert (profile.history, profile.kernel, profile.prefix) == ("used", "cosine", "none")
    assert (profile.temperature, profile.top_k, profile.top_p) == (1.0, 0, 1.0)
    assert profile.llr_clip == 1e-3
    assert profile.codeword_length == 15


def test_tbcc_takes_no_blocks_and_at_least_nine_bits():
    base = {"scheme": "pura1", "vocab_size": 50, "code": "tbcc"}
    assert Profile.from_dict(base | {"payload_bits": 9}).codeword_length == 27
    with pytest.raises(ProfileError, match="“payload_bits”"):
        Profile.from_dict(base | {"payload_bits": 8})
    with pytest.raises(ProfileError, match="“blocks”"):
        Profile.from_dict(base | {"payload_bits": 12, "blocks": 3})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"x"',
        "[" * 100_000,
        '{"scheme": "pura1", "scheme": "pura1"}',
        '{"payload_bits": ' + "9" * 5000 + "}",
        " " * (1 << 21),
        b"\xff\xff",
    ],
    ids=lambda text: repr(text)[:20],
)
def test_damaged_json_is_refused(text):
    with pytest.raises(ProfileError):
        Profile.from_json(text)


def test_a_field_that_stands_twice_is_named():
    with pytest.raises(ProfileError, match="“blocks” is there twice"):
        Profile.from_json('{"blocks": 3, "blocks": 4}')


def test_json_and_file_there_and_back(tmp_path):
    more = {"name": "Prüfung", "note": "two\nlines", "history": "all", "top_k": 40}
    more |= {"fields": LAYOUT, "tokenizer": "0123456789abcdef"}
    profile = Profile.from_dict(GOOD | more)
    assert Profile.from_json(profile.to_json()) == profile
    path = tmp_path / "profile.json"
    path.write_text(profile.to_json(), encoding="utf-8")
    assert Profile.load(path) == profile
    for missing in (tmp_path / "none.json", tmp_path):
        with pytest.raises(ProfileError, match="cannot be read"):
            Profile.load(missing)


def test_the_fingerprint_covers_what_changes_a_verification():
    base = Profile.from_dict(GOOD | {"name": "a", "note": "b"})
    same = ({"name": "c"}, {"note": None}, {"key": "0" * 16}, {"model": "1" * 16})
    for changes in same:
        assert base.with_(**changes).fingerprint == base.fingerprint
    different = (
        {"payload_bits": 15},
        {"blocks": 4},
        {"vocab_size": 51},
        {"context_window": 3},
        {"entropy_thresholds_bits": (1.0, 3.0, 6.0)},
        {"history": "all"},
        {"temperature": 0.9},
        {"top_k": 1},
        {"top_p": 0.9},
        {"kernel": "box"},
        {"llr_clip": 0.01},
        {"prefix": "bos"},
        {"tokenizer": "2" * 16},
        {"blocks": None, "code": "tbcc"},
        {"chat_template": "<a>{prompt}<b>"},
        {"chat_template": "<s>{system}<a>{prompt}<b>", "system_prompt": "Be brief."},
        {"chat_template": "<s>{system}<a>{prompt}<b>", "system_prompt": "Be long."},
    )
    prints = {base.with_(**changes).fingerprint for changes in different}
    assert len(prints | {base.fingerprint}) == len(different) + 1


def test_one_number_written_in_two_ways_is_one_profile():
    whole = GOOD | {"temperature": 1, "top_p": 1, "entropy_thresholds_bits": [1, 3, 5]}
    assert Profile.from_dict(whole) == Profile.from_dict(GOOD)
    assert Profile.from_dict(whole).fingerprint == Profile.from_dict(GOOD).fingerprint


def test_the_fingerprint_is_fixed_for_all_time():
    """Profiles name each other by it: a change here is a break with every stored record."""
    text = (
        '{"blocks":3,"code":"spc","context_window":2,"entropy_thresholds_bits":[1.0,3.0,5.0],'
        '"history":"used","kernel":"cosine","llr_clip":0.001,"payload_bits":12,"prefix":"none",'
        '"scheme":"pura1","temperature":1.0,"top_k":0,"top_p":1.0,"vocab_size":50}'
    )
    data = Profile.from_dict(GOOD).to_dict()
    assert json.dumps(data, sort_keys=True, separators=(",", ":")) == text
    assert Profile.from_dict(GOOD).fingerprint == "a50f4da3e6a089c8"


def test_a_profile_is_written_as_the_least_version_that_holds_it():
    plain = Profile.from_dict(GOOD)
    chat = plain.with_(chat_template="<s>{system}\n<a>{prompt}\n", system_prompt="Use {braces}.")
    assert json.loads(plain.to_json())["version"] == 2
    assert json.loads(chat.to_json())["version"] == 3
    assert Profile.from_json(chat.to_json()) == chat
    daily = chat.with_(key_epochs="day")
    assert json.loads(daily.to_json())["version"] == 4
    assert Profile.from_json(daily.to_json()) == daily
    assert daily.fingerprint == chat.fingerprint, "it reads a text as before, with other keys"
    assert "chat_template" not in plain.to_dict()
    with pytest.raises(ProfileError, match="“chat_template”"):
        plain.with_(chat_template="<a>{prompt}", system_prompt="nowhere to go")


def test_changes_are_checked_like_new_profiles():
    with pytest.raises(ProfileError, match="“temperature”"):
        Profile.from_dict(GOOD).with_(temperature=-1)


def test_default_blocks_are_the_papers_or_the_nearest_divisor():
    papers = {12: 3, 18: 3, 24: 3, 30: 3, 36: 4, 64: 4}
    for bits, blocks in (papers | {1: 1, 2: 2, 5: 1, 35: 5, 37: 1}).items():
        assert default_blocks(bits) == blocks
        assert bits % default_blocks(bits) == 0
