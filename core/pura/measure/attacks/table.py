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
"""Target of an attack: text, token ids int64 [L], or a list of token ids."""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One line of the table.

    Attributes:
        name: Name of the attack, for programs.
        target: Kind of target: ``text``, ``tokens``, or ``many``, the tokens of several texts at
            once, if that is cheaper than one by one.
        function: The attack: ``(target, rng, **needs, **params)``.
        needs: Keywords of the function that tools fill, by :data:`_TOOL_ARGUMENTS`.
        strength: Name of the parameter for its strength; empty without one.
        rewrites: Whether a model rewrites the text, and must be named in every result.
        params: Defaults of its parameters.
    """

    name: str
    target: str
    function: Callable[..., Any]
    needs: tuple[str, ...] = ()
    strength: str = ""
    rewrites: bool = False
    params: dict[str, Any] = field(default_factory=dict)

    def run(self, target: Target, rng: Any, tools: Tools, params: dict[str, Any]) -> Any:
        """Attack a target of the right kind; for ``many``, ``rng`` is a list as well."""
        provided = {name: _TOOL_ARGUMENTS[name](tools, target, rng) for name in self.needs}
        return self.function(target, rng, **provided, **params)


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


# Arguments that tools provide, by the keyword of the attack's function.
_TOOL_ARGUMENTS: Final[dict[str, Callable[[Tools, Target, Any], Any]]] = {
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
    target: str,
    function: Callable[..., Any],
    *needs: str,
    rewrites: bool = False,
    **params: float,
) -> Attack:
    """Return a row; a ``rate`` or ``share`` among its parameters is its strength."""
    strength = next((name for name in ("rate", "share") if name in params), "")
    return Attack(
        name=name,
        target=target,
        function=function,
        needs=needs,
        strength=strength,
        rewrites=rewrites,
        params=params,
    )


# With a rate of 1 the attack changes every position that it can change.
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
        damage: Damage to the text.
        writer: Name of the model that rewrote it; empty for other attacks.
    """

    text: str
    ids: I64
    damage: Damage
    writer: str


def stress(
    name: str,
    text: str,
    tools: Tools,
    *,
    seed: int,
    strength: float | None = None,
    **params: Any,
) -> Stressed:
    """Run an attack on a text and measure the damage.

    Args:
        name: Name of the attack.
        text: The text.
        tools: Resources of the attack; decode and tokenise always.
        seed: Seed of its randomness.
        strength: Strength; None takes the attack's default.
        **params: Replace further defaults.

    Raises:
        AttackError: Attack or parameter is unknown, a value is out of range, or a tool is missing.
    """
    attack, _ = _find(name, {})
    if strength is not None:
        params[_strength_of(attack)] = strength
    if unknown := sorted(params.keys() - attack.params.keys()):
        parameters = ", ".join(sorted(attack.params)) or "–"
        raise AttackError("choice.unknown", name=unknown[0], known=parameters)
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
        writer=_author(attack, tools),
    )


def _author(attack: Attack, tools: Tools) -> str:
    """Return the name of the model that rewrote a text; empty if none did."""
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
        name: Name of the attack.
        ids: int64 [L].
        rng: Randomness.
        tools: Resources of the attack.
        **params: Replace the attack's defaults.

    Raises:
        AttackError: The attack is unknown, or a tool is missing.
    """
    attack, params = _find(name, params)
    if attack.target != "text":
        return _attacked(attack, ids, rng, tools, params)
    decode, tokenise = _both_ways(tools)
    changed = attack.run(decode(ids), rng, tools, params)
    return result(ids, tokenise(changed), None)


def _attacked(
    attack: Attack, ids: I64, rng: np.random.Generator, tools: Tools, params: dict[str, Any]
) -> Attacked:
    """Run an attack on tokens, one of many texts too."""
    if attack.target == "many":
        (attacked,) = attack.run([ids], [rng], tools, params)
    else:
        attacked = attack.run(ids, rng, tools, params)
    assert isinstance(attacked, Attacked)  # for the type checker
    return attacked


def attack_many(
    name: str,
    texts: Sequence[I64],
    rngs: Sequence[np.random.Generator],
    tools: Tools,
    **params: Any,
) -> list[Attacked]:
    """Run an attack on the token ids of many texts, in parallel if possible.

    Args:
        name: Name of the attack.
        texts: int64 [L] each.
        rngs: Randomness of each.
        tools: Resources of the attack.
        **params: Replace the attack's defaults.

    Raises:
        AttackError: As :func:`attack_ids`.
    """
    attack, all_params = _find(name, params)
    if attack.target == "many":
        return list(attack.run(texts, rngs, tools, all_params))
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
    """Run an attack by a model with other tokens; texts are passed to it and back as text.

    Args:
        name: Name of the attack.
        texts: int64 [L] each, tokens of the model under attack.
        rngs: Randomness of each.
        tools: Resources of the attacker; decode and tokenise always.
        decode: Converts tokens of the model under attack to text.
        tokenise: Converts text to these tokens.
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
        name: Name of the attack.
        text: The text.
        rng: Randomness.
        tools: Resources of the attack; decode and tokenise always.
        **params: Replace the attack's defaults.

    Returns:
        The new text, and the edit rate between the tokens that a verifier reads from both.

    Raises:
        AttackError: The attack is unknown, or a tool is missing.
    """
    attack, params = _find(name, params)
    decode, tokenise = _both_ways(tools)
    before = tokenise(text)
    if attack.target == "text":
        changed = attack.run(text, rng, tools, params)
    else:
        changed = decode(_attacked(attack, before, rng, tools, params).ids)
    return changed, result(before, tokenise(changed), None).rate


def named_strength(text: str) -> tuple[str, dict[str, float]]:
    """Parse an attack in the form ``name`` or ``name:strength``.

    Returns:
        The name, and the parameter that replaces a default.

    Raises:
        AttackError: The attack is unknown, has no strength, or the strength is not a number.
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


def _need(tool: T | None, need: Phrase) -> T:
    if tool is None:
        raise AttackError("attack.needs", what=need)
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
