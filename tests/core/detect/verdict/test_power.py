"""The power table: no flattering entry, nothing where nothing was measured; its sealed file."""

import itertools
import json
import math
from dataclasses import replace

import pytest

from pura.base.errors import PolicyError
from pura.detect.verdict import power
from pura.detect.verdict.policy import Policy
from pura.detect.verdict.power import (
    Claim,
    PowerFolder,
    PowerQuery,
    claim,
    load_power,
    lower_limit,
    parse_power_file,
    seal,
    shipped_power,
)
from pura.scheme import Profile

PROFILE = Profile(payload_bits=36, vocab_size=100, code="tbcc")
MODEL = "0123456789abcdef"


def entry(**changes):
    return {
        "code": "tbcc",
        "payload_bits": 36,
        "threshold": 6.2,
        "prompt": False,
        "sampling": {"temperature": 1.0, "top_k": 0, "top_p": 1.0},
        "entropy_thresholds_bits": [1.0, 3.0, 5.0],
        "usable": [20, 40, 60, 80],
        "found": [10, 80, 60, 100],
        "texts": [100, 100, 60, 100],
    } | changes


def data_of(*entries, **changes):
    """A table as it stands in a file."""
    data = {"schema": "pura-power/1", "level": 0.95, "conditions": {"models": [MODEL]}}
    return data | {"entries": list(entries)} | changes


def table(tmp_path, *entries, **changes):
    path = tmp_path / "power.json"
    path.write_text(json.dumps(data_of(*entries, **changes)))
    return load_power(path)


def test_lower_limit_is_clopper_and_pearsons():
    counts = ((1, 1), (1, 50), (37, 64), (59, 59), (64, 64), (950, 1000))
    for (found, texts), level in itertools.product(counts, (0.9, 0.95, 0.99)):
        p = lower_limit(found, texts, level)
        # The definition: at the limit, so many successes or more have probability 1 - level.
        tail = math.fsum(
            math.comb(texts, k) * p**k * (1 - p) ** (texts - k) for k in range(found, texts + 1)
        )
        assert tail == pytest.approx(1 - level, abs=1e-9), (found, texts, level)
    assert lower_limit(0, 10) == 0.0


def test_lower_limit_when_all_were_found_has_a_closed_form():
    assert lower_limit(64, 64) == pytest.approx(0.05 ** (1 / 64), abs=1e-12)


def test_59_of_59_just_show_a_power_of_095():
    assert lower_limit(58, 58) < 0.95 <= lower_limit(59, 59)


def test_power_is_monotone_and_a_lower_limit(tmp_path):
    t = table(tmp_path, entry())
    values = [t.power(n, PROFILE, 6.0, False) for n in range(200)]
    assert values == sorted(values)
    assert values[0] == values[19] == 0.0
    assert values[20] == values[39] == pytest.approx(lower_limit(10, 100))
    assert values[60] == pytest.approx(lower_limit(60, 60))
    assert values[199] == values[80] == pytest.approx(lower_limit(100, 100))


def test_a_class_is_never_credited_with_more_than_a_higher_one(tmp_path):
    t = table(tmp_path, entry(found=[100, 10, 60, 100]))
    assert t.power(20, PROFILE, 6.0, False) == pytest.approx(lower_limit(10, 100))


def test_needed_is_where_the_power_is_reached(tmp_path):
    t = table(tmp_path, entry())
    assert t.needed(PROFILE, 6.0, 0.95, False) == 60
    assert t.power(60, PROFILE, 6.0, False) >= 0.95 > t.power(59, PROFILE, 6.0, False)
    assert t.needed(PROFILE, 6.0, 0.99, False) is None


def test_harder_conditions_stand_in_for_easier_ones_never_the_other_way(tmp_path):
    t = table(tmp_path, entry())
    for easier in (
        (PROFILE.with_(payload_bits=24), 6.0, False),
        (PROFILE, 4.5, False),
        (PROFILE, 6.0, True),
    ):
        assert t.power(100, *easier) == t.power(100, PROFILE, 6.0, False)
    for harder in ((PROFILE.with_(payload_bits=37), 6.0, False), (PROFILE, 6.3, False)):
        assert t.power(100, *harder) is None
        assert t.needed(*harder[:2], 0.5, harder[2]) is None
    known = table(tmp_path, entry(prompt=True))
    assert known.power(100, PROFILE, 6.0, True) is not None
    assert known.power(100, PROFILE, 6.0, False) is None


def test_the_closest_entry_is_used(tmp_path):
    near, far = entry(), entry(payload_bits=64, found=[0, 0, 0, 50])
    prompt = entry(prompt=True, found=[90, 100, 60, 100])
    t = table(tmp_path, far, prompt, near)
    assert t.power(40, PROFILE, 6.0, False) == pytest.approx(lower_limit(80, 100))
    assert t.power(40, PROFILE, 6.0, True) == pytest.approx(lower_limit(60, 60))
    assert t.power(80, PROFILE.with_(payload_bits=48), 6.0, False) == lower_limit(50, 100)


@pytest.mark.parametrize(
    "changes",
    [
        {"temperature": 0.7},
        {"top_k": 50},
        {"top_p": 0.9},
        {"entropy_thresholds_bits": (0.5, 3.0, 5.0)},
        {"code": "spc", "blocks": 4},
    ],
)
def test_other_conditions_were_not_measured(tmp_path, changes):
    assert table(tmp_path, entry()).power(100, PROFILE.with_(**changes), 6.0, False) is None


def asked(**changes):
    return PowerQuery(
        **{
            "profile": PROFILE.with_(model=MODEL),
            "usable": 300,
            "threshold": 6.0,
            "prompt_known": False,
            "reader": MODEL,
            "dtype": "float32",
            "kind": "English",
            "likelihood": "a" * 16,
        }
        | changes
    )


def test_power_speaks_of_positions_in_a_row_where_passages_were_measured(tmp_path):
    inside = entry(threshold=6.0, text_usable=400, usable=[90, 180], found=[80, 64], texts=[90, 64])
    t = table(tmp_path, entry(), inside)
    assert t.run(asked(), 0.95) == (pytest.approx(lower_limit(64, 64)), 180)
    # A text longer than those measured, or shorter than the passage: only the whole of it.
    whole = pytest.approx(lower_limit(100, 100))
    assert t.run(asked(usable=401), 0.95) == (whole, 401)
    assert t.run(asked(usable=179), 0.95) == (whole, 179)
    # Too short even when marked from end to end: what is known, and what it takes.
    assert t.run(asked(usable=50), 0.95) == (pytest.approx(lower_limit(80, 100)), 60)
    # Keys and readings raise what the evidence must reach.
    assert t.run(asked(threshold=6.1), 0.95) == (whole, 300)
    assert t.run(asked(threshold=6.3), 0.95) == (None, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"profile": PROFILE},
        {"profile": PROFILE.with_(model="f" * 16)},
        {"reader": "f" * 16},
        {"reader": "f" * 16, "profile": PROFILE.with_(model="f" * 16)},
        {"dtype": "bfloat16"},
        {"kind": "German"},
        {"kind": "signs"},
        {"likelihood": "b" * 16},
        {"threshold": 6.5},
        {"profile": PROFILE.with_(model=MODEL, context_window=3)},
        {"profile": PROFILE.with_(model=MODEL, history="all")},
        {"profile": PROFILE.with_(model=MODEL, prefix="bos")},
        {"profile": PROFILE.with_(model=MODEL, chat_template="<a>{prompt}<b>")},
    ],
)
def test_nothing_is_said_where_a_condition_was_not_measured(tmp_path, changes):
    conditions = {
        "models": [MODEL],
        "dtypes": ["float32"],
        "context_window": 2,
        "history": "used",
        "prefix": "none",
        "likelihood": "a" * 16,
    }
    t = table(tmp_path, entry(), conditions=conditions)
    assert t.run(asked(), 0.95) == (pytest.approx(lower_limit(100, 100)), 300)
    assert t.run(asked(**changes), 0.95) == (None, None)


def test_a_table_speaks_of_the_kinds_of_texts_that_it_was_measured_on(tmp_path):
    t = table(tmp_path, entry(), conditions={"models": [MODEL], "kinds": ["German"]})
    assert t.run(asked(kind="German"), 0.95)[0] is not None
    assert t.run(asked(kind=""), 0.95)[0] is not None, "too few words to tell"
    assert t.run(asked(kind="English"), 0.95) == (None, None)


def test_a_proxy_counts_where_it_read_what_the_generator_wrote(tmp_path):
    writer = "f" * 16
    t = table(tmp_path, entry(), conditions={"models": [MODEL], "generators": [writer]})
    proxy = asked(profile=PROFILE.with_(model=writer))
    assert t.run(proxy, 0.95)[0] is not None
    assert t.run(asked(), 0.95) == (None, None)


def test_no_outcome_rests_on_edited_texts(tmp_path):
    t = table(tmp_path, entry(edit="substitute:0.1"))
    assert t.run(asked(), 0.95) == (None, None)


def test_own_tables_go_first_and_of_several_the_weakest_counts(tmp_path):
    conditions = {"models": [MODEL], "kinds": ["English"]}
    strong = table(tmp_path, entry(), conditions={**conditions, "name": "strong"})
    weak = table(tmp_path, entry(found=[0, 0, 0, 100]), conditions={**conditions, "name": "weak"})
    other = table(tmp_path, entry(), conditions={"models": ["e" * 16]})
    assert claim((strong, other), asked(usable=90), 0.95).table is strong
    for order in ((strong, weak), (weak, strong)):
        made = claim(order, asked(usable=70), 0.95)
        assert (made.table, made.needed, made.own) == (weak, 80, True)
    shipped = asked(profile=PROFILE.with_(model=shipped_power()[0].models[0]))
    nothing = claim((strong,), shipped, 0.95)
    assert nothing == claim((), shipped, 0.95)
    assert not nothing.own


def test_tables_that_ship_are_read_only_for_an_answer_that_may_be_in_them(tmp_path, monkeypatch):
    monkeypatch.setattr(power, "shipped_power", lambda: pytest.fail("read"))
    own = table(tmp_path, entry(), conditions={"models": [MODEL], "kinds": ["English"]})
    assert claim((own,), asked(), 0.95).own
    assert claim((own,), asked(profile=PROFILE), 0.95) == Claim()  # it names no generator


def test_the_fingerprint_is_over_every_number(tmp_path):
    assert len({t.fingerprint for t in shipped_power()} - {""}) == len(shipped_power())
    one, two = table(tmp_path, entry()), table(tmp_path, entry(found=[10, 80, 60, 99]))
    assert one.fingerprint != two.fingerprint
    assert one.fingerprint == table(tmp_path, entry()).fingerprint


@pytest.mark.parametrize("t", shipped_power(), ids=lambda t: t.name or "study")
def test_a_shipped_table_claims_nothing_beyond_its_study(t):
    assert any(e.threshold >= Policy().t_found for e in t.entries)
    for e in t.entries:
        assert all(0 <= limit < 1 for limit in e.limits)
        assert list(e.limits) == sorted(e.limits)
    assert bool(t.entries) == bool(t.models), "measured entries name the models they hold for"
    unmeasured = PROFILE.with_(temperature=999.0)
    assert t.power(10**6, unmeasured, 6.0, True) is None


def test_the_shipped_table_speaks_of_passages_in_long_texts():
    t = shipped_power()[0]
    here = {"profile": PROFILE.with_(model=t.models[0]), "reader": t.models[0]}
    power, needed = t.run(asked(usable=1000, **here), 0.95)
    assert power is not None
    assert needed is not None
    assert power >= 0.95
    assert needed < 200
    # Longer than any text that was studied: only of texts marked from end to end.
    longest = max(e.text_usable for e in t.entries)
    assert t.run(asked(usable=longest + 1, **here), 0.95)[1] == longest + 1


@pytest.mark.parametrize("t", shipped_power()[1:], ids=lambda t: t.name)
def test_a_shipped_table_is_found_under_its_own_conditions_alone(t):
    temperature, top_k, top_p = t.entries[0].sampling
    profile = PROFILE.with_(
        model=t.conditions["generators"][0], temperature=temperature, top_k=top_k, top_p=top_p
    )
    (kind,) = t.conditions["kinds"]
    usable = t.entries[0].usable[-1]
    there = asked(
        profile=profile,
        usable=usable,
        reader=t.models[0],
        kind=kind,
        likelihood=t.conditions["likelihood"],
    )
    made = claim((), there, 0.95)
    alike = [
        other
        for other in shipped_power()[1:]
        if (other.conditions["kinds"], other.entries[0].sampling) == ([kind], t.entries[0].sampling)
    ]
    # Plain and chat prompts cannot be told apart, so the weaker of the two counts.
    assert made.table in alike
    assert not made.own
    assert made.power == min(other.power(usable, profile, 6.0, False) for other in alike)
    for other in (replace(there, kind="German"), replace(there, likelihood="0" * 16)):
        assert claim((), other, 0.95).table is None


@pytest.mark.parametrize(
    "bad",
    [
        {"usable": [20, 40, 40, 80]},
        {"usable": [20, 40, 60]},
        {"usable": [], "found": [], "texts": []},
        {"found": [10, 80, 61, 100]},
        {"found": [-1, 80, 60, 100]},
        {"found": [1.5, 80, 60, 100]},
        {"sampling": {}},
        {"sampling": None},
        {"payload_bits": "many"},
        {"surprise": 1},
    ],
)
def test_a_damaged_entry_is_named(tmp_path, bad):
    with pytest.raises(PolicyError, match=r"entry 2|entries\[1\]"):
        table(tmp_path, entry(), entry(**bad))


@pytest.mark.parametrize("bad", [{"schema": "x"}, {"level": 2}, {"entries": 1}, {"conditions": []}])
def test_a_damaged_table_is_refused(tmp_path, bad):
    with pytest.raises(PolicyError, match="cannot be used"):
        table(tmp_path, **bad)


def test_a_table_that_is_not_json_or_not_there_is_refused(tmp_path):
    (tmp_path / "x").write_text("{")
    for path in (tmp_path / "x", tmp_path / "none", tmp_path):
        with pytest.raises(PolicyError, match=r"cannot be (used|read)"):
            load_power(path)


# ------------------------------------------------------------------------ sealed files


TABLE = data_of(
    entry(), conditions={"models": [MODEL], "name": "Ours", "date": "2026-11-22", "texts": 64}
)


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
    better = entry(found=[20, 80, 60, 100])
    conditions = TABLE["conditions"] | {"name": "Theirs"}
    for change in ({"entries": [better]}, {"level": 0.9}, {"conditions": conditions}):
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
