"""Which manifests there are, and by which values they are found: what was published, and an index.

A value of a soft binding is kept as what it says (:mod:`pura.provenance.binding`): the beginning of
the profile's fingerprint, and the payload. So values in the form of 0.3 find the same manifests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from pura.base.database import Handle, Kind, transaction
from pura.base.decoder import DecodeError, decode
from pura.base.errors import PayloadError, ServeError
from pura.base.files import make_private, read_bounded
from pura.base.json_text import read_json
from pura.provenance.binding import BindingValue
from pura.scheme import Payload

SCHEMA: Final = "pura-manifests/1"
MAX_BYTES: Final = 64 << 20
MOST_PUBLISHED: Final = 2 << 20
_MOST_HELD: Final = 16 << 20
_PROFILE_DIGITS: Final = 8


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A C2PA manifest and the payload that leads to it.

    Attributes:
        payload: Characters 0 and 1.
        manifest: Its identifier.
        endpoint: Address of the interface that has it; empty: this one, from ``file``.
        file: The manifest store, beside the index; empty: an endpoint has it.
    """

    payload: str
    manifest: str
    endpoint: str = ""
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class Manifests:
    """The index of manifests.

    Attributes:
        schema: :data:`SCHEMA`.
        alg: The name of this detector's soft binding, as C2PA's list of algorithms has it.
        manifests: See there.
        folder: Where the files are.
    """

    schema: str
    alg: str
    manifests: tuple[Manifest, ...]
    folder: str = ""

    @classmethod
    def read(cls, path: Path) -> Manifests:
        """Read an index.

        Raises:
            ServeError: It is none, or names a file that is not there.
        """
        data = read_bounded(path, MAX_BYTES, ServeError)
        try:
            raw = read_json(data)
            if isinstance(raw, dict):
                raw["folder"] = str(path.parent.resolve())
            found = decode(cls, raw, sparse=True)
            where = _amiss(found)
        except DecodeError as error:
            where = error.where or "manifests"
        except ValueError:
            where = "JSON"
        if where:
            raise ServeError("serve.manifests", name=path.name, where=where, code="usage")
        return found


def _amiss(index: Manifests) -> str:
    """Return the place of what is wrong; empty where nothing is."""
    if index.schema != SCHEMA:
        return "schema"
    if not index.alg:
        return "alg"
    folder = Path(index.folder)
    for place, one in enumerate(index.manifests):
        try:
            Payload(text=one.payload)
        except PayloadError:
            return f"manifests[{place}].payload"
        if not one.manifest:
            return f"manifests[{place}].manifest"
        if bool(one.file) is bool(one.endpoint):
            return f"manifests[{place}].file"
        there = (folder / one.file).resolve()
        if one.file and not (there.is_relative_to(folder) and there.is_file()):
            return f"manifests[{place}].file"
    return ""


_KIND: Final = Kind(
    noun="database.manifests",
    whole="database.manifests",
    error=ServeError,
    application_id=0x5055524D,  # PURM
    migrations=(
        (
            (
                "CREATE TABLE manifests (identifier TEXT PRIMARY KEY, publisher TEXT NOT NULL,"
                " fingerprint TEXT NOT NULL, file TEXT NOT NULL, store BLOB NOT NULL)"
            ),
            (
                "CREATE TABLE bindings (number INTEGER PRIMARY KEY, profile TEXT NOT NULL,"
                " payload TEXT NOT NULL, manifest TEXT NOT NULL, endpoint TEXT NOT NULL,"
                " publisher TEXT NOT NULL,"
                " UNIQUE (profile, payload, manifest, endpoint, publisher))"
            ),
            "CREATE INDEX bindings_payload ON bindings (ltrim(payload, '0'))",
            "CREATE INDEX bindings_manifest ON bindings (manifest)",
        ),
    ),
    other_hint="database.manifests-hint",
    damaged_hint="database.manifests-hint",
    # 4 GiB: what is published can fill that, and not the disk.
    pragmas=("synchronous = NORMAL", "max_page_count = 1048576"),
)
_PATIENCE_S: Final = 5.0
_INDEX: Final = ""  # publishes what the index names


class Match(NamedTuple):
    """A manifest that was found.

    Attributes:
        manifest: Its identifier.
        endpoint: Who has it; empty: it is held here.
        fingerprint: Of the text that it was made for; empty where that is not known.
    """

    manifest: str
    endpoint: str
    fingerprint: str


class Repository(Handle):
    """Manifests and the values by which they are found. One thread at a time.

    What a publisher published only the same publisher changes.

    Args:
        path: The file; made where it is not there.
    """

    def __init__(self, path: Path) -> None:
        make_private(path.parent)
        self._db = _KIND.connect(path, create=True, read_only=False, timeout=_PATIENCE_S)

    def load(self, index: Manifests | None, profile: str) -> None:
        """Take over an index, in place of the one before.

        Args:
            index: None: there is none any more.
            profile: Fingerprint of the profile whose payloads it names.
        """
        entries, folder = (index.manifests, index.folder) if index else ((), "")
        held = [(one.manifest, _INDEX, str(Path(folder) / one.file)) for one in entries if one.file]
        bound = [(profile[:_PROFILE_DIGITS], e.payload, e.manifest, e.endpoint) for e in entries]
        with self._writing():
            for table in ("manifests", "bindings"):
                self._db.execute(f"DELETE FROM {table} WHERE publisher = ?", (_INDEX,))  # noqa: S608
            self._db.executemany("INSERT OR IGNORE INTO manifests VALUES (?, ?, '', ?, '')", held)
            self._bind(_INDEX, bound)

    def add(self, publisher: str, identifier: str, store: bytes, fingerprint: str) -> bool:
        """Keep a manifest store, in place of one with the same identifier.

        Returns:
            False where another publisher has that identifier.
        """
        with self._writing():
            if self._publisher(identifier) not in (None, publisher):
                return False
            self._db.execute(
                "INSERT OR REPLACE INTO manifests VALUES (?, ?, ?, '', ?)",
                (identifier, publisher, fingerprint, store),
            )
        return True

    def bind(self, publisher: str, value: BindingValue, identifier: str, *, anew: bool) -> bool:
        """Have a value lead to a manifest.

        Args:
            publisher: Who says so.
            value: In the present form.
            identifier: Of the manifest.
            anew: No longer to others of this publisher, of which there has to be one.

        Returns:
            False where this publisher has no such manifest, or has bound nothing to the value.
        """
        with self._writing():
            if self._publisher(identifier) != publisher:
                return False
            if anew:
                gone = self._db.execute(
                    "DELETE FROM bindings WHERE profile = ? AND payload = ? AND publisher = ?",
                    (value.profile, value.payload, publisher),
                )
                if not gone.rowcount:
                    return False
            self._bind(publisher, [(value.profile, value.payload, identifier, "")])
        return True

    def remove(self, publisher: str, identifier: str) -> bool:
        """Remove a manifest and what leads to it; False where this publisher has none such."""
        with self._writing():
            gone = self._db.execute(
                "DELETE FROM manifests WHERE identifier = ? AND publisher = ?",
                (identifier, publisher),
            )
            if gone.rowcount:
                self._db.execute(
                    "DELETE FROM bindings WHERE manifest = ? AND publisher = ?",
                    (identifier, publisher),
                )
        return bool(gone.rowcount)

    def store(self, identifier: str) -> bytes | None:
        """Return a manifest store that is held here; None where it is not.

        Raises:
            ServeError: Its file cannot be read, or is too large.
        """
        with _KIND.guard():
            row = self._db.execute(
                "SELECT file, store FROM manifests WHERE identifier = ?", (identifier,)
            ).fetchone()
        if row is None:
            return None
        return read_bounded(Path(row[0]), _MOST_HELD, ServeError) if row[0] else bytes(row[1])

    def bound(self, values: Iterable[BindingValue], most: int) -> list[Match]:
        """Return manifests to which values lead, each once, in the order of the values.

        Args:
            values: What was looked for.
            most: So many at most.
        """
        found: dict[Match, None] = {}
        with _KIND.guard():
            for value in values:
                rows = self._db.execute(
                    "SELECT manifest, endpoint, coalesce(fingerprint, ''), profile, payload"
                    " FROM bindings LEFT JOIN manifests"
                    " ON identifier = manifest AND endpoint = ''"
                    " WHERE ltrim(payload, '0') = ltrim(?, '0') ORDER BY number",
                    (value.payload,),
                )
                for *match, profile, payload in rows:
                    if len(found) == most:
                        break
                    if value.names(payload, profile):
                        found.setdefault(Match(*match))
        return list(found)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with _KIND.guard(), transaction(self._db):
            yield

    def _publisher(self, identifier: str) -> str | None:
        row = self._db.execute(
            "SELECT publisher FROM manifests WHERE identifier = ?", (identifier,)
        ).fetchone()
        return None if row is None else str(row[0])

    def _bind(self, publisher: str, rows: Sequence[tuple[str, str, str, str]]) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO bindings (profile, payload, manifest, endpoint, publisher)"
            " VALUES (?, ?, ?, ?, ?)",
            [(*row, publisher) for row in rows],
        )
