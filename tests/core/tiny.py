"""What models are made of that fit into a test."""

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

LLAMA = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


class CountingTokenizer:
    """Only what :func:`pura.model.load.wrap` asks of a tokenizer."""

    def __init__(self, size: int, bos: int | None = 1) -> None:
        self.size = size
        self.bos_token_id = bos

    def __len__(self) -> int:
        return self.size

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [f"t{i}" for i in ids]


def byte_tokenizer(first: str, **special: str) -> PreTrainedTokenizerFast:
    """Return one whose tokens are the bytes, after a first one that no text has."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bare = Tokenizer(models.BPE({token: i for i, token in enumerate([first, *alphabet])}, []))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=bare, **special)
