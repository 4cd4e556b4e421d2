"""Sealed power tables: what was altered is refused, and the folder keeps what is whole."""

import json

import pytest

from pura.base.errors import PolicyError
from pura.verdict.power import PowerFolder, parse_power_file, seal

TABLE = {
    "schema": "pura-power/1",
    "level": 0.95,
    "conditions": {"models": ["0" * 16], "name": "Ours", "date": "2026-11-22", "texts": 64},
    "entries": [
        {
            "code": "tbcc",
            "payload_bits": 36,
            "threshold": 6.0,
            "prompt": False,
            "sampling": {"temperature": 0.7, "top_k": 0, "top_p": 0.95},
            "entropy_thresholds_bits": [1.0, 3.0, 5.0],
            "usable": [20, 40],
            "found": [10, 64],
            "texts": [64, 64],
        }
    ],
}


def altered(**changes):
    whole = json.loads(seal(TABLE, b"DER").to_bytes())
    whole["table"].update(changes)
    return json.dumps(whole).encode()


def test_a_sealed_table_comes_back_as_it_went_in():
    sealed = seal(TABLE, b"\x30\x00")
    again = parse_power_file(sealed.to_bytes())
    assert again == sealed
    assert again.signature == b"\x30\x00"
    assert len(again.fingerprint) == 64
    # The seal is over the numbers, not over how the file spells them.
    assert parse_power_file(json.dumps(json.loads(sealed.to_bytes())).encode()) == sealed


def test_a_table_that_was_altered_is_refused():
    entry = TABLE["entries"][0] | {"found": [64, 64]}
    conditions = TABLE["conditions"] | {"name": "Theirs"}
    for change in ({"entries": [entry]}, {"level": 0.9}, {"conditions": conditions}):
        with pytest.raises(PolicyError, match="altered") as caught:
            parse_power_file(altered(**change))
        assert caught.value.code == "power-altered"
        assert "verändert" in caught.value.words("de")[0]


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"[" * 100_000,
        json.dumps(TABLE).encode(),
        json.dumps({"schema": "pura-power-file/1", "table": 1, "sha256": ""}).encode(),
        json.dumps({"schema": "pura-power-file/1", "sha256": ""}).encode(),
        seal(TABLE).to_bytes().replace(b'"sha256"', b'"sha512"'),
        seal(TABLE, b"DER").to_bytes().replace(b'"REVS"', b'"???"'),
        altered(entries=[{}]),
        altered(conditions={"models": []}),
        altered(conditions=TABLE["conditions"] | {"date": "today"}),
    ],
)
def test_what_is_no_such_file_is_refused_in_words(data):
    with pytest.raises(PolicyError) as caught:
        parse_power_file(data)
    assert all(caught.value.words(language)[1] for language in ("en", "de"))


def test_the_folder_finds_a_table_by_fingerprint_and_name(tmp_path):
    folder = PowerFolder(tmp_path / "power")
    assert folder.paths() == ()
    sealed = seal(TABLE)
    other = seal(TABLE | {"conditions": TABLE["conditions"] | {"name": "Other"}})
    for one in (sealed, other):
        folder.put(one)
    for name in (sealed.fingerprint, sealed.fingerprint[:6], "Ours"):
        assert folder.get(name) == sealed
    namesake = seal(TABLE | {"level": 0.9})
    folder.put(namesake)
    with pytest.raises(PolicyError, match="several"):
        folder.get("Ours")
    folder.remove(namesake.fingerprint)
    for name in ("none", "", sealed.fingerprint[:16] + "0" * 48):
        with pytest.raises(PolicyError, match="not on this computer"):
            folder.get(name)
    folder.remove("Other")
    with pytest.raises(PolicyError, match="not on this computer"):
        folder.remove("Other")
