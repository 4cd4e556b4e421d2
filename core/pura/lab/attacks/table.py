"""The table of attacks, and the two ways to run one: on token ids and on text.

A new attack is one function and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import numpy as np

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import PuraError
from pura.lab.attacks.base import I64, Attacked, Tools, result
from pura.lab.attacks.sentences import copy_paste, sentence_shuffle
from pura.lab.attacks.tokens import (
    delete,
    insert,
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
        params: Defaults.
    """

    name: str
    label: str
    tokens: OnTokens | None = None
    text: OnText | None = None
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


def _shuffle(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    return sentence_shuffle(text, rng, **params)


def _copy_paste(text: str, rng: np.random.Generator, tools: Tools, **params: Any) -> str:
    return copy_paste(text, rng, foreign=tools.foreign, **params)


ATTACKS: Final[dict[str, Attack]] = {
    attack.name: attack
    for attack in (
        Attack(name="substitute", label="substitution", tokens=_substitute, params={"rate": 0.1}),
        Attack(
            name="substitute-plausible",
            label="plausible substitution",
            tokens=_plausible,
            params={"rate": 0.1},
        ),
        Attack(name="insert", label="insertion", tokens=_insert, params={"rate": 0.1}),
        Attack(name="delete", label="deletion", tokens=_delete, params={"rate": 0.1}),
        Attack(name="sentence-shuffle", label="sentence shuffle", text=_shuffle),
        Attack(name="copy-paste", label="copy-paste", text=_copy_paste, params={"share": 0.3}),
        Attack(name="truncate", label="truncation", tokens=_truncate, params={"tokens": 100}),
        Attack(name="splice", label="splice into plain text", tokens=_splice),
    )
}


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


def _find(name: str, params: dict[str, Any]) -> tuple[Attack, dict[str, Any]]:
    if name not in ATTACKS:
        raise AttackError("attack.unknown", name=name, known=", ".join(sorted(ATTACKS)))
    return ATTACKS[name], {**ATTACKS[name].params, **params}


def _need(tool: T | None, what: Phrase) -> T:
    if tool is None:
        raise AttackError("attack.needs", what=what)
    return tool


def _vocabulary(tools: Tools) -> int:
    if tools.vocab_size < 2:
        raise AttackError("attack.vocabulary")
    return tools.vocab_size


def _both_ways(tools: Tools) -> tuple[Callable[[I64], str], Callable[[str], I64]]:
    return (
        _need(tools.decode, phrase("attack.decode")),
        _need(tools.tokenise, phrase("attack.tokenise")),
    )
