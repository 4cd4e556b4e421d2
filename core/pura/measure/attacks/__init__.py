"""Attacks: what happens to a marked text between the generator and the audit.

One function an attack, on token ids or on text; :data:`~pura.measure.attacks.table.ATTACKS` lists
them, :func:`~pura.measure.attacks.table.attack_ids` and
:func:`~pura.measure.attacks.table.attack_text` run any of them on either, and
:func:`~pura.measure.attacks.table.stress` measures what one did. The key-aware oracle, which needs
what no attacker has, stands apart in :mod:`pura_lab.attacks.oracle`.
"""

from pura.measure.attacks.base import (
    Attacked,
    Damage,
    Tools,
    copy_paste,
    damage,
    delete,
    edit_rate,
    insert,
    paste_spans,
    perplexity,
    sentence_shuffle,
    splice,
    split_sentences,
    substitute,
    substitute_plausible,
    truncate,
)
from pura.measure.attacks.table import (
    ATTACKS,
    Attack,
    Stressed,
    attack_foreign,
    attack_ids,
    attack_many,
    attack_text,
    named_strength,
    stress,
)

__all__ = [
    "ATTACKS",
    "Attack",
    "Attacked",
    "Damage",
    "Stressed",
    "Tools",
    "attack_foreign",
    "attack_ids",
    "attack_many",
    "attack_text",
    "copy_paste",
    "damage",
    "delete",
    "edit_rate",
    "insert",
    "named_strength",
    "paste_spans",
    "perplexity",
    "sentence_shuffle",
    "splice",
    "split_sentences",
    "stress",
    "substitute",
    "substitute_plausible",
    "truncate",
]
