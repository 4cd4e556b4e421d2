"""The table of attacks, and the two ways to run one: on token ids and on text.

A new attack is one function and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import numpy as np

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import PuraError
from pura.measure.attacks import base, rewrite
from pura.measure.attacks.base import (
    I64,
    Attacked,
    Damage,
    TextWriter,
    Tools,
    copy_paste,
    damage,
    delete,
    insert,
    paste_spans,
    result,
    sentence_shuffle,
    splice,
    substitute,
    substitute_plausible,
    truncate,
)

T = TypeVar("T")


class AttackError(PuraError):
    """An attack lacks what it needs."""

    code = "attack"


class OnTokens(Protocol):
    """An attack on token ids."""

    def __call__(self, ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
        """Attack token ids."""


class OnMany(Protocol):
    """An attack on the token ids of many texts at once."""

    def __call__(
        self,
        texts: Sequence[I64],
        rngs: Sequence[np.random.Generator],
        tools: Tools,
        **params: Any,
    ) -> list[Attacked]:
        """Attack token ids; each text as if it were alone."""


class OnText(Protocol):
    """An attack on text."""

    def __call__(self, text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
        """Attack a text."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One line of the table.

    Attributes:
        name: For programs.
        label: For people.
        tokens: The attack on token ids, or None.
        text: The attack on text, or None.
        many: The attack on many texts' token ids, where that is cheaper than one by one.
        params: Defaults.
        strength: Which of them says how hard it hits; empty where nothing does.
        rewrites: A model writes the text anew: its name belongs into every result.
    """

    name: str
    label: str
    strength: str = ""
    rewrites: bool = False
    tokens: OnTokens | None = None
    text: OnText | None = None
    many: OnMany | None = None
    params: dict[str, Any] = field(default_factory=dict)


def _substitute(ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
    return substitute(ids, rng, vocab_size=_vocabulary(tools), **params)


def _plausible(ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
    propose = _need(tools.propose, phrase("attack.propose"))
    return substitute_plausible(ids, rng, logits=propose(ids), **params)


def _insert(ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
    return insert(ids, rng, vocab_size=_vocabulary(tools), **params)


def _delete(ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
    return delete(ids, rng, **params)


def _truncate(ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
    return truncate(ids, **params)


def _splice(ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
    return splice(ids, rng, **params)


def _paste_spans(ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
    tokenise = _need(tools.tokenise, phrase("attack.tokenise"))
    host = tokenise(" ".join(tools.foreign[i] for i in rng.permutation(len(tools.foreign))))
    return paste_spans(ids, rng, host=host, **params)


def _smooth(ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
    return _smooth_many([ids], [rng], tools, **params)[0]


def _smooth_many(
    texts: Sequence[I64], rngs: Sequence[np.random.Generator], tools: Tools, **params: Any
) -> list[Attacked]:
    stepper = _need(tools.stepper, phrase("attack.propose"))
    return rewrite.smooth(texts, rngs, step=stepper(), **params)


def _infill(ids: I64, rng: np.random.Generator, tools: Tools, **params: Any) -> Attacked:
    return _infill_many([ids], [rng], tools, **params)[0]


def _infill_many(
    texts: Sequence[I64], rngs: Sequence[np.random.Generator], tools: Tools, **params: Any
) -> list[Attacked]:
    stepper = _need(tools.stepper, phrase("attack.propose"))
    return rewrite.infill(texts, rngs, step=stepper(), **params)


def _shuffle(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    return sentence_shuffle(text, rng, **params)


def _copy_paste(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    return copy_paste(text, rng, foreign=tools.foreign, **params)


def _plain(attack: Callable[..., str]) -> OnText:
    """Return an attack on text that needs no tools."""

    def run(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
        return attack(text, rng, **params)

    return run


def _synonyms(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    thesaurus = _need(tools.thesaurus, phrase("attack.thesaurus"))
    return base.synonyms(text, rng, thesaurus=thesaurus, **params)


def _paraphrase(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    return rewrite.paraphrase(text, rng, writer=_writer(tools), **params)


def _dipper(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    writer = None if tools.paraphraser else _writer(tools)
    return rewrite.dipper(text, rng, model=tools.paraphraser, writer=writer, **params)


def _back_translate(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    if len(tools.translators) != 2:
        raise AttackError("attack.needs", what=phrase("attack.translator"))
    there, back = tools.translators
    return rewrite.back_translate(text, rng, there=there, back=back)


def _sira(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    _both_ways(tools)
    _need(tools.propose, phrase("attack.propose"))
    return rewrite.sira(text, rng, tools=tools, writer=_writer(tools), **params)


def _best_of(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    _both_ways(tools)
    return rewrite.best_of(text, rng, tools=tools, writer=_writer(tools), **params)


_RATE: Final[dict[str, Any]] = {"strength": "rate", "params": {"rate": 0.1}}
_ALL: Final[dict[str, Any]] = {"strength": "rate", "params": {"rate": 1.0}}
"""Of the places that an attack can act on it takes all unless told otherwise."""

ATTACKS: Final[dict[str, Attack]] = {
    attack.name: attack
    for attack in (
        Attack(name="substitute", label="substitution", tokens=_substitute, **_RATE),
        Attack(
            name="substitute-plausible", label="plausible substitution", tokens=_plausible, **_RATE
        ),
        Attack(name="insert", label="insertion", tokens=_insert, **_RATE),
        Attack(name="delete", label="deletion", tokens=_delete, **_RATE),
        Attack(name="synonyms", label="synonyms", text=_synonyms, **_RATE),
        Attack(name="typos", label="typing errors", text=_plain(base.typos), **_RATE),
        Attack(name="case", label="large and small", text=_plain(base.change_case), **_RATE),
        Attack(
            name="punctuation",
            label="punctuation left out",
            text=_plain(base.drop_punctuation),
            **_RATE,
        ),
        Attack(
            name="spelling",
            label="British and American spelling",
            text=_plain(base.change_spelling),
            **_ALL,
        ),
        Attack(
            name="contractions",
            label="contractions",
            text=_plain(base.change_contractions),
            **_ALL,
        ),
        Attack(
            name="office",
            label="office typography",
            text=_plain(base.office_typography),
            **_ALL,
        ),
        Attack(name="homoglyphs", label="homoglyphs", text=_plain(base.homoglyphs), **_RATE),
        Attack(
            name="zero-width",
            label="characters of no width",
            text=_plain(base.zero_width),
            **_RATE,
        ),
        Attack(name="sentence-shuffle", label="sentence shuffle", text=_shuffle),
        Attack(
            name="copy-paste",
            label="copy-paste",
            text=_copy_paste,
            strength="share",
            params={"share": 0.3},
        ),
        Attack(
            name="paste-spans",
            label="pieces in other text",
            tokens=_paste_spans,
            strength="share",
            params={"share": 0.3, "spans": 3},
        ),
        Attack(
            name="truncate",
            label="truncation",
            tokens=_truncate,
            strength="rate",
            params={"rate": 0.5},
        ),
        Attack(name="splice", label="splice into plain text", tokens=_splice),
        Attack(
            name="smoothing",
            label="smoothing, post hoc",
            tokens=_smooth,
            many=_smooth_many,
            strength="rate",
            params={"rate": 0.28},
        ),
        Attack(
            name="infill",
            label="gaps filled by a model",
            tokens=_infill,
            many=_infill_many,
            strength="rate",
            params={"rate": 0.1, "tries": 4},
        ),
        Attack(name="paraphrase", label="paraphrase", text=_paraphrase, rewrites=True),
        Attack(
            name="dipper",
            label="DIPPER",
            text=_dipper,
            rewrites=True,
            params={"lexical": 20, "order": 20},
        ),
        Attack(
            name="back-translation",
            label="translation there and back",
            text=_back_translate,
            rewrites=True,
        ),
        Attack(
            name="sira",
            label="SIRA",
            text=_sira,
            rewrites=True,
            strength="share",
            params={"share": 0.7},
        ),
        Attack(
            name="rlcracker",
            label="RLCracker, untrained: best of several",
            text=_best_of,
            rewrites=True,
            params={"tries": 4},
        ),
    )
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Stressed:
    """A text before and after an attack.

    Attributes:
        text: The text after it.
        ids: int64 [L'], its tokens as a verifier reads them.
        damage: How hard it was hit.
        by: The model that wrote it anew; empty for other attacks.
    """

    text: str
    ids: I64
    damage: Damage
    by: str


def stress(
    name: str,
    text: str,
    tools: Tools,
    *,
    seed: int,
    strength: float | None = None,
    **params: Any,
) -> Stressed:
    """Run an attack on a text and measure what it did.

    Args:
        name: Of the table.
        text: The text.
        tools: What the attack needs; decode and tokenise always.
        seed: Of all its randomness.
        strength: How hard; None takes the attack's default.
        **params: Replace further defaults.

    Raises:
        AttackError: Unknown attack or parameter, a value out of range, or something missing.
    """
    attack, _ = _find(name, {})
    if strength is not None:
        if not attack.strength:
            raise AttackError(
                "choice.unknown", name="strength", known=", ".join(sorted(attack.params)) or "–"
            )
        params[attack.strength] = strength
    if unknown := sorted(params.keys() - attack.params.keys()):
        known = ", ".join(sorted(attack.params)) or "–"
        raise AttackError("choice.unknown", name=unknown[0], known=known)
    try:
        changed, _ = attack_text(name, text, np.random.default_rng(seed), tools, **params)
    except ValueError as error:
        raise AttackError("attack.values", name=name, why=str(error)) from None
    _, tokenise = _both_ways(tools)
    ids = tokenise(changed)
    return Stressed(
        text=changed,
        ids=ids,
        damage=damage((text, tokenise(text)), (changed, ids), tools),
        by=_author(attack, tools),
    )


def _author(attack: Attack, tools: Tools) -> str:
    """Return the name of the model that wrote a text anew; empty where none did."""
    if not attack.rewrites:
        return ""
    if attack.name == "back-translation":
        return ", ".join(model.name for model in tools.translators)
    real = attack.name == "dipper" and tools.paraphraser is not None
    return "DIPPER" if real else _writer(tools).name


def attack_ids(
    name: str, ids: I64, rng: np.random.Generator, tools: Tools, **params: Any
) -> Attacked:
    """Run an attack on token ids; one on text decodes them and reads the result again.

    Args:
        name: Of the table.
        ids: int64 [L].
        rng: Randomness.
        tools: What the attack needs.
        **params: Replace the attack's defaults.

    Raises:
        AttackError: Unknown attack, or something that it needs is missing.
    """
    attack, params = _find(name, params)
    if attack.tokens is not None:
        return attack.tokens(ids, rng, tools, **params)
    assert attack.text is not None
    decode, tokenise = _both_ways(tools)
    changed = attack.text(decode(ids), rng, tools, **params)
    return result(ids, tokenise(changed), None)


def attack_many(
    name: str,
    texts: Sequence[I64],
    rngs: Sequence[np.random.Generator],
    tools: Tools,
    **params: Any,
) -> list[Attacked]:
    """Run an attack on the token ids of many texts, side by side where it can be done so.

    Args:
        name: Of the table.
        texts: int64 [L] each.
        rngs: Randomness of each.
        tools: What the attack needs.
        **params: Replace the attack's defaults.

    Raises:
        AttackError: As :func:`attack_ids`.
    """
    attack, every = _find(name, params)
    if attack.many is not None:
        return attack.many(texts, rngs, tools, **every)
    pairs = zip(texts, rngs, strict=True)
    return [attack_ids(name, ids, rng, tools, **params) for ids, rng in pairs]


def attack_foreign(
    name: str,
    texts: Sequence[I64],
    rngs: Sequence[np.random.Generator],
    tools: Tools,
    *,
    decode: Callable[[I64], str],
    tokenise: Callable[[str], I64],
    **params: Any,
) -> list[Attacked]:
    """Run an attack by a model that has other tokens: it reads the texts, and so is it read.

    Args:
        name: Of the table.
        texts: int64 [L] each, tokens of the model under attack.
        rngs: Randomness of each.
        tools: The attacker's; decode and tokenise always.
        decode: Those tokens to text.
        tokenise: Text to those tokens.
        **params: Replace the attack's defaults.

    Raises:
        AttackError: As :func:`attack_ids`.
    """
    spell, read = _both_ways(tools)
    hits = attack_many(name, [read(decode(ids)) for ids in texts], rngs, tools, **params)
    pairs = zip(texts, hits, strict=True)
    return [result(ids, tokenise(spell(hit.ids)), None) for ids, hit in pairs]


def attack_text(
    name: str, text: str, rng: np.random.Generator, tools: Tools, **params: Any
) -> tuple[str, float]:
    """Run an attack on text; one on tokens tokenises it and decodes the result.

    Args:
        name: Of the table.
        text: The text.
        rng: Randomness.
        tools: What the attack needs; decode and tokenise always.
        **params: Replace the attack's defaults.

    Returns:
        The new text, and the edit rate between the tokens that a verifier reads from both.

    Raises:
        AttackError: Unknown attack, or something that it needs is missing.
    """
    attack, params = _find(name, params)
    decode, tokenise = _both_ways(tools)
    before = tokenise(text)
    if attack.text is not None:
        changed = attack.text(text, rng, tools, **params)
    else:
        assert attack.tokens is not None
        changed = decode(attack.tokens(before, rng, tools, **params).ids)
    return changed, result(before, tokenise(changed), None).rate


def named_strength(text: str) -> tuple[str, dict[str, float]]:
    """Read an attack as a study names it: ``name``, or ``name:strength``.

    Returns:
        Its name and the parameter that replaces a default.

    Raises:
        AttackError: Unknown attack, one that has no strength, or no number.
    """
    name, colon, strength = text.partition(":")
    attack, _ = _find(name, {})
    if not colon:
        return name, {}
    if not attack.strength:
        raise AttackError(
            "choice.unknown", name="strength", known=", ".join(sorted(attack.params)) or "–"
        )
    try:
        return name, {attack.strength: float(strength)}
    except ValueError as error:
        raise AttackError("attack.values", name=name, why=str(error)) from None


def _find(name: str, params: dict[str, Any]) -> tuple[Attack, dict[str, Any]]:
    if name not in ATTACKS:
        raise AttackError("choice.unknown", name=name, known=", ".join(sorted(ATTACKS)))
    return ATTACKS[name], {**ATTACKS[name].params, **params}


def _need(tool: T | None, what: Phrase) -> T:
    if tool is None:
        raise AttackError("attack.needs", what=what)
    return tool


def _writer(tools: Tools) -> TextWriter:
    return _need(tools.writer, phrase("attack.writer"))


def _vocabulary(tools: Tools) -> int:
    if tools.vocab_size < 2:
        raise AttackError("attack.needs", what=phrase("attack.size"))
    return tools.vocab_size


def _both_ways(tools: Tools) -> tuple[Callable[[I64], str], Callable[[str], I64]]:
    return (
        _need(tools.decode, phrase("attack.decode")),
        _need(tools.tokenise, phrase("attack.tokenise")),
    )
