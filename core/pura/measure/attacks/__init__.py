"""Attacks: what happens to a marked text between the generator and the audit.

One function an attack, on token ids or on text; :data:`~pura.measure.attacks.table.ATTACKS` lists
them, :func:`~pura.measure.attacks.table.attack_ids` and
:func:`~pura.measure.attacks.table.attack_text` run any of them on either, and
:func:`~pura.measure.attacks.table.stress` measures what one did. The key-aware oracle, which needs
what no attacker has, stands apart in :mod:`pura_lab.attacks.oracle`.
"""
