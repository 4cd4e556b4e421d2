"""The content words by which a stored question is looked up."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

STEM: Final = 7
"""Letters of a word that count: its endings, and much of what is put together with it, do not."""
_SHORTEST: Final = 3  # letters of a word that says anything; numbers may be shorter
_LOOKED_AT: Final = 2_000  # different words of one text that are looked at
_WORD: Final = re.compile(r"[^\W_]+")
_WITHOUT_SPACES: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
"""Scripts that put no space between words; each two neighbouring characters count as one."""
_ENGLISH: Final = (
    "about after all also and any are because been before but can could did does doing each "
    "for from had has have her here him his how into its just like make may more most much "
    "not now off one only other our out over own please same she should some such than that "
    "the their them then there these they this those through too under use used using very "
    "was were what when where which while who why will with would you your"
)
_GERMAN: Final = (
    "aber alle als also auch auf aus bei bin bis bitte das dass dem den der des dich die "
    "dir doch ein eine einem einen einer eines euch für hat habe haben hier ich ihm ihn ihr "
    "ihre ist kann können man mehr mein mich mir mit nach nicht noch nur oder ohne sehr "
    "sein seine sich sie sind über und uns unter vom von vor war was wenn wer werden wie "
    "wird wir zum zur"
)
_FUNCTION_WORDS: Final = frozenset((*_ENGLISH.split(), *_GERMAN.split()))


def content_words(text: str) -> list[str]:
    """Return the different content words of a text, cut to their stems, as they come.

    Args:
        text: Anything.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    stems: dict[str, None] = {}
    for word in _pieces(folded):
        if len(stems) >= _LOOKED_AT:
            break
        if word not in _FUNCTION_WORDS:
            stems.setdefault(word[:STEM])
    return list(stems)


def _pieces(text: str) -> Iterable[str]:
    for match in _WORD.finditer(text):
        word = match.group()
        runs = _WITHOUT_SPACES.findall(word)
        for run in runs:
            yield from (run[i : i + 2] for i in range(max(1, len(run) - 1)))
        rest = _WITHOUT_SPACES.sub("", word) if runs else word
        if len(rest) >= _SHORTEST or (rest.isdigit() and len(rest) > 1):
            yield rest
