"""A text is stressed in the window: by the real use case, read by the small model."""

import pytest
from tests.app.records import make_audit
from tests.core.programs import lend

from pura.model.store import ModelCache
from pura.scheme import Payload, Profile
from pura.usecases.environment import Environment
from pura_audit.stress import (
    SWEEP,
    StressDialog,
    StressedText,
    attack_title,
    marked_difference,
    row,
)
from pura_audit.workbench import opening

pytestmark = pytest.mark.model


@pytest.fixture
def dialog(window, small_models, small_model, small_samples, sample_key) -> StressDialog:
    """The dialog over a text that the small model wrote, with its key in this run's memory."""
    session = window.session
    environment = Environment(
        paths=session.environment.paths, device="cpu", held=ModelCache(lambda *_: small_model)
    )
    lend(small_models, environment.paths.models)
    session.environment = environment
    sample = small_samples["marked-tbcc"]
    one = sample["texts"][0]
    made = StressDialog(
        session,
        StressedText(
            name="letter.txt",
            text=one["text"],
            payload=Payload.from_bits([int(bit) for bit in one["payload"]]),
            key=environment.session_keys.add(sample_key, "house"),
            profile=Profile.from_dict(sample["profile"]),
            model=next(small_models.iterdir()).name,
        ),
        window.theme,
        window,
    )
    made.open()
    return made


def test_an_attack_shows_what_it_changed_and_what_became_of_the_mark(dialog, qtbot, tmp_path):
    assert not dialog.save.isEnabled()
    dialog.attack.setCurrentIndex(dialog.attack.findText(attack_title("delete")))
    dialog.sweep.click()
    qtbot.waitUntil(lambda: not dialog.busy)
    assert dialog.words.text() == ""
    tries = dialog.tries
    all_bits = len(dialog._stressed.payload.text)
    kept = [one for one in tries[1:] if one.found.outcome.exact_match]
    lost = next(one for one in tries[1:] if not one.found.outcome.exact_match)
    right = round(all_bits * lost.found.outcome.exact_bits)
    said = dialog.sentence.text()
    assert said.endswith(f"{right} of {all_bits} bits are right.")
    assert ("survives “Tokens left out” up to" in said) == bool(kept)
    assert not dialog.table.isVisible()  # columns of Greek letters
    dialog.numbers.open()
    assert dialog.table.isVisible()
    assert [one.strength for one in tries] == [None, *SWEEP]
    assert tries[0].found.outcome.exact_match
    assert tries[0].found.paper.margin.rho == 1
    rates = [one.damage.tokens for one in tries[1:] if one.damage is not None]
    assert rates == sorted(rates)
    kept = [one.found.paper.margin.rho for one in tries]
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] < 0.3
    # The last try is chosen: its text is shown, and so are its positions.
    assert "line-through" in dialog.text.toHtml()
    headers, rows = dialog.positions.table()
    assert (len(headers), len(rows)) == (3, tries[0].found.readings.length)
    assert "positions" in dialog.positions.summary()
    assert len(dialog.course.table()[1]) == len(tries)
    file = tmp_path / "table.csv"
    dialog.write(file)
    lines = file.read_text("utf-8-sig").splitlines()
    assert len(lines) == len(tries) + 1
    assert row(tries[0])[0] == "as it is"
    dialog.write(tmp_path)
    assert "cannot be written" in dialog.words.text()


def test_only_a_text_with_a_mark_can_be_stressed(window, audit, sample_key):
    assert opening.stress_text(window) is None
    stressed = StressedText.of(audit, None)
    assert stressed is not None
    assert (stressed.text, stressed.key.label) == (audit.text, audit.key.label)
    assert len(stressed.payload.text) == audit.profile.payload_bits
    plain = make_audit(audit.text, audit.profile, sample_key, verdict="no-mark")
    assert StressedText.of(plain, None) is None


def test_a_difference_is_marked_and_says_what_is_hidden(window):
    shown = marked_difference("One two\nthree <b>", "One 2\nthree <b>", window.theme)
    assert ">two</span>" in shown
    assert ">2</span>" in shown
    assert "&lt;b&gt;" in shown
