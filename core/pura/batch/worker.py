"""The worker process of :mod:`pura.batch.engine`, which turns texts into findings."""

from __future__ import annotations

import os
import pickle
import threading
import time
from typing import IO, Final

from pura.base.errors import PuraError
from pura.base.process import close_to_others
from pura.batch.engine import Plan, receive, send

_BEAT_S: Final = 1.0  # seconds between two checks of the parent process


def main() -> None:
    """Work until the parent process closes the pipe."""
    close_to_others()
    # Only answers go to the pipe: the output of libraries is discarded.
    with os.fdopen(os.dup(1), "wb") as answers, os.fdopen(os.dup(0), "rb") as requests:
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
        _work(requests, answers)


def _work(requests: IO[bytes], answers: IO[bytes]) -> None:
    message = receive(requests)
    if message is None:
        return
    plan: Plan[object] = pickle.loads(message)  # noqa: S301 - whoever started this process said it
    secrets = []
    while secret := receive(requests):
        secrets.append(secret)
    try:
        with plan.opened(secrets) as read:
            send(answers, pickle.dumps(None))
            while (message := receive(requests)) is not None:
                send(answers, pickle.dumps(read(pickle.loads(message))))  # noqa: S301 - the same
    except PuraError as error:
        send(answers, pickle.dumps(error))


def _end_with(parent: int) -> None:
    """End the process once its parent is gone, even in the middle of a text."""
    while os.getppid() == parent:
        time.sleep(_BEAT_S)
    os._exit(0)


if __name__ == "__main__":
    main()
