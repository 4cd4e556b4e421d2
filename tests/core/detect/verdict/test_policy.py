"""The policy: ranges, names in errors, the shipped files, never a silent default."""

import dataclasses
import json
import os

import jsonschema
import pytest

from pura.base.errors import PolicyError
from pura.base.paths import resource
from pura.detect.verdict.policy import SCHEMA, Policy, default_policy, json_schema, load_policy

BAD = {
    "name": ["", 7, "x" * 61, "line\nbreak"],
    "version": [0, 1.5, True, "1"],
    "organisation": ["x" * 201, None],
    "t_found": [2.9, 9.1, "6", True, float("nan"), float("inf"), None],
    "t_review": [0.9, 7.0, "3"],
    "lr_cap": [9_999, 2e9, -1e6],
    "power_needed": [0.4, 1.1, "0.95"],
    "min_usable": [0, 10_001, 3.0],
    "odd_characters": [0.0, 1.1, "0.02"],
    "single_weight": [0.89, 1.01],
    "prior_none": [0.0, 1.0, "0.1"],
    "epochs": [0, 401, 1.5, True],
    "third_person": [0, 1, "yes", None],
    "signed": [1, "yes", None],
    "register_prior": [-0.1, 0.91, "0.5", True],
    "outside_limits": [0.0, 0.6, "0.01", True],
    "draws": [-1, 100_000, 10.0],
    "redraw": ["sometimes", "", None, 1],
    "stop_early": ["yes", 1, None],
    "seed_rule": ["clock", 1],
    "yearly_volume": [-1, 0.5],
    "languages": ["en", [1], ["e"], ["en"] * 101],
    "power_tables": ["a" * 64, ["a" * 63], ["A" * 64], [1], ["a" * 64] * 2],
}


def beyond(rule: dict) -> list:
    """Return values of another type, and beyond the bounds, by what the schema says."""
    bad = [None, {"boolean": "yes", "string": 7, "array": "x"}.get(rule.get("type"), "1")]
    bad += [rule[name] - 1 for name in ("minimum", "exclusiveMinimum") if name in rule]
    return bad + [rule[name] + 1 for name in ("maximum", "exclusiveMaximum") if name in rule]


for setting, its_rule in json_schema()["properties"].items():
    if setting != "schema":
        BAD[setting] = [*BAD.get(setting, ()), *beyond(its_rule)]


def test_every_setting_has_bad_values():
    assert BAD.keys() == {f.name for f in dataclasses.fields(Policy)}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_is_refused_with_its_name(name, subtests):
    for value in BAD[name]:
        with subtests.test(value=repr(value)[:40]), pytest.raises(PolicyError, match=f"“{name}"):
            Policy.from_dict(Policy().to_dict() | {name: value})


def test_defaults_are_those_of_the_reporting_conventions():
    policy = default_policy()
    assert policy == Policy()
    assert (policy.t_found, policy.t_review, policy.lr_cap) == (6, 3, 1e6)
    assert (policy.power_needed, policy.prior_none) == (0.95, 0.1)
    assert policy.single_weight == 0.99
    assert policy.rule == "default/2"
    assert policy.one_in == 1_000_000


def test_a_register_as_prior_is_off_and_costs_its_weight():
    assert Policy().register_prior == Policy().prior_cost == 0
    assert Policy(register_prior=0.5).prior_cost == pytest.approx(0.30103)


def test_reading_stops_at_threshold_and_cap_where_it_may():
    assert Policy().stop_at is None
    assert Policy(stop_early=True).stop_at == 6
    assert Policy(stop_early=True, lr_cap=1e8).stop_at == pytest.approx(8)
    assert Policy(stop_early=True, t_found=7.5).stop_at == 7.5
    # What issued payloads may take from the others is reached before reading stops.
    assert Policy(stop_early=True, register_prior=0.5).stop_at == pytest.approx(6.30103)


def test_false_alarms_follow_from_volume_and_threshold():
    assert Policy().false_alarms is None
    assert Policy(yearly_volume=2_000_000).false_alarms == pytest.approx(2.0)
    assert Policy(yearly_volume=2_000_000, t_found=7).false_alarms == pytest.approx(0.2)


def test_json_there_and_back():
    policy = Policy(name="Überprüfung", t_found=7.5, languages=("en", "de"), draws=0)
    assert Policy.from_json(policy.to_json()) == policy
    assert Policy.from_dict(json.loads(json.dumps(policy.to_dict()))) == policy


def test_a_file_may_state_only_what_differs():
    assert Policy.from_json('{"schema": "pura-policy/1", "t_found": 7}') == Policy(t_found=7)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        '{"t_found": 7}',
        '{"schema": "pura-policy/2"}',
        '{"schema": "pura-policy/1", "surprise": 1}',
        '{"schema": "pura-policy/1", "draws": 1, "draws": 2}',
        '{"schema": "pura-policy/1", "t_found": NaN}',
        "[" * 60_000,
        " " * 70_000,
        b"\xff\xfe\x00",
    ],
)
def test_damaged_text_is_refused(text):
    with pytest.raises(PolicyError):
        Policy.from_json(text)


def test_save_and_load(tmp_path):
    path = tmp_path / "new" / "policy.json"
    policy = Policy(version=3, t_review=4)
    policy.save(path)
    assert load_policy(path) == policy


def test_no_file_means_the_default_but_a_named_one_must_be_there(tmp_path):
    assert load_policy(None) == Policy()
    assert load_policy(tmp_path / "none.json") == Policy()
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(tmp_path / "none.json", must_exist=True)


def test_a_damaged_file_is_never_passed_over(tmp_path):
    path = tmp_path / "policy.json"
    path.write_text('{"schema": "pura-policy/1", "t_found": 2}')
    with pytest.raises(PolicyError, match="“t_found”"):
        load_policy(path)
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(tmp_path)  # a folder


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_never_passed_over(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    Policy().save(folder / "policy.json")
    folder.chmod(0)
    try:
        with pytest.raises(PolicyError, match="cannot be read"):
            load_policy(folder / "policy.json")
    finally:
        folder.chmod(0o700)


def test_a_policy_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PolicyError, match="cannot be written"):
        Policy().save(tmp_path / "file" / "policy.json")


def test_the_seed_follows_from_the_item():
    seed = Policy().seed("ab" * 32)
    assert seed == Policy(version=2).seed("ab" * 32)
    assert seed != Policy().seed("ac" * 32)
    assert 0 <= Policy().seed("f" * 64) < 2**53


def test_shipped_files_agree_with_the_code():
    assert json.loads(resource("policy.schema.json").read_text()) == json_schema()
    assert json.loads(resource("policy-default.json").read_text()) == Policy().to_dict()


def test_the_schema_refuses_what_the_code_refuses():
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.validate(Policy(languages=("en",)).to_dict())
    relations = [("t_review", 7.0)]  # a relation between two settings, beyond JSON Schema
    for name, values in BAD.items():
        for value in values:
            unsayable = value != value or value == "line\nbreak" or (name, value) in relations
            # JSON Schema counts 3.0 as a whole number.
            if unsayable or (isinstance(value, float) and value.is_integer()):
                continue
            assert not validator.is_valid(Policy().to_dict() | {name: value}), (name, value)


def test_a_setting_of_earlier_versions_that_follows_from_another_is_read_and_forgotten():
    old = Policy.from_dict({"schema": SCHEMA, "single_weight": 0.999, "single_runner_up": 0.0005})
    assert old == Policy(single_weight=0.999)
    assert "single_runner_up" not in old.to_dict()
