"""Exact decoding on a tail-biting trellis (docs/evidence.md, "A codeword's likelihood ratio").

``make_trellis(profile)`` is the way in. Both codes of the scheme are walks of a binary shift
register that must end in the state in which they began, so they share one set of algorithms:

* ``register``: one step of the register, in any semiring, and what follows from it;
* ``bridge``: the sum over all payloads as a Markov chain's chance to come home, for speed;
* ``listing``: the ``k`` best walks;
* ``spc`` and ``tbcc``: what the register holds and what a walk of it weighs.
"""

from pura.decode.trellis.codes import SpcTrellis, TbccTrellis
from pura.decode.trellis.register import Trellis
from pura.scheme import Profile

__all__ = ["SpcTrellis", "TbccTrellis", "Trellis", "make_trellis"]


def make_trellis(profile: Profile) -> Trellis:
    """Return the trellis of a profile's payload code.

    Args:
        profile: Says which code, how many payload bits and, for ``spc``, how many blocks.
    """
    if profile.code == "tbcc":
        return TbccTrellis(payload_bits=profile.payload_bits)
    return SpcTrellis(payload_bits=profile.payload_bits, blocks=profile.block_count)
