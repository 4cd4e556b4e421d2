"""Key and profile of issued payloads, for rows that do not name them."""

from __future__ import annotations

from dataclasses import dataclass

from pura.base.errors import RegisterError
from pura.keys.epochs import AS_GIVEN, epoch_of, first_day, is_epoch
from pura.scheme import PayloadSeries, Profile


@dataclass(frozen=True, kw_only=True)
class IssuedUnder:
    """Key, epoch and profile under which the rows of a table, log or old register were issued.

    Attributes:
        profile: The profile.
        key: Fingerprint of the key; for an epoch's key, that of its parent key. Empty if unknown;
            the rows are then of unknown key, and name nobody.
        epoch: The day, ISO week or month of the key; ``none`` for a key without epochs. If empty
            and the profile's keys have epochs, it follows from the date of each row.
    """

    profile: Profile
    key: str = ""
    epoch: str = ""

    def __post_init__(self) -> None:
        if self.epoch not in ("", AS_GIVEN):
            first_day(self.epoch)
        if self.key:
            PayloadSeries(key=self.key, profile=self.profile.fingerprint)

    def series(self, date: str) -> PayloadSeries | None:
        """Return the series of a row.

        Args:
            date: Date of issue of the row.

        Returns:
            The series; None if the key is unknown.

        Raises:
            RegisterError: The epoch follows from the date, and the date is invalid.
        """
        if not self.key:
            return None
        if self.epoch == AS_GIVEN:
            return PayloadSeries(key=self.key, profile=self.profile.fingerprint)
        epoch, kind = self.epoch, self.profile.key_epochs
        if not epoch and kind is not None:
            day = date.strip()[:10]
            if not is_epoch(day):
                raise RegisterError(
                    "register.epoch-unknown", when=date, code="register-epoch-unknown"
                )
            epoch = epoch_of(first_day(day), kind)
        return PayloadSeries(key=self.key, epoch=epoch, profile=self.profile.fingerprint)
