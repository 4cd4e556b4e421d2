"""Under which key and profile payloads were issued, where their rows do not say so themselves."""

from __future__ import annotations

from dataclasses import dataclass

from pura.base.errors import RegisterError
from pura.keys.epochs import AS_GIVEN, epoch_of, first_day, is_epoch
from pura.scheme import PayloadSeries, Profile


@dataclass(frozen=True, kw_only=True)
class IssuedUnder:
    """What the rows of a table, a log or an old register were issued under.

    Attributes:
        profile: The profile.
        key: Fingerprint of the key; of an epoch's key, that of the key it was derived from. Empty
            where nobody knows it: then the rows are of unknown key, and name nobody.
        epoch: The day, ISO week or month of the key; ``none`` where the key marks as it is. Empty
            likewise, unless the profile's keys are those of an epoch: then each row's date says it.
    """

    profile: Profile
    key: str = ""
    epoch: str = ""

    def __post_init__(self) -> None:
        if self.epoch not in ("", AS_GIVEN):
            first_day(self.epoch)
        if self.key:
            PayloadSeries(key=self.key, profile=self.profile.fingerprint)

    def series(self, when: str) -> PayloadSeries | None:
        """Return what a row belongs to.

        Args:
            when: Its date of issue.

        Returns:
            None where the key is not known.

        Raises:
            RegisterError: The epoch follows from the date, and this is none.
        """
        if not self.key:
            return None
        if self.epoch == AS_GIVEN:
            return PayloadSeries(key=self.key, profile=self.profile.fingerprint)
        epoch, kind = self.epoch, self.profile.key_epochs
        if not epoch and kind is not None:
            day = when.strip()[:10]
            if not is_epoch(day):
                raise RegisterError(
                    "register.epoch-unknown", when=when, code="register-epoch-unknown"
                )
            epoch = epoch_of(first_day(day), kind)
        return PayloadSeries(key=self.key, epoch=epoch, profile=self.profile.fingerprint)
