"""Broken words are mended where the model expects another one; what is whole stays."""

from __future__ import annotations

import pytest

from pura.detect.options import AuditText
from pura.detect.restore.spelling import RESPELT, _Lexicon, restore_spelling
from pura.documents import from_text

PROSE = (
    "The committee met on Tuesday in the old town hall and heard three reports about the plan for "
    "the harbour. The first report said that the new bridge has cost more money than anybody had "
    "expected, and the second report was about the library and its roof. Nobody asked for the "
    "third report, so the mayor decided to read it aloud to those who had stayed until the end."
)
BROKEN = {
    "committee": "cornmittee",
    "Tuesday": "Tuesdav",
    "reports": "rep0rts",
    "bridge": "brigde",
    "expected": "expcted",
    "library": "librarry",
    "decided": "dccided",
    "stayed": "staved",
}


def broken(text):
    for word, put in BROKEN.items():
        text = text.replace(word, put, 1)
    return text


def test_slips_lead_from_each_of_these():
    words = [*BROKEN, "Expected", "bride", "Strange", "HTML"]
    lexicon = _Lexicon([None, "a", *(f"Ġ{word}" for word in words)])

    def near(word, *, exchanged=True):
        return dict(lexicon.near(word, exchanged=exchanged).values())

    for word, put in BROKEN.items():
        assert near(put)[word] == near(put, exchanged=False)[word] <= 6.0
    # Letters in another order, and several others; each of these takes more.
    assert near("committee") == near("xyz") == near("tsrange") == {}
    assert near("Tsrnage") == {"Strange": 6.0}
    assert near("ezpxctrd") == {"expected": 12.0}
    assert near("ezpxctrd", exchanged=False) == {}
    # Scanners make some slips more often than others.
    assert near("exdected")["expected"] > near("expccted")["expected"] == 4.0
    assert near("Expwcted") == {"Expected": 6.0}
    assert near("THML") == {"HTML": 6.0}


@pytest.mark.model
def test_broken_words_are_mended_and_nothing_else(builtin_model):
    done = restore_spelling(builtin_model, (), broken(PROSE))
    [change] = done.substitutions
    assert change.name == RESPELT
    assert change.count >= 6
    pairs = zip(PROSE.split(), broken(PROSE).split(), done.text.split(), strict=True)
    assert all(now in (was, found) for was, found, now in pairs)
    assert len(done.origin) == len(done.text) + 1
    assert done.origin[-1] == len(broken(PROSE))
    # A few slips are no sign, and a whole text has none.
    for text in (PROSE, PROSE.replace("bridge", "brigde"), "", "xyzzy " * 40):
        assert not restore_spelling(builtin_model, (), text).changed


@pytest.mark.model
def test_what_is_mended_is_read_in_the_place_of_what_was_found(audited, samples):
    """No key has a part in it, and nothing follows from the absence of a mark."""
    text = samples["marked-tbcc"]["texts"][4]["text"] + "\n\n" + broken(PROSE)
    found = audited(AuditText(document=from_text(text)))
    by_name = {one.name: one for one in found.variants}
    assert by_name["spelling"].shown
    assert not by_name["found"].read
    assert found.text == text
    assert RESPELT in found.handling
    assert found.readings == sum(one.read for one in found.variants)
    assert "caution.handled-typing" in {one.key for one in found.cautions}
