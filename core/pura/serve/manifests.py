"""Which manifests there are, and by which values they are found: what was published, and an index.

A value of a soft binding is kept as what it says (:mod:`pura.provenance.binding`): the beginning of
the profile's fingerprint, and the payload. So values in the form of 0.3 find the same manifests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

from pura.base.database import Handle, Kind, transaction
from pura.base.decoder import DecodeError, decode
from pura.base.errors import PayloadError, ServeError
from pura.base.files import make_private, read_bounded
from pura.base.json_text import is_hex, read_json
from pura.keys.epochs import is_epoch
from pura.provenance.binding import BindingValue
from pura.scheme import Payload
from pura.scheme.identity import MarkIdentity
from pura.serve.grants import Grant, admitted

SCHEMA: Final = "pura-manifests/1"
MAX_BYTES: Final = 64 << 20
MOST_PUBLISHED: Final = 2 << 20
_MOST_HELD: Final = 16 << 20
_PROFILE_DIGITS: Final = 8
_KEY_DIGITS: Final = 16


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A C2PA manifest and the payload that leads to it.

    Attributes:
        payload: Characters 0 and 1.
        manifest: Its identifier.
        endpoint: Address of the interface that has it; empty: this one, from ``file``.
        file: The manifest store, beside the index; empty: an endpoint has it.
        key: Fingerprint of the key of the mark, of the one that keys of epochs are derived from;
            empty: marks under any key of the detector.
        epoch: The day, ISO week or month that this key is derived for; empty: any.
    """

    payload: str
    manifest: str
    endpoint: str = ""
    file: str = ""
    key: str = ""
    epoch: str = ""


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
        if one.key and not is_hex(one.key, _KEY_DIGITS):
            return f"manifests[{place}].key"
        if one.epoch and not (one.key and is_epoch(one.epoch)):
            return f"manifests[{place}].epoch"
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
        # Up to 0.4.0 whoever came first had an identifier, and a fingerprint was taken from a
        # manifest whose signature nobody had looked at.
        (
            "ALTER TABLE manifests RENAME TO manifests_unverified",
            (
                "CREATE TABLE manifests (number INTEGER PRIMARY KEY, identifier TEXT NOT NULL,"
                " publisher TEXT NOT NULL, fingerprint TEXT NOT NULL, rank INTEGER NOT NULL,"
                " file TEXT NOT NULL, store BLOB NOT NULL, UNIQUE (identifier, publisher))"
            ),
            (
                "INSERT INTO manifests (identifier, publisher, fingerprint, rank, file, store)"
                " SELECT identifier, publisher, '', 0, file, store FROM manifests_unverified"
            ),
            "DROP TABLE manifests_unverified",
        ),
        # The operator's index may say under which key and epoch a payload was issued.
        (
            "ALTER TABLE bindings RENAME TO bindings_of_any_key",
            (
                "CREATE TABLE bindings (number INTEGER PRIMARY KEY, profile TEXT NOT NULL,"
                " payload TEXT NOT NULL, manifest TEXT NOT NULL, endpoint TEXT NOT NULL,"
                " publisher TEXT NOT NULL, key TEXT NOT NULL, epoch TEXT NOT NULL,"
                " UNIQUE (profile, payload, manifest, endpoint, publisher, key, epoch))"
            ),
            (
                "INSERT INTO bindings SELECT number, profile, payload, manifest, endpoint,"
                " publisher, '', '' FROM bindings_of_any_key"
            ),
            "DROP TABLE bindings_of_any_key",
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


UNVERIFIED: Final = 0
SIGNED: Final = 1
TRUSTED: Final = 2
"""How far a manifest is relied on: its signature holds; its signer is on the operator's list."""


class Match(NamedTuple):
    """A manifest that was found.

    Attributes:
        manifest: Its identifier.
        endpoint: Who has it; empty: it is held here.
        fingerprint: Of the text that it was made for, as its signer says; empty where the manifest
            says none, or its signature was not verified.
        publisher: Who bound the value to it; empty: the operator's index.
        shared: Where several publishers hold a manifest under this identifier, the number of this
            publisher's; else 0.
    """

    manifest: str
    endpoint: str
    fingerprint: str
    publisher: str
    shared: int


class Repository(Handle):
    """Manifests and the values by which they are found. One thread at a time.

    What a publisher published only the same publisher changes. Two publishers may hold manifests
    under one identifier: nobody can take another's by being quicker.

    Args:
        path: The file; made where it is not there.
        grants: Tells which values a publisher may bind; what was bound without a grant is not
            found.
    """

    def __init__(self, path: Path, grants: Callable[[str], tuple[Grant, ...]]) -> None:
        make_private(path.parent)
        self._db = _KIND.connect(path, create=True, read_only=False, timeout=_PATIENCE_S)
        self._grants = grants

    def load(self, index: Manifests | None, profile: str) -> None:
        """Take over an index, in place of the one before.

        Args:
            index: None: there is none any more.
            profile: Fingerprint of the profile whose payloads it names.
        """
        entries, folder = (index.manifests, index.folder) if index else ((), "")
        held = [
            (one.manifest, _INDEX, TRUSTED, str(Path(folder) / one.file))
            for one in entries
            if one.file
        ]
        bound = [
            (profile[:_PROFILE_DIGITS], e.payload, e.manifest, e.endpoint, e.key, e.epoch)
            for e in entries
        ]
        with self._writing():
            for table in ("manifests", "bindings"):
                self._db.execute(f"DELETE FROM {table} WHERE publisher = ?", (_INDEX,))  # noqa: S608
            self._db.executemany(
                "INSERT OR IGNORE INTO manifests (identifier, publisher, fingerprint, rank, file,"
                " store) VALUES (?, ?, '', ?, ?, '')",
                held,
            )
            self._bind(_INDEX, bound)

    def add(
        self, publisher: str, identifier: str, store: bytes, *, fingerprint: str = "", rank: int
    ) -> None:
        """Keep a manifest store, in place of one of this publisher with the same identifier.

        Args:
            publisher: Who publishes it.
            identifier: Of its active manifest.
            store: The manifest store.
            fingerprint: Of the text that it was made for, from a verified manifest only.
            rank: One of :data:`UNVERIFIED`, :data:`SIGNED`, :data:`TRUSTED`.
        """
        with self._writing():
            self._db.execute(
                "INSERT INTO manifests (identifier, publisher, fingerprint, rank, file, store)"
                " VALUES (?, ?, ?, ?, '', ?) ON CONFLICT (identifier, publisher) DO UPDATE SET"
                " fingerprint = excluded.fingerprint, rank = excluded.rank, store = excluded.store",
                (identifier, publisher, fingerprint, rank, store),
            )

    def bind(self, publisher: str, value: BindingValue, identifier: str, *, anew: bool) -> bool:
        """Have a value lead to a manifest.

        Args:
            publisher: Who says so.
            value: In the present form; the publisher was granted it.
            identifier: Of the manifest.
            anew: No longer to others of this publisher, of which there has to be one.

        Returns:
            False where this publisher has no such manifest, or has bound nothing to the value.
        """
        with self._writing():
            if not self._holds(publisher, identifier):
                return False
            if anew:
                gone = self._db.execute(
                    "DELETE FROM bindings WHERE profile = ? AND payload = ? AND publisher = ?",
                    (value.profile, value.payload, publisher),
                )
                if not gone.rowcount:
                    return False
            self._bind(publisher, [(value.profile, value.payload, identifier, "", "", "")])
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

    def store(self, identifier: str, *, asker: str | None = None, shared: int = 0) -> bytes | None:
        """Return a manifest store that is held here; None where it is not.

        Of several publishers' stores under one identifier comes the asker's own, else that of the
        index, else one of a trusted signer, else a signed one, else the one that was here first.

        Args:
            identifier: Of the active manifest.
            asker: The publisher that asks; None for anybody else.
            shared: Number of the one store that is asked for, as a match names it; 0 for any.

        Raises:
            ServeError: Its file cannot be read, or is too large.
        """
        with _KIND.guard():
            row = self._db.execute(
                "SELECT file, store FROM manifests WHERE identifier = ? AND ? IN (0, number)"
                " ORDER BY publisher IS ? DESC, publisher = ? DESC, rank DESC, number LIMIT 1",
                (identifier, shared, asker, _INDEX),
            ).fetchone()
        if row is None:
            return None
        return read_bounded(Path(row[0]), _MOST_HELD, ServeError) if row[0] else bytes(row[1])

    def bound_to_values(
        self, values: Iterable[BindingValue], most: int, *, asker: str | None = None
    ) -> list[Match]:
        """Return manifests to which values lead, each once, in turns of their publishers.

        Args:
            values: What somebody asks for. A value names no key: where two keys mark under one
                profile, it may be of either.
            most: So many at most.
            asker: The publisher that asks; None for anybody else.
        """
        return self._matches(((value, None) for value in values), most, asker)

    def bound_to_marks(self, marks: Iterable[MarkIdentity], most: int) -> list[Match]:
        """Return manifests to which marks of a text lead, each once, in turns of their publishers.

        A publisher that was granted values of one key, or of one epoch of it, has none for a mark
        of another.

        Args:
            marks: What was read in the text.
            most: So many at most.
        """
        sought = [
            (
                BindingValue(profile=mark.profile[:_PROFILE_DIGITS], payload=mark.payload.text),
                mark,
            )
            for mark in marks
        ]
        return self._matches(sought, most, None)

    def _matches(
        self,
        sought: Iterable[tuple[BindingValue, MarkIdentity | None]],
        most: int,
        asker: str | None,
    ) -> list[Match]:
        """Return what values lead to, each with the mark that it was read from, if it was.

        Those of the publisher that asks come first. Then each publisher has its first one, the
        operator's index before the others, then each its second one, and so on: however much one
        publisher binds, it pushes nobody else's off the list.
        """
        by_publisher: dict[str, list[Match]] = {}
        grants: dict[str, tuple[Grant, ...]] = {}
        with _KIND.guard():
            for value, mark in sought:
                for match, binding in self._led_to(value, mark, most):
                    publisher = match.publisher
                    if publisher not in grants:
                        grants[publisher] = self._grants(publisher) if publisher else ()
                    granted = publisher == _INDEX or admitted(grants[publisher], binding, mark)
                    if granted and value.names(binding.payload, binding.profile):
                        by_publisher.setdefault(publisher, []).append(match)
        own = [] if asker is None else by_publisher.pop(asker, [])
        index = by_publisher.pop(_INDEX, [])
        turns = zip_longest(index, *by_publisher.values())
        others = [match for turn in turns for match in turn if match is not None]
        once: dict[tuple[str, str, int], Match] = {}
        for match in (*own, *others):
            once.setdefault((match.manifest, match.endpoint, match.shared), match)
        return list(once.values())[:most]

    def _led_to(
        self, value: BindingValue, mark: MarkIdentity | None, most: int
    ) -> Iterator[tuple[Match, BindingValue]]:
        """Yield what is bound to a payload, oldest first, each with the value that was bound.

        Where a mark was read, what the index names for another key or epoch is left out.

        Of each publisher come so many at most: one that bound very many slows nobody down.
        """
        rows = self._db.execute(
            "SELECT manifest, endpoint, fingerprint, publisher, shared, profile, payload FROM ("
            " SELECT bindings.number AS number, manifest, endpoint,"
            " coalesce(fingerprint, '') AS fingerprint, bindings.publisher AS publisher,"
            " CASE WHEN (SELECT count(*) FROM manifests AS held WHERE held.identifier = manifest)"
            " > 1 THEN coalesce(manifests.number, 0) ELSE 0 END AS shared,"
            " profile, payload, row_number() OVER"
            " (PARTITION BY bindings.publisher, profile ORDER BY bindings.number) AS turn"
            " FROM bindings LEFT JOIN manifests ON identifier = manifest"
            " AND manifests.publisher = bindings.publisher AND endpoint = ''"
            " WHERE ltrim(payload, '0') = ltrim(?1, '0')"
            " AND (?2 IS NULL OR key IN ('', ?2)) AND (?3 IS NULL OR epoch IN ('', ?3)))"
            " WHERE turn <= ?4 ORDER BY number",
            (value.payload, mark and mark.key, mark and mark.epoch, most),
        )
        for *match, profile, payload in rows:
            yield Match(*match), BindingValue(profile=profile, payload=payload)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with _KIND.guard(), transaction(self._db):
            yield

    def _holds(self, publisher: str, identifier: str) -> bool:
        """Whether a publisher has published a manifest."""
        found = self._db.execute(
            "SELECT 1 FROM manifests WHERE identifier = ? AND publisher = ?",
            (identifier, publisher),
        )
        return found.fetchone() is not None

    def _bind(self, publisher: str, rows: Sequence[tuple[str, str, str, str, str, str]]) -> None:
        self._db.executemany(
            "INSERT OR IGNORE INTO bindings (profile, payload, manifest, endpoint, key, epoch,"
            " publisher) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*row, publisher) for row in rows],
        )
