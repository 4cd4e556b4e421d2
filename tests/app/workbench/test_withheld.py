"""A finding whose payload is withheld, in the window: tokens and bits are shown without it."""

from tests.app.test_every_finding import withheld

from pura_audit.session.selection import token_facts


def test_tokens_are_shown_and_bits_are_not(window, audit):
    record = withheld(audit, "unfit")
    window.session.texts.add_audit(record)
    selection = window.selection
    for token in record.steps.token[:5].tolist():
        selection.select_token(token)
        facts = token_facts(record, token)
        assert facts.positions
        assert facts.expected is None
    selection.select_bit(3)
    assert selection.bit is None
    assert selection.bits() == ()
    assert selection.readers().size == 0
    shown = window.work.text
    assert shown.isVisible()
