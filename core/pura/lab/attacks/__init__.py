"""Attacks: what happens to a marked text between the generator and the audit.

One function an attack, on token ids or on text; :data:`~pura.lab.attacks.table.ATTACKS` lists
them, :func:`~pura.lab.attacks.table.attack_ids` and
:func:`~pura.lab.attacks.table.attack_text` run any of them on either.
"""

from pura.lab.attacks.base import Attacked, Tools, edit_rate
from pura.lab.attacks.sentences import copy_paste, sentence_shuffle, split_sentences
from pura.lab.attacks.table import ATTACKS, Attack, attack_ids, attack_text
from pura.lab.attacks.tokens import (
    delete,
    insert,
    splice,
    substitute,
    substitute_plausible,
    truncate,
)

__all__ = [
    "ATTACKS",
    "Attack",
    "Attacked",
    "Tools",
    "attack_ids",
    "attack_text",
    "copy_paste",
    "delete",
    "edit_rate",
    "insert",
    "sentence_shuffle",
    "splice",
    "split_sentences",
    "substitute",
    "substitute_plausible",
    "truncate",
]
