"""What the operator decides: limits, budgets, and what is said of the detector."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pura.base.paths import Paths
from pura.record.answers import Role
from pura.serve.tokens import PER_DAY


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where the service keeps what it keeps.

    Attributes:
        tokens: Hashes of tokens.
        salt: The secret under which addresses are hashed.
        store: What was spent of the budgets (SQLite).
    """

    tokens: Path
    salt: Path
    store: Path

    @classmethod
    def of(cls, paths: Paths) -> Places:
        """Return the places of a user."""
        folder = paths.config / "serve"
        return cls(
            tokens=folder / "tokens.json",
            salt=folder / "salt",
            store=paths.data / "serve.sqlite3",
        )


@dataclass(frozen=True, kw_only=True)
class Protection:
    """What keeps the service from being an oracle; each can be switched off to measure it.

    Attributes:
        margin: log10 by which the evidence has to lie above the policy's threshold before the
            public is told of a mark.
        least_tokens: Shorter texts get no answer.
        per_day_public: Checks (see :mod:`pura.serve.store`) in a day that the public may ask for
            in all; 0: no limit.
        per_day_block: Checks in a day from one block of addresses; 0: no limit.
    """

    margin: float = 1.0
    least_tokens: int = 200
    per_day_public: int = 2000
    per_day_block: int = 200


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the service takes.

    Attributes:
        body_bytes: Of one request.
        held_bytes: Of all requests that are under way.
        public_share: Of bytes, connections, and places in the queue: the share that the public can
            hold at most. What is left is for tokens.
        body_s: Seconds within which the body of a request has to be there.
        least_rate: Bytes of it that have to come in a second, on average,
        grace_s: from so many seconds on.
        characters: Of one text, by role.
        waiting: Checks that wait, in all.
        waiting_characters: Characters of all texts that wait.
        waiting_each: Checks that wait of one asker.
        kept: Answers that are kept to be fetched.
        kept_s: Seconds for which they are.
        at_once_s: Seconds within which an answer comes with the question.
        text_s: Seconds that one text may be read.
        drain_s: Seconds that running checks get when the service ends.
        connections: Open connections.
        header_s: Seconds within which TLS has to stand, and the head of each request to be there.
        parsers: Files of askers with tokens that are parsed at once.
        public_parsers: Those of the public.
        waiting_files: Files that wait for a parser, of each.
        parser_s: Seconds that one file may be parsed, by role.
        long_characters: Texts from here on are read in the gaps between shorter ones.
    """

    body_bytes: int = 8 << 20
    held_bytes: int = 64 << 20
    public_share: float = 0.5
    body_s: float = 30.0
    least_rate: int = 16_384
    grace_s: float = 5.0
    characters: dict[Role, int] = field(
        default_factory=lambda: {
            Role.PUBLIC: 100_000,
            Role.TRUSTED: 500_000,
            Role.INTERNAL: 2_000_000,
        }
    )
    waiting: int = 256
    waiting_characters: int = 8_000_000
    waiting_each: int = 64
    kept: int = 4096
    kept_s: float = 600.0
    at_once_s: float = 1.5
    text_s: float = 600.0
    drain_s: float = 30.0
    connections: int = 512
    header_s: float = 10.0
    parsers: int = 2
    public_parsers: int = 1
    waiting_files: int = 16
    parser_s: dict[Role, float] = field(
        default_factory=lambda: {Role.PUBLIC: 10.0, Role.TRUSTED: 30.0, Role.INTERNAL: 60.0}
    )
    long_characters: int = 16_384


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the service is run.

    Attributes:
        name: Of the detector, for people.
        contact: Whom to write to; an address of mail or a page.
        hosts: Names under which it is asked, beside those of this machine (``localhost``).
        languages: Of texts that the detector was validated for; empty: nothing was said.
        anyone: Whoever has no token may ask as the public.
        release: Fields of an identified payload that trusted askers are told.
        protection: See there.
        limits: See there.
    """

    name: str = ""
    contact: str = ""
    hosts: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    anyone: bool = False
    release: tuple[str, ...] = ()
    protection: Protection = Protection()
    limits: Limits = Limits()


__all__ = ["PER_DAY", "Limits", "Places", "Protection", "Settings"]
