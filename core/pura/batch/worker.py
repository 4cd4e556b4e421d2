"""The process of :mod:`pura.batch.engine`: takes texts, gives findings, until nobody asks."""

from __future__ import annotations

import os
import pickle
import threading
import time
from typing import IO, Final

from pura.base.errors import PuraError
from pura.base.process import close_to_others
from pura.batch.engine import Plan, receive, send

_BEAT_S: Final = 1.0


def main() -> None:
    """Work until whoever started this process lets go of it."""
    close_to_others()
    # The pipe of the answers is nobody else's: what a library prints goes nowhere.
    with os.fdopen(os.dup(1), "wb") as said, os.fdopen(os.dup(0), "rb") as heard:
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
        _work(heard, said)


def _work(heard: IO[bytes], said: IO[bytes]) -> None:
    data = receive(heard)
    if data is None:
        return
    plan: Plan[object] = pickle.loads(data)  # noqa: S301 - whoever started this process said it
    secrets = []
    while secret := receive(heard):
        secrets.append(secret)
    try:
        with plan.opened(secrets) as read:
            send(said, pickle.dumps(None))
            while (data := receive(heard)) is not None:
                send(said, pickle.dumps(read(pickle.loads(data))))  # noqa: S301 - the same
    except PuraError as error:
        send(said, pickle.dumps(error))


def _end_with(parent: int) -> None:
    """End when the one who started this process is gone, also in the middle of a text."""
    while os.getppid() == parent:
        time.sleep(_BEAT_S)
    os._exit(0)


if __name__ == "__main__":
    main()
