"""Every family that the paper or its readers may bring marks a text and verifies it."""

from dataclasses import replace

import numpy as np

from pura.detect.together import audit_text
from pura.embed import generate
from pura.model.load import wrap
from pura.model.tokenise import tokenise
from pura.scheme import Payload, Profile, SecretKey

FAMILIES = ("llama3", "gemma2", "bloom", "gpt-neox")


def test_marks_and_verifies_in_every_family(tiny):
    """64 tokens of random models with 337 words; Pythia is a GPT-NeoX."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    key, payload = SecretKey(bytes(range(32))), Payload.from_int(0xA5C, 12)
    odd = {}
    for family in FAMILIES:
        bare_model = tiny(family)
        names = {f"w{i}": i for i in range(bare_model.head.rows)}
        bare = Tokenizer(models.WordLevel(names, unk_token="w0"))
        bare.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        words = PreTrainedTokenizerFast(tokenizer_object=bare)
        model = wrap(bare_model.network, words, bare_model.device, name=family)
        model = replace(model, context_length=256)
        # Random weights make this family so sure of itself that next to nothing is left to chance.
        profile = Profile(
            payload_bits=12,
            code="tbcc",
            vocab_size=model.vocab_size,
            payload_use="answer",  # else so short a text of a random model names nobody
            temperature=2.0 if family == "bloom" else 1.0,
        )
        made = generate(model, [3, 5], payload, key, profile, tokens=64, seed=1, ignore_eos=True)
        text = " ".join(f"w{i}" for i in made.ids)
        assert np.array_equal(tokenise(words, text).ids, made.ids), family
        audit = audit_text(text, model=model, keys=[(key, None)], profile=profile)
        if audit.verdict != "mark" or audit.decoded.bits != payload.text:
            odd[family] = (audit.verdict, audit.evidence)
    assert not odd
