"""Where the use cases work: folders, keys, model and device, found in one place.

A command makes a environment for one call; the window keeps one in the thread that holds the model,
so that the next use case finds the model loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pura.base.errors import KeyStoreError, ModelError
from pura.base.paths import Paths
from pura.detect.verdict.power import PowerFolder
from pura.keys import KeyEntry, KeyFolder, KeyRef, KeyStore, SessionKeys
from pura.keys.entries import no_such_key
from pura.keys.epochs import epoch_key
from pura.model import libraries
from pura.model.store import ModelCache, ModelStore
from pura.scheme import KeyOrigin, Profile, SecretKey
from pura.scheme.profile import ProfileFolder

if TYPE_CHECKING:
    from pura.model.device import Device
    from pura.model.folder import InstalledModel
    from pura.model.load import BareModel, LanguageModel

OpenKey = tuple[SecretKey, str | None]
"""A key and its name, as an audit takes them."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Where the use cases work.

    Its model belongs to one thread; what is stored may be used in another at the same time.

    Attributes:
        paths: The user's folders.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        dtype: Number format of the model.
        session_keys: Keys of this run.
        lent_keys: The caller's own (that of a sample, those of a program), by fingerprint; in no
            list.
        ask_folder: Gives the passphrase of the folder of encrypted key files; its argument says
            whether a new one is to be chosen. None means that nobody can be asked.
        held: The one model in memory.
        lent_model: The caller's own, which is used instead of any other.
    """

    paths: Paths
    device: str = "auto"
    dtype: str = "float32"
    session_keys: SessionKeys = field(default_factory=SessionKeys)
    lent_keys: Mapping[str, SecretKey] = field(default_factory=dict, repr=False)
    ask_folder: Callable[[bool], bytearray | None] | None = None
    held: ModelCache = field(default_factory=ModelCache)
    lent_model: LanguageModel | None = field(default=None, repr=False)

    @cached_property
    def keys(self) -> KeyStore:
        """The stored keys; finding the keyring takes a moment, so it is done when it is needed."""
        files = KeyFolder(self.paths.config / "keys", self.ask_folder)
        return KeyStore(self.paths.config / "keys.json", files=files)

    @property
    def profiles(self) -> ProfileFolder:
        """The stored profiles."""
        return ProfileFolder(self.paths.profiles)

    @property
    def power(self) -> PowerFolder:
        """The power tables of this installation."""
        return PowerFolder(self.paths.power)

    @property
    def models(self) -> ModelStore:
        """The installed models."""
        libraries.prepare()
        return ModelStore(self.paths.models)

    def stored_key(self, name: str) -> KeyRef:
        """Return the stored key of a name.

        Raises:
            KeyStoreError: There is none.
        """
        return KeyRef.of(self.keys.entry(name))

    @contextmanager
    def opened_keys(self, refs: Iterable[KeyRef]) -> Iterator[list[OpenKey]]:
        """Lend keys, each once; those that were fetched from the store are wiped afterwards.

        Raises:
            KeyStoreError: None is named, or one is not here or cannot be read.
        """
        # The mean runs over different keys; one under two names would count twice.
        unique: dict[str, KeyRef] = {}
        for ref in refs:
            unique.setdefault(ref.fingerprint, ref)
        if not unique:
            raise KeyStoreError("audit.no-key", code="key-missing")
        with ExitStack() as fetched:
            held: dict[str, SecretKey] = {}
            yield [(self._secret(ref, fetched, held), ref.label) for ref in unique.values()]

    def has_key(self, fingerprint: str) -> bool:
        """Whether a key is here: of this run, lent or stored."""
        here = self.session_keys.get(fingerprint) or self.lent_keys.get(fingerprint)
        return here is not None or self._entry(fingerprint) is not None

    def key_of(self, fingerprint: str) -> KeyRef:
        """Return the stored key of a fingerprint.

        Raises:
            KeyStoreError: There is none.
        """
        return KeyRef.of(self._stored(KeyRef(fingerprint=fingerprint)))

    def _stored(self, ref: KeyRef) -> KeyEntry:
        entry = ref.entry or self._entry(ref.fingerprint)
        if entry is None:
            raise no_such_key(ref.fingerprint, (one.name for one in self.keys.list()))
        return entry

    def _entry(self, fingerprint: str) -> KeyEntry | None:
        return next((e for e in self.keys.list() if e.fingerprint == fingerprint), None)

    def entry_of(self, ref: KeyRef) -> KeyEntry | None:
        """Return what the store knows of a key; None of one that is not stored."""
        if self.session_keys.get(ref.fingerprint) or self.lent_keys.get(ref.fingerprint):
            return ref.entry
        try:
            return ref.entry or self._entry(ref.fingerprint)
        except KeyStoreError:
            return None

    def origin_of(self, ref: KeyRef) -> KeyOrigin | None:
        """Return what a key was derived from, if it is that of a day, a week or a month.

        Raises:
            KeyStoreError: The list of keys is damaged.
        """
        if ref.epoch:
            return KeyOrigin(parent=ref.root, epoch=ref.epoch)
        here = self.session_keys.get(ref.fingerprint) or self.lent_keys.get(ref.fingerprint)
        if here is not None:
            return here.origin
        entry = ref.entry or self._entry(ref.fingerprint)
        return None if entry is None else entry.origin

    def _secret(self, ref: KeyRef, fetched: ExitStack, held: dict[str, SecretKey]) -> SecretKey:
        here = self.session_keys.get(ref.fingerprint) or self.lent_keys.get(ref.fingerprint)
        if here is not None:
            return here
        if ref.epoch:
            root = self._secret(KeyRef(fingerprint=ref.root), fetched, held)
            return fetched.enter_context(epoch_key(root, ref.epoch))
        if ref.fingerprint not in held:
            held[ref.fingerprint] = fetched.enter_context(self.keys.open(self._stored(ref)))
        return held[ref.fingerprint]

    def compute_device(self) -> Device:
        """Return where a model runs; this is where torch is first imported.

        Raises:
            DeviceError: The device that was asked for is not there.
        """
        libraries.prepare()
        from pura.model.device import choose_device

        return choose_device(self.device, self.dtype)

    def model(self, name: str | None = None, *, profile: Profile | None = None) -> LanguageModel:
        """Return a model; another one that is held goes first, so that never two are in memory.

        Args:
            name: Of an installed model, or the path of a local one. An installed name wins over a
                file that is called the same.
            profile: Without a name the model that it names is taken, where that is installed;
                else the only one that is.

        Raises:
            ModelError: There is none, several, or it is unsafe or damaged.
            DeviceError: The device is not there.
        """
        if self.lent_model is not None:
            return self.lent_model
        device = self.compute_device()
        store = self.models
        if name is None:
            return self.held.get(_meant(store, profile), device)
        known = any(model.name == name for model in store.list())
        path = Path(name)
        return self.held.get(path if path.exists() and not known else store.get(name), device)

    def bare_model(self, name: str | None = None, *, profile: Profile | None = None) -> BareModel:
        """Return a model as :meth:`model` does, for its tokens; an installed one has no weights."""
        from pura.model.load import bare, load_bare

        loaded = self.lent_model is not None or self.held.name == name is not None
        if loaded or (name is not None and all(model.name != name for model in self.models.list())):
            return bare(self.model(name, profile=profile))
        return load_bare(self.installed(name, profile=profile), self.compute_device())

    def installed(
        self, name: str | None = None, *, profile: Profile | None = None
    ) -> InstalledModel:
        """Return what is known of an installed model, chosen as by :meth:`model`; loads nothing.

        Raises:
            ModelError: There is none of that name, or none, or several.
        """
        return _meant(self.models, profile) if name is None else self.models.get(name)


def _meant(store: ModelStore, profile: Profile | None) -> InstalledModel:
    installed = store.list()
    if profile is not None and profile.model is not None:
        for model in installed:
            if model.fingerprint == profile.model:
                return model
    if not installed:
        raise ModelError("command.no-model", code="model-none")
    if len(installed) > 1:
        names = ", ".join(m.name for m in installed)
        raise ModelError("command.models", names=names, code="model-ambiguous")
    return installed[0]
