"""What the law asks of whoever marks texts, and what an installation has of it.

Known from reports about the law, the Commission's guidelines and the Code of Practice; nobody read
the originals for this program. No legal advice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from pura.base.catalogue import Phrase, phrase
from pura.base.errors import PolicyError, PuraError, RegisterError
from pura.base.files import exposed, read_bounded
from pura.base.json_text import read_json
from pura.detect.verdict.policy import Policy, load_policy
from pura.detect.verdict.power import PowerEntry, PowerTable, shipped_power
from pura.register.store import Register
from pura.report.regulators import Duty, DutyState, entries_of
from pura.scheme import Profile
from pura.usecases.environment import Environment
from pura.usecases.measurements import tables_of

PROVENANCE: Final = ("encypher_c2pa", "c2pa_text", "c2pa_text_binding", "cbor2")
"""What the extra ``provenance`` brings, as it is imported."""
_MAX_SERVICE: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What duties are held against.

    Attributes:
        at: Whose stores and folders.
        policy: The rule that findings follow.
        profile: What texts are marked with; None where no profile is stored.
        own: The power tables that the policy names.
        detector: Address of the detector that others may ask; empty where none was given.
        service: What the detector of this installation said of itself when it was last started;
            empty where it never was.
    """

    at: Environment
    policy: Policy
    profile: Profile | None
    own: tuple[PowerTable, ...] = ()
    detector: str = ""
    service: dict[str, Any] = field(default_factory=dict)

    def measured(self, tables: tuple[PowerTable, ...]) -> list[PowerEntry]:
        """Return what tables say of the profile."""
        if self.profile is None:
            return []
        asked = (self.profile, self.policy.t_found)
        return [entry for table in tables for entry in entries_of(table, *asked)]

    @property
    def entries(self) -> list[PowerEntry]:
        """What own tables say of the profile, or else shipped ones."""
        return self.measured(self.own) or self.measured(shipped_power())


def deployment(
    at: Environment, profile: Profile | None, *, policy: Policy | None = None, detector: str = ""
) -> Deployment:
    """Return what duties of a profile are held against.

    Args:
        at: Whose stores and folders.
        profile: What texts are marked with; None: nothing.
        policy: The rule; None takes the stored one.
        detector: Address of the detector that others may ask.

    Raises:
        PolicyError: Policy or a table cannot be used.
    """
    rule = policy or load_policy(at.paths.policy)
    service: dict[str, Any] = {}
    if at.paths.detector.exists():
        try:
            service = dict(read_json(read_bounded(at.paths.detector, _MAX_SERVICE, PolicyError)))
        except (ValueError, TypeError):
            service = {}  # damaged: as if it had never been started
    return Deployment(
        at=at,
        policy=rule,
        profile=profile,
        own=tables_of(at, rule),
        detector=detector.rstrip("/"),
        service=service,
    )


Seen: TypeAlias = tuple[DutyState, Phrase]


def _marked(of: Deployment) -> Seen:
    if of.profile is None:
        return "absent", phrase("marked.none")
    if not of.profile.model:
        return "partly", phrase("marked.model")
    try:
        keys = len(of.at.keys.list())
    except PuraError:
        keys = 0
    if not keys:
        return "partly", phrase("marked.key")
    return "have", phrase("marked.have", bits=of.profile.payload_bits, keys=keys)


def _layers(of: Deployment) -> Seen:
    if any(find_spec(name) is None for name in PROVENANCE):
        return "absent", phrase("layers.none")
    named, kept = _named(of.at), _kept(of.at)
    if not named and not kept:
        return "partly", phrase("layers.read")
    return "have", phrase("layers.have", named=named, kept=kept)


def _named(at: Environment) -> int:
    """Return how many entries of the register name a manifest."""
    if not at.paths.register.exists():
        return 0
    with suppress(RegisterError), Register(at.paths.register, read_only=True) as register:
        return register.manifests()
    return 0


def _kept(at: Environment) -> int:
    """Return to how many manifests the values lead that the service of this installation keeps."""
    path = at.paths.data / "manifests.sqlite3"
    if not path.exists():
        return 0
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db,
    ):
        return int(db.execute("SELECT count(DISTINCT manifest) FROM bindings").fetchone()[0])
    return 0


def _reliable(of: Deployment) -> Seen:
    one_in, alarms = of.policy.one_in, of.policy.false_alarms
    if alarms is None:
        return "partly", phrase("reliable.volume", one_in=one_in)
    count, volume = f"{alarms:.2g}", of.policy.yearly_volume
    return "have", phrase("reliable.have", one_in=one_in, volume=volume, false=count)


def _effective(of: Deployment) -> Seen:
    wanted = of.policy.power_needed
    whole = [one for one in of.entries if not one.edit and not one.text_usable]
    reached = [n for one in whole if (n := one.needed(wanted)) is not None]
    share = f"{100 * wanted:g}"
    if whole and len(reached) == len(whole):
        return "have", phrase("effective.have", share=share, count=max(reached))
    if whole:
        return "partly", phrase("effective.low", share=share)
    return "absent", phrase("effective.none")


def _robust(of: Deployment) -> Seen:
    edits = sorted({entry.edit for entry in of.entries if entry.edit})
    if edits:
        return "have", phrase("robust.have", edits=", ".join(edits))
    if of.entries:
        return "partly", phrase("robust.unedited")
    return "absent", phrase("robust.none")


def _tested(of: Deployment) -> Seen:
    own = [table for table in of.own if of.measured((table,))]
    signed = [one for one in own if of.at.power.get(one.fingerprint).signature is not None]
    if signed:
        return "have", phrase("tested.have", name=signed[0].name)
    if own:
        return "partly", phrase("tested.unsigned", name=own[0].name)
    if of.entries:
        return "partly", phrase("tested.shipped")
    return "absent", phrase("tested.none")


def _detector(of: Deployment) -> Seen:
    if of.service.get("anyone"):
        where = of.detector or str(of.service.get("contact", ""))
        return "have", phrase("detector.anyone", where=where or "–")
    if of.service:
        return "partly", phrase("detector.tokens")
    if of.detector:
        return "partly", phrase("detector.elsewhere", address=of.detector)
    return "absent", phrase("detector.none")


def _standard(of: Deployment) -> Seen:
    if of.service or of.detector:
        return "partly", phrase("standard.own")
    return "absent", phrase("standard.none")


def _plain(of: Deployment) -> Seen:
    if not of.service:
        return "absent", phrase("plain.none")
    if not (languages := of.service.get("languages")):
        return "partly", phrase("plain.languages")
    return "have", phrase("plain.have", languages=", ".join(map(str, languages)))


def _told(of: Deployment) -> Seen:
    if not of.service:
        return "absent", phrase("told.none")
    if not of.service.get("contact") or not of.service.get("statement_key"):
        return "partly", phrase("told.contact")
    return "have", phrase("told.have", contact=str(of.service["contact"]))


def _routed(of: Deployment) -> Seen:
    name = str(of.service.get("soft_binding", ""))
    if not name:
        return "absent", phrase("routed.none")
    if not of.service.get("public_lookups"):
        return "partly", phrase("routed.tokens", name=name)
    return "have", phrase("routed.have", name=name)


def _pseudonyms(of: Deployment) -> Seen:
    if of.profile is None:
        return "absent", phrase("pseudonyms.none")
    if of.profile.recipient_in_payload:
        return "partly", phrase("pseudonyms.recipient")
    if of.service.get("public_lookups"):
        return "partly", phrase("pseudonyms.lookups")
    return "have", phrase("pseudonyms.have", count=_issued(of.at))


def _issued(at: Environment) -> int:
    """Return how many entries the register has."""
    if not at.paths.register.exists():
        return 0
    with suppress(RegisterError), Register(at.paths.register, read_only=True) as register:
        return len(register)
    return 0


def _technique(of: Deployment) -> Seen:
    if not of.service:
        return "absent", phrase("technique.none")
    if not of.service.get("statement_key"):
        return "absent", phrase("technique.unsigned")
    return "partly", phrase("technique.partly")


def _signpost(of: Deployment) -> Seen:
    name = str(of.service.get("soft_binding", ""))
    if not name:
        return "absent", phrase("signpost.none")
    return "partly", phrase("signpost.partly", name=name)


def _gap(_: Deployment) -> Seen:
    return "partly", phrase("gap.partly")


def _logged(of: Deployment) -> Seen:
    path = of.at.paths.register
    if not path.exists():
        return "absent", phrase("logged.none")
    if not (count := _issued(of.at)):
        return "partly", phrase("logged.empty")
    if exposed(path.parent) and (command := exposed(path)):
        return "partly", phrase("logged.open", command=command)
    return "have", phrase("logged.have", count=count)


DUTIES: Final[tuple[tuple[str, Phrase, Callable[[Deployment], Seen]], ...]] = (
    ("marked", phrase("source.act-and-code", place="1.1.2"), _marked),
    ("layers", phrase("source.code", place="1.1.1"), _layers),
    ("reliable", phrase("source.act"), _reliable),
    ("effective", phrase("source.act"), _effective),
    ("robust", phrase("source.act"), _robust),
    ("tested", phrase("source.code", place="4"), _tested),
    ("detector", phrase("source.guidelines", place="70, 75"), _detector),
    ("standard", phrase("source.guidelines", place="76"), _standard),
    ("plain", phrase("source.guidelines", place="77"), _plain),
    ("pseudonyms", phrase("source.guidelines", place="94"), _pseudonyms),
    ("technique", phrase("source.code", place="2"), _technique),
    ("told", phrase("source.code", place="3.4"), _told),
    ("routed", phrase("source.routed", place="3.4"), _routed),
    ("signpost", phrase("source.routed", place="3.4(c)"), _signpost),
    ("gap", phrase("source.guidelines", place="146–148"), _gap),
    ("logged", phrase("source.code", place="1.1.3"), _logged),
)
"""Each duty: its name, where it is asked as reported, and the function that looks."""


def duties(of: Deployment) -> tuple[Duty, ...]:
    """Look at every duty, in the order of :data:`DUTIES`."""
    found = []
    for name, source, look in DUTIES:
        state, seen = look(of)
        found.append(Duty(id=name, source=source, state=state, seen=seen))
    return tuple(found)
