"""Power tables as JSON.

Format of the file::

    {"schema": "pura-power/1", "level": 0.95,
     "conditions": {"source": …, "models": [fingerprints], "seed": …},
     "entries": [{"code": "tbcc", "payload_bits": 36, "threshold": 6.0, "prompt": false,
                  "sampling": {"temperature": 1.0, "top_k": 0, "top_p": 1.0},
                  "entropy_thresholds_bits": [1.0, 3.0, 5.0],
                  "usable": [20, 40, …], "found": [3, 55, …], "texts": [64, 64, …],
                  "text_usable": 1400}]}

``usable[i]`` is the lower end of a class, which reaches up to the next one. ``text_usable`` may be
left out: the texts were marked from end to end. So may ``edit``: the texts were not edited. Entries
of edited texts are there to be read by people; no outcome rests on them.

An organisation measures tables of its own (:mod:`pura.measure.power`, docs/power.md); its policy
names those that count. Their conditions, and those of shipped tables measured the same way, hold
more than the study's: ``name``, ``generators`` where another model wrote the texts than reads them,
``kinds`` of texts, ``likelihood``, ``texts``, ``date``. A table whose measurement learnt a
likelihood table holds that too, as ``likelihood`` beside the entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pura.base.canonical import canonical, sha256
from pura.base.catalogue import Phrase, phrase
from pura.base.decoder import DecodeError, Decoder, later
from pura.base.errors import PolicyError, unusable
from pura.base.files import read_start
from pura.base.strict import read_json
from pura.verdict.power import PowerEntry, PowerTable

SCHEMA: Final = "pura-power/1"
MAX_BYTES: Final = 1 << 22
_DECODER: Final = Decoder()


@dataclass(frozen=True, kw_only=True)
class _PowerJson:
    schema: str
    level: float
    conditions: dict[str, Any]
    entries: tuple[Any, ...]
    likelihood: Any = later(None)


def load_power(path: Path) -> PowerTable:
    """Read a power table.

    Raises:
        PolicyError: The file cannot be read or is damaged; the entry is named.
    """
    text = read_start(path, MAX_BYTES, PolicyError)
    try:
        data = read_json(text) if len(text) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        raise _refuse(phrase("what.no-json")) from None
    return parse_power(data)


_UNFIT: Final = phrase("what.unfit")


def _refuse(what: Phrase, name: str = "") -> PolicyError:
    return unusable(PolicyError, "power", what, name)


def parse_power(data: object) -> PowerTable:
    """Read a power table from parsed JSON.

    Raises:
        PolicyError: It is damaged; the entry is named.
    """
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise _refuse(phrase("what.schema", schema=SCHEMA))
    try:
        whole = _DECODER.decode(_PowerJson, data)
    except DecodeError as error:
        raise _refuse(error.what, error.where) from None
    if not 0.5 <= whole.level < 1:
        raise _refuse(_UNFIT, "level")
    likelihood = None
    if whole.likelihood is not None:
        from pura.decode.model import LikelihoodError, LikelihoodModel  # late: few tables hold one

        try:
            likelihood = LikelihoodModel.from_dict(whole.likelihood)
        except LikelihoodError:
            raise _refuse(_UNFIT, "likelihood") from None
        if likelihood.fingerprint != whole.conditions.get("likelihood"):
            raise _refuse(_UNFIT, "likelihood")
    models = whole.conditions.get("models", [])
    if not isinstance(models, list) or not all(isinstance(m, str) for m in models):
        raise _refuse(_UNFIT, "models")
    return PowerTable(
        entries=tuple(
            _parse_entry(entry, i + 1, whole.level) for i, entry in enumerate(whole.entries)
        ),
        models=tuple(models),
        conditions=whole.conditions,
        fingerprint=_fingerprint(data),
        likelihood=likelihood,
    )


def _fingerprint(data: object) -> str:
    try:
        return sha256(canonical(data))
    except (ValueError, RecursionError):
        raise _refuse(phrase("what.no-json")) from None


def _parse_entry(entry: object, number: int, level: float) -> PowerEntry:
    try:
        if isinstance(entry, dict) and "level" in entry:
            raise DecodeError(phrase("what.unknown"), "level")
        data = {**entry, "level": level} if isinstance(entry, dict) else entry
        parsed = _DECODER.decode(PowerEntry, data)
    except DecodeError as error:
        where = error.below(f"entries[{number - 1}]")
        raise _refuse(error.what, where) from None
    if not len(parsed.usable) == len(parsed.found) == len(parsed.texts) > 0:
        raise _refuse(_UNFIT, f"entries[{number - 1}]")
    if parsed.usable[0] < 0 or any(
        low >= high for low, high in zip(parsed.usable, parsed.usable[1:], strict=False)
    ):
        raise _refuse(_UNFIT, f"entries[{number - 1}].usable")
    if any(not 0 <= f <= n for f, n in zip(parsed.found, parsed.texts, strict=True)):
        raise _refuse(_UNFIT, f"entries[{number - 1}].found")
    return parsed
