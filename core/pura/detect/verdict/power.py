"""How often a marked text would be found: the table behind "no mark found".

Power is a statement about how much of the text is marked: "of texts like this one in which at least
so many usable positions in a row are marked". An entry measured on texts marked from end to end
speaks of those only; one measured on passages inside longer texts (``text_usable``) of every text
up to that length.

Without it the absence of a mark says nothing. The tables that ship (``resources/power/``) are
measured on unedited marked texts: for a class of usable positions, how many of so many texts
reached the threshold. What is used is never the share itself but its lower confidence limit
(Clopper and Pearson 1934), so a small study cannot make a strong claim: even if every text was
found it takes 59 of them to show a power of 0.95. Where nothing was measured the power is None,
and the outcome is "too little evidence", never "no mark".

Three parts: the table, as it is measured; its file, which an organisation seals and signs; and what
tables allow to be said of a text, and of texts of a profile (:func:`claim` and after it).
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pura.base.catalogue import Phrase, phrase
from pura.base.decoder import Form, decode, hold, later, one_of, refused_as
from pura.base.errors import PolicyError, naming, unusable
from pura.base.files import read_bounded, read_start, write_or_refuse
from pura.base.json_text import canonical, read_json, sha256
from pura.base.paths import resource
from pura.scheme import Profile

if TYPE_CHECKING:
    from pura.detect.decode.likelihood import LikelihoodModel


PROSE: Final = "English"
"""Of what the texts were where a table does not say it."""


def _sampling(value: object) -> tuple[float, int, float]:
    found = hold({"temperature": float, "top_k": int, "top_p": float}, value)
    return found["temperature"], found["top_k"], found["top_p"]


@dataclass(frozen=True, kw_only=True)
class PowerEntry:
    """What was measured under one set of conditions.

    Attributes:
        code: ``spc`` or ``tbcc``.
        payload_bits: ``L_m``.
        threshold: log10 of the evidence that counted as found.
        prompt: The verifier knew the prompt.
        sampling: Temperature, top_k and top_p of the generator.
        entropy_thresholds_bits: The gate's thresholds.
        usable: Lower ends of the classes of usable positions, ascending.
        found: Texts of each class that reached the threshold.
        texts: Texts of each class.
        level: Confidence level of the limits.
        text_usable: Usable positions of the longest texts that the passages stood in; 0 where the
            texts were marked from end to end.
        edit: What was done to the texts before they were read; empty for nothing.
    """

    code: str
    payload_bits: int
    threshold: float
    prompt: bool
    sampling: Annotated[tuple[float, int, float], Form(read=_sampling, schema={})]
    entropy_thresholds_bits: tuple[float, ...]
    usable: tuple[int, ...]
    found: tuple[int, ...]
    texts: tuple[int, ...]
    level: float
    text_usable: int = later(0)
    edit: str = later("")

    @cached_property
    def limits(self) -> tuple[float, ...]:
        """Lower confidence limits, made monotone downwards.

        Power grows with the usable positions, so a class is never credited with more than any
        class above it: the running minimum from the right.
        """
        lowest = 1.0
        out = []
        for found, texts in zip(reversed(self.found), reversed(self.texts), strict=True):
            lowest = min(lowest, lower_limit(found, texts, self.level))
            out.append(lowest)
        return tuple(reversed(out))

    def speaks_of(self, profile: Profile, threshold: float) -> bool:
        """Whether it was measured as a profile says, with payload and threshold as hard or harder.

        Args:
            profile: Its code, payload, sampling and gate.
            threshold: log10 of the evidence that counts as found.
        """
        return (
            self.code == profile.code
            and self.payload_bits >= profile.payload_bits
            and self.threshold >= threshold
            and self.sampling == (profile.temperature, profile.top_k, profile.top_p)
            and self.entropy_thresholds_bits == profile.entropy_thresholds_bits
        )

    def power(self, usable: int) -> float:
        """Return the limit of the class that holds ``usable``; 0 below the first class."""
        at = sum(low <= usable for low in self.usable)
        return self.limits[at - 1] if at else 0.0

    def needed(self, power: float) -> int | None:
        """Return the usable positions from which the power is reached, or None."""
        for low, limit in zip(self.usable, self.limits, strict=True):
            if limit >= power:
                return low
        return None


@dataclass(frozen=True, kw_only=True)
class PowerTable:
    """All that was measured.

    Attributes:
        entries: One for each set of conditions.
        models: Fingerprints of the models that were measured, as generator and verifier alike
            unless the conditions name ``generators``.
        conditions: What the study says of itself.
        fingerprint: SHA-256 of the whole table in its canonical form, 64 hex digits.
        likelihood: The likelihood table that was learnt with it; None where the shipped one weighed
            its texts.
    """

    entries: tuple[PowerEntry, ...] = ()
    models: tuple[str, ...] = ()
    conditions: dict[str, Any]
    fingerprint: str = ""
    # Its numbers are part of what the fingerprint is over.
    likelihood: LikelihoodModel | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """What whoever measured it called it; empty for the study's."""
        return str(self.conditions.get("name", ""))

    def power(
        self,
        usable: int,
        profile: Profile,
        threshold: float,
        prompt_known: bool,
    ) -> float | None:
        """Return the share of unedited marked texts that would be found, as a lower limit.

        Args:
            usable: Steps of the text that carry bits, ``S``.
            profile: Its code, payload, sampling and gate choose the entry.
            threshold: log10 of the evidence that counts as found (``t_found``).
            prompt_known: The verifier knows the prompt.

        Returns:
            0 … 1, or None when the conditions were not measured.
        """
        entry = self._entry(profile, threshold, prompt_known)
        return None if entry is None else entry.power(usable)

    def needed(
        self,
        profile: Profile,
        threshold: float,
        power: float,
        prompt_known: bool,
    ) -> int | None:
        """Return how many usable positions the power takes; None when not measured or reached."""
        entry = self._entry(profile, threshold, prompt_known)
        return None if entry is None else entry.needed(power)

    def run(self, asked: PowerQuery, power: float) -> tuple[float | None, int | None]:
        """Return what may be said of marked positions in a row in the text at hand.

        Args:
            asked: The text and the conditions of its audit.
            power: How often they must be found to say so.

        Returns:
            The share of such texts that would be found, as a lower limit, and how many positions
            must be marked in a row for that. Where none reaches ``power``, what is known of the
            text marked from end to end, and from how many positions such texts reach it. None
            where nothing fits.
        """
        if not self._measured(asked):
            return None, None
        whole = self._entry(asked.profile, asked.threshold, asked.prompt_known)
        inside = self._entry(
            asked.profile, asked.threshold, asked.prompt_known, text_usable=asked.usable
        )
        if inside is not None:
            needed = inside.needed(power)
            if needed is not None and needed <= asked.usable:
                return inside.power(needed), needed
        if whole is None:
            return None, None
        reached = whole.power(asked.usable)
        return reached, asked.usable if reached >= power else whole.needed(power)

    def _measured(self, asked: PowerQuery) -> bool:
        """Whether the conditions of an audit are those of the study."""
        conditions = self.conditions
        # Where no generators are named the texts were read by the model that wrote them.
        generators = conditions.get("generators", [asked.reader])
        return (
            asked.reader in self.models
            and asked.profile.model in generators
            and asked.likelihood == conditions.get("likelihood", asked.likelihood)
            and asked.dtype in conditions.get("dtypes", [asked.dtype])
            and self.suits(asked.profile, asked.kind)
        )

    def suits(self, profile: Profile, kind: str) -> bool:
        """Whether texts like one of a kind, under a profile, were measured, by whatever model.

        Args:
            profile: Its context rules, template and system prompt.
            kind: What the text looks like (:func:`pura.detect.verdict.expect.kind_of`).
        """
        conditions = self.conditions
        return (
            (not kind or kind in conditions.get("kinds", [PROSE]))
            and all(
                getattr(profile, name) == conditions[name]
                for name in ("context_window", "history", "prefix")
                if name in conditions
            )
            and all(
                getattr(profile, name) == conditions.get(name)
                for name in ("chat_template", "system_prompt")
            )
        )

    def _entry(
        self,
        profile: Profile,
        threshold: float,
        prompt_known: bool,
        *,
        text_usable: int = 0,
    ) -> PowerEntry | None:
        """Choose the measurement that cannot flatter the case at hand.

        A longer payload, a higher threshold, a longer text around the passage and an unknown
        prompt all make finding harder, so a measurement under them is a lower limit too; among
        those that fit, the closest one.
        """
        fitting = [
            entry
            for entry in self.entries
            if not entry.edit
            and entry.speaks_of(profile, threshold)
            and (prompt_known or not entry.prompt)
            and (entry.text_usable >= text_usable if text_usable else not entry.text_usable)
        ]
        return min(
            fitting,
            key=lambda entry: (
                entry.text_usable,
                entry.payload_bits,
                entry.threshold,
                entry.prompt != prompt_known,
            ),
            default=None,
        )


@dataclass(frozen=True, kw_only=True)
class PowerQuery:
    """A text under audit, as far as the power depends on it.

    Attributes:
        profile: Code, payload, sampling, gate; names the model that generates.
        usable: Steps of the text that carry bits, ``S``.
        threshold: log10 of the evidence that one marked reading under one key must reach.
        prompt_known: The verifier knows the prompt.
        reader: Fingerprint of the model that reads.
        dtype: Its number format.
        kind: What its words look like (:func:`pura.detect.verdict.expect.kind_of`).
        likelihood: Fingerprint of the likelihood table that weighed it.
    """

    profile: Profile
    usable: int
    threshold: float
    prompt_known: bool
    reader: str
    dtype: str
    kind: str
    likelihood: str


def lower_limit(found: int, texts: int, level: float = 0.95) -> float:
    """Return the one-sided lower confidence limit of a share (Clopper and Pearson 1934).

    The ``p`` at which ``P(X >= found)`` is ``1 - level`` for ``X`` binomial over ``texts``.

    Args:
        found: Successes.
        texts: Trials.
        level: Confidence level.
    """
    if found <= 0:
        return 0.0
    from scipy.special import betaincinv  # late: the window starts without it

    return float(betaincinv(found, texts - found + 1, 1 - level))


TABLE_SCHEMA: Final = "pura-power/1"
MAX_BYTES: Final = 1 << 22
_TABLE: Final = {
    "schema": str,
    "level": float,
    "conditions": dict[str, Any],
    "entries": [Any],
    "likelihood?": Any,
}


def load_power(path: Path) -> PowerTable:
    """Read a power table.

    Raises:
        PolicyError: The file cannot be read or is damaged; the entry is named.
    """
    text = read_start(path, MAX_BYTES, PolicyError)
    with refused_as(PolicyError, "power"):
        data = read_json(text) if len(text) <= MAX_BYTES else None
    return parse_power(data)


_UNFIT: Final = phrase("what.unfit")


def _refuse(what: Phrase, name: str = "") -> PolicyError:
    return unusable(PolicyError, "power", what, name)


def parse_power(data: object) -> PowerTable:
    """Read a power table from parsed JSON.

    Raises:
        PolicyError: It is damaged; the entry is named.
    """
    if not isinstance(data, dict) or data.get("schema") != TABLE_SCHEMA:
        raise _refuse(phrase("what.schema", schema=TABLE_SCHEMA))
    with refused_as(PolicyError, "power"):
        whole, fingerprint = hold(_TABLE, data), sha256(canonical(data))
    level, conditions = whole["level"], whole["conditions"]
    if not 0.5 <= level < 1:
        raise _refuse(_UNFIT, "level")
    likelihood = None
    if (learnt := whole.get("likelihood")) is not None:
        from pura.detect.decode.likelihood import LikelihoodError, LikelihoodModel

        try:
            likelihood = LikelihoodModel.from_dict(learnt)
        except LikelihoodError:
            raise _refuse(_UNFIT, "likelihood") from None
        if likelihood.fingerprint != conditions.get("likelihood"):
            raise _refuse(_UNFIT, "likelihood")
    models = conditions.get("models", [])
    if not isinstance(models, list) or not all(isinstance(m, str) for m in models):
        raise _refuse(_UNFIT, "models")
    return PowerTable(
        entries=tuple(
            _parse_entry(entry, f"entries[{at}]", level)
            for at, entry in enumerate(whole["entries"])
        ),
        models=tuple(models),
        conditions=conditions,
        fingerprint=fingerprint,
        likelihood=likelihood,
    )


def _parse_entry(entry: object, place: str, level: float) -> PowerEntry:
    if isinstance(entry, dict) and "level" in entry:
        raise _refuse(phrase("what.unknown"), f"{place}.level")
    with refused_as(PolicyError, "power", place):
        data = {**entry, "level": level} if isinstance(entry, dict) else entry
        parsed = decode(PowerEntry, data)
    if not len(parsed.usable) == len(parsed.found) == len(parsed.texts) > 0:
        raise _refuse(_UNFIT, place)
    if parsed.usable[0] < 0 or any(
        low >= high for low, high in zip(parsed.usable, parsed.usable[1:], strict=False)
    ):
        raise _refuse(_UNFIT, f"{place}.usable")
    if any(not 0 <= f <= n for f, n in zip(parsed.found, parsed.texts, strict=True)):
        raise _refuse(_UNFIT, f"{place}.found")
    return parsed


SCHEMA: Final = "pura-power-file/1"
SHORT: Final = 16
"""Digits of a fingerprint that people are shown, and that name a file of the folder."""
MAX_NAME: Final = 80
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_FILE: Final = {
    "schema": one_of(SCHEMA),
    "table": dict[str, Any],
    "sha256": str,
    "signature?": str | None,
}


@dataclass(frozen=True, kw_only=True)
class PowerFile:
    """A sealed table.

    Attributes:
        data: The table as plain JSON values.
        table: The same, read.
        signature: CMS over :func:`statement`, DER; None where nobody signed.
    """

    data: Mapping[str, Any]
    table: PowerTable
    signature: bytes | None = None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the table, 64 hex digits."""
        return self.table.fingerprint

    def to_bytes(self) -> bytes:
        """Return the file."""
        whole: dict[str, Any] = {"schema": SCHEMA, "table": self.data, "sha256": self.fingerprint}
        if self.signature is not None:
            whole["signature"] = base64.b64encode(self.signature).decode()
        return json.dumps(whole, ensure_ascii=False, indent=1).encode() + b"\n"


def statement(fingerprint: str) -> bytes:
    """Return the bytes that are signed."""
    return canonical({"schema": SCHEMA, "sha256": fingerprint})


def seal(data: Mapping[str, Any], signature: bytes | None = None) -> PowerFile:
    """Seal a table.

    Args:
        data: The table as plain JSON values.
        signature: Over the :func:`statement` of its fingerprint.

    Raises:
        PolicyError: It is no table.
    """
    return PowerFile(data=data, table=parse_power(data), signature=signature)


def parse_power_file(data: bytes) -> PowerFile:
    """Read a sealed table.

    Raises:
        PolicyError: Not such a file, or its fingerprint is not that of the table in it.
    """
    with refused_as(PolicyError, "power"):
        whole = read_json(data)
    try:
        found = hold(_FILE, whole)
        signature = found.get("signature")
        signed = signature and base64.b64decode(signature, validate=True)
    except (LookupError, TypeError, ValueError):
        raise _refuse(phrase("what.schema", schema=SCHEMA)) from None
    sealed = seal(found["table"], signed or None)
    _check_conditions(sealed.table.conditions)
    if sealed.fingerprint != found["sha256"]:
        raise PolicyError("power.altered", code="power-altered")
    return sealed


def read_power_file(path: Path) -> PowerFile:
    """Read a sealed table from a file; see :func:`parse_power_file`."""
    data = read_bounded(path, MAX_BYTES, PolicyError)
    with naming(path.name):
        return parse_power_file(data)


class PowerFolder:
    """The sealed tables of this installation, a file each.

    Args:
        folder: Usually ``user_paths().power``; made when the first one is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def paths(self) -> tuple[Path, ...]:
        """Return all files, sound or not."""
        found = self.folder.glob("*.json") if self.folder.is_dir() else ()
        return tuple(sorted(path for path in found if not path.name.startswith(".")))

    def find(self, name: str) -> Path:
        """Return the file of a table.

        Args:
            name: The beginning of its fingerprint, or what it is called.

        Raises:
            PolicyError: There is none, or more than one.
        """
        found = [p for p in self.paths() if name and p.stem.startswith(name.lower()[:SHORT])]
        found = found or [p for p in self.paths() if _called(p) == name]
        if len(found) != 1:
            if found:
                raise PolicyError("name.ambiguous", name=name[:SHORT], code="power-several")
            raise PolicyError("power.absent", name=name[:SHORT], code="power-absent")
        return found[0]

    def get(self, name: str) -> PowerFile:
        """Return a table by its fingerprint, the beginning of that, or its name.

        Raises:
            PolicyError: It is not here, damaged, or another one than asked for.
        """
        sealed = read_power_file(self.find(name))
        if len(name) > SHORT and sealed.fingerprint != name and sealed.table.name != name:
            raise PolicyError("power.absent", name=name[:SHORT], code="power-absent")
        return sealed

    def put(self, sealed: PowerFile) -> Path:
        """Store a table; one that is here already takes its signature.

        Raises:
            PolicyError: The folder cannot be written.
        """
        path = self.folder / f"{sealed.fingerprint[:SHORT]}.json"
        write_or_refuse(path, sealed.to_bytes(), PolicyError, own=True)
        return path

    def remove(self, name: str) -> None:
        """Delete a table.

        Raises:
            PolicyError: It is not here, or cannot be deleted.
        """
        path = self.find(name)
        try:
            path.unlink()
        except OSError:
            raise PolicyError("file.delete", name=path.stem) from None


def _called(path: Path) -> str | None:
    try:
        return read_power_file(path).table.name
    except PolicyError:
        return None


def _check_conditions(conditions: Mapping[str, Any]) -> None:
    """Refuse what records and sentences could not name."""
    name, date, texts = (conditions.get(k) for k in ("name", "date", "texts"))
    sound = (
        isinstance(name, str)
        and 0 < len(name) <= MAX_NAME
        and name.isprintable()
        and isinstance(date, str)
        and _DAY.fullmatch(date)
        and type(texts) is int
    )
    if not sound:
        raise _refuse(_UNFIT, "conditions")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What may be said of how often marked texts like the one at hand are found.

    Attributes:
        power: Share of them, as a lower limit; None where nothing was measured.
        needed: Usable positions in a row that it speaks of; see :meth:`PowerTable.run`.
        table: The table behind it; None where there is none.
        own: It is one that the policy names, none of those that ship.
    """

    power: float | None = None
    needed: int | None = None
    table: PowerTable | None = None
    own: bool = False


def claim(own: Sequence[PowerTable], asked: PowerQuery, power: float) -> Claim:
    """Return what the tables allow to be said of a text.

    Tables of the organisation go before those that ship, since they were measured under its own
    conditions. Where several speak of the text, the weakest counts: the text does not say which of
    their conditions it was written under (a chat or a plain prompt, say).

    Args:
        own: The tables that the policy names.
        asked: The text and the conditions of its audit.
        power: How often marked texts must be found to say so.
    """

    def strength(made: Claim) -> tuple[float, float]:
        needed = math.inf if made.needed is None else made.needed
        return -needed, made.power or 0.0

    if asked.profile.model is None:  # of an unknown generator nothing was measured
        return Claim()
    for are_own in (True, False):
        tables = own if are_own else shipped_power()
        claims = [_claim(table, asked, power, own=are_own) for table in tables]
        claims = [made for made in claims if made.power is not None]
        if claims:
            return min(claims, key=strength)
    return Claim()


def _claim(table: PowerTable, asked: PowerQuery, power: float, *, own: bool) -> Claim:
    reached, needed = table.run(asked, power)
    if reached is None:
        return Claim()
    return Claim(power=reached, needed=needed, table=table, own=own)


def length_found(
    tables: Sequence[PowerTable], profile: Profile, threshold: float, power: float
) -> int | None:
    """Return how many usable positions in a row a power takes, the prompt being unknown.

    Of several tables that were measured under a profile's settings the weakest counts.

    Args:
        tables: Where to look.
        profile: Code, payload, sampling, gate, context rules, template.
        threshold: log10 of the evidence that counts as found.
        power: Share of marked texts that must be found.

    Returns:
        None when it was not measured, or not reached.
    """
    found = [
        table.needed(profile, threshold, power, prompt_known=False)
        for table in tables
        if table.suits(profile, "")
        and table.power(0, profile, threshold, prompt_known=False) is not None
    ]
    reached = [usable for usable in found if usable is not None]
    return max(reached) if found and len(reached) == len(found) else None


def likelihood_of(
    tables: Sequence[PowerTable], profile: Profile, reader: str
) -> LikelihoodModel | None:
    """Return the likelihood table that weighs texts of a profile, where one was learnt for them.

    It follows from policy, profile and model, never from a text (evidence.md §3).

    Args:
        tables: The power tables that the policy names, in its order; the first that fits counts.
        profile: What the texts may be marked with.
        reader: Fingerprint of the model that reads.

    Returns:
        None for the shipped one.
    """
    for table in tables:
        if (
            table.likelihood is not None
            and reader in table.models
            and profile.model in table.conditions.get("generators", [reader])
            and table.suits(profile, "")
            and any(
                (entry.sampling, entry.entropy_thresholds_bits)
                == (
                    (profile.temperature, profile.top_k, profile.top_p),
                    profile.entropy_thresholds_bits,
                )
                for entry in table.entries
            )
        ):
            return table.likelihood
    return None


@cache
def shipped_power() -> tuple[PowerTable, ...]:
    """Return the tables that ship with the program, the study's first.

    Raises:
        PolicyError: One cannot be read or is damaged.
    """
    tables = [load_power(path) for path in sorted(resource("power").glob("*.json"))]
    return tuple(sorted(tables, key=lambda table: table.name))
