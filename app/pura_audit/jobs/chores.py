"""What is set up from the first-run page: keys, models, profiles. Runs in the model thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pura.base.errors import ProfileError
from pura.base.files import write_atomic
from pura.base.paths import Paths
from pura.keys import KeyStore
from pura.scheme import Profile, SecretKey
from pura_audit.jobs.key_chores import KeyChore, do_key_chore
from pura_audit.jobs.messages import Chore, Progress
from pura_audit.jobs.report_chores import CheckChore, do_check
from pura_audit.jobs.sign_chores import SignChore, do_sign
from pura_audit.platform.i18n import number, translate


def do_chore(
    chore: Chore,
    paths: Paths,
    keys: KeyStore,
    session_keys: dict[str, SecretKey],
    progress: Callable[[Progress], None],
    checkpoint: Callable[[], None],
) -> object:
    """Do one thing of the first-run page, or of the menu.

    Returns:
        What was done, in words, where the window does not show it anyway; or what was found.

    Raises:
        PuraError: It did not work, in words.
        Cancelled: The user stopped it.
    """
    if isinstance(chore, CheckChore):
        return do_check(chore, paths, keys, progress, checkpoint)
    if isinstance(chore, SignChore):
        return do_sign(chore, paths)
    if isinstance(chore, KeyChore):
        do_key_chore(chore, keys, session_keys)
        return None
    match chore.kind:
        case "install-model" | "add-model":
            _model(chore, paths, progress, checkpoint)
        case "new-profile":
            _new_profile(chore, paths)
        case "import-profile":
            path = _path(chore)
            _store_profile(paths, chore.name or path.stem, Profile.load(path))
        case "import-register":
            return _import_register(chore, paths, checkpoint)
        case _:
            raise ValueError(chore.kind)
    return None


def _import_register(chore: Chore, paths: Paths, checkpoint: Callable[[], None]) -> str:
    """Add every row of a table of issued payloads, or none."""
    from pura.register.register_csv import import_csv
    from pura.register.store import Register

    profile = Profile.load(paths.profiles / f"{chore.name}.json")
    with Register(paths.register, create=True) as register:
        added = import_csv(register, _path(chore), profile, checkpoint=checkpoint)
        size = len(register)
    words = translate("Register", "%1 entries were added to the register; it has %2 now.")
    return words.replace("%1", number(added)).replace("%2", number(size))


def _path(chore: Chore) -> Path:
    if chore.path is None:
        raise ValueError(chore.kind)
    return chore.path


def _model(
    chore: Chore,
    paths: Paths,
    progress: Callable[[Progress], None],
    checkpoint: Callable[[], None],
) -> None:
    from pura.model import offline

    offline.prepare()
    from pura.model.store import ModelStore

    store = ModelStore(paths.models)

    def report(done: int, total: int) -> None:
        progress(Progress(step=5, name="install", done=done, total=total))

    if chore.kind == "install-model":
        store.install_builtin(report, checkpoint)
    else:
        store.add(_path(chore), chore.name or None, progress=report, checkpoint=checkpoint)


def _new_profile(chore: Chore, paths: Paths) -> None:
    from pura.model.store import ModelStore

    models = {m.name: m for m in ModelStore(paths.models).list()}
    if not models:
        raise ProfileError("profile.no-model")
    model = next(iter(models.values()))
    profile = Profile(
        payload_bits=chore.bits,
        code="tbcc",
        vocab_size=model.vocab_size,
        tokenizer=model.tokenizer_fingerprint,
        model=model.fingerprint,
        name=chore.name,
    )
    _store_profile(paths, chore.name, profile)


def _store_profile(paths: Paths, name: str, profile: Profile) -> None:
    stem = "".join(c if c.isalnum() or c in "-_ " else "-" for c in name).strip() or "profile"
    path = paths.profiles / f"{stem}.json"
    if path.exists():
        raise ProfileError("profile.taken", name=stem, code="file-exists")
    write_atomic(path, profile.to_json().encode())
