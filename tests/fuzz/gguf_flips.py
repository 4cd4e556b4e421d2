"""Flip bytes of a GGUF file, and have the whole converter read each, in the sandbox it has.

    .venv/bin/python tests/fuzz/gguf_flips.py [--seconds 600] [--first NUMBER]

Every input follows from its number alone. The libraries are loaded once; inputs are converted in
forks, a hundred each, behind the bars and within the limits that a stranger's model meets.
Converted, refused in words, ended by a limit or by a crash in the sandbox: all four are answers,
for the program tells a child's end in one sentence. A fault is an error without words, or a child
that hangs without using up its processor time. Prints how many of each; exit status 1 with a fault.
"""

import argparse
import json
import os
import random
import select
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = HERE / "corpus" / "gguf" / "tiny"
WORK = HERE.parent.parent / "build" / "fuzz" / "gguf-flips"
HEAD = 12_000  # where the names, counts, kinds and lengths are; behind it lie numbers
BATCH, WALL_S = 100, 900
CONVERTED, REFUSED, FAULT, HANGS = "converted", "refused in words", "error without words", "hangs"
MEMORY = "memory ended by its limit"
EDGES = (0, 1, 2**7, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)


def flipped(data: bytes, number: int) -> bytes:
    """Return input ``number``: a few bits, bytes or lengths changed, or a piece cut or doubled."""
    draw, made = random.Random(number), bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        place = draw.randrange(24, min(HEAD, len(made)) if draw.random() < 0.9 else len(made))
        match draw.randrange(8):
            case 0 | 1 | 2:
                made[place] ^= 1 << draw.randrange(8)
            case 3 | 4:
                made[place] = draw.randrange(256)
            case 5:
                width = draw.choice((4, 8))
                value = draw.choice(EDGES) % 256**width
                made[place : place + width] = value.to_bytes(width, "little")
            case 6:
                del made[place : place + draw.choice((1, 4, 8, 100, len(made)))]
            case 7:
                made[place:place] = made[place : place + draw.choice((1, 8, 64, 1000))]
        if len(made) < 64:
            break
    return bytes(made)


def answer(data: bytes, place: Path) -> str:
    """Convert one input as ``python -m pura.model.convert`` does, but for the sandbox."""
    from pura.base.errors import ModelError
    from pura.model import convert, suitability

    source, target = place / "flipped.gguf", place / "model"
    source.write_bytes(data)
    target.mkdir()
    try:
        suitability.metadata_of(source)
        convert.convert_gguf(source, target)
    except ModelError as refusal:
        return REFUSED if json.dumps(refusal.packed()) else FAULT
    except MemoryError:
        return MEMORY
    except BaseException:
        traceback.print_exc()
        return FAULT
    return CONVERTED


def child(seed: bytes, first: int, place: Path, tell: int) -> None:
    """Shut this fork in, convert a batch, tell of each; never returns."""
    from pura.model import trial

    try:
        sample, scratch = place / "sample.gguf", place / "scratch"
        sample.write_bytes(seed)
        scratch.mkdir()
        trial.enter_sandbox(sample, scratch=scratch, writable=[place])
        for number in range(first, first + BATCH):
            room = place / str(number)
            room.mkdir()
            os.write(tell, answer(flipped(seed, number), room)[:1].encode())
            shutil.rmtree(room)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(3)


def batch(seed: bytes, first: int) -> list[str]:
    """Return what became of inputs from ``first`` on; where one ends the fork, it is the last."""
    place = WORK / "now"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    heard, tell = os.pipe()
    number = os.fork()
    if number == 0:
        child(seed, first, place, tell)
    os.close(tell)
    words = {word[:1].encode(): word for word in (CONVERTED, REFUSED, FAULT, MEMORY)}
    told: list[str] = []
    while select.select([heard], [], [], WALL_S)[0]:
        letter = os.read(heard, 1)
        if not letter:
            break
        told.append(words[letter])
    else:
        os.kill(number, signal.SIGKILL)
        told.append(HANGS)
    os.close(heard)
    _, status = os.waitpid(number, 0)
    if len(told) < BATCH and HANGS not in told:
        killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        limits = {
            signal.SIGXCPU: "ended by the limit of time",
            signal.SIGKILL: "ended by the limit of time",
        }
        told.append(limits.get(killed, f"crash {killed}") if killed else FAULT)
    return told


def main() -> int:
    """Try inputs until the time is used up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600, help="of processor time")
    parser.add_argument(
        "--first", type=int, help="number of the first input; else others each time"
    )
    asked = parser.parse_args()
    asked.first = int(time.time()) if asked.first is None else asked.first
    from pura.model import convert, libraries

    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads do not follow into a fork
    libraries.prepare()
    import torch
    from transformers.utils import logging

    torch.set_num_threads(1)
    convert.quiet()
    logging.disable_progress_bar()
    # The seed itself, which brings whatever the libraries fetch when it is first wanted.
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "seed").mkdir(parents=True)
    shutil.copy(SEED, WORK / "seed.gguf")
    convert.convert_gguf(WORK / "seed.gguf", WORK / "seed")
    seed, counts, number = SEED.read_bytes(), Counter[str](), asked.first
    while time.process_time() + sum(os.times()[2:4]) < asked.seconds:
        told = batch(seed, number)
        counts.update(told)
        number += len(told)
        if told[-1] not in (CONVERTED, REFUSED):
            print(f"input {number - 1}: {told[-1]}", flush=True)
        print(
            f"{number - asked.first} inputs from {asked.first} on: {dict(counts.most_common())}",
            flush=True,
        )
    return int(bool(counts[FAULT] or counts[HANGS]))


if __name__ == "__main__":
    sys.exit(main())
