"""A record without the text that it is about.

A token's id tells its characters, so where the text is left out the ids go too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from pura.record.audit import Audit

NO_ID: Final = -1


def textless(audit: Audit) -> Audit:
    """Return the record without text, token ids and the texts of other readings."""
    variants = tuple(replace(one, text=None) for one in audit.variants)
    ids = np.full_like(audit.tokens.ids, NO_ID)
    return replace(audit, text=None, variants=variants, tokens=replace(audit.tokens, ids=ids))
