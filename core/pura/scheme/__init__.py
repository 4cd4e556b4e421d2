"""The scheme: keys, profile, payload and the schedule that both sides share.

NumPy and hashlib only, so that a serving stack can import it alone. scheme.md is its page.
"""

from pura.scheme.fields import Field, FieldValue, pack, parse_layout, unpack
from pura.scheme.keys import SecretKey, ranks, unit_interval
from pura.scheme.payload import Payload, parse_payload
from pura.scheme.profile import (
    Profile,
    default_blocks,
    encode,
    encode_rows,
    parity_mask,
    spc_data_positions,
)
from pura.scheme.schedule import (
    Gate,
    Schedule,
    Scheduler,
    Step,
    anchor,
    anchors,
    contexts_before,
    schedule,
)

__all__ = [
    "Field",
    "FieldValue",
    "Gate",
    "Payload",
    "Profile",
    "Schedule",
    "Scheduler",
    "SecretKey",
    "Step",
    "anchor",
    "anchors",
    "contexts_before",
    "default_blocks",
    "encode",
    "encode_rows",
    "pack",
    "parity_mask",
    "parse_layout",
    "parse_payload",
    "ranks",
    "schedule",
    "spc_data_positions",
    "unit_interval",
    "unpack",
]
