import json
import os
import stat
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from pura.base.errors import KeyStoreError, PuraError
from pura.base.files import file_lock, make_private, write_atomic
from pura.keys import KeyFolder, KeyStore, Place, entries
from pura.scheme import Profile, SecretKey
from pura.scheme.profile import ProfileFolder

PASSPHRASE = b"four words in a row"
ROUNDS = 12

HOLDER = """
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pura.base.files import file_lock
with file_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""

# A keyring of files, so that two processes have the same one.
WORKER = """
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pura.keys import KeyStore
from pura.scheme import SecretKey

class Shared:
    def __init__(self, folder):
        self.folder = folder
    def get_password(self, service, username):
        path = self.folder / username
        return path.read_text() if path.exists() else None
    def set_password(self, service, username, password):
        (self.folder / username).write_text(password)
    def delete_password(self, service, username):
        (self.folder / username).unlink()

folder, who, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = KeyStore(folder / "keys.json", Shared(folder / "ring"), "shared")
print("ready", flush=True)
sys.stdin.readline()
for i in range(rounds):
    store.add(f"{who}-{i}", SecretKey.generate())
    store.rename(f"{who}-{i}", f"{who}-{i}-named")
    store.set_note(f"{who}-{i}-named", f"note {i}")
    if i % 3 == 0:
        store.delete(f"{who}-{i}-named")
"""


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.readline()
    return process


def test_two_processes_lose_no_key_of_each_other(tmp_path):
    (tmp_path / "ring").mkdir()
    workers = [start(WORKER, str(tmp_path), who, str(ROUNDS)) for who in ("a", "b")]
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    for worker in workers:
        _, complaint = worker.communicate(timeout=120)
        assert worker.returncode == 0, complaint
    listed = KeyStore(tmp_path / "keys.json", find=lambda: None).list()
    kept = {f"{who}-{i}-named" for who in "ab" for i in range(ROUNDS) if i % 3}
    assert {entry.name for entry in listed} == kept
    assert all(entry.note == f"note {entry.name.split('-')[1]}" for entry in listed)
    assert {path.name for path in (tmp_path / "ring").iterdir()} == {e.slot for e in listed}


def test_a_lock_is_waited_for_and_comes_back_when_its_holder_is_killed(tmp_path):
    path = tmp_path / "somewhere" / ".lock"
    holder = start(HOLDER, str(path))
    with pytest.raises(TimeoutError), file_lock(path, 0.05):
        pass
    holder.kill()
    holder.communicate(timeout=60)
    with file_lock(path, 10):
        holders: list[bool] = []

        def other() -> None:
            try:
                file_lock(path).acquire()
            except TimeoutError:
                holders.append(False)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert holders == [False], "two threads of one process held it"
    with file_lock(path):
        pass


def test_a_busy_list_of_keys_is_said_and_nothing_changes(tmp_path, files, monkeypatch):
    monkeypatch.setattr(entries, "_PATIENCE", 0.05)
    store = KeyStore(tmp_path / "keys.json", files=files, find=lambda: None)
    store.add("old", SecretKey.generate(), place=Place.FILES)
    before = (tmp_path / "keys.json").read_bytes()
    secrets = {path.name for path in files.path.glob("*.purakey")}
    holder = start(HOLDER, str(tmp_path / "keys.lock"))
    for change in (
        lambda: store.add("new", SecretKey.generate(), place=Place.FILES),
        lambda: store.rename("old", "new"),
        lambda: store.set_note("old", "x"),
    ):
        with pytest.raises(
            KeyStoreError, match="Another program", check=lambda e: e.code == "key-index-busy"
        ):
            change()
    assert (tmp_path / "keys.json").read_bytes() == before
    assert {path.name for path in files.path.glob("*.purakey")} == secrets, "a secret was left"
    assert [entry.name for entry in store.list()] == ["old"], "reading needs no lock"
    holder.communicate("\n", timeout=60)


@pytest.fixture
def files(tmp_path: Path) -> KeyFolder:
    """A folder of key files that is open."""
    found = KeyFolder(tmp_path / "files")
    found.unlock(bytearray(PASSPHRASE))
    return found


def at_once(*acts: Callable[[], object]) -> list[object]:
    """Do several things at the same time; return what each gives, or the code of its error."""
    results: list[object] = []

    def run(act: Callable[[], object]) -> None:
        try:
            results.append(act())
        except PuraError as error:
            results.append(error.code)

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_the_same_key_added_by_two_programs_keeps_its_secret(tmp_path, files):
    key = SecretKey.generate()
    other = KeyStore(tmp_path / "keys.json", files=files, find=lambda: None)

    class Slow(KeyFolder):
        """Another program adds the same key while this one writes its secret."""

        def write(self, slot: str, key: SecretKey, name: str) -> None:
            super().write(slot, key, name)
            other.add("theirs", key)

    slow = Slow(tmp_path / "files")
    slow.unlock(bytearray(PASSPHRASE))
    store = KeyStore(tmp_path / "keys.json", files=slow, find=lambda: None)
    with pytest.raises(KeyStoreError, check=lambda e: e.code == "key-known"):
        store.add("ours", key)
    assert store.get("theirs") == key


def test_a_rename_by_another_program_is_no_way_around_a_deletion(tmp_path, files):
    other = KeyStore(tmp_path / "keys.json", files=files, find=lambda: None)

    class Slow(KeyFolder):
        def remove(self, slot: str, name: str) -> None:
            super().remove(slot, name)
            other.rename("one", "two")

    store = KeyStore(tmp_path / "keys.json", files=Slow(tmp_path / "files"), find=lambda: None)
    other.add("one", SecretKey.generate())
    store.delete("one")
    assert store.list() == (), "an entry without a secret is left"


def test_a_folder_of_key_files_has_one_passphrase(tmp_path):
    first, late = (KeyFolder(tmp_path / "files") for _ in range(2))
    outcomes = at_once(
        lambda: first.unlock(bytearray(PASSPHRASE)),
        lambda: late.unlock(bytearray(b"other words in a row")),
    )
    assert sorted(map(str, outcomes)) == ["None", "key-file-passphrase"]


def test_a_profile_is_not_replaced_unasked(tmp_path):
    def save(tokens: int) -> str:
        profile = Profile(payload_bits=36, code="tbcc", vocab_size=tokens)
        ProfileFolder(tmp_path).save("one", profile)
        return str(tokens)

    results = at_once(*(partial(save, tokens) for tokens in (100, 200, 300)))
    assert sorted(results)[1:] == ["file-exists"] * 2
    assert ProfileFolder(tmp_path).names() == ("one",)
    stored = json.loads((tmp_path / "one.json").read_text())
    assert str(stored["vocab_size"]) in results


def test_folders_on_the_way_are_for_this_user_only(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    write_atomic(theirs / "a" / "b" / "file", b"x")
    modes = [stat.S_IMODE((theirs / part).stat().st_mode) for part in ("", "a", "a/b")]
    assert modes == ([0o777] * 3 if os.name == "nt" else [0o755, 0o700, 0o700])  # it shows none
    with pytest.raises(NotADirectoryError):
        make_private(theirs / "a" / "b" / "file")


def test_a_file_that_is_being_read_is_replaced_when_it_was_read_on_windows(tmp_path, monkeypatch):
    path, tries, free = tmp_path / "file", [], [4]
    path.write_bytes(b"old")
    replace = Path.replace

    def busy(new: Path, target: Path) -> Path:
        tries.append(target)
        if len(tries) < free[-1]:
            raise PermissionError(13, "Access is denied", str(new), 5, str(target))
        return replace(new, target)

    monkeypatch.setattr(Path, "replace", busy)
    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(PermissionError):  # elsewhere nobody's reading is in the way
        write_atomic(path, b"new")
    assert (len(tries), path.read_bytes()) == (1, b"old")
    monkeypatch.setattr(sys, "platform", "win32")
    write_atomic(path, b"new")
    assert (len(tries), path.read_bytes()) == (4, b"new")
    free.append(99)
    tries.clear()
    with pytest.raises(PermissionError):
        write_atomic(path, b"newer")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
