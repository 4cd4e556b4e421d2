"""The readings of one text: as found, as restored, and from saved token ids.

Which are tried is fixed by the text and the tokenizer's vocabulary alone: no key and no phase is
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from pura.base.errors import InputError
from pura.base.progress import Checkpoint, never_cancelled
from pura.documents import characters, layout
from pura.documents.characters import Restored, Substitution, unchanged
from pura.documents.layout import Costs
from pura.documents.restore import CASES, MIXED, case_of, restore, restore_case
from pura.model.tokenise import HasTokenizer, Tokens, decode, nats_of, tokenise, usual_spelling
from pura.record.evidence import ChangeFacts, VariantFacts
from pura.scheme import I64
from pura.words.sentences import Sentence, sentence

FOUND: Final = "found"
RESTORED: Final = "restored"
LAYOUT: Final = "layout"
CASE: Final = "case"
SPELLING: Final = "spelling"
IDS: Final = "ids"
_MOST: Final = 3  # readings
_UNLIKELY, _A_CHANGE = 20.0, 6.0
"""Nats behind the likeliest one from which a reading is left out: in all, and for each change that
says little by itself."""
_AROUND: Final = 8  # ids that are decoded before a token, since some decoders trim the beginning


Spelling = Callable[[Iterable[str]], dict[str, str]]
Mend = Callable[[str, bool], Restored]
"""Gives a text as a model mends it; True where its capitals were put back."""


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One reading of a text.

    Attributes:
        name: :data:`FOUND`, :data:`RESTORED`, :data:`LAYOUT`, :data:`CASE`, :data:`SPELLING`,
            :data:`IDS`, or the
            name of an alternative that a document's reader offered (e.g. ``original``).
        text: Its characters; without hidden manifests.
        ids: int64 [L], saved token ids; None tokenises the text.
        undone: How it was made from the text as found; None for a text of its own.
        read: The model reads it and it counts; another one is so much likelier otherwise.
    """

    name: str
    text: str
    ids: I64 | None = None
    undone: Restored | None = None
    read: bool = True

    @property
    def substitutions(self) -> tuple[Substitution, ...]:
        """What was undone."""
        return self.undone.substitutions if self.undone is not None else ()

    def in_record(self, text: str) -> str:
        """Return the text that a record of this reading shows, given the text as found."""
        return self.text if self.undone is None else text

    def spans_in_record(self, spans: I64) -> I64:
        """Return the tokens' characters in the text that a record of this reading shows."""
        return spans if self.undone is None else self.undone.spans_in_found(spans)

    def facts(
        self, tokens: Tokens, *, shown: bool, own: str, usable: int, log10_e: float, verdict: str
    ) -> VariantFacts:
        """Return what a record says of this reading; ``own`` is the record's text, said once."""
        return VariantFacts(
            name=self.name,
            shown=shown,
            read=self.read,
            text=None if self.text == own else self.text,
            characters=len(self.text),
            tokens=int(tokens.ids.size),
            usable=usable,
            log10_e=log10_e,
            verdict=verdict,
            changes=tuple(ChangeFacts(name=s.name, count=s.count) for s in self.substitutions),
        )


def variants_of(
    text: str,
    *,
    restored: bool = True,
    spelt: Spelling | None = None,
    costs: Costs = len,
    ids: I64 | None = None,
    ids_text: str | None = None,
) -> tuple[Variant, ...]:
    """Fix which readings are tried, each distinct one once.

    Nothing but the text and the tokenizer's vocabulary is looked at: no key, no phase.

    Args:
        text: The text as found.
        restored: Also try the text as it was before it was handled, where it shows signs of that.
        spelt: The usual spelling of words in small letters; None leaves the case alone.
        costs: Nats that a text takes; without a vocabulary the shortest is taken for the likeliest.
        ids: int64 [L], token ids that a generator saved.
        ids_text: What these ids decode to; needed with ``ids``.

    Returns:
        The text as found, then the likeliest ways to undo what was done to it.
    """
    # A hidden manifest is no part of what anybody wrote: no reading has its characters.
    bare = characters.cut(text)
    if not (bare.changed and bare.text.strip()):
        bare = unchanged(text)
    ways = _handled(bare, spelt, costs) if restored else [(bare, 0.0)]
    nearest = sorted(ways, key=lambda one: one[1])[:_MOST]
    least, sure = nearest[0][1], layout.doubtful(nearest[0][0])
    limits = [
        min(nearest[-1][1], least + _UNLIKELY + _A_CHANGE * abs(layout.doubtful(way) - sure))
        for way, _ in ways
    ]
    distinct = [
        Variant(
            name=FOUND if way is bare else _named(way),
            text=way.text,
            undone=way if way.changed else None,
            read=nats <= limit,
        )
        for (way, nats), limit in zip(ways, limits, strict=True)
        if way is bare or (nats <= limit and way.text.strip())
    ]
    if ids is not None:
        distinct.append(Variant(name=IDS, text=ids_text or "", ids=ids))
    return tuple(distinct)


def _named(way: Restored) -> str:
    kinds = {substitution.name for substitution in way.substitutions}
    return CASE if kinds & {*CASES} else LAYOUT if kinds & {*layout.KINDS} else RESTORED


def _handled(bare: Restored, spelt: Spelling | None, costs: Costs) -> list[tuple[Restored, float]]:
    """Return the text as found, then ways to undo what was done, the likeliest first, and nats."""
    signs = bare.then(restore(bare.text))
    ways = layout.layouts([bare, signs] if signs.changed else [bare], costs)
    as_found, *nats = layout.nats([bare, *ways], costs)
    listed = {bare.text: (bare, as_found)}
    for way, found in zip(ways, nats, strict=True):
        # Capitals take more nats than small letters, and yet they belong where there are none.
        cased = way if spelt is None else way.then(restore_case(way.text, spelt))
        if case_of(way.text) in ("", MIXED):
            listed.setdefault(way.text, (way, found))
        listed.setdefault(cased.text, (cased, found))
    return list(listed.values())


def readings_of(
    model: HasTokenizer,
    text: str,
    *,
    restored: bool,
    mend: Mend | None = None,
    ids: Sequence[int] | I64 | None = None,
    checkpoint: Checkpoint = never_cancelled,
) -> tuple[tuple[Variant, ...], list[Tokens], list[Sentence]]:
    """Fix which readings of a text are tried, and tokenise each.

    Args:
        model: Whose tokenizer.
        text: The text as found.
        restored: As in :func:`variants_of`.
        mend: Mends broken words and puts signs back; None where no model is at hand.
        ids: Token ids that a generator saved.
        checkpoint: Called often; may raise.

    Returns:
        The readings, the tokens of each, and what the log says of them.
    """

    @cache
    def nats(written: str) -> float:
        checkpoint()
        return nats_of(model.tokenizer, written)

    notes: list[Sentence] = []
    saved, words = None, None
    if ids is not None:
        saved, words = check_ids(model, ids)
        if words.strip() != text.strip():
            notes.append(sentence("log.ids-differ"))
    variants = variants_of(
        text,
        restored=restored,
        spelt=lambda words: usual_spelling(model.tokenizer, words),
        costs=nats,
        ids=saved,
        ids_text=words,
    )
    if restored and mend is not None:
        variants = _mended(variants, mend)
    tokens = [tokens_of(model, variant) for variant in variants]
    for variant, found in zip(variants, tokens, strict=True):
        size = int(found.ids.size)
        if not variant.read:
            notes.append(sentence("log.unread", reading=f"log.from-{variant.name}"))
            continue
        notes.append(sentence("log.tokens", n=size, reading=f"log.from-{variant.name}"))
        notes += [
            sentence("changed", what=f"change.{one.name}", n=one.count)
            for one in variant.substitutions
        ]
    return variants, tokens, notes


def _mended(variants: tuple[Variant, ...], mend: Mend) -> tuple[Variant, ...]:
    """Put the likeliest reading, as the model mends it, in the place of that reading."""
    place = next(n for n in reversed(range(min(2, len(variants)))) if variants[n].read)
    base = variants[place]
    mended = mend(base.text, base.name == CASE) if base.ids is None else unchanged(base.text)
    if not mended.changed:
        return variants
    before = unchanged(base.text) if base.undone is None else base.undone
    spelt = Variant(name=SPELLING, text=mended.text, undone=before.then(mended))
    read = [replace(one, read=one.read and one is not base) for one in variants]
    return (*read[: place + 1], spelt, *read[place + 1 :])


def without_text(facts: Sequence[VariantFacts]) -> tuple[VariantFacts, ...]:
    """Return the facts without the characters of any reading."""
    return tuple(replace(one, text=None) for one in facts)


def tokens_of(model: HasTokenizer, variant: Variant) -> Tokens:
    """Return the tokens of a reading, with the characters of *its* text that they stand for."""
    if variant.ids is None:
        return tokenise(model.tokenizer, variant.text)
    return Tokens(ids=variant.ids, spans=spans_of_ids(model, variant.ids, variant.text))


def check_ids(model: HasTokenizer, ids: Sequence[int] | I64) -> tuple[I64, str]:
    """Check saved token ids, and return them with the text that they decode to.

    Raises:
        InputError: None, not whole numbers, or outside the vocabulary.
    """
    found = np.asarray(ids)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu":
        raise InputError("audit.ids-list", code="input-ids")
    if found.min() < 0 or found.max() >= model.vocab_size:
        raise InputError("audit.ids-range", vocab_size=model.vocab_size, code="input-ids-range")
    found = found.astype(np.int64)
    return found, decode(model.tokenizer, found.tolist())


def spans_of_ids(model: HasTokenizer, ids: I64, text: str) -> I64:
    """Return the characters of a text that saved ids stand for.

    Args:
        model: Whose tokenizer wrote them.
        ids: int64 [L].
        text: What all of them decode to.

    Returns:
        int64 [L, 2]. Tokens that share the bytes of one character share its span.
    """
    spans = np.zeros((ids.size, 2), dtype=np.int64)
    listed = ids.tolist()
    begun, place = 0, 0
    for t in range(ids.size):
        before = listed[max(0, begun - _AROUND) : begun]
        whole = decode(model.tokenizer, before + listed[begun : t + 1])
        piece = whole[len(decode(model.tokenizer, before)) if before else 0 :]
        # Half a character decodes to a replacement sign; its other half comes with the next token.
        if piece.endswith("\ufffd") and not text.startswith(piece, place) and t + 1 < ids.size:
            continue
        end = min(place + len(piece), len(text))
        spans[begun : t + 1] = place, end
        begun, place = t + 1, end
    return spans
