"""The question store: what it keeps, for how long, who can read it, and what it withstands."""

import datetime as dt
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pura.base.errors import QuestionError
from pura.questions.keeping import QuestionKeeper
from pura.questions.store import ENTRIES_READ, INDEXED, AnsweredQuestion, QuestionStore, status_of
from pura.questions.words import content_words
from pura.scheme import MarkIdentity, Payload, PayloadSeries, SecretKey

KEY = SecretKey(bytes(range(32)))
SERIES = PayloadSeries(key="cec16c77783957e8", profile="0123456789abcdef")
NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)
# Invented words, so that none of them is in the file by chance.
TOPICS = [
    f"{a}{b}{c}" for a in ("plim", "grov", "tarn") for b in ("os", "ew", "ig") for c in "abcd"
]


def clock(days: int = 0):
    return lambda: NOW + dt.timedelta(days=days)


def mark(number: int, series: PayloadSeries = SERIES) -> MarkIdentity:
    return series.mark(Payload.from_int(number, 36))


def question(
    number: int, text: str, who: str = "", ids: list[int] | None = None
) -> AnsweredQuestion:
    tokens = ids or [number, *range(100, 130)]
    return AnsweredQuestion(mark=mark(number), ids=np.array(tokens), texts=(text,), recipient=who)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "questions.sqlite3"


def opened(path: Path, *, days: int = 0, **options) -> QuestionStore:
    return QuestionStore(path, KEY, create=True, clock=clock(days), **options)


def test_a_question_comes_back_as_it_was(path):
    with opened(path) as store:
        ids = [128_000, 5, 300, 2**20]
        number = store.keep(question(417, "Why do plimosa grow in tarnewb?", ids=ids))
        found = store.get(number)
        assert found.ids.tolist() == ids
        assert found.mark == mark(417)
        assert (found.until - found.written).days == 30
        assert [q.number for q in store.of_mark(mark(417), "")[0]] == [number]
        assert store.of_mark(mark(418), "") == ([], 0)
        # The same number under another profile is another mark.
        other = PayloadSeries(key=SERIES.key, profile="f" * 16)
        assert store.of_mark(mark(417, other), "") == ([], 0)


def test_rare_words_lead_to_the_question(path):
    with opened(path) as store:
        for number, topic in enumerate(TOPICS):
            store.keep(question(number, f"Please explain how {topic} differs from common things"))
        for number, topic in enumerate(TOPICS):
            found = store.likely(f"Common things differ: {topic.upper()} is larger.", [SERIES])
            assert found[0].mark == mark(number), topic
        assert store.likely("Nothing of the kind", [SERIES]) == []
        other = PayloadSeries(key="f" * 16, profile=SERIES.profile)
        assert store.likely(TOPICS[0], [other]) == []


def test_of_equals_the_newest_comes_first(path):
    with opened(path) as store:
        numbers = [store.keep(question(n, "What is a plimosa?")) for n in range(5)]
        found = [q.number for q in store.likely("A plimosa is a tree.", [SERIES])]
        assert found == numbers[::-1]


def test_only_the_rarest_words_of_a_long_question_count(path):
    common = [f"common{n}" for n in range(40)]
    with opened(path) as store:
        for n in range(3):
            store.keep(question(n, " ".join(common[:INDEXED])))
        store.keep(question(9, " ".join([*common[:INDEXED], *TOPICS[:INDEXED]])))
        (first, *_) = store.likely(" ".join(TOPICS[:3]), [SERIES])
        assert first.mark == mark(9)


def test_content_words_are_stems_without_function_words():
    assert content_words("The gardens, the Gardening and 42 of them") == [
        "gardens",
        "gardeni",
        "42",
    ]
    assert content_words("Über die Straße") == ["strasse"]
    assert content_words("京都の歴史")[:2] == ["京都", "都の"]


def test_nobody_reads_it_without_the_key(path):
    """Neither words nor who asked nor the number; nor whether two questions are alike."""
    with opened(path) as store:
        for _ in range(2):
            store.keep(
                question(417, "What is a plimosa in tarnewb?", who="City paper", ids=[7] * 99)
            )
        store.clean()
    data = path.read_bytes()
    for secret in (b"plimosa", b"tarnewb", b"City paper", mark(417).payload.text.encode()):
        assert secret not in data
    db = sqlite3.connect(path)
    sealed = [blob for (blob,) in db.execute("SELECT sealed FROM questions")]
    assert sealed[0] != sealed[1]
    addresses = db.execute("SELECT address, row FROM entries").fetchall()
    assert len({address for address, _ in addresses}) == len(addresses)  # none stands twice
    db.close()
    with pytest.raises(QuestionError) as error:
        QuestionStore(path, SecretKey(bytes(32)))
    assert error.value.code == "key-mismatch"


def test_the_index_tells_no_frequencies(path):
    """Word frequencies are how a blind index is usually broken: here every address is of one row.

    A store of one word in every question, and one of all different words, look alike: as many
    addresses, each of one row, and as many sealed lengths of the same size per word.
    """
    shapes = []
    for words in (["plimosa"] * 20, TOPICS[:20]):
        file = path.with_name(f"{words[1]}.sqlite3")
        with opened(file) as store:
            store.keep_many([question(n, word) for n, word in enumerate(words)])
        db = sqlite3.connect(file)
        per_row = db.execute("SELECT row, count(*) FROM entries GROUP BY row").fetchall()
        sizes = {len(blob) for (blob,) in db.execute("SELECT sealed FROM questions")}
        shapes.append((per_row, sizes))
        db.close()
    assert shapes[0] == shapes[1]


def test_a_row_in_another_place_is_refused(path):
    """A row that was exchanged with another, or given more time, does not open."""
    for change in (
        (
            "UPDATE questions SET sealed = (SELECT sealed FROM questions WHERE number = 2)"
            " WHERE number = 1"
        ),
        "UPDATE questions SET until = until + 100 WHERE number = 1",
        "UPDATE questions SET day = day - 1 WHERE number = 1",
    ):
        path.unlink(missing_ok=True)
        with opened(path) as store:
            for n in (1, 2):
                store.keep(question(n, TOPICS[n]))
            assert store.verify().sound
            store.connection.execute(change)
            with pytest.raises(QuestionError) as error:
                store.get(1)
            assert error.value.code == "questions-damaged"
            check = store.verify()
            assert [fault.key for fault in check.faults] == ["questions.row-damaged"], change


def test_an_index_that_was_changed_shows(path):
    with opened(path) as store:
        for n in (1, 2):
            store.keep(question(n, f"{TOPICS[n]} {TOPICS[n + 9]}"))
        store.connection.execute("UPDATE entries SET row = 3 - row")
        faults = {fault.key for fault in store.verify().faults}
        assert "questions.fault-index" in faults
        store.connection.execute("INSERT INTO entries VALUES (x'00', 99)")
        assert "questions.fault-stray" in {fault.key for fault in store.verify().faults}


def test_what_has_expired_is_gone(path):
    with opened(path, days=0) as store:
        store.keep(question(1, TOPICS[1]))
    with opened(path, days=30) as store:
        assert len(store) == 1
        assert store.likely(TOPICS[1], [SERIES])
    with opened(path, days=31) as store:
        assert len(store) == 0
        assert store.likely(TOPICS[1], [SERIES]) == []
        assert store.get(1) is None
        assert store.of_mark(mark(1), "")[0] == []
        # The next one that is written clears it away.
        store.keep(question(2, TOPICS[2]))
        (rows,) = store.connection.execute("SELECT count(*) FROM questions").fetchone()
        assert rows == 1
        assert store.verify().sound


def test_days_have_bounds(path):
    for days in (0, 367):
        with pytest.raises(QuestionError):
            opened(path, days=0).close() or QuestionStore(path, KEY, days=days)
    with QuestionStore(path, KEY, days=7, clock=clock()) as store:
        number = store.keep(question(1, TOPICS[1]))
        found = store.get(number)
        assert (found.until - found.written).days == 7
    with QuestionStore(path, KEY, clock=clock()) as store:
        assert store.days == 7


@pytest.mark.parametrize("way", ["number", "customer", "day", "expired"])
def test_erasing_leaves_nothing_behind(path, way):
    """Bytes of the erased row are nowhere in the file, in no log beside it, and in no index."""
    with opened(path) as store:
        store.keep(question(1, f"{TOPICS[1]} {TOPICS[9]}", who="City paper"))
        store.keep(question(2, f"{TOPICS[2]} {TOPICS[9]}", who="Village paper"))
    with opened(path, days=10) as store:
        store.keep(question(3, f"{TOPICS[3]} {TOPICS[9]}", who="Village paper"))
        rows = dict(store.connection.execute("SELECT number, sealed FROM questions"))
        addresses = store.connection.execute("SELECT address FROM entries WHERE row = 1").fetchall()
    later = 31 if way == "expired" else 10
    with opened(path, days=later) as store:
        erased = {
            "number": lambda: store.erase_number(1),
            "customer": lambda: store.erase_customer("City paper"),
            "day": lambda: store.erase_before(dt.date(2026, 12, 5)),
            "expired": store.erase_expired,
        }[way]()
        gone = {"number": [1], "customer": [1], "day": [1, 2], "expired": [1, 2]}[way]
        assert erased == len(gone)
        store.clean()
        assert store.verify().sound
        left = store.likely(TOPICS[9], [SERIES])
        assert [one.number for one in left] == sorted({1, 2, 3} - set(gone), reverse=True)
    data = b"".join(file.read_bytes() for file in path.parent.iterdir())
    for number, sealed in rows.items():
        assert (sealed in data) == (number not in gone)
    assert not any(address in data for (address,) in addresses)


def test_an_empty_store_keeps_no_counts(path):
    with opened(path) as store:
        for n in range(4):
            store.keep(question(n, TOPICS[n]))
        store.erase_before(dt.date(2030, 1, 1))
        store.clean()
        (chains,) = store.connection.execute("SELECT count(*) FROM chains").fetchone()
        assert chains == 0
        store.keep(question(9, TOPICS[0]))
        assert store.get(5) is not None  # numbers are not given twice


def test_status_needs_no_key(path):
    with opened(path) as store:
        store.keep(question(1, TOPICS[1]))
    found = status_of(path, today=NOW.date())
    assert (found.questions, found.expired, found.key) == (1, 0, KEY.fingerprint)
    assert status_of(path, today=NOW.date() + dt.timedelta(days=31)).expired == 1


def test_a_look_up_reads_a_bounded_part_of_the_index(path):
    """Words that stand in too many questions are passed over; the rarer ones lead there still."""
    with opened(path) as store:
        count = ENTRIES_READ + 200
        store.keep_many([question(n, "plimosa") for n in range(count)])
        number = store.keep(question(5, f"plimosa {TOPICS[20]}"))
        found = store.likely(f"plimosa {TOPICS[20]}", [SERIES])
        assert [one.number for one in found] == [number]
        assert store.likely("plimosa", [SERIES]) == []


WRITER = """
import datetime as dt, sys
sys.path[:0] = {folders!r}
from pathlib import Path
from tests.core.questions.test_store import KEY, question, TOPICS
from pura.questions.store import QuestionStore
with QuestionStore(Path({path!r}), KEY, create=True) as store:
    for n in range(1_000_000):
        number = store.keep(question(n % 1000, TOPICS[n % len(TOPICS)] + f" rare{{n}}"))
        print(number, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_it_survives_a_process_that_is_killed(path):
    """Every number that was handed out before SIGKILL is there, and the file is whole."""
    folders = [str(Path(__file__).parents[3])]
    code = WRITER.format(folders=folders, path=str(path))
    writing = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    seen = [int(writing.stdout.readline()) for _ in range(random.Random(5).randint(40, 80))]
    writing.send_signal(signal.SIGKILL)
    rest, _ = writing.communicate()
    seen += [int(line) for line in rest.splitlines() if line]
    with QuestionStore(path, KEY) as store:
        assert store.verify().sound
        assert all(store.get(number) is not None for number in seen)
        assert len(store) - len(seen) in (0, 1)
        store.keep(question(1, TOPICS[1]))


def test_a_server_keeps_questions_from_many_threads(path):
    keeper = QuestionKeeper(path, SecretKey(bytes(range(32))), 5)
    for n in range(300):
        keeper.keep(question(n, TOPICS[n % len(TOPICS)]))
    # One that cannot be kept costs the others nothing.
    keeper.keep(AnsweredQuestion(mark=mark(1), ids=np.zeros(0, dtype=np.int64), texts=()))
    keeper.keep(question(300, TOPICS[0]))
    keeper.close()
    with QuestionStore(path, KEY) as store:
        assert len(store) == 301
        assert store.days == 5
