"""What an organisation has fixed before it examines anything.

The settings of the reporting conventions that this version acts on: thresholds, cap, power, prior
weights, redraws. They stand in one JSON file, are stored whole with every record, and a value out
of its range is refused with its name: a decision rule that was changed by a typing error is worse
than none. ``resources/policy.schema.json`` is made of the same declarations.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import Annotated, Any, Final

from pura.base.catalogue import Phrase, phrase
from pura.base.decoder import (
    Form,
    check,
    decode,
    described,
    list_of,
    matching,
    number,
    one_of,
    refused_as,
    text,
    whole,
)
from pura.base.errors import PolicyError, naming, os_error_as, unusable
from pura.base.files import read_start, write_atomic
from pura.base.json_text import read_json
from pura.base.paths import resource
from pura.record.naming import IDENTIFIED, LEAST_IDENTIFIED
from pura.scheme.profile import MAX_EPOCHS

SCHEMA: Final = "pura-policy/1"
MAX_POLICY_BYTES: Final = 1 << 16  # a policy is a page; more is not a policy
MAX_DRAWS: Final = 99_999
_FORMER: Final = ("single_runner_up",)
"""Settings of earlier versions that follow from others today."""
_SEED_HEX: Final = 13  # 52 bits: every JSON reader holds such a number exactly


def _text(least: int, most: int) -> Form:
    what = phrase("policy.text", least=least, most=most)
    return text(what, least, most, (str.isprintable, phrase("policy.print")))


_FINGERPRINT: Final = "[0-9a-f]{64}"
_LANGUAGES: Final = list_of(_text(2, 35), 100, "“de”, “en-GB”")
_TABLES: Final = list_of(
    matching(_FINGERPRINT, phrase("what.unfit")), 20, f"^{_FINGERPRINT}$", unique=True
)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A decision rule and what goes with it.

    Attributes:
        name: What the rule is called in sentences and reports.
        version: Counts up with every change.
        organisation: Who answers for it.
        t_found: ``T_found`` in log10: from here on the outcome is "mark".
        t_review: ``T_review`` in log10: from here on the outcome is "indication".
        lr_cap: Largest likelihood ratio that is ever reported. Beyond it leaked keys, mix-ups and
            faults of the software outweigh chance.
        power_needed: "No mark" needs at least this power at the text's number of usable positions.
        min_usable: Fewer usable positions than this are too little evidence, whatever they say.
        odd_characters: From this share of odd characters on (pictures, letters of other scripts,
            code points without a character) "no mark" is not said.
        left_out_share: "No mark" is not said of a file of whose words more than this share was not
            examined.
        single_weight: Posterior from which a payload, or what one of its fields says, is identified
            and may be named.
        name_ratio: Somebody is named by a payload that is used more than once only where the mark
            fits so much better (log10) in stretches, as in a text that was written under it, than
            one by one, as in a text that was put together (evidence.md §7).
        name_per_step: And only where it fits so much better (log10, for each step) than no mark.
        prior_none: Prior weight of "not in the register".
        register_prior: Part of the prior weight that the payloads of the register share, before
            the text is seen; 0 takes all payloads alike, 0.5 the issued ones for one half.
        outside_limits: Part of the prior weight that all payloads share, where a profile has limits
            of its fields; those within the limits share the rest (evidence.md §3).
        draws: Redraws ``R`` of the redraw p-value; 0 leaves it out. More draws resolve smaller
            p-values and take longer; the bound does not need them.
        redraw: ``undecided``: phases are redrawn where evidence is there and the threshold is not
            reached; ``always``: for every text.
        stop_early: Read no further once the evidence has reached what is ever reported.
        seed_rule: ``input``: the seed follows from the hash of the item, so that a repeat gives
            the identical result.
        yearly_volume: Texts examined a year, for the expected number of false alarms; 0 = not
            stated.
        signed: Reports are signed: one without a signature fails its check.
        third_person: A report is final only where another person authorises it than the one who
            reviewed it; in any case nobody authorises or reviews what they examined.
        epochs: How many are tried, up to the present one, where a profile says that keys are those
            of a day, a week or a month and nobody gives a range.
        languages: Languages of texts that were validated, BCP 47; a text in another one is not
            examined. Empty admits all.
        power_tables: Fingerprints (SHA-256, hex) of the organisation's own power tables that count
            (power.md); the shipped one counts where none of them speaks of a text.
    """

    name: Annotated[str, _text(1, 60)] = "default"
    version: Annotated[int, whole(1, 1_000_000)] = 2
    organisation: Annotated[str, _text(0, 200)] = ""
    t_found: Annotated[float, number(3.0, 9.0)] = 6.0
    t_review: Annotated[float, number(1.0, 9.0)] = 3.0
    lr_cap: Annotated[float, number(1e4, 1e9)] = 1e6
    power_needed: Annotated[float, number(0.5, 1.0)] = 0.95
    min_usable: Annotated[int, whole(1, 10_000)] = 12
    odd_characters: Annotated[float, number(0.001, 1.0)] = 0.02
    left_out_share: Annotated[float, number(0.0, 1.0)] = 0.03
    single_weight: Annotated[float, number(LEAST_IDENTIFIED, 1.0)] = IDENTIFIED
    name_ratio: Annotated[float, number(-10.0, 10.0)] = 0.0
    name_per_step: Annotated[float, number(0.0, 1.0)] = 0.04
    prior_none: Annotated[float, number(0.001, 0.999)] = 0.1
    register_prior: Annotated[float, number(0.0, 0.9)] = 0.0
    outside_limits: Annotated[float, number(1e-6, 0.5)] = 0.01
    draws: Annotated[int, whole(0, MAX_DRAWS)] = 999
    redraw: Annotated[str, one_of("undecided", "always")] = "undecided"
    stop_early: bool = False
    seed_rule: Annotated[str, one_of("input")] = "input"
    yearly_volume: Annotated[int, whole(0, 10**12)] = 0
    signed: bool = False
    third_person: bool = False
    epochs: Annotated[int, whole(1, MAX_EPOCHS)] = 31
    languages: Annotated[tuple[str, ...], _LANGUAGES] = ()
    power_tables: Annotated[tuple[str, ...], _TABLES] = ()

    def __post_init__(self) -> None:
        with refused_as(PolicyError, "policy"):
            check(self)
        if self.t_review > self.t_found:
            raise _refusal("t_review", phrase("policy.above"))

    @property
    def rule(self) -> str:
        """Name and version, as sentences print it."""
        return f"{self.name}/{self.version}"

    @property
    def one_in(self) -> int:
        """``1/α``: of texts without the mark at most one in so many reaches ``t_found``."""
        return math.floor(10**self.t_found)

    @property
    def false_alarms(self) -> float | None:
        """Largest expected number of false alarms a year; None when no volume is stated."""
        return self.yearly_volume * 10**-self.t_found if self.yearly_volume else None

    @property
    def stop_at(self) -> float | None:
        """log10 of the evidence from which no more is read: threshold and cap; None reads all."""
        if not self.stop_early:
            return None
        return max(self.t_found, math.log10(self.lr_cap)) + self.prior_cost

    @property
    def limits_cost(self) -> float:
        """log10 by which limits may lower the evidence of what is not within them."""
        return -math.log10(self.outside_limits)

    @property
    def prior_cost(self) -> float:
        """log10 by which a register as prior may lower the evidence of what it does not hold."""
        return -math.log10(1 - self.register_prior)

    def seed(self, sha256: str) -> int:
        """Return the seed of the redraws for an item.

        Args:
            sha256: Hash of the item's original bytes, hex.

        Returns:
            0 … 2**52 - 1.
        """
        return int(sha256[:_SEED_HEX], 16)

    @classmethod
    def from_dict(cls, data: object) -> Policy:
        """Read a policy from parsed JSON; settings that are left out have their default.

        Raises:
            PolicyError: Names the setting that is unknown, of a wrong type or out of range.
        """
        if not isinstance(data, dict):
            raise unusable(PolicyError, "policy", phrase("what.object"))
        if data.get("schema") != SCHEMA:
            raise _refusal("schema", phrase("policy.schema", schema=SCHEMA))
        values = {k: v for k, v in data.items() if k not in ("schema", *_FORMER)}
        with refused_as(PolicyError, "policy"):
            return decode(cls, values, sparse=True)

    @classmethod
    def from_json(cls, written: str | bytes) -> Policy:
        """Read a policy from JSON text.

        Raises:
            PolicyError: Not JSON, or not a valid policy.
        """
        if len(written) > MAX_POLICY_BYTES:
            raise unusable(PolicyError, "policy", phrase("what.large"))
        with refused_as(PolicyError, "policy"):
            data = read_json(written)
        return cls.from_dict(data)

    def to_dict(self) -> dict[str, object]:
        """Return the policy as plain JSON values, every setting text out."""
        out: dict[str, object] = {"schema": SCHEMA}
        for field in dataclass_fields(self):
            value = getattr(self, field.name)
            out[field.name] = list(value) if isinstance(value, tuple) else value
        return out

    def to_json(self) -> str:
        """Return the policy as JSON text for people and programs."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"

    def save(self, path: Path) -> None:
        """Write the policy file in one step.

        Raises:
            PolicyError: The file cannot be text.
        """
        with os_error_as(PolicyError, "file.write", name=path.name):
            write_atomic(path, self.to_json().encode())


def _refusal(name: str, problem: Phrase) -> PolicyError:
    return unusable(PolicyError, "policy", problem, name)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy file; editors show what a setting means."""
    about = {"const": SCHEMA, "description": "Format of the file; required."}
    body = described(Policy)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "PURA audit policy",
        **body,
        "properties": {"schema": about, **body["properties"]},
        "required": ["schema"],
    }


def default_policy() -> Policy:
    """Return the policy that ships with the program (``resources/policy-default.json``)."""
    return _read(resource("policy-default.json"))


def load_policy(path: Path | None = None, *, must_exist: bool = False) -> Policy:
    """Return the policy of a file, or the default one when there is no file.

    Args:
        path: The organisation's policy file; None means the default.
        must_exist: A missing file is an error too, as it is when somebody named it.

    Raises:
        PolicyError: There is a file but it cannot be read or is not a valid policy. It is never
            passed over in silence: another decision rule would take its place unseen.
    """
    if path is None:
        return default_policy()
    try:
        path.stat()
    except FileNotFoundError:
        if not must_exist:
            return default_policy()
    except OSError:
        pass  # whoever reads it says why
    return _read(path)


def _read(path: Path) -> Policy:
    data = read_start(path, MAX_POLICY_BYTES, PolicyError)
    with naming(path.name):
        return Policy.from_json(data)
