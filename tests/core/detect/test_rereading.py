"""Windows of a long text are read again: what they weigh, and what is found by them."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pura.base.errors import Cancelled
from pura.batch.results import finding_of
from pura.detect import windows as rereading
from pura.detect.decode.likelihood import Intervals
from pura.detect.key_reading import KeyReading, KeyTrial, decode, evidence, weigh
from pura.detect.options import AuditText, Options
from pura.detect.together import audit_documents, audit_text
from pura.detect.verdict.policy import Policy
from pura.detect.windows import Weights, most_read, windows, windows_near
from pura.documents import from_text
from pura.model import evidence as passes
from pura.model.evidence import read_documents
from pura.record import json_io
from pura.record.audit import Audit
from pura.record.json_io import findings_digest
from pura.scheme import Profile, SecretKey, schedule
from pura.words.sentences import fill

TEN = math.log(10)
HUMAN = Path(__file__).resolve().parents[2] / "data" / "human.txt"


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of 64 tokens, in texts that the model reads in seconds."""
    monkeypatch.setattr(rereading, "SIZE", 64)
    monkeypatch.setattr(rereading, "STRIDE", 16)
    monkeypatch.setattr(rereading, "_TOKENS_A_WINDOW", 64)


def test_the_weights_of_all_that_may_be_read_add_up_to_one():
    for keys, readings, forms in ((1, 1, (2_500,)), (3, 7, (9_000, 2_000, 31)), (2, 1, (2_499,))):
        weights = Weights(keys=keys, readings=readings, forms=forms)
        total = keys * readings * 10**weights.first
        if weights.again:
            total += sum(
                keys * windows(tokens) * 10 ** weights.second(form)
                for form, tokens in enumerate(forms)
            )
        assert total == pytest.approx(1, abs=1e-12)
    assert [most_read(tokens) for tokens in (200, 2_499, 2_500, 7_600, 10**6)] == [0, 0, 1, 3, 4]
    assert windows_near(5_000, 10_000, 4) == (4_928, 4_960, 4_992, 5_024)
    assert windows_near(40, 10_000, 2) == (0, 32)
    assert windows_near(9_999, 10_000, 4) == (9_920, 9_952)


@pytest.mark.sampled
@pytest.mark.slow
def test_mean_e_is_one_with_every_window_and_at_most_one_with_the_best(small_windows, monkeypatch):
    """From both sides for the half of the whole text, whose mean is exact; five standard errors.

    A key a draw, phases and positions by its own keyed function, each window with the schedule of
    a text of its own. Reading only the windows that say most is the most that choosing can gain.
    """
    monkeypatch.setattr(rereading, "SIZE", 8)
    monkeypatch.setattr(rereading, "STRIDE", 4)
    monkeypatch.setattr(rereading, "_TOKENS_A_WINDOW", 6)
    profile = Profile(payload_bits=4, blocks=2, vocab_size=1000)
    rng = np.random.default_rng(47)
    tokens = 12
    ids, entropy = rng.integers(0, 1000, tokens), rng.uniform(2, 6, tokens)
    lo = rng.random((2, tokens)) * 0.5
    hi = lo + 0.1 + 0.4 * rng.random((2, tokens))
    weights = Weights(keys=1, readings=1, forms=(tokens,))

    def trial(key: SecretKey, first: int, weight: float, begin: int | None) -> KeyReading:
        # What a window is read with nothing before it gives other intervals than the text does.
        there = slice(first, first + (tokens if begin is None else 8))
        row = 0 if begin is None else 1
        part = Intervals.of(
            schedule(ids[there], entropy[there], key, profile),
            entropy[there], lo[row, there], hi[row, there], profile,
        )  # fmt: skip
        return decode(KeyTrial(log10_weight=weight, begin=begin), ids[there], part, weigh(part))

    every, best = [], []
    for _ in range(40):
        key = SecretKey(rng.bytes(32))
        text = trial(key, 0, weights.first, None)
        read = [
            trial(key, 4 * number, weights.second(0), 4 * number)
            for number in range(windows(tokens))
        ]
        every.append(10 ** evidence([text, *read], lambda exact: exact.log_e_whole / TEN))
        best.append(10 ** evidence([text, *sorted(read, key=lambda t: -t.log10_share)[:1]]))
    e = np.array(every)
    assert abs(e.mean() - 1) <= 5 * e.std() / np.sqrt(e.size)
    assert np.mean(best) <= 1 + 5 * np.std(best) / np.sqrt(len(best))


@pytest.fixture(scope="module")
def hidden(samples: dict[str, Any]) -> str:
    """The beginning of a marked text behind foreign words."""
    host = HUMAN.read_text(encoding="utf-8").split("\n%\n")[0][:600]
    words = samples["marked-tbcc"]["texts"][0]["text"].strip().split(" ")
    return host + "\n\n" + " ".join(words[:45])


@pytest.mark.model
def test_a_passage_that_drowns_is_found_by_its_second_reading(
    builtin_model, samples, hidden, small_windows
):
    sample = samples["marked-tbcc"]
    audit = audit_text(
        hidden,
        model=builtin_model,
        keys=[(SecretKey.from_hex(sample["key_hex"]), None)],
        profile=Profile.from_dict(sample["profile"]),
    )
    again = audit.rereading
    assert (again.weight, again.windows, again.read) == (0.25, audit.input.tokens // 16, 2)
    assert again.log10_first < 6 < again.log10_second  # type: ignore[operator]
    # Alone on one form of the text the window pays for the weight of all.
    assert audit.evidence.log10_e == pytest.approx(again.log10_second)
    assert audit.variants[0].log10_e == pytest.approx(audit.evidence.log10_e)
    assert audit.verdict == audit.variants[0].verdict == "mark"
    assert audit.payload.bits == audit.marks[0].bits == sample["texts"][0]["payload"]
    assert audit.text == hidden
    (passage,) = audit.passages
    assert abs(passage.start - 602) < 20
    assert len(hidden) - 20 <= passage.end <= len(hidden) == passage.end_to
    assert again.first_token is not None
    assert again.first_token <= passage.first_token <= passage.last_token <= again.last_token
    # Tokens and steps are those of the whole text, in their order.
    assert audit.tokens.ids.size == audit.input.tokens
    assert (np.diff(audit.steps.token) > 0).all()
    assert audit.steps.token.size == audit.evidence.usable > audit.steps.token[0] + 64
    (said,) = (one for one in audit.sentences if one.key == "reread.found")
    span = f"{again.first_token + 1} to {audit.input.tokens}"
    assert span in fill(said, "en")
    assert "zweites Mal gelesen" in fill(said, "de")
    assert "read again with nothing before them: 64 tokens" in audit.log[7].words("en")
    assert "rests on a second reading" in audit.log[8].words("en")
    opened = json_io.from_json(json_io.to_json(audit))
    assert opened.rereading == again == audit.rereading
    assert findings_digest(opened) == findings_digest(audit)
    assert json_io.summary(audit)["rereading"]["read"] == 2
    # One share of the text, wherever it is said: not that of the window.
    (edited,) = (one for one in audit.sentences if one.key == "text.concentrated")
    share = audit.finding.share
    assert edited.values["share"] == audit.marks[0].share == share == pytest.approx(0.29, abs=0.1)
    assert finding_of(audit.finding)["share"] == round(share, 6)


@pytest.mark.model
def test_what_the_first_reading_decided_is_not_read_again(
    small_model, small_samples, hidden, small_windows, monkeypatch
):
    sample, seen = small_samples["marked-tbcc"], []
    texts = [sample["texts"][0]["text"], hidden]

    def read(*given, **more):
        seen.append([len(ids) for one in given[1] for ids in one.texts])
        return read_documents(*given, **more)

    monkeypatch.setattr(passes, "read_documents", read)
    decided, open_one = audit_documents(
        [AuditText(document=from_text(text, name="")) for text in texts],
        model=small_model,
        keys=[(SecretKey.from_hex(sample["key_hex"]), None)],
        profile=Profile.from_dict(sample["profile"]),
    )
    assert (decided.verdict, decided.rereading.read, open_one.rereading.read) == ("mark", 0, 2)
    first, again = seen  # one call for both texts, one for the windows of the other
    assert sum(first) == decided.input.tokens + open_one.input.tokens
    assert len(again) == 2
    assert max(again) == 64


@pytest.fixture
def run(small_model: Any, small_samples: dict[str, Any], small_windows: None) -> Callable[..., Any]:
    """Audit texts by the small model, in which nothing is marked, side by side."""

    def audits(texts: list[str], *keys: int, **more: Any) -> list[Audit]:
        policy = Policy(draws=0, stop_early=more.pop("stop_early", False))
        found = audit_documents(
            [AuditText(document=from_text(t, name="")) for t in texts],
            options=Options(policy=policy),
            model=small_model,
            keys=[(SecretKey(bytes([number] * 32)), None) for number in keys or (1,)],
            profile=Profile.from_dict(small_samples["plain"]["profile"]),
            **more,
        )
        assert all(isinstance(one, Audit) for one in found)
        return found  # type: ignore[return-value]

    return audits


@pytest.mark.model
def test_texts_side_by_side_are_read_again_like_one_by_one(run, hidden):
    texts = [hidden, hidden[:150], hidden[300:]]
    together = run(texts, 1, 2)
    assert [one.rereading and one.rereading.read for one in together] == [2, None, 2]
    for text, beside in zip(texts, together, strict=True):
        (alone,) = run([text], 1, 2, stop_early=True)
        assert beside.evidence.log10_e == pytest.approx(alone.evidence.log10_e, abs=1e-6)
        assert beside.log[7].words("en") == alone.log[7].words("en")
        if beside.rereading is not None:
            total = 10**beside.rereading.log10_first + 10**beside.rereading.log10_second  # type: ignore[operator]
            assert beside.evidence.log10_e == pytest.approx(math.log10(total))
            assert beside.rereading.first_token is None  # no finding, no window to show


@pytest.mark.model
def test_a_second_reading_can_be_stopped(run, hidden):
    begun = []

    def stop() -> None:
        if begun:
            raise Cancelled

    with pytest.raises(Cancelled):
        run(
            [hidden],
            progress=lambda stage: begun.append(1) if (stage.number, stage.total) > (8, 0) else 0,
            checkpoint=stop,
        )
