"""The line that says, before an audit, what may be found."""


def test_the_page_before_the_audit_says_what_can_be_expected(window, text):
    window.session.texts.add_text(text)
    said = window.work.ready.expectation
    assert not said.text()  # enough of it: nothing that could be taken for a finding
    window.session.texts.add_text("Four words, no more.")
    assert said.isVisibleTo(window)
    assert said.text().startswith("If this text is marked, it can carry about")
    assert "short" in said.text()
