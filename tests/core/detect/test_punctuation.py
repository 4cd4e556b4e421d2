"""Signs that were taken out stand again where the model expects them; words stay what they are."""

import re

import pytest

from pura.base.errors import Cancelled
from pura.detect.restore.punctuation import PUNCTUATED, restore_punctuation
from pura.detect.restore.spelling import restore_spelling
from pura.detect.together import audit_text
from pura.scheme import Profile, SecretKey

PROSE = (
    "The committee met on Tuesday, and the mayor, who had come late, said nothing for an hour. "
    "Nobody asked about the harbour. It wasn't the first time, of course: in March the members "
    "had stayed away, too. What happened then? The bridge was closed, the ferries were full, and "
    "the children couldn't get to school. However, the new plan isn't ready yet."
)


def stripped(text: str) -> str:
    return re.sub(r"[^\w\s]", "", text)


@pytest.mark.model
@pytest.mark.parametrize("capitals", [False, True])
def test_signs_are_put_back_and_words_stay(builtin_model, capitals):
    bare = stripped(PROSE)
    found = bare[0] + bare[1:].lower() if capitals else bare
    done = restore_punctuation(builtin_model, (), found, capitals=capitals)
    assert stripped(done.text).casefold() == found.casefold()
    assert capitals or stripped(done.text) == found
    # The way back: every character is one of the text as found, or was put before one.
    assert done.origin[-1] == len(found)
    assert (done.origin[1:] >= done.origin[:-1]).all()
    signs = [(m.start(), m[0]) for m in re.finditer(r"[^\w\s]", done.text)]
    put = {(len(stripped(done.text[:at])), sign) for at, sign in signs}
    meant = {(len(stripped(PROSE[: m.start()])), m[0]) for m in re.finditer(r"[^\w\s]", PROSE)}
    assert len(put & meant) >= 0.5 * len(meant)
    assert len(put - meant) <= 0.25 * len(put)


@pytest.mark.model
def test_nothing_to_put_back_changes_nothing(builtin_model):
    for text in ("", "word", "\n"):
        assert not restore_punctuation(builtin_model, (), text).changed


@pytest.mark.model
def test_blanks_and_odd_characters_stay(builtin_model):
    found = (
        stripped(PROSE[:130]).replace(" ", "  ", 9)
        + "\t\n  she said  \U0001f600 naïve 日本語 dont\n"
    )
    done = restore_punctuation(builtin_model, (), found)
    put = {"'", "’", *',.;:?!)"(-'}
    assert done.changed
    assert "".join(c for c in done.text if c not in put) == found


@pytest.mark.model
def test_it_can_be_stopped(builtin_model):
    def stop() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        restore_punctuation(builtin_model, (), PROSE, checkpoint=stop)
    with pytest.raises(Cancelled):
        restore_spelling(builtin_model, (), "".join(f" brigde {n} expcted" for n in "abcdef"), stop)


@pytest.mark.model
def test_what_was_put_back_is_read_and_favours_no_key(builtin_model, audited, samples):
    """The reading follows from text and model: over keys that wrote nothing it has mean one."""
    marked = stripped(samples["marked-tbcc"]["texts"][2]["text"])
    found = audited(marked)
    others = audit_text(
        marked,
        model=builtin_model,
        keys=[(SecretKey(bytes([n]) * 32), None) for n in range(64)],
        profile=Profile.from_dict(samples["marked-tbcc"]["profile"] | {"key": None}),
    )
    for audit in (found, others):
        assert PUNCTUATED in audit.handling
        assert audit.text == marked
        assert [one.text for one in audit.variants] == [one.text for one in found.variants]
    assert found.evidence.log10_e > 6 > 1 > others.evidence.log10_e
