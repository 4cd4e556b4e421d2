"""Names are written so that they steer nothing, and stand for one text only."""

from hypothesis import given
from hypothesis import strategies as st

from pura.base.numerals import visible, visible_lines

ANY = st.text(st.characters(exclude_categories=()))


@given(ANY)
def test_what_is_visible_is_one_printable_line_and_can_be_taken_back(text):
    shown = visible(text)
    assert shown.isprintable()
    shown.encode()
    if shown != text:
        assert shown.encode("latin-1", "backslashreplace").decode("unicode_escape") == text


@given(ANY)
def test_lines_keep_their_breaks_and_nothing_that_steers_a_terminal(text):
    shown = visible_lines(text)
    shown.encode()
    assert shown.count("\n") == text.count("\n")
    controls = {c for c in shown if ord(c) < 32 or 127 <= ord(c) < 160}
    assert controls <= {"\n", "\t"}
    assert not set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068") & set(shown)


def test_usual_names_stay_as_they_are():
    for name in ("letter 17.docx", "Größe [1].txt", "日本語.txt", "C:\\a.txt", "naïve 🙂.md"):
        assert visible(name) == name
    assert visible("a\\b\n") == "a\\\\b\\n"
    assert visible("\udcff.txt") == "\\udcff.txt"
