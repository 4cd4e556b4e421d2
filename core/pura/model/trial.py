"""Loading and using an unknown model once, in a limited child process that can be stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from pura.base import linux
from pura.base.errors import ModelError
from pura.base.json_text import read_json
from pura.base.linux import PARENT
from pura.base.process import NO_WINDOW, NOT_SHUT_STATUS, converse, start_child
from pura.base.progress import Checkpoint, never_cancelled

_BEAT_S: Final = 0.1  # seconds between two heartbeats
_TAIL: Final = 4000  # bytes of the child's output that are returned


def run_child(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    heartbeat: Checkpoint = never_cancelled,
) -> tuple[int, str]:
    """Run a command to its end.

    Args:
        command: Program and arguments; no shell reads them.
        folder: Working folder; also holds the output of the child while it runs.
        environment: The complete environment of the child.
        heartbeat: Called ten times a second; if it raises, the child is killed first.

    Returns:
        Exit status and the end of the child's output.
    """
    log = folder / "child.log"
    with log.open("wb") as sink:
        child = subprocess.Popen(  # noqa: S603 - a fixed program, arguments of our own
            list(command),
            cwd=folder,
            env=dict(environment) | {PARENT: str(os.getpid())},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            creationflags=NO_WINDOW,
        )
        try:
            while True:
                try:
                    status = child.wait(timeout=_BEAT_S)
                    break
                except subprocess.TimeoutExpired:
                    heartbeat()
        except BaseException:
            child.kill()
            child.wait()
            raise
    output = log.read_bytes()[-_TAIL:].decode("utf-8", "replace")
    log.unlink()
    return status, output


CHILD: Final = "pura.model.trial"
MAX_ANSWER_BYTES: Final = 1 << 16
START_SECONDS: Final = 60
# Bytes of weights that the slowest machine loads in a second, and memory for each of them: GGUF
# packs a weight into two bits or more, and its expanded form exists twice for a while.
PLAIN_PACE: Final = 10_000_000
PACKED_PACE: Final = 1_000_000
PLAIN_GROWTH: Final = 4
PACKED_GROWTH: Final = 40
SPARE_BYTES: Final = 2 << 30
"""Memory beyond that of the weights, for the libraries' own work."""
# Texts that slow down backtracking regular expressions: long runs of one character, of alternating
# ones, and letters of many scripts. The last line is plain prose.
_PROBE: Final = "\n".join(
    (
        *(sign * 2000 for sign in ("a", "A", " ", "0", "!", "\n", "\t", "ä", "中", "🙂", "\u0301")),
        *(pair * 1000 for pair in ("aA", "a ", "a1", "a'", "1.", "\r\n", " \n", "<|", "aé")),
        "<s></s><|im_start|><|endoftext|>[INST]\u200b\ufeff\u202e\x00\x1b",
        "It was a bright day; the clocks weren't striking 13, and 3.1416 isn't 22/7.",
    )
)

_DTYPES: Final = {"BF16": "bfloat16", "F16": "float16"}  # as stored, so that memory suffices


def load_on_trial(path: Path, *, heartbeat: Checkpoint = never_cancelled) -> None:
    """Load a model in a child process, tokenise with it, and let it read a few tokens.

    Args:
        path: An inspected folder of safetensors, or a GGUF file.
        heartbeat: Called twenty times a second; if it raises, the child is killed first.

    Raises:
        ModelError: The child refused the model, exceeded a limit, or died.
    """
    with tempfile.TemporaryDirectory(prefix="pura-rehearsal-") as folder:
        link_folder, scratch = Path(folder, "alone"), Path(folder, "scratch")
        link_folder.mkdir()
        scratch.mkdir()
        _converse(linked_alone(path, link_folder) if path.is_file() else path, scratch, heartbeat)


def linked_alone(file: Path, folder: Path) -> Path:
    """Return a link to a file in an empty folder, since libraries look for files beside it.

    If the user may not create symbolic links (Windows), it is a hard link or, on another disk, a
    copy.

    Raises:
        OSError: The file cannot be read, or the disk is full.
    """
    link, resolved = folder / file.name, file.resolve()
    for make in (link.symlink_to, link.hardlink_to):
        with suppress(OSError):
            make(resolved)
            return link
    shutil.copyfile(resolved, link)
    return link


def _converse(path: Path, scratch: Path, heartbeat: Checkpoint) -> None:
    try:
        child = start_child(CHILD)
    except OSError:
        raise ModelError("model.rehearsal-start") from None
    ending = converse(
        child,
        json.dumps([str(path.absolute()), str(scratch)]).encode() + b"\n",
        seconds=2 * _seconds(path) + START_SECONDS,  # wall-clock time; the machine may be busy
        most=MAX_ANSWER_BYTES,
        heartbeat=heartbeat,
    )
    if ending.status == NOT_SHUT_STATUS:
        raise ModelError("model.rehearsal-start")
    if ending.late or ending.status == -getattr(signal, "SIGXCPU", 0) != 0:
        raise ModelError("model.rehearsal", code="model-unsafe")
    try:
        if ending.status != 0:
            raise ValueError("status")
        refusal = read_json(ending.answer)
    except ValueError:
        raise ModelError("model.rehearsal", code="model-unsafe") from None
    if refusal is not None:
        raise _refusal(refusal)


def _refusal(packed: object) -> ModelError:
    try:
        error = ModelError.unpacked(packed)
    except (ValueError, TypeError, KeyError, AttributeError):
        return ModelError("model.rehearsal", code="model-unsafe")
    assert isinstance(error, ModelError)
    return error


def enter_sandbox(path: Path, *, scratch: Path, writable: Sequence[Path] = ()) -> None:
    """Enter the sandbox with access to one model, with limits that follow from its size.

    Args:
        path: A folder, or a GGUF file, or a link to one, that lies alone in its folder.
        scratch: A folder for the libraries' own files.
        writable: Other folders in which files may be created.
    """
    tempfile.tempdir = str(scratch)
    files = [file.resolve() for file in _files(path)]
    folder = path.parent if path.is_file() else path
    linux.shut(
        readable=[folder, *files, *linux.libraries()],
        writable=[scratch, *writable],
        memory=SPARE_BYTES + (PACKED_GROWTH if path.is_file() else PLAIN_GROWTH) * _size(path),
        seconds=_seconds(path),
    )


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [file for file in path.iterdir() if file.is_file()]


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in _files(path))


def _seconds(path: Path) -> int:
    return START_SECONDS + _size(path) // (PACKED_PACE if path.is_file() else PLAIN_PACE)


def main() -> None:
    """Read the request, import the libraries, enter the sandbox, load, tokenise, read."""
    linux.die_with_parent()
    from pura.model import libraries

    libraries.prepare()
    libraries.import_torch()
    import torch

    from pura.model import load
    from pura.model.device import Device
    from pura.model.folder import inspect
    from pura.model.tokenise import tokenise

    path, scratch = map(Path, json.loads(sys.stdin.buffer.readline(65536)))
    torch.set_num_threads(1)
    try:
        enter_sandbox(path, scratch=scratch)
    except OSError:
        os._exit(NOT_SHUT_STATUS)
    answer = None
    try:
        facts = inspect(path)
        stored = "" if facts is None else facts.dtype
        device = Device(kind="cpu", name="", dtype=_DTYPES.get(stored, "float32"), reason="")
        model = load.load_model(path, device)
        ids = tokenise(model.tokenizer, _PROBE).ids[-8:]
        with torch.inference_mode():
            model.network(torch.from_numpy(ids)[None] % model.vocab_size)
    except ModelError as error:
        answer = error.packed()
    except MemoryError:
        answer = ModelError("model.memory").packed()
    except Exception as error:  # the library's message may quote anything
        answer = ModelError("model.load", kind=type(error).__name__).packed()
    sys.stdout.buffer.write(json.dumps(answer).encode())
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
