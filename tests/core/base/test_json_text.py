"""JSON text: in pieces as json.dumps writes it, canonical as RFC 8785 says, and as it once was."""

import json

import numpy as np
import pytest

from pura.base import json_text
from pura.base.json_text import canonical, former, sha256
from pura.record import evidence


def test_pieces_join_to_what_json_writes(monkeypatch):
    monkeypatch.setattr(json_text, "PIECE", 8)
    monkeypatch.setattr(evidence, "PIECE", 8)
    rng = np.random.default_rng(3)
    holes = np.where(rng.random((3, 21)) < 0.3, np.nan, rng.normal(size=(3, 21)))
    arrays = [holes, holes.T, np.arange(42).reshape(21, 2), np.zeros(0), np.float64(2.5)]
    for array in arrays:
        plain = evidence.encode(array)
        assert np.array_equal(np.array(plain, dtype=float), array, equal_nan=True)
    values = [
        {},
        [],
        (),
        {"a": [], "ü": {"b": [[1, 2]] * 19, "c": [{"d": None}] * 9}},
        [[0.1, 1e300, -0.0]] * 5 + [list(range(30))],
        ['\U0001f600\ud800\n"\\é' * 7, ["€" * 9, 2] * 9],
        [evidence.encode(array) for array in arrays],
        "x",
        3,
    ]
    for value in values:
        assert json_text.json_text(value) == json.dumps(value, ensure_ascii=False), value
    with pytest.raises(ValueError, match="float"):
        json_text.json_text([float("nan")])


@pytest.mark.parametrize(
    ("number", "written"),
    [  # RFC 8785, appendix B
        (0.0, "0"),
        (-0.0, "0"),
        (5e-324, "5e-324"),
        (-5e-324, "-5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (295147905179352830000.0, "295147905179352830000"),
        (9.999999999999997e22, "9.999999999999997e+22"),
        (1e23, "1e+23"),
        (999999999999999700000.0, "999999999999999700000"),
        (1e21, "1e+21"),
        (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"),
        (333333333.3333332, "333333333.3333332"),
        (1424953923781206.2, "1424953923781206.2"),
        (58.0, "58"),
    ],
)
def test_numbers_are_written_as_the_rule_says(number, written):
    assert canonical(number) == written.encode()


def test_the_form_does_not_depend_on_the_order_and_keeps_letters():
    value = {"\ue000": 1, "b": "ü\n\x7f€", "a": [1, True, None], "\U0001f600": 2}
    # Names in the order of UTF-16 code units (section 3.2.3): the emoji stands before U+E000.
    wanted = '{"a":[1,true,null],"b":"ü\\n\x7f€","\U0001f600":2,"\ue000":1}'
    assert canonical(value).decode() == wanted
    assert canonical(dict(reversed(value.items()))) == canonical(value)
    assert json.loads(canonical(value)) == value


@pytest.mark.parametrize("value", [2**53, float("nan"), float("inf"), "\ud800", [b"x"], {1: 2}])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises((ValueError, TypeError)):
        canonical({"a": value})


def test_the_former_form_is_that_of_version_0_1_0():
    value = {"b": "ü\x7f", "a": [1, 2.0, 1e-7]}
    assert former(value) == b'{"a":[1,2.0,1e-07],"b":"\\u00fc\\u007f"}'
    assert former(value, escaped=False) == '{"a":[1,2.0,1e-07],"b":"ü\x7f"}'.encode()
    with pytest.raises(ValueError, match="JSON"):
        former(float("nan"))


def test_the_digest_is_over_the_bytes():
    empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert sha256(canonical({})) == empty
