"""What all texts of a run are audited with."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pura.base.progress import Checkpoint, Progress
from pura.detect.decode.likelihood import LikelihoodModel
from pura.detect.decode.limited import Issuable
from pura.detect.key_reading import issuable
from pura.detect.options import Options, latest_day
from pura.detect.verdict.power import likelihood_of
from pura.scheme import Profile, SecretKey

if TYPE_CHECKING:
    from pura.model.load import LanguageModel
    from pura.scheme import Profile


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditBasis:
    """What all documents of a run are audited with. Make it with :meth:`of`.

    Attributes:
        options: What else is asked.
        model: The model that reads.
        keys: Secret keys and their labels.
        profile: What generator and verifier share; ``today`` in its limits is written out.
        issuable: The payloads within limits; None where all are alike.
        day: What ``today`` in these limits stands for; None where none says it.
        likelihood: The frozen numbers of the decoder, where a power table brings its own.
        progress: Told of every step.
        checkpoint: Called often; may raise.
    """

    options: Options
    model: LanguageModel
    keys: Sequence[tuple[SecretKey, str | None]]
    profile: Profile
    issuable: Issuable | None
    day: dt.date | None
    likelihood: LikelihoodModel | None
    progress: Progress
    checkpoint: Checkpoint

    @classmethod
    def of(
        cls,
        options: Options,
        model: LanguageModel,
        keys: Sequence[tuple[SecretKey, str | None]],
        profile: Profile,
        progress: Progress,
        checkpoint: Checkpoint,
    ) -> AuditBasis:
        """Work out what follows from what a run is given."""
        day = options.day or latest_day()
        dated = profile.on(day)
        return cls(
            options=options,
            model=model,
            keys=keys,
            profile=dated,
            issuable=issuable(dated, options.policy),
            day=day if profile.names_today else None,
            likelihood=likelihood_of(options.power_tables, profile, model.fingerprint),
            progress=progress,
            checkpoint=checkpoint,
        )

    @property
    def beginning(self) -> tuple[int, ...]:
        """What stands before a text of which nothing else is known: the profile's template."""
        from pura.model.tokenise import beginning_ids

        return beginning_ids(self.model.tokenizer, self.profile, "")
