"""All readings of a text are read, all count, and the record says what each says alone."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pura.base.errors import InputError
from pura.detect.options import AuditText, Options
from pura.detect.restore.variants import FOUND, IDS, RESTORED, check_ids, spans_of_ids, variants_of
from pura.detect.verdict.policy import Policy
from pura.documents import from_text
from pura.model.tokenise import nats_of, tokenise
from pura.record import json_io
from pura.record.audit import Audit

HUMAN = Path(__file__).resolve().parents[2] / "data" / "human.txt"


def test_a_plain_text_has_one_reading():
    [only] = variants_of("plain text")
    assert (only.name, only.text) == (FOUND, "plain text")


def test_readings_are_distinct_and_named():
    found = variants_of("“a”")
    assert [(v.name, v.text) for v in found] == [(FOUND, "“a”"), (RESTORED, '"a"')]
    assert [v.name for v in variants_of("“a”", restored=False)] == [FOUND]


@pytest.mark.model
@pytest.mark.parametrize("ids", [[], [1.5], [[1]], [-1], [10**9], ["a"], [True]])
def test_ids_that_are_none_are_refused(builtin_model, ids):
    with pytest.raises(InputError, check=lambda e: e.code in ("input-ids", "input-ids-range")):
        check_ids(builtin_model, ids)


@pytest.mark.model
@pytest.mark.parametrize("text", ["Plain words here.", " naïve 日本語 👩🏽‍🚀 end", "a\n\n  b\tc"])
def test_saved_ids_know_their_characters(builtin_model, text):
    tokens = tokenise(builtin_model.tokenizer, text)
    ids, words = check_ids(builtin_model, tokens.ids.tolist())
    assert words == text
    spans = spans_of_ids(builtin_model, ids, text)
    assert spans[0, 0] == 0
    assert spans[-1, 1] == len(text)
    assert np.all(spans[1:, 0] >= spans[:-1, 0])
    # Seen as a whole, the spans cover the text without a hole.
    assert "".join(text[a:b] for a, b in dict.fromkeys(map(tuple, spans.tolist()))) == text


@pytest.fixture
def sample(samples: dict[str, Any]) -> dict[str, Any]:
    found = samples["marked-tbcc"]["texts"][1]
    return {**found, "payload": "".join(map(str, found["payload"]))}


@pytest.fixture
def read(audited: Callable[..., Audit]) -> Callable[..., Audit]:
    def read(text: str, *, ids: Any = None, **options: Any) -> Audit:
        chosen = Options(policy=replace(Policy(), draws=0), **options)
        return audited(AuditText(document=from_text(text), ids=ids), options=chosen)

    return read


@pytest.mark.model
def test_what_an_office_program_did_is_undone(read, sample):
    text = sample["text"][:600]
    plain = read(text)
    assert [v.name for v in plain.variants] == [FOUND]
    spoilt = text.replace("\n", "\r\n").replace('"', "”").replace(" the ", " the\u00a0")
    found = read(spoilt)
    by_name = {v.name: v for v in found.variants}
    assert set(by_name) == {FOUND, RESTORED}
    assert by_name[RESTORED].shown
    # The record shows what was found, whichever reading its tokens are of.
    assert found.text == spoilt
    assert by_name[FOUND].text is None
    assert by_name[RESTORED].text == text
    # Side by side with the text as found, matrix products add in another order than alone.
    assert by_name[RESTORED].log10_e == pytest.approx(plain.evidence.log10_e, abs=1e-3)
    assert by_name[FOUND].log10_e < by_name[RESTORED].log10_e
    # What was done took many nats, so the text as found is not read, and takes no weight.
    assert not by_name[FOUND].read
    assert found.evidence.log10_e == pytest.approx(by_name[RESTORED].log10_e)
    assert found.payload.bits == sample["payload"]
    assert {c.name for c in by_name[RESTORED].changes} >= {"line-ends", "special-blanks"}
    assert "not read, since another reading is by far likelier" in found.log[2].words("en")
    assert json_io.from_json(json_io.to_json(found)).variants == found.variants
    # Shown tokens stand in the shown text.
    assert found.tokens.spans[-1, 1] == len(found.text)
    off = read(spoilt, restore=False)
    assert [v.name for v in off.variants] == [FOUND]
    hidden = read(spoilt, keep_text=False)
    assert hidden.text is None
    assert all(v.text is None for v in hidden.variants)
    assert text[:40] not in json.dumps(hidden.to_dict())


@pytest.mark.model
def test_saved_ids_stand_beside_the_text(read, sample):
    found = read(sample["text"], ids=tuple(sample["tokens"]))
    by_name = {v.name: v for v in found.variants}
    assert set(by_name) == {FOUND, IDS}
    assert by_name[IDS].verdict == "mark"
    assert found.payload.bits == sample["payload"]
    other = read("Other words than those.", ids=(1, 2, 3))
    assert "decode to another text" in other.log[2].words("en")


@pytest.mark.model
def test_another_language_is_a_caution_where_a_rate_is_stated(read, sample):
    german = (
        "Der Ausschuss hat sich in der letzten Woche mit der Frage befasst, ob die neuen Regeln "
        "für den Verkehr in der Stadt auch auf die Straßen am Rand angewendet werden, und er ist "
        "nicht zu einem Ergebnis gekommen, das alle Seiten als gerecht ansehen."
    )
    cautioned = {s.key for s in read(german).cautions}
    assert "caution.language" in cautioned
    english = {s.key for s in read(sample["text"]).cautions}
    assert not english & {"caution.language", "caution.signs"}


@pytest.mark.model
def test_a_long_text_that_was_handled_is_read_in_windows_that_the_log_names(
    small_audited, small_samples
):
    """2,300 tokens with a curly quote at both ends of every fifth sentence."""
    marked = small_samples["marked-tbcc"]["texts"][0]["text"].strip()
    parts = f"{marked}. {HUMAN.read_text(encoding='utf-8')[:10_000]}".split(". ")
    parts[1::5] = [f"“{part}”" for part in parts[1::5]]
    audit = small_audited(". ".join(parts))
    said = audit.log[4].words("en")
    assert "2 windows of 2,048 tokens that overlap by 256" in said
    found, restored = audit.variants
    assert (found.name, restored.name) == (FOUND, RESTORED)
    assert f"of {restored.tokens:,} tokens from the restored text read anew" in said
    assert audit.verdict == restored.verdict == "mark"


@pytest.mark.model
def test_short_lines_that_may_have_been_written_so_are_read_as_found_too(small_model):
    """A marked text of short lines, most of which look as if they were broken at a column."""
    held_out = Path(__file__).parents[2] / "data" / "held_out.json"
    texts = json.loads(held_out.read_text(encoding="utf-8"))["texts"]
    (text,) = (one["original"] for one in texts if one["tool"] == "pr")
    found, joined = variants_of(text, costs=partial(nats_of, small_model.tokenizer))
    assert (found.name, found.read) == (FOUND, True)
    assert (joined.name, joined.read) == ("layout", True)
