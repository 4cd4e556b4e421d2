"""Our own generation loop: lengths, endings, padding, seeds, refusals."""

import numpy as np
import pytest
import torch
from tests.core.stops import stop_after

from pura.base.errors import Cancelled, GenerationError, InputError, PayloadError, ProfileError
from pura.embed import Generated, generate, generate_batch
from pura.embed.generate import end_ids, prompt_ids
from pura.model.load import LanguageModel
from pura.scheme import Payload, Profile, SecretKey, schedule

PROMPTS = ["a", "The council met", "on Tuesday", "…und dann"]
PAYLOADS = [Payload.from_int(v, 12) for v in (0, 5, 2730, 4095)]


def same(a: Generated, b: Generated) -> None:
    assert a.ids.tolist() == b.ids.tolist()
    assert (a.text, a.ended) == (b.text, b.ended)
    assert a.prompt_ids.tolist() == b.prompt_ids.tolist()
    np.testing.assert_allclose(a.entropy_bits, b.entropy_bits, atol=1e-4)
    assert a.arity.tolist() == b.arity.tolist()


def test_a_row_of_a_batch_is_the_text_alone(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    """Left padding, neighbours and batch size change nothing."""
    seeds = [11, 12, 13, 14]
    batch = generate_batch(tiny, PROMPTS, PAYLOADS, key, profile, tokens=40, seed=seeds)
    pairs = generate_batch(
        tiny, PROMPTS, PAYLOADS, key, profile, tokens=40, seed=seeds, batch_size=3
    )
    for i, row in enumerate(batch):
        alone = generate(tiny, PROMPTS[i], PAYLOADS[i], key, profile, tokens=40, seed=seeds[i])
        same(row, alone)
        same(row, pairs[i])
        assert row.arity.sum() > 20


def test_one_seed_serves_all_however_they_are_cut(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    whole = generate_batch(tiny, PROMPTS, PAYLOADS, key, profile, tokens=20, seed=3)
    cut = generate_batch(tiny, PROMPTS, PAYLOADS, key, profile, tokens=20, seed=3, batch_size=1)
    for a, b in zip(whole, cut, strict=True):
        same(a, b)
    plain = generate_batch(tiny, ["a", "a"], [None, None], None, profile, tokens=20, seed=3)
    assert plain[0].ids.tolist() != plain[1].ids.tolist()


def test_with_a_seed_the_model_computes_in_one_thread(
    tiny: LanguageModel, profile: Profile
) -> None:
    """Two threads round differently: the text would depend on the number of cores."""
    before, seen = torch.get_num_threads(), list[int]()

    def look() -> None:
        seen.append(torch.get_num_threads())

    try:
        torch.set_num_threads(2)
        for seed, threads in ((3, 1), (None, 2)):
            seen.clear()
            generate(tiny, "a", None, None, profile, tokens=3, seed=seed, checkpoint=look)
            assert seen == [threads] * 3
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.model
def test_a_seeded_text_is_the_same_for_any_number_of_threads(
    builtin_model: LanguageModel, key: SecretKey
) -> None:
    shared, payload = Profile.new(builtin_model, code="tbcc"), Payload.from_int(12345, 36)
    prompt = "The city council met on Tuesday evening to discuss the future of the old harbour."
    before, texts = torch.get_num_threads(), list[str]()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            made = generate(builtin_model, prompt, payload, key, shared, tokens=200, seed=1)
            texts.append(made.text)
    finally:
        torch.set_num_threads(before)
    assert texts[0] == texts[1]


def test_without_a_seed_texts_differ(tiny: LanguageModel, profile: Profile) -> None:
    texts = {generate(tiny, "a", None, None, profile, tokens=30).text for _ in range(2)}
    assert len(texts) == 2


def test_the_verifier_finds_the_schedule_again(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    for history in ("used", "all"):
        p = profile.with_(history=history)
        made = generate(tiny, "The", PAYLOADS[2], key, p, tokens=120, seed=4, ignore_eos=True)
        found = schedule(made.ids, made.entropy_bits, key, p)
        arity = np.zeros(made.ids.size, dtype=np.int64)
        arity[found.token] = found.arity
        assert arity.tolist() == made.arity.tolist()
        assert not made.arity[:2].any()


def test_entropies_are_those_of_a_fresh_pass(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    """The cache and the padding leave every distribution as one uncached pass sees it."""
    p = profile.with_(temperature=0.9)
    made = generate_batch(tiny, PROMPTS, PAYLOADS, key, p, tokens=30, seed=6, ignore_eos=True)
    for text in made:
        ids = np.concatenate([text.prompt_ids, text.ids])
        with torch.inference_mode():
            logits = tiny.network(torch.from_numpy(ids)[None]).logits[0].double()
        logits = logits[text.prompt_ids.size - 1 : -1].clone()
        logits[:, 0] = float("-inf")
        pi = torch.softmax(logits / 0.9, dim=-1)
        entropy = torch.special.entr(pi).sum(dim=-1) / np.log(2)
        np.testing.assert_allclose(text.entropy_bits, entropy.numpy(), atol=1e-4)
        assert (pi.numpy()[np.arange(30), text.ids] > 0).all()


def test_a_text_ends_where_the_model_ends_it(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    assert end_ids(tiny) == {0}
    rows = 24
    made = generate_batch(
        tiny, ["x"] * rows, [PAYLOADS[1]] * rows, key, profile, tokens=200, seed=8, batch_size=24
    )
    ended = [m for m in made if m.ended]
    assert len(ended) > 0
    for text in made:
        assert 0 not in text.ids
        assert text.ids.size == text.arity.size == text.entropy_bits.size
        assert text.ended or text.ids.size == 200
    longer = generate_batch(
        tiny, ["x"] * 2, [PAYLOADS[1], None], key, profile, tokens=200, seed=8, ignore_eos=True
    )
    assert [(m.ids.size, m.ended, 0 in m.ids) for m in longer] == [(200, False, False)] * 2


def test_top_k_and_top_p_are_the_profiles(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    p = profile.with_(top_k=5, top_p=0.9, entropy_thresholds_bits=(0.5, 1.0, 2.0))
    made = generate(tiny, "The", PAYLOADS[3], key, p, tokens=60, seed=9, ignore_eos=True)
    ids = np.concatenate([made.prompt_ids, made.ids])
    with torch.inference_mode():
        logits = tiny.network(torch.from_numpy(ids)[None]).logits[0]
    logits = logits[made.prompt_ids.size - 1 : -1].clone()
    logits[:, 0] = float("-inf")
    own = logits.gather(1, torch.from_numpy(made.ids)[:, None])
    assert ((logits > own).sum(dim=1) < 5).all()
    assert made.entropy_bits.max() <= np.log2(5)
    assert made.arity.sum() > 20


def test_progress_and_cancel(tiny: LanguageModel, key: SecretKey, profile: Profile) -> None:
    seen: list[tuple[int, int]] = []
    generate_batch(
        tiny,
        PROMPTS,
        PAYLOADS,
        key,
        profile,
        tokens=5,
        seed=1,
        ignore_eos=True,
        batch_size=2,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(i, 10) for i in range(1, 11)]

    with pytest.raises(Cancelled):
        generate(tiny, "a", PAYLOADS[0], key, profile, tokens=50, checkpoint=stop_after(2))


def test_control_tokens_in_a_prompt_are_text(tiny: LanguageModel) -> None:
    ids = prompt_ids(tiny, "a<|end|>b")
    assert 0 not in ids
    assert len(ids) == len("a<|end|>b")
    assert prompt_ids(tiny, [3, 0, 4]) == [3, 0, 4]
    chat = Profile(
        payload_bits=12, blocks=3, vocab_size=tiny.vocab_size, chat_template="b<|end|>{prompt}a"
    )
    within = prompt_ids(tiny, "a<|end|>b", chat)
    end = tiny.tokenizer.convert_tokens_to_ids("<|end|>")
    assert within == [*prompt_ids(tiny, "b"), end, *prompt_ids(tiny, "a<|end|>ba")]
    assert prompt_ids(tiny, [3, 0, 4], chat) == [3, 0, 4]


def test_what_does_not_fit_is_refused(
    tiny: LanguageModel, key: SecretKey, profile: Profile
) -> None:
    payload = PAYLOADS[0]

    def run(prompt: str | list[int] = "a", bits: Payload | None = payload, **changes: object):
        p = profile.with_(**{k: v for k, v in changes.items() if k != "tokens"})
        tokens = int(str(changes.get("tokens", 3)))
        return generate(tiny, prompt, bits, key, p, tokens=tokens)

    other = "0123456789abcdef"
    assert run(tokenizer=tiny.tokenizer_fingerprint, key=key.fingerprint, model=other).ids.size
    with pytest.raises(ProfileError, match="is not the one that the profile names"):
        run(vocab_size=258)
    with pytest.raises(ProfileError, match="not the one that the profile names") as refused:
        run(tokenizer=other)
    assert refused.value.hint
    with pytest.raises(ProfileError, match=other):
        run(key=other)
    with pytest.raises(PayloadError):
        run(bits=Payload(text="101"))
    with pytest.raises(GenerationError, match="empty"):
        run(prompt="")
    with pytest.raises(GenerationError, match="vocabulary of 257"):
        run(prompt=[257])
    with pytest.raises(InputError):
        run(prompt="a\ud800")
    with pytest.raises(GenerationError, match="256"):
        run(tokens=256)
    with pytest.raises(GenerationError, match="from 1 up"):
        run(tokens=0)
    with pytest.raises(GenerationError, match="No key was given"):
        generate(tiny, "a", payload, None, profile, tokens=3)
    with pytest.raises(GenerationError, match="chat template"):
        generate(tiny, "a", payload, key, profile, tokens=3, chat=True)
    with pytest.raises(GenerationError, match="2 texts to generate, but 1"):
        generate_batch(tiny, ["a", "b"], [payload], key, profile, tokens=3)
    with pytest.raises(GenerationError, match="seed"):
        generate(tiny, "a", payload, key, profile, tokens=3, seed=-1)
    assert generate_batch(tiny, [], [], key, profile) == []
