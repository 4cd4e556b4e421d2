"""The table of attacks, and the two ways to run one: on token ids and on text.

A new attack is one function and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import numpy as np

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import PuraError
from pura.measure.attacks import base, rewrite
from pura.measure.attacks.base import (
    Attacked,
    Damage,
    Paraphraser,
    TextWriter,
    Tools,
    damage,
    result,
)
from pura.scheme import I64

T = TypeVar("T")


class AttackError(PuraError):
    """An attack lacks what it needs."""

    code = "attack"


Target = Any
"""What a function attacks: text, token ids int64 [L], or lists of those and of their randomness."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One line of the table.

    Attributes:
        name: For programs.
        on: What the function attacks: ``text``, ``tokens``, or ``many`` texts' tokens at once,
            where that is cheaper than one by one.
        function: The attack: ``(target, rng, **needs, **params)``.
        needs: Keywords of the function that tools fill, by :data:`_GIVEN`.
        strength: Which parameter says how hard it hits; empty where nothing does.
        rewrites: A model writes the text anew: its name belongs into every result.
        params: Defaults.
    """

    name: str
    on: str
    function: Callable[..., Any]
    needs: tuple[str, ...] = ()
    strength: str = ""
    rewrites: bool = False
    params: dict[str, Any] = field(default_factory=dict)

    def run(self, target: Target, rng: Any, tools: Tools, params: dict[str, Any]) -> Any:
        """Attack a target of the function's own kind; of ``many``, ``rng`` is a list as well."""
        given = {name: _GIVEN[name](tools, target, rng) for name in self.needs}
        return self.function(target, rng, **given, **params)


def _host(tools: Tools, _: Target, rng: np.random.Generator) -> I64:
    """Return the tokens of all foreign sentences, in any order."""
    tokenise = _need(tools.tokenise, phrase("attack.tokenise"))
    return tokenise(" ".join(tools.foreign[i] for i in rng.permutation(len(tools.foreign))))


def _translator(tools: Tools, number: int) -> Paraphraser:
    if len(tools.translators) != 2:
        raise AttackError("attack.needs", what=phrase("attack.translator"))
    return tools.translators[number]


def _read_and_spell(tools: Tools, *_: object) -> Tools:
    _both_ways(tools)
    return tools


# What tools give to an attack, by the name of its keyword.
_GIVEN: Final[dict[str, Callable[[Tools, Target, Any], Any]]] = {
    "vocab_size": lambda tools, *_: _vocabulary(tools),
    "decode": lambda tools, *_: _both_ways(tools)[0],
    "tokenise": lambda tools, *_: _both_ways(tools)[1],
    "propose": lambda tools, *_: _need(tools.propose, phrase("attack.propose")),
    "logits": lambda tools, ids, _: _need(tools.propose, phrase("attack.propose"))(ids),
    "step": lambda tools, *_: _need(tools.stepper, phrase("attack.propose"))(),
    "host": _host,
    "foreign": lambda tools, *_: tools.foreign,
    "thesaurus": lambda tools, *_: _need(tools.thesaurus, phrase("attack.thesaurus")),
    "writer": lambda tools, *_: _writer(tools),
    "model": lambda tools, *_: tools.paraphraser,
    "surrogate": lambda tools, *_: None if tools.paraphraser else _writer(tools),
    "there": lambda tools, *_: _translator(tools, 0),
    "back": lambda tools, *_: _translator(tools, 1),
    "tools": _read_and_spell,
}


def _row(
    name: str,
    on: str,
    function: Callable[..., Any],
    *needs: str,
    rewrites: bool = False,
    **params: float,
) -> Attack:
    """Return a row; a ``rate`` or ``share`` among its parameters is its strength."""
    strength = next((name for name in ("rate", "share") if name in params), "")
    return Attack(
        name=name,
        on=on,
        function=function,
        needs=needs,
        strength=strength,
        rewrites=rewrites,
        params=params,
    )


# A rate of 1: of the places that an attack can act on it takes all unless told otherwise.
ATTACKS: Final[dict[str, Attack]] = {
    attack.name: attack
    for attack in (
        _row("substitute", "tokens", base.substitute, "vocab_size", rate=0.1),
        _row("substitute-plausible", "tokens", base.substitute_plausible, "logits", rate=0.1),
        _row("insert", "tokens", base.insert, "vocab_size", rate=0.1),
        _row("delete", "tokens", base.delete, rate=0.1),
        _row("synonyms", "text", base.synonyms, "thesaurus", rate=0.1),
        _row("typos", "text", base.typos, rate=0.1),
        _row("case", "text", base.change_case, rate=0.1),
        _row("punctuation", "text", base.drop_punctuation, rate=0.1),
        _row("spelling", "text", base.change_spelling, rate=1.0),
        _row("contractions", "text", base.change_contractions, rate=1.0),
        _row("office", "text", base.office_typography, rate=1.0),
        _row("homoglyphs", "text", base.homoglyphs, rate=0.1),
        _row("zero-width", "text", base.zero_width, rate=0.1),
        _row("sentence-shuffle", "text", base.sentence_shuffle),
        _row("copy-paste", "text", base.copy_paste, "foreign", share=0.3),
        _row("paste-spans", "tokens", base.paste_spans, "host", share=0.3, spans=3),
        _row("truncate", "tokens", base.truncate, rate=0.5),
        _row("splice", "tokens", base.splice),
        _row("smoothing", "many", rewrite.smooth, "step", rate=0.28),
        _row("infill", "many", rewrite.infill, "step", rate=0.1, tries=4),
        _row("paraphrase", "text", rewrite.paraphrase, "writer", rewrites=True),
        _row(
            "dipper",
            "text",
            rewrite.dipper,
            "model",
            "surrogate",
            rewrites=True,
            lexical=20,
            order=20,
        ),
        _row("back-translation", "text", rewrite.back_translate, "there", "back", rewrites=True),
        _row(
            "sira",
            "text",
            rewrite.sira,
            *("decode", "tokenise", "propose", "writer"),
            rewrites=True,
            share=0.7,
        ),
        _row("rlcracker", "text", rewrite.best_of, "tools", "writer", rewrites=True, tries=4),
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
        params[_strength_of(attack)] = strength
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
    if attack.on != "text":
        return _attacked(attack, ids, rng, tools, params)
    decode, tokenise = _both_ways(tools)
    changed = attack.run(decode(ids), rng, tools, params)
    return result(ids, tokenise(changed), None)


def _attacked(
    attack: Attack, ids: I64, rng: np.random.Generator, tools: Tools, params: dict[str, Any]
) -> Attacked:
    """Run an attack on tokens, one of many texts too."""
    if attack.on == "many":
        (done,) = attack.run([ids], [rng], tools, params)
    else:
        done = attack.run(ids, rng, tools, params)
    assert isinstance(done, Attacked)  # for the type checker
    return done


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
    if attack.on == "many":
        return list(attack.run(texts, rngs, tools, every))
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
    if attack.on == "text":
        changed = attack.run(text, rng, tools, params)
    else:
        changed = decode(_attacked(attack, before, rng, tools, params).ids)
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
    key = _strength_of(attack)
    try:
        return name, {key: float(strength)}
    except ValueError as error:
        raise AttackError("attack.values", name=name, why=str(error)) from None


def _strength_of(attack: Attack) -> str:
    if not attack.strength:
        raise AttackError(
            "choice.unknown", name="strength", known=", ".join(sorted(attack.params)) or "–"
        )
    return attack.strength


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
