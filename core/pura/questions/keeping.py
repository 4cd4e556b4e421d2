"""Keeping questions beside a server: a thread that writes, so that no answer waits for a disk."""

from __future__ import annotations

import logging
import queue
import threading
from pathlib import Path
from typing import Final

from pura.base.errors import PuraError
from pura.questions.store import AnsweredQuestion, QuestionStore
from pura.scheme import SecretKey

_TOGETHER: Final = 64
"""Questions that share one transaction at most."""
_WAITING: Final = 4_096
"""Questions that may wait. Beyond it the disk does not follow, and a question is not kept: the
answer is marked all the same."""

_log = logging.getLogger(__name__)


class QuestionKeeper:
    """Keeps questions in the order in which they come; for all threads of a process.

    Args:
        path: The file of the store; made where it is not there.
        key: The store's key. Hazard: held until this is closed, and wiped then.
        days: How long they are kept.

    Raises:
        QuestionError: The store cannot be opened.
    """

    def __init__(self, path: Path, key: SecretKey, days: int) -> None:
        # Opened here once, so that a server with a wrong key or folder does not start.
        QuestionStore(path, key, create=True, days=days).close()
        self._path, self._key = path, key
        self._waiting: queue.Queue[AnsweredQuestion | None] = queue.Queue(_WAITING)
        self._thread = threading.Thread(target=self._work, name="pura-questions", daemon=True)
        self._thread.start()

    def keep(self, question: AnsweredQuestion) -> None:
        """Keep a question soon; one that cannot be kept is named in the log, without its words."""
        try:
            self._waiting.put_nowait(question)
        except queue.Full:
            _log.error("a question is not kept: its store does not follow")

    def close(self) -> None:
        """Write what waits, and end the thread."""
        self._waiting.put(None)
        self._thread.join()
        self._key.wipe()

    def _work(self) -> None:
        ended = False
        with QuestionStore(self._path, self._key) as store:
            while not ended:
                together = [self._waiting.get()]
                while len(together) < _TOGETHER and not self._waiting.empty():
                    together.append(self._waiting.get())
                ended = None in together
                questions = [one for one in together if one is not None]
                if questions:
                    _write(store, questions)


def _write(store: QuestionStore, questions: list[AnsweredQuestion]) -> None:
    """Write questions; where one of them is refused, the others alone."""
    try:
        store.keep_many(questions)
    except PuraError as error:
        if len(questions) > 1:
            for question in questions:
                _write(store, [question])
        else:
            _log.error("a question is not kept: %s", error.code)
